// SPDX-License-Identifier: BSD-3-Clause
// Edit distance, other programs' words, and what is near enough to be meant; lists that end.
#include "io/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "io/ascii.hpp"

namespace gridstride {

namespace {

constexpr std::size_t most_compared = 1000, longest_compared = 200;  // of a hostile file's names

/// The candidate that other programs call so; else nothing.
std::string elsewhere(std::string_view word, const std::vector<std::string>& candidates) {
    static constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"half", "float16"},       {"f16", "float16"}, {"bf16", "bfloat16"},  {"float", "float32"},
        {"single", "float32"},     {"f32", "float32"}, {"double", "float64"}, {"f64", "float64"},
        {"complex", "complex128"}, {"int", "int64"},   {"integer", "int64"},  {"gpu", "cuda"},
        {"fft", "full"},           {"rfft", "half"},   {"irfft", "real"},     {"backward", "inverse"},
        {"true", "transpose"},     {"t", "transpose"}, {"h", "adjoint"},      {"false", "none"},
        {"blas", "openblas"}};
    for (const auto& [theirs, ours] : words)
        if (lower(word) == theirs && std::find(candidates.begin(), candidates.end(), ours) != candidates.end())
            return std::string(ours);
    return {};
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    if (word.empty() || word.size() > 64) return {};
    std::string best;
    std::size_t least = word.size();
    for (std::size_t i = 0; i < std::min(candidates.size(), most_compared); ++i) {
        const std::string& candidate = candidates[i];
        const std::size_t longer = std::max(word.size(), candidate.size());
        if (candidate.size() > longest_compared) continue;
        const std::size_t far = edit_distance(lower(word), lower(candidate));
        if (far < least && far <= std::max<std::size_t>(1, (longer + 1) / 3)) {
            least = far;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    std::string meant = elsewhere(word, candidates);
    if (meant.empty()) meant = nearest(word, candidates);
    return meant.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", meant);
}

std::string meant_dataset(const std::string& folder, const std::string& text) {
    std::error_code ignored;
    for (std::size_t at = text.find_first_of(":/", 1); at != std::string::npos; at = text.find_first_of(":/", at + 1)) {
        const std::string file = text.substr(0, at);
        const std::size_t rest = text.find_first_not_of(":/", at);
        if (rest != std::string::npos &&
            std::filesystem::is_regular_file(std::filesystem::path(folder) / file, ignored))
            return fmt::format("{}:/{}", file, text.substr(rest));
    }
    return {};
}

std::string joined(const std::vector<std::string>& names) {
    constexpr std::ptrdiff_t most = 50;
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + std::min(std::ssize(names), most), ", "),
                       std::ssize(names) > most ? ", ..." : "");
}

}  // namespace gridstride
