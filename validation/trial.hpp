// SPDX-License-Identifier: BSD-3-Clause
// A trial: contenders (ours, the second witness, candidates of the vacuity check) put to the reference at the same
// places in one pass, in tiles. Element by element, or norm-wise for transforms, judged whole or by sampled bins.
#pragma once

#include "validation/compare.hpp"
#include "validation/places.hpp"

namespace gridstride::validation {

/// What the reference side of a judgement is made of.
struct Trial {
    const Op& op;
    const Problem& problem;
    std::span<const Slab> in;
    Reference reference;
    std::unique_ptr<Transforms> transforms;  // null but for Rule::transform
    std::int64_t outputs = 0, terms = 1;
    int threads = 1;
    bool fast = false;  // whole transforms by Transforms::all instead of the definition
};

/// Values at the places asked, in their order. May work in parallel; called by one thread at a time.
using Answer = std::function<std::vector<Complex>(std::span<const std::int64_t> places)>;
Answer answer_of(const Slab& slab);

struct Contender {
    std::string name;
    Answer answer;
    Criterion criterion;
};

/// Whether to go on where every contender has failed already.
enum class Extent { whole, until_failed };

/// The definition at some places, in parallel.
std::vector<Term> terms_at(const Trial& trial, std::span<const std::int64_t> places);

/// Element by element. The Tallies follow the contenders. until_failed: begins with few places and ends where all have
/// failed or differ nowhere yet pass.
std::vector<Tally> judge_elements(const Trial& trial, const Places& places, std::span<const Contender> contenders,
                                  Extent extent = Extent::whole);

/// Norm-wise over whole transforms, numbers first to last - 1.
std::vector<Tally> judge_transforms(const Trial& trial, std::int64_t first, std::int64_t last,
                                    std::span<const Contender> contenders, Extent extent = Extent::whole);

/// Norm-wise by sampled bins: each within the bound times its transform's norm, and, where `typical`, nine in ten
/// within the bound times (|X_k| + norm / sqrt(N)).
std::vector<Tally> judge_bins(const Trial& trial, const Places& places, std::span<const Contender> contenders,
                              bool typical, Extent extent = Extent::whole);

/// All outputs of one transform, in the order of Transforms::places; `places` are those.
std::vector<Complex> spectrum(const Trial& trial, std::int64_t transform, std::span<const std::int64_t> places);

/// Of two answers alike for whole transforms: amplitudes of bins, and how far they are apart.
struct Bin {
    long double error = 0;  // Inf where no bound could let it pass
    long double size = 0;   // |X| of the reference
    bool equal = false, overflow = false;
};
Bin compare_bin(const Complex& reference, const Complex& got, const Criterion& criterion, bool may_overflow);

/// What the norm-wise rule asks of one transform under a criterion: relative and absolute parts of an amplitude.
struct NormBound {
    long double relative = 0, absolute = 0;
};
NormBound norm_bound(const Criterion& criterion, bool one_signed);

/// May the accumulators of this transform overflow?
bool may_overflow(const Transforms& transforms, std::int64_t transform, const Criterion& criterion);

}  // namespace gridstride::validation
