// SPDX-License-Identifier: BSD-3-Clause
// The table behind docs/errors.md: what people get wrong, one row a mistake. Its messages stand in the page alone.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gridstride::errors {

/// The folder of a case while it is set up and run.
struct Stage {
    std::filesystem::path folder;
    std::string before;                        // a command that starts gridstride
    std::vector<std::function<void()>> after;  // puts things right again
    std::set<std::string> changed;             // files that something else changes meanwhile
    std::string impossible;                    // why this machine cannot run the case; empty where it can
    std::string operator/(const std::string& name) const { return (folder / name).string(); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name, std::ios::binary) << text;
    }
};

struct Case {
    std::string_view title;
    std::string_view job;  // job.yaml; empty: there is none
    int exit;
    std::string_view right;  // what would be right
    std::string_view command = "run job.yaml";
    std::string_view prepared = {};  // how the files are made wrong, for the reader
    std::function<void(Stage&)> prepare = {};
    bool goes_on = exit == 3;  // job.yaml gets a second job, `good`, that must pass and be saved
};

struct Group {
    std::string_view title;
    std::vector<Case> cases;
};

// One file each.
std::vector<Group> of_job_files();
std::vector<Group> of_data_files();

}  // namespace gridstride::errors
