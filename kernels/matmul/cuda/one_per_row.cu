// SPDX-License-Identifier: BSD-3-Clause
// One thread a row of the output: it makes the row's n elements one after the other, each sum in a register. Thread i
// of the 1-D grid takes row i of the stacked batches.
// At each step the threads of a warp read one element of b, which all share, and 32 elements of a that are a row
// apart (neighbours where a is transposed); they write 32 elements a row apart. And there are only m threads, where
// naive_2d has m n: most of the device has nothing to do.
// Flops: 2 m n k. Limited by the latency of those scattered reads, which too few warps hide.
// Source: the loop over rows of a CPU's program handed to threads as it is.
#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::one_per_row {

namespace {

constexpr unsigned threads = 32;  // one warp: rows are few, and small blocks spread them over the multiprocessors

template <class T>
__global__ void one_per_row_kernel(const T* a, const T* b, const T* c, T* out, Product p) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= p.batches * p.m) return;
    const std::int64_t row = i % p.m, batch = i / p.m;
    const T* x = a + p.offset(p.a, batch) + row * p.a.row_stride;
    for (std::int64_t column = 0; column < p.n; ++column) {
        const T* y = b + p.offset(p.b, batch) + column * p.b.column_stride;
        accumulator<T> sum(0);
        for (std::int64_t l = 0; l < p.k; ++l)
            sum += element(x[l * p.a.column_stride], p.a.conjugate) * element(y[l * p.b.row_stride], p.b.conjugate);
        const std::int64_t at = i * p.n + column;
        out[at] = finished(sum, c, at, p);
    }
}

template <class T>
const void* kernel() {
    return reinterpret_cast<const void*>(one_per_row_kernel<T>);
}

std::int64_t rows_of(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    return posed.batches * posed.m;
}

std::string refuses(const Problem& problem) {
    return typed(element_type(problem),
                 [&]<class T>() { return refusal(problem, kernel<T>(), 1, rows_of(problem), threads); });
}

Plan prepare(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        const Product p = product_of(problem);
        const std::int64_t rows = rows_of(problem);
        const Shapes shape = shapes_1d(problem, rows, threads);
        Plan result = plan(problem, element_type(problem), shape.covers, [=](const Buffers& buffers) {
            one_per_row_kernel<T><<<shape.grid, shape.block, 0, gridstride::cuda::raw(buffers.stream)>>>(
                reinterpret_cast<const T*>(buffers.a), reinterpret_cast<const T*>(buffers.b),
                reinterpret_cast<const T*>(buffers.c), reinterpret_cast<T*>(buffers.out), p);
            gridstride::cuda::check_launch();
        });
        if (problem.out[0].size() > 0)
            result.launched = gridstride::cuda::describe(kernel<T>(), shape.grid, shape.block, 0, rows);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "one_per_row",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread a row of the output",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)); },
    .growth = growth,
    .takes_launch = true,
};

}  // namespace gridstride::matmul::cuda::one_per_row
