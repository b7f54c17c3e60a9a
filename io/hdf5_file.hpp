// SPDX-License-Identifier: BSD-3-Clause
// Opening files and objects in them, links followed by ourselves so that each failure can be told. Private to
// io/hdf5*.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_handle.hpp"

namespace gridstride::hdf5 {

/// Opens a file for reading. Errors (input): absent, with the nearest names; not a file; not HDF5, with what it looks
/// like; truncated; locked; not readable.
Handle open_file(const std::string& file);

/// An object and where it really lies.
struct Found {
    std::string file, path;  // after all links
    Handle handle;           // the file's
    Handle object;
    H5I_type_t type = H5I_BADID;
    std::vector<std::string> passed = {};  // files on the way, this one too
};

/// The object of that path, through soft and external links; these are relative to the folder of the file that has
/// them (as named, else after symbolic links), whatever the current directory. Errors (config): no such object, with
/// the names that are there; a link that dangles or goes in a circle; (input): as open_file.
Found find(const std::string& file, const std::string& path);
/// find, and it is a dataset; else Error (config) that says what it is.
Found find_dataset(const std::string& file, const std::string& path);

/// Candidates for a file that `file` refers to: beside it as named, beside it after symbolic links.
std::vector<std::filesystem::path> beside(const std::string& file, const std::string& name);
/// The first candidate that exists, else the first.
std::string existing_beside(const std::string& file, const std::string& name);

/// A link of a group: hard, soft or external, with its target as text.
struct Link {
    H5L_type_t type = H5L_TYPE_ERROR;
    std::string file, path;  // target of a soft (path) or external link
};
Link link_of(hid_t group, const std::string& name);
/// Names of a group's links: in the order of creation where the file keeps it, else by name.
std::vector<std::string> names_of(hid_t group);

/// What went wrong when an object did not open, from HDF5's error stack: (input) the file is damaged, (config) newer
/// than the library.
Error open_failure();

/// "FILE:/PATH", as messages name a dataset.
std::string place(const std::string& file, const std::string& path);

}  // namespace gridstride::hdf5
