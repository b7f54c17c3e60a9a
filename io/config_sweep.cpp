// SPDX-License-Identifier: BSD-3-Clause
// Sweeps: lists, range(), pow2() and glob() as values; their product, or the cases of a list.
#include "io/config_sweep.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

namespace gridstride::config {

namespace {

constexpr std::size_t longest_shown = 100;  // bytes of a value in a case's name
constexpr std::string_view forms_of_sweep = "a list of values, range(a..b..s), pow2(a..b) or glob(PATTERN)";

/// FUNCTION(ARGUMENT) of a text.
struct Called {
    std::string_view function, argument;
};
std::optional<Called> called(std::string_view text) {
    for (const std::string_view function : {"range", "pow2", "glob"})
        if (text.starts_with(function) && text.substr(function.size()).starts_with('(') && text.ends_with(')'))
            return Called{function, text.substr(function.size() + 1, text.size() - function.size() - 2)};
    return {};
}

/// "1..9..2" as integers; nothing where one is none.
std::optional<std::vector<std::int64_t>> integers(std::string_view text) {
    std::vector<std::int64_t> list;
    for (;;) {
        const std::size_t dots = text.find("..");
        const auto number = to_number(text.substr(0, dots));
        if (!number || !number->integer) return {};
        list.push_back(*number->integer);
        if (dots == std::string_view::npos) return list;
        text.remove_prefix(dots + 2);
    }
}

/// A text in which the characters of a glob's pattern stand for themselves.
std::string literal(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::string_view("*?[]\\").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

/// The regular files of a pattern, sorted, relative where it is.
std::vector<std::string> files_of(const std::string& pattern, const std::string& folder) {
    const bool relative = !pattern.starts_with('/');
    const std::string prefix = relative ? folder + (folder.ends_with('/') ? "" : "/") : "";
    glob_t found{};
    std::vector<std::string> files;
    if (glob((literal(prefix) + pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) {
            const std::string path = found.gl_pathv[i];
            std::error_code ignored;
            if (std::filesystem::is_regular_file(path, ignored)) files.push_back(path.substr(prefix.size()));
        }
    globfree(&found);
    std::sort(files.begin(), files.end());
    return files;
}

/// The value as `shown`; position: in its list, from 1.
void show_value(const std::string& key, const Node& node, std::size_t position, Setting& setting) {
    if (node.map()) {
        for (const Node::Entry& entry : node.entries) show_value(key + "." + entry.key, entry.value, position, setting);
        return;
    }
    const auto scalar = [](const Node& one) {
        if (!one.quoted && (one.text == "true" || one.text == "false")) return Value(one.text == "true");
        const auto number = one.quoted ? std::nullopt : to_number(one.text);
        if (!number) return Value(one.text);
        return number->whole ? Value(*number->integer) : Value(number->value);
    };
    std::optional<Value> value;
    if (node.scalar()) value = scalar(node);
    if (node.list() &&
        std::all_of(node.items.begin(), node.items.end(), [](const Node& one) { return one.scalar(); })) {
        Values values;
        for (const Node& item : node.items) values.push_back(scalar(item));
        value = Value(values);
    }
    const auto fits = [](const std::string& text) {
        return text.size() <= longest_shown &&
               std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    };
    if (!value || !fits(sweep_text({{key, *value}}))) value = Value(fmt::format("#{}", position));
    setting.shown.emplace_back(key, *value);
}

class SweepReader {
  public:
    SweepReader(const Scope& scope, std::int64_t most) : scope_(scope), reader_(scope.diagnostics), most_(most) {}

    std::optional<std::vector<SweepCase>> read(const Node& raw) {
        const std::size_t before = scope_.diagnostics.met();
        const auto node = plain(raw);
        if (!node) return {};
        if (node->map())
            product(*node);
        else if (node->list())
            listed(*node);
        if (scope_.diagnostics.met() != before) return {};
        if (cases_.empty()) {
            reader_.wrong(raw, "sweep", "a mapping of keys to their values, or a list of mappings, one a case");
            return {};
        }
        return std::move(cases_);
    }

  private:
    /// A node whose structure can be seen: a scalar with variables is expanded, and its texts then stand for
    /// themselves.
    std::optional<Node> plain(const Node& node) {
        if (!node.scalar() || node.text.find('$') == std::string::npos) return node;
        auto value = scope_.variables.expand(node, scope_.diagnostics);
        if (value) escape(*value);
        return value;
    }

    static void escape(Node& node) {
        node.text = escaped(node.text);
        for (Node& item : node.items) escape(item);
        for (Node::Entry& entry : node.entries) escape(entry.value);
    }

    void product(const Node& node) {
        flatten("", node);
        std::int64_t count = 1;
        for (const auto& values : axes_)
            if (__builtin_mul_overflow(count, static_cast<std::int64_t>(values.size()), &count))
                count = largest_integer;
        if (count > most_) {
            reader_.error(node.mark(), "sweep makes " + too_many_cases(count, most_));
            return;
        }
        for (std::int64_t i = 0; i < count && !axes_.empty(); ++i) {
            SweepCase one(axes_.size());
            std::int64_t rest = i;
            for (std::size_t k = axes_.size(); k-- > 0;) {
                const auto size = static_cast<std::int64_t>(axes_[k].size());
                one[k] = axes_[k][static_cast<std::size_t>(rest % size)];
                rest /= size;
            }
            cases_.push_back(std::move(one));
        }
    }

    /// A mapping below a key is a part of the path: {launch: {block: [64, 128]}} is {launch.block: [64, 128]}.
    void flatten(const std::string& prefix, const Node& node) {
        for (const Node::Entry& entry : node.entries) {
            const std::string key = prefix + entry.key;
            if (entry.value.map() && !entry.value.entries.empty()) {
                flatten(key + ".", entry.value);
                continue;
            }
            if (!sound_key(key, entry.mark)) continue;
            if (std::find(keys_.begin(), keys_.end(), key) != keys_.end())
                reader_.error(entry.mark, fmt::format("{} is swept twice", brief(key)));
            keys_.push_back(key);
            std::vector<Setting> axis;
            for (Node& value : values_of(key, entry.value))
                axis.push_back(setting(key, entry.mark, std::move(value), axis.size()));
            if (!axis.empty()) axes_.push_back(std::move(axis));
        }
    }

    void listed(const Node& node) {
        if (static_cast<std::int64_t>(node.items.size()) > most_) {
            reader_.error(node.mark(),
                          "sweep makes " + too_many_cases(static_cast<std::int64_t>(node.items.size()), most_));
            return;
        }
        for (const Node& item : node.items) {
            const auto whole = plain(item);
            if (!whole) continue;
            if (!whole->map() || whole->entries.empty()) {
                reader_.wrong(item, "a case of sweep", "a mapping of keys, each with its value");
                continue;
            }
            SweepCase one;
            for (const Node::Entry& entry : whole->entries) {
                if (!sound_key(entry.key, entry.mark)) continue;
                if (entry.value.scalar() && called(entry.value.text))
                    reader_.error(entry.value.mark(),
                                  fmt::format("{}: a case of a list has one value; {} makes several, in a mapping: "
                                              "sweep: {{{}: {}}}",
                                              brief(entry.key), called(entry.value.text)->function, brief(entry.key),
                                              brief(entry.value.text)));
                if (entry.value.kind == Node::Kind::null)
                    reader_.error(entry.value.mark(), fmt::format("{} has no value", brief(entry.key)));
                one.push_back(setting(entry.key, entry.mark, entry.value, cases_.size()));
            }
            cases_.push_back(std::move(one));
        }
    }

    Setting setting(const std::string& key, const Mark& mark, Node value, std::size_t index) {
        Setting one{key, mark, of_job(key).empty(), std::move(value), {}};
        if (key == "expect" || key == "timeout") return one;
        Diagnostics aside;  // what cannot be expanded yet is shown as it is, and told where it is used
        const auto expanded = scope_.variables.expand(one.value, aside);
        show_value(key, expanded ? *expanded : one.value, index + 1, one);
        return one;
    }

    /// The job key that a path begins with; empty for a variable.
    static std::string_view of_job(std::string_view key) {
        const std::string_view first = key.substr(0, key.find('.'));
        for (const Key& row : job_keys)
            if (row.name == first) return row.name;
        return {};
    }

    bool sound_key(const std::string& key, const Mark& mark) {
        const std::string_view job = of_job(key);
        std::string why;
        if (job == "op" || job == "sweep")
            why = fmt::format("{} is not swept: write a job for each", job);
        else if (!job.empty() && scope_.variables.has(key))
            why = fmt::format("'{}' is a key of a job and a variable: give the variable another name", key);
        else if (!job.empty())
            return true;
        else if (!is_variable_name(key))
            why = fmt::format("{} is neither a variable nor the path of a job's key{}; those begin with {}",
                              show(std::string_view(key)),
                              did_you_mean(std::string_view(key).substr(0, key.find('.')), names_of(job_keys)),
                              joined(names_of(job_keys)));
        else if (is_reserved(key))
            why = fmt::format("'{}' is a reserved name: no variable may have it", key);
        else if (scope_.jobs.count(key) > 0)
            why = fmt::format("'{}' is a job too: variables and jobs share one set of names", brief(key));
        if (why.empty()) return true;
        reader_.error(mark, why);
        return false;
    }

    std::vector<Node> values_of(const std::string& key, const Node& raw) {
        const auto node = plain(raw);
        if (!node) return {};
        const std::string name = "sweep." + key;
        if (node->list() && !node->items.empty()) return node->items;
        if (!node->scalar() || !called(node->text)) {
            reader_.wrong(*node, name, forms_of_sweep,
                          node->scalar()
                              ? did_you_mean(node->text.substr(0, node->text.find('(')), {"range", "pow2", "glob"})
                              : "");
            return {};
        }
        const auto [function, argument] = *called(node->text);
        return function == "glob" ? files(name, *node, std::string(argument))
                                  : numbers(name, *node, function, argument);
    }

    std::vector<Node> numbers(const std::string& name, const Node& node, std::string_view function,
                              std::string_view argument) {
        const auto given = integers(argument);
        const bool range = function == "range";
        const bool sound = given && (given->size() == 2 || (range && given->size() == 3)) &&
                           (*given)[0] <= (*given)[1] &&
                           (range ? given->size() == 2 || (*given)[2] >= 1 : (*given)[0] >= 0 && (*given)[1] <= 62);
        if (!sound) {
            reader_.wrong(node, name,
                          range ? "range(a..b) or range(a..b..s), integers with a <= b and s >= 1"
                                : "pow2(a..b), 2^a to 2^b with 0 <= a <= b <= 62");
            return {};
        }
        const std::int64_t first = (*given)[0], last = (*given)[1], step = given->size() == 3 ? (*given)[2] : 1;
        const std::uint64_t steps =
            (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / static_cast<std::uint64_t>(step);
        if (steps >= static_cast<std::uint64_t>(most_)) {
            reader_.error(node.mark(), fmt::format("{} makes {}", name,
                                                   too_many_cases(steps < 0x7fffffffffffffffULL
                                                                      ? static_cast<std::int64_t>(steps) + 1
                                                                      : largest_integer,
                                                                  most_)));
            return {};
        }
        std::vector<Node> list;
        for (std::uint64_t i = 0; i <= steps; ++i) {
            const std::int64_t value = first + static_cast<std::int64_t>(i) * step;
            list.push_back(made(node, fmt::format("{}", range ? value : std::int64_t{1} << value)));
        }
        return list;
    }

    std::vector<Node> files(const std::string& name, const Node& node, const std::string& pattern) {
        std::string why = home_remedy(pattern);
        if (why.empty() && pattern.find("**") != std::string::npos)
            why = "'**' is not taken: '*' matches within a folder";
        const auto found = why.empty() ? files_of(pattern, scope_.folder) : std::vector<std::string>();
        if (why.empty() && found.empty())
            why = fmt::format("{}: no file matches {}{}", name, show(std::string_view(pattern)),
                              pattern.starts_with('/') ? "" : " in " + scope_.folder);
        if (!why.empty()) reader_.error(node.mark(), why);
        std::vector<Node> list;
        for (const std::string& file : found) {
            list.push_back(made(node, escaped(file)));
            list.back().quoted = true;
        }
        return list;
    }

    static Node made(const Node& place, std::string text) {
        Node node;
        node.kind = Node::Kind::scalar;
        node.source = place.source;
        node.line = place.line;
        node.column = place.column;
        node.text = std::move(text);
        return node;
    }

    const Scope& scope_;
    Reader reader_;
    std::int64_t most_;
    std::vector<std::string> keys_;
    std::vector<std::vector<Setting>> axes_;
    std::vector<SweepCase> cases_;
};

}  // namespace

std::optional<std::vector<SweepCase>> read_sweep(const Scope& scope, const Node& node, std::int64_t most) {
    return SweepReader(scope, most).read(node);
}

std::string sweep_text(const std::vector<std::pair<std::string, Value>>& shown) {
    const auto text_of = [](const Value& value) {
        const auto* list = std::get_if<Values>(&value);
        if (list == nullptr) return to_text(value);
        std::string text;
        for (const Value& one : *list) text += (text.empty() ? "" : "x") + to_text(one);
        return text;
    };
    std::string text;
    for (const auto& [key, value] : shown) text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, text_of(value));
    return text;
}

std::string too_many_cases(std::int64_t cases, std::int64_t most) {
    return fmt::format("{} cases, more than {}: --max-cases {} allows them", cases, most, cases);
}

}  // namespace gridstride::config
