// SPDX-License-Identifier: BSD-3-Clause
// What the project ships: every job file of configs/ runs, data/ is what its job file makes, docs/jobs.md is what the
// tables say, real data give NumPy's spectrum.
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
        EXPECT_EQ(read_text(entry.path()).rfind("# Shows: ", 0), 0U) << entry.path();
        const Ran ran = run("run " + entry.path().string());
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

TEST_F(Shipped, LigoStrainHasNumpysSpectrum) {
    const char* data = std::getenv("GRIDSTRIDE_TEST_DATA");
    if (data == nullptr) GTEST_SKIP() << "GRIDSTRIDE_TEST_DATA is not set: no real data";
    const Ran ran = run("run " + source + "/tests/real/ligo_spectrum.yaml");
    ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_TRUE(has(ran.out, {"pass"}));
    const Tensor spectrum = read("out/ligo_spectrum/spectrum.h5", "/spectrum");
    EXPECT_EQ(spectrum.spec(), (Spec{DType::complex128, {65537}}));
    const std::string script = "/usr/bin/python3 '" + source + "/tests/real/ligo_spectrum.py' '" + data + "' '" +
                               (folder / "out/ligo_spectrum/spectrum.h5").string() + "'";
    const int status = std::system(script.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "python3 with numpy and h5py is not there";
    EXPECT_EQ(status, 0);
}

}  // namespace

}  // namespace gridstride::cli
