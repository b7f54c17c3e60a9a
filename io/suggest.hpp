// SPDX-License-Identifier: BSD-3-Clause
// Names in messages: the nearest to one that was mistyped, and all that there are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gridstride {

/// Insertions, deletions, substitutions and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that word most likely stands for, letters' case aside; empty where none is near enough.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'inputs'?)", or nothing. Words that other programs have for a candidate count too.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// The FILE:/DATASET that text may stand for, its colon forgotten or doubled: the first part that is a file, then the
/// rest. folder: where paths start. Empty where there is none.
std::string meant_dataset(const std::string& folder, const std::string& text);

/// "a, b, c", the first 50.
std::string joined(const std::vector<std::string>& names);

}  // namespace gridstride
