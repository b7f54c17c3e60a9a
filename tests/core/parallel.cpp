// SPDX-License-Identifier: BSD-3-Clause
// for_blocks: every element once, the same blocks for every thread count, the lowest block's exception.
#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace gridstride {
namespace {

TEST(ForBlocks, VisitsEveryElementOnce) {
    for (const int threads : {1, 2, 7})
        for (const std::int64_t n : {0, 1, 9, 10, 11, 1003}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
            std::atomic<int> misplaced = 0;
            for_blocks(n, 10, threads, [&](std::int64_t begin, std::int64_t end) {
                if (begin % 10 != 0 || end != std::min(n, begin + 10)) ++misplaced;
                for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
            });
            EXPECT_EQ(misplaced, 0);
            for (const auto& count : visits) ASSERT_EQ(count, 1);
        }
}

TEST(ForBlocks, RethrowsTheLowestBlocksException) {
    for (const int threads : {1, 2, 7})
        for (int repeat = 0; repeat < 20; ++repeat) {
            try {
                for_blocks(1000, 10, threads, [](std::int64_t begin, std::int64_t) {
                    if (begin >= 370) throw std::runtime_error(std::to_string(begin));
                });
                FAIL() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "370");
            }
        }
}

}  // namespace
}  // namespace gridstride
