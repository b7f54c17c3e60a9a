// SPDX-License-Identifier: BSD-3-Clause
// `sweep` of a job: the values that each of its cases is made with. Internal to the loader.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config_job.hpp"

namespace gridstride::config {

/// A key of a sweep and its value in one case.
struct Setting {
    std::string key;
    Mark mark;              // of the key
    bool variable = false;  // else a path of the job: "params.kernel"
    Node value;             // as written: variables in it are still to be expanded
    /// The value as a case's name and its report show it: the leaves of a mapping one by one, long ones by their
    /// position. Of `expect` and `timeout` nothing: they do not make the case.
    std::vector<std::pair<std::string, Value>> shown;
};
using SweepCase = std::vector<Setting>;

/// The cases of a `sweep`, in order: the product of a mapping of lists, its first key slowest, or those of a list of
/// mappings. most: cases there may be. Errors go to the diagnostics, and then nothing comes back.
std::optional<std::vector<SweepCase>> read_sweep(const Scope& scope, const Node& node, std::int64_t most);

/// "n=64,params.kernel=3x1" of values that are shown.
std::string sweep_text(const std::vector<std::pair<std::string, Value>>& shown);

/// "12000 cases, more than 10000: --max-cases 12000 allows them".
std::string too_many_cases(std::int64_t cases, std::int64_t most);

}  // namespace gridstride::config
