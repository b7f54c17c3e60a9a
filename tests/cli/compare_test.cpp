// SPDX-License-Identifier: BSD-3-Clause
// compare and report as a user runs them: exit codes, what is said of what differs, the files that are written.
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace gridstride::cli {

namespace {

/// A bench of one row with these times, quartiles 1 % to each side.
std::string bench(double seconds) {
    const nlohmann::ordered_json json = {
        {"schema", 1},
        {"program", {{"version", "0.1.0"}, {"commit", ""}}},
        {"rows",
         {{{"case", "sum[n=8]"},
           {"op", "sum"},
           {"variant", "loop"},
           {"device", "cpu"},
           {"program", "gridstride"},
           {"dtype", "float32"},
           {"shape", {8, 3}},
           {"verdict", "pass"},
           {"seconds", {{"median", seconds}, {"q1", 0.99 * seconds}, {"q3", 1.01 * seconds}}}}}}};
    return json.dump();
}

class CompareVerb : public Command {
  protected:
    void SetUp() override {
        Command::SetUp();
        save<float>("a.h5", "/group/x", {2, 3}, {1, 2, 3, 4, 5, 6});
        save<float>("same.h5", "/group/x", {2, 3}, {1, 2, 3, 4, 5, 6});
        save<float>("near.h5", "/group/x", {2, 3}, {1, 2, 3, 4, 5.25, 6});
        save<float>("other.h5", "/other/y", {2, 3}, {1, 2, 3, 4, 5, 6});
    }
};

TEST_F(CompareVerb, SameFilesExitZero) {
    const Ran ran = run("compare a.h5 same.h5");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(ran.out, "1 same\n");
    EXPECT_TRUE(has(run("compare a.h5 same.h5 -v").out, {"/group/x", "same"}));
}

TEST_F(CompareVerb, DifferentValuesExitOneWithTheirPlaces) {
    const Ran ran = run("compare a.h5 near.h5");
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(has(ran.out, {"/group/x", "differs", "1 of 6", "0.25", "at (1, 1): 5 and 5.25", "1 differs"}));
}

TEST_F(CompareVerb, ToleranceMakesNearTheSame) {
    EXPECT_EQ(run("compare a.h5 near.h5 --rtol 0.05").exit, 0);
    EXPECT_EQ(run("compare a.h5 near.h5 --rtol 0.04").exit, 1);
    EXPECT_EQ(run("compare a.h5 near.h5 --atol 0.25").exit, 0);
    for (const char* wrong : {"--atol -1", "--rtol nan"}) {
        const Ran ran = run(std::string("compare a.h5 near.h5 ") + wrong);
        EXPECT_EQ(ran.exit, 2);
        EXPECT_TRUE(has(ran.err, {wrong, "0 or above"}));
    }
}

TEST_F(CompareVerb, DatasetsOfAnyNamesCanBeCompared) {
    EXPECT_EQ(run("compare a.h5:/group/x other.h5:/other/y").exit, 0);
    EXPECT_EQ(run("compare a.h5:/group/x near.h5:/group/x").exit, 1);
    EXPECT_EQ(run("compare a.h5:/group near.h5:/group --rtol 0.1").exit, 0);
    const Ran kinds = run("compare a.h5:/group/x other.h5");
    EXPECT_EQ(kinds.exit, 2);
    EXPECT_TRUE(has(kinds.err, {"a.h5:/group/x is a dataset", "other.h5:/ is a group", "FILE:/PATH"}));
}

TEST_F(CompareVerb, WhatOnlyOneSideHasIsADifference) {
    const Ran ran = run("compare a.h5 other.h5");
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(has(ran.out, {"/group/x", "only in A", "/other/y", "only in B"}));
}

TEST_F(CompareVerb, MissingAndDamagedFilesAreErrors) {
    EXPECT_EQ(run("compare a.h5 nowhere.h5").exit, 2);
    EXPECT_EQ(run("compare a.h5:/nothing a.h5:/group/x").exit, 2);
    write("text.txt", "no file of HDF5\n");
    EXPECT_EQ(run("compare a.h5 text.txt").exit, 3);
    const Ran ran = run("compare a.h5 .");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {". is a folder", "a.h5 is an HDF5 file"}));
}

TEST_F(CompareVerb, RunsOfOneJobAreTheSame) {
    const std::string job = "jobs:\n  s: {op: sum, inputs: {x: 'a.h5:/group/x'}, params: {axes: 1}, outputs: s.h5}\n";
    write("job.yaml", job);
    for (const char* out : {"one", "two"}) ASSERT_EQ(run(std::string("run job.yaml --output-dir ") + out).exit, 0);
    const Ran same = run("compare one two -v");
    EXPECT_EQ(same.exit, 0) << same.out << same.err;
    EXPECT_TRUE(has(same.out, {"s.h5:/s", "report.json: s"}));
    EXPECT_EQ(run("compare one/report.json two/report.json").exit, 0);

    fs::remove(folder / "two/s.h5");
    const Ran gone = run("compare one two");
    EXPECT_EQ(gone.exit, 1);
    EXPECT_TRUE(has(gone.out, {"s.h5", "only in A"}));
    ASSERT_EQ(run("run job.yaml --output-dir two --set jobs.s.params.axes=0").exit, 0);
    const Ran other = run("compare one/report.json two/report.json");
    EXPECT_EQ(other.exit, 1);
    EXPECT_TRUE(has(other.out, {"params.axes: 1 and 0", "outputs.s.shape: [2] and [3]"}));
}

TEST_F(CompareVerb, BenchesAreComparedBySpeed) {
    write("old.json", bench(1e-3));
    write("fast.json", bench(0.5e-3));
    EXPECT_EQ(run("compare old.json old.json").exit, 0);
    const Ran faster = run("compare old.json fast.json"), slower = run("compare fast.json old.json");
    EXPECT_EQ(faster.exit, 0);
    EXPECT_TRUE(has(faster.out, {"sum[n=8]", "faster", "0.500", "1.00 ms"}));
    EXPECT_EQ(slower.exit, 1);
    EXPECT_TRUE(has(slower.out, {"slower", "2.000", "1 slower"}));
    EXPECT_EQ(run("compare old.json a.h5").exit, 2);
}

TEST_F(CompareVerb, ReportsAreWrittenInEveryFormat) {
    write("job.yaml", "jobs:\n  s: {op: sum, inputs: {x: 'a.h5:/group/x'}}\n");
    ASSERT_EQ(run("run job.yaml").exit, 0);
    EXPECT_TRUE(exists("out/job/report.html"));
    fs::create_directories(folder / "out/bench");
    write("out/bench/bench.json", bench(1e-3));
    for (const auto& [name, begin] : {std::pair{"r.html", "<!DOCTYPE html>"},
                                      {"r.xml", "<?xml"},
                                      {"r.csv", "report,kind,"},
                                      {"r.md", "<!-- made by gridstride"}}) {
        for (int again = 0; again < 2; ++again) {  // ours is replaced
            const Ran ran = run(std::string("report out -o ") + name);
            EXPECT_EQ(ran.exit, 0) << ran.err;
        }
        const std::string text = read_text(folder / name);
        EXPECT_EQ(text.find(begin), 0U) << name;
        EXPECT_TRUE(has(text, {"s", "sum", "loop"})) << name;
    }
    EXPECT_TRUE(has(run("report out/job").out, {"## sum", "| s |"}));
    EXPECT_EQ(run("report out/job out/job/report.json --format csv").out, run("report out/job --format csv").out);
}

TEST_F(CompareVerb, ReportSaysWhatIsWrong) {
    EXPECT_EQ(run("report nowhere").exit, 2);
    EXPECT_EQ(run("report a.h5").exit, 2);
    fs::create_directory(folder / "empty");
    EXPECT_TRUE(has(run("report empty").err, {"empty", "no report.json"}));
    write("old.json", bench(1e-3));
    const Ran format = run("report old.json --format htm");
    EXPECT_EQ(format.exit, 2);
    EXPECT_TRUE(has(format.err, {"did you mean 'html'?"}));
    EXPECT_EQ(run("report old.json -o r.pdf").exit, 2);
    write("mine.html", "<p>not ours</p>");
    const Ran foreign = run("report old.json -o mine.html");
    EXPECT_EQ(foreign.exit, 2);
    EXPECT_TRUE(has(foreign.err, {"mine.html", "was not written by gridstride"}));
    EXPECT_EQ(read_text(folder / "mine.html"), "<p>not ours</p>");
}

}  // namespace

}  // namespace gridstride::cli
