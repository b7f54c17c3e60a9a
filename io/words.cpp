// SPDX-License-Identifier: BSD-3-Clause
// Numbers as text.
#include "io/words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace gridstride {

std::string grouped(std::int64_t number) {
    std::string digits = fmt::format("{}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), 1, ' ');
    return digits;
}

std::string time_text(double seconds) {
    if (!(seconds > 0)) return "-";
    const double ms = seconds * 1e3;
    if (ms < 0.0005) return "< 0.001 ms";
    if (ms >= 1e4) return fmt::format("{:.1f} s", seconds);
    return fmt::format("{:.{}f} ms", ms, ms < 0.0995 ? 3 : ms < 9.95 ? 2 : ms < 99.5 ? 1 : 0);
}

std::string checked_text(std::int64_t checked, std::int64_t of) {
    if (checked == of) return of == 0 ? "0 of 0" : "all " + grouped(of);
    return grouped(checked) + " of " + grouped(of);
}

std::string used_text(double used) {
    if (std::isnan(used)) return "-";
    return used == 0     ? "exact"
           : used < 0.01 ? "< 1 %"
           : used < 100  ? fmt::format("{:.0f} %", 100 * used)
                         : fmt::format("{:.3g} x", used);
}

}  // namespace gridstride
