// SPDX-License-Identifier: BSD-3-Clause
// Reading selections: in pieces that hold whole chunks, in the file's own kind and width, converted by ourselves.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "io/hdf5_dataset.hpp"
#include "io/hdf5_types.hpp"
#include "io/hdf5_values.hpp"

namespace gridstride::hdf5 {

namespace {

using Kind = FileType::Kind;

constexpr std::size_t piece_bytes = std::size_t{16} << 20;

/// One axis of a selection cut at multiples of `block` file indices: {first position, positions} each.
std::vector<std::pair<std::int64_t, std::int64_t>> cuts(const Range& range, std::int64_t block) {
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;
    for (std::int64_t i = 0; i < range.count;) {
        const std::int64_t at = range.begin + i * range.step, room = block - at % block;  // indices to the block's end
        const std::int64_t n = std::min(range.count - i, (room - 1) / range.step + 1);
        parts.emplace_back(i, n);
        i += n;
    }
    return parts;
}

std::string unreadable(const Info& info) {
    const std::string where = place(info.file, info.path);
    if (info.null_space)
        return where +
               ": has a null dataspace: no elements at all, not even an empty array; leave the input out, or "
               "save numbers";
    if (info.type.kind == Kind::unsupported) return fmt::format("{}: {}: {}", where, info.type.text, info.type.reason);
    return {};
}

/// Runs of elements whose flat positions in the selection follow each other: calls f(first in the piece, first in the
/// selection, length).
template <class F>
void for_runs(const Shape& selection, const std::vector<Range>& within, F f) {
    std::size_t axis = within.size();  // axes from here on are whole
    std::int64_t length = 1;
    while (axis > 0 && within[axis - 1].count == selection[axis - 1]) length *= selection[--axis];
    if (axis > 0) length *= within[--axis].count;
    const Shape strides = row_major_strides(selection);
    std::vector<std::int64_t> at(axis, 0);
    for (std::int64_t done = 0;; done += length) {
        std::int64_t first = axis < within.size() ? within[axis].begin * strides[axis] : 0;
        for (std::size_t i = 0; i < axis; ++i) first += (within[i].begin + at[i]) * strides[i];
        f(done, first, length);
        std::size_t i = axis;
        while (i > 0 && ++at[i - 1] == within[i - 1].count) at[--i] = 0;
        if (i == 0) return;
    }
}

}  // namespace

void for_pieces(const Selection& selection, const std::optional<Shape>& chunks, std::size_t element_bytes,
                bool whole_last, const std::function<void(const Piece&)>& f) {
    constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();
    const std::vector<Range>& axes = selection.axes;
    const std::size_t rank = axes.size();
    Shape block(rank);  // file indices
    double bytes = static_cast<double>(element_bytes);
    for (std::size_t i = 0; i < rank; ++i) {
        if (axes[i].count == 0) return;
        const std::int64_t chunk = chunks ? (*chunks)[i] : axes[i].step;
        const bool uncut = whole_last && i + 1 == rank;
        block[i] = uncut ? everything : chunk;
        const std::int64_t positions = uncut ? axes[i].count : (chunk - 1) / axes[i].step + 1;
        bytes *= static_cast<double>(std::min(axes[i].count, positions));
    }
    for (std::size_t i = rank; i-- > 0;) {  // from the last axis as many chunks as fit
        if (block[i] == everything) continue;
        const auto fit = static_cast<std::int64_t>(std::max(1.0, static_cast<double>(piece_bytes) / bytes));
        const std::int64_t span = (axes[i].count - 1) * axes[i].step + 1, needed = (span - 1) / block[i] + 2;
        if (fit >= needed) {
            block[i] = everything;
            bytes *= static_cast<double>(needed - 1);
        } else {
            block[i] *= fit;
            break;
        }
    }
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> parts;
    for (std::size_t i = 0; i < rank; ++i) parts.push_back(cuts(axes[i], block[i]));
    std::vector<std::size_t> at(rank, 0);
    Piece piece{std::vector<Range>(rank), std::vector<Range>(rank)};
    for (;;) {
        for (std::size_t i = 0; i < rank; ++i) {
            const auto [begin, count] = parts[i][at[i]];
            piece.within[i] = {begin, count, 1, axes[i].dropped};
            piece.file[i] = {axes[i].begin + begin * axes[i].step, count, axes[i].step, axes[i].dropped};
        }
        f(piece);
        std::size_t i = rank;
        while (i > 0 && ++at[i - 1] == parts[i - 1].size()) at[--i] = 0;
        if (i == 0) return;
    }
}

void select(hid_t space, const std::vector<Range>& ranges) {
    if (ranges.empty()) return;
    std::vector<hsize_t> begin, step, count;
    for (const Range& range : ranges) {
        begin.push_back(static_cast<hsize_t>(range.begin));
        step.push_back(static_cast<hsize_t>(range.step));
        count.push_back(static_cast<hsize_t>(range.count));
    }
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), step.data(), count.data(), nullptr),
          "selection of a dataset");
}

std::string missing(const Info& info) {
    const std::string where = place(info.file, info.path);
    if (info.matlab_empty || count(info.shape) == 0) return {};
    if (!info.missing_sources.empty())
        return fmt::format("{}: its data lie in other files, and {} of them cannot be read: {}", where,
                           info.missing_sources.size(), info.missing_sources.front());
    if (!info.missing_filters.empty() && info.stored_bytes > 0)
        return fmt::format("{}: compressed with a filter that is not installed: {}", where,
                           fmt::join(info.missing_filters, "; "));
    return {};
}

DType natural_dtype(const Info& info, bool integers, bool pair) {
    const auto refuse = [&](const std::string& text) {
        return Error(Category::config, fmt::format("{}: {}", place(info.file, info.path), text));
    };
    if (const std::string text = unreadable(info); !text.empty()) throw Error(Category::config, text);
    const FileType& type = info.type;
    if (pair && type.kind == Kind::complex)
        throw refuse(fmt::format("is complex as it is ({}): `complex: pair` is for real numbers", type.text));
    if (pair && (info.shape.empty() || info.shape.back() != 2))
        throw refuse(
            fmt::format("shape {}: `complex: pair` needs a last axis of 2 (real, imaginary)", to_text(info.shape)));
    DType dtype = DType::float64;
    switch (type.kind) {
        case Kind::boolean:
        case Kind::integer: {
            const bool narrow = type.bits < 32;
            if (integers && !pair) return narrow || (type.bits == 32 && type.is_signed) ? DType::int32 : DType::int64;
            dtype = narrow ? DType::float32 : DType::float64;
            break;
        }
        case Kind::complex:
            return type.bits == 64 ? DType::complex128 : DType::complex64;
        default:
            dtype = type.bits == 64   ? DType::float64
                    : type.bits == 32 ? DType::float32
                    : type.brain      ? DType::bfloat16
                                      : DType::float16;
    }
    return pair ? complex_of(dtype) : dtype;
}

Source::Source(const Info& info, bool any_type) : info_(info) {
    const std::string where = place(info.file, info.path);
    if (const std::string text = unreadable(info); !text.empty() && (!any_type || info.null_space))
        throw Error(Category::config, text);
    if (info.matlab_empty || std::find(info.shape.begin(), info.shape.end(), 0) != info.shape.end()) return;
    if (const std::string text = missing(info); !text.empty()) throw Error(Category::input, text);
    found_ = find_dataset(info.file, info.path);
    const Handle created = own(H5Dget_create_plist(found_.object), H5Pclose, where);
    if (H5Pget_external_count(created) > 0) {  // raw files lie beside the file, not in the current directory
        const Handle access = own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, where);
        const std::string folder = std::filesystem::absolute(found_.file).parent_path().string();
        check(H5Pset_efile_prefix(access, folder.c_str()), where);
        found_.object = Handle();  // a dataset has one prefix at a time
        found_.object = own(H5Dopen2(found_.handle, found_.path.c_str(), access), H5Dclose, where);
    }
    const Handle type = own(H5Dget_type(found_.object), H5Tclose, where);
    const FileType now = decode(type);
    space_ = own(H5Dget_space(found_.object), H5Sclose, where);
    hsize_t extents[H5S_MAX_RANK] = {};
    const int rank = H5Sget_simple_extent_dims(space_, extents, nullptr);
    if (now.text != info.type.text || rank != static_cast<int>(info.shape.size()) ||
        !std::equal(info.shape.begin(), info.shape.end(), extents,
                    [](std::int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; }))
        throw Error(Category::input, fmt::format("{}: was {} {} and has changed since it was looked at", where,
                                                 info.type.text, to_text(info.shape)));
    const H5D_layout_t layout = H5Pget_layout(created);
    const double stored = static_cast<double>(H5Dget_storage_size(found_.object)),
                 needed = static_cast<double>(H5Tget_size(type)) * static_cast<double>(count(info.shape));
    if (stored < needed && (layout == H5D_COMPACT || (layout == H5D_CONTIGUOUS && stored > 0)))  // HDF5 would crash
        throw Error(Category::input, fmt::format("{}: damaged: it stores {} bytes, its shape {} needs {}", where,
                                                 stored, to_text(info.shape), needed));
    memory_ = now.kind == Kind::unsupported ? own(H5Tcopy(type), H5Tclose, where) : memory_type(type, now);
}

void Source::raw(const std::vector<Range>& indices, void* target) const {
    const std::string where = place(info_.file, info_.path);
    std::vector<hsize_t> extents;
    for (const Range& range : indices) extents.push_back(static_cast<hsize_t>(range.count));
    const Handle file_space = own(H5Scopy(space_), H5Sclose, where);
    select(file_space, indices);
    const Handle memory_space =
        extents.empty()
            ? own(H5Screate(H5S_SCALAR), H5Sclose, where)
            : own(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, where);
    if (H5Dread(found_.object, memory_, memory_space, file_space, H5P_DEFAULT, target) < 0)
        throw Error(Category::input,
                    fmt::format("{}: cannot be read, the file may be damaged: {}", where, error_text()));
}

Statistics Source::read(const Reading& reading, const Slab& target) const {
    const std::string where = place(info_.file, info_.path);
    const std::vector<Range>& axes = reading.select.axes;
    const bool stored_complex = info_.type.kind == Kind::complex;
    Rule rule{stored_complex || reading.pair, info_.type.kind == Kind::boolean, reading.scale, reading.nan,
              target.spec.dtype};
    const DType natural = natural_dtype(info_, is_integer(rule.target), reading.pair);  // refuses what does not fit
    if (is_complex(natural) && !is_complex(rule.target))
        throw Error(Category::config, fmt::format("{}: complex values do not convert to {}", where, name(rule.target)));
    if (axes.size() != info_.shape.size())
        throw Error(Category::config,
                    fmt::format("{}: a selection of {} axes for shape {}", where, axes.size(), to_text(info_.shape)));
    Shape selected, elements;  // of the file's axes; without the pair axis
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Range& range = axes[i];
        if (range.step < 1 || range.begin < 0 || range.count < 0 ||
            (range.count > 0 && (range.count - 1) > (info_.shape[i] - 1 - range.begin) / range.step) ||
            (range.count > 0 && range.begin >= info_.shape[i]))
            throw Error(Category::config,
                        fmt::format("{}: axis {}: the selection {}:{}:{} leaves the shape {}", where, i, range.begin,
                                    range.begin + range.count * range.step, range.step, to_text(info_.shape)));
        selected.push_back(range.count);
    }
    Selection result = reading.select;  // axes of the target
    elements = selected;
    if (reading.pair) {
        if (axes.back().begin != 0 || axes.back().count != 2 || axes.back().dropped)
            throw Error(Category::config,
                        fmt::format("{}: `complex: pair` makes one number of the last axis: it cannot be selected from",
                                    where));
        result.axes.pop_back();
        elements.pop_back();
    }
    if (shape_of(result) != target.spec.shape)
        throw Error(Category::internal,
                    fmt::format("{}: {} read into {}", where, to_text(shape_of(result)), to_text(target.spec.shape)));
    Statistics seen;
    seen.min = seen.max = std::numeric_limits<double>::quiet_NaN();
    if (count(elements) == 0) return seen;

    with_stored_type(info_.type, [&]<class T>() {
        const std::int64_t parts = stored_complex ? 2 : 1;  // stored numbers of one place of the file
        std::unique_ptr<T[]> stored;
        std::unique_ptr<std::byte[]> converted;
        std::int64_t stored_room = 0, converted_room = 0;
        for_pieces(reading.select, info_.chunks, sizeof(T) * static_cast<std::size_t>(parts), reading.pair,
                   [&](const Piece& piece) {
                       std::int64_t places = 1;
                       for (const Range& range : piece.file) places *= range.count;
                       if (places > stored_room) {
                           stored.reset(new T[static_cast<std::size_t>(places * parts)]);
                           stored_room = places;
                       }
                       raw(piece.file, stored.get());
                       const std::int64_t n = reading.pair ? places / 2 : places;
                       Piece of_elements = piece;
                       if (reading.pair) of_elements.within.pop_back();
                       for_runs(elements, of_elements.within,
                                [&](std::int64_t begin, std::int64_t first, std::int64_t length) {
                                    observe(stored.get() + begin * (rule.complex ? 2 : 1), length, rule.complex, first,
                                            seen);
                                });

                       Selection in_target{of_elements.within};
                       std::erase_if(in_target.axes, [](const Range& range) { return range.dropped; });
                       const Slab to = part(target, in_target);
                       const bool direct = to.contiguous();
                       const auto bytes = n * static_cast<std::int64_t>(size_of(rule.target));
                       if (!direct && bytes > converted_room) {
                           converted.reset(new std::byte[static_cast<std::size_t>(bytes)]);
                           converted_room = bytes;
                       }
                       std::byte* const elements_of_piece = direct ? to.data : converted.get();
                       if (const auto bad = to_elements<T>(stored.get(), n, rule, elements_of_piece)) {
                           Shape shape;
                           for (const Range& range : of_elements.within) shape.push_back(range.count);
                           Shape index = unravel(bad->element, shape);
                           for (std::size_t i = 0; i < index.size(); ++i)
                               index[i] = piece.file[i].begin + index[i] * piece.file[i].step;
                           throw Error(Category::input, fmt::format("{}: at {}: {}", where, to_text(index), bad->text));
                       }
                       if (!direct) copy_bits({to.spec, row_major_strides(to.spec.shape), converted.get()}, to);
                   });
    });
    if (reading.nan) seen.replaced = seen.nan;
    return seen;
}

Statistics read(const Info& info, const Reading& reading, const Slab& target) {
    const Quiet quiet;
    return Source(info).read(reading, target);
}

Tensor as_read(Tensor tensor, double scale, const std::optional<double>& nan, DType target, std::string_view what) {
    const Spec& from = tensor.spec();
    if (scale == 1 && !nan && from.dtype == target) return tensor;
    Tensor result({target, from.shape});
    with_type<float16, bfloat16, float, double, std::int32_t, std::int64_t>(real_of(from.dtype), [&]<class T>() {
        const Rule rule{is_complex(from.dtype), false, scale, nan, target};
        const auto* numbers = reinterpret_cast<const T*>(tensor.data());
        if (const auto bad = to_elements<T>(numbers, from.size(), rule, result.data()))
            throw Error(Category::input,
                        fmt::format("{}: at {}: {}", what, index_text(bad->element, from.shape), bad->text));
    });
    return result;
}

Statistics statistics(const Slab& slab) {
    Statistics seen;
    seen.min = seen.max = std::numeric_limits<double>::quiet_NaN();
    const std::int64_t n = slab.spec.size();
    if (n == 0) return seen;
    if (!slab.contiguous()) {
        const Tensor contiguous = clone(slab);
        return statistics(contiguous.slab());
    }
    with_any_type(slab.spec.dtype, [&]<class T>() {
        if constexpr (is_complex_type<T>)
            observe(reinterpret_cast<const typename T::value_type*>(slab.data), n, true, 0, seen);
        else
            observe(slab.as<const T>(), n, false, 0, seen);
    });
    return seen;
}

}  // namespace gridstride::hdf5
