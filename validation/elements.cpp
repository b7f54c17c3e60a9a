// SPDX-License-Identifier: BSD-3-Clause
// Judging element by element: tiles of places, the reference of each computed once for all contenders.
#include <algorithm>

#include "core/parallel.hpp"
#include "validation/scan.hpp"
#include "validation/trial.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t places_a_tile = 1 << 16;  // places whose Terms are held at once
constexpr double terms_a_block = 1 << 16;        // work of one block of a parallel loop
constexpr std::int64_t compared_a_block = 4096;

}  // namespace

Answer answer_of(const Slab& slab) {
    return [slab](std::span<const std::int64_t> places) {
        std::vector<Complex> values;
        values.reserve(places.size());
        for (const std::int64_t place : places) values.push_back(element(slab, place));
        return values;
    };
}

std::vector<Term> terms_at(const Trial& trial, std::span<const std::int64_t> places) {
    std::vector<Term> terms(places.size());
    const auto block = static_cast<std::int64_t>(
        std::clamp(terms_a_block / static_cast<double>(std::max<std::int64_t>(trial.terms, 1)), 1.0, 4096.0));
    for_blocks(static_cast<std::int64_t>(places.size()), block, trial.threads,
               [&](std::int64_t begin, std::int64_t end) {
                   for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                       terms[i] = trial.reference(places[i]);
               });
    return terms;
}

std::vector<Tally> judge_elements(const Trial& trial, const Places& places, std::span<const Contender> contenders,
                                  Extent extent) {
    std::vector<Tally> tallies(contenders.size());
    std::vector<Tally> parts;
    std::int64_t size = extent == Extent::whole ? places_a_tile : 1;
    for (std::int64_t begin = 0; begin < places.count(); begin += size, size = std::min(2 * size, places_a_tile)) {
        const auto here = places.slice(begin, std::min(places.count(), begin + size));
        const auto terms = terms_at(trial, here);
        const auto n = static_cast<std::int64_t>(here.size());
        bool open = false;
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            if (extent == Extent::until_failed && tallies[c].failed > 0) continue;
            const Contender& contender = contenders[c];
            const auto values = contender.answer(here);
            parts.assign(static_cast<std::size_t>((n + compared_a_block - 1) / compared_a_block), {});
            for_blocks(n, compared_a_block, trial.threads, [&](std::int64_t from, std::int64_t to) {
                Tally& part = parts[static_cast<std::size_t>(from / compared_a_block)];
                for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
                    part.add(here[i], {terms[i].re, terms[i].im}, values[i],
                             compare(terms[i], values[i], contender.criterion), contender.criterion.output);
                    part.wrapped += terms[i].wrapped ? 1 : 0;
                    part.lost += terms[i].lost ? 1 : 0;
                    // A finite reference that rounds to Inf is counted there; this one came rounded.
                    const bool rounded_to_inf = class_of(Complex{terms[i].re, terms[i].im}) != Class::finite;
                    part.infinite += terms[i].overflowed && rounded_to_inf ? 1 : 0;
                }
            });
            for (const Tally& part : parts) tallies[c].merge(part);
            open = open || tallies[c].failed == 0;
        }
        if (extent == Extent::until_failed && !open) break;
    }
    return tallies;
}

}  // namespace gridstride::validation
