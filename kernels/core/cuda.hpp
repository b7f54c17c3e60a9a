// SPDX-License-Identifier: BSD-3-Clause
// For .cu files alone: the status check. Overloads for the vendor libraries join it where those are used.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

namespace gridstride::cuda {

/// Throws Error (device) with what the runtime says and where; the runtime's sticky error is cleared.
void check(cudaError_t status, std::source_location where = std::source_location::current());
/// After every launch: the launch's own error, cleared.
void check_launch(std::source_location where = std::source_location::current());

/// Why no device can be had: what the runtime answered, the driver's and the runtime's versions (13000 is 13.0, 0:
/// there is no driver), CUDA_VISIBLE_DEVICES (null: unset).
std::string why_none(cudaError_t status, int driver, int runtime, const char* visible);

}  // namespace gridstride::cuda
