// SPDX-License-Identifier: BSD-3-Clause
// Scalars of the tree as booleans, integers, numbers, words, shapes: each with its range checked, and a message that
// says what would be right. Internal to the loader.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/config_keys.hpp"
#include "io/config_tree.hpp"
#include "io/suggest.hpp"

namespace gridstride::config {

/// A plain scalar as a number.
struct Number {
    double value = 0;
    std::optional<std::int64_t> integer;  // where it is integral and below 2^63
    bool whole = false;                   // written without a point: 12, 1_000, 1e6
};

/// The number a text spells; else nothing, and in problem (where given) why not, with what would be right.
std::optional<Number> to_number(std::string_view text, std::string* problem = nullptr);

/// For text that is no number: " (write 1000)", " (a list is written [3, 3])", or nothing.
std::string number_hint(std::string_view text);

inline constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();

/// Reads values out of nodes; errors go to the diagnostics, with the node's mark, and nothing comes back.
class Reader {
  public:
    explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void error(const Mark& mark, std::string message) const { diagnostics_.add(mark, std::move(message)); }

    std::optional<bool> boolean(const Node& node, std::string_view key) const;
    std::optional<std::int64_t> integer(const Node& node, std::string_view key, std::int64_t least,
                                        std::int64_t most = largest_integer) const;
    std::optional<std::uint64_t> unsigned_integer(const Node& node, std::string_view key) const;
    /// Any number; finite where asked, and at least (above, where open) least.
    struct Bounds {
        bool finite = true;
        double least = -std::numeric_limits<double>::infinity();
        bool open = false;
    };
    std::optional<double> number(const Node& node, std::string_view key, Bounds bounds) const;
    /// A text, quoted or not (numbers too: a file may be called 12); not a list, a mapping or null.
    std::optional<std::string> text(const Node& node, std::string_view key) const;
    /// One of the words.
    std::optional<std::string> word(const Node& node, std::string_view key,
                                    const std::vector<std::string>& words) const;
    /// An integer or a list of them, each within the range; free: one -1 is allowed. Their product fits 2^63 - 1.
    std::optional<Shape> shape(const Node& node, std::string_view key, std::int64_t least, bool free = false) const;
    std::optional<DType> dtype(const Node& node, std::string_view key) const;
    /// A hint for a key that belongs to another mapping; empty: it does not.
    using Elsewhere = std::function<std::string(std::string_view key)>;
    /// A mapping; its keys are checked against the table. what: "job 'a'", "`store`". False: it is no mapping.
    bool mapping(const Node& node, std::string_view what, std::span<const Key> keys,
                 const Elsewhere& elsewhere = {}) const;
    /// An error for a key that is none of the names. hint: "" for the nearest of them.
    void unknown(const Node::Entry& entry, std::string_view what, const std::vector<std::string>& names,
                 std::string hint = {}) const;

    /// "KEY is WANTED, not VALUE".
    void wrong(const Node& node, std::string_view key, std::string_view wanted, std::string_view why = {}) const;

  private:
    std::optional<Number> parse(const Node& node, std::string_view key, std::string_view wanted) const;

    Diagnostics& diagnostics_;
};

/// For "op:sum" or "op = sum" where op is one of the names: " (a space is missing after the colon: op: sum)", " (':' in
/// place of '=': op: sum)"; for a non-breaking space that; else nothing.
std::string space_hint(std::string_view text, const std::vector<std::string>& names);
/// For a key that is none of the names: space_hint, else where a comma cut off a number that, else did_you_mean.
std::string key_hint(const Node::Entry& entry, const std::vector<std::string>& names);
/// Is a key that is none of the names most likely this one, mistyped?
bool stands_for(std::string_view key, std::string_view name, const std::vector<std::string>& names);

/// For a path that begins with ~: what to write instead; else nothing.
std::string home_remedy(std::string_view path);

std::vector<std::string> names_of(std::span<const Key> keys);

}  // namespace gridstride::config
