// SPDX-License-Identifier: BSD-3-Clause
// Inputs of a job in all their forms: FILE:/DATASET, $job:/OUTPUT, numbers, or a mapping with `from` or `generate`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/config_job.hpp"

namespace gridstride::config {

namespace {

/// number_hint, and that numbers of an input are real.
std::string input_hint(std::string_view text) {
    const std::size_t unit = text.find_first_of("ij");
    if (unit == std::string_view::npos || unit == 0 || !is_digit(text[unit - 1]) ||
        text.find_first_not_of("0123456789.+-e*() ij") != std::string_view::npos)
        return number_hint(text);
    return " (complex numbers are not written here: they come from a dataset)";
}

constexpr std::string_view forms_of_input =
    "FILE:/DATASET, $JOB:/OUTPUT, a number, a list of numbers, or a mapping with `from` or `generate`";
constexpr std::string_view forms_of_against = "FILE:/DATASET, alone or as `from` of a mapping";

/// What is read: the same forms alone and under `from`.
class Source {
  public:
    Source(const Scope& scope, std::string key)
        : scope_(scope),
          reader_(scope.diagnostics),
          key_(std::move(key)),
          forms_(key_ == "against" ? forms_of_against : forms_of_input) {}

    /// False after an error. The node is not expanded; it becomes what was understood.
    bool read(Node& raw, Input& input) const {
        if (raw.scalar() && !raw.text.empty() && raw.text[0] == '$') {
            if (const auto name = job_named(raw.text); !name.empty()) {
                if (scope_.jobs.count(name) > 0) return from_job(raw, std::string(name), input);
                const std::size_t letters = std::min(name.find('-'), name.size());
                if (!scope_.variables.has(std::string(name.substr(0, letters)))) {
                    reader_.error(raw.mark(), fmt::format("no job is called '{}'{}; there are {}", brief(name),
                                                          did_you_mean(name, {scope_.jobs.begin(), scope_.jobs.end()}),
                                                          joined({scope_.jobs.begin(), scope_.jobs.end()})));
                    return false;
                }
            }
        }
        auto node = scope_.variables.expand(raw, scope_.diagnostics);
        if (!node) return false;
        raw = std::move(*node);
        return read_expanded(raw, input);
    }

    bool read_expanded(const Node& node, Input& input) const {
        if (node.list()) return numbers(node, input);
        if (!node.scalar()) {
            reader_.wrong(node, key_, forms_);
            return false;
        }
        if (!node.quoted) {
            std::string problem;
            if (to_number(node.text, &problem)) return numbers(node, input);
            if (!problem.empty() || node.text == "true" || node.text == "false") {
                reader_.wrong(node, key_, forms_, problem);
                return false;
            }
        }
        return dataset(node, input);
    }

  private:
    bool from_job(const Node& raw, std::string job, Input& input) const {
        try {
            std::string output = scope_.variables.expand(std::string_view(raw.text).substr(job.size() + 3), {});
            if (output.empty()) {
                reader_.error(raw.mark(), fmt::format("${}:/ names no output: write ${}:/OUTPUT", job, job));
                return false;
            }
            input.source = JobOutput{std::move(job), std::move(output)};
            return true;
        } catch (const ExpandError& problem) {
            if (!problem.reported) reader_.error(raw.mark(), problem.message);
            return false;
        }
    }

    bool numbers(const Node& node, Input& input) const {
        Numbers numbers;
        numbers.whole = node.scalar() || !node.items.empty();
        bool sound = true;
        const auto add = [&](const Node& one) {
            std::string problem;
            const auto number = one.scalar() && !one.quoted ? to_number(one.text, &problem) : std::nullopt;
            if (!number) {
                if (one.list() && sound)
                    reader_.error(one.mark(), fmt::format("{}: a list of numbers is one-dimensional; give its shape "
                                                          "with {{from: [...], shape: [...]}}",
                                                          key_));
                else if (!one.list())
                    reader_.wrong(one, key_, "a list of numbers",
                                  one.quoted && to_number(one.text) ? " (without the quotes it is one)"
                                  : problem.empty() && one.scalar() ? input_hint(one.text)
                                                                    : problem);
                sound = false;
                return;
            }
            numbers.whole = numbers.whole && number->whole;
            numbers.values.push_back(number->whole ? Value(*number->integer) : Value(number->value));
        };
        if (node.list()) {
            for (const Node& item : node.items) add(item);
            numbers.shape = {static_cast<std::int64_t>(node.items.size())};
        } else {
            add(node);
        }
        input.source = std::move(numbers);
        return sound;
    }

    bool dataset(const Node& node, Input& input) const {
        const std::string& text = node.text;
        if (const std::string remedy = home_remedy(text); !remedy.empty()) {
            reader_.error(node.mark(), remedy);
            return false;
        }
        const std::size_t split = text.find(":/");
        if (split == std::string::npos) {
            const std::size_t colon = text.find(':');
            std::string hint = input_hint(text);
            if (!hint.empty()) {
                reader_.wrong(node, key_, forms_, hint);
                return false;
            }
            if (const std::string meant = meant_dataset(scope_.folder, text); !meant.empty())
                hint = fmt::format(" (did you mean '{}'?)", brief(meant));
            else if (colon != std::string::npos && colon > 0)
                hint = fmt::format(" (did you mean '{}:/{}'?)", brief(text.substr(0, colon)),
                                   brief(text.substr(colon + 1)));
            else if (const std::size_t dot = text.rfind('.'); dot != std::string::npos && dot + 1 < text.size())
                hint = fmt::format(" (which dataset of it? `gridstride inspect {}` lists them)", brief(text));
            reader_.wrong(node, key_, forms_, hint);
            return false;
        }
        std::string path = text.substr(split + 1);
        if (path.substr(0, 2) == "//") {
            reader_.wrong(node, key_, forms_, " (addresses on a network are not read)");
            return false;
        }
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        const std::string named = text.substr(0, text.find_last_not_of(':', split) + 1);
        if (named.empty() || path.size() < 2) {
            reader_.wrong(node, key_, forms_, named.empty() ? " (the file is missing)" : " (the dataset is missing)");
            return false;
        }
        const std::filesystem::path file(text.substr(0, split));
        const auto whole = file.is_absolute() ? file : std::filesystem::path(scope_.folder) / file;
        std::error_code ignored;
        if (named.size() < split && !std::filesystem::exists(whole, ignored)) {
            reader_.wrong(node, key_, forms_,
                          fmt::format(" (one colon is enough: did you mean '{}:{}'?)", brief(named), brief(path)));
            return false;
        }
        input.source = Dataset{whole.lexically_normal().string(), std::move(path)};
        return true;
    }

    const Scope& scope_;
    Reader reader_;
    std::string key_;
    std::string_view forms_;
};

/// `generate` and its keys, of an input or of `plus`. The shape, dtype and so on are the input's.
std::optional<Generate> read_generate(const Reader& reader, const Node& node, const std::string& key) {
    Generate made;
    const auto kinds = names_of(generate_kinds);
    const Node* kind = node.find("generate");
    if (kind == nullptr) {
        reader.error(node.mark(), fmt::format("{} needs `generate`: one of {}", key, joined(kinds)));
        return {};
    }
    const auto word = reader.word(*kind, "generate", kinds);
    bool sound = word.has_value();
    made.kind = word.value_or("");
    for (const Key& row : generate_kinds)
        for (const Node::Entry& entry : node.entries) {
            // A key in the form of another kind's row belongs to that kind alone.
            const bool theirs =
                !row.form.empty() && fmt::format(" {} ", row.form).find(" " + entry.key + " ") != std::string::npos;
            if (!theirs || !word || row.name == *word) continue;
            reader.error(entry.mark, fmt::format("{} is of `generate: {}`, not of {}", entry.key, row.name, *word));
            sound = false;
        }
    const auto number = [&](double& target, std::string_view name) {
        const Node* from = node.find(name);
        if (from == nullptr) return;
        const auto value = reader.number(*from, name, {});
        sound = sound && value;
        target = value.value_or(0);
    };
    number(made.scale, "scale");
    number(made.f0, "f0");
    number(made.f1, "f1");
    if (const Node* rank = node.find("rank")) {
        const auto value = reader.integer(*rank, "rank", 1);
        sound = sound && value;
        made.rank = value.value_or(1);
    }
    if (const Node* pairs = node.find("pairs")) {
        made.pairs = reader.integer(*pairs, "pairs", 1, 16);
        sound = sound && made.pairs;
    }
    if (const Node* seed = node.find("seed")) {
        made.seed = reader.unsigned_integer(*seed, "seed");
        sound = sound && made.seed;
    }
    if (const Node* plus = node.find("plus")) {
        std::vector<Key> keys(plus_keys.begin(), plus_keys.end());
        keys.insert(keys.end(), generate_keys.begin(), generate_keys.end());
        const auto add = [&](const Node& one) {
            if (!reader.mapping(one, "plus", keys)) {
                sound = false;
                return;
            }
            auto another = read_generate(reader, one, "plus");
            sound = sound && another;
            if (another) made.plus.push_back(std::move(*another));
        };
        if (plus->list())
            for (const Node& item : plus->items) add(item);
        else
            add(*plus);
    }
    if (!sound) return {};
    return made;
}

}  // namespace

std::string_view job_named(std::string_view text) {
    if (!text.starts_with('$')) return {};
    std::size_t end = 1;
    while (end < text.size() && is_job_character(text[end])) ++end;
    return text.substr(end, 2) == ":/" ? text.substr(1, end - 1) : std::string_view();
}

std::optional<Input> read_input(const Scope& scope, const std::string& key, const Node& raw, Node& node) {
    const Reader reader(scope.diagnostics);
    const Source source(scope, key);
    Input input;
    input.mark = raw.mark();

    // A variable may be the whole mapping; but "$job:/x" is no variable.
    node = raw;
    const bool written = !raw.scalar();  // in this place, not in a variable: still to be expanded
    if (raw.scalar()) {
        if (raw.text.find(":/") != std::string::npos || raw.text.empty() || raw.text[0] != '$') {
            if (!source.read(node, input)) return {};
            return input;
        }
        auto expanded = scope.variables.expand(raw, scope.diagnostics);
        if (!expanded) return {};
        node = std::move(*expanded);
    }
    if (!node.map()) {
        if (written ? !source.read(node, input) : !source.read_expanded(node, input)) return {};
        return input;
    }

    for (const Node::Entry& entry : node.entries) input.marks.emplace(entry.key, entry.value.mark());
    const bool made = node.find("generate") != nullptr;
    std::vector<Key> keys(input_keys.begin(), input_keys.end());
    if (made) keys.insert(keys.end(), generate_keys.begin(), generate_keys.end());
    const std::size_t before = scope.diagnostics.met();
    bool sourced = true;  // a variable's error is told once, where it is first read
    reader.mapping(node, key, keys);
    Node* from = node.find("from");
    if (made && from != nullptr) {
        reader.error(from->mark(), fmt::format("{} has either `from` or `generate`, not both", key));
    } else if (!made && from == nullptr && !node.merged) {
        reader.error(node.mark(), fmt::format("{} needs `from` or `generate`", key));
    } else if (from != nullptr) {
        sourced = written ? source.read(*from, input) : source.read_expanded(*from, input);
    }
    // Keys that mean nothing for this source are errors, not silence.
    const bool numbers = std::holds_alternative<Numbers>(input.source);
    const bool output = std::holds_alternative<JobOutput>(input.source);
    const auto only = [&](std::string_view name, bool applies, std::string_view of) {
        const Node* found = node.find(name);
        if (found != nullptr && !applies && made != (from != nullptr))
            reader.error(found->mark(), fmt::format("{} is of {}", name, of));
    };
    only("seed", made, "`generate`, not of what is read");
    only("complex", !made && !numbers && !output, "a dataset of a file alone");
    only("select", !made && !numbers, "a dataset or a job's output: make or list what is wanted");
    only("nan", !made && !numbers, "a dataset or a job's output alone");
    only("scale", !numbers, "what is read or made: write the numbers as they should be");
    if (made && !node.merged && node.find("shape") == nullptr)
        reader.error(node.find("generate")->mark(), fmt::format("{} needs `shape`: what `generate` makes", key));

    // `from` is expanded on its own; the rest here.
    bool sound = true;
    for (Node::Entry& entry : node.entries) {
        if (!written || entry.key == "from") continue;
        auto value = scope.variables.expand(entry.value, scope.diagnostics);
        sound = sound && value;
        if (value) entry.value = std::move(*value);
    }
    if (!sound) return {};
    if (made) {
        if (auto values = read_generate(reader, node, key)) input.source = std::move(*values);
    }
    if (const Node* select = node.find("select")) {
        const std::string shown = show(*select);
        const bool terms = select->list() && std::all_of(select->items.begin(), select->items.end(),
                                                         [](const Node& item) { return item.scalar(); });
        if (terms)
            reader.wrong(*select, "select", "a text",
                         fmt::format(" (write \"{}\")", shown.substr(1, shown.size() - 2)));
        else
            input.select = reader.text(*select, "select");
    }
    if (const Node* shape = node.find("shape")) input.shape = reader.shape(*shape, "shape", 0, !made);
    if (const Node* dtype = node.find("dtype")) input.dtype = reader.dtype(*dtype, "dtype");
    if (const Node* complex = node.find("complex"))
        input.pair = reader.word(*complex, "complex", {"auto", "pair"}) == "pair";
    if (const Node* scale = node.find("scale"); scale != nullptr && !made)
        input.scale = reader.number(*scale, "scale", {});
    if (const Node* nan = node.find("nan")) input.nan = reader.number(*nan, "nan", {});
    if (!sourced || scope.diagnostics.met() != before || node.merged) return {};
    return input;
}

std::optional<Value> read_value(const Reader& reader, const Node& node, std::string_view key) {
    switch (node.kind) {
        case Node::Kind::null:
            reader.error(node.mark(), fmt::format("{} has no value: give it one, or leave the key out", key));
            return {};
        case Node::Kind::map:
            reader.error(node.mark(), fmt::format("{} is no mapping", key));
            return {};
        case Node::Kind::list: {
            Values values;
            bool sound = true;
            for (const Node& item : node.items) {
                auto value = read_value(reader, item, key);
                sound = sound && value;
                if (value) values.push_back(std::move(*value));
            }
            if (!sound) return {};
            return Value(std::move(values));
        }
        case Node::Kind::scalar:
            break;
    }
    if (node.quoted) return Value(node.text);
    if (node.text == "true" || node.text == "True" || node.text == "TRUE") return Value(true);
    if (node.text == "false" || node.text == "False" || node.text == "FALSE") return Value(false);
    std::string problem;
    const auto number = to_number(node.text, &problem);
    if (number && !std::isfinite(number->value)) {
        reader.error(node.mark(), fmt::format("{} must be finite, not {}", key, brief(node.text)));
        return {};
    }
    if (number) return number->whole ? Value(*number->integer) : Value(number->value);
    if (!problem.empty()) {
        reader.error(node.mark(), fmt::format("{}: {} is no number{}", key, show(node), problem));
        return {};
    }
    return Value(node.text);
}

}  // namespace gridstride::config
