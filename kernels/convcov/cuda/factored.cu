// SPDX-License-Identifier: BSD-3-Clause
// The cheapest exact order on a GPU: S[x, x'] = sum over channels of gamma + mu mu, in one pass over the
// channel-diagonal blocks (factored_reduce_kernel); R, the sum of S over taps, and accumulate + coef R for all channels
// (factored_scatter_kernel). factored.cuh maps the work to grid, block and thread.
//
// Bytes: gamma, accumulate and cov once each; S stays in L2. Flops: 3 a pair and channel, kh kw - 1 a result, 2 an
//     output. Limited by memory bandwidth, in small problems by the latency of two launches, or of one (direct).
// Technique: the channel sum taken first, as in kernels of infinitely wide convolutional networks (Novak et al., Neural
//     Tangents, arXiv 1912.02803); programmatic dependent launch (NVIDIA, CUDA C++ Programming Guide).
#include <cmath>

#include "convcov/cuda/factored.cuh"

namespace gridstride::convcov::cuda::factored {

namespace {

constexpr Tuning tuning;
constexpr Shapes shapes{
    .whole = {.rows = 2, .depth = 4, .threads = 256, .blocks = 4},
    .single = {.rows = 1, .depth = 16, .threads = 128, .blocks = 4},
    .staged = {.depth = 8, .threads = 256, .blocks = 4},
    .direct = {.depth = 4, .threads = 128, .blocks = 1},
};
constexpr bool lawful(int threads, int blocks) {  // whole warps, as many threads as a multiprocessor has
    return threads % 32 == 0 && threads <= 1024 && threads * blocks <= 2048;
}
static_assert(lawful(shapes.whole.threads, shapes.whole.blocks) && lawful(shapes.single.threads, shapes.single.blocks));
static_assert(lawful(shapes.staged.threads, shapes.staged.blocks) &&
              lawful(shapes.direct.threads, shapes.direct.blocks));
static_assert(shapes.single.rows == 1, "groups of channels are split over threads of one place each");
static_assert(shapes.single.threads >= most_groups, "a block has a thread for each group of channels");
static_assert(tuning.reduce_width <= shapes.whole.threads && tuning.scatter_width <= shapes.staged.threads);
static_assert(tuning.least_chunk <= tuning.chunk);

/// Do the kernels' blocks start before the kernel before has ended? From compute capability 9.0 on.
bool overlaps(const Problem& problem) {
    int major = 0;
    gridstride::cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, problem.place.index));
    return major >= 9;
}

Schedule schedule_of(const Problem& problem) {
    return typed(problem, [&]<class T, class U>() {
        return schedule_of<T, U>(geometry(problem), given(problem.in, gamma), problem.in[coef].shape.empty(), tuning,
                                 shapes, true);
    });
}

std::string refuses(const Problem& problem) {
    if (given(problem.in, weight_variance))
        return "weight_variance does not factor: R differs from output channel to output channel; thread_per_output "
               "takes it";
    if (problem.out[0].size() == 0) return {};
    const std::string why = too_large(geometry(problem));
    if (!why.empty()) return why;
    const Schedule schedule = schedule_of(problem);
    if (schedule.sums / schedule.batches > std::numeric_limits<std::int32_t>::max())
        return "S, the sum over channels, of the input rows under an output row has 2^31 elements or more";
    return {};
}

/// Where places are apart (noise: read) the rest of the blocks, as it was: the kernels write their diagonals alone.
void settle(const Problem& problem, const Pointers& pointers, Stream stream) {
    const Geometry g = geometry(problem);
    if (g.noise != Noise::read || g.form == Form::variance || pointers.before == pointers.out) return;
    const Spec& out = problem.out[0];
    const auto bytes = static_cast<std::size_t>(out.size()) * size_of(out.dtype);
    if (pointers.before == nullptr)
        gridstride::cuda::check(cudaMemsetAsync(pointers.out, 0, bytes, gridstride::cuda::raw(stream)));
    else if (problem.in[accumulate].dtype == out.dtype)
        gridstride::cuda::check(cudaMemcpyAsync(pointers.out, pointers.before, bytes, cudaMemcpyDeviceToDevice,
                                                gridstride::cuda::raw(stream)));
    else
        gridstride::cuda::convert(problem.in[accumulate].dtype, pointers.before, out.dtype, pointers.out, out.size(),
                                  nullptr, stream);
}

std::string words(const Schedule& s, std::size_t sum) {
    if (s.way == Way::direct) return "S summed in the kernel that adds R, one launch";
    const auto count = [](std::int64_t n, const char* what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    const std::string part = s.rows < s.g.owned.count() ? count(s.rows, "output row") : count(s.batches, "batch");
    return part + " at a time, S of " + std::to_string((s.sums * static_cast<std::int64_t>(sum) + 1023) / 1024) +
           " KiB; gamma in vectors of " + std::to_string(s.wide_in) + ", cov of " + std::to_string(s.wide_out) + ", " +
           count(s.scatter.chunk, "output channel") + " a block" +
           (s.split ? ", channels split in " + count(s.reduction.groups, "group") : "");
}

Plan prepare(const Problem& problem) {
    return typed(problem, [&]<class T, class U>() {
        using A = accumulator<T, U>;
        const Geometry g = geometry(problem);
        const bool has_gamma = given(problem.in, gamma), one = problem.in[coef].shape.empty(),
                   dependent = overlaps(problem);
        const auto scheduled = [=](bool aligned) {
            return schedule_of<T, U>(g, has_gamma, one, tuning, shapes, aligned);
        };
        const Schedule usual = scheduled(true);
        Plan result = plan(problem, [=](const Pointers& pointers, Stream stream) {
            const Arrays<T, U> arrays = pointers.as<T, U>();
            settle(problem, pointers, stream);
            const auto run = [&](const Schedule& schedule) {
                enqueue(schedule, kernels_of<shapes, T, U>(schedule), arrays, reinterpret_cast<A*>(pointers.scratch),
                        dependent, gridstride::cuda::raw(stream));
            };
            const auto aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
            if (aligned(arrays.gammas) && aligned(arrays.mus) && aligned(arrays.before) && aligned(arrays.out))
                run(usual);
            else
                run(scheduled(false));
        });
        if (problem.out[0].size() == 0) return result;
        result.workspace += static_cast<std::size_t>(usual.sums) * sizeof(A);
        result.words = words(usual, sizeof(A));
        const Scatter s = scatter_of(usual, usual.turns().front());
        const Kernels<T, U> kernels = kernels_of<shapes, T, U>(usual);
        const dim3 grid = scatter_grid(usual, usual.turns().front()),
                   block(static_cast<unsigned>(kernels.scatter_shape.threads));
        result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(kernels.scatter), grid, block, 0,
                                                     static_cast<std::int64_t>(s.tile.rows) * s.tile.vectors * grid.y);
        return result;
    });
}

std::size_t workspace(const Problem& problem) {
    if (problem.out[0].size() == 0) return memory(problem);
    return memory(problem) + static_cast<std::size_t>(schedule_of(problem).sums) * size_of(arithmetic(op, problem));
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "factored",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "channels summed first, then taps, then added to all blocks; one pass over memory, S in L2",
    .refuses = refuses,
    .prepare = prepare,
    .memory = workspace,
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
};

}  // namespace gridstride::convcov::cuda::factored
