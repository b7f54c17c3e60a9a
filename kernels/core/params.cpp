// SPDX-License-Identifier: BSD-3-Clause
// Values of parameters, their kinds, their defaults.
#include "core/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace gridstride {

namespace {

const Value none;

std::optional<std::int64_t> as_integer(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* number = std::get_if<double>(&value))
        if (*number == std::nearbyint(*number) && std::abs(*number) < 0x1p63) return static_cast<std::int64_t>(*number);
    return {};
}

std::optional<double> as_number(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    return {};
}

template <class Test>
bool one_or_list(const Value& value, Test test) {
    const auto* list = std::get_if<Values>(&value);
    return list == nullptr ? test(value) : std::all_of(list->begin(), list->end(), test);
}

bool is_one_of(const Value& value, const std::vector<std::string_view>& words) {
    const auto* word = std::get_if<std::string>(&value);
    return word != nullptr && std::find(words.begin(), words.end(), *word) != words.end();
}

[[noreturn]] void wrong(std::string_view name, std::string_view what) {
    throw Error(Category::internal, fmt::format("parameter {} is not {}", name, what));
}

}  // namespace

std::string to_text(const Value& value) {
    struct {
        std::string operator()(std::monostate) const { return "none"; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
        std::string operator()(double number) const { return fmt::format("{}", number); }
        std::string operator()(const std::string& word) const { return word; }
        std::string operator()(const Values& values) const {
            std::string text;
            for (const Value& one : values) text += (text.empty() ? "" : ", ") + to_text(one);
            return "[" + text + "]";
        }
    } text;
    return std::visit(text, static_cast<const Value::variant&>(value));
}

void Params::set(std::string_view name, Value value) {
    values_.insert_or_assign(std::string(name), std::move(value));
}

const Value& Params::get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? none : found->second;
}

bool Params::has(std::string_view name) const {
    return !get(name).empty();
}

bool Params::boolean(std::string_view name) const {
    const auto* flag = std::get_if<bool>(&get(name));
    if (flag == nullptr) wrong(name, "a boolean");
    return *flag;
}

std::int64_t Params::integer(std::string_view name) const {
    const auto integer = as_integer(get(name));
    if (!integer) wrong(name, "an integer");
    return *integer;
}

std::vector<std::int64_t> Params::integers(std::string_view name) const {
    const Value& value = get(name);
    std::vector<std::int64_t> result;
    const auto add = [&](const Value& one) {
        const auto integer = as_integer(one);
        if (!integer) wrong(name, "a list of integers");
        result.push_back(*integer);
        return true;
    };
    one_or_list(value, add);
    return result;
}

std::vector<double> Params::numbers(std::string_view name) const {
    std::vector<double> result;
    const auto add = [&](const Value& one) {
        const auto number = as_number(one);
        if (!number) wrong(name, "a list of numbers");
        result.push_back(*number);
        return true;
    };
    one_or_list(get(name), add);
    return result;
}

std::complex<double> Params::scalar(std::string_view name) const {
    const std::vector<double> parts = numbers(name);
    if (parts.empty() || parts.size() > 2) wrong(name, "a number or [re, im]");
    return {parts[0], parts.size() == 2 ? parts[1] : 0};
}

const std::string& Params::word(std::string_view name) const {
    const auto* word = std::get_if<std::string>(&get(name));
    if (word == nullptr) wrong(name, "a word");
    return *word;
}

bool Params::is_word(std::string_view name) const {
    return std::holds_alternative<std::string>(get(name));
}

std::string describe(const Param& param) {
    const auto kind = [&]() -> std::string {
        switch (param.kind) {
            case Kind::boolean:
                return "true or false";
            case Kind::integer:
                return "an integer";
            case Kind::integers:
                return "an integer or a list of integers";
            case Kind::integers_or_word:
                return fmt::format("an integer, a list of integers or one of {}", fmt::join(param.words, ", "));
            case Kind::numbers:
                return "a number or a list of numbers";
            case Kind::scalar:
                return "a number or [re, im]";
            case Kind::word:
                return fmt::format("one of {}", fmt::join(param.words, ", "));
        }
        return "";
    };
    if (param.bounds.most < std::numeric_limits<std::int64_t>::max())
        return fmt::format("{}, from {} to {}", kind(), param.bounds.least, param.bounds.most);
    if (param.bounds.least > std::numeric_limits<std::int64_t>::min())
        return fmt::format("{}, at least {}", kind(), param.bounds.least);
    return kind();
}

bool fits(const Value& value, const Param& param) {
    const auto integer = [&](const Value& one) {
        const auto number = as_integer(one);
        return number && *number >= param.bounds.least && *number <= param.bounds.most;
    };
    const auto number = [](const Value& one) { return as_number(one).has_value(); };
    switch (param.kind) {
        case Kind::boolean:
            return std::holds_alternative<bool>(value);
        case Kind::integer:
            return integer(value);
        case Kind::integers:
            return one_or_list(value, integer);
        case Kind::integers_or_word:
            return one_or_list(value, integer) || is_one_of(value, param.words);
        case Kind::numbers:
            return one_or_list(value, number);
        case Kind::scalar: {
            const auto* list = std::get_if<Values>(&value);
            return list == nullptr ? number(value)
                                   : list->size() == 2 && std::all_of(list->begin(), list->end(), number);
        }
        case Kind::word:
            return is_one_of(value, param.words);
    }
    return false;
}

std::vector<std::size_t> axes_of(const Params& params, const Shape& x) {
    const auto rank = std::ssize(x);
    std::vector<std::size_t> axes;
    for (const std::int64_t given : params.integers("axes")) {
        if (given < -rank || given >= rank)
            throw Error(Category::config,
                        fmt::format("axes: x {} has no axis {}; allowed: {} to {}", to_text(x), given, -rank, rank - 1),
                        "params.axes");
        const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
        if (std::find(axes.begin(), axes.end(), axis) != axes.end())
            throw Error(Category::config, fmt::format("axes: axis {} of x {} is named twice", axis, to_text(x)),
                        "params.axes");
        axes.push_back(axis);
    }
    return axes;
}

Params resolve(const std::vector<Param>& table, const Params& given) {
    Params result;
    for (const auto& [name, value] : given.all())
        if (std::none_of(table.begin(), table.end(), [&](const Param& row) { return row.name == name; }))
            throw Error(Category::config, fmt::format("unknown parameter '{}'", name), "params." + name);
    for (const Param& row : table) {
        const std::string where = fmt::format("params.{}", row.name);
        if (given.has(row.name)) {
            if (!fits(given.get(row.name), row))
                throw Error(Category::config,
                            fmt::format("{} is {}, not {}", row.name, describe(row), to_text(given.get(row.name))),
                            where);
            result.set(row.name, given.get(row.name));
        } else if (row.otherwise) {
            result.set(row.name, *row.otherwise);
        } else {
            throw Error(Category::config, fmt::format("parameter '{}' is required ({})", row.name, describe(row)),
                        "params");
        }
    }
    return result;
}

}  // namespace gridstride
