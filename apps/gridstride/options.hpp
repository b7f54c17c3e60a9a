// SPDX-License-Identifier: BSD-3-Clause
// What run, check and bench are asked on the command line.
#pragma once

#include <string>
#include <vector>

#include "io/config.hpp"

namespace gridstride {

struct RunOptions {
    std::vector<std::string> configs;
    std::string output_dir;
    std::vector<std::string> only;
    config::Overrides overrides;
    bool json = false, quiet = false, explain = false;
    bool bench = false;
    std::string rows;    // of bench: a file of other programs' rows
    double seconds = 1;  // of bench: for the samples of a case
    int verbose = 0;
    int repeat_check = 0;              // runs of each case whose bits are compared
    std::string dump_mismatch;         // HDF5 file for the wrong blocks
    std::vector<std::string> command;  // argv, for the report
};

/// Exit codes; see docs/jobs.md.
enum Exit : int {
    good = 0,
    mismatch = 1,
    bad_config = 2,
    bad_input = 3,
    device_failed = 4,
    nothing_ran = 5,
    interrupted = 130
};

int run(const RunOptions& options);
int check(const RunOptions& options);
int bench(const RunOptions& options);

}  // namespace gridstride
