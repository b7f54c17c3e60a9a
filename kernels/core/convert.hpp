// SPDX-License-Identifier: BSD-3-Clause
// Conversion between dtypes, by the rules of the job file: to a narrower float round to nearest; real to complex gets
// imaginary part 0; complex to real does not exist.
#pragma once

#include <cstdint>

#include "core/tensor.hpp"

namespace gridstride {

/// What a value that does not fit does.
enum class Overflow {
    refuse,    // inputs: a finite value that becomes Inf stops the conversion
    infinity,  // results: it becomes Inf, as in NumPy
};

/// Converts n contiguous elements; from and to may not overlap. Returns the first index whose value does not convert
/// (to an integer: not whole, out of range or not finite; with Overflow::refuse: a finite value that becomes Inf), or
/// -1. int64 to a float rounds to nearest, silently. Cost: one pass. Error (internal): complex to real.
std::int64_t convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t n,
                     Overflow overflow);

/// One value rounded to dtype as an arithmetic result is (Inf where it overflows), as long double; integers wrap modulo
/// 2^n. What "rounded to the output type" means in validation.
long double rounded(long double value, DType dtype);

}  // namespace gridstride
