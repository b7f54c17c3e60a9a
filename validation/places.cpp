// SPDX-License-Identifier: BSD-3-Clause
// Which outputs are put to the reference: all within the budget of terms, else seeded ones. Integers only, so that
// every machine judges the same places.
#include "validation/places.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "validation/validation.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t least_places = 16;

/// Number `counter` of a stream: SplitMix64's output function (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014) of the seed and the counter.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
    std::uint64_t z = seed * 0xd1342543de82ef95U + (counter + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/// An integer of [0, n), by the upper half of a 128-bit product.
std::int64_t random_below(std::int64_t n, std::uint64_t bits) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>((static_cast<Wide>(bits) * static_cast<Wide>(n)) >> 64);
}

}  // namespace

std::vector<std::int64_t> seeded_places(std::int64_t outputs, std::int64_t count, std::uint64_t seed) {
    if (count <= 1 || outputs <= 1) return {0};
    // Floyd's algorithm over the places between first and last: distinct without a table of all.
    const std::int64_t inner = outputs - 2, wanted = std::min(count, outputs) - 2;
    std::unordered_set<std::int64_t> chosen;
    for (std::int64_t j = inner - wanted; j < inner; ++j) {
        const std::int64_t place = random_below(j + 1, random_bits(seed, static_cast<std::uint64_t>(j)));
        if (!chosen.insert(place).second) chosen.insert(j);
    }
    std::vector<std::int64_t> result{0};
    for (const std::int64_t place : chosen) result.push_back(place + 1);
    result.push_back(outputs - 1);
    std::sort(result.begin(), result.end());
    return result;
}

Places choose_places(std::int64_t outputs, std::int64_t terms, const Validate& asked) {
    Places places{outputs, false, {}};
    if (outputs == 0 || asked.mode == Validate::Mode::none) return places;
    const double each = static_cast<double>(std::max<std::int64_t>(terms, 1));
    if (asked.mode == Validate::Mode::full || static_cast<double>(outputs) * each <= asked.terms) {
        places.all = true;
        return places;
    }
    const double affordable = std::min(asked.terms / each, 0x1p62);
    const std::int64_t wanted =
        std::max(least_places, std::min(asked.sample, static_cast<std::int64_t>(std::max(affordable, 0.0))));
    if (wanted >= outputs)
        places.all = true;
    else
        places.list = seeded_places(outputs, wanted, asked.seed);
    return places;
}

std::vector<std::int64_t> Places::slice(std::int64_t begin, std::int64_t end) const {
    if (!all) return {list.begin() + begin, list.begin() + end};
    std::vector<std::int64_t> result(static_cast<std::size_t>(end - begin));
    std::iota(result.begin(), result.end(), begin);
    return result;
}

void add_places(Places& places, const std::vector<std::int64_t>& more) {
    if (places.all || more.empty()) return;
    places.list.insert(places.list.end(), more.begin(), more.end());
    std::sort(places.list.begin(), places.list.end());
    places.list.erase(std::unique(places.list.begin(), places.list.end()), places.list.end());
}

std::vector<std::int64_t> places(std::int64_t outputs, std::int64_t terms, const Validate& asked) {
    const Places chosen = choose_places(outputs, terms, asked);
    return chosen.slice(0, chosen.count());
}

}  // namespace gridstride::validation
