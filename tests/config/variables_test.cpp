// SPDX-License-Identifier: BSD-3-Clause
// Variables, arithmetic, overrides, and where values come from.
#include <fmt/format.h>

#include <cstdlib>

#include "io/config_expand.hpp"
#include "support.hpp"

namespace gridstride::config {
namespace {

std::int64_t value(const std::string& expression) {
    return evaluate(expression, [](const std::string& name) -> std::int64_t {
        if (name == "n") return 7;
        if (name == "m") return -3;
        throw ExpandError{"no " + name};
    });
}

std::string fault(const std::string& expression) {
    try {
        return fmt::format("no error, but {}", value(expression));
    } catch (const ExpandError& error) {
        return error.message;
    }
}

TEST(Arithmetic, is_pythons) {
    EXPECT_EQ(value("n // 2"), 3);
    EXPECT_EQ(value("-n // 2"), -4);
    EXPECT_EQ(value("n // -2"), -4);
    EXPECT_EQ(value("n % m"), -2);
    EXPECT_EQ(value("-n % 3"), 2);
    EXPECT_EQ(value("-n % m"), -1);
    EXPECT_EQ(value("1 + 2 * 3 - 4 // 3 % 2"), 6);
    EXPECT_EQ(value("(1 + 2) * 3"), 9);
    EXPECT_EQ(value("2 - 3 - 4"), -5);
    EXPECT_EQ(value("100 // 7 // 2"), 7);
    EXPECT_EQ(value("--n + +m"), 4);
    EXPECT_EQ(value("1_000*n"), 7000);
    EXPECT_EQ(value("9223372036854775807"), 9223372036854775807);
    EXPECT_EQ(value("-9223372036854775807 - 1"), INT64_MIN);
    EXPECT_EQ(value("(-9223372036854775807 - 1) % -1"), 0) << "defined, where C++ overflows";
}

TEST(Arithmetic, refuses_what_has_no_value) {
    EXPECT_NE(fault("n // 0").find("division by zero"), std::string::npos);
    EXPECT_NE(fault("n % (3 - 3)").find("division by zero"), std::string::npos);
    for (const std::string overflow : {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4294967296 * 4294967296",
                                       "(-9223372036854775807 - 1) // -1", "-(-9223372036854775807 - 1)"})
        EXPECT_NE(fault(overflow).find("64-bit"), std::string::npos) << overflow;
    EXPECT_NE(fault("n / 2").find("write '//'"), std::string::npos);
    EXPECT_NE(fault("n ** 2").find("powers"), std::string::npos);
    EXPECT_NE(fault("n +").find("missing"), std::string::npos);
    EXPECT_NE(fault("(n").find("')' is missing"), std::string::npos);
    EXPECT_NE(fault("n n").find("not expected"), std::string::npos);
    EXPECT_NE(fault("2.5 * 2").find("not expected"), std::string::npos);
    EXPECT_NE(fault("010 + 1").find("leading zero"), std::string::npos);
    EXPECT_NE(fault("99999999999999999999").find("2^63 - 1"), std::string::npos);
    EXPECT_NE(fault("k + 1").find("no k"), std::string::npos);
    EXPECT_NE(fault(std::string(100'000, '(') + "1").find("too many"), std::string::npos);
    EXPECT_EQ(value(std::string(100'000, '-') + "1"), 1);
}

std::string sum_of(const std::string& vars, const std::string& input) {
    return "vars: " + vars + "\njobs:\n  a:\n    op: sum\n    inputs: {x: " + input + "}\n";
}
const Input& input_of(const Loaded& loaded) {
    return loaded.job().inputs.at("x");
}

TEST(Variables, take_values_with_their_types) {
    const std::string vars =
        "{n: 4, half: \"${n // 2}\", shape: [$n, $half, 3], made: {generate: ones, shape: $shape}, text: \"4\", list: "
        "[1, 2]}";
    EXPECT_EQ(input_of(good(sum_of(vars, "{generate: ones, shape: $shape}"))).shape, (Shape{4, 2, 3}));
    EXPECT_EQ(input_of(good(sum_of(vars, "{generate: ones, shape: [\"$n\", \"${n}\", \"${n*n - 1}\"]}"))).shape,
              (Shape{4, 4, 15}));
    EXPECT_EQ(input_of(good(sum_of(vars, "$made"))).shape, (Shape{4, 2, 3}));
    EXPECT_EQ(std::get<Numbers>(input_of(good(sum_of(vars, "$list"))).source).shape, Shape{2});
    EXPECT_EQ(std::get<Numbers>(input_of(good(sum_of(vars, "$n"))).source).shape, Shape{});
    EXPECT_EQ(std::get<Dataset>(input_of(good(sum_of(vars, "\"f$n-${half}.h5:/x$$y/$text\""))).source).file,
              "/jobs/f4-2.h5");
    EXPECT_EQ(std::get<Dataset>(input_of(good(sum_of(vars, "\"f$n-${half}.h5:/x$$y/$text\""))).source).path, "/x$y/4");
    expect_one(sum_of(vars, "{generate: ones, shape: $text}"), 5, 41, {"shape", "the text '4'"});
    EXPECT_EQ(good("vars: {all: {a: f.h5:/a, b: 2}, k: 0.5, p: {alpha: $k}}\njobs:\n  a: {op: matmul, inputs: $all, "
                   "params: $p}\n")
                  .job()
                  .params.numbers("alpha")[0],
              0.5);
}

TEST(Variables, that_are_wrong_are_told_once_where_they_stand) {
    expect_one(sum_of("{n: $size, m: $n}", "{generate: ones, shape: [$n, $m, \"${n + 1}\"]}"), 1, 11,
               {"no variable is called 'size'"});
}

TEST(Variables, unknown_or_unfit_ones_are_errors) {
    expect_one(sum_of("{size: 4}", "{generate: ones, shape: $sise}"), 5, 41,
               {"no variable is called 'sise'", "did you mean 'size'", "`vars` has size"});
    expect_one(sum_of("{n: $n}", "1"), 1, 11, {"'n' needs itself"});
    expect_one(sum_of("{a1: $b1, b1: \"x${c1}\", c1: $a1}", "1"), 1, 35, {"'a1' needs itself"});
    expect_one(sum_of("{n: x}", "{generate: ones, shape: \"${n + 1}\"}"), 5, 41, {"'n' is x, not an integer"});
    expect_one(sum_of("{n: 2.5}", "{generate: ones, shape: \"${n + 1}\"}"), 5, 41, {"'n' is 2.5, not an integer"});
    expect_one(sum_of("{n: [1]}", "f$n.h5:/x"), 5, 17, {"'n' is a list"});
    expect_one(sum_of("{n: ~}", "f$n.h5:/x"), 5, 17, {"'n' is null"});
    expect_one(sum_of("{n: 1}", "\"f${n.h5:/x\""), 5, 17, {"'${' without its '}'"});
    expect_one(sum_of("{n: 1}", "\"f${}.h5:/x\""), 5, 17, {"empty ${}"});
    expect_one(sum_of("{n: 1}", "\"f$.h5:/x\""), 5, 17, {"'$$'"});
    expect_one(sum_of("{n: 1}", "f$variant.h5:/x"), 5, 17, {"$variant exists only in `outputs`"});
    expect_one(sum_of("{n: 1}", "f$a.h5:/x"), 5, 17, {"'a' is a job", "$a:/OUTPUT"});
    expect_one(sum_of("{n: $a:/s}", "1"), 1, 11, {"'a' is a job"});
}

TEST(Variables, come_from_the_environment) {
    ::setenv("GRIDSTRIDE_TEST_N", "12", 1);
    ::setenv("GRIDSTRIDE_TEST_EMPTY", "", 1);
    ::unsetenv("GRIDSTRIDE_TEST_UNSET");
    EXPECT_EQ(input_of(good(sum_of("{n: \"${env:GRIDSTRIDE_TEST_N}\"}", "{generate: ones, shape: [$n, \"${n + 1}\"]}")))
                  .shape,
              (Shape{12, 13}));
    EXPECT_EQ(input_of(good(sum_of("{n: 1}", "{generate: ones, shape: \"${env:GRIDSTRIDE_TEST_UNSET:-5}\"}"))).shape,
              (Shape{5}));
    EXPECT_EQ(std::get<Dataset>(
                  input_of(good(sum_of("{n: 1}",
                                       "\"${env:GRIDSTRIDE_TEST_UNSET:-/data}/f${env:GRIDSTRIDE_TEST_EMPTY}.h5:/x\"")))
                      .source)
                  .file,
              "/data/f.h5");
    expect_one(sum_of("{n: 1}", "\"${env:GRIDSTRIDE_TEST_UNSET}/f.h5:/x\""), 5, 17,
               {"GRIDSTRIDE_TEST_UNSET is not set", ":-"});
    const Loaded twice = load_text(
        "vars: {f: \"${env:GRIDSTRIDE_TEST_UNSET}/f.h5\"}\njobs:\n"
        "  a: {op: sum, inputs: {x: {from: \"$f:/x\", nan: 0}}}\n  b: {op: sum, inputs: {x: {from: \"$f:/y\", nan: "
        "0}}}\n");
    EXPECT_EQ(twice.diagnostics.list().size(), 1U) << twice.diagnostics.text();
    EXPECT_TRUE(twice.job("b").inputs.empty());  // not an input without a file
    expect_one(sum_of("{n: 1}", "\"${env:A B}/f.h5:/x\""), 5, 17, {"${env:NAME}"});
    ::setenv("GRIDSTRIDE_TEST_N", "\xFF", 1);
    expect_one(sum_of("{n: 1}", "\"${env:GRIDSTRIDE_TEST_N}/f.h5:/x\""), 5, 17, {"not UTF-8"});
    ::unsetenv("GRIDSTRIDE_TEST_N");
}

TEST(Variables, bombs_and_long_chains_are_refused) {
    std::string bomb = "vars:\n  v0: [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 20; ++i) {
        std::string list;
        for (int j = 0; j < 10; ++j) list += fmt::format("$v{}, ", i - 1);
        bomb += fmt::format("  v{}: [{}]\n", i, list);
    }
    const Loaded loaded = load_text(bomb + matmul(""));
    ASSERT_FALSE(loaded.diagnostics.empty());
    EXPECT_NE(loaded.diagnostics.list()[0].message.find("more than 1000000 values"), std::string::npos);
    std::string chain = "vars:\n  w0000: 1\n";
    for (int i = 9999; i > 0; --i) chain += fmt::format("  w{:04}: $w{:04}\n", i, i - 1);
    chain += "";
    const Loaded chained = load_text(chain + matmul(""));
    EXPECT_LE(chained.diagnostics.list().size(), 1000U);
    std::string back = "vars:\n  w9999: 1\n";
    for (int i = 0; i < 9999; ++i) back += fmt::format("  w{:04}: $w{:04}\n", i, i + 1);
    const Loaded backwards = load_text(back + matmul(""));
    ASSERT_FALSE(backwards.diagnostics.empty());
    EXPECT_NE(backwards.diagnostics.list()[0].message.find("in a row"), std::string::npos);
    std::string doubling = "vars:\n  t0: xxxxxxxxxx\n";
    for (int i = 1; i < 40; ++i) doubling += fmt::format("  t{}: $t{}$t{}\n", i, i - 1, i - 1);
    EXPECT_NE(load_text(doubling + matmul("")).diagnostics.list().at(0).message.find("1 MiB"), std::string::npos);
}

TEST(Overrides, set_variables_and_parts_of_jobs) {
    const std::string file =
        "vars: {n: 4}\ndefaults: {store: {compression: gzip, shuffle: true}}\njobs:\n  a:\n    op: convcov\n"
        "    inputs: {mu: {generate: ones, shape: [1, 1, $n, $n]}}\n    params: {kernel: 3}\n";
    Overrides overrides;
    overrides.set = {"n=8_192", "jobs.a.params.kernel=[5, 1]", "jobs.a.params.channels=2", "jobs.a.store.level=9",
                     "jobs.a.dtype=float64"};
    const Loaded loaded = good(file, overrides);
    EXPECT_EQ(loaded.job().inputs.at("mu").shape, (Shape{1, 1, 8192, 8192}));
    EXPECT_EQ(loaded.job().params.integers("kernel"), (std::vector<std::int64_t>{5, 1}));
    EXPECT_EQ(loaded.job().params.integer("channels"), 2);
    EXPECT_EQ(loaded.job().store.level, 9);
    EXPECT_TRUE(loaded.job().store.shuffle);  // of the default, which the job now has as its own
    EXPECT_EQ(loaded.job().dtype, DType::float64);
    overrides.set = {"defaults.validate=none"};
    EXPECT_EQ(good(file, overrides).job().validate.mode, Validate::Mode::none);
    overrides.set = {"vars.n=2"};
    EXPECT_EQ(good(file, overrides).job().inputs.at("mu").shape, (Shape{1, 1, 2, 2}));
    overrides.set = {"n=1", "n=2"};
    EXPECT_EQ(good(file, overrides).job().inputs.at("mu").shape, (Shape{1, 1, 2, 2}));
    overrides.set = {"jobs.a.inputs.mu={generate: zeros, shape: [1, 1, 3, 3]}"};
    EXPECT_EQ(std::get<Generate>(good(file, overrides).job().inputs.at("mu").source).kind, "zeros");
}

TEST(Overrides, that_name_nothing_are_errors_with_a_suggestion) {
    const std::string file = "vars: {size: 4}\n" + matmul("    params: {alpha: 1}\n    dtype: float32\n");
    const auto wrong = [&](const std::string& set, const std::vector<std::string>& words) {
        Overrides overrides;
        overrides.set = {set};
        const Loaded loaded = load_text(file, overrides);
        EXPECT_TRUE(has_error(loaded.diagnostics, 0, 0, words)) << set;
        EXPECT_EQ(loaded.diagnostics.list().size(), 1U) << loaded.diagnostics.text();
        EXPECT_EQ(loaded.diagnostics.list().at(0).mark.source, "--set " + set);
        EXPECT_NE(loaded.diagnostics.text().find("--set " + set + ": error: "), std::string::npos);
    };
    wrong("sise=3", {"no variable is called 'sise'", "did you mean 'size'"});
    wrong("a=3", {"no variable is called 'a'", "it is a job"});
    wrong("jobs.b.dtype=float32", {"no job is called 'b'"});
    wrong("job.a.dtype=float32", {"did you mean 'jobs'"});
    wrong("jobs.a.dtipe=float32", {"unknown key 'dtipe'", "did you mean 'dtype'"});
    wrong("jobs.a.params.alfa=2", {"no parameter 'alfa'", "did you mean 'alpha'"});
    wrong("jobs.a.params.alpha=two", {"alpha is a number or [re, im], not two"});
    wrong("jobs.a.inputs.a.select=\"0:1\"", {"jobs.a.inputs.a is f.h5:/a, no mapping"});
    wrong("size", {"KEY=VALUE"});
    wrong("=3", {"KEY=VALUE"});
    wrong("size=", {"no value"});
    wrong("size=[1", {"bracket that is not closed"});
    wrong("size=010", {"leading zero"});
    wrong("jobs.a.dtype=*", {"quote it"});
}

TEST(Overrides, go_before_job_defaults_and_built_in) {
    const std::string file =
        "defaults: {device: auto, validate: full}\n" + matmul("    device: cpu\n    launch: {threads: 3}\n");
    Overrides overrides;
    overrides.device = "cuda:1";
    overrides.validate = "{sample: 5}";
    overrides.threads = 7;
    const Job job = good(file, overrides).job();
    EXPECT_EQ(job.device.device, Device::cuda);
    EXPECT_EQ(job.device.index, 1);
    EXPECT_EQ(job.validate.sample, 5);
    EXPECT_EQ(job.threads, 7);
    overrides = {};
    overrides.device = "gpu";
    expect_one(file, 0, 0, {"device is auto, cpu, cuda or cuda:N", "did you mean 'cuda'"}, overrides);
    overrides = {};
    overrides.threads = 0;
    expect_one(file, 0, 0, {"threads is at least 1"}, overrides);
    overrides = {};
    overrides.validate = "ful";
    expect_one(file, 0, 0, {"validate", "did you mean 'full'"}, overrides);
}

TEST(Explained, names_each_value_and_its_origin) {
    Overrides overrides;
    overrides.set = {"jobs.a.params.beta=0.5"};
    overrides.device = "cpu";
    const Loaded loaded = good(
        "vars: {n: 4}\ndefaults: {validate: full,\n  store: {compression: gzip}}\njobs:\n  a:\n    op: matmul\n"
        "    inputs:\n      a: {generate: ones, shape: [$n, 2]}\n      b: f.h5:/b\n    params:\n      alpha: $n\n    "
        "outputs: $n.h5\n",
        overrides);
    const auto line = [&](const std::string& key) {
        std::string found = "none";
        for (const Explained& one : loaded.job().explained)
            if (one.key == key) found = (found == "none" ? "" : found + "; ") + one.value + " | " + one.origin;
        return found;
    };
    EXPECT_EQ(line("op"), "matmul | t.yaml:6");
    EXPECT_EQ(line("inputs.a.shape"), "[4, 2] | t.yaml:8");
    EXPECT_EQ(line("inputs.b"), "f.h5:/b | t.yaml:9");
    EXPECT_EQ(line("params.alpha"), "4 | t.yaml:11");
    EXPECT_EQ(line("params.beta"), "0.5 | --set jobs.a.params.beta=0.5");
    EXPECT_EQ(line("params.transpose_a"), "none | built in");
    EXPECT_EQ(line("params.compute"), "auto | built in");
    EXPECT_EQ(line("outputs"), "4.h5 | t.yaml:12");
    EXPECT_EQ(line("validate"), "full | defaults, t.yaml:2");
    EXPECT_EQ(line("store.compression"), "gzip | defaults, t.yaml:3");
    EXPECT_EQ(line("device"), "cpu | command line");
    EXPECT_EQ(line("variant"), "auto | built in");
    EXPECT_EQ(line("tolerance"), "{factor: 4} | built in");
}

}  // namespace
}  // namespace gridstride::config
