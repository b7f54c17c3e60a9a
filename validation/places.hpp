// SPDX-License-Identifier: BSD-3-Clause
// Which outputs are put to the reference, without a list where it is all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/judging.hpp"

namespace gridstride::validation {

/// Ascending, distinct places of an output: all of them, or a list.
struct Places {
    std::int64_t outputs = 0;
    bool all = false;
    std::vector<std::int64_t> list;  // empty where all

    std::int64_t count() const { return all ? outputs : static_cast<std::int64_t>(list.size()); }
    /// The places number begin to end - 1.
    std::vector<std::int64_t> slice(std::int64_t begin, std::int64_t end) const;
};

/// All where the mode is full or outputs times terms fit the budget, else max(16, min(sample, budget / terms)) seeded
/// ones with the first and the last among them; none in Mode::none.
Places choose_places(std::int64_t outputs, std::int64_t terms, const Validate& asked);

/// More places of the same output, in any order; those that are there already are not doubled.
void add_places(Places& places, const std::vector<std::int64_t>& more);

/// count places of [0, outputs), ascending and distinct, the first and the last among them; count from 1 to outputs.
/// The same on every machine.
std::vector<std::int64_t> seeded_places(std::int64_t outputs, std::int64_t count, std::uint64_t seed);

}  // namespace gridstride::validation
