// SPDX-License-Identifier: BSD-3-Clause
// Covariances through files: of a full tensor only the channel-diagonal blocks are read and written, all others are
// carried over bit for bit; the worked example equals direct loops.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/support.hpp"

namespace gridstride::cli {

namespace {

using Covariance = Command;

/// The worked example: output (2, 3, 7, 7, 3, 7, 7), gamma (2, 3, 9, 9, 3, 9, 9) not symmetric, mu (2, 3, 9, 9), coef
/// 1, kernel 3x3.
constexpr int B = 2, C = 3, H = 9, O = 7, K = 3;

std::size_t at_gamma(int b, int c, int r, int q, int d, int s, int t) {
    return static_cast<std::size_t>((((((b * C + c) * H + r) * H + q) * C + d) * H + s) * H + t);
}
std::size_t at_out(int b, int c, int i, int j, int d, int k, int l) {
    return static_cast<std::size_t>((((((b * C + c) * O + i) * O + j) * C + d) * O + k) * O + l);
}
std::size_t at_mu(int b, int c, int r, int q) {
    return static_cast<std::size_t>(((b * C + c) * H + r) * H + q);
}

std::vector<double> random_values(std::size_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(n);
    for (double& value : values)
        value = static_cast<double>(static_cast<_Float16>(uniform(engine)));  // exact in every type but bfloat16
    return values;
}

struct Example {
    std::vector<double> gamma = random_values(static_cast<std::size_t>(B * C * H * H * C * H * H), 1);
    std::vector<double> mu = random_values(static_cast<std::size_t>(B * C * H * H), 2);
    std::vector<double> base = random_values(static_cast<std::size_t>(B * C * O * O * C * O * O), 3);

    std::vector<double> expected() const {
        std::vector<double> out = base;
        for (int b = 0; b < B; ++b)
            for (int i = 0; i < O; ++i)
                for (int j = 0; j < O; ++j)
                    for (int k = 0; k < O; ++k)
                        for (int l = 0; l < O; ++l) {
                            double r = 0;
                            for (int c = 0; c < C; ++c)
                                for (int u = 0; u < K; ++u)
                                    for (int v = 0; v < K; ++v)
                                        r += gamma[at_gamma(b, c, i + u, j + v, c, k + u, l + v)] +
                                             mu[at_mu(b, c, i + u, j + v)] * mu[at_mu(b, c, k + u, l + v)];
                            for (int c = 0; c < C; ++c) out[at_out(b, c, i, j, c, k, l)] += r;
                        }
        return out;
    }
};

class WorkedExample : public Covariance, public testing::WithParamInterface<const char*> {};

TEST_P(WorkedExample, EqualsDirectLoopsInPlaceOfTheFullTensor) {
    const std::string dtype = GetParam();
    Example example;
    if (dtype == "bfloat16")
        for (auto* values : {&example.gamma, &example.mu, &example.base})
            for (double& value : *values) value = static_cast<double>(bfloat16(value));
    const std::vector<double> expected = example.expected();
    // Blocks between different channels must not be read: NaN stands there in gamma.
    for (int b = 0; b < B; ++b)
        for (int c = 0; c < C; ++c)
            for (int d = 0; d < C; ++d)
                if (c != d) example.gamma[at_gamma(b, c, 4, 5, d, 6, 7)] = std::numeric_limits<double>::quiet_NaN();
    save<double>("gamma.h5", "/gamma", {B, C, H, H, C, H, H}, example.gamma);
    save<double>("mu.h5", "/mu", {B, C, H, H}, example.mu);
    save<double>("base.h5", "/base", {B, C, O, O, C, O, O}, example.base);
    const Ran ran = run_job("jobs: {layer: {op: convcov, dtype: " + dtype +
                            ", inputs: {gamma: \"gamma.h5:/gamma\", mu: \"mu.h5:/mu\", coef: 1.0, accumulate: "
                            "\"base.h5:/base\"}, params: {kernel: 3}, outputs: layer.h5}}");
    ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
    EXPECT_TRUE(has(ran.out, {"all 14 406"}));  // 2 x 3 blocks of 49 x 49
    const Tensor out = read("out/job/layer.h5", "/cov");
    ASSERT_EQ(out.spec().shape, (Shape{B, C, O, O, C, O, O}));
    const double u = unit_roundoff(out.spec().dtype), accumulator = dtype == "float64" ? 0x1p-53 : 0x1p-24;
    for (int b = 0; b < B; ++b)
        for (int c = 0; c < C; ++c)
            for (int d = 0; d < C; ++d)
                for (int p = 0; p < O * O; ++p)
                    for (int q = 0; q < O * O; ++q) {
                        const std::size_t index = at_out(b, c, p / O, p % O, d, q / O, q % O);
                        const auto got = static_cast<double>(real_part(out.slab(), static_cast<std::int64_t>(index)));
                        if (c != d)
                            ASSERT_EQ(got, example.base[index]);
                        else
                            ASSERT_NEAR(got, expected[index], u * std::abs(expected[index]) + 64 * accumulator * 55);
                    }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, WorkedExample, testing::Values("float16", "bfloat16", "float32", "float64"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Covariance, ChainedFullCovariancesEqualTheOnesThroughFiles) {
    const std::string first =
        "  one: {op: convcov, dtype: float64, inputs: {gamma: {generate: covariance, shape: [1, 2, 6, 5, 2, 6, 5], "
        "pairs: 3}, mu: {generate: normal, shape: [1, 2, 6, 5]}, coef: [0.5, 2, 1]}, params: {kernel: [2, 3], form: "
        "full}, outputs: one.h5}\n";
    ASSERT_EQ(run_job("jobs:\n" + first +
                      "  two: {op: convcov, inputs: {gamma: \"$one:/cov\", mu: {generate: normal, shape: [1, 3, 5, 3], "
                      "dtype: float64, seed: 4}, coef: 1}, params: {kernel: 2, channels: 2}, outputs: two.h5}\n"
                      "  whole: {op: copy, inputs: {x: \"$one:/cov\"}, outputs: whole.h5}\n")
                  .exit,
              0);
    EXPECT_EQ(values<double>("out/job/whole.h5", "/y"), values<double>("out/job/one.h5", "/cov"));
    const std::vector<double> chained = values<double>("out/job/two.h5", "/cov");
    fs::rename(folder / "out/job/one.h5", folder / "one.h5");
    ASSERT_EQ(
        run_job("jobs:\n  two: {op: convcov, inputs: {gamma: \"one.h5:/cov\", mu: {generate: normal, shape: [1, 3, 5, "
                "3], dtype: float64, seed: 4}, coef: 1}, params: {kernel: 2, channels: 2}, outputs: two.h5}\n")
            .exit,
        0);
    EXPECT_EQ(values<double>("out/job/two.h5", "/cov"), chained);
}

TEST_F(Covariance, ChainedInPlaceKeepsTheOtherBlocksOfTheFirstFile) {
    std::vector<double> base(2 * 2 * 2 * 2, 7);  // (1, 2, 1, 2, 2, 1, 2): blocks between channels hold 7 all the way
    save<double>("base.h5", "/base", {1, 2, 1, 2, 2, 1, 2}, base);
    save<double>("mu.h5", "/mu", {1, 1, 1, 2}, {1, 3});
    const Ran ran = run_job(
        "jobs:\n"
        "  one: {op: convcov, inputs: {mu: \"mu.h5:/mu\", coef: 1, accumulate: \"base.h5:/base\"}, params: {kernel: "
        "1}}\n"
        "  two: {op: convcov, inputs: {mu: \"mu.h5:/mu\", coef: [10, 0], accumulate: \"$one:/cov\"}, params: {kernel: "
        "1}, outputs: two.h5}\n");
    ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
    // R = [[1, 3], [3, 9]]; block (0, 0) gains 11 R, block (1, 1) gains R once.
    EXPECT_EQ(values<double>("out/job/two.h5", "/cov"),
              (std::vector<double>{18, 40, 7, 7, 40, 106, 7, 7, 7, 7, 8, 10, 7, 7, 10, 16}));
}

TEST_F(Covariance, AFreshFullTensorIsZeroBetweenChannels) {
    save<float>("mu.h5", "/mu", {1, 1, 2, 1}, {2, 5});
    ASSERT_EQ(run_job("jobs: {a: {op: convcov, inputs: {mu: \"mu.h5:/mu\", coef: [1, 10]}, params: {kernel: 1, form: "
                      "full}, outputs: a.h5}}")
                  .exit,
              0);
    EXPECT_EQ(values<float>("out/job/a.h5", "/cov"),
              (std::vector<float>{4, 10, 0, 0, 10, 25, 0, 0, 0, 0, 40, 100, 0, 0, 100, 250}));
}

TEST_F(Covariance, ALayersOwnCovarianceIsTwoProductsAndEntersAsAccumulate) {
    constexpr int Ci = 2, Co = 3, P = 6;  // map 2 x 3, one tap
    const std::vector<double> w = random_values(Co * Ci, 1), mu = random_values(Ci * P, 2),
                              gamma = random_values(Ci * P * Ci * P, 3), coef{0.5, 0, 2};
    save<double>("w.h5", "/w", {Co, Ci}, w);
    save<double>("mu.h5", "/mu", {1, Ci, 2, 3}, mu);
    save<double>("gamma.h5", "/gamma", {1, Ci, 2, 3, Ci, 2, 3}, gamma);
    const Ran ran = run_job(
        "jobs:\n"
        "  left: {op: matmul, inputs: {a: \"w.h5:/w\", b: {from: \"gamma.h5:/gamma\", shape: [1, 2, 72]}}}\n"
        "  right: {op: matmul, inputs: {a: \"w.h5:/w\", b: {from: \"$left:/c\", shape: [1, 18, 2, 6]}}}\n"
        "  layer: {op: convcov, inputs: {gamma: \"gamma.h5:/gamma\", mu: \"mu.h5:/mu\", coef: [0.5, 0, 2], "
        "accumulate: {from: \"$right:/c\", shape: [1, 3, 2, 3, 3, 2, 3]}}, params: {kernel: 1, bias: true}, outputs: "
        "layer.h5}\n");
    ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
    const std::vector<double> got = values<double>("out/job/layer.h5", "/cov");
    const auto at = [](int x, int columns, int y) { return static_cast<std::size_t>(x * columns + y); };
    for (int one = 0; one < Co * P; ++one)
        for (int other = 0; other < Co * P; ++other) {
            const int o = one / P, p = one % P, o2 = other / P, p2 = other % P;
            double expected = 0, noise = 1;
            for (int c = 0; c < Ci; ++c) {
                noise += gamma[at(c * P + p, Ci * P, c * P + p2)] + mu[at(c, P, p)] * mu[at(c, P, p2)];
                for (int d = 0; d < Ci; ++d)
                    expected += w[at(o, Ci, c)] * gamma[at(c * P + p, Ci * P, d * P + p2)] * w[at(o2, Ci, d)];
            }
            if (o == o2) expected += coef[at(0, 1, o)] * noise;
            EXPECT_NEAR(got[at(one, Co * P, other)], expected, 1e-14) << one << " " << other;
        }
}

TEST_F(Covariance, ModesComeFromTheJobFile) {
    save<double>("mu.h5", "/mu", {1, 1, 1, 3}, {1, 2, 3});
    save<double>("coef.h5", "/coef", {2, 1}, {1, 10});
    save<double>("variance.h5", "/v", {1, 1, 1, 2}, {2, 3});
    const Ran ran = run_job(
        "jobs:\n"
        "  circular: {op: convcov, inputs: {mu: \"mu.h5:/mu\", coef: [1]}, params: {kernel: [1, 2], padding: [0, 0, 0, "
        "1], padding_mode: circular}, outputs: circular.h5}\n"
        "  vectors: {op: convcov, inputs: {mu: \"mu.h5:/mu\", coef: \"coef.h5:/coef\"}, params: {kernel: [1, 2], "
        "noise: "
        "read, bias: true, form: full}, outputs: vectors.h5}\n"
        "  own: {op: convcov, inputs: {mu: \"mu.h5:/mu\", weight_variance: \"variance.h5:/v\"}, params: {kernel: [1, "
        "2]}, outputs: own.h5}\n");
    ASSERT_EQ(ran.exit, 0) << ran.err << ran.out;
    EXPECT_EQ(values<double>("out/job/circular.h5", "/cov"), (std::vector<double>{5, 8, 5, 8, 13, 9, 5, 9, 10}));
    EXPECT_EQ(read("out/job/vectors.h5", "/cov").spec().shape, (Shape{2, 1, 1, 1, 2, 1, 1, 2}));
    EXPECT_EQ(values<double>("out/job/vectors.h5", "/cov"), (std::vector<double>{6, 0, 0, 14, 60, 0, 0, 140}));
    EXPECT_EQ(values<double>("out/job/own.h5", "/cov"), (std::vector<double>{14, 22, 22, 35}));
}

TEST_F(Covariance, AGammaThatIsNotSymmetricIsAnInputErrorWhereThatIsChecked) {
    save<double>("mu.h5", "/mu", {1, 2, 1, 2}, {1, 1, 1, 1});
    save<double>("gamma.h5", "/gamma", {1, 2, 1, 2, 2, 1, 2}, {1, 2, 9, 9, 2, 1, 9, 9, 9, 9, 3, 4, 9, 9, 5, 3});
    const auto job = [](const std::string& symmetric) {
        return "jobs: {a: {op: convcov, inputs: {gamma: \"gamma.h5:/gamma\", mu: \"mu.h5:/mu\", coef: [1]}, params: "
               "{kernel: 1, symmetric: " +
               symmetric + "}, outputs: a.h5}}";
    };
    const Ran checked = run_job(job("check"));
    EXPECT_EQ(checked.exit, 3) << checked.out << checked.err;
    EXPECT_TRUE(has(checked.out + checked.err,
                    {"not symmetric", "channel 1", "(0, 0) with (0, 1) has 4", "(0, 1) with (0, 0) has 5"}))
        << checked.out << checked.err;
    EXPECT_FALSE(fs::exists(folder / "out/job/a.h5"));
    EXPECT_EQ(run_job(job("assume")).exit, 0);
    EXPECT_EQ(values<double>("out/job/a.h5", "/cov"), (std::vector<double>{6, 8, 8, 6}));
    EXPECT_EQ(run_job(job("none")).exit, 0);
    EXPECT_EQ(values<double>("out/job/a.h5", "/cov"), (std::vector<double>{6, 8, 9, 6}));
}

TEST_F(Covariance, UpdatesThatAHalfHasNoDigitForAreCounted) {
    save<float16>("base.h5", "/base", {1, 1, 1, 2, 1, 2}, {float16(2048), float16(1), float16(1), float16(2048)});
    save<float16>("mu.h5", "/mu", {1, 1, 1, 2}, {float16(1), float16(2)});
    const auto notes = [&](const std::string& result) {
        EXPECT_EQ(run_job("jobs: {a: {op: convcov" + result +
                          ", inputs: {mu: \"mu.h5:/mu\", coef: 1, accumulate: \"base.h5:/base\"}, params: {kernel: "
                          "1}, outputs: a.h5}}")
                      .exit,
                  0);
        return nlohmann::json::parse(read_text(folder / "out/job/report.json"))["cases"][0]["notes"].dump();
    };
    const std::string counted = notes("");
    EXPECT_TRUE(has(counted, {"1 of the judged results are what they were before", "result_dtype: float32"}))
        << counted;
    EXPECT_EQ(values<float16>("out/job/a.h5", "/cov"),
              (std::vector<float16>{float16(2048), float16(3), float16(3), float16(2052)}));
    EXPECT_EQ(notes(", result_dtype: float32").find("before"), std::string::npos);
    EXPECT_EQ(values<float>("out/job/a.h5", "/cov"), (std::vector<float>{2049, 3, 3, 2052}));
}

}  // namespace

}  // namespace gridstride::cli
