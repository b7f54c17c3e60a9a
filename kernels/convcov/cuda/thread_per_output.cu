// SPDX-License-Identifier: BSD-3-Clause
// One thread an output element (b, o, i, j, i', j') of the channel-diagonal blocks, 1-D, j' fastest (coefficient
// vectors, where there are several, slowest); it loops over the taps that lie inside the map at both places, and over
// channels, sums in a register and writes once. The guard stops the last block's spare threads; a grid too small leaves
// elements unwritten.
//
// Bytes: accumulate read and cov written once; gamma is read again for every tap and every output channel, by
//     neighbouring threads at neighbouring addresses: kh kw O times in all, most of it from the caches.
// Flops: 3 a term, C kh kw terms an output, for every output channel anew. Limited by the rate of loads from L1 and L2.
// Technique: the textbook's one output a thread with a register accumulator (NVIDIA, CUDA C++ Programming Guide).
#include <cmath>

#include "convcov/cuda/output.cuh"

namespace gridstride::convcov::cuda::thread_per_output {

namespace {

constexpr std::int64_t default_threads = 256;  // enough warps a block to fill a multiprocessor with few blocks

/// The bound keeps registers to what the largest block can have.
template <class T, class U, bool weighted>
__global__ void __launch_bounds__(1024) thread_per_output_kernel(Arrays<T, U> arrays, Sizes s) {
    using A = accumulator<T, U>;
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= s.outputs) return;
    const Place at = place_of(s, index);
    const A factor = arrays.factor(s, at.vector, at.o);
    if (factor == A(0) || !is_reached(s, at)) return arrays.keep(at.offset);  // whatever R

    const Interval us = s.rows.taps_inside(at.i, at.i2), vs = s.columns.taps_inside(at.j, at.j2);
    const std::int64_t map = s.rows.in * s.columns.in;
    A sum = A(0);
    for (std::int64_t u = us.begin; u < us.end; ++u)
        for (std::int64_t v = vs.begin; v < vs.end; ++v) {
            const std::int64_t r = s.rows.position(at.i, u), q = s.columns.position(at.j, v);
            const std::int64_t r2 = s.rows.position(at.i2, u), q2 = s.columns.position(at.j2, v);
            const std::int64_t first = r * s.columns.in + q, second = r2 * s.columns.in + q2;
            std::int64_t gamma_at = s.gamma_offset(at.b, 0, r, q, r2, q2);
            std::int64_t mean_at = at.b * s.channels_in * map + first;
            [[maybe_unused]] std::int64_t weight_at = (at.o * s.channels_in * s.rows.taps + u) * s.columns.taps + v;
            // Two terms' loads in flight; with more, a block of 1024 threads would not have the registers.
#pragma unroll 2
            for (std::int64_t c = 0; c < s.channels_in; ++c) {
                const A product = term(arrays, gamma_at, mean_at, mean_at + second - first);
                if constexpr (weighted) {
                    sum = arrays.add(sum, product, weight_at);
                    weight_at += s.rows.taps * s.columns.taps;
                } else {
                    sum += product;
                }
                gamma_at += s.gamma_channel;
                mean_at += map;
            }
        }
    if (s.bias) sum += A(1);
    arrays.store(at.offset, factor * sum);
}

/// Inputs of another type than the output are rare: one kernel for all of these.
template <class T, class U>
auto kernel_of(const Problem& problem) {
    if constexpr (std::is_same_v<T, U>)
        if (!given(problem.in, weight_variance)) return thread_per_output_kernel<T, U, false>;
    return thread_per_output_kernel<T, U, true>;
}

std::int64_t threads_of(const Problem& problem) {
    return problem.launch.block.empty() ? default_threads : problem.launch.block[0];
}

std::string refuses(const Problem& problem) {
    const std::string why = typed(problem, [&]<class T, class U>() {
        return gridstride::cuda::launch_refusal(problem, reinterpret_cast<const void*>(kernel_of<T, U>(problem)), 1, 0);
    });
    if (!why.empty() || !problem.launch.grid.empty()) return why;
    const std::int64_t blocks = gridstride::cuda::ceil_div(sizes_of(problem).outputs, threads_of(problem)),
                       most = problem.place.limits.grid_x;
    if (most > 0 && blocks > most)
        return "grid x: " + std::to_string(blocks) + " blocks cover the outputs, at most " + std::to_string(most) +
               ": give a larger block";
    return {};
}

Plan prepare(const Problem& problem) {
    return typed(problem, [&]<class T, class U>() {
        const Sizes s = sizes_of(problem);
        const std::int64_t threads = threads_of(problem);
        const std::int64_t blocks =
            problem.launch.grid.empty() ? gridstride::cuda::ceil_div(s.outputs, threads) : problem.launch.grid[0];
        const auto grid = static_cast<unsigned>(blocks), block = static_cast<unsigned>(threads);
        const auto kernel = kernel_of<T, U>(problem);
        Plan result = plan(problem, [=](const Pointers& pointers, Stream stream) {
            kernel<<<grid, block, 0, gridstride::cuda::raw(stream)>>>(pointers.as<T, U>(), s);
            gridstride::cuda::check_launch();
        });
        if (s.outputs > 0)
            result.launched =
                gridstride::cuda::describe(reinterpret_cast<const void*>(kernel), grid, block, 0, s.outputs);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "thread_per_output",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread an output element, which loops over taps and channels",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
    .takes_launch = true,
};

}  // namespace gridstride::convcov::cuda::thread_per_output
