// SPDX-License-Identifier: BSD-3-Clause
// What a device can do: its data sheet (the limit that no time goes below), and plain kernels that move bytes and do
// nothing else (timed, the floor that fractions are quoted against). rates.cu has the CUDA ones.
#pragma once

#include "core/operation.hpp"

namespace gridstride::rates {

/// A device by its own data. 0: not known, as all but the cache on the CPU.
struct Sheet {
    std::size_t cache = 0;  // bytes of the last-level cache (the L2 of a GPU)
    double bandwidth = 0;   // bytes a second: 2 x memory clock x bus width
    double clock = 0;       // Hz, the highest of the multiprocessors
    int multiprocessors = 0, major = 0, minor = 0;
};
Sheet sheet(const Place& place);

/// flop/s at the highest clock in the fastest units that compute with this input type: tensor cores (dense) for halves,
/// float64 and, where asked, TF32; else CUDA cores. Of complex types: of their parts. 0: not known.
double peak_flops(const Sheet& sheet, DType input, bool tf32);

/// How bytes are moved: read alone, one read and one written, two read and one written.
enum class Mix { read, copy, add };
std::string_view name(Mix mix);
/// The mix whose share of bytes read is nearest.
Mix nearest(double read, double written);

/// The plain kernel's problem, of float32, so long that it moves about `bytes`; and its plan.
Problem problem(Mix mix, std::size_t bytes, const Place& place);
Plan prepare(Mix mix, const Problem& problem);

}  // namespace gridstride::rates
