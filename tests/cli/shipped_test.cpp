// SPDX-License-Identifier: BSD-3-Clause
// What the project ships: every job file of configs/ runs, data/ is what its job file makes, docs/jobs.md is what the
// tables say; every job file of tests/real gives what NumPy computes, what real files have that is not read is refused.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/support.hpp"
#include "io/config.hpp"

namespace gridstride::cli {

namespace {

using Shipped = Command;
const std::string source = GRIDSTRIDE_SOURCE;

TEST_F(Shipped, EveryConfigRunsAndBeginsWithWhatItShows) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(source + "/configs")) {
        if (entry.path().extension() != ".yaml") continue;
        ++files;
        const std::string text = read_text(entry.path());
        EXPECT_EQ(text.rfind("# Shows: ", 0), 0U) << entry.path();
        // Sizes and the budget of the judge as small as they may be: bootstrap.sh runs the files as they are.
        const Ran ran = run("run " + entry.path().string() + " --set 'defaults.validate={terms: 1e6}'" +
                            (has(text, {"vars: {n: "}) ? " --set n=101" : ""));
        EXPECT_EQ(ran.exit, 0) << entry.path() << ran.out << ran.err;
        EXPECT_TRUE(has(ran.out, {"cpu", "pass"})) << entry.path();
        EXPECT_FALSE(has(ran.out, {"vacuous"})) << entry.path();
    }
    EXPECT_GE(files, 10);
}

TEST_F(Shipped, DataAreTheBytesThatTheirJobFileMakes) {
    const Ran ran = run("run " + source + "/data/make.yaml --output-dir made");
    ASSERT_EQ(ran.exit, 0) << ran.err;
    int files = 0;
    for (const auto& [file, dataset] :
         {std::pair{"signal.h5", "/signal"}, {"gamma.h5", "/gamma"}, {"mu1.h5", "/mu"}, {"mu2.h5", "/mu"}}) {
        const std::vector<float> made = values<float>(std::string("made/") + file, dataset);
        fs::copy_file(source + "/data/" + file, folder / file);
        EXPECT_EQ(made, values<float>(file, dataset)) << file;
        ++files;
    }
    for (const auto& entry : fs::directory_iterator(source + "/data"))
        files -= entry.path().extension() == ".h5" ? 1 : 0;
    EXPECT_EQ(files, 0) << "data/ holds files that make.yaml does not make";
}

TEST_F(Shipped, TheJobFileReferenceIsTheTables) {
    EXPECT_EQ(read_text(source + "/docs/jobs.md"), config::jobs_markdown())
        << "write it anew: gridstride list --reference > docs/jobs.md";
}

/// Measured and published files, where GRIDSTRIDE_TEST_DATA names the folder that holds real/.
class Real : public Command {
  protected:
    void SetUp() override {
        Command::SetUp();
        const char* variable = std::getenv("GRIDSTRIDE_TEST_DATA");
        if (variable == nullptr) GTEST_SKIP() << "GRIDSTRIDE_TEST_DATA is not set: no real data";
        data = variable;
    }
    /// Python's exit status.
    static int python(const std::string& arguments) {
        const int status = std::system(("/usr/bin/python3 " + arguments).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string data;
};

TEST_F(Real, EveryJobFileGivesWhatNumpyComputes) {
    std::string files;
    for (const auto& entry : fs::directory_iterator(source + "/tests/real"))
        if (entry.path().extension() == ".yaml") {
            EXPECT_EQ(read_text(entry.path()).rfind("# Shows: ", 0), 0U) << entry.path();
            files += " '" + entry.path().string() + "'";
        }
    const Ran ran = run("run" + files);
    ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
    std::map<std::string, nlohmann::json> cases;
    for (const auto& entry : fs::directory_iterator(folder / "out")) {
        const auto report = nlohmann::json::parse(read_text(entry.path() / "report.json"));
        for (const auto& one : report["cases"])
            cases[entry.path().filename().string() + "/" + one["name"].get<std::string>()] = one;
    }
    EXPECT_GT(cases.size(), 60U);
    for (const auto& [name, one] : cases)
        EXPECT_EQ(one["status"], name == "hera/delay_with_nan" ? "vacuous" : "pass") << name << one["reason"];

    // The first 2 of 100 channels are NaN at each of 30 times: in every transform along frequency, in 2 along time.
    struct Nan {
        std::string name;
        int in;
        std::string note;
    };
    for (const auto& [name, in, note] : {Nan{"delay_with_nan", 60, "the output holds 3000 NaN"},
                                         {"fringe_with_nan", 60, "the output holds 60 NaN"},
                                         {"over_time", 60, "the output holds 2 NaN"},
                                         {"delay", 0, "input x: 60 NaN replaced"},
                                         {"fringe", 0, "input x: 60 NaN replaced"},
                                         {"over_time_without_nan", 0, "input x: 60 NaN replaced"}}) {
        const auto& one = cases.at("hera/" + name);
        EXPECT_EQ(one["inputs"][0]["nan"], in) << name;
        const auto& notes = one["notes"];
        EXPECT_NE(std::find(notes.begin(), notes.end(), note), notes.end()) << name << notes;
    }
    EXPECT_EQ(cases.at("hera/delay_of_good_channels")["notes"], nlohmann::json::array());

    const int code =
        python("'" + source + "/tests/real/against_h5py.py' '" + data + "' '" + (folder / "out").string() + "'");
    if (code == 77) GTEST_SKIP() << "python3 with numpy and h5py is not there";
    EXPECT_EQ(code, 0);
}

TEST_F(Real, WhatIsNotReadIsRefusedWithWhatWouldHelp) {
    const std::string desy1 = data + "/real/desy1_3x2pt_sacc_data.hdf5:",
                      hera = data + "/real/hera_zen.2459861.baseline.0_4.sum.uvh5:",
                      ligo = data + "/real/H-H1_LOSC_4_V2-1126259446-32.hdf5:";
    struct Refusal {
        std::string place, type, help;
    };
    const std::vector<Refusal> refusals{
        {desy1 + "/covariance_cov", "compound {row: array float64[457]}", "f['row'] = d['row']"},
        {desy1 + "/data/galaxy_density_xi", "compound {tracer_0: string (5 bytes), ", "f['value'] = d['value']"},
        {desy1 + "/tracer/lens0", "compound {z: float64, nz: float64}", "f['z'] = d['z']"},
        {hera + "/Header/history", "string (134359 bytes)", "numpy.array(d.asstr()[()], 'f8')"},
        {hera + "/Header/phase_center_catalog/0/cat_dist", "null dataspace", "leave the input out"},
        {ligo + "/meta/Detector", "string (variable)", "numpy.array(d.asstr()[()], 'f8')"}};
    std::string yaml = "jobs:\n";
    for (std::size_t i = 0; i < refusals.size(); ++i)
        yaml += "  j" + std::to_string(i) + ": {op: copy, inputs: {x: \"" + refusals[i].place + "\"}}\n";
    write("job.yaml", yaml);
    for (const std::string verb : {"check", "run"}) {
        const Ran ran = run(verb + " job.yaml");
        EXPECT_EQ(ran.exit, 2);
        std::istringstream lines(ran.err);
        std::size_t found = 0;
        for (std::string line; std::getline(lines, line);)
            if (found < refusals.size() && line.starts_with("job.yaml:" + std::to_string(found + 2) + ":")) {
                EXPECT_TRUE(has(line, {refusals[found].place + ": ", refusals[found].type, refusals[found].help}));
                ++found;
            }
        EXPECT_EQ(found, refusals.size()) << ran.err;
    }
}

TEST_F(Real, AFilterThatIsMissingIsSaidBeforeTheRunAndStopsItsCaseAlone) {
    const std::string file = data + "/real/hera_zen.2459861.baseline.0_4.sum.uvh5";
    if (hdf5::describe(file, "/Data/flags").missing_filters.empty()) GTEST_SKIP() << "lzf is installed";
    write("job.yaml", "jobs:\n  flagged: {op: sum, inputs: {x: \"" + file +
                          ":/Data/flags\"}}\n  all: {op: sum, inputs: {x: {from: \"" + file +
                          ":/Data/visdata\", nan: 0}}}\n  read: {op: sum, inputs: {x: $flagged:/s}}\n");
    const Ran check = run("check job.yaml");
    EXPECT_EQ(check.exit, 3);
    EXPECT_TRUE(has(check.out, {"flagged: error: " + file + ":/Data/flags: compressed with a filter",
                                "lzf (filter 32000)", "save the data again with gzip"}));
    EXPECT_EQ(run("run job.yaml").exit, 3);
    const auto cases = nlohmann::json::parse(read_text(folder / "out/job/report.json"))["cases"];
    EXPECT_EQ(cases[0]["status"], "error");
    EXPECT_EQ(cases[1]["status"], "pass");
    EXPECT_EQ(cases[2]["status"], "skipped");
    EXPECT_EQ(cases[2]["reason"], "flagged failed");
}

TEST_F(Real, TheLineThatHelpsMakesThePlainCovariance) {
    const std::string file = data + "/real/desy1_3x2pt_sacc_data.hdf5";
    write("job.yaml", "jobs: {c: {op: copy, inputs: {x: \"" + file + ":/covariance_cov\"}}}\n");
    const std::string said = run("check job.yaml").err, before = "f another file: ";
    const std::size_t begin = said.find(before);
    ASSERT_NE(begin, std::string::npos) << said;
    const std::string line = said.substr(begin + before.size(), said.find(')', begin) - begin - before.size());
    write("help.py", "import sys\ntry:\n    import h5py\nexcept ImportError:\n    sys.exit(77)\nd = h5py.File('" +
                         file + "')['covariance_cov']\nwith h5py.File('" + (folder / "plain.h5").string() +
                         "', 'w') as f:\n    " + line + "\n");
    const int code = python("'" + (folder / "help.py").string() + "'");
    if (code == 77) GTEST_SKIP() << "python3 with h5py is not there";
    ASSERT_EQ(code, 0) << line;
    const Ran ran = run_job("jobs: {c: {op: copy, inputs: {x: \"plain.h5:/row\"}, outputs: c.h5}}\n");
    ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
    const Tensor covariance = read("out/job/c.h5", "/y");
    ASSERT_EQ(covariance.spec(), (Spec{DType::float64, {457, 457}}));
    for (std::size_t i = 0; i < 457; ++i) {
        EXPECT_GT(covariance.as<double>()[i * 457 + i], 0);
        for (std::size_t j = 0; j < i; ++j)
            ASSERT_EQ(covariance.as<double>()[i * 457 + j], covariance.as<double>()[j * 457 + i]) << i << "," << j;
    }
}

}  // namespace

}  // namespace gridstride::cli
