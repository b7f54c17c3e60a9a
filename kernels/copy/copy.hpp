// SPDX-License-Identifier: BSD-3-Clause
// What the files of copy know of each other.
#pragma once

#include "core/operation.hpp"

namespace gridstride::copy {

extern const Op op;

/// The definition: y[i] = x[i].
Reference reference(const Problem& problem, std::span<const Slab> in);

namespace cpu::loop {
extern const Variant row;
}

}  // namespace gridstride::copy
