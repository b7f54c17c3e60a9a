// SPDX-License-Identifier: BSD-3-Clause
// Covariances through files: of a full tensor only the channel-diagonal blocks are read and written, all others are
// carried over bit for bit; the worked example equals direct loops.
#include <cmath>
#include <limits>
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

}  // namespace

}  // namespace gridstride::cli
