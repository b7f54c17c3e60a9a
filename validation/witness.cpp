// SPDX-License-Identifier: BSD-3-Clause
// The second witness at every element: cheap where the reference is not, and the reference has the last word.
#include "validation/witness.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "core/parallel.hpp"
#include "validation/scan.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t witnessed_a_block = 1 << 16;
constexpr std::size_t most = 64;  // places put to the reference

struct Outside {
    long double used = 0;
    std::int64_t place = 0;
};

/// Keeps the `most` that used most; of equals the first.
void keep_worst(std::vector<Outside>& list) {
    const auto worse = [](const Outside& a, const Outside& b) {
        return a.used > b.used || (a.used == b.used && a.place < b.place);
    };
    const auto kept = static_cast<std::ptrdiff_t>(std::min(most, list.size()));
    std::partial_sort(list.begin(), list.begin() + kept, list.end(), worse);
    list.resize(static_cast<std::size_t>(kept));
}

std::vector<std::int64_t> places_of(const std::vector<Outside>& list) {
    std::vector<std::int64_t> places;
    for (const Outside& one : list) places.push_back(one.place);
    return places;
}

/// Without the reference nobody knows the signs of terms: the larger g.
Criterion widened(Criterion criterion) {
    criterion.bound.g = std::max(criterion.bound.g, criterion.bound.g_one_signed);
    return criterion;
}

Everywhere compare_elements(const Trial& trial, std::span<const Contender, 2> contenders, const Slab& got,
                            const Slab& theirs, const SecondWitness& witness) {
    const Criterion ours = widened(contenders[0].criterion), other = widened(contenders[1].criterion);
    const bool by_terms =
        ours.tolerance.mode == Tolerance::Mode::bound && ours.rule == Rule::accumulated && ours.bound.u_acc > 0;
    const auto sums = by_terms ? magnitudes(trial.op, trial.in, witness) : std::vector<Tensor>();
    Everywhere result;
    std::vector<Outside> worst;
    std::mutex merging;
    for_blocks(trial.outputs, witnessed_a_block, trial.threads, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Outside> here;
        std::int64_t outside = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const Complex expected = element(theirs, i);
            Term term{.re = expected.re, .im = expected.im};
            for (const Tensor& sum : sums) {
                const Complex part = element(sum.slab(), i);
                term.re_magnitude += std::hypot(part.re, part.im);
            }
            term.im_magnitude = term.re_magnitude;
            const ElementBound a = allowed(term, ours), b = allowed(term, other);
            const Comparison comparison = compare(term, element(got, i), ours, {a.re + b.re, a.im + b.im});
            if (comparison.used <= 1) continue;
            ++outside;
            here.push_back({comparison.used, i});
            if (here.size() >= 2 * most) keep_worst(here);
        }
        if (here.empty()) return;
        const std::scoped_lock lock(merging);
        result.outside += outside;
        worst.insert(worst.end(), here.begin(), here.end());
        keep_worst(worst);
    });
    result.differs = result.outside > 0;
    Places places{trial.outputs, false, {}};
    add_places(places, places_of(worst));
    if (result.differs) result.ours = judge_elements(trial, places, contenders.first(1)).front();
    return result;
}

Everywhere compare_transforms(const Trial& trial, std::span<const Contender, 2> contenders, const Slab& got,
                              const Slab& theirs, const Validate& asked) {
    const Transforms& transforms = *trial.transforms;
    const Criterion& ours = contenders[0].criterion;
    const NormBound a = norm_bound(ours, true), b = norm_bound(contenders[1].criterion, true);
    Everywhere result;
    std::vector<Outside> worst;
    std::int64_t worst_transform = -1;
    long double worst_used = 0;
    std::mutex merging;
    for_blocks(transforms.count, 1, trial.threads, [&](std::int64_t transform, std::int64_t) {
        const auto places = transforms.places(transform);
        const bool finite = transforms.finite(transform);
        const long double norm = finite ? transforms.norm(transform) : 0;
        const bool overflows = finite && may_overflow(transforms, transform, ours);
        const long double limit = norm > 0 ? (a.relative + b.relative) * norm : 0;
        const long double tiny = norm > 0 ? a.absolute + b.absolute : 0;
        long double error2 = 0, weights = 0;
        std::vector<Outside> here;
        for (const std::int64_t place : places) {
            const Complex value = element(got, place);
            long double error = 0;
            if (finite)
                error = compare_bin(element(theirs, place), value, ours, overflows).error;
            else if (class_of(value) == Class::finite)
                error = std::numeric_limits<long double>::infinity();
            const long double weight = transforms.weight(place);
            error2 += weight * error * error;
            weights += weight;
            if (error > 0) here.push_back({share(error, limit + tiny), place});
            if (here.size() >= 2 * most) keep_worst(here);
        }
        const long double used = share(std::sqrt(error2), limit + tiny * std::sqrt(weights));
        if (used <= 1) return;
        const std::scoped_lock lock(merging);
        ++result.outside;
        worst.insert(worst.end(), here.begin(), here.end());
        keep_worst(worst);
        if (used > worst_used || (used == worst_used && transform < worst_transform)) {
            worst_used = used;
            worst_transform = transform;
        }
    });
    result.differs = result.outside > 0;
    if (!result.differs) return result;
    Places places{trial.outputs, false, {}};
    add_places(places, places_of(worst));
    result.ours = judge_bins(trial, places, contenders.first(1), false).front();
    if (result.ours.failed > 0) return result;
    // No bin is wrong by itself: the norm of the worst transform, where it can be had.
    const auto outputs = static_cast<double>(transforms.places(worst_transform).size());
    if (outputs * static_cast<double>(trial.terms) <= 10 * asked.terms)
        result.ours = judge_transforms(trial, worst_transform, worst_transform + 1, contenders.first(1)).front();
    return result;
}

Tensor absolute(const Slab& slab) {
    Tensor result(slab.spec);
    const std::int64_t n = slab.spec.size();
    with_any_type(slab.spec.dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < n; ++i) {
            const T value = slab.as<const T>()[i];
            if constexpr (is_complex_type<T>)
                result.as<T>()[i] = T(std::abs(value), 0);
            else if constexpr (std::is_integral_v<T>)
                result.as<T>()[i] = value < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(value)) : value;
            else
                result.as<T>()[i] = T(std::abs(static_cast<double>(value)));
        }
    });
    return result;
}

Tensor zeros(const Spec& spec) {
    Tensor result(spec);
    if (spec.size() > 0) std::memset(result.data(), 0, spec.bytes());
    return result;
}

}  // namespace

std::vector<Tensor> magnitudes(const Op& op, std::span<const Slab> in, const SecondWitness& witness) {
    const int alias = op.outputs[0].alias;
    const auto own = static_cast<std::size_t>(std::max(alias, 0));
    const bool addend = alias >= 0 && op.inputs[own].optional && in[own].spec.present;
    const auto run = [&](bool others, bool own_too) {
        std::vector<Tensor> held;
        std::vector<Slab> slabs;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!in[i].spec.present) {
                slabs.push_back(in[i]);
                continue;
            }
            const bool kept = op.inputs[i].own_dtype || (addend && i == own ? own_too : others);
            held.push_back(kept ? absolute(in[i]) : zeros(in[i].spec));
            slabs.push_back(held.back().slab());
        }
        return witness.run(slabs);
    };
    std::vector<Tensor> sums;
    sums.push_back(run(true, false));
    if (addend) sums.push_back(run(false, true));
    return sums;
}

Everywhere compare_everywhere(const Trial& trial, std::span<const Contender, 2> contenders, const Slab& got,
                              const Slab& theirs, const SecondWitness& witness, const Validate& asked) {
    const Criterion& ours = contenders[0].criterion;
    const bool by_norm = ours.rule == Rule::transform && ours.tolerance.mode == Tolerance::Mode::bound;
    return by_norm ? compare_transforms(trial, contenders, got, theirs, asked)
                   : compare_elements(trial, contenders, got, theirs, witness);
}

}  // namespace gridstride::validation
