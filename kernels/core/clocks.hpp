// SPDX-License-Identifier: BSD-3-Clause
// How a GPU runs at this moment: clocks, power, and what holds it back, as its driver's management library (NVML)
// tells.
#pragma once

#include <optional>
#include <string>

namespace gridstride::cuda {

struct Clocks {
    unsigned sm_mhz = 0, mem_mhz = 0;
    double power_w = 0;
    std::string throttle;  // "sw_power_cap, hw_slowdown"; empty: nothing holds it back
};

/// uuid: as DeviceInfo has it. Nothing where the library is not there or does not tell. Takes some microseconds.
std::optional<Clocks> clocks(const std::string& uuid);

}  // namespace gridstride::cuda
