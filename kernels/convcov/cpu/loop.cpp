// SPDX-License-Identifier: BSD-3-Clause
// The definition as loops: for every output place the taps and channels one after another, each over all places it is
// paired with. R is made once for all output channels, but where every weight has a variance of its own
// (weight_variance): then once for each of them.
//
// Work: an item is a first place (b, i, j) and its P partners (i', j'), which lie in a buffer of the thread; each value
//     by one thread, in a fixed order.
// Bytes and flops: gamma kh kw times, accumulate and cov once; 3 C kh kw a pair and batch (with weight_variance 4 O C
//     kh kw). Limit: loads of gamma from the caches; with weight_variance arithmetic.
// Technique: the textbook's direct loops, the innermost one vectorised.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "convcov/convcov.hpp"
#include "convcov/cpu/dtypes.hpp"
#include "core/parallel.hpp"
#include "core/rows.hpp"

namespace gridstride::convcov::cpu::loop {

extern const Variant row;

namespace {

/// One execution. A: the accumulator; T: of gamma, mu and accumulate; U: of the output.
template <class A, class T, class U>
struct Run {
    const Geometry& g;
    const T *gammas, *mus, *before;  // gammas, before: null where absent
    U* target;
    std::vector<double> coefs;
    std::vector<A> weights;  // [o][c][u][v], or empty
    std::int64_t pairs;      // of one first place: P, 1 of form variance
    A* sums;                 // a row of pairs a thread

    /// sums[k] += variance (gamma + mean mu) for the n second places from (r2, q) on, q in steps of the stride.
    void add_run(A* to, std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q, std::int64_t r2,
                 std::int64_t q2, std::int64_t n, A variance) const {
        const std::int64_t step = g.columns.stride, width = g.columns.in, first = r * width + q;
        const T* map = mus + (b * g.channels_in + c) * g.places_in();
        const A mean = load<A>(map, first);
        const T* row = gammas == nullptr ? nullptr : gammas + g.gamma_offset(b, c, r, q);
        if (row == nullptr) {
            const T* means = map + r2 * width + q2;
#pragma omp simd
            for (std::int64_t k = 0; k < n; ++k) to[k] += variance * (mean * load<A>(means, k * step));
            return;
        }
        std::int64_t mirrored = 0;  // so many second places come first
        if (g.half_gamma && r2 <= r) mirrored = r2 < r ? n : std::clamp<std::int64_t>((q - q2 + step - 1) / step, 0, n);
        for (std::int64_t k = 0; k < mirrored; ++k) {
            const T* own = gammas + g.gamma_offset(b, c, r2, q2 + k * step);
            to[k] += variance * (load<A>(own, first) + mean * load<A>(map, r2 * width + q2 + k * step));
        }
        const T *values = row + r2 * width + q2, *means = map + r2 * width + q2;
#pragma omp simd
        for (std::int64_t k = mirrored; k < n; ++k)
            to[k] += variance * (load<A>(values, k * step) + mean * load<A>(means, k * step));
    }

    /// to[k]: R of place (b, i, j) with its k-th partner (bias: R + 1); with weights, that of channel o.
    void sum(A* to, std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j) const {
        std::fill_n(to, pairs, A(0));
        std::size_t weight = static_cast<std::size_t>(o * g.channels_in * g.rows.taps * g.columns.taps);
        for (std::int64_t c = 0; c < g.channels_in; ++c)
            for (std::int64_t u = 0; u < g.rows.taps; ++u)
                for (std::int64_t v = 0; v < g.columns.taps; ++v) {
                    const A variance = weights.empty() ? A(1) : weights[weight++];
                    const std::int64_t r = g.rows.position(i, u), q = g.columns.position(j, v);
                    if (!g.rows.inside(r) || !g.columns.inside(q) || variance == 0) continue;
                    if (g.same_place())
                        add_run(to, b, c, r, q, r, q, 1, variance);
                    else
                        add_rows(to, b, c, u, v, r, q, variance);
                }
        if (g.bias)
            for (std::int64_t k = 0; k < pairs; ++k) to[k] += A(1);
    }

    void add_rows(A* to, std::int64_t b, std::int64_t c, std::int64_t u, std::int64_t v, std::int64_t r, std::int64_t q,
                  A variance) const {
        const Interval rows = g.rows.valid(u, {0, g.rows.out}), columns{0, g.columns.out};
        for (std::int64_t i2 = rows.begin; i2 < rows.end; ++i2)
            g.columns.runs(v, columns, [&](std::int64_t begin, std::int64_t end, std::int64_t q2) {
                add_run(to + i2 * columns.end + begin, b, c, r, q, g.rows.position(i2, u), q2, end - begin, variance);
            });
    }

    /// Elements [begin, end) of the output as they were.
    void keep(std::int64_t begin, std::int64_t end) const {
        if (static_cast<const void*>(before) == static_cast<const void*>(target)) return;
        for (std::int64_t k = begin; k < end; ++k) {
            if (before == nullptr)
                target[k] = U{};
            else if constexpr (std::is_same_v<T, U>)
                target[k] = before[k];
            else
                store(target, k, load<A>(before, k));
        }
    }

    /// The output elements behind (vector, b, o, i, j): own ones, those between channels, those noise does not reach.
    void write(std::int64_t vector, std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j,
               const A* values) const {
        const A factor = static_cast<A>(coefs[static_cast<std::size_t>(vector * g.channels_out + o)]);
        const std::int64_t block = g.form == Form::variance ? 1 : g.places_out();
        const std::int64_t own = vector * g.vector_size() + g.output_offset(b, o, i, j);
        if (g.form == Form::full) {
            keep(own - o * block, own);
            keep(own + block, own + (g.channels_out - o) * block);
        }
        if (factor == 0) return keep(own, own + block);
        const std::int64_t first = own + (pairs == block ? 0 : i * g.columns.out + j);
        keep(own, first);
        if (before == nullptr) {
#pragma omp simd
            for (std::int64_t k = 0; k < pairs; ++k) store(target + first, k, factor * values[k]);
        } else {
#pragma omp simd
            for (std::int64_t k = 0; k < pairs; ++k)
                store(target + first, k, load<A>(before + first, k) + factor * values[k]);
        }
        keep(first + pairs, own + block);
    }

    void all(int threads) const {
        const std::int64_t places = g.owned.count() * g.columns.out, vectors = std::max<std::int64_t>(g.vectors, 1);
        for_blocks(g.batch * places, 1, threads, [&](std::int64_t item, std::int64_t) {
            const std::int64_t b = item / places, i = g.owned.begin + item % places / g.columns.out;
            const std::int64_t j = item % g.columns.out;
            A* own = sums + omp_get_thread_num() * pairs;
            for (std::int64_t o = 0; o < g.channels_out; ++o) {
                if (o == 0 || !weights.empty()) sum(own, b, o, i, j);
                for (std::int64_t vector = 0; vector < vectors; ++vector) write(vector, b, o, i, j, own);
            }
        });
    }
};

std::int64_t pairs_of(const Geometry& g) {
    return g.same_place() ? 1 : g.places_out();
}

template <class A, class T, class U>
void execute(const Geometry& g, int threads, const Call& call) {
    if (call.out[0].spec.size() == 0) return;
    const auto data = [&](Operand which) -> const T* {
        return which < call.in.size() && call.in[which].spec.present ? call.in[which].as<const T>() : nullptr;
    };
    std::vector<A> weights;
    if (g.per_weight)
        for (const double value : rounded_to(call.in[weight_variance], weight_variance, dtype_of<A>))
            weights.push_back(static_cast<A>(value));
    Run<A, T, U>{
        .g = g,
        .gammas = data(gamma),
        .mus = data(mu),
        .before = data(accumulate),
        .target = call.out[0].as<U>(),
        .coefs = coefficients(g, call.in[coef], dtype_of<A>),
        .weights = std::move(weights),
        .pairs = pairs_of(g),
        .sums = reinterpret_cast<A*>(call.workspace),
    }
        .all(threads);
}

using Execute = void (*)(const Geometry&, int, const Call&);

Execute execution(DType input, DType output) {
    return with_dtypes(input, output, []<class A, class T, class U>() -> Execute { return execute<A, T, U>; });
}

std::size_t memory(const Problem& problem) {
    const auto threads = static_cast<std::size_t>(std::max(1, threads_of(problem.place)));
    return threads * static_cast<std::size_t>(pairs_of(geometry(problem))) * size_of(arithmetic(op, problem));
}

Plan prepare(const Problem& problem) {
    Plan plan;
    const int threads = std::max(1, threads_of(problem.place));
    plan.workspace = memory(problem);
    plan.words = fmt::format("{} threads", threads);
    plan.step = [g = geometry(problem), threads, run = execution(problem.in[mu].dtype, problem.out[0].dtype)](
                    const Call& call) { run(g, threads, call); };
    return plan;
}

}  // namespace

const Variant row{
    .name = "loop",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "direct loops over channels and taps for every pair of places",
    .refuses = [](const Problem&) { return std::string(); },
    .prepare = prepare,
    .memory = memory,
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
};

}  // namespace gridstride::convcov::cpu::loop
