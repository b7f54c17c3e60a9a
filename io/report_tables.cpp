// SPDX-License-Identifier: BSD-3-Clause
// The tables of a report, and the formats made of them without a page: JUnit, CSV, Markdown.
#include "io/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/shape.hpp"
#include "io/svg.hpp"
#include "io/words.hpp"

namespace gridstride::report {

namespace {

constexpr std::string_view made_by = "<!-- made by gridstride report -->";
constexpr std::string_view html_head = "<!DOCTYPE html>\n", xml_head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr std::string_view csv_head = "report,kind,";

using Cells = std::vector<std::pair<std::string, std::string>>;  // column, text

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

std::string per_cent(double share) {
    return std::isnan(share) ? "-" : fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

std::string significant(double value, int digits = 3) {
    return std::isnan(value) ? "-" : fmt::format("{:.{}g}", value, digits);
}

std::string rate(double amount, double seconds) {  // in 10^9 a second
    if (!(amount > 0) || !(seconds > 0)) return "-";
    const double giga = amount / seconds / 1e9;
    return giga < 9999.5 ? fmt::format("{:.4g}", giga) : fmt::format("{:.0f}", giga);
}

/// Four digits of a measured time, in the unit that fits `like`.
std::string measured(double seconds, double like, bool with_unit) {
    if (!(seconds > 0)) return "-";
    const auto& [unit, name] = like < 1e-3 ? std::pair{1e-6, " us"}
                               : like < 1  ? std::pair{1e-3, " ms"}
                                           : std::pair{1.0, " s"};
    return fmt::format("{:#.4g}{}", seconds / unit, with_unit ? name : "");
}

std::string counted(const Json& json, std::initializer_list<const char*> checked,
                    std::initializer_list<const char*> of) {
    const double some = number(json, checked), all = number(json, of);
    if (!std::isfinite(some) || !std::isfinite(all) || std::abs(some) > 9e18 || std::abs(all) > 9e18) return "-";
    return checked_text(static_cast<std::int64_t>(some), static_cast<std::int64_t>(all));
}

std::string launch_text(const Json& launch) {
    if (!launch.is_object()) return "-";
    std::string text = shape_text(at(launch, {"grid"})) + " x " + shape_text(at(launch, {"block"}));
    const double occupancy = number(launch, {"occupancy"});
    if (!std::isnan(occupancy)) text += ", occupancy " + per_cent(occupancy);
    return text;
}

/// The first output's type.
const Json& output_of(const Json& one) {
    const Json& outputs = at(one, {"outputs"});
    return outputs.is_array() && !outputs.empty() ? outputs.front() : outputs;
}

std::string properties_text(const Json& properties) {
    if (!properties.is_array() || properties.empty()) return "-";
    const auto failed = std::count_if(properties.begin(), properties.end(),
                                      [](const Json& one) { return text(one, {"status"}) == "mismatch"; });
    return failed == 0 ? fmt::format("{} hold", properties.size())
                       : fmt::format("{} of {} fail", failed, properties.size());
}

std::string repeat_text(const Json& repeat) {
    const Json& equal = at(repeat, {"equal"});
    if (!equal.is_boolean()) return "-";
    return fmt::format("{} runs {}", text(repeat, {"runs"}), equal.get<bool>() ? "equal" : "differ");
}

Cells run_cells(const Json& one) {
    const Json& output = output_of(one);
    const double ours = number(one, {"reference", "max_abs"}), theirs = number(one, {"vendor", "max_abs"});
    const Json& loose = at(one, {"loose_tolerance"});
    std::string used = used_text(number(one, {"reference", "tolerance_used"}));
    if (loose.is_boolean() && loose.get<bool>()) used += " (loose)";
    const std::string vendor = text(one, {"vendor", "name"}), state = text(one, {"vendor", "status"});
    const bool timed = verdict_of(one) == "pass";
    return {{"case", text(one, {"name"})},
            {"device", or_dash(text(one, {"device"}))},
            {"variant", or_dash(text(one, {"variant"}))},
            {"dtype", or_dash(text(output, {"dtype"}))},
            {"shape", or_dash(shape_text(at(output, {"shape"})))},
            {"verdict", verdict_of(one)},
            {"checked", counted(one, {"reference", "checked"}, {"reference", "of"})},
            {"bound used", used},
            {"max abs error", significant(ours)},
            {"rel L2 error", significant(number(one, {"reference", "rel_l2"}))},
            {"max ULP", significant(number(one, {"reference", "max_ulp"}))},
            {"vendor", state == "pass"                          ? vendor
                       : vendor.empty() || state == "no vendor" ? "-"
                                                                : vendor + ": " + state},
            {"vendor's error", state == "no vendor" ? "-" : significant(theirs)},
            {"error/vendor's", theirs > 0 && state != "no vendor" ? significant(ours / theirs, 2) : "-"},
            {"properties", properties_text(at(one, {"properties"}))},
            {"repeated", repeat_text(at(one, {"repeat"}))},
            {"kernel", timed ? time_text(number(one, {"seconds", "compute"})) : "-"},
            {"with copies", timed ? time_text(number(one, {"seconds", "with_copies"})) : "-"}};
}

Cells bench_cells(const Json& row) {
    const double median = number(row, {"seconds", "median"});
    const double q1 = number(row, {"seconds", "q1"}), q3 = number(row, {"seconds", "q3"});
    const auto time = [&](std::initializer_list<const char*> keys) {
        const double seconds = number(row, keys);
        return measured(seconds, seconds, true);
    };
    return {{"case", text(row, {"case"})},
            {"variant", or_dash(text(row, {"variant"}))},
            {"device", or_dash(text(row, {"device"}))},
            {"program", or_dash(text(row, {"program"}))},
            {"dtype", or_dash(text(row, {"dtype"}))},
            {"shape", or_dash(shape_text(at(row, {"shape"})))},
            {"verdict", verdict_of(row)},
            {"bound used", used_text(number(row, {"tolerance_used"}))},
            {"time", time({"seconds", "median"})},
            {"quartiles", q1 > 0 && q3 > 0 ? measured(q1, median, false) + " to " + measured(q3, median, false) : "-"},
            {"GB/s", rate(number(row, {"bytes"}), median)},
            {"GFLOP/s", rate(number(row, {"flops"}), median)},
            {"of floor", per_cent(number(row, {"fraction_of_floor"}))},
            {"x vendor", significant(number(row, {"ratio_to_vendor"}))},
            {"with copies", time({"with_copies"})},
            {"limit", time({"limit", "seconds"})},
            {"launch", launch_text(at(row, {"launch"}))},
            {"SM MHz", significant(number(row, {"clocks", "sm_mhz"}), 4)},
            {"W", significant(number(row, {"clocks", "power_w"}))},
            {"throttle", or_dash(text(row, {"clocks", "throttle"}))}};
}

/// What is said of cases, in the order it was first said, and of which.
class Remarks {
  public:
    void add(const std::string& name, const std::string& verdict, const Json& line) {
        if (std::string reason = text(line, {"reason"}); !reason.empty()) {
            const std::string variant = text(line, {"variant"}) + ": ";  // one reason for all variants
            if (verdict == "skipped" && reason.starts_with(variant)) reason.erase(0, variant.size());
            say(name, verdict + ": " + reason);
        }
        for (const Json& property : at(line, {"properties"}))
            if (text(property, {"status"}) == "mismatch")
                say(name, fmt::format("{} fails: {} where {} is allowed", text(property, {"name"}),
                                      text(property, {"value"}), text(property, {"bound"})));
        for (const Json& note : at(line, {"notes"})) say(name, text(note, {}));
    }

    std::vector<std::string> lines() const {
        constexpr std::size_t most = 8;
        std::vector<std::string> lines;
        for (const auto& [words, names] : said_) {
            const std::size_t shown = names.size() > most ? most - 1 : names.size();
            std::string who;
            for (std::size_t i = 0; i < shown; ++i) who += (i == 0 ? "" : ", ") + names[i];
            if (shown < names.size()) who += fmt::format(" and {} more", names.size() - shown);
            lines.push_back(who + ": " + words);
        }
        return lines;
    }

  private:
    void say(const std::string& name, const std::string& words) {
        auto known = std::find_if(said_.begin(), said_.end(), [&](const auto& one) { return one.first == words; });
        if (known == said_.end()) known = said_.insert(said_.end(), {words, {}});
        known->second.push_back(name);
    }

    std::vector<std::pair<std::string, std::vector<std::string>>> said_;
};

/// Columns that have a word in no row go away.
void drop_empty(Sheet& sheet) {
    if (sheet.rows.empty()) return;
    for (std::size_t c = sheet.columns.size(); c-- > 0;) {
        const auto unknown = [&](const auto& row) { return row[c] == "-"; };
        if (!std::all_of(sheet.rows.begin(), sheet.rows.end(), unknown)) continue;
        const auto at = static_cast<std::ptrdiff_t>(c);
        sheet.columns.erase(sheet.columns.begin() + at);
        sheet.numeric.erase(sheet.numeric.begin() + at);
        for (auto& row : sheet.rows) row.erase(row.begin() + at);
    }
}

std::string csv_cell(const Json& value) {
    std::string cell;
    if (value.is_array())
        for (const Json& one : value) cell += (cell.empty() ? "" : " ") + text(one, {});
    else
        cell = text(value, {});
    return csv_quoted(cell);
}

/// Text in a cell of a Markdown table: what would be markup is escaped.
std::string markdown_cell(const std::string& text) {
    std::string cell;
    for (const char letter : text) {
        if (letter == '\n' || letter == '\r') {
            cell += ' ';
            continue;
        }
        if (std::string_view("|\\`*_[]<>#&~").find(letter) != std::string_view::npos) cell += '\\';
        cell += letter;
    }
    return cell;
}

}  // namespace

std::string csv_quoted(const std::string& cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string quoted = "\"";
    for (const char letter : cell) quoted.append(letter == '"' ? 2 : 1, letter);
    return quoted + "\"";
}

std::string shape_text(const Json& shape) {
    if (!shape.is_array()) return text(shape, {});
    Shape extents;
    for (const Json& extent : shape) {
        if (!extent.is_number_integer()) return shape.dump();
        extents.push_back(extent.get<std::int64_t>());
    }
    return to_text(extents);
}

std::string verdict_of(const Json& line) {
    const std::string status = text(line, {"status"}), verdict = text(line, {"verdict"});
    return !status.empty() ? status : !verdict.empty() ? verdict : "-";
}

bool is_failure(std::string_view verdict) {
    return verdict == "mismatch" || verdict == "error" || verdict == "timeout" || verdict == "unexpected_pass";
}

std::vector<std::pair<std::string, int>> verdicts(const std::vector<Document>& documents) {
    std::vector<std::pair<std::string, int>> counts;
    for (const Document& document : documents)
        for (const Json& line : document.lines()) {
            const std::string word = verdict_of(line);
            const auto known =
                std::find_if(counts.begin(), counts.end(), [&](const auto& it) { return it.first == word; });
            if (known == counts.end())
                counts.emplace_back(word, 1);
            else
                ++known->second;
        }
    return counts;
}

std::vector<Sheet> sheets(const std::vector<Document>& documents) {
    std::vector<Sheet> sheets;
    std::vector<Remarks> remarks;  // a sheet
    for (std::size_t d = 0; d < documents.size(); ++d) {
        const Document& document = documents[d];
        for (const Json& line : document.lines()) {
            Cells cells = document.kind == Document::Kind::run ? run_cells(line) : bench_cells(line);
            if (documents.size() > 1) cells.insert(cells.begin(), {"report", std::to_string(d + 1)});
            const std::string op = or_dash(text(line, {"op"}));
            auto sheet = std::find_if(sheets.begin(), sheets.end(),
                                      [&](const Sheet& one) { return one.op == op && one.kind == document.kind; });
            if (sheet == sheets.end()) {
                sheet = sheets.insert(sheets.end(), Sheet{op, document.kind, {}, {}, {}, {}});
                remarks.emplace_back();
                static const std::vector<std::string> words = {"report",  "case",   "device",  "variant",
                                                               "program", "dtype",  "shape",   "verdict",
                                                               "vendor",  "launch", "throttle"};
                for (const auto& [name, cell] : cells) {
                    sheet->columns.push_back(name);
                    sheet->numeric.push_back(std::find(words.begin(), words.end(), name) == words.end());
                }
            }
            const std::string name = text(line, {document.kind == Document::Kind::run ? "name" : "case"});
            remarks[static_cast<std::size_t>(sheet - sheets.begin())].add(name, verdict_of(line), line);
            if (verdict_of(line) == "skipped") continue;
            sheet->rows.emplace_back();
            for (const auto& [column, cell] : cells) sheet->rows.back().push_back(cell);
        }
    }
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        sheets[i].remarks = remarks[i].lines();
        drop_empty(sheets[i]);
    }
    return sheets;
}

std::string junit(const std::vector<Document>& documents) {
    constexpr std::string_view warnings[] = {"vacuous", "unvalidated", "known_issue"};
    std::string suites;
    int tests = 0, failures = 0, errors = 0, skips = 0;
    for (const Document& document : documents) {
        std::string cases;
        int in_suite = 0, failed = 0, broken = 0, skipped = 0;
        for (const Json& line : document.lines()) {
            const bool run = document.kind == Document::Kind::run;
            const std::string verdict = verdict_of(line), reason = text(line, {"reason"});
            const double seconds = number(line, {"seconds", run ? "compute" : "median"});
            cases += fmt::format("<testcase name=\"{}\" classname=\"{}\" time=\"{:.9f}\">",
                                 svg::escaped(run ? text(line, {"name"}) : row_name(line)),
                                 svg::escaped(text(line, {"op"})), std::isfinite(seconds) ? seconds : 0);
            ++in_suite;
            const auto outcome = [&](std::string_view tag, int& count) {
                cases += fmt::format("<{} message=\"{}\"/>", tag,
                                     svg::escaped(reason.empty() ? verdict : verdict + ": " + reason));
                ++count;
            };
            if (verdict == "mismatch" || verdict == "unexpected_pass")
                outcome("failure", failed);
            else if (is_failure(verdict))
                outcome("error", broken);
            else if (verdict == "skipped")
                outcome("skipped", skipped);
            else if (std::find(std::begin(warnings), std::end(warnings), verdict) == std::end(warnings) &&
                     verdict != "pass")
                outcome("error", broken);  // no verdict that is known
            else if (verdict != "pass")    // it warns and does not fail
                cases += fmt::format("<system-out>{}</system-out>", svg::escaped(verdict + ": " + reason));
            cases += "</testcase>\n";
        }
        if (!document.ended()) {
            cases +=
                "<testcase name=\"the run\" classname=\"gridstride\"><error message=\"did not end: its later "
                "cases are missing\"/></testcase>\n";
            ++in_suite;
            ++broken;
        }
        const std::string config = text(document.json, {"config"});
        suites += fmt::format(
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
            "timestamp=\"{}\" hostname=\"{}\">\n{}</testsuite>\n",
            svg::escaped(config.empty() ? document.path : config), in_suite, failed, broken, skipped,
            svg::escaped(text(document.json, {"started"})), svg::escaped(text(document.json, {"host"})), cases);
        tests += in_suite, failures += failed, errors += broken, skips += skipped;
    }
    return fmt::format(
        "{}{}\n<testsuites tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuites>\n", xml_head,
        made_by, tests, failures, errors, skips, suites);
}

std::string csv(const std::vector<Document>& documents) {
    std::vector<std::string> columns;
    std::vector<std::map<std::string, Json>> rows;
    for (const Document& document : documents)
        for (const Json& line : document.lines()) {
            rows.push_back(
                {{"report", document.path}, {"kind", document.kind == Document::Kind::run ? "run" : "bench"}});
            for (const auto& [name, value] : flattened(line)) {
                if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
                rows.back()[name] = value;
            }
        }
    std::string text(csv_head);
    for (std::size_t c = 0; c < columns.size(); ++c) text += (c > 0 ? "," : "") + csv_cell(columns[c]);
    text += '\n';
    for (const auto& row : rows) {
        text += csv_cell(row.at("report")) + "," + csv_cell(row.at("kind"));
        for (const std::string& column : columns) {
            const auto cell = row.find(column);
            text += "," + (cell == row.end() ? "" : csv_cell(cell->second));
        }
        text += '\n';
    }
    return text;
}

std::string markdown(const std::vector<Document>& documents) {
    std::string text = std::string(made_by) + "\n";
    for (std::size_t d = 0; d < documents.size(); ++d) {
        const Json& json = documents[d].json;
        text += fmt::format("\n{}. {}", d + 1, markdown_cell(documents[d].path));
        for (const char* fact : {"device", "started"})
            if (const std::string value = report::text(json, {fact}); !value.empty())
                text += "; " + markdown_cell(value);
        if (!documents[d].ended()) text += "; **the run did not end; its later cases are missing**";
    }
    text += "\n";
    for (const Sheet& sheet : sheets(documents)) {
        text += fmt::format("\n## {}\n\n|", markdown_cell(sheet.op));
        for (const std::string& column : sheet.columns) text += fmt::format(" {} |", markdown_cell(column));
        text += "\n|";
        for (const bool right : sheet.numeric) text += right ? "---:|" : "---|";
        text += "\n";
        for (const auto& row : sheet.rows) {
            text += "|";
            for (const std::string& cell : row) text += fmt::format(" {} |", markdown_cell(cell));
            text += "\n";
        }
        if (!sheet.remarks.empty()) text += "\n";
        for (const std::string& remark : sheet.remarks) text += fmt::format("- {}\n", markdown_cell(remark));
    }
    return text;
}

std::string formatted(const std::vector<Document>& documents, Format format) {
    switch (format) {
        case Format::html:
            return std::string(html_head) + std::string(made_by) + "\n" + html(documents);
        case Format::junit:
            return junit(documents);
        case Format::csv:
            return csv(documents);
        case Format::markdown:
            return markdown(documents);
    }
    return {};
}

bool is_formatted(const std::string& text, Format format) {
    switch (format) {
        case Format::html:
            return text.starts_with(std::string(html_head) + std::string(made_by));
        case Format::junit:
            return text.starts_with(std::string(xml_head) + std::string(made_by));
        case Format::csv:
            return text.starts_with(csv_head);
        case Format::markdown:
            return text.starts_with(made_by);
    }
    return false;
}

}  // namespace gridstride::report
