// SPDX-License-Identifier: BSD-3-Clause
// One element against its reference: above all, what is not finite never passes by accident.
#include "validation/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gridstride::validation {

namespace {

constexpr long double inf = std::numeric_limits<long double>::infinity();
const long double nan = std::nanl("");

Criterion within(double u_acc, DType output = DType::float32) {
    Criterion criterion;
    criterion.output = output;
    criterion.accumulator = is_complex(output) ? DType::complex64 : DType::float32;
    criterion.bound = {.c = 4, .u_acc = u_acc, .g = 1};
    return criterion;
}
Criterion exact(DType output = DType::float32) {
    Criterion criterion = within(0, output);
    criterion.rule = Rule::rounded;
    return criterion;
}
Criterion override_of(Tolerance tolerance, DType output = DType::float32) {
    Criterion criterion = within(0x1p-24, output);
    criterion.tolerance = tolerance;
    return criterion;
}
const Tolerance loose{.mode = Tolerance::Mode::absolute_relative, .rtol = 0.5, .atol = 1e30};
const Tolerance bitwise{.mode = Tolerance::Mode::bitwise};

bool passes(const Term& term, Complex got, const Criterion& criterion) {
    return compare(term, got, criterion).used <= 1;
}
Term real(long double value, long double magnitude = 1) {
    return {.re = value, .re_magnitude = magnitude};
}

}  // namespace

TEST(Compare, NanFailsEveryComparison) {
    for (const Criterion& criterion :
         {within(1e30), exact(), override_of(loose), override_of(bitwise), within(1e30, DType::float16)}) {
        EXPECT_FALSE(passes(real(1), {nan, 0}, criterion));
        EXPECT_FALSE(passes(real(nan), {1, 0}, criterion));
        EXPECT_FALSE(passes(real(inf), {nan, 0}, criterion));
        EXPECT_FALSE(passes(real(nan), {-inf, 0}, criterion));
        EXPECT_TRUE(passes(real(nan), {nan, 0}, criterion));
        EXPECT_TRUE(passes(real(nan), {-nan, 0}, criterion));
    }
    for (const Criterion& criterion : {within(1e30, DType::complex64), exact(DType::complex64),
                                       override_of(loose, DType::complex64), override_of(bitwise, DType::complex64)}) {
        EXPECT_FALSE(passes(real(1), {1, nan}, criterion));
        EXPECT_FALSE(passes(real(1), {nan, 0}, criterion));
        EXPECT_FALSE(passes(Term{.re = 1, .im = nan}, {1, 1}, criterion));
    }
}

TEST(Compare, ANanBoundPassesNothing) {
    EXPECT_FALSE(share(1, nan) <= 1);
    EXPECT_FALSE(share(nan, 1) <= 1);
    EXPECT_EQ(share(inf, inf), inf);
    EXPECT_EQ(share(inf, 1), inf);
    EXPECT_EQ(share(1, inf), 0);
    EXPECT_EQ(share(0, nan), 0);
    EXPECT_EQ(share(1, 0), inf);
    EXPECT_EQ(share(1, 4), 0.25L);
    EXPECT_GT(share(std::nextafter(3.0L, 4.0L), 3), 1);
}

TEST(Compare, InfinitiesMatchBySign) {
    for (const Criterion& criterion : {within(1), exact(), override_of(loose), override_of(bitwise)}) {
        EXPECT_TRUE(passes(real(inf), {inf, 0}, criterion));
        EXPECT_TRUE(passes(real(-inf), {-inf, 0}, criterion));
        EXPECT_FALSE(passes(real(inf), {-inf, 0}, criterion));
        EXPECT_FALSE(passes(real(inf), {3, 0}, criterion));
        EXPECT_FALSE(passes(real(3), {inf, 0}, criterion));
    }
}

TEST(Compare, BetweenFiniteAndInfWhereTheBoundReaches) {
    Criterion half = within(1e-3, DType::float16);              // 4e-3 sum|terms|
    EXPECT_TRUE(passes(real(65400, 65400), {inf, 0}, half));    // 65400 + 262 reaches 65520
    EXPECT_FALSE(passes(real(65000, 65000), {inf, 0}, half));   // 65000 + 260 does not
    EXPECT_FALSE(passes(real(65400, 65400), {-inf, 0}, half));  // the other end
    EXPECT_TRUE(passes(real(-65400, 65400), {-inf, 0}, half));
    EXPECT_TRUE(passes(real(65530, 65530), {65504, 0}, half));  // rounds to Inf, and 65504 is near it
    EXPECT_FALSE(passes(real(65530, 65530), {64000, 0}, half));
    EXPECT_FALSE(passes(real(1e6, 1e6), {65504, 0}, half));
    EXPECT_TRUE(passes(real(1e6, 1e6), {inf, 0}, half));
    EXPECT_FALSE(passes(real(65519), {inf, 0}, exact(DType::float16)));  // rounds to 65504
    EXPECT_TRUE(passes(real(65520), {inf, 0}, exact(DType::float16)));
}

TEST(Compare, ComplexClassesAreOfTheWholeValue) {
    Criterion sum = within(1e-7, DType::complex64);
    EXPECT_TRUE(passes(Term{.re = inf, .im = 2}, {-inf, 7}, sum));
    EXPECT_TRUE(passes(Term{.re = nan, .im = 2}, {3, nan}, sum));
    EXPECT_FALSE(passes(Term{.re = inf, .im = 2}, {nan, 2}, sum));
    EXPECT_FALSE(passes(Term{.re = nan, .im = inf}, {inf, 2}, sum));
    EXPECT_FALSE(passes(Term{.re = inf, .im = 2}, {3, 2}, sum));
    Criterion products = sum;
    products.any_nonfinite = true;
    EXPECT_TRUE(passes(Term{.re = inf, .im = 2}, {nan, 2}, products));
    EXPECT_FALSE(passes(Term{.re = inf, .im = 2}, {3, 2}, products));
    EXPECT_FALSE(passes(Term{.re = 1, .im = 2}, {nan, 2}, products));
    EXPECT_FALSE(passes(Term{.re = inf, .im = 2}, {inf, 3}, exact(DType::complex64)));  // copies: part by part
}

TEST(Compare, AccumulatorsThatMayOverflowExcuseNonFiniteAnswersAlone) {
    const Criterion criterion = within(0x1p-24);
    const Term term{.re = 1e30L, .re_magnitude = 4e38L};  // beyond float32's 3.4e38
    const Comparison got = compare(term, {nan, 0}, criterion);
    EXPECT_LE(got.used, 1);
    EXPECT_TRUE(got.overflow);
    EXPECT_TRUE(compare(term, {-inf, 0}, criterion).overflow);
    EXPECT_FALSE(passes(term, {-1e38L, 0}, criterion));
    EXPECT_FALSE(passes(Term{.re = 1e30L, .re_magnitude = 3e38L}, {nan, 0}, criterion));
    // before the factor: a coefficient of 1e-10 takes 1e40 back into range
    EXPECT_TRUE(
        passes(Term{.re = 1e30L, .re_magnitude = 1e30L, .factor = 1e-10L, .unscaled = 1e40L}, {inf, 0}, criterion));
    // an infinite term excuses nothing, but finite ones that overflow beside it make NaN of it
    EXPECT_FALSE(passes(Term{.re = inf, .re_magnitude = 3e38L}, {nan, 0}, criterion));
    EXPECT_TRUE(passes(Term{.re = inf, .re_magnitude = 4e38L}, {nan, 0}, criterion));
    EXPECT_FALSE(passes(Term{.re = inf, .re_magnitude = 4e38L}, {-inf, 0}, criterion));
    EXPECT_FALSE(passes(Term{.re = inf, .re_magnitude = 4e38L}, {1e38L, 0}, criterion));
    EXPECT_FALSE(passes(Term{.re = 1, .re_magnitude = 4e38L}, {inf, 0}, exact()));
}

TEST(Compare, RoundedMeansTheNearestValueAndZerosAreEqual) {
    EXPECT_TRUE(passes(real(1 + 0x1p-25L), {1, 0}, exact()));
    EXPECT_FALSE(passes(real(1), {1 + 0x1p-23L, 0}, exact()));
    EXPECT_FALSE(passes(real(1), {1 - 0x1p-24L, 0}, exact()));
    EXPECT_TRUE(passes(real(0), {-0.0L, 0}, exact()));
    EXPECT_TRUE(passes(real(2049), {2048, 0}, exact(DType::float16)));  // to even
    EXPECT_FALSE(passes(real(2049), {2050, 0}, exact(DType::float16)));
    EXPECT_TRUE(passes(real(-7), {-7, 0}, exact(DType::int32)));
    EXPECT_FALSE(passes(real(2.5L), {2, 0}, exact(DType::int32)));  // no integer: nothing is right
    EXPECT_TRUE(passes(real(0x1p62L + 1), {0x1p62L + 1, 0}, exact(DType::int64)));
    EXPECT_FALSE(passes(real(0x1p62L + 1), {0x1p62L, 0}, exact(DType::int64)));
}

TEST(Compare, UntouchedElementsAreBitForBit) {
    Term term = real(0, 100);
    term.exact = true;
    EXPECT_TRUE(passes(term, {0, 0}, within(1)));
    EXPECT_FALSE(passes(term, {-0.0L, 0}, within(1)));
    EXPECT_FALSE(passes(term, {1e-40L, 0}, within(1)));
    term.exact = false;
    EXPECT_TRUE(passes(term, {1e-40L, 0}, within(1)));
}

TEST(Compare, BitwiseOverridesTheBound) {
    EXPECT_TRUE(passes(real(1 + 0x1p-26L), {1, 0}, override_of(bitwise)));
    EXPECT_FALSE(passes(real(1), {1 + 0x1p-23L, 0}, override_of(bitwise)));
    EXPECT_FALSE(passes(real(0), {-0.0L, 0}, override_of(bitwise)));
}

TEST(Compare, AbsoluteAndRelativeOverride) {
    const Tolerance tolerance{.mode = Tolerance::Mode::absolute_relative, .rtol = 0.01, .atol = 0.5};
    EXPECT_TRUE(passes(real(100), {101.5L, 0}, override_of(tolerance)));
    EXPECT_FALSE(passes(real(100), {101.6L, 0}, override_of(tolerance)));
    EXPECT_TRUE(passes(real(-100), {-101.5L, 0}, override_of(tolerance)));
    EXPECT_TRUE(passes(Term{.re = 60, .im = 80}, {60.9L, 81.2L}, override_of(tolerance, DType::complex64)));
    EXPECT_FALSE(passes(Term{.re = 60, .im = 80}, {60.91L, 81.22L}, override_of(tolerance, DType::complex64)));
    EXPECT_NEAR(static_cast<double>(compare(real(100), {100.75L, 0}, override_of(tolerance)).used), 0.5, 1e-12);
}

TEST(Compare, ZeroToleranceLetsTheRoundedReferencePassAlone) {
    const Tolerance none{.mode = Tolerance::Mode::absolute_relative, .rtol = 0, .atol = 0};
    EXPECT_TRUE(passes(real(1.0L / 3), {1.0F / 3, 0}, override_of(none)));
    EXPECT_FALSE(passes(real(1.0L / 3), {std::nextafter(1.0F / 3, 1.0F), 0}, override_of(none)));
    Criterion zero = within(0x1p-24);
    zero.bound.c = 0;
    EXPECT_TRUE(passes(real(1.0L / 3), {1.0F / 3, 0}, zero));
    EXPECT_FALSE(passes(real(1.0L / 3), {std::nextafter(1.0F / 3, 1.0F), 0}, zero));
}

TEST(Compare, CorrectlyRoundedIsNoError) {
    const Comparison got = compare(real(1.0L / 3), {1.0F / 3, 0}, within(0x1p-24));
    EXPECT_EQ(got.error, 0);
    EXPECT_EQ(got.used, 0);
    EXPECT_TRUE(got.equal);
}

TEST(Ulps, CountTheNumbersBetween) {
    EXPECT_EQ(ulps(1, 1 + 0x1p-23L, DType::float32), 1);
    EXPECT_EQ(ulps(1, 1 - 0x1p-24L, DType::float32), 1);
    EXPECT_EQ(ulps(0x1p-149L, -0x1p-149L, DType::float32), 2);
    EXPECT_EQ(ulps(0, -0.0L, DType::float64), 0);
    EXPECT_EQ(ulps(1, 2, DType::float16), 1024);
    EXPECT_EQ(ulps(1, 2, DType::bfloat16), 128);
    EXPECT_EQ(ulps(1, 2, DType::complex128), 0x1p52);
    EXPECT_EQ(ulps(-5, 7, DType::int64), 12);
    EXPECT_TRUE(std::isfinite(ulps(0, 1, DType::float64)));
    EXPECT_TRUE(std::isinf(ulps(1, nan, DType::float32)));
}

TEST(Tally, WorstIsTheOneThatUsedMostOfEqualsTheLargestError) {
    const auto add = [](Tally& tally, std::int64_t index, long double error, long double used) {
        Comparison comparison;
        comparison.error = error;
        comparison.used = used;
        tally.add(index, {2, 0}, {1, 0}, comparison, DType::float32);
    };
    Tally first, second;
    add(first, 0, 0, 0);
    EXPECT_FALSE(first.worst);
    add(first, 1, 3, 0.5L);
    add(first, 2, 9, 0.25L);
    add(second, 5, 4, 0.5L);
    add(second, 6, 4, 0.5L);
    EXPECT_EQ(first.worst->index, 1);
    first.merge(second);
    EXPECT_EQ(first.worst->index, 5);
    EXPECT_EQ(first.checked, 5);
    EXPECT_EQ(first.max_abs, 9);
    EXPECT_EQ(first.used, 0.5L);
    EXPECT_EQ(first.failed, 0);
}

}  // namespace gridstride::validation
