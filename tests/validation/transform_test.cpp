// SPDX-License-Identifier: BSD-3-Clause
// Transforms, judged by norms: whole and sampled.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "validation/ops.hpp"

namespace gridstride::testing {

namespace {

Case spectrum_case(Shape shape, const std::vector<float>& values, bool squared = false,
                   std::optional<DType> result = {}) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>(std::move(shape), values));
    Params params;
    params.set("squared", Value(squared));
    return {spectrum, std::move(inputs), params, result};
}

Case scattered_case(std::int64_t rows, std::int64_t n, bool squared = false) {
    return spectrum_case({rows, n}, scattered_as<float>(rows * n), squared);
}

/// cos(2 pi 5 j / n): bins 5 and n - 5 are n / 2, all others about 0.
Case tone_case(std::int64_t n) {
    std::vector<float> values;
    for (std::int64_t j = 0; j < n; ++j)
        values.push_back(
            static_cast<float>(std::cos(2 * std::numbers::pi * 5 * static_cast<double>(j) / static_cast<double>(n))));
    return spectrum_case({1, n}, values);
}

Validate few(std::int64_t n) {  // about 16 places
    return {.terms = static_cast<double>(n)};
}

}  // namespace

TEST(Transform, TheRightAnswerPasses) {
    const Judgement got = scattered_case(3, 17).judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_EQ(got.checked, 51);
    EXPECT_EQ(got.tolerance_used, 0);
    EXPECT_EQ(got.bound.n, 17);
    EXPECT_EQ(got.bound.formula, "L2 of a transform, relative: 4 u_acc g(N)");
}

TEST(Transform, APureTonePassesThoughItsEmptyBinsAreOffManyTimesOver) {  // BR038
    Case one = tone_case(64);
    for (int k = 0; k < 64; ++k)
        if (k != 5 && k != 59) one.values<complex64>()[k] += complex64(1e-6F, -1e-6F);
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_GT(got.tolerance_used, 0.01);
    EXPECT_TRUE(std::isfinite(got.rel_l2));
    EXPECT_NEAR(got.max_abs, std::sqrt(2.0) * 1e-6, 1e-8);
}

TEST(Transform, ErrorOverTheBoundOfTheNorm) {
    // An impulse of 1: all 16 bins are 1, the norm is 4. silent: g is sqrt(log2 16) = 2, the bound 8 u.
    std::vector<float> impulse(16, 0);
    impulse[0] = 1;
    Case one = spectrum_case({1, 16}, impulse);
    one.variant = &silent;
    one.values<complex64>()[3] += complex64(0, 16 * 0x1p-24F);  // relative L2: 16 u / 4 = 4 u
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_NEAR(got.tolerance_used, 0.5, 1e-6);
    EXPECT_NEAR(got.rel_l2, 4 * 0x1p-24, 1e-12);
    EXPECT_EQ(got.worst->index, 3);
    one.values<complex64>()[3] += complex64(0, 17 * 0x1p-24F);
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    EXPECT_EQ(one.judge().failed, 1);
}

TEST(Transform, EachTransformIsJudgedByItsOwnNorm) {
    std::vector<float> values(32, 0);
    values[0] = 1e6F;  // a loud one before a quiet one
    values[16] = 1;
    Case one = spectrum_case({2, 16}, values);
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    one.values<complex64>()[20] += 1e-3F;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 20);
    EXPECT_EQ(got.failed, 1);
}

TEST(Transform, ZeroInputWantsExactZeros) {
    Case one = spectrum_case({2, 4}, {0, 0, 0, 0, 1, 2, 3, 4});
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    one.values<complex64>()[2] = complex64(0, 1e-45F);
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    one.asked = few(4);
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Transform, NanFailsWholeAndSampled) {
    for (const bool sampled : {false, true}) {
        Case one = scattered_case(2, 50);
        if (sampled) one.asked = few(50);
        EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
        one.values<complex64>()[61] = complex64(1, nan);
        const Judgement got = one.judge();
        EXPECT_EQ(got.verdict, Verdict::mismatch);
        EXPECT_EQ(got.worst->index, 61);
        EXPECT_FALSE(std::isnan(got.tolerance_used) || std::isnan(got.rel_l2));
        EXPECT_NE(got.reason.find("1 elements NaN, first at (1, 11)"), std::string::npos) << got.reason;
    }
}

TEST(Transform, NonFiniteInputWantsNonFiniteOutputsOfThatTransformAlone) {
    for (const bool sampled : {false, true}) {
        std::vector<float> values = scattered_as<float>(100);
        values[7] = inf;
        Case one = spectrum_case({2, 50}, values);
        if (sampled) one.asked = few(50);
        EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
        for (int k = 0; k < 50; ++k) one.values<complex64>()[k] = complex64(inf, 3);
        EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
        one.values<complex64>()[0] = complex64(1, 3);
        EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    }
}

TEST(Transform, OverflowWhereTheSumOfMagnitudesIsBeyondTheAccumulator) {
    Case one = spectrum_case({1, 4}, {3e38F, -3e38F, 3e38F, -3e38F});
    one.values<complex64>()[1] = complex64(nan, inf);
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "overflow: 1 of the judged results"));
    Case quiet = spectrum_case({1, 4}, {1, 2, 3, 4});
    quiet.values<complex64>()[1] = complex64(nan, inf);
    EXPECT_EQ(quiet.judge().verdict, Verdict::mismatch);
}

TEST(Transform, PowerIsJudgedByItsSquareRoots) {
    Case one = scattered_case(2, 16, true);
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    EXPECT_EQ(one.judge().bound.u_out, 0x1p-24);
    for (int k = 0; k < 32; ++k) one.values<float>()[k] *= 1 + 0x1p-22F;  // amplitudes off by 2 u, of a bound of 17 u
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    EXPECT_NEAR(one.judge().tolerance_used, 2.0 / 17, 0.03);
    one.values<float>()[9] = -1e-3F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    EXPECT_EQ(one.judge().worst->index, 9);
}

TEST(Transform, PowerBeyondTheOutputTypeIsInf) {
    Case one = spectrum_case({1, 4}, {3e19F, 1e19F, 2e19F, 3e18F}, true);  // |X_0|^2 is 4e39
    EXPECT_TRUE(std::isinf(one.values<float>()[0]));
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.values<float>()[0] = 1e38F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Transform, SampledBinsAreHeldToTheNorm) {
    Case one = scattered_case(1, 400);
    one.asked = few(400);
    const Judgement right = one.judge();
    EXPECT_EQ(right.verdict, Verdict::pass) << right.reason;
    EXPECT_LE(right.checked, 17);
    one.values<complex64>()[399] += 1;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 399);
}

TEST(Transform, NineInTenSampledBinsAreHeldToTheirShareOfTheNorm) {
    // Norm about 230, each bin's share about 12: an error of 2.5e-3 in each is within the bound (4.8e-6 g) of the whole
    // norm, far outside that of a share.
    Case one = scattered_case(1, 400);
    one.asked = few(400);
    for (int k = 0; k < 400; ++k) one.values<complex64>()[k] += 9e-4F;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_NE(got.reason.find("nine in ten"), std::string::npos) << got.reason;
    EXPECT_GT(got.tolerance_used, 1);
    Case rare = scattered_case(1, 400);
    rare.asked = few(400);
    rare.values<complex64>()[399] += 9e-4F;  // one in sixteen may be
    EXPECT_EQ(rare.judge().verdict, Verdict::pass) << rare.judge().reason;
}

TEST(Transform, AWrongFactorIsFoundBySampling) {
    Case one = scattered_case(3, 400);
    one.asked = few(400);
    for (int k = 0; k < 1200; ++k) one.values<complex64>()[k] *= 1.0001F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Transform, ASampledToneIsJudgedAtItsPeak) {
    Case one = tone_case(801);
    one.asked = few(801);
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    for (int k = 0; k < 801; ++k) one.values<complex64>()[k] *= 1.001F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Transform, OverridesJudgeElementByElement) {
    Case one = scattered_case(1, 40);
    one.tolerance = {.mode = Tolerance::Mode::absolute_relative, .rtol = 0, .atol = 1e-3};
    one.values<complex64>()[3] += 5e-4F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    EXPECT_TRUE(one.judge().loose);
    one.values<complex64>()[3] += 6e-4F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Transform, AnImpulseAtZeroIsConstantAndOnlyNoted) {
    std::vector<float> impulse(16, 0);
    impulse[0] = 1;
    const Judgement got = spectrum_case({1, 16}, impulse).judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "rolled by one would be right"));
}

TEST(Transform, WholeSpectraOfTheLongDoubleLibraryServeWhereTheDefinitionCostsTooMuch) {
    // 2 x 20 000 outputs of 20 000 terms are more than 2e8. The definition is never called here but for `fftw`.
    static int definitions, spectra;
    definitions = spectra = 0;
    Op op = spectrum;
    op.reference = [](const Problem&, std::span<const Slab>) -> Reference {
        return [](std::int64_t index) {
#pragma omp atomic
            ++definitions;
            return Term{.re = static_cast<long double>(index % 20'000)};
        };
    };
    op.transforms = [](const Problem& problem, std::span<const Slab> in) {
        auto result = spectrum.transforms(problem, in);
        result->all = [](std::int64_t) {
            ++spectra;
            std::vector<std::complex<long double>> all;
            for (int k = 0; k < 20'000; ++k) all.emplace_back(k);
            return all;
        };
        result->library = "fftw";
        return result;
    };
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({2, 20'000}, scattered_as<float>(40'000)));
    Params params;
    params.set("squared", Value(false));
    Case one(op, std::move(inputs), params);
    definitions = 0;
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    EXPECT_EQ(one.judge().checked, 40'000);
    EXPECT_EQ(definitions, 0);
    EXPECT_GT(spectra, 0);
    Variant fftw = root;
    fftw.name = "fftw";
    one.variant = &fftw;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    EXPECT_EQ(definitions, 4096);
    one.values<complex64>()[20'007] += 100;  // of a norm of 1.6e6
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

}  // namespace gridstride::testing
