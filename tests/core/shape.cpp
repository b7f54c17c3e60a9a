// SPDX-License-Identifier: BSD-3-Clause
// Shapes: counting, broadcasting, indices.
#include "core/shape.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace gridstride {
namespace {

constexpr std::int64_t big = std::int64_t{1} << 32;

TEST(Count, MultipliesExtents) {
    EXPECT_EQ(count({}), 1);
    EXPECT_EQ(count({7}), 7);
    EXPECT_EQ(count({2, 3, 5}), 30);
    EXPECT_EQ(count({3, 0, 5}), 0);
    EXPECT_EQ(count({big, big / 4}), std::int64_t{1} << 62);
}

TEST(Count, RefusesOverflowUnlessAnAxisIsEmpty) {
    EXPECT_THROW(count({big, big / 2}), Error);
    EXPECT_THROW(count({big, big, 2}), Error);
    EXPECT_EQ(count({big, big, 0}), 0);
    EXPECT_EQ(count({0, big, big}), 0);
    EXPECT_THROW(count({2, -1}), Error);
    EXPECT_THROW(count({0, -1}), Error);
}

TEST(Strides, AreRowMajor) {
    EXPECT_EQ(row_major_strides({2, 3, 5}), (Shape{15, 5, 1}));
    EXPECT_EQ(row_major_strides({}), Shape{});
    EXPECT_EQ(row_major_strides({4, 0, 3}).back(), 1);
}

TEST(Broadcast, FollowsNumpy) {
    EXPECT_EQ(broadcast(Shape{}, {2, 3}), (Shape{2, 3}));
    EXPECT_EQ(broadcast({1, 3}, {2, 3}), (Shape{2, 3}));
    EXPECT_EQ(broadcast({2, 1, 5}, {4, 1}), (Shape{2, 4, 5}));
    EXPECT_EQ(broadcast({4, 1}, {2, 1, 5}), (Shape{2, 4, 5}));
    EXPECT_EQ(broadcast({1}, {0}), (Shape{0}));
    EXPECT_EQ(broadcast({3, 0, 5}, {1, 1}), (Shape{3, 0, 5}));
    EXPECT_EQ(broadcast(Shape{}, {}), Shape{});
}

TEST(Broadcast, NamesBothShapesThatDoNotMatch) {
    const std::vector<std::pair<Shape, Shape>> pairs = {{{10, 1}, {3, 1}}, {{3, 1}, {10, 1}}, {{2, 3}, {3, 2}},
                                                        {{4}, {2, 2}},     {{0}, {2}},        {{2}, {0}}};
    for (const auto& [a, b] : pairs) {
        try {
            broadcast(a, b, "inputs.y");
            ADD_FAILURE() << to_text(a) << " and " << to_text(b);
        } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::config);
            EXPECT_EQ(error.where(), "inputs.y");
            EXPECT_NE(std::string(error.what()).find(to_text(a) + " and " + to_text(b)), std::string::npos)
                << error.what();
        }
    }
}

TEST(ShapeText, IsPythons) {
    EXPECT_EQ(to_text(Shape{}), "()");
    EXPECT_EQ(to_text(Shape{5}), "(5,)");
    EXPECT_EQ(to_text(Shape{2, 3}), "(2, 3)");
}

TEST(Unravel, InvertsRowMajorOrder) {
    EXPECT_EQ(unravel(0, {2, 3, 5}), (Shape{0, 0, 0}));
    EXPECT_EQ(unravel(29, {2, 3, 5}), (Shape{1, 2, 4}));
    EXPECT_EQ(unravel(22, {2, 3, 5}), (Shape{1, 1, 2}));
    EXPECT_EQ(unravel(0, {}), Shape{});
    EXPECT_EQ(index_text(22, {2, 3, 5}), "(1, 1, 2)");
    EXPECT_EQ(index_text(0, {}), "()");
    EXPECT_EQ(unravel((std::int64_t{3} << 32) + 1, {4, big}), (Shape{3, 1}));
}

TEST(Selections, DropIntegerAxes) {
    EXPECT_EQ(shape_of(whole({2, 3})), (Shape{2, 3}));
    EXPECT_EQ(shape_of({{{0, 2, 1, false}, {4, 1, 1, true}, {1, 3, 2, false}}}), (Shape{2, 3}));
}

}  // namespace
}  // namespace gridstride
