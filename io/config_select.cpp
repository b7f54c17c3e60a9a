// SPDX-License-Identifier: BSD-3-Clause
// `select`: NumPy's basic indexing, one term an axis, as a Selection of a known shape.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error.hpp"
#include "io/ascii.hpp"
#include "io/config.hpp"

namespace gridstride::config {

namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(by, begin);
        parts.push_back(trimmed(text.substr(begin, end - begin)));
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

}  // namespace

Selection select(std::string_view text, const Shape& shape) {
    const auto fail = [&](const std::string& why) {
        return Error(Category::config,
                     fmt::format("select \"{}\" of shape {}: {}", text.substr(0, 80), to_text(shape), why));
    };
    const auto integer = [&](std::string_view part) {
        std::string_view digits = part;
        if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
        std::string plain = part.substr(0, 1) == "-" ? "-" : "";
        for (std::size_t i = 0; i < digits.size(); ++i)
            if (digits[i] != '_' || i == 0 || i + 1 == digits.size() || digits[i - 1] == '_') plain += digits[i];
        std::int64_t value = 0;
        const char* const end = plain.data() + plain.size();
        const auto [stop, error] = std::from_chars(plain.data(), end, value);
        const bool sound = !digits.empty() && digits.find_first_not_of("0123456789_") == std::string_view::npos;
        if (!sound || stop != end || error != std::errc())
            throw fail(fmt::format("'{}' is no integer; a term is a:b:s, an integer or ...", part.substr(0, 40)));
        if (digits.size() > 1 && digits[0] == '0')
            throw fail(fmt::format("'{}' has a leading zero", part.substr(0, 40)));
        return value;
    };

    std::vector<std::string_view> terms = split(text, ',');
    if (terms.size() == 1 && terms[0].empty()) {
        if (!shape.empty() || !text.empty()) throw fail("it is empty; one term an axis, as in \"0:10, ..., 3\"");
        terms.clear();
    }
    const auto ellipses = static_cast<std::size_t>(std::count(terms.begin(), terms.end(), "..."));
    if (ellipses > 1) throw fail("'...' may stand once");
    const std::size_t axes = terms.size() - ellipses;
    if (axes > shape.size())
        throw fail(fmt::format("{} terms for {} {}", axes, shape.size(), shape.size() == 1 ? "axis" : "axes"));

    const Selection all = whole(shape);
    Selection selection;
    const auto take_term = [&](std::string_view term) {
        const std::size_t axis = selection.axes.size();
        const std::int64_t extent = shape[axis];
        const auto parts = split(term, ':');
        if (parts.size() > 3) throw fail(fmt::format("'{}' has more than begin, end and step", term.substr(0, 40)));
        if (parts.size() == 1) {
            if (term.empty()) throw fail("a term is missing beside a comma; all of an axis is ':'");
            const std::int64_t index = integer(term);
            if (index < -extent || index >= extent)
                throw fail(fmt::format("index {} lies outside of axis {}, which has {} elements", index, axis, extent));
            selection.axes.push_back({index < 0 ? index + extent : index, 1, 1, true});
            return;
        }
        const auto bound = [&](std::string_view part, std::int64_t otherwise) {
            if (part.empty()) return otherwise;
            const std::int64_t value = integer(part);
            return value < 0 ? std::max<std::int64_t>(value < -extent ? 0 : value + extent, 0)
                             : std::min(value, extent);
        };
        Range range;
        range.begin = bound(parts[0], 0);
        const std::int64_t end = bound(parts[1], extent);
        if (parts.size() == 3 && !parts[2].empty()) range.step = integer(parts[2]);
        if (range.step < 1) throw fail(fmt::format("step {}: steps are at least 1", range.step));
        range.count = end > range.begin ? (end - range.begin - 1) / range.step + 1 : 0;
        selection.axes.push_back(range);
    };
    for (const std::string_view term : terms) {
        if (term == "...")
            for (std::size_t i = axes; i < shape.size(); ++i) selection.axes.push_back(all.axes[selection.axes.size()]);
        else
            take_term(term);
    }
    while (selection.axes.size() < shape.size()) selection.axes.push_back(all.axes[selection.axes.size()]);
    return selection;
}

}  // namespace gridstride::config
