// SPDX-License-Identifier: BSD-3-Clause
// convcov: the covariance that noise in the weights adds to the output of a 2-D convolution. What its variants share:
// the geometry of a problem, built and checked once from parameters and shapes, and where the blocks lie in memory.
#pragma once

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
enum Operand : std::size_t { gamma, mu, coef, accumulate };

enum class Form {
    full,              // (B, O, Ho, Wo, O, Ho, Wo)
    channel_diagonal,  // (B, O, Ho, Wo, Ho, Wo)
    factor,            // (B, Ho, Wo, Ho, Wo): R
    variance,          // (B, O, Ho, Wo)
};

/// [begin, end)
struct Interval {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return end - begin; }
};

/// One of the two spatial axes: tap u of output place i lies over input place i * stride + u * dilation - before, which
/// is padding where it is outside [0, in).
struct Window {
    std::int64_t in = 1, out = 1, taps = 1, stride = 1, dilation = 1, before = 0;

    std::int64_t position(std::int64_t i, std::int64_t u) const { return i * stride + u * dilation - before; }
    bool inside(std::int64_t position) const { return position >= 0 && position < in; }
    /// The output places whose tap u lies inside the input, within `range`.
    Interval valid(std::int64_t u, Interval range) const;
    /// The taps u for which some output place in `range` lies over input place r, as an interval (of which those with
    /// (r + before - u * dilation) divisible by stride do).
    Interval taps_over(std::int64_t r, Interval range) const;
    /// The smallest interval of input places that the output places in `range` reach; empty where all is padding.
    Interval reach(Interval range) const;
    /// The input places r' that meet input place r (inside the input) under one tap, the first output place being in
    /// `range`: r' = r + m * stride for the m of this interval, 0 among them; empty where r takes no part.
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

    std::int64_t places_in() const { return rows.in * columns.in; }     // N
    std::int64_t places_out() const { return rows.out * columns.out; }  // P
    Shape output_shape() const;
    /// Of gamma[b, c, r, q, (c,) 0, 0], where N elements follow; r counted from the map's first row.
    std::int64_t gamma_offset(std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q) const;
    /// Of cov[b, o, i, j, (o,) 0, 0], where P elements follow (of form variance: one); i counted from the map's first.
    std::int64_t output_offset(std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j) const;
};

/// Checks everything that a user can get wrong and builds the geometry. Errors (config, where = "params.kernel",
/// "inputs.gamma", ...): a rank, shape, dtype or parameter that does not fit, and what would.
Geometry geometry(const Params& params, std::span<const Spec> in);
inline Geometry geometry(const Problem& problem) {
    return geometry(problem.params, problem.in);
}

/// coef for every output channel, rounded once to `accumulator` (float32 or float64); 1 of form factor. Error (input):
/// a finite value that becomes Inf, with its index.
std::vector<double> coefficients(const Geometry& geometry, const Slab& coef, DType accumulator);

}  // namespace gridstride::convcov
