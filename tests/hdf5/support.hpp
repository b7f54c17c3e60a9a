// SPDX-License-Identifier: BSD-3-Clause
// For the tests of HDF5 files: folders that vanish, datasets written by the C API alone, errors with their words.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace gridstride::hdf5::testing {

/// A folder of its own, removed with all in it.
class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gridstride-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            names.push_back(entry.path().filename().string());
        return names;
    }

  private:
    std::filesystem::path path_;
};

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// A file written by the C API, in the oldest format.
class Raw {
  public:
    explicit Raw(const std::string& path) : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
    ~Raw() { H5Fclose(file_); }
    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;
    hid_t id() const { return file_; }

    /// A dataset of type `stored`, its data given in the type `given`; without data nothing is written.
    void dataset(const std::string& path, hid_t stored, const Shape& shape, hid_t given, const void* data,
                 hid_t created = H5P_DEFAULT) const {
        const std::vector<hsize_t> extents(shape.begin(), shape.end());
        const hid_t space = shape.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(static_cast<int>(shape.size()), extents.data(), nullptr);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        const hid_t dataset = H5Dcreate2(file_, path.c_str(), stored, space, links, created, H5P_DEFAULT);
        ASSERT_GE(dataset, 0) << path;
        if (data != nullptr) {
            ASSERT_GE(H5Dwrite(dataset, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0) << path;
        }
        H5Dclose(dataset);
        H5Pclose(links);
        H5Sclose(space);
    }
    void text(const std::string& object, const std::string& name, const std::string& value) const {
        const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
        H5Tset_size(type, value.size() + 1);
        const hid_t attribute =
            H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, type, value.c_str());
        H5Aclose(attribute);
        H5Sclose(space);
        H5Tclose(type);
    }
    void number(const std::string& object, const std::string& name, int value) const {
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t attribute = H5Acreate_by_name(file_, object.c_str(), name.c_str(), H5T_STD_I32LE, space,
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, H5T_NATIVE_INT, &value);
        H5Aclose(attribute);
        H5Sclose(space);
    }

  private:
    hid_t file_;
};

/// A property list of chunks.
inline hid_t chunked(const std::vector<hsize_t>& chunks) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, static_cast<int>(chunks.size()), chunks.data());
    return list;
}

inline hid_t compound(hid_t part, const char* first, const char* second) {
    const std::size_t size = H5Tget_size(part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
    H5Tinsert(type, first, 0, part);
    H5Tinsert(type, second, size, part);
    return type;
}

inline hid_t custom_float(std::size_t bits, std::size_t exponent_bits, std::size_t bias) {
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    const std::size_t mantissa = bits - 1 - exponent_bits;
    H5Tset_fields(type, bits - 1, mantissa, exponent_bits, 0, mantissa);
    H5Tset_size(type, bits / 8);
    H5Tset_ebias(type, bias);
    return type;
}
inline hid_t float16_type() {
    return custom_float(16, 5, 15);
}
inline hid_t bfloat16_type() {
    return custom_float(16, 8, 127);
}

/// The values of a whole dataset as `T`'s dtype.
template <class T>
std::vector<T> values(const std::string& file, const std::string& path, Reading reading = {},
                      Statistics* seen = nullptr) {
    const Info info = describe(file, path);
    if (reading.select.axes.empty()) reading.select = whole(info.shape);
    Shape shape = shape_of(reading.select);
    if (reading.pair) shape.pop_back();
    Tensor tensor(Spec{dtype_of<T>, shape});
    poison(tensor.slab());
    const Statistics statistics = read(info, reading, tensor.slab());
    if (seen != nullptr) *seen = statistics;
    return {tensor.as<T>(), tensor.as<T>() + count(shape)};
}

/// Runs f, which must throw an Error of that category whose message is one line and has all the words.
template <class F>
void expect_error(Category category, const std::vector<std::string>& words, F f) {
    try {
        f();
        ADD_FAILURE() << "no error; expected one about " << words.front();
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.category(), category) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
    }
}

}  // namespace gridstride::hdf5::testing
