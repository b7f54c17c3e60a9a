// SPDX-License-Identifier: BSD-3-Clause
// What a user may ask of the judge: how many places, how strict. Read from the job file, obeyed by validation.
#pragma once

#include <cstdint>

namespace gridstride {

/// `validate`: how many outputs are put to the reference. The budget is counted in terms, not seconds, so that every
/// machine judges the same places.
struct Validate {
    enum class Mode { sample, full, none } mode = Mode::sample;
    std::int64_t sample = 4096;  // places at the most, where not all fit the budget
    double terms = 2e9;          // outputs times terms an output that may be computed
    std::uint64_t seed = 0;      // of the places
};

/// `tolerance`: how far an answer may be from the reference.
struct Tolerance {
    enum class Mode { bound, absolute_relative, bitwise } mode = Mode::bound;
    double factor = 4;          // c of the derived bound
    double rtol = 0, atol = 0;  // |got - expected| <= atol + rtol |expected|
};

}  // namespace gridstride
