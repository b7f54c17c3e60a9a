// SPDX-License-Identifier: BSD-3-Clause
// convcov without a reference, blocks of P x P = (Ho Wo)^2 places, with a vector t of random weights over the places:
//   weighted sums  every row of a block, cov t = accumulate t + coef R t; R t from one pass over gamma, summed over the
//                channels, for all taps: B N^2 (C + taps) terms, N = H W, where the definition costs B O P^2 C taps
//   symmetry     where gamma and accumulate are symmetric bit for bit: cov t = cov^T t, within twice the bound
//   positive semidefinite  where the exact t^T cov t, from the inputs, is not negative: ours is not, to rounding
//   untouched blocks       of form full, those between different channels, and those of coef 0: accumulate's bits, or 0
// The norm of a row's sums of |terms| is at most sqrt(taps sum over taps of |M| rows squared), M = sum over channels of
// |gamma| + |mu mu|.
#include <algorithm>
#include <cstring>

#include "convcov/convcov.hpp"
#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "core/properties.hpp"

namespace gridstride::convcov {

namespace {

using std::int64_t;

/// R t of one batch entry: for every owned output place, the sum with the weights, and a bound of the norm of the sums
/// of |terms| along its row.
struct Sums {
    std::vector<long double> value, norm;
};

std::size_t index(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// Weights of the output places, by their place in the whole map.
std::vector<long double> weights_of(const Geometry& g, std::uint64_t seed) {
    std::vector<long double> weights(index(g.places_out()));
    for (int64_t p = 0; p < g.places_out(); ++p) weights[index(p)] = random_weight(seed, p);
    return weights;
}

Sums window_sums(const Examined& one, const Geometry& g, const std::vector<long double>& weights, int64_t b) {
    const int64_t taps = g.rows.taps * g.columns.taps, places = g.places_in(), width = g.columns.in;
    const Elements gammas(one.in[gamma]), means(one.in[mu]);
    const bool has_gamma = one.in[gamma].spec.present;
    // of every input place and tap: row of M times the weights spread over the input by that tap
    std::vector<long double> dots(index(places * taps)), norms(index(places));
    for_blocks(g.gamma_rows.count() * width, 16, one.threads, [&](int64_t begin, int64_t end) {
        std::vector<long double> row(index(places)), sizes(index(places));
        for (int64_t at = begin; at < end; ++at) {
            const int64_t r = at / width + g.gamma_rows.begin, q = at % width, place = r * width + q;
            std::fill(row.begin(), row.end(), 0.0L);
            std::fill(sizes.begin(), sizes.end(), 0.0L);
            for (int64_t c = 0; c < g.channels_in; ++c) {
                const int64_t map = (b * g.channels_in + c) * places;
                const long double mean = means.real(map + place);
                const int64_t from = has_gamma ? g.gamma_offset(b, c, r, q) : 0;
                for (int64_t other = 0; other < places; ++other) {
                    const long double product = mean * means.real(map + other);
                    const long double term = has_gamma ? gammas.real(from + other) : 0;
                    row[index(other)] += product + term;
                    sizes[index(other)] += std::abs(product) + std::abs(term);
                }
            }
            long double squares = 0;
            for (const long double size : sizes) squares += size * size;
            norms[index(place)] = squares;
            for (int64_t tap = 0; tap < taps; ++tap) {
                const int64_t u = tap / g.columns.taps, v = tap % g.columns.taps;
                const Interval rows = g.rows.valid(u, {0, g.rows.out}),
                               columns = g.columns.valid(v, {0, g.columns.out});
                long double sum = 0;
                for (int64_t i = rows.begin; i < rows.end; ++i)
                    for (int64_t j = columns.begin; j < columns.end; ++j)
                        sum += weights[index(i * g.columns.out + j)] *
                               row[index(g.rows.position(i, u) * width + g.columns.position(j, v))];
                dots[index(place * taps + tap)] = sum;
            }
        }
    });
    Sums result{std::vector<long double>(index(g.owned.count() * g.columns.out)), {}};
    result.norm = result.value;
    for (int64_t i = g.owned.begin; i < g.owned.end; ++i)
        for (int64_t j = 0; j < g.columns.out; ++j) {
            const std::size_t p = index((i - g.owned.begin) * g.columns.out + j);
            for (int64_t tap = 0; tap < taps; ++tap) {
                const int64_t r = g.rows.position(i, tap / g.columns.taps),
                              q = g.columns.position(j, tap % g.columns.taps);
                if (!g.rows.inside(r) || !g.columns.inside(q)) continue;
                result.value[p] += dots[index((r * width + q) * taps + tap)];
                result.norm[p] += norms[index(r * width + q)];
            }
            result.norm[p] = std::sqrt(static_cast<long double>(taps) * result.norm[p]);
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

bool symmetric_gamma(const Examined& one, const Geometry& g) {
    if (!one.in[gamma].spec.present) return true;
    if (g.gamma_rows.count() != g.rows.in) return false;  // a piece
    std::vector<int64_t> offsets;
    for (int64_t b = 0; b < g.batch; ++b)
        for (int64_t c = 0; c < g.channels_in; ++c) offsets.push_back(g.gamma_offset(b, c, 0, 0));
    const int64_t stride = (g.full_gamma ? g.channels_in : 1) * g.places_in();
    return symmetric(one.in[gamma], g.places_in(), offsets, stride);
}

/// Blocks that keep accumulate's bits, or are zero: their elements, one after the other.
Property untouched(const Examined& one, const Geometry& g, const std::vector<double>& coef) {
    Property result{.name = "untouched blocks"};
    const Slab& before = one.in[accumulate];
    const int64_t inner = g.places_out(), first = g.owned.count() * g.columns.out;
    const std::size_t size = size_of(one.out.spec.dtype);
    const std::vector<std::byte> zero(index(inner) * size);
    const bool converted = before.spec.present && before.spec.dtype != one.out.spec.dtype;
    for (int64_t b = 0; b < g.batch; ++b)
        for (int64_t o = 0; o < g.channels_out; ++o)
            for (int64_t p = 0; p < first; ++p)
                for (int64_t other = 0; other < g.channels_out; ++other) {
                    if (o == other && coef[index(o)] != 0) continue;
                    const int64_t at = (((b * g.channels_out + o) * first + p) * g.channels_out + other) * inner;
                    const std::byte* ours = one.out.data + index(at) * size;
                    const std::byte* expected = before.spec.present ? before.data + index(at) * size : zero.data();
                    int64_t off = 0;
                    if (converted) {
                        for (int64_t q = 0; q < inner; ++q) {
                            const long double value = rounded(real_part(before, at + q), one.out.spec.dtype);
                            const long double got = real_part(one.out, at + q);
                            off += value == got || (std::isnan(value) && std::isnan(got)) ? 0 : 1;
                        }
                    } else if (std::memcmp(ours, expected, index(inner) * size) != 0) {
                        for (int64_t q = 0; q < inner; ++q)
                            off += std::memcmp(ours + index(q) * size, expected + index(q) * size, size) != 0 ? 1 : 0;
                    }
                    if (off == 0) continue;
                    result.value += static_cast<long double>(off);
                    if (!result.where.empty()) continue;
                    result.where =
                        "block (" + std::to_string(b) + ", " + std::to_string(o) + ", " + std::to_string(other) + ")";
                    for (int64_t q = 0; q < inner; ++q) result.outputs.push_back(at + q);
                }
    return result;
}

}  // namespace

std::vector<Property> properties(const Examined& one) {
    const Geometry g = geometry(one.problem);
    const auto in = static_cast<double>(g.places_in());
    const double rows = static_cast<double>(g.gamma_rows.count() * g.columns.in) * static_cast<double>(g.batch);
    const auto taps = static_cast<double>(g.rows.taps) * static_cast<double>(g.columns.taps);
    const double cost =
        rows * in * (static_cast<double>(g.channels_in) + taps) + static_cast<double>(one.out.spec.size());
    if (one.out.spec.size() == 0 || g.form == Form::variance || cost > one.terms) return {};

    const DType accumulator = arithmetic(op, one.problem);
    const std::vector<double> coef = coefficients(g, one.in[Operand::coef], accumulator);
    const std::vector<long double> weights = weights_of(g, one.seed);
    const Slab& before = one.in[accumulate];
    const Elements output(one.out), held_before(before);
    const Allowance& allowed = one.allowance;
    const int64_t side = g.places_out(), owned = g.owned.count() * g.columns.out, first = g.owned.begin * g.columns.out;
    const bool square = owned == side;
    bool mirrored = square && symmetric_gamma(one, g);
    if (mirrored && before.spec.present) {
        std::vector<int64_t> offsets;
        for (int64_t b = 0; b < g.batch; ++b)
            for (int64_t o = 0; o < g.channels_out; ++o) offsets.push_back(g.output_offset(b, o, 0, 0));
        mirrored = symmetric(before, side, offsets, (g.form == Form::full ? g.channels_out : 1) * side);
    }
    Property sums{.name = "weighted sums"}, symmetry{.name = "symmetry"}, semidefinite{.name = "positive semidefinite"};
    const long double root = std::sqrt(static_cast<long double>(side));
    for (int64_t b = 0; b < g.batch; ++b) {
        const Sums exact = window_sums(one, g, weights, b);
        for (int64_t o = 0; o < g.channels_out; ++o) {
            if (coef[index(o)] == 0) continue;
            const long double factor = coef[index(o)];
            long double ours_form = 0, exact_form = 0, form_bound2 = 0;
            bool judged = true;
            std::vector<long double> rows_of(index(owned)), columns_of(index(owned)), bounds(index(owned));
            const std::string block = "block (" + std::to_string(b) + ", " + std::to_string(o) + "), row ";
            for (int64_t p = 0; p < owned; ++p) {
                const int64_t at = g.output_offset(b, o, g.owned.begin + p / g.columns.out, p % g.columns.out);
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
                const long double reached = std::max(norm, exact.norm[index(p)]);
                if (std::isnan(norm) || !(reached < allowed.largest)) {
                    judged = false;
                    continue;
                }
                const long double expected = addend + factor * exact.value[index(p)];
                const long double terms =
                    allowed.relative * norm + root * (allowed.least + allowed.scaled * std::abs(factor));
                const long double element =
                    terms + allowed.stored * (std::sqrt(squares) + terms) / (1 - allowed.stored);
                const long double weight = weights[index(first + p)];
                rows_of[index(p)] = sum;
                bounds[index(p)] = element;
                ours_form += weight * sum;
                exact_form += weight * expected;
                form_bound2 += element * element;
                const long double off = std::abs(sum - expected);
                if (keep_worst(sums, off, weighted_sum_factor * element, block + std::to_string(p)) && !sums.holds())
                    for (int64_t q = 0; q < side; ++q) sums.outputs.push_back(at + q);
            }
            if (!square || !judged) continue;
            for (int64_t p = 0; mirrored && p < owned; ++p) {
                // The column's elements are those of the row of symmetric inputs, with the same bounds.
                const long double off = std::abs(rows_of[index(p)] - columns_of[index(p)]);
                if (!keep_worst(symmetry, off, 2 * weighted_sum_factor * bounds[index(p)], block + std::to_string(p)) ||
                    symmetry.holds())
                    continue;
                const int64_t at = g.output_offset(b, o, p / g.columns.out, p % g.columns.out);
                for (int64_t q = 0; q < side; ++q) symmetry.outputs.push_back(at + q);
            }
            // Where every row keeps its bound, the sum of the rows keeps the sum of theirs.
            if (exact_form >= 0)
                keep_worst(semidefinite, std::max(0.0L, -ours_form),
                           root * weighted_sum_factor * std::sqrt(form_bound2), block.substr(0, block.size() - 5));
        }
    }
    std::vector<Property> result{sums};
    if (mirrored) result.push_back(symmetry);
    if (square) result.push_back(semidefinite);
    if (g.form == Form::full) result.push_back(untouched(one, g, coef));
    return result;
}

}  // namespace gridstride::convcov
