// SPDX-License-Identifier: BSD-3-Clause
// Stored numbers to tensor elements: statistics of what was read, exact conversion. Private to io/hdf5*.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"
#include "io/hdf5.hpp"

namespace gridstride::hdf5 {

/// A stored value that does not convert.
struct Misfit {
    std::int64_t element;
    std::string text;  // "1e+30 does not fit float16 (largest 65504)"
};

/// How elements are made of stored numbers.
struct Rule {
    bool complex = false;  // two numbers an element
    bool boolean = false;
    double scale = 1;
    std::optional<double> nan;
    DType target = DType::float32;
};

/// Converts n elements (each one stored number, or two where complex) to target's dtype. T: a type of
/// with_stored_type(). Returns the first element that does not convert. Cost: one pass.
template <class T>
std::optional<Misfit> to_elements(const T* stored, std::int64_t n, const Rule& rule, std::byte* target);

/// The bits of splitmix64's finalizer: every input bit reaches every output bit.
inline std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

/// Adds a run of n elements to what was seen; first: the flat row-major position of its first element. replaced is not
/// touched.
template <class T>
void observe(const T* values, std::int64_t n, bool complex, std::int64_t first, Statistics& seen) {
    constexpr bool integral = std::is_integral_v<T>;
    const auto word = [](T value) -> std::uint64_t {
        if constexpr (integral) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        } else {
            const auto number = static_cast<double>(value);
            return number != number ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(number);
        }
    };
    const std::int64_t parts = complex ? 2 : 1;
    auto position = static_cast<std::uint64_t>(first * parts + 1) * 0x9e3779b97f4a7c15U;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < n * parts; ++i) {
        sum += mixed(word(values[i]) + position);
        position += 0x9e3779b97f4a7c15U;
    }
    double least = std::numeric_limits<double>::infinity(), most = -least;
    std::int64_t nan = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        double value = 0;
        if (complex) {
            const auto re = static_cast<double>(values[2 * i]), im = static_cast<double>(values[2 * i + 1]);
            value = std::sqrt(re * re + im * im);
            if (!(value < 1e150 && value > 1e-150)) value = re != re || im != im ? re + im : std::hypot(re, im);
            if (re != re || im != im) value = std::numeric_limits<double>::quiet_NaN();
        } else {
            value = static_cast<double>(values[i]);
        }
        least = value < least ? value : least;
        most = value > most ? value : most;
        nan += value != value;
    }
    const bool before = seen.elements > seen.nan, now = n > nan;
    if (now) {
        seen.min = before && seen.min < least ? seen.min : least;
        seen.max = before && seen.max > most ? seen.max : most;
    } else if (!before) {
        seen.min = seen.max = std::numeric_limits<double>::quiet_NaN();
    }
    seen.elements += n;
    seen.nan += nan;
    seen.checksum += sum;
}

}  // namespace gridstride::hdf5
