// SPDX-License-Identifier: BSD-3-Clause
// convcov on the CPU: values worked out by hand or by the direct loops below, every form and geometry, what it refuses,
// how it is cut. Shapes are non-square and gammas non-symmetric wherever the point is not symmetry.
#include "convcov/convcov.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/rows.hpp"
#include "support/run.hpp"

namespace gridstride {
namespace {

using support::Ask;
using support::bits;
using support::generate;
using support::In;
using support::Inputs;
using support::make;
using support::message_of;
using support::params;
using support::values;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using Vector = std::vector<double>;

/// Fixed pseudo-random numbers in [-1, 1), multiples of 2^-20 (exact in float32).
Vector random_values(std::int64_t n, unsigned seed) {
    std::mt19937 engine(seed);
    Vector result(static_cast<std::size_t>(n));
    for (double& value : result) value = static_cast<double>(engine() >> 11) * 0x1p-20 - 1;
    return result;
}

template <class T>
Tensor tensor(Shape shape, const Vector& numbers) {
    return generate<T>(std::move(shape), [&](std::int64_t i) { return numbers[static_cast<std::size_t>(i)]; });
}

template <class T>
Tensor random_tensor(Shape shape, unsigned seed) {
    const Vector numbers = random_values(count(shape), seed);
    return tensor<T>(std::move(shape), numbers);
}

Vector doubles(const Tensor& tensor) {
    Vector result;
    for (std::int64_t i = 0; i < tensor.spec().size(); ++i)
        result.push_back(static_cast<double>(real_part(tensor.slab(), i)));
    return result;
}

Tensor run(const Inputs& in, const Ask& ask) {
    return support::run("convcov", "factored", in, ask);
}

/// factored, or loop where that refuses.
const Variant& variant_for(const Problem& problem) {
    const Variant& factored = *find(support::entry("convcov"), "factored", Device::cpu);
    return factored.refuses(problem).empty() ? factored : *find(support::entry("convcov"), "loop", Device::cpu);
}

const Tensor& one() {
    static const Tensor tensor = make<double>({}, {1});
    return tensor;
}

/// gamma absent, coef 1, one output channel.
Tensor of_mean(const Tensor& mu, std::initializer_list<std::pair<std::string_view, Value>> given) {
    Ask ask{.params = params(given)};
    ask.params.set("channels", std::int64_t{1});
    return run({std::nullopt, mu, one()}, ask);
}

// --- The definition, as plain loops over every output and tap -------------------------------------------------------

struct Direct {
    std::int64_t b, c, h, w, kh, kw;
    std::int64_t sh = 1, sw = 1, dh = 1, dw = 1, top = 0, bottom = 0, left = 0, right = 0;

    std::int64_t ho() const { return (h + top + bottom - dh * (kh - 1) - 1) / sh + 1; }
    std::int64_t wo() const { return (w + left + right - dw * (kw - 1) - 1) / sw + 1; }
    Shape full_gamma() const { return {b, c, h, w, c, h, w}; }
    Shape diagonal_gamma() const { return {b, c, h, w, h, w}; }
    Shape map() const { return {b, c, h, w}; }
    Params parameters() const {
        return params({{"kernel", Values{kh, kw}},
                       {"stride", Values{sh, sw}},
                       {"dilation", Values{dh, dw}},
                       {"padding", Values{top, bottom, left, right}}});
    }

    /// R (B, Ho, Wo, Ho, Wo); gamma in the full layout, or empty.
    Vector window_sums(const Vector& gamma, const Vector& mu) const {
        Vector result;
        const auto mean = [&](std::int64_t n, std::int64_t k, std::int64_t r, std::int64_t q) {
            return mu[static_cast<std::size_t>(((n * c + k) * h + r) * w + q)];
        };
        for (std::int64_t n = 0; n < b; ++n)
            for (std::int64_t i = 0; i < ho(); ++i)
                for (std::int64_t j = 0; j < wo(); ++j)
                    for (std::int64_t i2 = 0; i2 < ho(); ++i2)
                        for (std::int64_t j2 = 0; j2 < wo(); ++j2) {
                            double sum = 0;
                            for (std::int64_t k = 0; k < c; ++k)
                                for (std::int64_t u = 0; u < kh; ++u)
                                    for (std::int64_t v = 0; v < kw; ++v) {
                                        const std::int64_t r = i * sh + u * dh - top, q = j * sw + v * dw - left;
                                        const std::int64_t r2 = i2 * sh + u * dh - top, q2 = j2 * sw + v * dw - left;
                                        if (r < 0 || r >= h || r2 < 0 || r2 >= h) continue;
                                        if (q < 0 || q >= w || q2 < 0 || q2 >= w) continue;
                                        sum += mean(n, k, r, q) * mean(n, k, r2, q2);
                                        if (gamma.empty()) continue;
                                        const std::int64_t row = ((n * c + k) * h + r) * w + q;
                                        sum += gamma[static_cast<std::size_t>(((row * c + k) * h + r2) * w + q2)];
                                    }
                            result.push_back(sum);
                        }
        return result;
    }

    /// (B, O, Ho, Wo, O, Ho, Wo): before + coef R on the channel-diagonal blocks, before elsewhere.
    Vector full(const Vector& gamma, const Vector& mu, const Vector& coef, Vector before) const {
        const Vector sums = window_sums(gamma, mu);
        const std::int64_t o_count = static_cast<std::int64_t>(coef.size()), p = ho() * wo();
        for (std::int64_t n = 0; n < b; ++n)
            for (std::int64_t o = 0; o < o_count; ++o)
                for (std::int64_t x = 0; x < p; ++x)
                    for (std::int64_t y = 0; y < p; ++y)
                        before[static_cast<std::size_t>((((n * o_count + o) * p + x) * o_count + o) * p + y)] +=
                            coef[static_cast<std::size_t>(o)] * sums[static_cast<std::size_t>((n * p + x) * p + y)];
        return before;
    }
};

/// Channel-diagonal blocks (B, C, X, Y) of a full layout (B, C, X, C, Y).
Vector diagonal_blocks(const Vector& full, std::int64_t b, std::int64_t c, std::int64_t x, std::int64_t y) {
    Vector result;
    for (std::int64_t n = 0; n < b; ++n)
        for (std::int64_t k = 0; k < c; ++k)
            for (std::int64_t i = 0; i < x; ++i)
                for (std::int64_t j = 0; j < y; ++j)
                    result.push_back(full[static_cast<std::size_t>((((n * c + k) * x + i) * c + k) * y + j)]);
    return result;
}

void expect_near(const Vector& got, const Vector& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "at " << i;
}

// --- Values by hand -------------------------------------------------------------------------------------------------

TEST(Convcov, PaddingCountsTheTapsThatLieOverTheMap) {
    const Tensor mu = make<float>({1, 1, 3, 3}, std::vector<float>(9, 1));
    const Tensor variance = of_mean(mu, {{"kernel", 3}, {"padding", 1}, {"form", "variance"}});
    EXPECT_EQ(values<float>(variance), (std::vector<float>{4, 6, 4, 6, 9, 6, 4, 6, 4}));
    const Tensor cov = of_mean(mu, {{"kernel", 3}, {"padding", 1}});
    ASSERT_EQ(cov.spec().shape, (Shape{1, 1, 3, 3, 3, 3}));
    const std::vector<float> c = values<float>(cov);
    EXPECT_EQ(c[8], 1);  // (0,0) with (2,2)
    EXPECT_EQ(c[4], 4);  // (0,0) with (1,1)
    EXPECT_EQ(c[2], 2);  // (0,0) with (0,2)
    EXPECT_EQ(c[1], 4);  // (0,0) with (0,1)

    std::vector<float> around(25, 0);
    for (const std::size_t r : {1U, 2U, 3U})
        for (const std::size_t q : {1U, 2U, 3U}) around[r * 5 + q] = 1;
    EXPECT_EQ(bits(cov), bits(of_mean(make<float>({1, 1, 5, 5}, around), {{"kernel", 3}})));
}

TEST(Convcov, StrideHoldsForAKernelOfOneTap) {
    const Tensor mu = generate<float>({1, 1, 4, 4}, [](std::int64_t i) { return static_cast<float>(i); });
    EXPECT_EQ(values<float>(of_mean(mu, {{"kernel", 1}, {"stride", 2}})),
              (std::vector<float>{0, 0, 0, 0, 0, 4, 16, 20, 0, 16, 64, 80, 0, 20, 80, 100}));
}

TEST(Convcov, PaddingIsZerosNotACircle) {
    const Tensor mu = make<float>({1, 1, 1, 4}, {1, 2, 3, 4});
    EXPECT_EQ(values<float>(of_mean(mu, {{"kernel", Values{1, 3}}, {"padding", Values{0, 1}}})),
              (std::vector<float>{5, 8, 11, 4, 8, 14, 20, 11, 11, 20, 29, 18, 4, 11, 18, 25}));
}

TEST(Convcov, ASecondGeometryOfAsManyElementsIsItsOwn) {
    const auto check = [](Shape shape, double first, double last, double trace) {
        const Tensor mu = generate<double>(shape, [](std::int64_t i) { return static_cast<double>(i); });
        const Vector cov = doubles(of_mean(mu, {{"kernel", 2}}));
        ASSERT_EQ(cov.size(), 225U);
        EXPECT_EQ(cov[0], first);
        EXPECT_EQ(cov[14], last);
        double sum = 0;
        for (std::size_t p = 0; p < 15; ++p) sum += cov[p * 15 + p];
        EXPECT_EQ(sum, trace);
    };
    check({1, 1, 4, 6}, 86, 310, 10050);
    check({1, 1, 6, 4}, 42, 222, 10150);
    const Tensor flat = generate<double>({24}, [](std::int64_t) { return 1.0; });
    for (int again = 0; again < 2; ++again)
        EXPECT_NE(message_of([&] { of_mean(flat, {{"kernel", 2}}); }).find("(B, C, H, W)"), std::string::npos);
}

TEST(Convcov, StrideWithPaddingOnBothSidesOnNoneAndOnOne) {  // BR040
    // gamma of one channel, 6 x 1: (i + 1) (j + 1).
    const Tensor gamma =
        generate<double>({1, 1, 6, 1, 6, 1}, [](std::int64_t i) { return (i / 6 + 1.0) * (i % 6 + 1.0); });
    const Tensor mu = make<double>({1, 1, 6, 1}, Vector(6, 0));
    const auto with = [&](Value padding, Value stride) {
        return doubles(run(
            {gamma, mu, one()},
            {.params = params({{"kernel", Values{3, 1}}, {"stride", stride}, {"padding", padding}, {"channels", 1}})}));
    };
    for (const Value& stride : {Value(2), Value(Values{2, 1})}) {
        EXPECT_EQ(with(Values{1, 0}, stride), (Vector{5, 11, 17, 11, 29, 47, 17, 47, 77}));
        EXPECT_EQ(with(0, stride), (Vector{14, 26, 26, 50}));
        EXPECT_EQ(with(Values{0, 1, 0, 0}, stride), (Vector{14, 26, 17, 26, 50, 39, 17, 39, 61}));
    }
    // The same numbers along the columns, the stride of the rows being another.
    const Tensor row_gamma =
        generate<double>({1, 1, 1, 6, 1, 6}, [](std::int64_t i) { return (i / 6 + 1.0) * (i % 6 + 1.0); });
    const Tensor row_mu = make<double>({1, 1, 1, 6}, Vector(6, 0));
    EXPECT_EQ(doubles(run({row_gamma, row_mu, one()},
                          {.params = params({{"kernel", Values{1, 3}}, {"stride", Values{3, 2}}, {"channels", 1}})})),
              (Vector{14, 26, 26, 50}));
}

TEST(Convcov, RowsAndColumnsKeepTheirOrderAndChannelsTheirBlocks) {  // BR042
    // gamma[c][r][q][c][r'][q'] = A[r][r'] B[q][q'] (c + 1), NaN between channels; kernel (3, 2), stride (1, 2).
    const auto a = [](std::int64_t r, std::int64_t r2) { return 1.0 + r * 3 + r2 * r2; };
    const auto b = [](std::int64_t q, std::int64_t q2) { return 2.0 - q + 5 * q2; };
    const Tensor gamma = generate<double>({1, 2, 4, 3, 2, 4, 3}, [&](std::int64_t index) {
        const Shape at = unravel(index, {1, 2, 4, 3, 2, 4, 3});
        return at[1] != at[4] ? nan_value : a(at[2], at[5]) * b(at[3], at[6]) * static_cast<double>(at[1] + 1);
    });
    const Tensor mu = make<double>({1, 2, 4, 3}, Vector(24, 0));
    // Ho = 2, Wo = 1: rows (0,1), columns (0).
    const auto row_sum = [&](std::int64_t i, std::int64_t i2) {
        return a(i, i2) + a(i + 1, i2 + 1) + a(i + 2, i2 + 2);
    };
    const double column_sum = b(0, 0) + b(1, 1);
    const Tensor before = make<double>({1, 2, 2, 1, 2, 2, 1}, Vector(16, 7));
    const Tensor coef = make<double>({2}, {1, 10});
    const Ask ask{.params = params({{"kernel", Values{3, 2}}, {"stride", Values{1, 2}}}), .in_place = true};
    const Vector got = doubles(run({gamma, mu, coef, before}, ask));
    for (std::int64_t index = 0; index < 16; ++index) {
        const Shape at = unravel(index, {1, 2, 2, 1, 2, 2, 1});
        const double factor = at[1] != at[4] ? 0 : at[1] == 0 ? 1 : 10;
        EXPECT_EQ(got[static_cast<std::size_t>(index)], 7 + factor * 3 * row_sum(at[2], at[5]) * column_sum) << index;
    }
}

// --- NaN, Inf and zeros that must not spread ------------------------------------------------------------------------

TEST(Convcov, ZeroInputsLeaveTheAccumulateAsItIs) {
    const Tensor before = random_tensor<float>({2, 3, 2, 1, 2, 1}, 3);
    const Tensor gamma = make<float>({2, 2, 4, 2, 4, 2}, std::vector<float>(256, 0));
    const Tensor mu = make<float>({2, 2, 4, 2}, std::vector<float>(32, 0));
    const Tensor result = run({gamma, mu, one(), before}, {.params = params({{"kernel", Values{3, 2}}})});
    EXPECT_EQ(bits(result), bits(before));
}

TEST(Convcov, NanBetweenChannelsIsNeitherReadNorReplaced) {
    const auto off_diagonal = [](Shape shape) {
        return generate<float>(shape, [shape](std::int64_t index) {
            const Shape at = unravel(index, shape);
            return at[1] != at[4] ? static_cast<float>(nan_value) : 1.0F;
        });
    };
    const Tensor gamma = off_diagonal({1, 2, 1, 2, 2, 1, 2});
    Tensor before = off_diagonal({1, 2, 1, 2, 2, 1, 2});
    for (std::int64_t i = 0; i < 16; ++i)
        if (before.as<float>()[i] == 1) before.as<float>()[i] = 0;
    const Tensor mu = make<float>({1, 2, 1, 2}, {1, 1, 1, 1});
    for (const bool in_place : {true, false}) {
        const std::vector<float> got = values<float>(run({gamma, mu, make<double>({2}, {1, 10}), before},
                                                         {.params = params({{"kernel", 1}}), .in_place = in_place}));
        for (std::size_t i = 0; i < 16; ++i) {
            const std::size_t o = i / 8, o2 = i / 2 % 2;
            if (o != o2)
                EXPECT_TRUE(std::isnan(got[i])) << i;
            else
                EXPECT_EQ(got[i], o == 0 ? 4 : 40) << i;
        }
    }
}

TEST(Convcov, OneNanReachesTheWindowsOverItAlone) {
    Tensor gamma = make<float>({1, 1, 1, 8, 1, 8}, std::vector<float>(64, 1));
    gamma.as<float>()[2 * 8 + 5] = static_cast<float>(nan_value);
    const Tensor mu = make<float>({1, 1, 1, 8}, std::vector<float>(8, 0));
    const std::vector<float> got =
        values<float>(run({gamma, mu, one()}, {.params = params({{"kernel", Values{1, 3}}, {"channels", 1}})}));
    for (std::size_t i = 0; i < 36; ++i) {
        const bool hit = i == 3 || i == 6 + 4 || i == 12 + 5;
        EXPECT_EQ(std::isnan(got[i]), hit) << i;
        if (!hit) {
            EXPECT_EQ(got[i], 3) << i;
        }
    }
}

TEST(Convcov, NanWhereNoTapMeetsIsNotRead) {
    // Stride 3, one tap: places 0, 3 and 6 alone; everything else of gamma and mu is NaN.
    const auto met = [](std::int64_t place) { return place % 3 == 0; };
    const Tensor gamma = generate<double>({1, 1, 7, 7, 7, 7}, [&](std::int64_t index) {
        const Shape at = unravel(index, {7, 7, 7, 7});
        return met(at[0]) && met(at[1]) && met(at[2]) && met(at[3]) ? 1.0 + static_cast<double>(index) : nan_value;
    });
    const Tensor mu = generate<double>(
        {1, 1, 7, 7}, [&](std::int64_t index) { return met(index / 7) && met(index % 7) ? 0.5 : nan_value; });
    const Vector got =
        doubles(run({gamma, mu, one()}, {.params = params({{"kernel", 1}, {"stride", 3}, {"channels", 1}})}));
    for (std::int64_t index = 0; index < 81; ++index) {
        const Shape at = unravel(index, {3, 3, 3, 3});
        const std::int64_t place = ((at[0] * 7 + at[1]) * 7 + at[2]) * 7 * 3 + at[3] * 3;
        EXPECT_EQ(got[static_cast<std::size_t>(index)], 1.25 + static_cast<double>(place)) << index;
    }
}

TEST(Convcov, ACoefOfZeroLeavesItsBlockWhateverTheSums) {
    const Tensor mu = make<float>({1, 1, 2, 1}, {static_cast<float>(infinity), static_cast<float>(nan_value)});
    Tensor before = random_tensor<float>({1, 3, 2, 1, 3, 2, 1}, 5);
    before.as<float>()[2] = -0.0F;
    const Tensor coef = make<double>({3}, {0, 2, 0});
    for (const bool in_place : {true, false}) {
        const Tensor got =
            run({std::nullopt, mu, coef, before}, {.params = params({{"kernel", 1}}), .in_place = in_place});
        for (std::int64_t index = 0; index < 36; ++index) {
            const Shape at = unravel(index, {3, 2, 3, 2});
            const auto i = static_cast<std::size_t>(index) * 4;
            if (at[0] == 1 && at[2] == 1)
                EXPECT_FALSE(std::isfinite(got.as<float>()[index])) << index;
            else
                EXPECT_EQ(bits(got).substr(i, 4), bits(before).substr(i, 4)) << index;
        }
    }
    for (const char* form : {"full", "channel_diagonal", "variance"}) {
        const Tensor fresh = run({std::nullopt, mu, coef}, {.params = params({{"kernel", 1}, {"form", form}})});
        const std::vector<float> got = values<float>(fresh);
        const auto per_channel = static_cast<std::int64_t>(got.size()) / 3;
        for (std::int64_t i = 0; i < per_channel; ++i) {
            EXPECT_EQ(got[static_cast<std::size_t>(i)], 0) << form;
            EXPECT_EQ(got[static_cast<std::size_t>(2 * per_channel + i)], 0) << form;
        }
        EXPECT_FALSE(std::isfinite(got[static_cast<std::size_t>(per_channel) + (form[0] == 'f' ? 2 : 0)])) << form;
    }
}

TEST(Convcov, NoiseThatIsAskedForIsApplied) {
    const Tensor mu = make<float>({1, 1, 2, 2}, {1, 2, 3, 4});
    const Tensor before = make<float>({1, 1, 1, 1, 1, 1}, {5});
    const auto with = [&](double coef) {
        return values<float>(
            run({std::nullopt, mu, make<double>({}, {coef}), before}, {.params = params({{"kernel", 2}})}))[0];
    };
    EXPECT_EQ(with(0), 5);
    EXPECT_EQ(with(0.5), 20);
    EXPECT_EQ(with(-1), -25);
}

// --- Halves ---------------------------------------------------------------------------------------------------------

TEST(Convcov, HalvesAreSummedInFloat) {
    const auto ones = [](auto zero) {
        using T = decltype(zero);
        const Tensor mu = generate<T>({1, 456, 3, 3}, [](std::int64_t) { return 1.0F; });
        return values<T>(of_mean(mu, {{"kernel", 3}}))[0];
    };
    EXPECT_EQ(ones(float16{}), 4104);
    EXPECT_EQ(ones(bfloat16{}), 4096);  // the nearest that bfloat16 has to 4104

    const Tensor large = generate<float16>({1, 1, 3, 3}, [](std::int64_t) { return 300.0F; });
    const Tensor coef = make<double>({}, {0x1p-10});
    const Ask ask{.params = params({{"kernel", 3}, {"channels", 1}})};
    EXPECT_EQ(values<float16>(run({std::nullopt, large, coef}, ask))[0], 791);

    const Tensor unit = make<float16>({1, 1, 1, 1}, {1});
    const Tensor before = make<float16>({1, 1, 1, 1, 1, 1}, {2048});
    EXPECT_EQ(values<float16>(run({std::nullopt, unit, one(), before}, {.params = params({{"kernel", 1}})}))[0], 2048);
    EXPECT_EQ(values<float>(run({std::nullopt, unit, one(), before},
                                {.params = params({{"kernel", 1}}), .result = DType::float32}))[0],
              2049);
}

TEST(Convcov, RowConversionsOfHalvesAreThoseOfTheLanguage) {
    for (std::uint32_t word = 0; word < 0x10000; ++word) {
        const auto half = std::bit_cast<float16>(static_cast<std::uint16_t>(word));
        const auto expected = static_cast<float>(half);
        const auto got = load<float>(&half, 0);
        if (std::isnan(expected))
            ASSERT_TRUE(std::isnan(got)) << word;
        else
            ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(expected)) << word;
    }
    const auto check = [](float value) {
        float16 half;
        store(&half, 0, value);
        bfloat16 brain;
        store(&brain, 0, value);
        const auto expected = static_cast<float16>(value);
        if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(static_cast<float>(half)) && std::isnan(static_cast<float>(brain)));
        } else {
            ASSERT_EQ(std::bit_cast<std::uint16_t>(half), std::bit_cast<std::uint16_t>(expected)) << value;
            ASSERT_EQ(brain.bits, bfloat16(value).bits) << value;
        }
    };
    for (std::uint64_t word = 0; word < 0x100000000; word += 9973)
        check(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
    // Around every float16 and the middles between them, where ties are.
    for (std::uint32_t word = 0; word < 0x7c00; ++word) {
        const auto low = static_cast<float>(std::bit_cast<float16>(static_cast<std::uint16_t>(word)));
        const float high = word + 1 == 0x7c00
                               ? 65536.0F
                               : static_cast<float>(std::bit_cast<float16>(static_cast<std::uint16_t>(word + 1)));
        const float middle = low + (high - low) / 2;
        for (const float value : {low, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) {
            check(value);
            check(-value);
        }
    }
}

// --- Against the direct loops ---------------------------------------------------------------------------------------

template <class T>
void worked_example(double tolerance) {
    // Output (2, 3, 7, 7, 3, 7, 7), gamma (2, 3, 9, 9, 3, 9, 9) not symmetric, coef 1, 3 x 3, into a random accumulate.
    const Direct direct{2, 3, 9, 9, 3, 3};
    const Tensor gamma = random_tensor<T>(direct.full_gamma(), 1), mu = random_tensor<T>(direct.map(), 2);
    const Tensor before = random_tensor<T>({2, 3, 7, 7, 3, 7, 7}, 3);
    const Vector expected = direct.full(doubles(gamma), doubles(mu), {1, 1, 1}, doubles(before));
    const Tensor got = run({gamma, mu, one(), before}, {.params = params({{"kernel", 3}}), .in_place = true});
    EXPECT_EQ(got.spec(), before.spec());
    expect_near(doubles(got), expected, tolerance);
    for (std::int64_t index = 0; index < got.spec().size(); ++index) {
        const Shape at = unravel(index, got.spec().shape);
        const std::size_t size = sizeof(T);
        if (at[1] != at[4]) {
            ASSERT_EQ(std::memcmp(got.as<T>() + index, before.as<T>() + index, size), 0) << index;
        }
    }
}

TEST(Convcov, WorkedExampleInFloat16) {
    worked_example<float16>(0x1p-11);
}
TEST(Convcov, WorkedExampleInBfloat16) {
    worked_example<bfloat16>(0x1p-8);
}
TEST(Convcov, WorkedExampleInFloat32) {
    worked_example<float>(1e-6);
}
TEST(Convcov, WorkedExampleInFloat64) {
    worked_example<double>(1e-14);
}

const std::vector<Direct>& geometries() {
    static const std::vector<Direct> list{
        {.b = 2, .c = 3, .h = 5, .w = 6, .kh = 3, .kw = 2},
        {.b = 1, .c = 5, .h = 6, .w = 4, .kh = 2, .kw = 4, .top = 1, .bottom = 0, .left = 3, .right = 2},
        {.b = 2, .c = 1, .h = 7, .w = 5, .kh = 3, .kw = 3, .sh = 2, .sw = 1, .top = 1, .bottom = 1},
        {.b = 1, .c = 2, .h = 8, .w = 7, .kh = 2, .kw = 3, .sh = 3, .sw = 2, .dh = 3, .dw = 2, .left = 2, .right = 1},
        {.b = 1, .c = 2, .h = 7, .w = 6, .kh = 2, .kw = 2, .sh = 3, .sw = 4},  // stride past the kernel
        {.b = 2, .c = 2, .h = 1, .w = 9, .kh = 1, .kw = 5, .left = 2, .right = 2},
        {.b = 3, .c = 6, .h = 1, .w = 1, .kh = 1, .kw = 1},
        {.b = 2, .c = 2, .h = 1, .w = 1, .kh = 3, .kw = 2, .top = 2, .bottom = 2, .left = 1, .right = 1},
        {.b = 1, .c = 1, .h = 2, .w = 3, .kh = 1, .kw = 1, .top = 2, .bottom = 3, .left = 1, .right = 4},
        {.b = 1, .c = 9, .h = 4, .w = 3, .kh = 2, .kw = 1, .dh = 2, .top = 5, .bottom = 4},
        {.b = 1, .c = 1, .h = 2, .w = 37, .kh = 2, .kw = 3},  // several tiles of columns
    };
    return list;
}

TEST(Convcov, EveryGeometryAndFormAgreesWithTheLoops) {
    const Vector coef{0.5, -2};
    const Tensor coefs = make<double>({2}, coef);
    unsigned seed = 100;
    for (const Direct& direct : geometries()) {
        SCOPED_TRACE("geometry " + std::to_string(seed));
        const std::int64_t p = direct.ho() * direct.wo(), n = direct.h * direct.w;
        const Tensor gamma = random_tensor<double>(direct.full_gamma(), seed),
                     mu = random_tensor<double>(direct.map(), seed + 1);
        const Tensor blocks =
            tensor<double>(direct.diagonal_gamma(), diagonal_blocks(doubles(gamma), direct.b, direct.c, n, n));
        const Shape shape{direct.b, 2, direct.ho(), direct.wo(), 2, direct.ho(), direct.wo()};
        const Tensor before = random_tensor<double>(shape, seed + 2);
        const Vector zeros(static_cast<std::size_t>(before.spec().size()), 0);
        seed += 10;
        for (const bool with_gamma : {true, false}) {
            const Vector gammas = with_gamma ? doubles(gamma) : Vector();
            const In first = with_gamma ? In(gamma) : In(std::nullopt),
                     compact = with_gamma ? In(blocks) : In(std::nullopt);
            const auto asking = [&](const char* form) {
                Ask ask{.params = direct.parameters()};
                ask.params.set("form", std::string(form));
                return ask;
            };
            // full, added to and fresh, from either layout of gamma
            const Vector added = direct.full(gammas, doubles(mu), coef, doubles(before));
            const Vector fresh = direct.full(gammas, doubles(mu), coef, zeros);
            expect_near(doubles(run({first, mu, coefs, before}, asking("full"))), added, 1e-13);
            expect_near(doubles(run({compact, mu, coefs}, asking("full"))), fresh, 1e-13);
            // channel-diagonal
            const Vector added_blocks = diagonal_blocks(added, direct.b, 2, p, p);
            const Tensor before_blocks =
                tensor<double>({direct.b, 2, direct.ho(), direct.wo(), direct.ho(), direct.wo()},
                               diagonal_blocks(doubles(before), direct.b, 2, p, p));
            expect_near(
                doubles(run({compact, mu, coefs, before_blocks}, {.params = direct.parameters(), .in_place = true})),
                added_blocks, 1e-13);
            const Tensor cov = run({first, mu, coefs}, asking("channel_diagonal"));
            expect_near(doubles(cov), diagonal_blocks(fresh, direct.b, 2, p, p), 1e-13);
            // factor
            expect_near(doubles(run({first, mu}, asking("factor"))), direct.window_sums(gammas, doubles(mu)), 1e-13);
            // variance: the very diagonal
            const Vector variance = doubles(run({compact, mu, coefs}, asking("variance")));
            const Vector all = doubles(cov);
            ASSERT_EQ(variance.size(), static_cast<std::size_t>(direct.b * 2 * p));
            for (std::size_t i = 0; i < variance.size(); ++i) {
                const auto place = i % static_cast<std::size_t>(p);
                ASSERT_EQ(variance[i], all[i * static_cast<std::size_t>(p) + place]) << i;
            }
        }
    }
}

TEST(Convcov, SameAndValidAreTheirAmounts) {
    const Tensor mu = random_tensor<float>({1, 2, 6, 7}, 8);
    const auto with = [&](Value padding) {
        return of_mean(mu, {{"kernel", Values{4, 3}}, {"dilation", Values{1, 2}}, {"padding", padding}});
    };
    const Tensor same = with("same");
    EXPECT_EQ(same.spec().shape, (Shape{1, 1, 6, 7, 6, 7}));
    EXPECT_EQ(bits(same), bits(with(Values{1, 2, 2, 2})));
    EXPECT_EQ(bits(with("valid")), bits(with(0)));
}

TEST(Convcov, VirtualAndExplicitPaddingGiveTheSameBits) {
    const Tensor mu = random_tensor<float>({2, 3, 4, 5}, 9), gamma = random_tensor<float>({2, 3, 4, 5, 4, 5}, 10);
    Tensor wide_mu = generate<float>({2, 3, 4 + 3, 5 + 3}, [](std::int64_t) { return 0.0F; });
    Tensor wide_gamma = generate<float>({2, 3, 7, 8, 7, 8}, [](std::int64_t) { return 0.0F; });
    copy_bits(mu.slab(), part(wide_mu.slab(), {{{0, 2}, {0, 3}, {2, 4}, {1, 5}}}));
    copy_bits(gamma.slab(), part(wide_gamma.slab(), {{{0, 2}, {0, 3}, {2, 4}, {1, 5}, {2, 4}, {1, 5}}}));
    for (const double coef : {1.0, -3.0}) {
        const Tensor coefs = make<double>({}, {coef});
        const Tensor inner =
            run({gamma, mu, coefs},
                {.params = params({{"kernel", Values{3, 2}}, {"padding", Values{2, 1, 1, 2}}, {"channels", 2}})});
        const Tensor outer =
            run({wide_gamma, wide_mu, coefs}, {.params = params({{"kernel", Values{3, 2}}, {"channels", 2}})});
        EXPECT_EQ(bits(inner), bits(outer));
    }
}

TEST(Convcov, TheThreadCountDoesNotChangeABit) {
    const Tensor mu = random_tensor<float16>({3, 7, 9, 8}, 11), gamma = random_tensor<float16>({3, 7, 9, 8, 9, 8}, 12);
    const Tensor coef = make<double>({2}, {0.3, 0.7});
    const auto with = [&](int threads) {
        return bits(run({gamma, mu, coef}, {.params = params({{"kernel", 3}, {"padding", 1}}), .threads = threads}));
    };
    const std::string alone = with(1);
    EXPECT_EQ(alone, with(2));
    EXPECT_EQ(alone, with(7));
}

TEST(Convcov, MapsBeyondTheRingOfPanelsAgreeWithTheLoops) {
    // 1656 places: S of a batch has 11 MB, so that output rows are made in blocks and panels reused.
    for (const std::int64_t stride : {1, 2}) {
        const Direct direct{
            .b = 2, .c = 1, .h = 414, .w = 4, .kh = 3, .kw = 2, .sh = stride, .sw = 3, .dh = 3, .top = 2};
        const Tensor mu = random_tensor<float>(direct.map(), 13);
        Ask ask{.params = direct.parameters()};
        ask.params.set("form", std::string("factor"));
        expect_near(doubles(run({std::nullopt, mu}, ask)), direct.window_sums({}, doubles(mu)), 1e-6);
    }
}

TEST(Convcov, ManyTinyMaps) {
    const Tensor mu = generate<float>({70000, 1, 1, 1}, [](std::int64_t b) { return static_cast<float>(b % 7); });
    const Vector cov = doubles(of_mean(mu, {{"kernel", 1}}));
    EXPECT_EQ(std::accumulate(cov.begin(), cov.end(), 0.0), 910000);
    EXPECT_EQ(cov.back(), 36);
}

// --- Symmetry and precision -----------------------------------------------------------------------------------------

/// Is the symmetric matrix positive definite? By Cholesky's factorisation.
bool positive_definite(Vector matrix, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < k; ++i) matrix[k * n + k] -= matrix[k * n + i] * matrix[k * n + i];
        if (!(matrix[k * n + k] > 0)) return false;
        matrix[k * n + k] = std::sqrt(matrix[k * n + k]);
        for (std::size_t row = k + 1; row < n; ++row) {
            for (std::size_t i = 0; i < k; ++i) matrix[row * n + k] -= matrix[row * n + i] * matrix[k * n + i];
            matrix[row * n + k] /= matrix[k * n + k];
        }
    }
    return true;
}

TEST(Convcov, SymmetricGammaGivesASymmetricSemidefiniteResultBitForBit) {
    const std::size_t n = 30, channels = 3;
    const Tensor mu = random_tensor<float>({1, 3, 5, 6}, 14);
    Tensor gamma(Spec{DType::float32, {1, 3, 5, 6, 5, 6}});
    const Vector factors = random_values(static_cast<std::int64_t>(channels * n * 4), 15);  // of rank 4
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t x = 0; x < n; ++x)
            for (std::size_t y = 0; y < n; ++y) {
                double sum = 0;
                for (std::size_t k = 0; k < 4; ++k) sum += factors[(c * n + x) * 4 + k] * factors[(c * n + y) * 4 + k];
                gamma.as<float>()[(c * n + x) * n + y] = static_cast<float>(sum);
            }
    Vector cov = doubles(
        run({gamma, mu, one()}, {.params = params({{"kernel", Values{3, 2}}, {"padding", 1}, {"channels", 1}})}));
    const std::size_t p = 5 * 7;
    double largest = 0;
    for (std::size_t x = 0; x < p; ++x)
        for (std::size_t y = 0; y < p; ++y) {
            ASSERT_EQ(cov[x * p + y], cov[y * p + x]) << x << " " << y;
            largest = std::max(largest, std::abs(cov[x * p + y]));
        }
    for (std::size_t x = 0; x < p; ++x) cov[x * p + x] += 1e-6 * largest * static_cast<double>(p);
    EXPECT_TRUE(positive_definite(cov, p));
}

TEST(Convcov, AnAsymmetricGammaIsNotSymmetrised) {
    const Tensor gamma = make<float>({1, 1, 1, 2, 1, 2}, {0, 5, 0, 0});
    const Tensor mu = make<float>({1, 1, 1, 2}, {0, 0});
    EXPECT_EQ(values<float>(run({gamma, mu, one()}, {.params = params({{"kernel", 1}, {"channels", 1}})})),
              (std::vector<float>{0, 5, 0, 0}));
}

TEST(Convcov, Float32IsAsGoodAsFloat32) {
    const Tensor mu = random_tensor<float>({1, 16, 8, 9}, 16), gamma = random_tensor<float>({1, 16, 8, 9, 8, 9}, 17);
    const Tensor wide_mu = tensor<double>(mu.spec().shape, doubles(mu)),
                 wide_gamma = tensor<double>(gamma.spec().shape, doubles(gamma));
    const Ask ask{.params = params({{"kernel", 3}, {"channels", 1}})};
    const Vector narrow = doubles(run({gamma, mu, one()}, ask)), wide = doubles(run({wide_gamma, wide_mu, one()}, ask));
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
        error += (narrow[i] - wide[i]) * (narrow[i] - wide[i]);
        norm += wide[i] * wide[i];
    }
    EXPECT_LT(std::sqrt(error / norm), 1e-6);
    EXPECT_GT(error, 0);
}

TEST(Convcov, ResultDtypeWidensTheArithmeticAndRoundsOnce) {
    const Direct direct{.b = 1, .c = 4, .h = 4, .w = 5, .kh = 2, .kw = 3};
    const Tensor mu = random_tensor<float16>(direct.map(), 18);
    const Shape shape{1, 2, 3, 3, 2, 3, 3};
    const Tensor before = random_tensor<float16>(shape, 19);
    const Tensor coef = make<double>({2}, {0.1, 0});
    const Vector expected = direct.full({}, doubles(mu), {0.1, 0}, doubles(before));
    Ask ask{.params = direct.parameters(), .result = DType::float64};
    expect_near(doubles(run({std::nullopt, mu, coef, before}, ask)), expected, 1e-14);
    ask.result = DType::float32;
    expect_near(doubles(run({std::nullopt, mu, coef, before}, ask)), expected, 1e-6);
    ask.result = DType::bfloat16;
    expect_near(doubles(run({std::nullopt, mu, coef, before}, ask)), expected, 0x1p-8);
    const Tensor wide = tensor<double>(direct.map(), doubles(mu));
    ask.result = DType::float16;
    expect_near(doubles(run({std::nullopt, wide, coef, before}, ask)), expected, 0x1p-11);
}

TEST(Convcov, CoefIsRoundedToTheAccumulatorAndRefusedBeyondIt) {
    const Tensor mu = make<float>({1, 1, 1, 1}, {1});
    const Ask ask{.params = params({{"kernel", 1}, {"channels", 1}})};
    EXPECT_EQ(values<float>(run({std::nullopt, mu, make<double>({}, {0.1})}, ask))[0], 0.1F);
    const std::string message = message_of([&] {
        run({std::nullopt, mu, make<double>({2}, {1, 1e300})}, {.params = params({{"kernel", 1}})});
    });
    EXPECT_NE(message.find("(1,)"), std::string::npos) << message;
    EXPECT_NE(message.find("float32"), std::string::npos) << message;
    // What rounds to zero is zero: the block stays.
    const Tensor inf = make<float>({1, 1, 1, 1}, {static_cast<float>(infinity)});
    EXPECT_EQ(values<float>(run({std::nullopt, inf, make<double>({}, {1e-60})}, ask))[0], 0);
}

// --- The reference --------------------------------------------------------------------------------------------------

/// Contents for a case's inputs: random; NaN between the channels of a full gamma; coef with a zero and a negative.
std::vector<Tensor> contents(const Problem& problem, unsigned seed) {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < problem.in.size(); ++i) {
        result.emplace_back();
        const Spec& spec = problem.in[i];
        if (!spec.present) continue;
        result[i] = with_type<float16, bfloat16, float, double>(
            spec.dtype, [&]<class T>() { return random_tensor<T>(spec.shape, seed + static_cast<unsigned>(i)); });
        if (i == convcov::coef && spec.shape.size() == 1 && spec.shape[0] > 1) result[i].as<double>()[1] = 0;
        if (i == convcov::gamma && spec.shape.size() == 7) {
            for (std::int64_t c = 0; c < spec.shape[1]; ++c)
                for (std::int64_t c2 = 0; c2 < spec.shape[1]; ++c2) {
                    Selection block = diagonal(spec.shape, c);
                    block.axes[4].begin = c2;
                    if (c != c2) poison(part(result[i].slab(), block));
                }
        }
    }
    return result;
}

/// Every element within the bound of its Term.
void expect_judged(const Problem& problem, const std::vector<Slab>& in, const Tensor& got, const std::string& what) {
    const Reference reference = convcov::op.reference(problem, in);
    const DType accumulator = arithmetic(convcov::op, problem), output = problem.out[0].dtype;
    const auto n = static_cast<double>(convcov::op.terms(problem));
    for (std::int64_t i = 0; i < got.spec().size(); ++i) {
        const Term term = reference(i);
        const long double value = real_part(got.slab(), i);
        const long double bound = term.exact
                                      ? 0
                                      : 4 * unit_roundoff(accumulator) * std::sqrt(n) * term.re_magnitude +
                                            unit_roundoff(output) * std::abs(term.re) + smallest_subnormal(output);
        ASSERT_LE(std::abs(value - term.re), bound) << what << " at " << index_text(i, got.spec().shape);
    }
}

TEST(Convcov, EveryCaseOfTheTableIsWithinTheBoundOfItsReference) {
    unsigned seed = 1000;
    const std::vector<Problem> cases = convcov::op.cases();
    EXPECT_GE(cases.size(), 50U);
    for (const Problem& each : cases) {
        const Problem problem = pose(convcov::op, each.params, each.in, {}, Place{.threads = 3});
        const std::vector<Tensor> tensors = contents(problem, seed += 10);
        const std::vector<Slab> in = support::slabs(problem.in, tensors);
        const std::vector<Tensor> out = support::run(variant_for(problem), problem, in);
        expect_judged(problem, in, out[0], "case " + std::to_string(seed) + ", output " + to_text(problem.out[0]));
        if (HasFatalFailure()) return;
        const Cost cost = convcov::op.cost(problem);
        EXPECT_GT(cost.flops, 0);
        EXPECT_GT(cost.read, 0);
        EXPECT_GT(cost.written, 0);
        EXPECT_EQ(convcov::op.origins(problem).size(), problem.out[0].shape.size());
    }
}

TEST(Convcov, ReferenceAgreesWithTheLoopsAndKnowsWhatIsUntouched) {
    const Direct direct{.b = 2, .c = 2, .h = 4, .w = 3, .kh = 2, .kw = 2, .top = 1, .left = 1, .right = 0};
    const Tensor gamma = random_tensor<double>(direct.full_gamma(), 20), mu = random_tensor<double>(direct.map(), 21);
    const Shape shape{2, 3, direct.ho(), direct.wo(), 3, direct.ho(), direct.wo()};
    const Tensor before = random_tensor<double>(shape, 22);
    const Vector coef{0.5, 0, -2};
    const Vector expected = direct.full(doubles(gamma), doubles(mu), coef, doubles(before));
    const std::vector<Term> terms =
        support::terms("convcov", {gamma, mu, make<double>({3}, coef), before}, {.params = direct.parameters()});
    ASSERT_EQ(terms.size(), expected.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Shape at = unravel(static_cast<std::int64_t>(i), shape);
        ASSERT_NEAR(static_cast<double>(terms[i].re), expected[i], 1e-14) << i;
        ASSERT_EQ(terms[i].exact, at[1] != at[4] || at[1] == 1) << i;
        if (!terms[i].exact) {
            ASSERT_EQ(static_cast<double>(terms[i].factor), std::abs(coef[static_cast<std::size_t>(at[1])])) << i;
        }
    }
    // sum|terms| counts gamma and mu mu each: one tap of gamma -3 and mu 2 gives 3 + 4, R = 1.
    const std::vector<Term> one_tap =
        support::terms("convcov",
                       {make<float>({1, 1, 1, 1, 1, 1}, {-3}), make<float>({1, 1, 1, 1}, {2}), make<double>({}, {-5}),
                        make<float>({1, 1, 1, 1}, {-1})},
                       {.params = params({{"kernel", 1}})});
    EXPECT_EQ(one_tap[0].re, -1 - 5 * 1);
    EXPECT_EQ(one_tap[0].re_magnitude, 1 + 5 * 7);
    EXPECT_EQ(one_tap[0].unscaled, 7);
    EXPECT_EQ(one_tap[0].factor, 5);
}

TEST(Convcov, ReferenceReadsTheTapsByHand) {
    // q(j, v) = 2 j + 3 v - 1 over five columns: taps over (pad, 2), (1, 4), (3, pad)
    const Tensor mu = make<double>({1, 1, 1, 5}, {1, 2, 3, 4, 5});
    const Params geometry = params({{"kernel", Values{1, 2}},
                                    {"stride", Values{1, 2}},
                                    {"dilation", Values{1, 3}},
                                    {"padding", Values{0, 0, 1, 2}},
                                    {"form", std::string("factor")}});
    Vector value;
    for (const Term& term : support::terms("convcov", {std::nullopt, mu}, {.params = geometry}))
        value.push_back(static_cast<double>(term.re));
    EXPECT_EQ(value, (Vector{9, 15, 0, 15, 29, 8, 0, 8, 16}));
}

TEST(Convcov, ReferenceFollowsStrides) {
    // The even columns of a wider map and gamma.
    const Tensor wide_mu = random_tensor<float>({1, 2, 3, 8}, 23),
                 wide_gamma = random_tensor<float>({1, 2, 3, 8, 3, 8}, 24);
    const Slab mu = part(wide_mu.slab(), {{{0, 1}, {0, 2}, {0, 3}, {0, 4, 2}}});
    const Slab gamma = part(wide_gamma.slab(), {{{0, 1}, {0, 2}, {0, 3}, {0, 4, 2}, {0, 3}, {0, 4, 2}}});
    const Tensor packed_mu = clone(mu), packed_gamma = clone(gamma);
    const Problem problem = pose(convcov::op, params({{"kernel", 2}, {"form", "factor"}}),
                                 {gamma.spec, mu.spec, {DType::float32, {}, false}, {DType::float32, {}, false}});
    const Slab none{{DType::float32, {}, false}, {}, nullptr};
    const std::vector<Slab> strided{gamma, mu, none, none}, packed{packed_gamma.slab(), packed_mu.slab(), none, none};
    const Reference a = convcov::op.reference(problem, strided), b = convcov::op.reference(problem, packed);
    for (std::int64_t i = 0; i < problem.out[0].size(); ++i) ASSERT_EQ(a(i).re, b(i).re) << i;
}

// --- Pieces ---------------------------------------------------------------------------------------------------------

/// Runs the pieces of `step` along an axis and puts their outputs together, as the engine does.
Tensor in_pieces(const Problem& problem, const std::vector<Slab>& in, std::size_t axis, std::int64_t step) {
    Tensor result(problem.out[0]);
    poison(result.slab());
    std::vector<long double> sums(static_cast<std::size_t>(result.spec().size()), 0);
    bool adds = false;
    const std::int64_t extent = convcov::op.axes(problem)[axis].extent;
    for (std::int64_t begin = 0; begin < extent; begin += step) {
        const Piece piece = convcov::op.cut(problem, axis, begin, std::min(begin + step, extent));
        std::vector<Tensor> tensors(in.size());
        std::vector<Slab> slabs;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (piece.problem.in[i].present) {
                tensors[i] = clone(part(in[i], piece.in[i]));
                EXPECT_EQ(tensors[i].spec(), piece.problem.in[i]) << "input " << i;
                slabs.push_back(tensors[i].slab());
            } else {
                slabs.push_back(Slab{piece.problem.in[i], {}, nullptr});
            }
        }
        // A piece is a problem of its own: posed again, it is the same.
        EXPECT_EQ(convcov::op.infer(piece.problem.params, piece.problem.in, piece.problem.out[0].dtype),
                  piece.problem.out);
        const std::vector<Tensor> out = support::run(variant_for(piece.problem), piece.problem, slabs);
        expect_judged(piece.problem, slabs, out[0],
                      "piece from " + std::to_string(begin) + " of axis " + std::to_string(axis));
        adds = piece.adds;
        if (adds) {
            EXPECT_EQ(out[0].spec().dtype, arithmetic(convcov::op, problem));
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] += real_part(out[0].slab(), static_cast<std::int64_t>(i));
        } else {
            copy_bits(out[0].slab(), part(result.slab(), piece.out[0]));
        }
    }
    if (adds)
        with_type<float16, bfloat16, float, double>(result.spec().dtype, [&]<class T>() {
            for (std::size_t i = 0; i < sums.size(); ++i) result.as<T>()[i] = static_cast<T>(sums[i]);
        });
    return result;
}

TEST(Convcov, PiecesAlongEveryAxisMakeTheWhole) {
    unsigned seed = 5000;
    for (const Problem& each : convcov::op.cases()) {
        if (each.in[convcov::mu].shape[0] > 100 || each.in[convcov::mu].shape[1] > 100) continue;
        const Problem problem = pose(convcov::op, each.params, each.in);
        const std::vector<Tensor> tensors = contents(problem, seed += 10);
        const std::vector<Slab> in = support::slabs(problem.in, tensors);
        const Tensor whole = std::move(support::run(variant_for(problem), problem, in)[0]);
        const std::vector<Axis> axes = convcov::op.axes(problem);
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            for (const std::int64_t step : {1, 2}) {
                const std::string what =
                    axes[axis].name + " of " + to_text(whole.spec()) + ", case " + std::to_string(seed);
                const Tensor joined = in_pieces(problem, in, axis, step);
                if (HasFatalFailure()) return;
                if (axes[axis].name == "input_channel")
                    expect_judged(problem, in, joined, what);
                else
                    ASSERT_EQ(bits(joined), bits(whole)) << what;
                if (HasFatalFailure()) return;
            }
    }
}

TEST(Convcov, APieceMayBeCutAgain) {
    const Direct direct{.b = 2, .c = 2, .h = 9, .w = 4, .kh = 3, .kw = 2, .sh = 2, .top = 2, .bottom = 1};
    const Tensor gamma = random_tensor<float>(direct.diagonal_gamma(), 30), mu = random_tensor<float>(direct.map(), 31);
    const Inputs inputs{gamma, mu, one()};
    Ask ask{.params = direct.parameters()};
    ask.params.set("channels", std::int64_t{3});
    const Problem problem = support::problem("convcov", inputs, ask);
    ASSERT_EQ(problem.out[0].shape, (Shape{2, 3, 5, 3, 5, 3}));
    const Piece rows = convcov::op.cut(problem, 2, 1, 4), again = convcov::op.cut(rows.problem, 2, 1, 2);
    const Piece both = convcov::op.cut(again.problem, 0, 1, 2);
    const Tensor first = clone(part(gamma.slab(), rows.in[0])), second = clone(part(first.slab(), again.in[0]));
    const Tensor third = clone(part(second.slab(), both.in[0])), map = clone(part(mu.slab(), both.in[1]));
    // Output row 2 of 5 lies over input rows 2 to 4.
    EXPECT_EQ(third.spec().shape, (Shape{1, 2, 3, 4, 9, 4}));
    const std::vector<Slab> in{third.slab(), map.slab(), one().slab(), Slab{{DType::float32, {}, false}, {}, nullptr}};
    const Tensor piece = std::move(support::run(*find(support::entry("convcov"), "factored"), both.problem, in)[0]);
    const Tensor whole = run(inputs, ask);
    EXPECT_EQ(bits(piece), bits(clone(part(whole.slab(), {{{1, 1}, {0, 3}, {2, 1}, {0, 3}, {0, 5}, {0, 3}}}))));
}

TEST(Convcov, CompactIsTheSameProblemOnTheBlocksThatTakePart) {
    const Tensor gamma = random_tensor<float>({2, 3, 4, 3, 3, 4, 3}, 32), mu = random_tensor<float>({2, 3, 4, 3}, 33);
    const Tensor before = random_tensor<float>({2, 2, 3, 2, 2, 3, 2}, 34), coef = make<double>({2}, {0.5, 3});
    const Problem problem = support::problem("convcov", {gamma, mu, coef, before}, {.params = params({{"kernel", 2}})});
    const std::optional<Problem> compact = convcov::op.compact(problem);
    ASSERT_TRUE(compact);
    EXPECT_EQ(compact->in[convcov::gamma].shape, (Shape{2, 3, 4, 3, 4, 3}));
    EXPECT_EQ(compact->in[convcov::accumulate].shape, (Shape{2, 2, 3, 2, 3, 2}));
    EXPECT_EQ(convcov::op.infer(compact->params, compact->in, {}), compact->out);
    EXPECT_FALSE(convcov::op.compact(*compact));

    const auto blocks = [](const Tensor& full) {
        Shape shape = full.spec().shape;
        const std::int64_t channels = shape[1];
        shape.erase(shape.begin() + 4);
        Tensor result(Spec{full.spec().dtype, shape});
        for (std::int64_t c = 0; c < channels; ++c) {
            Selection from = diagonal(full.spec().shape, c), to = whole(shape);
            from.axes[4].dropped = true;
            to.axes[1] = {c, 1, 1};
            copy_bits(part(full.slab(), from), part(result.slab(), to));
        }
        return result;
    };
    const Tensor compact_gamma = blocks(gamma), compact_before = blocks(before);
    const std::vector<Slab> in{compact_gamma.slab(), mu.slab(), coef.slab(), compact_before.slab()};
    const Tensor small = std::move(support::run(*find(support::entry("convcov"), "factored"), *compact, in)[0]);
    const Tensor full = run({gamma, mu, coef, before}, {.params = params({{"kernel", 2}})});
    EXPECT_EQ(bits(small), bits(blocks(full)));
}

// --- Sizes and costs ------------------------------------------------------------------------------------------------

Problem posed(Params given, Shape mu, std::optional<Shape> gamma, std::optional<Shape> coef,
              std::optional<Shape> before, DType dtype = DType::float32) {
    const auto spec = [&](const std::optional<Shape>& shape) {
        return shape ? Spec{dtype, *shape} : Spec{dtype, {}, false};
    };
    std::vector<Spec> in{spec(gamma), {dtype, std::move(mu)}, spec(coef), spec(before)};
    if (coef) in[convcov::coef].dtype = DType::float64;
    return pose(convcov::op, std::move(given), in);
}

TEST(Convcov, SizesBeyondAnyMemoryAreComputedAndNotAllocated) {
    const Problem problem =
        posed(params({{"kernel", 3}, {"padding", "same"}, {"channels", 10000}}), {10000, 1, 32, 32}, {}, Shape{}, {});
    EXPECT_EQ(problem.out[0].bytes(), 419'430'400'000'000U);  // 381.47 TiB
    const Variant& factored = *find(support::entry("convcov"), "factored");
    EXPECT_LT(factored.memory(problem), 64U << 20);
    EXPECT_GE(factored.memory(problem), std::size_t{1024 * 1024 * 4});  // S of one batch
    const Plan plan = factored.prepare(problem);
    EXPECT_EQ(plan.workspace + plan.held, factored.memory(problem));
    EXPECT_NE(message_of([] {
                  posed(params({{"kernel", 1}, {"channels", 2000000000}, {"form", "full"}}), {1, 1, 100, 100}, {},
                        Shape{}, {});
              }).find("2^63"),
              std::string::npos);
}

TEST(Convcov, CostIsWhatMustBeReadWrittenAndAdded) {
    const Shape mu{2, 64, 34, 34}, gamma{2, 64, 34, 34, 34, 34}, cov{2, 64, 32, 32, 32, 32};
    const Params three = params({{"kernel", 3}});
    const Cost in_place = convcov::op.cost(posed(three, mu, gamma, Shape{64}, cov));
    EXPECT_NEAR(in_place.flops, 7.85e8, 0.005e8);
    EXPECT_NEAR(in_place.read + in_place.written, 1.752e9, 0.001e9);
    const Cost fresh = convcov::op.cost(posed(three, mu, gamma, Shape{64}, {}));
    EXPECT_NEAR(fresh.read + fresh.written, 1.215e9, 0.001e9);
    const Cost factor = convcov::op.cost(posed(params({{"kernel", 3}, {"form", "factor"}}), mu, gamma, {}, {}));
    EXPECT_NEAR(factor.read + factor.written, 0.686e9, 0.001e9);
    // The full layout costs no more, but for the zeros of a fresh output.
    const Cost full = convcov::op.cost(
        posed(three, mu, Shape{2, 64, 34, 34, 64, 34, 34}, Shape{64}, Shape{2, 64, 32, 32, 64, 32, 32}));
    EXPECT_EQ(full.read, in_place.read);
    EXPECT_EQ(full.written, in_place.written);
    const Cost zeros = convcov::op.cost(posed(params({{"kernel", 3}, {"form", "full"}}), mu, gamma, Shape{64}, {}));
    EXPECT_EQ(zeros.written, 34359738368.0);
    // Stride 2: output pairs of even displacement; a quarter of gamma.
    const Cost strided =
        convcov::op.cost(posed(params({{"kernel", 3}, {"stride", 2}, {"padding", 1}, {"form", "factor"}}),
                               {1, 1, 32, 32}, Shape{1, 1, 32, 32, 32, 32}, {}, {}));
    EXPECT_NEAR((strided.read - 4096) / (4.0 * 1024 * 1024), 0.25, 0.01);
}

TEST(Convcov, CostCountsThePairsThatMeetUnderOneTap) {
    for (const Direct& direct : geometries()) {
        std::vector<char> met(static_cast<std::size_t>(direct.h * direct.w * direct.h * direct.w), 0);
        for (std::int64_t i = 0; i < direct.ho(); ++i)
            for (std::int64_t j = 0; j < direct.wo(); ++j)
                for (std::int64_t i2 = 0; i2 < direct.ho(); ++i2)
                    for (std::int64_t j2 = 0; j2 < direct.wo(); ++j2)
                        for (std::int64_t u = 0; u < direct.kh; ++u)
                            for (std::int64_t v = 0; v < direct.kw; ++v) {
                                const std::int64_t r = i * direct.sh + u * direct.dh - direct.top,
                                                   q = j * direct.sw + v * direct.dw - direct.left;
                                const std::int64_t r2 = i2 * direct.sh + u * direct.dh - direct.top,
                                                   q2 = j2 * direct.sw + v * direct.dw - direct.left;
                                if (r < 0 || r2 < 0 || q < 0 || q2 < 0 || r >= direct.h || r2 >= direct.h ||
                                    q >= direct.w || q2 >= direct.w)
                                    continue;
                                met[static_cast<std::size_t>(((r * direct.w + q) * direct.h + r2) * direct.w + q2)] = 1;
                            }
        Params given = direct.parameters();
        given.set("form", std::string("factor"));
        const double with = convcov::op.cost(posed(given, direct.map(), direct.diagonal_gamma(), {}, {})).read;
        const double without = convcov::op.cost(posed(given, direct.map(), {}, {}, {})).read;
        EXPECT_EQ(with - without, 4.0 * static_cast<double>(direct.b * direct.c) *
                                      static_cast<double>(std::count(met.begin(), met.end(), 1)));
    }
}

TEST(Convcov, AxesAreNamedAfterTheFormAndKeepThoseOfTheAccumulate) {
    const auto names = [](const Problem& problem) {
        std::string text;
        for (const AxisOrigin& origin : convcov::op.origins(problem))
            text += origin.name + std::to_string(origin.input) + " ";
        return text;
    };
    const Shape mu{1, 1, 2, 2};
    EXPECT_EQ(names(posed(params({{"kernel", 1}, {"form", "full"}}), mu, {}, Shape{2}, {})),
              "batch1 channel-1 row-1 column-1 channel_2-1 row_2-1 column_2-1 ");
    EXPECT_EQ(names(posed(params({{"kernel", 1}}), mu, {}, Shape{2}, {})),
              "batch1 channel-1 row-1 column-1 row_2-1 column_2-1 ");
    EXPECT_EQ(names(posed(params({{"kernel", 1}, {"form", "factor"}}), mu, {}, {}, {})),
              "batch1 row-1 column-1 row_2-1 column_2-1 ");
    EXPECT_EQ(names(posed(params({{"kernel", 1}}), mu, {}, Shape{2}, Shape{1, 2, 2, 2})),
              "batch3 channel3 row3 column3 ");
}

TEST(Convcov, EmptyTensorsAreNoError) {
    const Params three = params({{"kernel", 1}, {"channels", 2}, {"padding", 1}});
    const auto run_shapes = [&](Shape mu, Shape gamma) {
        const Tensor means(Spec{DType::float32, std::move(mu)}), gammas(Spec{DType::float32, std::move(gamma)});
        return run({gammas, means, one()}, {.params = three});
    };
    EXPECT_EQ(run_shapes({0, 3, 4, 5}, {0, 3, 4, 5, 4, 5}).spec().shape, (Shape{0, 2, 6, 7, 6, 7}));
    for (const double value : doubles(run_shapes({1, 0, 2, 1}, {1, 0, 2, 1, 2, 1}))) EXPECT_EQ(value, 0);
    for (const double value : doubles(run_shapes({1, 3, 0, 1}, {1, 3, 0, 1, 0, 1}))) EXPECT_EQ(value, 0);
}

// --- What is refused ------------------------------------------------------------------------------------------------

void expect_refused(const Params& given, const std::vector<Spec>& in, const std::string& where,
                    const std::vector<std::string>& words, std::optional<DType> result = {}) {
    const std::optional<Error> error = support::error_of([&] { pose(convcov::op, given, in, result); });
    ASSERT_TRUE(error) << where;
    EXPECT_EQ(error->category(), Category::config) << error->what();
    EXPECT_EQ(error->where(), where) << error->what();
    for (const std::string& word : words)
        EXPECT_NE(std::string(error->what()).find(word), std::string::npos) << error->what() << "\nlacks " << word;
}

TEST(Convcov, ParametersThatDoNotFitAreRefusedByName) {
    const Spec none{DType::float32, {}, false}, mu{DType::float32, {1, 2, 5, 6}}, coef{DType::float64, {3}};
    const std::vector<Spec> in{none, mu, coef, none};
    const auto refused = [&](std::initializer_list<std::pair<std::string_view, Value>> given, const std::string& where,
                             const std::vector<std::string>& words) {
        expect_refused(params(given), in, where, words);
    };
    refused({}, "params", {"kernel", "required"});
    refused({{"kernel", 0}}, "params.kernel", {"kernel", "from 1", "not 0"});
    refused({{"kernel", Values{3, -1}}}, "params.kernel", {"not [3, -1]"});
    refused({{"kernel", Values{1, 2, 3}}}, "params.kernel", {"[rows, columns]", "list of 3"});
    refused({{"kernel", Values{}}}, "params.kernel", {"list of 0"});
    refused({{"kernel", 3}, {"stride", 0}}, "params.stride", {"stride", "not 0"});
    refused({{"kernel", 3}, {"dilation", Values{1, 0}}}, "params.dilation", {"dilation", "not [1, 0]"});
    refused({{"kernel", 3}, {"padding", -1}}, "params.padding", {"padding", "from 0", "not -1"});
    refused({{"kernel", 3}, {"padding", Values{1, 2, 3}}}, "params.padding", {"[top, bottom, left, right]", "same"});
    refused({{"kernel", 3}, {"padding", "same"}, {"stride", Values{1, 2}}}, "params.padding",
            {"same", "stride 1", "[1, 2]"});
    refused({{"kernel", 3}, {"padding", "reflect"}}, "params.padding", {"valid", "same"});
    refused({{"kernel", 6}}, "params.kernel", {"covers 6 rows", "has 5"});
    refused({{"kernel", Values{1, 3}}, {"dilation", 3}}, "params.kernel", {"covers 7 columns", "has 6"});
    refused({{"kernel", 3}, {"form", "diagonal"}}, "params.form", {"channel_diagonal", "variance"});
    refused({{"kernel", 3}, {"channels", 4}}, "params.channels", {"channels is 4", "coef has 3"});
    refused({{"kernel", 3}, {"channels", 0}}, "params.channels", {"not 0"});
    refused({{"kernel", 3}, {"groups", 2}}, "params.groups", {"groups"});
    EXPECT_NO_THROW(pose(convcov::op, params({{"kernel", Values{5, 6}}}), in));
}

TEST(Convcov, InputsThatDoNotFitAreRefusedByName) {
    const Spec none{DType::float32, {}, false}, mu{DType::float32, {2, 3, 5, 6}}, coef{DType::float64, {4}},
        scalar{DType::float64, {}};
    const Params three = params({{"kernel", 3}});
    const auto with_form = [](const char* form) { return params({{"kernel", 3}, {"form", form}}); };
    const auto f32 = [](Shape shape) { return Spec{DType::float32, std::move(shape)}; };

    expect_refused(three, {none, f32({3, 5, 6}), coef, none}, "inputs.mu", {"(3, 5, 6)", "(B, C, H, W)"});
    expect_refused(three, {none, none, coef, none}, "inputs.mu", {"mu is required"});
    for (const Shape& shape : {Shape{2, 3, 5, 6, 6, 5}, Shape{1, 3, 5, 6, 5, 6}, Shape{2, 3, 5, 5, 6, 6},
                               Shape{2, 3, 5, 6, 4, 5, 6}, Shape{2, 3, 5, 6}})
        expect_refused(three, {f32(shape), mu, coef, none}, "inputs.gamma",
                       {to_text(shape), "(2, 3, 5, 6, 3, 5, 6)", "(2, 3, 5, 6, 5, 6)"});

    expect_refused(three, {none, mu, none, none}, "inputs.coef", {"coef is required", "factor"});
    expect_refused(three, {none, mu, f32({2, 4, 1}), none}, "inputs.coef", {"(2, 4, 1)", "(O,)", "(S, O)"});
    expect_refused(three, {none, mu, f32({0, 4}), none}, "inputs.coef", {"(0, 4)", "S >= 1"});
    expect_refused(three, {none, mu, f32({3, 4}), f32({2, 4, 3, 4, 3, 4})}, "inputs.accumulate",
                   {"rank 6", "(S, B, O, Ho, Wo, Ho, Wo)"});
    expect_refused(three, {none, mu, f32({3, 4}), f32({1, 2, 4, 3, 4, 3, 4})}, "inputs.accumulate",
                   {"(1, 2, 4, 3, 4, 3, 4)", "(3, 2, 4, 3, 4, 3, 4)"});
    expect_refused(three, {none, mu, f32({3, 4}), f32({3, 2, 5, 3, 4})}, "inputs.coef", {"4 elements", "5 output"});
    expect_refused(three, {none, mu, scalar, none}, "params.channels", {"channels", "coef", "accumulate"});
    expect_refused(with_form("factor"), {none, mu, coef, none}, "inputs.coef", {"factor", "no coef"});
    expect_refused(with_form("factor"), {none, mu, none, f32({2, 4, 3, 4})}, "inputs.accumulate",
                   {"factor", "no accumulate"});
    expect_refused(params({{"kernel", 3}, {"form", "factor"}, {"channels", 2}}), {none, mu, none, none},
                   "params.channels", {"factor", "channels"});

    expect_refused(three, {none, mu, coef, f32({2, 3, 4, 3, 4})}, "inputs.accumulate",
                   {"rank 5", "(B, O, Ho, Wo, O, Ho, Wo)"});
    expect_refused(three, {none, mu, coef, f32({2, 5, 3, 4, 3, 4})}, "inputs.coef",
                   {"4 elements", "5 output channels"});
    expect_refused(three, {none, mu, coef, f32({2, 4, 5, 6, 5, 6})}, "inputs.accumulate",
                   {"(2, 4, 5, 6, 5, 6)", "(2, 4, 3, 4, 3, 4)"});
    expect_refused(three, {none, mu, scalar, f32({2, 4, 3, 4, 5, 3, 4})}, "inputs.accumulate",
                   {"(2, 4, 3, 4, 5, 3, 4)", "(2, 4, 3, 4, 4, 3, 4)"});
    expect_refused(with_form("variance"), {none, mu, coef, f32({2, 4, 3, 4, 3, 4})}, "params.form",
                   {"variance", "channel_diagonal"});
    expect_refused(params({{"kernel", 3}, {"channels", 5}}), {none, mu, scalar, f32({2, 4, 3, 4})}, "params.channels",
                   {"channels is 5", "accumulate has 4"});
    EXPECT_NO_THROW(pose(convcov::op, with_form("variance"), {none, mu, coef, f32({2, 4, 3, 4})}));

    expect_refused(three, {none, {DType::complex64, {2, 3, 5, 6}}, coef, none}, "inputs.mu",
                   {"complex64", "real types"});
    expect_refused(three, {{DType::complex128, {2, 3, 5, 6, 5, 6}}, mu, coef, none}, "inputs.gamma", {"complex128"});
    expect_refused(three, {none, mu, {DType::complex128, {4}}, none}, "inputs.coef", {"complex128"});

    const auto with = [](std::string_view name, Value value, const char* form = "variance") {
        return params({{"kernel", Values{3, 2}}, {"form", form}, {name, std::move(value)}});
    };
    const Spec weights = f32({4, 3, 3, 2});
    expect_refused(with("noise", "both"), {none, mu, coef}, "params.noise", {"programming", "read"});
    expect_refused(with("padding_mode", "reflect"), {none, mu, coef}, "params.padding_mode", {"zeros", "circular"});
    expect_refused(with("padding_mode", "circular"), {none, f32({2, 3, 0, 6}), coef}, "params.padding_mode",
                   {"(2, 3, 0, 6)", "zeros"});
    expect_refused(with("symmetric", true), {none, mu, coef}, "params.symmetric", {"none", "assume", "check"});
    expect_refused(with("bias", 1), {none, mu, coef}, "params.bias", {"true or false"});
    expect_refused(with("bias", true, "factor"), {none, mu}, "params.bias", {"factor", "no bias"});
    expect_refused(with("noise", "read", "factor"), {none, mu}, "params.noise", {"factor", "form: variance"});
    expect_refused(with("bias", true), {none, mu, none, none, weights}, "params.bias", {"weight_variance"});
    expect_refused(with("noise", "read", "factor"), {none, mu, none, none, weights}, "inputs.weight_variance",
                   {"factor", "no weight_variance"});
    expect_refused(with("noise", "read"), {none, mu, coef, none, weights}, "inputs.weight_variance", {"both"});
    expect_refused(with("noise", "read"), {none, mu, none, none, f32({4, 3, 2, 3})}, "inputs.weight_variance",
                   {"(4, 3, 2, 3)", "(O, 3, 3, 2)"});
    expect_refused(with("noise", "read"), {none, mu, none, none, f32({})}, "inputs.weight_variance", {"(O, 3, 3, 2)"});
    expect_refused(with("channels", 5), {none, mu, none, none, weights}, "params.channels",
                   {"channels is 5", "weight_variance has 4"});
    expect_refused(with("noise", "read"), {none, mu, none, f32({2, 5, 3, 5}), weights}, "inputs.weight_variance",
                   {"4 elements", "5 output channels"});

    expect_refused(three, {none, mu, coef, none}, "result_dtype", {"complex64"}, DType::complex64);
    expect_refused(three, {none, mu, coef, none}, "result_dtype", {"int32"}, DType::int32);
}

}  // namespace
}  // namespace gridstride
