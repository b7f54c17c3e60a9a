// SPDX-License-Identifier: BSD-3-Clause
// One page that needs nothing else: style within, plots inline, no script. Every text of a report is escaped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/report_plots.hpp"
#include "io/report_tables.hpp"
#include "io/svg.hpp"
#include "io/words.hpp"

namespace gridstride::report {

namespace {

using svg::escaped;

constexpr std::string_view style = R"(
:root { color-scheme: light; --paper: #fff; --ink: #1b1b1f; --faint: #5a5a66; --line: #d5d5de; --band: #f4f4f8;
  --good: #10692f; --bad: #b3001b; --warn: #7a4b00; --c0: #0b5cad; --c1: #c2410c; --c2: #15803d; --c3: #a21caf;
  --c4: #0e7490; --c5: #b45309; --c6: #be123c; --c7: #4d5d00; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --paper: #16161a; --ink: #ececf1;
  --faint: #a9a9b6; --line: #3a3a44; --band: #202027; --good: #6fd693; --bad: #ff8b94; --warn: #f2c14e; --c0: #6cb2ff;
  --c1: #ff9e64; --c2: #73d58c; --c3: #e58cf0; --c4: #5ccfe6; --c5: #f0b429; --c6: #ff7a93; --c7: #c0d050; } }
@page { size: landscape; margin: 12mm; }
@media print { .scroll { overflow: visible !important; } figure, tr { break-inside: avoid; } nav { display: none; }
  body { font-size: 9pt !important; } table { font-size: 6.5pt !important; } svg { min-width: 0 !important; }
  td, th { white-space: normal !important; padding: .15rem .4rem .15rem 0 !important; }
  .number { white-space: nowrap !important; } tbody th { overflow-wrap: anywhere; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 84rem; margin: 0 auto; padding: 1rem 1.25rem 3rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; } a { color: var(--c0); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding: .3rem 0; }
th, td { padding: .28rem .7rem .28rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--faint); font-weight: 600; white-space: nowrap; } tbody th { font-weight: 500; }
td { white-space: nowrap; } td.text { white-space: normal; overflow-wrap: anywhere; } .number { text-align: right; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 700; } .warn { color: var(--warn); }
figure { margin: 1.4rem 0; } figcaption { color: var(--faint); font-size: .875rem; max-width: 60rem; }
figure h3 { font-size: 1rem; margin: 0 0 .3rem; }
svg { width: 100%; max-width: 60rem; min-width: 42rem; height: auto; display: block; font-size: 13px; }
svg text { fill: var(--ink); } .grid path { stroke: var(--line); } .grid text { fill: var(--faint); }
.frame { fill: none; stroke: var(--faint); } .rule { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.dashed { stroke-dasharray: 6 4; } .named { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg polyline, .line, .spread { fill: none; stroke-width: 1.6; } g polyline, .line, .spread { stroke: currentColor; }
svg g[class^=c] path { fill: currentColor; } .c0 { color: var(--c0); } .c1 { color: var(--c1); }
.c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.c6 { color: var(--c6); } .c7 { color: var(--c7); }
pre { background: var(--band); padding: .8rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap; }
)";

std::string_view class_of(std::string_view verdict) {
    return verdict == "pass" ? "good" : is_failure(verdict) ? "bad" : "warn";
}

std::string table(const Sheet& sheet, const std::string& caption) {
    if (sheet.rows.empty()) return {};
    std::string text = fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table>\n"
        "<caption>{0}</caption>\n<thead><tr>",
        escaped(caption));
    for (std::size_t c = 0; c < sheet.columns.size(); ++c)
        text += fmt::format("<th scope=\"col\"{}>{}</th>", sheet.numeric[c] ? " class=\"number\"" : "",
                            escaped(sheet.columns[c]));
    text += "</tr></thead>\n<tbody>\n";
    const std::size_t head = sheet.columns.front() == "report" ? 1 : 0;
    for (const std::vector<std::string>& row : sheet.rows) {
        text += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c == head)
                text += fmt::format("<th scope=\"row\">{}</th>", escaped(row[c]));
            else if (sheet.columns[c] == "verdict")
                text += fmt::format("<td class=\"{}\">{}</td>", class_of(row[c]), escaped(row[c]));
            else
                text += fmt::format("<td{}>{}</td>", sheet.numeric[c] ? " class=\"number\"" : "", escaped(row[c]));
        }
        text += "</tr>\n";
    }
    return text + "</tbody>\n</table>\n</div>\n";
}

std::string list(const std::vector<std::string>& lines) {
    if (lines.empty()) return {};
    std::string text = "<ul>\n";
    for (const std::string& line : lines) text += fmt::format("<li>{}</li>\n", escaped(line));
    return text + "</ul>\n";
}

template <class Picture>
std::string figures(const std::vector<Picture>& pictures) {
    std::string text;
    for (const Picture& picture : pictures)
        if (const std::string drawing = svg::drawn(picture); !drawing.empty())
            text += fmt::format(
                "<figure>\n<h3>{0}</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                "aria-label=\"{0}\">\n{1}</div>\n<figcaption>{2}</figcaption>\n</figure>\n",
                escaped(picture.title), drawing, escaped(picture.description));
    return text;
}

/// "12 cases: 10 pass, 2 skipped", each word in its colour.
std::string counts_text(const std::vector<Document>& documents) {
    std::string text;
    int all = 0;
    for (const auto& [word, n] : verdicts(documents)) {
        text += fmt::format("{} <span class=\"{}\">{} {}</span>", text.empty() ? "" : ",", class_of(word), n,
                            escaped(word));
        all += n;
    }
    return all == 0 ? "nothing in it" : fmt::format("{} {}:{}", all, all == 1 ? "case" : "cases", text);
}

/// Operations by verdicts, with the largest share of a bound.
std::string summary(const std::vector<Document>& documents, const std::vector<std::string>& ops) {
    const auto words = verdicts(documents);
    Sheet sheet;
    sheet.columns = {"operation"};
    sheet.numeric = {false};
    for (const auto& [word, n] : words) sheet.columns.push_back(word), sheet.numeric.push_back(true);
    sheet.columns.insert(sheet.columns.end(), {"largest bound used", "of"});
    sheet.numeric.insert(sheet.numeric.end(), {true, false});
    std::vector<std::string> failed;
    for (const std::string& op : ops) {
        std::vector<int> counts(words.size(), 0);
        double worst = std::numeric_limits<double>::quiet_NaN();
        std::string whose = "-";
        for (const Document& document : documents)
            for (const Json& line : document.lines()) {
                if ((text(line, {"op"}).empty() ? "-" : text(line, {"op"})) != op) continue;
                const bool run = document.kind == Document::Kind::run;
                const std::string verdict = verdict_of(line), name = text(line, {run ? "name" : "case"});
                for (std::size_t w = 0; w < words.size(); ++w) counts[w] += words[w].first == verdict ? 1 : 0;
                if (is_failure(verdict))
                    failed.push_back(fmt::format("{}: {}: {}", name, verdict, text(line, {"reason"})));
                const double used =
                    run ? number(line, {"reference", "tolerance_used"}) : number(line, {"tolerance_used"});
                if (used > worst || (std::isnan(worst) && !std::isnan(used))) worst = used, whose = name;
            }
        sheet.rows.push_back({op});
        for (const int n : counts) sheet.rows.back().push_back(n == 0 ? "-" : std::to_string(n));
        sheet.rows.back().insert(sheet.rows.back().end(), {used_text(worst), whose});
    }
    std::string text = table(sheet, "Verdicts by operation");
    if (!failed.empty()) text += "<h3 class=\"bad\">What failed</h3>\n" + list(failed);
    return text;
}

/// Where a report comes from: what is in no table of cases.
std::string provenance(const Document& document, std::size_t number) {
    std::string text = fmt::format(
        "<h3>{}. {}</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\""
        "Origin of report {}\"><table>\n<tbody>\n",
        number, escaped(document.path), number);
    const auto fact = [&](const std::string& name, const std::string& value) {
        if (!value.empty())
            text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td></tr>\n", escaped(name),
                                escaped(value));
    };
    const Json& json = document.json;
    const std::string commit = report::text(json, {"program", "commit"});
    std::string command;
    for (const Json& word : at(json, {"command"})) command += (command.empty() ? "" : " ") + report::text(word, {});
    fact("gridstride", report::text(json, {"program", "version"}) + (commit.empty() ? "" : " (" + commit + ")"));
    fact("command", command);
    fact("job file", report::text(json, {"config"}));
    fact("started", report::text(json, {"started"}));
    fact("took", time_text(report::number(json, {"seconds"})));
    fact("exit code", report::text(json, {"exit"}));
    fact("host", report::text(json, {"host"}));
    fact("device", report::text(json, {"device"}));
    for (const char* group : {"libraries", "environment"})
        for (const auto& [name, value] : at(json, {group}).items()) fact(name, report::text(value, {}));
    text += "</tbody>\n</table></div>\n";
    if (const std::string job = report::text(json, {"config_text"}); !job.empty())
        text += fmt::format("<details open><summary>The job file</summary>\n<pre>{}</pre></details>\n", escaped(job));
    return text;
}

}  // namespace

std::string html(const std::vector<Document>& documents) {
    const std::vector<Sheet> all = sheets(documents);
    std::vector<std::string> ops;
    for (const Sheet& sheet : all)
        if (std::find(ops.begin(), ops.end(), sheet.op) == ops.end()) ops.push_back(sheet.op);
    std::string name = documents.size() == 1 ? text(documents[0].json, {"config"}) : "";
    if (name.empty()) name = documents.size() == 1 ? documents[0].path : fmt::format("{} reports", documents.size());
    name = std::filesystem::path(name).filename().string();

    std::string links, body;
    const auto section = [&](const std::string& id, const std::string& title, const std::string& content) {
        if (content.empty()) return;
        links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, escaped(title));
        body += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", id,
                            escaped(title), content);
    };
    section("summary", "Summary", ops.empty() ? "" : summary(documents, ops));
    section("roofline", "Roofline", figures(rooflines(documents)));
    section("stages-of-time", "Time by stage", figures(stages(documents)));
    for (std::size_t i = 0; i < ops.size(); ++i) {
        std::string content;
        for (const Sheet& sheet : all)
            if (sheet.op == ops[i])
                content +=
                    table(sheet, fmt::format("{}: {}", sheet.op,
                                             sheet.kind == Document::Kind::run ? "cases of runs" : "rows of benches")) +
                    list(sheet.remarks);
        content += figures(speeds(documents, ops[i])) + figures(errors(documents, ops[i]));
        section(fmt::format("operation-{}", i), ops[i], content);
    }
    std::string origins;
    for (std::size_t d = 0; d < documents.size(); ++d) origins += provenance(documents[d], d + 1);
    section("origin", "Where this comes from", origins);
    std::string unended;
    for (const Document& document : documents)
        if (!document.ended())
            unended +=
                fmt::format(" <strong class=\"bad\">{}: the run did not end; its later cases are missing.</strong>",
                            escaped(document.path));
    return fmt::format(
        "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>gridstride: "
        "{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n"
        "<p>{2}.{5}</p>\n<nav aria-label=\"Contents\"><ul>\n{3}</ul></nav>\n{4}</main>\n</body>\n</html>\n",
        escaped(name), style, counts_text(documents), links, body, unended);
}

}  // namespace gridstride::report
