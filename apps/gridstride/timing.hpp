// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of timing: quartiles, when a spread has settled, how many input sets leave nothing in a cache.
#pragma once

#include <cstddef>
#include <vector>

#include "io/bench.hpp"

namespace gridstride::timing {

inline constexpr double replay_below = 1e-4;  // seconds: shorter kernels are timed by replaying a graph

/// Median and quartiles, between samples by linear interpolation (as numpy.quantile). At least one sample.
Seconds summary(std::vector<double> samples);

/// Is the median known to half a per cent? From 10 samples on, its standard error is about (q3 - q1) / sqrt(n) (for
/// normal noise 0.93 of that); settled: that is at most 0.5 % of the median.
bool settled(const std::vector<double>& samples);

/// Should another sample follow, `elapsed` seconds after the first began? Until settled, for `budget` seconds or 1000
/// samples; a slow one gets 5 samples, if they take no more than 5 times the budget.
bool another(const std::vector<double>& samples, double elapsed, double budget);

/// Input sets to go round so that none is in the cache when its turn comes again: together above twice the cache; 1
/// where one is. At most 1024.
std::size_t sets_beyond(std::size_t cache, std::size_t bytes);

/// Calls of one sample: so many that it takes `least` seconds, at most 1024.
int calls_of(double seconds_a_call, double least);

}  // namespace gridstride::timing
