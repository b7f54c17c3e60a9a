// SPDX-License-Identifier: BSD-3-Clause
// What the direct CUDA variants of dft share. A transform along several axes is one pass an axis, through a workspace
// of complex numbers of the arithmetic type; each pass crops or pads its own axis (what does not enter counts as zero).
//   forward   the last of `axes` first: a half spectrum has n/2+1 bins from there on
//   real      the last of `axes` last: complex inverses along the others, then the half spectrum's own sum
// The last pass also applies the norm's factor and, for `power`, the square.
#pragma once

#include <memory>
#include <type_traits>

#include "core/device_convert.cuh"
#include "dft/dft.hpp"

namespace gridstride::dft::cuda {

using gridstride::cuda::Complex;

/// What a pass makes of its sums.
enum class To {
    spectrum,  // complex numbers
    power,     // |X|^2
    samples,   // the real samples that a half spectrum stands for
};

/// Its output's type, R being the arithmetic's real type.
template <class R, To to>
using Out = std::conditional_t<to == To::spectrum, Complex<R>, R>;

/// One pass: x is (outer, extent, inner), the output (outer, bins, inner), row-major.
struct Pass {
    std::int64_t length = 1;    // N
    std::int64_t extent = 1;    // of the axis in x
    std::int64_t entering = 1;  // of these, the first that enter
    std::int64_t bins = 1;
    std::int64_t outer = 1, inner = 1;
    bool inverse = false;
    double factor = 1;  // of the norm, in the last pass

    __host__ __device__ std::int64_t lines() const { return outer * inner; }
    __host__ __device__ std::int64_t outputs() const { return outer * bins * inner; }
    /// Sample n of line l, which is (l / inner, :, l % inner), in x.
    __device__ std::int64_t in(std::int64_t l, std::int64_t n) const {
        return (l / inner * extent + n) * inner + l % inner;
    }
    /// Its bin k in the output.
    __device__ std::int64_t out(std::int64_t l, std::int64_t k) const {
        return (l / inner * bins + k) * inner + l % inner;
    }
};

/// Sample n of a line, which lies at x[at], as it enters the sum. A bin of a half spectrum stands for itself and its
/// mirror image, bins 0 and N/2 for themselves, their real parts alone: these enter as half of that, and finish()
/// doubles the sum.
template <class R, To to, class X>
__device__ X sample(const X* x, std::int64_t at, std::int64_t n, const Pass& pass) {
    const X value = x[at];
    if constexpr (to == To::samples)
        if (n == 0 || 2 * n == pass.length) return X(value.re / 2);
    return value;
}

/// The element that the sum of a bin becomes.
template <class R, To to>
__device__ Out<R, to> finish(Complex<R> sum, const Pass& pass) {
    const R factor = static_cast<R>(pass.factor);
    if constexpr (to == To::samples) {
        return sum.re * (2 * factor);
    } else {
        const Complex<R> bin(sum.re * factor, sum.im * factor);
        if constexpr (to == To::power)
            return bin.re * bin.re + bin.im * bin.im;
        else
            return bin;
    }
}

/// a b + c: four fused operations.
template <class R>
__device__ Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> c) {
    return {c.re + a.re * b.re - a.im * b.im, c.im + a.re * b.im + a.im * b.re};
}
template <class R>
__device__ Complex<R> multiply_add(Complex<R> a, R b, Complex<R> c) {
    return {c.re + a.re * b, c.im + a.im * b};
}

/// A problem resolved into passes. Offsets are into the workspace.
struct Work {
    Spec x, out;
    std::vector<Pass> passes;
    To to = To::spectrum;          // of the last pass
    DType real = DType::float32;   // of the arithmetic
    DType taken = DType::float32;  // what the first pass reads
    DType made = DType::float32;   // what the last one writes
    bool loads = false;            // x is converted first
    bool converts = false;         // the result is converted last
    bool partial = false;          // the launch may leave elements unwritten: NaN must show them
    std::size_t loaded = 0, between[2] = {}, result = 0, workspace = 0;
    std::string words;
};

Work work(const Problem& problem);

/// Calls f.operator()<R, X, to>() with the types of pass p: R of the arithmetic, X of its input.
template <class F>
void typed(const Work& work, std::size_t p, F&& f) {
    with_type<float, double>(work.real, [&]<class R>() {
        const To to = p + 1 == work.passes.size() ? work.to : To::spectrum;
        const bool complex = p > 0 || is_complex(work.taken);
        if (to == To::samples)
            f.template operator()<R, Complex<R>, To::samples>();
        else if (to == To::power && complex)
            f.template operator()<R, Complex<R>, To::power>();
        else if (to == To::power)
            f.template operator()<R, R, To::power>();
        else if (complex)
            f.template operator()<R, Complex<R>, To::spectrum>();
        else
            f.template operator()<R, R, To::spectrum>();
    });
}

/// Enqueues pass p, which has outputs, from x (of the type X that typed() names) to out.
using Enqueue = std::function<void(std::size_t p, const std::byte* x, std::byte* out, cudaStream_t stream)>;

/// The passes as a plan: x converted where need be, one pass after the other, the result converted where need be.
Plan plan(const Work& work, Enqueue enqueue);

/// exp(-+2 pi i j / N), j from 0 to N - 1, in device memory, in the complex type of `real`: made in long double from
/// angles reduced to an eighth of a turn in integers, rounded once.
std::shared_ptr<const Tensor> roots(std::int64_t length, bool inverse, DType real, int device);

/// g(N) of a direct sum.
double growth(const Problem& problem, std::int64_t n);

}  // namespace gridstride::dft::cuda
