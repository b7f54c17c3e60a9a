// SPDX-License-Identifier: BSD-3-Clause
// For .cu files alone: the status check. Overloads for the vendor libraries join it where those are used.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace gridstride::cuda {

/// Throws Error (device) with what the runtime says and where; the runtime's sticky error is cleared.
void check(cudaError_t status, std::source_location where = std::source_location::current());
/// After every launch: the launch's own error, cleared.
void check_launch(std::source_location where = std::source_location::current());

}  // namespace gridstride::cuda
