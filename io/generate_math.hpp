// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic behind generated inputs: integers, and float64 + - * / sqrt, so that every machine gets the same bits.
// Library log and sin are not used: they differ in the last bits from one libm to the next. Seen by tests, too.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gridstride::generate {

/// SplitMix64's finaliser: a bijection of 64-bit words that spreads every input bit over all output bits.
constexpr std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, odd

/// Value `index` of the SplitMix64 sequence seeded with `key`.
constexpr std::uint64_t bits_at(std::uint64_t key, std::uint64_t index) {
    return mix(key + (index + 1) * golden);
}

/// The key of an independent stream.
constexpr std::uint64_t stream(std::uint64_t seed, std::uint64_t number) {
    return mix(mix(seed + golden) ^ mix(number));
}

/// [0, 1), a multiple of 2^-53.
constexpr double uniform(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Natural logarithm of a normal number x > 0, within 2 units in the last place. x = m 2^e with m within a factor
/// sqrt(2) of 1, and log m = 2 atanh(s), s = (m - 1) / (m + 1), whose series in s^2 <= 0.0295 ends after 12 terms.
constexpr double log(double x) {
    const auto word = std::bit_cast<std::uint64_t>(x);
    auto exponent = static_cast<std::int64_t>(word >> 52) - 1023;
    double m = std::bit_cast<double>((word & 0x000fffffffffffff) | 0x3ff0000000000000);  // [1, 2)
    if (m > 1.4142135623730951) {
        m *= 0.5;
        ++exponent;
    }
    const double s = (m - 1) / (m + 1), z = s * s;
    double series = 0;
    for (int k = 11; k >= 1; --k) series = (series + 1.0 / (2 * k + 1)) * z;
    const auto e = static_cast<double>(exponent);
    // log 2 in two parts, the first with zeros at its end so that e times it is exact.
    return e * 0x1.62e42fefa38p-1 + (2 * s + (2 * s * series + e * 0x1.ef35793c7673p-45));
}

/// sin(2 pi cycles), |cycles| < 2^62, within 2^-52. The whole turns drop out exactly, then the nearest quarter turn;
/// what is left is at most an eighth, where the Taylor series ends after 10 terms.
constexpr double sin_cycles(double cycles) {
    cycles -= static_cast<double>(static_cast<std::int64_t>(cycles));  // (-1, 1)
    const double quarters = 4 * cycles;
    const auto quarter = static_cast<std::int64_t>(quarters + (quarters < 0 ? -0.5 : 0.5));
    const double angle = (cycles - 0.25 * static_cast<double>(quarter)) * 6.283185307179586;
    const bool cosine = (quarter & 1) != 0;
    double series = 0;  // sin: 1 - a^2/(2 3) (1 - a^2/(4 5) (...)), times a; cos: 1 - a^2/(1 2) (1 - a^2/(3 4) (...))
    for (int k = 10; k >= 1; --k) {
        const int last = cosine ? 2 * k : 2 * k + 1;
        series = (1 + series) * (-angle * angle / (last * (last - 1)));
    }
    const double value = cosine ? 1 + series : angle + angle * series;
    return (quarter & 2) != 0 ? -value : value;
}

/// Standard normal, by Marsaglia's polar method (Marsaglia and Bray, SIAM Review 6, 1964) on a SplitMix64 sequence of
/// the element's own, which `bits` seeds.
inline double normal(std::uint64_t bits) {
    for (std::uint64_t draw = 0;; draw += 2) {
        const double u = 2 * uniform(bits_at(bits, draw)) - 1, v = 2 * uniform(bits_at(bits, draw + 1)) - 1;
        const double square = u * u + v * v;
        if (square < 1 && square > 0) return u * std::sqrt(-2 * log(square) / square);
    }
}

}  // namespace gridstride::generate
