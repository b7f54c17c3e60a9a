// SPDX-License-Identifier: BSD-3-Clause
// Measuring: sets of inputs in turn, in-place outputs, and that a wrong answer or a faulty kernel has no speed. What
// is timed here are variants made for it, which keep a book of their calls.
#include "measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "execute.hpp"
#include "support/folder.hpp"
#include "timing.hpp"

namespace gridstride::engine {

namespace {

std::vector<const std::byte*> inputs_seen, outputs_seen;  // of each call

/// y = x, of float32, by the book.
gridstride::Plan copying(const Problem& problem) {
    inputs_seen.clear();
    outputs_seen.clear();
    gridstride::Plan plan;
    plan.step = [n = problem.in[0].size()](const Call& call) {
        inputs_seen.push_back(call.in[0].data);
        outputs_seen.push_back(call.out[0].data);
        std::copy_n(call.in[0].as<const float>(), n, call.out[0].as<float>());
    };
    return plan;
}
constexpr Variant copier{.name = "copier", .doc = "", .prepare = copying};

/// Right at its first call, one too much at the last element from then on.
gridstride::Plan ageing(const Problem& problem) {
    gridstride::Plan plan;
    plan.step = [n = problem.in[0].size(), calls = 0](const Call& call) mutable {
        std::copy_n(call.in[0].as<const float>(), n, call.out[0].as<float>());
        if (calls++ > 0) call.out[0].as<float>()[n - 1] += 1;
    };
    return plan;
}
constexpr Variant stale{.name = "stale", .doc = "", .prepare = ageing};

const Op& operation(std::string_view name) {
    return *find(name)->op;
}

TEST(Measuring, GoesRoundAsManySetsAsLeaveNothingInTheCache) {
    const Spec spec{DType::float32, {3, 37}};
    const Problem problem = pose(operation("copy"), {}, {spec});
    Tensor x(spec);
    std::iota(x.as<float>(), x.as<float>() + 111, 1.F);
    const Slab in = x.slab();
    const Measured measured = measure(operation("copy"), copier, problem, {&in, 1}, 0.05);

    const std::size_t sets = timing::sets_beyond(rates::sheet({}).cache, 2 * 111 * sizeof(float));
    const std::set<const std::byte*> ins(inputs_seen.begin(), inputs_seen.end()),
        outs(outputs_seen.begin(), outputs_seen.end());
    EXPECT_EQ(ins.size(), sets);
    EXPECT_EQ(outs.size(), sets);
    ASSERT_GT(inputs_seen.size(), sets + 1);
    for (std::size_t i = sets; i + 1 < inputs_seen.size(); ++i) ASSERT_EQ(inputs_seen[i], inputs_seen[i - sets]);
    EXPECT_EQ(measured.from_memory, sets * 2 * 111 * sizeof(float) > 2 * rates::sheet({}).cache);
    EXPECT_EQ(measured.method, "clock");
    EXPECT_GE(measured.seconds.samples.size(), 5U);
    EXPECT_TRUE(std::equal(x.as<float>(), x.as<float>() + 111, measured.out.as<float>()));
}

TEST(Measuring, AnInPlaceOutputIsAddedToAndTheInputsAreLeftAlone) {
    // c = a b + c: of many calls the last starts anew.
    const Op& matmul = operation("matmul");
    const Problem problem =
        pose(matmul, {}, {{DType::float32, {1, 2}}, {DType::float32, {2, 1}}, {DType::float32, {1, 1}}});
    float a[] = {2, 3}, b[] = {5, 7}, c[] = {100};
    std::vector<Slab> in;
    for (std::size_t i = 0; i < 3; ++i)
        in.push_back({problem.in[i], {1, 1}, reinterpret_cast<std::byte*>(i == 0 ? a : i == 1 ? b : c)});
    const Measured measured = measure(matmul, *find(*find("matmul"), "loop", Device::cpu), problem, in, 0.05);
    EXPECT_EQ(measured.out.as<float>()[0], 131);
    EXPECT_EQ(c[0], 100);
}

/// One job, planned for a bench.
class Benched : public InFolder {
  protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(InFolder::SetUp());
        std::ofstream(folder / "job.yaml") << "jobs: {c: {op: copy, variant: loop, device: cpu, inputs: {x: {generate: "
                                              "linear, shape: [3, 37]}}, outputs: y.h5}}\n";
        config::Diagnostics diagnostics;
        plan = engine::plan((folder / "job.yaml").string(), {(folder / "out").string(), {}, {}, true}, diagnostics);
        ASSERT_TRUE(diagnostics.empty()) << diagnostics.text(false);
        ASSERT_EQ(plan.cases.size(), 1U);
        state.results.resize(1);
        state.measure = [this](const Case& one, std::span<const Slab> in) {
            ++measured;
            return measure(one.op(), *one.variant, one.computed(), in, 0.05).out;
        };
    }
    report::Case run(const Variant& variant) {
        plan.cases[0].variant = &variant;
        return run_case(plan, 0, state, {}, [](std::string_view, std::string_view) {});
    }

    engine::Plan plan;
    State state;
    int measured = 0;
};

TEST_F(Benched, APassIsMeasuredAndNothingIsSaved) {
    EXPECT_EQ(run(copier).status, report::Status::pass);
    EXPECT_EQ(measured, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(Benched, AnAnswerThatGoesWrongWhenCalledAgainIsAMismatch) {
    const report::Case line = run(stale);
    EXPECT_EQ(line.status, report::Status::mismatch);
    EXPECT_TRUE(line.reason.starts_with("when called many times: ")) << line.reason;
    EXPECT_NE(line.reason.find("(2, 36)"), std::string::npos) << line.reason;
    EXPECT_EQ(line.seconds.compute, 0);
}

TEST_F(Benched, AFaultyVariantHasNoSpeedThoughItPass) {
    Variant faulty = copier;
    faulty.role = Role::faulty;
    EXPECT_EQ(run(faulty).status, report::Status::pass);
    EXPECT_EQ(measured, 0);
}

TEST_F(Benched, AWrongAnswerHasNoSpeed) {
    Variant wrong = copier;
    wrong.prepare = [](const Problem&) {
        gridstride::Plan plan;
        plan.step = [](const Call& call) { call.out[0].as<float>()[5] = 5; };  // all others stay as they begin
        return plan;
    };
    EXPECT_EQ(run(wrong).status, report::Status::mismatch);
    EXPECT_EQ(measured, 0);
}

}  // namespace

}  // namespace gridstride::engine
