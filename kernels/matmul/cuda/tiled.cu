// SPDX-License-Identifier: BSD-3-Clause
// A block makes a 32 x 32 tile of the output. It walks along k in steps of 32: its threads bring a tile of op(a) and
// one of op(b) into shared memory, wait for each other, and multiply the two from there. Blocks: x along the columns
// of tiles, y along their rows, z along the batch. 32 x 8 threads, each with four outputs of one column, whose sums
// are registers.
// Each element that is brought in serves 32 outputs, so global memory traffic is a 32nd of naive_2d's. A thread reads
// its element of b's tile once for four outputs: five reads of shared memory for four multiply-adds, which now limit
// it. (Larger tiles in registers are the next step.)
// Threads of a warp read neighbours in memory, whichever way an operand is stored; a transposed one is turned as it is
// written into its tile, whose rows are one element longer than they need be, so that a column's elements lie in
// different banks. Places beyond an edge are 0 in the tiles: every thread takes part in every barrier.
// Flops: 2 m n k. Source: CUDA C++ Programming Guide, "Shared Memory"; M. Harris, "An Efficient Matrix Transpose in
// CUDA C/C++", 2013 (the padding).
#include <algorithm>

#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda::tiled {

namespace {

constexpr int tile = 32;              // a warp's width: one warp reads one row of a tile
constexpr int rows = 8;               // of threads in a block
constexpr int threads = tile * rows;  // 256: several blocks a multiprocessor, one loads while another multiplies
constexpr int outputs = tile / rows;  // of a thread
static_assert(tile % rows == 0);

/// A tile, padded. Of complex128 the two take 33 KiB, within the 48 KiB that every block may have.
template <class A>
using Tile = A[tile][tile + 1];

/// The tile of an operand that begins at (first_row, first_column); 0 beyond (rows_there, columns_there). x: the
/// operand's matrix. Each thread brings tile / rows elements; threadIdx.x runs along memory.
template <class T>
__device__ void bring(Tile<accumulator<T>>& to, const T* x, const Matrix& how, std::int64_t first_row,
                      std::int64_t first_column, std::int64_t rows_there, std::int64_t columns_there) {
    const int along = static_cast<int>(threadIdx.x);
    for (int across = static_cast<int>(threadIdx.y); across < tile; across += rows) {
        const int r = how.rows_adjacent ? along : across, c = how.rows_adjacent ? across : along;
        const std::int64_t row = first_row + r, column = first_column + c;
        const bool inside = row < rows_there && column < columns_there;
        to[r][c] =
            inside ? element(x[row * how.row_stride + column * how.column_stride], how.conjugate) : accumulator<T>(0);
    }
}

/// Blocks take tiles gridDim.y rows of tiles, and gridDim.z batch places, apart where there are more than a grid has.
template <class T>
__global__ void __launch_bounds__(threads) tiled_kernel(const T* a, const T* b, const T* c, T* out, Product p) {
    using A = accumulator<T>;
    __shared__ Tile<A> a_tile, b_tile;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * tile;
    for (std::int64_t batch = blockIdx.z; batch < p.batches; batch += gridDim.z) {
        const T* a_matrix = a + p.offset(p.a, batch);
        const T* b_matrix = b + p.offset(p.b, batch);
        for (std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * tile; first_row < p.m;
             first_row += static_cast<std::int64_t>(gridDim.y) * tile) {
            A sums[outputs];
            for (int i = 0; i < outputs; ++i) sums[i] = A(0);
            for (std::int64_t first = 0; first < p.k; first += tile) {
                bring(a_tile, a_matrix, p.a, first_row, first, p.m, p.k);
                bring(b_tile, b_matrix, p.b, first, first_column, p.k, p.n);
                __syncthreads();  // the tiles are whole
                for (int l = 0; l < tile; ++l) {
                    const A factor = b_tile[l][x];
                    for (int i = 0; i < outputs; ++i) sums[i] += a_tile[y + i * rows][l] * factor;
                }
                __syncthreads();  // nobody reads them any more
            }
            const std::int64_t column = first_column + x;
            for (int i = 0; i < outputs; ++i) {
                const std::int64_t row = first_row + y + i * rows;
                const std::int64_t at = (batch * p.m + row) * p.n + column;
                if (row < p.m && column < p.n) out[at] = finished(sums[i], c, at, p);
            }
        }
    }
}

std::string refuses(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        return refusal(problem, reinterpret_cast<const void*>(tiled_kernel<T>), 3, layout(problem.params, problem.in).n,
                       tile);
    });
}

Plan prepare(const Problem& problem) {
    return typed(element_type(problem), [&]<class T>() {
        using gridstride::cuda::ceil_div;
        const Product p = product_of(problem);
        const dim3 block(tile, rows);
        const dim3 grid(static_cast<unsigned>(ceil_div(p.n, tile)),
                        static_cast<unsigned>(std::min(ceil_div(p.m, tile), most_yz)),
                        static_cast<unsigned>(std::min(p.batches, most_yz)));
        Plan result = plan(problem, element_type(problem), true, [=](const Buffers& buffers) {
            tiled_kernel<T><<<grid, block, 0, gridstride::cuda::raw(buffers.stream)>>>(
                reinterpret_cast<const T*>(buffers.a), reinterpret_cast<const T*>(buffers.b),
                reinterpret_cast<const T*>(buffers.c), reinterpret_cast<T*>(buffers.out), p);
            gridstride::cuda::check_launch();
        });
        const std::int64_t elements = problem.out[0].size();
        if (elements > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(tiled_kernel<T>), grid, block, 0,
                                                         ceil_div(elements, outputs));
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "tiled",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "32 x 32 tiles of both operands in shared memory, four outputs a thread",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return memory(problem, element_type(problem)); },
    .growth = growth,
};

}  // namespace gridstride::matmul::cuda::tiled
