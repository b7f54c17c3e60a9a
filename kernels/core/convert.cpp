// SPDX-License-Identifier: BSD-3-Clause
// Conversion of contiguous elements between any two dtypes, one template for all pairs.
#include "core/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/parallel.hpp"

namespace gridstride {

namespace {

template <class From>
auto wide(From value) {  // what a value is before it is narrowed: float of a half, itself otherwise
    if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>)
        return static_cast<float>(value);
    else
        return value;
}

/// False where a real value does not convert.
template <class From, class To>
bool convert_real(From value, To& result, Overflow overflow) {
    if constexpr (std::is_integral_v<To>) {
        if constexpr (std::is_integral_v<From>) {
            result = static_cast<To>(value);
            return std::in_range<To>(value);
        } else {
            constexpr auto limit = static_cast<double>(std::uint64_t{1} << (8 * sizeof(To) - 1));  // 2^31 or 2^63
            const double number = value;
            if (!(number >= -limit && number < limit) || number != std::nearbyint(number)) return false;
            result = static_cast<To>(number);
            return true;
        }
    } else if constexpr (std::is_integral_v<From>) {
        result = To(value);
        return overflow == Overflow::infinity || std::isfinite(static_cast<float>(result)) || sizeof(To) > 4;
    } else {
        result = static_cast<To>(value);
        if constexpr (sizeof(To) < sizeof(From) || std::is_same_v<To, float16>)
            return overflow == Overflow::infinity || std::isfinite(static_cast<float>(result)) || !std::isfinite(value);
        else
            return true;
    }
}

template <class From, class To>
bool convert_one(From value, To& result, Overflow overflow) {
    if constexpr (is_complex_type<From> && is_complex_type<To>) {
        typename To::value_type re, im;
        const bool good = convert_real(value.real(), re, overflow) & convert_real(value.imag(), im, overflow);
        result = To(re, im);
        return good;
    } else if constexpr (is_complex_type<To>) {
        typename To::value_type re;
        const bool good = convert_real(wide(value), re, overflow);
        result = To(re, 0);
        return good;
    } else {
        return convert_real(wide(value), result, overflow);
    }
}

}  // namespace

std::int64_t convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t n,
                     Overflow overflow) {
    if (from == to) {
        std::memcpy(target, source, static_cast<std::size_t>(n) * size_of(from));
        return -1;
    }
    return with_any_type(from, [&]<class From>() {
        return with_any_type(to, [&]<class To>() -> std::int64_t {
            if constexpr (is_complex_type<From> && !is_complex_type<To>) {
                throw Error(Category::internal, "complex values do not convert to real ones");
            } else {
                const auto* values = reinterpret_cast<const From*>(source);
                auto* results = reinterpret_cast<To*>(target);
                constexpr std::int64_t block = 4096;  // converted without a branch, then searched where one failed
                for (std::int64_t begin = 0; begin < n; begin += block) {
                    const std::int64_t end = std::min(n, begin + block);
                    bool good = true;
                    for (std::int64_t i = begin; i < end; ++i) good &= convert_one(values[i], results[i], overflow);
                    if (good) continue;
                    for (std::int64_t i = begin; i < end; ++i) {
                        To scrap;
                        if (!convert_one(values[i], scrap, overflow)) return i;
                    }
                }
                return -1;
            }
        });
    });
}

void store_results(std::string_view op, DType from, const std::byte* source, const Slab& out, int threads) {
    const auto size = static_cast<std::int64_t>(size_of(from)),
               out_size = static_cast<std::int64_t>(size_of(out.spec.dtype));
    constexpr std::int64_t block = 64 * 1024;
    for_blocks(out.spec.size(), block, threads, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t bad = convert(from, source + begin * size, out.spec.dtype, out.data + begin * out_size,
                                         end - begin, Overflow::infinity);
        if (bad >= 0) refuse_result(op, begin + bad, out.spec);
    });
}

void refuse_result(std::string_view op, std::int64_t index, const Spec& out) {
    throw Error(Category::input, fmt::format("{}: result at {} does not convert to {}", op,
                                             index_text(index, out.shape), name(out.dtype)));
}

long double rounded(long double value, DType dtype) {
    return with_any_type(real_of(dtype), [&]<class T>() -> long double {
        if constexpr (is_complex_type<T>)
            return value;  // real_of() gives none
        else if constexpr (std::is_integral_v<T>)
            return static_cast<long double>(static_cast<T>(static_cast<std::int64_t>(value)));
        else
            return static_cast<long double>(static_cast<T>(value));
    });
}

}  // namespace gridstride
