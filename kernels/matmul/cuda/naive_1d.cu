// SPDX-License-Identifier: BSD-3-Clause
// One thread an output element of a 1-D grid: thread i makes element i of the flat output and finds its column, row
// and batch place by remainder and division. The sum stays in a register. Neighbouring threads are neighbours in a
// row of the output, as in naive_2d, and a block is a piece of one row (or of few, where n is small): its threads
// share one row of a but no column of b, so a block reads b once for each row that it makes.
// Flops: 2 m n k. Bytes asked of the caches: two elements a multiplication, which limits it; the two 64-bit divisions
// a thread cost as much as a few steps of k. Source: CUDA C++ Programming Guide, "Thread Hierarchy".
#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::naive_1d {

namespace {

constexpr unsigned threads = 256;  // eight warps: enough that some always have their operands

template <class T>
__global__ void naive_1d_kernel(const T* a, const T* b, const T* c, T* out, Product p) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= p.batches * p.m * p.n) return;
    const std::int64_t column = i % p.n, rows = i / p.n, row = rows % p.m, batch = rows / p.m;
    const T* x = a + p.offset(p.a, batch) + row * p.a.row_stride;
    const T* y = b + p.offset(p.b, batch) + column * p.b.column_stride;
    accumulator<T> sum(0);
    for (std::int64_t l = 0; l < p.k; ++l)
        sum += element(x[l * p.a.column_stride], p.a.conjugate) * element(y[l * p.b.row_stride], p.b.conjugate);
    out[i] = finished(sum, c, i, p);
}

template <class T>
const void* kernel() {
    return reinterpret_cast<const void*>(naive_1d_kernel<T>);
}

std::string refuses(const Problem& problem) {
    return typed(element_type(problem),
                 [&]<class T>() { return refusal(problem, kernel<T>(), 1, problem.out[0].size(), threads); });
}

Plan prepare(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        const Product p = product_of(problem);
        const std::int64_t outputs = problem.out[0].size();
        const Shapes shape = shapes_1d(problem, outputs, threads);
        Plan result = plan(problem, element_type(problem), shape.covers, [=](const Buffers& buffers) {
            naive_1d_kernel<T><<<shape.grid, shape.block, 0, gridstride::cuda::raw(buffers.stream)>>>(
                reinterpret_cast<const T*>(buffers.a), reinterpret_cast<const T*>(buffers.b),
                reinterpret_cast<const T*>(buffers.c), reinterpret_cast<T*>(buffers.out), p);
            gridstride::cuda::check_launch();
        });
        if (outputs > 0) result.launched = gridstride::cuda::describe(kernel<T>(), shape.grid, shape.block, 0, outputs);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "naive_1d",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread an output element, 1-D grid, row and column by division and remainder",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)); },
    .growth = growth,
    .takes_launch = true,
};

}  // namespace gridstride::matmul::cuda::naive_1d
