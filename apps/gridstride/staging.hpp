// SPDX-License-Identifier: BSD-3-Clause
// Bytes from one memory to another: on the host by all cores, to a device and back through a pinned buffer.
#pragma once

#include <algorithm>
#include <cstring>

#include "compute.hpp"
#include "core/parallel.hpp"

namespace gridstride::engine {

inline void copy_on_host(const std::byte* from, std::byte* to, std::size_t size) {
    for_blocks(static_cast<std::int64_t>(size), 4 << 20, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
}

/// Copies through a pinned buffer, a piece at a time.
class Staging {
  public:
    Staging(cuda::Queue& queue, std::size_t largest)
        : queue_(queue), pinned_(buffer(std::min(largest, piece), Memory::pinned)) {}

    /// Seconds of the copies between pinned memory and the device.
    double to_device(const std::byte* from, std::byte* to, std::size_t size) {
        double seconds = 0;
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t n = std::min(piece, size - at);
            copy_on_host(from + at, pinned_.data(), n);
            seconds += queue_.time([&] { queue_.copy(pinned_.data(), to + at, n, cuda::Direction::to_device); });
        }
        return seconds;
    }
    double to_host(const std::byte* from, std::byte* to, std::size_t size) {
        double seconds = 0;
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t n = std::min(piece, size - at);
            seconds += queue_.time([&] { queue_.copy(from + at, pinned_.data(), n, cuda::Direction::to_host); });
            copy_on_host(pinned_.data(), to + at, n);
        }
        return seconds;
    }

    /// Are these bytes of the device those of the host?
    bool same(const std::byte* device, const std::byte* host, std::size_t size) {
        for (std::size_t at = 0; at < size; at += piece) {
            const std::size_t n = std::min(piece, size - at);
            queue_.time([&] { queue_.copy(device + at, pinned_.data(), n, cuda::Direction::to_host); });
            if (std::memcmp(pinned_.data(), host + at, n) != 0) return false;
        }
        return true;
    }

  private:
    static constexpr std::size_t piece = std::size_t{64} << 20;

    cuda::Queue& queue_;
    Tensor pinned_;
};

}  // namespace gridstride::engine
