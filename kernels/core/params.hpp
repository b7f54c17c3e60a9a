// SPDX-License-Identifier: BSD-3-Clause
// Parameters of an operation: their table rows and their values.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/shape.hpp"

namespace gridstride {

/// One value of a parameter, as the job file gave it. std::monostate: not given and no default.
struct Value;
using Values = std::vector<Value>;
struct Value : std::variant<std::monostate, bool, std::int64_t, double, std::string, Values> {
    using variant::variant;
    bool empty() const { return index() == 0; }
};

/// As YAML flow text: 3, 0.5, same, [1, 2].
std::string to_text(const Value& value);

enum class Kind {
    boolean,           // bool
    integer,           // int64
    integers,          // int64, or a list of them
    integers_or_word,  // the same, or one of `words`
    numbers,           // a number, or a list of them
    scalar,            // a number, or [re, im]
    word,              // one of `words`
};

/// The integers that a parameter may be, whatever the inputs.
struct Bounds {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// One row of an operation's parameter table.
struct Param {
    std::string_view name;
    Kind kind;
    std::optional<Value> otherwise;       // the default; Value{}: unset by default; nullopt: required
    std::vector<std::string_view> words;  // allowed words of kind word and integers_or_word
    std::string_view doc;
    Bounds bounds = {};   // of each integer
    bool hidden = false;  // set by `cut` alone; no job file may
};

/// Values by name. After `resolve` every parameter of the operation is there.
class Params {
  public:
    void set(std::string_view name, Value value);
    /// Given and not empty.
    bool has(std::string_view name) const;
    /// The value; an empty one where there is none.
    const Value& get(std::string_view name) const;

    // Errors (internal): the parameter is not there or of another kind (the loader has checked kinds).
    bool boolean(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::vector<std::int64_t> integers(std::string_view name) const;  // an int is a list of one
    std::vector<double> numbers(std::string_view name) const;
    std::complex<double> scalar(std::string_view name) const;
    const std::string& word(std::string_view name) const;
    bool is_word(std::string_view name) const;

    const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  private:
    std::map<std::string, Value, std::less<>> values_;
};

/// Fills in the defaults. Errors (config, where = "params.<name>"): a required parameter is missing; an unknown one;
/// a value of the wrong kind or a word that is not allowed.
Params resolve(const std::vector<Param>& table, const Params& given);

/// The parameter `axes` as axes of the input x, counted from 0, in their order. Errors (config): one that x does not
/// have, one named twice.
std::vector<std::size_t> axes_of(const Params& params, const Shape& x);

/// "an integer or a list of integers, at least 1", for messages.
std::string describe(const Param& param);
/// Whether value is of that kind (an integral double counts as an integer, an integer as a number) and range.
bool fits(const Value& value, const Param& param);

}  // namespace gridstride
