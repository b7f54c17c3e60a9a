// SPDX-License-Identifier: BSD-3-Clause
// Devices: what there is, and the few calls the engine needs of them. cuda.cu answers where the CUDA toolkit is built
// in, no_cuda.cpp elsewhere; no CUDA type appears here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gridstride {

enum class Device : std::uint8_t { cpu, cuda };

std::string_view name(Device device);

/// What bounds a launch on a device; all zero on the CPU.
struct Limits {
    std::int64_t threads_per_block = 0, shared_memory_per_block = 0, multiprocessors = 0;
    std::int64_t grid_x = 0, grid_yz = 0, block_xy = 0, block_z = 0;
};

/// Where a problem runs. threads: CPU threads (0: all there are).
struct Place {
    Device device = Device::cpu;
    int index = 0, threads = 0;
    Limits limits{};
};

/// "cpu", "cuda:0".
std::string name(const Place& place);

/// CPU threads that a Place asks for: its own number, or as many as there are.
int threads_of(const Place& place);

/// Work queue of the device; null on the CPU.
struct Stream {
    void* handle = nullptr;
};

namespace cuda {

struct DeviceInfo {
    std::string name, uuid;
    int major = 0, minor = 0;
    std::size_t total_memory = 0, free_memory = 0;
    Limits limits;
    std::string refusal;  // not empty: it cannot be used, and why
};

/// Is CUDA code in this build?
bool built_in();
/// Visible devices; empty where there is none, with the reason in *why (no toolkit, no driver, driver too old). One
/// that this build has no code for says so in its refusal.
std::vector<DeviceInfo> devices(std::string* why = nullptr);
/// "13.0" of the runtime and of the driver; empty where there is none.
std::string runtime_version();
std::string driver_version();
/// Name -> version of NVIDIA's libraries ("cuBLAS": "13.0.2"); empty without CUDA.
std::map<std::string, std::string> library_versions();

/// Makes it the device of this thread's CUDA calls. Error (device): there is no such device, or it does not work.
void select(int device);

// Memory and copies. Errors (device): each with what failed; out of memory with the numbers.
std::byte* allocate(std::size_t bytes, int device);
void release(std::byte* data) noexcept;
std::byte* allocate_pinned(std::size_t bytes);
void release_pinned(std::byte* data) noexcept;

/// Where a copy goes from and to; host memory is pinned.
enum class Direction { to_device, to_host, on_device };

/// A stream of one device and the timing of what is put on it. Errors (device): what a call or an earlier kernel did.
class Queue {
  public:
    explicit Queue(int device);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    Stream stream() const { return stream_; }
    void copy(const std::byte* from, std::byte* to, std::size_t bytes, Direction direction);
    void fill(std::byte* data, std::uint8_t value, std::size_t bytes);
    void synchronize();
    /// Seconds on the device of what `enqueue` puts on the stream, by events.
    double time(const std::function<void()>& enqueue);
    /// Seconds of one of `count` replays of it as a graph, by events; nothing where it cannot be captured.
    std::optional<double> replay(const std::function<void()>& enqueue, int count);

  private:
    int device_;
    Stream stream_;
    void* begin_ = nullptr;  // events
    void* end_ = nullptr;
};

/// Can the device still work, or has an error ruined its context?
bool usable(int device);

/// A named range in a profiler's time line (NVTX), for as long as it lives; nothing without CUDA.
class Mark {
  public:
    explicit Mark(const std::string& name);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
};

}  // namespace cuda
}  // namespace gridstride
