// SPDX-License-Identifier: BSD-3-Clause
// Could the check have told a wrong answer from the right one?
#pragma once

#include <string>
#include <vector>

#include "validation/trial.hpp"

namespace gridstride::validation {

/// Zeros, each input of the output's shape, and the expected answer rolled by one along its last axis longer than 1,
/// all rounded to the output type. whole: expected answers of transforms come from whole spectra. The result refers to
/// trial and in.
std::vector<Contender> candidates(const Trial& trial, std::span<const Slab> in, const Criterion& criterion, bool whole);

/// The place that place is rolled from, in this shape; -1 where no axis is longer than 1.
std::int64_t rolled_from(std::int64_t place, const Shape& shape);

}  // namespace gridstride::validation
