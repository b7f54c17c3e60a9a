// SPDX-License-Identifier: BSD-3-Clause
// What report.json and bench.json are both made of: JSON of their common parts, files that are whole or not there.
// Internal to the reports.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/report.hpp"

namespace gridstride::report {

using Json = nlohmann::ordered_json;

/// A number, or "nan", "inf", "-inf".
Json number(long double value);
Json json(const Params& params);
Json json(const Swept& sweep);
Json json(const LaunchLine& launch);

/// Names of files need not be UTF-8; what is not becomes U+FFFD.
std::string text(const Json& json, int indent = -1);

/// Does a file that begins so hold a report or a bench of ours, as far as its head tells?
bool is_report(const std::string& head);
/// A file that a verb leaves in its folder.
struct Leaving {
    const char *name, *what;                // what: "a run writes its report"
    bool (*ours)(const std::string& head);  // is a file that begins so one that may be replaced?
};
/// Error: something else lies under that name.
void refuse(const std::string& folder, const Leaving& leaving, Category category);
/// Writes the file under a temporary name, synced, then renamed; makes its folder. Error (input): cannot.
void write_whole(const std::string& content, const std::filesystem::path& path);

}  // namespace gridstride::report
