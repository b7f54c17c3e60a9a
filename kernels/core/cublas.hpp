// SPDX-License-Identifier: BSD-3-Clause
// For .cu files alone: the status check of cuBLAS and the ownership of its handle.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

#include "core/cuda.hpp"
#include "core/error.hpp"

namespace gridstride::cuda {

/// Throws Error (device) with what cuBLAS says and where.
inline void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Error(Category::device, std::string("cuBLAS: ") + cublasGetStatusString(status) + " (" +
                                      cublasGetStatusName(status) + ") at " + where.file_name() + ":" +
                                      std::to_string(where.line()));
}

using CublasHandle = std::shared_ptr<std::remove_pointer_t<cublasHandle_t>>;

/// A handle of the present device.
inline CublasHandle cublas_handle() {
    cublasHandle_t handle = nullptr;
    check(cublasCreate(&handle));
    return {handle, [](cublasHandle_t one) { cublasDestroy(one); }};
}

}  // namespace gridstride::cuda
