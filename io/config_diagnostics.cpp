// SPDX-License-Identifier: BSD-3-Clause
// The errors of a job file: collected, put in the file's order, printed with line and caret.
#include <fmt/format.h>

#include <algorithm>

#include "io/config.hpp"
#include "io/text.hpp"

namespace gridstride::config {

namespace {

constexpr std::size_t most_kept = 1000, most_shown = 100;  // of a hostile file's errors
constexpr std::size_t width = 110;                         // characters of a line that are shown

bool control(unsigned char c) {
    return c < 0x20 || c == 0x7F;
}

auto place(const Mark& mark) {
    return std::tie(mark.source, mark.line, mark.column);
}

/// The characters of a line, each a string of its bytes; what cannot be shown becomes a space or '?'.
std::vector<std::string> characters(std::string_view line) {
    std::vector<std::string> result;
    while (!line.empty()) {
        const Character character = first_character(line);
        result.emplace_back(!character.valid ? "?" : !character.shown ? " " : character.bytes);
        line.remove_prefix(character.bytes.size());
    }
    return result;
}

}  // namespace

void Diagnostics::read_from(std::string source, std::string text) {
    std::vector<std::string> lines(1);
    for (const char c : text)
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += c;
    lines_.insert_or_assign(std::move(source), std::move(lines));
}

void Diagnostics::add(const Mark& mark, std::string message) {
    ++met_;
    if (list_.size() == most_kept) return;
    for (char& c : message)
        if (control(static_cast<unsigned char>(c))) c = ' ';
    for (const Diagnostic& one : list_)
        if (place(one.mark) == place(mark) && one.message == message) return;  // a default's error, met in each job
    list_.push_back({mark, std::move(message)});
}

void Gathered::add(const Diagnostic& one, const std::string& name) {
    for (Met& met : list_)
        if (place(met.error.mark) == place(one.mark) && met.error.message == one.message) {
            ++met.times;
            return;
        }
    if (list_.size() < most_kept) list_.push_back({one, name});
}

void Gathered::tell(std::size_t cases, Diagnostics& diagnostics) const {
    for (const auto& [error, first, times] : list_) {
        const std::string others = times == 1   ? ""
                                   : times == 2 ? " and one other case"
                                                : fmt::format(" and {} other cases", times - 1);
        diagnostics.add(error.mark,
                        times == cases ? error.message : fmt::format("{} (in {}{})", error.message, first, others));
    }
}

std::string Diagnostics::text(bool colour) const {
    std::vector<const Diagnostic*> ordered;
    for (const Diagnostic& one : list_) ordered.push_back(&one);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic* a, const Diagnostic* b) {
        const auto key = [](const Diagnostic* one) {
            return std::make_tuple(one->mark.line == 0, std::string_view(one->mark.source), one->mark.line,
                                   one->mark.column);
        };
        return key(a) < key(b);
    });
    const std::string_view bold = colour ? "\033[1m" : "", red = colour ? "\033[1;31m" : "",
                           green = colour ? "\033[1;32m" : "", off = colour ? "\033[0m" : "";
    std::string result;
    for (std::size_t i = 0; i < std::min(ordered.size(), most_shown); ++i) {
        const auto& [mark, message] = *ordered[i];
        std::string place = mark.source;
        if (mark.line > 0) place += fmt::format(":{}:{}", mark.line, mark.column);
        result += fmt::format("{}{}:{} {}error:{} {}{}{}\n", bold, place, off, red, off, bold, message, off);
        const auto lines = lines_.find(mark.source);
        if (lines == lines_.end() || mark.line < 1 || static_cast<std::size_t>(mark.line) > lines->second.size())
            continue;
        if (lines->second[static_cast<std::size_t>(mark.line) - 1].empty()) continue;
        const auto line = characters(lines->second[static_cast<std::size_t>(mark.line) - 1]);
        const std::size_t caret = std::min(static_cast<std::size_t>(std::max(mark.column, 1)) - 1, line.size());
        const std::size_t begin = caret < width * 3 / 4 ? 0 : caret - width / 2;
        const std::size_t end = std::min(line.size(), begin + width);
        const std::string_view before = begin > 0 ? "..." : "", after = end < line.size() ? "..." : "";
        result += fmt::format("    {}{}{}\n", before,
                              fmt::join(line.begin() + static_cast<std::ptrdiff_t>(begin),
                                        line.begin() + static_cast<std::ptrdiff_t>(end), ""),
                              after);
        std::size_t column = before.size();  // wide characters take two
        for (std::size_t at = begin; at < caret; ++at) column += width_of(line[at]);
        result += fmt::format("    {}{}^{}\n", std::string(column, ' '), green, off);
    }
    if (ordered.size() > most_shown)
        result += fmt::format("... and {}{} more errors\n", ordered.size() < most_kept ? "" : "at least ",
                              ordered.size() - most_shown);
    return result;
}

}  // namespace gridstride::config
