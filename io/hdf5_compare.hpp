// SPDX-License-Identifier: BSD-3-Clause
// Two datasets compared value by value, in pieces, so that files larger than memory can be.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace gridstride::hdf5 {

/// What is the same: |a - b| <= atol + rtol |b| (of complex numbers the modulus), NaN with NaN, Inf with Inf.
struct Nearness {
    double rtol = 0, atol = 0;
};

/// A place where the two differ.
struct Difference {
    Shape index;
    std::string a, b;
};

struct Comparison {
    bool same = true;
    std::string why;                        // where the values were not even compared, or their dtypes differ
    std::int64_t elements = 0, differ = 0;  // compared; of these not the same
    std::int64_t not_finite = 0;            // of `differ`: NaN or Inf on one side, something else on the other
    double max_abs = std::numeric_limits<double>::quiet_NaN();  // over finite values; NaN: values were not compared
    double rel_l2 = std::numeric_limits<double>::quiet_NaN();   // ||a - b|| / ||b||, over finite values
    double max_ulp = std::numeric_limits<double>::quiet_NaN();  // of floats of one type
    std::vector<Difference> worst;  // up to 5, the worst first; of what is no number: the first
};

/// Without nearness values are the same where their bits are (byte order aside; the signs of zeros and the bits of NaN
/// count) and dtypes must be equal; with it, dtypes may differ. Strings and other types of fixed size are compared as
/// they are. Attributes are not compared. Errors (input): as Source; a type that cannot be compared.
Comparison compare(const Info& a, const Info& b, const std::optional<Nearness>& nearness);

}  // namespace gridstride::hdf5
