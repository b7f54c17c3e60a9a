// SPDX-License-Identifier: BSD-3-Clause
// What is not plain in convcov: padding that wraps, the noise models, weights with a variance each, several coefficient
// vectors, half of gamma. Values by hand, or from an equal problem posed otherwise, for every CPU variant.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "convcov/convcov.hpp"
#include "support/run.hpp"

namespace gridstride {
namespace {

using support::Ask;
using support::bits;
using support::generate;
using support::Inputs;
using support::make;
using support::params;
using support::values;

using Doubles = std::vector<double>;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class Modes : public ::testing::TestWithParam<const char*> {
  protected:
    Tensor run(const Inputs& in, std::initializer_list<std::pair<std::string_view, Value>> given,
               bool in_place = false) const {
        Ask ask{.params = params(given), .in_place = in_place};
        return support::run("convcov", GetParam(), in, ask);
    }
    Doubles doubles(const Inputs& in, std::initializer_list<std::pair<std::string_view, Value>> given,
                    bool in_place = false) const {
        return values<double>(run(in, given, in_place));
    }
    bool is_factored() const { return std::string(GetParam()) == "factored"; }
};

INSTANTIATE_TEST_SUITE_P(Cpu, Modes, ::testing::Values("factored", "loop"),
                         [](const auto& info) { return std::string(info.param); });

const Tensor& one() {
    static const Tensor tensor = make<double>({1}, {1});
    return tensor;
}

/// One row of places, all means 0: gamma[x][y] = 1 + 3 x + y.
const Tensor& counted() {
    static const Tensor gamma = make<double>({1, 1, 1, 3, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    return gamma;
}
const Tensor& zeros() {
    static const Tensor mu = make<double>({1, 1, 1, 3}, {0, 0, 0});
    return mu;
}
/// Under a kernel of 1 x 2: R = [[5, 8], [8, 13]].
const Tensor& means() {
    static const Tensor mu = make<double>({1, 1, 1, 3}, {1, 2, 3});
    return mu;
}
const Value two_taps = Values{1, 2};

/// Multiples of 2^-10 in [-1, 1), exact in float16 and wider.
Tensor random_tensor(Shape shape, std::uint64_t seed) {
    std::uint64_t state = seed;
    return generate<double>(std::move(shape), [&state](std::int64_t) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state >> 53) * 0x1p-10 - 1;
    });
}

// --- Circular -------------------------------------------------------------------------------------------------------

TEST_P(Modes, CircularPaddingHoldsTheOtherEndOfTheMap) {
    const Tensor mu = make<double>({1, 1, 1, 4}, {1, 2, 3, 4});
    EXPECT_EQ(doubles({std::nullopt, mu, one()},
                      {{"kernel", Values{1, 3}}, {"padding", Values{0, 1}}, {"padding_mode", "circular"}}),
              (Doubles{21, 12, 19, 18, 12, 14, 20, 14, 19, 20, 29, 22, 18, 14, 22, 26}));
}

TEST_P(Modes, CircularWrapsBothPositionsOfGamma) {
    // R[j][j'] = gamma[j][j'] + gamma[j + 1][j' + 1], modulo 3.
    EXPECT_EQ(doubles({counted(), zeros(), one()},
                      {{"kernel", two_taps}, {"padding", Values{0, 0, 0, 1}}, {"padding_mode", "circular"}}),
              (Doubles{6, 8, 7, 12, 14, 13, 9, 11, 10}));
}

TEST_P(Modes, CircularWrapsAsOftenAsThePaddingNeeds) {
    // Places -5 to 1 of two: 1, 0, 1, 0, 1, 0, 1.
    const Tensor pair = make<double>({1, 1, 1, 2}, {1, 2});
    Doubles expected;
    for (int x = 0; x < 7; ++x)
        for (int y = 0; y < 7; ++y) expected.push_back((x % 2 == 0 ? 2 : 1) * (y % 2 == 0 ? 2 : 1));
    EXPECT_EQ(doubles({std::nullopt, pair, one()},
                      {{"kernel", 1}, {"padding", Values{0, 0, 5, 0}}, {"padding_mode", "circular"}}),
              expected);
    // Three rows 1, 2, 3 from row -4 on: all windows hold all three, 14 where in the same order, else 11.
    const Tensor rows = make<double>({1, 1, 3, 1}, {1, 2, 3});
    expected.clear();
    for (int x = 0; x < 5; ++x)
        for (int y = 0; y < 5; ++y) expected.push_back((x - y) % 3 == 0 ? 14 : 11);
    EXPECT_EQ(doubles({std::nullopt, rows, one()},
                      {{"kernel", Values{3, 1}}, {"padding", Values{4, 0, 0, 0}}, {"padding_mode", "circular"}}),
              expected);
}

TEST_P(Modes, CircularIsTheMapRepeatedAroundIt) {
    const Shape map{2, 2, 3, 4}, around{2, 2, 8, 9};  // 2 rows above, 3 below; 4 columns left, 1 right
    const Tensor mu = random_tensor(map, 1), gamma = random_tensor({2, 2, 3, 4, 3, 4}, 2);
    const auto row = [](std::int64_t r) { return (r + 1) % 3; };
    const Tensor wide_mu = generate<double>(around, [&](std::int64_t k) {
        const Shape at = unravel(k, around);
        return mu.as<double>()[((at[0] * 2 + at[1]) * 3 + row(at[2])) * 4 + at[3] % 4];
    });
    const Shape pairs{2, 2, 8, 9, 8, 9};
    const Tensor wide_gamma = generate<double>(pairs, [&](std::int64_t k) {
        const Shape at = unravel(k, pairs);
        const std::int64_t first = ((at[0] * 2 + at[1]) * 3 + row(at[2])) * 4 + at[3] % 4;
        return gamma.as<double>()[(first * 3 + row(at[4])) * 4 + at[5] % 4];
    });
    const Tensor coef = make<double>({2}, {0.5, -3});
    for (const Value& stride : {Value(1), Value(Values{2, 3})})
        for (const char* form : {"full", "variance"})
            EXPECT_EQ(
                bits(run({gamma, mu, coef}, {{"kernel", Values{2, 3}},
                                             {"dilation", Values{3, 2}},
                                             {"stride", stride},
                                             {"padding", Values{2, 3, 4, 1}},
                                             {"padding_mode", "circular"},
                                             {"form", form}})),
                bits(run({wide_gamma, wide_mu, coef},
                         {{"kernel", Values{2, 3}}, {"dilation", Values{3, 2}}, {"stride", stride}, {"form", form}})));
}

// --- Noise ----------------------------------------------------------------------------------------------------------

TEST_P(Modes, ReadNoiseReachesAPlaceWithItselfAlone) {
    const Tensor before = make<double>({1, 1, 1, 2, 1, 2}, {7, nan_value, -0.0, 7}), ten = make<double>({1}, {10});
    for (const bool in_place : {true, false}) {
        const Tensor got =
            run({std::nullopt, means(), ten, before}, {{"kernel", two_taps}, {"noise", "read"}}, in_place);
        EXPECT_EQ(got.as<double>()[0], 57);
        EXPECT_EQ(got.as<double>()[3], 137);
        EXPECT_EQ(bits(got).substr(8, 16), bits(before).substr(8, 16));  // bit for bit
    }
    EXPECT_EQ(doubles({std::nullopt, means(), ten}, {{"kernel", two_taps}, {"noise", "read"}}),
              (Doubles{50, 0, 0, 130}));
    EXPECT_EQ(doubles({std::nullopt, means(), ten}, {{"kernel", two_taps}, {"noise", "read"}, {"form", "variance"}}),
              (Doubles{50, 130}));
    const Tensor two = make<double>({2}, {1, 10});
    EXPECT_EQ(doubles({std::nullopt, means(), two}, {{"kernel", two_taps}, {"noise", "read"}, {"form", "full"}}),
              (Doubles{5, 0, 0, 0, 0, 13, 0, 0, 0, 0, 50, 0, 0, 0, 0, 130}));
}

TEST_P(Modes, ABiasAddsItsVarianceToEveryPairThatTheNoiseReaches) {
    const Tensor before = make<double>({1, 1, 1, 2, 1, 2}, {7, 7, 7, 7}), ten = make<double>({1}, {10});
    EXPECT_EQ(doubles({std::nullopt, means(), ten, before}, {{"kernel", two_taps}, {"bias", true}}),
              (Doubles{67, 97, 97, 147}));
    EXPECT_EQ(doubles({std::nullopt, means(), ten, before}, {{"kernel", two_taps}, {"bias", true}, {"noise", "read"}}),
              (Doubles{67, 7, 7, 147}));
    const Tensor none = make<double>({1}, {0});
    EXPECT_EQ(doubles({std::nullopt, means(), none, before}, {{"kernel", two_taps}, {"bias", true}}),
              (Doubles{7, 7, 7, 7}));
    // Where all is padding R is 0, and the bias stays.
    EXPECT_EQ(doubles({std::nullopt, means(), ten},
                      {{"kernel", two_taps}, {"bias", true}, {"padding", Values{1, 0, 0, 0}}, {"form", "variance"}}),
              (Doubles{10, 10, 60, 140}));
}

TEST_P(Modes, EveryWeightMayHaveAVarianceOfItsOwn) {
    if (is_factored()) {
        const Tensor weights = make<double>({1, 1, 1, 2}, {1, 2});
        const Problem problem =
            support::problem("convcov", {std::nullopt, means(), std::nullopt, std::nullopt, weights},
                             {.params = params({{"kernel", two_taps}})});
        const std::string why = find(*find("convcov"), "factored", Device::cpu)->refuses(problem);
        EXPECT_NE(why.find("take loop"), std::string::npos) << why;
        return;
    }
    // Channel 0 of the output: tap 0 alone; channel 1: 2 and 3.
    const Tensor weights = make<double>({2, 1, 1, 2}, {1, 0, 2, 3});
    EXPECT_EQ(doubles({std::nullopt, means(), std::nullopt, std::nullopt, weights}, {{"kernel", two_taps}}),
              (Doubles{1, 2, 2, 4, 14, 22, 22, 35}));
    EXPECT_EQ(doubles({std::nullopt, means(), std::nullopt, std::nullopt, weights},
                      {{"kernel", two_taps}, {"noise", "read"}}),
              (Doubles{1, 0, 0, 4, 14, 0, 0, 35}));
    EXPECT_EQ(doubles({counted(), zeros(), std::nullopt, std::nullopt, weights}, {{"kernel", two_taps}}),
              (Doubles{1, 2, 4, 5, 2 + 15, 4 + 18, 8 + 24, 10 + 27}));
    // A variance of 0 leaves its weight's term out, whatever that is.
    const Tensor infinite = make<double>({1, 1, 1, 3}, {1, 2, infinity});
    EXPECT_EQ(doubles({std::nullopt, infinite, std::nullopt, std::nullopt, weights},
                      {{"kernel", two_taps}, {"form", "variance"}}),
              (Doubles{1, 4, 14, infinity}));
    // Two input channels, means 1 and 10 everywhere, kernel 2 x 1: variances 1, 2 (channel 0), 3, 4 (channel 1).
    const Tensor mu = make<double>({1, 2, 2, 1}, {1, 1, 10, 10}), four = make<double>({1, 2, 2, 1}, {1, 2, 3, 4});
    EXPECT_EQ(doubles({std::nullopt, mu, std::nullopt, std::nullopt, four},
                      {{"kernel", Values{2, 1}}, {"padding", Values{1, 0, 0, 0}}}),
              (Doubles{2 + 400, 2 + 400, 2 + 400, 3 + 700}));  // tap 0 of i = 0 lies over padding
}

TEST_P(Modes, ReadVarianceIsTheDiagonalOfTheProgrammedCovariance) {
    const Tensor mu = random_tensor({2, 3, 4, 3}, 5), gamma = random_tensor({2, 3, 4, 3, 3, 4, 3}, 6);
    const Tensor coef = make<double>({2}, {0.75, 4});
    const auto ask = [&](const char* noise, const char* form) {
        return doubles({gamma, mu, coef},
                       {{"kernel", Values{3, 2}}, {"padding", 1}, {"noise", noise}, {"bias", true}, {"form", form}});
    };
    const Doubles all = ask("programming", "channel_diagonal"), own = ask("read", "channel_diagonal"),
                  variance = ask("programming", "variance");
    EXPECT_EQ(ask("read", "variance"), variance);
    constexpr std::size_t places = 4 * 4;  // Ho = 4, Wo = 4
    ASSERT_EQ(all.size(), 2 * 2 * places * places);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const std::size_t block = k / places / places, x = k / places % places, y = k % places;
        EXPECT_EQ(own[k], x == y ? all[k] : 0) << k;
        if (x == y) {
            EXPECT_EQ(variance[block * places + x], all[k]) << k;
        }
    }
}

// --- Coefficient vectors --------------------------------------------------------------------------------------------

TEST_P(Modes, CoefficientVectorsMakeAResultEach) {
    const Tensor coef = make<double>({2, 2}, {1, 10, 0, 2});
    const Tensor cov = run({std::nullopt, means(), coef}, {{"kernel", two_taps}});
    EXPECT_EQ(cov.spec().shape, (Shape{2, 1, 2, 1, 2, 1, 2}));
    EXPECT_EQ(values<double>(cov), (Doubles{5, 8, 8, 13, 50, 80, 80, 130, 0, 0, 0, 0, 10, 16, 16, 26}));
    EXPECT_EQ(run({std::nullopt, means(), coef}, {{"kernel", two_taps}, {"form", "full"}}).spec().shape,
              (Shape{2, 1, 2, 1, 2, 2, 1, 2}));
    EXPECT_EQ(doubles({std::nullopt, means(), coef}, {{"kernel", two_taps}, {"form", "variance"}}),
              (Doubles{5, 13, 50, 130, 0, 0, 10, 26}));
}

TEST_P(Modes, CoefficientVectorsGiveTheBitsOfEachAlone) {
    const Tensor mu = random_tensor({3, 2, 4, 3}, 7), gamma = random_tensor({3, 2, 4, 3, 2, 4, 3}, 8);
    const Doubles numbers{0.5, -2, 1.25, 0, 3, 7};
    const Tensor coef = make<double>({3, 2}, numbers);
    for (const char* form : {"full", "channel_diagonal", "variance"})
        for (const char* noise : {"programming", "read"}) {
            const auto ask = [&](const Tensor& factors, const Tensor& before, bool in_place) {
                return bits(run({gamma, mu, factors, before},
                                {{"kernel", Values{2, 3}}, {"form", form}, {"noise", noise}}, in_place));
            };
            Shape each = support::problem("convcov", {gamma, mu, make<double>({2}, {1, 1})},
                                          {.params = params({{"kernel", Values{2, 3}}, {"form", form}})})
                             .out[0]
                             .shape;
            Shape all = each;
            all.insert(all.begin(), 3);
            const Tensor before = random_tensor(all, 9);
            std::string expected;
            for (std::size_t s = 0; s < 3; ++s) {
                Selection own = whole(all);
                own.axes[0] = {static_cast<std::int64_t>(s), 1, 1, true};
                expected += ask(make<double>({2}, {numbers[2 * s], numbers[2 * s + 1]}),
                                clone(part(before.slab(), own)), false);
            }
            EXPECT_EQ(ask(coef, before, false), expected) << form << " " << noise;
            EXPECT_EQ(ask(coef, before, true), expected) << form << " " << noise << " in place";
        }
}

// --- Half of gamma --------------------------------------------------------------------------------------------------

TEST_P(Modes, AssumedSymmetryReadsTheHalfFromTheDiagonalOn) {
    EXPECT_EQ(doubles({counted(), zeros(), one()}, {{"kernel", 1}, {"symmetric", "assume"}}),
              (Doubles{1, 2, 3, 2, 5, 6, 3, 6, 9}));
    // Row-major order of a map of 2 x 2: (0, 1) comes before (1, 0). What is not read is NaN.
    const Tensor gamma = generate<double>(
        {1, 1, 2, 2, 2, 2}, [](std::int64_t k) { return k / 4 > k % 4 ? nan_value : static_cast<double>(k); });
    const Tensor mu = make<double>({1, 1, 2, 2}, {0, 0, 0, 0});
    for (const char* word : {"assume", "check"})
        EXPECT_EQ(doubles({gamma, mu, one()}, {{"kernel", 1}, {"symmetric", word}}),
                  (Doubles{0, 1, 2, 3, 1, 5, 6, 7, 2, 6, 10, 11, 3, 7, 11, 15}));
    EXPECT_EQ(doubles({gamma, mu, one()}, {{"kernel", 1}, {"symmetric", "assume"}, {"form", "variance"}}),
              (Doubles{0, 5, 10, 15}));
}

TEST_P(Modes, AssumedSymmetryIsTheMirroredGamma) {
    constexpr std::int64_t rows = 5, columns = 3, places = rows * columns;
    const Tensor mu = random_tensor({2, 2, rows, columns}, 10);
    const Tensor gamma = random_tensor({2, 2, rows, columns, 2, rows, columns}, 11);
    const Tensor mirrored = generate<double>(gamma.spec().shape, [&](std::int64_t k) {
        std::int64_t x = k / (2 * places) % places, y = k % places;
        if (y < x) std::swap(x, y);
        const std::int64_t channels = k / (2 * places * places) * 2 + k / places % 2;  // (b, c) and the second c
        return gamma.as<double>()[((channels / 2 * places + x) * 2 + channels % 2) * places + y];
    });
    const Tensor coef = make<double>({2}, {0.5, -3});
    for (const char* mode : {"zeros", "circular"})
        for (const Value& stride : {Value(1), Value(Values{2, 3})}) {
            const auto ask = [&](const Tensor& covariance, const char* symmetric) {
                return bits(run({covariance, mu, coef}, {{"kernel", Values{2, 3}},
                                                         {"padding", Values{1, 2, 0, 4}},
                                                         {"stride", stride},
                                                         {"padding_mode", mode},
                                                         {"symmetric", symmetric}}));
            };
            EXPECT_EQ(ask(gamma, "assume"), ask(mirrored, "none")) << mode;
            EXPECT_NE(ask(gamma, "none"), ask(mirrored, "none")) << mode;
        }
}

TEST(Convcov, CheckedSymmetryNamesTheFirstPairThatDiffers) {
    const auto admitted = [](const Tensor& gamma, const char* symmetric) -> std::string {
        const Tensor mu =
            generate<float>({gamma.spec().shape[0], gamma.spec().shape[1], 2, 3}, [](std::int64_t) { return 1.0F; });
        const Inputs in{gamma, mu, one()};
        const Problem problem =
            support::problem("convcov", in, {.params = params({{"kernel", 1}, {"symmetric", symmetric}})});
        const std::vector<Tensor> tensors = support::converted(convcov::op, in);
        try {
            convcov::op.admit(problem, support::slabs(problem.in, tensors));
        } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::input);
            EXPECT_EQ(error.where(), "inputs.gamma");
            return error.what();
        }
        return "";
    };
    const auto symmetric = [](Shape shape) {
        return generate<float>(shape, [&](std::int64_t k) {
            const std::int64_t y = k % 6, x = k / (shape.size() == 7 ? shape[4] * 6 : 6) % 6;
            return x == 1 && y == 4 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(x * y + x + y);
        });
    };
    for (const Shape& shape : {Shape{2, 2, 2, 3, 2, 3}, Shape{2, 2, 2, 3, 2, 2, 3}}) {
        Tensor gamma = symmetric(shape);
        float* values = gamma.as<float>();
        const std::int64_t pitch = shape.size() == 7 ? 12 : 6, block = 6 * pitch;
        const std::int64_t last = 3 * block + (shape.size() == 7 ? 6 : 0);  // batch 1, channel 1
        for (std::int64_t b = 0; b < 4; ++b)
            values[b * block + (shape.size() == 7 ? b % 2 * 6 : 0) + 4 * pitch + 1] =
                std::numeric_limits<float>::quiet_NaN();  // as its mirror: no difference
        EXPECT_EQ(admitted(gamma, "check"), "");
        values[last + 5 * pitch + 2] = 99;  // 17
        values[last + 3 * pitch + 2] = 98;  // 11, the earlier pair: places (0, 2) and (1, 0)
        const std::string message = admitted(gamma, "check");
        for (const char* words : {"batch 1, channel 1", "(0, 2) with (1, 0) has 11", "(1, 0) with (0, 2) has 98"})
            EXPECT_NE(message.find(words), std::string::npos) << message;
        EXPECT_EQ(admitted(gamma, "assume"), "");
        EXPECT_EQ(admitted(gamma, "none"), "");
    }
}

// --- Cost -----------------------------------------------------------------------------------------------------------

TEST(Convcov, CostCountsWhatTheModesTouch) {
    const Tensor mu = random_tensor({1, 2, 1, 4}, 1), gamma = random_tensor({1, 2, 1, 4, 1, 4}, 2);
    const Tensor coef = make<double>({2, 3}, {1, 1, 1, 1, 1, 1}), before = random_tensor({2, 1, 3, 1, 4, 1, 4}, 3);
    const auto cost = [&](std::initializer_list<std::pair<std::string_view, Value>> given) {
        return convcov::op.cost(support::problem("convcov", {gamma, mu, coef, before}, {.params = params(given)}));
    };
    // gamma 2 channels of 16 pairs, mu 8, coef 6; accumulate and cov 2 x 3 blocks of 16. Elements of 8 bytes.
    const Cost all = cost({{"kernel", 1}});
    EXPECT_EQ(all.read, 8 * (32 + 8 + 6 + 96));
    EXPECT_EQ(all.written, 8 * 96);
    EXPECT_EQ(cost({{"kernel", 1}, {"symmetric", "assume"}}).read, 8 * (2 * 10 + 8 + 6 + 96));
    const Cost read = cost({{"kernel", 1}, {"noise", "read"}});
    EXPECT_EQ(read.read, 8 * (2 * 4 + 8 + 6 + 24));
    EXPECT_EQ(read.written, 8 * 24);
    // A circular stride of 2 over 4 places meets two of them, of 3 all.
    const auto fresh = [&](Value stride) {
        return convcov::op
            .cost(support::problem("convcov", {gamma, mu, one()},
                                   {.params = params({{"kernel", 1},
                                                      {"stride", std::move(stride)},
                                                      {"padding", Values{0, 0, 0, 12}},
                                                      {"padding_mode", "circular"}})}))
            .read;
    };
    EXPECT_EQ(fresh(Values{1, 2}), 8 * (2 * 4 + 8 + 1));
    EXPECT_EQ(fresh(Values{1, 3}), 8 * (2 * 16 + 8 + 1));
}

}  // namespace
}  // namespace gridstride
