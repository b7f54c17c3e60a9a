// SPDX-License-Identifier: BSD-3-Clause
// What the files of sum know of each other.
#pragma once

#include "core/operation.hpp"

namespace gridstride::sum {

extern const Op op;

/// Whether each axis of x is summed over: `axes` resolved against the rank. Errors (config, where = "params.axes"): out
/// of range, named twice.
std::vector<bool> summed_axes(const Params& params, const Shape& x);

/// The definition: s[i] = sum of x over the summed axes.
Reference reference(const Problem& problem, std::span<const Slab> in);

namespace cpu::loop {
extern const Variant row;
}

}  // namespace gridstride::sum
