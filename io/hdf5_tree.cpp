// SPDX-License-Identifier: BSD-3-Clause
// The tree of a file, for `inspect`; facts about the library, for `doctor`.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "io/hdf5_dataset.hpp"
#include "io/hdf5_filters.hpp"

namespace gridstride::hdf5 {

namespace {

/// What tells an object from all others of its file.
std::string identity(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) return {};
    return fmt::format("{} {}", info.fileno, fmt::join(info.token.__data, info.token.__data + H5O_MAX_TOKEN_SIZE, " "));
#else
    H5O_info_t info;
    if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) return {};
    return fmt::format("{} {}", info.fileno, info.addr);
#endif
}

struct Walk {
    const std::string& file;
    std::vector<Node> nodes;
    std::map<std::string, std::string> groups;  // those seen, by identity: their path

    void visit(const Found& found, const std::string& path);
    void descend(const Found& group, const std::string& path);
};

void Walk::descend(const Found& group, const std::string& path) {
    for (const std::string& name : names_of(group.object)) {
        const std::string below = path == "/" ? "/" + name : path + "/" + name;
        const Link link = link_of(group.object, name);
        if (link.type == H5L_TYPE_HARD) {
            const hid_t id = H5Oopen(group.object, name.c_str(), H5P_DEFAULT);
            if (id < 0) {
                nodes.push_back({below, Node::Kind::link, {}, {}, {}, {}, open_failure().what()});
                continue;
            }
            Found found{group.file,
                        group.path == "/" ? "/" + name : group.path + "/" + name,
                        {},
                        {id, H5Oclose},
                        H5Iget_type(id),
                        {group.file}};
            H5Iinc_ref(group.handle);
            found.handle = Handle(group.handle, H5Fclose);
            visit(found, below);
            continue;
        }
        Node node{below, Node::Kind::link, {}, {}, {}, {}, {}};
        node.target = link.type == H5L_TYPE_EXTERNAL ? place(link.file, link.path) : link.path;
        try {
            find(file, below);
        } catch (const Error& error) {
            node.problem = error.what();
        }
        nodes.push_back(node);
    }
}

void Walk::visit(const Found& found, const std::string& path) {
    Node node{path, Node::Kind::group, {}, {}, {}, {}, {}};
    try {
        if (found.type == H5I_DATASET) {
            node.kind = Node::Kind::dataset;
            node.info = describe(found, file, path);
            node.text = strings_text(found.object, node.info);
            node.attributes = node.info.attributes;
        } else {
            node.kind = found.type == H5I_GROUP ? Node::Kind::group : Node::Kind::type;
            node.attributes = attributes_of(found.object);
        }
    } catch (const Error& error) {
        node.problem = error.what();
    }
    if (found.type != H5I_GROUP) {
        nodes.push_back(std::move(node));
        return;
    }
    const auto [seen, is_new] = groups.emplace(identity(found.object), path);
    if (!is_new) {  // a second hard link to a group, perhaps one that it lies in
        node.kind = Node::Kind::link;
        node.target = seen->second;
        nodes.push_back(std::move(node));
        return;
    }
    nodes.push_back(std::move(node));
    const std::size_t at = nodes.size() - 1;
    try {
        descend(found, path);
    } catch (const Error& error) {
        nodes[at].problem = error.what();
    }
}

}  // namespace

std::vector<Node> tree(const std::string& file, const std::string& path) {
    const Quiet quiet;
    Walk walk{file, {}, {}};
    walk.visit(find(file, path), path.starts_with('/') ? path : "/" + path);
    return walk.nodes;
}

Library library() {
    const Quiet quiet;
    Library facts;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    hbool_t safe = false;
    H5is_library_threadsafe(&safe);
    facts.version = fmt::format("{}.{}.{}{}", major, minor, release, safe ? ", thread-safe" : "");
    unsigned folders = 0;
    H5PLsize(&folders);
    for (unsigned i = 0; i < folders; ++i) {
        const ssize_t size = H5PLget(i, nullptr, 0);
        if (size < 0) continue;
        std::string folder(static_cast<std::size_t>(size) + 1, '\0');
        H5PLget(i, folder.data(), folder.size());
        folder.resize(static_cast<std::size_t>(size));
        facts.plugin_path += (facts.plugin_path.empty() ? "" : ":") + folder;
    }
    const char* locking = std::getenv("HDF5_USE_FILE_LOCKING");
    facts.locking = locking != nullptr ? fmt::format("HDF5_USE_FILE_LOCKING={}", locking)
                                       : "where the file system can (HDF5_USE_FILE_LOCKING is not set)";
    facts.filters = filter_list();
    return facts;
}

}  // namespace gridstride::hdf5
