// SPDX-License-Identifier: BSD-3-Clause
// Jobs: what right files mean, and where and why wrong ones are refused.
#include <cmath>

#include "io/config_job.hpp"
#include "support.hpp"

namespace gridstride::config {
namespace {

const std::string inputs = "    inputs: {a: f.h5:/a, b: f.h5:/b}\n";

TEST(Jobs, a_whole_file_is_read) {
    const Loaded loaded = good(R"(schema: 1
vars: {n: 4096}
defaults: {validate: full, store: {compression: gzip, shuffle: true}}
jobs:
  product-1:
    op: matmul
    inputs:
      a: data/f.h5:/entry/a
      b: {generate: normal, shape: [$n, 512], dtype: float64, scale: 0.5, seed: 7}
    params: {alpha: 2, transpose_b: adjoint}
    outputs: {c: product.h5:/entry/c}
    dtype: complex64
    result_dtype: complex128
    device: cpu
    variant: [loop, openblas]
    tolerance: {rtol: 1e-6, atol: .5}
  total:
    op: sum
    inputs: {x: {generate: linear, shape: 1e3}}
    outputs: total.h5
    store: {chunks: [100], level: 0, compression: gzip}
    validate: {sample: 16, terms: 1e6, seed: 3}
    launch: {threads: 2}
)");
    ASSERT_EQ(loaded.config.jobs.size(), 2U);
    EXPECT_EQ(loaded.config.jobs[0].name, "product-1");
    const Job& product = loaded.job("product-1");
    EXPECT_EQ(product.entry->op->name, "matmul");
    EXPECT_EQ(product.mark.line, 5);
    EXPECT_EQ(product.mark.column, 3);
    const auto& a = std::get<Dataset>(product.inputs.at("a").source);
    EXPECT_EQ(a.file, "/jobs/data/f.h5");
    EXPECT_EQ(a.path, "/entry/a");
    const Input& b = product.inputs.at("b");
    EXPECT_EQ(b.shape, (Shape{4096, 512}));
    EXPECT_EQ(b.dtype, DType::float64);
    EXPECT_EQ(b.mark.line, 9);
    const auto& made = std::get<Generate>(b.source);
    EXPECT_EQ(made.kind, "normal");
    EXPECT_EQ(made.scale, 0.5);
    EXPECT_EQ(made.seed, 7U);
    EXPECT_FALSE(b.scale.has_value());
    EXPECT_EQ(product.params.integer("alpha"), 2);
    EXPECT_EQ(product.params.word("transpose_b"), "adjoint");
    EXPECT_FALSE(product.params.has("transpose_a"));
    EXPECT_EQ(product.outputs.at("c"), "product.h5:/entry/c");
    EXPECT_FALSE(product.output_file.has_value());
    EXPECT_EQ(product.dtype, DType::complex64);
    EXPECT_EQ(product.result_dtype, DType::complex128);
    EXPECT_FALSE(product.device.any);
    EXPECT_EQ(product.device.device, Device::cpu);
    EXPECT_EQ(product.variants, (std::vector<std::string>{"loop", "openblas"}));
    EXPECT_TRUE(product.listed);
    EXPECT_EQ(product.tolerance.mode, Tolerance::Mode::absolute_relative);
    EXPECT_EQ(product.tolerance.rtol, 1e-6);
    EXPECT_EQ(product.tolerance.atol, 0.5);
    EXPECT_EQ(product.validate.mode, Validate::Mode::full);
    EXPECT_TRUE(product.store.gzip);
    EXPECT_TRUE(product.store.shuffle);
    EXPECT_EQ(product.store.level, 4);
    const Job& total = loaded.job("total");
    EXPECT_EQ(total.inputs.at("x").shape, (Shape{1000}));
    EXPECT_EQ(total.output_file, "total.h5");
    EXPECT_EQ(total.store.chunks, (Shape{100}));
    EXPECT_FALSE(total.store.shuffle);  // a job's key replaces the default whole
    EXPECT_EQ(total.store.level, 0);
    EXPECT_EQ(total.validate.mode, Validate::Mode::sample);
    EXPECT_EQ(total.validate.sample, 16);
    EXPECT_EQ(total.validate.terms, 1e6);
    EXPECT_EQ(total.validate.seed, 3U);
    EXPECT_EQ(total.threads, 2);
    EXPECT_FALSE(total.own_launch);
    EXPECT_TRUE(total.device.any);
    EXPECT_EQ(total.variants, (std::vector<std::string>{"auto"}));
    EXPECT_FALSE(total.listed);
    EXPECT_EQ(total.tolerance.factor, 4);
}

TEST(Jobs, marks_point_at_values_or_their_nearest_parent) {
    const Loaded loaded = good(
        "jobs:\n  a:\n    op: matmul\n    inputs:\n      a: {from: f.h5:/a, select: \"0:3\"}\n      b: f.h5:/b\n"
        "    params: {alpha: 2}\n");
    const Job& job = loaded.job();
    const auto at = [&](const std::string& key) { return std::pair(job.at(key).line, job.at(key).column); };
    EXPECT_EQ(at("params.alpha"), std::pair(7, 21));
    EXPECT_EQ(at("params.beta"), std::pair(7, 13));
    EXPECT_EQ(at("inputs.a.select"), std::pair(5, 34));
    EXPECT_EQ(at("inputs.a.shape"), std::pair(5, 10));
    EXPECT_EQ(at("inputs.b.select"), std::pair(6, 10));
    EXPECT_EQ(at("inputs"), std::pair(4, 5));
    EXPECT_EQ(at("launch"), std::pair(2, 3));
}

TEST(Jobs, top_level_keys_names_and_schema_are_checked) {
    expect_one("schema: 2\n" + matmul(""), 1, 9, {"schema is 1, not 2"});
    expect_one("schema: 1.5\n" + matmul(""), 1, 9, {"schema"});
    expect_one("include: x.yaml\n" + matmul(""), 1, 1, {"unknown key 'include'", "schema, vars, defaults, jobs"});
    expect_one("jobs:\n  a b:\n    op: matmul\n" + inputs, 2, 3, {"'a b'", "letters, digits"});
    expect_one("jobs:\n  device:\n    op: matmul\n" + inputs, 2, 3, {"'device'", "reserved"});
    expect_one("jobs:\n  vars:\n    op: matmul\n" + inputs, 2, 3, {"'vars'", "reserved"});
    expect_one("vars: {env: 1}\n" + matmul(""), 1, 8, {"'env'", "reserved"});
    expect_one("vars: {a: 1}\n" + matmul(""), 1, 8, {"'a' is a job too"});
    expect_one("vars: {a-b: 1}\n" + matmul(""), 1, 8, {"'a-b' is no name of a variable"});
    expect_one("vars: [1]\n" + matmul(""), 1, 7, {"vars is a mapping", "[1]"});
    expect_one("jobs:\n  a:\n", 2, 3, {"job 'a' has no value", "mapping"});
    expect_one("jobs:\n  a: matmul\n", 2, 6, {"job 'a' is a mapping", "not matmul"});
    good("jobs:\n  7_layer-2:\n    op: matmul\n" + inputs);
}

TEST(Jobs, unknown_keys_are_refused_with_what_there_is) {
    for (const std::string key : {"when", "tags"})
        expect_one(matmul("    " + key + ": 1\n"), 5, 5,
                   {"unknown key '" + key + "' in job 'a'", "op, inputs, params"});
    expect_one(matmul("    varient: loop\n"), 5, 5, {"unknown key 'varient'", "did you mean 'variant'"});
    expect_one("defaults: {op: matmul}\n" + matmul(""), 1, 12, {"unknown key 'op' in defaults"});
    expect_one("defaults: {params: {}}\n" + matmul(""), 1, 12, {"unknown key 'params' in defaults"});
    expect_one(matmul("    store: {compresion: gzip}\n"), 5, 13,
               {"unknown key 'compresion' in store", "'compression'"});
    expect_one(matmul("    launch: {grids: 1}\n"), 5, 14, {"unknown key 'grids' in launch", "grid, block, threads"});
    expect_one(matmul("    validate: {samples: 1}\n"), 5, 16, {"unknown key 'samples' in validate", "'sample'"});
    expect_one(matmul("    tolerance: {rtol: 1, relative: 1}\n"), 5, 26, {"unknown key 'relative' in tolerance"});
}

TEST(Jobs, every_error_of_a_file_is_told_in_one_pass) {
    const Loaded loaded = load_text(R"(schema: 3
jobz: 1
vars: {n: $m}
jobs:
  a:
    op: matmull
    dtype: f32
    inputs: {a: 1}
  b:
    op: matmul
    inputs: {a: f.h5, c: 2}
    params: {alfa: 1, transpose_a: yess}
    device: gpu
    variant: [loop, loop]
    validate: 3
    tolerance: 1e-6
)");
    const Diagnostics& all = loaded.diagnostics;
    EXPECT_TRUE(has_error(all, 1, 9, {"schema"}));
    EXPECT_TRUE(has_error(all, 2, 1, {"jobz", "'jobs'"}));
    EXPECT_TRUE(has_error(all, 3, 11, {"no variable is called 'm'"}));
    EXPECT_TRUE(has_error(all, 6, 9, {"op is one of", "matmull", "did you mean 'matmul'"}));
    EXPECT_TRUE(has_error(all, 7, 12, {"dtype", "f32", "did you mean 'float32'"}));
    EXPECT_TRUE(has_error(all, 11, 17, {"inputs.a", "f.h5", "inspect"}));
    EXPECT_TRUE(has_error(all, 11, 13, {"input 'b' of matmul is missing"}));
    EXPECT_TRUE(has_error(all, 12, 14, {"no parameter 'alfa'", "did you mean 'alpha'"}));
    EXPECT_TRUE(has_error(all, 12, 36, {"transpose_a is one of none, transpose, adjoint", "yess"}));
    EXPECT_TRUE(has_error(all, 13, 13, {"device is auto, cpu, cuda or cuda:N", "gpu", "'cuda'"}));
    EXPECT_TRUE(has_error(all, 14, 21, {"listed twice"}));
    EXPECT_TRUE(has_error(all, 15, 15, {"validate is sample, full, none"}));
    EXPECT_TRUE(has_error(all, 16, 16, {"tolerance is {factor: 8}"}));
    EXPECT_EQ(all.list().size(), 13U) << all.text();
    EXPECT_FALSE(loaded.job("a").sound);
    EXPECT_FALSE(loaded.job("b").sound);
}

TEST(Jobs, op_and_inputs_are_required_and_named) {
    expect_one("jobs:\n  a:\n    inputs: {x: 1}\n", 2, 3, {"job 'a' needs `op`", "matmul"});
    expect_one("jobs:\n  a:\n    op: sum\n", 2, 3, {"input 'x' of sum is missing"});
    expect_one("jobs:\n  a:\n    op: sum\n    inputs: {y: 1, x: 1}\n", 4, 14, {"sum has no input 'y'", "it has x"});
    expect_one("jobs:\n  a:\n    op: sum\n    inputs: [1]\n", 4, 13, {"inputs is a mapping of x"});
    expect_one("jobs:\n  a:\n    op: 3\n    inputs: {x: 1}\n", 3, 9, {"op is one of", "not 3"});
    const Loaded both = load_text("jobs:\n  a:\n    op: matmul\n    inputs: {}\n");
    EXPECT_EQ(both.diagnostics.list().size(), 2U);  // a and b; c is optional
}

TEST(Jobs, settings_are_checked_by_type_and_range) {  // BR069
    expect_one(matmul("    store: {compression: gzip, level: 10}\n"), 5, 39, {"level", "from 0 to 9", "not 10"});
    expect_one(matmul("    store: {level: 4}\n"), 5, 20, {"level", "compression: gzip"});
    expect_one(matmul("    store: {compression: lzf}\n"), 5, 26, {"compression is one of none, gzip, not lzf"});
    expect_one(matmul("    store: {chunks: [4, 0]}\n"), 5, 25, {"chunks", "at least 1", "0"});
    expect_one(matmul("    store: {shuffle: 1}\n"), 5, 22, {"shuffle is true or false, not 1"});
    expect_one(matmul("    store: gzip\n"), 5, 12, {"store is a mapping of chunks, compression, level, shuffle"});
    expect_one(matmul("    dtype: float8\n"), 5, 12, {"dtype is one of float16, bfloat16", "float8"});
    expect_one(matmul("    result_dtype: double\n"), 5, 19, {"result_dtype", "did you mean 'float64'"});
    expect_one(matmul("    device: all\n"), 5, 13, {"device is auto, cpu, cuda or cuda:N, not all"});
    expect_one(matmul("    device: cuda:256\n"), 5, 13, {"cuda:N, N from 0 to 255", "cuda:256"});
    expect_one(matmul("    device: cuda:-1\n"), 5, 13, {"N from 0 to 255"});
    expect_one(matmul("    device: cuda:99999999999999999999\n"), 5, 13, {"N from 0 to 255"});
    expect_one(matmul("    device: cuda:01\n"), 5, 13, {"N from 0 to 255"});
    EXPECT_EQ(good(matmul("    device: cuda:3\n")).job().device.index, 3);
    expect_one(matmul("    validate: all\n"), 5, 15, {"validate is sample, full, none", "all"});
    expect_one(matmul("    validate: {sample: 0}\n"), 5, 24, {"sample", "at least 1", "0"});
    expect_one(matmul("    validate: {terms: 0}\n"), 5, 23, {"terms", "above 0"});
    expect_one(matmul("    validate: {terms: .inf}\n"), 5, 23, {"terms", "finite"});
    expect_one(matmul("    validate: {seed: -1}\n"), 5, 22, {"seed", "from 0 to 2^64 - 1", "-1"});
    EXPECT_TRUE(load_text(matmul("    validate: {seed: 18446744073709551616}\n"))
                    .diagnostics.list()
                    .at(0)
                    .message.ends_with("from 0 to 2^64 - 1, not 18446744073709551616"));  // not: up to 2^63 - 1
    EXPECT_EQ(good(matmul("    validate: {seed: 18446744073709551615}\n")).job().validate.seed, 18446744073709551615U);
    expect_one(matmul("    launch: {grid: [1, 2, 3, 4]}\n"), 5, 20, {"grid", "[x, y, z]"});
    expect_one(matmul("    launch: {block: 0}\n"), 5, 21, {"block", "at least 1"});
    expect_one(matmul("    launch: {block: -32}\n"), 5, 21, {"block", "at least 1", "-32"});
    expect_one(matmul("    launch: {block: 4294967296}\n"), 5, 21, {"block", "2147483647", "4294967296"});
    expect_one(matmul("    launch: {threads: 0}\n"), 5, 23, {"threads", "from 1 to 65536"});
    expect_one(matmul("    launch: 256\n"), 5, 13, {"launch is a mapping of grid, block, threads"});
    const Job launched = good(matmul("    launch: {grid: [4, 2], block: 256}\n")).job();
    EXPECT_EQ(launched.launch.grid, (Shape{4, 2}));
    EXPECT_EQ(launched.launch.block, (Shape{256}));
    EXPECT_TRUE(launched.own_launch);
}

TEST(Jobs, tolerances_are_finite_and_not_negative_in_every_decimal_form) {  // BR065
    const auto text = [](const std::string& value) { return matmul("    tolerance: " + value + "\n"); };
    for (const auto& [written, value] : {std::pair<std::string, double>{"1e-6", 1e-6},
                                         {"1E-6", 1e-6},
                                         {".5", 0.5},
                                         {"1.0e-6", 1e-6},
                                         {"+2", 2},
                                         {"3.", 3},
                                         {"0", 0}})
        EXPECT_EQ(good(text("{rtol: " + written + "}")).job().tolerance.rtol, value) << written;
    EXPECT_EQ(good(text("{factor: 8}")).job().tolerance.factor, 8);
    EXPECT_EQ(good(text("bitwise")).job().tolerance.mode, Tolerance::Mode::bitwise);
    expect_one(text("{factor: 0}"), 5, 25, {"factor", "above 0"});
    expect_one(text("{factor: .nan}"), 5, 25, {"factor", "finite", ".nan"});
    expect_one(text("{factor: .inf}"), 5, 25, {"factor", "finite", ".inf"});
    expect_one(text("{rtol: -1e-6}"), 5, 23, {"rtol", "0 or above", "-1e-6"});
    expect_one(text("{atol: nan}"), 5, 23, {"atol", "nan"});
    expect_one(text("{atol: 1d-6}"), 5, 23, {"atol", "1d-6", "write 1e-6"});
    expect_one(text("{atol: 0x10}"), 5, 23, {"atol", "0x10", "decimal"});
    expect_one(text("{atol: 1e999}"), 5, 23, {"atol", "range of float64"});
    expect_one(text("{atol: \"1\"}"), 5, 23, {"atol", "the text '1'", "quotes"});
    expect_one(text("{factor: 2, rtol: 1}"), 5, 25, {"either {factor} or {rtol, atol}"});
    expect_one(text("{}"), 5, 16, {"has none"});
    expect_one(text("1e-6"), 5, 16, {"tolerance is {factor: 8}, {rtol: 1e-6, atol: 0} or bitwise"});
    expect_one(text("bitwize"), 5, 16, {"did you mean 'bitwise'"});
}

TEST(Jobs, integers_are_never_wrapped_or_rounded) {  // BR065, BR069
    const auto shape = [](const std::string& value) {
        return "jobs:\n  a:\n    op: sum\n    inputs:\n      x: {generate: ones, shape: " + value + "}\n";
    };
    for (const auto& [written, value] : {std::pair<std::string, std::int64_t>{"1e6", 1000000},
                                         {"1.0e+6", 1000000},
                                         {"1_000_000", 1000000},
                                         {"[12]", 12},
                                         {"0", 0},
                                         {"2.5e1", 25}})
        EXPECT_EQ(good(shape(written)).job().inputs.at("x").shape, (Shape{value})) << written;
    expect_one(shape("1,000"), 5, 36, {"unknown key '000'", "quoted"});
    expect_one(shape("[-1]"), 5, 35, {"shape", "at least 0", "-1"});
    expect_one(shape("2.5"), 5, 34, {"shape is an integer", "2.5"});
    expect_one(shape("99999999999999999999"), 5, 34, {"shape", "99999999999999999999", "2^63 - 1"});
    expect_one(shape("1e30"), 5, 34, {"shape", "1e30"});
    expect_one(shape("[4000000000, 4000000000]"), 5, 34, {"shape", "more than 2^63 - 1 elements"});
    expect_one(shape("1__0"), 5, 34, {"1__0"});
    expect_one(shape("_1"), 5, 34, {"_1"});
    expect_one(shape("[a]"), 5, 35, {"shape", "not a"});
    expect_one(shape("{a: 1}"), 5, 34, {"shape is an integer or a list of integers"});
    expect_one(shape("~"), 5, 27, {"shape has no value"});
}

TEST(Inputs, come_in_all_forms) {
    const Loaded loaded = good(R"(jobs:
  a:
    op: matmul
    inputs: {a: ../up/f.h5:/g/x/, b: {from: "/abs/f.h5:/y:/z", shape: [2, -1], dtype: float32, scale: -2, nan: 0}, c: $first:/s}
  first: {op: sum, inputs: {x: 2.5}}
  list: {op: sum, inputs: {x: [1, -2, 3]}}
  mixed: {op: sum, inputs: {x: [1, 2.5, 1e6, .inf, .nan]}}
  whole: {op: sum, inputs: {x: {from: [1, 2, 3, 4], shape: [2, 2], dtype: int32}}}
  point: {op: sum, inputs: {x: 3.0}}
  none: {op: sum, inputs: {x: []}}
  pair: {op: sum, inputs: {x: {from: f.h5:/p, complex: pair, select: "::2, ..."}}}
  all: {op: sum, inputs: {x: {from: $list:/s, scale: 2}}}
)");
    const Job& a = loaded.job();
    EXPECT_EQ(std::get<Dataset>(a.inputs.at("a").source).file, "/up/f.h5");
    EXPECT_EQ(std::get<Dataset>(a.inputs.at("a").source).path, "/g/x");
    EXPECT_EQ(std::get<Dataset>(a.inputs.at("b").source).file, "/abs/f.h5");
    EXPECT_EQ(std::get<Dataset>(a.inputs.at("b").source).path, "/y:/z");  // split at the first :/
    EXPECT_EQ(a.inputs.at("b").shape, (Shape{2, -1}));
    EXPECT_EQ(a.inputs.at("b").scale, -2);
    EXPECT_EQ(a.inputs.at("b").nan, 0);
    EXPECT_EQ(std::get<JobOutput>(a.inputs.at("c").source).job, "first");
    EXPECT_EQ(std::get<JobOutput>(a.inputs.at("c").source).output, "s");
    const auto numbers = [&](const std::string& job) {
        return std::get<Numbers>(loaded.job(job).inputs.at("x").source);
    };
    EXPECT_EQ(numbers("first").shape, Shape{});
    EXPECT_EQ(std::get<double>(numbers("first").values[0]), 2.5);
    EXPECT_FALSE(numbers("first").whole);
    EXPECT_EQ(numbers("list").shape, Shape{3});
    EXPECT_EQ(std::get<std::int64_t>(numbers("list").values[1]), -2);
    EXPECT_TRUE(numbers("list").whole);
    EXPECT_FALSE(numbers("mixed").whole);
    EXPECT_EQ(std::get<std::int64_t>(numbers("mixed").values[2]), 1000000);
    EXPECT_TRUE(std::isinf(std::get<double>(numbers("mixed").values[3])));
    EXPECT_TRUE(std::isnan(std::get<double>(numbers("mixed").values[4])));
    EXPECT_EQ(loaded.job("whole").inputs.at("x").shape, (Shape{2, 2}));
    EXPECT_EQ(loaded.job("whole").inputs.at("x").dtype, DType::int32);
    EXPECT_FALSE(numbers("point").whole);
    EXPECT_EQ(numbers("none").shape, Shape{0});
    EXPECT_TRUE(loaded.job("pair").inputs.at("x").pair);
    EXPECT_EQ(loaded.job("pair").inputs.at("x").select, "::2, ...");
    EXPECT_EQ(std::get<JobOutput>(loaded.job("all").inputs.at("x").source).job, "list");
}

TEST(Inputs, wrong_forms_say_what_is_right) {
    const auto x = [](const std::string& value) {
        return "jobs:\n  a:\n    op: sum\n    inputs:\n      x: " + value + "\n";
    };
    const std::string forms = "FILE:/DATASET, $JOB:/OUTPUT, a number";
    expect_one(x("f.h5"), 5, 10, {forms, "gridstride inspect f.h5"});
    expect_one(x("f.h5:data"), 5, 10, {forms, "did you mean 'f.h5:/data'"});
    expect_one(x("f.h5:/"), 5, 10, {"the dataset is missing"});
    expect_one(x(":/x"), 5, 10, {"the file is missing"});
    expect_one(x("s3://bucket/x"), 5, 10, {"network"});
    expect_one(x("true"), 5, 10, {forms});
    expect_one(x("~"), 5, 7, {"inputs.x has no value"});
    expect_one(x("\"3\""), 5, 10, {forms, "the text '3'"});
    expect_one(x("99999999999999999999"), 5, 10, {"2^63 - 1"});
    expect_one(x("[1, two]"), 5, 14, {"list of numbers", "two"});
    expect_one(x("[[1, 2]]"), 5, 11, {"one-dimensional", "shape"});
    expect_one(x("{select: \"0:1\"}"), 5, 10, {"needs `from` or `generate`"});
    expect_one(x("{from: f.h5:/x, generate: ones, shape: 3}"), 5, 17, {"either `from` or `generate`"});
    expect_one(x("{from: f.h5:/x, seed: 3}"), 5, 32, {"seed is of `generate`"});
    expect_one(x("{from: f.h5:/x, f0: 3}"), 5, 26, {"unknown key 'f0'"});
    expect_one(x("{from: f.h5:/x, shape: [-1, -1]}"), 5, 33, {"one -1 at the most"});
    expect_one(x("{from: f.h5:/x, complex: polar}"), 5, 35, {"complex is one of auto, pair, not polar"});
    expect_one(x("{from: f.h5:/x, scale: .nan}"), 5, 33, {"scale is a finite number"});
    expect_one(x("{from: f.h5:/x, nan: zero}"), 5, 31, {"nan is a finite number", "zero"});
    expect_one(x("{from: f.h5:/x, select: [0, 1]}"), 5, 34, {"select is a text"});
    expect_one(x("{from: [1, 2], scale: 2}"), 5, 32, {"scale is of what is read or made"});
    expect_one(x("{from: [1, 2], select: 0}"), 5, 33, {"select is of a dataset or a job's output"});
    expect_one(x("{from: 3, nan: 0}"), 5, 25, {"nan is of a dataset or a job's output"});
    expect_one(x("{from: 3, complex: pair}"), 5, 29, {"complex is of a dataset of a file"});
    expect_one(x("{generate: ones, shape: 3, select: 0}"), 5, 45, {"select is of a dataset or a job's output"});
    expect_one(x("{generate: ones, shape: 3, complex: pair}"), 5, 46, {"complex is of a dataset of a file"});
    expect_one("jobs:\n  a: {op: sum, inputs: {x: {from: $b:/s, complex: pair}}}\n  b: {op: sum, inputs: {x: 1}}\n", 2,
               51, {"complex is of a dataset of a file"});
    expect_one(x("{from: {a: 1}}"), 5, 17, {forms});
    expect_one(x("{generate: ones}"), 5, 21, {"needs `shape`"});
    expect_one(x("{generate: one, shape: 3}"), 5, 21, {"generate is one of normal, uniform", "did you mean 'ones'"});
    expect_one(x("{generate: ones, shape: 3, nan: 0}"), 5, 42, {"nan is of a dataset"});
    expect_one(x("{generate: ones, shape: 3, f1: 0.1}"), 5, 37, {"f1 is of `generate: chirp`", "ones"});
    expect_one(x("{generate: chirp, shape: 3, rank: 2}"), 5, 38, {"rank is of `generate: covariance`"});
    expect_one(x("{generate: covariance, shape: [3, 3], rank: 0}"), 5, 54, {"rank", "at least 1"});
    expect_one(x("{generate: covariance, shape: [3, 3], pairs: 0}"), 5, 55, {"pairs", "from 1 to 16"});
    expect_one(x("{generate: ones, shape: 3, plus: {scale: 2}}"), 5, 43, {"plus needs `generate`"});
    expect_one(x("{generate: ones, shape: 3, plus: {generate: ones, shape: 2}}"), 5, 60,
               {"unknown key 'shape' in plus"});
    expect_one(x("{generate: ones, shape: 3, seed: 1.5}"), 5, 43, {"seed", "1.5"});
}

TEST(Inputs, generators_keep_their_own_keys) {
    const Loaded loaded = good(R"(jobs:
  a:
    op: sum
    inputs: {x: {generate: chirp, shape: 64, f0: 0.1, f1: .25, scale: 3, plus: {generate: normal, scale: 1e-3, seed: 5}}}
  b:
    op: sum
    inputs: {x: {generate: covariance, shape: [2, 3, 3], rank: 4, pairs: 1, plus: [{generate: ones}, {generate: zeros, plus: {generate: walk}}]}}
)");
    const auto& chirp = std::get<Generate>(loaded.job("a").inputs.at("x").source);
    EXPECT_EQ(chirp.f0, 0.1);
    EXPECT_EQ(chirp.f1, 0.25);
    EXPECT_EQ(chirp.scale, 3);
    ASSERT_EQ(chirp.plus.size(), 1U);
    EXPECT_EQ(chirp.plus[0].kind, "normal");
    EXPECT_EQ(chirp.plus[0].scale, 1e-3);
    EXPECT_EQ(chirp.plus[0].seed, 5U);
    const auto& covariance = std::get<Generate>(loaded.job("b").inputs.at("x").source);
    EXPECT_EQ(covariance.rank, 4);
    EXPECT_EQ(covariance.pairs, 1);
    ASSERT_EQ(covariance.plus.size(), 2U);
    EXPECT_EQ(covariance.plus[1].plus.at(0).kind, "walk");
}

TEST(Params, are_checked_against_the_operations_table) {
    const auto conv = [](const std::string& params) {
        return "jobs:\n  a:\n    op: convcov\n    inputs: {mu: f.h5:/mu}\n    params: " + params + "\n";
    };
    const Job job = good(conv("{kernel: [3, 1], padding: same, channels: 1e1, form: factor}")).job();
    EXPECT_EQ(job.params.integers("kernel"), (std::vector<std::int64_t>{3, 1}));
    EXPECT_EQ(job.params.word("padding"), "same");
    EXPECT_EQ(job.params.integer("channels"), 10);
    EXPECT_EQ(good(conv("{kernel: 3, padding: [0, 1, 2, 3]}")).job().params.integers("padding").size(), 4U);
    expect_one(conv("{stride: 2}"), 5, 13,
               {"parameter 'kernel' is required (an integer or a list of integers, from 1 to 2147483647)"});
    expect_one("jobs:\n  a:\n    op: convcov\n    inputs: {mu: f.h5:/mu}\n", 2, 3, {"parameter 'kernel' is required"});
    expect_one(conv("{kernel: 3, rows: [0, 2]}"), 5, 25, {"no parameter 'rows'", "kernel, stride"});  // hidden
    expect_one(conv("{kernal: 3, kernel: 3}"), 5, 14, {"no parameter 'kernal'", "did you mean 'kernel'"});
    expect_one(conv("{kernel: three}"), 5, 22,
               {"kernel is an integer or a list of integers, from 1 to 2147483647, not three"});
    expect_one(conv("{kernel: 2.5}"), 5, 22,
               {"kernel is an integer or a list of integers, from 1 to 2147483647, not 2.5"});
    expect_one(conv("{kernel: [3, x]}"), 5, 22, {"kernel", "[3, x]"});
    expect_one(conv("{kernel: 99999999999999999999}"), 5, 22, {"99999999999999999999", "2^63 - 1"});
    expect_one(conv("{kernel: \"3\"}"), 5, 22, {"kernel", "the text '3'"});
    expect_one(conv("{kernel: {a: 1}}"), 5, 22, {"kernel is an integer or a list of integers"});
    expect_one(conv("{kernel: }"), 5, 14, {"kernel has no value"});
    expect_one(conv("{kernel: 3, padding: sane}"), 5, 34, {"valid, same", "sane", "did you mean 'same'"});
    expect_one(conv("{kernel: 3, form: full_}"), 5, 31,
               {"form is one of full, channel_diagonal, factor, variance", "'full'"});
    expect_one(conv("3"), 5, 13, {"params is a mapping of kernel, stride"});
    expect_one(matmul("    params: {alpha: .inf}\n"), 5, 21, {"alpha must be finite"});
    expect_one(matmul("    params: {alpha: .nan}\n"), 5, 21, {"alpha must be finite"});
    expect_one(matmul("    params: {alpha: 0x10}\n"), 5, 21, {"alpha is a number or [re, im], not 0x10", "decimal"});
    expect_one(matmul("    params: {alpha: 1d-6}\n"), 5, 21, {"alpha", "write 1e-6"});
    expect_one(matmul("    params: {alpha: [1, 2, 3]}\n"), 5, 21, {"alpha is a number or [re, im]"});
    EXPECT_EQ(good(matmul("    params: {alpha: [1, -.5]}\n")).job().params.scalar("alpha"),
              (std::complex<double>{1, -0.5}));
    EXPECT_TRUE(good("jobs:\n  a: {op: sum, inputs: {x: 1}, params: {keepdims: true, axes: []}}\n")
                    .job()
                    .params.boolean("keepdims"));
    expect_one("jobs:\n  a: {op: sum, inputs: {x: 1}, params: {keepdims: 1}}\n", 2, 51,
               {"keepdims is true or false, not 1"});
}

TEST(Inputs, a_shape_of_too_many_elements_is_said_to_be_once) {
    const Loaded loaded =
        load_text("jobs:\n  a:\n    op: sum\n    inputs: {x: {generate: ones, shape: [9223372036854775807, 2]}}\n");
    ASSERT_EQ(loaded.diagnostics.list().size(), 1U) << loaded.diagnostics.text();
    EXPECT_TRUE(loaded.diagnostics.list()[0].message.starts_with("shape (9223372036854775807, 2) has more than"))
        << loaded.diagnostics.text();
}

TEST(Variants, are_words_of_the_operation) {
    expect_one(matmul("    variant: lop\n"), 5, 14,
               {"matmul has no variant 'lop'", "did you mean 'loop'", "auto, all, loop"});
    expect_one(matmul("    variant: [loop, fftw]\n"), 5, 21, {"matmul has no variant 'fftw'"});
    expect_one(matmul("    variant: []\n"), 5, 14, {"empty"});
    expect_one(matmul("    variant: [loop, all]\n"), 5, 21, {"'all' stands alone"});
    expect_one(matmul("    variant: [[loop]]\n"), 5, 15, {"variant is a word or a list of words"});
    expect_one(
        matmul("    variant: loop\n    device: cuda\n"), 5, 14,
        {"variant 'loop' of matmul does not run on cuda",
         variant_words(*find("matmul"), {false, Device::cuda, 0}).empty() ? "device is cuda; it has none for cuda"
                                                                          : "device is cuda; there it has "});
    const Job all = good(matmul("    variant: all\n")).job();
    EXPECT_EQ(all.variants, (std::vector<std::string>{"all"}));
    EXPECT_TRUE(all.listed);
    EXPECT_FALSE(good(matmul("    variant: loop\n")).job().listed);
    EXPECT_TRUE(good(matmul("    variant: [loop]\n")).job().listed);
}

TEST(Variants, of_defaults_and_command_line_go_to_the_operations_that_have_them) {
    const std::string file =
        "defaults: {variant: openblas}\njobs:\n  m: {op: matmul, inputs: {a: f.h5:/a, b: f.h5:/b}}\n"
        "  s: {op: sum, inputs: {x: 1}}\n  o: {op: matmul, inputs: {a: f.h5:/a, b: f.h5:/b}, variant: loop}\n";
    const Loaded plain = good(file);
    EXPECT_EQ(plain.job("m").variants[0], "openblas");
    EXPECT_EQ(plain.job("s").variants[0], "auto");
    EXPECT_EQ(plain.job("o").variants[0], "loop");
    Overrides overrides;
    overrides.variant = "fftw";
    expect_one(file, 0, 0, {"no job's operation has a variant 'fftw'", "loop"}, overrides);
    overrides.variant = "openblas,loop";
    const Loaded both = good(file, overrides);
    EXPECT_EQ(both.job("m").variants, (std::vector<std::string>{"openblas", "loop"}));
    EXPECT_EQ(both.job("o").variants, (std::vector<std::string>{"openblas", "loop"}));
    EXPECT_EQ(both.job("s").variants, (std::vector<std::string>{"loop"}));
    overrides.variant = "all";
    EXPECT_TRUE(good(file, overrides).job("s").listed);
    overrides.variant = "opnblas";
    expect_one(file, 0, 0, {"'opnblas'", "did you mean 'openblas'"}, overrides);
    expect_one("defaults: {variant: fftw}\n" + matmul(""), 1, 21, {"no job's operation has a variant 'fftw'"});
    expect_one("defaults: {variant: [loop, fftw]}\n" + matmul(""), 1, 28, {"no job's operation has a variant 'fftw'"});
}

TEST(Launch, of_defaults_goes_to_the_operations_that_take_it) {
    const Loaded loaded = load_text("defaults: {launch: {block: 64, threads: 3}}\n" + matmul(""));
    const Entry& entry = *find("matmul");
    EXPECT_EQ(loaded.diagnostics.empty(), takes_launch(entry));
    EXPECT_EQ(loaded.job().launch.block.empty(), !takes_launch(entry));
    EXPECT_EQ(loaded.job().threads, 3);
    EXPECT_FALSE(loaded.job().own_launch);
    EXPECT_EQ(good("defaults: {launch: {threads: 3}}\n" + matmul("")).job().threads, 3);
    const Variant taker{.name = "x", .doc = "", .takes_launch = true}, other{.name = "y", .doc = ""},
        left_out{.name = "z", .device = Device::cuda, .doc = ""};
    EXPECT_TRUE(takes_launch({entry.op, {&other, &taker}}));
    EXPECT_FALSE(takes_launch({entry.op, {&other}}));
    EXPECT_TRUE(takes_launch({entry.op, {&left_out}}));  // not in this build: it might
}

TEST(Defaults, are_checked_even_where_no_job_uses_them) {
    expect_one("defaults: {dtype: flaot}\n" + matmul("    dtype: float32\n"), 1, 19, {"dtype", "flaot"});
    expect_one("defaults: {dtype: flaot}\n" + matmul(""), 1, 19, {"dtype", "flaot"});
    expect_one("defaults: {validate: {sample: -1}}\n" + matmul("    validate: none\n"), 1, 31, {"sample", "-1"});
    expect_one("defaults: 3\n" + matmul(""), 1, 11, {"defaults is a mapping"});
    EXPECT_EQ(good("defaults: {dtype: float64}\n" + matmul("")).job().dtype, DType::float64);
    EXPECT_EQ(good("defaults: {dtype: float64}\n" + matmul("    dtype: float32\n")).job().dtype, DType::float32);
}

TEST(Outputs, are_one_file_a_case) {
    const auto text = [](const std::string& value) { return matmul("    outputs: " + value + "\n"); };
    EXPECT_EQ(good(text("o/p.h5")).job().output_file, "o/p.h5");
    EXPECT_EQ(good(text("{c: p.h5:/e/c}")).job().outputs.at("c"), "p.h5:/e/c");
    expect_one(text("p.h5:/c"), 5, 14, {"outputs is FILE", "write {c: p.h5:/c}"});
    expect_one(text("{d: p.h5:/c}"), 5, 15, {"matmul has no output 'd'", "it has c"});
    expect_one(text("{c: p.h5}"), 5, 18, {"outputs.c is FILE:/PATH", "write p.h5:/c"});
    expect_one(text("{c: p.h5:/}"), 5, 18, {"outputs.c is FILE:/PATH"});
    expect_one(text("{c: [1]}"), 5, 18, {"outputs.c is FILE:/PATH"});
    expect_one(text("{}"), 5, 14, {"empty"});
    expect_one(text("[a]"), 5, 14, {"outputs is FILE"});
    for (const char* file : {"/", "sub/", "sub/.", "..", "a/.."})
        expect_one(text(file), 5, 14, {"outputs is FILE", "is a folder"});
    for (const char* path : {"/a/../b", "/..", "/./b", "/a/.", "//a", "/a//b", "/a/"})
        expect_one(text(std::string("{c: 'p.h5:") + path + "'}"), 5, 18, {"outputs.c is FILE:/PATH", "'..'"});
    for (const char* file : {"sub/", "../.", ".."})
        expect_one(text(std::string("{c: '") + file + ":/c'}"), 5, 18, {"outputs.c is FILE:/PATH", "is a folder"});
    EXPECT_EQ(good(text("{c: ../p.h5:/.a/b..}")).job().outputs.at("c"), "../p.h5:/.a/b..");
    expect_one(text("~"), 5, 5, {"outputs has no value"});
    expect_one(text("$x.h5"), 5, 14, {"no variable is called 'x'"});
    const Loaded loaded = good("vars: {n: 4, odd: a$$b}\n" + text("out_${n * 2}_$odd/$job-$variant.h5"));
    const std::string raw = loaded.job().output_file.value();
    EXPECT_EQ(loaded.config.expand(raw, {{"job", "a"}, {"variant", "loop"}, {"device", "cpu"}}), "out_8_a$b/a-loop.h5");
}

TEST(References, between_jobs_are_checked) {
    const auto two = [](const std::string& reference, const std::string& more = "") {
        return "jobs:\n  a: {op: sum, inputs: {x: " + reference + "}}\n  first-1: {op: sum, inputs: {x: 1}" + more +
               "}\n";
    };
    EXPECT_EQ(std::get<JobOutput>(good(two("$first-1:/s")).job().inputs.at("x").source).job, "first-1");
    expect_one(two("$first-1:/t"), 2, 28, {"job 'first-1' (sum) has no output 't'", "it has s"});
    expect_one(two("$first-2:/s"), 2, 28, {"no job is called 'first-2'", "did you mean 'first-1'"});
    expect_one(two("$first-1:/"), 2, 28, {"names no output"});
    expect_one(two("$first-1:/s", ", variant: all"), 2, 28, {"all variants", "name one variant"});
    good(two("$first-1:/s", ", variant: loop"));
    expect_one(two("$a:/s"), 2, 28, {"circle: a <- a"});
    expect_one(
        "jobs:\n  a: {op: sum, inputs: {x: $b:/s}}\n  b: {op: sum, inputs: {x: $c:/s}}\n  c: {op: sum, inputs: {x: "
        "$a:/s}}\n",
        4, 28, {"circle: a <- c <- b <- a"});
    expect_one(
        "jobs:\n  a: {op: matmul, inputs: {a: $b:/c, b: f.h5:/b}}\n  b: {op: matmul, inputs: {a: f.h5:/a, b: f.h5:/b}, "
        "variant: [loop, openblas]}\n",
        2, 31, {"the variants loop, openblas", "name one"});
}

TEST(References, take_the_longest_name_before_the_slash_and_else_are_variables) {
    const Loaded loaded = good(
        "vars: {file: g.h5, d: x}\njobs:\n  a: {op: sum, inputs: {x: $file-2:/s}}\n  file-2: {op: sum, inputs: {x: "
        "$file:/$d}}\n"
        "  c: {op: sum, inputs: {x: \"${file}-2:/s\"}}\n");
    EXPECT_EQ(std::get<JobOutput>(loaded.job("a").inputs.at("x").source).job, "file-2");
    EXPECT_EQ(std::get<Dataset>(loaded.job("file-2").inputs.at("x").source).file, "/jobs/g.h5");
    EXPECT_EQ(std::get<Dataset>(loaded.job("file-2").inputs.at("x").source).path, "/x");
    EXPECT_EQ(std::get<Dataset>(loaded.job("c").inputs.at("x").source).file, "/jobs/g.h5-2");
}

TEST(References, long_chains_and_wide_graphs_do_not_recurse) {
    std::string text = "jobs:\n  j0: {op: sum, inputs: {x: 1}}\n";
    for (int i = 1; i < 3000; ++i)
        text += "  j" + std::to_string(i) + ": {op: sum, inputs: {x: $j" + std::to_string(i - 1) + ":/s}}\n";
    EXPECT_EQ(good(text).config.jobs.size(), 3000U);
}

}  // namespace
}  // namespace gridstride::config
