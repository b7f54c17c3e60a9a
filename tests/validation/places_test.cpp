// SPDX-License-Identifier: BSD-3-Clause
// Which places are judged.
#include "validation/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "validation/validation.hpp"

namespace gridstride::validation {

namespace {

Validate sampled(std::int64_t sample, double terms, std::uint64_t seed = 0) {
    return {Validate::Mode::sample, sample, terms, seed};
}

}  // namespace

TEST(Places, AllWhereOutputsTimesTermsFitTheBudget) {
    EXPECT_EQ(choose_places(1000, 2'000'000, {}).count(), 1000);
    EXPECT_TRUE(choose_places(1000, 2'000'000, {}).all);
    EXPECT_FALSE(choose_places(1000, 2'000'001, {}).all);
}

TEST(Places, SampleOrBudgetWhicheverIsLess) {
    EXPECT_EQ(choose_places(1'000'000'000, 10, {}).count(), 4096);
    EXPECT_EQ(choose_places(1'000'000, 1'000'000, {}).count(), 2000);
    EXPECT_EQ(choose_places(1'000'000, 1'000'000, sampled(100, 2e9)).count(), 100);
}

TEST(Places, SixteenAtLeastAndNeverMoreThanThereAre) {
    EXPECT_EQ(choose_places(1'000'000, 1'000'000'000, {}).count(), 16);
    EXPECT_EQ(choose_places(1'000'000, 1'000'000, sampled(1, 2e9)).count(), 16);
    EXPECT_EQ(choose_places(5, 1'000'000'000'000, {}).count(), 5);
    EXPECT_EQ(choose_places(1, 1'000'000'000'000, {}).count(), 1);
    EXPECT_EQ(choose_places(17, 1, sampled(1, 0)).count(), 16);
}

TEST(Places, FullHasNoBudgetNoneHasNoPlaces) {
    EXPECT_TRUE(choose_places(1'000'000, 1'000'000'000, {Validate::Mode::full, 1, 1}).all);
    EXPECT_EQ(choose_places(1'000'000, 1, {Validate::Mode::none}).count(), 0);
    EXPECT_EQ(choose_places(0, 1, {}).count(), 0);
}

TEST(Places, DistinctAscendingFromFirstToLast) {
    for (const std::int64_t outputs : {17, 18, 100, 4097, 1'000'003}) {
        const auto list = places(outputs, 1'000'000'000, sampled(4096, 1e12));
        ASSERT_GE(list.size(), 16U);
        EXPECT_EQ(list.front(), 0);
        EXPECT_EQ(list.back(), outputs - 1);
        EXPECT_EQ(std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()), list.end());
    }
}

TEST(Places, TheSameOnEveryMachine) {  // worked out apart, in Python's integers
    EXPECT_EQ(seeded_places(1000, 16, 0),
              (std::vector<std::int64_t>{0, 7, 69, 72, 215, 304, 423, 510, 522, 575, 588, 603, 672, 879, 934, 999}));
    EXPECT_EQ(seeded_places(1'000'000'000'000, 16, 7),
              (std::vector<std::int64_t>{0, 168852333053, 236355448715, 263852532980, 350012776691, 353732525495,
                                         549126387919, 641541841267, 685749326452, 706844944779, 909196417312,
                                         943636972682, 947564029921, 992610248588, 993198141100, 999999999999}));
}

TEST(Places, AnotherSeedOtherPlaces) {
    EXPECT_NE(places(1'000'000, 1'000'000, sampled(64, 2e9, 0)), places(1'000'000, 1'000'000, sampled(64, 2e9, 1)));
}

TEST(Places, SpreadOverTheWholeOutput) {
    const auto list = seeded_places(1'000'000, 4000, 3);
    for (int tenth = 0; tenth < 10; ++tenth) {
        const auto inside =
            std::count_if(list.begin(), list.end(), [&](std::int64_t place) { return place / 100'000 == tenth; });
        EXPECT_GT(inside, 300);
        EXPECT_LT(inside, 500);
    }
}

TEST(Places, MoreAreAddedOnce) {
    Places some{100, false, {0, 50, 99}};
    add_places(some, {70, 50, 3});
    EXPECT_EQ(some.slice(0, some.count()), (std::vector<std::int64_t>{0, 3, 50, 70, 99}));
    Places all{3, true, {}};
    add_places(all, {1});
    EXPECT_EQ(all.slice(1, 3), (std::vector<std::int64_t>{1, 2}));
}

}  // namespace gridstride::validation
