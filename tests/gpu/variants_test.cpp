// SPDX-License-Identifier: BSD-3-Clause
// Every CUDA variant of every operation on every case that the operation asks, in every result type; faulty ones are
// caught; launches of any legal shape are judged. Skips aloud where there is no device.
//
// For slow tools (sanitize.sh) the environment may limit the cases that are run:
//     GRIDSTRIDE_GPU_ELEMENTS  inputs and output together have at most so many elements
//     GRIDSTRIDE_GPU_CASES     about so many of an operation's cases, evenly spread over its list
// and, where every place must be written, take the poison, which counts as initialised, from the outputs (=off):
//     GRIDSTRIDE_GPU_POISON
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string_view>

#include "compute.hpp"
#include "conformance/suite.hpp"

namespace gridstride::conformance {

namespace {

using validation::Judgement;
using validation::Verdict;

std::vector<Row> cuda_rows(bool faulty) {
    std::vector<Row> rows;
    for (const Entry& entry : registry())
        for (const Variant* variant : entry.variants)
            if (variant->device == Device::cuda && (variant->role == Role::faulty) == faulty)
                rows.push_back({&entry, variant});
    return rows;
}

/// A number from the environment; unset or not a positive number: no limit.
std::int64_t limit(const char* variable) {
    const char* text = std::getenv(variable);
    const std::int64_t value = text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
    return value > 0 ? value : std::numeric_limits<std::int64_t>::max();
}

bool too_large(const Problem& problem) {
    std::int64_t elements = 0;
    for (const auto* specs : {&problem.in, &problem.out})
        for (const Spec& spec : *specs) elements += spec.size();
    return elements > limit("GRIDSTRIDE_GPU_ELEMENTS");
}

/// The cases of an operation that are not too large, of its own result type, with their number in its list.
std::vector<std::pair<std::size_t, Problem>> limited_cases(const Op& op) {
    std::vector<std::pair<std::size_t, Problem>> small, result;
    std::size_t number = 0;
    for (Problem& asked : op.cases()) {
        if (!too_large(pose(op, asked.params, asked.in))) small.emplace_back(number, std::move(asked));
        ++number;
    }
    const auto most = static_cast<std::size_t>(limit("GRIDSTRIDE_GPU_CASES"));
    const std::size_t step = small.empty() ? 1 : (small.size() - 1) / most + 1;
    for (std::size_t i = 0; i < small.size(); i += step) result.push_back(std::move(small[i]));
    return result;
}

class Gpu : public ::testing::TestWithParam<Row> {
  protected:
    void SetUp() override {
        std::string why;
        const auto devices = cuda::devices(&why);
        if (devices.empty()) GTEST_SKIP() << "no CUDA device: " << why;
        place = {Device::cuda, 0, 0, devices[0].limits};
    }
    const Op& op() const { return *GetParam().entry->op; }
    const Variant& variant() const { return *GetParam().variant; }

    Posed posed(const Problem& asked, Values values, std::optional<DType> result = {}) const {
        Posed one = pose_case(op(), asked, values, 1, result);
        one.problem.place = place;
        return one;
    }
    Tensor computed(const Posed& one) const {
        const char* poison = std::getenv("GRIDSTRIDE_GPU_POISON");
        return poison != nullptr && std::string_view(poison) == "off"
                   ? bare(one)
                   : engine::compute(op(), variant(), one.problem, one.slabs, false).out;
    }
    /// The step alone, on an output that nobody has filled (one in place begins as its input).
    Tensor bare(const Posed& one) const {
        const Problem& problem = one.problem;
        cuda::Queue queue(0);
        const Plan plan = engine::prepare(variant(), problem);
        const Tensor workspace({DType::int32, {static_cast<std::int64_t>(plan.workspace / 4 + 1)}}, Memory::device);
        const Tensor out(problem.out[0], Memory::device);
        const Slab out_slab = out.slab();
        std::vector<Tensor> inputs;
        std::vector<Slab> handed = one.slabs;
        for (std::size_t i = 0; i < handed.size(); ++i) {
            if (!handed[i].spec.present) continue;
            if (op().outputs[0].alias == static_cast<int>(i) && problem.in[i] == problem.out[0]) {
                handed[i] = out_slab;
            } else {
                inputs.emplace_back(problem.in[i], Memory::device);
                handed[i] = inputs.back().slab();
            }
            queue.copy(one.slabs[i].data, handed[i].data, problem.in[i].bytes(), cuda::Direction::to_device);
        }
        plan.step({handed, {&out_slab, 1}, workspace.data(), queue.stream()});
        Tensor result(problem.out[0]);
        queue.copy(out.data(), result.data(), problem.out[0].bytes(), cuda::Direction::to_host);
        queue.synchronize();
        return result;
    }
    Judgement judge(const Posed& one, const Tensor& got) const {
        return validation::judge(op(), variant(), one.problem, one.slabs, got.slab(), {.mode = Validate::Mode::full},
                                 {}, nullptr, 0);
    }

    Place place;
};

using GpuFaulty = Gpu;

INSTANTIATE_TEST_SUITE_P(Cuda, Gpu, ::testing::ValuesIn(cuda_rows(false)), row_name);
INSTANTIATE_TEST_SUITE_P(Cuda, GpuFaulty, ::testing::ValuesIn(cuda_rows(true)), row_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Gpu);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuFaulty);

/// A result type that is another one than the operation's own, where the rules allow it.
std::vector<std::optional<DType>> result_types(const Op& op, const Problem& asked) {
    std::vector<std::optional<DType>> types{std::nullopt};
    for (const DType type : {DType::float16, DType::float64, DType::complex128}) try {
            pose(op, asked.params, asked.in, type);
            types.push_back(type);
        } catch (const Error&) {  // complex to real, say
        }
    return types;
}

}  // namespace

TEST_P(Gpu, EveryCasePassesInEveryResultType) {
    std::size_t passed = 0;
    for (const auto& [number, asked] : limited_cases(op())) {
        SCOPED_TRACE(describe(number, asked));
        for (const std::optional<DType>& type : result_types(op(), asked)) {
            const Posed one = posed(asked, type == DType::float16 ? Values::positive : Values::mixed, type);
            SCOPED_TRACE(to_text(one.problem.out[0]));
            if (!refusal(variant(), one.problem).empty()) continue;
            const Judgement judged = judge(one, computed(one));
            EXPECT_EQ(judged.verdict, Verdict::pass) << judged.reason;
            ++passed;
        }
    }
    EXPECT_GT(passed, 0U);
}

TEST_P(Gpu, EveryLegalLaunchIsRightOrNamesWhatItLeftUnwritten) {
    if (!variant().takes_launch) GTEST_SKIP() << "takes no launch";
    const auto cases = limited_cases(op());
    ASSERT_FALSE(cases.empty());
    std::size_t number = 0, ran = 0;
    for (std::size_t i = 0; i < cases.size(); i += cases.size() / 12 + 1) {
        const Problem& asked = cases[i].second;
        SCOPED_TRACE(describe(cases[i].first, asked));
        for (const Launch& launch :
             {Launch{{}, {1}}, Launch{{}, {33}}, Launch{{}, {100}}, Launch{{}, {512}}, Launch{{3}, {64}}}) {
            Posed one = posed(asked, Values::mixed);
            one.problem.launch = launch;
            if (!refusal(variant(), one.problem).empty()) continue;
            SCOPED_TRACE(to_text(launch.grid) + to_text(launch.block));
            const Judgement judged = judge(one, engine::compute(op(), variant(), one.problem, one.slabs, false).out);
            if (judged.verdict != Verdict::pass) {
                EXPECT_FALSE(launch.grid.empty()) << judged.reason;  // only a grid too small may fail
                const int alias = op().outputs[0].alias;  // in place, what is unwritten is the input, not poison
                if (alias < 0 || one.problem.in[static_cast<std::size_t>(alias)] != one.problem.out[0]) {
                    EXPECT_NE(judged.reason.find("unwritten"), std::string::npos) << judged.reason;
                }
            }
            ++ran;
        }
        ++number;
    }
    EXPECT_GT(ran, number);
    Posed one = posed(cases[0].second, Values::mixed);
    one.problem.launch.block = {4096};
    EXPECT_NE(refusal(variant(), one.problem), "") << "4096 threads a block";
}

TEST_P(GpuFaulty, IsCaughtEveryTime) {
    for (int i = 0; i < 20; ++i) {
        Problem asked;
        asked.in = op().name == "sum"
                       ? std::vector<Spec>{{DType::float32, {100003}}}
                       : std::vector<Spec>{
                             {DType::float32, {65, 130}}, {DType::float32, {130, 67}}, {DType::float32, {}, false}};
        const Posed one = posed(asked, Values::positive);
        const Judgement judged = judge(one, computed(one));
        EXPECT_EQ(judged.verdict, Verdict::mismatch) << i;
    }
}

}  // namespace gridstride::conformance
