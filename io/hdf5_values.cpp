// SPDX-License-Identifier: BSD-3-Clause
// Conversion of stored numbers to tensor elements, in blocks that stay in cache: widened exactly, NaN replaced and
// scaled in float64, then rounded once by core/convert.
#include "io/hdf5_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/convert.hpp"

namespace gridstride::hdf5 {

namespace {

constexpr std::int64_t exact = std::int64_t{1} << 53;  // the largest n with all of -n .. n in float64

template <class T>
std::string value_text(const T* value, bool complex) {
    const auto one = [](T number) {
        if constexpr (std::is_integral_v<T>)
            return fmt::format("{}", +number);
        else if constexpr (std::is_same_v<T, double>)
            return fmt::format("{}", number);
        else
            return fmt::format("{}", static_cast<float>(number));
    };
    return complex ? fmt::format("({}, {})", one(value[0]), one(value[1])) : one(value[0]);
}

std::string misfit_text(const std::string& value, double scale, const Rule& rule) {
    const std::string scaled = scale == 1 ? value : fmt::format("{} times {}", value, scale);
    if (is_integer(rule.target))
        return fmt::format("{} is not a whole number that {} holds: choose a float dtype{}", scaled, name(rule.target),
                           value == "nan" ? ", or replace it (nan: 0)" : "");
    return fmt::format("{} does not fit {} (largest {:.9g}): choose a wider dtype", scaled, name(rule.target),
                       largest(rule.target));
}

}  // namespace

template <class T>
std::optional<Misfit> to_elements(const T* stored, std::int64_t n, const Rule& rule, std::byte* target) {
    constexpr bool integral = std::is_integral_v<T>;
    constexpr bool halves = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
    constexpr std::int64_t block = 4096;  // numbers
    const std::int64_t parts = rule.complex ? 2 : 1;
    const bool replaces = rule.nan && !integral;
    const bool in_double = rule.scale != 1 || replaces || (integral && rule.complex);
    const bool must_be_exact = integral && (in_double || !is_integer(rule.target));
    const std::size_t target_size = size_of(rule.target);

    const auto misfit = [&](std::int64_t number, std::string_view why) {
        const std::int64_t element = number / parts;
        if constexpr (!integral) {
            const T *value = stored + element * parts, *last = value + parts - 1;
            if (replaces && (std::isnan(static_cast<double>(*value)) || std::isnan(static_cast<double>(*last))))
                return Misfit{element, misfit_text(fmt::format("the replacement of NaN, {},", *rule.nan), 1, rule)};
        }
        const std::string value = value_text(stored + element * parts, rule.complex);
        return Misfit{element, why.empty() ? misfit_text(value, rule.scale, rule) : fmt::format("{} {}", value, why)};
    };
    alignas(64) std::int64_t whole[integral ? block : 1];
    alignas(64) double wide[block];
    alignas(64) float single[halves ? block : 1];
    for (std::int64_t begin = 0; begin < n * parts; begin += block) {
        const std::int64_t count = std::min(block, n * parts - begin);
        const T* values = stored + begin;
        DType from = DType::int64;
        const void* source = values;
        if constexpr (integral) {
            for (std::int64_t i = 0; i < count; ++i) {
                if constexpr (std::is_same_v<T, std::uint64_t>)
                    if (values[i] > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                        return misfit(begin + i, "is above 2^63 - 1, the largest int64");
                whole[i] = static_cast<std::int64_t>(values[i]);
            }
            if (rule.boolean)
                for (std::int64_t i = 0; i < count; ++i)
                    if (whole[i] != 0 && whole[i] != 1) return misfit(begin + i, "is neither 0 nor 1, as a boolean is");
            if (must_be_exact && sizeof(T) == 8)
                for (std::int64_t i = 0; i < count; ++i)
                    if (whole[i] > exact || whole[i] < -exact)
                        return misfit(begin + i, "is beyond 2^53: not every such integer is a float64");
            source = whole;
        } else if constexpr (halves) {
            from = dtype_of<T>;
            if (rule.complex) {
                for (std::int64_t i = 0; i < count; ++i) single[i] = static_cast<float>(values[i]);
                source = single;
                from = DType::float32;
            }
        } else {
            from = dtype_of<T>;
        }
        if (in_double) {
            for (std::int64_t i = 0; i < count; ++i) {
                if constexpr (integral)
                    wide[i] = static_cast<double>(whole[i]);
                else
                    wide[i] = static_cast<double>(values[i]);
            }
            for (std::int64_t i = 0; i < count; i += parts) {
                const bool is_nan = wide[i] != wide[i] || wide[i + parts - 1] != wide[i + parts - 1];
                if (is_nan && replaces) {  // by a value as it should be in the tensor: not scaled
                    wide[i + parts - 1] = 0;
                    wide[i] = *rule.nan;
                    continue;
                }
                for (std::int64_t j = i; j < i + parts; ++j) {
                    const double scaled = wide[j] * rule.scale;
                    if (!std::isfinite(scaled) && std::isfinite(wide[j])) return misfit(begin + i, "");
                    wide[j] = scaled;
                }
            }
            source = wide;
            from = DType::float64;
        }
        if (rule.complex) from = complex_of(from);
        const std::int64_t bad =
            convert(from, static_cast<const std::byte*>(source), rule.target,
                    target + static_cast<std::size_t>(begin / parts) * target_size, count / parts, Overflow::refuse);
        if (bad >= 0) return misfit(begin + bad * parts, "");
    }
    return {};
}

template std::optional<Misfit> to_elements(const std::int8_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::uint8_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::int16_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::uint16_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::int32_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::uint32_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::int64_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const std::uint64_t*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const float16*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const bfloat16*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const float*, std::int64_t, const Rule&, std::byte*);
template std::optional<Misfit> to_elements(const double*, std::int64_t, const Rule&, std::byte*);

}  // namespace gridstride::hdf5
