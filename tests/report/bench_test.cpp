// SPDX-License-Identifier: BSD-3-Clause
// Benches: every field where docs/bench.md says it is, the same in CSV; rows of other programs; the vendor's ratio.
#include "io/bench.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "support/folder.hpp"

namespace gridstride::timing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Benches : public InFolder {
  protected:
    std::string save(const std::string& text) const {
        std::ofstream(folder / "rows.json") << text;
        return (folder / "rows.json").string();
    }
    /// What reading such a file says.
    std::string refusal(const std::string& text) const {
        try {
            read_rows(save(text));
        } catch (const Error& fault) {
            EXPECT_EQ(fault.category(), Category::config);
            return fault.what();
        }
        return "nothing";
    }
};

Row full_row() {
    Row row;
    row.name = "ladder[n=5,variant=tiled]", row.job = "ladder", row.op = "matmul", row.variant = "tiled";
    row.role = "custom", row.device = "cuda:0", row.dtype = "float16", row.shape = {3, 5};
    row.params.set("alpha", 2.5);
    row.sweep = {{"n", std::int64_t{5}}};
    row.verdict = "pass", row.reason = "a \"quoted\", word", row.tolerance_used = 0.25, row.method = "graph";
    row.seconds = Seconds{2, 1.5, 2.5, 1, {1, 2, 3}};
    row.with_copies = 7, row.bytes = 48, row.flops = 96;
    row.limit = Limit{0.5, true};
    row.floor = Floor{1, 48, "copy"};
    row.fraction_of_floor = 0.5, row.ratio_to_vendor = 0.75;
    row.launch = report::LaunchLine{{3, 2, 1}, {32, 8, 1}, 4, 0.5, 17};
    row.clocks = Clocks{1980, 3201, 512.5, "sw_power_cap"};
    row.notes = {"one", "two"};
    row.identity = R"([{"file": "in.h5", "dataset": "/a", "bytes": 5, "mtime": 6, "checksum": "0f"}])";
    return row;
}

Row row_of(const std::string& job, const std::string& variant, const std::string& role, const std::string& device,
           std::optional<double> median) {
    Row row;
    row.name = job + "[" + variant + "]", row.job = job, row.variant = variant, row.role = role, row.device = device;
    if (median) row.seconds = Seconds{*median, *median, *median, *median, {*median}};
    return row;
}

Bench full_bench() {
    Bench bench;
    bench.surroundings = {"0.1.0",
                          "abc1234",
                          "host",
                          "2026-01-02T03:04:05+00:00",
                          {"gridstride", "bench"},
                          "cpu: four",
                          {{"HDF5", "1.10.8"}},
                          {{"OMP_NUM_THREADS", "3"}}};
    bench.config = "a.yaml", bench.config_text = "jobs: {}\n", bench.seconds = 1.5, bench.exit = 1;
    bench.rows = {full_row(), Row{}};
    return bench;
}

TEST_F(Benches, ARowHasEveryFieldAtItsPlace) {
    EXPECT_EQ(Json::parse(to_json(full_bench()))["rows"][0], Json::parse(R"({
        "case": "ladder[n=5,variant=tiled]", "job": "ladder", "op": "matmul", "variant": "tiled", "role": "custom",
        "device": "cuda:0", "program": "gridstride", "dtype": "float16", "shape": [3, 5], "params": {"alpha": 2.5},
        "sweep": {"n": 5}, "verdict": "pass", "reason": "a \"quoted\", word", "tolerance_used": 0.25, "method": "graph",
        "seconds": {"median": 2.0, "q1": 1.5, "q3": 2.5, "min": 1.0, "samples": [1.0, 2.0, 3.0]}, "with_copies": 7.0,
        "bytes": 48.0, "flops": 96.0, "limit": {"seconds": 0.5, "by": "flops"},
        "floor": {"seconds": 1.0, "by": "bytes", "mix": "copy", "rate": 48.0}, "fraction_of_floor": 0.5,
        "ratio_to_vendor": 0.75,
        "launch": {"grid": [3, 2, 1], "block": [32, 8, 1], "blocks_per_sm": 4, "occupancy": 0.5, "idle_threads": 17},
        "clocks": {"sm_mhz": 1980, "mem_mhz": 3201, "power_w": 512.5, "throttle": "sw_power_cap"},
        "notes": ["one", "two"],
        "inputs": [{"file": "in.h5", "dataset": "/a", "bytes": 5, "mtime": 6, "checksum": "0f"}]})"));
}

TEST_F(Benches, WhatIsNotKnownIsNull) {
    const Json row = Json::parse(to_json(full_bench()))["rows"][1];
    for (const char* key : {"tolerance_used", "method", "seconds", "with_copies", "bytes", "flops", "limit", "floor",
                            "fraction_of_floor", "ratio_to_vendor", "launch", "clocks"})
        EXPECT_TRUE(row[key].is_null()) << key;
    for (const char* key : {"shape", "notes", "inputs"}) EXPECT_EQ(row[key], Json::array()) << key;
}

TEST_F(Benches, TheBenchSaysWhereItIsFrom) {
    Json bench = Json::parse(to_json(full_bench()));
    bench.erase("rows");
    EXPECT_EQ(bench, Json::parse(R"({
        "schema": 1, "program": {"version": "0.1.0", "commit": "abc1234"}, "command": ["gridstride", "bench"],
        "config": "a.yaml", "config_text": "jobs: {}\n", "started": "2026-01-02T03:04:05+00:00", "seconds": 1.5,
        "exit": 1, "host": "host", "device": "cpu: four", "libraries": {"HDF5": "1.10.8"},
        "environment": {"OMP_NUM_THREADS": "3"}})"));
}

TEST_F(Benches, CsvHasTheSameNumbersQuotedWhereTheyMustBe) {
    const std::string text = to_csv(full_bench().rows);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "case,job,op,variant,role,device,program,dtype,shape,params,sweep,verdict,reason,tolerance_used,method,"
              "seconds_median,seconds_q1,seconds_q3,seconds_min,with_copies,bytes,flops,limit_seconds,limit_by,"
              "floor_seconds,floor_by,floor_mix,floor_rate,fraction_of_floor,ratio_to_vendor,launch_grid,launch_block,"
              "launch_occupancy,clocks_sm_mhz,clocks_mem_mhz,clocks_power_w,clocks_throttle,notes");
    const std::string row =
        text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n') - 1);
    EXPECT_EQ(row, R"("ladder[n=5,variant=tiled]",ladder,matmul,tiled,custom,cuda:0,gridstride,float16,"[3,5]",)"
                   R"("{""alpha"":2.5}","{""n"":5}",pass,"a ""quoted"", word",0.25,graph,2.0,1.5,2.5,1.0,7.0,48.0,)"
                   R"(96.0,0.5,flops,1.0,bytes,copy,48.0,0.5,0.75,"[3,2,1]","[32,8,1]",0.5,1980,3201,512.5,)"
                   R"(sw_power_cap,"[""one"",""two""]")");
    EXPECT_EQ(text.substr(text.find('\n', text.find("sw_power_cap"))),
              "\n,,,,,,gridstride,,[],{},{},,,,,,,,,,,,,,,,,,,,,,,,,,,[]\n");
}

TEST_F(Benches, DocumentNamesEveryField) {
    const std::string text = content(fs::path(GRIDSTRIDE_SOURCE) / "docs/bench.md");
    std::set<std::string> documented;
    const std::regex word(R"(`(\w+)`)");
    for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match)
        documented.insert((*match)[1]);
    const std::function<void(const Json&)> check = [&](const Json& json) {
        for (const auto& [key, value] : json.items()) {
            if (json.is_object()) {
                EXPECT_TRUE(documented.count(key) > 0) << key;
            }
            const bool open = key == "params" || key == "sweep" || key == "libraries" || key == "environment";
            if (!open && key != "launch" && value.is_structured()) check(value);
        }
    };
    check(Json::parse(to_json(full_bench())));
}

TEST_F(Benches, AreWholeFilesThatTheNextBenchReplacesAndNoOther) {
    const std::string out = (folder / "new").string();
    write(full_bench(), out);
    write(full_bench(), out);
    EXPECT_EQ(Json::parse(content(folder / "new/bench.json")), Json::parse(to_json(full_bench())));
    EXPECT_EQ(content(folder / "new/bench.csv"), to_csv(full_bench().rows));
    EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 3);
    check_files(out);
    std::ofstream(folder / "new/bench.csv") << "case,mine\n";
    EXPECT_THROW(check_files(out), Error);
    EXPECT_THROW(write(full_bench(), out), Error);
    EXPECT_EQ(content(folder / "new/bench.csv"), "case,mine\n");
}

TEST_F(Benches, RowsComeBackAsTheyWereWritten) {
    write(full_bench(), folder.string());
    std::string text = content(folder / "bench.json");
    Json document = Json::parse(text);
    document["rows"].erase(1);  // has no case
    const std::vector<Row> rows = read_rows(save(document.dump()));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].name, "ladder[n=5,variant=tiled]");
    EXPECT_EQ(rows[0].program, "gridstride");
    EXPECT_EQ(rows[0].seconds->q3, 2.5);
    EXPECT_EQ(rows[0].seconds->samples, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(rows[0].bytes, 48);
    EXPECT_EQ(rows[0].shape, (Shape{3, 5}));
    EXPECT_EQ(rows[0].notes, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Benches, OtherProgramsRowsMayBeShort) {
    const std::vector<Row> rows = read_rows(save(R"({"program": "numba 0.68", "rows": [
        {"case": "add", "seconds": 0.5}, {"case": "dft", "program": "torch", "seconds": null, "verdict": "mismatch"}]})"));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].program, "numba 0.68");
    EXPECT_EQ(rows[0].job, "add");
    EXPECT_EQ(rows[0].verdict, "unvalidated");
    EXPECT_EQ(rows[0].seconds->median, 0.5);
    EXPECT_EQ(rows[0].seconds->q1, 0.5);
    EXPECT_EQ(rows[1].program, "torch");
    EXPECT_EQ(rows[1].verdict, "mismatch");
    EXPECT_FALSE(rows[1].seconds);
}

TEST_F(Benches, RowsThatAreNoneAreRefusedByWhatIsWrong) {
    const auto says = [&](const std::string& text, const std::string& words) {
        const std::string why = refusal(text);
        EXPECT_NE(why.find(words), std::string::npos) << why;
        EXPECT_NE(why.find("rows.json: "), std::string::npos) << why;
    };
    says("{\"rows\": [", "is no JSON (byte ");
    says("[]", "is no mapping with a list `rows`");
    says(R"({"rows": 3})", "is no mapping with a list `rows`");
    says(R"({"program": "p", "rows": [{"case": "a"}, {"seconds": 1}]})", "row 2 has no `case`");
    says(R"({"rows": [{"case": "a", "seconds": 1}]})", "row 1 has no `program`");
    says(R"({"program": "p", "rows": [{"case": "a", "seconds": "fast"}]})", "`seconds` is no number above 0");
    says(R"({"program": "p", "rows": [{"case": "a", "seconds": 0}]})", "`seconds` is no number above 0");
    says(R"({"program": "p", "rows": [{"case": "a", "shape": 3}]})", "`shape` is no list of integers");
    says(R"({"program": "p", "rows": [{"case": 1}]})", "`case` is no text");
    says(R"({"program": "p", "rows": [[]]})", "row 1 is no mapping");
    EXPECT_THROW(read_rows((folder / "nowhere.json").string()), Error);
}

TEST_F(Benches, RatiosAreToTheVendorsBestOfTheSameJobValuesAndDevice) {
    std::vector<Row> rows{row_of("m", "loop", "custom", "cpu", 8),        row_of("m", "openblas", "vendor", "cpu", 2),
                          row_of("m", "tiled", "custom", "cuda:0", 6),    row_of("m", "cublas", "vendor", "cuda:0", 4),
                          row_of("m", "cublaslt", "vendor", "cuda:0", 3), row_of("s", "loop", "custom", "cpu", 5),
                          row_of("m", "naive", "custom", "cuda:0", {}),   row_of("m", "loop", "custom", "cpu", 10),
                          row_of("m", "numba", "", "cuda:0", 12),         row_of("other", "x", "", "cuda:0", 1)};
    rows[7].sweep = {{"n", std::int64_t{5}}};  // the vendor has no row with it
    rows[8].program = rows[9].program = "numba";
    rows[8].name = "m";
    relate_to_vendor(rows);
    EXPECT_EQ(rows[0].ratio_to_vendor, 0.25);
    EXPECT_EQ(rows[1].ratio_to_vendor, 1);
    EXPECT_EQ(rows[2].ratio_to_vendor, 0.5);
    EXPECT_EQ(rows[3].ratio_to_vendor, 0.75);
    EXPECT_EQ(rows[4].ratio_to_vendor, 1);
    EXPECT_FALSE(rows[5].ratio_to_vendor);
    EXPECT_FALSE(rows[6].ratio_to_vendor);
    EXPECT_FALSE(rows[7].ratio_to_vendor);
    EXPECT_EQ(rows[8].ratio_to_vendor, 0.25);
    EXPECT_FALSE(rows[9].ratio_to_vendor);
}

}  // namespace

}  // namespace gridstride::timing
