// SPDX-License-Identifier: BSD-3-Clause
// One output element by the definition: every tap of every channel, gamma and mu mu as terms of their own, in float64,
// or in long double where the arithmetic is float64. Shares nothing with the variants but the problem's sizes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "convcov/convcov.hpp"
#include "core/convert.hpp"

namespace gridstride::convcov {

namespace {

/// The output places and channels behind a flat output index, and the coefficient vector.
struct Place {
    std::int64_t b = 0, o = 0, i = 0, j = 0, other_o = 0, other_i = 0, other_j = 0, vector = 0;
};

/// Of one vector's output.
Place place_of(const Geometry& g, const Shape& at) {
    const std::int64_t first = g.owned.begin;
    switch (g.form) {
        case Form::full:
            return {at[0], at[1], at[2] + first, at[3], at[4], at[5], at[6]};
        case Form::channel_diagonal:
            return {at[0], at[1], at[2] + first, at[3], at[1], at[4], at[5]};
        case Form::factor:
            return {at[0], 0, at[1] + first, at[2], 0, at[3], at[4]};
        case Form::variance:
            return {at[0], at[1], at[2] + first, at[3], at[1], at[2] + first, at[3]};
    }
    return {};
}

Place place_of(const Geometry& g, const Shape& shape, std::int64_t index) {
    Shape at = unravel(index, shape);
    if (g.vectors == 0) return place_of(g, at);
    const std::int64_t vector = at[0];
    at.erase(at.begin());
    Place place = place_of(g, at);
    place.vector = vector;
    return place;
}

/// r(i, u) = i stride + u dilation - top; of columns likewise. -1: zero padding.
std::int64_t tapped(const Window& axis, std::int64_t i, std::int64_t u) {
    std::int64_t place = i * axis.stride + u * axis.dilation - axis.before;
    if (place >= 0 && place < axis.in) return place;
    if (!axis.circular) return -1;
    place %= axis.in;
    return place < 0 ? place + axis.in : place;
}

/// unweighted: of |terms| before weight_variance, the largest of which is `weight` (1 where all are smaller).
struct Sum {
    long double value = 0, magnitude = 0, unweighted = 0, weight = 1;
};

/// R at one pair of places (with bias, R + 1; with weights [o][c][u][v], their variances as factors), and its sum of
/// |terms|. Wide: the arithmetic.
template <class Wide, class T>
Sum window_sum(const Geometry& g, const Slab& gammas, const Slab& means, const std::vector<long double>& weights,
               const Place& at) {
    const auto mean = [&](std::int64_t c, std::int64_t r, std::int64_t q) {
        const Shape& s = means.strides;
        return static_cast<Wide>(means.as<T>()[at.b * s[0] + c * s[1] + r * s[2] + q * s[3]]);
    };
    const auto covariance = [&](std::int64_t c, std::int64_t r, std::int64_t q, std::int64_t r2, std::int64_t q2) {
        if (g.half_gamma && (r2 < r || (r2 == r && q2 < q))) {  // the other half mirrors
            std::swap(r, r2);
            std::swap(q, q2);
        }
        const Shape& s = gammas.strides;
        const std::int64_t first = at.b * s[0] + c * s[1] + (r - g.gamma_rows.begin) * s[2] + q * s[3];
        const std::int64_t second = g.full_gamma ? c * s[4] + r2 * s[5] + q2 * s[6] : r2 * s[4] + q2 * s[5];
        return static_cast<Wide>(gammas.as<T>()[first + second]);
    };
    Wide value = 0, magnitude = 0, unweighted = 0, largest = 1;
    std::size_t weight = static_cast<std::size_t>(at.o * g.channels_in * g.rows.taps * g.columns.taps);
    for (std::int64_t c = 0; c < g.channels_in; ++c)
        for (std::int64_t u = 0; u < g.rows.taps; ++u) {
            const std::int64_t r = tapped(g.rows, at.i, u), r2 = tapped(g.rows, at.other_i, u);
            for (std::int64_t v = 0; v < g.columns.taps; ++v) {
                const Wide variance = weights.empty() ? Wide(1) : static_cast<Wide>(weights[weight++]);
                const std::int64_t q = tapped(g.columns, at.j, v), q2 = tapped(g.columns, at.other_j, v);
                if (std::min(std::min(r, r2), std::min(q, q2)) < 0 || variance == 0) continue;
                largest = std::max(largest, std::abs(variance));
                const auto add = [&](Wide term) {
                    value += variance * term;
                    magnitude += finite_size(variance * term);
                    if (!weights.empty()) unweighted += finite_size(term);
                };
                add(mean(c, r, q) * mean(c, r2, q2));
                if (gammas.spec.present) add(covariance(c, r, q, r2, q2));
            }
        }
    if (g.bias) {
        value += 1;
        magnitude += 1;
    }
    return {value, magnitude, weights.empty() ? magnitude : unweighted, largest};
}

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const Geometry g = geometry(problem);
    const DType accumulator = arithmetic(op, problem);
    // coef and weight_variance enter rounded to the accumulator's type: so they are defined.
    const auto rounded_values = [&](Operand which) {
        std::vector<long double> values;
        for (std::int64_t k = 0; given(problem.in, which) && k < problem.in[which].size(); ++k)
            values.push_back(rounded(real_part(in[which], k), accumulator));
        return values;
    };
    const auto factor_of = [g, factors = rounded_values(coef)](const Place& at) {
        if (factors.empty()) return 1.0L;
        return factors.size() == 1 ? factors[0] : factors[static_cast<std::size_t>(at.vector * g.channels_out + at.o)];
    };

    using Summing = Sum (*)(const Geometry&, const Slab&, const Slab&, const std::vector<long double>&, const Place&);
    const auto summing = with_type<float16, bfloat16, float, double>(problem.in[mu].dtype, [&]<class T>() -> Summing {
        return accumulator == DType::float64 ? window_sum<long double, T> : window_sum<double, T>;
    });
    return [g, factor_of, weights = rounded_values(weight_variance), summing, shape = problem.out[0].shape,
            dtype = problem.out[0].dtype, gammas = in[gamma], means = in[mu],
            before = in[accumulate]](std::int64_t index) {
        const Place at = place_of(g, shape, index);
        const long double start = before.spec.present ? real_part(before, index) : 0.0L;
        const long double factor = factor_of(at);
        const bool apart = g.noise == Noise::read && (at.i != at.other_i || at.j != at.other_j);
        Term term;
        if (at.o != at.other_o || factor == 0 || apart) {
            term.re = rounded(start, dtype);
            term.re_magnitude = std::abs(term.re);
            term.exact = true;
            return term;
        }
        const Sum sum = summing(g, gammas, means, weights, at);
        term.re = start + factor * sum.value;
        term.factor = std::abs(factor) * sum.weight;
        term.unscaled = sum.unweighted;
        term.re_magnitude = finite_size(start) + std::abs(factor) * sum.magnitude;
        term.lost = before.spec.present && is_half(dtype) && term.re != start &&
                    rounded(term.re, dtype) == rounded(start, dtype);
        return term;
    };
}

}  // namespace gridstride::convcov
