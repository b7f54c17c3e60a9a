// SPDX-License-Identifier: BSD-3-Clause
// $name, ${...}, ${env:NAME:-default} and integer arithmetic in the values of a job file. Internal to the loader.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/config_tree.hpp"

namespace gridstride::config {

/// Names that exist only where a case's outputs are named.
inline constexpr std::string_view case_names[] = {"job", "variant", "device"};

/// Why a text cannot be expanded. reported: a variable's own error, told already where it is defined.
struct ExpandError {
    std::string message;
    bool reported = false;
};

/// The variables of a job file and what they stand for.
class Variables {
  public:
    /// vars: name -> value as written. jobs: names that a message may suggest. elsewhere: variables that only the sweep
    /// of some job sets, and which.
    Variables(std::map<std::string, Node> vars, std::vector<std::string> jobs,
              std::map<std::string, std::string> elsewhere = {});

    bool has(const std::string& name) const { return forgiving_ || variables_.count(name) > 0; }

    /// From now on a variable that does not exist is one that an error, told already, has kept from being set.
    void forgive() { forgiving_ = true; }

    /// Works all of them out; the errors go to diagnostics.
    void resolve(Diagnostics& diagnostics);

    /// node with every value in it expanded; a scalar that is exactly one variable takes its value and type. Errors go
    /// to diagnostics, and then nothing comes back.
    std::optional<Node> expand(const Node& node, Diagnostics& diagnostics);

    /// A text with variables expanded, and `more`, which goes first. Throws ExpandError.
    std::string expand(std::string_view text, const std::map<std::string, std::string>& more) const;

    /// The text with all but the case's names expanded: "$n/$variant.h5" -> "512/${variant}.h5". Throws ExpandError.
    std::string settle(std::string_view text) const;

  private:
    struct Variable {
        Node raw, value;
        enum class State { untouched, busy, done, failed } state = State::untouched;
    };

    const Node& value_of(const std::string& name) const;
    std::string text_of(const std::string& name) const;
    std::int64_t integer_of(const std::string& name) const;
    std::string write(std::string_view text, const std::map<std::string, std::string>& more, bool settle) const;
    Node expand_scalar(const Node& node);
    bool expand_into(const Node& node, Node& result, Diagnostics& diagnostics);
    void work_out(const std::string& name, Diagnostics& diagnostics, int depth);
    void need(const Node& node, Diagnostics& diagnostics, int depth);

    std::map<std::string, Variable> variables_;
    std::vector<std::string> jobs_;
    std::map<std::string, std::string> elsewhere_;
    Budget budget_;
    bool forgiving_ = false;
};

/// Integer arithmetic as Python's: + - * // % ( ), names looked up by the caller. Throws ExpandError: overflow,
/// division by zero, what is not of this form.
std::int64_t evaluate(std::string_view expression, const std::function<std::int64_t(const std::string&)>& variable);

/// The variables that the texts of a value name.
void names_in(const Node& node, std::set<std::string>& names);

/// The text with each dollar doubled: it expands to itself.
std::string escaped(std::string_view text);

/// Is it a variable's name: a letter or `_`, then letters, digits, `_`?
bool is_variable_name(std::string_view name);

}  // namespace gridstride::config
