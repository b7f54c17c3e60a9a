// SPDX-License-Identifier: BSD-3-Clause
// Sweeps: a job becomes its cases, each with its values in it, and so do the jobs that read it; expect, timeout,
// against.
#include <filesystem>
#include <fstream>

#include "config/support.hpp"

namespace gridstride::config {
namespace {

std::vector<std::string> names(const Loaded& loaded) {
    std::vector<std::string> list;
    for (const Job& job : loaded.config.jobs) list.push_back(job.name);
    return list;
}

/// A sum of n ones that is swept.
std::string swept(const std::string& sweep, const std::string& vars = "") {
    return vars + "jobs:\n  a:\n    op: sum\n    sweep: " + sweep +
           "\n    inputs: {x: {generate: ones, shape: [$n, 3]}}\n";
}

std::vector<Shape> shapes(const Loaded& loaded) {
    std::vector<Shape> list;
    for (const Job& job : loaded.config.jobs) list.push_back(*job.inputs.at("x").shape);
    return list;
}

TEST(Sweep, mapping_of_lists_is_their_product_the_first_key_slowest) {
    const Loaded loaded = good(swept("{n: [5, 1_000], dtype: [float32, float64], params.axes: [0, [0, 1]]}"));
    EXPECT_EQ(names(loaded), (std::vector<std::string>{
                                 "a[n=5,dtype=float32,params.axes=0]", "a[n=5,dtype=float32,params.axes=0x1]",
                                 "a[n=5,dtype=float64,params.axes=0]", "a[n=5,dtype=float64,params.axes=0x1]",
                                 "a[n=1000,dtype=float32,params.axes=0]", "a[n=1000,dtype=float32,params.axes=0x1]",
                                 "a[n=1000,dtype=float64,params.axes=0]", "a[n=1000,dtype=float64,params.axes=0x1]"}));
    const Job& job = loaded.config.jobs[5];
    EXPECT_EQ(job.base, "a");
    EXPECT_EQ(job.inputs.at("x").shape, (Shape{1000, 3}));
    EXPECT_EQ(job.dtype, DType::float32);
    EXPECT_EQ(job.params.get("axes"), Value(Values{std::int64_t{0}, std::int64_t{1}}));
    ASSERT_EQ(job.sweep.size(), 3U);
    EXPECT_EQ(job.sweep[0].first, "n");
    EXPECT_EQ(job.sweep[0].second, Value(std::int64_t{1000}));
    EXPECT_EQ(job.sweep[1].second, Value(std::string("float32")));
    EXPECT_EQ(job.explained[0].key, "sweep.n");
    EXPECT_EQ(job.explained[0].value, "1000");
    EXPECT_EQ(job.explained[0].origin, "t.yaml:4");
}

TEST(Sweep, list_of_mappings_is_those_cases_and_expect_does_not_name_one) {
    const Loaded loaded = good(
        "defaults: {launch: {grid: 7, block: 32}}\n"
        "jobs:\n"
        "  a:\n"
        "    op: add\n"
        "    inputs: {x: 1, y: 2}\n"
        "    sweep: [{launch: {grid: 1, block: 256}}, {launch.block: 100}, {launch.block: 4096, expect: error, "
        "timeout: "
        "2.5}]\n");
    EXPECT_EQ(names(loaded), (std::vector<std::string>{"a[launch.grid=1,launch.block=256]", "a[launch.block=100]",
                                                       "a[launch.block=4096]"}));
    EXPECT_EQ(loaded.config.jobs[0].launch.grid, (Shape{1}));
    EXPECT_EQ(loaded.config.jobs[1].launch.grid, (Shape{7}));  // a part is set of what defaults give
    EXPECT_EQ(loaded.config.jobs[1].launch.block, (Shape{100}));
    EXPECT_EQ(loaded.config.jobs[1].expect, Expect::pass);
    EXPECT_FALSE(loaded.config.jobs[1].timeout);
    EXPECT_EQ(loaded.config.jobs[2].expect, Expect::error);
    EXPECT_EQ(loaded.config.jobs[2].timeout, 2.5);
}

TEST(Sweep, ranges_are_inclusive_and_may_need_variables) {
    const auto numbers = [](const std::string& values) {
        std::vector<std::int64_t> list;
        for (const Shape& shape : shapes(good(swept("{n: " + values + "}", "vars: {top: 9, list: [4, 2]}\n"))))
            list.push_back(shape[0]);
        return list;
    };
    EXPECT_EQ(numbers("range(3..6)"), (std::vector<std::int64_t>{3, 4, 5, 6}));
    EXPECT_EQ(numbers("range(1..9..4)"), (std::vector<std::int64_t>{1, 5, 9}));
    EXPECT_EQ(numbers("range(1..8..4)"), (std::vector<std::int64_t>{1, 5}));
    EXPECT_EQ(numbers("range(7..7)"), (std::vector<std::int64_t>{7}));
    EXPECT_EQ(numbers("range(5..$top..2)"), (std::vector<std::int64_t>{5, 7, 9}));
    EXPECT_EQ(numbers("pow2(0..3)"), (std::vector<std::int64_t>{1, 2, 4, 8}));
    EXPECT_EQ(numbers("$list"), (std::vector<std::int64_t>{4, 2}));
}

TEST(Sweep, nested_mapping_is_a_path_and_a_value_may_need_another_swept_variable) {
    const Loaded loaded = good(
        "jobs:\n  a:\n    op: sum\n    inputs: {}\n    sweep: {n: [2, 3], inputs: {x: [{generate: ones, shape: [$n, "
        "1]}, "
        "[1, 2, 3, 4]]}}\n");
    ASSERT_EQ(loaded.config.jobs.size(), 4U);
    EXPECT_EQ(loaded.config.jobs[0].inputs.at("x").shape, (Shape{2, 1}));
    EXPECT_EQ(loaded.config.jobs[2].inputs.at("x").shape, (Shape{3, 1}));
    EXPECT_EQ(loaded.config.jobs[1].name, "a[n=2,inputs.x=1x2x3x4]");
}

TEST(Sweep, what_a_variable_makes_follows_it_in_the_swept_job_alone) {
    const Loaded loaded = good(
        "vars: {n: 100, half: \"${n // 2}\"}\n"
        "defaults: {launch: {threads: $n}}\n"
        "jobs:\n"
        "  a: {op: sum, sweep: {n: [8, 9]}, inputs: {x: {generate: ones, shape: [$half, $n]}}, outputs: s$n.h5}\n"
        "  b: {op: sum, inputs: {x: {generate: ones, shape: [$half, $n]}}}\n");
    EXPECT_EQ(shapes(loaded), (std::vector<Shape>{{4, 8}, {4, 9}, {50, 100}}));
    EXPECT_EQ(loaded.config.jobs[1].output_file, "s9.h5");
    EXPECT_EQ(loaded.config.jobs[0].threads, 8);
    EXPECT_EQ(loaded.config.jobs[2].threads, 100);
}

TEST(Sweep, job_that_reads_a_swept_one_is_swept_with_it) {
    const Loaded loaded = good(
        "jobs:\n"
        "  last: {op: add, sweep: {k: [0.5, 2]}, inputs: {x: $first:/s, y: \"$middle:/y\"}, params: {}, outputs: "
        "z$n-$k.h5, store: {chunks: [1]}, result_dtype: float32, tolerance: {factor: $k}}\n"
        "  middle: {op: copy, inputs: {x: $first:/s}}\n"
        "  first: {op: sum, sweep: {n: [5, 7], dtype: [float64]}, params: {axes: 1}, inputs: {x: {generate: ones, "
        "shape: "
        "[3, $n]}}}\n");
    EXPECT_EQ(names(loaded),
              (std::vector<std::string>{"last[n=5,first.dtype=float64,k=0.5]", "last[n=5,first.dtype=float64,k=2]",
                                        "last[n=7,first.dtype=float64,k=0.5]", "last[n=7,first.dtype=float64,k=2]",
                                        "middle[n=5,first.dtype=float64]", "middle[n=7,first.dtype=float64]",
                                        "first[n=5,dtype=float64]", "first[n=7,dtype=float64]"}));
    const Job& last = loaded.config.jobs[2];
    EXPECT_EQ(std::get<JobOutput>(last.inputs.at("x").source).job, "first[n=7,dtype=float64]");
    EXPECT_EQ(std::get<JobOutput>(last.inputs.at("y").source).job, "middle[n=7,first.dtype=float64]");
    EXPECT_EQ(last.output_file, "z7-0.5.h5");
    EXPECT_EQ(last.tolerance.factor, 0.5);
    EXPECT_FALSE(last.dtype);  // of the job it reads, not its own
}

TEST(Sweep, resolved_jobs_of_a_case_load_again_under_their_own_names) {
    const Loaded loaded = good(
        "jobs:\n"
        "  a: {op: sum, sweep: {n: [5, 7]}, inputs: {x: {generate: normal, shape: [3, $n]}}}\n"
        "  b: {op: copy, inputs: {x: $a:/s}}\n");
    const Job &a = loaded.config.jobs[1], &b = loaded.config.jobs[3];
    const Loaded again = good(to_yaml({{&a, a.params, "loop", "cpu"}, {&b, b.params, "loop", "cpu"}}));
    EXPECT_EQ(names(again), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(again.job("a").inputs.at("x").shape, (Shape{3, 7}));
    EXPECT_EQ(std::get<JobOutput>(again.job("b").inputs.at("x").source).job, "a");
}

TEST(Sweep, glob_is_sorted_holds_files_alone_and_gives_their_stems) {
    std::string folder = (std::filesystem::temp_directory_path() / "gridstride_[sweep]_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    std::filesystem::create_directories(folder + "/raw/folder.h5");
    for (const char* file : {"raw/b.x.h5", "raw/a$1.h5", "raw/c.txt"}) std::ofstream(folder + "/" + file) << "x";
    const std::string text =
        "jobs: {a: {op: sum, sweep: {file: glob(raw/*.h5)}, inputs: {x: \"$file:/x\"}, outputs: \"$stem-sum.h5\"}}\n";
    Diagnostics diagnostics;
    const Config config = parse(text, "t.yaml", folder, {}, diagnostics);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
    ASSERT_EQ(config.jobs.size(), 2U);
    EXPECT_EQ(config.jobs[0].name, "a[file=raw/a$1.h5]");
    EXPECT_EQ(std::get<Dataset>(config.jobs[0].inputs.at("x").source).file, folder + "/raw/a$1.h5");
    EXPECT_EQ(config.expand(*config.jobs[0].output_file, {}), "a$1-sum.h5");
    EXPECT_EQ(config.jobs[1].output_file, "b.x-sum.h5");
    Diagnostics none;
    parse("jobs: {a: {op: sum, sweep: {file: glob(raw/*.hdf5)}, inputs: {x: \"$file:/x\"}}}\n", "t.yaml", folder, {},
          none);
    ASSERT_EQ(none.list().size(), 1U) << none.text();
    EXPECT_NE(none.list()[0].message.find("no file matches 'raw/*.hdf5' in " + folder), std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST(Sweep, mistakes_are_told_where_they_stand) {
    expect_one(swept("{n: 5}"), 4, 16,
               {"sweep.n is a list of values, range(a..b..s), pow2(a..b) or glob(PATTERN), not 5"});
    expect_one(swept("{n: rang(1..5)}"), 4, 16, {"did you mean 'range'"});
    expect_one(swept("{n: []}"), 4, 16, {"sweep.n is a list of values"});
    expect_one(swept("{n: range(5..1)}"), 4, 16, {"range(a..b) or range(a..b..s), integers with a <= b and s >= 1"});
    expect_one(swept("{n: range(1..5..0)}"), 4, 16, {"s >= 1"});
    expect_one(swept("{n: range(1..2.5)}"), 4, 16, {"integers"});
    expect_one(swept("{n: pow2(60..63)}"), 4, 16, {"0 <= a <= b <= 62"});
    expect_one(swept("{n: [3, 3]}"), 4, 20, {"the case n=3 is there twice"});
    expect_one(swept("{n: [3], m: [1, 2]}"), 4, 21, {"nothing in job 'a' uses $m"});
    expect_one(swept("{n: [3], dtyp: [float32]}"), 4, 21, {"uses $dtyp (did you mean 'dtype'?)"});
    expect_one(swept("{n: [3], op: [sum]}"), 4, 21, {"op is not swept: write a job for each"});
    expect_one(swept("{n: [3], parms.axes: [0]}"), 4, 21, {"did you mean 'params'?"});
    expect_one(swept("{n: [3], env: [0]}"), 4, 21, {"reserved"});
    expect_one(swept("{n: [3], a: [0]}"), 4, 21, {"'a' is a job too"});
    expect_one(swept("{n: [3], dtype: [float32]}", "vars: {dtype: 1}\n"), 5, 21, {"a key of a job and a variable"});
    expect_one(swept("[{n: range(1..3)}]"), 4, 17, {"a case of a list has one value", "sweep: {n: range(1..3)}"});
    expect_one(swept("[{n: 3}, 4]"), 4, 21, {"a case of sweep is a mapping of keys"});
    expect_one(swept("[{n: 3}, {expect: error}]"), 4, 30, {"needs a key beside expect and timeout"});
    expect_one(swept("nothing"), 4, 12, {"sweep is a mapping of keys to their values, or a list of mappings"});
    expect_one(swept("{n: [3], params.axes.x: [0]}") + "    params: {axes: 0}\n", 4, 21,
               {"params.axes is 0, no mapping: set it whole"});
    expect_one(
        "jobs: {a: {op: sum, inputs: {x: [1, 2]}}, b: {op: sum, sweep: {n: [1, 2]}, inputs: {x: {generate: ones, "
        "shape: $n}}}, c: {op: copy, inputs: {x: {generate: ones, shape: $n}}}}\n",
        1, 169, {"'n' is set by the sweep of job 'b'"});
    expect_one(
        "jobs:\n  a: {op: sum, sweep: {n: [1, 2]}, inputs: {x: {generate: ones, shape: $n}}}\n  b: {op: sum, sweep: "
        "{n: [1, 2]}, inputs: {x: {generate: ones, shape: $n}}}\n  c: {op: add, inputs: {x: $a:/s, y: $b:/s}}\n",
        4, 3, {"job 'c' goes through the sweeps of 'a' and 'b', which both set $n"});
}

TEST(Sweep, error_of_all_cases_is_told_once_and_one_of_some_with_the_first_of_them) {
    expect_one(swept("{n: [3, 4, 5]}") + "    dtpe: float32\n", 6, 5, {"unknown key 'dtpe'"});
    const Loaded loaded = load_text(swept("{n: [3, -4, 5, -6, -7]}"));
    ASSERT_EQ(loaded.diagnostics.list().size(), 3U) << loaded.diagnostics.text();
    EXPECT_NE(loaded.diagnostics.list()[0].message.find("not -4 (in a[n=-4])"), std::string::npos);
    const Loaded again = load_text(swept("{n: [3, 4, 5, 6], params.axes: [1, x]}"));
    ASSERT_EQ(again.diagnostics.list().size(), 1U) << again.diagnostics.text();
    EXPECT_NE(again.diagnostics.list()[0].message.find("(in a[n=3,params.axes=x] and 3 other cases)"),
              std::string::npos);
}

TEST(Sweep, more_cases_than_allowed_are_an_error_that_says_how_to_allow_them) {
    expect_one(swept("{n: range(1..10001)}"), 4, 16, {"10001 cases, more than 10000: --max-cases 10001 allows them"});
    expect_one(swept("{n: range(1..101), params.axes: [0, 1], dtype: [float32, float64]}"), 4, 12,
               {"sweep makes 404 cases, more than 400"}, [] {
                   Overrides overrides;
                   overrides.max_cases = 400;
                   return overrides;
               }());
    Overrides overrides;
    overrides.max_cases = 10'001;
    EXPECT_EQ(good(swept("{n: range(1..10001)}"), overrides).config.jobs.size(), 10'001U);
    expect_one(swept("{n: range(-9_000_000_000_000_000_000..9_000_000_000_000_000_000)}"), 4, 16, {"more than 10000"});
}

TEST(Sweep, what_the_command_line_would_override_in_silence_is_refused) {
    Overrides variant;
    variant.variant = "loop";
    EXPECT_NE(load_text(swept("{n: [3], variant: [loop, all]}"), variant)
                  .diagnostics.text()
                  .find("--variant: error: job 'a' is swept over variant: --set jobs.a.sweep.variant=[...]"),
              std::string::npos);
    Overrides key;
    key.set = {"jobs.a.dtype=float64"};
    EXPECT_NE(
        load_text(swept("{n: [3], dtype: [float32]}"), key).diagnostics.text().find("job 'a' is swept over dtype"),
        std::string::npos);
    Overrides values;
    values.set = {"jobs.a.sweep.n=[6, 2]"};
    EXPECT_EQ(shapes(good(swept("{n: [3]}"), values)), (std::vector<Shape>{{6, 3}, {2, 3}}));
}

TEST(Sweep, error_in_a_sweep_hides_no_other_and_makes_none) {
    const Loaded loaded = load_text(
        "jobs:\n"
        "  a:\n"
        "    op: convcov\n"
        "    sweep: {n: 5, params.kernel: [1, 3]}\n"
        "    inputs: {mu: {generate: ones, shape: [1, 2, $n, 5]}, coef: 1}\n"
        "    dtype: flot32\n"
        "  b: {op: sum, inputs: {x: $a:/cov}, outputs: s$n.h5}\n");
    EXPECT_EQ(loaded.diagnostics.list().size(), 2U) << loaded.diagnostics.text();
    EXPECT_TRUE(has_error(loaded.diagnostics, 4, 16, {"sweep.n"}));
    EXPECT_TRUE(has_error(loaded.diagnostics, 6, 12, {"dtype"}));
}

TEST(Judged, expect_timeout_and_against_are_read_strictly) {
    const Loaded loaded = good("defaults: {expect: mismatch, timeout: 30}\n" +
                               matmul("    against: {from: mine.h5:/c, select: \"0:3\"}\n"));
    EXPECT_EQ(loaded.job().expect, Expect::mismatch);
    EXPECT_EQ(loaded.job().timeout, 30);
    ASSERT_TRUE(loaded.job().against);
    EXPECT_EQ(std::get<Dataset>(loaded.job().against->source).file, "/jobs/mine.h5");
    EXPECT_EQ(loaded.job().against->select, "0:3");
    expect_one(matmul("    expect: mismach\n"), 5, 13,
               {"one of pass, mismatch, error, skipped", "did you mean 'mismatch'"});
    expect_one(matmul("    timeout: 0\n"), 5, 14, {"timeout is a finite number above 0, not 0"});
    expect_one(matmul("    against: mine.h5\n"), 5, 14, {"against is FILE:/DATASET, alone or as `from`"});
    expect_one(matmul("    against: [1, 2]\n"), 5, 14, {"an answer that a file holds: FILE:/DATASET"});
    expect_one("defaults: {against: x.h5:/x}\n" + matmul(""), 1, 12, {"unknown key 'against' in defaults"});
}

}  // namespace
}  // namespace gridstride::config
