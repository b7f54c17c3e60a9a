// SPDX-License-Identifier: BSD-3-Clause
// For tests of the engine: the cases of a planned job file, run in order.
#pragma once

#include <string_view>
#include <vector>

#include "execute.hpp"

namespace gridstride::support {

inline std::vector<report::Case> run_cases(const engine::Plan& plan) {
    engine::State state;
    state.results.resize(plan.cases.size());
    std::vector<report::Case> lines;
    for (std::size_t i = 0; i < plan.cases.size(); ++i)
        lines.push_back(engine::run_case(plan, i, state, {}, [](std::string_view, std::string_view) {}));
    return lines;
}

}  // namespace gridstride::support
