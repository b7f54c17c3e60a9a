// SPDX-License-Identifier: BSD-3-Clause
// The judge over answers of CUDA variants: planted faults are found, right answers of random cases are never called
// wrong. Skips aloud where there is no device.
#include <gtest/gtest.h>

#include "compute.hpp"
#include "conformance/faults.hpp"
#include "conformance/random.hpp"

namespace gridstride::conformance {

namespace {

class GpuJudging : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string why;
        const auto devices = cuda::devices(&why);
        if (devices.empty()) GTEST_SKIP() << "no CUDA device: " << why;
        on_cuda.place = {Device::cuda, 0, 0, devices[0].limits};
    }

    Runner on_cuda{{}, [](const Row& row, const Problem& problem, std::span<const Slab> in) {
                       return engine::compute(*row.entry->op, *row.variant, problem, in, false, false).out;
                   }};
};

}  // namespace

TEST_F(GpuJudging, FindsFaultsInTheAnswersOfEveryVariant) {
    for (const Entry& entry : registry())
        for (const Variant* variant : entry.variants) {
            if (variant->device != Device::cuda || variant->role == Role::faulty) continue;
            SCOPED_TRACE(std::string(entry.op->name) + "[" + std::string(variant->name) + "]");
            const Row row{&entry, variant};
            expect_faults_found(row, on_cuda, {.mode = Validate::Mode::full}, 2, 6, false);
            expect_faults_found(row, on_cuda, {.sample = 16, .terms = 1}, 100, 6, true);
            expect_faults_found_in_a_large_answer(row, on_cuda);
        }
}

TEST_F(GpuJudging, NeverCallsARightAnswerWrong) {
    expect_no_false_alarm(on_cuda);
}

}  // namespace gridstride::conformance
