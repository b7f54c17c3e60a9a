// SPDX-License-Identifier: BSD-3-Clause
// Generated inputs: the same bits on every machine. A counter-based integer generator, and float64 + - * / sqrt only.
#pragma once

#include "core/tensor.hpp"
#include "io/config.hpp"

namespace gridstride::generate {

/// Makes the values in float64 (complex kinds: real part and imaginary part from separate counters for normal and
/// uniform; imaginary 0 for the others), times scale, `plus` added, rounded once to dtype. seed: where the Generate
/// itself gives none. Errors (config, where "generate", "shape", "pairs"): a shape or dtype the kind cannot have.
Tensor make(const config::Generate& generate, const Shape& shape, DType dtype, std::uint64_t seed);

/// The seed of an input that names none: from job and input name (FNV-1a of "job/input").
std::uint64_t seed_of(std::string_view job, std::string_view input);

/// The shape a kind cannot be made in, as an error message; empty where it can.
std::string refuses(const config::Generate& generate, const Shape& shape, DType dtype);

}  // namespace gridstride::generate
