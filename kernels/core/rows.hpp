// SPDX-License-Identifier: BSD-3-Clause
// Elements of a row read as, and written from, float or double, for inner loops that are to be vectorised: g++ (12, 13)
// leaves loops over _Float16 scalar, so float16 and bfloat16 are converted in integer operations here. The values are
// those of the conversions of the language and of dtype.hpp, bit for bit (the payloads of NaNs aside).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/dtype.hpp"

namespace gridstride {

namespace rows {

using Bits [[gnu::may_alias]] = std::uint16_t;  // of a float16 in memory

inline std::uint32_t mask(bool yes) {
    return 0U - static_cast<std::uint32_t>(yes);
}

/// The float of a float16's bits: its exponent and fraction put in place and scaled exactly, subnormals included.
inline float from_half(std::uint32_t half) {
    const float magnitude = std::bit_cast<float>((half & 0x7fffU) << 13) * 0x1p112f;
    const std::uint32_t special = mask((half & 0x7c00U) == 0x7c00U) & 0x7f800000U;  // Inf and NaN
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | special | (half & 0x8000U) << 16);
}

/// The bits of the nearest float16, ties to even. Adding 1/2 rounds a subnormal result at its last place.
inline std::uint16_t to_half(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = word & 0x7fffffffU;
    const std::uint32_t normal = (std::min(size, 0x47800000U) - 0x38000000U + 0xfffU + ((size >> 13) & 1U)) >> 13;
    const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F);
    const std::uint32_t is_subnormal = mask(size < 0x38800000U), is_large = mask(size > 0x47800000U);
    const std::uint32_t finite = ((subnormal & is_subnormal) | (normal & ~is_subnormal)) & ~is_large;
    const std::uint32_t special = (is_large & 0x7c00U) | (mask(size > 0x7f800000U) & 0x200U);
    return static_cast<std::uint16_t>(finite | special | (word >> 16 & 0x8000U));
}

/// The bits of the nearest bfloat16, ties to even.
inline std::uint16_t to_bfloat(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t is_nan = mask((word & 0x7fffffffU) > 0x7f800000U);
    const std::uint32_t rounded = (word + 0x7fffU + (word >> 16 & 1U)) >> 16;
    return static_cast<std::uint16_t>((rounded & ~is_nan) | ((word >> 16 | 0x40U) & is_nan));
}

}  // namespace rows

/// row[k] as A (float or double), exact.
template <class A, class T>
A load(const T* row, std::int64_t k) {
    if constexpr (std::is_same_v<T, float16>)
        return rows::from_half(reinterpret_cast<const rows::Bits*>(row)[k]);
    else if constexpr (std::is_same_v<T, bfloat16>)
        return std::bit_cast<float>(std::uint32_t{row[k].bits} << 16);
    else
        return static_cast<A>(row[k]);
}

/// row[k] = value, rounded once.
template <class A, class T>
void store(T* row, std::int64_t k, A value) {
    if constexpr (std::is_same_v<T, float16> && std::is_same_v<A, float>)
        reinterpret_cast<rows::Bits*>(row)[k] = rows::to_half(value);
    else if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<A, float>)
        row[k].bits = rows::to_bfloat(value);
    else
        row[k] = static_cast<T>(value);
}

}  // namespace gridstride
