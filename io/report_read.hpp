// SPDX-License-Identifier: BSD-3-Clause
// Reports read back: report.json, report.jsonl and bench.json, in whatever state their fields are. Fields that are
// absent, null or of another type are read as unknown, so that older and newer reports can be read.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gridstride::report {

using Json = nlohmann::ordered_json;

struct Document {
    enum class Kind { run, bench } kind = Kind::run;
    std::string path;  // as the user knows it
    Json json;         // of report.jsonl: {"cases": [...]} alone

    /// False: a run's report.jsonl, whose later cases may be missing.
    bool ended() const { return json.contains("schema"); }
    /// The cases of a run, the rows of a bench.
    const Json& lines() const { return json[kind == Kind::run ? "cases" : "rows"]; }
};

/// A report from its text. Nothing where the text is no report. path: for messages. Errors (input): it begins as a
/// report and is damaged, with the place; a schema that is newer than this program.
std::optional<Document> parse(const std::string& path, const std::string& text);
/// The report in a file. Errors (input): cannot be read; as parse.
std::optional<Document> load(const std::string& path);
/// The reports that a path stands for: the file, or all report.json and bench.json in a folder and those below it, in
/// the order of their names; report.jsonl where there is no report.json beside it. Errors (config): no such file or
/// folder, or there is no report in it; (input): as load.
std::vector<Document> collect(const std::string& path);

/// The value at the end of these keys; null where there is none.
const Json& at(const Json& json, std::initializer_list<const char*> keys);
/// The number there, "nan", "inf" and "-inf" too; NaN where there is none.
double number(const Json& json, std::initializer_list<const char*> keys);
/// The text there; of another value its JSON; empty where there is none.
std::string text(const Json& json, std::initializer_list<const char*> keys);

/// A line as columns: nested keys joined by dots, elements of a list of objects called by their name, other lists as
/// one text.
std::vector<std::pair<std::string, Json>> flattened(const Json& line);

/// What tells a bench's row from the others: case, variant, program, kind of device, dtype, shape.
std::string row_name(const Json& row);

}  // namespace gridstride::report
