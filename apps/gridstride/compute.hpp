// SPDX-License-Identifier: BSD-3-Clause
// Running a variant on host tensors, on the CPU or through device memory, and timing it.
#pragma once

#include <optional>
#include <span>

#include "core/operation.hpp"

namespace gridstride::engine {

struct Computed {
    Tensor out;                        // on the host
    double seconds = 0;                // of the computation: median of 5 after a warm-up, fewer where they take long
    double copy_in = 0, copy_out = 0;  // pinned copies to the device and back; 0 on the CPU
    std::optional<Launched> launched;
    std::optional<std::size_t> changed;  // an input that is not as it was; looked for where `watched`

    double with_copies() const { return copy_in + seconds + copy_out; }
};

/// The variant's plan, on the problem's own device. Errors: those of prepare; (device) one that does not work.
gridstride::Plan prepare(const Variant& variant, const Problem& problem);

/// So many bytes, of no type; empty where there are none.
Tensor buffer(std::size_t bytes, Memory memory = Memory::host, int device = 0);

/// The input that output 0 begins as, or -1.
int in_place(const Op& op, const Problem& problem);

/// Output 0 of `problem` by `variant`. in: on the host, left as they are; an output that may overwrite one of them
/// begins as its copy, any other as NaN (integers 0xA5 bytes). timed: repeat for the median; else one run. watched: are
/// the inputs the same bytes afterwards? (One more pass over them, and copies from a device.) Errors: those of prepare
/// and step; (device) not enough memory.
Computed compute(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in, bool timed,
                 bool watched = false);

}  // namespace gridstride::engine
