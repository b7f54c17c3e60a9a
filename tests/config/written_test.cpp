// SPDX-License-Identifier: BSD-3-Clause
// Files read from disk, jobs written back, the JSON Schema and the reference page.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace gridstride::config {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
  protected:
    void SetUp() override {
        path_ = fs::temp_directory_path() / ("gridstride_config_" + std::to_string(::getpid()));
        fs::create_directories(path_);
    }
    void TearDown() override { fs::remove_all(path_); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return (path_ / name).string();
    }
    fs::path path_;
};

TEST_F(Folder, names_the_stem_and_starts_the_paths) {
    for (const auto& [file, stem] : {std::pair<std::string, std::string>{"layer.yaml", "layer"},
                                     {"layer.v2.yml", "layer.v2"},
                                     {"layer.txt", "layer.txt"}}) {
        Diagnostics diagnostics;
        const Config config = load(write(file, matmul("")), {}, diagnostics);
        EXPECT_TRUE(diagnostics.empty()) << diagnostics.text();
        EXPECT_EQ(config.stem, stem);
        EXPECT_EQ(config.folder, path_.string());
        EXPECT_EQ(std::get<Dataset>(config.jobs.at(0).inputs.at("a").source).file, (path_ / "f.h5").string());
        EXPECT_EQ(config.source, (path_ / file).string());
        EXPECT_EQ(config.text, matmul(""));
    }
}

TEST_F(Folder, a_file_that_is_missing_or_a_folder_is_an_error_with_what_is_near) {
    const auto fault = [](const std::string& source) {
        Diagnostics diagnostics;
        try {
            load(source, {}, diagnostics);
        } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::config);
            return std::string(error.what());
        }
        return std::string("no error");
    };
    write("layer.yaml", "");
    EXPECT_EQ(fault((path_ / "laier.yaml").string()), "no such job file (did you mean 'layer.yaml'?)");
    EXPECT_EQ(fault((path_ / "other").string()), "no such job file");
    EXPECT_NE(fault(path_.string()).find("folder"), std::string::npos);
    EXPECT_NE(fault((path_ / "no" / "where.yaml").string()).find("no such job file"), std::string::npos);
}

TEST_F(Folder, an_endless_file_is_refused) {
    Diagnostics diagnostics;
    load("/dev/zero", {}, diagnostics);
    ASSERT_EQ(diagnostics.list().size(), 1U);
    EXPECT_NE(diagnostics.list()[0].message.find("4 MiB"), std::string::npos);
}

TEST_F(Folder, standard_input_is_read_for_a_dash) {
    const std::string file = write("in", "jobs:\n  a: {op: sum, inputs: {x: f.h5:/x}, dtipe: 1}\n");
    ASSERT_NE(std::freopen(file.c_str(), "rb", stdin), nullptr);
    Diagnostics diagnostics;
    const Config config = load("-", {}, diagnostics);
    EXPECT_EQ(config.source, "-");
    EXPECT_EQ(config.stem, "stdin");
    EXPECT_EQ(config.folder, fs::current_path().string());
    ASSERT_EQ(diagnostics.list().size(), 1U);
    EXPECT_EQ(diagnostics.list()[0].mark.source, "<stdin>");
    EXPECT_EQ(std::get<Dataset>(config.jobs.at(0).inputs.at("x").source).file, (fs::current_path() / "f.h5").string());
}

/// What a job says, as text, for comparison.
std::string facts(const Job& job) {
    return to_yaml({{&job, job.params, job.variants[0], "cpu"}});
}

TEST(Written, jobs_load_again_to_the_same_job) {
    const Loaded loaded = good(R"(vars: {n: 4, name: "we$$ird \"na\\me\".h5"}
defaults: {validate: {sample: 7, terms: 1e7, seed: 18446744073709551615}}
jobs:
  full:
    op: matmul
    inputs:
      a: {from: "f $$ \" é.h5:/g/a", select: "0:4, ..., 1", shape: [$n, -1], dtype: float32, complex: pair, scale: -1.5, nan: 1e-300}
      b: {generate: chirp, shape: ["${n * 2}", 3], f0: 0.1, f1: 0.30000000000000004, scale: 1e20, seed: 9,
          plus: {generate: covariance, rank: 3, pairs: 1, plus: [{generate: walk, seed: 1}]}}
      c: [1.0, 2.5, .inf, 1e18, 3]
    params: {alpha: [0.1, -2], beta: 1e100, transpose_a: transpose, compute: float64}
    outputs: $name-${job}_$n/$variant-$device.h5
    store: {chunks: [2, 3], compression: gzip, level: 9, shuffle: true}
    dtype: complex64
    result_dtype: complex128
    device: cpu
    variant: loop
    launch: {threads: 2}
    tolerance: {rtol: 1e-7}
  10:
    op: sum
    inputs: {x: 3}
    outputs: {s: s.h5:/s}
    variant: loop
    validate: none
    tolerance: bitwise
)");
    for (const Job& job : loaded.config.jobs) {
        const std::string yaml = facts(job);
        const Loaded again = good(yaml);
        ASSERT_EQ(again.config.jobs.size(), 1U) << yaml;
        const Job& other = again.config.jobs[0];
        EXPECT_EQ(facts(other), yaml);
        EXPECT_EQ(other.name, job.name);
        EXPECT_EQ(other.validate.sample, job.validate.sample);
        EXPECT_EQ(other.validate.seed, job.validate.seed);
        EXPECT_EQ(other.validate.mode, job.validate.mode);
        EXPECT_EQ(other.tolerance.mode, job.tolerance.mode);
        EXPECT_EQ(other.threads, job.threads);
        const std::map<std::string, std::string> more{{"job", "j"}, {"variant", "v"}, {"device", "d"}};
        EXPECT_EQ(again.config.expand(other.output_file.value_or(""), more),
                  loaded.config.expand(job.output_file.value_or(""), more));
    }
    const std::string yaml = facts(loaded.job("full"));
    const Job again = good(yaml).job("full");
    const Input &a = again.inputs.at("a"), &b = again.inputs.at("b"), &c = again.inputs.at("c");
    EXPECT_EQ(std::get<Dataset>(a.source).file, "/jobs/f $ \" é.h5");
    EXPECT_EQ(std::get<Dataset>(a.source).path, "/g/a");
    EXPECT_EQ(a.select, "0:4, ..., 1");
    EXPECT_EQ(a.shape, (Shape{4, -1}));
    EXPECT_TRUE(a.pair);
    EXPECT_EQ(a.nan, 1e-300);
    const auto& made = std::get<Generate>(b.source);
    EXPECT_EQ(b.shape, (Shape{8, 3}));
    EXPECT_EQ(made.f1, 0.30000000000000004);
    EXPECT_EQ(made.scale, 1e20);
    EXPECT_EQ(made.seed, 9U);
    EXPECT_EQ(made.plus.at(0).pairs, 1);
    EXPECT_EQ(made.plus.at(0).plus.at(0).kind, "walk");
    const auto& numbers = std::get<Numbers>(c.source);
    EXPECT_FALSE(numbers.whole);
    EXPECT_EQ(std::get<double>(numbers.values.at(0)), 1.0);
    EXPECT_EQ(std::get<std::int64_t>(numbers.values.at(3)), 1'000'000'000'000'000'000);
    EXPECT_EQ(again.params.scalar("alpha"), (std::complex<double>{0.1, -2}));
    EXPECT_EQ(again.params.numbers("beta").at(0), 1e100);
    EXPECT_EQ(again.store.level, 9);
    EXPECT_EQ(again.store.chunks, (Shape{2, 3}));
    EXPECT_EQ(again.result_dtype, DType::complex128);
    EXPECT_EQ(good(yaml).config.expand(*again.output_file, {{"job", "full"}, {"variant", "loop"}, {"device", "cpu"}}),
              "we$ird \"na\\me\".h5-full_4/loop-cpu.h5");
}

TEST(Written, defaults_are_filled_in) {
    const Job job = good(matmul("")).job();
    const std::string yaml = to_yaml({{&job, resolve(job.entry->op->params, job.params), "loop", "cpu"}});
    for (const std::string part :
         {"schema: 1\n", "variant: loop\n", "device: cpu\n", "tolerance: {factor: 4.0}\n",
          "validate: {sample: 4096, terms: 2000000000.0, seed: 0}\n", "transpose_a: none", "compute: auto",
          "alpha: 1.0", "from: \"/jobs/f.h5:/a\"", "store: {compression: none, shuffle: false}"})
        EXPECT_NE(yaml.find(part), std::string::npos) << part << " is not in\n" << yaml;
    EXPECT_EQ(yaml.find("beta"), std::string::npos);  // unset without c
    good(yaml);
}

TEST(Written, jobs_that_read_others_run_again_with_them) {
    const Loaded loaded =
        good("jobs:\n  b: {op: sum, inputs: {x: {from: $a-1:/s, scale: 2}}}\n  a-1: {op: sum, inputs: {x: [1, 2]}}\n");
    const Job &a = loaded.job("a-1"), &b = loaded.job("b");
    const std::string yaml = to_yaml({{&a, a.params, "loop", "cpu"}, {&b, b.params, "loop", "cpu"}});
    const Loaded again = good(yaml);
    EXPECT_EQ(std::get<JobOutput>(again.job("b").inputs.at("x").source).job, "a-1");
    EXPECT_EQ(again.job("b").inputs.at("x").scale, 2);
}

TEST(Schema, is_json_and_has_every_operation_parameter_and_variant) {
    const auto document = nlohmann::json::parse(schema());
    EXPECT_EQ(document.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(document.at("required"), nlohmann::json::array({"jobs"}));
    EXPECT_EQ(document.at("properties").at("jobs").at("additionalProperties").at("$ref"), "#/$defs/job");
    const auto& job = document.at("$defs").at("job");
    EXPECT_EQ(job.at("type"), "object");
    EXPECT_EQ(job.at("required"), nlohmann::json::array({"op"}));
    EXPECT_EQ(job.at("properties").at("op").at("enum").size(), registry().size());
    EXPECT_FALSE(job.at("additionalProperties").get<bool>());
    ASSERT_EQ(job.at("allOf").size(), 2 * registry().size());  // as it stands, and with a sweep
    for (std::size_t i = 0; i < registry().size(); ++i) {
        const Entry& entry = registry()[i];
        const auto& branch = job.at("allOf").at(2 * i);
        EXPECT_EQ(branch.at("if").at("allOf").at(0).at("properties").at("op").at("const"), entry.op->name);
        EXPECT_EQ(branch.at("if").at("allOf").at(1).at("not").at("required"), nlohmann::json::array({"sweep"}));
        EXPECT_EQ(branch.at("then").at("required"), nlohmann::json::array({"inputs"}));
        EXPECT_FALSE(job.at("allOf").at(2 * i + 1).at("then").contains("required"));
        const auto& properties = branch.at("then").at("properties");
        const auto& params = properties.at("params").at("anyOf").at(0).at("properties");
        std::size_t shown = 0;
        for (const Param& row : entry.op->params) {
            if (row.hidden) continue;
            ++shown;
            EXPECT_EQ(params.at(std::string(row.name)).at("description").get<std::string>().find(row.doc), 0U);
        }
        EXPECT_EQ(params.size(), shown);
        EXPECT_EQ(properties.at("inputs").at("anyOf").at(0).at("properties").size(), entry.op->inputs.size());
        const std::string variants = properties.at("variant").dump();
        for (const Variant* row : entry.variants)
            EXPECT_NE(variants.find("\"" + std::string(row->name) + "\""), std::string::npos);
    }
    const auto& matmul_params = job.at("allOf").dump();
    EXPECT_NE(matmul_params.find("\"adjoint\""), std::string::npos);
    // Every reference leads somewhere.
    const std::string text = schema();
    for (std::size_t at = text.find("#/$defs/"); at != std::string::npos; at = text.find("#/$defs/", at + 1)) {
        const std::string name = text.substr(at + 8, text.find('"', at) - at - 8);
        EXPECT_TRUE(document.at("$defs").contains(name)) << name;
    }
}

TEST(Reference, page_has_every_key_operation_and_parameter) {
    const std::string page = jobs_markdown();
    for (const Entry& entry : registry()) {
        const std::size_t begin = page.find("### `" + std::string(entry.op->name) + "`");
        ASSERT_NE(begin, std::string::npos);
        const std::string section = page.substr(begin, page.find("\n### ", begin + 1) - begin);
        for (const Param& row : entry.op->params)
            EXPECT_EQ(section.find("| `" + std::string(row.name) + "` |") != std::string::npos, !row.hidden)
                << row.name;
        for (const Variant* row : entry.variants)
            EXPECT_NE(section.find("| `" + std::string(row->name) + "` |"), std::string::npos);
    }
    for (const std::string key :
         {"schema", "vars", "defaults", "jobs", "op", "inputs", "outputs", "store", "chunks", "launch", "grid",
          "validate", "terms", "tolerance", "rtol", "select", "plus", "chirp"})
        EXPECT_NE(page.find("| `" + key + "` |"), std::string::npos) << key;
    // The example on the page is a job file that is right.
    const std::size_t begin = page.find("```yaml\n") + 8;
    good(page.substr(begin, page.find("```", begin) - begin));
    EXPECT_EQ(page.substr(page.size() - 2).find("\n\n"), std::string::npos);
}

}  // namespace
}  // namespace gridstride::config
