// SPDX-License-Identifier: BSD-3-Clause
// A job file as a strict tree of our own: every value with its place and whether it was quoted. Nothing here knows what
// the keys mean. Internal to the loader.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/config.hpp"

namespace gridstride::config {

inline constexpr std::size_t largest_file = std::size_t{4} << 20;  // bytes of a job file
inline constexpr std::size_t largest_text = std::size_t{1} << 20;  // bytes of one value
inline constexpr std::size_t most_values = 1'000'000;              // of a tree, aliases and variables written out
inline constexpr std::size_t most_bytes = std::size_t{64} << 20;   // of all texts of a tree, likewise
inline constexpr int deepest = 64;                                 // lists and mappings within each other

/// A value of the file. Lists and mappings keep the file's order.
struct Node {
    struct Entry;
    enum class Kind : std::uint8_t { null, scalar, list, map };

    Kind kind = Kind::null;
    bool merged = false;  // of a mapping: it has a merge key, which is refused; what it lacks may have been meant there
    bool quoted = false;  // of a scalar: in quotes, or a block of text; never a number, a boolean or null
    int line = 0, column = 0;
    std::shared_ptr<const std::string> source;
    std::string text;  // of a scalar
    std::vector<Node> items;
    std::vector<Entry> entries;

    bool scalar() const { return kind == Kind::scalar; }
    bool list() const { return kind == Kind::list; }
    bool map() const { return kind == Kind::map; }
    Mark mark() const { return {source ? *source : std::string(), line, column}; }
    /// The value of a key, or null.
    const Node* find(std::string_view key) const;
    Node* find(std::string_view key);
};
struct Node::Entry {
    std::string key;
    Mark mark;  // of the key
    Node value;
};

/// Values and bytes that a tree may still grow by.
struct Budget {
    std::size_t values = most_values, bytes = most_bytes;
    /// Takes what a copy of node needs; false: it is more than there is.
    bool take(const Node& node);
};

bool is_utf8(std::string_view text);

/// The text as UTF-8 with \n line ends and no byte-order mark, fit to be parsed; nothing after an error (too large, not
/// UTF-8, a NUL, a tab as indentation, ...).
std::optional<std::string> clean(const std::string& text, const std::string& source, Diagnostics& diagnostics);

/// The one document of a cleaned text; nothing after an error that leaves no tree. fragment: a value from the command
/// line, whose marks have no line.
std::optional<Node> parse_tree(const std::string& text, const std::string& source, bool fragment,
                               Diagnostics& diagnostics);

/// Sets path[at...] below a node; mappings on the way are made, marked so. What is in the way, "a.b is 3, no mapping:
/// set it whole"; else nothing.
std::string put(Node& node, const std::vector<std::string>& path, std::size_t at, Node value, const Mark& mark);

/// "a.b.c" in its parts.
std::vector<std::string> split_path(std::string_view key);

/// A text of the user's for a message: at most 60 bytes, then an ellipsis. Every message takes them through here.
std::string brief(std::string_view text, std::size_t most = 60);
/// The node as one line of YAML, for messages and, with more bytes, for listings; long ones are cut.
std::string show(const Node& node, std::size_t most_text = 60);
/// A text for a message: quoted, brief, control characters as spaces.
std::string show(std::string_view text);

}  // namespace gridstride::config
