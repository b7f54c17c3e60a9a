// SPDX-License-Identifier: BSD-3-Clause
// The bound's formulas against numbers worked out by hand.
#include "validation/bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "validation/ops.hpp"

namespace gridstride::testing {

using validation::Bound;
using validation::criterion_of;
using validation::element_bound;

namespace {

validation::Criterion criterion(const Case& one) {
    return criterion_of(one.op, *one.variant, one.problem, one.in, one.tolerance, nullptr);
}

Case dot_case(Params params = {}, std::optional<DType> result = {}, std::int64_t k = 24) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, k}, scattered_as<float>(k)));
    inputs.push_back(tensor<float>({k}, scattered_as<float>(k, 2)));
    return {dot, std::move(inputs), std::move(params), result};
}

Case constant_case(std::int64_t k) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, k}, std::vector<float>(static_cast<std::size_t>(k), 0.1F)));
    inputs.push_back(tensor<float>({k}, std::vector<float>(static_cast<std::size_t>(k), -3.0F)));
    inputs.push_back(tensor<float>({1}, {7}));
    return {dot, std::move(inputs)};
}

}  // namespace

TEST(Bound, AccumulatedIsCTimesRoundoffTimesGrowthTimesTheSumOfTerms) {
    const Bound bound{.c = 4, .u_acc = 0x1p-24, .g = 5, .n = 25};
    const auto got = element_bound({.re = 3, .re_magnitude = 10}, bound, DType::float32, DType::float32);
    // 4 * 2^-24 * 5 * 10 = 200 * 2^-24, and 0.5 + 25 of the smallest float32
    EXPECT_EQ(got.re, 200 * 0x1p-24L + 25.5L * 0x1p-149L);
    EXPECT_EQ(got.im, 25.5L * 0x1p-149L);
}

TEST(Bound, NarrowerOutputAddsOneRoundingOfTheReference) {
    const Bound bound{.c = 4, .u_out = 0x1p-11, .u_acc = 0x1p-24, .g = 2, .n = 4};
    const auto got = element_bound({.re = -3, .re_magnitude = 10}, bound, DType::float16, DType::float32);
    EXPECT_EQ(got.re, 80 * 0x1p-24L + 3 * 0x1p-11L + 0x1p-25L + 4 * 0x1p-149L);
}

TEST(Bound, ComplexByParts) {
    const Bound bound{.c = 1, .u_acc = 0x1p-53, .g = 3, .n = 9};
    const auto got = element_bound({.re = 1, .im = 2, .re_magnitude = 16, .im_magnitude = 32}, bound, DType::complex128,
                                   DType::complex128);
    EXPECT_EQ(got.re, 48 * 0x1p-53L + 9.5L * 0x1p-1074L);
    EXPECT_EQ(got.im, 96 * 0x1p-53L + 9.5L * 0x1p-1074L);
}

TEST(Bound, FactorScalesTheAccumulatorsSubnormals) {
    const Bound bound{.c = 4, .u_acc = 0x1p-24, .g = 1, .n = 3};
    const auto got = element_bound({.factor = 1000}, bound, DType::float32, DType::float32);
    EXPECT_EQ(got.re, 3000.5L * 0x1p-149L);
}

TEST(Bound, OneSignedTermsTakeTheLargerGrowth) {
    const Bound bound{.c = 4, .u_acc = 0x1p-24, .g = 10, .n = 100, .g_one_signed = 25};
    const auto mixed = element_bound({.re = 3, .re_magnitude = 8}, bound, DType::float32, DType::float32);
    const auto positive = element_bound({.re = 8, .re_magnitude = 8}, bound, DType::float32, DType::float32);
    const auto negative = element_bound({.re = -8, .re_magnitude = 8}, bound, DType::float32, DType::float32);
    EXPECT_EQ(mixed.re, 320 * 0x1p-24L + 100.5L * 0x1p-149L);
    EXPECT_EQ(positive.re, 800 * 0x1p-24L + 100.5L * 0x1p-149L);
    EXPECT_EQ(negative.re, positive.re);
}

TEST(Bound, Tf32RoundsTheInputs) {
    Params params;
    params.set("compute", Value("tf32"));
    const auto got = criterion(dot_case(params));
    EXPECT_EQ(got.bound.u_in, 0x1p-9);
    EXPECT_EQ(got.bound.u_acc, 0x1p-24);
    EXPECT_EQ(got.bound.formula, "4 u_acc g(n) sum|terms| + 2^-9 sum|terms|");
    const auto element = element_bound({.re_magnitude = 1024}, got.bound, got.output, got.accumulator);
    EXPECT_NEAR(static_cast<double>(element.re), 2.0 + 4096 * 5 * 0x1p-24, 1e-12);  // g(25) = 5
}

TEST(Bound, ComputeFloat64WidensTheAccumulator) {
    Params params;
    params.set("compute", Value("float64"));
    const auto got = criterion(dot_case(params));
    EXPECT_EQ(got.accumulator, DType::float64);
    EXPECT_EQ(got.bound.u_acc, 0x1p-53);
    EXPECT_EQ(got.bound.u_out, 0x1p-24);
    EXPECT_EQ(got.bound.formula, "4 u_acc g(n) sum|terms| + u_out |ref|");
}

TEST(Bound, OutputCountsOnlyWhereItIsRounded) {
    EXPECT_EQ(criterion(dot_case()).bound.u_out, 0);
    EXPECT_EQ(criterion(dot_case({}, DType::bfloat16)).bound.u_out, 0x1p-8);
    const auto wide = criterion(dot_case({}, DType::float64));
    EXPECT_EQ(wide.bound.u_out, 0);
    EXPECT_EQ(wide.bound.u_acc, 0x1p-53);
}

TEST(Bound, FactorOfTheToleranceIsC) {
    Case one = dot_case();
    one.tolerance.factor = 9;
    EXPECT_EQ(criterion(one).bound.c, 9);
    EXPECT_EQ(criterion(one).bound.n, 25);
    EXPECT_EQ(criterion(one).bound.g, 5);
}

TEST(Bound, ConstantInputsDriftInOneAccumulatorAlone) {
    Case one = constant_case(399);
    EXPECT_EQ(criterion(one).bound.g, 20);
    EXPECT_EQ(criterion(one).bound.g_one_signed, 100);
    one.variant = &tree;
    EXPECT_EQ(criterion(one).bound.g_one_signed, 0);
    one.variant = &silent;  // as one accumulator
    EXPECT_EQ(criterion(one).bound.g, 20);
    EXPECT_EQ(criterion(one).bound.g_one_signed, 100);
    EXPECT_EQ(criterion(constant_case(8)).bound.g_one_signed, 0);  // 9/4 < 3
    EXPECT_EQ(criterion(dot_case({}, {}, 399)).bound.g_one_signed, 0);
}

TEST(Bound, LongSumsDrift) {
    EXPECT_EQ(criterion(dot_case({}, {}, 65535)).bound.g_one_signed, 0);
    EXPECT_EQ(criterion(dot_case({}, {}, 65536)).bound.g_one_signed, 65537 / 4.0);
}

TEST(Bound, RoundedHasNoNumbers) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float16>({2}, {float16(1), float16(2)}));
    inputs.push_back(tensor<float16>({2}, {float16(3), float16(4)}));
    const auto got = criterion({plus, std::move(inputs)});
    EXPECT_EQ(got.bound.formula, "the exact value, rounded to float16");
    EXPECT_EQ(got.bound.u_acc, 0);
}

TEST(Bound, FastTransformsGrowWithTheLogarithm) {
    EXPECT_EQ(validation::fast_transform_growth(1), 1);
    EXPECT_EQ(validation::fast_transform_growth(2), 1);
    EXPECT_EQ(validation::fast_transform_growth(65536), 4);
    EXPECT_DOUBLE_EQ(validation::fast_transform_growth(13), std::sqrt(std::log2(13.0)));
    EXPECT_DOUBLE_EQ(validation::fast_transform_growth(34), 2 * std::sqrt(std::log2(34.0)));
    EXPECT_DOUBLE_EQ(validation::fast_transform_growth(289), 2 * std::sqrt(std::log2(289.0)));
}

TEST(Bound, TheFirstNumberThatRoundsToInf) {
    EXPECT_EQ(validation::first_infinite(DType::float16), 65520);  // halfway from 65504 to 65536
    EXPECT_EQ(validation::first_infinite(DType::bfloat16), 0x1.ffp127L);
    EXPECT_EQ(validation::first_infinite(DType::complex64), 0x1.ffffffp127L);
    EXPECT_EQ(validation::first_infinite(DType::float64), 0x1.fffffffffffff8p1023L);
}

}  // namespace gridstride::testing
