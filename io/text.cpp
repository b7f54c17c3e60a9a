// SPDX-License-Identifier: BSD-3-Clause
// UTF-8 decoded one character at a time, and the widths that terminals give its characters.
#include "io/text.hpp"

#include <algorithm>
#include <utility>

namespace gridstride {

namespace {

std::size_t columns_of(char32_t code) {
    using Pair = std::pair<char32_t, char32_t>;
    const auto in = [code](const Pair& range) { return code >= range.first && code <= range.second; };
    static constexpr Pair none[] = {{0x300, 0x36F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                                    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
    static constexpr Pair two[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                   {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                   {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (std::any_of(std::begin(none), std::end(none), in)) return 0;
    return std::any_of(std::begin(two), std::end(two), in) ? 2 : 1;
}

/// Does it drive the terminal, or turn the direction of writing?
bool hidden(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

Character first_character(std::string_view text) {
    const Character broken{text.substr(0, 1), 1, false, false};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80       ? 1
                               : byte(0) >> 5 == 6  ? 2
                               : byte(0) >> 4 == 14 ? 3
                               : byte(0) >> 3 == 30 ? 4
                                                    : 0;
    if (length == 0 || length > text.size()) return broken;
    char32_t code = length == 1 ? byte(0) : byte(0) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if (byte(i) >> 6 != 2) return broken;
        code = code << 6 | (byte(i) & 0x3FU);
    }
    return {text.substr(0, length), columns_of(code), true, !hidden(code)};
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const Character character = first_character(text);
        width += character.columns;
        text.remove_prefix(character.bytes.size());
    }
    return width;
}

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const Character character = first_character(text);
        result += character.shown ? character.bytes : "\uFFFD";
        text.remove_prefix(character.bytes.size());
    }
    return result;
}

}  // namespace gridstride
