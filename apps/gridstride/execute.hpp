// SPDX-License-Identifier: BSD-3-Clause
// One case from its plan to its report line: read, compute, validate, write. A case that fails is recorded; the run
// goes on.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dump.hpp"
#include "io/report.hpp"
#include "plan.hpp"

namespace gridstride::engine {

/// What the numbers of a dataset are, where it is still true of them.
struct Naming {
    std::string units, long_name, calendar;
};

/// What a case leaves for the cases that read its output.
struct Result {
    Tensor data;                      // as computed: compact where the case was
    std::optional<hdf5::Info> rest;   // compact only: the dataset that holds the other blocks; none: they are zero
    std::vector<hdf5::Scale> scales;  // of the user's layout
    Naming naming;
    std::string job;       // the resolved job and those it reads, as a job file that runs again
    std::string identity;  // path, dataset, bytes, mtime and checksum of each dataset they read, as a JSON list
    std::string failed;    // not empty: there is no output
    int readers = 0;       // still to come
};

/// Measures a case that has passed, on its inputs; gives what the measured plan computes, which has to be right too.
using Measure = std::function<Tensor(const Case& one, std::span<const Slab> in)>;

/// What the cases of a run know of each other.
struct State {
    std::vector<Result> results{};      // one a case
    std::map<int, std::string> lost{};  // CUDA devices that an error has ruined, and in which case
    Measure measure{};                  // empty: the first run alone is timed
    int repeat_check = 0;               // runs of each case whose bits are compared
    bool keep_blocks = false;           // of mismatches
    std::vector<WrongBlock> blocks{};
};

/// Told of each stage as it begins: "layer1", "computing".
using OnStage = std::function<void(std::string_view name, std::string_view stage)>;

/// Runs case `index`, whose producers have run.
report::Case run_case(const Plan& plan, std::size_t index, State& state, const report::Surroundings& surroundings,
                      const OnStage& on_stage);

}  // namespace gridstride::engine
