// SPDX-License-Identifier: BSD-3-Clause
// Stopping long work: the command's signal handler or a case's time limit asks, loops over blocks look and leave by an
// exception.
#pragma once

#include <atomic>

namespace gridstride {

/// Thrown where work was left because the user asked.
struct Interrupted {};

/// Thrown where work was left because its time is up.
struct TimeUp {};

/// True once the user has asked to stop. The one flag that a signal handler can reach.
inline std::atomic<bool> stop_requested{false};

/// True while the running case has had all the time it may take.
inline std::atomic<bool> time_is_up{false};

/// Throws Interrupted or TimeUp if so.
inline void leave_if_stopped() {
    if (stop_requested.load(std::memory_order_relaxed)) throw Interrupted{};
    if (time_is_up.load(std::memory_order_relaxed)) throw TimeUp{};
}

}  // namespace gridstride
