// SPDX-License-Identifier: BSD-3-Clause
// Devices, memory and copies by the CUDA runtime.
#include "core/cuda.hpp"

#include <cublas_v2.h>
#include <cufft.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cub/version.cuh>
#include <string>

#include "core/device.hpp"
#include "core/error.hpp"

namespace gridstride::cuda {

void check(cudaError_t status, std::source_location where) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw Error(Category::device, std::string("CUDA: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                                      ") at " + where.file_name() + ":" + std::to_string(where.line()));
}

void check_launch(std::source_location where) {
    check(cudaGetLastError(), where);
}

bool built_in() {
    return true;
}

namespace {

std::string version_text(int version) {
    return version == 0 ? "" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Compiled for the same architectures as every kernel: does a device take it, it takes them.
__global__ void probe_kernel() {}

/// Why this build cannot use the present device; empty: it can.
std::string refusal_of(const cudaDeviceProp& properties) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
    cudaGetLastError();
    if (status == cudaSuccess) return {};
    const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
        return "this build has no code for " + std::string(properties.name) + " (compute capability " + capability +
               "): configure with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(properties.major) +
               std::to_string(properties.minor) + " and build again";
    return std::string(properties.name) + ": " + cudaGetErrorString(status);
}

}  // namespace

std::string why_none(cudaError_t status, int driver, int runtime, const char* visible) {
    if (driver == 0) return "no NVIDIA driver is installed";
    if (status == cudaErrorInsufficientDriver)
        return "the NVIDIA driver supports CUDA " + version_text(driver) + ", this build needs " +
               version_text(runtime) + ": update the driver";
    if ((status == cudaSuccess || status == cudaErrorNoDevice) && visible != nullptr)
        return "no CUDA device is visible: CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "'";
    return status == cudaSuccess ? "no CUDA device is visible" : cudaGetErrorString(status);
}

std::string runtime_version() {
    int version = 0;
    return cudaRuntimeGetVersion(&version) == cudaSuccess ? version_text(version) : "";
}

std::string driver_version() {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version_text(version) : "";
}

std::map<std::string, std::string> library_versions() {
    const auto text = [](auto property) {
        std::string version;
        for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
            int number = 0;
            property(part, &number);
            version += (version.empty() ? "" : ".") + std::to_string(number);
        }
        return version;
    };
    return {{"CUB", std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                        std::to_string(CUB_SUBMINOR_VERSION)},
            {"cuBLAS", text(cublasGetProperty)},
            {"cuFFT", text(cufftGetProperty)}};
}

std::vector<DeviceInfo> devices(std::string* why) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        cudaGetLastError();
        int driver = 0, runtime = 0;
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        if (why != nullptr) *why = why_none(status, driver, runtime, std::getenv("CUDA_VISIBLE_DEVICES"));
        return {};
    }
    std::vector<DeviceInfo> list;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, i));
        DeviceInfo info;
        info.name = properties.name;
        for (int k = 0; k < 16; ++k) {
            char hex[4];
            std::snprintf(hex, sizeof hex, "%02x",
                          static_cast<unsigned>(static_cast<unsigned char>(properties.uuid.bytes[k])));
            info.uuid += hex;
            if (k == 3 || k == 5 || k == 7 || k == 9) info.uuid += '-';
        }
        info.major = properties.major;
        info.minor = properties.minor;
        info.limits = {properties.maxThreadsPerBlock,  static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
                       properties.multiProcessorCount, properties.maxGridSize[0],
                       properties.maxGridSize[1],      properties.maxThreadsDim[0],
                       properties.maxThreadsDim[2]};
        check(cudaSetDevice(i));
        check(cudaMemGetInfo(&info.free_memory, &info.total_memory));
        info.refusal = refusal_of(properties);
        list.push_back(info);
    }
    check(cudaSetDevice(0));
    return list;
}

void select(int device) {
    check(cudaSetDevice(device));
}

std::byte* allocate(std::size_t bytes, int device) {
    select(device);
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t available = 0, total = 0;
        cudaMemGetInfo(&available, &total);
        throw Error(Category::device, "not enough memory on cuda:" + std::to_string(device) + ": " +
                                          std::to_string(bytes) + " bytes asked, " + std::to_string(available) +
                                          " free of " + std::to_string(total));
    }
    check(status);
    return static_cast<std::byte*>(data);
}

void release(std::byte* data) noexcept {
    cudaFree(data);
}

std::byte* allocate_pinned(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMallocHost(&data, bytes));
    return static_cast<std::byte*>(data);
}

void release_pinned(std::byte* data) noexcept {
    cudaFreeHost(data);
}

namespace {

cudaStream_t raw(Stream stream) {
    return static_cast<cudaStream_t>(stream.handle);
}
cudaEvent_t event(void* handle) {
    return static_cast<cudaEvent_t>(handle);
}

}  // namespace

Queue::Queue(int device) : device_(device) {
    select(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.handle = stream;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin));
    begin_ = begin;
    check(cudaEventCreate(&end));
    end_ = end;
}

Queue::~Queue() {
    cudaSetDevice(device_);
    if (begin_ != nullptr) cudaEventDestroy(event(begin_));
    if (end_ != nullptr) cudaEventDestroy(event(end_));
    if (stream_.handle != nullptr) cudaStreamDestroy(raw(stream_));
    cudaGetLastError();
}

void Queue::copy(const std::byte* from, std::byte* to, std::size_t bytes, Direction direction) {
    const cudaMemcpyKind kind = direction == Direction::to_device ? cudaMemcpyHostToDevice
                                : direction == Direction::to_host ? cudaMemcpyDeviceToHost
                                                                  : cudaMemcpyDeviceToDevice;
    if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, raw(stream_)));
}

void Queue::fill(std::byte* data, std::uint8_t value, std::size_t bytes) {
    if (bytes > 0) check(cudaMemsetAsync(data, value, bytes, raw(stream_)));
}

void Queue::synchronize() {
    check(cudaStreamSynchronize(raw(stream_)));
}

double Queue::time(const std::function<void()>& enqueue) {
    check(cudaEventRecord(event(begin_), raw(stream_)));
    enqueue();
    check(cudaEventRecord(event(end_), raw(stream_)));
    check(cudaEventSynchronize(event(end_)));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, event(begin_), event(end_)));
    return milliseconds * 1e-3;
}

std::optional<double> Queue::replay(const std::function<void()>& enqueue, int count) {
    check(cudaStreamBeginCapture(raw(stream_), cudaStreamCaptureModeThreadLocal));
    bool captured = true;
    try {
        for (int i = 0; i < count; ++i) enqueue();
    } catch (const Error&) {
        captured = false;  // a library that synchronises, say; the stream must still leave capture
    }
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(raw(stream_), &graph) != cudaSuccess || !captured) {
        cudaGetLastError();
        if (graph != nullptr) cudaGraphDestroy(graph);
        return {};
    }
    cudaGraphExec_t ready = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    check(status);
    double seconds = 0;
    try {
        check(cudaGraphLaunch(ready, raw(stream_)));  // uploads it
        seconds = time([&] { check(cudaGraphLaunch(ready, raw(stream_))); });
    } catch (...) {
        cudaGraphExecDestroy(ready);
        throw;
    }
    cudaGraphExecDestroy(ready);
    return seconds / count;
}

bool usable(int device) {
    const bool good = cudaSetDevice(device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    cudaGetLastError();
    return good;
}

Mark::Mark(const std::string& name) {
    nvtxRangePushA(name.c_str());
}
Mark::~Mark() {
    nvtxRangePop();
}

}  // namespace gridstride::cuda
