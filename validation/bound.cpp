// SPDX-License-Identifier: BSD-3-Clause
// The error bound: from operation, variant, dtype and data to its numbers, and from those and a Term to one element's.
#include "validation/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validation/scan.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t long_sum = 65536;  // above it one-signed sums drift: their roundings no longer cancel
constexpr double tf32_roundoff = 0x1p-9;  // of a product of two inputs rounded to 11 bits

bool is_compute(const Problem& problem, std::string_view word) {
    return problem.params.is_word("compute") && problem.params.word("compute") == word;
}

/// One accumulator, atomics, libraries, direct transforms: their g grows as sqrt(n), that of trees and blocks does not.
bool grows_as_root(const Variant& variant, const Problem& problem) {
    constexpr std::int64_t far = std::int64_t{1} << 40;
    return variant.growth == nullptr || variant.growth(problem, far) >= 0x1p20;
}

/// Are all inputs constant that make an output's terms? The addend (an optional input that the output may overwrite)
/// and inputs of their own dtype are no part of that.
bool constant_inputs(const Op& op, std::span<const Slab> in) {
    const int addend = op.outputs[0].alias;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].spec.present || op.inputs[i].own_dtype) continue;
        if (static_cast<int>(i) == addend && op.inputs[i].optional) continue;
        if (!constant(in[i])) return false;
    }
    return true;
}

std::string formula(const Criterion& criterion) {
    const Tolerance& tolerance = criterion.tolerance;
    const Bound& bound = criterion.bound;
    if (tolerance.mode == Tolerance::Mode::bitwise) return "bit for bit";
    if (tolerance.mode == Tolerance::Mode::absolute_relative)
        return fmt::format("{:g} + {:g} |ref|", tolerance.atol, tolerance.rtol);
    switch (criterion.rule) {
        case Rule::rounded:
            return fmt::format("the exact value, rounded to {}", name(criterion.output));
        case Rule::accumulated:
            return fmt::format("{:g} u_acc g(n) sum|terms|{}{}", bound.c, bound.u_in > 0 ? " + 2^-9 sum|terms|" : "",
                               bound.u_out > 0 ? " + u_out |ref|" : "");
        case Rule::transform:
            return fmt::format("L2 of a transform, {}relative: {:g} u_acc g(N){}",
                               criterion.squared ? "of square roots, " : "", bound.c,
                               bound.u_out > 0 ? " + u_out" : "");
    }
    return "";
}

}  // namespace

double fast_transform_growth(std::int64_t length) {
    std::int64_t rest = std::max<std::int64_t>(length, 1);
    for (const std::int64_t prime : {2, 3, 5, 7, 11, 13})
        while (rest % prime == 0) rest /= prime;
    const double root = std::sqrt(std::max(1.0, std::log2(static_cast<double>(std::max<std::int64_t>(length, 1)))));
    return rest > 1 ? 2 * root : root;
}

Criterion criterion_of(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in,
                       const Tolerance& tolerance, const Transforms* transforms) {
    Criterion criterion;
    criterion.rule = op.rule(problem);
    criterion.tolerance = tolerance;
    criterion.output = problem.out[0].dtype;
    criterion.accumulator = arithmetic(op, problem);
    if (is_compute(problem, "float64"))
        criterion.accumulator = is_complex(criterion.accumulator) ? DType::complex128 : DType::float64;
    criterion.squared = transforms != nullptr && transforms->squared;
    // Of a product of complex numbers IEEE fixes no class where a part is not finite; of a transform even less.
    const auto factors = std::count_if(in.begin(), in.end(), [](const Slab& slab) { return slab.spec.present; });
    criterion.any_nonfinite = criterion.rule == Rule::transform ||
                              (criterion.rule == Rule::accumulated && is_complex(criterion.output) && factors > 1);

    Bound& bound = criterion.bound;
    bound.c = tolerance.mode == Tolerance::Mode::bound ? tolerance.factor : 4;
    bound.n = transforms != nullptr ? transforms->length : op.terms(problem);
    bound.n = std::max<std::int64_t>(bound.n, 1);
    const auto n = static_cast<double>(bound.n);
    if (variant.growth != nullptr)
        bound.g = variant.growth(problem, bound.n);
    else
        bound.g = criterion.rule == Rule::transform ? fast_transform_growth(bound.n) : std::sqrt(n);
    if (criterion.rule == Rule::rounded) {
        bound.g = 0;
        bound.n = 1;
    } else {
        bound.u_acc = unit_roundoff(criterion.accumulator);
        const double stored = unit_roundoff(criterion.output);
        bound.u_out = stored > bound.u_acc || criterion.squared ? stored : 0;
        if (is_compute(problem, "tf32")) bound.u_in = tf32_roundoff;
        const bool direct = criterion.rule != Rule::transform || variant.growth != nullptr;
        if (direct && n / 4 > bound.g && grows_as_root(variant, problem) &&
            (bound.n > long_sum || constant_inputs(op, in)))
            bound.g_one_signed = n / 4;
    }
    bound.formula = formula(criterion);
    return criterion;
}

long double first_infinite(DType dtype) {
    if (is_integer(dtype)) return std::numeric_limits<long double>::infinity();
    const long double top = largest(dtype);
    return top + std::ldexp(static_cast<long double>(unit_roundoff(dtype)), std::ilogb(top));
}

long double subnormal_allowance(const Criterion& criterion, long double factor) {
    return smallest_subnormal(criterion.output) / 2 +
           static_cast<long double>(criterion.bound.n) * factor * smallest_subnormal(criterion.accumulator);
}

ElementBound element_bound(const Term& term, const Bound& bound, DType output, DType accumulator) {
    const long double tiny = smallest_subnormal(output) / 2 +
                             static_cast<long double>(bound.n) * term.factor * smallest_subnormal(accumulator);
    const auto part = [&](long double reference, long double magnitude) {
        // The reference itself is rounded, so that the sum of terms of one sign may miss their magnitude by a little.
        const bool one_signed = std::abs(reference) >= (1 - 1e-6L) * magnitude;
        const long double g = one_signed ? std::max(bound.g, bound.g_one_signed) : bound.g;
        return (static_cast<long double>(bound.c) * bound.u_acc * g + bound.u_in) * magnitude +
               static_cast<long double>(bound.u_out) * std::abs(reference) + tiny;
    };
    return {part(term.re, term.re_magnitude), part(term.im, term.im_magnitude)};
}

}  // namespace gridstride::validation
