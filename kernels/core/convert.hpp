// SPDX-License-Identifier: BSD-3-Clause
// Conversion between dtypes, by the rules of the job file: to a narrower float round to nearest; real to complex gets
// imaginary part 0; complex to real does not exist.
#pragma once

#include <cstdint>
#include <string_view>

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

/// Converts results to the output: `source` holds out's elements in dtype `from`, contiguous as out is; on `threads`
/// threads. What overflows is Inf. Error (input) of the lowest index: "add: result 2.5 at (0, 3) is not a whole number:
/// choose a float result_dtype".
void store_results(std::string_view op, DType from, const std::byte* source, const Slab& out, int threads);

/// The Error (input) of a result at the flat index that does not convert to out's dtype. value: that result, real, of
/// dtype `from`.
[[noreturn]] void refuse_result(std::string_view op, std::int64_t index, const Spec& out, DType from,
                                const std::byte* value);

/// One value rounded to dtype as an arithmetic result is: Inf where it overflows; to the nearest whole number, wrapped
/// modulo 2^n, of an integer type (what is beyond int64, or NaN, stays itself: no integer equals it). What "rounded to
/// the output type" means in validation.
long double rounded(long double value, DType dtype);

}  // namespace gridstride
