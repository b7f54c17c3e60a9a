// SPDX-License-Identifier: BSD-3-Clause
// Two datasets compared: what counts as a difference, the numbers said of it (worked out by hand), the places.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/hdf5_compare.hpp"
#include "support.hpp"

namespace gridstride::hdf5 {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

class Compare : public ::testing::Test {
  protected:
    std::string path(const std::string& file) const { return folder / file; }
    template <class T>
    Info saved(const std::string& file, const Shape& shape, const std::vector<T>& values, const Layout& layout = {}) {
        Tensor tensor({dtype_of<T>, shape});
        std::copy(values.begin(), values.end(), tensor.as<T>());
        Writer writer(path(file));
        writer.create("/x", tensor.spec(), layout);
        writer.write("/x", whole(shape), tensor.slab());
        writer.commit();
        return describe(path(file), "/x");
    }
    /// The same of a type that the library does not write.
    Info stored(const std::string& file, hid_t type, const Shape& shape, hid_t given, const void* data) const {
        {
            const testing::Raw raw(path(file));
            raw.dataset("/x", type, shape, given, data);
        }
        return describe(path(file), "/x");
    }

    testing::Folder folder;
};

TEST_F(Compare, EqualBitsAreTheSameWhateverTheLayout) {
    std::vector<double> values(7 * 5);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
    values[3] = nan, values[4] = -infinity;
    Layout chunked;
    chunked.chunks = Shape{2, 3}, chunked.gzip = true;
    const Comparison seen = compare(saved("a.h5", {7, 5}, values, chunked), saved("b.h5", {7, 5}, values), {});
    EXPECT_TRUE(seen.same);
    EXPECT_EQ(seen.elements, 35);
    EXPECT_EQ(seen.differ, 0);
    EXPECT_EQ(seen.max_abs, 0);
    EXPECT_EQ(seen.rel_l2, 0);
    EXPECT_EQ(seen.max_ulp, 0);
    EXPECT_TRUE(seen.worst.empty());
}

TEST_F(Compare, NumbersOfADifferenceAreThoseByHand) {
    const Info a = saved<double>("a.h5", {2, 3}, {1, 2, 3, 4, 5.5, 6}),
               b = saved<double>("b.h5", {2, 3}, {1, 2, 3, 4.25, 5, 6});
    const Comparison seen = compare(a, b, {});
    EXPECT_FALSE(seen.same);
    EXPECT_EQ(seen.differ, 2);
    EXPECT_DOUBLE_EQ(seen.max_abs, 0.5);
    // sqrt((0.25^2 + 0.5^2) / (1 + 4 + 9 + 4.25^2 + 25 + 36))
    EXPECT_DOUBLE_EQ(seen.rel_l2, std::sqrt(0.3125 / 93.0625));
    EXPECT_DOUBLE_EQ(seen.max_ulp, 0.5 / 0x1p-50);  // from 4 to 8 the spacing is 2^-50
    ASSERT_EQ(seen.worst.size(), 2U);
    EXPECT_EQ(seen.worst[0].index, (Shape{1, 1}));
    EXPECT_EQ(seen.worst[0].a, "5.5");
    EXPECT_EQ(seen.worst[0].b, "5");
    EXPECT_EQ(seen.worst[1].index, (Shape{1, 0}));
}

TEST_F(Compare, ToleranceIsRelativeToTheSecond) {
    const Info a = saved<float>("a.h5", {3}, {0, 100, -8}), b = saved<float>("b.h5", {3}, {0.5F, 104, -8});
    EXPECT_TRUE(compare(a, b, Nearness{0.04, 0.5}).same);       // 0.5 <= 0.5 + 0.02, 4 <= 0.5 + 4.16
    EXPECT_FALSE(compare(a, b, Nearness{0.04, 0}).same);        // 0.5 > 0.02
    EXPECT_FALSE(compare(a, b, Nearness{0.033, 0.5}).same);     // 4 > 3.93
    EXPECT_TRUE(compare(a, b, Nearness{0.03375, 0.5}).same);    // 4 <= 4.01
    EXPECT_TRUE(compare(b, a, Nearness{0.035, 0.5}).same);      // 4 <= 4
    EXPECT_FALSE(compare(b, a, Nearness{0.034375, 0.5}).same);  // 4 > 3.9375
    EXPECT_FALSE(compare(a, b, Nearness{0, 0}).same);
    EXPECT_TRUE(compare(a, a, Nearness{0, 0}).same);
}

TEST_F(Compare, WorstUnderAToleranceIsWhatExceedsItMost) {
    const Info a = saved<double>("a.h5", {2}, {1000, 1}), b = saved<double>("b.h5", {2}, {1020, 2});
    const Comparison seen = compare(a, b, Nearness{0.01, 0});  // 20 of 10.2; 1 of 0.02
    ASSERT_EQ(seen.worst.size(), 2U);
    EXPECT_EQ(seen.worst[0].index, Shape{1});
    EXPECT_EQ(compare(a, b, {}).worst[0].index, Shape{0});
}

TEST_F(Compare, ZerosSignsAndNaNBitsCountOnlyAsBits) {
    const Info a = saved<double>("a.h5", {3}, {0.0, nan, 1}), b = saved<double>("b.h5", {3}, {-0.0, -nan, 1});
    const Comparison bits = compare(a, b, {});
    EXPECT_FALSE(bits.same);
    EXPECT_EQ(bits.differ, 2);
    EXPECT_EQ(bits.max_abs, 0);
    EXPECT_EQ(bits.not_finite, 0);
    EXPECT_TRUE(compare(a, b, Nearness{0, 0}).same);
}

TEST_F(Compare, WhatIsNotFiniteOnOneSideIsNeverNear) {
    const Info a = saved<float>("a.h5", {5}, {1, NAN, INFINITY, INFINITY, 2}),
               b = saved<float>("b.h5", {5}, {NAN, 1, -INFINITY, INFINITY, 2});
    for (const std::optional<Nearness>& nearness : {std::optional<Nearness>(), std::optional(Nearness{1e9, 1e9})}) {
        const Comparison seen = compare(a, b, nearness);
        EXPECT_FALSE(seen.same);
        EXPECT_EQ(seen.differ, 3);
        EXPECT_EQ(seen.not_finite, 3);
        EXPECT_EQ(seen.max_abs, 0);
    }
    const Info finite = saved<float>("c.h5", {5}, {1, 1, 1, 1, 2});
    EXPECT_FALSE(compare(finite, a, Nearness{1, 0}).same);  // rtol * Inf lets nothing pass
}

TEST_F(Compare, ComplexNumbersDifferByTheirModulus) {
    const Info a = saved<complex64>("a.h5", {1, 3}, {{1, 2}, {3, 4}, {0, 0}}),
               b = saved<complex64>("b.h5", {1, 3}, {{1, 2}, {0, 0}, {0, 0}});
    const Comparison seen = compare(a, b, {});
    EXPECT_EQ(seen.differ, 1);
    EXPECT_DOUBLE_EQ(seen.max_abs, 5);
    EXPECT_DOUBLE_EQ(seen.rel_l2, std::sqrt(5.0));
    EXPECT_EQ(seen.worst[0].a, "3+4i");
    EXPECT_EQ(seen.worst[0].index, (Shape{0, 1}));
}

TEST_F(Compare, UlpsAreCountedAcrossZeroAndInEveryWidth) {
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(compare(saved<float>("a.h5", {1}, {-2 * tiny}), saved<float>("b.h5", {1}, {tiny}), {}).max_ulp, 3);
    EXPECT_EQ(compare(saved<float16>("a.h5", {1}, {static_cast<float16>(1)}),
                      saved<float16>("b.h5", {1}, {static_cast<float16>(1.0029296875F)}), {})
                  .max_ulp,
              3);  // spacing 2^-10
    EXPECT_EQ(
        compare(saved<bfloat16>("a.h5", {1}, {bfloat16(1.0F)}), saved<bfloat16>("b.h5", {1}, {bfloat16(1.015625F)}), {})
            .max_ulp,
        2);  // spacing 2^-7
    EXPECT_TRUE(
        std::isnan(compare(saved<std::int32_t>("a.h5", {1}, {1}), saved<std::int32_t>("b.h5", {1}, {3}), {}).max_ulp));
}

TEST_F(Compare, IntegersKeepAllTheirDigits) {
    constexpr std::int64_t big = (std::int64_t{1} << 62) + 1;
    const Comparison seen =
        compare(saved<std::int64_t>("a.h5", {2}, {big, -big}), saved<std::int64_t>("b.h5", {2}, {big, 1 - big}), {});
    EXPECT_EQ(seen.differ, 1);
    EXPECT_EQ(seen.max_abs, 1);
    EXPECT_EQ(seen.worst[0].a, "-4611686018427387905");
}

TEST_F(Compare, ANumberAndATextAreOtherTypes) {
    const Info a = saved<float>("a.h5", {2}, {1, 2});
    const Info b = stored("b.h5", H5T_C_S1, {2}, H5T_C_S1, "xy");
    EXPECT_FALSE(compare(a, b, Nearness{1, 1}).same);
    EXPECT_EQ(compare(a, b, {}).why.find("dtype float32 and string"), 0U);
}

TEST_F(Compare, OtherShapesAndDtypesAreSaid) {
    const Info a = saved<float>("a.h5", {2, 3}, {1, 2, 3, 4, 5, 6.5}),
               turned = saved<float>("b.h5", {3, 2}, {1, 2, 3, 4, 5, 6.5}),
               wide = saved<double>("c.h5", {2, 3}, {1, 2, 3, 4, 5, 6.5});
    const Comparison shapes = compare(a, turned, Nearness{1, 1});
    EXPECT_FALSE(shapes.same);
    EXPECT_EQ(shapes.why, "shape (2, 3) and (3, 2)");
    EXPECT_EQ(shapes.elements, 0);
    const Comparison types = compare(a, wide, {});
    EXPECT_FALSE(types.same);
    EXPECT_EQ(types.why, "dtype float32 and float64");
    EXPECT_EQ(types.differ, 0);
    EXPECT_TRUE(compare(a, wide, Nearness{0, 0}).same);
}

TEST_F(Compare, EmptyIsTheSameAsEmpty) {
    EXPECT_TRUE(compare(saved<float>("a.h5", {0, 3}, {}), saved<float>("b.h5", {0, 3}, {}), {}).same);
    EXPECT_FALSE(compare(saved<float>("a.h5", {0, 3}, {}), saved<float>("b.h5", {3, 0}, {}), {}).same);
}

TEST_F(Compare, ByteOrderIsNoDifference) {
    const double values[] = {1, -2.5, 3};
    const Info big = stored("a.h5", H5T_IEEE_F64BE, {3}, H5T_NATIVE_DOUBLE, values),
               little = saved<double>("b.h5", {3}, {1, -2.5, 3});
    EXPECT_TRUE(compare(big, little, {}).same);
}

TEST_F(Compare, IntegersBeyondInt64AreCompared) {
    const std::uint64_t one[] = {0xFFFFFFFFFFFFFFFFU, 7}, other[] = {0xFFFFFFFFFFFFFFFCU, 7};
    const Comparison seen = compare(stored("a.h5", H5T_STD_U64LE, {2}, H5T_NATIVE_UINT64, one),
                                    stored("b.h5", H5T_STD_U64LE, {2}, H5T_NATIVE_UINT64, other), {});
    EXPECT_EQ(seen.differ, 1);
    EXPECT_EQ(seen.max_abs, 3);
    EXPECT_EQ(seen.worst[0].a, "18446744073709551615");
}

TEST_F(Compare, StringsAreComparedAsText) {
    const hid_t variable = H5Tcopy(H5T_C_S1), fixed = H5Tcopy(H5T_C_S1);
    H5Tset_size(variable, H5T_VARIABLE);
    H5Tset_size(fixed, 4);
    const char *one[] = {"alpha", "", "gamma"}, *other[] = {"alpha", "beta", "gamma"};
    const Info a = stored("a.h5", variable, {3}, variable, one), b = stored("b.h5", variable, {3}, variable, other);
    EXPECT_TRUE(compare(a, a, {}).same);
    const Comparison seen = compare(a, b, {});
    EXPECT_EQ(seen.differ, 1);
    ASSERT_EQ(seen.worst.size(), 1U);
    EXPECT_EQ(seen.worst[0].index, Shape{1});
    EXPECT_EQ(seen.worst[0].b, "\"beta\"");
    EXPECT_TRUE(std::isnan(seen.max_abs));
    const Info c = stored("c.h5", fixed, {3}, fixed, "abc\0de\0\0fgh"),
               d = stored("d.h5", fixed, {3}, fixed, "abc\0df\0\0fgh");
    EXPECT_TRUE(compare(c, c, {}).same);
    EXPECT_EQ(compare(c, d, {}).differ, 1);
    EXPECT_EQ(compare(a, c, {}).why.find("dtype string"), 0U);
    EXPECT_FALSE(compare(a, c, {}).same);
    H5Tclose(variable);
    H5Tclose(fixed);
}

TEST_F(Compare, ValuesThatLieElsewhereAreRefusedByName) {
    const hid_t list = H5Tvlen_create(H5T_NATIVE_INT);
    int numbers[] = {1, 2, 3};
    const hvl_t lists[] = {{2, numbers}, {1, numbers}};
    const Info a = stored("a.h5", list, {2}, list, lists);
    testing::expect_error(Category::input, {"a.h5:/x", "not compared"}, [&] { compare(a, a, {}); });
    H5Tclose(list);
}

TEST_F(Compare, PiecesOfLargeDatasetsHaveTheirIndicesInTheWhole) {
    constexpr std::int64_t rows = 1201, columns = 3001;  // 28.8 MB: more than a piece, not a multiple of one
    std::vector<double> values(static_cast<std::size_t>(rows * columns), 1.0);
    const Info a = saved("a.h5", {rows, columns}, values);
    values[static_cast<std::size_t>(1200 * columns + 2999)] = 3;
    values[static_cast<std::size_t>(700 * columns + 5)] = 2;
    Layout chunked;
    chunked.chunks = Shape{100, 700};
    for (const Comparison& seen : {compare(a, saved("b.h5", {rows, columns}, values), {}),
                                   compare(saved("c.h5", {rows, columns}, values, chunked), a, {})}) {
        EXPECT_EQ(seen.elements, rows * columns);
        EXPECT_EQ(seen.differ, 2);
        ASSERT_EQ(seen.worst.size(), 2U);
        EXPECT_EQ(seen.worst[0].index, (Shape{1200, 2999}));
        EXPECT_EQ(seen.worst[1].index, (Shape{700, 5}));
        EXPECT_EQ(seen.max_abs, 2);
    }
}

TEST_F(Compare, AtMostFivePlacesAreKeptTheWorstOfAll) {
    std::vector<double> zeros(1001, 0.0), wrong = zeros;
    for (std::size_t i = 0; i < 1001; ++i) wrong[i] = static_cast<double>((i * 577) % 1001 + 1);  // 1 .. 1001, shuffled
    const Comparison seen = compare(saved("a.h5", {7, 143}, wrong), saved("b.h5", {7, 143}, zeros), {});
    EXPECT_EQ(seen.differ, 1001);
    EXPECT_EQ(seen.rel_l2, infinity);
    ASSERT_EQ(seen.worst.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(seen.worst[i].a, std::to_string(1001 - i));
}

}  // namespace

}  // namespace gridstride::hdf5
