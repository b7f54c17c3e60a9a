// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA variants of sum share: where the terms of an output lie, accumulators in a workspace, the steps around
// the kernel. Bytes: x read once, s written once; n - 1 additions an output. Limited by memory bandwidth.
#pragma once

#include "core/device_convert.cuh"
#include "sum/sum.hpp"

namespace gridstride::sum::cuda {

using gridstride::cuda::Complex;

constexpr std::size_t most_axes = 8;  // kept, and summed, after neighbours are joined

/// Mixed-radix digits of an index, each times a stride.
struct Digits {
    int rank = 0;
    std::int64_t extents[most_axes] = {}, strides[most_axes] = {};

    __host__ __device__ std::int64_t offset(std::int64_t i) const {
        if (rank == 1) return i * strides[0];  // no division
        std::int64_t at = 0;
        for (int axis = rank - 1; axis >= 0; --axis) {
            at += i % extents[axis] * strides[axis];
            i /= extents[axis];
        }
        return at;
    }
};

/// Term r of output o lies at kept.offset(o) + summed.offset(r) in x.
struct Terms {
    Digits kept, summed;
    std::int64_t outputs = 1, terms = 1;

    __host__ __device__ std::int64_t at(std::int64_t o, std::int64_t r) const {
        return kept.offset(o) + summed.offset(r);
    }
};

/// Error (config): more than 8 axes that do not join.
Terms terms_of(const Problem& problem);

/// The accumulator of a stored type.
template <class T>
struct Accumulator {
    using type = T;
};
template <>
struct Accumulator<__half> {
    using type = float;
};
template <>
struct Accumulator<__nv_bfloat16> {
    using type = float;
};
template <>
struct Accumulator<std::int32_t> {
    using type = std::int64_t;
};
template <class T>
using accumulator = typename Accumulator<T>::type;

/// The dtype elements are read in: the inputs', or the arithmetic type where that is wider than their accumulator.
DType element_type(const Problem& problem);
/// The accumulator's dtype.
DType accumulator_type(const Problem& problem);

/// Adds the terms in x (of element_type) into s (of accumulator_type, zeroed).
using Launch = std::function<void(const std::byte* x, std::byte* s, std::byte* scratch, Stream stream)>;

/// The step around a kernel: x converted where need be, accumulators zeroed, the launch, the results rounded to the
/// output. scratch: bytes the launch needs beside.
Plan plan(const Problem& problem, Launch launch, std::size_t scratch = 0);
/// Its workspace but for the scratch.
std::size_t memory(const Problem& problem);

__device__ inline void atomic_add(float* s, float x) {
    atomicAdd(s, x);
}
__device__ inline void atomic_add(double* s, double x) {
    atomicAdd(s, x);
}
__device__ inline void atomic_add(std::int64_t* s, std::int64_t x) {
    atomicAdd(reinterpret_cast<unsigned long long*>(s), static_cast<unsigned long long>(x));
}
template <class T>
__device__ void atomic_add(Complex<T>* s, Complex<T> x) {
    atomicAdd(&s->re, x.re);
    atomicAdd(&s->im, x.im);
}

/// Integers wrap modulo 2^n.
template <class A>
__device__ A plus(A a, A b) {
    if constexpr (std::is_integral_v<A>)
        return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) + static_cast<std::make_unsigned_t<A>>(b));
    else
        return a + b;
}

}  // namespace gridstride::sum::cuda
