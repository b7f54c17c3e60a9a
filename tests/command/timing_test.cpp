// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of timing, on samples made by hand.
#include "timing.hpp"

#include <gtest/gtest.h>

namespace gridstride::timing {

namespace {

/// n samples, half of them `low`, half `high`, in turn.
std::vector<double> two_values(std::size_t n, double low, double high) {
    std::vector<double> samples;
    for (std::size_t i = 0; i < n; ++i) samples.push_back(i % 2 == 0 ? low : high);
    return samples;
}

TEST(Summary, QuartilesLieBetweenSamplesByLinearInterpolation) {
    const Seconds four = summary({4, 1, 3, 2});  // numpy.quantile([1, 2, 3, 4], [.25, .5, .75])
    EXPECT_EQ(four.q1, 1.75);
    EXPECT_EQ(four.median, 2.5);
    EXPECT_EQ(four.q3, 3.25);
    EXPECT_EQ(four.min, 1);
    EXPECT_EQ(four.samples, (std::vector<double>{4, 1, 3, 2}));  // as they came
    const Seconds five = summary({9, 7, 1, 3, 4});
    EXPECT_EQ(five.q1, 3);
    EXPECT_EQ(five.median, 4);
    EXPECT_EQ(five.q3, 7);
}

TEST(Summary, OfOneSampleIsThatSample) {
    const Seconds one = summary({0.25});
    EXPECT_EQ(one.q1, 0.25);
    EXPECT_EQ(one.median, 0.25);
    EXPECT_EQ(one.q3, 0.25);
    EXPECT_EQ(one.min, 0.25);
}

TEST(Settled, NeedsTenSamplesHoweverAlike) {
    EXPECT_FALSE(settled(std::vector<double>(9, 1.0)));
    EXPECT_TRUE(settled(std::vector<double>(10, 1.0)));
}

TEST(Settled, NeedsMoreSamplesTheWiderTheSpread) {
    // (1.024 - 0.976) / sqrt(n) <= 0.005: n >= 92.2
    EXPECT_FALSE(settled(two_values(92, 0.976, 1.024)));
    EXPECT_TRUE(settled(two_values(94, 0.976, 1.024)));
    EXPECT_TRUE(settled(two_values(94, 976, 1024)));  // relative to the median
}

TEST(Settled, FewOutliersDoNotKeepItFromSettling) {
    std::vector<double> samples(40, 1.0);
    samples[3] = 50;
    samples[17] = 20;
    EXPECT_TRUE(settled(samples));
}

TEST(Another, EndsWhenSettledOrTheBudgetIsSpentOrThereAreAThousand) {
    EXPECT_TRUE(another(std::vector<double>(9, 1e-3), 0.01, 1));
    EXPECT_FALSE(another(std::vector<double>(10, 1e-3), 0.01, 1));
    EXPECT_TRUE(another(two_values(20, 1, 2), 0.99, 1));
    EXPECT_FALSE(another(two_values(20, 1, 2), 1, 1));
    EXPECT_TRUE(another(two_values(20, 1, 2), 1, 3));
    EXPECT_TRUE(another(two_values(998, 1, 9), 0.9, 1));
    EXPECT_FALSE(another(two_values(1000, 1, 9), 0.9, 1));
}

TEST(Another, ASlowCaseHasFiveSamplesWhereTheyTakeFiveBudgetsAtTheMost) {
    EXPECT_TRUE(another({0.9, 0.9}, 1.8, 1));
    EXPECT_TRUE(another({0.9, 0.9, 0.9, 0.9}, 3.6, 1));
    EXPECT_FALSE(another({0.9, 0.9, 0.9, 0.9, 0.9}, 4.5, 1));
    EXPECT_FALSE(another({60}, 60, 1));
}

TEST(Sets, AreTogetherAboveTwiceTheCache) {
    EXPECT_EQ(sets_beyond(50, 10), 11U);  // 110 bytes; 10 sets would be 100
    EXPECT_EQ(sets_beyond(50, 33), 4U);
    EXPECT_EQ(sets_beyond(50, 100), 2U);
    EXPECT_EQ(sets_beyond(50, 101), 1U);
    EXPECT_EQ(sets_beyond(50, 0), 1U);
    EXPECT_EQ(sets_beyond(std::size_t{50} << 20, 4), 1024U);
}

TEST(Calls, FillASample) {
    EXPECT_EQ(calls_of(1e-6, 1e-4), 100);
    EXPECT_EQ(calls_of(3e-5, 1e-4), 4);
    EXPECT_EQ(calls_of(2, 1e-4), 1);
    EXPECT_EQ(calls_of(0, 1e-4), 1024);
}

}  // namespace

}  // namespace gridstride::timing
