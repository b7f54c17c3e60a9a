// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong with devices: the words for it, and a variant whose kernel ruins the device's context.
#include <gtest/gtest.h>

#include "core/cuda.hpp"
#include "core/operation.hpp"

namespace gridstride::cuda {

TEST(WhyNone, NamesWhatWasFoundAndWhatIsNeeded) {
    EXPECT_EQ(why_none(cudaErrorInsufficientDriver, 0, 13000, nullptr), "no NVIDIA driver is installed");
    EXPECT_EQ(why_none(cudaErrorInsufficientDriver, 11040, 13010, nullptr),
              "the NVIDIA driver supports CUDA 11.4, this build needs 13.1: update the driver");
    EXPECT_EQ(why_none(cudaErrorNoDevice, 13000, 13000, ""), "no CUDA device is visible: CUDA_VISIBLE_DEVICES is ''");
    EXPECT_EQ(why_none(cudaErrorNoDevice, 13000, 13000, nullptr), "no CUDA-capable device is detected");
}

__global__ void trap_kernel() {
    __trap();
}

extern const Variant trap;
const Variant trap{
    .name = "trap",
    .device = Device::cuda,
    .doc = "stops in the middle",
    .prepare =
        [](const Problem&) {
            Plan plan;
            plan.step = [](const Call& call) {
                trap_kernel<<<1, 1, 0, static_cast<cudaStream_t>(call.stream.handle)>>>();
                check_launch();
            };
            return plan;
        },
    .growth = [](const Problem&, std::int64_t) { return 1.0; },
};

}  // namespace gridstride::cuda
