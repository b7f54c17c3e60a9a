// SPDX-License-Identifier: BSD-3-Clause
// The place a rolled answer comes from.
#include "validation/vacuity.hpp"

#include <gtest/gtest.h>

namespace gridstride::validation {

TEST(Roll, AlongTheLastAxisLongerThanOne) {
    EXPECT_EQ(rolled_from(1, {2, 3}), 0);
    EXPECT_EQ(rolled_from(0, {2, 3}), 2);
    EXPECT_EQ(rolled_from(3, {2, 3}), 5);
    EXPECT_EQ(rolled_from(0, {4, 1, 1}), 3);
    EXPECT_EQ(rolled_from(2, {4, 1, 1}), 1);
}

TEST(Roll, NothingToRoll) {
    EXPECT_EQ(rolled_from(0, {}), -1);
    EXPECT_EQ(rolled_from(0, {1, 1}), -1);
}

}  // namespace gridstride::validation
