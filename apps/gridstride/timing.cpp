// SPDX-License-Identifier: BSD-3-Clause
#include "timing.hpp"

#include <algorithm>
#include <cmath>

namespace gridstride::timing {

namespace {

constexpr std::size_t least_settled = 10, most_samples = 1000, slow_samples = 5, most_sets = 1024;
constexpr double enough = 0.005;

}  // namespace

Seconds summary(std::vector<double> samples) {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&](double q) {
        const double at = q * static_cast<double>(sorted.size() - 1);
        const auto below = static_cast<std::size_t>(at);
        const double rest = at - static_cast<double>(below);
        return rest == 0 ? sorted[below] : sorted[below] + rest * (sorted[below + 1] - sorted[below]);
    };
    return {quantile(0.5), quantile(0.25), quantile(0.75), sorted.front(), std::move(samples)};
}

bool settled(const std::vector<double>& samples) {
    if (samples.size() < least_settled) return false;
    const Seconds seen = summary(samples);
    return seen.q3 - seen.q1 <= enough * seen.median * std::sqrt(static_cast<double>(samples.size()));
}

bool another(const std::vector<double>& samples, double elapsed, double budget) {
    if (samples.size() >= most_samples || settled(samples)) return false;
    return elapsed < (samples.size() < slow_samples ? slow_samples * budget : budget);
}

std::size_t sets_beyond(std::size_t cache, std::size_t bytes) {
    return bytes == 0 ? 1 : std::min(2 * cache / bytes + 1, most_sets);
}

int calls_of(double seconds_a_call, double least) {
    const double calls = least / std::max(seconds_a_call, 1e-9);
    return static_cast<int>(std::clamp(std::ceil(calls * (1 - 1e-9)), 1.0, 1024.0));  // 100.00000000000001 is 100
}

}  // namespace gridstride::timing
