// SPDX-License-Identifier: BSD-3-Clause
// Element types: names, sizes, limits, promotion as numpy.result_type, bfloat16's rounding.
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gridstride {
namespace {

constexpr auto f16 = DType::float16, b16 = DType::bfloat16, f32 = DType::float32, f64 = DType::float64,
               c64 = DType::complex64, c128 = DType::complex128, i32 = DType::int32, i64 = DType::int64;

TEST(DTypeNames, AreNumpys) {
    for (const DType dtype : all_dtypes) EXPECT_EQ(dtype_named(name(dtype)), dtype);
    EXPECT_EQ(name(DType::bfloat16), "bfloat16");
    EXPECT_EQ(name(DType::complex128), "complex128");
    EXPECT_EQ(dtype_named("double"), std::nullopt);
    EXPECT_EQ(dtype_named(""), std::nullopt);
    EXPECT_EQ(dtype_names(), "float16, bfloat16, float32, float64, complex64, complex128, int32, int64");
}

TEST(DTypeSizes, AreThoseOfTheTypes) {
    const std::size_t sizes[] = {2, 2, 4, 8, 8, 16, 4, 8};
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(size_of(all_dtypes[i]), sizes[i]) << name(all_dtypes[i]);
    for (const DType dtype : all_dtypes)
        with_any_type(dtype, [&]<class T>() {
            EXPECT_EQ(sizeof(T), size_of(dtype));
            EXPECT_EQ(dtype_of<T>, dtype);
            EXPECT_EQ(is_complex_type<T>, is_complex(dtype));
        });
}

TEST(ResultType, IsNumpysForEveryPair) {
    // numpy.result_type, row with column; bfloat16 with float16 is float32, with an integer float64.
    const DType table[8][8] = {
        // f16   b16   f32   f64   c64   c128  i32   i64
        {f16, f32, f32, f64, c64, c128, f64, f64},         // float16
        {f32, b16, f32, f64, c64, c128, f64, f64},         // bfloat16
        {f32, f32, f32, f64, c64, c128, f64, f64},         // float32
        {f64, f64, f64, f64, c128, c128, f64, f64},        // float64
        {c64, c64, c64, c128, c64, c128, c128, c128},      // complex64
        {c128, c128, c128, c128, c128, c128, c128, c128},  // complex128
        {f64, f64, f64, f64, c128, c128, i32, i64},        // int32
        {f64, f64, f64, f64, c128, c128, i64, i64},        // int64
    };
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j)
            EXPECT_EQ(result_type(all_dtypes[i], all_dtypes[j]), table[i][j])
                << name(all_dtypes[i]) << " with " << name(all_dtypes[j]);
}

TEST(RealAndComplex, OfEachOther) {
    EXPECT_EQ(real_of(c64), f32);
    EXPECT_EQ(real_of(c128), f64);
    EXPECT_EQ(real_of(b16), b16);
    EXPECT_EQ(complex_of(f16), c64);
    EXPECT_EQ(complex_of(b16), c64);
    EXPECT_EQ(complex_of(f32), c64);
    EXPECT_EQ(complex_of(f64), c128);
    EXPECT_EQ(complex_of(i32), c128);
    EXPECT_EQ(complex_of(c64), c64);
}

TEST(Limits, AreThoseOfTheFormats) {
    EXPECT_EQ(unit_roundoff(f16), std::ldexp(1.0, -11));
    EXPECT_EQ(unit_roundoff(b16), std::ldexp(1.0, -8));
    EXPECT_EQ(unit_roundoff(c64), std::ldexp(1.0, -24));
    EXPECT_EQ(unit_roundoff(f64), std::ldexp(1.0, -53));
    EXPECT_EQ(unit_roundoff(i32), 0);
    EXPECT_EQ(largest(f16), 65504);
    EXPECT_EQ(largest(b16), std::ldexp(255.0, 120));
    EXPECT_EQ(largest(f32), std::ldexp(16777215.0, 104));
    EXPECT_EQ(largest(i32), 2147483647);
    EXPECT_EQ(smallest_subnormal(f16), std::ldexp(1.0L, -24));
    EXPECT_EQ(smallest_subnormal(b16), std::ldexp(1.0L, -133));
    EXPECT_EQ(smallest_subnormal(f32), std::ldexp(1.0L, -149));
    EXPECT_EQ(smallest_subnormal(f64), std::ldexp(1.0L, -1074));
    EXPECT_EQ(smallest_subnormal(i64), 0);
}

TEST(WithType, RefusesOtherTypes) {
    EXPECT_EQ((with_type<float, double>(f64, []<class T>() { return sizeof(T); })), 8U);
    EXPECT_THROW((with_type<float, double>(i32, []<class T>() { return sizeof(T); })), Error);
    EXPECT_THROW((with_type<float, double>(i32, []<class T>() {})), Error);
}

std::uint16_t bits(auto value) {
    return bfloat16(value).bits;
}

TEST(BFloat16, RoundsToNearestEven) {
    EXPECT_EQ(bits(1.0F), 0x3f80);
    EXPECT_EQ(bits(1.00390625F), 0x3f80);  // 1 + 2^-8: a tie, to even
    EXPECT_EQ(bits(1.01171875F), 0x3f82);  // 1 + 3 x 2^-8: a tie, to even
    EXPECT_EQ(bits(std::nextafter(1.00390625F, 2.0F)), 0x3f81);
    EXPECT_EQ(bits(std::nextafter(1.01171875F, 1.0F)), 0x3f81);
    EXPECT_EQ(bits(-1.01171875F), 0xbf82);
    EXPECT_EQ(bits(-0.0F), 0x8000);
    EXPECT_EQ(bits(3.0F), 0x4040);
    EXPECT_EQ(bits(std::ldexp(1.0F, -133)), 0x0001);  // the smallest subnormal
    EXPECT_EQ(bits(std::ldexp(1.0F, -134)), 0x0000);  // half of it: a tie, to even
    EXPECT_EQ(bits(std::ldexp(3.0F, -134)), 0x0002);
}

TEST(BFloat16, OverflowsToInfinityFromHalfwayOn) {
    EXPECT_EQ(bits(3.4e38F), 0x7f80);
    EXPECT_EQ(bits(-3.4e38F), 0xff80);
    EXPECT_EQ(bits(std::ldexp(255.0F, 120)), 0x7f7f);  // the largest
    EXPECT_EQ(bits(std::ldexp(511.0F, 119)), 0x7f80);  // halfway to 2^128: a tie, to even
    EXPECT_EQ(bits(std::nextafter(std::ldexp(511.0F, 119), 0.0F)), 0x7f7f);
    EXPECT_EQ(bits(1e300), 0x7f80);
    EXPECT_EQ(bits(-1e4000L), 0xff80);
    EXPECT_EQ(bits(std::numeric_limits<float>::infinity()), 0x7f80);
}

TEST(BFloat16, RoundsDoubleAndLongDoubleOnce) {
    // By way of float32, 1 + 2^-8 + 2^-40 would become the tie 1 + 2^-8, and 1 + 3 x 2^-8 - 2^-40 the tie above it.
    EXPECT_EQ(bits(1 + 0x1p-8 + 0x1p-40), 0x3f81);
    EXPECT_EQ(bits(1 + 0x1p-8 - 0x1p-40), 0x3f80);
    EXPECT_EQ(bits(1 + 0x3p-8 - 0x1p-40), 0x3f81);
    EXPECT_EQ(bits(1 + 0x3p-8 + 0x1p-40), 0x3f82);
    EXPECT_EQ(bits(-(1 + 0x1p-8 + 0x1p-40)), 0xbf81);
    EXPECT_EQ(bits(-(1 + 0x3p-8 - 0x1p-40)), 0xbf81);
    EXPECT_EQ(bits(1 + 0x1p-8L + 0x1p-60L), 0x3f81);
    EXPECT_EQ(bits(1 + 0x3p-8L - 0x1p-60L), 0x3f81);
    EXPECT_EQ(bits(1 + 0x1p-8), 0x3f80);
    EXPECT_EQ(bits(0x1.fefffffffp127), 0x7f7f);  // just below halfway to 2^128
    EXPECT_EQ(bits(0x1.feffffffffffffp127L), 0x7f7f);
    EXPECT_EQ(bits(0x1p-134 * (1 + 0x1p-30)), 0x0001);  // just above half the smallest
    EXPECT_EQ(bits(0x1p-134 * (1 - 0x1p-30)), 0x0000);
    EXPECT_EQ(bits(1e-300), 0x0000);
    EXPECT_EQ(bits(-1e-300), 0x8000);
}

TEST(BFloat16, IntegersRoundOnce) {
    EXPECT_EQ(bits(256), 0x4380);
    EXPECT_EQ(bits(257), 0x4380);  // a tie, to even
    EXPECT_EQ(bits(259), 0x4382);
    EXPECT_EQ(bits((std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1), 0x5381);  // just above a tie
}

TEST(BFloat16, NanStaysNan) {
    const auto is_nan = [](std::uint16_t word) { return (word & 0x7fff) > 0x7f80; };
    EXPECT_TRUE(is_nan(bits(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_TRUE(is_nan(bits(std::bit_cast<float>(0x7f800001U))));  // a payload in the lost bits alone
    EXPECT_TRUE(is_nan(bits(std::bit_cast<float>(0xffffffffU))));
    EXPECT_TRUE(is_nan(bits(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_TRUE(is_nan(bits(-std::numeric_limits<long double>::quiet_NaN())));
}

TEST(BFloat16, EveryPatternSurvivesFloat32) {
    for (unsigned word = 0; word < 0x10000; ++word) {
        bfloat16 value;
        value.bits = static_cast<std::uint16_t>(word);
        const auto wide = static_cast<float>(value);
        if (std::isnan(wide)) continue;
        EXPECT_EQ(bits(wide), word);
        EXPECT_EQ(bits(static_cast<double>(wide)), word);
        EXPECT_EQ(bits(static_cast<long double>(wide)), word);
    }
}

}  // namespace
}  // namespace gridstride
