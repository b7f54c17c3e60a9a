// SPDX-License-Identifier: BSD-3-Clause
// The CUDA calls of a build without the toolkit: there is no device, and the messages say so.
#include "core/device.hpp"
#include "core/error.hpp"
#include "core/rates.hpp"

namespace gridstride::cuda {

namespace {

[[noreturn]] void refuse() {
    throw Error(Category::device, "this build has no CUDA (no toolkit was found)");
}

}  // namespace

bool built_in() {
    return false;
}
std::vector<DeviceInfo> devices(std::string* why) {
    if (why != nullptr) *why = "this build has no CUDA (no toolkit was found)";
    return {};
}
std::string runtime_version() {
    return {};
}
std::string driver_version() {
    return {};
}
std::map<std::string, std::string> library_versions() {
    return {};
}
void select(int) {
    refuse();
}
std::byte* allocate(std::size_t, int) {
    refuse();
}
void release(std::byte*) noexcept {}
std::byte* allocate_pinned(std::size_t) {
    refuse();
}
void release_pinned(std::byte*) noexcept {}

Queue::Queue(int device) : device_(device) {
    refuse();
}
Queue::~Queue() = default;
void Queue::copy(const std::byte*, std::byte*, std::size_t, Direction) {
    refuse();
}
void Queue::fill(std::byte*, std::uint8_t, std::size_t) {
    refuse();
}
void Queue::synchronize() {
    refuse();
}
double Queue::time(const std::function<void()>&) {
    refuse();
}
std::optional<double> Queue::replay(const std::function<void()>&, int) {
    refuse();
}
bool usable(int) {
    return false;
}
Mark::Mark(const std::string&) {}
Mark::~Mark() = default;

}  // namespace gridstride::cuda

namespace gridstride::rates {

Sheet cuda_sheet(int) {
    cuda::refuse();
}
Plan cuda_prepare(Mix, const Problem&) {
    cuda::refuse();
}

}  // namespace gridstride::rates
