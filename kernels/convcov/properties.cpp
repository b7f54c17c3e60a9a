// SPDX-License-Identifier: BSD-3-Clause
// convcov without a reference, blocks of P x P = (Ho Wo)^2 places, with a vector t of random weights over the places:
//   weighted sums  every row of a block, cov t = accumulate t + coef R t; R t from one pass over gamma, summed over the
//                channels, for all taps: B N^2 (C + taps) terms, N = H W, where the definition costs B O P^2 C taps.
//                With a variance a weight, of each channel for itself: B N^2 C (1 + taps). Of noise: read, R's diagonal
//                alone
//   symmetry     where gamma and accumulate are symmetric bit for bit: cov t = cov^T t, within twice the bound
//   positive semidefinite  where the exact t^T cov t, from the inputs, is not negative: ours is not, to rounding
//   untouched blocks       what neither rounding nor noise reaches, as accumulate's bits, or 0: of form full, blocks
//                between different channels; those of coef 0; of noise: read, pairs of different places
// The norm of a row's sums of |terms| is at most the sum over taps of the norms of rows of M = sum over channels of
// |gamma| + |mu mu|; where windows wrap, an element of M's row may stand for several places.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "convcov/convcov.hpp"
#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "core/properties.hpp"

namespace gridstride::convcov {

namespace {

using std::int64_t;

/// R t (with a bias, (R + 1) t) of one batch entry: for every owned output place, the sum with the weights, and bounds
/// of the norm of the sums of |terms| along its row; reached: before or after weight_variance, whichever is larger.
struct Sums {
    std::vector<long double> value, norm, reached;
};

/// Of every input place: the row of M times the weights spread over the input by each tap, [place][tap]; the row's
/// norm, |terms| for terms, as often as outputs may meet it under one tap.
struct Rows {
    std::vector<long double> dots, norms;
};

std::size_t index(int64_t i) {
    return static_cast<std::size_t>(i);
}

int64_t taps_of(const Geometry& g) {
    return g.rows.taps * g.columns.taps;
}

/// Does noise reach only a place with itself, in blocks of pairs?
bool apart(const Geometry& g) {
    return g.noise == Noise::read;
}

/// Weights of the output places, by their place in the whole map.
std::vector<long double> weights_of(const Geometry& g, std::uint64_t seed) {
    std::vector<long double> weights(index(g.places_out()));
    for (int64_t p = 0; p < g.places_out(); ++p) weights[index(p)] = random_weight(seed, p);
    return weights;
}

/// Output places that may lie over one input place under one tap.
int64_t repeats(const Window& window) {
    if (!window.circular) return 1;
    const int64_t period = window.in / std::gcd(window.in, window.stride);
    return (window.out + period - 1) / period;
}

/// M of batch entry b, summed over `channels`.
Rows spread(const Examined& one, const Geometry& g, const std::vector<long double>& weights, int64_t b,
            Interval channels) {
    const int64_t taps = taps_of(g), places = g.places_in(), width = g.columns.in;
    const int64_t pitch = (g.full_gamma ? g.channels_in : 1) * places;
    const Elements gammas(one.in[gamma]), means(one.in[mu]);
    const bool has_gamma = one.in[gamma].spec.present;
    const auto several = static_cast<long double>(apart(g) ? 1 : repeats(g.rows) * repeats(g.columns));
    Rows result{std::vector<long double>(index(places * taps)), std::vector<long double>(index(places))};
    for_blocks(g.gamma_rows.count() * width, 16, one.threads, [&](int64_t begin, int64_t end) {
        std::vector<long double> row(index(places)), sizes(index(places));
        for (int64_t at = begin; at < end; ++at) {
            const int64_t place = g.gamma_rows.begin * width + at, r = place / width, q = place % width;
            // A piece's half of gamma begins with the first row that any output meets.
            const Interval others =
                apart(g) ? Interval{place, place + 1} : Interval{g.half_gamma ? g.gamma_rows.begin * width : 0, places};
            std::fill(row.begin() + others.begin, row.begin() + others.end, 0.0L);
            std::fill(sizes.begin() + others.begin, sizes.begin() + others.end, 0.0L);
            for (int64_t c = channels.begin; c < channels.end; ++c) {
                const int64_t map = (b * g.channels_in + c) * places;
                const long double mean = means.real(map + place);
                const int64_t from = has_gamma ? g.gamma_offset(b, c, r, q) : 0;
                for (int64_t other = others.begin; other < others.end; ++other) {
                    const bool mirrored = g.half_gamma && other < place;
                    const int64_t pair = mirrored ? from + (other - place) * pitch + place : from + other;
                    const long double product = mean * means.real(map + other);
                    const long double term = has_gamma ? gammas.real(pair) : 0;
                    row[index(other)] += product + term;
                    sizes[index(other)] += std::abs(product) + std::abs(term);
                }
            }
            long double squares = 0;
            for (int64_t other = others.begin; other < others.end; ++other)
                squares += sizes[index(other)] * sizes[index(other)];
            result.norms[index(place)] = std::sqrt(several * squares);
            for (int64_t tap = 0; tap < taps; ++tap) {
                long double& sum = result.dots[index(place * taps + tap)];
                if (apart(g)) {
                    sum = row[index(place)];
                    continue;
                }
                const int64_t u = tap / g.columns.taps, v = tap % g.columns.taps;
                const Interval rows = g.rows.valid(u, {0, g.rows.out}),
                               columns = g.columns.valid(v, {0, g.columns.out});
                for (int64_t i = rows.begin; i < rows.end; ++i)
                    for (int64_t j = columns.begin; j < columns.end; ++j)
                        sum += weights[index(i * g.columns.out + j)] *
                               row[index(g.rows.position(i, u) * width + g.columns.position(j, v))];
            }
        }
    });
    return result;
}

/// Of batch entry b: one for all output channels, or, where each has variances of its own (O, C, taps), one each.
std::vector<Sums> window_sums(const Examined& one, const Geometry& g, const std::vector<long double>& weights,
                              const std::vector<double>& variances, int64_t b) {
    const int64_t taps = taps_of(g), width = g.columns.in, owned = g.owned.count() * g.columns.out;
    const int64_t groups = g.per_weight ? g.channels_in : 1;
    const std::vector<long double> zeros(index(owned));
    std::vector<Sums> result(index(g.per_weight ? g.channels_out : 1), Sums{zeros, zeros, zeros});
    for (int64_t group = 0; group < groups; ++group) {
        const Interval channels = g.per_weight ? Interval{group, group + 1} : Interval{0, g.channels_in};
        const Rows rows = spread(one, g, weights, b, channels);
        for (std::size_t o = 0; o < result.size(); ++o)
            for (int64_t p = 0; p < owned; ++p)
                for (int64_t tap = 0; tap < taps; ++tap) {
                    const int64_t r = g.rows.position(g.owned.begin + p / g.columns.out, tap / g.columns.taps),
                                  q = g.columns.position(p % g.columns.out, tap % g.columns.taps);
                    if (!g.rows.inside(r) || !g.columns.inside(q)) continue;
                    const std::size_t at = o * index(groups * taps) + index(group * taps + tap);
                    const long double variance = g.per_weight ? variances[at] : 1.0L;
                    if (variance == 0) continue;  // as the definition: its term is left out
                    const long double norm = rows.norms[index(r * width + q)];
                    const long double weight = apart(g) ? weights[index(g.owned.begin * g.columns.out + p)] : 1.0L;
                    result[o].value[index(p)] += variance * weight * rows.dots[index((r * width + q) * taps + tap)];
                    result[o].norm[index(p)] += std::abs(variance) * norm;
                    result[o].reached[index(p)] += std::max(1.0L, std::abs(variance)) * norm;
                }
    }
    if (!g.bias) return result;
    const long double all = std::accumulate(weights.begin(), weights.end(), 0.0L);
    const long double ones = apart(g) ? 1.0L : std::sqrt(static_cast<long double>(g.places_out()));
    for (Sums& sums : result)
        for (int64_t p = 0; p < owned; ++p) {
            sums.value[index(p)] += apart(g) ? weights[index(g.owned.begin * g.columns.out + p)] : all;
            sums.norm[index(p)] += ones;
            sums.reached[index(p)] += ones;
        }
    return result;
}

/// Is every P x P block of this tensor, of `blocks` of them, symmetric bit for bit?
bool symmetric(const Slab& slab, int64_t side, std::span<const int64_t> offsets, int64_t row_stride) {
    const std::size_t size = size_of(slab.spec.dtype);
    return std::all_of(offsets.begin(), offsets.end(), [&](int64_t first) {
        for (int64_t p = 0; p < side; ++p)
            for (int64_t q = 0; q < p; ++q)
                if (std::memcmp(slab.data + index(first + p * row_stride + q) * size,
                                slab.data + index(first + q * row_stride + p) * size, size) != 0)
                    return false;
        return true;
    });
}

/// Is the gamma that counts?
bool symmetric_gamma(const Examined& one, const Geometry& g) {
    if (!one.in[gamma].spec.present || g.half_gamma || apart(g)) return true;
    if (g.gamma_rows.count() != g.rows.in) return false;  // a piece
    std::vector<int64_t> offsets;
    for (int64_t b = 0; b < g.batch; ++b)
        for (int64_t c = 0; c < g.channels_in; ++c) offsets.push_back(g.gamma_offset(b, c, 0, 0));
    const int64_t stride = (g.full_gamma ? g.channels_in : 1) * g.places_in();
    return symmetric(one.in[gamma], g.places_in(), offsets, stride);
}

/// "block (0, 2)" of batch entry and channel, of several coefficient vectors "vector 1, block (0, 2)".
std::string name_of(const Geometry& g, int64_t vector, int64_t b, int64_t o) {
    const std::string of_vector = g.vectors > 0 ? "vector " + std::to_string(vector) + ", " : "";
    return of_vector + "block (" + std::to_string(b) + ", " + std::to_string(o) + ")";
}

/// What keeps accumulate's bits, or is zero. Empty name: there is none such.
Property untouched(const Examined& one, const Geometry& g, const std::vector<double>& coef) {
    Property result;
    const Slab& before = one.in[accumulate];
    const DType type = one.out.spec.dtype;
    const int64_t inner = g.places_out(), first = g.owned.begin * g.columns.out,
                  owned = g.owned.count() * g.columns.out;
    const std::size_t size = size_of(type);
    const std::vector<std::byte> zero(index(inner) * size);
    const bool converted = before.spec.present && before.spec.dtype != type;
    const auto is_off = [&](int64_t at) {
        if (converted) {
            const long double value = rounded(real_part(before, at), type), got = real_part(one.out, at);
            return !(value == got || (std::isnan(value) && std::isnan(got)));
        }
        const std::byte* expected = before.spec.present ? before.data + index(at) * size : zero.data();
        return std::memcmp(one.out.data + index(at) * size, expected, size) != 0;
    };
    const auto check = [&](int64_t at, int64_t n, auto&& name) {
        result.name = "untouched blocks";
        const std::byte* expected = before.spec.present ? before.data + index(at) * size : zero.data();
        if (!converted && std::memcmp(one.out.data + index(at) * size, expected, index(n) * size) == 0) return;
        int64_t off = 0;
        for (int64_t k = at; k < at + n; ++k) off += is_off(k) ? 1 : 0;
        if (off == 0) return;
        result.value += static_cast<long double>(off);
        if (!result.where.empty()) return;
        result.where = name();
        for (int64_t k = at; k < at + n; ++k) result.outputs.push_back(k);
    };
    const int64_t others = g.form == Form::full ? g.channels_out : 1;
    for (std::size_t block = 0; block < coef.size(); ++block)
        for (int64_t b = 0; b < g.batch; ++b) {
            const int64_t vector = static_cast<int64_t>(block) / g.channels_out,
                          o = static_cast<int64_t>(block) % g.channels_out;
            for (int64_t p = 0; p < owned; ++p) {
                const int64_t own = vector * g.vector_size() +
                                    g.output_offset(b, o, g.owned.begin + p / g.columns.out, p % g.columns.out);
                for (int64_t other = 0; other < others; ++other) {
                    const bool is_own = others == 1 || other == o;
                    const int64_t at = is_own ? own : own + (other - o) * inner;
                    const auto name = [&] {
                        std::string text = name_of(g, vector, b, o);
                        if (!is_own) text.insert(text.size() - 1, ", " + std::to_string(other));
                        return is_own ? text + ", row " + std::to_string(p) : text;
                    };
                    if (!is_own || coef[block] == 0) {
                        check(at, inner, name);
                    } else if (apart(g)) {
                        if (first + p > 0) check(at, first + p, name);
                        if (first + p + 1 < inner) check(at + first + p + 1, inner - first - p - 1, name);
                    }
                }
            }
        }
    return result;
}

}  // namespace

std::vector<Property> properties(const Examined& one) {
    const Geometry g = geometry(one.problem);
    const auto real = [](int64_t n) { return static_cast<double>(n); };
    const int64_t side = g.places_out(), owned = g.owned.count() * g.columns.out, first = g.owned.begin * g.columns.out;
    const double groups = g.per_weight ? real(g.channels_in) : 1, taps = real(g.rows.taps) * real(g.columns.taps);
    const double pairs = real(g.gamma_rows.count() * g.columns.in) * (apart(g) ? 1 : real(g.places_in()));
    const double gathered = real(owned) * taps * groups * (g.per_weight ? real(g.channels_out) : 1);
    const double cost =
        real(g.batch) * (pairs * (real(g.channels_in) + groups * taps) + gathered) + real(one.out.spec.size());
    if (one.out.spec.size() == 0 || g.form == Form::variance || cost > one.terms) return {};

    const DType accumulator = arithmetic(op, one.problem);
    const std::vector<double> coefs = coefficients(g, one.in[Operand::coef], accumulator);
    std::vector<double> variances;
    if (g.per_weight) variances = rounded_to(one.in[weight_variance], weight_variance, accumulator);
    long double largest_variance = 1;
    for (const double variance : variances)
        largest_variance = std::max(largest_variance, std::abs(static_cast<long double>(variance)));
    const std::vector<long double> weights = weights_of(g, one.seed);
    const Slab& before = one.in[accumulate];
    const Elements output(one.out), held_before(before);
    const Allowance& allowed = one.allowance;
    const int64_t vectors = std::max<int64_t>(g.vectors, 1);
    const bool square = owned == side;
    bool mirrored = square && symmetric_gamma(one, g);
    if (mirrored && before.spec.present) {
        std::vector<int64_t> offsets;
        for (int64_t vector = 0; vector < vectors; ++vector)
            for (int64_t b = 0; b < g.batch; ++b)
                for (int64_t o = 0; o < g.channels_out; ++o)
                    offsets.push_back(vector * g.vector_size() + g.output_offset(b, o, 0, 0));
        mirrored = symmetric(before, side, offsets, (g.form == Form::full ? g.channels_out : 1) * side);
    }
    Property sums{.name = "weighted sums"}, symmetry{.name = "symmetry"}, semidefinite{.name = "positive semidefinite"};
    const long double root = std::sqrt(static_cast<long double>(side));
    for (int64_t b = 0; b < g.batch; ++b) {
        const std::vector<Sums> window = window_sums(one, g, weights, variances, b);
        for (std::size_t k = 0; k < coefs.size(); ++k) {
            if (coefs[k] == 0) continue;
            const int64_t vector = static_cast<int64_t>(k) / g.channels_out,
                          o = static_cast<int64_t>(k) % g.channels_out;
            const Sums& exact = window[g.per_weight ? index(o) : 0];
            const long double factor = coefs[k];
            const auto row_at = [&](int64_t p) {
                return vector * g.vector_size() +
                       g.output_offset(b, o, g.owned.begin + p / g.columns.out, p % g.columns.out);
            };
            long double ours_form = 0, exact_form = 0, form_bound2 = 0;
            bool judged = true;
            std::vector<long double> rows_of(index(owned)), columns_of(index(owned)), bounds(index(owned));
            const std::string block = name_of(g, vector, b, o);
            for (int64_t p = 0; p < owned; ++p) {
                const int64_t at = row_at(p);
                long double sum = 0, squares = 0, addend = 0, addend_squares = 0;
                for (int64_t q = 0; q < side; ++q) {
                    const long double got = output.real(at + q);
                    sum += weights[index(q)] * got;
                    squares += got * got;
                    if (mirrored) columns_of[index(q)] += weights[index(p)] * got;
                    if (!before.spec.present) continue;
                    const long double held = held_before.real(at + q);
                    addend += weights[index(q)] * held;
                    addend_squares += held * held;
                }
                const long double norm = std::sqrt(addend_squares) + std::abs(factor) * exact.norm[index(p)];
                const long double reached = std::max(norm, exact.reached[index(p)]);
                if (std::isnan(norm) || !(reached < allowed.largest)) {
                    judged = false;
                    continue;
                }
                const long double expected = addend + factor * exact.value[index(p)];
                const long double terms = allowed.relative * norm +
                                          root * (allowed.least + allowed.scaled * largest_variance * std::abs(factor));
                const long double element =
                    terms + allowed.stored * (std::sqrt(squares) + terms) / (1 - allowed.stored);
                const long double weight = weights[index(first + p)];
                rows_of[index(p)] = sum;
                bounds[index(p)] = element;
                ours_form += weight * sum;
                exact_form += weight * expected;
                form_bound2 += element * element;
                const long double off = std::abs(sum - expected);
                if (keep_worst(sums, off, weighted_sum_factor * element, block + ", row " + std::to_string(p)) &&
                    !sums.holds())
                    for (int64_t q = 0; q < side; ++q) sums.outputs.push_back(at + q);
            }
            if (!square || !judged) continue;
            for (int64_t p = 0; mirrored && p < owned; ++p) {
                // The column's elements are those of the row of symmetric inputs, with the same bounds.
                const long double off = std::abs(rows_of[index(p)] - columns_of[index(p)]);
                if (!keep_worst(symmetry, off, 2 * weighted_sum_factor * bounds[index(p)],
                                block + ", row " + std::to_string(p)) ||
                    symmetry.holds())
                    continue;
                const int64_t at = row_at(p);
                for (int64_t q = 0; q < side; ++q) symmetry.outputs.push_back(at + q);
            }
            // Where every row keeps its bound, the sum of the rows keeps the sum of theirs.
            if (exact_form >= 0)
                keep_worst(semidefinite, std::max(0.0L, -ours_form),
                           root * weighted_sum_factor * std::sqrt(form_bound2), block);
        }
    }
    std::vector<Property> result{sums};
    if (mirrored) result.push_back(symmetry);
    if (square) result.push_back(semidefinite);
    if (const Property kept = untouched(one, g, coefs); !kept.name.empty()) result.push_back(kept);
    return result;
}

}  // namespace gridstride::convcov
