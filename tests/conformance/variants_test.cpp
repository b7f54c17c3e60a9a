// SPDX-License-Identifier: BSD-3-Clause
// Every variant of every operation on the CPU, on every case that the operation asks, whole and in pieces.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/suite.hpp"

namespace gridstride::conformance {

namespace {

using validation::Judgement;
using validation::Verdict;

constexpr Validate full{.mode = Validate::Mode::full};
constexpr Validate sampled{.sample = 2000, .terms = 1e5};

class Conformance : public ::testing::TestWithParam<Row> {
  protected:
    const Op& op() const { return *GetParam().entry->op; }
    const Variant& variant() const { return *GetParam().variant; }

    Judgement judge(const Problem& problem, const std::vector<Slab>& in, const Tensor& got,
                    const Validate& asked = full) const {
        return validation::judge(op(), variant(), problem, in, got.slab(), asked, {}, nullptr, 1);
    }

    /// Of an operation with many cases every second or third, where running each once is not the point.
    std::vector<Problem> some_cases() const {
        const auto all = op().cases();
        const std::size_t step = all.size() / 200 + 1;
        std::vector<Problem> some;
        for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
        return some;
    }
};

INSTANTIATE_TEST_SUITE_P(Cpu, Conformance, ::testing::ValuesIn(cpu_rows()), row_name);

/// Places to cut [0, extent): after the first, at a third, past the half.
std::vector<std::int64_t> cuts(std::int64_t extent) {
    std::vector<std::int64_t> places{0, 1, extent / 3, extent / 2 + 1, extent};
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

/// sum += part, in their common type.
void add(const Slab& part, const Slab& sum) {
    with_type<float, double, complex64, complex128, std::int32_t, std::int64_t>(sum.spec.dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < sum.spec.size(); ++i) {
            if constexpr (std::is_integral_v<T>)
                sum.as<T>()[i] = static_cast<T>(static_cast<std::make_unsigned_t<T>>(sum.as<T>()[i]) +
                                                static_cast<std::make_unsigned_t<T>>(part.as<T>()[i]));
            else
                sum.as<T>()[i] = T(sum.as<T>()[i] + part.as<T>()[i]);
        }
    });
}

bool is_refused(const Variant& variant, const Problem& problem) {
    return !refusal(variant, problem).empty();
}

}  // namespace

TEST_P(Conformance, EveryCasePassesAndLeavesItsInputsAlone) {
    std::size_t number = 0, passed = 0;
    for (const Problem& asked : op().cases()) {
        Posed posed = pose_case(op(), asked, Values::mixed);
        posed.problem.place.threads = 3;
        SCOPED_TRACE(describe(number++, posed.problem));
        if (is_refused(variant(), posed.problem)) continue;
        const std::string before = bytes_of(posed.tensors);
        const auto out = support::run(variant(), posed.problem, posed.slabs);
        EXPECT_EQ(bytes_of(posed.tensors), before) << "inputs changed";
        const Judgement got = judge(posed.problem, posed.slabs, out[0]);
        EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
        EXPECT_EQ(got.checked, posed.problem.out[0].size());
        EXPECT_EQ(got.nan_outputs, 0);
        passed += got.verdict == Verdict::pass ? 1 : 0;
    }
    EXPECT_GT(number, 0U);
    EXPECT_GT(2 * passed, number) << "most cases are refused";
}

TEST_P(Conformance, InPlaceGivesTheSameBits) {
    std::size_t number = 0;
    for (const Problem& asked : op().cases()) {
        const Posed posed = pose_case(op(), asked, Values::mixed);
        SCOPED_TRACE(describe(number++, posed.problem));
        if (!can_run_in_place(op(), posed.problem) || is_refused(variant(), posed.problem)) continue;
        const std::string before = bytes_of(posed.tensors);
        const auto apart = support::run(variant(), posed.problem, posed.slabs);
        const Tensor together = run_in_place(op(), variant(), posed.problem, posed.slabs);
        EXPECT_EQ(bytes_of(posed.tensors), before) << "inputs changed";
        EXPECT_TRUE(support::bits(together) == support::bits(apart[0])) << "in place gives other bits";
        const Judgement got = judge(posed.problem, posed.slabs, together);
        EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
    }
}

TEST_P(Conformance, RunningTwiceGivesTheSameBits) {
    std::size_t number = 0;
    for (const Problem& asked : some_cases()) {
        ++number;
        const Posed posed = pose_case(op(), asked, Values::mixed, 2);
        SCOPED_TRACE(describe(number - 1, posed.problem));
        if (is_refused(variant(), posed.problem)) continue;
        const auto first = support::run(variant(), posed.problem, posed.slabs);
        const auto second = support::run(variant(), posed.problem, posed.slabs);
        EXPECT_TRUE(support::bits(first[0]) == support::bits(second[0]));
    }
}

TEST_P(Conformance, OtherResultTypesPass) {
    constexpr std::pair<DType, DType> asked_types[] = {
        {DType::float16, DType::float32},      {DType::bfloat16, DType::float64},     {DType::float32, DType::float16},
        {DType::float32, DType::bfloat16},     {DType::float32, DType::float64},      {DType::float64, DType::float32},
        {DType::complex64, DType::complex128}, {DType::complex128, DType::complex64}, {DType::int32, DType::int64},
        {DType::int64, DType::float32}};
    std::size_t number = 0, passed = 0;
    for (const Problem& asked : some_cases()) {
        if (number++ % 4 != 0) continue;
        for (const auto& [from, to] : asked_types) {
            const Spec natural = pose_case(op(), asked, Values::mixed).problem.out[0];
            if (natural.dtype != from) continue;
            const Posed posed = pose_case(op(), asked, Values::mixed, 3, to);
            SCOPED_TRACE(describe(number - 1, posed.problem) + " -> " + std::string(name(to)));
            if (is_refused(variant(), posed.problem)) continue;
            const auto out = support::run(variant(), posed.problem, posed.slabs);
            const Judgement got = judge(posed.problem, posed.slabs, out[0]);
            EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
            ++passed;
        }
    }
    EXPECT_GT(passed, 0U);
}

TEST_P(Conformance, PiecesMakeTheWhole) {
    std::size_t number = 0, assembled = 0;
    for (const Problem& asked : some_cases()) {
        const Posed posed = pose_case(op(), asked, Values::mixed, 4);
        const Problem& problem = posed.problem;
        const std::string text = describe(number++, problem);
        if (is_refused(variant(), problem)) continue;
        const auto axes = op().axes(problem);
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            if (axes[axis].extent < 2) continue;
            SCOPED_TRACE(text + " cut along " + axes[axis].name);
            Tensor whole_output(problem.out[0]);
            poison(whole_output.slab());
            Tensor sum;
            const auto places = cuts(axes[axis].extent);
            bool refused = false;
            for (std::size_t i = 0; i + 1 < places.size() && !refused; ++i) {
                const Piece piece = op().cut(problem, axis, places[i], places[i + 1]);
                if (is_refused(variant(), piece.problem)) {
                    refused = true;
                    continue;
                }
                std::vector<Tensor> tensors;
                for (std::size_t k = 0; k < problem.in.size(); ++k) {
                    const Spec& wanted = piece.problem.in[k];
                    tensors.emplace_back();
                    if (!wanted.present) continue;
                    tensors[k] = clone(part(posed.slabs[k], piece.in[k]));
                    ASSERT_EQ(tensors[k].spec(), wanted) << "input " << k;
                }
                const auto out = support::run(variant(), piece.problem, support::slabs(piece.problem.in, tensors));
                const Slab target = part(whole_output.slab(), piece.out[0]);
                ASSERT_EQ(target.spec.shape, out[0].spec().shape);
                if (!piece.adds) {
                    copy_bits(out[0].slab(), target);
                } else if (i == 0) {
                    sum = clone(out[0].slab());
                } else {
                    add(out[0].slab(), sum.slab());
                }
            }
            if (refused) continue;
            if (sum.data() != nullptr)
                convert(sum.spec().dtype, sum.data(), problem.out[0].dtype, whole_output.data(), sum.spec().size(),
                        Overflow::infinity);
            const Judgement got = judge(problem, posed.slabs, whole_output, sampled);
            EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
            ++assembled;
        }
    }
    EXPECT_GT(assembled, 0U);
}

TEST_P(Conformance, ASecondWitnessAgreesWhereTheReferenceSamples) {
    std::size_t number = 0;
    for (const Problem& asked : some_cases()) {
        const Posed posed = pose_case(op(), asked, Values::mixed, 5);
        const Problem& problem = posed.problem;
        SCOPED_TRACE(describe(number++, problem));
        if (problem.out[0].size() < 40 || problem.out[0].size() > 20'000 || is_refused(variant(), problem)) continue;
        for (const Row& other : cpu_rows()) {
            if (other.entry != GetParam().entry || is_refused(*other.variant, problem)) continue;
            const validation::SecondWitness witness{
                other.variant, [&](std::span<const Slab> in) {
                    return std::move(support::run(*other.variant, problem, {in.begin(), in.end()})[0]);
                }};
            const auto out = support::run(variant(), problem, posed.slabs);
            const Validate few{.sample = 16, .terms = 1};
            const Judgement got =
                validation::judge(op(), variant(), problem, posed.slabs, out[0].slab(), few, {}, &witness, 1);
            EXPECT_EQ(got.verdict, Verdict::pass) << got.reason;
            EXPECT_LT(got.checked, got.of);
            EXPECT_TRUE(got.vendor->agrees)
                << other.variant->name << ": " << (got.notes.empty() ? "" : got.notes[0]) << got.vendor->error;
        }
    }
}

}  // namespace gridstride::conformance
