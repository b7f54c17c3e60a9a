// SPDX-License-Identifier: BSD-3-Clause
// Conversion between all pairs of dtypes: values, rounding, what is refused and where.
#include "core/convert.hpp"

#include <cmath>
#include <limits>

#include "support/run.hpp"

namespace gridstride::support {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Converted to To, poisoned before; `bad` gets the index.
template <class To>
Tensor converted_to(const Tensor& x, Overflow overflow = Overflow::refuse, std::int64_t* bad = nullptr) {
    Tensor y(Spec{dtype_of<To>, x.spec().shape});
    poison(y.slab());
    const std::int64_t index = convert(x.spec().dtype, x.data(), dtype_of<To>, y.data(), x.spec().size(), overflow);
    if (bad != nullptr)
        *bad = index;
    else
        EXPECT_EQ(index, -1);
    return y;
}

template <class To>
std::int64_t refused_at(const Tensor& x, Overflow overflow = Overflow::refuse) {
    std::int64_t bad = 0;
    converted_to<To>(x, overflow, &bad);
    return bad;
}

TEST(Convert, KeepsSmallWholeNumbersBetweenAllPairs) {
    // -100 to 100, exact in every type; a length that is odd and crosses blocks.
    for (const DType from : all_dtypes)
        for (const DType to : all_dtypes) {
            const std::int64_t n = 2 * 4096 + 13;
            Tensor x(Spec{from, {n}}), y(Spec{to, {n}});
            with_any_type(from, [&]<class T>() {
                for (std::int64_t i = 0; i < n; ++i) {
                    if constexpr (is_complex_type<T>)
                        x.as<T>()[i] = T(static_cast<float>(i % 201 - 100), static_cast<float>(i % 7));
                    else
                        x.as<T>()[i] = T(static_cast<float>(i % 201 - 100));
                }
            });
            poison(y.slab());
            if (is_complex(from) && !is_complex(to)) {
                EXPECT_THROW(convert(from, x.data(), to, y.data(), n, Overflow::refuse), Error);
                continue;
            }
            for (const Overflow overflow : {Overflow::refuse, Overflow::infinity}) {
                EXPECT_EQ(convert(from, x.data(), to, y.data(), n, overflow), -1);
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < n; ++i)
                    wrong += real_part(y.slab(), i) != static_cast<long double>(i % 201 - 100) ||
                             imaginary_part(y.slab(), i) != (is_complex(from) ? static_cast<long double>(i % 7) : 0);
                EXPECT_EQ(wrong, 0) << name(from) << " to " << name(to);
            }
        }
}

TEST(Convert, EveryFloat16IsItsValue) {
    Tensor x(Spec{DType::float16, {65536}});
    for (std::int64_t i = 0; i < 65536; ++i) x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
    const auto y = values<float>(converted_to<float>(x));
    const auto wide = values<double>(converted_to<double>(x));
    const Tensor back = converted_to<float16>(converted_to<float>(x));
    for (int i = 0; i < 65536; ++i) {
        const int exponent = i >> 10 & 31, fraction = i & 1023;
        const auto at = static_cast<std::size_t>(i);
        if (exponent == 31 && fraction != 0) {
            ASSERT_TRUE(std::isnan(y[at]) && std::isnan(wide[at]));
            ASSERT_TRUE(std::isnan(static_cast<float>(back.as<float16>()[i])));
            continue;
        }
        float expected = exponent == 31  ? inf
                         : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                         : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
        if (i >= 0x8000) expected = -expected;
        ASSERT_EQ(y[at], expected);
        ASSERT_EQ(wide[at], static_cast<double>(expected));
        ASSERT_EQ(back.as<std::uint16_t>()[i], i);
    }
}

TEST(Convert, RoundsToNearestEvenOnce) {
    // float16 steps by 2^-10 above 1: ties to even; what lies just beside a tie must not become one on the way.
    const std::vector<double> x = {
        1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x3p-11 - 0x1p-40, -(1 + 0x1p-11), 0x1p-25, 0x1.8p-24,
        65519.99,    0.1};
    const std::vector<float> y = {1, 1 + 0x1p-9F, 1 + 0x1p-10F, 1 + 0x1p-10F, -1, 0, 0x1p-23F, 65504, 1638.0F / 16384};
    EXPECT_EQ(values<float16>(converted_to<float16>(make<double>({9}, x))), y);
    const Tensor singles =
        make<float>({10}, {1 + 0x1p-11F, 1 + 0x3p-11F, 1 + 0x1p-11F + 0x1p-23F, 1 + 0x3p-11F - 0x1p-23F,
                           -(1 + 0x1p-11F), 0x1p-25F, 0x1.8p-24F, 65519.99F, 0.1F, -0.0F});
    const auto halves = values<float16>(converted_to<float16>(singles));
    EXPECT_EQ(std::vector<float>(halves.begin(), halves.end() - 1), y);
    EXPECT_TRUE(std::signbit(halves[9]));
    EXPECT_EQ(values<bfloat16>(converted_to<bfloat16>(make<float>({3}, {1.00390625F, 1.01171875F, 1.004F}))),
              (std::vector<float>{1, 1.015625F, 1.0078125F}));
    EXPECT_EQ(values<bfloat16>(converted_to<bfloat16>(make<double>({2}, {1 + 0x1p-8 + 0x1p-40, 0.1}))),
              (std::vector<float>{1.0078125F, 205.0F / 2048}));
    EXPECT_EQ(values<float>(converted_to<float>(make<double>({2}, {1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-50}))),
              (std::vector<float>{1, 1 + 0x1p-23F}));
    EXPECT_EQ(values<float16>(converted_to<float16>(make<bfloat16>({2}, {3.140625F, 0x1p-20F}))),
              (std::vector<float>{3.140625F, 0x1p-20F}));
    EXPECT_EQ(values<float16>(converted_to<float16>(make<std::int32_t>({2}, {2049, 2051}))),
              (std::vector<float>{2048, 2052}));
    EXPECT_EQ(values<float>(converted_to<float>(make<std::int64_t>({2}, {16777217, (1LL << 60) + (1LL << 36) + 1}))),
              (std::vector<float>{16777216, 0x1.000002p60F}));
    EXPECT_EQ(values<double>(converted_to<double>(make<std::int64_t>({1}, {(1LL << 53) + 1}))),
              (std::vector<double>{0x1p53}));
}

TEST(Convert, FiniteValuesThatOverflowAreRefusedOrInfinite) {
    // The least that overflow, and the largest that do not, in a place beyond the first block.
    const auto check = [](auto type, const auto& make_at, auto fits, auto overflows) {
        using To = decltype(type);
        EXPECT_EQ(refused_at<To>(make_at(fits)), -1);
        EXPECT_EQ(refused_at<To>(make_at(-fits)), -1);
        EXPECT_EQ(refused_at<To>(make_at(overflows)), 5001);
        EXPECT_EQ(refused_at<To>(make_at(-overflows)), 5001);
        EXPECT_EQ(refused_at<To>(make_at(overflows), Overflow::infinity), -1);
        const Tensor y = converted_to<To>(make_at(overflows), Overflow::infinity);
        EXPECT_EQ(real_part(y.slab(), 5001), static_cast<long double>(inf));
        EXPECT_EQ(real_part(y.slab(), 5000), 1);
    };
    const auto doubles = [](double value) {
        return generate<double>({6007}, [=](std::int64_t i) { return i == 5001 ? value : 1; });
    };
    const auto floats = [](float value) {
        return generate<float>({6007}, [=](std::int64_t i) { return i == 5001 ? value : 1.0F; });
    };
    const auto brains = [](float value) {
        return generate<bfloat16>({6007}, [=](std::int64_t i) { return i == 5001 ? value : 1.0F; });
    };
    const auto longs = [](std::int64_t value) {
        return generate<std::int64_t>({6007}, [=](std::int64_t i) { return i == 5001 ? value : 1; });
    };
    check(float(), doubles, 0x1.fffffefffp127, 0x1.ffffffp127);
    check(float16(), doubles, 65519.99999, 65520.0);
    check(float16(), floats, 65519.99F, 65520.0F);
    check(float16(), brains, 65280.0F, 65536.0F);
    check(float16(), longs, std::int64_t{65519}, std::int64_t{65520});
    check(bfloat16(), doubles, 0x1.fefffffffp127, 0x1.ffp127);
    check(bfloat16(), floats, 0x1.fefffep127F, 0x1.ffp127F);
    // Inf and NaN are no overflow.
    EXPECT_EQ(refused_at<float16>(make<double>({3}, {inf, -inf, nan})), -1);
    EXPECT_EQ(refused_at<float>(make<double>({3}, {inf, -inf, nan})), -1);
    EXPECT_EQ(refused_at<bfloat16>(make<float>({3}, {inf, -inf, nan})), -1);
    const auto kept = values<float16>(converted_to<float16>(make<float>({3}, {inf, -inf, nan})));
    EXPECT_EQ(kept[0], inf);
    EXPECT_EQ(kept[1], -inf);
    EXPECT_TRUE(std::isnan(kept[2]));
    // Either part of a complex number.
    EXPECT_EQ(refused_at<complex64>(make<complex128>({3}, {{1, 2}, {1, 1e39}, {1e39, 0}})), 1);
    EXPECT_EQ(refused_at<complex64>(make<double>({3}, {1, 2, 1e39})), 2);
}

TEST(Convert, ToIntegersTakesWholeNumbersInRange) {
    EXPECT_EQ(
        values<std::int32_t>(converted_to<std::int32_t>(make<double>({4}, {-2147483648.0, 2147483647.0, -0.0, 7}))),
        (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 2147483647, 0, 7}));
    EXPECT_EQ(values<std::int64_t>(converted_to<std::int64_t>(make<double>({2}, {-0x1p63, 0x1.fffffffffffffp62}))),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 9223372036854774784}));
    EXPECT_EQ(values<std::int64_t>(converted_to<std::int64_t>(make<float>({1}, {0x1p62F}))),
              (std::vector<std::int64_t>{1LL << 62}));
    EXPECT_EQ(values<std::int32_t>(converted_to<std::int32_t>(make<std::int64_t>({2}, {-5, 2147483647}))),
              (std::vector<std::int32_t>{-5, 2147483647}));
    for (const Overflow overflow : {Overflow::refuse, Overflow::infinity}) {
        for (const double wrong :
             {0.5, -1e-300, 2147483648.0, -2147483649.0, 1e300, std::nan(""), double{inf}, -double{inf}})
            EXPECT_EQ(refused_at<std::int32_t>(
                          generate<double>({9000}, [=](std::int64_t i) { return i == 8191 ? wrong : 3; }), overflow),
                      8191)
                << wrong;
        for (const double wrong : {0.5, 0x1p63, -0x1.0000000000001p63, std::nan("")})
            EXPECT_EQ(refused_at<std::int64_t>(make<double>({3}, {1, wrong, wrong}), overflow), 1) << wrong;
        for (const float wrong : {0.5F, 0x1p31F, -0x1.000002p31F, nan, inf})
            EXPECT_EQ(refused_at<std::int32_t>(make<float>({3}, {1, 2, wrong}), overflow), 2) << wrong;
        EXPECT_EQ(refused_at<std::int64_t>(make<float>({2}, {0x1p63F, 1}), overflow), 0);
        EXPECT_EQ(refused_at<std::int32_t>(make<float16>({3}, {1, 1.5F, 2}), overflow), 1);
        EXPECT_EQ(refused_at<std::int64_t>(make<bfloat16>({3}, {1, 2, 1e30F}), overflow), 2);
        EXPECT_EQ(refused_at<std::int32_t>(make<std::int64_t>({3}, {1, 2147483648, 1LL << 32}), overflow), 1);
        EXPECT_EQ(refused_at<std::int32_t>(make<std::int64_t>({1}, {-2147483649}), overflow), 0);
    }
}

TEST(Convert, OfNothingDoesNothing) {
    EXPECT_EQ(convert(DType::float32, nullptr, DType::float64, nullptr, 0, Overflow::refuse), -1);
    EXPECT_EQ(convert(DType::float32, nullptr, DType::float32, nullptr, 0, Overflow::refuse), -1);
}

TEST(Convert, MovesBitsOfTheSameType) {
    Tensor x(Spec{DType::float16, {65536}});
    for (std::int64_t i = 0; i < 65536; ++i) x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
    EXPECT_EQ(bits(converted_to<float16>(x)), bits(x));
}

TEST(StoreResults, NamesTheLowestPlaceOnAnyThreadCount) {
    const Tensor x = generate<double>({400, 1000}, [](std::int64_t i) { return i >= 66666 ? 0.5 : 1; });
    const Tensor y(Spec{DType::int64, {400, 1000}});
    for (const int threads : {1, 2, 7})
        EXPECT_EQ(message_of([&] { store_results("dft", DType::float64, x.data(), y.slab(), threads); }),
                  "dft: result 0.5 at (66, 666) is not a whole number: choose a float result_dtype");
}

TEST(StoreResults, SaysWhatTheValueIsAndWhatWouldBeRight) {
    const auto message = [](const Tensor& x, DType to) {
        const Tensor y(Spec{to, x.spec().shape});
        return message_of([&] { store_results("copy", x.spec().dtype, x.data(), y.slab(), 1); });
    };
    EXPECT_EQ(message(make<float>({}, {3e38F}), DType::int32),
              "copy: result 3e+38 at () is out of int32's range: choose a float result_dtype");
    EXPECT_EQ(message(make<double>({}, {2147483648.0}), DType::int32),
              "copy: result 2147483648 at () is out of int32's range: choose int64 or a float result_dtype");
    EXPECT_EQ(message(make<float>({}, {-inf}), DType::int64),
              "copy: result -inf at () is out of int64's range: choose a float result_dtype");
    EXPECT_EQ(message(make<float16>({1, 2}, {2, 2.5F}), DType::int32),
              "copy: result 2.5 at (0, 1) is not a whole number: choose a float result_dtype");
    EXPECT_EQ(message(make<std::int64_t>({2}, {1, -3000000000}), DType::int32),
              "copy: result -3000000000 at (1,) is out of int32's range: choose int64");
}

TEST(Rounded, IsToTheTypeOnce) {
    EXPECT_EQ(rounded(1 + 0x1p-8L + 0x1p-60L, DType::bfloat16), 1.0078125L);
    EXPECT_EQ(rounded(1 + 0x1p-11L + 0x1p-60L, DType::float16), 1 + 0x1p-10L);
    EXPECT_EQ(rounded(1 + 0x1p-11L, DType::float16), 1);
    EXPECT_EQ(rounded(1 + 0x1p-24L + 0x1p-60L, DType::float32), 1 + 0x1p-23L);
    EXPECT_EQ(rounded(1 + 0x1p-24L + 0x1p-60L, DType::complex64), 1 + 0x1p-23L);
    EXPECT_EQ(rounded(1 + 0x1p-53L, DType::float64), 1);
    EXPECT_EQ(rounded(65520, DType::float16), static_cast<long double>(inf));
    EXPECT_EQ(rounded(-3.4e38L, DType::bfloat16), static_cast<long double>(-inf));
    EXPECT_EQ(rounded(1e4000L, DType::float64), static_cast<long double>(inf));
    EXPECT_TRUE(std::isnan(rounded(std::nanl(""), DType::float32)));
}

TEST(Rounded, IntegersAreNearestAndWrap) {
    EXPECT_EQ(rounded(2.9999L, DType::int64), 3);
    EXPECT_EQ(rounded(-2.9999L, DType::int32), -3);
    EXPECT_EQ(rounded(2147483648.0L, DType::int32), -2147483648.0L);
    EXPECT_EQ(rounded(4294967301.0L, DType::int32), 5);
    EXPECT_EQ(rounded(-0x1p63L, DType::int64), -0x1p63L);
    EXPECT_EQ(rounded(9223372036854775807.0L, DType::int64), 9223372036854775807.0L);
    EXPECT_EQ(rounded(0x1p63L, DType::int64), 0x1p63L);  // no int64 equals it
    EXPECT_TRUE(std::isnan(rounded(std::nanl(""), DType::int64)));
}

}  // namespace
}  // namespace gridstride::support
