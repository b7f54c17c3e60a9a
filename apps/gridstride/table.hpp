// SPDX-License-Identifier: BSD-3-Clause
// Aligned tables for the terminal, shared by the verbs: columns as wide as their text is shown, numbers to the right,
// narrowed, folded or left out to fit where the terminal is narrow. Nothing is printed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text.hpp"
#include "io/words.hpp"

namespace gridstride {

/// Where a text goes: how many columns it has, whether it may be coloured.
struct Terminal {
    std::size_t width = 0;  // 0: no limit (a file or a pipe)
    bool colour = false;
};
/// Of standard output (1) or standard error (2). No colour where it is no terminal, NO_COLOR is set or TERM is dumb.
Terminal terminal(int file_descriptor);

/// The text cut to so many columns, its last one an ellipsis where something was cut.
std::string shortened(std::string_view text, std::size_t width);
/// The same with the ellipsis inside, more of the end kept than of the beginning: names differ there.
std::string shortened_inside(std::string_view text, std::size_t width);
/// The text in lines of at most so many columns, broken between words; a longer word stays whole. 0: one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// "672 B", "1.2 MiB".
std::string bytes_text(std::uint64_t bytes);

/// "a, b and c: reason" of cases and their reasons, those with one reason together, in the order of the first. A reason
/// that begins with the variant's word ("tiled: ...") loses it.
class Reasons {
  public:
    void add(const std::string& name, std::string_view variant, const std::string& reason);
    std::vector<std::string> lines() const;

  private:
    std::vector<std::pair<std::string, std::vector<std::string>>> names_;  // reason, names
};

enum class Style { plain, good, bad, warning, faint };
std::string styled(std::string_view text, Style style, bool colour);

enum class Align {
    left,   // text; the widest such column is shortened first where the terminal is narrow
    right,  // numbers, never shortened
    fixed,  // to the left, never shortened
    head,   // the same, for the first column (something to paste): it takes a line of its own where the others would
            // be left with too little room
    prose,  // the last column: continued on further lines
};

/// The words of a column called "verdict" are coloured on a terminal.
struct Column {
    std::string name;
    Align align = Align::left;
    int spare = 0;  // where the terminal is narrow, columns of nothing but "-" and then the larger numbers are left
                    // out, and a last line says so; 0: never
};

class Table {
  public:
    /// indent: spaces before each line. A table whose columns have no names has no heading.
    explicit Table(std::vector<Column> columns, std::size_t indent = 0);
    /// A cell a column; missing ones are empty. below: lines that follow it, faint.
    void row(std::vector<std::string> cells, std::vector<std::string> below = {});
    bool empty() const { return rows_.empty(); }
    /// All lines, each with its newline, no trailing spaces; columns two spaces apart.
    std::string text(const Terminal& terminal) const;
    /// The same to a stream, as its terminal, if it is one, has room.
    void print(std::FILE* stream) const;

  private:
    struct Row {
        std::vector<std::string> cells, below;
    };
    std::vector<std::size_t> widths() const;
    static bool single(const Row& row);
    std::size_t most_spare() const;
    Table without(std::size_t column) const;
    bool fits(const Terminal& terminal, std::size_t most) const;
    Table narrowed(const Terminal& terminal, std::size_t most) const;
    std::vector<std::string> blocks(const Terminal& terminal) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
    std::size_t indent_;
    std::string left_out_;  // names of columns
};

}  // namespace gridstride
