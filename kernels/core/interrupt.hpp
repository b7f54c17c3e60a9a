// SPDX-License-Identifier: BSD-3-Clause
// Stopping long work: the command's signal handler asks, loops over blocks look and leave by an exception.
#pragma once

#include <atomic>

namespace gridstride {

/// Thrown where work was left because the user asked.
struct Interrupted {};

/// True once the user has asked to stop. The one flag that a signal handler can reach.
inline std::atomic<bool> stop_requested{false};

/// Throws Interrupted if so.
inline void leave_if_stopped() {
    if (stop_requested.load(std::memory_order_relaxed)) throw Interrupted{};
}

}  // namespace gridstride
