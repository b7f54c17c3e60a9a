// SPDX-License-Identifier: BSD-3-Clause
// list, inspect, doctor: what they print can be used as it stands.
#include "verbs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/operation.hpp"
#include "io/config.hpp"
#include "io/hdf5.hpp"
#include "options.hpp"
#include "support/folder.hpp"

namespace gridstride {

namespace {

namespace fs = std::filesystem;

/// What f prints; its value must be `exit`.
template <class F>
std::string printed(F f, int exit = 0) {
    testing::internal::CaptureStdout();
    int code = -1;
    try {
        code = f();
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
    }
    EXPECT_EQ(code, exit);
    return testing::internal::GetCapturedStdout();
}

using Verbs = InFolder;

class EachOperation : public Verbs, public testing::WithParamInterface<const Entry*> {};

TEST_P(EachOperation, ListNamesAllItHas) {
    const Op& op = *GetParam()->op;
    const std::string text = printed([&] { return list({std::string(op.name), false, false}); });
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    for (const Input& input : op.inputs) EXPECT_TRUE(has(input.doc)) << input.name;
    for (const Param& param : op.params) EXPECT_EQ(has(param.doc), !param.hidden) << param.name;
    for (const Variant* variant : GetParam()->variants) EXPECT_TRUE(has(variant->name)) << variant->name;
}

TEST_P(EachOperation, ExampleIsAJobWithEveryParameterAtItsDefault) {
    const Op& op = *GetParam()->op;
    const std::string text = printed([&] { return list({std::string(op.name), true, false}); });
    config::Diagnostics diagnostics;
    const config::Config parsed = config::parse(text, "example.yaml", folder.string(), {}, diagnostics);
    ASSERT_TRUE(diagnostics.empty()) << diagnostics.text() << text;
    ASSERT_EQ(parsed.jobs.size(), 1U);
    const config::Job& job = parsed.jobs[0];
    EXPECT_EQ(job.entry, GetParam());
    for (const Param& param : op.params) {
        if (param.hidden) continue;
        EXPECT_NE(text.find(std::string(param.name) + ":"), std::string::npos) << param.name;
        const std::string given = job.params.has(param.name) ? to_text(job.params.get(param.name)) : "unset";
        if (!param.otherwise) {
            EXPECT_NE(given, "unset") << param.name;
        } else {
            EXPECT_EQ(given, param.otherwise->empty() ? "unset" : to_text(*param.otherwise)) << param.name;
        }
    }
}

TEST_P(EachOperation, ExampleRuns) {
    const std::string op(GetParam()->op->name);
    const fs::path file = folder / (op + ".yaml");
    std::ofstream(file) << printed([&] { return list({op, true, false}); });
    RunOptions options;
    options.configs = {file.string()};
    options.output_dir = (folder / "out").string();
    options.overrides.device = "cpu";
    const std::string table = printed([&] { return run(options); });
    EXPECT_NE(table.find("pass"), std::string::npos) << table;
    EXPECT_TRUE(fs::exists(folder / "out" / (op + ".h5")));
}

INSTANTIATE_TEST_SUITE_P(All, EachOperation, testing::ValuesIn([] {
                             std::vector<const Entry*> entries;
                             for (const Entry& entry : registry()) entries.push_back(&entry);
                             return entries;
                         }()),
                         [](const auto& info) { return std::string(info.param->op->name); });

TEST_F(Verbs, ListNamesEveryOperation) {
    const std::string text = printed([] { return list({}); });
    for (const Entry& entry : registry())
        EXPECT_NE(text.find("\n" + std::string(entry.op->name) + " "), std::string::npos);
}

TEST_F(Verbs, ListSuggestsTheNearestOperation) {
    try {
        list({"matmull", false, false});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::config);
        EXPECT_NE(std::string(error.what()).find("did you mean 'matmul'"), std::string::npos) << error.what();
    }
    EXPECT_THROW(list({"", true, false}), Error);
}

TEST_F(Verbs, ListPrintsTheSchemaAsJson) {
    const nlohmann::json schema = nlohmann::json::parse(printed([] { return list({"", false, true}); }));
    EXPECT_TRUE(schema.contains("$schema"));
}

/// /group/x (3, 5) 0, 1, ... with NaN at the end; /y complex (2,).
std::string written(const fs::path& path) {
    hdf5::Writer writer(path.string());
    const Tensor x({DType::float32, {3, 5}}), y({DType::complex128, {2}});
    for (int i = 0; i < 15; ++i) x.as<float>()[i] = i < 14 ? static_cast<float>(i) : std::nanf("");
    y.as<complex128>()[0] = {3, 4};
    y.as<complex128>()[1] = {0, -1};
    writer.create("/group/x", x.spec(), {Shape{2, 5}, true, true, 4, false});
    writer.write("/group/x", whole({3, 5}), x.slab());
    writer.attribute("/group/x", "units", "m/s");
    writer.create("/y", y.spec(), {});
    writer.write("/y", whole({2}), y.slab());
    writer.commit();
    return path.string();
}

/// The line that begins with this text, its columns split at two or more spaces.
std::vector<std::string> columns_of(const std::string& text, const std::string& begin) {
    const std::size_t at = ("\n" + text).find("\n" + begin + " ");
    if (at == std::string::npos) return {};
    std::string line = text.substr(at, text.find('\n', at) - at);
    std::vector<std::string> columns;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find("  "), line.size());
        columns.push_back(line.substr(0, end));
        line.erase(0, std::min(line.find_first_not_of(' ', end), line.size()));
    }
    return columns;
}

TEST_F(Verbs, InspectShowsShapeTypeStorageAndAttributes) {
    const std::string file = written(folder / "a.h5");
    const std::string text = printed([&] { return inspect({file, false}); });
    const std::vector<std::string> x = columns_of(text, file + ":/group/x"), y = columns_of(text, file + ":/y");
    ASSERT_EQ(x.size(), 4U) << text;
    EXPECT_EQ(x[1], "float32");
    EXPECT_EQ(x[2], "(3, 5)");
    EXPECT_EQ(x[3].substr(0, 32), "chunks (2, 5), shuffle, gzip 4, ") << x[3];
    ASSERT_EQ(y.size(), 4U) << text;
    EXPECT_EQ(y[1].substr(0, 10), "complex128");
    EXPECT_EQ(y[3], "32 B");
    EXPECT_NE(text.find("    @units = m/s\n"), std::string::npos) << text;
    EXPECT_EQ(columns_of(text, file + ":/group"), (std::vector<std::string>{file + ":/group", "group"}));
}

TEST_F(Verbs, InspectCountsWithoutNaN) {
    const std::string file = written(folder / "a.h5");
    const std::string text = printed([&] { return inspect({file, true}); });
    const std::vector<std::string> x = columns_of(text, file + ":/group/x"), y = columns_of(text, file + ":/y");
    ASSERT_EQ(x.size(), 8U) << text;
    EXPECT_EQ((std::vector<std::string>{x.begin() + 3, x.begin() + 7}),
              (std::vector<std::string>{"0", "13", "6.5", "1"}));
    ASSERT_EQ(y.size(), 8U) << text;  // of complex values min and max are of the modulus
    EXPECT_EQ((std::vector<std::string>{y.begin() + 3, y.begin() + 7}),
              (std::vector<std::string>{"1", "5", "1.5+1.5i", "0"}));
}

TEST_F(Verbs, InspectShowsAllDigitsOfIntegers) {
    const std::string file = (folder / "i.h5").string();
    {
        hdf5::Writer writer(file);
        const Tensor times({DType::int64, {2}});
        times.as<std::int64_t>()[0] = -1126259446;
        times.as<std::int64_t>()[1] = 1665246654001;
        writer.create("/t", times.spec(), {});
        writer.write("/t", whole({2}), times.slab());
        writer.commit();
    }
    const std::vector<std::string> t = columns_of(printed([&] { return inspect({file, true}); }), file + ":/t");
    ASSERT_EQ(t.size(), 8U);
    EXPECT_EQ(t[3], "-1126259446");
    EXPECT_EQ(t[4], "1665246654001");
}

TEST_F(Verbs, InspectOfAPathShowsThatPartAlone) {
    const std::string file = written(folder / "a.h5");
    const std::string text = printed([&] { return inspect({file + ":/group", false}); });
    EXPECT_NE(text.find(":/group/x"), std::string::npos);
    EXPECT_EQ(text.find(":/y"), std::string::npos);
}

TEST_F(Verbs, InspectPrintsTextThatAJobFileReads) {
    for (const char* name : {"plain.h5", "with space.h5", "a$b.h5", "it's [1].h5", "a: b #c.h5", "{x}.h5", "-x.h5"}) {
        const std::string file = written(folder / name);
        fs::current_path(folder);  // the name alone, as users type it
        const std::string text = printed([&] { return inspect({name, false}); });
        const std::size_t path = text.find(":/group/x");
        const std::size_t begin = text.rfind('\n', path) + 1;
        const std::string pasted = text.substr(begin, text.find("  ", path) - begin);
        for (const std::string& job : {"jobs: {c: {op: copy, inputs: {x: " + pasted + "}}}",
                                       "jobs:\n  c:\n    op: copy\n    inputs:\n      x: " + pasted + "\n"}) {
            config::Diagnostics diagnostics;
            const config::Config parsed = config::parse(job, "c.yaml", folder.string(), {}, diagnostics);
            ASSERT_TRUE(diagnostics.empty()) << diagnostics.text();
            const auto& source = std::get<config::Dataset>(parsed.jobs[0].inputs.at("x").source);
            EXPECT_EQ(source.path, "/group/x");
            EXPECT_TRUE(fs::equivalent(source.file, file)) << source.file;
        }
        fs::current_path(fs::temp_directory_path());
    }
}

TEST_F(Verbs, InspectRefusesWhatIsNotThere) {
    const std::string file = written(folder / "a.h5");
    EXPECT_THROW(inspect({(folder / "absent.h5").string(), false}), Error);
    EXPECT_THROW(inspect({file + ":/absent", false}), Error);
}

TEST_F(Verbs, DoctorPutsEveryVariantOfThisMachineToTheReference) {
    const std::string text = printed([] { return doctor(); });
    EXPECT_NE(text.find("\nall is well"), std::string::npos) << text;
    EXPECT_EQ(text.find("fault:"), std::string::npos) << text;
    for (const Entry& entry : registry())
        for (const Variant* variant : entry.variants)
            if (variant->device == Device::cpu && variant->role != Role::faulty) {
                const std::string row = std::string(entry.op->name) + "[" + std::string(variant->name) + "]";
                EXPECT_NE(text.find(row), std::string::npos) << row;
            }
    for (const char* library : {"HDF5", "FFTW", "OpenBLAS", "yaml-cpp", "fmt"})
        EXPECT_NE(text.find(library), std::string::npos) << library;
}

}  // namespace

}  // namespace gridstride
