// SPDX-License-Identifier: BSD-3-Clause
// Faults that people met in programs of this kind, each by its smallest input through the command as a user runs it.
// The numbers (BR...) are those of the list of such cases; most are pinned beside the code that they are about.
#include <fmt/format.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "cli/support.hpp"

namespace gridstride::cli {

namespace {

using Field = Command;

TEST_F(Field, AnInverseToRealLeavesAnInputThatOthersRead) {  // BR006
    const std::vector<complex64> half{{3, 0}, {1, -2}, {0.5, 4}, {-1, 0}, {2, 2}, {7, 0.25}};
    save<complex64>("z.h5", "/z", {2, 3}, half);
    const Ran ran = run_job(
        "jobs:\n  z: {op: copy, inputs: {x: \"z.h5:/z\"}}\n  real: {op: dft, inputs: {x: $z:/y}, params: {form: real}, "
        "outputs: real.h5}\n  after: {op: copy, inputs: {x: $z:/y}, outputs: after.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_EQ(values<complex64>("out/job/after.h5", "/y"), half);
    EXPECT_EQ(values<complex64>("z.h5", "/z"), half);
    // (X0 + 2 Re(X1 i^n) + (-1)^n Re X2) / 4, by hand.
    EXPECT_EQ(values<float>("out/job/real.h5", "/X"),
              (std::vector<float>{1.375, 1.625, 0.375, -0.375, 2.5, -3, 0.5, -1}));
}

TEST_F(Field, PartsThatBeginAtOddPlacesAreTransformedAndSummedAsTheyStand) {  // BR009, BR025
    std::vector<double> box(5 * 7 * 3);
    for (int i = 0; i < 105; ++i) box[static_cast<std::size_t>(i)] = 100 * (i / 21) + 10 * (i / 3 % 7) + i % 3;
    save<double>("a.h5", "/a", {5, 7, 3}, box);
    const Ran ran = run_job(
        "jobs:\n  lines: {op: dft, inputs: {x: \"a.h5:/a\"}, params: {axes: 1}, outputs: lines.h5}\n"
        "  part: {op: sum, inputs: {x: {from: \"a.h5:/a\", select: \"1::2, 1:6:2, 1:\"}}, params: {axes: 1}, outputs: "
        "part.h5}\n"
        "  halves: {op: add, dtype: float16, inputs: {x: {from: \"a.h5:/a\", select: \"1, 1:, 1:\"}, y: {from: "
        "\"a.h5:/a\", select: \"1, :-1, :-1\"}}, outputs: halves.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    const auto lines = values<complex128>("out/job/lines.h5", "/X");
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_EQ(lines[21 * i + k].real(), 7.0 * (100.0 * static_cast<double>(i) + static_cast<double>(k)) + 210);
    // i = 1, 3; j = 1, 3, 5; k = 1, 2: 3 (100 i + k) + 90.
    EXPECT_EQ(values<double>("out/job/part.h5", "/s"), (std::vector<double>{393, 396, 993, 996}));
    const Tensor halves = read("out/job/halves.h5", "/z");
    ASSERT_EQ(halves.spec(), (Spec{DType::float16, {6, 2}}));
    for (int i = 0; i < 12; ++i)  // 100 + 10 (j + 1) + k + 1 and 100 + 10 j + k
        EXPECT_EQ(static_cast<float>(halves.as<float16>()[i]), static_cast<float>(211 + 20 * (i / 2) + 2 * (i % 2)));
}

TEST_F(Field, OfManyCompressedRowsOnlyTheLastIsTransformed) {  // BR011, small
    const std::int64_t rows = 4099, n = 36;
    std::vector<double> impulse(static_cast<std::size_t>(rows * n), 0);
    impulse[static_cast<std::size_t>((rows - 1) * n)] = 1;
    save<double>("x.h5", "/x", {rows, n}, impulse, {.chunks = Shape{64, n}, .gzip = true});
    const Ran ran = run_job("jobs: {f: {op: dft, inputs: {x: \"x.h5:/x\"}, outputs: f.h5}}");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    const auto got = values<complex128>("out/job/f.h5", "/X");
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < rows * n; ++i)
        wrong += got[static_cast<std::size_t>(i)] != complex128(i / n == rows - 1 ? 1.0 : 0.0);
    EXPECT_EQ(wrong, 0);
}

TEST_F(Field, AProductAfterAJobOfNansHasNone) {  // BR015
    const std::string side = "{generate: integers, shape: [32, 32], seed: 3}";
    save<float>("nan.h5", "/x", {32, 32}, std::vector<float>(1024, std::nanf("")));
    std::string jobs = "jobs:\n  nans: {op: copy, inputs: {x: \"nan.h5:/x\"}}\n";
    for (const std::string name : {"one", "two"})
        jobs += fmt::format("  {}: {{op: matmul, inputs: {{a: {}, b: {}}}, outputs: {}.h5}}\n", name, side, side, name);
    const Ran ran = run_job(jobs);
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    const auto one = values<float>("out/job/one.h5", "/c");
    for (const float value : one) ASSERT_FALSE(std::isnan(value));
    EXPECT_EQ(one, values<float>("out/job/two.h5", "/c"));
}

TEST_F(Field, WhatMatlabStoredIsUsedInTheOrderOfTheFile) {  // BR047
    // MATLAB's 1 x 2 is a dataset of (2, 1).
    save<double>("m.h5", "/row", {2, 1}, {1, 2});
    save<double>("n.h5", "/column", {1, 2}, {1, 2});
    const std::string jobs =
        "jobs:\n  stored: {op: matmul, inputs: {a: \"m.h5:/row\", b: \"n.h5:/column\"}, outputs: stored.h5}\n"
        "  matlab: {op: matmul, inputs: {a: \"n.h5:/column\", b: \"m.h5:/row\"}, outputs: matlab.h5}\n"
        "  same: {op: dft, inputs: {x: \"m.h5:/row\"}, outputs: same.h5}\n";
    const Ran ran = run_job(jobs);
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_EQ(values<double>("out/job/stored.h5", "/c"), (std::vector<double>{1, 2, 2, 4}));
    EXPECT_EQ(values<double>("out/job/matlab.h5", "/c"), std::vector<double>{5});
    EXPECT_EQ(values<complex128>("out/job/same.h5", "/X"), (std::vector<complex128>{1, 2}));
    EXPECT_TRUE(has(ran.out, {"axis -1 has length 1: its transform is the identity"}));
}

TEST_F(Field, AnEmptyArrayOfMatlabIsNotItsDimensions) {  // BR048
    {
        const Tensor dimensions({DType::int64, {2}});
        dimensions.as<std::int64_t>()[0] = 0;
        dimensions.as<std::int64_t>()[1] = 3;
        hdf5::Writer writer((folder / "empty.mat").string());
        writer.create("/x", dimensions.spec(), {});
        writer.write("/x", whole({2}), dimensions.slab());
        writer.attribute("/x", "MATLAB_class", "double");
        writer.attribute("/x", "MATLAB_empty", 1);
        writer.commit();
    }
    const Ran ran = run_job(
        "jobs:\n  all: {op: sum, inputs: {x: \"empty.mat:/x\"}, outputs: all.h5}\n"
        "  columns: {op: sum, inputs: {x: \"empty.mat:/x\"}, params: {axes: 1}, outputs: columns.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_EQ(values<double>("out/job/all.h5", "/s"), std::vector<double>{0});
    EXPECT_EQ(values<double>("out/job/columns.h5", "/s"), (std::vector<double>{0, 0, 0}));  // of MATLAB's 0 x 3
}

TEST_F(Field, EmptyDatasetsAreReadAndWrittenHoweverTheyAreStored) {  // BR049
    save<float>("a.h5", "/x", {0}, {});
    save<float>("b.h5", "/x", {3, 0, 5}, {});
    save<float>("c.h5", "/x", {0, 4}, {});
    std::string jobs = "jobs:\n";
    const std::vector<std::pair<std::string, std::string>> files{{"a", "16"}, {"b", "[2, 1, 5]"}, {"c", "[16, 4]"}};
    for (const auto& [file, chunks] : files) {
        const std::vector<std::string> stored{"compression: gzip", "chunks: " + chunks,
                                              "compression: gzip, shuffle: true, chunks: " + chunks};
        for (std::size_t i = 0; i < stored.size(); ++i)
            jobs += fmt::format("  {}{}: {{op: copy, inputs: {{x: \"{}.h5:/x\"}}, outputs: $job.h5, store: {{{}}}}}\n",
                                file, i, file, stored[i]);
    }
    const Ran ran = run_job(jobs);
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    const std::vector<Shape> shapes{{0}, {3, 0, 5}, {0, 4}};
    for (std::size_t i = 0; i < 9; ++i)
        EXPECT_EQ(read(fmt::format("out/job/{}{}.h5", "abc"[i / 3], i % 3), "/y").spec(),
                  (Spec{DType::float32, shapes[i / 3]}));
}

TEST_F(Field, ScalarsAreAddedAndSummedAndHaveNoAxisToTransform) {  // BR050
    save<float>("x.h5", "/x", {}, {123.25F});
    save<std::int64_t>("i.h5", "/i", {}, {123});
    const Ran ran = run_job(
        "jobs:\n  a: {op: add, inputs: {x: \"x.h5:/x\", y: \"i.h5:/i\"}, outputs: a.h5}\n  s: {op: sum, inputs: {x: "
        "\"x.h5:/x\"}, outputs: s.h5}\n");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_EQ(read("out/job/a.h5", "/z").spec(), (Spec{DType::float64, {}}));
    EXPECT_EQ(values<double>("out/job/a.h5", "/z"), std::vector<double>{246.25});
    EXPECT_EQ(values<float>("out/job/s.h5", "/s"), std::vector<float>{123.25F});
    const Ran refused = run_job("jobs: {f: {op: dft, inputs: {x: \"x.h5:/x\"}}}");
    EXPECT_EQ(refused.exit, 2);
    EXPECT_TRUE(has(refused.err, {"scalar", "no axis to transform"}));
}

TEST_F(Field, LongJobFilesAndLongJobsAreWritten) {  // BR056
    std::string jobs = "# " + std::string(70'000, 'c') + "\njobs:\n";
    for (int i = 0; i < 2000; ++i)
        jobs += fmt::format("  j{}: {{op: add, inputs: {{x: {}, y: 2}}, outputs: $job.h5}}\n", i, i);
    std::string list = "1";
    for (int i = 2; i <= 20'000; ++i) list += fmt::format(", {}", i);
    jobs += "  long: {op: sum, inputs: {x: [" + list + "]}, outputs: $job.h5}\n";  // the job is in its output
    const Ran ran = run_job(jobs, "--only j1999 --only long");
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(values<std::int64_t>("out/job/j1999.h5", "/z"), std::vector<std::int64_t>{2001});
    EXPECT_EQ(values<std::int64_t>("out/job/long.h5", "/s"), std::vector<std::int64_t>{200'010'000});
}

TEST_F(Field, NumbersAreReadAsWrittenOrRefusedWithWhatIsRight) {  // BR065, BR069
    std::string jobs;
    const auto add = [&](const std::string& key, const std::string& value) {
        jobs +=
            fmt::format("  f{}:\n    op: dft\n    inputs: {{x: {{generate: ones, shape: [3, 8]}}}}\n", jobs.size()) +
            fmt::format("    params:\n      {}: {}\n", key, value);
    };
    const auto check = [&] {
        write("job.yaml", "jobs:\n" + std::exchange(jobs, ""));
        return run("check job.yaml --explain");
    };
    for (const std::string n : {"1e6", "1.0e+6", "1_000_000"}) {
        add("n", n);
        EXPECT_TRUE(has(check().out, {"complex64 (3, 1000000)"})) << n;
    }
    add("axes", "-1");
    add("n", "4294967296");  // no 0 by wrapping: it is said to be too large for this machine
    EXPECT_TRUE(has(check().out, {"complex64 (3, 8)", "(3, 4294967296)"}));

    const std::vector<std::tuple<std::string, std::string, std::string>> wrong{
        {"n", "1,000", "not 1,000 (write 1000)"},
        {"n", "\"1e6\"", "not the text '1e6'"},
        {"n", "2.5", "n is an integer or a list of integers, at least 1, not 2.5"},
        {"n", "-1", "at least 1, not -1"},
        {"n", "0", "at least 1, not 0"},
        {"n", "99999999999999999999", "99999999999999999999 is no number"},
        {"n", "9223372036854775807", "more than 2^63 - 1 elements"},
        {"axes", "-9", "axes: x (3, 8) has no axis -9; allowed: -2 to 1"},
        {"axes", "2", "has no axis 2;"},
        {"axes", "4294967296", "has no axis 4294967296;"}};
    for (const auto& [key, value, words] : wrong) add(key, value);
    const Ran ran = check();
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"job.yaml: 10 errors"}));
    for (const auto& [key, value, words] : wrong) EXPECT_TRUE(has(ran.err, {words}));
}

}  // namespace

}  // namespace gridstride::cli
