// SPDX-License-Identifier: BSD-3-Clause
// What the files of add know of each other.
#pragma once

#include "core/operation.hpp"

namespace gridstride::add {

extern const Op op;

/// The definition: z[i] = x[i] + y[i].
Reference reference(const Problem& problem, std::span<const Slab> in);

namespace cpu::loop {
extern const Variant row;
}

}  // namespace gridstride::add
