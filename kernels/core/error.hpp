// SPDX-License-Identifier: BSD-3-Clause
// The one exception type. A wrong answer is a verdict, not an Error.
#pragma once

#include <stdexcept>
#include <string>

namespace gridstride {

enum class Category {
    config,    // the job file or command line is wrong: exit 2
    input,     // a file is absent, unreadable or damaged, or its values do not convert: exit 3
    device,    // the GPU, its driver or a library on it failed: exit 4
    internal,  // a fault of gridstride itself: exit 4
};

/// What went wrong, where, and what would be right, in one message.
class Error : public std::runtime_error {
  public:
    /// where: the key of the job that the message is about ("params.axes", "inputs.x"), so that the loader can point
    /// at it; empty where there is none.
    Error(Category category, const std::string& message, std::string where = {})
        : std::runtime_error(message), category_(category), where_(std::move(where)) {}

    Category category() const { return category_; }
    const std::string& where() const { return where_; }

  private:
    Category category_;
    std::string where_;
};

}  // namespace gridstride
