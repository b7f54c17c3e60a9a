// SPDX-License-Identifier: BSD-3-Clause
// The loader: text to tree, command-line overrides into it, variables, defaults, then job after job, and last what
// concerns several jobs at once (references, cycles, shared variants).
#include "io/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include "io/config_job.hpp"

namespace gridstride::config {

namespace {

constexpr std::string_view standard_input = "<stdin>";

bool is_job_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

/// Names that neither a variable nor a job may have.
bool is_reserved(std::string_view name) {
    if (name == "env" || name == "include") return true;
    return std::find(std::begin(case_names), std::end(case_names), name) != std::end(case_names) ||
           std::any_of(top_keys.begin(), top_keys.end(), [&](const Key& key) { return key.name == name; });
}

std::vector<std::string> keys_of(const Node* node) {
    std::vector<std::string> keys;
    if (node != nullptr)
        for (const Node::Entry& entry : node->entries) keys.push_back(entry.key);
    return keys;
}

/// A VALUE of the command line as a tree.
std::optional<Node> value_from(const std::string& text, const std::string& source, Diagnostics& diagnostics) {
    const auto whole = clean(text, source, diagnostics);
    return whole ? parse_tree(*whole, source, true, diagnostics) : std::nullopt;
}

class Loader {
  public:
    Loader(Config& config, std::string shown, const Overrides& overrides, Diagnostics& diagnostics)
        : config_(config),
          shown_(std::move(shown)),
          overrides_(overrides),
          diagnostics_(diagnostics),
          reader_(diagnostics) {}

    void load() {
        const auto text = clean(config_.text, shown_, diagnostics_);
        diagnostics_.read_from(shown_, text ? *text : config_.text.substr(0, largest_file));
        if (!text) return;
        auto tree = parse_tree(*text, shown_, false, diagnostics_);
        if (!tree) return;
        root_ = std::move(*tree);
        if (!root_.map()) {
            const bool there = root_.kind != Node::Kind::null;
            reader_.error({shown_, there ? root_.line : 1, there ? root_.column : 1},
                          fmt::format("a job file is a mapping of {}{}", joined(names_of(top_keys)),
                                      root_.scalar() ? space_hint(root_.text, names_of(top_keys)) : ""));
            return;
        }
        if (root_.find("op") != nullptr && root_.find("jobs") == nullptr) {
            reader_.error(root_.find("op")->mark(),
                          "a job stands below `jobs`, under a name: jobs: {NAME: {op: ..., inputs: ...}}");
            return;
        }
        if (const Node* jobs = root_.find("jobs"); jobs != nullptr && jobs->kind == Node::Kind::null)
            for (const Node::Entry& entry : root_.entries)
                if (entry.key != "defaults" && entry.key != "vars" && entry.value.find("op") != nullptr) {
                    reader_.error(entry.mark, fmt::format("job '{}' belongs to `jobs`: indent it, with all its lines",
                                                          brief(entry.key)));
                    return;
                }
        reader_.mapping(root_, "the job file", top_keys);
        for (const std::string& text : overrides_.set) set(text);
        if (const Node* version = root_.find("schema")) reader_.integer(*version, "schema", 1, 1);
        names();
        defaults();
        command_line();
        jobs();
        shared_settings_apply();
        references();
    }

  private:
    // --- overrides ---

    void set(const std::string& text) {
        const std::string source = "--set " + brief(text, 100);
        const Mark mark{source, 0, 0};
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            reader_.error(mark, "--set takes KEY=VALUE, as in --set n=8192 or --set jobs.NAME.params.kernel=5");
            return;
        }
        auto value = value_from(text.substr(equals + 1), source, diagnostics_);
        if (!value) return;
        std::vector<std::string> path;
        for (std::size_t begin = 0; begin <= equals;) {
            const std::size_t end = std::min(text.find('.', begin), equals);
            path.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        Node* vars = root_.find("vars");
        Node* jobs = root_.find("jobs");
        if (path.size() == 1) {
            Node* variable = vars != nullptr ? vars->find(path[0]) : nullptr;
            if (variable != nullptr) {
                *variable = std::move(*value);
                return;
            }
            auto known = keys_of(vars);
            const std::string list = known.empty() ? "`vars` has none" : "`vars` has " + joined(known);
            const auto jobs_there = keys_of(jobs);
            const bool job = std::find(jobs_there.begin(), jobs_there.end(), path[0]) != jobs_there.end();
            reader_.error(
                mark, fmt::format("no variable is called '{}'{}; {} (a key of a job: jobs.NAME.KEY)", brief(path[0]),
                                  job ? " (it is a job)" : did_you_mean(path[0], known), list));
            return;
        }
        if (path[0] == "vars" && path.size() == 2 && vars != nullptr && vars->find(path[1]) != nullptr) {
            *vars->find(path[1]) = std::move(*value);
            return;
        }
        if (path[0] == "defaults") {
            if (root_.find("defaults") == nullptr) root_.entries.push_back({"defaults", mark, empty_map(mark)});
            set_in(*root_.find("defaults"), path, 1, std::move(*value), mark);
            return;
        }
        if (path[0] != "jobs") {
            reader_.error(
                mark, fmt::format("--set sets a variable, jobs.NAME.KEY or defaults.KEY, not '{}'{}",
                                  brief(text.substr(0, equals)), did_you_mean(path[0], {"jobs", "defaults", "vars"})));
            return;
        }
        Node* job = jobs != nullptr ? jobs->find(path[1]) : nullptr;
        if (job == nullptr) {
            reader_.error(mark,
                          fmt::format("no job is called '{}'{}", brief(path[1]), did_you_mean(path[1], keys_of(jobs))));
            return;
        }
        if (path.size() == 2) {
            *job = std::move(*value);
            return;
        }
        // A part of what only defaults gives: the job gets its own copy first.
        const Node* shared = root_.find("defaults") != nullptr ? root_.find("defaults")->find(path[2]) : nullptr;
        if (path.size() > 3 && job->map() && job->find(path[2]) == nullptr && shared != nullptr && shared->map())
            job->entries.push_back({path[2], mark, *shared});
        set_in(*job, path, 2, std::move(*value), mark);
    }

    static Node empty_map(const Mark& mark) {
        Node node;
        node.kind = Node::Kind::map;
        node.source = std::make_shared<const std::string>(mark.source);
        return node;
    }

    /// Sets path[at...] below node; mappings on the way are made. Whether the keys exist is checked with all others.
    void set_in(Node& node, const std::vector<std::string>& path, std::size_t at, Node value, const Mark& mark) {
        if (!node.map()) {
            std::string there = path[0];
            for (std::size_t i = 1; i < at; ++i) there += "." + path[i];
            reader_.error(mark,
                          fmt::format("{} is {}, no mapping: set it whole, --set {}=...", there, show(node), there));
            return;
        }
        Node* child = node.find(path[at]);
        if (child == nullptr) {
            node.entries.push_back({path[at], mark, empty_map(mark)});
            child = &node.entries.back().value;
        }
        if (at + 1 == path.size())
            *child = std::move(value);
        else
            set_in(*child, path, at + 1, std::move(value), mark);
    }

    void command_line() {
        const auto add = [&](const std::string& key, const std::optional<std::string>& value) {
            if (!value) return;
            const bool list = key == "variant" && value->find(',') != std::string::npos && value->find('[') != 0;
            const std::string source = fmt::format("--{} {}", key, *value);
            if (auto node = value_from(list ? "[" + *value + "]" : *value, source, diagnostics_))
                shared_.command_line.emplace(key, std::move(*node));
        };
        add("device", overrides_.device);
        add("variant", overrides_.variant);
        add("validate", overrides_.validate);
        if (overrides_.threads) {
            if (*overrides_.threads < 1)
                reader_.error({fmt::format("--threads {}", *overrides_.threads), 0, 0}, "threads is at least 1");
            else
                shared_.threads = overrides_.threads;
        }
    }

    // --- the parts of the file ---

    void names() {
        std::map<std::string, Node> vars;
        const auto jobs = keys_of(root_.find("jobs"));
        job_names_.insert(jobs.begin(), jobs.end());
        if (const Node* node = root_.find("vars")) {
            if (!node->map()) reader_.wrong(*node, "vars", "a mapping of names to values");
            for (const Node::Entry& entry : node->entries) {
                if (!is_variable_name(entry.key))
                    reader_.error(entry.mark, fmt::format("{} is no name of a variable: a letter or _, then letters, "
                                                          "digits, _",
                                                          show(std::string_view(entry.key))));
                else if (is_reserved(entry.key))
                    reader_.error(entry.mark,
                                  fmt::format("'{}' is a reserved name: no variable may have it", entry.key));
                else if (job_names_.count(entry.key) > 0)
                    reader_.error(
                        entry.mark,
                        fmt::format("'{}' is a job too: variables and jobs share one set of names", brief(entry.key)));
                vars.emplace(entry.key, entry.value);
            }
        }
        variables_ = std::make_shared<Variables>(std::move(vars), jobs);
        variables_->resolve(diagnostics_);
        config_.expand = [variables = variables_](const std::string& text,
                                                  const std::map<std::string, std::string>& more) {
            try {
                return variables->expand(text, more);
            } catch (const ExpandError& problem) {
                throw Error(Category::config, problem.reported ? "a variable has no value" : problem.message);
            }
        };
    }

    void defaults() {
        const Node* node = root_.find("defaults");
        if (node == nullptr) return;
        std::vector<Key> keys;
        for (const Key& key : job_keys)
            if (key.name != "op" && key.name != "inputs" && key.name != "params" && key.name != "outputs")
                keys.push_back(key);
        if (!reader_.mapping(*node, "defaults", keys)) return;
        for (const Node::Entry& entry : node->entries)
            if (auto value = variables_->expand(entry.value, diagnostics_))
                shared_.defaults.emplace(entry.key, std::move(*value));
        // Checked here too: every job may have its own.
        const auto check = [&](std::string_view key, const auto& read) {
            if (const auto found = shared_.defaults.find(key); found != shared_.defaults.end())
                if (!read(reader_, found->second)) shared_.defaults.erase(found);
        };
        check("store", read_store);
        check("device", read_device);
        check("validate", read_validate);
        check("tolerance", read_tolerance);
        check("launch", read_launch);
        check("variant", read_variant);
        for (const std::string_view key : {"dtype", "result_dtype"})
            check(key, [&](const Reader& reader, const Node& value) { return reader.dtype(value, key); });
    }

    void jobs() {
        const Node* node = root_.find("jobs");
        if (node == nullptr) {
            for (const Node::Entry& entry : root_.entries)
                if (stands_for(entry.key, "jobs", names_of(top_keys))) return;  // told as an unknown key
            reader_.error({shown_, 1, 1}, "`jobs` is missing: a mapping of names to jobs, at least one");
            return;
        }
        if (!node->map() || node->entries.empty()) {
            reader_.wrong(*node, "jobs", "a mapping of names to jobs, at least one",
                          node->list() ? " (in place of '-' each has a name: NAME: {op: ...})" : "");
            return;
        }
        const auto keys = names_of(job_keys);
        for (std::size_t i = 1; i < node->entries.size(); ++i) {
            const auto& [name, mark, value] = node->entries[i];
            const Node::Entry& above = node->entries[i - 1];
            if (above.value.kind != Node::Kind::null || value.find("op") != nullptr ||
                std::find(keys.begin(), keys.end(), name) == keys.end())
                continue;
            reader_.error(mark,
                          fmt::format("`{}` belongs to job '{}' above: indent it, and the job's other keys, below "
                                      "the name",
                                      name, brief(above.key)));
            return;
        }
        const Scope scope{diagnostics_, *variables_, config_.folder, job_names_};
        for (const Node::Entry& entry : node->entries) {
            if (!is_job_name(entry.key))
                reader_.error(entry.mark, fmt::format("{} is no name of a job: letters, digits, _ and -",
                                                      show(std::string_view(entry.key))));
            else if (is_reserved(entry.key))
                reader_.error(entry.mark, fmt::format("'{}' is a reserved name: no job may have it", entry.key));
            config_.jobs.push_back(read_job(scope, shared_, entry.key, entry.mark, entry.value));
        }
    }

    // --- what concerns several jobs ---

    /// A variant or launch for all that no job's operation has is a mistake.
    void shared_settings_apply() {
        const bool any =
            std::any_of(config_.jobs.begin(), config_.jobs.end(), [](const Job& job) { return job.entry != nullptr; });
        if (!any) return;
        for (const auto* settings : {&shared_.command_line, &shared_.defaults})
            if (const auto found = settings->find("variant"); found != settings->end()) variant_applies(found->second);
        if (const auto found = shared_.defaults.find("launch"); found != shared_.defaults.end()) {
            const bool shaped = found->second.find("grid") != nullptr || found->second.find("block") != nullptr;
            const bool taken = std::any_of(config_.jobs.begin(), config_.jobs.end(), [](const Job& job) {
                return job.entry != nullptr && takes_launch(*job.entry);
            });
            if (shaped && !taken)
                reader_.error(found->second.mark(), "no operation of this file has a variant that takes `launch`");
        }
    }

    void variant_applies(const Node& node) {
        const auto setting = read_variant(reader_, node);
        if (!setting) return;
        for (std::size_t i = 0; i < setting->words.size(); ++i) {
            const std::string& word = setting->words[i];
            if (word == "all" || word == "auto") continue;
            std::vector<std::string> words{"auto", "all"};
            bool taken = false, elsewhere = false;
            for (const Job& job : config_.jobs) {
                if (job.entry == nullptr) continue;
                const auto allowed = variant_words(*job.entry, job.device);
                taken = taken || std::find(allowed.begin(), allowed.end(), word) != allowed.end();
                elsewhere = elsewhere || find(*job.entry, word) != nullptr;
                for (const std::string& one : allowed)
                    if (std::find(words.begin(), words.end(), one) == words.end()) words.push_back(one);
            }
            if (taken) continue;
            reader_.error(
                setting->marks[i],
                fmt::format("no job's operation has a variant {}{}{}; they have {}", show(std::string_view(word)),
                            elsewhere ? " on its device" : "", did_you_mean(word, words), joined(words)));
        }
    }

    void references() {
        std::map<std::string_view, std::size_t> position;
        for (std::size_t i = 0; i < config_.jobs.size(); ++i) position.emplace(config_.jobs[i].name, i);
        std::vector<std::vector<std::pair<std::size_t, Mark>>> reads(config_.jobs.size());
        for (std::size_t i = 0; i < config_.jobs.size(); ++i) {
            Job& job = config_.jobs[i];
            for (const auto& [name, input] : job.inputs) {
                const auto* from = std::get_if<JobOutput>(&input.source);
                if (from == nullptr) continue;
                const std::size_t producer = position.at(from->job);
                const Mark mark = input.marks.count("from") > 0 ? input.marks.at("from") : input.mark;
                reads[i].emplace_back(producer, mark);
                const std::size_t before = diagnostics_.met();
                check_reference(config_.jobs[producer], *from, mark);
                job.sound = job.sound && diagnostics_.met() == before;
            }
        }
        find_cycles(reads);
    }

    void check_reference(const Job& producer, const JobOutput& from, const Mark& mark) {
        if (producer.entry == nullptr) return;
        std::vector<std::string> outputs;
        for (const Output& row : producer.entry->op->outputs) outputs.emplace_back(row.name);
        if (std::find(outputs.begin(), outputs.end(), from.output) == outputs.end()) {
            std::string hint = did_you_mean(from.output, outputs);
            for (const auto& [word, saved] : producer.outputs)
                if (saved.ends_with(":/" + from.output))
                    hint = fmt::format(" (did you mean '{}', the operation's word, not the path it is saved under?)",
                                       word);
            reader_.error(mark, fmt::format("job '{}' ({}) has no output '{}'{}; it has {}", brief(from.job),
                                            producer.entry->op->name, brief(from.output), hint, joined(outputs)));
        }
        if (producer.variants.size() > 1 || producer.variants[0] == "all")
            reader_.error(
                mark, fmt::format("job '{}' runs {}, so its output is not one: name one variant there", brief(from.job),
                                  producer.variants[0] == "all" ? "all variants"
                                                                : "the variants " + joined(producer.variants)));
    }

    /// Follows producers without recursion; each cycle is told once.
    void find_cycles(const std::vector<std::vector<std::pair<std::size_t, Mark>>>& reads) {
        enum class State : std::uint8_t { untouched, open, done };
        std::vector<State> state(reads.size(), State::untouched);
        for (std::size_t root = 0; root < reads.size(); ++root) {
            if (state[root] != State::untouched) continue;
            std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};  // job, its next input
            state[root] = State::open;
            while (!path.empty()) {
                auto& [job, next] = path.back();
                if (next == reads[job].size()) {
                    state[job] = State::done;
                    path.pop_back();
                    continue;
                }
                const auto& [producer, mark] = reads[job][next++];
                if (state[producer] == State::untouched) {
                    state[producer] = State::open;
                    path.emplace_back(producer, 0);
                } else if (state[producer] == State::open) {
                    std::string words = brief(config_.jobs[producer].name);
                    for (auto step = path.rbegin(); step != path.rend(); ++step) {
                        words += " <- " + brief(config_.jobs[step->first].name);
                        config_.jobs[step->first].sound = false;
                        if (step->first == producer) break;
                    }
                    reader_.error(mark, fmt::format("jobs that read each other in a circle: {}", words));
                }
            }
        }
    }

    Config& config_;
    std::string shown_;
    const Overrides& overrides_;
    Diagnostics& diagnostics_;
    Reader reader_;
    Node root_;
    std::set<std::string, std::less<>> job_names_;
    std::shared_ptr<Variables> variables_;
    Shared shared_;
};

std::string read_all(const std::string& source) {
    const std::filesystem::path path(source);
    std::error_code ignored;
    if (source != "-" && std::filesystem::is_directory(path, ignored))
        throw Error(Category::config, "this is a folder; name a job file (.yaml)");
    std::FILE* file = source == "-" ? stdin : std::fopen(source.c_str(), "rb");
    if (file == nullptr) {
        const int reason = errno;
        std::vector<std::string> near;
        const auto parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
        for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
            const std::string extension = entry.path().extension().string();
            if (near.size() < 1000 && (extension == ".yaml" || extension == ".yml"))
                near.push_back(entry.path().filename().string());
        }
        if (const std::size_t split = source.find(":/");
            split != std::string::npos && std::filesystem::is_regular_file(source.substr(0, split), ignored))
            throw Error(Category::config,
                        fmt::format("this is a dataset, not a job file: `gridstride inspect {}` shows "
                                    "it; a job file names it as an input",
                                    source));
        if (reason == ENOENT && !std::filesystem::is_directory(parent, ignored))
            throw Error(Category::config,
                        fmt::format("no such job file; the folder {} does not exist either", parent.string()));
        if (reason != ENOENT) throw Error(Category::config, fmt::format("cannot be read: {}", std::strerror(reason)));
        std::string hint = did_you_mean(path.filename().string(), near);
        for (const char* extension : {".yml", ".yaml"})
            if (std::filesystem::is_regular_file(source + extension, ignored))
                hint = fmt::format(" (did you mean '{}{}'?)", source, extension);
        throw Error(Category::config, "no such job file" + hint);
    }
    std::string text(largest_file + 1, '\0');  // one byte more tells that it is too large
    text.resize(std::fread(text.data(), 1, text.size(), file));
    const bool failed = std::ferror(file) != 0;
    if (file != stdin) std::fclose(file);
    if (failed) throw Error(Category::config, "cannot be read");
    return text;
}

}  // namespace

Config parse(const std::string& text, const std::string& source, const std::string& folder, const Overrides& overrides,
             Diagnostics& diagnostics) {
    Config config;
    config.source = source;
    config.folder = folder;
    config.text = text;
    config.stem = "stdin";
    if (source != "-") {
        const std::filesystem::path name = std::filesystem::path(source).filename();
        const bool yaml = name.extension() == ".yaml" || name.extension() == ".yml";
        config.stem = (yaml ? name.stem() : name).string();
    }
    config.expand = [](const std::string& raw, const std::map<std::string, std::string>&) { return raw; };
    Loader(config, source == "-" ? std::string(standard_input) : source, overrides, diagnostics).load();
    return config;
}

Config load(const std::string& source, const Overrides& overrides, Diagnostics& diagnostics) {
    const std::string text = read_all(source);
    const auto here = std::filesystem::current_path();
    const auto folder = source == "-" ? here : std::filesystem::absolute(source).parent_path();
    return parse(text, source, folder.lexically_normal().string(), overrides, diagnostics);
}

}  // namespace gridstride::config
