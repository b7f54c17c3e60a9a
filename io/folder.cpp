// SPDX-License-Identifier: BSD-3-Clause
// A folder is as good as the nearest one above it that exists.
#include "io/folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gridstride {

std::string unwritable(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::path there = std::filesystem::absolute(folder);
    while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
    if (!std::filesystem::is_directory(there, error)) return fmt::format("{} is a file, not a folder", there.string());
    if (access(there.c_str(), W_OK | X_OK) == 0) return {};
    return fmt::format("the folder {}: {}", there.string(), std::strerror(errno));
}

}  // namespace gridstride
