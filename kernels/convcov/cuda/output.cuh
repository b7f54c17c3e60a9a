// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA variants of convcov share: where an output element and its terms lie, how it is written, and the steps
// around a variant's kernel. A kernel makes the elements of the channel-diagonal blocks, all (b, o, i, j, i', j'),
// row-major; those between channels (form full) are settled beside it.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>

#include "convcov/convcov.hpp"
#include "core/device_convert.cuh"

namespace gridstride::convcov::cuda {

/// The accumulator of inputs T and output U (storage types of the device): arithmetic(op, problem) as a type.
template <class T, class U>
using accumulator = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<U, double>, double, float>;

/// A Window of convcov.hpp in device code.
struct Axis {
    std::int64_t in = 1, taps = 1, stride = 1, dilation = 1, before = 0;
    bool circular = false;

    __device__ std::int64_t position(std::int64_t i, std::int64_t u) const {
        const std::int64_t place = i * stride + u * dilation - before;
        return !circular || inside(place) ? place : (place % in + in) % in;
    }
    __device__ bool inside(std::int64_t position) const { return position >= 0 && position < in; }
    /// The taps under which output places i and i2 both lie over the map, which follow each other; end may be below
    /// begin.
    __device__ Interval taps_inside(std::int64_t i, std::int64_t i2) const {
        if (circular) return {0, taps};
        const std::int64_t low = position(i < i2 ? i : i2, 0), high = position(i < i2 ? i2 : i, 0);
        const std::int64_t fitting = high < in ? (in - 1 - high) / dilation + 1 : 0;
        return {low < 0 ? (dilation - 1 - low) / dilation : 0, fitting < taps ? fitting : taps};
    }
};

/// How many places the window of all outputs, and of so many taps more than it has, and its map span, from the
/// padding's first on: kernels that count them in 32 bits need fewer than 2^30.
inline std::int64_t extent(const Window& w, std::int64_t more_taps = 0) {
    return std::max(w.in, (w.out - 1) * w.stride + w.dilation * (w.taps - 1 + more_taps) + 1) + w.before;
}

/// A problem as the kernels see it. Strides are in elements.
struct Sizes {
    Axis rows, columns;
    std::int64_t batch = 0, channels_in = 0, channels_out = 0;
    std::int64_t first_row = 0, owned_rows = 0, columns_out = 0;  // i and j of the outputs; j' as j, i' has all rows
    std::int64_t pairs = 1;    // (i', j') of one (b, o, i, j): P; 1 of form variance, where i' = i and j' = j
    std::int64_t outputs = 0;  // elements of the channel-diagonal blocks, of all coefficient vectors
    bool full = false, variance = false;
    bool read = false, bias = false, half_gamma = false;                               // as in Geometry
    std::int64_t gamma_batch = 0, gamma_channel = 0, gamma_row = 0, gamma_column = 0;  // strides of b, c (both), r, q
    std::int64_t gamma_first_row = 0;                                                  // r that gamma begins with
    std::int64_t coef_stride = 0;                                                      // 0: one for all channels

    /// Of gamma[b, c, r, q, (c,) 0, 0].
    __device__ std::int64_t gamma_offset(std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q) const {
        return b * gamma_batch + c * gamma_channel + (r - gamma_first_row) * gamma_row + q * gamma_column;
    }
    /// Of gamma[b, c, r, q, (c,) r2, q2], or, of half a gamma, of what mirrors it.
    __device__ std::int64_t gamma_offset(std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q,
                                         std::int64_t r2, std::int64_t q2) const {
        const bool mirrored = half_gamma && (r2 < r || (r2 == r && q2 < q));
        return mirrored ? gamma_offset(b, c, r2, q2) + r * columns.in + q
                        : gamma_offset(b, c, r, q) + r2 * columns.in + q2;
    }
};
Sizes sizes_of(const Problem& problem);

/// coef, in the accumulator's type A or in double, which is rounded as it is read: numbers in a job file are doubles,
/// and a launch to convert them takes as long as a small problem.
template <class A>
struct Coefs {
    const void* data = nullptr;
    bool wide = false;

    __device__ bool operator==(std::nullptr_t) const { return data == nullptr; }
    __device__ A operator[](std::int64_t k) const {
        return wide ? static_cast<A>(static_cast<const double*>(data)[k]) : static_cast<const A*>(data)[k];
    }
};

/// The arrays of a call. gammas, before (accumulate), coefs and weights (weight_variance) are null where absent; before
/// may be the same memory as out. T: type of the inputs, U: of the output.
template <class T, class U>
struct Arrays {
    using A = accumulator<T, U>;
    const T *gammas, *mus, *before;
    Coefs<A> coefs;
    const A* weights;
    U* out;

    __device__ A factor(const Sizes& s, std::int64_t vector, std::int64_t o) const {
        return coefs == nullptr ? A(1) : coefs[(vector * s.channels_out + o) * s.coef_stride];
    }
    /// sum plus the term, times its weight's own variance where there are such (k: of (o, c, u, v)); 0 leaves it out.
    __device__ A add(A sum, A term, std::int64_t k) const {
        if (weights == nullptr) return sum + term;
        const A variance = weights[k];
        return variance == A(0) ? sum : sum + variance * term;
    }
    /// The element as it was: accumulate's, bit for bit where the types are one; 0 without.
    __device__ void keep(std::int64_t at) const {
        if (static_cast<const void*>(before) == out) return;
        if (before == nullptr)
            out[at] = gridstride::cuda::narrow<U>(A(0));
        else if constexpr (std::is_same_v<T, U>)
            out[at] = before[at];
        else
            out[at] = gridstride::cuda::narrow<U>(gridstride::cuda::widen<A>(before[at]));
    }
    /// accumulate + addend, rounded once.
    __device__ void store(std::int64_t at, A addend) const {
        const A start = before == nullptr ? A(0) : gridstride::cuda::widen<A>(before[at]);
        out[at] = gridstride::cuda::narrow<U>(before == nullptr ? addend : start + addend);
    }
};

/// The last digit of `index` in base `extent`, which is taken off it. By a short division where one is enough.
__device__ inline std::int64_t take_digit(std::uint64_t& index, std::int64_t extent) {
    const auto base = static_cast<std::uint64_t>(extent);
    const std::uint64_t rest = ((index | base) >> 32) == 0
                                   ? static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(base)
                                   : index / base;
    const auto digit = static_cast<std::int64_t>(index - rest * base);
    index = rest;
    return digit;
}

/// An element of a channel-diagonal block, its offset in the output (and in accumulate), its coefficient vector.
struct Place {
    std::int64_t vector, b, o, i, j, i2, j2, offset;
};

/// The place of element `index` among the s.outputs.
__device__ inline Place place_of(const Sizes& s, std::int64_t index) {
    Place at;
    auto rest = static_cast<std::uint64_t>(index);
    const std::int64_t pair = take_digit(rest, s.pairs);
    const auto row = static_cast<std::int64_t>(rest);  // (vector, b, o, i, j) as one index
    at.j = take_digit(rest, s.columns_out);
    at.i = s.first_row + take_digit(rest, s.owned_rows);
    at.o = take_digit(rest, s.channels_out);
    at.b = take_digit(rest, s.batch);
    at.vector = static_cast<std::int64_t>(rest);
    auto other = static_cast<std::uint64_t>(pair);
    at.j2 = s.variance ? at.j : take_digit(other, s.columns_out);
    at.i2 = s.variance ? at.i : static_cast<std::int64_t>(other);
    at.offset = s.full ? (row * s.channels_out + at.o) * s.pairs + pair : index;
    return at;
}

/// Does the noise reach this pair of places?
__device__ inline bool is_reached(const Sizes& s, const Place& at) {
    return !s.read || (at.i == at.i2 && at.j == at.j2);
}

/// gamma + mu mu, at these offsets.
template <class T, class U>
__device__ accumulator<T, U> term(const Arrays<T, U>& arrays, std::int64_t gamma_at, std::int64_t mean_at,
                                  std::int64_t other_mean_at) {
    using A = accumulator<T, U>;
    using gridstride::cuda::widen;
    const A product = widen<A>(arrays.mus[mean_at]) * widen<A>(arrays.mus[other_mean_at]);
    return arrays.gammas == nullptr ? product : widen<A>(arrays.gammas[gamma_at]) + product;
}

/// Calls f.operator()<T, U>() with the device's types of the inputs and of the output.
template <class F>
decltype(auto) typed(const Problem& problem, F&& f) {
    using gridstride::cuda::device_type;
    return with_type<float16, bfloat16, float, double>(problem.in[mu].dtype, [&]<class T>() {
        return with_type<float16, bfloat16, float, double>(
            problem.out[0].dtype, [&]<class U>() { return f.template operator()<device_type<T>, device_type<U>>(); });
    });
}

/// Arrays, their types left out.
struct Pointers {
    const std::byte *gammas, *mus, *before, *coefs, *weights;
    bool wide_coefs;  // doubles, whatever the accumulator
    std::byte* out;
    std::byte* scratch;  // behind the workspace that plan() itself uses

    template <class T, class U>
    Arrays<T, U> as() const {
        using A = accumulator<T, U>;
        return {reinterpret_cast<const T*>(gammas),  reinterpret_cast<const T*>(mus),
                reinterpret_cast<const T*>(before),  {coefs, wide_coefs},
                reinterpret_cast<const A*>(weights), reinterpret_cast<U*>(out)};
    }
};

/// Launches a kernel that makes the channel-diagonal blocks.
using Launch = std::function<void(const Pointers&, Stream)>;

/// The step around it: coef and weight_variance rounded to the accumulator's type, the elements between channels
/// settled, the launch. One beyond the accumulator's largest number is Inf there: the step must not wait for it on the
/// host to refuse it, as the CPU variants do.
Plan plan(const Problem& problem, Launch launch);
/// Its workspace.
std::size_t memory(const Problem& problem);

}  // namespace gridstride::convcov::cuda
