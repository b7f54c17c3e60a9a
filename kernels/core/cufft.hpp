// SPDX-License-Identifier: BSD-3-Clause
// For .cu files alone: the status check of cuFFT.
#pragma once

#include <cufft.h>

#include <source_location>
#include <string>

#include "core/error.hpp"

namespace gridstride::cuda {

inline const char* status_text(cufftResult status) {
    switch (status) {
        case CUFFT_SUCCESS:
            return "success";
        case CUFFT_INVALID_PLAN:
            return "invalid plan";
        case CUFFT_ALLOC_FAILED:
            return "not enough memory";
        case CUFFT_INVALID_TYPE:
            return "invalid type";
        case CUFFT_INVALID_VALUE:
            return "invalid value";
        case CUFFT_INTERNAL_ERROR:
            return "internal error";
        case CUFFT_EXEC_FAILED:
            return "execution failed";
        case CUFFT_SETUP_FAILED:
            return "the library did not initialise";
        case CUFFT_INVALID_SIZE:
            return "a size it does not support";
        case CUFFT_UNALIGNED_DATA:
            return "unaligned data";
        case CUFFT_INVALID_DEVICE:
            return "invalid device";
        case CUFFT_NO_WORKSPACE:
            return "no workspace";
        case CUFFT_NOT_IMPLEMENTED:
            return "not implemented";
        case CUFFT_NOT_SUPPORTED:
            return "not supported";
        default:
            return "an unknown status";
    }
}

/// Throws Error (device) with the status and where.
inline void check(cufftResult status, std::source_location where = std::source_location::current()) {
    if (status == CUFFT_SUCCESS) return;
    throw Error(Category::device, std::string("cuFFT: ") + status_text(status) + " (" + std::to_string(status) +
                                      ") at " + where.file_name() + ":" + std::to_string(where.line()));
}

}  // namespace gridstride::cuda
