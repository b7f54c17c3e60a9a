// SPDX-License-Identifier: BSD-3-Clause
// Reports as tables and as files for people and programs: HTML, JUnit, CSV, Markdown.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/report_read.hpp"

namespace gridstride::report {

enum class Format { html, junit, csv, markdown };

/// The content of a file of that format, of all documents together.
std::string formatted(const std::vector<Document>& documents, Format format);
/// Is this the begin of such a file?
bool is_formatted(const std::string& text, Format format);

/// What all forms share: the lines of an operation as text.
struct Sheet {
    std::string op;
    Document::Kind kind = Document::Kind::run;
    std::vector<std::string> columns;  // those that nobody has are left out; "-": unknown
    std::vector<bool> numeric;         // a column
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string>
        remarks;  // reasons, failed properties, notes: "layer1: mismatch: 3 of 12 ...", "a, b: ..."
};
/// A sheet an operation and kind, in the order of the documents; what was skipped is a remark, not a row. With several
/// documents the first column, `report`, has the document's number from 1.
std::vector<Sheet> sheets(const std::vector<Document>& documents);

/// How often each verdict occurs, in the order of the first: "12 pass, 1 mismatch".
std::vector<std::pair<std::string, int>> verdicts(const std::vector<Document>& documents);
/// The word that a case or a row was judged with.
std::string verdict_of(const Json& line);
/// mismatch, error, timeout, unexpected_pass.
bool is_failure(std::string_view verdict);
/// A cell of CSV, in quotes where it must be (RFC 4180).
std::string csv_quoted(const std::string& cell);
/// Extents as text "(3, 5)"; empty where there are none.
std::string shape_text(const Json& shape);

// The formats, each in a file of its own.
std::string html(const std::vector<Document>& documents);
std::string junit(const std::vector<Document>& documents);
std::string csv(const std::vector<Document>& documents);
std::string markdown(const std::vector<Document>& documents);

}  // namespace gridstride::report
