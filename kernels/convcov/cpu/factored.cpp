// SPDX-License-Identifier: BSD-3-Clause
// The cheapest exact order: S[x, x'] = sum over channels of gamma + mu mu, in one pass over the channel-diagonal
// blocks; sums over the row pair, then over the column pair, of the taps; the result added to the blocks of all
// channels o.
//
// Work: a group of batches, or a block of output rows of one batch, at a time, so that S stays in the cache: a panel
//     (all pairs of one input row r) is made once and kept in a ring while output rows need it. Threads share the
//     panels by strips of x, then the outputs by tiles of (i, columns j); both in fixed order, each value by one
//     thread. Where windows wrap, or half of gamma is mirrored, S of a batch is kept whole: any row may be needed at
//     any time.
// Bytes and flops: gamma once, accumulate and cov once; 3 a pair and channel, 2 an output. Limit: memory bandwidth.
// Technique: the channel sum taken first and per-axis windows, as in kernels of infinitely wide convolutional networks
//     (Novak et al., Neural Tangents, arXiv 1912.02803).
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "convcov/convcov.hpp"
#include "convcov/cpu/dtypes.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace gridstride::convcov::cpu::factored {

extern const Variant row;

namespace {

/// On two cores with 2 MiB of second-level cache each (x86-64 with AVX-512, November 2025), float32, half and twice of
/// strip_bytes and tile_bytes were within the noise of the measurement.
struct Tuning {
    std::int64_t ring_bytes = 8 << 20;    // of S, all threads together
    std::int64_t strip_bytes = 32 << 10;  // of S, while the channels are summed
    std::int64_t tile_bytes = 128 << 10;  // of row-summed pairs, while they become outputs
    std::int64_t columns = 16;            // of output columns j in a tile
    std::int64_t grain = 1 << 15;         // elements that are worth a turn of the scheduler
};
constexpr Tuning tuning;

std::int64_t padded(std::int64_t bytes) {  // buffers begin on cache lines
    return (bytes + 63) / 64 * 64;
}

/// How a problem is cut into work, and the buffers it needs. Extents are in elements.
struct Layout {
    Geometry g;
    bool same = false;  // only the pairs of places with themselves are needed: form variance, noise: read
    bool has_gamma = false, has_accumulate = false, widened = false;  // widened: mu is copied as A
    bool half = false, whole = false;                // S is made above its diagonal, then mirrored; it is kept whole
    std::int64_t pairs = 0;                          // elements of S an input place x has: N, 1 of same
    std::int64_t batches = 1, rows = 1, panels = 1;  // in a group: batches, output rows, and input rows of the ring
    std::int64_t strip = 1;                          // input columns q in a strip
    std::int64_t tile_columns = 1, tile_rows = 1, span = 1;  // j and i' in a tile; q under its columns
    std::int64_t element = 4, threads = 1;                   // bytes of A
    Interval reach;                                          // input rows r that panels are made of
    std::vector<Interval> partners;                          // of each of them, r' = r + m * partner_step
    std::int64_t partner_step = 1;
    std::vector<char> column_used;  // input columns q that some tap meets

    std::int64_t panel() const { return g.columns.in * pairs; }
    std::int64_t sums_bytes() const { return padded(batches * panels * panel() * element); }
    std::int64_t means_bytes() const { return widened ? padded(batches * g.channels_in * g.places_in() * element) : 0; }
    std::int64_t tile_sums() const { return span * tile_rows * (same ? 1 : g.columns.in); }
    std::int64_t tile_outputs() const { return tile_columns * tile_rows * (same ? 1 : g.columns.out); }
    std::int64_t scratch_bytes() const { return padded(tile_sums() * element) + padded(tile_outputs() * element); }
    std::size_t workspace() const {
        return static_cast<std::size_t>(sums_bytes() + means_bytes() + threads * scratch_bytes());
    }
    std::size_t held() const { return partners.size() * sizeof(Interval) + column_used.size(); }
};

Layout layout(const Problem& problem) {
    Layout l;
    l.g = geometry(problem);
    const Geometry& g = l.g;
    const DType accumulator = arithmetic(op, problem);
    l.has_gamma = problem.in[gamma].present;
    l.has_accumulate = problem.in[accumulate].present;
    l.widened = problem.in[mu].dtype != accumulator;
    l.element = static_cast<std::int64_t>(size_of(accumulator));
    l.threads = std::max(1, threads_of(problem.place));
    l.same = g.same_place();
    l.half = g.half_gamma && !l.same;
    l.whole = g.circular || l.half;
    l.pairs = l.same ? 1 : g.places_in();

    l.reach = l.half ? g.gamma_rows_of(g.owned) : g.rows.reach(g.owned);
    l.partner_step = g.circular ? 1 : g.rows.stride;
    for (std::int64_t r = l.reach.begin; r < l.reach.end; ++r) {
        const Interval all{0, g.rows.out};  // what mirrors another pair may lie under no owned row
        l.partners.push_back(g.circular ? Interval{-r, g.rows.in - r} : g.rows.partners(r, l.half ? all : g.owned));
    }
    for (std::int64_t q = 0; q < g.columns.in; ++q)
        l.column_used.push_back(g.columns.partners(q, {0, g.columns.out}).count() > 0);

    // Whole batches where S of one fits the ring, else as many output rows of one as fit, at least one.
    const auto ring_rows = [&](std::int64_t rows) {
        if (l.whole) return std::max<std::int64_t>(l.reach.count(), 1);
        return std::clamp<std::int64_t>(g.rows.position(rows - 1, g.rows.taps - 1) + g.rows.before + 1, 1,
                                        std::max<std::int64_t>(l.reach.count(), 1));
    };
    l.rows = std::max<std::int64_t>(g.owned.count(), 1);
    const std::int64_t panel_bytes = std::max<std::int64_t>(l.panel() * l.element, 1);
    const std::int64_t panels = std::max<std::int64_t>(1, tuning.ring_bytes / panel_bytes);
    if (ring_rows(l.rows) > panels && !l.whole) {
        const std::int64_t beyond_first = std::max<std::int64_t>(0, panels - ring_rows(1));
        l.rows = std::min(l.rows, 1 + beyond_first / g.rows.stride);
    }
    l.panels = ring_rows(l.rows);
    if (l.rows == g.owned.count()) {
        const std::int64_t bytes = l.panels * panel_bytes + (l.widened ? g.channels_in * g.places_in() * l.element : 0);
        l.batches = std::clamp<std::int64_t>(tuning.ring_bytes / bytes, 1, std::max<std::int64_t>(g.batch, 1));
    }

    const auto fitting = [&](std::int64_t bytes, std::int64_t each, std::int64_t most) {
        return std::clamp<std::int64_t>(bytes / std::max<std::int64_t>(each * l.element, 1), 1,
                                        std::max<std::int64_t>(most, 1));
    };
    l.strip = fitting(tuning.strip_bytes, l.pairs, g.columns.in);
    l.tile_columns = l.same ? g.columns.out : std::min(tuning.columns, g.columns.out);
    l.span = (l.tile_columns - 1) * g.columns.stride + (g.columns.taps - 1) * g.columns.dilation + 1;
    if (!g.circular) l.span = std::min(g.columns.in, l.span);
    l.tile_rows = l.same ? 1 : fitting(tuning.tile_bytes, l.span * g.columns.in, g.rows.out);
    return l;
}

/// Runs body(item) for the items of [0, n), in blocks of about `grain` elements.
template <class Body>
void for_items(std::int64_t n, std::int64_t elements, std::int64_t threads, Body&& body) {
    const std::int64_t block = std::max<std::int64_t>(1, tuning.grain / std::max<std::int64_t>(elements, 1));
    for_blocks(n, block, static_cast<int>(threads), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t item = begin; item < end; ++item) body(item);
    });
}

// --- Inner loops ----------------------------------------------------------------------------------------------------

/// sums[k] plus, channel after channel, gammas[c][k] + scale[c] * means[c][k]. Sums begin as 0, so that none is ever -0
/// and padding, which adds nothing, is the same as zeros.
template <int channels, bool has_gamma, class A, class T>
void add_channels(A* sums, std::array<const T*, channels> gammas, std::array<const A*, channels> means,
                  std::array<A, channels> scale, std::int64_t n) {
#pragma omp simd
    for (std::int64_t k = 0; k < n; ++k) {
        A sum = sums[k];
        for (std::size_t c = 0; c < channels; ++c) {
            const A product = scale[c] * means[c][k];
            if constexpr (has_gamma)
                sum += load<A>(gammas[c], k) + product;
            else
                sum += product;
        }
        sums[k] = sum;
    }
}

/// sums[k] += values[k * stride], or = where `fresh`.
template <class A>
void add(A* sums, const A* values, std::int64_t n, std::int64_t stride, bool fresh) {
    if (stride != 1) {
        for (std::int64_t k = 0; k < n; ++k) sums[k] = (fresh ? A(0) : sums[k]) + values[k * stride];
    } else if (fresh) {
        std::copy_n(values, n, sums);
    } else {
#pragma omp simd
        for (std::int64_t k = 0; k < n; ++k) sums[k] += values[k];
    }
}

/// target = before + coef * values; before may be null (nothing is added) or the same memory as target.
template <class A, class T, class U>
void scatter(U* target, const T* before, const A* values, A coef, std::int64_t n) {
    if (before == nullptr) {
#pragma omp simd
        for (std::int64_t k = 0; k < n; ++k) store(target, k, coef * values[k]);
    } else {
#pragma omp simd
        for (std::int64_t k = 0; k < n; ++k) store(target, k, load<A>(before, k) + coef * values[k]);
    }
}

/// target = before, bit for bit where the types are one; zeros where before is null.
template <class A, class T, class U>
void keep(U* target, const T* before, std::int64_t n) {
    if (before == nullptr) {
        std::fill_n(target, n, U{});
    } else if constexpr (std::is_same_v<T, U>) {
        std::memcpy(target, before, static_cast<std::size_t>(n) * sizeof(U));
    } else {
        for (std::int64_t k = 0; k < n; ++k) store(target, k, load<A>(before, k));
    }
}

// --- The steps ------------------------------------------------------------------------------------------------------

/// One execution. A: the accumulator; T: of gamma, mu and accumulate; U: of the output.
template <class A, class T, class U>
struct Run {
    const Layout& l;
    const Geometry& g = l.g;
    const T *gammas, *mus, *before;  // gammas, before: null where absent
    U* target;
    std::vector<double> coefs;
    std::int64_t vector_size;
    A *sums, *means;  // of a group of batches
    std::byte* scratch;

    bool in_place() const { return static_cast<const void*>(before) == static_cast<const void*>(target); }

    /// mu of a group of batches as A.
    void widen(std::int64_t b0, std::int64_t n) const {
        const std::int64_t size = g.channels_in * g.places_in();
        const T* from = mus + b0 * size;
        for_blocks(n * size, tuning.grain, static_cast<int>(l.threads), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) means[k] = load<A>(from, k);
        });
    }

    const A* mean(std::int64_t b0, std::int64_t b, std::int64_t c) const {
        if constexpr (std::is_same_v<A, T>)
            return mus + ((b0 + b) * g.channels_in + c) * g.places_in();
        else
            return means + (b * g.channels_in + c) * g.places_in();
    }

    A* panel(std::int64_t b, std::int64_t r) const { return sums + (b * l.panels + r % l.panels) * l.panel(); }

    /// `channels` of them from c on, at places (r, q) for q in [begin, end).
    template <int channels, bool has_gamma>
    void add_strip(std::int64_t b0, std::int64_t b, std::int64_t c, std::int64_t r, Interval columns) const {
        const Interval partners = l.partners[static_cast<std::size_t>(r - l.reach.begin)];
        const std::int64_t stride = l.partner_step, width = g.columns.in;
        // Rows r' in one run where they follow each other.
        const std::int64_t runs = stride == 1 ? 1 : partners.count();
        const std::int64_t length = stride == 1 ? partners.count() * width : width;
        for (std::int64_t q = columns.begin; q < columns.end; ++q) {
            if (!l.column_used[static_cast<std::size_t>(q)]) continue;
            std::array<const T*, channels> from;
            std::array<const A*, channels> with;
            std::array<A, channels> scale;
            for (int k = 0; k < channels; ++k) {
                const auto at = static_cast<std::size_t>(k);
                from[at] = has_gamma ? gammas + g.gamma_offset(b0 + b, c + k, r, q) : nullptr;
                with[at] = mean(b0, b, c + k);
                scale[at] = with[at][r * width + q];
            }
            A* to = panel(b, r) + q * l.pairs;
            if (l.same) {  // x' = x
                shift(from, with, r * width + q);
                add_channels<channels, has_gamma, A, T>(to, from, with, scale, 1);
                continue;
            }
            std::int64_t passed = 0;
            for (std::int64_t run = 0; run < runs; ++run) {
                std::int64_t begin = (r + (partners.begin + run) * stride) * width;
                const std::int64_t end = begin + length;
                if (l.half) begin = std::max(begin, r * width + q);
                if (begin >= end) continue;
                shift(from, with, begin - passed);
                passed = begin;
                add_channels<channels, has_gamma, A, T>(to + begin, from, with, scale, end - begin);
            }
        }
    }

    template <std::size_t channels>
    static void shift(std::array<const T*, channels>& from, std::array<const A*, channels>& with, std::int64_t by) {
        for (std::size_t k = 0; k < channels; ++k) {
            if (from[k] != nullptr) from[k] += by;
            with[k] += by;
        }
    }

    /// S of a strip of places (r, q), all channels.
    template <bool has_gamma>
    void sum_channels(std::int64_t b0, std::int64_t b, std::int64_t r, Interval columns) const {
        constexpr int together = 4;  // channels in one pass over the sums; the order of addition is theirs all the same
        const std::int64_t channels = g.channels_in;
        std::fill_n(panel(b, r) + columns.begin * l.pairs, columns.count() * l.pairs, A(0));
        std::int64_t c = 0;
        for (; c + together <= channels; c += together) add_strip<together, has_gamma>(b0, b, c, r, columns);
        for (; c < channels; ++c) add_strip<1, has_gamma>(b0, b, c, r, columns);
    }

    /// Panels of the input rows `rows`, n batches from b0 on.
    void make_panels(std::int64_t b0, std::int64_t n, Interval rows) const {
        const std::int64_t strips = (g.columns.in + l.strip - 1) / l.strip;
        const std::int64_t elements = l.strip * l.pairs * g.channels_in;
        for_items(n * rows.count() * strips, elements, l.threads, [&](std::int64_t item) {
            const std::int64_t b = item / strips / rows.count(), r = rows.begin + item / strips % rows.count();
            const std::int64_t q = item % strips * l.strip;
            const Interval columns{q, std::min(q + l.strip, g.columns.in)};
            if (gammas != nullptr)
                sum_channels<true>(b0, b, r, columns);
            else
                sum_channels<false>(b0, b, r, columns);
        });
    }

    /// S below its diagonal, of n batches.
    void mirror(std::int64_t n) const {
        constexpr std::int64_t tile = 64;
        const std::int64_t width = g.columns.in, first = l.reach.begin * width, end = l.reach.end * width;
        const std::int64_t tiles = (end - first + tile - 1) / tile;
        for_items(n * tiles, tile * (end - first), l.threads, [&](std::int64_t item) {
            const std::int64_t b = item / tiles, x0 = first + item % tiles * tile, x1 = std::min(x0 + tile, end);
            const auto at = [&](std::int64_t x) { return panel(b, x / width) + x % width * l.pairs; };
            for (std::int64_t y0 = first; y0 < x1; y0 += tile)
                for (std::int64_t y = y0; y < std::min(y0 + tile, x1); ++y) {
                    const A* from = at(y);
                    for (std::int64_t x = std::max(x0, y + 1); x < x1; ++x) at(x)[y] = from[x];
                }
        });
    }

    /// row_sums[q - columns.begin][i' - tile.begin][q']: S of batch b summed over the taps of rows i and i'.
    void sum_rows(std::int64_t b, std::int64_t i, Interval tile, Interval columns, A* row_sums) const {
        const std::int64_t width = l.same ? 1 : g.columns.in, size = tile.count() * width;
        for (std::int64_t k = columns.begin; k < columns.end; ++k, row_sums += size) {
            const std::int64_t q = g.columns.wrap(k);
            if (!l.column_used[static_cast<std::size_t>(q)]) continue;
            bool fresh = true;
            for (std::int64_t u = 0; u < g.rows.taps; ++u) {
                const std::int64_t r = g.rows.position(i, u);
                const Interval valid = g.rows.valid(u, tile);
                if (!g.rows.inside(r) || valid.count() == 0) continue;
                const A* from = panel(b, r) + q * l.pairs;
                if (fresh) clear_outside(row_sums, tile, valid, width);
                if (l.same)
                    add(row_sums, from, 1, 1, fresh);
                else
                    g.rows.runs(u, tile, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
                        // Rows i' follow each other where the stride is 1.
                        const std::int64_t rows = g.rows.stride == 1 ? end - begin : 1;
                        for (std::int64_t i2 = begin; i2 < end; i2 += rows, place += g.rows.stride)
                            add(row_sums + (i2 - tile.begin) * width, from + place * width, rows * width, 1, fresh);
                    });
                fresh = false;
            }
            if (fresh) std::fill_n(row_sums, size, A(0));
        }
    }

    /// results[j - columns.begin][i' - tile.begin][j']: R, the row sums (of the columns from `first` on) summed over
    /// the taps of columns j and j'.
    void sum_columns(Interval tile, Interval columns, std::int64_t first, const A* row_sums, A* results) const {
        const std::int64_t width = l.same ? 1 : g.columns.in, out = l.same ? 1 : g.columns.out;
        const Interval all{0, g.columns.out};
        for (std::int64_t j = columns.begin; j < columns.end; ++j, results += tile.count() * out) {
            bool fresh = true;
            for (std::int64_t v = 0; v < g.columns.taps; ++v) {
                const Interval valid = g.columns.valid(v, all);
                if (!g.columns.inside(g.columns.position(j, v)) || valid.count() == 0) continue;
                const A* from = row_sums + (g.columns.unwrapped(j, v) - first) * tile.count() * width;
                if (l.same)
                    add(results, from, 1, 1, fresh);
                else
                    g.columns.runs(v, all, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
                        for (std::int64_t k = 0; k < tile.count(); ++k) {
                            A* to = results + k * out;
                            if (fresh) clear_outside(to, all, valid, 1);
                            add(to + begin, from + k * width + place, end - begin, g.columns.stride, fresh);
                        }
                    });
                fresh = false;
            }
            if (fresh) std::fill_n(results, tile.count() * out, A(0));
            if (g.bias)
                for (std::int64_t k = 0; k < tile.count() * out; ++k) results[k] += A(1);
        }
    }

    /// Zeros in to[(k - all.begin) * width ...] for the k of `all` that are not in `valid`.
    static void clear_outside(A* to, Interval all, Interval valid, std::int64_t width) {
        std::fill_n(to, (valid.begin - all.begin) * width, A(0));
        std::fill_n(to + (valid.end - all.begin) * width, (all.end - valid.end) * width, A(0));
    }

    /// The outputs of batch b0 + b, row i, columns j, of all channels.
    void finish(std::int64_t b0, std::int64_t b, std::int64_t i, Interval columns, std::byte* buffer) const {
        auto* row_sums = reinterpret_cast<A*>(buffer);
        auto* results = reinterpret_cast<A*>(buffer + padded(l.tile_sums() * l.element));
        Interval under{g.columns.unwrapped(columns.begin, 0),
                       g.columns.unwrapped(columns.end - 1, g.columns.taps - 1) + 1};
        if (!g.circular)
            under = {std::clamp<std::int64_t>(under.begin, 0, g.columns.in),
                     std::clamp<std::int64_t>(under.end, 0, g.columns.in)};
        const Interval rows = l.same ? Interval{i, i + 1} : Interval{0, g.rows.out};
        for (std::int64_t k = rows.begin; k < rows.end; k += l.tile_rows) {
            const Interval tile{k, std::min(k + l.tile_rows, rows.end)};
            sum_rows(b, i, tile, under, row_sums);
            sum_columns(tile, columns, under.begin, row_sums, results);
            const std::int64_t out = l.same ? 1 : g.columns.out, chunk = tile.count() * out;
            // All of the tile's columns are one run where nothing lies between them.
            const bool read = l.same && g.form != Form::variance;  // (i, j) with itself, among the P of its row
            const bool one_run = g.form != Form::full && tile.count() == rows.count() && !read;
            const std::int64_t runs = one_run ? 1 : columns.count();
            const std::int64_t length = one_run ? columns.count() * chunk : chunk;
            for (std::size_t block = 0; block < coefs.size(); ++block) {
                const A factor = static_cast<A>(coefs[block]);
                if (factor == 0) continue;  // the block stays as it is, whatever R
                const std::int64_t vector = static_cast<std::int64_t>(block) / g.channels_out,
                                   o = static_cast<std::int64_t>(block) % g.channels_out;
                for (std::int64_t run = 0; run < runs; ++run) {
                    const std::int64_t j = columns.begin + run;
                    const std::int64_t offset = read ? i * g.columns.out + j : l.same ? 0 : tile.begin * out;
                    const std::int64_t at = vector * vector_size + g.output_offset(b0 + b, o, i, j) + offset;
                    scatter(target + at, before == nullptr ? nullptr : before + at, results + run * chunk, factor,
                            length);
                }
            }
        }
    }

    /// What does not change: blocks between channels, those whose coef is 0, and pairs that read noise does not reach.
    void settle() const {
        if (in_place()) return;
        const bool full = g.form == Form::full, read = l.same && g.form != Form::variance;
        if (!full && !read && std::find(coefs.begin(), coefs.end(), 0.0) == coefs.end()) return;
        const std::int64_t block = g.form == Form::variance ? 1 : g.places_out();
        const std::int64_t row = full ? block * g.channels_out : block;  // elements behind one (b, o, i, j)
        const std::int64_t rows = g.owned.count() * g.columns.out;
        const auto stay = [&](std::int64_t at, std::int64_t n) {
            keep<A>(target + at, before == nullptr ? nullptr : before + at, n);
        };
        const std::int64_t vectors = std::max<std::int64_t>(g.vectors, 1);
        for_items(vectors * g.batch * g.channels_out * rows, row, l.threads, [&](std::int64_t item) {
            const std::int64_t o = item / rows % g.channels_out, own = item * row + (full ? o * block : 0);
            const std::int64_t vector = item / rows / g.channels_out / g.batch;
            if (read || coefs[static_cast<std::size_t>(vector * g.channels_out + o)] == 0) {
                stay(item * row, row);
            } else if (full) {
                stay(item * row, own - item * row);
                stay(own + block, (item + 1) * row - own - block);
            }
        });
    }

    void all() const {
        settle();
        const std::int64_t tiles = (g.columns.out + l.tile_columns - 1) / l.tile_columns;
        for (std::int64_t b0 = 0; b0 < g.batch; b0 += l.batches) {
            const std::int64_t n = std::min(l.batches, g.batch - b0);
            if (l.widened) widen(b0, n);
            std::int64_t made = 0;  // panels of the rows before are in the ring, as far as they are still needed
            for (std::int64_t i0 = g.owned.begin; i0 < g.owned.end; i0 += l.rows) {
                const Interval rows{i0, std::min(i0 + l.rows, g.owned.end)};
                const Interval reach = l.whole ? l.reach : g.rows.reach(rows);
                make_panels(b0, n, {std::max(reach.begin, made), std::max(reach.end, made)});
                if (l.half) mirror(n);
                made = std::max(made, reach.end);
                const std::int64_t elements =
                    l.tile_columns * (l.same ? 1 : g.places_out()) * (2 + static_cast<std::int64_t>(coefs.size()));
                for_items(n * rows.count() * tiles, elements, l.threads, [&](std::int64_t item) {
                    // Rows i go fastest: under one tile of columns, neighbours share most of their part of S.
                    const std::int64_t b = item / rows.count() / tiles, i = rows.begin + item % rows.count();
                    const std::int64_t j = item / rows.count() % tiles * l.tile_columns;
                    finish(b0, b, i, {j, std::min(j + l.tile_columns, g.columns.out)},
                           scratch + omp_get_thread_num() * l.scratch_bytes());
                });
            }
        }
    }
};

template <class A, class T, class U>
void execute(const Layout& l, const Call& call) {
    if (call.out[0].spec.size() == 0) return;
    std::byte* buffer = call.workspace;
    Run<A, T, U>{
        .l = l,
        .gammas = l.has_gamma ? call.in[gamma].as<const T>() : nullptr,
        .mus = call.in[mu].as<const T>(),
        .before = l.has_accumulate ? call.in[accumulate].as<const T>() : nullptr,
        .target = call.out[0].as<U>(),
        .coefs = coefficients(l.g, call.in[coef], dtype_of<A>),
        .vector_size = l.g.vector_size(),
        .sums = reinterpret_cast<A*>(buffer),
        .means = reinterpret_cast<A*>(buffer + l.sums_bytes()),
        .scratch = buffer + l.sums_bytes() + l.means_bytes(),
    }
        .all();
}

using Execute = void (*)(const Layout&, const Call&);

Execute execution(DType input, DType output) {
    return with_dtypes(input, output, []<class A, class T, class U>() -> Execute { return execute<A, T, U>; });
}

std::size_t memory(const Problem& problem) {
    const Layout l = layout(problem);
    return l.workspace() + l.held();
}

Plan prepare(const Problem& problem) {
    Layout l = layout(problem);
    Plan plan;
    plan.workspace = l.workspace();
    plan.held = l.held();
    plan.words = fmt::format("{} at a time; R in tiles of {} columns x {} rows; {} threads",
                             l.batches > 1 ? fmt::format("{} batches", l.batches)
                                           : fmt::format("{} of {} output rows", l.rows, l.g.owned.count()),
                             l.tile_columns, l.tile_rows, l.threads);
    plan.step = [l = std::move(l), run = execution(problem.in[mu].dtype, problem.out[0].dtype)](const Call& call) {
        run(l, call);
    };
    return plan;
}

}  // namespace

const Variant row{
    .name = "factored",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "channels summed first, then row pairs, then column pairs, then added to all blocks; one pass over memory",
    .refuses =
        [](const Problem& problem) {
            return given(problem.in, weight_variance)
                       ? "factored sums channels and taps before it knows the output channel, and weight_variance "
                         "gives each its own: take loop"
                       : std::string();
        },
    .prepare = prepare,
    .memory = memory,
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
};

}  // namespace gridstride::convcov::cpu::factored
