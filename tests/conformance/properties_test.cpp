// SPDX-License-Identifier: BSD-3-Clause
// Properties hold of every right answer, in every case of every operation, and each sees what it is there for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/suite.hpp"

namespace gridstride::conformance {

namespace {

using validation::Judgement;
using validation::Verdict;

Judgement judge(const Op& op, const Variant& variant, const Posed& posed, const Tensor& answer,
                const Validate& asked = {.mode = Validate::Mode::full}) {
    const auto again = [&](const Problem& problem, std::span<const Slab> in) {
        return std::move(support::run(variant, problem, {in.begin(), in.end()})[0]);
    };
    return validation::judge(op, variant, posed.problem, posed.slabs, answer.slab(), asked, {}, nullptr, 1, again);
}

class Properties : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Cpu, Properties, ::testing::ValuesIn(cpu_rows()), row_name);

const Property* find_property(const Judgement& judgement, const std::string& name) {
    const auto& all = judgement.properties;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Property& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
}

/// The row of that operation, and a problem posed for it.
struct Setting {
    const Entry& entry;
    const Variant& variant;
    Posed posed;
    Tensor answer;

    Setting(std::string_view op, std::string_view word, Problem asked, Values values = Values::mixed)
        : entry(support::entry(op)), variant(*find(entry, word, Device::cpu)) {
        asked.in.resize(entry.op->inputs.size(), Spec{DType::float32, {}, false});
        posed = pose_case(*entry.op, asked, values);
        run();
    }
    void run() { answer = std::move(support::run(variant, posed.problem, posed.slabs)[0]); }
    Judgement judge() const { return conformance::judge(*entry.op, variant, posed, answer); }
    /// Judged by few places, so that properties alone see what is elsewhere; their budget is `terms`.
    bool holds(const std::string& name) const {
        const Judgement got = judge();
        const Property* one = find_property(got, name);
        EXPECT_NE(one, nullptr) << name;
        return one == nullptr || one->holds();
    }
};

Problem dft_problem(DType dtype, Shape shape, Params params = {}) {
    Problem problem;
    problem.in = {{dtype, std::move(shape)}};
    problem.params = std::move(params);
    return problem;
}

}  // namespace

TEST_P(Properties, HoldOfRightAnswersInEveryCase) {
    const Op& op = *GetParam().entry->op;
    const Variant& variant = *GetParam().variant;
    std::set<std::string> seen;
    std::size_t number = 0;
    for (const Problem& asked : op.cases())
        for (const Values values : {Values::mixed, Values::positive}) {
            const Posed posed = pose_case(op, asked, values, 3);
            SCOPED_TRACE(describe(number++, posed.problem));
            if (!refusal(variant, posed.problem).empty() || op.properties == nullptr) continue;
            const auto out = support::run(variant, posed.problem, posed.slabs);
            for (const Property& one : judge(op, variant, posed, out[0]).properties) {
                EXPECT_TRUE(one.holds()) << one.name << " of " << one.where << ": " << static_cast<double>(one.value)
                                         << " of " << static_cast<double>(one.bound);
                seen.insert(one.name);
            }
        }
    const std::map<std::string_view, std::set<std::string>> expected{
        {"matmul", {"Freivalds"}},
        {"dft", {"Parseval", "weighted sum", "Hermitian", "shift", "impulse", "round trip"}},
        {"convcov", {"weighted sums", "symmetry", "positive semidefinite", "untouched blocks"}}};
    const auto of_op = expected.find(op.name);
    EXPECT_EQ(seen, of_op == expected.end() ? std::set<std::string>() : of_op->second);
}

TEST(Freivalds, SeesOneElementAndNamesItsRow) {
    Problem asked;
    asked.in = {{DType::float32, {2, 13, 17}}, {DType::float32, {17, 11}}};
    Setting one("matmul", "loop", asked);
    EXPECT_TRUE(one.holds("Freivalds"));
    one.answer.as<float>()[(1 * 13 + 5) * 11 + 7] += 0.01F;
    const Judgement got = one.judge();
    const Property* found = find_property(got, "Freivalds");
    ASSERT_NE(found, nullptr);
    EXPECT_FALSE(found->holds());
    EXPECT_EQ(found->where, "batch (1,), row 5");
    ASSERT_EQ(found->outputs.size(), 11U);
    EXPECT_EQ(found->outputs.front(), (1 * 13 + 5) * 11);
    EXPECT_NEAR(static_cast<double>(found->value), 0.0075, 0.0026);  // times a weight from 1/2 to 1
}

TEST(Freivalds, LeavesOutRowsWhoseTermsAreNotFinite) {
    Problem asked;
    asked.in = {{DType::float32, {3, 5}}, {DType::float32, {5, 7}}};
    Setting one("matmul", "loop", asked);
    one.posed.tensors[0].as<float>()[5] = std::numeric_limits<float>::infinity();
    one.run();
    EXPECT_TRUE(one.holds("Freivalds"));
    one.answer.as<float>()[0] += 1;
    EXPECT_FALSE(one.holds("Freivalds"));
}

TEST(TransformProperties, EachSeesItsFault) {
    const Setting right("dft", "fftw", dft_problem(DType::float32, {3, 45}));
    const auto sees = [&](const std::string& name, auto&& plant) {
        Setting one("dft", "fftw", dft_problem(DType::float32, {3, 45}));
        plant(one.answer.as<complex64>() + 45);
        return !one.holds(name);
    };
    const auto factor = [](complex64* x) { std::for_each(x, x + 45, [](complex64& v) { v *= 1.0001F; }); };
    const auto conjugated = [](complex64* x) { std::for_each(x, x + 45, [](complex64& v) { v = std::conj(v); }); };
    const auto swapped = [](complex64* x) { std::swap(x[3], x[8]); };
    const auto infinite = [](complex64* x) { x[44] = complex64(std::numeric_limits<float>::infinity(), 0); };
    EXPECT_TRUE(sees("Parseval", factor));
    EXPECT_FALSE(sees("Parseval", conjugated));
    EXPECT_TRUE(sees("Parseval", infinite));
    EXPECT_TRUE(sees("weighted sum", factor));
    EXPECT_TRUE(sees("weighted sum", conjugated));
    EXPECT_TRUE(sees("weighted sum", swapped));
    EXPECT_TRUE(sees("weighted sum", infinite));
    EXPECT_TRUE(sees("Hermitian", swapped));
    EXPECT_FALSE(sees("Hermitian", conjugated));
    EXPECT_TRUE(sees("shift", conjugated));
    EXPECT_TRUE(sees("shift", swapped));
    EXPECT_TRUE(sees("impulse", conjugated));
    EXPECT_TRUE(sees("impulse", swapped));
    EXPECT_TRUE(sees("round trip", conjugated));
    EXPECT_TRUE(sees("round trip", factor));
}

TEST(TransformProperties, AHalfSpectrumCountsItsInnerBinsTwice) {
    Params half;
    half.set("form", std::string("half"));
    Setting one("dft", "fftw", dft_problem(DType::float64, {4, 30}, half));
    EXPECT_TRUE(one.holds("Parseval"));
    EXPECT_TRUE(one.holds("Hermitian"));
    one.answer.as<complex128>()[15] += complex128(0, 1e-6);  // bin n/2 of real input is real
    EXPECT_FALSE(one.holds("Hermitian"));
}

TEST(CovarianceProperties, EachSeesItsFault) {
    Problem asked;
    asked.params.set("kernel", gridstride::Values{std::int64_t{2}, std::int64_t{3}});
    asked.params.set("form", std::string("full"));
    asked.in = {{DType::float32, {2, 3, 4, 5, 4, 5}}, {DType::float32, {2, 3, 4, 5}}, {DType::float64, {2}}};
    Setting one("convcov", "factored", asked, Values::positive);
    // gamma made symmetric and positive semidefinite: its diagonal alone
    for (std::int64_t block = 0; block < 6; ++block)
        for (std::int64_t i = 0; i < 20; ++i)
            for (std::int64_t j = 0; j < 20; ++j)
                if (i != j) one.posed.tensors[0].as<float>()[(block * 20 + i) * 20 + j] = 0;
    one.run();
    for (const char* const name : {"weighted sums", "symmetry", "positive semidefinite", "untouched blocks"})
        EXPECT_TRUE(one.holds(name)) << name;
    // (B, O, 3, 3, O, 3, 3): element (1, 1, 2, 0, 1, 0, 1) and one of another block
    float* const cov = one.answer.as<float>();
    const std::int64_t own = (((1 * 2 + 1) * 9 + 6) * 2 + 1) * 9 + 1, other = (((1 * 2 + 1) * 9 + 6) * 2 + 0) * 9 + 1;
    cov[own] += 0.01F;
    EXPECT_FALSE(one.holds("weighted sums"));
    EXPECT_FALSE(one.holds("symmetry"));
    EXPECT_TRUE(one.holds("untouched blocks"));
    one.run();
    one.answer.as<float>()[other] = 1e-30F;
    EXPECT_TRUE(one.holds("weighted sums"));
    EXPECT_FALSE(one.holds("untouched blocks"));
    one.run();
    for (std::int64_t i = 0; i < one.answer.spec().size(); ++i) one.answer.as<float>()[i] *= -1;
    EXPECT_TRUE(one.holds("symmetry"));
    EXPECT_FALSE(one.holds("positive semidefinite"));
}

/// A convcov of every mode's shapes: a map on which a padding of 3 wraps, gamma that is not symmetric.
Problem covariance_problem(DType dtype = DType::float32) {
    Problem asked;
    asked.params.set("kernel", gridstride::Values{std::int64_t{2}, std::int64_t{3}});
    asked.params.set("stride", gridstride::Values{std::int64_t{1}, std::int64_t{2}});
    asked.params.set("padding", std::int64_t{3});
    asked.params.set("form", std::string("channel_diagonal"));
    asked.in = {{dtype, {2, 3, 4, 5, 4, 5}}, {dtype, {2, 3, 4, 5}}, {DType::float64, {2}}};
    return asked;
}

TEST(CovarianceProperties, SeeTheAnswerOfAnotherMode) {
    const auto word = [](const char* text) { return Value(std::string(text)); };
    struct Choice {
        const char* name;
        Value right, wrong;
    };
    const Choice choices[] = {{"padding_mode", word("circular"), word("zeros")},
                              {"padding_mode", word("zeros"), word("circular")},
                              {"noise", word("read"), word("programming")},
                              {"noise", word("programming"), word("read")},
                              {"bias", true, false},
                              {"symmetric", word("assume"), word("none")}};
    for (const Choice& choice : choices)
        for (const char* const around : {"zeros", "circular"})
            for (const char* const noise : {"programming", "read"}) {
                SCOPED_TRACE(std::string(choice.name) + " " + to_text(choice.right) + " " + around + " " + noise);
                Problem asked = covariance_problem();
                asked.params.set("padding_mode", std::string(around));
                asked.params.set("noise", std::string(noise));
                asked.params.set(choice.name, choice.right);
                const bool read = asked.params.word("noise") == "read";
                if (read && choice.name == std::string("symmetric")) continue;  // the diagonal is in either half
                Setting one("convcov", "factored", asked, Values::positive);
                EXPECT_TRUE(one.holds("weighted sums"));
                EXPECT_TRUE(one.holds("positive semidefinite"));
                if (read) {
                    EXPECT_TRUE(one.holds("untouched blocks"));
                }
                if (read || choice.name == std::string("symmetric")) {
                    EXPECT_TRUE(one.holds("symmetry"));
                }
                asked.params.set(choice.name, choice.wrong);
                one.answer = std::move(Setting("convcov", "factored", asked, Values::positive).answer);
                EXPECT_FALSE(one.holds("weighted sums"));
                if (read && choice.name == std::string("noise")) {
                    EXPECT_FALSE(one.holds("untouched blocks"));
                }
            }
}

TEST(CovarianceProperties, SeeOneElementThatReadNoiseDoesNotReach) {
    Problem asked = covariance_problem();
    asked.params.set("noise", std::string("read"));
    Setting one("convcov", "factored", asked, Values::positive);
    const Shape& shape = one.posed.problem.out[0].shape;  // (2, 2, Ho, Wo, Ho, Wo)
    const std::int64_t side = shape[4] * shape[5];
    one.answer.as<float>()[(3 * side + 22) * side + 21] = 1e-30F;  // block (1, 1): of places (4, 2) and (4, 1)
    EXPECT_TRUE(one.holds("weighted sums"));
    EXPECT_FALSE(one.holds("untouched blocks"));
    const Judgement got = one.judge();
    EXPECT_EQ(find_property(got, "untouched blocks")->where, "block (1, 1), row 22");
}

TEST(CovarianceProperties, TellCoefficientVectorsApart) {
    Problem asked = covariance_problem();
    asked.in[2].shape = {3, 2};
    asked.params.set("bias", true);
    Setting one("convcov", "factored", asked, Values::positive);
    EXPECT_TRUE(one.holds("weighted sums"));
    const std::int64_t vector = one.answer.spec().size() / 3;
    float* const cov = one.answer.as<float>();
    std::swap_ranges(cov + vector, cov + 2 * vector, cov + 2 * vector);
    EXPECT_FALSE(one.holds("weighted sums"));
    one.run();
    one.answer.as<float>()[2 * vector + vector / 2] *= 1.001F;  // the first of block (1, 0)
    const Judgement got = one.judge();
    EXPECT_EQ(find_property(got, "weighted sums")->where, "vector 2, block (1, 0), row 0");
}

TEST(CovarianceProperties, SeeWeightsOfTheWrongTap) {
    for (const char* const noise : {"programming", "read"}) {
        Problem asked = covariance_problem(DType::float64);
        asked.params.set("noise", std::string(noise));
        asked.params.set("padding_mode", std::string("circular"));
        asked.in[2].present = false;
        asked.in.push_back({DType::float64, {}, false});
        asked.in.push_back({DType::float64, {2, 3, 2, 3}});
        Setting one("convcov", "loop", asked, Values::positive);
        EXPECT_TRUE(one.holds("weighted sums"));
        double* const variances = one.posed.tensors[4].as<double>();
        std::swap(variances[7], variances[11]);  // of channel 1, taps (0, 1) and (1, 2)
        EXPECT_FALSE(one.holds("weighted sums"));
        std::swap(variances[7], variances[11]);
        variances[3] = 0;  // its term is left out, whatever the mean
        one.run();
        EXPECT_TRUE(one.holds("weighted sums"));
    }
}

TEST(Covariance, TermsThatOverflowOrVanishBeforeTheirWeightsAreNoMismatch) {
    struct Numbers {
        float mean;
        double variance;
    };
    for (const Numbers& values : {Numbers{1e20F, 1e-10}, Numbers{1e-23F, 1e10}}) {  // mu mu: Inf, and 0 for 1e-46
        Problem asked = covariance_problem();
        asked.in[0].present = asked.in[2].present = false;
        asked.in.push_back({DType::float32, {}, false});
        asked.in.push_back({DType::float64, {2, 3, 2, 3}});
        Setting one("convcov", "loop", asked);
        std::fill_n(one.posed.tensors[1].as<float>(), one.posed.tensors[1].spec().size(), values.mean);
        std::fill_n(one.posed.tensors[4].as<double>(), one.posed.tensors[4].spec().size(), values.variance);
        one.run();
        const Judgement got = one.judge();
        EXPECT_NE(got.verdict, Verdict::mismatch) << got.reason;
    }
}

/// x = -1e308, -1e308, Inf: -Inf on the way, so NaN, where the sum in higher precision is Inf.
TEST(Overflow, OfFiniteTermsBesideAnInfiniteOneIsNoMismatch) {
    Problem column, product;
    column.in = {{DType::float64, {3}}};
    product.in = {{DType::float64, {1, 3}}, {DType::float64, {3, 1}}};
    for (const auto& [op, asked] : {std::pair{"sum", column}, std::pair{"matmul", product}}) {
        SCOPED_TRACE(op);
        Setting one(op, "loop", asked);
        if (one.posed.tensors.size() > 1) std::fill_n(one.posed.tensors[1].as<double>(), 3, 1.0);
        double* const x = one.posed.tensors[0].as<double>();
        x[0] = x[1] = -1e308;
        x[2] = std::numeric_limits<double>::infinity();
        one.run();
        one.answer.as<double>()[0] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_NE(one.judge().verdict, Verdict::mismatch) << one.judge().reason;
        one.answer.as<double>()[0] = x[2];
        EXPECT_NE(one.judge().verdict, Verdict::mismatch);
        for (const double wrong : {-x[2], 1e308}) {
            one.answer.as<double>()[0] = wrong;
            EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
        }
        x[0] = -1.0;  // nothing overflows
        one.answer.as<double>()[0] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    }
}

TEST(Properties, ThatDoNotHoldMakeAMismatchWhereNoJudgedElementIsWrong) {
    Problem asked;
    asked.in = {{DType::float32, {301, 40}}, {DType::float32, {40, 203}}};
    Setting one("matmul", "loop", asked, Values::positive);
    const std::int64_t at = 150 * 203 + 77;
    one.answer.as<float>()[at] *= 2;
    const Validate few{.sample = 16, .terms = 1e6};
    const Judgement got = judge(*one.entry.op, one.variant, one.posed, one.answer, few);
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    ASSERT_TRUE(got.worst);
    EXPECT_EQ(got.worst->index, at);  // the row was put to the reference
    EXPECT_EQ(got.failed, 1);
    EXPECT_LT(got.checked, got.of);
    ASSERT_TRUE(got.mismatch);
    ASSERT_EQ(got.mismatch->axes.size(), 2U);
    EXPECT_EQ(got.mismatch->axes[0].first, 150);
    EXPECT_EQ(got.mismatch->axes[1].last, 77);
    EXPECT_EQ(got.mismatch->decades, (std::map<int, std::int64_t>{{1, 1}}));  // an error of about 40
}

TEST(Properties, AreLeftOutBeyondTheBudget) {
    Problem asked;
    asked.in = {{DType::float32, {30, 40}}, {DType::float32, {40, 20}}};
    const Setting one("matmul", "loop", asked);
    const auto count = [&](double terms) {
        return judge(*one.entry.op, one.variant, one.posed, one.answer, {.terms = terms}).properties.size();
    };
    EXPECT_EQ(count(30 * 40 + 40 * 20 + 2 * 30 * 20 - 1), 0U);
    EXPECT_EQ(count(30 * 40 + 40 * 20 + 2 * 30 * 20), 1U);
}

}  // namespace gridstride::conformance
