// SPDX-License-Identifier: BSD-3-Clause
// Conversion of contiguous elements: real ones in blocks, complex ones as their parts.
#include "core/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "core/parallel.hpp"

namespace gridstride {

namespace {

/// One real value, by the language's rounding; integers come from values known to fit (converts below).
template <class To, class From>
To narrowed(From value) {
    if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>) {
        return static_cast<To>(static_cast<float>(value));
    } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
        constexpr auto limit = static_cast<From>(std::uint64_t{1} << (8 * sizeof(To) - 1));  // 2^31 or 2^63
        return static_cast<To>((value >= -limit) & (value < limit) ? value : 0);
    } else {
        return static_cast<To>(value);
    }
}

/// The least magnitude that rounds to Inf: halfway from the largest number to the power of two above it, a tie that
/// goes to even.
template <class To>
constexpr double overflows_from = std::is_same_v<To, float16>    ? 65520
                                  : std::is_same_v<To, bfloat16> ? 0x1.ffp127
                                                                 : 0x1.ffffffp127;

/// Whether a real value converts: to an integer, where it is whole and in range; to a float, where it is not a finite
/// one that becomes Inf.
template <class To, class From>
bool converts(From value) {
    if constexpr (std::is_same_v<From, float16> || std::is_same_v<From, bfloat16>) {
        return converts<To>(static_cast<float>(value));
    } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
        return std::in_range<To>(value);
    } else if constexpr (std::is_integral_v<To>) {
        return static_cast<From>(narrowed<To>(value)) == value;  // 0 stands for what is out of range
    } else if constexpr (std::is_integral_v<From>) {
        return !std::is_same_v<To, float16> || (value > -65520 && value < 65520);
    } else {
        const From magnitude = std::abs(value);
        return !(magnitude >= static_cast<From>(overflows_from<To>)) | (magnitude > std::numeric_limits<From>::max());
    }
}

/// Whether a value of From may not convert to To.
template <class To, class From>
constexpr bool may_fail(Overflow overflow) {
    if constexpr (std::is_integral_v<To>) return !std::is_integral_v<From> || sizeof(To) < sizeof(From);
    constexpr bool float_or_double = std::is_same_v<From, float> || std::is_same_v<From, double>;
    const bool may_overflow = std::is_same_v<To, float16> || (std::is_same_v<To, bfloat16> && float_or_double) ||
                              (std::is_same_v<To, float> && std::is_same_v<From, double>);
    return overflow == Overflow::refuse && may_overflow;
}

constexpr std::int64_t block = 4096;  // elements converted without a branch, then searched where one failed

template <class From, class To>
void narrow_all(const From* x, To* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = narrowed<To>(x[i]);
}
#ifdef __F16C__  // eight at a time, which the compiler does not find by itself
void narrow_all(const float16* x, float* y, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
    for (; i < n; ++i) y[i] = static_cast<float>(x[i]);
}
void narrow_all(const float* x, float16* y, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; ++i) y[i] = static_cast<float16>(x[i]);
}
#endif

/// Reals to reals, at most one block; the first index that does not convert, or -1.
template <class From, class To>
std::int64_t convert_block(const From* x, To* y, std::int64_t n, Overflow overflow) {
    if constexpr (std::is_same_v<From, To>) {
        std::copy_n(x, n, y);
        return -1;
    } else if constexpr ((std::is_same_v<From, float16> && !std::is_same_v<To, float>) ||
                         (std::is_same_v<From, bfloat16> && std::is_same_v<To, float16>)) {
        float wide[block];  // exact
        narrow_all(x, wide, n);
        return convert_block(wide, y, n, overflow);
    } else {
        narrow_all(x, y, n);
        if (!may_fail<To, From>(overflow)) return -1;
        std::conditional_t<sizeof(From) == 8, std::int64_t, std::int32_t> failures = 0;
        for (std::int64_t i = 0; i < n; ++i) failures |= !converts<To>(x[i]);
        if (failures == 0) return -1;
        return std::find_if(x, x + n, [](From value) { return !converts<To>(value); }) - x;
    }
}

/// f with the real type of that dtype.
template <class F>
decltype(auto) with_real_type(DType dtype, F&& f) {
    return with_type<float16, bfloat16, float, double, std::int32_t, std::int64_t>(dtype, std::forward<F>(f));
}

}  // namespace

std::int64_t convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t n,
                     Overflow overflow) {
    if (n == 0) return -1;  // an empty tensor has no memory to copy from
    if (from == to) {
        if (n > 0) std::memcpy(target, source, static_cast<std::size_t>(n) * size_of(from));
        return -1;
    }
    if (is_complex(from)) {
        if (!is_complex(to)) throw Error(Category::internal, "complex values do not convert to real ones");
        const std::int64_t bad = convert(real_of(from), source, real_of(to), target, 2 * n, overflow);
        return bad < 0 ? bad : bad / 2;
    }
    return with_real_type(from, [&]<class From>() {
        return with_real_type(real_of(to), [&]<class To>() -> std::int64_t {
            const auto* x = reinterpret_cast<const From*>(source);
            auto* y = reinterpret_cast<To*>(target);
            for (std::int64_t begin = 0; begin < n; begin += block) {
                const std::int64_t length = std::min(block, n - begin);
                std::int64_t bad = -1;
                if (is_complex(to)) {
                    if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
                        To real[block];
                        bad = convert_block(x + begin, real, length, overflow);
                        for (std::int64_t i = 0; i < length; ++i) {
                            y[2 * (begin + i)] = real[i];
                            y[2 * (begin + i) + 1] = 0;
                        }
                    }
                } else {
                    bad = convert_block(x + begin, y + begin, length, overflow);
                }
                if (bad >= 0) return begin + bad;
            }
            return -1;
        });
    });
}

void store_results(std::string_view op, DType from, const std::byte* source, const Slab& out, int threads) {
    const auto size = static_cast<std::int64_t>(size_of(from)),
               out_size = static_cast<std::int64_t>(size_of(out.spec.dtype));
    for_blocks(out.spec.size(), 16 * block, threads, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t bad = convert(from, source + begin * size, out.spec.dtype, out.data + begin * out_size,
                                         end - begin, Overflow::infinity);
        if (bad >= 0) refuse_result(op, begin + bad, out.spec, from, source + (begin + bad) * size);
    });
}

void refuse_result(std::string_view op, std::int64_t index, const Spec& out, DType from, const std::byte* value) {
    const std::string why = with_real_type(real_of(from), [&]<class T>() {
        T result;
        std::memcpy(&result, value, sizeof result);
        const std::string at = index_text(index, out.shape);
        if constexpr (std::is_integral_v<T>) {
            return fmt::format("{} at {} is out of {}'s range: choose int64", result, at, name(out.dtype));
        } else {
            using Shown = std::conditional_t<std::is_same_v<T, double>, double, float>;  // in its shortest digits
            const auto shown = static_cast<Shown>(result);
            if (std::isnan(shown))
                return fmt::format("nan at {} is no number that {} holds: choose a float result_dtype", at,
                                   name(out.dtype));
            if (shown != std::nearbyint(shown))
                return fmt::format("{} at {} is not a whole number: choose a float result_dtype", shown, at);
            const bool fits_int64 = shown >= Shown(-0x1p63) && shown < Shown(0x1p63);
            return fmt::format("{} at {} is out of {}'s range: choose {}a float result_dtype", shown, at,
                               name(out.dtype), fits_int64 ? "int64 or " : "");
        }
    });
    throw Error(Category::input, fmt::format("{}: result {}", op, why));
}

long double rounded(long double value, DType dtype) {
    return with_real_type(real_of(dtype), [&]<class T>() -> long double {
        if constexpr (std::is_integral_v<T>) {
            if (!(value >= -0x1p63L && value < 0x1p63L)) return value;
            return static_cast<T>(static_cast<std::int64_t>(std::nearbyint(value)));
        } else {
            return static_cast<long double>(static_cast<T>(value));
        }
    });
}

}  // namespace gridstride
