// SPDX-License-Identifier: BSD-3-Clause
// Output files: written whole under a temporary name beside the final one, synced, then renamed. Laid out so that h5py,
// xarray (h5netcdf), netCDF-4 and MATLAB read them: HDF5 1.8 format, links in order of creation, a scale on every axis.
#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5_hl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "io/folder.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_types.hpp"

namespace gridstride::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr const char* mark = "gridstride";  // the root attribute that says a file is ours

std::string absolute(const std::string& dataset) {
    return dataset.starts_with('/') ? dataset : "/" + dataset;
}

std::string parent(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string child(const std::string& group, const std::string& name) {
    return group == "/" ? "/" + name : group + "/" + name;
}

/// Why a file of this name may not be written; empty where it may.
std::string in_the_way(const std::string& path) {
    struct stat facts {};
    const bool exists = stat(path.c_str(), &facts) == 0;
    if (!exists && errno != ENOENT && errno != ENOTDIR) return fmt::format("{}: {}", path, std::strerror(errno));
    if (exists && S_ISDIR(facts.st_mode)) return fmt::format("{}: is a folder; name a file in it", path);
    if (exists && !S_ISREG(facts.st_mode)) return fmt::format("{}: is a pipe, device or socket; name a file", path);
    std::error_code error;
    const fs::path whole = exists ? fs::canonical(path, error) : fs::absolute(path);
    if (const std::string why = unwritable(whole.parent_path()); !why.empty())
        return fmt::format("{}: cannot be written: {}", path, why);
    if (!exists) return {};
    try {
        const Handle file = open_file(path);
        if (H5Aexists(file, mark) > 0) return {};
    } catch (const Error& failure) {  // most often not an HDF5 file at all
        return fmt::format("{}: exists and is not known to be gridstride's: it is not replaced ({})", path,
                           failure.what());
    }
    return fmt::format("{}: exists and was not written by gridstride: it is not replaced; choose another name", path);
}

/// Extents halved, the longest first, until a chunk has at most 1 MiB.
Shape default_chunks(Shape shape, std::size_t element_bytes) {
    constexpr double most = 1 << 20;
    const auto bytes = [&] {
        return std::accumulate(
            shape.begin(), shape.end(), static_cast<double>(element_bytes),
            [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
    };
    while (bytes() > most) {
        auto& longest = *std::max_element(shape.begin(), shape.end());
        longest = (longest + 1) / 2;
    }
    return shape;
}

Handle text_type() {
    Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 string type");
    check(H5Tset_size(type, H5T_VARIABLE), "HDF5 string type");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "HDF5 string type");
    return type;
}

Handle simple_space(const Shape& shape) {
    if (shape.empty()) return own(H5Screate(H5S_SCALAR), H5Sclose, "HDF5 dataspace");
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return own(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "HDF5 dataspace");
}

/// A property list of class `kind` whose groups keep the order in which links are made, as netCDF-4 wants.
Handle ordered(hid_t kind) {
    Handle list = own(H5Pcreate(kind), H5Pclose, "HDF5 property list");
    check(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "HDF5 property list");
    return list;
}

void sync(const std::string& path, int flags, const std::string& what) {
    const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
    const bool good = descriptor >= 0 && (fsync(descriptor) == 0 || errno == EINVAL);  // EINVAL: cannot be synced
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    if (!good) throw Error(Category::input, fmt::format("{}: {}", what, std::strerror(reason)));
}

/// The names of the scales of one dataset must differ; this is a name's n-th form.
std::string numbered(const std::string& name, int n) {
    return n == 1 ? name : fmt::format("{}_{}", name, n);
}

}  // namespace

struct Writer::State {
    std::string path;       // as the user named it
    std::string target;     // after symbolic links
    std::string temporary;  // empty: nothing to remove
    Handle file;
    struct Created {
        Spec spec;
        bool chunked = false;
    };
    struct Axis {
        std::int64_t extent = 0;
        Scale scale;
    };
    std::map<std::string, Created> datasets;
    std::map<std::string, Axis> scales;  // by path
    bool is_given_up = false;

    ~State() {
        const Quiet quiet;
        if (file.valid()) give_up();
        file.close();
        if (!temporary.empty()) unlink(temporary.c_str());
    }

    /// What HDF5 still writes to the file goes to memory. A close that fails, on a full disk, would leave dangling
    /// identifiers behind, and the program would crash at its end.
    void give_up() {
        is_given_up = true;
        void* handle = nullptr;
        if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return;
        const int sink = memfd_create("gridstride", MFD_CLOEXEC);
        if (sink < 0) return;
        dup2(sink, *static_cast<int*>(handle));
        ::close(sink);
    }
    /// As check() and own() of any call that may write to the file: where it failed, the file is given up.
    void done(herr_t status, const std::string& what) {
        if (status >= 0) return;
        const std::string reason = error_text();
        give_up();
        throw Error(Category::input, fmt::format("{}: {}", what, reason));
    }
    Handle made(hid_t id, Handle::Close close, const std::string& what) {
        done(id < 0 ? -1 : 0, what);
        return {id, close};
    }

    const Created& created(const std::string& dataset) const {
        const auto found = datasets.find(absolute(dataset));
        if (found == datasets.end())
            throw Error(Category::internal, fmt::format("{} was not created", place(path, dataset)));
        return found->second;
    }
    std::string cannot(const std::string& dataset = {}) const {
        return fmt::format("{}: cannot be written", dataset.empty() ? path : place(path, dataset));
    }
    bool exists(const std::string& object) const {  // each group on the way is known to exist
        return object == "/" || H5Lexists(file, object.c_str(), H5P_DEFAULT) > 0;
    }
    void make_groups(const std::string& group) {
        if (exists_group(group)) return;
        make_groups(parent(group));
        const Handle list = ordered(H5P_GROUP_CREATE);
        made(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, list, H5P_DEFAULT), H5Gclose, cannot(group));
    }
    bool exists_group(const std::string& group) const {
        if (group == "/") return true;
        if (!exists_group(parent(group)) || !exists(group)) return false;
        const Handle object(H5Oopen(file, group.c_str(), H5P_DEFAULT), H5Oclose);
        if (H5Iget_type(object) != H5I_GROUP)
            throw Error(Category::config,
                        fmt::format("{}: is a dataset; no group can have its name", place(path, group)));
        return true;
    }
    void put_attribute(hid_t object, const std::string& name, hid_t type, const void* value) {
        const std::string what = fmt::format("{}: attribute {}", cannot(), name);
        if (H5Aexists(object, name.c_str()) > 0) done(H5Adelete(object, name.c_str()), what);
        const Handle space = simple_space({});
        const Handle attribute =
            made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
        done(H5Awrite(attribute, type, value), what);
    }
    void put_text(hid_t object, const std::string& name, const std::string& text) {
        const char* value = text.c_str();
        put_attribute(object, name, text_type(), &value);
    }
    Handle open(const std::string& object) const {
        return own(H5Oopen(file, absolute(object).c_str(), H5P_DEFAULT), H5Oclose, place(path, object));
    }

    void write(const std::string& dataset, const Selection& selection, const Slab& slab);
    std::string scale_name(const std::string& group, const Scale& axis, std::size_t index, std::int64_t extent,
                           std::set<std::string>& used) const;
    Handle make_scale(const std::string& object, const Scale& axis, std::int64_t extent);
};

Writer::Writer(std::string path) : state_(std::make_unique<State>()) {
    const Quiet quiet;
    State& state = *state_;
    state.path = std::move(path);
    if (const std::string why = in_the_way(state.path); !why.empty()) throw Error(Category::input, why);
    std::error_code error;
    const fs::path resolved = fs::exists(state.path, error) ? fs::canonical(state.path) : fs::absolute(state.path);
    state.target = resolved.string();
    fs::create_directories(resolved.parent_path(), error);
    if (error)
        throw Error(Category::input, fmt::format("{}: cannot make the folder {}: {}", state.path,
                                                 resolved.parent_path().string(), error.message()));
    const Handle created = ordered(H5P_FILE_CREATE), access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, state.path);
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18), state.path);
    check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), state.path);
    check(H5Pset_file_locking(access, false, true), state.path);           // the name is ours alone
    const std::string stem = resolved.filename().string().substr(0, 200);  // names have at most 255 bytes
    for (int attempt = 0; !state.file.valid(); ++attempt) {
        const std::string name =
            fmt::format(".{}.gridstride-{}{}.tmp", stem, getpid(), attempt == 0 ? "" : fmt::format("-{}", attempt));
        const std::string temporary = (resolved.parent_path() / name).string();
        // Made by us or not at all, so that it is ours to remove, also where HDF5 fails half-way.
        const int descriptor = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno == EEXIST && attempt < 100) continue;  // left by a crash, or another writer's
        if (descriptor < 0) throw Error(Category::input, fmt::format("{}: {}", state.cannot(), std::strerror(errno)));
        close(descriptor);
        state.temporary = temporary;
        state.file = own(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, created, access), H5Fclose, state.cannot());
    }
    state.put_text(state.file, mark, GRIDSTRIDE_VERSION);
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

std::optional<Shape> chunks_of(const std::string& where, const Spec& spec, const Layout& layout) {
    const auto refuse = [&](const std::string& text, const std::string& key) {
        return Error(Category::config, fmt::format("{}: {}", where, text), key);
    };
    if (layout.chunks && !spec.shape.empty() && layout.chunks->size() != spec.shape.size())
        throw refuse(fmt::format("chunks {} for shape {}: one length for each axis", to_text(*layout.chunks),
                                 to_text(spec.shape)),
                     "chunks");
    if (layout.gzip && (layout.level < 0 || layout.level > 9))
        throw refuse(fmt::format("level {}: gzip has 0 to 9", layout.level), "level");
    if (layout.gzip && H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
        throw refuse("this HDF5 library was built without gzip", "compression");
    const bool chunked = layout.chunks || layout.gzip || layout.shuffle || layout.sparse;
    if (!chunked || spec.shape.empty() || count(spec.shape) == 0) return {};
    if (!layout.chunks) return default_chunks(spec.shape, size_of(spec.dtype));
    Shape chunks = *layout.chunks;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (chunks[i] < 1) throw refuse(fmt::format("chunks {}: lengths are at least 1", to_text(chunks)), "chunks");
        chunks[i] = std::min(chunks[i], spec.shape[i]);
    }
    if (Spec{spec.dtype, chunks}.bytes() >= std::size_t{1} << 32)
        throw refuse(fmt::format("chunks {} of {} have 4 GiB or more, HDF5's limit; near 1 MiB is best",
                                 to_text(chunks), gridstride::name(spec.dtype)),
                     "chunks");
    return chunks;
}

std::vector<std::string> Writer::create(const std::string& name, const Spec& spec, const Layout& layout) {
    const Quiet quiet;
    State& state = *state_;
    const std::string dataset = absolute(name), where = place(state.path, dataset);
    std::vector<std::string> notes;
    state.make_groups(parent(dataset));
    if (state.exists(dataset))
        throw Error(Category::config, fmt::format("{}: the file has {} of this name already", where,
                                                  state.scales.contains(dataset) ? "a scale" : "an object"));
    const Handle type = file_type(spec.dtype), space = simple_space(spec.shape);
    const Handle list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where);
    const std::optional<Shape> chunks = chunks_of(where, spec, layout);
    if (!chunks && (layout.chunks || layout.gzip || layout.shuffle))
        notes.push_back(fmt::format("{}: chunks and compression are ignored: {}", where,
                                    spec.shape.empty() ? "a scalar has none" : "it has no elements"));
    if (chunks) {
        const std::vector<hsize_t> extents(chunks->begin(), chunks->end());
        check(H5Pset_chunk(list, static_cast<int>(extents.size()), extents.data()), where);
        check(H5Pset_alloc_time(list, H5D_ALLOC_TIME_INCR), where);
        if (layout.shuffle) check(H5Pset_shuffle(list), where);
        if (layout.gzip) check(H5Pset_deflate(list, static_cast<unsigned>(layout.level)), where);
    }
    state.made(H5Dcreate2(state.file, dataset.c_str(), type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose,
               state.cannot(dataset));
    state.datasets[dataset] = {spec, chunks.has_value()};
    return notes;
}

void Writer::State::write(const std::string& dataset, const Selection& selection, const Slab& slab) {
    const Spec& spec = created(dataset).spec;
    if (slab.spec.dtype != spec.dtype || shape_of(selection) != slab.spec.shape ||
        selection.axes.size() != spec.shape.size())
        throw Error(Category::internal, fmt::format("{}: {} written to {} of {}", place(path, dataset),
                                                    to_text(slab.spec), to_text(shape_of(selection)), to_text(spec)));
    if (slab.spec.size() == 0) return;
    const Handle object = open(dataset), type = file_type(spec.dtype), space = simple_space(spec.shape);
    const auto put = [&](const std::vector<Range>& ranges, const std::byte* data) {
        Shape extents;
        for (const Range& range : ranges) extents.push_back(range.count);
        const Handle memory = simple_space(extents);
        select(space, ranges);
        done(H5Dwrite(object, type, memory, space, H5P_DEFAULT, data), cannot(dataset));
    };
    if (slab.contiguous()) {
        put(selection.axes, slab.data);
    } else {
        for_pieces(selection, {}, size_of(spec.dtype), false, [&](const Piece& piece) {
            Selection within{piece.within};
            std::erase_if(within.axes, [](const Range& range) { return range.dropped; });
            const Tensor packed = clone(part(slab, within));
            put(piece.file, packed.data());
        });
    }
    done(H5Dflush(object), cannot(dataset));  // a full disk must not wait for the dataset to be closed
}

void Writer::write(const std::string& dataset, const Selection& selection, const Slab& slab) {
    const Quiet quiet;
    state_->write(dataset, selection, slab);
}

void Writer::copy_from(const std::string& dataset, const Info& info) {
    const Quiet quiet;
    const auto& [spec, chunked] = state_->created(dataset);
    if (info.shape != spec.shape)
        throw Error(Category::config,
                    fmt::format("{}: shape {} is copied to {} {}", place(info.file, info.path), to_text(info.shape),
                                place(state_->path, dataset), to_text(spec.shape)));
    const Source source(info);
    for_pieces(whole(spec.shape), info.chunks, size_of(spec.dtype), false, [&](const Piece& piece) {
        Reading reading;
        reading.select.axes = piece.file;
        Tensor values(Spec{spec.dtype, shape_of(reading.select)});
        source.read(reading, values.slab());
        const std::byte *begin = values.data(), *end = begin + values.spec().bytes();
        const bool zero = std::all_of(begin, end, [](std::byte byte) { return byte == std::byte{0}; });
        if (chunked && zero) return;  // reads as 0 without being stored
        state_->write(dataset, reading.select, values.slab());
    });
}

std::string Writer::State::scale_name(const std::string& group, const Scale& axis, std::size_t index,
                                      std::int64_t extent, std::set<std::string>& used) const {
    std::string base =
        axis.name.empty() || axis.name == "." || axis.name == ".." ? fmt::format("axis_{}", index) : axis.name;
    std::replace(base.begin(), base.end(), '/', '_');
    const auto is_other = [&](const std::string& name) {
        const std::string object = child(group, name);
        return exists(object) && !scales.contains(object);
    };
    if (is_other(base)) base += "_axis";
    for (int n = 1;; ++n) {
        const std::string name = numbered(base, n);
        if (used.contains(name) || is_other(name)) continue;
        const auto found = scales.find(child(group, name));
        if (found != scales.end()) {
            const Axis& there = found->second;
            if (there.extent != extent || there.scale.values != axis.values || there.scale.bare != axis.bare ||
                there.scale.units != axis.units || there.scale.long_name != axis.long_name ||
                there.scale.calendar != axis.calendar)
                continue;
        }
        used.insert(name);
        return name;
    }
}

Handle Writer::State::make_scale(const std::string& object, const Scale& axis, std::int64_t extent) {
    constexpr std::int64_t counted = std::int64_t{1} << 20;  // longer ones are not worth their bytes
    const std::string name = object.substr(object.rfind('/') + 1);
    const Handle space = simple_space({extent});
    const bool bare = axis.values.empty() && (axis.bare || extent > counted);
    const hid_t type = bare ? H5T_IEEE_F32BE : axis.values.empty() ? H5T_STD_I64LE : H5T_IEEE_F64LE;
    Handle dataset = made(H5Dcreate2(file, object.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                          H5Dclose, cannot(object));
    if (!axis.values.empty()) {
        done(H5Dwrite(dataset, H5T_IEEE_F64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, axis.values.data()), cannot(object));
    } else if (!bare) {
        std::vector<std::int64_t> positions(static_cast<std::size_t>(extent));
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        if (extent > 0)
            done(H5Dwrite(dataset, H5T_STD_I64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, positions.data()), cannot(object));
    }
    // netCDF-4's words for a dimension that has a length and no values; readers count it 0..n-1.
    const std::string title =
        bare ? fmt::format("This is a netCDF dimension but not a netCDF variable. {:>10}", extent) : name;
    done(H5DSset_scale(dataset, title.c_str()), cannot(object));
    if (!axis.units.empty()) put_text(dataset, "units", axis.units);
    if (!axis.long_name.empty()) put_text(dataset, "long_name", axis.long_name);
    if (!axis.calendar.empty()) put_text(dataset, "calendar", axis.calendar);
    done(H5Dflush(dataset), cannot(object));
    scales[object] = {extent, axis};
    return dataset;
}

void Writer::scale(const std::string& name, const std::vector<Scale>& axes, const std::vector<std::int64_t>& extents) {
    const Quiet quiet;
    State& state = *state_;
    const std::string dataset = absolute(name), group = parent(dataset);
    const Shape& shape = state.created(dataset).spec.shape;
    if (axes.size() != shape.size() || extents != shape)
        throw Error(Category::internal,
                    fmt::format("{}: {} scales of lengths {} for shape {}", place(state.path, dataset), axes.size(),
                                to_text(extents), to_text(shape)));
    const Handle object = state.open(dataset);
    std::set<std::string> used;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        Scale axis = axes[i];
        if (static_cast<std::int64_t>(axis.values.size()) != extents[i]) axis.values.clear();
        const std::string word = state.scale_name(group, axis, i, extents[i], used), path = child(group, word);
        const Handle scale = state.scales.contains(path) ? state.open(path) : state.make_scale(path, axis, extents[i]);
        state.done(H5DSattach_scale(object, scale, static_cast<unsigned>(i)), state.cannot(path));
        state.done(H5DSset_label(object, static_cast<unsigned>(i), word.c_str()), state.cannot(path));
    }
}

void Writer::attribute(const std::string& object, const std::string& name, const std::string& text) {
    const Quiet quiet;
    state_->put_text(state_->open(object), name, text);
}

void Writer::attribute(const std::string& object, const std::string& name, double value) {
    const Quiet quiet;
    state_->put_attribute(state_->open(object), name, H5T_IEEE_F64LE, &value);
}

void Writer::text(const std::string& name, const std::string& value) {
    constexpr std::size_t most = 60 << 10;  // an object header message holds 64 KiB
    const Quiet quiet;
    State& state = *state_;
    const std::string pointer = name + "_dataset";
    if (value.size() <= most) {
        if (H5Aexists(state.file, pointer.c_str()) > 0)
            state.done(H5Adelete(state.file, pointer.c_str()), state.cannot());
        state.put_text(state.file, name, value);
        return;
    }
    std::string object = absolute(name);
    for (int n = 1; state.exists(object); ++n) object = fmt::format("{}_{}", absolute(name), n);
    if (H5Aexists(state.file, name.c_str()) > 0) state.done(H5Adelete(state.file, name.c_str()), state.cannot());
    const Handle type = text_type(), space = simple_space({});
    const Handle dataset =
        state.made(H5Dcreate2(state.file, object.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                   state.cannot(object));
    const char* data = value.c_str();
    state.done(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &data), state.cannot(object));
    state.done(H5Dflush(dataset), state.cannot(object));
    state.put_text(state.file, pointer, object);
}

void Writer::commit() {
    const Quiet quiet;
    State& state = *state_;
    if (state.is_given_up || !state.file.valid())
        throw Error(Category::input, fmt::format("{}: an earlier write failed", state.cannot()));
    state.done(H5Fflush(state.file, H5F_SCOPE_GLOBAL), state.cannot());
    check(state.file.close(), state.cannot());
    sync(state.temporary, O_RDWR, state.cannot());
    if (const std::string why = in_the_way(state.target); !why.empty()) throw Error(Category::input, why);
    if (rename(state.temporary.c_str(), state.target.c_str()) != 0)
        throw Error(Category::input, fmt::format("{}: {}", state.cannot(), std::strerror(errno)));
    state.temporary.clear();
    sync(fs::path(state.target).parent_path().string(), O_RDONLY | O_DIRECTORY, state.cannot());
}

void check_writable(const std::string& path) {
    const Quiet quiet;
    if (const std::string why = in_the_way(path); !why.empty()) throw Error(Category::config, why);
}

}  // namespace gridstride::hdf5
