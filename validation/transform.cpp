// SPDX-License-Identifier: BSD-3-Clause
// Judging transforms by norms: an error in one bin is measured against the whole transform, not against the bin.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/parallel.hpp"
#include "validation/trial.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t outputs_a_tile = 1 << 16;  // held at once of small transforms; a larger one is held whole

/// A transform whose input is not finite: its outputs must not be, and no more is asked.
Comparison compare_nonfinite(const Complex& reference, const Complex& got, DType output) {
    Comparison result;
    result.expected = round_to(reference, output);
    const bool fails = class_of(got) == Class::finite;
    result.error = result.used = fails ? infinity : 0;
    result.equal = !fails;
    return result;
}

/// In the units of the output: |X|^2 where squared, else what the amplitude's error is already.
long double output_error(const Bin& bin, const Complex& reference, const Complex& got, const Criterion& criterion) {
    if (bin.equal || bin.overflow) return 0;
    return criterion.squared ? part_error(reference.re, got.re, criterion.output) : bin.error;
}

bool one_signed(const Criterion& criterion, long double first, long double magnitude) {
    return criterion.bound.g_one_signed > 0 && first >= (1 - 1e-6L) * magnitude;
}

long double amplitude(const Complex& value, bool squared) {
    return squared ? std::sqrt(value.re) : std::hypot(value.re, value.im);
}

Tally judge_whole(const Transforms& transforms, std::int64_t transform, std::span<const std::int64_t> places,
                  std::span<const Complex> reference, std::span<const Complex> got, const Criterion& criterion) {
    Tally tally;
    const std::size_t n = places.size();
    if (!transforms.finite(transform)) {
        for (std::size_t i = 0; i < n; ++i)
            tally.add(places[i], reference[i], got[i], compare_nonfinite(reference[i], got[i], criterion.output),
                      criterion.output);
        return tally;
    }
    const bool overflows = may_overflow(transforms, transform, criterion);
    long double error2 = 0, norm2 = 0, weights = 0, largest_error = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Bin bin = compare_bin(reference[i], got[i], criterion, overflows);
        const long double weight = transforms.weight(places[i]);
        error2 += weight * bin.error * bin.error;
        norm2 += weight * bin.size * bin.size;
        weights += weight;
        largest_error = std::max(largest_error, bin.error);
    }
    const bool constant_sum =
        criterion.bound.g_one_signed > 0 &&
        one_signed(criterion, amplitude(reference[0], criterion.squared), transforms.magnitude(transform));
    const NormBound bound = norm_bound(criterion, constant_sum);
    const long double limit = norm2 > 0 ? bound.relative * std::sqrt(norm2) + bound.absolute * std::sqrt(weights) : 0;
    const long double used = share(std::sqrt(error2), limit);
    for (std::size_t i = 0; i < n; ++i) {
        // The whole transform passes or fails; the bins blamed are those above the average that it may have.
        const Bin bin =
            compare_bin(reference[i], got[i], criterion, overflows);  // again: no table of a whole transform
        const bool blamed = bin.error == largest_error || (used > 1 && !(bin.error * std::sqrt(weights) <= limit));
        Comparison comparison;
        comparison.expected = round_to(reference[i], criterion.output);
        comparison.error = output_error(bin, reference[i], got[i], criterion);
        comparison.used = blamed && bin.error > 0 ? used : 0;
        comparison.equal = bin.equal;
        comparison.overflow = bin.overflow;
        tally.add(places[i], reference[i], got[i], comparison, criterion.output);
    }
    return tally;
}

/// What a sampled bin needs to know of its transform.
struct Facts {
    bool finite = true;
    long double norm = 0, magnitude = 0;
    long double first = 0;  // amplitude of its first output, where it matters
};

std::map<std::int64_t, Facts> facts_of(const Trial& trial, std::span<const std::int64_t> places, bool with_first) {
    const Transforms& transforms = *trial.transforms;
    std::map<std::int64_t, Facts> facts;
    for (const std::int64_t place : places) facts.try_emplace(transforms.transform_of(place));
    std::vector<std::pair<const std::int64_t, Facts>*> rows;
    for (auto& row : facts) rows.push_back(&row);
    for_blocks(static_cast<std::int64_t>(rows.size()), 1, trial.threads, [&](std::int64_t begin, std::int64_t) {
        auto& [transform, fact] = *rows[static_cast<std::size_t>(begin)];
        fact.finite = transforms.finite(transform);
        fact.norm = transforms.norm(transform);
        fact.magnitude = transforms.magnitude(transform);
        if (!with_first) return;
        const Term term = trial.reference(transforms.places(transform).front());
        fact.first = amplitude({term.re, term.im}, transforms.squared);
    });
    return facts;
}

bool exceeds(long double magnitude, const Criterion& criterion) {
    const long double reached = criterion.squared ? magnitude * magnitude : magnitude;
    return std::isfinite(magnitude) && reached > largest(criterion.accumulator);
}

Tally judge_sampled(const Trial& trial, std::span<const std::int64_t> places, std::span<const Term> terms,
                    std::span<const Complex> got, const std::map<std::int64_t, Facts>& facts,
                    const Criterion& criterion) {
    Tally tally;
    const long double root = std::sqrt(static_cast<long double>(trial.transforms->length));
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Facts& fact = facts.at(trial.transforms->transform_of(places[i]));
        const Complex reference{terms[i].re, terms[i].im};
        if (!fact.finite) {
            tally.add(places[i], reference, got[i], compare_nonfinite(reference, got[i], criterion.output),
                      criterion.output);
            continue;
        }
        const Bin bin = compare_bin(reference, got[i], criterion, exceeds(fact.magnitude, criterion));
        const NormBound bound = norm_bound(criterion, one_signed(criterion, fact.first, fact.magnitude));
        const bool zero = !(fact.norm > 0);
        Comparison comparison;
        comparison.expected = round_to(reference, criterion.output);
        comparison.error = output_error(bin, reference, got[i], criterion);
        comparison.used = share(bin.error, zero ? 0 : bound.relative * fact.norm + bound.absolute);
        comparison.equal = bin.equal;
        comparison.overflow = bin.overflow;
        tally.add(places[i], reference, got[i], comparison, criterion.output);
        tally.typical.push_back(
            share(bin.error, zero ? 0 : bound.relative * (bin.size + fact.norm / root) + bound.absolute));
    }
    return tally;
}

/// Nine in ten must keep the typical bound: the largest share after the worst tenth are left out.
void judge_typical(Tally& tally) {
    auto& shares = tally.typical;
    if (shares.empty()) return;
    const auto kept = static_cast<std::ptrdiff_t>(shares.size() - 1 - shares.size() / 10);
    std::nth_element(shares.begin(), shares.begin() + kept, shares.end());
    const long double used = shares[static_cast<std::size_t>(kept)];
    if (!(used <= 1) && tally.failed == 0)
        tally.failed = std::count_if(shares.begin(), shares.end(), [](long double one) { return !(one <= 1); });
    tally.used = std::max(tally.used, used);
}

}  // namespace

Bin compare_bin(const Complex& reference, const Complex& got, const Criterion& criterion, bool may_overflow) {
    Bin bin;
    const Complex expected = round_to(reference, criterion.output);
    const auto same = [](long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    bin.size = amplitude(reference, criterion.squared);
    bin.equal = same(expected.re, got.re) && same(expected.im, got.im);
    if (bin.equal) return bin;
    const Class got_class = class_of(got), expected_class = class_of(expected);
    if (got_class != Class::finite && may_overflow) {
        bin.overflow = true;
    } else if (criterion.squared) {
        const long double top = std::sqrt(first_infinite(criterion.output));
        bin.error = got.re == infinity ? top - bin.size : std::abs(std::sqrt(got.re) - bin.size);
        if (!(bin.error <= std::numeric_limits<long double>::max())) bin.error = infinity;
    } else if (got_class != Class::finite && expected_class != Class::finite) {
        bin.error = got_class == expected_class ? 0 : infinity;
    } else {
        bin.error = std::hypot(part_error(reference.re, got.re, criterion.output),
                               part_error(reference.im, got.im, criterion.output));
    }
    return bin;
}

NormBound norm_bound(const Criterion& criterion, bool one_signed) {
    const Bound& bound = criterion.bound;
    const long double g = one_signed ? std::max(bound.g, bound.g_one_signed) : bound.g;
    const long double accumulated = static_cast<long double>(bound.n) * smallest_subnormal(criterion.accumulator);
    return {static_cast<long double>(bound.c) * bound.u_acc * g + bound.u_out,
            // An amplitude has two parts; a square that is off by s is that of an amplitude off by sqrt(s) at most.
            criterion.squared
                ? std::sqrt(smallest_subnormal(criterion.output) / 2 + smallest_subnormal(criterion.accumulator)) +
                      accumulated
                : std::sqrt(2.0L) * subnormal_allowance(criterion, 1)};
}

bool may_overflow(const Transforms& transforms, std::int64_t transform, const Criterion& criterion) {
    return exceeds(transforms.magnitude(transform), criterion);
}

std::vector<Complex> spectrum(const Trial& trial, std::int64_t transform, std::span<const std::int64_t> places) {
    std::vector<Complex> values;
    values.reserve(places.size());
    if (trial.fast) {
        const auto all = trial.transforms->all(transform);
        if (all.size() == places.size()) {
            for (const auto& value : all) values.push_back({value.real(), value.imag()});
            return values;
        }
    }
    for (std::size_t begin = 0; begin < places.size(); begin += outputs_a_tile)
        for (const Term& term :
             terms_at(trial, places.subspan(begin, std::min<std::size_t>(outputs_a_tile, places.size() - begin))))
            values.push_back({term.re, term.im});
    return values;
}

std::vector<Tally> judge_transforms(const Trial& trial, std::int64_t first, std::int64_t last,
                                    std::span<const Contender> contenders, Extent extent) {
    const Transforms& transforms = *trial.transforms;
    std::vector<Tally> tallies(contenders.size());
    std::int64_t size = 1;  // outputs wanted in a tile, of which one transform at least
    for (std::int64_t next = first; next < last; size = std::min(2 * size, outputs_a_tile)) {
        if (extent == Extent::whole) size = outputs_a_tile;
        std::vector<std::int64_t> places;
        std::vector<Complex> reference;
        std::vector<std::size_t> ends{0};
        const std::int64_t begin = next;
        do {
            const auto own = transforms.places(next);
            places.insert(places.end(), own.begin(), own.end());
            if (trial.fast) {
                const auto values = spectrum(trial, next, own);
                reference.insert(reference.end(), values.begin(), values.end());
            }
            ends.push_back(places.size());
            ++next;
        } while (next < last && static_cast<std::int64_t>(places.size()) < size);
        if (!trial.fast) reference = spectrum(trial, begin, places);  // the definition, whatever transforms they are of

        bool open = false;
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            if (extent == Extent::until_failed && tallies[c].failed > 0) continue;
            const auto values = contenders[c].answer(places);
            std::vector<Tally> parts(ends.size() - 1);
            for_blocks(next - begin, 1, trial.threads, [&](std::int64_t from, std::int64_t) {
                const std::size_t own = ends[static_cast<std::size_t>(from)];
                const std::size_t n = ends[static_cast<std::size_t>(from) + 1] - own;
                parts[static_cast<std::size_t>(from)] = judge_whole(
                    transforms, begin + from, std::span(places).subspan(own, n), std::span(reference).subspan(own, n),
                    std::span(values).subspan(own, n), contenders[c].criterion);
            });
            for (const Tally& part : parts) tallies[c].merge(part);
            open = open || tallies[c].failed == 0;
        }
        if (extent == Extent::until_failed && !open) break;
    }
    return tallies;
}

std::vector<Tally> judge_bins(const Trial& trial, const Places& places, std::span<const Contender> contenders,
                              bool typical, Extent extent) {
    std::vector<Tally> tallies(contenders.size());
    const bool with_first = std::any_of(contenders.begin(), contenders.end(), [](const Contender& contender) {
        return contender.criterion.bound.g_one_signed > 0;
    });
    std::int64_t size = extent == Extent::whole ? outputs_a_tile : 1;
    for (std::int64_t begin = 0; begin < places.count(); begin += size, size = std::min(2 * size, outputs_a_tile)) {
        const auto here = places.slice(begin, std::min(places.count(), begin + size));
        const auto terms = terms_at(trial, here);
        const auto facts = facts_of(trial, here, with_first);
        bool open = false;
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            if (extent == Extent::until_failed && tallies[c].failed > 0) continue;
            tallies[c].merge(
                judge_sampled(trial, here, terms, contenders[c].answer(here), facts, contenders[c].criterion));
            open = open || tallies[c].failed == 0;
        }
        if (extent == Extent::until_failed && !open) break;
    }
    if (typical)
        for (Tally& tally : tallies) judge_typical(tally);
    return tallies;
}

}  // namespace gridstride::validation
