// SPDX-License-Identifier: BSD-3-Clause
// A thread that rewrites one line of stderr every quarter of a second, from the second second of a stage on.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "stopwatch.hpp"

namespace gridstride {

Progress::Progress() {
    if (isatty(STDERR_FILENO) != 0) thread_ = std::jthread([this](const std::stop_token& ended) { show(ended); });
}

Progress::~Progress() {
    clear();
}

void Progress::count(std::size_t number, std::size_t of) {
    const std::scoped_lock lock(mutex_);
    count_ = fmt::format("{}/{} ", number, of);
}

void Progress::stage(std::string_view name, std::string_view stage) {
    const std::scoped_lock lock(mutex_);
    text_ = fmt::format("{}{}: {}", count_, name, stage);
}

void Progress::clear() {
    const std::scoped_lock lock(mutex_);
    text_.clear();
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
}

void Progress::show(const std::stop_token& ended) {
    std::string last;
    Stopwatch watch;
    std::unique_lock lock(mutex_);
    while (!ended.stop_requested()) {
        wake_.wait_for(lock, ended, std::chrono::milliseconds(250), [] { return false; });
        if (text_ != last) {
            last = text_;
            watch = {};
        }
        const double seconds = watch.seconds();
        if (text_.empty() || seconds < 1) continue;
        fmt::print(stderr, "\r\033[K{} {:.0f} s", text_, seconds);
        std::fflush(stderr);
        shown_ = true;
    }
}

}  // namespace gridstride
