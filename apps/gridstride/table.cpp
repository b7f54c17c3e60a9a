// SPDX-License-Identifier: BSD-3-Clause
// Tables aligned by the widths of UTF-8 text.
#include "table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace gridstride {

namespace {

constexpr std::size_t gap = 2, narrowest = 8, comfortable = 20;  // columns
constexpr std::string_view ellipsis = "…";

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return right ? space + text : text + space;
}

Style style_of(std::string_view verdict) {
    for (const std::string_view good : {"pass", "ok", "same", "faster"})
        if (verdict == good) return Style::good;
    for (const std::string_view bad : {"mismatch", "error", "timeout", "unexpected_pass", "differs", "slower"})
        if (verdict == bad) return Style::bad;
    for (const std::string_view doubtful : {"skipped", "vacuous", "unvalidated", "unclear"})
        if (verdict == doubtful) return Style::warning;
    return Style::plain;
}

}  // namespace

Terminal terminal(int file_descriptor) {
    if (isatty(file_descriptor) == 0) return {};
    const auto variable = [](const char* name) {
        return std::string_view(std::getenv(name) == nullptr ? "" : std::getenv(name));
    };
    winsize size{};
    const bool known = ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return {known ? size.ws_col : std::size_t{80}, variable("NO_COLOR").empty() && variable("TERM") != "dumb"};
}

std::string shortened(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) return std::string(text);
    std::string result;
    for (std::size_t used = 0; !text.empty();) {
        const Character character = first_character(text);
        used += character.columns;
        if (used + 1 > width) break;
        result += character.bytes;
        text.remove_prefix(character.bytes.size());
    }
    return width == 0 ? std::string() : result.append(ellipsis);
}

std::string shortened_inside(std::string_view text, std::size_t width) {
    if (width == 0 || width_of(text) <= width) return shortened(text, width);
    std::string result = shortened(text, 1 + (width - 1) / 3);
    for (std::size_t tail = width_of(text); tail + width_of(result) > width;) {
        const Character character = first_character(text);
        tail -= character.columns;
        text.remove_prefix(character.bytes.size());
    }
    return result.append(text);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    if (width == 0 || width_of(text) <= width) return {std::string(text)};
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const bool fits = width_of(lines.back()) + 1 + width_of(word) <= width;
        if (!lines.back().empty() && !fits) lines.emplace_back();
        if (!lines.back().empty()) lines.back() += ' ';
        lines.back() += word;
    }
    return lines;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} B", bytes);
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    for (; size >= 999.5 && unit + 1 < std::size(units); ++unit) size /= 1024;  // three digits, no exponent
    return fmt::format("{:.3g} {}", size, units[unit]);
}

void Reasons::add(const std::string& name, std::string_view variant, const std::string& reason) {
    const std::string prefix = std::string(variant) + ": ";
    const std::string rest = reason.rfind(prefix, 0) == 0 ? reason.substr(prefix.size()) : reason;
    for (auto& [known, names] : names_)
        if (known == rest) {
            names.push_back(name);
            return;
        }
    names_.push_back({rest, {name}});
}

std::vector<std::string> Reasons::lines() const {
    std::vector<std::string> lines;
    for (const auto& [reason, names] : names_) {
        constexpr std::size_t most = 12;
        const std::size_t shown = names.size() > most ? most - 1 : names.size();
        std::string text = names[0];
        for (std::size_t i = 1; i < shown; ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
        if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
        lines.push_back(text + ": " + reason);
    }
    return lines;
}

std::string styled(std::string_view text, Style style, bool colour) {
    if (!colour || style == Style::plain || text.empty()) return std::string(text);
    const char* code = style == Style::good      ? "32"
                       : style == Style::bad     ? "1;31"
                       : style == Style::warning ? "33"
                                                 : "2";
    return fmt::format("\033[{}m{}\033[0m", code, text);
}

Table::Table(std::vector<Column> columns, std::size_t indent) : columns_(std::move(columns)), indent_(indent) {}

void Table::row(std::vector<std::string> cells, std::vector<std::string> below) {
    cells.resize(columns_.size());
    rows_.push_back({std::move(cells), std::move(below)});
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths.push_back(width_of(columns_[c].name));
        for (const Row& row : rows_) widths[c] = std::max(widths[c], width_of(row.cells[c]));
    }
    return widths;
}

/// Has it nothing after the second cell?
bool Table::single(const Row& row) {
    return std::all_of(row.cells.begin() + 2, row.cells.end(), [](const auto& cell) { return cell.empty(); });
}

/// The column to leave out first; their number where none may be.
std::size_t Table::most_spare() const {
    std::size_t best = columns_.size();
    std::pair<bool, int> most{false, 0};
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const bool bare = std::all_of(rows_.begin(), rows_.end(), [c](const Row& row) { return row.cells[c] == "-"; });
        const std::pair<bool, int> spare{bare, columns_[c].spare};
        if (columns_[c].spare == 0 || spare <= most) continue;
        most = spare;
        best = c;
    }
    return best;
}

Table Table::without(std::size_t column) const {
    const auto at = static_cast<std::ptrdiff_t>(column);
    Table fewer = *this;
    fewer.columns_.erase(fewer.columns_.begin() + at);
    for (Row& row : fewer.rows_) row.cells.erase(row.cells.begin() + at);
    return fewer;
}

/// Does it fit where text is shortened to `most` columns?
bool Table::fits(const Terminal& terminal, std::size_t most) const {
    std::size_t total = indent_ + gap * (columns_.size() - 1);
    const std::vector<std::size_t> widths = this->widths();
    for (std::size_t c = 0; c < columns_.size(); ++c)
        total += columns_[c].align == Align::left ? std::min(widths[c], most) : widths[c];
    return terminal.width == 0 || total <= terminal.width;
}

/// Without spare columns until it fits, or there are none.
Table Table::narrowed(const Terminal& terminal, std::size_t most) const {
    Table fewer = *this;
    for (std::size_t c; !fewer.fits(terminal, most) && (c = fewer.most_spare()) < fewer.columns_.size();) {
        fewer.left_out_ += (fewer.left_out_.empty() ? "" : ", ") + fewer.columns_[c].name;
        fewer = fewer.without(c);
    }
    return fewer;
}

std::string Table::text(const Terminal& terminal) const {
    const bool folds = columns_[0].align == Align::head && !fits(terminal, comfortable);
    Table shown = *this;
    if (folds) {
        shown = without(0);
        shown.indent_ += 4;
        for (Row& row : shown.rows_)
            if (single(row)) row.cells.front().clear();
    }
    shown = shown.narrowed(terminal, columns_[0].align == Align::head ? comfortable : SIZE_MAX);
    const std::vector<std::string> blocks = shown.blocks(terminal);
    const std::size_t headings = blocks.size() - rows_.size();
    std::string text = folds && headings > 0 ? styled(columns_[0].name, Style::faint, terminal.colour) + '\n' : "";
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!folds || i < headings) {
            text += blocks[i];
            continue;
        }
        const std::vector<std::string>& cells = rows_[i - headings].cells;
        text += std::string(indent_, ' ') + cells[0];
        // a single cell stands beside the first, in place of an empty line below it
        text += single(rows_[i - headings]) ? std::string(gap, ' ') + cells[1] + blocks[i] : '\n' + blocks[i];
    }
    if (!shown.left_out_.empty())
        text += styled(fmt::format("not shown in {} columns: {}", terminal.width, shown.left_out_), Style::faint,
                       terminal.colour) +
                '\n';
    return text;
}

/// The lines of the heading, where there is one, and of each row.
std::vector<std::string> Table::blocks(const Terminal& terminal) const {
    std::vector<std::size_t> widths = this->widths();
    std::size_t total = indent_ + gap * (columns_.size() - 1);
    for (const std::size_t width : widths) total += width;
    const auto widest = [&] {  // column that may be shortened, or their number
        std::size_t best = columns_.size();
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (columns_[c].align == Align::left && columns_[c].name != "verdict" && widths[c] > narrowest &&
                (best == columns_.size() || widths[c] > widths[best]))
                best = c;
        return best;
    };
    const auto narrow = [&](std::size_t column, std::size_t least) {
        const std::size_t cut = std::min(total - terminal.width, widths[column] - std::min(widths[column], least));
        widths[column] -= cut;
        total -= cut;
    };
    if (terminal.width > 0) {
        if (total > terminal.width && columns_.back().align == Align::prose) narrow(columns_.size() - 1, 30);
        for (std::size_t c; total > terminal.width && (c = widest()) < columns_.size();) narrow(c, widths[c] - 1);
    }

    std::vector<std::string> blocks;
    const auto put = [&](const Row& row, bool heading) {
        const std::vector<std::string>& cells = row.cells;
        std::string line(indent_, ' ');
        std::size_t column_begin = indent_;
        std::vector<std::string> further;  // lines of prose after the first
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Align align = columns_[c].align;
            if (c > 0) line += std::string(gap, ' '), column_begin += gap;
            if (align == Align::prose && !heading) {
                further = wrapped(cells[c], widths[c]);
                line += further.front();
                further.erase(further.begin());
                break;
            }
            const std::string text = c == 0 ? shortened_inside(cells[c], widths[c]) : shortened(cells[c], widths[c]);
            const std::string cell = padded(text, widths[c], align == Align::right);
            if (columns_[c].name == "verdict" && !heading)
                line += styled(cells[c], style_of(cells[c]), terminal.colour) + cell.substr(cells[c].size());
            else
                line += heading ? styled(cell, Style::faint, terminal.colour) : cell;
            column_begin += widths[c];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        line += '\n';
        for (const std::string& more : further) line += std::string(column_begin, ' ') + more + '\n';
        for (const std::string& more : row.below) line += styled(more, Style::faint, terminal.colour) + '\n';
        blocks.push_back(std::move(line));
    };
    Row names;
    for (const Column& column : columns_) names.cells.push_back(column.name);
    if (std::any_of(names.cells.begin(), names.cells.end(), [](const std::string& name) { return !name.empty(); }))
        put(names, true);
    for (const Row& row : rows_) put(row, false);
    return blocks;
}

void Table::print(std::FILE* stream) const {
    std::fflush(stream);
    fmt::print(stream, "{}", text(terminal(fileno(stream))));
}

}  // namespace gridstride
