// SPDX-License-Identifier: BSD-3-Clause
// The faults, and what is expected of the judge.
#include "conformance/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gridstride::conformance {

namespace {

using validation::Judgement;
using validation::Verdict;

/// What a fault is made from: the right answer, and that of other inputs (what a previous run left).
struct Answers {
    const Problem& problem;
    const Slab& right;
    const Slab& previous;
};

long double distance(const Slab& a, std::int64_t i, const Slab& b, std::int64_t j) {
    return std::hypot(real_part(a, i) - real_part(b, j), imaginary_part(a, i) - imaginary_part(b, j));
}

template <class F>
void with_arithmetic(DType dtype, F&& f) {
    with_type<float, double, complex64, complex128, std::int32_t, std::int64_t>(dtype, std::forward<F>(f));
}

void move_element(const Slab& from, std::int64_t i, const Slab& to, std::int64_t j) {
    std::memcpy(to.at(j), from.at(i), size_of(from.spec.dtype));
}

/// An accumulator that was not zeroed: what was there is added.
Tensor not_zeroed(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    with_arithmetic(wrong.spec().dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < wrong.spec().size(); ++i) wrong.as<T>()[i] += answers.previous.as<T>()[i];
    });
    return wrong;
}

/// The last row was never written.
Tensor last_row_unwritten(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    Selection last = whole(wrong.spec().shape);
    if (!last.axes.empty()) last.axes[0] = {last.axes[0].count - 1, 1, 1};
    poison(part(wrong.slab(), last));
    return wrong;
}

/// Every index is off by one along the last axis longer than 1.
Tensor shifted(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    const Shape& shape = wrong.spec().shape;
    const auto axis = std::find_if(shape.rbegin(), shape.rend(), [](std::int64_t extent) { return extent > 1; });
    if (axis == shape.rend()) return wrong;
    for (std::int64_t i = 0; i < wrong.spec().size(); ++i)
        move_element(answers.right, i % *axis == 0 ? i + *axis - 1 : i - 1, wrong.slab(), i);
    return wrong;
}

/// Two neighbours have changed places: those furthest apart.
Tensor swapped(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    std::int64_t at = 0;
    for (std::int64_t i = 1; i + 1 < wrong.spec().size(); ++i)
        if (distance(answers.right, i, answers.right, i + 1) > distance(answers.right, at, answers.right, at + 1))
            at = i;
    move_element(answers.right, at, wrong.slab(), at + 1);
    move_element(answers.right, at + 1, wrong.slab(), at);
    return wrong;
}

Tensor scaled(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    with_arithmetic(wrong.spec().dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < wrong.spec().size(); ++i)
            if constexpr (!std::is_integral_v<T>) wrong.as<T>()[i] *= static_cast<decltype(std::abs(T()))>(1.0001);
    });
    return wrong;
}

/// One element has the wrong sign: the largest.
Tensor negated(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    std::int64_t at = 0;
    const auto size = [&](std::int64_t i) {
        return std::hypot(real_part(answers.right, i), imaginary_part(answers.right, i));
    };
    for (std::int64_t i = 1; i < wrong.spec().size(); ++i)
        if (size(i) > size(at)) at = i;
    with_arithmetic(wrong.spec().dtype, [&]<class T>() { wrong.as<T>()[at] = -wrong.as<T>()[at]; });
    return wrong;
}

Tensor one_nan(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    const std::int64_t middle = 2 * wrong.spec().size() / 3;
    with_arithmetic(wrong.spec().dtype, [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) wrong.as<T>()[middle] = T(std::nanf(""));
    });
    return wrong;
}

/// One element is what the run before left there: the one furthest from right.
Tensor one_stale(const Answers& answers) {
    Tensor wrong = clone(answers.right);
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < wrong.spec().size(); ++i)
        if (distance(answers.right, i, answers.previous, i) > distance(answers.right, at, answers.previous, at)) at = i;
    move_element(answers.previous, at, wrong.slab(), at);
    return wrong;
}

struct Fault {
    const char* name;
    Tensor (*plant)(const Answers&);
    bool everywhere;  // a sample of the places must find it
    bool floats_only;
};
constexpr Fault faults[] = {
    {"accumulator not zeroed", not_zeroed, true, false},
    {"last row unwritten", last_row_unwritten, true, false},
    {"every index off by one", shifted, true, false},
    {"two elements swapped", swapped, false, false},
    {"wrong sign", negated, false, false},
    {"factor 1.0001", scaled, true, true},
    {"one NaN", one_nan, true, true},
    {"one stale element", one_stale, false, false},
};

/// Does the fault change anything at all (a swap of equal elements does not)?
bool changes(const Tensor& wrong, const Tensor& right) {
    for (std::int64_t i = 0; i < right.spec().size(); ++i)
        if (!(distance(wrong.slab(), i, right.slab(), i) == 0)) return true;
    return false;
}

/// A problem of each operation of which the default budget judges a sample, where it has properties; else of some
/// hundred thousand elements, all judged.
Problem large_problem(const Op& op) {
    const auto text = [](const char* word) { return Value(std::string(word)); };
    Problem problem;
    problem.in.assign(op.inputs.size(), Spec{DType::float32, {}, false});
    if (op.name == "matmul") {
        problem.in[0] = {DType::float32, {1301, 1200}};
        problem.in[1] = {DType::float32, {1200, 1403}};
    } else if (op.name == "dft") {
        problem.in[0] = {DType::complex64, {2, 46'080}};
    } else if (op.name == "convcov") {
        problem.params.set("kernel", std::int64_t{3});
        problem.params.set("form", text("channel_diagonal"));
        problem.in[0] = {DType::float32, {1, 170, 17, 18, 17, 18}};
        problem.in[1] = {DType::float32, {1, 170, 17, 18}};
        problem.in[2] = {DType::float64, {24}};
    } else {
        for (Spec& spec : problem.in) spec = {DType::float32, {301, 999}};
        if (op.name == "sum") problem.params.set("axes", std::int64_t{0});
    }
    return problem;
}

}  // namespace

void expect_faults_found(const Row& row, const Runner& runner, const Validate& asked, std::int64_t least, int most,
                         bool sampled) {
    const Op& op = *row.entry->op;
    const Variant& variant = *row.variant;
    std::map<DType, int> taken;
    std::map<std::string, int> planted;
    std::size_t number = 0;
    for (const Problem& one : op.cases()) {
        Posed posed = pose_case(op, one, Values::positive);
        posed.problem.place = runner.place;
        const Problem& problem = posed.problem;
        const Spec& output = problem.out[0];
        const std::string text = describe(number++, problem);
        if (is_half(output.dtype) || output.size() < least || output.size() > 20'000) continue;
        if (!refusal(variant, problem).empty() || taken[output.dtype]++ >= most) continue;
        const Tensor right = runner.run(row, problem, posed.slabs);
        const Posed other = pose_case(op, one, Values::mixed, 7);
        const Tensor previous = runner.run(row, problem, other.slabs);
        const Slab right_slab = right.slab(), previous_slab = previous.slab();
        for (const Fault& fault : faults) {
            if ((sampled && !fault.everywhere) || (fault.floats_only && is_integer(output.dtype))) continue;
            const Tensor wrong = fault.plant({problem, right_slab, previous_slab});
            if (!changes(wrong, right)) continue;
            SCOPED_TRACE(text + ": " + fault.name);
            const Judgement got =
                validation::judge(op, variant, problem, posed.slabs, wrong.slab(), asked, {}, nullptr, 1);
            EXPECT_EQ(got.verdict, Verdict::mismatch);
            EXPECT_GT(got.failed, 0);
            EXPECT_FALSE(got.reason.empty());
            EXPECT_TRUE(std::isfinite(got.rel_l2) || fault.plant == one_nan || fault.plant == last_row_unwritten);
            if (sampled) {
                EXPECT_LT(got.checked, got.of);
            }
            ++planted[fault.name];
        }
    }
    for (const Fault& fault : faults) {
        if (sampled && !fault.everywhere) continue;
        EXPECT_GT(planted[fault.name], 0) << fault.name << " was never planted";
    }
}

void expect_faults_found_in_a_large_answer(const Row& row, const Runner& runner) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "2e9 terms a fault take too long under AddressSanitizer";
#endif
    const Op& op = *row.entry->op;
    const Variant& variant = *row.variant;
    const Problem asked = large_problem(op);
    Posed posed = pose_case(op, asked, Values::positive), other = pose_case(op, asked, Values::mixed, 7);
    posed.problem.place = runner.place;
    if (!refusal(variant, posed.problem).empty()) return;
    const Tensor right = runner.run(row, posed.problem, posed.slabs);
    const Tensor previous = runner.run(row, posed.problem, other.slabs);
    const auto judge = [&](const Tensor& answer) {
        return validation::judge(op, variant, posed.problem, posed.slabs, answer.slab(), {}, {}, nullptr, 0);
    };
    const Judgement good = judge(right);
    EXPECT_EQ(good.verdict, Verdict::pass) << good.reason;
    EXPECT_EQ(good.checked < good.of, op.properties != nullptr);
    EXPECT_EQ(good.properties.empty(), op.properties == nullptr);
    const Slab right_slab = right.slab(), previous_slab = previous.slab();
    for (const Fault& fault : faults) {
        SCOPED_TRACE(fault.name);
        const Tensor wrong = fault.plant({posed.problem, right_slab, previous_slab});
        ASSERT_TRUE(changes(wrong, right));
        const Judgement got = judge(wrong);
        EXPECT_EQ(got.verdict, Verdict::mismatch);
        EXPECT_FALSE(got.reason.empty());
    }
}

}  // namespace gridstride::conformance
