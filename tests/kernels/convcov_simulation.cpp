// SPDX-License-Identifier: BSD-3-Clause
// The noise models of convcov against the problem itself: convolutions whose weights are noisy, of random inputs, drawn
// many times; their empirical covariance beside W gamma W^T + the operation's result.
//
// Tolerance: of each covariance the mean of y y' over D draws has the standard error sqrt(var(y y') / D), taken from
// the draws. There are n = O P (O P + 1) / 2 = 78 of them: the largest deviation, in these units, is below 5.5 but for
// one seed in 300 000 (2 n Q(5.5)). A wrong model is off by a share of the covariances themselves, which grows as
// sqrt(D) in these units: every other one is refused by twice the tolerance at least.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "support/run.hpp"

namespace gridstride {
namespace {

using support::make;
using support::params;
using Doubles = std::vector<double>;

// Map 3 x 2, kernel 2 x 3 with padding [1, 0, 1, 1], so 3 x 2 outputs; 2 channels in and out.
constexpr int C = 2, O = 2, H = 3, W = 2, K = 2, L = 3, top = 1, left = 1, N = H * W, P = H * W, taps = K * L;
constexpr int draws = 200'000;
constexpr double within = 5.5;

std::size_t at(int row, int columns, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
}

std::size_t index(int k) {
    return static_cast<std::size_t>(k);
}

/// Numbers of the normal distribution, by Box and Muller.
class Normal {
  public:
    explicit Normal(std::uint64_t seed) : engine_(seed) {}
    double operator()() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
        return radius * std::cos(angle);
    }

  private:
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    std::mt19937_64 engine_;
};

/// What the layer is: weights w[o][c u v], the input's mean [c n] and a root of its covariance [c n][c n].
struct Layer {
    Doubles weights = Doubles(O * C * taps), mean = Doubles(C * N), root = Doubles(C * N * C * N);
    Doubles coef{0.09, 0.25}, variances = Doubles(O * C * taps);

    Layer() {
        Normal normal(7);
        for (double& weight : weights) weight = 0.5 * normal();
        for (double& value : mean) value = 0.6 * normal();
        for (double& value : root) value = 0.3 * normal();
        for (double& value : variances) value = 0.3 * std::abs(normal());
    }
    double gamma(int x, int y) const {
        double sum = 0;
        for (int k = 0; k < C * N; ++k) sum += root[at(x, C * N, k)] * root[at(y, C * N, k)];
        return sum;
    }
};

struct Model {
    const char* name = nullptr;
    const char* noise = "programming";
    bool bias = false, per_weight = false, circular = false;
};
constexpr Model models[] = {
    {"programming"},
    {"read", "read"},
    {"programming_bias", "programming", true},
    {"read_bias", "read", true},
    {"weight_variance", "programming", false, true},
    {"weight_variance_read", "read", false, true},
    {"circular", "programming", false, false, true},
};

/// The input place under tap t of output place p; -1: zero padding.
int under(const Model& model, int p, int t) {
    int r = p / W + t / L - top, q = p % W + t % L - left;
    if (model.circular) {
        r = (r + H) % H;
        q = (q + W) % W;
    }
    return r < 0 || r >= H || q < 0 || q >= W ? -1 : r * W + q;
}

/// W gamma W^T, (O P)^2: the covariance that the weights alone make.
Doubles of_weights(const Layer& layer, const Model& model) {
    Doubles matrix(O * P * C * N, 0), result;
    for (int o = 0; o < O; ++o)
        for (int p = 0; p < P; ++p)
            for (int c = 0; c < C; ++c)
                for (int t = 0; t < taps; ++t)
                    if (const int x = under(model, p, t); x >= 0)
                        matrix[at(o * P + p, C * N, c * N + x)] += layer.weights[at(o * C + c, taps, t)];
    for (int one = 0; one < O * P; ++one)
        for (int other = 0; other < O * P; ++other) {
            double sum = 0;
            for (int x = 0; x < C * N; ++x)
                for (int y = 0; y < C * N; ++y)
                    sum += matrix[at(one, C * N, x)] * layer.gamma(x, y) * matrix[at(other, C * N, y)];
            result.push_back(sum);
        }
    return result;
}

/// W gamma W^T as accumulate, and what convcov adds to it under this model.
Doubles predicted(const Layer& layer, const Model& model) {
    Doubles gamma;
    for (int x = 0; x < C * N; ++x)
        for (int y = 0; y < C * N; ++y) gamma.push_back(layer.gamma(x, y));
    const Tensor gammas = make<double>({1, C, H, W, C, H, W}, gamma), mu = make<double>({1, C, H, W}, layer.mean),
                 coef = make<double>({O}, layer.coef),
                 before = make<double>({1, O, H, W, O, H, W}, of_weights(layer, model)),
                 variances = make<double>({O, C, K, L}, layer.variances);
    support::Inputs in{gammas, mu, coef, before};
    if (model.per_weight) in = {gammas, mu, std::nullopt, before, variances};
    return support::values<double>(
        support::run("convcov", "loop", in,
                     {.params = params({{"kernel", Values{K, L}},
                                        {"padding", Values{top, 0, left, 1}},
                                        {"padding_mode", model.circular ? "circular" : "zeros"},
                                        {"noise", model.noise},
                                        {"bias", model.bias}})}));
}

/// Sums over the draws of y, y y' and (y y')^2.
struct Simulated {
    Doubles first = Doubles(O * P, 0), second = Doubles(O * P * O * P, 0), fourth = Doubles(O * P * O * P, 0);

    Simulated(const Layer& layer, const Model& model) {
        Normal normal(20'261'129);
        const bool read = std::string(model.noise) == "read";
        Doubles z(C * N), x(C * N), noise(O * C * taps), y(O * P);
        // Every draw is taken from the outputs' mean, so that products are of deviations.
        const Doubles mean = outputs(model, layer.mean, layer.weights);
        for (int draw = 0; draw < draws; ++draw) {
            for (double& value : z) value = normal();
            for (int k = 0; k < C * N; ++k) {
                x[index(k)] = layer.mean[index(k)];
                for (int m = 0; m < C * N; ++m) x[index(k)] += layer.root[at(k, C * N, m)] * z[index(m)];
            }
            for (int o = 0; o < O; ++o) {
                double beta = 0;
                for (int p = 0; p < P; ++p) {
                    if (p == 0 || read) {
                        const double variance = layer.coef[index(o)];
                        for (std::size_t k = at(o, C * taps, 0); k < at(o + 1, C * taps, 0); ++k)
                            noise[k] = normal() * std::sqrt(model.per_weight ? layer.variances[k] : variance);
                        if (model.bias) beta = normal() * std::sqrt(variance);
                    }
                    double sum = beta;
                    for (int c = 0; c < C; ++c)
                        for (int t = 0; t < taps; ++t)
                            if (const int place = under(model, p, t); place >= 0) {
                                const std::size_t k = at(o * C + c, taps, t);
                                sum += (layer.weights[k] + noise[k]) * x[at(c, N, place)];
                            }
                    y[at(o, P, p)] = sum - mean[at(o, P, p)];
                }
            }
            for (std::size_t one = 0; one < y.size(); ++one) {
                first[one] += y[one];
                for (std::size_t other = 0; other < y.size(); ++other) {
                    const double product = y[one] * y[other];
                    second[one * y.size() + other] += product;
                    fourth[one * y.size() + other] += product * product;
                }
            }
        }
    }

    static Doubles outputs(const Model& model, const Doubles& x, const Doubles& weights) {
        Doubles y(O * P, 0);
        for (int o = 0; o < O; ++o)
            for (int p = 0; p < P; ++p)
                for (int c = 0; c < C; ++c)
                    for (int t = 0; t < taps; ++t)
                        if (const int place = under(model, p, t); place >= 0)
                            y[at(o, P, p)] += weights[at(o * C + c, taps, t)] * x[at(c, N, place)];
        return y;
    }

    /// The largest deviation from these covariances, in standard errors.
    double worst(const Doubles& covariance) const {
        double most = 0;
        for (std::size_t k = 0; k < covariance.size(); ++k) {
            const double mean = second[k] / draws, variance = fourth[k] / draws - mean * mean;
            most = std::max(most, std::abs(mean - covariance[k]) / std::sqrt(variance / draws));
        }
        return most;
    }
};

class Simulation : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Convcov, Simulation, ::testing::ValuesIn(models),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Simulation, ShowsTheCovarianceOfItsModelAndOfNoOther) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "200 000 draws take too long under AddressSanitizer; the same code runs in the other tests";
#endif
    const Layer layer;
    const Simulated simulated(layer, GetParam());
    // Noise of mean 0 leaves the outputs' mean as it is.
    for (std::size_t k = 0; k < simulated.first.size(); ++k) {
        const double error = std::sqrt(simulated.second[k * (O * P + 1)] / draws / draws);
        EXPECT_LT(std::abs(simulated.first[k] / draws), within * error) << k;
    }
    for (const Model& model : models) {
        const double worst = simulated.worst(predicted(layer, model));
        if (std::string(model.name) == GetParam().name)
            EXPECT_LT(worst, within) << model.name;
        else
            EXPECT_GT(worst, 2 * within) << model.name << " passes for " << GetParam().name;
    }
    EXPECT_GT(simulated.worst(of_weights(layer, GetParam())), 2 * within) << "without its noise";
}

}  // namespace
}  // namespace gridstride
