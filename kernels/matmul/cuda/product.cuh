// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA variants of matmul share: where the elements of op(a) and op(b) lie, how an output is finished, and
// the steps around a kernel. Kernels work on one element type T (the inputs', or the accumulator's where types differ:
// then a workspace converts), and their sums are of accumulator<T>.
// Flops: 2 m n k a product (8 of complex numbers). Compulsory bytes: a, b, c and the output once.
#pragma once

#include <type_traits>

#include "core/device_convert.cuh"
#include "core/elementwise.hpp"
#include "matmul/matmul.hpp"

namespace gridstride::matmul::cuda {

using gridstride::cuda::Complex;

constexpr std::size_t most_axes = 8;         // of the batch, after neighbours that step as one are joined
constexpr std::int64_t most_yz = 65535;      // blocks a grid may have in y and in z: what needs more loops
constexpr std::int64_t most_x = 0x7FFFFFFF;  // blocks a grid may have in x

/// One of op(a) and op(b): element (row, column) of batch place 0 lies at row * row_stride + column * column_stride.
struct Matrix {
    std::int64_t row_stride = 0, column_stride = 0;
    std::int64_t batch_strides[most_axes] = {};  // 0: broadcast
    bool conjugate = false;
    bool rows_adjacent = false;  // neighbours in memory are those of a column, not those of a row
};

/// (m, k) times (k, n), once for each batch place; the output and c are contiguous, (batches, m, n).
struct Product {
    Matrix a, b;
    std::int64_t batches = 1, m = 1, n = 1, k = 0;
    int batch_rank = 0;
    std::int64_t batch_extents[most_axes] = {};
    Complex<double> alpha = 1, beta = 0;  // beta = 0: c is not read

    /// First element of x for a batch place.
    __host__ __device__ std::int64_t offset(const Matrix& x, std::int64_t batch) const {
        std::int64_t at = 0;
        for (int axis = batch_rank - 1; axis >= 0; --axis) {
            at += batch % batch_extents[axis] * x.batch_strides[axis];
            batch /= batch_extents[axis];
        }
        return at;
    }
};

/// The type of the sums of products of T.
template <class T>
using accumulator = std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float, T>;

/// An element of op(a) or op(b) as the sums take it.
template <class T>
__device__ accumulator<T> element(T stored, bool conjugated) {
    const auto value = gridstride::cuda::widen<accumulator<T>>(stored);
    return conjugated ? gridstride::cuda::conjugate(value) : value;
}

/// alpha or beta in the accumulator's type.
template <class A>
__device__ A scalar(Complex<double> value) {
    if constexpr (std::is_floating_point_v<A>)
        return static_cast<A>(value.re);
    else
        return A(value);
}

/// The output element at `at`: alpha sum + beta c[at], rounded once. It may overwrite c[at].
template <class T>
__device__ T finished(accumulator<T> sum, const T* c, std::int64_t at, const Product& p) {
    using A = accumulator<T>;
    A value = scalar<A>(p.alpha) * sum;
    if (p.beta.re != 0 || p.beta.im != 0) value += scalar<A>(p.beta) * gridstride::cuda::widen<A>(c[at]);
    return gridstride::cuda::narrow<T>(value);
}

/// The batch axes of the output, those that step as one joined, and what a (0) and b (1) step along them in elements.
elementwise::Nest batch_nest(const Problem& problem, const Layout& layout);

/// The problem as kernels see it. Where a and b are not read, k and alpha are 0.
Product product_of(const Problem& problem);

/// The dtype of T: the inputs', where the output has it too and sums are in its own accumulator, else the sums'.
DType element_type(const Problem& problem);

/// What a kernel works on, all in the element type. c: null where it is not read; may be `out` itself.
struct Buffers {
    const std::byte *a = nullptr, *b = nullptr, *c = nullptr;
    std::byte *out = nullptr, *scratch = nullptr;
    Stream stream;
};
using Run = std::function<void(const Buffers&)>;

/// The step around a kernel: inputs converted to `element` where need be, the kernel, the results rounded to the
/// output. covers: the launch makes every output; where it does not, what is left unwritten is NaN, in place too.
/// scratch: bytes the kernel needs beside.
Plan plan(const Problem& problem, DType element, bool covers, Run run, std::size_t scratch = 0);
/// Its workspace where the launch covers the output, but for the scratch.
std::size_t memory(const Problem& problem, DType element);

inline std::size_t rounded_up(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/// f.operator()<T>() for the device type T of an element dtype.
template <class F>
auto typed(DType element, F f) {
    return with_type<float16, bfloat16, float, double, complex64, complex128>(
        element, [&]<class Host>() { return f.template operator()<gridstride::cuda::device_type<Host>>(); });
}

/// Why a kernel whose grid has up to `rank` extents cannot do the problem; empty: it can. work_x: threads in x that
/// cover the output, block_x: of the default block.
std::string refusal(const Problem& problem, const void* kernel, std::size_t rank, std::int64_t work_x,
                    std::int64_t block_x);

struct Shapes {
    dim3 grid, block;
    std::int64_t row_step = 0;  // of a 2-D grid: rows from one of a thread to its next
    bool covers = true;
};
/// 1-D: the launch asked for, or `threads` a block and blocks that cover `work` threads.
Shapes shapes_1d(const Problem& problem, std::int64_t work, unsigned threads);
/// 2-D over (n, m), and the batch in z: the launch asked for, or `block` and blocks that cover. Threads loop over rows
/// where covering takes more than 65 535 blocks in y.
Shapes shapes_2d(const Problem& problem, const Product& p, dim3 block);

/// g(n) of one accumulator that takes the terms in turn.
double growth(const Problem& problem, std::int64_t n);

}  // namespace gridstride::matmul::cuda
