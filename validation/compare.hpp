// SPDX-License-Identifier: BSD-3-Clause
// One element against its reference, and the tally of many. NaN never passes as a small error: every test is written
// so that NaN fails it.
#pragma once

#include <map>

#include "validation/bound.hpp"

namespace gridstride::validation {

// Squares of float64 values are formed in long double, whose exponents hold them.
static_assert(std::numeric_limits<long double>::max_exponent > 4096, "the judge needs x87 or binary128 long double");

inline constexpr long double infinity = std::numeric_limits<long double>::infinity();

enum class Class { finite, infinite, nan };
Class class_of(long double value);
/// NaN if either part is, else infinite if either is.
Class class_of(const Complex& value);

/// value as the output type holds it; of integers a value that is none is left as it is.
Complex round_to(const Complex& value, DType dtype);

/// Error of one real part: 0 where got is the reference rounded (NaN where that is NaN). Between finite and Inf: how
/// far the reference is from the numbers that round so. Inf where no bound could let it pass.
long double part_error(long double reference, long double got, DType output);

/// error / bound: 0 where error is 0, above 1 where !(error <= bound), never NaN.
long double share(long double error, long double bound);

/// Numbers of the type that lie between a and b, counting b: 0 where equal, Inf where one is not finite.
double ulps(long double a, long double b, DType dtype);

struct Comparison {
    Complex expected;       // the reference, rounded to the output type
    long double error = 0;  // |got - reference|
    long double used = 0;   // of the bound; above 1 fails
    bool equal = false;     // got is `expected`
    bool overflow = false;  // not finite, and passes because an accumulator may have overflowed
};

/// The bound of one element under the criterion, by parts; in absolute_relative mode of the modulus, in re.
ElementBound allowed(const Term& term, const Criterion& criterion);

/// One element under Rule::rounded or Rule::accumulated, or any rule with an override. bound: allowed(), or another.
Comparison compare(const Term& term, const Complex& got, const Criterion& criterion, const ElementBound& bound);
inline Comparison compare(const Term& term, const Complex& got, const Criterion& criterion) {
    return compare(term, got, criterion, allowed(term, criterion));
}

/// What many comparisons amount to.
struct Tally {
    std::int64_t checked = 0, failed = 0;
    std::int64_t different = 0;  // not equal to the reference rounded
    std::int64_t wrapped = 0;    // integers whose reference overflowed
    std::int64_t lost = 0;       // whose addend rounding leaves nothing of
    std::int64_t infinite = 0;   // right results of finite numbers that are beyond the type's largest number
    std::int64_t overflow = 0;   // passed because the accumulator may have overflowed
    std::int64_t poisoned = 0;   // failed, and hold poison
    long double max_abs = 0, used = 0, error2 = 0, reference2 = 0;
    double max_ulp = 0;
    std::optional<Worst> worst;  // the one that used most; of equals the one with the largest error, then the first
    long double worst_used = 0, worst_error = 0;  // its share of the bound, its error
    std::vector<std::int64_t> wrong;              // places that failed, the first 65 536
    std::map<int, std::int64_t> decades;          // failed ones by the power of ten of their error
    std::int64_t not_finite = 0;                  // failed ones whose error is not finite
    std::vector<long double> typical;             // sampled transforms: error over the bound that nine in ten must keep

    void add(std::int64_t index, const Complex& reference, const Complex& got, const Comparison& comparison,
             DType output);
    void merge(const Tally& later);
    /// sqrt(error2 / reference2); 0 where there is no error, never NaN.
    double relative() const;
};

}  // namespace gridstride::validation
