// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA variants of copy do with one element.
#pragma once

#include "copy/copy.hpp"
#include "core/elementwise.cuh"

namespace gridstride::copy::cuda {

/// The element itself, bit for bit.
struct Function {
    static constexpr int inputs = 1;

    template <class T>
    __device__ static T of(T x) {
        return x;
    }
};

}  // namespace gridstride::copy::cuda
