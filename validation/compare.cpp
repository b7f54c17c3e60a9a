// SPDX-License-Identifier: BSD-3-Clause
// One element against its reference: classes of non-finite values, errors, shares of the bound, ULPs.
#include "validation/compare.hpp"

#include <algorithm>
#include <cmath>

#include "core/convert.hpp"
#include "validation/scan.hpp"

namespace gridstride::validation {

namespace {

constexpr std::size_t most_wrong = 65'536;  // places remembered

bool same(long double a, long double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool same_bits(long double a, long double b) {  // of equal values only zeros differ in their bits
    return std::isnan(a) || std::signbit(a) == std::signbit(b);
}

long double round_part(long double value, DType dtype) {
    // A cast of these would not be defined; wrapped integers come wrapped to int64 already.
    if (is_integer(dtype) && !(value >= -0x1p63L && value < 0x1p63L && value == std::nearbyint(value))) return value;
    return rounded(value, dtype);
}

/// Where T's values stand in ascending order, as integers; +0 and -0 at one place.
template <class T>
std::int64_t rank_of(long double value) {
    using Bits = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
    const Bits bits = std::bit_cast<Bits>(static_cast<T>(value));
    return bits >= 0 ? std::int64_t{bits} : -static_cast<std::int64_t>(bits & std::numeric_limits<Bits>::max());
}

}  // namespace

Class class_of(long double value) {
    return std::isnan(value) ? Class::nan : std::isinf(value) ? Class::infinite : Class::finite;
}

Class class_of(const Complex& value) {
    return std::max(class_of(value.re), class_of(value.im));
}

Complex round_to(const Complex& value, DType dtype) {
    return {round_part(value.re, dtype), is_complex(dtype) ? round_part(value.im, dtype) : value.im};
}

long double part_error(long double reference, long double got, DType output) {
    const long double expected = round_part(reference, output);
    if (same(expected, got)) return 0;
    if (std::isnan(reference) || std::isnan(got) || std::isinf(reference)) return infinity;
    if (std::isinf(got)) return first_infinite(output) - (got > 0 ? reference : -reference);
    return std::abs(got - reference);
}

long double share(long double error, long double bound) {
    if (error == 0) return 0;
    if (!(error < infinity) || !(bound > 0)) return infinity;
    const long double ratio = error / bound;
    return error <= bound ? ratio : std::max(ratio, std::nextafter(1.0L, infinity));
}

double ulps(long double a, long double b, DType dtype) {
    if (same(a, b)) return 0;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    if (is_integer(dtype)) return static_cast<double>(std::abs(a - b));
    return with_type<float16, bfloat16, float, double>(real_of(dtype), [&]<class T>() {
        return static_cast<double>(std::abs(static_cast<long double>(rank_of<T>(a)) - rank_of<T>(b)));
    });
}

ElementBound allowed(const Term& term, const Criterion& criterion) {
    switch (criterion.tolerance.mode) {
        case Tolerance::Mode::bitwise:
            return {};
        case Tolerance::Mode::absolute_relative: {
            const long double bound = criterion.tolerance.atol +
                                      static_cast<long double>(criterion.tolerance.rtol) * std::hypot(term.re, term.im);
            return {bound, bound};
        }
        case Tolerance::Mode::bound:
            break;
    }
    if (criterion.rule == Rule::rounded) return {};
    return element_bound(term, criterion.bound, criterion.output, criterion.accumulator);
}

Comparison compare(const Term& term, const Complex& got, const Criterion& criterion, const ElementBound& bound) {
    Comparison result;
    result.expected = round_to({term.re, term.im}, criterion.output);
    result.equal = same(result.expected.re, got.re) && same(result.expected.im, got.im);
    const bool by_bound = criterion.tolerance.mode == Tolerance::Mode::bound;
    const bool all_bits = criterion.tolerance.mode == Tolerance::Mode::bitwise || (by_bound && term.exact);
    if (all_bits && result.equal)
        result.equal = same_bits(result.expected.re, got.re) && same_bits(result.expected.im, got.im);
    if (result.equal) return result;

    const Class expected_class = class_of(result.expected), got_class = class_of(got);
    if (all_bits || (by_bound && criterion.rule == Rule::rounded)) {
        result.error =
            std::hypot(part_error(term.re, got.re, criterion.output), part_error(term.im, got.im, criterion.output));
        result.used = infinity;
        return result;
    }
    if (is_complex(criterion.output) && expected_class != Class::finite && got_class != Class::finite) {
        if (expected_class == got_class || criterion.any_nonfinite) return result;
        result.error = result.used = infinity;
    } else if (criterion.any_nonfinite && expected_class != Class::finite && got_class != Class::finite) {
        return result;  // power spectra
    } else {
        const long double re = part_error(term.re, got.re, criterion.output);
        const long double im = part_error(term.im, got.im, criterion.output);
        result.error = std::hypot(re, im);
        result.used = by_bound ? std::max(share(re, bound.re), share(im, bound.im)) : share(result.error, bound.re);
    }
    // A sum of finite terms that large may pass through Inf on its way, whatever it ends as: as NaN beside an infinite
    // one.
    const bool infinite = class_of({term.re, term.im}) == Class::infinite;
    const bool may_have_passed = infinite ? got_class == Class::nan : got_class != Class::finite;
    if (result.used > 1 && may_have_passed && criterion.rule != Rule::rounded) {
        const long double reached = std::max({term.re_magnitude, term.im_magnitude, term.unscaled});
        if (std::isfinite(reached) && reached > largest(criterion.accumulator)) {
            result.error = result.used = 0;
            result.overflow = true;
        }
    }
    return result;
}

void Tally::add(std::int64_t index, const Complex& reference, const Complex& got, const Comparison& comparison,
                DType output) {
    ++checked;
    const bool fails = !(comparison.used <= 1);
    failed += fails ? 1 : 0;
    different += comparison.equal ? 0 : 1;
    overflow += comparison.overflow ? 1 : 0;
    infinite += class_of(comparison.expected) == Class::infinite && class_of(reference) == Class::finite ? 1 : 0;
    if (fails) {
        poisoned += validation::poisoned(got, output) ? 1 : 0;
        if (wrong.size() < most_wrong) wrong.push_back(index);
        if (comparison.error > 0 && comparison.error < infinity)
            ++decades[static_cast<int>(std::floor(std::log10(comparison.error)))];
        else if (comparison.error != 0)
            ++not_finite;
    }
    if (class_of(reference) == Class::finite) reference2 += reference.re * reference.re + reference.im * reference.im;
    if (comparison.error == 0 && comparison.used == 0) return;
    error2 += comparison.error * comparison.error;
    max_abs = std::max(max_abs, comparison.error);
    max_ulp = std::max({max_ulp, ulps(comparison.expected.re, got.re, output),
                        is_complex(output) ? ulps(comparison.expected.im, got.im, output) : 0.0});
    used = std::max(used, comparison.used);
    if (!worst || comparison.used > worst_used || (comparison.used == worst_used && comparison.error > worst_error)) {
        worst = Worst{index, got, comparison.expected};
        worst_used = comparison.used;
        worst_error = comparison.error;
    }
}

void Tally::merge(const Tally& later) {
    checked += later.checked;
    failed += later.failed;
    different += later.different;
    wrapped += later.wrapped;
    lost += later.lost;
    infinite += later.infinite;
    overflow += later.overflow;
    poisoned += later.poisoned;
    max_abs = std::max(max_abs, later.max_abs);
    max_ulp = std::max(max_ulp, later.max_ulp);
    used = std::max(used, later.used);
    error2 += later.error2;
    reference2 += later.reference2;
    not_finite += later.not_finite;
    for (const auto& [decade, count] : later.decades) decades[decade] += count;
    const auto room = std::min(most_wrong - wrong.size(), later.wrong.size());
    wrong.insert(wrong.end(), later.wrong.begin(), later.wrong.begin() + static_cast<std::ptrdiff_t>(room));
    typical.insert(typical.end(), later.typical.begin(), later.typical.end());
    if (later.worst && (!worst || later.worst_used > worst_used ||
                        (later.worst_used == worst_used && later.worst_error > worst_error))) {
        worst = later.worst;
        worst_used = later.worst_used;
        worst_error = later.worst_error;
    }
}

double Tally::relative() const {
    if (error2 == 0) return 0;
    return reference2 > 0 ? static_cast<double>(std::sqrt(error2 / reference2))
                          : std::numeric_limits<double>::infinity();
}

}  // namespace gridstride::validation
