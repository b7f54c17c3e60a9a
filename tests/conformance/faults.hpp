// SPDX-License-Identifier: BSD-3-Clause
// Faults planted into right answers: an accumulator not zeroed, a row unwritten, indices off by one or swapped, a wrong
// sign, a factor of 1.0001, a NaN, a stale element. The judge must call each a mismatch.
#pragma once

#include "conformance/suite.hpp"

namespace gridstride::conformance {

/// Plants every fault in the answers of some cases of at least `least` outputs, up to `most` cases a dtype, judged as
/// `asked`. sampled: only those that any sample of the places must find.
void expect_faults_found(const Row& row, const Runner& runner, const Validate& asked, std::int64_t least, int most,
                         bool sampled);
/// Plants every fault in one answer of which the default budget judges a sample (where the operation has properties).
void expect_faults_found_in_a_large_answer(const Row& row, const Runner& runner);

}  // namespace gridstride::conformance
