// SPDX-License-Identifier: BSD-3-Clause
// gridstride report PATH...: reports of runs and benches, merged into one page or table.
#include "io/report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "io/report_tables.hpp"
#include "io/suggest.hpp"
#include "options.hpp"
#include "verbs.hpp"

namespace gridstride {

namespace {

using report::Format;

struct Word {
    std::string_view name, extension;
    Format format;
};
constexpr Word words[] = {{"html", ".html", Format::html},
                          {"junit", ".xml", Format::junit},
                          {"csv", ".csv", Format::csv},
                          {"markdown", ".md", Format::markdown}};

Format format_of(const ReportOptions& options) {
    const std::string extension = std::filesystem::path(options.output).extension().string();
    for (const Word& word : words)
        if (options.format.empty() ? word.extension == extension : word.name == options.format) return word.format;
    if (options.format.empty() && options.output.empty()) return Format::markdown;
    if (options.format.empty())
        throw Error(Category::config, fmt::format("{}: its extension tells no format: .html, .xml, .csv and .md do; or "
                                                  "say --format",
                                                  options.output));
    throw Error(Category::config,
                fmt::format("--format {}: the formats are html, junit, csv, markdown{}", options.format,
                            did_you_mean(options.format, {"html", "junit", "csv", "markdown"})));
}

}  // namespace

int merge_reports(const ReportOptions& options) {
    const Format format = format_of(options);
    std::vector<report::Document> documents;
    std::set<std::string> seen;  // a folder and a file in it may both be named
    for (const std::string& path : options.paths)
        for (report::Document& document : report::collect(path)) {
            std::error_code unresolved;
            if (seen.insert(std::filesystem::weakly_canonical(document.path, unresolved).string()).second)
                documents.push_back(std::move(document));
        }
    if (options.output.empty())
        fmt::print("{}", report::formatted(documents, format));
    else
        report::write(documents, format, options.output);
    return Exit::good;
}

}  // namespace gridstride
