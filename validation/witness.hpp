// SPDX-License-Identifier: BSD-3-Clause
// The second witness at every element, where the reference judged only some.
#pragma once

#include "validation/trial.hpp"

namespace gridstride::validation {

/// What came of it.
struct Everywhere {
    Tally ours;                // of the places that were put to the reference on that account
    bool differs = false;      // the two are further apart than both bounds allow
    std::int64_t outside = 0;  // places that are, or transforms
};

/// Compares ours with the witness's answer `theirs` at every element, within the sum of both bounds; the 64 worst
/// places outside are put to the reference, and for transforms that are only outside as a whole the worst of them,
/// where it fits 10 times the budget. contenders: ours and the witness.
Everywhere compare_everywhere(const Trial& trial, std::span<const Contender, 2> contenders, const Slab& got,
                              const Slab& theirs, const SecondWitness& witness, const Validate& asked);

/// sum|terms| of every output, from the witness on absolute values: of two runs where an addend (an optional input
/// that the output may overwrite) is there, so that factors of either sign do not cancel. Of complex inputs the moduli.
std::vector<Tensor> magnitudes(const Op& op, std::span<const Slab> in, const SecondWitness& witness);

}  // namespace gridstride::validation
