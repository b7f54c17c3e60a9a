// SPDX-License-Identifier: BSD-3-Clause
// Compression filters: names, what is there, and how to get what is not. Private to io/hdf5*.cpp.
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>
#include <vector>

namespace gridstride::hdf5 {

/// "gzip 4", "shuffle", "lzf (32000)". given: the name stored in the file.
std::string filter_text(H5Z_filter_t id, const std::string& given, std::optional<unsigned> value);
/// Can this library undo it.
bool filter_available(H5Z_filter_t id);
/// "lz4 (filter 32004): apt-get install hdf5-filter-plugin".
std::string filter_remedy(H5Z_filter_t id, const std::string& given);
/// Of all filters known by name: "gzip", "lz4: apt-get install ...".
std::vector<std::string> filter_list();

}  // namespace gridstride::hdf5
