// SPDX-License-Identifier: BSD-3-Clause
// Reports: every field where docs/report.md says it is, numbers that JSON has no word for, files whole or not there.
#include "io/report.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "support/folder.hpp"

namespace gridstride::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

using Report = InFolder;

Case full_case() {
    Case one;
    one.name = "layer1[tiled]", one.job = "layer1", one.op = "matmul", one.device = "cuda:0", one.variant = "tiled";
    one.sweep = {{"n", std::int64_t{64}}, {"dtype", std::string("float16")}}, one.expect = "error";
    one.status = Status::mismatch, one.reason = "3 of 12 places are wrong";
    one.params.set("alpha", Values{1.0, -2.5});
    one.params.set("transpose_a", std::string("adjoint"));
    one.params.set("axes", Values{std::int64_t{0}, std::int64_t{-1}});
    one.params.set("keepdims", false);
    one.params.set("n", Value{});
    one.launch = LaunchLine{{3, 2, 1}, {32, 8, 1}, 4, 0.5, 17};
    one.inputs = {{"a", "in.h5:/a", {DType::float16, {3, 5}}, -infinity, 2.5, 4, 1}};
    one.outputs = {{"c", {DType::complex64, {1, 2}}, "out.h5", "/c", 1, {{1, 2, true}, {nan, -infinity, true}}}};
    ReferenceLine reference{11, 12, 3, 0.25, infinity, 1e-3, 40.5, {"4 u_acc g(n) sum|terms|", 4, 0.5, 0.25, 7, 3}, {}};
    reference.worst = WorstLine{{0, 1}, {nan, 1, true}, {0.5, 1, true}};
    one.reference = reference;
    one.vendor = VendorLine{"cublas", "pass", 0.125, 1e-7, 1e-8};
    one.properties = {{"Freivalds", false, 3, 2, "row 7"}};
    one.repeat = RepeatLine{3, 8};
    one.mismatch = MismatchLine{5, {{1, 4, 3}}, {{-2, 7}, {1, 1}}, 2, "gridstride run a.yaml --only m", "wrong.h5"};
    one.notes = {"1 NaN in the output"};
    one.loose_tolerance = true;
    one.seconds = {1, 2, 3, 4, 5, 6, 7};
    return one;
}

Run full_run() {
    Run run;
    run.surroundings = {"0.1.0",
                        "abc1234",
                        "host",
                        "2026-01-02T03:04:05+00:00",
                        {"gridstride", "run", "a.yaml"},
                        "cpu: four cores",
                        {{"hdf5", "1.10.8"}},
                        {{"OMP_NUM_THREADS", "3"}}};
    run.config = "a.yaml", run.config_text = "jobs: {}\n", run.seconds = 1.5, run.exit = 1;
    run.cases = {full_case(), Case{}};
    return run;
}

TEST_F(Report, CaseHasEveryField) {
    const Json expected = Json::parse(R"({
        "name": "layer1[tiled]", "job": "layer1", "op": "matmul", "device": "cuda:0", "variant": "tiled",
        "sweep": {"n": 64, "dtype": "float16"}, "expect": "error",
        "status": "mismatch", "reason": "3 of 12 places are wrong",
        "params": {"alpha": [1.0, -2.5], "transpose_a": "adjoint", "axes": [0, -1], "keepdims": false, "n": null},
        "launch": {"grid": [3, 2, 1], "block": [32, 8, 1], "blocks_per_sm": 4, "occupancy": 0.5, "idle_threads": 17},
        "inputs": [{"name": "a", "source": "in.h5:/a", "dtype": "float16", "shape": [3, 5], "min": "-inf", "max": 2.5,
                    "nan": 4, "replaced": 1}],
        "outputs": [{"name": "c", "dtype": "complex64", "shape": [1, 2], "file": "out.h5", "dataset": "/c", "nan": 1,
                     "values": [[1.0, 2.0], ["nan", "-inf"]]}],
        "reference": {"checked": 11, "of": 12, "failed": 3, "max_abs": 0.25, "max_ulp": "inf", "rel_l2": 1e-3,
                      "tolerance_used": 40.5,
                      "bound": {"formula": "4 u_acc g(n) sum|terms|", "c": 4.0, "u_out": 0.5, "u_acc": 0.25, "u_in": 0.0,
                                "n": 3, "g": 7.0, "g_one_signed": 0.0},
                      "worst": {"index": [0, 1], "got": ["nan", 1.0], "expected": [0.5, 1.0]}},
        "vendor": {"name": "cublas", "status": "pass", "tolerance_used": 0.125, "max_abs": 1e-7, "rel_l2": 1e-8,
                   "error_ratio": 2500000.0},
        "properties": [{"name": "Freivalds", "status": "mismatch", "value": 3.0, "bound": 2.0, "where": "row 7"}],
        "repeat": {"runs": 3, "equal": false, "different_bytes": 8},
        "mismatch": {"ulp": 5.0, "axes": [{"first": 1, "last": 4, "distinct": 3}],
                     "decades": [{"power": -2, "count": 7}, {"power": 1, "count": 1}], "not_finite": 2,
                     "command": "gridstride run a.yaml --only m", "dump": "wrong.h5"},
        "loose_tolerance": true, "notes": ["1 NaN in the output"],
        "seconds": {"read": 1.0, "copy_in": 2.0, "compute": 3.0, "copy_out": 4.0, "with_copies": 5.0, "validate": 6.0,
                    "write": 7.0}})");
    EXPECT_EQ(Json::parse(to_json(full_case())), expected);
}

TEST_F(Report, WhatACaseHasNotIsNullOrEmpty) {
    const Json one = Json::parse(to_json(Case{}));
    EXPECT_EQ(one["status"], "unvalidated");
    for (const char* key : {"launch", "reference", "vendor", "repeat", "mismatch"})
        EXPECT_TRUE(one[key].is_null()) << key;
    for (const char* key : {"inputs", "outputs", "notes", "properties"}) EXPECT_EQ(one[key], Json::array()) << key;
    EXPECT_EQ(one["params"], Json::object());

    Case unsaved;
    unsaved.outputs = {{"s", {DType::float32, {}}, "", "", 0, {{2, 0, false}}}};
    EXPECT_TRUE(Json::parse(to_json(unsaved))["outputs"][0]["file"].is_null());
}

TEST_F(Report, IntegersKeepAllTheirDigits) {
    Case one;
    one.outputs = {{"s", {DType::int64, {}}, "", "", 0, {{9'007'199'254'740'993.0L, 0, false}}}};  // 2^53 + 1
    EXPECT_NE(to_json(one).find("\"values\":[9007199254740993]"), std::string::npos);
}

TEST_F(Report, RunHasEveryFieldOnOneLine) {
    const std::string line = to_json(full_run());
    EXPECT_EQ(line.find('\n'), std::string::npos);
    Json run = Json::parse(line);
    EXPECT_EQ(run["cases"].size(), 2U);
    run.erase("cases");
    EXPECT_EQ(run, Json::parse(R"({
        "schema": 1, "program": {"version": "0.1.0", "commit": "abc1234"}, "command": ["gridstride", "run", "a.yaml"],
        "config": "a.yaml", "config_text": "jobs: {}\n", "started": "2026-01-02T03:04:05+00:00", "seconds": 1.5,
        "exit": 1, "host": "host", "device": "cpu: four cores", "libraries": {"hdf5": "1.10.8"},
        "environment": {"OMP_NUM_THREADS": "3"}})"));
}

TEST_F(Report, DocumentNamesEveryFieldAndNoOther) {
    std::set<std::string> fields, documented;
    const std::function<void(const Json&)> collect = [&](const Json& json) {
        for (const auto& [key, value] : json.items()) {
            if (json.is_object()) fields.insert(key);
            if (key != "params" && key != "libraries" && key != "environment" && value.is_structured()) collect(value);
        }
    };
    collect(Json::parse(to_json(full_run())));
    const std::string text = content(fs::path(GRIDSTRIDE_SOURCE) / "docs/report.md");
    const std::regex row(R"(\n\| `(\w+)`)");
    for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match)
        documented.insert((*match)[1]);
    EXPECT_EQ(documented, fields);
}

TEST_F(Report, EveryStatusHasItsName) {
    std::string all;
    for (const Status status : {Status::pass, Status::mismatch, Status::error, Status::skipped, Status::vacuous,
                                Status::unvalidated, Status::timeout, Status::known_issue, Status::unexpected_pass})
        all += std::string(name(status)) + " ";
    EXPECT_EQ(all, "pass mismatch error skipped vacuous unvalidated timeout known_issue unexpected_pass ");
}

TEST_F(Report, NamesThatAreNotUtf8DoNotStopIt) {
    Case one;
    one.reason = "no file \xff.h5";
    EXPECT_EQ(Json::parse(to_json(one))["reason"], "no file \xef\xbf\xbd.h5");
}

TEST_F(Report, WritesAWholeFileAndLeavesNothingElse) {
    write(full_run(), (folder / "new" / "deep").string());
    write(full_run(), (folder / "new" / "deep").string());  // replaces
    EXPECT_EQ(Json::parse(content(folder / "new" / "deep" / "report.json")), Json::parse(to_json(full_run())));
    EXPECT_EQ(content(folder / "new" / "deep" / "report.html").find("<!DOCTYPE html>"), 0U);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "new" / "deep"), {}), 2);
}

TEST_F(Report, SaysWhereItCannotWrite) {
    std::ofstream(folder / "file") << "in the way";
    for (const auto& attempt :
         std::vector<std::function<void()>>{[&] { write(full_run(), (folder / "file" / "below").string()); },
                                            [&] { Journal((folder / "file" / "below").string()); }}) {
        try {
            attempt();
            ADD_FAILURE() << "written";
        } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::input);
            EXPECT_NE(std::string(error.what()).find((folder / "file" / "below").string()), std::string::npos);
        }
    }
    fs::create_directory(folder / "report.json");  // cannot be renamed over
    EXPECT_THROW(write(full_run(), folder.string()), Error);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);  // no temporary file stays
}

TEST_F(Report, JournalHasEachCaseAsSoonAsItEnds) {
    std::ofstream(folder / "report.jsonl") << to_json(full_case()) << "\n";  // of the run before
    write(full_run(), folder.string());
    Journal journal(folder.string());
    EXPECT_EQ(content(folder / "report.jsonl"), "");
    EXPECT_FALSE(fs::exists(folder / "report.json"));  // it is there when a run has ended
    journal.append(full_case());
    EXPECT_EQ(content(folder / "report.jsonl"), to_json(full_case()) + "\n");
    journal.append(Case{});
    EXPECT_EQ(content(folder / "report.jsonl"), to_json(full_case()) + "\n" + to_json(Case{}) + "\n");
}

TEST_F(Report, ReportsOfRunsBeforeMayBeReplaced) {
    check_reports((folder / "new").string());  // nothing is there
    for (int i = 0; i < 2; ++i) {
        check_reports(folder.string());
        Journal journal(folder.string());
        check_reports(folder.string());  // no case has ended yet
        Case one = full_case();
        one.name = std::string(3000, 'n');
        journal.append(one);
        write(full_run(), folder.string());
    }
    std::ofstream(folder / "report.json") << to_json(full_run());  // as `run --json` prints it
    check_reports(folder.string());
}

TEST_F(Report, WhatIsNoReportOfOursIsNeverReplaced) {
    const std::string foreign[] = {
        "", "of someone else\n", "{}\n", "{\"schema\": 1}", "[1, 2]\n", "{\"name\": \"x\", \"version\": 2}\n"};
    for (const char* name : {"report.json", "report.jsonl", "report.html"}) {
        const fs::path path = folder / name;
        const bool journal = path.extension() == ".jsonl";
        const auto refused = [&](const std::string& why) {
            SCOPED_TRACE(std::string(name) + " " + why);
            try {
                check_reports(folder.string());
                ADD_FAILURE() << "not refused";
            } catch (const Error& error) {
                EXPECT_EQ(error.category(), Category::config);
                for (const std::string& word : {path.string(), why, std::string("--output-dir")})
                    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
            if (journal) {
                EXPECT_THROW(Journal(folder.string()), Error);
            } else {
                EXPECT_THROW(write(full_run(), folder.string()), Error);
            }
        };
        for (const std::string& text : foreign) {
            if (journal && text.empty()) continue;
            std::ofstream(path) << text;
            refused("was not written by gridstride");
            EXPECT_EQ(content(path), text);
            fs::remove(path);
        }
        std::ofstream(folder / "elsewhere") << (journal ? to_json(full_case()) : to_json(full_run()));
        const std::string before = content(folder / "elsewhere");
        fs::create_symlink(folder / "elsewhere", path);
        refused("symbolic link");
        EXPECT_EQ(content(folder / "elsewhere"), before);
        fs::remove(path);
        fs::create_symlink(folder / "nowhere", path);
        refused("symbolic link");
        EXPECT_FALSE(fs::exists(folder / "nowhere"));
        fs::remove(path);
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
        refused("not a regular file");
        fs::remove(path);
        fs::create_directory(path);
        refused("is a folder");
        fs::remove(path);
    }
}

TEST_F(Report, ATemporaryFileThatIsThereIsNotTouched) {
    const std::string there = "report.json." + std::to_string(getpid()) + "-0.tmp";
    std::ofstream(folder / "elsewhere") << "kept";
    fs::create_symlink(folder / "elsewhere", folder / there);
    write(full_run(), folder.string());
    EXPECT_EQ(content(folder / "elsewhere"), "kept");
    EXPECT_TRUE(fs::is_symlink(folder / there));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 4);
}

}  // namespace

}  // namespace gridstride::report
