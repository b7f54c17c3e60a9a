// SPDX-License-Identifier: BSD-3-Clause
// gridstride bench: what it times, what it does not, its files and exit codes. No time is judged here.
#include <nlohmann/json.hpp>

#include "cli/support.hpp"

namespace gridstride::cli {

namespace {

class Benching : public Command {
  protected:
    Ran bench(const std::string& yaml, const std::string& options = "") const {
        write("job.yaml", yaml);
        return run("bench job.yaml --seconds 0.02 " + options);
    }
    nlohmann::json document() const { return nlohmann::json::parse(read_text(folder / "out/job/bench.json")); }
    /// The row of that case.
    nlohmann::json row(const std::string& name) const {
        const nlohmann::json whole = document();
        for (const auto& one : whole["rows"])
            if (one["case"] == name) return one;
        ADD_FAILURE() << "no row " << name;
        return {};
    }
};

TEST_F(Benching, AllVariantsAreTimedBesideTheVendorsOnceTheyPass) {
    const Ran ran = bench(
        "jobs: {m: {op: matmul, inputs: {a: {generate: normal, shape: [17, 51]}, b: {generate: normal, shape: [51, "
        "19]}}, outputs: m.h5}}");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"m[loop]", "m[openblas]", "pass", "of floor", "x vendor", "out/job/bench.json"}));
    EXPECT_FALSE(exists("out/job/m.h5"));
    EXPECT_FALSE(exists("out/job/report.json"));
    for (const std::string name : {"m[loop]", "m[openblas]"}) {
        const auto one = row(name);
        EXPECT_EQ(one["verdict"], "pass");
        EXPECT_EQ(one["method"], "clock");
        EXPECT_EQ(one["program"], "gridstride");
        EXPECT_EQ(one["role"], name == "m[loop]" ? "custom" : "vendor");
        EXPECT_EQ(one["bytes"], 4 * (17 * 51 + 51 * 19 + 17 * 19));
        EXPECT_EQ(one["flops"], 2 * 17 * 51 * 19);
        EXPECT_TRUE(one["limit"].is_null());
        const auto& seconds = one["seconds"];
        EXPECT_GT(seconds["min"], 0);
        EXPECT_LE(seconds["min"], seconds["q1"]);
        EXPECT_LE(seconds["q1"], seconds["median"]);
        EXPECT_LE(seconds["median"], seconds["q3"]);
        EXPECT_GE(seconds["samples"].size(), 1U);
        EXPECT_EQ(one["with_copies"], seconds["median"]);  // there is nothing to copy to
        EXPECT_EQ(one["floor"]["mix"], "read");            // 85 % of the bytes are read
        const double floor = one["bytes"].get<double>() / one["floor"]["rate"].get<double>();
        EXPECT_DOUBLE_EQ(one["floor"]["seconds"], floor);
        EXPECT_DOUBLE_EQ(one["fraction_of_floor"], floor / seconds["median"].get<double>());
        EXPECT_DOUBLE_EQ(one["ratio_to_vendor"],
                         row("m[openblas]")["seconds"]["median"].get<double>() / seconds["median"].get<double>());
    }
    const std::string csv = read_text(folder / "out/job/bench.csv");
    EXPECT_TRUE(has(csv, {"case,job,op,variant", "m[loop],m,matmul,loop,custom,cpu,gridstride,float32"}));
    const auto bench = document();
    EXPECT_EQ(bench["exit"], 0);
    EXPECT_EQ(bench["command"][1], "bench");
    EXPECT_TRUE(bench["libraries"].contains("OpenBLAS"));
    EXPECT_EQ(bench["environment"]["CUDA_VISIBLE_DEVICES"], "");
}

TEST_F(Benching, TheVendorsIsBesideTheVariantsThatAreNamed) {
    const Ran ran = bench(
        "jobs: {m: {op: matmul, variant: loop, inputs: {a: {generate: linear, shape: [3, 2]}, b: {generate: normal, "
        "shape: [2, 5]}}}}");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(document()["rows"].size(), 2U);
    EXPECT_EQ(row("m[openblas]")["role"], "vendor");
}

TEST_F(Benching, AWrongAnswerHasNoSpeedAndExitsOne) {
    const Ran ran = bench(
        "jobs: {m: {op: matmul, variant: loop, tolerance: bitwise, inputs: {a: {generate: normal, shape: [17, 501]}, "
        "b: "
        "{generate: normal, shape: [501, 19]}}}}");
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(has(ran.out, {"m[loop]: mismatch: ", "got", "expected"}));
    const auto one = row("m[loop]");
    EXPECT_EQ(one["verdict"], "mismatch");
    for (const char* key :
         {"seconds", "with_copies", "bytes", "floor", "fraction_of_floor", "ratio_to_vendor", "method"})
        EXPECT_TRUE(one[key].is_null()) << key;
}

TEST_F(Benching, WhatIsNotJudgedHasNoSpeed) {
    const Ran ran = bench("jobs: {a: {op: add, variant: loop, inputs: {x: [1, 2, 3], y: 4}}}", "--validate none");
    EXPECT_EQ(ran.exit, 5);
    EXPECT_EQ(row("a")["verdict"], "unvalidated");
    EXPECT_TRUE(row("a")["seconds"].is_null());
}

TEST_F(Benching, AJobThatOthersReadKeepsItsOneVariant) {
    const Ran ran = bench(
        "jobs:\n  first: {op: add, inputs: {x: [1, 2, 3], y: 4}}\n  second: {op: sum, device: cpu, inputs: {x: "
        "$first:/z}}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(row("first")["variant"], "loop");
    EXPECT_EQ(row("second[loop]")["verdict"], "pass");
}

TEST_F(Benching, OneFailingCaseDoesNotEndTheOthersAndItsFilesIdentityIsInTheRows) {
    save<float>("in.h5", "/x", {2, 3}, {1, 2, 3, 4, 5, 6});
    const Ran ran = bench(
        "jobs:\n  gone: {op: sum, device: cpu, inputs: {x: \"nowhere.h5:/x\"}}\n  there: {op: sum, device: cpu, "
        "inputs: "
        "{x: \"in.h5:/x\"}}\n");
    EXPECT_EQ(ran.exit, 3);
    EXPECT_EQ(row("gone")["verdict"], "error");
    const auto one = row("there[loop]");
    EXPECT_EQ(one["verdict"], "pass");
    EXPECT_EQ(one["inputs"][0]["dataset"], "/x");
    EXPECT_EQ(one["inputs"][0]["bytes"], fs::file_size(folder / "in.h5"));
    EXPECT_EQ(one["shape"], (std::vector<int>{2, 3}));
}

TEST_F(Benching, RowsOfOtherProgramsStandBesideOursMarked) {
    write("other.json", R"({"program": "numpy 1.24", "rows": [{"case": "a", "device": "cpu", "seconds": 0.25}]})");
    const std::string jobs =
        "jobs: {a: {op: add, device: cpu, inputs: {x: [1, 2, 3], y: 4}}, b: {op: sum, device: cpu, "
        "inputs: {x: [1, 2]}}}";
    const Ran ran = bench(jobs, "--rows other.json");
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_TRUE(has(ran.out, {"program", "numpy 1.24", "250 ms", "unvalidated"}));
    const auto rows = document()["rows"];
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0]["case"], "a[loop]");
    EXPECT_EQ(rows[1]["program"], "numpy 1.24");
    EXPECT_EQ(rows[1]["seconds"]["median"], 0.25);
    EXPECT_EQ(rows[2]["case"], "b[loop]");
    EXPECT_TRUE(has(read_text(folder / "out/job/bench.csv"), {"a,a,,,,cpu,numpy 1.24,"}));

    write("others.json",
          R"({"program": "numpy", "rows": [{"case": "c", "seconds": 1}, {"case": "b[loop]", "seconds": 1}]})");
    const Ran strange = bench(jobs, "--rows others.json");
    EXPECT_EQ(strange.exit, 0);
    EXPECT_TRUE(has(strange.err, {"warning:", "others.json has rows of no job or case here: c\n"})) << strange.err;
    EXPECT_EQ(document()["rows"].size(), 4U);

    write("second.yaml", "jobs: {c: {op: add, device: cpu, inputs: {x: 1, y: 4}}}");
    EXPECT_EQ(bench(jobs, "second.yaml --rows others.json").err, "");  // each row is of one of the files

    write("bad.json", R"({"rows": [{"case": "a", "seconds": 1}]})");
    const Ran refused = bench(jobs, "--rows bad.json");
    EXPECT_EQ(refused.exit, 2);
    EXPECT_TRUE(has(refused.err, {"bad.json: row 1 has no `program`"}));
}

TEST_F(Benching, PrintsItsRowsAsJson) {
    const Ran ran = bench("jobs: {a: {op: add, device: cpu, inputs: {x: [1, 2, 3], y: 4}}}", "--json");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out), document());
}

TEST_F(Benching, AForeignFileIsNeverReplaced) {
    fs::create_directories(folder / "out/job");
    write("out/job/bench.csv", "somebody's numbers");
    const Ran ran = bench("jobs: {a: {op: add, inputs: {x: 1, y: 2}}}");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"bench.csv", "was not written by gridstride"}));
    EXPECT_EQ(read_text(folder / "out/job/bench.csv"), "somebody's numbers");
}

TEST_F(Benching, EveryShippedBenchPlansAndSaysWhatItShows) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(std::string(GRIDSTRIDE_SOURCE) + "/configs/bench")) {
        ++files;
        EXPECT_EQ(read_text(entry.path()).rfind("# Shows: ", 0), 0U) << entry.path();
        const Ran ran = run("check " + entry.path().string() + " --output-dir out");
        EXPECT_NE(ran.exit, 2) << entry.path() << ran.out << ran.err;  // 4: this machine's memory
    }
    EXPECT_EQ(files, 8);
}

}  // namespace

}  // namespace gridstride::cli
