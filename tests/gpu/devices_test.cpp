// SPDX-License-Identifier: BSD-3-Clause
// What a run does where a device is too small, is not there, or is lost under it.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "compute.hpp"
#include "core/error.hpp"
#include "support/cases.hpp"
#include "support/folder.hpp"

namespace gridstride::cuda {

extern const Variant trap;  // faults.cu

namespace {

class Devices : public InFolder {
  protected:
    void SetUp() override {
        std::string why;
        if (devices(&why).empty()) GTEST_SKIP() << "no CUDA device: " << why;
        InFolder::SetUp();
    }

    engine::Plan plan(const std::string& jobs) {
        std::ofstream(folder / "job.yaml") << "jobs:\n" << jobs;
        config::Diagnostics diagnostics;
        engine::Plan result =
            engine::plan((folder / "job.yaml").string(), {(folder / "out").string(), {}, {}}, diagnostics);
        if (!diagnostics.empty()) ADD_FAILURE() << diagnostics.text(false);
        return result;
    }
};
using DevicesDeathTest = Devices;

TEST_F(Devices, WhatDoesNotFitIsRefusedWithTheNumbersBeforeWork) {
    const DeviceInfo gpu = devices()[0];
    const std::size_t taken = gpu.free_memory - (std::size_t{2} << 30);
    std::byte* const held = allocate(taken, 0);
    const std::string job = "inputs: {x: {generate: ones, shape: [1_000_003, 512]}}";  // 1.9 GiB, and as much out
    const engine::Plan planned =
        plan("  a: {op: copy, device: cuda, variant: one_per_thread, " + job + "}\n  b: {op: copy, " + job + "}\n");
    release(held);
    EXPECT_NE(planned.cases.at(0).reason.find("needs 3.81 GiB of memory, cuda:0 has "), std::string::npos)
        << planned.cases[0].reason;
    EXPECT_EQ(planned.cases.at(1).place.device, Device::cpu) << "auto goes where there is room";
    EXPECT_EQ(planned.cases[1].reason, "");
}

TEST_F(Devices, AFailedAllocationNamesTheNumbers) {
    try {
        allocate(std::size_t{1} << 50, 0);
        FAIL() << "a petabyte";
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::device);
        EXPECT_EQ(std::string(error.what()).find("not enough memory on cuda:0: 1125899906842624 bytes asked, "), 0U)
            << error.what();
    }
    EXPECT_TRUE(usable(0));
}

TEST_F(Devices, ADeviceThatIsNotThereIsNamed) {
    try {
        plan("  a: {op: add, device: cuda:77, inputs: {x: 1, y: 2}}\n");
        FAIL() << "there is no such device";
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::device);
        EXPECT_NE(std::string(error.what()).find("job a asks for cuda:77: there "), std::string::npos) << error.what();
    }
}

TEST_F(Devices, EachVisibleDeviceRunsByItsIndex) {
    const int count = static_cast<int>(devices().size());
    if (count < 2) GTEST_SKIP() << "one CUDA device";
    std::string jobs;
    for (int i = 0; i < count; ++i)
        jobs += "  on_" + std::to_string(i) +
                ": {op: matmul, variant: [naive_2d, cublas], device: 'cuda:" + std::to_string(i) +
                "', inputs: {a: {generate: normal, shape: [33, 65]}, b: {generate: normal, shape: [65, 17]}}}\n";
    for (const report::Case& line : support::run_cases(plan(jobs))) {
        EXPECT_EQ(line.status, report::Status::pass) << line.name << line.reason;
        EXPECT_EQ("on_" + line.device.substr(line.device.find(':') + 1), line.job);
    }
}

/// In a process of its own: exits 0 where the faults stay where they belong.
[[noreturn]] void lose_the_device(engine::Plan plan) {
    plan.cases[0].variant = &trap;
    const std::vector<report::Case> lines = support::run_cases(plan);
    const report::Case &first = lines.at(0), &second = lines.at(1), &third = lines.at(2);
    const bool good = first.status == report::Status::error && first.exit == 4 && first.reason.find("CUDA: ") == 0 &&
                      second.status == report::Status::error && second.exit == 4 &&
                      second.reason == "device lost in case first" && third.status == report::Status::pass;
    std::fprintf(stderr, "%s | %s | %s\n", first.reason.c_str(), second.reason.c_str(), third.reason.c_str());
    std::_Exit(good ? 0 : 1);
}

TEST_F(DevicesDeathTest, ALostDeviceFailsItsCaseAndTheDeviceCasesAfterItAlone) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(lose_the_device(plan("  first: {op: add, device: cuda, inputs: {x: [1, 2], y: [3, 4]}}\n"
                                     "  second: {op: add, device: cuda, inputs: {x: [1, 2], y: [3, 4]}}\n"
                                     "  third: {op: add, device: cpu, inputs: {x: [1, 2], y: [3, 4]}}\n")),
                ::testing::ExitedWithCode(0), "CUDA: .* \\| device lost in case first \\| ");
}

}  // namespace

}  // namespace gridstride::cuda
