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

#include "io/config_sweep.hpp"

namespace gridstride::config {

namespace {

constexpr std::string_view standard_input = "<stdin>";

bool is_job_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), is_job_character);
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
        const std::vector<std::string> path = split_path(std::string_view(text).substr(0, equals));
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
            set_in(root_, path, 0, std::move(*value), mark);
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
        if (path.size() > 3) copy_default(*job, path[2], mark);
        set_in(*job, path, 2, std::move(*value), mark);
    }

    /// Before a part is set of what only defaults gives: the job gets its own copy.
    void copy_default(Node& job, const std::string& key, const Mark& mark) const {
        const Node* shared = root_.find("defaults") != nullptr ? root_.find("defaults")->find(key) : nullptr;
        if (job.map() && job.find(key) == nullptr && shared != nullptr && shared->map())
            job.entries.push_back({key, mark, *shared});
    }

    /// Sets path[at...] below node. Whether the keys exist is checked with all others.
    void set_in(Node& node, const std::vector<std::string>& path, std::size_t at, Node value, const Mark& mark) {
        if (const std::string why = put(node, path, at, std::move(value), mark); !why.empty())
            reader_.error(mark, fmt::format("{}, --set {}=...", why, why.substr(0, why.find(" is "))));
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
                vars_.emplace(entry.key, entry.value);
            }
        }
        elsewhere_ = variables_of_sweeps();
        variables_ = std::make_shared<Variables>(vars_, jobs, elsewhere_);
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
            if (!of_one_job(key.name)) keys.push_back(key);
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
        check("expect", read_expect);
        check("timeout", read_timeout);
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
        const std::vector<Member> members = sweeps(scope, *node);
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Node::Entry& entry = *members[i].entry;
            if (!is_job_name(entry.key))
                reader_.error(entry.mark, fmt::format("{} is no name of a job: letters, digits, _ and -",
                                                      show(std::string_view(entry.key))));
            else if (is_reserved(entry.key))
                reader_.error(entry.mark, fmt::format("'{}' is a reserved name: no job may have it", entry.key));
            if (members[i].sweeps.empty())
                config_.jobs.push_back(read_job(scope, shared_, entry.key, entry.mark, entry.value));
            else
                read_cases(members, i);
        }
    }

    // --- sweeps ---

    /// A job of the file and the sweeps that it goes through.
    struct Member {
        const Node::Entry* entry = nullptr;
        std::vector<SweepCase> own;         // empty: it has no sweep
        std::set<std::size_t> inherited;    // members whose sweeps it goes through because it reads their outputs
        std::vector<std::size_t> sweeps{};  // those, then itself where it is swept
        std::set<std::string> reads{};      // jobs
        bool failed = false;                // an error stands in its sweep: one case takes the place of all
    };
    using Pick = std::map<std::size_t, std::size_t>;  // a member's sweep -> which of its cases

    /// Names that are set by a sweep alone, and the job that it is of.
    std::map<std::string, std::string> variables_of_sweeps() const {
        std::map<std::string, std::string> names;
        const Node* jobs = root_.find("jobs");
        if (jobs == nullptr) return names;
        const auto add = [&](const Node& keys, const std::string& job) {
            for (const Node::Entry& entry : keys.entries) {
                const auto keys_of_jobs = names_of(job_keys);
                const bool key = std::find(keys_of_jobs.begin(), keys_of_jobs.end(), entry.key) != keys_of_jobs.end();
                if (!key && is_variable_name(entry.key)) names.emplace(entry.key, job);
                if (entry.key == "file") names.emplace("stem", job);
            }
        };
        for (const Node::Entry& job : jobs->entries)
            if (const Node* sweep = job.value.find("sweep")) {
                add(*sweep, job.key);
                for (const Node& item : sweep->items) add(item, job.key);
            }
        return names;
    }

    static void find_reads(const Node& node, std::set<std::string>& reads) {
        if (const auto name = job_named(node.text); !name.empty()) reads.emplace(name);
        for (const Node& item : node.items) find_reads(item, reads);
        for (const Node::Entry& entry : node.entries) find_reads(entry.value, reads);
    }

    std::vector<Member> sweeps(const Scope& scope, const Node& jobs) {
        std::vector<Member> members;
        std::map<std::string_view, std::size_t> position;
        for (const Node::Entry& entry : jobs.entries) {
            Member one{&entry, {}, {}};
            if (const Node* sweep = entry.value.find("sweep")) {
                const std::size_t before = diagnostics_.met();
                one.own = read_sweep(scope, *sweep, overrides_.max_cases).value_or(std::vector<SweepCase>(1));
                check_sweep(entry, one.own);
                one.failed = diagnostics_.met() != before;
            }
            for (const char* key : {"inputs", "sweep"})
                if (const Node* node = entry.value.find(key)) find_reads(*node, one.reads);
            position.emplace(entry.key, members.size());
            members.push_back(std::move(one));
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < members.size(); ++i)
                for (const std::string& read : members[i].reads)
                    if (const auto found = position.find(read); found != position.end() && found->second != i) {
                        const Member& producer = members[found->second];
                        const std::size_t before = members[i].inherited.size();
                        if (!producer.own.empty()) members[i].inherited.insert(found->second);
                        const std::set<std::size_t> more = producer.inherited;
                        for (const std::size_t one : more)
                            if (one != i) members[i].inherited.insert(one);
                        changed = changed || members[i].inherited.size() != before;
                    }
        }
        std::int64_t total = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            Member& one = members[i];
            one.sweeps.assign(one.inherited.begin(), one.inherited.end());
            if (!one.own.empty()) one.sweeps.push_back(i);
            check_names(members, one);
            std::int64_t cases = 1;
            for (const std::size_t sweep : one.sweeps)
                if (__builtin_mul_overflow(cases, static_cast<std::int64_t>(members[sweep].own.size()), &cases))
                    cases = largest_integer / 2;
            total = std::min(total, largest_integer / 2) + cases;
        }
        if (total > std::max(overrides_.max_cases, std::int64_t(members.size()))) {
            reader_.error(jobs.mark(), "the jobs and their sweeps make " + too_many_cases(total, overrides_.max_cases));
            for (Member& one : members) one.own.resize(std::min<std::size_t>(one.own.size(), 1));
        }
        return members;
    }

    /// Cases that are the same, a variable that nothing uses, a value that the command line would override.
    void check_sweep(const Node::Entry& job, const std::vector<SweepCase>& cases) {
        std::set<std::string> names, seen;
        for (const Node::Entry& entry : job.value.entries)
            if (entry.key != "sweep") names_in(entry.value, names);
        if (const Node* defaults = root_.find("defaults")) names_in(*defaults, names);
        for (const SweepCase& one : cases) {
            std::vector<std::pair<std::string, Value>> shown;
            for (const Setting& setting : one) {
                if (!setting.variable) names_in(setting.value, names);
                shown.insert(shown.end(), setting.shown.begin(), setting.shown.end());
            }
            if (one.empty()) continue;  // of a sweep with an error
            if (shown.empty())
                reader_.error(one[0].value.mark(), "a case of sweep needs a key beside expect and timeout");
            else if (!seen.insert(sweep_text(shown)).second)
                reader_.error(one[0].value.mark(), fmt::format("the case {} is there twice", sweep_text(shown)));
        }
        for (std::set<std::string> fresh = names; !fresh.empty();) {  // what those variables need in turn
            std::set<std::string> more;
            for (const std::string& name : fresh)
                if (const auto found = vars_.find(name); found != vars_.end()) names_in(found->second, more);
            fresh.clear();
            for (const std::string& name : more)
                if (names.insert(name).second) fresh.insert(name);
        }
        for (const SweepCase& one : cases)
            for (const Setting& setting : one) {
                const std::string_view key = setting.key;
                if (setting.variable && names.count(setting.key) == 0 && !(key == "file" && names.count("stem") > 0))
                    reader_.error(setting.mark, fmt::format("nothing in job '{}' uses ${}{}", brief(job.key),
                                                            brief(key), did_you_mean(key, names_of(job_keys))));
                if (!setting.variable)
                    if (const Node* there = find_at(job.value, split_path(key)); there != nullptr && there->line == 0)
                        reader_.error(there->mark(),
                                      fmt::format("job '{}' is swept over {}: --set jobs.{}.sweep.{}=[...]",
                                                  brief(job.key), brief(key), brief(job.key), brief(key)));
                const bool overridden = (key == "device" && overrides_.device) ||
                                        (key == "variant" && overrides_.variant) ||
                                        (key == "validate" && overrides_.validate);
                if (overridden)
                    reader_.error({fmt::format("--{}", key), 0, 0},
                                  fmt::format("job '{}' is swept over {}: --set jobs.{}.sweep.{}=[...]", brief(job.key),
                                              key, brief(job.key), key));
            }
    }

    static const Node* find_at(const Node& node, const std::vector<std::string>& path) {
        const Node* found = &node;
        for (const std::string& key : path)
            if (found != nullptr) found = found->find(key);
        return found;
    }

    /// Two sweeps that a job goes through and that both set one variable.
    void check_names(const std::vector<Member>& members, const Member& one) {
        std::map<std::string, std::size_t> owner;
        for (const std::size_t sweep : one.sweeps)
            for (const Setting& setting : members[sweep].own[0]) {
                if (!setting.variable) continue;
                const auto [taken, fresh] = owner.emplace(setting.key, sweep);
                if (!fresh)
                    reader_.error(one.entry->mark,
                                  fmt::format("job '{}' goes through the sweeps of '{}' and '{}', which both set ${}: "
                                              "give one of them another name",
                                              brief(one.entry->key), brief(members[taken->second].entry->key),
                                              brief(members[sweep].entry->key), brief(setting.key)));
            }
    }

    /// What makes a case of member i, of the sweeps of the jobs it reads too.
    static std::vector<std::pair<std::string, Value>> shown(const std::vector<Member>& members, std::size_t i,
                                                            const Pick& pick) {
        std::vector<std::pair<std::string, Value>> all;
        for (const std::size_t sweep : members[i].sweeps)
            for (const Setting& setting : members[sweep].own[pick.count(sweep) > 0 ? pick.at(sweep) : 0])
                for (const auto& [key, value] : setting.shown)  // a key of another job goes by that job's name too
                    all.emplace_back(sweep == i || setting.variable ? key : members[sweep].entry->key + "." + key,
                                     value);
        return all;
    }

    static std::string case_name(const std::vector<Member>& members, std::size_t i, const Pick& pick) {
        const std::string values = sweep_text(shown(members, i, pick));
        return members[i].entry->key + (values.empty() ? "" : "[" + values + "]");
    }

    void read_cases(const std::vector<Member>& members, std::size_t i) {
        const Member& one = members[i];
        std::map<std::string_view, std::size_t> position;
        for (std::size_t k = 0; k < members.size(); ++k) position.emplace(members[k].entry->key, k);
        std::size_t cases = 1;
        for (const std::size_t sweep : one.sweeps) cases *= members[sweep].own.size();
        Gathered gathered;
        for (std::size_t n = 0; n < cases; ++n) {
            Pick pick;
            std::size_t rest = n;
            for (std::size_t k = one.sweeps.size(); k-- > 0;) {
                const std::size_t size = members[one.sweeps[k]].own.size();
                pick[one.sweeps[k]] = rest % size;
                rest /= size;
            }
            Diagnostics aside = diagnostics_;
            const std::size_t before = aside.list().size();
            Job job = read_case(members, i, pick, aside);
            for (auto& [name, input] : job.inputs)
                if (auto* from = std::get_if<JobOutput>(&input.source))
                    from->job = case_name(members, position.at(from->job), pick);
            for (std::size_t k = before; k < aside.list().size(); ++k) gathered.add(aside.list()[k], job.name);
            config_.jobs.push_back(std::move(job));
        }
        gathered.tell(cases, diagnostics_);
    }

    /// The job with the values of one case in it.
    Job read_case(const std::vector<Member>& members, std::size_t i, const Pick& pick, Diagnostics& diagnostics) {
        const Node::Entry& entry = *members[i].entry;
        Node node = entry.value;
        std::map<std::string, Node> vars = vars_;
        std::vector<Explained> explained;
        const std::size_t before = diagnostics.met();
        const auto origin = [](const Mark& mark) {
            return mark.line > 0 ? fmt::format("{}:{}", mark.source, mark.line) : mark.source;
        };
        for (const std::size_t sweep : members[i].sweeps)
            for (const Setting& setting : members[sweep].own[pick.at(sweep)]) {
                for (const auto& [key, value] : setting.shown)
                    explained.push_back({"sweep." + key, to_text(value), origin(setting.value.mark())});
                if (setting.variable) {
                    vars.insert_or_assign(setting.key, setting.value);
                    if (setting.key == "file") vars.insert_or_assign("stem", stem_of(setting));
                } else if (sweep == i) {
                    const auto path = split_path(setting.key);
                    if (path.size() > 1) copy_default(node, path[0], setting.mark);
                    if (const std::string why = put(node, path, 0, setting.value, setting.mark); !why.empty())
                        diagnostics.add(setting.mark, why);
                }
            }
        Variables variables(std::move(vars), keys_of(root_.find("jobs")), elsewhere_);
        const bool failed = std::any_of(members[i].sweeps.begin(), members[i].sweeps.end(),
                                        [&](std::size_t sweep) { return members[sweep].failed; });
        if (failed) {  // what the job lacks may stand in the sweep
            variables.forgive();
            node.merged = true;
            for (const char* key : {"inputs", "params"})
                if (Node* part = node.find(key)) part->merged = true;
        }
        variables.resolve(diagnostics);
        Shared shared = shared_;
        for (auto& [key, value] : shared.defaults)
            if (auto again = variables.expand(*root_.find("defaults")->find(key), diagnostics))
                value = std::move(*again);
        const Scope scope{diagnostics, variables, config_.folder, job_names_};
        Job job = read_job(scope, shared, entry.key, entry.mark, node);
        job.sound = job.sound && !failed && diagnostics.met() == before;
        job.name = case_name(members, i, pick);
        job.sweep = shown(members, i, pick);
        job.explained.insert(job.explained.begin(), explained.begin(), explained.end());
        return job;
    }

    /// $stem: a file's name without folder and extension.
    Node stem_of(const Setting& file) const {
        Diagnostics aside;  // an error is told where $file is used
        const auto value = variables_->expand(file.value, aside);
        Node stem = file.value;
        stem.quoted = true;
        stem.text = escaped(std::filesystem::path(value ? value->text : "").stem().string());
        return stem;
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

    /// Of a list those that a job's device has not are left out there, as long as it has another of them.
    void variant_applies(const Node& node) {
        const auto setting = read_variant(reader_, node);
        if (!setting) return;
        const auto runs_somewhere = [&](const std::string& word) {
            return std::any_of(config_.jobs.begin(), config_.jobs.end(), [&](const Job& job) {
                if (job.entry == nullptr) return false;
                const auto allowed = variant_words(*job.entry, job.device);
                return std::find(allowed.begin(), allowed.end(), word) != allowed.end();
            });
        };
        const bool some = std::any_of(setting->words.begin(), setting->words.end(), runs_somewhere);
        for (std::size_t i = 0; i < setting->words.size(); ++i) {
            const std::string& word = setting->words[i];
            if (word == "all" || word == "auto" || runs_somewhere(word)) continue;
            std::vector<std::string> words{"auto", "all"};
            bool elsewhere = false;
            for (const Job& job : config_.jobs) {
                if (job.entry == nullptr) continue;
                const auto allowed = variant_words(*job.entry, job.device);
                elsewhere = elsewhere || find(*job.entry, word) != nullptr;
                for (const std::string& one : allowed)
                    if (std::find(words.begin(), words.end(), one) == words.end()) words.push_back(one);
            }
            if (elsewhere && some) continue;
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
            reader_.error(mark, fmt::format("job '{}' ({}) has no output '{}'{}; it has {}", brief(producer.base),
                                            producer.entry->op->name, brief(from.output), hint, joined(outputs)));
        }
        if (producer.variants.size() > 1 || producer.variants[0] == "all")
            reader_.error(
                mark,
                fmt::format(
                    "job '{}' runs {}, so its output is not one: name one variant there", brief(producer.base),
                    producer.variants[0] == "all" ? "all variants" : "the variants " + joined(producer.variants)));
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
                    std::string words = brief(config_.jobs[producer].base);
                    for (auto step = path.rbegin(); step != path.rend(); ++step) {
                        words += " <- " + brief(config_.jobs[step->first].base);
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
    std::map<std::string, Node> vars_;              // as written
    std::map<std::string, std::string> elsewhere_;  // variables that a sweep alone sets, and its job
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

bool is_reserved(std::string_view name) {
    if (name == "env" || name == "include") return true;
    return std::find(std::begin(case_names), std::end(case_names), name) != std::end(case_names) ||
           std::any_of(top_keys.begin(), top_keys.end(), [&](const Key& key) { return key.name == name; });
}

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
