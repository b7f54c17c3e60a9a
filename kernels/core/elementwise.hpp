// SPDX-License-Identifier: BSD-3-Clause
// What the elementwise operations share: all that follows from broadcasting alone, and the CPU's loop over blocks that
// fit the L1 cache (gather what is broadcast, convert, compute, convert).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/operation.hpp"

namespace gridstride::elementwise {

// Entries of an Op, for one input or several that broadcast.

/// One output of the inputs' broadcast shape, of their common type or the one asked for. Errors (config): shapes that
/// do not broadcast, both named (where = "inputs.<name>"); complex to real (where = "result_dtype").
std::vector<Spec> infer(const Op& op, std::span<const Spec> in, std::optional<DType> result);
/// Bytes of each input and of the output once; no flops.
Cost traffic(const Problem& problem);
/// Every output axis.
std::vector<Axis> axes(const Problem& problem);
/// Part of an output axis; inputs that repeat along it stay whole.
Piece cut(const Problem& problem, std::size_t axis, std::int64_t begin, std::int64_t end);
/// Each output axis keeps the axis of the first input that has it at its full length.
std::vector<AxisOrigin> origins(const Problem& problem);
/// One term an output.
std::int64_t terms(const Problem& problem);
/// On CUDA the mapping that suits any size, on the CPU the loop.
std::vector<std::string_view> prefer(const Problem& problem);
/// For one or two inputs, in every dtype: shapes that reach each path (scalars, empty, odd, across block sizes,
/// repeated along any axis).
std::vector<Problem> cases(std::size_t inputs);

/// The loop nest over an output and inputs that broadcast to it. Neighbouring axes that every input steps through as if
/// they were one are one, axes of length 1 are none; there is at least one axis. The output is contiguous, and along
/// the last axis an input has stride 1 or 0.
struct Nest {
    Shape extents;
    std::vector<Shape> strides;  // of each input, in elements; 0: repeated
};
Nest collapse(const Shape& out, std::span<const Spec> in);

/// out[i] = f(in[0][i], ...), i < n, all in the arithmetic type.
using Compute = void (*)(const std::byte* const* in, std::byte* out, std::int64_t n);

/// The whole operation on the CPU by `compute`. Takes no workspace. Up to two inputs. Error (input) when run: a result
/// that does not convert to an integer output.
Step step(const Op& op, const Problem& problem, Compute compute);

}  // namespace gridstride::elementwise
