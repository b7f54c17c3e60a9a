// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA variants of multiply compute of one element.
#pragma once

#include "core/elementwise.cuh"
#include "multiply/multiply.hpp"

namespace gridstride::multiply::cuda {

/// x * y: halves in float, rounded once; integers wrap modulo 2^n; complex by the plain formula.
struct Function {
    static constexpr int inputs = 2;

    template <class T>
    __device__ static T of(T x, T y) {
        if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>)
            return gridstride::cuda::narrow<T>(gridstride::cuda::widen<float>(x) * gridstride::cuda::widen<float>(y));
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) * static_cast<std::make_unsigned_t<T>>(y));
        else
            return x * y;
    }
};

}  // namespace gridstride::multiply::cuda
