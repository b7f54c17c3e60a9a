// SPDX-License-Identifier: BSD-3-Clause
// Scalars read strictly: decimal numbers only, never wrapped, never rounded in silence.
#include "io/config_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/shape.hpp"
#include "io/ascii.hpp"

namespace gridstride::config {

namespace {

constexpr std::string_view commas = "a value with commas in it must be quoted, as in select: \"0:10, 3\"";

/// Digits from `at` on, single underscores between them; appends the digits to `plain`. False: none, or a stray `_`.
bool take_digits(std::string_view text, std::size_t& at, std::string& plain) {
    const std::size_t begin = at;
    while (at < text.size() && (is_digit(text[at]) || (text[at] == '_' && at > begin && text[at - 1] != '_')))
        if (const char c = text[at++]; c != '_') plain += c;
    return at > begin && text[at - 1] != '_';
}

/// The name before the colon of "op:sum" or the '=' of "op = sum"; empty where it is none of the names.
std::string_view before_sign(std::string_view text, const std::vector<std::string>& names) {
    const std::size_t sign = text.find_first_of(":=");
    if (sign == std::string_view::npos) return {};
    const std::string_view name = text.substr(0, text.find_last_not_of(' ', sign > 0 ? sign - 1 : 0) + 1);
    return std::find(names.begin(), names.end(), name) != names.end() ? name : std::string_view();
}

/// For a text that is not known because of a space that only looks like one; else nothing.
std::string odd_space_hint(std::string_view text) {
    const bool odd = text.find("\u00A0") != std::string_view::npos;
    return odd ? " (it has a non-breaking space: write an ordinary one)" : "";
}

/// "[3, 4]" for numbers side by side: "(3, 4)", "3x4", "3 4", "3, 4"; else nothing.
std::string as_list(std::string_view text) {
    constexpr std::string_view between = ", x";
    const bool parentheses = text.starts_with('(') && text.ends_with(')');
    if (parentheses) text = text.substr(1, text.size() - 2);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::string list;
    std::size_t items = 0;
    for (; !text.empty(); ++items) {
        const std::string_view item = text.substr(0, text.find_first_of(between));
        if (!to_number(item)) return {};
        list += fmt::format("{}{}", items > 0 ? ", " : "", item);
        text.remove_prefix(std::min(text.find_first_not_of(between, item.size()), text.size()));
    }
    return items > (parentheses ? 0 : 1) ? "[" + list + "]" : std::string();
}

/// Is every comma followed by a group of three digits?
bool thousands(std::string_view text) {
    for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
        if (end != at + 4) return false;
    }
    return true;
}

}  // namespace

std::string space_hint(std::string_view text, const std::vector<std::string>& names) {
    if (const std::string odd = odd_space_hint(text); !odd.empty()) return odd;
    const std::string_view name = before_sign(text, names);
    if (name.empty()) return {};
    const std::size_t sign = text.find_first_of(":=");
    const std::string_view value = text.substr(std::min(text.find_first_not_of(' ', sign + 1), text.size()));
    return fmt::format(" ({}: {}: {})",
                       text[sign] == ':' ? "a space is missing after the colon" : "':' in place of '='", name,
                       brief(value));
}

std::string key_hint(const Node::Entry& entry, const std::vector<std::string>& names) {
    const std::string space = space_hint(entry.key, names);
    if (!space.empty()) return space;
    if (entry.value.kind == Node::Kind::null && !entry.key.empty() &&
        std::all_of(entry.key.begin(), entry.key.end(), is_digit))
        return fmt::format(" ({}; a fraction is written 0.5, a list [0, 5])", commas);
    return did_you_mean(entry.key, names);
}

bool stands_for(std::string_view key, std::string_view name, const std::vector<std::string>& names) {
    const bool known = std::find(names.begin(), names.end(), key) != names.end();
    return !known && (before_sign(key, names) == name || nearest(key, names) == name);
}

std::string number_hint(std::string_view text) {
    if (text.size() > 40) return {};
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b'))
        return " (numbers are decimal here)";
    std::string other;
    for (const char c : text)
        if (c != ',') other += c == 'd' || c == 'D' ? 'e' : c;
    if (other != text && thousands(text) && to_number(other)) return fmt::format(" (write {})", other);
    const std::string list = as_list(text);
    if (std::string point(text); std::count(text.begin(), text.end(), ',') == 1) {
        std::replace(point.begin(), point.end(), ',', '.');
        if (to_number(point))
            return fmt::format(" (a fraction is written {}{})", point, list.empty() ? "" : ", a list " + list);
    }
    if (!list.empty()) return fmt::format(" (a list is written {})", list);
    if (text.find_first_of("0123456789") != std::string_view::npos &&
        text.find_first_of("+-*/%", 1) != std::string_view::npos &&
        text.find_first_not_of("0123456789_+-*/%() ") == std::string_view::npos)
        return " (arithmetic of integers is written \"${n + 1}\")";
    if (text == "inf" || text == "nan" || text == "-inf")
        return fmt::format(" (YAML writes {})", text == "-inf" ? "-.inf" : text == "inf" ? ".inf" : ".nan");
    return {};
}

std::string home_remedy(std::string_view path) {
    if (!path.starts_with("~/")) return {};
    return fmt::format("'~' is not your home folder here, only in a shell: write ${{env:HOME}}{}",
                       brief(path.substr(1)));
}

std::vector<std::string> names_of(std::span<const Key> keys) {
    std::vector<std::string> names;
    for (const Key& key : keys) names.emplace_back(key.name);
    return names;
}

std::optional<Number> to_number(std::string_view text, std::string* problem) {
    const auto fail = [&](std::string why) {
        if (problem != nullptr) *problem = std::move(why);
        return std::optional<Number>();
    };
    if (text.size() > 400) return fail({});
    std::size_t at = 0;
    std::string plain;
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        if (text[0] == '-') plain = "-";
        ++at;
    }
    const bool negative = !plain.empty();
    const std::string_view rest = text.substr(at);
    if (rest == ".inf" || rest == ".Inf" || rest == ".INF") return Number{negative ? -HUGE_VAL : HUGE_VAL, {}, false};
    if (text == ".nan" || text == ".NaN" || text == ".NAN")
        return Number{std::numeric_limits<double>::quiet_NaN(), {}, false};

    const std::size_t sign = plain.size();
    bool any = false, point = false, exponent = false;
    if (at < text.size() && is_digit(text[at])) {
        if (!take_digits(text, at, plain)) return fail({});
        any = true;
    }
    const std::size_t whole_digits = plain.size() - sign;
    if (at < text.size() && text[at] == '.') {
        point = true;
        plain += '.';
        ++at;
        if (at < text.size() && is_digit(text[at])) {
            if (!take_digits(text, at, plain)) return fail({});
            any = true;
        }
    }
    if (!any) return fail({});
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        exponent = true;
        plain += 'e';
        ++at;
        if (at < text.size() && (text[at] == '-' || text[at] == '+')) plain += text[at++];
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) plain += text[at++];
        if (at == begin) return fail({});
    }
    if (at != text.size()) return fail({});
    if (whole_digits > 1 && plain[sign] == '0') return fail(" (a leading zero: write it without)");

    Number number;
    const char* const end = plain.data() + plain.size();
    if (!point && !exponent) {
        std::int64_t integer = 0;
        if (std::from_chars(plain.data(), end, integer).ec != std::errc())
            return fail(" (integers go up to 2^63 - 1 = 9223372036854775807)");
        number = {static_cast<double>(integer), integer, true};
        return number;
    }
    if (std::from_chars(plain.data(), end, number.value).ec != std::errc())
        return fail(" (outside the range of float64)");
    if (number.value == std::nearbyint(number.value) && std::abs(number.value) < 0x1p63)
        number.integer = static_cast<std::int64_t>(number.value);
    number.whole = !point && number.integer;
    return number;
}

void Reader::wrong(const Node& node, std::string_view key, std::string_view wanted, std::string_view why) const {
    const Mark mark = node.mark();
    std::string hint = node.scalar() ? odd_space_hint(node.text) : "";
    if (hint.empty()) hint = why;
    if (hint.empty() && node.scalar() && !node.quoted && node.text.find('#') != std::string::npos)
        hint = " (a comment has a space before its '#')";
    for (const Diagnostic& told : diagnostics_.list())
        if (mark.line > 0 && told.mark.line == mark.line && told.mark.column == mark.column &&
            told.mark.source == mark.source)
            return error(mark, told.message);  // the tree has refused it already ("yes", "010"): once is enough
    if (node.kind == Node::Kind::null)
        error(node.mark(), fmt::format("{} has no value: it is {}", key, wanted));
    else
        error(node.mark(),
              fmt::format("{} is {}, not {}{}", key, wanted,
                          node.quoted ? "the text " + show(std::string_view(node.text)) : show(node), hint));
}

std::optional<Number> Reader::parse(const Node& node, std::string_view key, std::string_view wanted) const {
    std::string problem;
    if (node.scalar() && node.quoted) {
        wrong(node, key, wanted, to_number(node.text) ? " (without the quotes it is one)" : "");
        return {};
    }
    std::optional<Number> number;
    if (node.scalar()) number = to_number(node.text, &problem);
    if (!number) wrong(node, key, wanted, problem.empty() && node.scalar() ? number_hint(node.text) : problem);
    return number;
}

std::optional<bool> Reader::boolean(const Node& node, std::string_view key) const {
    if (node.scalar() && !node.quoted) {
        if (node.text == "true" || node.text == "True" || node.text == "TRUE") return true;
        if (node.text == "false" || node.text == "False" || node.text == "FALSE") return false;
    }
    wrong(node, key, "true or false");
    return {};
}

std::optional<std::int64_t> Reader::integer(const Node& node, std::string_view key, std::int64_t least,
                                            std::int64_t most) const {
    const std::string wanted = least == most             ? fmt::format("{}", least)
                               : most == largest_integer ? fmt::format("an integer, at least {}", least)
                                                         : fmt::format("an integer from {} to {}", least, most);
    const auto number = parse(node, key, wanted);
    if (!number) return {};
    if (number->integer && *number->integer >= least && *number->integer <= most) return number->integer;
    wrong(node, key, wanted);
    return {};
}

std::optional<std::uint64_t> Reader::unsigned_integer(const Node& node, std::string_view key) const {
    constexpr std::string_view wanted = "an integer from 0 to 2^64 - 1";
    if (node.scalar() && !node.quoted) {  // the upper half too
        std::uint64_t value = 0;
        const char* const end = node.text.data() + node.text.size();
        const auto [stop, error] = std::from_chars(node.text.data(), end, value);
        if (error == std::errc() && stop == end && (node.text.size() == 1 || node.text[0] != '0')) return value;
        if (error == std::errc::result_out_of_range && stop == end) {
            wrong(node, key, wanted);
            return {};
        }
    }
    const auto number = parse(node, key, wanted);
    if (!number) return {};
    if (number->integer && *number->integer >= 0) return static_cast<std::uint64_t>(*number->integer);
    wrong(node, key, wanted);
    return {};
}

std::optional<double> Reader::number(const Node& node, std::string_view key, Bounds bounds) const {
    std::string wanted = bounds.finite ? "a finite number" : "a number";
    if (std::isfinite(bounds.least))
        wanted += bounds.open ? fmt::format(" above {}", bounds.least) : fmt::format(", {} or above", bounds.least);
    const auto number = parse(node, key, wanted);
    if (!number) return {};
    const double value = number->value;
    const bool inside = bounds.open ? value > bounds.least : !(value < bounds.least);
    if (inside && (!bounds.finite || std::isfinite(value))) return value;
    wrong(node, key, wanted);
    return {};
}

std::optional<std::string> Reader::text(const Node& node, std::string_view key) const {
    if (node.scalar()) return node.text;
    wrong(node, key, "a text");
    return {};
}

std::optional<std::string> Reader::word(const Node& node, std::string_view key,
                                        const std::vector<std::string>& words) const {
    if (node.scalar() && std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
    wrong(node, key, (words.size() > 1 ? "one of " : "") + joined(words),
          node.scalar() ? did_you_mean(node.text, words) : "");
    return {};
}

std::optional<Shape> Reader::shape(const Node& node, std::string_view key, std::int64_t least, bool free) const {
    Shape shape;
    bool sound = true;
    const auto add = [&](const Node& one) {
        const auto extent = integer(one, key, free ? -1 : least);
        sound = sound && extent;
        if (extent) shape.push_back(*extent);
    };
    if (node.list())
        for (const Node& item : node.items) add(item);
    else if (node.scalar())
        add(node);
    else {
        wrong(node, key, "an integer or a list of integers");
        return {};
    }
    if (!sound) return {};
    if (shape.size() > 32) {
        error(node.mark(), fmt::format("{} has {} axes; 32 are the most", key, shape.size()));
        return {};
    }
    if (std::count(shape.begin(), shape.end(), -1) > 1) {
        error(node.mark(), fmt::format("{} has one -1 at the most (the extent that follows from the others)", key));
        return {};
    }
    try {
        Shape known = shape;
        for (std::int64_t& extent : known) extent = extent == -1 ? 1 : extent;
        count(known);
    } catch (const Error& problem) {
        const std::string_view text = problem.what();  // "shape (..) has ..."
        error(node.mark(),
              key == "shape" && text.starts_with("shape ") ? std::string(text) : fmt::format("{}: {}", key, text));
        return {};
    }
    return shape;
}

std::optional<DType> Reader::dtype(const Node& node, std::string_view key) const {
    if (node.scalar())
        if (const auto dtype = dtype_named(node.text)) return dtype;
    std::vector<std::string> names;
    for (const DType dtype : all_dtypes) names.emplace_back(name(dtype));
    wrong(node, key, "one of " + dtype_names(), node.scalar() ? did_you_mean(node.text, names) : "");
    return {};
}

bool Reader::mapping(const Node& node, std::string_view what, std::span<const Key> keys,
                     const Elsewhere& elsewhere) const {
    const auto names = names_of(keys);
    if (!node.map()) {
        wrong(node, what, fmt::format("a mapping of {}", joined(names)),
              node.scalar() ? space_hint(node.text, names) : "");
        return false;
    }
    for (const Node::Entry& entry : node.entries)
        if (std::find(names.begin(), names.end(), entry.key) == names.end())
            unknown(entry, what, names, elsewhere ? elsewhere(entry.key) : "");
    return true;
}

void Reader::unknown(const Node::Entry& entry, std::string_view what, const std::vector<std::string>& names,
                     std::string hint) const {
    if (hint.empty()) hint = key_hint(entry, names);
    if (hint.empty() && entry.value.kind == Node::Kind::null) hint = fmt::format(" ({})", commas);
    error(entry.mark, fmt::format("unknown key {} in {}{}; it has {}", show(std::string_view(entry.key)), what, hint,
                                  names.empty() ? "no keys" : joined(names)));
}

}  // namespace gridstride::config
