// SPDX-License-Identifier: BSD-3-Clause
// As naive_2d, one thread an output element, x along the columns, but the sum lives in global memory: each step of k
// reads it, adds one product and writes it back. It is the kernel that `c[i, j] += a[i, k] * b[k, j]` in a loop spells.
// The sums are in a workspace of the accumulator's type, so that halves do not round at each step and c may be the
// output. They are volatile: a compiler that can prove nobody else reads them would keep them in a register.
// Flops: 2 m n k. Memory traffic beyond naive_2d's: one read and one write of a sum a multiplication, through the L2
// cache, each waiting for the one before. That limits it.
// Source: the common first attempt; compare naive_2d, where the sum is a local variable.
#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::naive_2d_global {

namespace {

constexpr dim3 block(32, 8);  // as naive_2d: a warp is a piece of one row

template <class A>
__device__ void add_in_memory(A* sum, A x) {
    volatile A* at = sum;
    *at = *at + x;
}
template <class R>
__device__ void add_in_memory(Complex<R>* sum, Complex<R> x) {
    add_in_memory(&sum->re, x.re);
    add_in_memory(&sum->im, x.im);
}

/// sums: of the output's shape.
template <class T>
__global__ void naive_2d_global_kernel(const T* a, const T* b, const T* c, T* out, accumulator<T>* sums, Product p,
                                       std::int64_t row_step) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= p.n) return;
    for (std::int64_t batch = blockIdx.z; batch < p.batches; batch += gridDim.z)
        for (std::int64_t row = first_row; row < p.m; row += row_step) {
            const T* x = a + p.offset(p.a, batch) + row * p.a.row_stride;
            const T* y = b + p.offset(p.b, batch) + column * p.b.column_stride;
            const std::int64_t at = (batch * p.m + row) * p.n + column;
            sums[at] = accumulator<T>(0);
            for (std::int64_t l = 0; l < p.k; ++l)
                add_in_memory(sums + at, element(x[l * p.a.column_stride], p.a.conjugate) *
                                             element(y[l * p.b.row_stride], p.b.conjugate));
            out[at] = finished(sums[at], c, at, p);
        }
}

std::size_t sums_bytes(const Problem& problem) {
    return rounded_up(static_cast<std::size_t>(problem.out[0].size()) * size_of(matmul::accumulator(problem)));
}

std::string refuses(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        return refusal(problem, reinterpret_cast<const void*>(naive_2d_global_kernel<T>), 2,
                       layout(problem.params, problem.in).n, block.x);
    });
}

Plan prepare(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        const Product p = product_of(problem);
        const Shapes shape = shapes_2d(problem, p, block);
        Plan result = plan(
            problem, element_type(problem), shape.covers,
            [=](const Buffers& buffers) {
                naive_2d_global_kernel<T><<<shape.grid, shape.block, 0, gridstride::cuda::raw(buffers.stream)>>>(
                    reinterpret_cast<const T*>(buffers.a), reinterpret_cast<const T*>(buffers.b),
                    reinterpret_cast<const T*>(buffers.c), reinterpret_cast<T*>(buffers.out),
                    reinterpret_cast<accumulator<T>*>(buffers.scratch), p, shape.row_step);
                gridstride::cuda::check_launch();
            },
            sums_bytes(problem));
        const std::int64_t outputs = problem.out[0].size();
        if (outputs > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(naive_2d_global_kernel<T>),
                                                         shape.grid, shape.block, 0, outputs);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "naive_2d_global",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread an output element, 2-D grid, the sum in global memory at every step",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)) + sums_bytes(problem); },
    .growth = growth,
};

}  // namespace gridstride::matmul::cuda::naive_2d_global
