// SPDX-License-Identifier: BSD-3-Clause
// The textbook mistake: a 3-D grid over (column, row, k), one thread a product, each adds its product to its output
// with +=. That is a read, an addition and a write, and nothing keeps the threads of one output apart: they read the
// same old sum and overwrite each other's, so most products are lost. It needs an atomic, or one thread an output.
// A warp holds two k of each of its outputs: even a warp alone loses one of the two. Kept so that validation can be
// seen to catch it.
#include <algorithm>

#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::racing_3d {

namespace {

constexpr dim3 block(4, 4, 16);  // columns, rows, k: lanes 0 to 15 of a warp have one k, lanes 16 to 31 the next

/// What the products are added to: beta c, or 0.
template <class T>
__global__ void begin_kernel(const T* c, T* out, Product p, std::int64_t outputs) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < outputs; i += step)
        out[i] = finished(T(0), c, i, p);
}

template <class T>
__global__ void racing_3d_kernel(const T* a, const T* b, T* out, Product p) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.z) * blockDim.z + threadIdx.z;
    const std::int64_t row_step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.z) * blockDim.z;
    if (column >= p.n) return;
    for (std::int64_t batch = 0; batch < p.batches; ++batch)
        for (std::int64_t row = first_row; row < p.m; row += row_step)
            for (std::int64_t l = first; l < p.k; l += step) {
                const T x = a[p.offset(p.a, batch) + row * p.a.row_stride + l * p.a.column_stride];
                const T y = b[p.offset(p.b, batch) + l * p.b.row_stride + column * p.b.column_stride];
                out[(batch * p.m + row) * p.n + column] +=  // the mistake
                    scalar<T>(p.alpha) * element(x, p.a.conjugate) * element(y, p.b.conjugate);
            }
}

/// Adds in the output, so that all is in the accumulator's type.
DType element_type(const Problem& problem) {
    return matmul::accumulator(problem);
}

template <class F>
auto wide(const Problem& problem, F f) {
    return with_type<float, double, complex64, complex128>(element_type(problem), [&]<class Host>() {
        return f.template operator()<gridstride::cuda::device_type<Host>>();
    });
}

std::string refuses(const Problem& problem) {
    return wide(problem, [&]<class T>() {
        return refusal(problem, reinterpret_cast<const void*>(racing_3d_kernel<T>), 3,
                       layout(problem.params, problem.in).n, block.x);
    });
}

Plan prepare(const Problem& problem) {
    return wide(problem, [&]<class T>() {
        using gridstride::cuda::ceil_div;
        const Product p = product_of(problem);
        const std::int64_t outputs = problem.out[0].size();
        const dim3 grid(static_cast<unsigned>(ceil_div(p.n, block.x)),
                        static_cast<unsigned>(std::min(ceil_div(p.m, block.y), most_yz)),
                        static_cast<unsigned>(std::min(ceil_div(p.k, block.z), most_yz)));
        Plan result = plan(problem, element_type(problem), true, [=](const Buffers& buffers) {
            const cudaStream_t stream = gridstride::cuda::raw(buffers.stream);
            T* const out = reinterpret_cast<T*>(buffers.out);
            const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(outputs, 256), most_yz));
            begin_kernel<T><<<blocks, 256, 0, stream>>>(reinterpret_cast<const T*>(buffers.c), out, p, outputs);
            gridstride::cuda::check_launch();
            if (p.k == 0) return;
            racing_3d_kernel<T><<<grid, block, 0, stream>>>(reinterpret_cast<const T*>(buffers.a),
                                                            reinterpret_cast<const T*>(buffers.b), out, p);
            gridstride::cuda::check_launch();
        });
        if (outputs > 0 && p.k > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(racing_3d_kernel<T>), grid,
                                                         block, 0, p.m * p.n * p.k);
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "racing_3d",
    .role = Role::faulty,
    .device = Device::cuda,
    .doc = "wrong on purpose: one thread a product, added in global memory without atomics",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)); },
    .growth = growth,
};

}  // namespace gridstride::matmul::cuda::racing_3d
