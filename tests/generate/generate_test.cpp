// SPDX-License-Identifier: BSD-3-Clause
// Generated inputs: pinned bits, distributions, definitions, structure, refusals.
#include "io/generate.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "io/generate_math.hpp"

namespace gridstride::generate {

namespace {

config::Generate kind(std::string name) {
    config::Generate generate;
    generate.kind = std::move(name);
    return generate;
}

std::vector<double> values(const config::Generate& generate, const Shape& shape, std::uint64_t seed = 7) {
    const Tensor tensor = make(generate, shape, DType::float64, seed);
    return {tensor.as<double>(), tensor.as<double>() + tensor.spec().size()};
}

/// The message of the Error that making throws, after a check of its category and place.
std::string refusal(const config::Generate& generate, const Shape& shape, DType dtype, std::string_view where) {
    try {
        make(generate, shape, dtype, 0);
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::config);
        EXPECT_EQ(error.where(), where);
        EXPECT_EQ(refuses(generate, shape, dtype), error.what());
        return error.what();
    }
    ADD_FAILURE() << generate.kind << " was made";
    return {};
}

TEST(Arithmetic, BitsAreSplitMix64s) {  // the published sequence of seed 1234567
    EXPECT_EQ(bits_at(1234567, 0), 6457827717110365317U);
    EXPECT_EQ(bits_at(1234567, 1), 3203168211198807973U);
    EXPECT_EQ(bits_at(1234567, 2), 9817491932198370423U);
}

TEST(Arithmetic, LogAgreesWithTheLibrary) {
    double worst = 0;
    for (int i = 0; i < 200'000; ++i) {
        const double x = std::ldexp(0.5 + 0.5 * uniform(bits_at(1, static_cast<std::uint64_t>(i))), i % 2000 - 1000);
        const double expected = std::log(x);
        worst = std::max(worst, std::abs(log(x) - expected) / std::max(std::abs(expected), 0x1p-1000));
    }
    EXPECT_LT(worst, 0x1p-51);
    EXPECT_EQ(log(1.0), 0);
    EXPECT_EQ(log(2.0), std::numbers::ln2);
    for (const double x : {1 - 0x1p-53, 1 + 0x1p-52, 1 - 0x1p-30, 1 + 0x1p-30})  // where log loses what 1 - x held
        EXPECT_NEAR(log(x) / std::log(x), 1, 0x1p-51);
}

TEST(Arithmetic, SineAgreesWithTheLibrary) {
    for (int i = -100'000; i <= 100'000; ++i) {
        const double cycles = i / 40'000.0;
        EXPECT_NEAR(sin_cycles(cycles), static_cast<double>(std::sin(2 * std::numbers::pi_v<long double> * cycles)),
                    1e-15);
    }
    EXPECT_EQ(sin_cycles(0.25), 1);
    EXPECT_EQ(sin_cycles(123456789.75), -1);
    EXPECT_EQ(sin_cycles(0.5), 0);
}

TEST(Generate, FirstValuesArePinned) {
    // Worked out from the published methods in another language, to the last bit.
    EXPECT_EQ(values(kind("uniform"), {3}),
              (std::vector{0x1.e67b8d7aabff5p-1, 0x1.c26654fb68258p-1, 0x1.cd5e129eed126p-1}));
    EXPECT_EQ(values(kind("integers"), {2, 4}), (std::vector<double>{8, 6, 7, -7, 4, -6, -5, 3}));
    EXPECT_EQ(values(kind("normal"), {4}),
              (std::vector{-0x1.2cd280334a0afp-1, -0x1.710b591e57624p+1, -0x1.022a786ee22abp+0, 0x1.a6f50df5fa881p+0}));
}

TEST(Generate, SeedOfAnInputIsFnv1a) {
    EXPECT_EQ(seed_of("layer1", "mu"), 0x27bddb24eba027d4U);
}

TEST(Generate, UniformHasItsMoments) {
    constexpr std::int64_t n = 1'000'000;
    const std::vector<double> x = values(kind("uniform"), {n});
    double sum = 0, squares = 0, lagged = 0, low = 1, high = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += x[i];
        squares += (x[i] - 0.5) * (x[i] - 0.5);
        if (i > 0) lagged += (x[i] - 0.5) * (x[i - 1] - 0.5);
        low = std::min(low, x[i]);
        high = std::max(high, x[i]);
    }
    EXPECT_NEAR(sum / n, 0.5, 5 * 0.2887 / 1000);           // 5 standard deviations of the mean
    EXPECT_NEAR(squares / n, 1.0 / 12, 5 * 0.0745 / 1000);  // var((x - 1/2)^2) = 1/180
    EXPECT_NEAR(lagged / n, 0, 5.0 / 12 / 1000);            // neighbours do not know of each other
    EXPECT_GE(low, 0);
    EXPECT_LT(low, 2e-5);
    EXPECT_LT(high, 1);
    EXPECT_GT(high, 1 - 2e-5);
}

TEST(Generate, NormalHasItsMoments) {
    constexpr std::int64_t n = 1'000'000;
    const std::vector<double> x = values(kind("normal"), {1000, 1000});
    double moments[5] = {}, within = 0, lagged = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (int k = 1; k <= 4; ++k) moments[k] += std::pow(x[i], k) / n;
        within += std::abs(x[i]) < 1.0 ? 1.0 / n : 0;
        if (i > 0) lagged += x[i] * x[i - 1] / n;
    }
    EXPECT_NEAR(moments[1], 0, 5 * 1.0 / 1000);
    EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2.0) / 1000);   // var(x^2) = 2
    EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15.0) / 1000);  // var(x^3) = 15
    EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96.0) / 1000);  // var(x^4) = 96
    EXPECT_NEAR(within, std::erf(std::sqrt(0.5)), 5 * 0.466 / 1000);
    EXPECT_NEAR(lagged, 0, 5 * 1.0 / 1000);
}

TEST(Generate, IntegersAreEvenlySpreadFromMinus8To8) {
    constexpr std::int64_t n = 170'000;
    const Tensor made = make(kind("integers"), {n}, DType::int32, 3);
    int counts[17] = {};
    for (std::int64_t i = 0; i < n; ++i) ++counts[made.as<std::int32_t>()[i] + 8];
    double chi_squared = 0;
    for (const int seen : counts) chi_squared += (seen - 10'000.0) * (seen - 10'000.0) / 10'000;
    EXPECT_LT(chi_squared, 45);  // 16 degrees of freedom: exceeded once in 7000
    EXPECT_GT(chi_squared, 3);   // and below once in 7000
}

TEST(Generate, PartsOfComplexValuesAreIndependent) {
    const Tensor made = make(kind("normal"), {3, 50'001}, DType::complex128, 7);
    const std::vector<double> alone = values(kind("normal"), {3, 50'001});
    double product = 0, squares = 0;
    for (std::int64_t i = 0; i < 150'003; ++i) {
        const complex128 z = made.as<complex128>()[i];
        ASSERT_EQ(z.real(), alone[static_cast<std::size_t>(i)]);  // the real part is the real tensor
        product += z.real() * z.imag();
        squares += z.imag() * z.imag();
    }
    EXPECT_NEAR(product / 150'003, 0, 5 / std::sqrt(150'003.0));
    EXPECT_NEAR(squares / 150'003, 1, 5 * std::sqrt(2 / 150'003.0));
    const Tensor linear = make(kind("linear"), {5}, DType::complex64, 7);
    EXPECT_EQ(linear.as<complex64>()[3], complex64(3, 0));
}

TEST(Generate, PlainKindsAreWhatTheySay) {
    EXPECT_EQ(values(kind("linear"), {2, 3}), (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(values(kind("impulse"), {2, 2}), (std::vector<double>{1, 0, 0, 0}));
    EXPECT_EQ(values(kind("zeros"), {3}), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(values(kind("ones"), {}), (std::vector<double>{1}));
    EXPECT_TRUE(values(kind("normal"), {3, 0, 5}).empty());
}

TEST(Generate, ChirpRunsFromF0ToF1AlongTheLastAxis) {
    config::Generate chirp = kind("chirp");
    chirp.f0 = 0.01, chirp.f1 = 0.2;
    const std::vector<double> x = values(chirp, {2, 301});
    for (std::size_t t = 0; t < 301; ++t) {
        const auto n = static_cast<double>(t);
        const double cycles = (0.01 + (0.2 - 0.01) / (2 * 301.0) * n) * n;
        EXPECT_NEAR(x[t], std::sin(2 * std::numbers::pi * (cycles - std::floor(cycles))), 2e-15);
        EXPECT_EQ(x[301 + t], x[t]);
    }
}

TEST(Generate, ChirpOfOneFrequencyIsExactWhereItCanBe) {
    config::Generate chirp = kind("chirp");
    chirp.f0 = chirp.f1 = 0.25;
    EXPECT_EQ(values(chirp, {5}), (std::vector<double>{0, 1, 0, -1, 0}));
}

TEST(Generate, WalkIsTheRunningSumOfNormal) {
    const std::vector<double> steps = values(kind("normal"), {3, 5001}), walk = values(kind("walk"), {3, 5001});
    for (std::size_t row = 0; row < 3; ++row) {
        double sum = 0;
        for (std::size_t t = row * 5001; t < (row + 1) * 5001; ++t) {
            sum += steps[t];
            ASSERT_EQ(walk[t], sum) << t;
        }
    }
}

TEST(Generate, BlobsAreSmoothAndDifferFromImageToImage) {
    const std::vector<double> x = values(kind("blobs"), {2, 40, 61});
    double step = 0, low = x[0], high = x[0], apart = 0;
    for (std::size_t image = 0; image < 2; ++image)
        for (std::size_t row = 0; row < 40; ++row)
            for (std::size_t column = 0; column < 61; ++column) {
                const std::size_t at = (image * 40 + row) * 61 + column;
                if (column > 0) step = std::max(step, std::abs(x[at] - x[at - 1]));
                if (row > 0) step = std::max(step, std::abs(x[at] - x[at - 61]));
                low = std::min(low, x[at]);
                high = std::max(high, x[at]);
                if (image == 1) apart = std::max(apart, std::abs(x[at] - x[at - 40 * 61]));
            }
    EXPECT_GT(low, 0);
    EXPECT_LT(step, 0.35 * (high - low));  // the steepest bump has a width of 3 pixels
    EXPECT_GT(apart, 0.1 * high);
}

TEST(Generate, CovarianceIsSymmetricOfItsRankAndPositive) {
    config::Generate covariance = kind("covariance");
    covariance.rank = 3, covariance.pairs = 2;
    constexpr std::size_t m = 15;
    const std::vector<double> x = values(covariance, {2, 3, 5, 3, 5});
    for (std::size_t batch = 0; batch < 2; ++batch) {
        std::vector<double> a(x.begin() + static_cast<std::ptrdiff_t>(batch * m * m),
                              x.begin() + static_cast<std::ptrdiff_t>((batch + 1) * m * m));
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < m; ++j) ASSERT_EQ(a[i * m + j], a[j * m + i]);
        // Cholesky with diagonal pivots: exactly `rank` positive pivots, then nothing is left, nothing is negative.
        for (std::size_t step = 0; step < m; ++step) {
            std::size_t pivot = 0;
            for (std::size_t i = 0; i < m; ++i)
                if (a[i * m + i] > a[pivot * m + pivot]) pivot = i;
            const double d = a[pivot * m + pivot];
            if (step >= 3) {
                EXPECT_LT(d, 1e-13);
                for (std::size_t i = 0; i < m; ++i) EXPECT_GT(a[i * m + i], -1e-13);
                break;
            }
            ASSERT_GT(d, 1e-6);
            const std::vector<double> row(a.begin() + static_cast<std::ptrdiff_t>(pivot * m),
                                          a.begin() + static_cast<std::ptrdiff_t>((pivot + 1) * m));
            for (std::size_t i = 0; i < m; ++i)
                for (std::size_t j = 0; j < m; ++j) a[i * m + j] -= row[i] * row[j] / d;
        }
    }
    EXPECT_NE(x[0], x[m * m]);  // batches have values of their own
}

TEST(Generate, CovarianceDividesByItsRank) {
    config::Generate covariance = kind("covariance");
    covariance.rank = 4000;
    const std::vector<double> x = values(covariance, {3, 3});
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(x[i], i % 4 == 0 ? 1 : 0, 5 * std::sqrt(2.0 / 4000));
}

TEST(Generate, ScalesAndAddsBeforeRoundingOnce) {
    config::Generate sum = kind("ones"), tiny = kind("ones"), noise = kind("normal");
    sum.scale = 2048;
    tiny.scale = 1;  // 2049 is no float16; 2048 + 1 + 1 must not be rounded in between
    noise.scale = 0.5, noise.seed = 11;
    sum.plus = {tiny, tiny};
    const Tensor made = make(sum, {3}, DType::float16, 0);
    EXPECT_EQ(static_cast<float>(made.as<float16>()[2]), 2050.0F);

    config::Generate shifted = kind("linear");
    shifted.plus = {noise};
    const std::vector<double> x = values(shifted, {1000}), bell = values(kind("normal"), {1000}, 11);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], static_cast<double>(i) + 0.5 * bell[i]);
}

TEST(Generate, AddendsWithoutASeedHaveValuesOfTheirOwn) {
    config::Generate sum = kind("normal");
    sum.plus = {kind("normal"), kind("normal")};
    const std::vector<double> x = values(sum, {20'000});
    double squares = 0;
    for (const double one : x) squares += one * one;
    EXPECT_NEAR(squares / 20'000, 3, 5 * 3 * std::sqrt(2.0 / 20'000));  // 9 were they all the same
}

TEST(Generate, AGivenSeedWins) {
    config::Generate seeded = kind("uniform");
    seeded.seed = 99;
    EXPECT_EQ(values(seeded, {4}, 1), values(kind("uniform"), {4}, 99));
    EXPECT_NE(values(kind("uniform"), {4}, 98), values(kind("uniform"), {4}, 99));
}

TEST(Generate, IsTheSameOnAnyNumberOfThreads) {
    const int before = omp_get_max_threads();
    config::Generate all = kind("walk");
    all.plus = {kind("normal"), kind("blobs"), kind("chirp")};
    omp_set_num_threads(1);
    const std::vector<double> one = values(all, {7, 11, 1301});
    omp_set_num_threads(3);
    const std::vector<double> three = values(all, {7, 11, 1301});
    omp_set_num_threads(before);
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(double)), 0);
}

TEST(Generate, RoundsFloat64Once) {
    const std::vector<double> x = values(kind("normal"), {999});
    const Tensor single = make(kind("normal"), {999}, DType::float32, 7);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(single.as<float>()[i], static_cast<float>(x[i]));
}

TEST(Generate, RefusesWhatAKindCannotBe) {
    EXPECT_NE(refusal(kind("gaussian"), {3}, DType::float32, "generate").find("normal, uniform"), std::string::npos);
    EXPECT_NE(refusal(kind("normal"), {3}, DType::int32, "generate").find("int32"), std::string::npos);
    refusal(kind("walk"), {}, DType::float32, "shape");
    refusal(kind("blobs"), {9}, DType::float32, "shape");
    refusal(kind("covariance"), {3, 4, 3}, DType::float32, "shape");
    EXPECT_NE(refusal(kind("covariance"), {2, 3, 4, 2, 4, 3}, DType::float32, "shape").find("(2, 3, 4) and (2, 4, 3)"),
              std::string::npos);
    config::Generate pairs = kind("covariance");
    pairs.pairs = 2;
    refusal(pairs, {3, 4, 4}, DType::float32, "pairs");
    refusal(pairs, {3, 4, 4, 3}, DType::float32, "pairs");
    pairs.pairs = 1, pairs.rank = 0;
    refusal(pairs, {4, 4}, DType::float32, "rank");
    config::Generate half = kind("ones"), hertz = kind("chirp"), nested = kind("ones");
    half.scale = 0.5, hertz.f1 = 200;
    refusal(half, {4}, DType::int64, "scale");
    refusal(hertz, {4}, DType::float32, "generate");
    nested.plus = {kind("blobs")};
    refusal(nested, {4}, DType::float32, "plus");
}

TEST(Generate, NamesTheFirstValueThatDoesNotFit) {
    try {
        make(kind("linear"), {7, 10'000}, DType::float16, 0);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::input);
        EXPECT_STREQ(error.what(), "generated value 65520 at (6, 5520) does not fit float16");
    }
}

}  // namespace

}  // namespace gridstride::generate
