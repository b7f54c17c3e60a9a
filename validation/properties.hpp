// SPDX-License-Identifier: BSD-3-Clause
// The operation's reference-free properties, tested on an answer, and what to do where one does not hold.
#pragma once

#include "validation/trial.hpp"

namespace gridstride::validation {

/// What the criterion allows an element.
Allowance allowance_of(const Criterion& criterion);

/// The operation's properties of this answer; none where it has none, or another tolerance than the bound was asked.
std::vector<Property> properties_of(const Trial& trial, const Variant& variant, const Criterion& criterion,
                                    const Slab& got, const Validate& asked, const Again& again);

/// The elements of a property that does not hold, put to the reference as far as the budget goes.
Tally judge_suspects(Trial& trial, const Property& property, const Contender& ours, const Validate& asked);

}  // namespace gridstride::validation
