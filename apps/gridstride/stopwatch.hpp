// SPDX-License-Identifier: BSD-3-Clause
// Seconds by the steady clock.
#pragma once

#include <chrono>

namespace gridstride {

/// Begins when it is made; `watch = {}` begins again.
class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gridstride
