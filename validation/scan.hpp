// SPDX-License-Identifier: BSD-3-Clause
// What one pass over a whole tensor tells, in parallel and without a copy: NaN, poison, whether all elements are equal.
#pragma once

#include "core/tensor.hpp"
#include "validation/validation.hpp"

namespace gridstride::validation {

/// Element `index` (flat) of a contiguous slab.
Complex element(const Slab& slab, std::int64_t index);

/// Elements that hold NaN, and those that hold the bits that poison() writes (a complex one if either part does).
struct Scan {
    std::int64_t nan = 0, first_nan = -1;   // how many, and the first; -1: none
    std::int64_t poisoned = 0, first = -1;  // of floats these are NaN too
    std::vector<std::int64_t> some;         // up to `keep` that hold NaN or poison, spread evenly over all of them
    std::int64_t largest = -1;              // where |element| is largest among the finite ones; -1: none is finite
};
Scan scan(const Slab& slab, std::int64_t keep, int threads);

/// Are all elements equal (and there are some)? NaN equals nothing. Stops at the first that differs.
bool constant(const Slab& slab);

/// Does this element, of a tensor of that dtype, hold what poison() writes?
bool poisoned(const Complex& value, DType dtype);

}  // namespace gridstride::validation
