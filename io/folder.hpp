// SPDX-License-Identifier: BSD-3-Clause
// Folders that outputs and reports go to.
#pragma once

#include <filesystem>
#include <string>

namespace gridstride {

/// Why no file can be made in the folder, or the folder itself not ("out is a file, not a folder"); empty where it can.
std::string unwritable(const std::filesystem::path& folder);

}  // namespace gridstride
