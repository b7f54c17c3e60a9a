// SPDX-License-Identifier: BSD-3-Clause
// Finding and parsing reports; looking into them without a throw.
#include "io/report_read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error.hpp"

namespace gridstride::report {

namespace {

namespace fs = std::filesystem;

constexpr int newest_schema = 1;

Json parsed(const std::string& path, const std::string& text) {
    try {
        return Json::parse(text);
    } catch (const Json::exception& fault) {
        throw Error(Category::input, fmt::format("{}: a report, but damaged: {}", path, fault.what()));
    }
}

/// report.jsonl: a case a line; a crash may have cut the last one.
std::optional<Document> parse_journal(const std::string& path, const std::string& text) {
    if (!text.starts_with("{\"name\":")) return {};
    Document document{Document::Kind::run, path, {{"cases", Json::array()}}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (lines.eof() && !Json::accept(line)) break;  // without its newline
        document.json["cases"].push_back(parsed(path, line));
    }
    return document;
}

}  // namespace

std::optional<Document> parse(const std::string& path, const std::string& text) {
    if (std::optional<Document> lines = parse_journal(path, text)) return lines;
    const std::size_t brace = text.find_first_not_of(" \t\r\n");
    if (brace == std::string::npos || text[brace] != '{') return {};
    const std::size_t key = text.find_first_not_of(" \t\r\n", brace + 1);
    if (key == std::string::npos || text.compare(key, 8, "\"schema\"") != 0) return {};
    Document document{Document::Kind::run, path, parsed(path, text)};
    const Json& schema = at(document.json, {"schema"});
    if (schema.is_number() && schema.get<double>() > newest_schema)
        throw Error(Category::input, fmt::format("{}: a report of schema {}; this gridstride reads up to {}", path,
                                                 schema.dump(), newest_schema));
    if (at(document.json, {"rows"}).is_array() && at(document.json, {"program"}).is_object())
        document.kind = Document::Kind::bench;
    else if (!at(document.json, {"cases"}).is_array())
        return {};
    for (const Json& line : document.lines())
        if (!line.is_object())
            throw Error(Category::input, fmt::format("{}: a report, but damaged: a case that is no mapping", path));
    return document;
}

std::optional<Document> load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file && file.peek() == std::ifstream::traits_type::eof()) return {};  // empty
    if (!file || !(text << file.rdbuf()))
        throw Error(Category::input, fmt::format("{}: cannot be read ({})", path, std::strerror(errno)));
    return parse(path, text.str());
}

std::vector<Document> collect(const std::string& path) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) throw Error(Category::config, fmt::format("{}: no such file or folder", path));
    if (!fs::is_directory(status)) {
        if (std::optional<Document> document = load(path)) return {std::move(*document)};
        throw Error(Category::config,
                    fmt::format("{}: is no report: name a report.json, report.jsonl or bench.json, or a folder with "
                                "one",
                                path));
    }
    std::vector<fs::path> files;
    for (auto entry = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, code);
         !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        const fs::path name = entry->path().filename();
        const bool only_journal = name == "report.jsonl" && !fs::exists(entry->path().parent_path() / "report.json");
        if (name == "report.json" || name == "bench.json" || only_journal) files.push_back(entry->path());
    }
    if (code) throw Error(Category::input, fmt::format("{}: {}", path, code.message()));
    std::sort(files.begin(), files.end());
    std::vector<Document> documents;
    for (const fs::path& file : files)
        if (std::optional<Document> document = load(file.string())) documents.push_back(std::move(*document));
    if (documents.empty())
        throw Error(Category::config, fmt::format("{}: no report.json, report.jsonl or bench.json in this folder or "
                                                  "below it",
                                                  path));
    return documents;
}

const Json& at(const Json& json, std::initializer_list<const char*> keys) {
    static const Json nothing;
    const Json* here = &json;
    for (const char* key : keys) {
        if (!here->is_object()) return nothing;
        const auto found = here->find(key);
        if (found == here->end()) return nothing;
        here = &*found;
    }
    return *here;
}

double number(const Json& json, std::initializer_list<const char*> keys) {
    const Json& value = at(json, keys);
    if (value.is_number()) return value.get<double>();
    const std::string word = value.is_string() ? value.get<std::string>() : "";
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

std::string text(const Json& json, std::initializer_list<const char*> keys) {
    const Json& value = at(json, keys);
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::pair<std::string, Json>> flattened(const Json& line) {
    std::vector<std::pair<std::string, Json>> columns;
    const auto add = [&](auto& self, const std::string& name, const Json& value) -> void {
        const bool objects = value.is_array() && !value.empty() && value.front().is_object();
        if (!objects && !value.is_object()) {
            columns.emplace_back(name, value);
            return;
        }
        std::size_t position = 0;
        for (const auto& [key, below] : value.items()) {
            const std::string called = value.is_object() ? key : report::text(below, {"name"});
            self(self,
                 fmt::format("{}{}{}", name, name.empty() ? "" : ".",
                             called.empty() ? std::to_string(position) : called),
                 below);
            ++position;
        }
    };
    add(add, "", line);
    return columns;
}

std::string row_name(const Json& row) {
    std::string name = text(row, {"case"});
    const std::string variant = text(row, {"variant"}), program = text(row, {"program"});
    if (!variant.empty() && name.find(variant) == std::string::npos) name += fmt::format("[{}]", variant);
    if (!program.empty() && program != "gridstride") name += " of " + program;
    const std::string device = text(row, {"device"});
    for (const std::string& more : {device.substr(0, device.find(':')), text(row, {"dtype"}), text(row, {"shape"})})
        if (!more.empty()) name += " " + more;
    return name;
}

}  // namespace gridstride::report
