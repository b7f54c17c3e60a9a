// SPDX-License-Identifier: BSD-3-Clause
// What a user learns of a wrong answer, and of one that must be the same twice. A right product under `bitwise` is the
// wrong answer here.
#include <nlohmann/json.hpp>

#include "cli/support.hpp"

namespace gridstride::cli {

namespace {

using Json = nlohmann::json;

constexpr const char* job =
    "jobs:\n"
    "  m:\n"
    "    op: matmul\n"
    "    variant: [loop, openblas]\n"
    "    tolerance: bitwise\n"
    "    inputs:\n"
    "      a: {generate: normal, shape: [37, 501]}\n"
    "      b: {generate: normal, shape: [501, 29]}\n";

class Mismatch : public Command {
  protected:
    Json report() const { return Json::parse(read_text(folder / "out/job/report.json")); }
};

}  // namespace

TEST_F(Mismatch, SaysWhereHowFarAndHowToRunItAgain) {
    const Ran ran = run_job(job);
    EXPECT_EQ(ran.exit, 1);
    EXPECT_TRUE(has(ran.out, {"m[loop]: wrong, of those judged: axis 0: 0 to 36 (all 37); axis 1: 0 to 28 (all 29)",
                              "ULP at the worst element",
                              "m[loop]: again: gridstride run job.yaml --only 'm[loop]' --output-dir out/job/again"}));
    const Json one = report()["cases"][0]["mismatch"];
    EXPECT_EQ(one["axes"].size(), 2U);
    EXPECT_EQ(one["axes"][1]["distinct"], 29);
    std::int64_t counted = 0;
    for (const Json& decade : one["decades"]) {
        counted += decade["count"].get<std::int64_t>();
        EXPECT_LT(decade["power"].get<int>(), -3);  // errors of rounding
    }
    EXPECT_EQ(counted, report()["cases"][0]["reference"]["failed"]);
    EXPECT_GE(one["ulp"], 1);

    const std::string command = one["command"];
    const Ran again = run(command.substr(command.find(' ') + 1));
    EXPECT_EQ(again.exit, 1);
    const Json second = Json::parse(read_text(folder / "out/job/again/report.json"));
    ASSERT_EQ(second["cases"].size(), 1U);
    EXPECT_EQ(second["cases"][0]["name"], "m[loop]");
    EXPECT_EQ(second["cases"][0]["reference"]["worst"], report()["cases"][0]["reference"]["worst"]);
}

TEST_F(Mismatch, IsDumpedWithItsInputsAndTheReference) {
    const Ran ran = run_job(job, "--only 'm[loop]' --dump-mismatch wrong.h5");
    EXPECT_EQ(ran.exit, 1);
    const Json one = report()["cases"][0];
    EXPECT_EQ(one["mismatch"]["dump"], "wrong.h5");
    const Tensor a = read("wrong.h5", "/m[loop]/inputs/a"), b = read("wrong.h5", "/m[loop]/inputs/b");
    const Tensor ours = read("wrong.h5", "/m[loop]/ours"), reference = read("wrong.h5", "/m[loop]/reference");
    const std::int64_t row = one["reference"]["worst"]["index"][0], column = one["reference"]["worst"]["index"][1];
    const std::int64_t rows = ours.spec().shape[0], columns = ours.spec().shape[1];
    EXPECT_EQ(rows, row < 32 ? 16 : 5);
    EXPECT_EQ(columns, column < 16 ? 16 : 13);
    EXPECT_EQ(a.spec().shape, (Shape{rows, 501}));
    EXPECT_EQ(b.spec().shape, (Shape{501, columns}));
    ASSERT_EQ(reference.spec().dtype, DType::float64);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < 501; ++k)
                sum += static_cast<double>(a.as<float>()[i * 501 + k]) * b.as<float>()[k * columns + j];
            EXPECT_NEAR(reference.as<double>()[i * columns + j], sum, 1e-12);
            EXPECT_NEAR(ours.as<float>()[i * columns + j], sum, 1e-3);
        }
    const std::int64_t at = row % 16 * columns + column % 16;
    EXPECT_EQ(static_cast<double>(ours.as<float>()[at]), one["reference"]["worst"]["got"]);
}

TEST_F(Mismatch, ADumpNeverReplacesAFileOfSomeoneElse) {
    write("wrong.h5", "mine");
    const Ran ran = run_job(job, "--dump-mismatch wrong.h5");
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, {"wrong.h5", "not replaced"}));
    EXPECT_EQ(read_text(folder / "wrong.h5"), "mine");
}

TEST_F(Mismatch, ADumpIsNoFileThatTheRunReadsOrWrites) {
    save<float>("x.h5", "/x", {3}, {1, 2, 4});
    const std::string adds = "jobs: {a: {op: add, inputs: {x: x.h5:/x, y: 1}, outputs: a.h5}}";
    for (const auto& [file, what] :
         {std::pair{"x.h5", "is an input"}, {"out/job/a.h5", "is an output"}, {"out/job/report.json", "is a report"}}) {
        const Ran ran = run_job(adds, std::string("--dump-mismatch ") + file);
        EXPECT_EQ(ran.exit, 2) << file;
        EXPECT_TRUE(has(ran.err, {what})) << ran.err;
        EXPECT_FALSE(exists("out/job/a.h5"));
    }
    EXPECT_EQ(values<float>("x.h5", "/x"), (std::vector<float>{1, 2, 4}));
}

TEST_F(Mismatch, RunsAreComparedBitForBit) {
    const Ran ran =
        run_job("jobs: {s: {op: sum, inputs: {x: {generate: normal, shape: [301, 7]}}}}", "--repeat-check 3");
    EXPECT_EQ(ran.exit, 0);
    EXPECT_TRUE(has(ran.out, {"s: 3 runs: the same bits"}));
    const Json repeat = report()["cases"][0]["repeat"];
    EXPECT_EQ(repeat["runs"], 3);
    EXPECT_EQ(repeat["equal"], true);
    EXPECT_EQ(run_job(job, "--repeat-check 1").exit, 2);
}

TEST_F(Mismatch, PropertiesAreReportedOnLinesOfTheirOwn) {
    const Ran ran = run_job(
        "jobs: {d: {op: dft, inputs: {x: {generate: normal, shape: [3, 45]}}}, "
        "n: {op: dft, validate: none, inputs: {x: {generate: normal, shape: [3, 45]}}}}",
        "-v");
    EXPECT_EQ(ran.exit, 0);
    EXPECT_TRUE(
        has(ran.out, {"d: Parseval: holds, ", "d: weighted sum: holds, ", "d: Hermitian: holds, ", "d: shift: holds, ",
                      "d: impulse: holds, ", "d: round trip: holds, ", "d: inputs unchanged: holds"}));
    const Json properties = report()["cases"][0]["properties"];
    EXPECT_EQ(properties.size(), 7U);
    for (const Json& one : properties) EXPECT_EQ(one["status"], "pass") << one;
    EXPECT_EQ(report()["cases"][1]["properties"], Json::array());
}

}  // namespace gridstride::cli
