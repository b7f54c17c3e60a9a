// SPDX-License-Identifier: BSD-3-Clause
// Headers of datasets: type, shape, layout, filters, sources, attributes, dimension scales.
#include <fmt/format.h>
#include <hdf5_hl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <set>

#include "io/hdf5_dataset.hpp"
#include "io/hdf5_filters.hpp"
#include "io/hdf5_types.hpp"

namespace gridstride::hdf5 {

namespace fs = std::filesystem;

namespace {

std::string cut(std::string text) {
    constexpr std::size_t most = 72;
    for (char& c : text)
        if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole UTF-8 characters
    return text.substr(0, end) + "...";
}

std::string fixed_string(const char* bytes, std::size_t size, H5T_str_t padding) {
    std::string text(bytes, size);
    if (const auto end = text.find('\0'); end != std::string::npos) text.resize(end);
    if (padding == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
    return text;
}

/// The strings that read(memory) gives, n of them, the first `most`.
template <class Read>
std::vector<std::string> strings_of(hid_t type, std::int64_t n, std::int64_t most, Read read) {
    std::vector<std::string> texts;
    const auto shown = static_cast<std::size_t>(std::min(n, most)), all = static_cast<std::size_t>(n);
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> strings(all, nullptr);
        if (read(strings.data()) < 0) return texts;
        for (std::size_t i = 0; i < all; ++i) {
            if (i < shown) texts.emplace_back(strings[i] != nullptr ? strings[i] : "");
            if (strings[i] != nullptr) H5free_memory(strings[i]);
        }
    } else {
        const std::size_t size = H5Tget_size(type);
        std::vector<char> bytes(size * all);
        if (read(bytes.data()) < 0) return texts;
        for (std::size_t i = 0; i < shown; ++i)
            texts.push_back(fixed_string(bytes.data() + i * size, size, H5Tget_strpad(type)));
    }
    return texts;
}

/// Numbers of an attribute, as text.
std::vector<std::string> numbers_of(hid_t attribute, hid_t type, const FileType& decoded, std::int64_t n,
                                    std::int64_t most) {
    std::vector<std::string> texts;
    const bool complex = decoded.kind == FileType::Kind::complex;
    const Handle memory = memory_type(type, decoded);
    with_stored_type(decoded, [&]<class T>() {
        std::vector<T> values(static_cast<std::size_t>(n) * (complex ? 2 : 1));
        if (H5Aread(attribute, memory, values.data()) < 0) return;
        const auto text = [&](std::size_t i) {
            if constexpr (std::is_integral_v<T>) {
                if (decoded.kind == FileType::Kind::boolean) return std::string(values[i] != 0 ? "true" : "false");
                return fmt::format("{}", +values[i]);
            } else if constexpr (std::is_same_v<T, double>) {
                return fmt::format("{}", values[i]);
            } else {
                return fmt::format("{}", static_cast<float>(values[i]));
            }
        };
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(n, most)); ++i)
            texts.push_back(complex ? fmt::format("({}, {})", text(2 * i), text(2 * i + 1)) : text(i));
    });
    return texts;
}

constexpr std::int64_t shown = 6;  // values of an attribute, strings of a dataset

/// "a", "[a, b]", "[a, ... 9 in all]".
std::string listed(const std::vector<std::string>& values, std::int64_t n) {
    if (n == 1) return cut(values.front());
    return cut(fmt::format("[{}{}]", fmt::join(values, ", "), n > shown ? fmt::format(", ... {} in all", n) : ""));
}

std::string attribute_text(hid_t attribute) {
    const Handle type = own(H5Aget_type(attribute), H5Tclose, "attribute");
    const Handle space = own(H5Aget_space(attribute), H5Sclose, "attribute");
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return "empty";
    const std::int64_t n = H5Sget_simple_extent_npoints(space);
    const FileType decoded = decode(type);
    std::vector<std::string> values;
    if (H5Tget_class(type) == H5T_STRING) {
        values = strings_of(type, n, shown, [&](void* memory) { return H5Aread(attribute, type, memory); });
    } else if (decoded.kind != FileType::Kind::unsupported) {
        values = numbers_of(attribute, type, decoded, n, shown);
    } else {
        return n == 1 ? decoded.text : fmt::format("{} x {}", n, decoded.text);
    }
    if (values.empty() && n > 0) return "unreadable";
    return listed(values, n);
}

Shape shape_of(const hsize_t* extents, int rank) {
    Shape shape;
    for (int i = 0; i < rank; ++i)
        shape.push_back(extents[i] == H5S_UNLIMITED ? -1 : static_cast<std::int64_t>(extents[i]));
    return shape;
}

void read_filters(hid_t created, Info& info) {
    const int n = H5Pget_nfilters(created);
    for (int i = 0; i < n; ++i) {
        unsigned flags = 0, values[16] = {}, config = 0;
        std::size_t count = std::size(values);
        char name[64] = {};
        const H5Z_filter_t id =
            H5Pget_filter2(created, static_cast<unsigned>(i), &flags, &count, values, std::size(name), name, &config);
        if (id < 0) continue;
        info.filters.push_back(filter_text(id, name, count > 0 ? std::optional(values[0]) : std::nullopt));
        if (!filter_available(id)) info.missing_filters.push_back(filter_remedy(id, name));
    }
}

std::string virtual_text(hid_t created, std::size_t index, ssize_t (*get)(hid_t, std::size_t, char*, std::size_t)) {
    const ssize_t size = get(created, index, nullptr, 0);
    if (size <= 0) return {};
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    get(created, index, text.data(), text.size());
    text.resize(static_cast<std::size_t>(size));
    return text;
}

/// Adds a file that values come from, once; one that is missing is told elsewhere.
void add_file(Info& info, const std::string& file) {
    std::error_code error;
    const std::string real = fs::canonical(file, error).string();
    if (!error && std::find(info.files.begin(), info.files.end(), real) == info.files.end()) info.files.push_back(real);
}

/// The files of a virtual dataset's pattern (%b is a block's number, %% a percent sign) beside `file`. Numbers may be
/// missing: HDF5 then has gaps.
std::vector<std::string> numbered_files(const std::string& file, const std::string& pattern) {
    std::string form;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool percent = pattern[i] == '%' && i + 1 < pattern.size();
        if (percent && pattern[i + 1] == 'b')
            form += "([0-9]+)";
        else if (std::string_view("^$\\.*+?()[]{}|").find(pattern[i]) != std::string_view::npos)
            form += fmt::format("\\{}", pattern[i]);
        else
            form += pattern[i];
        if (percent && (pattern[i + 1] == 'b' || pattern[i + 1] == '%')) ++i;
    }
    const std::regex expected(form.substr(form.rfind('/') + 1));
    std::vector<std::string> files;
    for (const fs::path& candidate : beside(file, pattern)) {
        std::error_code error;
        fs::directory_iterator entry(candidate.has_parent_path() ? candidate.parent_path() : fs::path("."), error);
        for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
            if (std::regex_match(entry->path().filename().string(), expected)) files.push_back(entry->path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Sources of a virtual dataset that are not there: HDF5 itself would read them as the fill value.
void read_sources(hid_t created, const Found& found, Info& info) {
    std::size_t n = 0;
    if (H5Pget_virtual_count(created, &n) < 0) return;
    std::set<std::pair<std::string, std::string>> seen;
    for (std::size_t i = 0; i < n; ++i) {
        const std::string name = virtual_text(created, i, H5Pget_virtual_filename);
        const std::string path = virtual_text(created, i, H5Pget_virtual_dsetname);
        if (!seen.emplace(name, path).second) continue;
        const std::string source = name == "." ? found.file : existing_beside(found.file, name);
        if (name.find("%b") != std::string::npos || path.find("%b") != std::string::npos) {
            // As many sources as there are: none is missing by definition.
            if (name.find("%b") == std::string::npos)
                add_file(info, source);
            else
                for (const std::string& file : numbered_files(found.file, name)) add_file(info, file);
            continue;
        }
        add_file(info, source);
        try {
            const Info part = describe(source, path);
            for (const std::string& file : part.files) add_file(info, file);
            for (const auto& text : part.missing_filters)
                info.missing_filters.push_back(place(source, path) + ": " + text);
            info.missing_sources.insert(info.missing_sources.end(), part.missing_sources.begin(),
                                        part.missing_sources.end());
        } catch (const Error& error) {
            info.missing_sources.push_back(error.what());
        }
    }
}

/// Raw files that hold a dataset's bytes: HDF5 itself would read what is missing of them as zeros.
void read_external(hid_t created, const Found& found, Info& info) {
    const int n = H5Pget_external_count(created);
    for (int i = 0; i < n; ++i) {
        char name[4096] = {};
        off_t offset = 0;
        hsize_t bytes = 0;
        if (H5Pget_external(created, static_cast<unsigned>(i), sizeof name - 1, name, &offset, &bytes) < 0) continue;
        const fs::path path = fs::path(name).is_absolute() ? fs::path(name) : fs::path(found.file).parent_path() / name;
        add_file(info, path.string());
        struct stat facts {};
        if (stat(path.c_str(), &facts) != 0)
            info.missing_sources.push_back(fmt::format("{}: no such file (raw data of this dataset)", path.string()));
        else if (bytes != H5F_UNLIMITED && static_cast<hsize_t>(facts.st_size - offset) < bytes)
            info.missing_sources.push_back(fmt::format("{}: truncated: has {} bytes, needs {}", path.string(),
                                                       facts.st_size, static_cast<hsize_t>(offset) + bytes));
    }
}

/// MATLAB stores an empty array as a vector of its dimensions. As for every MATLAB array, HDF5's order of the axes is
/// the reverse; the values' type is in an attribute.
void read_matlab_empty(hid_t dataset, Info& info) {
    const Handle attribute(H5Aopen(dataset, "MATLAB_empty", H5P_DEFAULT), H5Aclose);
    int empty = 0;
    if (H5Aread(attribute, H5T_NATIVE_INT, &empty) < 0 || empty == 0 || info.shape.size() != 1 ||
        info.type.kind != FileType::Kind::integer || info.shape[0] > H5S_MAX_RANK)
        return;
    std::vector<std::int64_t> extents(static_cast<std::size_t>(info.shape[0]));
    if (H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, extents.data()) < 0) return;
    if (std::find(extents.begin(), extents.end(), 0) == extents.end()) return;  // not empty after all
    info.matlab_empty = true;
    info.shape.assign(extents.rbegin(), extents.rend());
    const std::string word = text_attribute(dataset, "MATLAB_class");
    using Kind = FileType::Kind;
    if (word == "double") info.type = number_type(Kind::floating, "float64", 64, true);
    if (word == "single") info.type = number_type(Kind::floating, "float32", 32, true);
    if (word == "logical") info.type = number_type(Kind::boolean, "bool", 8, false);
    for (const int bits : {8, 16, 32, 64})
        for (const bool is_signed : {false, true})
            if (const auto text = fmt::format("{}int{}", is_signed ? "" : "u", bits); word == text)
                info.type = number_type(Kind::integer, text, bits, is_signed);
}

std::string leaf(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string name_of(hid_t object) {
    const ssize_t size = H5Iget_name(object, nullptr, 0);
    if (size <= 0) return {};
    std::string name(static_cast<std::size_t>(size) + 1, '\0');
    H5Iget_name(object, name.data(), name.size());
    name.resize(static_cast<std::size_t>(size));
    return name;
}

/// An attribute that is one real number.
std::optional<double> number_attribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    double value = 0;
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
        return {};
    return value;
}

/// A scale's stored numbers as its readers see them: netCDF's packing undone, since its attributes are not carried.
void unpack(hid_t scale, const FileType& type, std::vector<double>& values) {
    const double factor = number_attribute(scale, "scale_factor").value_or(1),
                 offset = number_attribute(scale, "add_offset").value_or(0),
                 wrap = type.kind == FileType::Kind::integer && text_attribute(scale, "_Unsigned") == "true"
                            ? std::ldexp(1.0, type.bits)
                            : 0;  // netCDF's classic format has no unsigned types
    for (double& value : values) value = (value < 0 ? value + wrap : value) * factor + offset;
}

/// One axis's scale from its dataset; values only where they are numbers, one each position.
Scale scale_from(hid_t scale, const Found& owner, std::int64_t extent) {
    Scale result;
    const std::string path = name_of(scale);
    result.name = leaf(path);
    result.units = text_attribute(scale, "units");
    result.long_name = text_attribute(scale, "long_name");
    result.calendar = text_attribute(scale, "calendar");
    result.bare = text_attribute(scale, "NAME").starts_with("This is a netCDF dimension but not a netCDF variable");
    if (result.bare) return result;
    result.unknown = "its values are no numbers that float64 holds";
    try {
        const Info info = describe(owner.file, path);
        if (info.shape != Shape{extent})
            result.unknown = fmt::format("it has shape {}, the axis length {}", to_text(info.shape), extent);
        if (info.shape != Shape{extent} || info.type.kind == FileType::Kind::complex) return result;
        std::vector<double> values(static_cast<std::size_t>(extent));
        read(info, {whole(info.shape), false, 1, {}},
             {{DType::float64, info.shape}, {1}, reinterpret_cast<std::byte*>(values.data())});
        unpack(scale, info.type, values);
        result.values = std::move(values);
        result.unknown.clear();
    } catch (const Error&) {  // a scale that cannot be read is no reason not to read the data
    }
    return result;
}

}  // namespace

std::string text_attribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    if (!attribute.valid()) return {};
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (!type.valid() || !space.valid() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
        return {};
    const auto texts = strings_of(type, 1, 1, [&](void* memory) { return H5Aread(attribute, type, memory); });
    return texts.empty() ? "" : texts.front();
}

std::string strings_text(hid_t dataset, const Info& info) {
    const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    if (!type.valid() || H5Tget_class(type) != H5T_STRING || info.null_space || !missing(info).empty()) return {};
    const std::int64_t n = std::min(count(info.shape), shown);
    if (n == 0) return {};
    std::vector<hsize_t> places;
    for (std::int64_t i = 0; i < n; ++i)
        for (const std::int64_t index : unravel(i, info.shape)) places.push_back(static_cast<hsize_t>(index));
    const auto extent = static_cast<hsize_t>(n);
    const Handle memory_space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    if (!info.shape.empty() && H5Sselect_elements(space, H5S_SELECT_SET, extent, places.data()) < 0) return {};
    auto texts = strings_of(
        type, n, n, [&](void* memory) { return H5Dread(dataset, type, memory_space, space, H5P_DEFAULT, memory); });
    for (std::string& text : texts) text = fmt::format("\"{}\"", text);
    return texts.empty() ? "" : listed(texts, count(info.shape));
}

std::vector<Attribute> attributes_of(hid_t object) {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
    };
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
    std::vector<Attribute> attributes;
    for (const std::string& name : names) {
        std::string text;
        try {
            const Handle attribute = own(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, name);
            text = attribute_text(attribute);
        } catch (const Error& error) {
            text = fmt::format("unreadable ({})", error.what());
        }
        attributes.push_back({name, text});
    }
    return attributes;
}

Info describe(const Found& found, const std::string& file, const std::string& path) {
    const std::string where = place(file, path);
    Info info;
    info.file = file;
    info.path = path.starts_with('/') ? path : "/" + path;
    const Handle type = own(H5Dget_type(found.object), H5Tclose, where);
    const Handle space = own(H5Dget_space(found.object), H5Sclose, where);
    const Handle created = own(H5Dget_create_plist(found.object), H5Pclose, where);
    info.type = decode(type);
    info.null_space = H5Sget_simple_extent_type(space) == H5S_NULL;
    hsize_t extents[H5S_MAX_RANK] = {}, most[H5S_MAX_RANK] = {};
    const int rank = H5Sget_simple_extent_dims(space, extents, most);
    if (rank < 0) check(-1, where);
    info.shape = shape_of(extents, rank);
    if (const Shape maximum = shape_of(most, rank); maximum != info.shape) info.maximum = maximum;
    const H5D_layout_t layout = H5Pget_layout(created);
    if (layout == H5D_CHUNKED) {
        hsize_t chunk[H5S_MAX_RANK] = {};
        check(std::min(H5Pget_chunk(created, rank, chunk), 0), where);
        info.chunks = shape_of(chunk, rank);
    }
    read_filters(created, info);
    for (const std::string& passed : found.passed) add_file(info, passed);
    if (layout == H5D_VIRTUAL) read_sources(created, found, info);
    read_external(created, found, info);
    info.attributes = attributes_of(found.object);
    info.units = text_attribute(found.object, "units");
    info.long_name = text_attribute(found.object, "long_name");
    info.calendar = text_attribute(found.object, "calendar");
    info.stored_bytes = H5Dget_storage_size(found.object);
    if (H5Aexists(found.object, "MATLAB_empty") > 0) read_matlab_empty(found.object, info);
    return info;
}

Info describe(const std::string& file, const std::string& path) {
    const Quiet quiet;
    return describe(find_dataset(file, path), file, path);
}

std::vector<Scale> scales(const std::string& file, const std::string& path) {
    const Quiet quiet;
    const Found found = find_dataset(file, path);
    const Info info = describe(found, file, path);
    std::vector<Scale> result(info.shape.size());
    if (info.matlab_empty) return result;
    const bool own_scale = H5DSis_scale(found.object) > 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto axis = static_cast<unsigned>(i);
        if (own_scale) {  // a coordinate variable is the scale of its own axis
            if (result.size() == 1) result[i] = scale_from(found.object, found, info.shape[i]);
            continue;
        }
        if (H5DSget_num_scales(found.object, axis) > 0) {
            struct Visit {
                const Found& found;
                std::int64_t extent;
                Scale scale;
            } visit{found, info.shape[i], {}};
            const auto first = [](hid_t, unsigned, hid_t scale, void* data) -> herr_t {
                auto& seen = *static_cast<Visit*>(data);
                seen.scale = scale_from(scale, seen.found, seen.extent);
                return 1;
            };
            H5DSiterate_scales(found.object, axis, nullptr, first, &visit);
            result[i] = visit.scale;
        }
        if (result[i].name.empty()) {
            char label[256] = {};
            if (H5DSget_label(found.object, axis, label, sizeof label) > 0) result[i].name = label;
            result[i].bare = !result[i].name.empty();
        }
    }
    return result;
}

}  // namespace gridstride::hdf5
