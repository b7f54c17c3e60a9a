// SPDX-License-Identifier: BSD-3-Clause
// What run, check and bench share: planning every job file before the first one runs, being stopped, exit codes.
#pragma once

#include <string>
#include <vector>

#include "io/report.hpp"
#include "options.hpp"
#include "plan.hpp"

namespace gridstride::engine {

/// The plans of all configs, or the exit code that stands in their way; errors are printed.
struct Planning {
    std::vector<Plan> plans;
    int exit = 0;
};
Planning plan_all(const RunOptions& options);

}  // namespace gridstride::engine

namespace gridstride {

/// From now on a signal to stop asks the loops to leave (core/interrupt.hpp).
void stop_on_signals();
/// The exit code of one job file's cases.
int exit_of(const std::vector<report::Case>& cases);
/// That of the command, from those of its job files: the first that applies. Says so where it was interrupted.
int exit_of(const std::vector<int>& exits);

}  // namespace gridstride
