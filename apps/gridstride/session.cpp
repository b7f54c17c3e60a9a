// SPDX-License-Identifier: BSD-3-Clause
// Planning every job file before the first one runs; errors of all of them in one pass.
#include "session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>

#include "core/interrupt.hpp"
#include "table.hpp"

namespace gridstride::engine {

namespace {

/// Does no job file write or read what another one of this command writes? Errors are printed.
bool one_writer_a_file(const std::vector<Plan>& plans) {
    std::map<std::string, const Plan*> writers;
    bool good = true;
    const auto error = [&](const std::string& file, const Plan& plan, const char* does) {
        fmt::print(stderr, "error: {} {} {}, which {} writes: run them one after the other\n", plan.config.source, does,
                   file, writers.at(file)->config.source);
        good = false;
    };
    for (const Plan& plan : plans)
        for (const Case& one : plan.cases)
            for (const PlannedOutput& output : one.outputs)
                if (!output.file.empty())
                    if (const auto [taken, fresh] = writers.emplace(output.file, &plan);
                        !fresh && taken->second != &plan)
                        error(output.file, plan, "writes");
    for (const Plan& plan : plans)
        for (const Case& one : plan.cases)
            for (const PlannedInput& input : one.inputs) {
                if (!input.info) continue;
                std::error_code ignored;
                const std::string file = std::filesystem::weakly_canonical(input.info->file, ignored).string();
                if (const auto found = writers.find(file); found != writers.end() && found->second != &plan)
                    error(file, plan, "reads");
            }
    return good;
}

/// Is the file of --dump-mismatch none that the runs read or write? Errors are printed.
bool dump_is_apart(const std::vector<Plan>& plans, const std::string& dump) {
    std::error_code ignored;
    const auto whole = [&](const std::string& file) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(file), ignored);
    };
    const std::filesystem::path target = whole(dump);
    const auto is_dump = [&](const std::string& file) {
        return !file.empty() && (whole(file) == target || std::filesystem::equivalent(file, target, ignored));
    };
    const auto error = [&](const Plan& plan, const std::string& what) {
        fmt::print(stderr, "error: --dump-mismatch {}: {} of {}: name another file\n", dump, what, plan.config.source);
        return false;
    };
    for (const Plan& plan : plans) {
        for (const char* name : {"report.json", "report.jsonl", "report.html"})
            if (is_dump((std::filesystem::path(plan.output_dir) / name).string())) return error(plan, "is a report");
        for (const Case& one : plan.cases) {
            for (const PlannedOutput& output : one.outputs)
                if (is_dump(output.file)) return error(plan, "is an output");
            std::vector<const PlannedInput*> inputs;
            for (const PlannedInput& input : one.inputs) inputs.push_back(&input);
            if (one.against) inputs.push_back(&*one.against);
            for (const PlannedInput* input : inputs) {
                if (!input->info) continue;
                std::vector<std::string> files{input->info->file};
                files.insert(files.end(), input->info->files.begin(), input->info->files.end());
                if (std::any_of(files.begin(), files.end(), is_dump))
                    return error(plan, "is an input, and inputs are never modified,");
            }
        }
    }
    return true;
}

}  // namespace

Planning plan_all(const RunOptions& options) {
    Planning planning;
    std::map<std::string, std::string> folders;  // output folder -> config
    for (const std::string& source : options.configs) {
        config::Diagnostics diagnostics;
        try {
            PlanOptions plan_options{options.output_dir, options.only, options.overrides, options.bench};
            if (!options.output_dir.empty() && options.configs.size() > 1)
                plan_options.output_dir = (std::filesystem::path(options.output_dir) /
                                           std::filesystem::path(source == "-" ? "stdin" : source).stem())
                                              .string();
            Plan one = plan(source, plan_options, diagnostics);
            const auto [taken, fresh] = folders.emplace(one.output_dir, source);
            if (!fresh) {
                if (taken->second == source)
                    fmt::print(stderr, "error: {} is named twice: name it once\n", source);
                else
                    fmt::print(stderr,
                               "error: {} and {} would both write to {}: rename one, or run them one after the other, "
                               "each with an --output-dir of its own\n",
                               taken->second, source, one.output_dir);
                planning.exit = Exit::bad_config;
            }
            planning.plans.push_back(std::move(one));
        } catch (const Error& fault) {
            fmt::print(stderr, "error: {}: {}\n", source, fault.what());
            const int exit = fault.category() == Category::config  ? Exit::bad_config
                             : fault.category() == Category::input ? Exit::bad_input
                                                                   : Exit::device_failed;
            if (planning.exit != Exit::bad_config) planning.exit = exit;
        }
        if (!diagnostics.empty()) {
            fmt::print(stderr, "{}", diagnostics.text(terminal(STDERR_FILENO).colour));
            const std::size_t errors = diagnostics.list().size();
            fmt::print(stderr, "{}: {} error{}; nothing was run\n", source, errors, errors == 1 ? "" : "s");
            planning.exit = Exit::bad_config;
        }
    }
    if (planning.exit == 0 && !one_writer_a_file(planning.plans)) planning.exit = Exit::bad_config;
    if (planning.exit == 0 && !options.dump_mismatch.empty() && !dump_is_apart(planning.plans, options.dump_mismatch))
        planning.exit = Exit::bad_config;
    return planning;
}

}  // namespace gridstride::engine

namespace gridstride {

namespace {

std::atomic<double> first_signal{0};  // when, in seconds

/// The first one asks the loops to leave; a second one, which is no echo of the first, ends at once.
void on_signal(int) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    if (!stop_requested.exchange(true))
        first_signal = seconds;
    else if (seconds - first_signal > 0.5)
        _exit(Exit::interrupted);
}

}  // namespace

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, on_signal);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes fails the write, as a full disk does
}

int exit_of(const std::vector<int>& exits) {
    if (stop_requested) {
        fmt::print(stderr, "interrupted\n");
        return Exit::interrupted;
    }
    for (const int code : {Exit::mismatch, Exit::device_failed, Exit::bad_input, Exit::nothing_ran})
        if (std::find(exits.begin(), exits.end(), code) != exits.end()) return code;
    return Exit::good;
}

}  // namespace gridstride
