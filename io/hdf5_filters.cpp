// SPDX-License-Identifier: BSD-3-Clause
// Compression filters: names and remedies. Numbers are those of The HDF Group's registry.
#include "io/hdf5_filters.hpp"

#include <fmt/format.h>

#include <string_view>

namespace gridstride::hdf5 {

namespace {

constexpr std::string_view plugins =
    "set HDF5_PLUGIN_PATH to a folder with its plugin (the Python package hdf5plugin has one), or save the data again "
    "with gzip";
constexpr std::string_view rebuild = "this HDF5 library was built without it; save the data again with gzip";

struct Filter {
    H5Z_filter_t id;
    std::string_view name, remedy;
};
constexpr Filter known[] = {
    {H5Z_FILTER_DEFLATE, "gzip", rebuild},
    {H5Z_FILTER_SHUFFLE, "shuffle", rebuild},
    {H5Z_FILTER_FLETCHER32, "fletcher32", rebuild},
    {H5Z_FILTER_SZIP, "szip", rebuild},
    {H5Z_FILTER_NBIT, "nbit", rebuild},
    {H5Z_FILTER_SCALEOFFSET, "scaleoffset", rebuild},
    {305, "lzo", "only PyTables has it: save the data again with gzip"},
    {307, "bzip2", "apt-get install hdf5-filter-plugin"},
    {32000, "lzf", "only h5py has it: save the data again with gzip (h5repack -f GZIP=4 where lzf is installed)"},
    {32001, "blosc", "apt-get install hdf5-filter-plugin-blosc-serial"},
    {32004, "lz4", "apt-get install hdf5-filter-plugin"},
    {32008, "bitshuffle", plugins},
    {32013, "zfp", "apt-get install hdf5-filter-plugin-zfp-serial"},
    {32015, "zstd", plugins},
    {32017, "sz", plugins},
    {32019, "fpzip", plugins},
    {32026, "blosc2", plugins},
};

const Filter* known_filter(H5Z_filter_t id) {
    for (const Filter& filter : known)
        if (filter.id == id) return &filter;
    return nullptr;
}

std::string name_of(H5Z_filter_t id, const std::string& given) {
    const Filter* filter = known_filter(id);
    return filter != nullptr ? std::string(filter->name) : given.empty() ? "unknown" : given;
}

}  // namespace

std::string filter_text(H5Z_filter_t id, const std::string& given, std::optional<unsigned> value) {
    if (id == H5Z_FILTER_DEFLATE && value) return fmt::format("gzip {}", *value);
    return id < H5Z_FILTER_RESERVED ? name_of(id, given) : fmt::format("{} ({})", name_of(id, given), id);
}

bool filter_available(H5Z_filter_t id) {
    unsigned config = 0;
    return H5Zfilter_avail(id) > 0 && H5Zget_filter_info(id, &config) >= 0 &&
           (config & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
}

std::string filter_remedy(H5Z_filter_t id, const std::string& given) {
    const Filter* filter = known_filter(id);
    return fmt::format("{} (filter {}): {}", name_of(id, given), id, filter != nullptr ? filter->remedy : plugins);
}

std::vector<std::string> filter_list() {
    std::vector<std::string> list;
    for (const Filter& filter : known)
        list.push_back(filter_available(filter.id) ? std::string(filter.name) : filter_remedy(filter.id, ""));
    return list;
}

}  // namespace gridstride::hdf5
