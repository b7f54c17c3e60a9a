// SPDX-License-Identifier: BSD-3-Clause
// Random valid cases of every operation and dtype on the CPU.
#include "conformance/random.hpp"

#include <gtest/gtest.h>

namespace gridstride::conformance {

TEST(RandomCases, OfRightAnswersAreNeverCalledWrong) {
    expect_no_false_alarm(on_cpu);
}

}  // namespace gridstride::conformance
