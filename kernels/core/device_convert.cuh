// SPDX-License-Identifier: BSD-3-Clause
// Conversion between dtypes in device memory, by the rules of core/convert.hpp for results.
#pragma once

#include "core/kernel.cuh"

namespace gridstride::cuda {

/// Converts n contiguous elements on the stream: float to float rounds to nearest, Inf where it overflows. first_bad:
/// null, or one int64 in device memory that receives the lowest index of a value that an integer type cannot hold
/// (not whole, out of range, not finite), if that is below what is there. Error (internal): complex to real.
void convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t n, std::int64_t* first_bad,
             Stream stream);

/// Results in the arithmetic type, rounded to the output. scratch: one int64 in device memory, used where the output is
/// of integers and the results are not (then the stream is waited for). Error (input): a result that does not convert,
/// with its index.
void store_results(std::string_view op, DType from, const std::byte* results, const Spec& out, std::byte* target,
                   std::int64_t* scratch, Stream stream);

}  // namespace gridstride::cuda
