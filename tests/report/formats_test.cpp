// SPDX-License-Identifier: BSD-3-Clause
// Reports read back, compared, and written as HTML, JUnit, CSV and Markdown: from hand-made reports of a run and a
// bench.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "io/report.hpp"
#include "io/report_compare.hpp"
#include "io/report_plots.hpp"
#include "io/report_tables.hpp"

namespace gridstride::report {

namespace {

namespace fs = std::filesystem;

/// Text that would break out of every format where it is not escaped.
const std::string hostile = R"(</pre><script>alert("1")</script>&'|`)";

Json case_json(const std::string& name, const std::string& status, double n, double used) {
    return {{"name", name},
            {"job", "ladder"},
            {"op", "matmul"},
            {"device", "cpu"},
            {"variant", "loop"},
            {"status", status},
            {"reason", status == "pass" ? "" : hostile},
            {"outputs", {{{"name", "c"}, {"dtype", "float32"}, {"shape", {3, 5}}, {"file", "x.h5"}}}},
            {"reference",
             {{"checked", 15},
              {"of", 15},
              {"max_abs", 2e-7},
              {"rel_l2", 1e-7},
              {"tolerance_used", used},
              {"bound", {{"n", n}, {"g", 3}}}}},
            {"vendor", {{"name", "openblas"}, {"status", "pass"}, {"max_abs", 1e-7}}},
            {"properties", {{{"name", "freivalds"}, {"status", "mismatch"}, {"value", 3.0}, {"bound", 0.5}}}},
            {"notes", {"a note"}},
            {"seconds", {{"read", 1.0}, {"copy_in", 0.25}, {"compute", 0.5}, {"copy_out", 0.25}, {"write", 2.0}}}};
}

Document run_document() {
    return {Document::Kind::run,
            "out/job/report.json",
            {{"schema", 1},
             {"program", {{"version", "0.1.0"}, {"commit", "abc"}}},
             {"config", "job.yaml"},
             {"config_text", "jobs: {} # " + hostile},
             {"started", "2026-01-02T03:04:05+00:00"},
             {"host", hostile},
             {"device", "cpu: four cores"},
             {"libraries", {{"HDF5", "1.10"}}},
             {"cases", {case_json("a", "pass", 17, 0.25), case_json("b", "mismatch", 65, 40.5)}}}};
}

/// A row at n of work 2 n^3 flops, seconds as given, quartiles 1 % to each side.
Json row_json(const std::string& variant, const std::string& role, int n, double seconds) {
    return {{"case", "ladder[n=" + std::to_string(n) + ",variant=" + variant + "]"},
            {"job", "ladder"},
            {"op", "matmul"},
            {"variant", variant},
            {"role", role},
            {"device", "cuda:0"},
            {"program", "gridstride"},
            {"dtype", "float32"},
            {"shape", {n, n}},
            {"sweep", {{"n", n}, {"variant", variant}}},
            {"verdict", "pass"},
            {"seconds",
             {{"median", seconds},
              {"q1", 0.99 * seconds},
              {"q3", 1.01 * seconds},
              {"min", seconds},
              {"samples", {seconds, seconds}}}},
            {"bytes", 12.0 * n * n},
            {"flops", 2.0 * n * n * n},
            {"limit", {{"seconds", 12.0 * n * n / 4e12}, {"by", "bytes"}}},
            {"floor", {{"seconds", 12.0 * n * n / 3e12}, {"by", "bytes"}}},
            {"fraction_of_floor", 0.5},
            {"ratio_to_vendor", nullptr},
            {"notes", Json::array()}};
}

Document bench_document(std::vector<Json> rows) {
    return {Document::Kind::bench,
            "bench.json",
            {{"schema", 1}, {"program", {{"version", "0.1.0"}}}, {"config", "bench.yaml"}, {"rows", rows}}};
}

/// Tags of XML that are opened and closed in order; those of HTML that stand alone aside.
void expect_balanced(const std::string& text) {
    static const std::set<std::string> alone = {"meta", "!DOCTYPE", "!", "?xml"};
    std::vector<std::string> open;
    const std::regex tag(R"(<(/?)([!?A-Za-z][A-Za-z0-9]*)((?:"[^"]*"|[^">])*?)(/?)>)");
    for (std::sregex_iterator it(text.begin(), text.end(), tag), end; it != end; ++it) {
        const std::string name = (*it)[2];
        if (alone.contains(name) || (*it)[4] == "/") continue;
        if ((*it)[1] != "/") {
            open.push_back(name);
            continue;
        }
        ASSERT_FALSE(open.empty()) << name;
        ASSERT_EQ(open.back(), name) << "at " << it->position();
        open.pop_back();
    }
    EXPECT_TRUE(open.empty()) << open.back();
}

int count_of(const std::string& text, const std::string& word) {
    int n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
}

// ------------------------------------------------------------------------------------------------ reading

TEST(ReportRead, KindIsToldByTheContent) {
    const Document run = run_document(), bench = bench_document({row_json("tiled", "custom", 64, 1)});
    EXPECT_EQ(parse("x", run.json.dump())->kind, Document::Kind::run);
    EXPECT_EQ(parse("x", bench.json.dump(2))->kind, Document::Kind::bench);
    const std::string line = case_json("a", "pass", 17, 0.25).dump() + "\n";
    const auto journal = parse("x", line + line + R"({"name":"cut)");  // a crash
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->lines().size(), 2U);
    for (const char* other : {"", "text", "{}", "[1]", R"({"schema": 1})", R"({"cases": []})"})
        EXPECT_FALSE(parse("x", other)) << other;
}

TEST(ReportRead, DamagedAndNewerReportsAreSaid) {
    for (const std::string& text :
         {std::string(R"({"schema": 1, "cases": [)"), std::string(R"({"schema":2,"cases":[]})")}) {
        try {
            parse("some/report.json", text);
            ADD_FAILURE() << "read";
        } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::input);
            EXPECT_EQ(std::string(error.what()).find("some/report.json: a report"), 0U) << error.what();
        }
    }
}

TEST(ReportRead, FieldsOfOtherTypesAreUnknown) {
    const Json json = {{"a", {{"b", "inf"}, {"c", nullptr}, {"d", {1, 2}}}}, {"e", "nan"}};
    EXPECT_EQ(number(json, {"a", "b"}), INFINITY);
    for (const auto& keys : {std::initializer_list<const char*>{"a", "c"}, {"a", "d"}, {"e"}, {"a", "b", "c"}, {"z"}})
        EXPECT_TRUE(std::isnan(number(json, keys)));
    EXPECT_EQ(text(json, {"a", "d"}), "[1,2]");
    EXPECT_EQ(text(json, {"a", "c"}), "");
}

TEST(ReportRead, NoFieldIsNeededForAnyFormat) {
    const Document run{Document::Kind::run, "r",
                       Json::parse(R"({"cases": [{}, {"op": 3, "name": [], "outputs": 1, "notes": 2,
        "reference": {"checked": 1e300, "of": "inf"}, "seconds": [], "params": null, "properties": {"a": 1}}, 7, null]})")};
    const Document bench{Document::Kind::bench, "b",
                         Json::parse(R"({"rows": [{}, {"seconds": {"median": "nan"}, "bytes": -1,
        "sweep": 3, "launch": {"grid": [1.5]}}, "x"]})")};
    for (const Format format : {Format::html, Format::junit, Format::csv, Format::markdown})
        EXPECT_TRUE(is_formatted(formatted({run, bench}, format), format));
}

// ------------------------------------------------------------------------------------------------ formats

TEST(ReportFormats, HtmlNeedsNothingElseAndEscapesEverything) {
    const std::string page =
        formatted({run_document(),
                   bench_document({row_json("tiled", "custom", 64, 1e-6), row_json("cublas", "vendor", 64, 1e-6)})},
                  Format::html);
    expect_balanced(page);
    for (const char* outside : {"http:", "https:", "<script", "<link", "<img", "url(", "@import"})
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    EXPECT_NE(page.find("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"), std::string::npos);
    EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(page.find("@media print"), std::string::npos);
}

TEST(ReportFormats, HtmlIsReadableWithoutSeeing) {
    const std::string page =
        formatted({run_document(), bench_document({row_json("tiled", "custom", 64, 1e-6)})}, Format::html);
    const int plots = count_of(page, "<svg");
    EXPECT_EQ(plots, 3);  // roofline, stages, error; nothing was swept over two values
    EXPECT_EQ(count_of(page, "role=\"img\""), plots);
    EXPECT_EQ(count_of(page, "<desc id="), plots);
    std::set<std::string> ids;
    const std::regex id(R"re(\bid="([^"]*)")re"), label(R"re(aria-labelledby="([^"]*)")re");
    for (std::sregex_iterator it(page.begin(), page.end(), id), end; it != end; ++it)
        EXPECT_TRUE(ids.insert((*it)[1]).second) << (*it)[1];
    for (std::sregex_iterator it(page.begin(), page.end(), label), end; it != end; ++it) {
        std::istringstream words((*it)[1]);
        for (std::string word; words >> word;) EXPECT_TRUE(ids.contains(word)) << word;
    }
    EXPECT_EQ(count_of(page, "<th>"), 0);  // each has its scope
    EXPECT_EQ(count_of(page, "<th scope="), count_of(page, "<th "));
    EXPECT_NE(page.find("<html lang="), std::string::npos);
}

TEST(ReportFormats, TablesHaveTheNumbers) {
    const auto all = sheets({run_document()});
    ASSERT_EQ(all.size(), 1U);
    const Sheet& sheet = all[0];
    const auto cell = [&](std::size_t row, const std::string& column) {
        const auto at = std::find(sheet.columns.begin(), sheet.columns.end(), column) - sheet.columns.begin();
        return at == static_cast<std::ptrdiff_t>(sheet.columns.size()) ? "none"
                                                                       : sheet.rows[row][static_cast<std::size_t>(at)];
    };
    EXPECT_EQ(cell(0, "case"), "a");
    EXPECT_EQ(cell(0, "shape"), "(3, 5)");
    EXPECT_EQ(cell(0, "checked"), "all 15");
    EXPECT_EQ(cell(0, "bound used"), "25 %");
    EXPECT_EQ(cell(0, "max abs error"), "2e-07");
    EXPECT_EQ(cell(0, "vendor's error"), "1e-07");
    EXPECT_EQ(cell(0, "error/vendor's"), "2");
    EXPECT_EQ(cell(0, "properties"), "1 of 1 fail");
    EXPECT_EQ(cell(0, "kernel"), "500 ms");
    EXPECT_EQ(cell(1, "kernel"), "-");      // a wrong answer has no speed
    EXPECT_EQ(cell(0, "max ULP"), "none");  // nobody has it
    EXPECT_EQ(sheet.remarks[0], "a, b: freivalds fails: 3.0 where 0.5 is allowed");
    EXPECT_EQ(sheet.remarks[2], "b: mismatch: " + hostile);

    const auto benches = sheets({bench_document({row_json("tiled", "custom", 1000, 1e-3)})});
    const auto& columns = benches[0].columns;
    const auto of = [&](const std::string& column) {
        return benches[0]
            .rows[0][static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin())];
    };
    EXPECT_EQ(of("GFLOP/s"), "2000");  // 2e9 flops in 1 ms
    EXPECT_EQ(of("GB/s"), "12");
    EXPECT_EQ(of("of floor"), "50 %");
    EXPECT_EQ(of("time"), "1.000 ms");
    EXPECT_EQ(of("quartiles"), "0.9900 to 1.010");
}

TEST(ReportFormats, JunitHasAnOutcomeForEachStatus) {
    Document document = run_document();
    Json& cases = document.json["cases"];
    for (const char* status :
         {"error", "timeout", "unexpected_pass", "skipped", "vacuous", "unvalidated", "known_issue"})
        cases.push_back(case_json(status, status, 3, 0.5));
    const std::string xml = formatted({document}, Format::junit);
    expect_balanced(xml);
    EXPECT_NE(xml.find("<testsuites tests=\"9\" failures=\"2\" errors=\"2\" skipped=\"1\">"), std::string::npos) << xml;
    EXPECT_EQ(count_of(xml, "<failure "), 2);
    EXPECT_EQ(count_of(xml, "<error "), 2);
    EXPECT_EQ(count_of(xml, "<system-out>"), 3);
    EXPECT_EQ(xml.find("<script>"), std::string::npos);
    EXPECT_NE(xml.find("time=\"0.500000000\""), std::string::npos);
}

TEST(ReportFormats, WhatIsNoVerdictOrDidNotEndIsNoPass) {
    Document document = run_document();
    document.json["cases"] = {case_json("a", "crashed", 3, 0.5), Json::object()};
    document.json.erase("schema");  // of report.jsonl
    const std::string xml = formatted({document}, Format::junit);
    expect_balanced(xml);
    EXPECT_NE(xml.find("<testsuites tests=\"3\" failures=\"0\" errors=\"3\" skipped=\"0\">"), std::string::npos) << xml;
    EXPECT_NE(formatted({document}, Format::html).find("the run did not end"), std::string::npos);
    EXPECT_NE(formatted({document}, Format::markdown).find("the run did not end"), std::string::npos);
    EXPECT_THROW(parse("r.json", R"({"schema":1,"cases":[1]})"), Error);
    EXPECT_EQ(svg::escaped("a\uFFFEb"), "a\uFFFDb");
}

TEST(Plots, ExtremeNumbersAreDrawnOrLeftOut) {
    Json large = row_json("tiled", "custom", 64, 1e308), small = row_json("naive", "custom", 64, 1e-300);
    small["bytes"] = "inf";
    const std::string page = formatted({bench_document({large, small})}, Format::html);
    EXPECT_EQ(page.find("M-inf"), std::string::npos);
    EXPECT_EQ(page.find("\"-inf"), std::string::npos);
}

TEST(ReportFormats, CsvHasAColumnAField) {
    Document document = run_document();
    document.json["cases"][0]["reason"] = "two, \"quoted\"\nlines";
    const std::string text = formatted({document}, Format::csv);
    const std::string head = text.substr(0, text.find('\n'));
    EXPECT_EQ(head.find("report,kind,name,job,op,device,variant,status,reason,outputs.c.name,"), 0U) << head;
    EXPECT_NE(head.find(",reference.bound.n,"), std::string::npos);
    EXPECT_NE(text.find(R"(,"two, ""quoted""
lines",)"),
              std::string::npos);
    EXPECT_NE(text.find(",3 5,"), std::string::npos);  // a shape
}

TEST(ReportFormats, MarkdownTablesHaveOneWidthAndNoMarkup) {
    const std::string text = formatted({run_document()}, Format::markdown);
    std::istringstream lines(text);
    std::set<int> bars;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("|")) bars.insert(count_of(line, "|") - count_of(line, "\\|"));
    EXPECT_EQ(bars.size(), 1U) << text;
    EXPECT_EQ(text.find("<script>"), std::string::npos);
    EXPECT_NE(text.find("\\<script\\>"), std::string::npos);
    EXPECT_NE(text.find("| a | cpu | loop | float32 | (3, 5) | pass |"), std::string::npos) << text;
}

TEST(ReportFormats, SeveralReportsAreNumbered) {
    const auto all = sheets({run_document(), run_document()});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].columns[0], "report");
    ASSERT_EQ(all[0].rows.size(), 4U);
    EXPECT_EQ(all[0].rows[3][0], "2");
}

// ------------------------------------------------------------------------------------------------ plots

svg::Series line(const std::string& name, const std::vector<std::array<double, 2>>& points, double spread) {
    svg::Series series{name, {}, true};
    for (const auto& [x, y] : points) series.marks.push_back({x, y, "", y * (1 - spread), y * (1 + spread)});
    return series;
}

TEST(Crossings, StraightLinesMeetWhereTheyMeet) {
    // On logarithmic axes y = x and y = 100 / x are straight; they meet at x = 10.
    const auto rising = line("rising", {{1, 1}, {4, 4}, {64, 64}}, 0.01),
               falling = line("falling", {{1, 100}, {4, 25}, {64, 100.0 / 64}}, 0.01);
    const auto found = crossings(rising, falling);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].x, 10, 1e-9);
    EXPECT_NEAR(found[0].y, 10, 1e-9);
    EXPECT_EQ(found[0].from, 4);
    EXPECT_EQ(found[0].to, 64);
    EXPECT_EQ(found[0].faster_before, "falling");
    EXPECT_EQ(found[0].faster_after, "rising");
}

TEST(Crossings, WhatTheSpreadHidesIsNone) {
    const auto one = line("one", {{1, 10}, {2, 10.1}, {4, 9.9}, {8, 10}}, 0.05),
               other = line("other", {{1, 10.1}, {2, 10}, {4, 10}, {8, 9.9}}, 0.05);
    EXPECT_TRUE(crossings(one, other).empty());
    // The points between the last clear one and the first clear one the other way are within the spread.
    const auto later = line("later", {{1, 5}, {2, 9.9}, {4, 10.1}, {8, 20}}, 0.05);
    const auto found = crossings(one, later);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].from, 1);
    EXPECT_EQ(found[0].to, 8);
}

TEST(Plots, CrossingOfTheVendorIsNamed) {
    // cublas needs 1 us more, tiled twice as long a flop: 2 n^3 / 1e12.
    std::vector<Json> rows;
    for (const int n : {32, 64, 128, 256}) {
        const double work = 2.0 * n * n * n / 1e12;
        rows.push_back(row_json("tiled", "custom", n, 2 * work));
        rows.push_back(row_json("cublas", "vendor", n, work + 1e-6));
    }
    const auto plots = speeds({bench_document(rows)}, "matmul");
    ASSERT_EQ(plots.size(), 1U);
    EXPECT_EQ(plots[0].series.size(), 2U);
    ASSERT_EQ(plots[0].named.size(), 1U);
    // At 64 cublas takes 1.524 / 1.049 of tiled's time, at 128 5.194 / 8.389: on logarithmic axes the lines meet at
    // 0.4384 of the way, 64 * 2^0.4384.
    EXPECT_NEAR(plots[0].named[0].x, 86.72, 0.01);
    EXPECT_NE(plots[0].description.find("cublas overtakes tiled at n"), std::string::npos) << plots[0].description;
    EXPECT_NE(plots[0].description.find("(between 64 and 128)"), std::string::npos);
    EXPECT_EQ(plots[0].y.label, "GFLOP/s");
    EXPECT_NEAR(plots[0].series[0].marks[2].y, 500, 1e-6);  // tiled: 1e12 / 2
    EXPECT_FALSE(svg::drawn(plots[0]).empty());
}

TEST(Plots, EveryRowOfABenchHasItsPlaceInTheRoofline) {
    Json copy = row_json("grid_stride", "custom", 64, 1e-6);
    copy["op"] = "copy", copy["flops"] = 0, copy["bytes"] = 2e6;  // 2 TB/s, half of the limit
    copy["limit"]["seconds"] = 2e6 / 4e12, copy["floor"]["seconds"] = 2e6 / 3e12;
    const auto plots = rooflines({bench_document({row_json("tiled", "custom", 600, 1e-3), copy})});
    ASSERT_EQ(plots.size(), 1U);
    ASSERT_EQ(plots[0].series.size(), 2U);
    const svg::Mark tiled = plots[0].series[0].marks[0], edge = plots[0].series[1].marks[0];
    EXPECT_DOUBLE_EQ(tiled.x, 100);  // 2 n^3 / (12 n^2)
    EXPECT_DOUBLE_EQ(tiled.y, 432);  // 4.32e8 flops in 1 ms, in 10^9
    EXPECT_LT(edge.x, tiled.x);
    ASSERT_FALSE(plots[0].rules.empty());
    const svg::Mark roof = plots[0].rules[0].points[0];  // the limit, at the edge
    EXPECT_DOUBLE_EQ(roof.x, edge.x);
    EXPECT_DOUBLE_EQ(edge.y / roof.y, 0.5);
    EXPECT_EQ(count_of(svg::drawn(plots[0]), "translate("), 2 + 2 + 1);  // marks, legend, axis label
}

TEST(Plots, ErrorsStandBelowTheirBound) {
    const auto plots = errors({run_document()}, "matmul");
    ASSERT_EQ(plots.size(), 1U);
    ASSERT_EQ(plots[0].rules.size(), 1U);
    EXPECT_EQ(plots[0].rules[0].points[0].y, 1);
    EXPECT_EQ(plots[0].series[0].marks[0].x, 17);
    EXPECT_EQ(plots[0].series[0].marks[0].y, 0.25);
    EXPECT_EQ(plots[0].series[0].marks[1].y, 40.5);
}

TEST(Plots, StagesAddUp) {
    const auto bars = stages({run_document()});
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].bars[0].parts, (std::vector<double>{1, 0.5, 0.5, 2}));
    EXPECT_EQ(bars[0].bars[0].total, "4000 ms");
}

// ------------------------------------------------------------------------------------------------ comparing

TEST(CompareRuns, TimesAndPathsAreNoDifference) {
    Document a = run_document(), b = run_document();
    Json& first = b.json["cases"][0];
    first["seconds"]["compute"] = 9, first["outputs"][0]["file"] = "y.h5", first["device"] = "cuda:0";
    for (const CaseChange& change : compare_runs(a, b, {})) EXPECT_EQ(change.verdict, "same") << change.name;
    first["reference"]["max_abs"] = 2.5e-7;
    first["status"] = "vacuous";
    const auto changes = compare_runs(a, b, {});
    EXPECT_EQ(changes[0].verdict, "differs");
    EXPECT_EQ(changes[0].fields,
              (std::vector<std::string>{"status: \"pass\" and \"vacuous\"", "reference.max_abs: 2e-07 and 2.5e-07"}));
    EXPECT_EQ(changes[1].verdict, "same");
    // What may be near has errors of its own, but the same verdict and inputs.
    first["variant"] = "another";
    EXPECT_EQ(compare_runs(a, b, hdf5::Nearness{0.19, 0})[0].fields,
              (std::vector<std::string>{"status: \"pass\" and \"vacuous\""}));
    first["status"] = "pass";
    EXPECT_EQ(compare_runs(a, b, hdf5::Nearness{0.19, 0})[0].verdict, "same");
}

TEST(CompareRuns, CasesOfOneSideAreNamed) {
    Document a = run_document(), b = run_document();
    a.json["cases"].erase(0);
    b.json["cases"].erase(1);
    const auto changes = compare_runs(a, b, {});
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].name + " " + changes[0].verdict, "b only in A");
    EXPECT_EQ(changes[1].name + " " + changes[1].verdict, "a only in B");
}

/// The verdict on one row whose times are {median, q1, q3} before and after.
SpeedChange change_of(std::array<double, 3> before, std::array<double, 3> after, const char* method = "events") {
    const auto document = [method](const std::array<double, 3>& times) {
        Json row = row_json("tiled", "custom", 64, times[0]);
        row["method"] = method, row["seconds"]["q1"] = times[1], row["seconds"]["q3"] = times[2];
        return bench_document({row});
    };
    return compare_benches(document(before), document(after)).at(0);
}

TEST(CompareBenches, VerdictsMindTheSpread) {
    EXPECT_EQ(change_of({100, 99, 101}, {120, 119, 121}).verdict, "slower");
    EXPECT_TRUE(change_of({100, 99, 101}, {120, 119, 121}).worse);
    EXPECT_EQ(change_of({100, 99, 101}, {80, 79, 81}).verdict, "faster");
    EXPECT_FALSE(change_of({100, 99, 101}, {80, 79, 81}).worse);
    EXPECT_EQ(change_of({100, 99.5, 100.5}, {101, 100.5, 101.5}).verdict, "same");       // 1 to 1.0201
    EXPECT_EQ(change_of({100, 80, 120}, {120, 95, 140}).verdict, "unclear");             // 0.79 to 1.75
    EXPECT_EQ(change_of({100, 80, 120}, {100, 80, 120}).verdict, "unclear");             // too wide to say the same
    EXPECT_EQ(change_of({100, NAN, NAN}, {200, 199, 201}).verdict, "unclear");           // nothing known of the spread
    EXPECT_EQ(change_of({100, 99.9, 100.1}, {101.2, 100.6, 103.3}).verdict, "unclear");  // above 1, by less than 3 %
    EXPECT_EQ(change_of({100, 99.9, 100.1}, {98.8, 96.7, 99.4}).verdict, "unclear");
    EXPECT_EQ(change_of({NAN, NAN, NAN}, {200, 199, 201}).verdict, "not timed");
    EXPECT_EQ(change_of({100, 99, 101}, {108, 107, 109}).verdict, "slower");
    EXPECT_EQ(change_of({100, 99, 101}, {108, 107, 108.5}, "clock").verdict, "same");  // a CPU: to 1.096
    EXPECT_EQ(change_of({100, 97, 103}, {110, 107, 113}, "clock").verdict, "unclear");
    EXPECT_EQ(change_of({100, 99, 101}, {120, 119, 121}, "clock").verdict, "slower");
    EXPECT_EQ(change_of({100, 99, 101}, {80, 79, 81}, "clock").verdict, "faster");
    const SpeedChange slower = change_of({100, 98, 104}, {150, 147, 156});
    EXPECT_DOUBLE_EQ(slower.ratio, 1.5);
    EXPECT_DOUBLE_EQ(slower.low, 147.0 / 104);
    EXPECT_DOUBLE_EQ(slower.high, 156.0 / 98);
}

TEST(CompareBenches, WhatPassedAndDoesNoMoreIsWorse) {
    Json wrong = row_json("tiled", "custom", 64, 1);
    wrong["verdict"] = "mismatch", wrong["seconds"] = nullptr;
    const auto changes =
        compare_benches(bench_document({row_json("tiled", "custom", 64, 1), row_json("naive", "custom", 64, 1)}),
                        bench_document({wrong, row_json("new", "custom", 64, 1)}));
    ASSERT_EQ(changes.size(), 3U);
    EXPECT_EQ(changes[0].verdict, "mismatch");
    EXPECT_TRUE(changes[0].worse);
    EXPECT_EQ(changes[1].verdict, "only in A");
    EXPECT_TRUE(changes[1].worse);
    EXPECT_EQ(changes[2].verdict, "only in B");
    EXPECT_FALSE(changes[2].worse);
}

}  // namespace

}  // namespace gridstride::report
