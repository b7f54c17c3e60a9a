// SPDX-License-Identifier: BSD-3-Clause
// Parts of a job, read from the tree. Internal to the loader.
#pragma once

#include <set>

#include "io/ascii.hpp"
#include "io/config_expand.hpp"
#include "io/config_values.hpp"

namespace gridstride::config {

/// Of the name of a job.
constexpr bool is_job_character(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

// Keys that mean the same for every operation. Nothing comes back after an error.
std::optional<Store> read_store(const Reader& reader, const Node& node);
std::optional<DeviceChoice> read_device(const Reader& reader, const Node& node);
std::optional<Validate> read_validate(const Reader& reader, const Node& node);
std::optional<Tolerance> read_tolerance(const Reader& reader, const Node& node);
std::optional<Expect> read_expect(const Reader& reader, const Node& node);
std::optional<double> read_timeout(const Reader& reader, const Node& node);

struct LaunchSetting {
    Launch launch;
    std::optional<int> threads;
};
std::optional<LaunchSetting> read_launch(const Reader& reader, const Node& node);

/// `variant` as written: words, whether or not an operation has them.
struct VariantSetting {
    std::vector<std::string> words;
    std::vector<Mark> marks;  // of each
    bool listed = false;
};
std::optional<VariantSetting> read_variant(const Reader& reader, const Node& node);

/// What the parts of a file share while it is read.
struct Scope {
    Diagnostics& diagnostics;
    Variables& variables;
    std::string folder;
    std::set<std::string, std::less<>> jobs{};  // names
};

/// One input, or `against`. The node is not yet expanded, for `$job:/OUTPUT`. key: "inputs.x". resolved: the node as it
/// was understood, as far as it was.
std::optional<Input> read_input(const Scope& scope, const std::string& key, const Node& node, Node& resolved);

/// Is it a name that neither a variable nor a job may have?
bool is_reserved(std::string_view name);

/// The NAME of "$NAME:/...", or nothing.
std::string_view job_named(std::string_view text);

/// A parameter's value, of whatever kind.
std::optional<Value> read_value(const Reader& reader, const Node& node, std::string_view key);

/// The values that apply to all jobs.
struct Shared {
    std::map<std::string, Node, std::less<>> defaults;      // expanded
    std::map<std::string, Node, std::less<>> command_line;  // device, variant, validate
    std::optional<int> threads;                             // of the command line
};

/// Reads a whole job.
Job read_job(const Scope& scope, const Shared& shared, const std::string& name, const Mark& mark, const Node& node);

/// May a kernel of the operation take `launch`? (Variants left out of this build might.)
bool takes_launch(const Entry& entry);
/// The words of the operation's variants, on the devices that the choice allows.
std::vector<std::string> variant_words(const Entry& entry, const DeviceChoice& device = {});

}  // namespace gridstride::config
