// SPDX-License-Identifier: BSD-3-Clause
// The terms of one output are shared by one or more blocks, whose threads stride over them together, so that at any
// moment the whole grid reads one stretch of memory. A block's sums meet in a binary tree in shared memory, thread 0
// adds the result to the output with one atomic. Blocks stride over outputs and shares, so any grid is right, and any
// block: the tree starts at the power of two below the block's size. Bytes: x once. Limited by memory bandwidth.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", 2007.
#include <algorithm>
#include <cmath>

#include "sum/cuda/reduce.cuh"

namespace gridstride::sum::cuda::block_tree {

namespace {

constexpr std::int64_t default_threads = 256;
constexpr std::int64_t terms_a_thread = 16;
// 2048 threads: all blocks are resident. Sum of 1e8 float64, H200, 2026-11-29: 0.192 ms; 16: 0.198 ms; 32: 0.192 ms;
// CUB: 0.190 ms.
constexpr std::int64_t blocks_a_multiprocessor = 8;

/// A thread's terms: every step-th from r on, four loads on their way at a time so that memory is kept busy.
template <class A, class T>
__device__ A strided_sum(const T* x, std::int64_t stride, std::int64_t r, std::int64_t step, std::int64_t end) {
    A sum = A(0);
    for (; r + 3 * step < end; r += 4 * step) {
        const T a = x[r * stride], b = x[(r + step) * stride], c = x[(r + 2 * step) * stride],
                d = x[(r + 3 * step) * stride];
        sum = plus(sum, plus(plus(gridstride::cuda::widen<A>(a), gridstride::cuda::widen<A>(b)),
                             plus(gridstride::cuda::widen<A>(c), gridstride::cuda::widen<A>(d))));
    }
    for (; r < end; r += step) sum = plus(sum, gridstride::cuda::widen<A>(x[r * stride]));
    return sum;
}

/// The same over several axes that do not join.
template <class A, class T>
__device__ A scattered_sum(const T* x, const Digits& summed, std::int64_t r, std::int64_t step, std::int64_t end) {
    A sum = A(0);
    for (; r < end; r += step) sum = plus(sum, gridstride::cuda::widen<A>(x[summed.offset(r)]));
    return sum;
}

template <class T, class A>
__global__ void block_tree_kernel(const T* x, A* s, Terms terms, std::int64_t shares) {
    extern __shared__ __align__(16) unsigned char memory[];
    A* sums = reinterpret_cast<A*>(memory);
    const unsigned t = threadIdx.x;
    for (std::int64_t work = blockIdx.x; work < terms.outputs * shares; work += gridDim.x) {
        const std::int64_t o = work / shares, begin = work % shares * blockDim.x + t, step = shares * blockDim.x;
        const T* first = x + terms.kept.offset(o);
        sums[t] = terms.summed.rank <= 1 ? strided_sum<A>(first, terms.summed.rank == 0 ? 0 : terms.summed.strides[0],
                                                          begin, step, terms.terms)
                                         : scattered_sum<A>(first, terms.summed, begin, step, terms.terms);
        __syncthreads();
        unsigned half = 1;
        while (2 * half < blockDim.x) half *= 2;
        for (; half > 0; half /= 2) {
            if (t < half && t + half < blockDim.x) sums[t] = plus(sums[t], sums[t + half]);
            __syncthreads();
        }
        if (t == 0) atomic_add(s + o, sums[0]);
        __syncthreads();  // before the next share overwrites sums
    }
}

template <class F>
auto typed(const Problem& problem, F f) {
    return with_any_type(element_type(problem), [&]<class Host>() {
        using T = gridstride::cuda::device_type<Host>;
        return f.template operator()<T, accumulator<T>>();
    });
}

std::int64_t threads_of(const Problem& problem) {
    return problem.launch.block.empty() ? default_threads : problem.launch.block[0];
}

std::string refuses(const Problem& problem) {
    return typed(problem, [&]<class T, class A>() {
        return gridstride::cuda::launch_refusal(problem, reinterpret_cast<const void*>(block_tree_kernel<T, A>), 1,
                                                static_cast<std::size_t>(threads_of(problem)) * sizeof(A));
    });
}

Plan prepare(const Problem& problem) {
    return typed(problem, [&]<class T, class A>() {
        using gridstride::cuda::ceil_div;
        const Terms terms = terms_of(problem);
        const std::int64_t threads = threads_of(problem),
                           resident = std::max<std::int64_t>(problem.place.limits.multiprocessors, 1) *
                                      blocks_a_multiprocessor;
        const std::int64_t most = std::max<std::int64_t>(1, resident / std::max<std::int64_t>(terms.outputs, 1));
        const std::int64_t shares = std::clamp<std::int64_t>(ceil_div(terms.terms, threads * terms_a_thread), 1, most);
        const std::int64_t blocks = problem.launch.grid.empty()
                                        ? std::min<std::int64_t>(terms.outputs * shares, 0x7FFFFFFF)
                                        : problem.launch.grid[0];
        const std::size_t shared = static_cast<std::size_t>(threads) * sizeof(A);
        const auto grid = static_cast<unsigned>(blocks), block = static_cast<unsigned>(threads);
        if (shared > 48 << 10)
            gridstride::cuda::check(cudaFuncSetAttribute(
                block_tree_kernel<T, A>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
        Plan result = plan(problem, [=](const std::byte* x, std::byte* s, std::byte*, Stream stream) {
            block_tree_kernel<T, A><<<grid, block, shared, gridstride::cuda::raw(stream)>>>(
                reinterpret_cast<const T*>(x), reinterpret_cast<A*>(s), terms, shares);
            gridstride::cuda::check_launch();
        });
        if (grid > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(block_tree_kernel<T, A>), grid,
                                                         block, shared, problem.in[0].size());
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "block_tree",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "a binary tree in shared memory, one atomic a block",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = [](const Problem&, std::int64_t n) { return std::log2(static_cast<double>(n)) + 8; },
    .takes_launch = true,
};

}  // namespace gridstride::sum::cuda::block_tree
