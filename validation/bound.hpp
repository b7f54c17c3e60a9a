// SPDX-License-Identifier: BSD-3-Clause
// What an answer is held to: the rule of its operation, the numbers of the bound, the overrides of the job file.
//
//   rounded      the exact value, rounded to the output type
//   accumulated  c u_acc g(n) sum|terms| + u_in sum|terms| + u_out |ref|, by parts
//   transform    relative L2 of a transform: c u_acc g(N) + u_out
//
// u: unit roundoff; u_out where the output is narrower than the accumulator, else 0; u_in 2^-9 for tf32. Every bound
// but the first gains half the output type's smallest subnormal and n |factor| times the accumulator's.
#pragma once

#include "validation/validation.hpp"

namespace gridstride::validation {

struct Criterion {
    Rule rule = Rule::accumulated;
    Tolerance tolerance;
    Bound bound;
    DType output = DType::float32, accumulator = DType::float32;
    bool any_nonfinite = false;  // where the reference is not finite, any non-finite answer passes
    bool squared = false;        // a transform's |X|^2
};

/// The criterion for a variant of an operation; transforms: null but for Rule::transform.
Criterion criterion_of(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in,
                       const Tolerance& tolerance, const Transforms* transforms);

/// g(N) of a fast transform: sqrt(max(1, log2 N)), twice that when N has a prime factor above 13.
double fast_transform_growth(std::int64_t length);

/// What one rounding below the normal numbers can add to a result: half the output's smallest subnormal, and n factor
/// times the accumulator's.
long double subnormal_allowance(const Criterion& criterion, long double factor);

/// The smallest number that rounds to Inf; Inf itself for integers.
long double first_infinite(DType dtype);

}  // namespace gridstride::validation
