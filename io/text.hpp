// SPDX-License-Identifier: BSD-3-Clause
// UTF-8 text as a terminal shows it: its characters, the columns they take, which of them may be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gridstride {

struct Character {
    std::string_view bytes;
    std::size_t columns = 1;  // combining marks none, East Asian wide characters two
    bool valid = true;        // false: one byte of broken UTF-8
    bool shown = true;        // false: broken, or a control character, which could drive the terminal
};
/// The first character of a text that is not empty.
Character first_character(std::string_view text);

/// Columns a text takes.
std::size_t width_of(std::string_view text);
/// The text with what may not be shown as U+FFFD.
std::string printable(std::string_view text);

}  // namespace gridstride
