// SPDX-License-Identifier: BSD-3-Clause
// gridstride run: exit codes, outputs that are never half written, chains. What a mistake gives: tests/errors.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/support.hpp"
#include "core/device.hpp"
#include "support/run.hpp"

namespace gridstride::cli {

namespace {

using Running = Command;

TEST_F(Running, PassingJobExitsZeroAndSavesTheAnswer) {
    const Ran ran = run_job("jobs: {a: {op: add, inputs: {x: [1, 2.5, -3], y: 4}, outputs: {z: \"z.h5:/g/z\"}}}");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"a ", "cpu", "pass", "all 3", "exact"}));
    EXPECT_EQ(values<float>("out/job/z.h5", "/g/z"), (std::vector<float>{5, 6.5, 1}));
}

TEST_F(Running, MismatchExitsOneNamesThePlaceAndHasNoSpeed) {
    // A product whose float32 sum is not the exact one's rounding: bit for bit it cannot pass.
    const Ran ran = run_job(
        "jobs: {m: {op: matmul, tolerance: bitwise, inputs: {a: {generate: normal, shape: [17, 501]}, b: {generate: "
        "normal, shape: [501, 19]}}, outputs: m.h5}}");
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(has(ran.out, {"mismatch", "got", "expected"}));
    const auto report = nlohmann::json::parse(read_text(folder / "out/job/report.json"));
    EXPECT_EQ(report["exit"], 1);
    EXPECT_GT(report["cases"][0]["reference"]["failed"].get<int>(), 0);
}

TEST_F(Running, ValuesThatDoNotConvertExitThreeWithTheirIndex) {
    save<double>("in.h5", "/x", {2, 2}, {1, 2, 3.5, 4});
    const Ran ran = run_job("jobs: {s: {op: sum, inputs: {x: {from: \"in.h5:/x\", dtype: int32}}}}");
    EXPECT_EQ(ran.exit, 3);
    EXPECT_TRUE(has(ran.out, {"(1, 0)", "3.5", "int32"}));
}

TEST_F(Running, CudaWithoutADeviceExitsFourAndWritesNothing) {  // BR026
    if (!cuda::devices().empty()) GTEST_SKIP() << "there is a CUDA device";
    const Ran ran = run_job("jobs: {a: {op: add, device: cuda, inputs: {x: 1, y: 2}}}");
    EXPECT_EQ(ran.exit, 4);
    EXPECT_TRUE(has(ran.err, {"cuda"}));
    EXPECT_FALSE(exists("out"));
}

TEST_F(Running, NothingJudgedExitsZeroOnlyWhereItWasAskedFor) {
    EXPECT_EQ(run_job("jobs: {a: {op: add, validate: none, inputs: {x: 1, y: 2}}}").exit, 0);
}

TEST_F(Running, ForeignFileIsNeverReplacedAndOneOfOursIs) {
    fs::create_directories(folder / "out/job");
    write("out/job/z.h5", "somebody's notes");
    const std::string job = "jobs: {a: {op: add, inputs: {x: 1, y: 2}, outputs: z.h5}}";
    const Ran refused = run_job(job);
    EXPECT_EQ(refused.exit, 2);
    EXPECT_EQ(read_text(folder / "out/job/z.h5"), "somebody's notes");
    fs::remove(folder / "out/job/z.h5");
    EXPECT_EQ(run_job(job).exit, 0);
    EXPECT_EQ(run_job(job, "--set jobs.a.inputs.y=5").exit, 0);
    EXPECT_EQ(values<std::int64_t>("out/job/z.h5", "/z"), std::vector<std::int64_t>{6});
}

TEST_F(Running, TwoCasesWithOneFileAreRefusedWithTheRemedy) {
    const Ran ran = run_job(
        "jobs:\n  a: {op: add, inputs: {x: 1, y: 2}, outputs: z.h5}\n  b: {op: add, inputs: {x: 1, y: 2}, outputs: "
        "z.h5}\n");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"z.h5", "$job"}));
    const Ran mended = run_job(
        "jobs:\n  a: {op: add, inputs: {x: 1, y: 2}, outputs: $job.h5}\n  b: {op: add, inputs: {x: 1, y: 2}, outputs: "
        "\"$job-$variant-${device}.h5\"}\n");
    EXPECT_EQ(mended.exit, 0) << mended.err;
    EXPECT_TRUE(exists("out/job/a.h5"));
    EXPECT_TRUE(exists("out/job/b-loop-cpu.h5"));
}

TEST_F(Running, AnInputThatAJobWritesIsRefused) {
    fs::create_directories(folder / "out/job");
    save<float>("out/job/z.h5", "/z", {2}, {1, 2});
    const Ran ran = run_job("jobs: {a: {op: add, inputs: {x: \"out/job/z.h5:/z\", y: 2}, outputs: z.h5}}");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"this case's own output"}));
    EXPECT_EQ(values<float>("out/job/z.h5", "/z"), (std::vector<float>{1, 2}));
}

TEST_F(Running, ZeroSizesRunAndDoNotDisturbTheNextJob) {  // BR024
    const Ran ran = run_job(
        "jobs:\n"
        "  a: {op: add, inputs: {x: {generate: ones, shape: [3, 0, 5]}, y: {generate: ones, shape: [3, 0, 5]}}, "
        "outputs: a.h5, store: {compression: gzip}}\n"
        "  b: {op: multiply, inputs: {x: {generate: ones, shape: [0]}, y: {generate: ones, shape: [0]}}, outputs: "
        "b.h5}\n"
        "  c: {op: add, inputs: {x: {generate: linear, shape: [4]}, y: {generate: ones, shape: [4]}}, outputs: "
        "c.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_TRUE(has(ran.out, {"0 of 0"}));
    EXPECT_EQ(read("out/job/a.h5", "/z").spec().shape, (Shape{3, 0, 5}));
    EXPECT_EQ(read("out/job/b.h5", "/z").spec().shape, (Shape{0}));
    EXPECT_EQ(values<float>("out/job/c.h5", "/z"), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Running, JobsRunInOrderOfDependenceWhateverTheFilesOrder) {
    const Ran ran = run_job(
        "jobs:\n"
        "  third: {op: sum, inputs: {x: \"$second:/z\"}}\n"
        "  second: {op: multiply, inputs: {x: \"$first:/z\", y: [1, 10, 100]}}\n"
        "  first: {op: add, inputs: {x: [1, 2, 3], y: 1}}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"third: s = 432"}));  // 2 + 30 + 400
}

TEST_F(Running, OnlyRunsTheNamedCasesAndWhatTheyRead) {
    const std::string jobs =
        "jobs:\n"
        "  one: {op: add, inputs: {x: 1, y: 2}}\n"
        "  two: {op: add, inputs: {x: $one:/z, y: 2}}\n"
        "  six: {op: add, inputs: {x: 3, y: 3}}\n";
    const Ran ran = run_job(jobs, "--only 't*'");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"one", "two: z = 5"}));
    EXPECT_FALSE(has(ran.out, {"six"}));
    EXPECT_EQ(run_job(jobs, "--only seven").exit, 2);
}

TEST_F(Running, ListedVariantsAreCasesOfTheirOwn) {
    const Ran ran = run_job(
        "jobs: {m: {op: matmul, variant: all, inputs: {a: {generate: normal, shape: [5, 7]}, b: {generate: normal, "
        "shape: [7, 3]}}, outputs: \"$variant.h5\"}}",
        "--device cpu");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"m[loop]", "m[openblas]"}));
    EXPECT_TRUE(exists("out/job/loop.h5"));
    EXPECT_TRUE(exists("out/job/openblas.h5"));
}

TEST_F(Running, DtypesFollowTheRules) {
    save<std::int32_t>("i.h5", "/i", {3}, {1, 2, 3});
    const Ran ran = run_job(
        "jobs:\n"
        "  whole: {op: add, inputs: {x: \"i.h5:/i\", y: 2}, outputs: whole.h5}\n"
        "  fraction: {op: add, inputs: {x: \"i.h5:/i\", y: 0.5}, outputs: fraction.h5}\n"
        "  product: {op: matmul, inputs: {a: \"i.h5:/i\", b: {generate: ones, shape: 3}}, outputs: product.h5}\n"
        "  halves: {op: sum, dtype: float16, result_dtype: float32, inputs: {x: {generate: ones, shape: 4097}}, "
        "outputs: halves.h5}\n"
        "  numbers: {op: add, inputs: {x: [1, 2], y: 3}, outputs: numbers.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
    EXPECT_EQ(values<std::int32_t>("out/job/whole.h5", "/z"), (std::vector<std::int32_t>{3, 4, 5}));
    EXPECT_EQ(values<double>("out/job/fraction.h5", "/z"), (std::vector<double>{1.5, 2.5, 3.5}));
    EXPECT_EQ(values<double>("out/job/product.h5", "/c"), std::vector<double>{6});  // int32 with float32: float64
    EXPECT_EQ(values<float>("out/job/halves.h5", "/s"), std::vector<float>{4097});
    EXPECT_EQ(values<std::int64_t>("out/job/numbers.h5", "/z"), (std::vector<std::int64_t>{4, 5}));
}

TEST_F(Running, InputsAreSelectedReshapedScaledAndFreedOfNan) {
    save<double>("x.h5", "/x", {4, 3}, {0, 1, 2, 10, 11, 12, 20, std::nan(""), 22, 30, 31, 32});
    save<float>("p.h5", "/p", {2, 2}, {1, 2, 3, -4});
    const Ran ran = run_job(
        "jobs:\n"
        "  part: {op: copy, inputs: {x: {from: \"x.h5:/x\", select: \"::2, 1:\", shape: [-1], nan: 5, scale: 2}}, "
        "outputs: part.h5}\n"
        "  pair: {op: copy, inputs: {x: {from: \"p.h5:/p\", complex: pair}}, outputs: pair.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
    EXPECT_EQ(values<double>("out/job/part.h5", "/y"), (std::vector<double>{2, 4, 5, 44}));
    EXPECT_EQ(values<complex64>("out/job/pair.h5", "/y"), (std::vector<complex64>{{1, 2}, {3, -4}}));
    EXPECT_TRUE(has(ran.out, {"1 NaN replaced"}));
}

TEST_F(Running, FrequenciesUnitsAndScalesReachTheOutput) {
    write("job.yaml",
          "jobs: {f: {op: dft, inputs: {x: {generate: normal, shape: [2, 5]}}, params: {sample_spacing: 0.5}, outputs: "
          "f.h5}}");
    ASSERT_EQ(run("run job.yaml").exit, 0);
    EXPECT_EQ(values<double>("out/job/f.h5", "/frequency"), (std::vector<double>{0, 0.4, 0.8, -0.8, -0.4}));
    EXPECT_EQ(hdf5::scales((folder / "out/job/f.h5").string(), "/X").at(0).name, "axis_0");
}

TEST_F(Running, ScalesOfAnEarlierJobAreThoseOfItsFile) {
    ASSERT_EQ(run_job("jobs:\n  a: {op: copy, inputs: {x: {generate: normal, shape: [4, 7]}}, outputs: a.h5}\n"
                      "  chained: {op: copy, inputs: {x: {from: $a:/y, select: \"1:, ::3\"}}, outputs: c.h5}\n"
                      "  whole: {op: sum, inputs: {x: $a:/y}, params: {axes: 0}, outputs: w.h5}\n")
                  .exit,
              0);
    write("read.yaml",
          "jobs: {f: {op: copy, inputs: {x: {from: \"out/job/a.h5:/y\", select: \"1:, ::3\"}}, outputs: c.h5}}");
    ASSERT_EQ(run("run read.yaml").exit, 0);
    for (const std::string file : {"out/job/c.h5", "out/read/c.h5"}) {
        const auto scales = hdf5::scales((folder / file).string(), "/y");
        EXPECT_EQ(scales[0].name, "axis_0") << file;
        EXPECT_EQ(scales[0].values, (std::vector<double>{1, 2, 3})) << file;
        EXPECT_EQ(scales[1].name, "axis_1") << file;
        EXPECT_EQ(scales[1].values, (std::vector<double>{0, 3, 6})) << file;
    }
    EXPECT_EQ(hdf5::scales((folder / "out/job/w.h5").string(), "/s")[0].name, "axis_1");
}

TEST_F(Running, IntegersOfAnEarlierJobAreExactOrRefusedAsThoseOfItsFile) {
    const std::int64_t large = (std::int64_t{1} << 60) + 1;  // no float64
    save<std::int64_t>("i.h5", "/y", {3}, {3, large, -5});
    for (const std::string from : {"i.h5:/y", "$i:/y"}) {
        const auto job = [&](const std::string& name, const std::string& op, const std::string& keys) {
            return fmt::format("  {0}: {{op: {1}, inputs: {{x: {{from: \"{2}\", {3}}}}}, outputs: {0}.h5}}\n", name, op,
                               from, keys);
        };
        const Ran ran =
            run_job("jobs:\n  i: {op: copy, inputs: {x: \"i.h5:/y\"}}\n" + job("same", "copy", "scale: 1, nan: 2") +
                    job("twice", "copy", "scale: 2") + job("wide", "copy", "dtype: float64") +
                    job("spectrum", "dft", "select: \":2\"") + job("part", "copy", "select: \"::2\", scale: 2"));
        EXPECT_EQ(ran.exit, 3) << from << ran.err;
        EXPECT_EQ(values<std::int64_t>("out/job/same.h5", "/y"), (std::vector<std::int64_t>{3, large, -5})) << from;
        EXPECT_EQ(values<std::int64_t>("out/job/part.h5", "/y"), (std::vector<std::int64_t>{6, -10})) << from;
        for (const std::string name : {"twice", "wide", "spectrum"})
            EXPECT_FALSE(exists("out/job/" + name + ".h5")) << from;
        EXPECT_TRUE(has(ran.out, {"twice: error: ", "wide: error: ", "spectrum: error: ",
                                  "at (1,): 1152921504606846977 is beyond 2^53"}));
    }
}

TEST_F(Running, DatesKeepTheirCalendarAndPackedScalesAreUnpacked) {
    {
        hdf5::Writer writer((folder / "in.h5").string());
        const Tensor x = support::make<double>({2, 3}, {1, 2, 3, 4, 5, 6});
        writer.create("/x", x.spec(), {});
        writer.write("/x", whole({2, 3}), x.slab());
        writer.scale("/x",
                     {{.name = "time",
                       .values = {0, 60},
                       .units = "days since 2000-01-01",
                       .long_name = "",
                       .calendar = "360_day"},
                      {.name = "lat", .values = {100, 200, 300}, .units = "deg", .long_name = ""}},
                     {2, 3});
        writer.attribute("/lat", "scale_factor", 0.5);
        writer.attribute("/lat", "add_offset", -3);
        writer.attribute("/x", "units", "days since 1900-01-01");
        writer.attribute("/x", "calendar", "noleap");
        writer.commit();
    }
    const Ran ran = run_job(
        "jobs:\n  a: {op: copy, inputs: {x: \"in.h5:/x\"}, outputs: a.h5}\n"
        "  b: {op: copy, inputs: {x: {from: $a:/y, select: \":, 1:\"}}, outputs: b.h5}\n");
    ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
    for (const std::string file : {"a", "b"}) {
        const std::string path = (folder / "out/job" / (file + ".h5")).string();
        const auto axes = hdf5::scales(path, "/y");
        EXPECT_EQ(axes.at(0).calendar, "360_day");
        EXPECT_EQ(axes[0].units, "days since 2000-01-01");
        EXPECT_EQ(axes.at(1).values, file == "a" ? (std::vector<double>{47, 97, 147}) : (std::vector<double>{97, 147}));
        EXPECT_EQ(axes[1].units, "deg");
        EXPECT_EQ(hdf5::describe(path, "/y").calendar, "noleap");
    }
}

TEST_F(Running, NumbersThatMarkWhatIsMissingAreSaidToBeUsed) {
    const auto store = [&](const std::string& file, double fill) {
        hdf5::Writer writer((folder / file).string());
        const Tensor x = support::make<double>({3}, {1, -9999, 4});
        writer.create("/x", x.spec(), {});
        writer.write("/x", whole({3}), x.slab());
        writer.attribute("/x", "_FillValue", fill);
        writer.commit();
    };
    store("number.h5", -9999);
    store("nan.h5", std::nan(""));
    const Ran ran =
        run_job("jobs:\n  a: {op: sum, inputs: {x: \"number.h5:/x\"}}\n  b: {op: sum, inputs: {x: \"nan.h5:/x\"}}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(
        ran.out, {"a: note: input x has _FillValue = -9999: values equal to it are used as numbers", "b: s = -9994"}));
    EXPECT_EQ(ran.out.find("b: note"), std::string::npos) << ran.out;
}

TEST_F(Running, AFolderWhoseNameIsNotUtf8IsAFolder) {
    const std::string name = "d\xff";
    fs::create_directories(folder / name);
    save<float>(name + "/in.h5", "/x", {3}, {1, 2, 4});
    write(name + "/job.yaml", "jobs: {a: {op: sum, inputs: {x: \"in.h5:/x\"}, outputs: a.h5}}");
    const Ran ran = run("run '" + name + "/job.yaml' --json");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["cases"][0]["status"], "pass");
    EXPECT_EQ(values<float>("out/job/a.h5", "/s"), std::vector<float>{7});
    const Ran checked = run("check '" + name + "/job.yaml' --output-dir '" + name + "/out' --json");
    EXPECT_EQ(checked.exit, 0) << checked.err;
    EXPECT_EQ(nlohmann::json::parse(checked.out)["cases"][0]["state"], "ready");
}

TEST_F(Running, JsonIsTheReportAndTheJournalHasALineACase) {
    const Ran ran =
        run_job("jobs:\n  a: {op: add, inputs: {x: 1, y: 2}}\n  b: {op: sum, inputs: {x: [1, .inf]}}\n", "--json");
    EXPECT_EQ(ran.exit, 0);
    const auto report = nlohmann::json::parse(ran.out);
    EXPECT_EQ(report, nlohmann::json::parse(read_text(folder / "out/job/report.json")));
    EXPECT_EQ(report["schema"], 1);
    EXPECT_EQ(report["cases"].size(), 2U);
    EXPECT_EQ(report["cases"][1]["inputs"][0]["max"], "inf");
    std::istringstream journal(read_text(folder / "out/job/report.jsonl"));
    int lines = 0;
    for (std::string line; std::getline(journal, line); ++lines)
        EXPECT_EQ(nlohmann::json::parse(line)["name"], lines == 0 ? "a" : "b");
    EXPECT_EQ(lines, 2);
}

TEST_F(Running, TheResolvedJobInTheOutputRunsAgainToTheSameBytes) {
    save<double>("x.h5", "/x", {5, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16});
    ASSERT_EQ(
        run_job("vars: {k: 1}\njobs: {g: {op: matmul, inputs: {a: \"x.h5:/x\", b: {from: \"x.h5:/x\", select: \"${k + "
                "1}:\"}}, params: {transpose_b: transpose, alpha: 0.1}, outputs: {c: \"$job.h5:/deep/c\"}}}")
            .exit,
        0);
    std::string yaml;
    for (const hdf5::Node& node : hdf5::tree((folder / "out/job/g.h5").string()))
        if (node.path == "/")
            for (const hdf5::Attribute& attribute : node.attributes)
                if (attribute.name == "job") yaml = attribute.text;
    ASSERT_FALSE(yaml.empty());
    const std::string script = "import h5py,sys; sys.stdout.write(h5py.File('out/job/g.h5').attrs['job'])";
    if (std::system(("cd '" + folder.string() + "' && /usr/bin/python3 -c \"" + script + "\" > again.yaml 2>/dev/null")
                        .c_str()) != 0)
        GTEST_SKIP() << "python3 with h5py is not there";
    const Ran again = run("run again.yaml");
    ASSERT_EQ(again.exit, 0) << again.err << read_text(folder / "again.yaml");
    EXPECT_EQ(values<double>("out/again/g.h5", "/deep/c"), values<double>("out/job/g.h5", "/deep/c"));
}

TEST_F(Running, AllJobFilesArePlannedBeforeTheFirstRuns) {
    write("good.yaml", "jobs: {a: {op: add, inputs: {x: 1, y: 2}, outputs: a.h5}}");
    write("bad.yaml", "jobs: {a: {op: nothing, inputs: {x: 1, y: 2}}}");
    EXPECT_EQ(run("run good.yaml bad.yaml").exit, 2);
    EXPECT_FALSE(exists("out/good"));
    fs::create_directories(folder / "other");
    write("other/good.yaml", "jobs: {a: {op: add, inputs: {x: 1, y: 2}}}");
    EXPECT_EQ(run("run good.yaml other/good.yaml").exit, 2);
    write("more.yaml", "jobs: {m: {op: sum, inputs: {x: [1, 2]}}}");
    const Ran both = run("run good.yaml more.yaml");
    EXPECT_EQ(both.exit, 0) << both.err;
    EXPECT_TRUE(exists("out/good/report.json"));
    EXPECT_TRUE(exists("out/more/report.json"));
}

TEST_F(Running, StandardInputIsAJobFile) {
    write("in.yaml", "jobs: {a: {op: add, inputs: {x: 1, y: 2}, outputs: a.h5}}");
    EXPECT_EQ(run("run - < in.yaml").exit, 0);
    EXPECT_EQ(values<std::int64_t>("out/stdin/a.h5", "/z"), std::vector<std::int64_t>{3});
}

TEST_F(Running, HelpAndVersionExitZero) {
    EXPECT_EQ(run("--help").exit, 0);
    EXPECT_EQ(run("run --help").exit, 0);
    EXPECT_TRUE(has(run("--version").out, {"gridstride 0."}));
}

TEST_F(Running, ThreadsDoNotChangeTheBits) {
    const std::string job =
        "jobs: {s: {op: sum, inputs: {x: {generate: normal, shape: [1001, 37]}}, params: {axes: 0}, outputs: s.h5}, c: "
        "{op: convcov, inputs: {mu: {generate: normal, shape: [2, 5, 9, 8]}, coef: 1}, params: {kernel: 3, channels: "
        "2}, "
        "outputs: c.h5}}";
    ASSERT_EQ(run_job(job, "--threads 1 --output-dir one").exit, 0);
    ASSERT_EQ(run_job(job, "--threads 3 --output-dir three").exit, 0);
    EXPECT_EQ(values<float>("one/s.h5", "/s"), values<float>("three/s.h5", "/s"));
    EXPECT_EQ(values<float>("one/c.h5", "/cov"), values<float>("three/c.h5", "/cov"));
}

TEST_F(Running, CheckSaysWhatWouldHappenAndWritesNothing) {
    write("job.yaml",
          "vars: {n: 7}\njobs: {m: {op: matmul, inputs: {a: {generate: normal, shape: [$n, 5]}, b: {generate: normal, "
          "shape: [5, 3]}}, outputs: m.h5}}");
    const Ran ran = run("check job.yaml --explain --set n=9");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, {"float32 (9, 3)", "alpha", "built in", "memory", "openblas"}));
    EXPECT_FALSE(exists("out"));
}

TEST_F(Running, ReportsReplaceNobodysFiles) {
    const std::string job = "jobs: {a: {op: add, inputs: {x: 1, y: 2}}}";
    fs::create_directories(folder / "out/job");
    write("out/job/report.jsonl", "my notes\n");
    EXPECT_EQ(run_job(job).exit, 2);
    EXPECT_EQ(read_text(folder / "out/job/report.jsonl"), "my notes\n");
    fs::remove(folder / "out/job/report.jsonl");
    write("keep.txt", "");
    fs::create_symlink(folder / "keep.txt", folder / "out/job/report.json");
    EXPECT_EQ(run_job(job).exit, 2);
    fs::remove(folder / "out/job/report.json");
    EXPECT_EQ(run_job(job).exit, 0);
    EXPECT_EQ(run_job(job).exit, 0);  // its own it replaces
}

TEST_F(Running, AnInputByAnotherNameIsNoOutput) {
    fs::create_directories(folder / "out/job");
    save<float>("out/job/z.h5", "/z", {2}, {1, 2});
    fs::create_hard_link(folder / "out/job/z.h5", folder / "other.h5");
    const Ran ran = run_job("jobs: {a: {op: add, inputs: {x: \"other.h5:/z\", y: 2}, outputs: z.h5}}");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"this case's own output"}));
}

TEST_F(Running, OneFileHasOneWriterHoweverItIsNamed) {
    const std::string inside = (folder / "new/b.h5").string();
    const Ran ran = run_job(
        "jobs:\n  a: {op: add, inputs: {x: 1, y: 2}, outputs: b.h5}\n  b: {op: add, inputs: {x: 1, y: 2}, outputs: " +
            inside + "}\n",
        "--output-dir new");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"would both write"}));
    write("one.yaml", "jobs: {a: {op: add, inputs: {x: 1, y: 2}, outputs: " + inside + "}}");
    write("two.yaml", "jobs: {a: {op: add, inputs: {x: 3, y: 2}, outputs: " + inside + "}}");
    EXPECT_EQ(run("run one.yaml two.yaml").exit, 2);
    EXPECT_EQ(run_job("jobs:\n  a: {op: add, inputs: {x: 1, y: 2}, outputs: c.h5}\n  b: {op: add, inputs: {x: 1, y: "
                      "2}, outputs: c.h5/d.h5}\n")
                  .exit,
              2);
}

TEST_F(Running, InterruptedRunsReportWhatDidNotRun) {
    write("job.yaml",
          "jobs:\n  long: {op: matmul, variant: loop, inputs: {a: {generate: normal, shape: [6000, 6000]}, b: "
          "{generate: normal, shape: [6000, 6000]}}, outputs: a.h5}\n  next: {op: add, inputs: {x: 1, y: 2}}\n");
    const Ran ran = run("run job.yaml", "timeout --foreground --preserve-status -s INT 2");
    EXPECT_EQ(ran.exit, 130);
    const auto report = nlohmann::json::parse(read_text(folder / "out/job/report.json"));
    EXPECT_EQ(report["exit"], 130);
    EXPECT_EQ(report["cases"][1]["status"], "skipped");
    EXPECT_FALSE(exists("out/job/a.h5"));
}

TEST_F(Running, NumbersOfAnEarlierJobKeepTheRulesOfFiles) {
    const std::string first = "jobs:\n  i: {op: copy, inputs: {x: [1, 2, 3]}}\n";
    const Ran half = run_job(first + "  h: {op: copy, inputs: {x: {from: $i:/y, scale: 0.5}}}\n");
    EXPECT_EQ(half.exit, 3);
    EXPECT_TRUE(has(half.out, {"0.5", "int64"}));
    const Ran large = run_job(
        "jobs:\n  i: {op: copy, inputs: {x: [9007199254740993]}}\n  m: {op: matmul, inputs: {a: $i:/y, b: [1]}}\n");
    EXPECT_EQ(large.exit, 3);
    EXPECT_TRUE(has(large.out, {"9007199254740993", "2^53"}));
}

TEST_F(Running, AChainedOutputsJobRunsAgainWithItsProducers) {
    ASSERT_EQ(run_job("jobs:\n  one: {op: copy, inputs: {x: {generate: linear, shape: 5}}}\n  two: {op: multiply, "
                      "inputs: {x: $one:/y, y: 3}, outputs: two.h5}\n")
                  .exit,
              0);
    const std::string script = "import h5py,sys; sys.stdout.write(h5py.File('out/job/two.h5').attrs['job'])";
    if (std::system(("cd '" + folder.string() + "' && /usr/bin/python3 -c \"" + script + "\" > again.yaml 2>/dev/null")
                        .c_str()) != 0)
        GTEST_SKIP() << "python3 with h5py is not there";
    const Ran again = run("run again.yaml");
    ASSERT_EQ(again.exit, 0) << again.err << read_text(folder / "again.yaml");
    EXPECT_EQ(values<float>("out/again/two.h5", "/z"), (std::vector<float>{0, 3, 6, 9, 12}));
}

TEST_F(Running, WhatMayNotBeMeantIsNoted) {
    const Ran ran = run_job(
        "jobs:\n"
        "  a: {op: copy, inputs: {x: [1, 2]}, outputs: ../y.h5}\n"
        "  b: {op: copy, inputs: {x: [1, 2]}, outputs: t.csv}\n"
        "  c: {op: dft, inputs: {x: {generate: normal, shape: [4, 7]}}, params: {form: real}, outputs: c.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(has(ran.out,
                    {"a: note: outputs start at the output directory: ../y.h5 is ", "b: note: t.csv is written in HDF5",
                     "c: note: x is real, and form: real takes it for a half spectrum"}));
    EXPECT_TRUE(exists("out/y.h5"));
}

}  // namespace

}  // namespace gridstride::cli
