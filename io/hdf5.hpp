// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files: what is in them, reading a selection of a dataset, writing one whole file at a time. A thin layer over
// the C API (1.10 or later); no HDF5 type appears here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.hpp"

namespace gridstride::hdf5 {

/// How a dataset's numbers are stored, decoded.
struct FileType {
    enum class Kind { integer, floating, complex, boolean, unsupported } kind = Kind::unsupported;
    std::string text;    // "float32", ">i2", "complex128 {r,i}", "compound {a: int32, ...}", "string (variable)", ...
    std::string reason;  // of unsupported: why, and what would help
    int bits = 0;        // 8 .. 64 of integers; 16, 32, 64 of floats (and of complex parts)
    bool is_signed = true;
    bool brain = false;  // bfloat16
    bool big_endian = false;
};

struct Attribute {
    std::string name, text;  // decoded, short
};

/// One axis's dimension scale as the file has it.
struct Scale {
    std::string name;            // of the scale's dataset or the axis label; empty: none
    std::vector<double> values;  // empty: none or not numeric
    std::string units, long_name;
};

/// What the header of a dataset says.
struct Info {
    std::string file, path;
    FileType type;
    Shape shape;
    bool null_space = false;    // H5S_NULL: no elements at all
    bool matlab_empty = false;  // MATLAB_empty = 1: the payload is the dimensions of an empty array
    std::optional<Shape> chunks, maximum;
    std::vector<std::string> filters;  // "gzip 4", "shuffle", "lzf (32000)"
    std::vector<std::string>
        missing_filters;  // not available in this build: "lz4 (filter 32004): apt-get install hdf5-filter-plugin"
    std::vector<std::string> missing_sources;  // of a virtual dataset
    std::string units, long_name;
    std::vector<Attribute> attributes;
    std::uint64_t stored_bytes = 0;
};

/// Reads the header. Errors (config): no such file or dataset (with the nearest names, the link that dangles), not a
/// dataset; (input): not an HDF5 file, truncated ("has X, needs Y bytes"), locked, not readable.
Info describe(const std::string& file, const std::string& path);
/// Scales of each axis, read when needed.
std::vector<Scale> scales(const std::string& file, const std::string& path);

/// The dtype the values are in memory before any conversion asked for. integers: the operation takes int32 and int64
/// (else integers become floats). pair: the last axis is (re, im). Error (config): a type that is not converted
/// exactly, by name, with what would help.
DType natural_dtype(const Info& info, bool integers, bool pair);

struct Reading {
    Selection select;  // of the file's axes
    bool pair = false;
    double scale = 1;
    std::optional<double> nan;  // replaces NaN (either part of a complex value becomes nan + 0i)
};

/// What was seen on the way.
struct Statistics {
    std::int64_t elements = 0, nan = 0, replaced = 0;
    double min = 0, max = 0;     // over finite and infinite values; of complex: of the modulus; NaN where there is none
    std::uint64_t checksum = 0;  // of the values as read, before scale and nan (FNV-1a over 64-bit words)
};

/// Reads the selection into target (contiguous or not), converting exactly or by the rules of core/convert.hpp.
/// Errors (input): a value that does not convert, with its index in the dataset; a missing filter or source, by name;
/// a damaged file.
Statistics read(const Info& info, const Reading& reading, const Slab& target);

/// The same statistics of a tensor already in memory.
Statistics statistics(const Slab& slab);

/// One node of a file's tree, for `inspect`.
struct Node {
    std::string path;
    enum class Kind { group, dataset, type, link } kind = Kind::group;
    std::string target;  // of a soft or external link: where to, and whether it resolves
    Info info;           // of a dataset
    std::vector<Attribute> attributes;
};
/// The tree below path, in file order; a broken part is a node that says so.
std::vector<Node> tree(const std::string& file, const std::string& path = "/");

/// How a dataset is laid out.
struct Layout {
    std::optional<Shape> chunks;  // clipped to the shape; none: contiguous, or a default where it is compressed
    bool gzip = false, shuffle = false;
    int level = 4;
    bool sparse = false;  // only what is written is allocated; the rest reads as 0
};

/// Writes one output file, whole: a temporary file beside it, synced and renamed by commit(); without commit() nothing
/// is left. Errors (input): cannot write, disk full, a file that gridstride did not write is in the way.
class Writer {
  public:
    explicit Writer(std::string path);
    ~Writer();
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;

    /// Creates a dataset and its groups. Notes: what of the layout was ignored (scalar, empty), one line each.
    std::vector<std::string> create(const std::string& dataset, const Spec& spec, const Layout& layout);
    /// Writes slab to the selection of a created dataset.
    void write(const std::string& dataset, const Selection& selection, const Slab& slab);
    /// Copies a dataset of the same shape from another file, converting to the created dataset's dtype, in pieces;
    /// channel-diagonal blocks too.
    void copy_from(const std::string& dataset, const Info& source);
    /// Attaches a dimension scale to each axis: axes[i].name (distinct within the group, made so), values or 0..n-1.
    void scale(const std::string& dataset, const std::vector<Scale>& axes, const std::vector<std::int64_t>& extents);
    void attribute(const std::string& object, const std::string& name, const std::string& text);
    void attribute(const std::string& object, const std::string& name, double value);
    /// A text of any length on the root: an attribute where it fits 60 KiB, else a dataset of that name.
    void text(const std::string& name, const std::string& value);
    void commit();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// May a file of this name be written: absent, or one of ours. Error (config): why not.
void check_writable(const std::string& path);

/// Facts for `doctor`: library version, thread-safe, filters available, plugin folder, locking.
struct Library {
    std::string version, plugin_path, locking;
    std::vector<std::string> filters;
};
Library library();

}  // namespace gridstride::hdf5
