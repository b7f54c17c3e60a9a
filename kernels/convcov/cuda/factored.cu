// SPDX-License-Identifier: BSD-3-Clause
// The cheapest exact order on a GPU: S[x, x'] = sum over channels of gamma + mu mu, in one pass over the
// channel-diagonal blocks (factored_reduce_kernel); R, the sum of S over taps (factored_window_kernel and its tiled
// one); accumulate + coef R for all channels (factored_apply_kernel). Of few channels all three are one kernel
// (factored_walk_kernel). factored.cuh and walk.cuh map the work to grid, block and thread.
//
// Bytes: gamma, accumulate and cov once each; S and R stay in L2. Flops: 3 a pair and channel, kh kw - 1 a result, 2 an
//     output. Limited by memory bandwidth, in small problems by the latency of three launches, or of one (direct).
// Technique: the channel sum taken first, as in kernels of infinitely wide convolutional networks (Novak et al., Neural
//     Tangents, arXiv 1912.02803); programmatic dependent launch (NVIDIA, CUDA C++ Programming Guide);
//     discard.L2 (NVIDIA, PTX ISA).
#include <cmath>

#include "convcov/cuda/walk.cuh"

namespace gridstride::convcov::cuda::factored {

namespace {

constexpr Tuning tuning;
constexpr Shapes shapes{
    .depth = 8,
    .together = 2,
    .reduce = {.threads = 128, .blocks = 8},
    .split = {.threads = 512, .blocks = 1},
    .window = {.threads = 288, .blocks = 4},  // a common map's row and its halo eight times
    .apply = {.threads = 256, .blocks = 5},
    .direct = {.threads = 128, .blocks = 1},
};
static_assert(group_unit % shapes.depth == 0, "loads together are of one group");
static_assert(shapes.split.threads >= most_groups, "a block has a thread for each group of channels");

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

/// The walk that makes all outputs of a schedule; without a kernel where none does.
template <class T, class U>
WalkLaunch<T, U> walk_of_types(const Schedule& schedule, bool has_gamma) {
    if constexpr (std::is_same_v<T, U> && !std::is_same_v<T, double>)
        return walk_of<T>(schedule, has_gamma);
    else
        return {};
}

std::string refuses(const Problem& problem) {
    if (given(problem.in, weight_variance))
        return "weight_variance does not factor: R differs from output channel to output channel; thread_per_output "
               "takes it";
    if (problem.out[0].size() == 0) return {};
    const std::string why = too_large(geometry(problem));
    if (!why.empty()) return why;
    const Schedule schedule = schedule_of(problem);
    if (std::max(schedule.sums, schedule.results) / schedule.batches > std::numeric_limits<std::int32_t>::max())
        return "S, the sum over channels, of the input rows under an output row, or R of an output row has 2^31 "
               "elements or more";
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
    if (s.direct) return "R summed in the kernel that adds it, one launch";
    const auto count = [](std::int64_t n, const char* what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    const auto kibibytes = [&](std::int64_t n) {
        return std::to_string((n * static_cast<std::int64_t>(sum) + 1023) / 1024) + " KiB";
    };
    return (s.rows < s.g.owned.count() ? count(s.rows, "output row") : count(s.batches, "batch")) +
           (s.abreast ? " at a time, two abreast" : " at a time") + ", S of " + kibibytes(s.sums) + ", R of " +
           kibibytes(s.results) + "; gamma in vectors of " + std::to_string(s.wide_in) + ", cov of " +
           std::to_string(s.wide_out) + (s.split ? ", channels split in " + count(s.reduction.groups, "group") : "");
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
        const bool empty = problem.out[0].size() == 0;
        const Schedule usual = empty ? Schedule{} : scheduled(true);
        const WalkLaunch<T, U> walk = empty ? WalkLaunch<T, U>{} : walk_of_types<T, U>(usual, has_gamma);
        const auto beside = usual.abreast ? std::make_shared<Beside>() : nullptr;
        Plan result = plan(problem, [=](const Pointers& pointers, Stream stream) {
            const Arrays<T, U> arrays = pointers.as<T, U>();
            settle(problem, pointers, stream);
            const auto aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
            const bool all =
                aligned(arrays.gammas) && aligned(arrays.mus) && aligned(arrays.before) && aligned(arrays.out);
            if (all && walk.kernel != nullptr) {
                launch(walk.kernel, walk.blocks, walk.threads, walk.shared, false, gridstride::cuda::raw(stream),
                       arrays, walk.walk);
                return;
            }
            enqueue<shapes>(all ? usual : scheduled(false), arrays, reinterpret_cast<A*>(pointers.scratch), dependent,
                            beside.get(), gridstride::cuda::raw(stream));
        });
        if (empty) return result;
        result.workspace += static_cast<std::size_t>(usual.workspace()) * sizeof(A);
        if (walk.kernel != nullptr) {  // the workspace, like the second stream, is for addresses of another alignment
            result.words = "one walk along the diagonals, S and R in registers and shared memory";
            result.launched = gridstride::cuda::describe(
                reinterpret_cast<const void*>(walk.kernel), dim3(static_cast<unsigned>(walk.blocks)),
                dim3(static_cast<unsigned>(walk.threads)), walk.shared, walk.blocks * walk.busy);
            return result;
        }
        result.words = words(usual, sizeof(A));
        const Turn turn = usual.turns().front();
        const Kernels<T, U> kernels = kernels_of<shapes, T, U>(usual);
        const void* const kernel =
            usual.direct ? reinterpret_cast<const void*>(kernels.direct) : reinterpret_cast<const void*>(kernels.apply);
        const Application a = application_of(usual, turn, kernels);
        const std::int64_t blocks = output_blocks(kernels, a);
        result.launched = gridstride::cuda::describe(
            kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(kernels.shape_output.threads)), 0,
            static_cast<std::int64_t>(a.vectors) * (blocks / a.blocks.divisor));
        return result;
    });
}

std::size_t workspace(const Problem& problem) {
    if (problem.out[0].size() == 0) return memory(problem);
    return memory(problem) +
           static_cast<std::size_t>(schedule_of(problem).workspace()) * size_of(arithmetic(op, problem));
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
