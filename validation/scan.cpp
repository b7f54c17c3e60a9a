// SPDX-License-Identifier: BSD-3-Clause
// One pass over a whole tensor: NaN, poison, the largest element, whether all elements are equal.
#include "validation/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/parallel.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t scanned_a_block = 1 << 16;

/// The real number that poison() writes.
template <class T>
T poison_of() {
    std::array<unsigned char, sizeof(T)> bytes;
    bytes.fill(std::is_integral_v<T> ? 0xA5 : 0xFF);
    return std::bit_cast<T>(bytes);
}

template <class T>
bool is_poison(const T& value) {
    const T poison = poison_of<T>();
    return std::memcmp(&value, &poison, sizeof poison) == 0;
}

template <class T>
bool holds_poison(const T& value) {
    if constexpr (is_complex_type<T>)
        return is_poison(value.real()) || is_poison(value.imag());
    else
        return is_poison(value);
}

template <class T>
bool holds_nan(const T& value) {
    if constexpr (is_complex_type<T>)
        return std::isnan(value.real()) || std::isnan(value.imag());
    else if constexpr (std::is_integral_v<T>)
        return false;
    else
        return std::isnan(static_cast<double>(value));
}

template <class T>
bool is_suspect(const T& value) {  // every poisoned float is a NaN
    return std::is_integral_v<T> ? holds_poison(value) : holds_nan(value);
}

template <class T>
double size_of_element(T value) {  // for finding the largest: to double precision
    if constexpr (is_complex_type<T>)
        return std::max(std::abs(static_cast<double>(value.real())), std::abs(static_cast<double>(value.imag())));
    else
        return std::abs(static_cast<double>(value));
}

struct BlockScan {
    std::int64_t suspects = 0, poisoned = 0, first = -1, first_poisoned = -1, largest = -1;
    double size = -1;
};

}  // namespace

Complex element(const Slab& slab, std::int64_t index) {
    return with_any_type(slab.spec.dtype, [&]<class T>() -> Complex {
        const T value = slab.as<const T>()[index];
        if constexpr (is_complex_type<T>)
            return {value.real(), value.imag()};
        else
            return {static_cast<long double>(value), 0};
    });
}

Scan scan(const Slab& slab, std::int64_t keep, int threads) {
    Scan result;
    const std::int64_t n = slab.spec.size();
    with_any_type(slab.spec.dtype, [&]<class T>() {
        const T* values = slab.as<const T>();
        std::vector<BlockScan> blocks(static_cast<std::size_t>((n + scanned_a_block - 1) / scanned_a_block));
        for_blocks(n, scanned_a_block, threads, [&](std::int64_t begin, std::int64_t end) {
            BlockScan& found = blocks[static_cast<std::size_t>(begin / scanned_a_block)];
            for (std::int64_t i = begin; i < end; ++i) {
                if (is_suspect(values[i])) {
                    if (found.suspects++ == 0) found.first = i;
                    if (holds_poison(values[i]) && found.poisoned++ == 0) found.first_poisoned = i;
                }
                const double size = size_of_element(values[i]);
                if (size > found.size && size <= std::numeric_limits<double>::max()) {
                    found.size = size;
                    found.largest = i;
                }
            }
        });
        double size = -1;
        std::int64_t suspects = 0, first = -1;
        for (const BlockScan& found : blocks) {
            if (first < 0) first = found.first;
            if (result.first < 0) result.first = found.first_poisoned;
            suspects += found.suspects;
            result.poisoned += found.poisoned;
            if (found.size > size) {
                size = found.size;
                result.largest = found.largest;
            }
        }
        if (!is_integer(slab.spec.dtype)) {
            result.nan = suspects;
            result.first_nan = first;
        }
        // The suspects number k * suspects / keep, found by their block's count.
        const std::int64_t wanted = std::min(keep, suspects);
        std::int64_t before = 0, taken = 0;
        for (std::size_t b = 0; b < blocks.size() && taken < wanted; ++b) {
            std::int64_t next = taken * suspects / wanted;
            if (next < before + blocks[b].suspects) {
                std::int64_t seen = before;
                const std::int64_t begin = static_cast<std::int64_t>(b) * scanned_a_block;
                for (std::int64_t i = begin; i < std::min(n, begin + scanned_a_block) && taken < wanted; ++i) {
                    if (!is_suspect(values[i])) continue;
                    if (seen++ != next) continue;
                    result.some.push_back(i);
                    next = ++taken * suspects / wanted;
                }
            }
            before += blocks[b].suspects;
        }
    });
    return result;
}

bool constant(const Slab& slab) {
    const std::int64_t n = slab.spec.size();
    if (n == 0) return false;
    return with_any_type(slab.spec.dtype, [&]<class T>() {
        const T* values = slab.as<const T>();
        if constexpr (is_complex_type<T> || std::is_integral_v<T>) {
            return std::all_of(values, values + n, [&](const T& value) { return value == values[0]; });
        } else {
            const auto first = static_cast<double>(values[0]);
            return std::all_of(values, values + n, [&](const T& value) { return static_cast<double>(value) == first; });
        }
    });
}

bool poisoned(const Complex& value, DType dtype) {
    if (dtype == DType::int32) return holds_poison(static_cast<std::int32_t>(value.re));
    if (dtype == DType::int64) return holds_poison(static_cast<std::int64_t>(value.re));
    // A conversion to long double keeps a NaN's sign and payload: the poison's, converted alike, is compared.
    return with_type<float16, bfloat16, float, double>(real_of(dtype), [&]<class T>() {
        const auto wide = static_cast<long double>(poison_of<T>());
        constexpr std::size_t bytes = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof wide;  // x87 pads
        return std::memcmp(&value.re, &wide, bytes) == 0 || std::memcmp(&value.im, &wide, bytes) == 0;
    });
}

}  // namespace gridstride::validation
