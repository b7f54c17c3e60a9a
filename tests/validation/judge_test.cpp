// SPDX-License-Identifier: BSD-3-Clause
// Whole judgements of doctored answers, element by element.
#include <gtest/gtest.h>

#include <cmath>

#include "validation/ops.hpp"

namespace gridstride::testing {

namespace {

template <class T>
Case plus_case(const std::vector<T>& x, const std::vector<T>& y, std::optional<DType> result = {}) {
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<T>({n}, x));
    inputs.push_back(tensor<T>({n}, y));
    return {plus, std::move(inputs), {}, result};
}

template <class T = float>
Case dot_case(std::int64_t rows, std::int64_t k) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<T>({rows, k}, scattered_as<T>(rows * k)));
    inputs.push_back(tensor<T>({k}, scattered_as<T>(k, 9)));
    return {dot, std::move(inputs)};
}

}  // namespace

TEST(Judge, TheRightAnswerPassesAndIsExact) {
    const Judgement got = plus_case<float>({0.1F, 0.2F, 3}, {5, 0.7F, -1}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_EQ(got.checked, 3);
    EXPECT_EQ(got.of, 3);
    EXPECT_EQ(got.tolerance_used, 0);
    EXPECT_EQ(got.max_abs, 0);
    EXPECT_EQ(got.max_ulp, 0);
    EXPECT_EQ(got.rel_l2, 0);
    EXPECT_FALSE(got.worst);
    EXPECT_TRUE(got.notes.empty());
}

TEST(Judge, WorstErrorIsFiniteAndPointsAtTheRightPlaceBesideZeros) {  // BR038
    Case one = plus_case<float>({0, 1}, {0, 1});
    one.values<float>()[1] = 1;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    ASSERT_TRUE(got.worst);
    EXPECT_EQ(got.worst->index, 1);
    EXPECT_EQ(got.worst->got.re, 1);
    EXPECT_EQ(got.worst->expected.re, 2);
    EXPECT_EQ(got.max_abs, 1);
    EXPECT_EQ(got.rel_l2, 0.5);
    EXPECT_EQ(got.max_ulp, 0x1p23);
    EXPECT_EQ(got.failed, 1);
    EXPECT_EQ(got.reason, "at (1,): got 1, expected 2, an error of 1 where none is allowed; 1 of 2 checked are wrong");
}

TEST(Judge, AnswersAllBelowTheReferenceAreErrorsToo) {  // BR038
    Case one = dot_case(3, 5);
    for (int i = 0; i < 3; ++i) one.values<float>()[i] -= static_cast<float>(i + 1);
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.failed, 3);
    EXPECT_EQ(got.worst->index, 2);
    EXPECT_NEAR(got.max_abs, 3, 1e-5);
    EXPECT_TRUE(std::isfinite(got.rel_l2));
}

TEST(Judge, TheLastElementIsAlwaysJudged) {
    Case one = dot_case(50'000, 3);
    one.asked.terms = 1000;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    EXPECT_EQ(one.judge().checked, 250);
    one.values<float>()[49'999] += 1;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, AWrongFactorIsFoundBySampling) {
    Case one = dot_case(50'000, 3);
    one.asked.terms = 1000;
    for (int i = 0; i < 50'000; ++i) one.values<float>()[i] *= 1.0001F;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_GT(got.tolerance_used, 1);
}

TEST(Judge, UsedIsErrorOverBound) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    inputs.push_back(tensor<float>({3}, {1, -1, 1}));
    Case one(dot, std::move(inputs));  // 2 and 5, sums of |terms| 6 and 15, n = 4: bounds 48 and 120 of 2^-24
    one.values<float>()[1] = 5 + 0x1p-21F;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_NEAR(got.tolerance_used, 8.0 / 120, 1e-9);
    EXPECT_EQ(got.worst->index, 1);
    EXPECT_EQ(got.max_abs, 0x1p-21);
    EXPECT_EQ(got.max_ulp, 1);
    EXPECT_NEAR(got.rel_l2, 0x1p-21 / std::sqrt(29.0), 1e-15);
    EXPECT_EQ(got.bound.n, 4);
    EXPECT_EQ(got.bound.g, 2);
}

TEST(Judge, JustBeyondTheBoundFails) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, 3}, {1, 2, 3}));
    inputs.push_back(tensor<float>({3}, {1, -1, 1}));
    Case one(dot, std::move(inputs));  // 2, bound 48 * 2^-24 = 24 steps of 2^-23 above 2... of 2^-22: 12
    one.values<float>()[0] = 2 + 12 * 0x1p-22F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    one.values<float>()[0] = 2 + 13 * 0x1p-22F;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_NE(got.reason.find("an error 1.08 times its bound"), std::string::npos) << got.reason;
}

TEST(Judge, UnwrittenElementsAreCountedOverTheWholeOutput) {
    Case one = dot_case(50'000, 3);
    one.asked.terms = 1000;
    poison(part(one.answer.slab(), {{{31'400, 500, 1}}}));
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.nan_outputs, 500);
    EXPECT_NE(got.reason.find("500 elements unwritten, first at (31400,)"), std::string::npos) << got.reason;
}

TEST(Judge, ASingleUnwrittenElementIsFoundBetweenTheSampledOnes) {
    Case one = dot_case(50'000, 3);
    one.asked.terms = 48;  // 16 places
    poison(part(one.answer.slab(), {{{12'345, 1, 1}}}));
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.worst->index, 12'345);
    EXPECT_EQ(got.checked, 17);
}

TEST(Judge, ComputedNansAreNotCalledUnwritten) {
    Case one = plus_case<float>({1, 2, 3, 4}, {1, 1, 1, 2});
    one.values<float>()[3] = nan;
    EXPECT_EQ(one.judge().reason,
              "at (3,): got nan, expected 6, not finite where the reference is; 1 of 4 checked are wrong; 1 elements "
              "NaN, first at (3,)");
    poison(part(one.answer.slab(), {{{1, 1, 1}}}));
    EXPECT_NE(one.judge().reason.find("; 1 elements unwritten, first at (1,)"), std::string::npos)
        << one.judge().reason;
}

template <class T>
std::string reason_of_poison() {
    Case one = plus_case<T>({T(1.0F), T(2.0F), T(3.0F)}, {T(1.0F), T(1.0F), T(1.0F)});
    poison(part(one.answer.slab(), {{{1, 2, 1}}}));
    return one.judge().reason;
}
TEST(Judge, ThePoisonOfEveryDtypeIsTold) {
    const std::string told = "; 2 elements unwritten, first at (1,)";
    EXPECT_NE(reason_of_poison<float16>().find(told), std::string::npos) << reason_of_poison<float16>();
    EXPECT_NE(reason_of_poison<bfloat16>().find(told), std::string::npos) << reason_of_poison<bfloat16>();
    EXPECT_NE(reason_of_poison<float>().find(told), std::string::npos) << reason_of_poison<float>();
    EXPECT_NE(reason_of_poison<double>().find(told), std::string::npos) << reason_of_poison<double>();
    EXPECT_NE(reason_of_poison<complex64>().find(told), std::string::npos) << reason_of_poison<complex64>();
    EXPECT_NE(reason_of_poison<complex128>().find(told), std::string::npos) << reason_of_poison<complex128>();
}

TEST(Judge, InfWhereANumberIsExpectedReadsWell) {
    Case one = plus_case<float>({5, 6}, {1, 2});
    one.values<float>()[1] = -inf;
    EXPECT_EQ(one.judge().reason,
              "at (1,): got -inf, expected 8, not finite where the reference is; 1 of 2 checked are wrong");
}

TEST(Judge, OverflowOfFiniteOperandsIsNoted) {
    const std::string inf_note = " of the judged results are beyond float32's largest number, 3.40282e+38: Inf";
    for (const char* op : {"add", "multiply"}) {
        std::vector<Tensor> inputs;
        inputs.push_back(tensor<float>({4}, {3e38F, -3e38F, inf, 2}));
        inputs.push_back(tensor<float>({4}, {2e38F, -3e38F, 1, 2}));
        const Judgement got = Case(*find(op)->op, std::move(inputs)).judge();
        EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
        EXPECT_TRUE(has_note(got, "2" + inf_note)) << op;
    }
    std::vector<Tensor> wide;
    wide.push_back(tensor<double>({3}, {1e300, 2, 3}));
    const Judgement got = Case(*find("copy")->op, std::move(wide), {}, DType::float32).judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "1" + inf_note));
}

TEST(Judge, ACopyIsBitForBit) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({3}, {1, -0.0F, nan}));
    Case one(*find("copy")->op, std::move(inputs));
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.values<float>()[2] = -nan;  // NaN bits aside
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.values<float>()[1] = 0;
    EXPECT_EQ(one.judge().reason, "at (1,): got 0, expected -0, a zero of the wrong sign; 1 of 3 checked are wrong");
}

TEST(Judge, WhereInputsHoldThePoisonTheCountSaysThatSomeMayBeRight) {
    Case one = plus_case<float>({1, nan, 3, 4}, {1, 1, 1, 2});
    poison(part(one.in[0], {{{1, 1, 1}}}));
    poison(part(one.answer.slab(), {{{1, 1, 1}}}));
    poison(part(one.answer.slab(), {{{3, 1, 1}}}));
    EXPECT_NE(one.judge().reason.find("got nan, expected 6"), std::string::npos) << one.judge().reason;
    EXPECT_NE(one.judge().reason.find("2 elements NaN or unwritten, first at (1,)"), std::string::npos);
}

TEST(Judge, UnwrittenIntegersHoldThePoison) {
    Case one = plus_case<std::int32_t>({1, 2, 3, 4}, {10, 20, 30, 40});
    poison(part(one.answer.slab(), {{{2, 2, 1}}}));
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.nan_outputs, 0);
    EXPECT_NE(got.reason.find("got -1515870811"), std::string::npos) << got.reason;
    EXPECT_NE(got.reason.find("2 elements unwritten, first at (2,)"), std::string::npos) << got.reason;
}

TEST(Judge, WrongElementsThatWereWrittenAreNotCalledUnwritten) {
    Case one = dot_case(4, 3);
    one.values<float>()[2] = 9;
    EXPECT_EQ(one.judge().reason.find("unwritten"), std::string::npos);
}

TEST(Judge, NoneGivesUnvalidatedWithItsNanNotes) {
    Case one = plus_case<float>({1, nan, 2}, {1, 1, 1});
    one.asked.mode = Validate::Mode::none;
    one.values<float>()[0] = 100;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::unvalidated);
    EXPECT_EQ(got.checked, 0);
    EXPECT_EQ(got.of, 3);
    EXPECT_EQ(got.nan_outputs, 1);
    EXPECT_TRUE(has_note(got, "input x holds 1 NaN"));
    EXPECT_TRUE(has_note(got, "the output holds 1 NaN"));
}

TEST(Judge, AnEmptyOutputPasses) {
    const Judgement got = plus_case<float>({}, {}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass);
    EXPECT_EQ(got.checked, 0);
    EXPECT_EQ(got.of, 0);
}

TEST(Judge, NanWhereTheReferenceHasItPassesAndIsCounted) {
    const Judgement got = plus_case<float>({1, nan, 2}, {1, 1, nan}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_EQ(got.nan_outputs, 2);
    EXPECT_TRUE(has_note(got, "input x holds 1 NaN"));
    EXPECT_TRUE(has_note(got, "input y holds 1 NaN"));
    EXPECT_TRUE(has_note(got, "the output holds 2 NaN"));
}

TEST(Judge, OneNanTooManyIsAMismatch) {
    Case one = dot_case(40, 3);
    one.values<float>()[17] = nan;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::mismatch);
    EXPECT_EQ(got.failed, 1);
    EXPECT_EQ(got.worst->index, 17);
    EXPECT_FALSE(std::isnan(got.max_abs) || std::isnan(got.rel_l2) || std::isnan(got.tolerance_used));
}

TEST(Judge, AllNanIsVacuous) {
    const Judgement got = plus_case<float>({nan, nan}, {1, 2}).judge();
    EXPECT_EQ(got.verdict, Verdict::vacuous);
    EXPECT_EQ(got.reason, "all outputs are NaN");
}

TEST(Judge, AllNanWhereNumbersAreExpectedIsAMismatch) {
    Case one = plus_case<float>({5, 6}, {1, 2});
    poison(one.answer.slab());
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, ResultsBeyondTheOutputTypeAreInfAndNoted) {
    Case one = plus_case<float>({60000, 1, 60000}, {10000, 1, 1}, DType::float16);
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "1 of the judged results are beyond float16's largest number, 65504: Inf"));
}

TEST(Judge, WrappedIntegersAreCounted) {
    Case one = plus_case<std::int32_t>({2147483647, 5, -2147483647}, {1, 5, -9});
    EXPECT_EQ(one.values<std::int32_t>()[0], -2147483647 - 1);
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "2 of the judged results overflow int32 and wrap"));
}

TEST(Judge, LargeInt64ValuesAreComparedWhole) {
    Case one = plus_case<std::int64_t>({std::int64_t{1} << 61, 3}, {std::int64_t{1} << 61, 4});
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    one.values<std::int64_t>()[0] += 1;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    EXPECT_EQ(one.judge().max_abs, 1);
}

TEST(Judge, OverflowOfTheAccumulatorIsNoted) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({2, 3}, {3e38F, 3e38F, -3e38F, 1, 2, 3}));
    inputs.push_back(tensor<float>({3}, {1, 1, 1}));
    Case one(dot, std::move(inputs));
    one.values<float>()[0] = inf;
    const Judgement got = one.judge();
    EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    EXPECT_TRUE(has_note(got, "overflow: 1 of the judged results"));
    one.values<float>()[1] = inf;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, ComplexProductsByPartsAndAnyNonFiniteValueWhereOneIsExpected) {
    using C = complex64;
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<C>({3}, {C(1, 2), C(1e-3F, 1), C(inf, 0)}));
    inputs.push_back(tensor<C>({3}, {C(3, -4), C(1e-3F, 1), C(0, 1)}));
    Case one(product, std::move(inputs));
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.values<C>()[2] = C(nan, inf);
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.values<C>()[2] = C(1, 1);
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    one.values<C>()[2] = C(inf, nan);
    one.values<C>()[1] = C(-1, 2.1e-3F);  // small beside the real part, large beside its own terms
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, ConstantInputsMayDriftInOneAccumulatorButNotInATree) {
    const std::int64_t k = 4095;
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, k}, std::vector<float>(static_cast<std::size_t>(k), 0.1F)));
    inputs.push_back(tensor<float>({k}, std::vector<float>(static_cast<std::size_t>(k), 1.0F)));
    Case one(dot, std::move(inputs));
    one.values<float>()[0] *= 1 + 512 * 0x1p-24F;  // 4 sqrt(n) is 256, 4 n / 4 is 4096
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    one.variant = &tree;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, Tf32AndFloat64ComputeChangeTheBound) {
    const auto with = [](const char* compute) {
        std::vector<Tensor> inputs;
        inputs.push_back(tensor<float>({1, 3}, {1, 2, 3}));
        inputs.push_back(tensor<float>({3}, {1, -1, 1}));
        Params params;
        params.set("compute", Value(std::string(compute)));
        Case one(dot, std::move(inputs), params);
        one.values<float>()[0] = 2.01F;  // 2^-9 of 6 is 0.0117
        return one.judge().verdict;
    };
    EXPECT_EQ(with("auto"), Verdict::mismatch);
    EXPECT_EQ(with("tf32"), Verdict::pass);
    EXPECT_EQ(with("float64"), Verdict::mismatch);
}

namespace {

Judgement dot_case_with_factor(double factor) {
    Case one = dot_case(30, 3);
    one.tolerance = {.factor = factor};
    return one.judge();
}

}  // namespace

TEST(Judge, ALooserOverrideIsFlagged) {
    Case one = dot_case(30, 3);
    one.tolerance = {.mode = Tolerance::Mode::absolute_relative, .rtol = 1e-3, .atol = 1e-3};
    EXPECT_EQ(one.judge().verdict, Verdict::pass) << one.judge().reason;
    EXPECT_FALSE(one.judge().loose);  // looser, but nothing needed it
    one.values<float>()[4] += 5e-4F;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    EXPECT_TRUE(one.judge().loose);
    one.tolerance = {.factor = 1e5};
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    EXPECT_TRUE(one.judge().loose);
    EXPECT_TRUE(dot_case_with_factor(5).loose);  // a larger factor always
    EXPECT_FALSE(dot_case_with_factor(4).loose);
    one.tolerance = {.factor = 2};
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

TEST(Judge, BitwiseWantsTheRoundedReference) {
    Case one = dot_case(30, 3);
    one.tolerance.mode = Tolerance::Mode::bitwise;
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    EXPECT_EQ(one.judge().bound.formula, "bit for bit");
    one.values<float>()[3] = std::nextafter(one.values<float>()[3], 9.0F);
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
    EXPECT_EQ(one.judge().max_ulp, 1);
}

TEST(Judge, TheSameForEveryThreadCount) {
    Case one = dot_case(9000, 7);
    for (int i = 0; i < 9000; ++i) one.values<float>()[i] *= 1 + 1e-7F;
    const Judgement a = validation::judge(one.op, root, one.problem, one.in, one.answer.slab(), {}, {}, nullptr, 1);
    const Judgement b = validation::judge(one.op, root, one.problem, one.in, one.answer.slab(), {}, {}, nullptr, 4);
    EXPECT_EQ(a.tolerance_used, b.tolerance_used);
    EXPECT_EQ(a.rel_l2, b.rel_l2);
    EXPECT_EQ(a.worst->index, b.worst->index);
}

// Vacuity.

TEST(Vacuity, ZerosThatWouldPassMakeTheCheckVacuous) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, 2}, {1, -0.99999994F}));
    inputs.push_back(tensor<float>({2}, {1, 1}));
    const Judgement got = Case(dot, std::move(inputs)).judge();  // 6e-8, with a bound of 8e-7
    EXPECT_EQ(got.verdict, Verdict::vacuous);
    EXPECT_NE(got.reason.find("zeros would pass too"), std::string::npos) << got.reason;
}

TEST(Vacuity, OneElementWithATinyBoundIsNot) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, 2}, {1, 1e-3F}));
    inputs.push_back(tensor<float>({2}, {1, 1}));
    EXPECT_EQ(Case(dot, std::move(inputs)).judge().verdict, Verdict::pass);
}

TEST(Vacuity, AnAnswerThatIsAllZeroIsOnlyNoted) {
    const Judgement got = plus_case<float>({1, 2, 3}, {-1, -2, -3}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass);
    EXPECT_TRUE(has_note(got, "zeros would be right at every judged place"));
}

TEST(Vacuity, AConstantAnswerIsOnlyNoted) {
    const Judgement got = plus_case<float>({1, 2, 3}, {3, 2, 1}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass);
    EXPECT_TRUE(has_note(got, "the expected answer rolled by one would be right"));
}

TEST(Vacuity, AnInputEqualToTheAnswerIsOnlyNoted) {
    const Judgement got = plus_case<float>({1, 2, 3}, {0, 0, 0}).judge();
    EXPECT_EQ(got.verdict, Verdict::pass);
    EXPECT_TRUE(has_note(got, "input x would be right"));
    EXPECT_FALSE(has_note(got, "input y"));
}

TEST(Vacuity, AnInputThatWouldPassMakesTheCheckVacuous) {
    Case one = plus_case<float>({1, 2, 3}, {1e-3F, -2e-3F, 1e-3F});
    EXPECT_EQ(one.judge().verdict, Verdict::pass);
    one.tolerance = {.mode = Tolerance::Mode::absolute_relative, .rtol = 0, .atol = 1e-2};
    EXPECT_EQ(one.judge().verdict, Verdict::vacuous);
    EXPECT_NE(one.judge().reason.find("input x would pass too"), std::string::npos);
}

TEST(Vacuity, NeighboursTooCloseToTellMakeTheCheckVacuous) {
    Case one = plus_case<float>({1, 1.01F, 1.02F, 1.01F}, {1, 1, 1, 1});
    one.tolerance = {.mode = Tolerance::Mode::absolute_relative, .rtol = 0.02, .atol = 0};
    EXPECT_EQ(one.judge().verdict, Verdict::vacuous);
    EXPECT_NE(one.judge().reason.find("rolled by one"), std::string::npos);
}

TEST(Vacuity, AWrongAnswerIsAMismatchAllTheSame) {
    std::vector<Tensor> inputs;
    inputs.push_back(tensor<float>({1, 2}, {1, -0.99999994F}));
    inputs.push_back(tensor<float>({2}, {1, 1}));
    Case one(dot, std::move(inputs));
    one.values<float>()[0] = 0.5F;
    EXPECT_EQ(one.judge().verdict, Verdict::mismatch);
}

}  // namespace gridstride::testing
