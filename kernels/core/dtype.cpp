// SPDX-License-Identifier: BSD-3-Clause
// Names, sizes, limits and promotion of dtypes.
#include "core/dtype.hpp"

#include <cmath>

namespace gridstride {

namespace {

constexpr std::string_view names[] = {"float16",   "bfloat16",   "float32", "float64",
                                      "complex64", "complex128", "int32",   "int64"};
constexpr std::size_t sizes[] = {2, 2, 4, 8, 8, 16, 4, 8};

}  // namespace

std::string_view name(DType dtype) {
    return names[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_named(std::string_view word) {
    for (const DType dtype : all_dtypes)
        if (name(dtype) == word) return dtype;
    return {};
}

std::string dtype_names() {
    std::string all;
    for (const auto word : names) {
        if (!all.empty()) all += ", ";
        all += word;
    }
    return all;
}

std::size_t size_of(DType dtype) {
    return sizes[static_cast<std::size_t>(dtype)];
}
bool is_complex(DType dtype) {
    return dtype == DType::complex64 || dtype == DType::complex128;
}
bool is_integer(DType dtype) {
    return dtype == DType::int32 || dtype == DType::int64;
}
bool is_half(DType dtype) {
    return dtype == DType::float16 || dtype == DType::bfloat16;
}

DType real_of(DType dtype) {
    if (dtype == DType::complex64) return DType::float32;
    if (dtype == DType::complex128) return DType::float64;
    return dtype;
}

DType complex_of(DType dtype) {
    if (is_complex(dtype)) return dtype;
    return is_half(dtype) || dtype == DType::float32 ? DType::complex64 : DType::complex128;
}

DType result_type(DType a, DType b) {
    if (a == b) return a;
    if (is_integer(a) && is_integer(b)) return DType::int64;
    if (is_integer(a)) std::swap(a, b);
    if (is_integer(b)) return is_complex(a) ? DType::complex128 : DType::float64;  // int32 and int64 with any float
    const bool wide = real_of(a) == DType::float64 || real_of(b) == DType::float64;
    if (is_complex(a) || is_complex(b)) return wide ? DType::complex128 : DType::complex64;
    return wide ? DType::float64 : DType::float32;
}

double unit_roundoff(DType dtype) {
    switch (real_of(dtype)) {
        case DType::float16:
            return 0x1p-11;
        case DType::bfloat16:
            return 0x1p-8;
        case DType::float32:
            return 0x1p-24;
        case DType::float64:
            return 0x1p-53;
        default:
            return 0;
    }
}

double largest(DType dtype) {
    switch (real_of(dtype)) {
        case DType::float16:
            return 65504;
        case DType::bfloat16:
            return 0x1.fep127;
        case DType::float32:
            return std::numeric_limits<float>::max();
        case DType::float64:
            return std::numeric_limits<double>::max();
        case DType::int32:
            return std::numeric_limits<std::int32_t>::max();
        default:
            return static_cast<double>(std::numeric_limits<std::int64_t>::max());
    }
}

long double smallest_subnormal(DType dtype) {
    switch (real_of(dtype)) {
        case DType::float16:
            return 0x1p-24L;
        case DType::bfloat16:
            return 0x1p-133L;
        case DType::float32:
            return 0x1p-149L;
        case DType::float64:
            return 0x1p-1074L;
        default:
            return 0;
    }
}

}  // namespace gridstride
