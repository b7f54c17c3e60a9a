// SPDX-License-Identifier: BSD-3-Clause
// For tests: verdicts by name in GoogleTest's messages.
#pragma once

#include <ostream>

#include "validation/validation.hpp"

namespace gridstride::validation {

inline void PrintTo(Verdict verdict, std::ostream* out) {
    constexpr const char* names[] = {"pass", "mismatch", "vacuous", "unvalidated"};
    *out << names[static_cast<int>(verdict)];
}

}  // namespace gridstride::validation
