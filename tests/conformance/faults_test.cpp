// SPDX-License-Identifier: BSD-3-Clause
// Faults planted into right answers of every operation: the judge must call each a mismatch, whole and sampled.
#include "conformance/faults.hpp"

#include <gtest/gtest.h>

namespace gridstride::conformance {

namespace {

using Faults = ::testing::TestWithParam<Row>;

INSTANTIATE_TEST_SUITE_P(Cpu, Faults, ::testing::ValuesIn(cpu_rows()), row_name);

}  // namespace

TEST_P(Faults, AreFoundWhereAllIsJudged) {
    expect_faults_found(GetParam(), on_cpu, {.mode = Validate::Mode::full}, 2, 10, false);
}

TEST_P(Faults, ThatAreEverywhereAreFoundInASample) {
    expect_faults_found(GetParam(), on_cpu, {.sample = 16, .terms = 1}, 100, 6, true);
}

TEST_P(Faults, AreFoundInALargeAnswerOfWhichASampleIsJudged) {
    expect_faults_found_in_a_large_answer(GetParam(), on_cpu);
}

}  // namespace gridstride::conformance
