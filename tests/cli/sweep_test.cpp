// SPDX-License-Identifier: BSD-3-Clause
// Sweeps, answers of one's own, expected outcomes and time limits, as a user runs them.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/support.hpp"

namespace gridstride::cli {

namespace {

class Sweeping : public Command {
  protected:
    std::map<std::string, nlohmann::json> cases() const {
        std::map<std::string, nlohmann::json> all;
        const auto report = nlohmann::json::parse(read_text(folder / "out/job/report.json"));
        for (const auto& one : report["cases"]) all[one["name"].get<std::string>()] = one;
        return all;
    }
};

TEST_F(Sweeping, EachFileIsACaseAndItsReaderFollowsIt) {
    fs::create_directories(folder / "raw");
    save<float>("raw/b.h5", "/x", {3}, {1, 2, 4});
    save<float>("raw/a.h5", "/x", {2}, {10, 0.5});
    const Ran ran = run_job(
        "jobs:\n"
        "  twice: {op: multiply, inputs: {x: $total:/s, y: 2}, outputs: \"twice/$stem.h5\"}\n"
        "  total: {op: sum, sweep: {file: glob(raw/*.h5)}, inputs: {x: \"$file:/x\"}, outputs: \"$job-$stem.h5\"}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_TRUE(has(ran.out, {"total[file=raw/a.h5]", "twice[file=raw/b.h5]"}));
    EXPECT_EQ(values<float>("out/job/total-a.h5", "/s"), std::vector<float>{10.5});
    EXPECT_EQ(values<float>("out/job/total-b.h5", "/s"), std::vector<float>{7});
    EXPECT_EQ(values<float>("out/job/twice/a.h5", "/z"), std::vector<float>{21});
    EXPECT_EQ(values<float>("out/job/twice/b.h5", "/z"), std::vector<float>{14});
    const auto one = cases().at("twice[file=raw/b.h5]");
    EXPECT_EQ(one["job"], "twice");
    EXPECT_EQ(one["sweep"], (nlohmann::json{{"file", "raw/b.h5"}}));
    EXPECT_EQ(run("inspect out/job/twice/b.h5").exit, 0);
}

TEST_F(Sweeping, CasesOfOneNumberAreComparedAndMadeOfTheSameData) {
    const std::string job =
        "jobs:\n"
        "  m:\n"
        "    op: matmul\n"
        "    sweep: {n: [33, 65], variant: [loop, openblas]}\n"
        "    inputs: {a: {generate: normal, shape: [$n, 17]}, b: {generate: normal, shape: [17, 5]}}\n"
        "    outputs: m$n-$variant.h5\n"
        "  k: {op: copy, variant: [loop], sweep: {n: [2, 3]}, inputs: {x: {generate: normal, shape: $n}}, outputs: "
        "k$n.h5}\n";
    const Ran ran = run_job(job);
    ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
    const auto all = cases();
    ASSERT_EQ(all.size(), 6U);
    EXPECT_EQ(all.at("m[n=65,variant=openblas]")["sweep"], (nlohmann::json{{"n", 65}, {"variant", "openblas"}}));
    EXPECT_EQ(all.at("m[n=65,variant=openblas]")["variant"], "openblas");
    EXPECT_EQ(all.count("k[n=3,variant=loop]"), 1U);
    const auto two = values<float>("out/job/k2.h5", "/y"), three = values<float>("out/job/k3.h5", "/y");
    EXPECT_EQ(two, (std::vector<float>{three[0], three[1]}));
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);)  // each number has a first of its own
        if (line.starts_with("m[") && line.find("variant=loop] ") != std::string::npos) {
            EXPECT_TRUE(line.ends_with(" 1.0")) << line;
        }

    const Ran only = run("run job.yaml --only 'm[n=65,variant=loop]'");
    EXPECT_EQ(only.exit, 0) << only.err;
    EXPECT_EQ(cases().size(), 1U);
    EXPECT_EQ(run("run job.yaml --only m").exit, 0);
    EXPECT_EQ(cases().size(), 4U);

    const Ran check = run("check job.yaml --explain");
    EXPECT_EQ(check.exit, 0);
    EXPECT_TRUE(has(check.out, {"m[n=33,variant=loop]", "sweep.n", "33", "job.yaml:4"}));
    const auto plan = nlohmann::json::parse(run("check job.yaml --json").out);
    EXPECT_EQ(plan["cases"][2]["sweep"]["n"], "65");
}

TEST_F(Sweeping, CasesThatWouldWriteOneFileAreToldToNameIt) {
    const Ran ran =
        run_job("jobs: {a: {op: sum, sweep: {dtype: [float32, float64]}, inputs: {x: [1.5, 2]}, outputs: s.h5}}");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(
        has(ran.err, {"several cases would write s.h5", "one that is swept", "(in a[dtype=float64])", "1 error;"}));
}

TEST_F(Sweeping, ShapesThatDoNotFitInSomeCasesAreToldOnce) {
    const Ran ran =
        run_job("jobs: {a: {op: add, sweep: {n: [2, 3, 4]}, inputs: {x: {generate: ones, shape: $n}, y: [1, 2, 3]}}}");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"(in a[n=2])", "(in a[n=4])", "2 errors;"}));
}

TEST_F(Sweeping, ExpectedOutcomeIsAKnownIssueAndAPassInItsPlaceExitsOne) {
    const std::string product =
        "op: matmul, tolerance: bitwise, inputs: {a: {generate: normal, shape: [17, 501]}, b: {generate: normal, "
        "shape: "
        "[501, 19]}}, outputs: m.h5";
    EXPECT_EQ(run_job("jobs: {m: {expect: mismatch, " + product + "}}").exit, 0);
    EXPECT_EQ(cases().at("m")["status"], "known_issue");
    EXPECT_EQ(cases().at("m")["expect"], "mismatch");
    EXPECT_GT(cases().at("m")["reference"]["failed"].get<int>(), 0);
    EXPECT_TRUE(has(cases().at("m")["reason"].get<std::string>(), {"mismatch, as expected: ", "got"}));
    EXPECT_EQ(run_job("jobs: {m: {expect: error, " + product + "}}").exit, 1);
    EXPECT_EQ(cases().at("m")["status"], "mismatch");

    const Ran passed = run_job("jobs: {s: {op: sum, expect: mismatch, inputs: {x: [1, 2]}}}");
    EXPECT_EQ(passed.exit, 1);
    EXPECT_EQ(cases().at("s")["status"], "unexpected_pass");
    EXPECT_TRUE(has(passed.out, {"unexpected_pass", "the job file expects mismatch"}));

    const Ran gone = run_job(
        "jobs: {s: {op: sum, expect: error, inputs: {x: gone.h5:/x}}, t: {op: sum, expect: skipped, inputs: {x: "
        "$s:/s}}, "
        "u: {op: sum, inputs: {x: [1, 2]}}}");
    EXPECT_EQ(gone.exit, 0) << gone.out;
    EXPECT_EQ(cases().at("s")["status"], "known_issue");
    EXPECT_EQ(cases().at("t")["status"], "known_issue");
    EXPECT_EQ(cases().at("u")["status"], "pass");
    EXPECT_EQ(run("check job.yaml").exit, 0);
}

TEST_F(Sweeping, AnAnswerOfOnesOwnIsJudgedByTheSameRule) {
    fs::create_directories(folder / "students");
    save<float>("x.h5", "/x", {3, 2}, {1, 2, 3, 4, 5, 6});
    save<float>("students/ann.h5", "/s", {2}, {9, 12});
    save<double>("students/bob.h5", "/s", {2}, {9, 12.0001});
    save<std::int64_t>("students/cleo.h5", "/s", {2}, {9, 12});
    const std::string job =
        "  marks:\n    op: sum\n    sweep: {file: glob(students/*.h5)}\n    inputs: {x: x.h5:/x}\n    params: {axes: "
        "0}\n"
        "    against: $file:/s\n";
    const Ran ran = run_job("jobs:\n" + job + "    outputs: $stem.h5\n");
    EXPECT_EQ(ran.exit, 1);
    const auto all = cases();
    ASSERT_EQ(all.size(), 6U);
    for (const char* name : {"ann", "bob", "cleo"})
        EXPECT_EQ(all.at(std::string("marks[file=students/") + name + ".h5]")["status"], "pass");
    EXPECT_EQ(all.at("marks[file=students/ann.h5,against]")["status"], "pass");
    EXPECT_EQ(all.at("marks[file=students/cleo.h5,against]")["status"], "pass");
    const auto bob = all.at("marks[file=students/bob.h5,against]");
    EXPECT_EQ(bob["status"], "mismatch");
    EXPECT_EQ(bob["device"], "file");
    EXPECT_EQ(bob["variant"], "against");
    EXPECT_EQ(bob["reference"]["failed"], 1);
    EXPECT_EQ(bob["reference"]["worst"]["index"], nlohmann::json::array({1}));
    EXPECT_EQ(bob["reference"]["worst"]["expected"], 12);
    EXPECT_EQ(bob["outputs"][0]["dataset"], "/s");
    EXPECT_EQ(values<float>("out/job/bob.h5", "/s"), (std::vector<float>{9, 12}));
    EXPECT_EQ(values<double>("students/bob.h5", "/s")[1], 12.0001);
    // What is expected is expected of the answer; what computes must pass all the same.
    EXPECT_EQ(run_job("jobs:\n" + job + "    expect: mismatch\n", "--only '*bob*'").exit, 0);
    EXPECT_EQ(cases().at("marks[file=students/bob.h5,against]")["status"], "known_issue");
    EXPECT_EQ(cases().at("marks[file=students/bob.h5]")["status"], "pass");
    EXPECT_TRUE(has(run("check job.yaml --explain").out, {"students/ann.h5:/s", "read and judged"}));
}

TEST_F(Sweeping, AnAnswerThatDoesNotFitIsRefusedAndAMissingOneIsItsOwnError) {
    save<float>("mine.h5", "/s", {3}, {1, 2, 3});
    save<complex64>("mine2.h5", "/s", {}, {{3, 1}});
    const std::string sum = "jobs:\n  t: {op: sum, inputs: {x: [1, 2]}, against: ";
    const Ran shape = run_job(sum + "mine.h5:/s}\n");
    EXPECT_EQ(shape.exit, 2);
    EXPECT_TRUE(has(shape.err, {"job.yaml:2:46: error: ", "shape (3,)", "the output s has ()"}));
    EXPECT_EQ(run_job(sum + "{from: mine.h5:/s, select: \"2\"}}\n").exit, 0);
    EXPECT_TRUE(has(run_job(sum + "mine2.h5:/s}\n").err, {"complex to real is refused"}));
    EXPECT_TRUE(has(run_job(sum + "mine.h5:/sum}\n").err, {"job.yaml:2:46: error: ", "sum"}));
    const Ran missing = run_job(sum + "nowhere.h5:/s}\n");
    EXPECT_EQ(missing.exit, 3);
    EXPECT_EQ(cases().at("t")["status"], "pass");
    EXPECT_EQ(cases().at("t[against]")["status"], "error");
}

TEST_F(Sweeping, AnAnswerOfAFullCovarianceIsJudgedInItsOwnLayout) {
    const std::string job =
        "jobs: {c: {op: convcov, params: {kernel: [3, 1]}, inputs: {gamma: {generate: covariance, rank: 3, pairs: 3, "
        "shape: [1, "
        "2, 4, "
        "3, 2, 4, 3]}, mu: {generate: normal, shape: [1, 2, 4, 3]}, coef: [0.5, 2], accumulate: {generate: normal, "
        "shape: "
        "[1, 2, 2, 3, 2, 2, 3]}}";
    ASSERT_EQ(run_job(job + ", outputs: c.h5}}").exit, 0);
    fs::rename(folder / "out/job/c.h5", folder / "mine.h5");
    EXPECT_EQ(run_job(job + ", against: mine.h5:/cov}}").exit, 0);
    const auto one = cases().at("c[against]");
    EXPECT_EQ(one["status"], "pass");
    EXPECT_EQ(one["reference"]["of"], 144);
}

TEST_F(Sweeping, AnswersThatNothingComputesAreHeldToPropertiesThatNeedNoSecondRun) {
    const auto transform = [](const char* direction, const char* rest) {
        return fmt::format(
            "jobs: {{d: {{op: dft, inputs: {{x: {{generate: normal, shape: [3, 45]}}}}, params: "
            "{{direction: {}}}, {}}}}}",
            direction, rest);
    };
    ASSERT_EQ(run_job(transform("forward", "outputs: d.h5")).exit, 0);
    fs::rename(folder / "out/job/d.h5", folder / "mine.h5");
    EXPECT_EQ(run_job(transform("forward", "against: mine.h5:/X")).exit, 0);
    std::set<std::string> properties;
    const nlohmann::json judged = cases().at("d[against]");
    for (const auto& one : judged["properties"]) properties.insert(one["name"].get<std::string>());
    EXPECT_EQ(properties, (std::set<std::string>{"Parseval", "weighted sum", "Hermitian"}));
    EXPECT_EQ(run_job(transform("inverse", "against: mine.h5:/X"), "--dump-mismatch wrong.h5").exit, 1);
    EXPECT_EQ(cases().at("d[against]")["status"], "mismatch");
    EXPECT_EQ(values<complex64>("wrong.h5", "/d[against]/ours").size(), 135U);
}

TEST_F(Sweeping, CaseOverItsTimeEndsAndTheOthersGoOn) {
    const Ran ran = run_job(
        "jobs:\n"
        "  long:\n"
        "    op: matmul\n"
        "    variant: loop\n"
        "    timeout: 0.001\n"
        "    inputs: {a: {generate: ones, shape: [901, 1003]}, b: {generate: ones, shape: [1003, 1101]}}\n"
        "    outputs: long.h5\n"
        "  next: {op: sum, inputs: {x: $long:/c}}\n"
        "  good: {op: sum, timeout: 1e9, inputs: {x: [1, 2, 3]}, outputs: good.h5}\n");
    EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
    EXPECT_EQ(cases().at("long")["status"], "timeout");
    EXPECT_EQ(cases().at("long")["reason"], "took longer than 0.001 s");
    EXPECT_EQ(cases().at("next")["reason"], "long failed");
    EXPECT_EQ(cases().at("good")["status"], "pass");
    EXPECT_FALSE(exists("out/job/long.h5"));
    EXPECT_EQ(values<std::int64_t>("out/job/good.h5", "/s"), std::vector<std::int64_t>{6});
}

}  // namespace

}  // namespace gridstride::cli
