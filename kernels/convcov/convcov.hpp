// SPDX-License-Identifier: BSD-3-Clause
// convcov: the covariance that noise in the weights adds to the output of a 2-D convolution. What its variants share:
// the geometry of a problem, built and checked once from parameters and shapes, and where the blocks lie in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/operation.hpp"

namespace gridstride::convcov {

extern const Op op;

Reference reference(const Problem& problem, std::span<const Slab> in);
std::vector<Property> properties(const Examined&);

/// Indices of the inputs.
enum Operand : std::size_t { gamma, mu, coef, accumulate, weight_variance };

enum class Form {
    full,              // (B, O, Ho, Wo, O, Ho, Wo)
    channel_diagonal,  // (B, O, Ho, Wo, Ho, Wo)
    factor,            // (B, Ho, Wo, Ho, Wo): R
    variance,          // (B, O, Ho, Wo)
};

/// When the noise in the weights is drawn.
enum class Noise {
    programming,  // once for the whole map: every pair of places gets coef R
    read,         // anew for every output place: only a place with itself does, (i', j') = (i, j)
};

/// [begin, end)
struct Interval {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return end - begin; }
};

/// One of the two spatial axes: tap u of output place i lies over input place i * stride + u * dilation - before, which
/// is padding where it is outside [0, in), or, where `circular`, is taken modulo in.
struct Window {
    std::int64_t in = 1, out = 1, taps = 1, stride = 1, dilation = 1, before = 0;
    bool circular = false;

    /// The input place, wrapped where circular; of padding that is zeros, a place outside [0, in).
    std::int64_t position(std::int64_t i, std::int64_t u) const { return wrap(unwrapped(i, u)); }
    std::int64_t unwrapped(std::int64_t i, std::int64_t u) const { return i * stride + u * dilation - before; }
    std::int64_t wrap(std::int64_t place) const { return !circular || inside(place) ? place : (place % in + in) % in; }
    bool inside(std::int64_t position) const { return position >= 0 && position < in; }
    /// The output places whose tap u lies inside the input, within `range`; all of it where circular.
    Interval valid(std::int64_t u, Interval range) const;
    /// Calls body(begin, end, place) for runs [begin, end) of those, under which input places follow each other from
    /// `place` on, in steps of stride: one run, but for where they wrap.
    template <class Body>
    void runs(std::int64_t u, Interval range, Body&& body) const {
        const Interval all = valid(u, range);
        for (std::int64_t i = all.begin, end = all.end; i < all.end; i = end) {
            const std::int64_t place = position(i, u);
            if (circular) end = std::min(all.end, i + (in - 1 - place) / stride + 1);
            body(i, end, place);
        }
    }
    /// The smallest interval of input places that the output places in `range` reach; empty where all is padding, the
    /// whole input where they wrap.
    Interval reach(Interval range) const;
    /// The input places r' that meet input place r (inside the input) under one tap, the first output place being in
    /// `range`: r' = r + m * stride (modulo in where circular) for the m of this interval, 0 among them; empty where r
    /// takes no part. Where circular the interval is not cut to the map: several m may give one r'.
    Interval partners(std::int64_t r, Interval range) const;
};

/// All sizes of a problem. Offsets are in elements of contiguous row-major tensors.
struct Geometry {
    Form form = Form::channel_diagonal;
    std::int64_t batch = 0, channels_in = 0, channels_out = 0;  // channels_out: 1 of form factor
    Window rows, columns;
    Interval owned;       // output rows i that this problem has, of rows.out (all, but for a piece cut along them)
    Interval gamma_rows;  // input rows r that gamma has along its first row axis
    bool full_gamma = false;
    bool circular = false;  // of both windows
    Noise noise = Noise::programming;
    bool bias = false;         // coef (R + 1) where the noise gives coef R
    bool half_gamma = false;   // only gamma's pairs with (r', q') >= (r, q), row-major, count: the others mirror them
    bool per_weight = false;   // weight_variance in place of coef
    std::int64_t vectors = 0;  // S of coef (S, O), the output's first axis; 0: coef is (O,) or a number, no such axis

    /// Does R enter only where (i', j') = (i, j)?
    bool same_place() const { return form == Form::variance || noise == Noise::read; }
    std::int64_t places_in() const { return rows.in * columns.in; }     // N
    std::int64_t places_out() const { return rows.out * columns.out; }  // P
    Shape output_shape() const;
    /// The input rows r of gamma that these output rows need, as its first row.
    Interval gamma_rows_of(Interval outputs) const;
    /// Of gamma[b, c, r, q, (c,) 0, 0], where N elements follow; r counted from the map's first row.
    std::int64_t gamma_offset(std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q) const;
    /// Of cov[b, o, i, j, (o,) 0, 0], where P elements follow (of form variance: one); i counted from the map's first.
    /// Of the first coefficient vector: vector_size() elements further lies the next one's.
    std::int64_t output_offset(std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j) const;
    std::int64_t vector_size() const;
};

/// Is that input there?
inline bool given(std::span<const Spec> in, Operand which) {
    return which < in.size() && in[which].present;
}

/// Checks everything that a user can get wrong and builds the geometry. Errors (config, where = "params.kernel",
/// "inputs.gamma", ...): a rank, shape, dtype or parameter that does not fit, and what would.
Geometry geometry(const Params& params, std::span<const Spec> in);
inline Geometry geometry(const Problem& problem) {
    return geometry(problem.params, problem.in);
}

/// The values of coef or weight_variance, rounded once to `accumulator` (float32 or float64). Error (input): a finite
/// value that becomes Inf, with its index.
std::vector<double> rounded_to(const Slab& values, Operand which, DType accumulator);
/// coef for every output channel (vector after vector), rounded once to `accumulator` (float32 or float64); 1 of form
/// factor and beside weight_variance. Error (input): a finite value that becomes Inf, with its index.
std::vector<double> coefficients(const Geometry& geometry, const Slab& coef, DType accumulator);

}  // namespace gridstride::convcov
