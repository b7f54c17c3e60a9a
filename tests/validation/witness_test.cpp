// SPDX-License-Identifier: BSD-3-Clause
// The second witness: judged itself, compared with everywhere where the reference sampled, never the truth.
#include "validation/witness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/convert.hpp"
#include "validation/ops.hpp"

namespace gridstride::testing {

using validation::SecondWitness;

namespace {

constexpr std::int64_t rows = 5000, k = 4;

/// A witness that answers rightly, but for one change.
SecondWitness witness_of(
    const Case& one, std::function<void(Tensor&)> change = [](Tensor&) {}) {
    return {&tree, [&one, change](std::span<const Slab> in) {
                Tensor answer = right_answer(one.op, one.problem, in);
                change(answer);
                return answer;
            }};
}

Case scaled_dot(double alpha = 1, bool addend = false) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({rows, k}, scattered_as<float>(rows * k)));
    inputs.push_back(tensor<float>({k}, scattered_as<float>(k, 9)));
    if (addend) inputs.push_back(tensor<float>({rows}, scattered_as<float>(rows, 5)));
    Params params;
    params.set("alpha", Value(alpha));
    Case one(dot, std::move(inputs), params);
    one.asked.terms = 100;  // 20 places
    return one;
}

}  // namespace

TEST(Witness, AgreesAndChangesNothing) {
    Case one = scaled_dot();
    const SecondWitness witness = witness_of(one);
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    ASSERT_TRUE(got.vendor);
    EXPECT_TRUE(got.vendor->agrees);
    EXPECT_EQ(got.vendor->name, "tree");
    EXPECT_EQ(got.vendor->max_abs, 0);
    EXPECT_EQ(got.checked, 20);
    EXPECT_TRUE(got.notes.empty());
}

TEST(Witness, OutsideItsBoundIsAWarning) {
    Case one = scaled_dot();
    one.asked = {};
    const SecondWitness witness = witness_of(one, [](Tensor& answer) { answer.as<float>()[7] += 1; });
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_FALSE(got.vendor->agrees);
    EXPECT_NEAR(got.vendor->max_abs, 1, 1e-6);
    EXPECT_GT(got.vendor->tolerance_used, 1);
    EXPECT_TRUE(has_note(got, "vendor: mismatch (tree: at (7,)"));
}

TEST(Witness, FindsOursWrongBetweenTheSampledPlaces) {
    Case one = scaled_dot();
    one.values<float>()[1234] += 1e-3F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);  // nobody looked there
    const SecondWitness witness = witness_of(one);
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 1234);
    EXPECT_TRUE(got.vendor->agrees);
}

TEST(Witness, WrongItselfBetweenTheSampledPlacesIsAWarning) {
    Case one = scaled_dot();
    const SecondWitness witness = witness_of(one, [](Tensor& answer) { answer.as<float>()[1234] = std::nanf(""); });
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_FALSE(got.vendor->agrees);
    EXPECT_TRUE(has_note(got, "vendor: mismatch"));
}

TEST(Witness, OfManyPlacesOutsideTheWorstArePutToTheReference) {
    Case one = scaled_dot();
    one.values<float>()[4321] += 1e-2F;
    const SecondWitness witness = witness_of(one, [](Tensor& answer) {
        for (int i = 0; i < 1000; ++i) answer.as<float>()[1000 + i] += 1e-4F;
    });
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 4321);
}

TEST(Witness, WithinBothBoundsIsNoDifference) {
    Case one = scaled_dot(-2.5, true);  // factors of either sign, and an addend
    const SecondWitness witness = witness_of(one, [](Tensor& answer) {
        for (int i = 0; i < rows; ++i) answer.as<float>()[i] *= 1 + 0x1p-23F;
    });
    for (int i = 0; i < rows; ++i) one.values<float>()[i] *= 1 - 0x1p-23F;
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(got.vendor->agrees) << got.notes.at(0);
}

TEST(Witness, SumsOfTermsDoNotCancelBetweenProductAndAddend) {
    const Case one = scaled_dot(-2.5, true);
    const auto sums = validation::magnitudes(one.op, one.in, witness_of(one));
    ASSERT_EQ(sums.size(), 2U);
    const Reference reference = one.op.reference(one.problem, one.in);
    for (const std::int64_t i : {0, 77, 4999}) {
        const auto sum = std::abs(real_part(sums[0].slab(), i)) + std::abs(real_part(sums[1].slab(), i));
        EXPECT_NEAR(static_cast<double>(sum / reference(i).re_magnitude), 1, 1e-6);
    }
}

TEST(Witness, ExactRulesAllowNoDifferenceAnywhere) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({rows}, scattered_as<float>(rows)));
    inputs.push_back(tensor<float>({rows}, scattered_as<float>(rows, 3)));
    Case one(plus, std::move(inputs));
    one.asked.terms = 100;
    one.values<float>()[2222] = std::nextafter(one.values<float>()[2222], 9.0F);
    const SecondWitness witness = witness_of(one);
    one.witness = &witness;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    EXPECT_EQ(one.judge().worst->index, 2222);
}

TEST(Witness, OneThatCannotRunIsNamedAndChangesNothing) {
    Case one = scaled_dot();
    const SecondWitness witness{
        &tree, [](std::span<const Slab>) -> Tensor { throw Error(Category::device, "no memory for the plan"); }};
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass);
    EXPECT_EQ(got.vendor->error, "no memory for the plan");
    EXPECT_FALSE(got.vendor->agrees);
}

namespace {

Case spectrum_case() {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({5, 200}, scattered_as<float>(1000)));
    Params params;
    params.set("squared", Value(false));
    Case one(spectrum, std::move(inputs), params);
    one.asked.terms = 200;  // 16 places
    return one;
}

}  // namespace

TEST(Witness, OfTransformsFindsOursWrongBetweenTheSampledBins) {
    Case one = spectrum_case();
    one.values<complex64>()[777] += 0.1F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    const SecondWitness witness = witness_of(one);
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 777);
}

TEST(Witness, OfTransformsWrongItselfIsAWarning) {
    Case one = spectrum_case();
    const SecondWitness witness = witness_of(one, [](Tensor& answer) { answer.as<complex64>()[777] += 0.1F; });
    one.witness = &witness;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_FALSE(got.vendor->agrees);
}

TEST(Witness, AShortfallOfTheNormAloneIsPutToTheWholeTransformWhereItFits) {
    // The norm of a row is about 116, the bound of root 56 u of it: 4e-4. Errors of 1e-4 in bins that nobody sampled
    // pass one by one; all together they are off by 1.4e-3.
    Case one = spectrum_case();
    const auto sampled = validation::places(1000, 200, one.asked);
    for (int i = 400; i < 600; ++i)
        if (!std::binary_search(sampled.begin(), sampled.end(), i)) one.values<complex64>()[i] += 1.5e-4F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    const SecondWitness witness = witness_of(one);
    one.witness = &witness;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);  // 200 x 200 terms are more than ten budgets
    EXPECT_FALSE(one.judge().vendor->agrees);
    one.asked.terms = 4000;
    one.asked.sample = 16;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
}

}  // namespace gridstride::testing
