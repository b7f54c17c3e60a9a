// SPDX-License-Identifier: BSD-3-Clause
// Versions as the libraries themselves tell them at run time, where they do.
#include "facts.hpp"

#include <cblas.h>
#include <fftw3.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Version.hpp>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/device.hpp"
#include "io/hdf5.hpp"
#include "version.hpp"

namespace gridstride {

std::string version_text() {
    return *commit == '\0' ? std::string(version) : fmt::format("{} ({})", version, commit);
}

std::string processor() {
    const int threads = threads_of({});
    std::string model = "unknown processor";
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
            model = line.substr(line.find(": ") + 2);
            break;
        }
    return fmt::format("{}, {} {}", model, threads, threads == 1 ? "thread" : "threads");
}

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::array<char, 40> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &local);
    return std::string(text.data(), length).insert(length - 2, ":");  // +0100 to +01:00
}

report::Surroundings facts(std::vector<std::string> command) {
    report::Surroundings here;
    here.version = version;
    here.commit = commit;
    here.started = now_text();
    here.command = std::move(command);
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) == 0) here.host = host.data();
    here.device = "cpu: " + processor();
    int index = 0;
    for (const cuda::DeviceInfo& gpu : cuda::devices())
        here.device += fmt::format("; cuda:{}: {} (GPU-{})", index++, gpu.name, gpu.uuid);
    for (const char* name :
         {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OPENBLAS_NUM_THREADS",
          "OPENBLAS_CORETYPE", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE",
          "CUBLAS_WORKSPACE_CONFIG", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION",
          "CUBLAS_EMULATION_STRATEGY"})
        if (const char* value = std::getenv(name)) here.environment[name] = value;

    std::string openblas;  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": the second word
    std::istringstream(openblas_get_config()) >> openblas >> openblas;
    here.libraries = {
        {"CLI11", CLI11_VERSION},
        {"FFTW", fftw_version},  // "fftw-3.3.10-sse2-avx"
        {"HDF5", hdf5::library().version},
        {"OpenBLAS", openblas},
        {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                      NLOHMANN_JSON_VERSION_PATCH)},
        {"yaml-cpp", yaml_cpp_version},
    };
    if (cuda::built_in()) {
        here.libraries["CUDA runtime"] = cuda::runtime_version();
        here.libraries["CUDA driver"] = cuda::driver_version();
        here.libraries.merge(cuda::library_versions());
    }
    return here;
}

}  // namespace gridstride
