// SPDX-License-Identifier: BSD-3-Clause
// Opening files and following links, with one line of text for every way in which that can fail.
#include "io/hdf5_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>

#include "io/ascii.hpp"
#include "io/suggest.hpp"

namespace gridstride::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

/// "a, b, c", in their order; of many the nearest to word: "c, a, ... (12 in all)".
std::string nearest_first(const std::string& word, std::vector<std::string> names) {
    constexpr std::size_t shown = 6, compared = 2000;
    const std::size_t all = names.size();
    if (all > compared) names.resize(compared);
    if (!word.empty() && all > shown)
        std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
            return edit_distance(word, a) < edit_distance(word, b);
        });
    if (names.size() > shown) names.resize(shown);
    std::string text = fmt::format("{}", fmt::join(names, ", "));
    return all > shown ? fmt::format("{}, ... ({} in all)", text, all) : text;
}

std::string nearest_files(const std::string& file) {
    const fs::path path(file), folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().string()[0] != '.' && !entry->is_directory(error))
            names.push_back(entry->path().filename().string());
    if (!fs::is_directory(folder, error)) return fmt::format("; the folder {} does not exist either", folder.string());
    if (names.empty()) return {};
    std::sort(names.begin(), names.end());
    const std::string name = path.filename().string();
    return fmt::format("{}; {} has {}", did_you_mean(name, names), folder == "." ? "this folder" : "the folder",
                       nearest_first(name, names));
}

/// The first bytes of a file, at most n from offset on.
std::string bytes_of(int descriptor, std::uint64_t offset, std::size_t n) {
    std::string bytes(n, '\0');
    const ssize_t got = pread(descriptor, bytes.data(), n, static_cast<off_t>(offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

/// What a file that is not HDF5 looks like.
std::string looks_like(const std::string& head) {
    std::string text = head.substr(0, head.find('\0'));
    text.erase(0, text.find_first_not_of(" \t\r\n\xef\xbb\xbf"));
    text = lower(text);
    const auto begins = [&](std::string_view with) { return head.compare(0, with.size(), with) == 0; };
    if (text.starts_with("<!doctype html") || text.starts_with("<html"))
        return "it is a web page (HTML): download the data file itself";
    if (text.starts_with("version https://git-lfs"))
        return "it is a Git LFS pointer: fetch the data with `git lfs pull`";
    if (text.starts_with("/annex/objects") || text.starts_with("../.git/annex"))
        return "it is a git-annex pointer: fetch the data with `git annex get`";
    if (begins("CDF\x01") || begins("CDF\x02") || begins("CDF\x05"))
        return "it is a netCDF-3 file: convert it with `nccopy -k nc4 OLD NEW`";
    if (begins("\x0e\x03\x13\x01")) return "it is an HDF4 file: convert it with h4toh5";
    if (begins("MATLAB 5.0")) return "it is an older MATLAB file: save it with -v7.3";
    if (begins("\x93NUMPY")) return "it is a NumPy .npy file: save the array with h5py";
    if (begins("PK\x03\x04")) return "it is a zip archive (or .npz): unpack it";
    if (begins("\x1f\x8b")) return "it is gzip-compressed: unpack it with gunzip";
    if (begins("BZh") ||
        begins("\xfd"
               "7zXZ") ||
        begins("\x28\xb5\x2f\xfd"))
        return "it is a compressed file: unpack it";
    if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; }))
        return "it begins with zero bytes: an interrupted copy";
    if (std::all_of(head.begin(), head.end(), [](unsigned char c) { return c >= 0x20 || (c >= 9 && c <= 13); }))
        return "it is text";
    return "it has no HDF5 signature";
}

/// The size that the superblock promises; 0 where it cannot be read.
std::uint64_t promised_size(int descriptor, std::uint64_t at) {
    const std::string block = bytes_of(descriptor, at, 96);
    const auto number = [&](std::size_t offset, std::size_t width) {
        std::uint64_t value = 0;
        for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(block[offset + i]);
        return value;
    };
    if (block.size() < 48) return 0;
    const auto version = block[8];
    const auto width = static_cast<std::size_t>(block[version < 2 ? 13 : 9]);  // bytes of an address
    const std::size_t base_at = version == 0 ? 24 : version == 1 ? 28 : 12;    // then one address more, then the end
    if (version < 0 || version > 3 || width > 8 || block.size() < base_at + 3 * width) return 0;
    const std::uint64_t base = number(base_at, width), end = number(base_at + 2 * width, width);
    return end + at - base;
}

/// Why HDF5 did not open a file that can be read; hdf5: its error stack.
std::string unopened(int descriptor, const std::string& file, std::uint64_t size, const std::string& reason,
                     const std::string& stack) {
    std::uint64_t at = 0;
    while (at < size && bytes_of(descriptor, at, signature.size()) != signature) at = at == 0 ? 512 : 2 * at;
    if (at >= size) return fmt::format("{}: not an HDF5 file: {}", file, looks_like(bytes_of(descriptor, 0, 512)));
    if (size < at + 48)
        return fmt::format("{}: truncated: has {} bytes, not even the whole HDF5 header: copy it again", file, size);
    const std::uint64_t promised = promised_size(descriptor, at);
    if (promised > size)
        return fmt::format("{}: truncated: has {} bytes, needs {}: copy it again", file, size, promised);
    if (stack.find("unable to lock file") != std::string::npos)
        return reason == std::strerror(EAGAIN)
                   ? fmt::format("{}: locked: another program writes it; wait until it has closed the file", file)
                   : fmt::format(
                         "{}: the file system cannot lock it ({}): set HDF5_USE_FILE_LOCKING=FALSE while no other "
                         "program writes it",
                         file, reason);
    if (stack.find("already open for write") != std::string::npos || stack.find("h5clear") != std::string::npos)
        return fmt::format(
            "{}: marked as open for writing: another program writes it, or one crashed while it did; "
            "then `h5clear -s {}` clears the mark",
            file, file);
    return fmt::format("{}: HDF5 cannot open it: {}", file, reason);
}

std::string folder_of(const std::string& file) {
    const fs::path folder = fs::path(file).parent_path();
    return folder.empty() ? "." : folder.string();
}

std::string text_of(const Link& link, const std::string& at) {
    return link.type == H5L_TYPE_EXTERNAL ? fmt::format("external link {} -> {}", at, place(link.file, link.path))
                                          : fmt::format("soft link {} -> {}", at, link.path);
}

std::deque<std::string> components(const std::string& path) {
    std::deque<std::string> parts;
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (!part.empty() && part != ".") parts.push_back(part);
        begin = end + 1;
    }
    return parts;
}

std::string kind_text(H5I_type_t type) {
    return type == H5I_GROUP ? "a group" : type == H5I_DATASET ? "a dataset" : "a named datatype";
}

}  // namespace

std::string place(const std::string& file, const std::string& path) {
    return fmt::format("{}:{}{}", file, path.starts_with('/') ? "" : "/", path);
}

Handle open_file(const std::string& file) {
    const auto failed = [](const std::string& text) { return Error(Category::input, text); };
    struct stat facts {};
    if (stat(file.c_str(), &facts) != 0) {
        const int reason = errno;
        if (reason == ENOENT) throw failed(fmt::format("{}: no such file{}", file, nearest_files(file)));
        if (reason == ELOOP) throw failed(fmt::format("{}: symbolic links that lead in a circle", file));
        throw failed(fmt::format("{}: {}", file, std::strerror(reason)));
    }
    if (S_ISDIR(facts.st_mode)) throw failed(fmt::format("{}: is a folder, not an HDF5 file", file));
    if (!S_ISREG(facts.st_mode))
        throw failed(fmt::format("{}: is a {}: HDF5 reads files alone, save the data to one first", file,
                                 S_ISFIFO(facts.st_mode) ? "pipe" : "device or socket"));
    if (facts.st_size == 0) throw failed(fmt::format("{}: not an HDF5 file: it is empty (0 bytes)", file));
    const Handle access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, file);
    check(H5Pset_file_locking(access, true, true), file);  // as far as the file system can
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, access);
    if (id >= 0) return {id, H5Fclose};

    const std::string reason = error_text(), stack = error_stack();
    const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) throw failed(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
    const std::string text = unopened(descriptor, file, static_cast<std::uint64_t>(facts.st_size), reason, stack);
    close(descriptor);
    throw failed(text);
}

std::vector<fs::path> beside(const std::string& file, const std::string& name) {
    const fs::path target(name);
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    std::vector<fs::path> paths;
    if (target.is_absolute()) paths.push_back(target);  // where that is gone, HDF5 too looks beside the file
    const fs::path tail = target.is_absolute() ? target.filename() : target;
    paths.push_back(fs::path(folder_of(file)) / tail);
    if (!error) paths.push_back(real.parent_path() / tail);
    return paths;
}

std::string existing_beside(const std::string& file, const std::string& name) {
    const auto paths = beside(file, name);
    std::error_code error;
    for (const fs::path& path : paths)
        if (fs::exists(path, error)) return path.lexically_normal().string();
    return paths.front().lexically_normal().string();
}

Link link_of(hid_t group, const std::string& name) {
    Link link;
    H5L_info_t info;
    if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0) return link;
    link.type = info.type;
    if (info.type == H5L_TYPE_HARD) return link;
    std::string value(info.u.val_size + 1, '\0');
    if (H5Lget_val(group, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) {
        link.type = H5L_TYPE_ERROR;
    } else if (info.type == H5L_TYPE_SOFT) {
        link.path = value.c_str();
    } else if (info.type == H5L_TYPE_EXTERNAL) {
        unsigned flags = 0;
        const char *target = nullptr, *path = nullptr;
        if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &target, &path) < 0) {
            link.type = H5L_TYPE_ERROR;
        } else {
            link.file = target;
            link.path = path;
        }
    }
    return link;
}

std::vector<std::string> names_of(hid_t group) {
    std::vector<std::string> names;
    const Handle created = own(H5Gget_create_plist(group), H5Pclose, "HDF5 group");
    unsigned order = 0;
    H5Pget_link_creation_order(created, &order);
    const H5_index_t by = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
    };
    check(H5Literate(group, by, H5_ITER_INC, nullptr, add, &names), "cannot list an HDF5 group");
    return names;
}

Error open_failure() {
    const std::string reason = error_text();
    if (error_stack().find("version number") == std::string::npos)
        return {Category::input, "cannot be opened, the file is damaged: " + reason};
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return {Category::config,
            fmt::format("is newer than this HDF5 library ({}.{}.{}): {}; save it without libver='latest', complex "
                        "numbers as a compound {{r,i}}, as h5py does",
                        major, minor, release, reason)};
}

Found find(const std::string& file, const std::string& path) {
    constexpr int most_links = 64;
    Found found{file, "/", open_file(file), {}, H5I_GROUP, {file}};
    found.object = own(H5Gopen2(found.handle, "/", H5P_DEFAULT), H5Oclose, place(file, "/"));
    std::deque<std::string> rest = components(path);
    std::vector<std::string> hops;
    const auto fail = [&](const std::string& text, std::string_view word = "", Category category = Category::config) {
        const std::string way = hops.empty() ? "" : fmt::format("{}{}: ", word, fmt::join(hops, ", "));
        throw Error(category, fmt::format("{}: {}{}", place(file, path), way, text));
    };
    const auto full = [&](const std::string& name) { return (found.path == "/" ? "/" : found.path + "/") + name; };
    const auto open_object = [&](hid_t parent, const std::string& name) {
        const hid_t id = H5Oopen(parent, name.c_str(), H5P_DEFAULT);
        if (id < 0) {
            const Error failure = open_failure();
            fail(failure.what(), "", failure.category());
        }
        found.object = Handle(id, H5Oclose);
        found.type = H5Iget_type(id);
    };
    for (int links = 0; !rest.empty();) {
        const std::string name = rest.front();
        rest.pop_front();
        if (found.type != H5I_GROUP)
            fail(fmt::format("{} is {}, not a group: it holds no '{}'", found.path, kind_text(found.type), name));
        const Link link = link_of(found.object, name);
        if (link.type == H5L_TYPE_HARD) {
            open_object(found.object, name);
            found.path = full(name);
            continue;
        }
        if (link.type == H5L_TYPE_ERROR) {
            const auto names = names_of(found.object);
            fail(names.empty() ? fmt::format("there is no '{}': {} is empty", name, found.path)
                               : fmt::format("there is no '{}' in {}, which has {}{}", name, found.path,
                                             nearest_first(name, names), did_you_mean(name, names)),
                 "dangling ");
        }
        if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_EXTERNAL)
            fail(fmt::format("{} is a link of a kind that only its writer understands", full(name)));
        if (++links > most_links) fail("the links go in a circle", "circular ");
        if (links <= 3) hops.push_back(text_of(link, full(name)));
        auto target = components(link.path);
        rest.insert(rest.begin(), target.begin(), target.end());
        if (link.type == H5L_TYPE_EXTERNAL) {
            found.file = existing_beside(found.file, link.file);
            try {
                found.handle = open_file(found.file);
                found.passed.push_back(found.file);
            } catch (const Error& error) {
                fail(error.what(), "dangling ", error.category());
            }
        }
        if (link.type == H5L_TYPE_EXTERNAL || link.path.starts_with('/')) {
            found.path = "/";
            found.object = own(H5Gopen2(found.handle, "/", H5P_DEFAULT), H5Oclose, place(found.file, "/"));
            found.type = H5I_GROUP;
        }
    }
    return found;
}

Found find_dataset(const std::string& file, const std::string& path) {
    Found found = find(file, path);
    if (found.type == H5I_DATASET) return found;
    std::string text = fmt::format("{}: is {}, not a dataset", place(file, path), kind_text(found.type));
    if (found.type == H5I_GROUP) {
        const auto names = names_of(found.object);
        text += names.empty() ? "; it is empty" : fmt::format("; it has {}", nearest_first("", names));
        if (H5Aexists(found.object, "MATLAB_sparse") > 0) text += ": a sparse matrix of MATLAB; save it as full(x)";
    }
    throw Error(Category::config, text);
}

}  // namespace gridstride::hdf5
