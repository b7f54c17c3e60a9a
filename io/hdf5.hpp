// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files: what is in them, reading a selection of a dataset, writing one whole file at a time. A thin layer over
// the C API (1.10 or later); no HDF5 type appears here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
    std::vector<double> values;  // unpacked (scale_factor, add_offset); empty: none, or unknown
    std::string units, long_name;
    bool bare = false;       // a name and a length alone, never values (a netCDF dimension, an axis label)
    std::string calendar{};  // of dates
    std::string unknown{};   // why a scale that has values gives none: "it has shape (5,), the axis length 3"
};

/// What the header of a dataset says.
struct Info {
    std::string file, path;
    FileType type;
    Shape shape;
    bool null_space = false;    // H5S_NULL: no elements at all
    bool matlab_empty = false;  // MATLAB_empty = 1: the payload is the dimensions of an empty array; shape then has
                                // them as HDF5 has every MATLAB array's, reversed, and type is that of MATLAB_class
    std::optional<Shape> chunks, maximum;  // maximum: where it differs from the shape; -1 is unlimited
    std::vector<std::string> filters;      // "gzip 4", "shuffle", "lzf (32000)"
    std::vector<std::string>
        missing_filters;  // not available in this build: "lz4 (filter 32004): apt-get install hdf5-filter-plugin"
    std::vector<std::string> missing_sources;  // of a virtual dataset, or of one whose bytes lie in raw files
    std::string units, long_name, calendar;
    std::vector<Attribute> attributes;
    std::uint64_t stored_bytes = 0;
    std::vector<std::string> files;  // all that the values come from, absolute, without symbolic links, each once:
                                     // those on the way through external links, the one that has the dataset, sources
                                     // of a virtual one, raw files. Those that are missing are not among them
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
    double scale = 1;                // multiplies in float64, rounded once; for integers the product must be whole
    std::optional<double> nan = {};  // replaces NaN (a NaN in either part makes nan + 0i); not multiplied by scale
};

/// What was seen on the way.
struct Statistics {
    std::int64_t elements = 0, nan = 0, replaced = 0;
    double min = 0, max = 0;     // over finite and infinite values; of complex: of the modulus; NaN where there is none
    std::uint64_t checksum = 0;  // of the values as read, before scale and nan, and their places: the same for every
                                 // layout, byte order and type that holds them (integers apart from floats)
};

/// A filter or a source that the values need and that is not there, with its remedy; empty: nothing is missing.
std::string missing(const Info& info);

/// Reads the selection into target (contiguous or not, shape_of(select) without the pair axis), converting exactly or
/// by the rules of core/convert.hpp. The file's own kind and width is read, in pieces of 16 MiB or of one chunk, and
/// each chunk once. Errors (input): a value that does not convert, with its index in the dataset (an integer beyond
/// 2^53 does not become a float); a missing filter or source, by name; a damaged file; (config) a type or null
/// dataspace that is not read, complex values for a real target, a selection that leaves the shape or cuts the pair.
Statistics read(const Info& info, const Reading& reading, const Slab& target);

/// A tensor already in memory, as read() makes it of a dataset that holds it: the same rules and errors. what: names
/// it.
Tensor as_read(Tensor tensor, double scale, const std::optional<double>& nan, DType target, std::string_view what);

/// The same statistics of a tensor already in memory.
Statistics statistics(const Slab& slab);

/// One node of a file's tree, for `inspect`.
struct Node {
    std::string path;
    enum class Kind { group, dataset, type, link } kind = Kind::group;
    std::string target;  // of a soft or external link: where to; of a group met before: its first path; empty: the
                         // link is hard, but what it leads to cannot be opened
    Info info;           // of a dataset
    std::string text;    // of a dataset of strings: the first of them, quoted, short
    std::vector<Attribute> attributes;
    std::string problem;  // why it cannot be followed, opened or read; empty: it can
};
/// The tree below path, in file order; a broken part is a node that says so.
std::vector<Node> tree(const std::string& file, const std::string& path = "/");

/// How a dataset is laid out.
struct Layout {
    std::optional<Shape> chunks;  // clipped to the shape; none: contiguous, or a default where it is compressed
    bool gzip = false, shuffle = false;
    int level = 4;
    bool sparse = false;  // chunked; only the chunks written to are allocated, the rest reads as 0
};

/// The chunk shape of a dataset laid out so; none: contiguous, as scalar and empty ones are. where: of the dataset, for
/// the message. Error (config): a layout that HDF5 does not have; its where() is the word of `store:` that is wrong.
std::optional<Shape> chunks_of(const std::string& where, const Spec& spec, const Layout& layout);

/// Writes one output file, whole: a temporary file beside it, synced and renamed by commit(); without commit() nothing
/// is left. Errors (input): cannot write, disk full, a file that gridstride did not write is in the way.
class Writer {
  public:
    explicit Writer(std::string path);
    ~Writer();
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;

    /// Creates a dataset and its groups. Notes: what of the layout was ignored (scalar, empty), one line each. Create
    /// all datasets before scale() names their axes. Error (config): as chunks_of.
    std::vector<std::string> create(const std::string& dataset, const Spec& spec, const Layout& layout);
    /// Writes slab (contiguous or not, the dataset's dtype) to the selection of a created dataset.
    void write(const std::string& dataset, const Selection& selection, const Slab& slab);
    /// Copies a dataset of the same shape from another file, converting to the created dataset's dtype as read() does,
    /// in pieces; channel-diagonal blocks too. Pieces that are zero are not stored where the layout is chunked.
    void copy_from(const std::string& dataset, const Info& source);
    /// Attaches a dimension scale to each axis: axes[i].name, made distinct (row, row_2; `_axis` is added to a name
    /// that another object of the group has; unnamed: axis_0), values or 0..n-1. Datasets of a group share a scale
    /// where name, values, units, long_name and calendar agree. A bare axis, and one longer than 2^20 without values,
    /// gets netCDF's dimension without values, which readers count 0..n-1. extents: the dataset's shape.
    void scale(const std::string& dataset, const std::vector<Scale>& axes, const std::vector<std::int64_t>& extents);
    /// object: "/" or a dataset. An attribute of that name is replaced.
    void attribute(const std::string& object, const std::string& name, const std::string& text);
    void attribute(const std::string& object, const std::string& name, double value);
    /// A text of any length on the root: an attribute where it fits 60 KiB, else a dataset of that name (NAME_1, ...
    /// where an object has it), which the attribute NAME_dataset names. Create all other datasets before.
    void text(const std::string& name, const std::string& value);
    /// Writes everything out and gives the file its name. Nothing else may follow.
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
