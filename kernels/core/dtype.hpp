// SPDX-License-Identifier: BSD-3-Clause
// Element types: their names, sizes, limits and promotion rules, and the one bridge from a dtype known at run time
// to a C++ type (with_type).
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/error.hpp"

namespace gridstride {

enum class DType : std::uint8_t { float16, bfloat16, float32, float64, complex64, complex128, int32, int64 };

inline constexpr DType all_dtypes[] = {DType::float16,   DType::bfloat16,   DType::float32, DType::float64,
                                       DType::complex64, DType::complex128, DType::int32,   DType::int64};

using float16 = _Float16;  // storage only: arithmetic is in float or wider
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

/// Brain floating point: the upper half of a float32. Storage only; conversions round once, to nearest even.
struct bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    explicit bfloat16(float value) : bits(round(value)) {}
    explicit bfloat16(double value) : bits(round(to_odd(value))) {}
    explicit bfloat16(long double value) : bits(round(to_odd(value))) {}
    template <class Integer>
    requires std::integral<Integer>
    explicit bfloat16(Integer value) : bfloat16(static_cast<long double>(value)) {}
    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
    explicit operator double() const { return static_cast<float>(*this); }
    explicit operator long double() const { return static_cast<float>(*this); }

  private:
    static std::uint16_t round(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);  // NaN stays
        return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
    }
    /// The float nearest to value with its last bit set where inexact, so that rounding again rounds only once.
    template <class Wide>
    static float to_odd(Wide value) {
        const auto nearest = static_cast<float>(value);
        if (static_cast<Wide>(nearest) == value || value != value) return nearest;
        auto word = std::bit_cast<std::uint32_t>(nearest);
        const bool away = (nearest < 0 ? -static_cast<Wide>(nearest) : static_cast<Wide>(nearest)) >
                          (value < 0 ? -value : value);  // also where the value overflows to Inf
        if (away) --word;                                // toward zero first
        return std::bit_cast<float>(word | 1U);
    }
};

template <class T>
inline constexpr DType dtype_of = DType{0xff};
template <>
inline constexpr DType dtype_of<float16> = DType::float16;
template <>
inline constexpr DType dtype_of<bfloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<complex64> = DType::complex64;
template <>
inline constexpr DType dtype_of<complex128> = DType::complex128;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

/// "float16", ..., as h5py and NumPy name them.
std::string_view name(DType dtype);
/// The dtype of that name, or nothing.
std::optional<DType> dtype_named(std::string_view name);
/// All names, for messages: "float16, bfloat16, ...".
std::string dtype_names();

/// Bytes of one element.
std::size_t size_of(DType dtype);
bool is_complex(DType dtype);
bool is_integer(DType dtype);
bool is_half(DType dtype);
/// float32 of complex64, float64 of complex128, any other itself.
DType real_of(DType dtype);
/// complex64 of float32 and the halves, complex128 of float64; of integers complex128.
DType complex_of(DType dtype);

/// The type numpy.result_type gives; bfloat16 with float16 is float32, with an integer float64.
DType result_type(DType a, DType b);

/// Half the distance from 1 to the next larger number (of a complex type: of its parts); 0 for integers.
double unit_roundoff(DType dtype);
/// The largest finite number of the type (of its parts).
double largest(DType dtype);
/// The smallest positive subnormal (of its parts); 0 for integers.
long double smallest_subnormal(DType dtype);

/// Calls f.operator()<T>() with the T of Ts that stands for dtype; any other dtype is an internal Error. Returns what f
/// returns. The only place where a runtime dtype becomes a type.
template <class... Ts, class F>
decltype(auto) with_type(DType dtype, F&& f) {
    using Result = decltype(f.template operator()<std::tuple_element_t<0, std::tuple<Ts...>>>());
    if constexpr (std::is_void_v<Result>) {
        if (!((dtype == dtype_of<Ts> && (f.template operator()<Ts>(), true)) || ...))
            throw Error(Category::internal, std::string(name(dtype)) + " is not one of this function's types");
    } else {
        std::optional<Result> result;
        if (!((dtype == dtype_of<Ts> && (result.emplace(f.template operator()<Ts>()), true)) || ...))
            throw Error(Category::internal, std::string(name(dtype)) + " is not one of this function's types");
        return Result(std::move(*result));
    }
}

/// with_type over all eight.
template <class F>
decltype(auto) with_any_type(DType dtype, F&& f) {
    return with_type<float16, bfloat16, float, double, complex64, complex128, std::int32_t, std::int64_t>(
        dtype, std::forward<F>(f));
}

}  // namespace gridstride
