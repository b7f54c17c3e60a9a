// SPDX-License-Identifier: BSD-3-Clause
// Datasets that are open: headers, and reading in pieces of bounded memory. Private to io/hdf5*.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_file.hpp"

namespace gridstride::hdf5 {

/// The header of an open dataset; file and path as the user named them.
Info describe(const Found& found, const std::string& file, const std::string& path);

/// The first strings of a dataset, short; empty where it has other values, none, or they cannot be read.
std::string strings_text(hid_t dataset, const Info& info);

std::vector<Attribute> attributes_of(hid_t object);
/// A text attribute in full; empty where there is none.
std::string text_attribute(hid_t object, const char* name);

/// A part of a selection: which indices of it, and which of the file.
struct Piece {
    std::vector<Range> within;  // of the selection's positions: begin, count
    std::vector<Range> file;    // of the dataset's indices: begin, count, step
};
/// Calls f for each piece of the selection. A piece holds whole chunks where there are any, so that each is read
/// once, and else about 16 MiB in row-major order. whole_last: the last axis is never cut.
void for_pieces(const Selection& selection, const std::optional<Shape>& chunks, std::size_t element_bytes,
                bool whole_last, const std::function<void(const Piece&)>& f);

/// Selects the ranges in a dataspace (rank 0: all).
void select(hid_t space, const std::vector<Range>& ranges);

/// An open dataset to read from, one selection after another.
class Source {
  public:
    /// Errors: as find_dataset; (input) a missing filter or source; (config) a type that is not read (any_type: none is
    /// refused, only raw() can read it), a null dataspace.
    explicit Source(const Info& info, bool any_type = false);
    Statistics read(const Reading& reading, const Slab& target) const;
    /// What is stored at the file's indices, not converted: numbers as memory_type() has them, else the file's own
    /// type.
    void raw(const std::vector<Range>& indices, void* target) const;
    hid_t type() const { return memory_; }

  private:
    Info info_;
    Found found_;
    Handle memory_, space_;
};

}  // namespace gridstride::hdf5
