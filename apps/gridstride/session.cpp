// SPDX-License-Identifier: BSD-3-Clause
// Planning every job file before the first one runs; errors of all of them in one pass.
#include "session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "table.hpp"

namespace gridstride::engine {

Planning plan_all(const RunOptions& options) {
    Planning planning;
    std::map<std::string, std::string> folders;  // output folder -> config
    for (const std::string& source : options.configs) {
        config::Diagnostics diagnostics;
        try {
            PlanOptions plan_options{options.output_dir, options.only, options.overrides};
            if (!options.output_dir.empty() && options.configs.size() > 1)
                plan_options.output_dir = (std::filesystem::path(options.output_dir) /
                                           std::filesystem::path(source == "-" ? "stdin" : source).stem())
                                              .string();
            Plan one = plan(source, plan_options, diagnostics);
            const auto [taken, fresh] = folders.emplace(one.output_dir, source);
            if (!fresh) {
                fmt::print(
                    stderr,
                    "error: {} and {} would both write to {}: rename one, or give each an --output-dir of its own\n",
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
    return planning;
}

}  // namespace gridstride::engine
