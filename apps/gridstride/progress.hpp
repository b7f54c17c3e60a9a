// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal for what takes over a second: which case, which stage, how long. Silent elsewhere.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace gridstride {

class Progress {
  public:
    Progress();
    ~Progress();
    void count(std::size_t number, std::size_t of);
    void stage(std::string_view name, std::string_view stage);
    void clear();

  private:
    void show(const std::stop_token& ended);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::string text_;
    std::string count_;
    bool shown_ = false;
    std::jthread thread_;
};

}  // namespace gridstride
