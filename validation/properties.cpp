// SPDX-License-Identifier: BSD-3-Clause
// Properties of an answer: from the criterion to what the operation needs of it, and from a property that does not hold
// to the elements that are wrong.
#include "validation/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gridstride::validation {

Allowance allowance_of(const Criterion& criterion) {
    Allowance result;
    const Bound& bound = criterion.bound;
    // A right answer below half the largest number stays below it, roundings and all.
    result.largest = std::min(largest(criterion.output), largest(criterion.accumulator)) / 2;
    if (criterion.rule == Rule::transform) {
        const NormBound norm = norm_bound(criterion, true);
        result.relative = norm.relative;
        result.least = norm.absolute;
        return result;
    }
    const long double g = std::max(bound.g, bound.g_one_signed);  // nobody knows the signs of the terms
    result.relative = static_cast<long double>(bound.c) * bound.u_acc * g + bound.u_in;
    result.stored = bound.u_out;
    result.least = smallest_subnormal(criterion.output) / 2;
    result.scaled = static_cast<long double>(bound.n) * smallest_subnormal(criterion.accumulator);
    return result;
}

std::vector<Property> properties_of(const Trial& trial, const Variant& variant, const Criterion& criterion,
                                    const Slab& got, const Validate& asked, const Again& again) {
    if (trial.op.properties == nullptr || criterion.tolerance.mode != Tolerance::Mode::bound) return {};
    const double terms = asked.mode == Validate::Mode::full ? std::numeric_limits<double>::infinity() : asked.terms;
    const auto refused = [&variant](const Problem& problem) {
        return variant.refuses == nullptr ? std::string() : variant.refuses(problem);
    };
    Examined one{trial.problem, trial.in,   got,           allowance_of(criterion),
                 terms,         asked.seed, trial.threads, trial.transforms.get()};
    if (again)
        one.again = [&again, refused](const Problem& problem, std::span<const Slab> in) {
            if (const std::string why = refused(problem); !why.empty()) throw Error(Category::config, why);
            return again(problem, in);
        };
    return trial.op.properties(one);
}

Tally judge_suspects(Trial& trial, const Property& property, const Contender& ours, const Validate& asked) {
    if (property.outputs.empty()) return {};
    const auto suspects = static_cast<double>(property.outputs.size());
    const double affordable = std::max(16.0, asked.terms / static_cast<double>(trial.terms));
    if (ours.criterion.rule == Rule::transform) {
        const std::int64_t transform = trial.transforms->transform_of(property.outputs.front());
        trial.fast = suspects > affordable;
        if (trial.fast && (trial.transforms->all == nullptr || trial.transforms->all(transform).empty())) return {};
        return judge_transforms(trial, transform, transform + 1, std::span(&ours, 1)).front();
    }
    Places places{trial.outputs, false, {}};
    const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(suspects / affordable)));
    for (std::size_t i = 0; i < property.outputs.size(); i += step) places.list.push_back(property.outputs[i]);
    return judge_elements(trial, places, std::span(&ours, 1)).front();
}

void add_property(Judgement& judgement, Property property) {
    if (!property.holds() && judgement.verdict != Verdict::mismatch) {
        judgement.verdict = Verdict::mismatch;
        judgement.reason =
            fmt::format("{} does not hold{}{}", property.name, property.where.empty() ? "" : " of ", property.where);
        if (property.bound > 0)
            judgement.reason += fmt::format(": off by {:.3g}, where {:.3g} is allowed", property.value, property.bound);
    }
    judgement.properties.push_back(std::move(property));
}

}  // namespace gridstride::validation
