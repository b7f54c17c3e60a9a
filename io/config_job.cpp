// SPDX-License-Identifier: BSD-3-Clause
// One job: its keys against the operation's table; command line before job before defaults; where each value is from.
#include "io/config_job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gridstride::config {

namespace {

enum class Origin { job, defaults, command_line };

std::string origin_text(const Mark& mark, Origin origin) {
    if (mark.line > 0)
        return fmt::format("{}{}:{}", origin == Origin::defaults ? "defaults, " : "", mark.source, mark.line);
    return mark.source.substr(0, 5) == "--set" ? mark.source : "command line";
}

constexpr std::string_view no_file = " (FILE is a folder: name a file in it)";

/// Does an output's FILE end in the name of a file?
bool names_a_file(std::string_view path) {
    const std::string_view last = path.substr(path.rfind('/') + 1);  // of npos + 1 = 0: all of it
    return !last.empty() && last != "." && last != "..";
}

/// Is every part of an output's "/PATH" a name that an HDF5 object can have?
bool names_a_dataset(std::string_view path) {
    for (std::size_t begin = 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..") return false;
        begin = end + 1;
    }
    return true;
}

std::vector<std::string> op_names() {
    std::vector<std::string> names;
    for (const Entry& entry : registry()) names.emplace_back(entry.op->name);
    return names;
}

std::vector<std::string> parameter_names(const Op& op) {
    std::vector<std::string> names;
    for (const Param& row : op.params)
        if (!row.hidden) names.emplace_back(row.name);
    return names;
}

template <class Row>
std::vector<std::string> row_names(const std::vector<Row>& rows) {
    std::vector<std::string> names;
    for (const Row& row : rows) names.emplace_back(row.name);
    return names;
}

class JobReader {
  public:
    JobReader(const Scope& scope, const Shared& shared, const Node& node, Job& job)
        : scope_(scope), reader_(scope.diagnostics), shared_(shared), node_(node), job_(job) {}

    void read() {
        const std::string what = fmt::format("job '{}'", brief(job_.name));
        if (!reader_.mapping(node_, what, job_keys, [&](std::string_view key) { return place_of(key); })) return;
        for (const Node::Entry& entry : node_.entries) job_.marks.emplace(entry.key, entry.value.mark());
        operation();
        settings();
        if (job_.entry == nullptr) return;  // the rest needs its table
        variant();
        launch();
        inputs();
        params();
        outputs();
        against();
        fill_explained();
    }

    /// Does the job lack something that a merge key, refused before, may have been to bring?
    bool lacking() const { return lacking_; }

  private:
    /// Is a name missing because another key of the mapping is that name mistyped, or was it to come from a merge key?
    /// Then that is the error, and what is missing is none.
    bool told(const Node& node, std::string_view missing, const std::vector<std::string>& names) {
        lacking_ = lacking_ || node.merged;
        return node.merged || std::any_of(node.entries.begin(), node.entries.end(), [&](const Node::Entry& entry) {
                   return stands_for(entry.key, missing, names);
               });
    }

    /// For a key that stands beside its mapping: " (it belongs below `params`: params: {axes: ...})".
    std::string place_of(std::string_view key) const {
        const auto below = [&](std::string_view place) {
            return fmt::format(" (it belongs below `{}`: {}: {{{}: ...}})", place, place, key);
        };
        const auto has = [&](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), key) != names.end();
        };
        const Node* op = node_.find("op");
        if (const Entry* entry = op != nullptr ? find(op->text) : nullptr; entry != nullptr) {
            if (has(parameter_names(*entry->op))) return below("params");
            if (has(row_names(entry->op->inputs))) return below("inputs");
        }
        if (has(names_of(store_keys))) return below("store");
        return has(names_of(launch_keys)) ? below("launch") : "";
    }

    /// The value of a job key, expanded; nothing where none is given (or it is wrong, and told).
    std::optional<Node> own(std::string_view key) {
        const Node* found = node_.find(key);
        return found == nullptr ? std::nullopt : scope_.variables.expand(*found, scope_.diagnostics);
    }

    /// Command line, else job, else defaults: reads it, explains it.
    template <class Read>
    std::invoke_result_t<Read, const Reader&, const Node&> pick(std::string_view key, Read read) {
        std::optional<Node> node;
        Origin origin = Origin::job;
        if (const auto line = shared_.command_line.find(key); line != shared_.command_line.end()) {
            node = line->second;
            origin = Origin::command_line;
        } else if (node_.find(key) != nullptr) {
            node = own(key);
        } else if (const auto otherwise = shared_.defaults.find(key); otherwise != shared_.defaults.end()) {
            node = otherwise->second;
            origin = Origin::defaults;
        }
        if (!node) return {};
        note(std::string(key), *node, origin);
        return read(reader_, *node);
    }

    /// Marks and explains a value and, of a mapping, the values in it. text: to show instead of the node.
    void note(const std::string& key, const Node& node, Origin origin, const std::string& text = {}) {
        job_.marks.insert_or_assign(key, node.mark());
        if (job_.explained.size() > 1000) return;
        if (!node.map()) {
            job_.explained.push_back({key, text.empty() ? show(node, 200) : text, origin_text(node.mark(), origin)});
            return;
        }
        for (const Node::Entry& entry : node.entries) note(key + "." + entry.key, entry.value, origin);
    }

    void operation() {
        const Node* found = node_.find("op");
        const auto names = op_names();
        if (found == nullptr) {
            if (told(node_, "op", names_of(job_keys))) return;
            reader_.error(job_.mark, fmt::format("job '{}' needs `op`: one of {}", brief(job_.name), joined(names)));
            return;
        }
        const auto node = own("op");
        if (!node) return;
        note("op", *node, Origin::job);
        if (const auto word = reader_.word(*node, "op", names)) job_.entry = find(*word);
    }

    void settings() {
        if (auto store = pick("store", read_store)) job_.store = *store;
        const auto dtype_of_key = [](std::string_view key) {
            return [key](const Reader& reader, const Node& node) { return reader.dtype(node, key); };
        };
        job_.dtype = pick("dtype", dtype_of_key("dtype"));
        job_.result_dtype = pick("result_dtype", dtype_of_key("result_dtype"));
        if (const auto device = pick("device", read_device)) job_.device = *device;
        if (const auto validate = pick("validate", read_validate)) job_.validate = *validate;
        if (const auto tolerance = pick("tolerance", read_tolerance)) job_.tolerance = *tolerance;
        if (const auto expect = pick("expect", read_expect)) job_.expect = *expect;
        job_.timeout = pick("timeout", read_timeout);
    }

    /// From defaults or the command line: those of the words that this operation has, if any.
    bool shared_variant(const Node& node, Origin origin) {
        const auto setting = read_variant(Reader(scope_.diagnostics), node);
        if (!setting) return true;
        const auto words = variant_words(*job_.entry, job_.device);
        std::vector<std::string> kept;
        for (const std::string& word : setting->words)
            if (word == "all" || word == "auto" || std::find(words.begin(), words.end(), word) != words.end())
                kept.push_back(word);
        if (kept.empty()) return false;
        job_.variants = kept;
        job_.listed = setting->listed;
        job_.marks.insert_or_assign("variant", node.mark());
        job_.explained.push_back({"variant", setting->listed && kept[0] != "all" ? "[" + joined(kept) + "]" : kept[0],
                                  origin_text(node.mark(), origin)});
        return true;
    }

    void variant() {
        if (const auto line = shared_.command_line.find("variant");
            line != shared_.command_line.end() && shared_variant(line->second, Origin::command_line))
            return;
        if (node_.find("variant") == nullptr) {
            if (const auto otherwise = shared_.defaults.find("variant"); otherwise != shared_.defaults.end())
                shared_variant(otherwise->second, Origin::defaults);
            return;
        }
        const auto node = own("variant");
        if (!node) return;
        note("variant", *node, Origin::job);
        const auto setting = read_variant(reader_, *node);
        if (!setting) return;
        const auto allowed = variant_words(*job_.entry, job_.device);
        auto all = variant_words(*job_.entry);
        const std::string_view op = job_.entry->op->name;
        const std::size_t before = scope_.diagnostics.met();
        for (std::size_t i = 0; i < setting->words.size(); ++i) {
            const std::string& word = setting->words[i];
            if (word == "auto" || word == "all") continue;
            if (std::find(all.begin(), all.end(), word) == all.end()) {
                std::vector<std::string> candidates{"auto", "all"};
                candidates.insert(candidates.end(), all.begin(), all.end());
                reader_.error(setting->marks[i],
                              fmt::format("{} has no variant {}{}; it has {}", op, show(std::string_view(word)),
                                          did_you_mean(word, candidates), joined(candidates)));
            } else if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
                const auto asked = name(job_.device.device);
                reader_.error(
                    setting->marks[i],
                    fmt::format("variant '{}' of {} does not run on {}, and device is {}; {}", word, op, asked, asked,
                                allowed.empty() ? fmt::format("it has none for {}", asked)
                                                : fmt::format("there it has {}", joined(allowed))));
            }
        }
        if (scope_.diagnostics.met() != before) return;  // `auto` stays, for a plan that looks on
        job_.variants = setting->words;
        job_.listed = setting->listed;
    }

    void launch() {
        if (node_.find("launch") != nullptr) {
            const auto node = own("launch");
            if (node) {
                note("launch", *node, Origin::job);
                if (const auto setting = read_launch(reader_, *node)) {
                    job_.launch = setting->launch;
                    job_.threads = setting->threads;
                    job_.own_launch = !setting->launch.grid.empty() || !setting->launch.block.empty();
                }
            }
        } else if (const auto otherwise = shared_.defaults.find("launch"); otherwise != shared_.defaults.end()) {
            if (const auto setting = read_launch(reader_, otherwise->second)) {
                Node taken = otherwise->second;
                if (takes_launch(*job_.entry))
                    job_.launch = setting->launch;
                else
                    std::erase_if(taken.entries, [](const Node::Entry& entry) { return entry.key != "threads"; });
                job_.threads = setting->threads;
                note("launch", taken, Origin::defaults);
            }
        }
        if (shared_.threads) {
            job_.threads = shared_.threads;
            std::erase_if(job_.explained, [](const Explained& one) { return one.key == "launch.threads"; });
            job_.explained.push_back({"launch.threads", fmt::format("{}", *job_.threads), "command line"});
        }
    }

    void inputs() {
        const Op& op = *job_.entry->op;
        const auto names = row_names(op.inputs);
        const Node* found = node_.find("inputs");
        std::optional<Node> whole;
        if (found != nullptr) {
            whole = *found;
            if (found->scalar()) whole = own("inputs");  // a variable that is the mapping
            if (!whole) return;
            if (!whole->map()) {
                reader_.wrong(*whole, "inputs", fmt::format("a mapping of {}", joined(names)),
                              whole->scalar() ? space_hint(whole->text, names) : "");
                return;
            }
        }
        for (const gridstride::Input& row : op.inputs) {
            if (row.optional || (whole && whole->find(row.name) != nullptr)) continue;
            if (found == nullptr ? told(node_, "inputs", names_of(job_keys)) : told(*whole, row.name, names)) continue;
            reader_.error(found != nullptr ? job_.at("inputs") : job_.mark,
                          fmt::format("input '{}' of {} is missing ({})", row.name, op.name, row.doc));
        }
        if (!whole) return;
        for (const Node::Entry& entry : whole->entries) {
            if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
                reader_.error(entry.mark,
                              fmt::format("{} has no input {}{}; it has {}", op.name, show(std::string_view(entry.key)),
                                          key_hint(entry, names), joined(names)));
                continue;
            }
            Node resolved;
            auto input = read_input(scope_, "inputs." + entry.key, entry.value, resolved);
            note("inputs." + entry.key, resolved, Origin::job);
            lacking_ = lacking_ || resolved.merged;
            if (input) job_.inputs.emplace(entry.key, std::move(*input));
        }
    }

    void params() {
        const Op& op = *job_.entry->op;
        const auto names = parameter_names(op);
        const Node* found = node_.find("params");
        std::optional<Node> node;
        if (found != nullptr) {
            node = own("params");
            if (!node) return;
            if (!node->map()) {
                reader_.wrong(*node, "params", fmt::format("a mapping of {}", joined(names)),
                              node->scalar() ? space_hint(node->text, names) : "");
                return;
            }
            for (const Node::Entry& entry : node->entries) parameter(op, names, entry);
        }
        for (const Param& row : op.params) {
            const bool given = node && node->find(row.name) != nullptr;
            if (given || row.hidden) continue;
            if (!row.otherwise) {
                if (found == nullptr ? told(node_, "params", names_of(job_keys)) : told(*node, row.name, names))
                    continue;
                reader_.error(found != nullptr ? job_.at("params") : job_.mark,
                              fmt::format("parameter '{}' is required ({})", row.name, describe(row)));
                continue;
            }
            job_.explained.push_back({fmt::format("params.{}", row.name),
                                      row.otherwise->empty() ? "unset" : to_text(*row.otherwise), "built in"});
        }
    }

    void parameter(const Op& op, const std::vector<std::string>& names, const Node::Entry& entry) {
        const auto row = std::find_if(op.params.begin(), op.params.end(),
                                      [&](const Param& one) { return one.name == entry.key && !one.hidden; });
        if (row == op.params.end()) {
            reader_.error(entry.mark,
                          fmt::format("{} has no parameter {}{}; it has {}", op.name, show(std::string_view(entry.key)),
                                      key_hint(entry, names), names.empty() ? "none" : joined(names)));
            return;
        }
        note("params." + entry.key, entry.value, Origin::job);
        if (entry.value.map()) {
            reader_.wrong(entry.value, entry.key, describe(*row));
            return;
        }
        auto value = read_value(reader_, entry.value, entry.key);
        if (!value) return;
        if (!fits(*value, *row)) {
            const std::vector<std::string> words(row->words.begin(), row->words.end());
            std::string hint;
            if (entry.value.scalar() && !entry.value.quoted)
                hint = words.empty() ? number_hint(entry.value.text) : did_you_mean(entry.value.text, words);
            if (hint.empty() && entry.value.scalar()) hint = left_out_or_of_another(op, *row, entry.value.text);
            reader_.wrong(entry.value, entry.key, describe(*row), hint);
            return;
        }
        job_.params.set(entry.key, std::move(*value));
    }

    /// For a word that a parameter does not have: another parameter that has it, or that none is needed.
    static std::string left_out_or_of_another(const Op& op, const Param& row, const std::string& text) {
        if (row.otherwise && row.otherwise->empty() && (text == "all" || text == "None" || text == "none"))
            return row.name == "axes" ? " (leave it out for all axes)" : " (leave it out)";
        for (const Param& other : op.params)
            if (!other.hidden && std::find(other.words.begin(), other.words.end(), text) != other.words.end())
                return fmt::format(" (did you mean {}: {}?)", other.name, text);
        return {};
    }

    void outputs() {
        const Node* found = node_.find("outputs");
        if (found == nullptr) return;
        const Op& op = *job_.entry->op;
        const auto names = row_names(op.outputs);
        if (found->scalar()) {
            const auto text = settle(*found);
            if (!text) return;
            note("outputs", *found, Origin::job, *text);
            if (text->find(":/") != std::string::npos)
                reader_.wrong(*found, "outputs", "FILE, or a mapping of outputs to FILE:/PATH",
                              fmt::format(" (write {{{}: {}}})", names[0], brief(*text)));
            else if (text->empty())
                reader_.wrong(*found, "outputs", "FILE, or a mapping of outputs to FILE:/PATH");
            else if (!names_a_file(*text))
                reader_.wrong(*found, "outputs", "FILE, or a mapping of outputs to FILE:/PATH", no_file);
            else
                job_.output_file = *text;
            return;
        }
        if (!found->map()) {
            reader_.wrong(*found, "outputs", "FILE, or a mapping of outputs to FILE:/PATH");
            return;
        }
        std::optional<std::string> file;
        for (const Node::Entry& entry : found->entries) {
            if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
                reader_.error(entry.mark,
                              fmt::format("{} has no output {}{}; it has {}", op.name,
                                          show(std::string_view(entry.key)), key_hint(entry, names), joined(names)));
                continue;
            }
            const std::string key = "outputs." + entry.key;
            if (!entry.value.scalar()) {
                reader_.wrong(entry.value, key, "FILE:/PATH");
                continue;
            }
            const auto text = settle(entry.value);
            if (!text) continue;
            note(key, entry.value, Origin::job, *text);
            const std::size_t split = text->find(":/");
            if (split == std::string::npos || split == 0 || split + 2 >= text->size()) {
                reader_.wrong(
                    entry.value, key, "FILE:/PATH",
                    split == std::string::npos ? fmt::format(" (write {}:/{})", brief(*text), entry.key) : "");
                continue;
            }
            const std::string here = text->substr(0, split);
            if (!names_a_file(here)) {
                reader_.wrong(entry.value, key, "FILE:/PATH", no_file);
                continue;
            }
            if (!names_a_dataset(std::string_view(*text).substr(split + 1))) {
                reader_.wrong(entry.value, key, "FILE:/PATH", " (a part of PATH is empty, '.' or '..')");
                continue;
            }
            if (file && *file != here) {
                reader_.error(entry.value.mark(),
                              fmt::format("one case writes one file: this is {}, another output goes to {}",
                                          brief(here), brief(*file)));
                continue;
            }
            file = here;
            job_.outputs.emplace(entry.key, *text);
        }
        if (found->entries.empty()) reader_.error(found->mark(), "outputs is empty: name one, or leave the key out");
    }

    void against() {
        const Node* found = node_.find("against");
        if (found == nullptr) return;
        Node resolved;
        auto answer = read_input(scope_, "against", *found, resolved);
        note("against", resolved, Origin::job);
        lacking_ = lacking_ || resolved.merged;
        if (!answer) return;
        if (std::holds_alternative<Dataset>(answer->source))
            job_.against = std::move(*answer);
        else
            reader_.error(answer->mark, "against is an answer that a file holds: FILE:/DATASET");
    }

    /// The text with all variables but a case's own expanded, and those checked.
    std::optional<std::string> settle(const Node& node) {
        try {
            std::string text = scope_.variables.settle(node.text);
            if (const std::string remedy = home_remedy(text); !remedy.empty()) {
                reader_.error(node.mark(), remedy);
                return {};
            }
            return text;
        } catch (const ExpandError& problem) {
            if (!problem.reported) reader_.error(node.mark(), problem.message);
            return {};
        }
    }

    /// What nobody gave.
    void fill_explained() {
        for (const Key& key : job_keys) {
            if (key.otherwise.empty() || key.otherwise == "required") continue;
            const bool there = std::any_of(job_.explained.begin(), job_.explained.end(), [&](const Explained& one) {
                return one.key == key.name || one.key.substr(0, key.name.size() + 1) == std::string(key.name) + ".";
            });
            if (!there) job_.explained.push_back({std::string(key.name), std::string(key.otherwise), "built in"});
        }
    }

    const Scope& scope_;
    Reader reader_;
    const Shared& shared_;
    const Node& node_;
    Job& job_;
    bool lacking_ = false;
};

}  // namespace

Mark Job::at(std::string_view key) const {
    for (;;) {
        if (const auto found = marks.find(std::string(key)); found != marks.end()) return found->second;
        const std::size_t dot = key.rfind('.');
        if (dot == std::string_view::npos) return mark;
        key = key.substr(0, dot);
    }
}

bool takes_launch(const Entry& entry) {
    return std::any_of(entry.variants.begin(), entry.variants.end(), [](const Variant* row) {
        return row->takes_launch || (row->device == Device::cuda && row->prepare == nullptr);
    });
}

std::vector<std::string> variant_words(const Entry& entry, const DeviceChoice& device) {
    std::vector<std::string> words;
    for (const Variant* row : entry.variants)
        if ((device.any || row->device == device.device) &&
            std::find(words.begin(), words.end(), row->name) == words.end())
            words.emplace_back(row->name);
    return words;
}

Job read_job(const Scope& scope, const Shared& shared, const std::string& name, const Mark& mark, const Node& node) {
    Job job;
    job.name = job.base = name;
    job.mark = mark;
    const std::size_t before = scope.diagnostics.met();
    JobReader reader(scope, shared, node, job);
    reader.read();
    job.sound = scope.diagnostics.met() == before && !reader.lacking();
    return job;
}

}  // namespace gridstride::config
