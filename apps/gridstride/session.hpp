// SPDX-License-Identifier: BSD-3-Clause
// What run and check share: planning every job file before the first one runs.
#pragma once

#include <string>
#include <vector>

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
