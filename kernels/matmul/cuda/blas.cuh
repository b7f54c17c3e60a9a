// SPDX-License-Identifier: BSD-3-Clause
// What the vendor's products (cublas, cublaslt) share: types and compute type, pinned; the words of operands; scalars;
// the batch as one axis a call.
// cuBLAS is column-major: what lies in memory as a row-major (rows, columns) matrix is to it the transpose, of the same
// leading dimension. The transpose of the product is op(b)^T op(a)^T, so a and b change places, m and n change places,
// and each operand keeps the word it has: as stored, T or C.
#pragma once

#include <algorithm>

#include "core/cublas.hpp"
#include "matmul/cuda/product.cuh"

namespace gridstride::matmul::cuda {

/// What NVIDIA recommends on Hopper, and more than it does elsewhere (cuBLAS documentation, cublasSetWorkspace).
constexpr std::size_t library_workspace = std::size_t{32} << 20;

/// dtypes of a and b, of c as cuBLAS writes it, and of the sums.
struct Types {
    DType in, out, sums;
};

inline Types types_of(const Problem& problem) {
    const DType in = problem.in[0].dtype, out = problem.out[0].dtype, sums = matmul::accumulator(problem);
    const bool halves = is_half(in) && sums == DType::float32;
    return {halves ? in : sums, out == sums || (halves && out == in) ? out : sums, sums};
}

inline cudaDataType_t library_type(DType type) {
    switch (type) {
        case DType::float16:
            return CUDA_R_16F;
        case DType::bfloat16:
            return CUDA_R_16BF;
        case DType::float32:
            return CUDA_R_32F;
        case DType::float64:
            return CUDA_R_64F;
        case DType::complex64:
            return CUDA_C_32F;
        case DType::complex128:
            return CUDA_C_64F;
        default:
            throw Error(Category::internal, std::string(name(type)) + " is not a type of cuBLAS's");
    }
}

inline cublasComputeType_t compute_type(const Problem& problem, const Types& types) {
    if (real_of(types.sums) == DType::float64) return CUBLAS_COMPUTE_64F;
    return problem.params.word("compute") == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

inline cublasOperation_t library_op(const Operand& x) {
    if (!x.transposed) return CUBLAS_OP_N;
    return x.conjugate ? CUBLAS_OP_C : CUBLAS_OP_T;
}

/// alpha or beta in the type of the sums, as cuBLAS reads it.
struct Scalar {
    alignas(16) std::byte bytes[16] = {};

    Scalar(std::complex<double> value, DType sums) {
        with_type<float, double, complex64, complex128>(sums, [&]<class T>() {
            if constexpr (is_complex_type<T>)
                *reinterpret_cast<T*>(bytes) = T(value);
            else
                *reinterpret_cast<T*>(bytes) = static_cast<T>(value.real());
        });
    }
};

/// The batch: one axis in each call, the others by calls. Strides in elements of a, b and the output.
struct Batch {
    struct Axis {
        std::int64_t extent = 1, strides[3] = {};
    };
    Axis inside;
    std::vector<Axis> outside;
    std::int64_t calls = 1;
};

inline Batch batch_of(const Problem& problem, const Layout& posed) {
    const elementwise::Nest nest = batch_nest(problem, posed);
    Batch batch;
    std::int64_t stride = posed.m * posed.n;
    for (std::size_t axis = nest.extents.size(); axis-- > 0;) {
        batch.outside.push_back({nest.extents[axis], {nest.strides[0][axis], nest.strides[1][axis], stride}});
        stride *= nest.extents[axis];
    }
    const auto longest = std::max_element(batch.outside.begin(), batch.outside.end(),
                                          [](const auto& x, const auto& y) { return x.extent < y.extent; });
    batch.inside = *longest;
    batch.outside.erase(longest);
    for (const Batch::Axis& axis : batch.outside) batch.calls *= axis.extent;
    return batch;
}

}  // namespace gridstride::matmul::cuda
