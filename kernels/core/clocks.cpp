// SPDX-License-Identifier: BSD-3-Clause
// NVML by dlopen: it comes with the driver, so a build does not need it. Its few types are declared here as its manual
// (docs.nvidia.com/deploy/nvml-api) has them.
#include "core/clocks.hpp"

#include <dlfcn.h>

#include <initializer_list>
#include <memory>
#include <utility>

namespace gridstride::cuda {

namespace {

using Handle = void*;
constexpr int sm = 1, memory = 2;  // nvmlClockType_t

struct Library {
    std::unique_ptr<void, int (*)(void*)> file{dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL), dlclose};
    int (*handle_by_uuid)(const char*, Handle*) = function<int(const char*, Handle*)>("nvmlDeviceGetHandleByUUID");
    int (*clock)(Handle, int, unsigned*) = function<int(Handle, int, unsigned*)>("nvmlDeviceGetClockInfo");
    int (*power)(Handle, unsigned*) = function<int(Handle, unsigned*)>("nvmlDeviceGetPowerUsage");
    int (*reasons)(Handle, unsigned long long*) =
        function<int(Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    bool ready = false;

    Library() {
        auto* init = function<int()>("nvmlInit_v2");
        ready = init != nullptr && handle_by_uuid != nullptr && clock != nullptr && power != nullptr &&
                reasons != nullptr && init() == 0;
    }

    template <class Signature>
    Signature* function(const char* name) const {
        return file == nullptr ? nullptr : reinterpret_cast<Signature*>(dlsym(file.get(), name));
    }
};

std::string words_of(unsigned long long bits) {
    std::string words;
    for (const auto& [bit, word] : std::initializer_list<std::pair<unsigned long long, const char*>>{
             {0x2, "applications_clocks_setting"},
             {0x4, "sw_power_cap"},
             {0x8, "hw_slowdown"},
             {0x10, "sync_boost"},
             {0x20, "sw_thermal_slowdown"},
             {0x40, "hw_thermal_slowdown"},
             {0x80, "hw_power_brake_slowdown"},
             {0x100, "display_clock_setting"}})  // 0x1 is an idle GPU: nothing holds it back
        if ((bits & bit) != 0) words += (words.empty() ? "" : ", ") + std::string(word);
    return words;
}

}  // namespace

std::optional<Clocks> clocks(const std::string& uuid) {
    static const Library library;  // started once: that takes milliseconds
    Handle device = nullptr;
    unsigned milliwatts = 0;
    unsigned long long reasons = 0;
    Clocks now;
    if (!library.ready || library.handle_by_uuid(("GPU-" + uuid).c_str(), &device) != 0 ||
        library.clock(device, sm, &now.sm_mhz) != 0 || library.clock(device, memory, &now.mem_mhz) != 0 ||
        library.power(device, &milliwatts) != 0 || library.reasons(device, &reasons) != 0)
        return {};
    now.power_w = milliwatts / 1e3;
    now.throttle = words_of(reasons);
    return now;
}

}  // namespace gridstride::cuda
