// SPDX-License-Identifier: BSD-3-Clause
// One pass over a whole tensor: NaN, poison, the largest element, whether all elements are equal.
#include "validation/scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/parallel.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t block = 1 << 16;

template <class T>
bool holds_poison(T value) {
    if constexpr (std::is_integral_v<T>) {
        T poison;
        std::memset(&poison, 0xA5, sizeof poison);
        return value == poison;
    } else if constexpr (is_complex_type<T>) {
        return std::isnan(value.real()) || std::isnan(value.imag());
    } else {
        return std::isnan(static_cast<double>(value));
    }
}

template <class T>
double size_of_element(T value) {  // for finding the largest: to double precision
    if constexpr (is_complex_type<T>)
        return std::max(std::abs(static_cast<double>(value.real())), std::abs(static_cast<double>(value.imag())));
    else
        return std::abs(static_cast<double>(value));
}

struct BlockScan {
    std::int64_t poisoned = 0, largest = -1;
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
        std::vector<BlockScan> blocks(static_cast<std::size_t>((n + block - 1) / block));
        for_blocks(n, block, threads, [&](std::int64_t begin, std::int64_t end) {
            BlockScan& found = blocks[static_cast<std::size_t>(begin / block)];
            for (std::int64_t i = begin; i < end; ++i) {
                found.poisoned += holds_poison(values[i]) ? 1 : 0;
                const double size = size_of_element(values[i]);
                if (size > found.size && size <= std::numeric_limits<double>::max()) {
                    found.size = size;
                    found.largest = i;
                }
            }
        });
        double size = -1;
        for (const BlockScan& found : blocks) {
            result.poisoned += found.poisoned;
            if (found.size > size) {
                size = found.size;
                result.largest = found.largest;
            }
        }
        // The poisoned elements number k * poisoned / keep, found by their block's count.
        const std::int64_t wanted = std::min(keep, result.poisoned);
        std::int64_t before = 0, taken = 0;
        for (std::size_t b = 0; b < blocks.size() && taken < wanted; ++b) {
            std::int64_t next = taken * result.poisoned / wanted;
            if (next < before + blocks[b].poisoned) {
                std::int64_t seen = before;
                const std::int64_t begin = static_cast<std::int64_t>(b) * block;
                for (std::int64_t i = begin; i < std::min(n, begin + block) && taken < wanted; ++i) {
                    if (!holds_poison(values[i])) continue;
                    if (seen++ != next) continue;
                    result.some.push_back(i);
                    next = ++taken * result.poisoned / wanted;
                }
            }
            before += blocks[b].poisoned;
        }
    });
    if (!result.some.empty()) result.first = result.some.front();
    if (!is_integer(slab.spec.dtype)) result.nan = result.poisoned;
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
    return std::isnan(value.re) || std::isnan(value.im);
}

}  // namespace gridstride::validation
