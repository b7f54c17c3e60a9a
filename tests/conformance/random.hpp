// SPDX-License-Identifier: BSD-3-Clause
// Random valid cases of every operation and dtype: a right answer is never called wrong.
#pragma once

#include "conformance/suite.hpp"

namespace gridstride::conformance {

/// Judges random cases by all rows of the runner's device. GRIDSTRIDE_RANDOM_CASES sets how many (default 300),
/// GRIDSTRIDE_RANDOM_SEED where they begin; the largest share of the bound that any used is printed, by variant and by
/// property.
void expect_no_false_alarm(const Runner& runner);

}  // namespace gridstride::conformance
