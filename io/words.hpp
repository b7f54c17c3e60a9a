// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them, the same on the terminal and in every form of a report.
#pragma once

#include <cstdint>
#include <string>

namespace gridstride {

/// A number with its digits in groups of three: "16 777 216".
std::string grouped(std::int64_t number);
/// "0.30 ms", "12.5 s"; "-" of 0, less and NaN.
std::string time_text(double seconds);
/// How many outputs were put to the reference: "all 200", "4 096 of 16 777 216".
std::string checked_text(std::int64_t checked, std::int64_t of);
/// How much of a bound an error took: "exact", "< 1 %", "17 %", "250 x"; "-" of NaN.
std::string used_text(double used);

}  // namespace gridstride
