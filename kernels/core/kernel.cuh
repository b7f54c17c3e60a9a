// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA kernels share: complex numbers by the plain formula, elements of a dtype known at run time read and
// written in the arithmetic type, launch shapes and what they cost.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <string>

#include "core/cuda.hpp"
#include "core/operation.hpp"

namespace gridstride::cuda {

/// A complex number with the layout of std::complex; products are the plain formula, without Annex G recovery.
template <class T>
struct alignas(2 * sizeof(T)) Complex {
    T re, im;

    Complex() = default;
    __host__ __device__ constexpr Complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
    template <class U>
    __host__ __device__ explicit constexpr Complex(const Complex<U>& other)
        : re(static_cast<T>(other.re)), im(static_cast<T>(other.im)) {}
};

template <class T>
__host__ __device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T>
__host__ __device__ Complex<T>& operator+=(Complex<T>& a, Complex<T> b) {
    return a = a + b;
}
template <class T>
__host__ __device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <class T>
__host__ __device__ T conjugate(T value) {
    return value;
}
template <class T>
__host__ __device__ Complex<T> conjugate(Complex<T> value) {
    return {value.re, -value.im};
}

/// The device's type of a host element type.
template <class T>
struct DeviceType {
    using type = T;
};
template <>
struct DeviceType<float16> {
    using type = __half;
};
template <>
struct DeviceType<bfloat16> {
    using type = __nv_bfloat16;
};
template <class T>
struct DeviceType<std::complex<T>> {
    using type = Complex<T>;
};
template <class T>
using device_type = typename DeviceType<T>::type;

/// One element of a stored type in the arithmetic type A, which is float or wider. Complex from real: imaginary 0.
template <class A, class T>
__device__ A widen(T value) {
    return static_cast<A>(value);
}
template <class A>
__device__ A widen(__half value) {
    return static_cast<A>(__half2float(value));
}
template <class A>
__device__ A widen(__nv_bfloat16 value) {
    return static_cast<A>(__bfloat162float(value));
}

/// An arithmetic result rounded to a stored type, to nearest even, Inf where it overflows.
template <class T>
struct Narrow {
    template <class A>
    __device__ static T from(A value) {
        return static_cast<T>(value);
    }
};
template <>
struct Narrow<__half> {
    __device__ static __half from(float value) { return __float2half_rn(value); }
    __device__ static __half from(double value) { return __double2half(value); }
};
template <>
struct Narrow<__nv_bfloat16> {
    __device__ static __nv_bfloat16 from(float value) { return __float2bfloat16_rn(value); }
    __device__ static __nv_bfloat16 from(double value) { return __double2bfloat16(value); }
};
template <class T>
__device__ T narrow(auto value) {
    return Narrow<T>::from(value);
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

inline cudaStream_t raw(Stream stream) {
    return static_cast<cudaStream_t>(stream.handle);
}

/// The three extents of a launch shape, 1 where it has fewer.
inline dim3 dim3_of(const Shape& shape) {
    const auto extent = [&](std::size_t i) { return static_cast<unsigned>(i < shape.size() ? shape[i] : 1); };
    return {extent(0), extent(1), extent(2)};
}

/// Why a kernel cannot be launched as the problem asks, with the limit that binds; empty where it can. rank: extents
/// that grid and block may have (1, 2 or 3). shared: bytes of dynamic shared memory a block.
std::string launch_refusal(const Problem& problem, const void* kernel, std::size_t rank, std::size_t shared);

/// The launch as it is made, with its occupancy. work: threads that have something to do.
Launched describe(const void* kernel, dim3 grid, dim3 block, std::size_t shared, std::int64_t work);

}  // namespace gridstride::cuda
