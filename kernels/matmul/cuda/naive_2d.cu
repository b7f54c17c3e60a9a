// SPDX-License-Identifier: BSD-3-Clause
// The textbook product: one thread an output element, x along the columns, y along the rows, the batch in z.
// The sum stays in a register while k runs. A warp is 32 neighbours of one row: at each step they read one element of
// a, which all share, and 32 neighbours of a row of b, and at the end they write 32 neighbours: all coalesced. (With x
// along the rows, as in Numba's `i, j = cuda.grid(2)`, the 32 reads of a and the 32 writes are a row apart each.)
// Flops: 2 m n k. Bytes asked of the caches: two elements a multiplication. That traffic limits it, not arithmetic.
// Source: CUDA C++ Programming Guide, "Shared Memory", the version without it.
#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::naive_2d {

namespace {

constexpr unsigned block_x = 32;  // a warp is a piece of one row
constexpr unsigned block_y = 8;   // 256 threads: enough warps that some always have their operands

/// Threads take rows row_step apart: one each, but where m needs more blocks in y than a grid has.
template <class T>
__global__ void naive_2d_kernel(const T* a, const T* b, const T* c, T* out, Product p, std::int64_t row_step) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (column >= p.n) return;
    for (std::int64_t batch = blockIdx.z; batch < p.batches; batch += gridDim.z)
        for (std::int64_t row = first_row; row < p.m; row += row_step) {
            const T* x = a + p.offset(p.a, batch) + row * p.a.row_stride;
            const T* y = b + p.offset(p.b, batch) + column * p.b.column_stride;
            accumulator<T> sum(0);
            for (std::int64_t l = 0; l < p.k; ++l)
                sum += element(x[l * p.a.column_stride], p.a.conjugate) * element(y[l * p.b.row_stride], p.b.conjugate);
            const std::int64_t at = (batch * p.m + row) * p.n + column;
            out[at] = finished(sum, c, at, p);
        }
}

template <class T>
const void* kernel() {
    return reinterpret_cast<const void*>(naive_2d_kernel<T>);
}

std::string refuses(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        return refusal(problem, kernel<T>(), 2, layout(problem.params, problem.in).n, block_x);
    });
}

Plan prepare(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        const Product p = product_of(problem);
        const Shapes shape = shapes_2d(problem, p, {block_x, block_y});
        Plan result = plan(problem, element_type(problem), shape.covers, [=](const Buffers& buffers) {
            naive_2d_kernel<T><<<shape.grid, shape.block, 0, gridstride::cuda::raw(buffers.stream)>>>(
                reinterpret_cast<const T*>(buffers.a), reinterpret_cast<const T*>(buffers.b),
                reinterpret_cast<const T*>(buffers.c), reinterpret_cast<T*>(buffers.out), p, shape.row_step);
            gridstride::cuda::check_launch();
        });
        const std::int64_t outputs = problem.out[0].size();
        if (outputs > 0) result.launched = gridstride::cuda::describe(kernel<T>(), shape.grid, shape.block, 0, outputs);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "naive_2d",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread an output element, 2-D grid, the sum in a register",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)); },
    .growth = growth,
    .takes_launch = true,
};

}  // namespace gridstride::matmul::cuda::naive_2d
