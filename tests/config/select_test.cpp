// SPDX-License-Identifier: BSD-3-Clause
// `select` as NumPy's basic indexing.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "io/config.hpp"

namespace gridstride::config {
namespace {

/// "begin,count,step[!]" an axis; ! where the axis is dropped.
std::string parts(const std::string& text, const Shape& shape) {
    std::string result;
    for (const Range& range : select(text, shape).axes)
        result += (result.empty() ? "" : " ") + std::to_string(range.begin) + "," + std::to_string(range.count) + "," +
                  std::to_string(range.step) + (range.dropped ? "!" : "");
    return result;
}

std::string fault(const std::string& text, const Shape& shape) {
    try {
        return "no error, but " + parts(text, shape);
    } catch (const Error& error) {
        EXPECT_EQ(error.category(), Category::config);
        return error.what();
    }
}

TEST(Select, takes_terms_as_numpy_does) {
    EXPECT_EQ(parts("0:10", {20, 3}), "0,10,1 0,3,1");
    EXPECT_EQ(parts("2:9:3", {20}), "2,3,3");  // 2, 5, 8
    EXPECT_EQ(parts("2:8:3", {20}), "2,2,3");
    EXPECT_EQ(parts("::2", {5}), "0,3,2");
    EXPECT_EQ(parts("-3:", {10}), "7,3,1");
    EXPECT_EQ(parts(":-3", {10}), "0,7,1");
    EXPECT_EQ(parts("-100:100", {10}), "0,10,1");
    EXPECT_EQ(parts("8:100", {10}), "8,2,1");
    EXPECT_EQ(parts("12:15", {10}), "10,0,1");
    EXPECT_EQ(parts("5:2", {10}), "5,0,1");
    EXPECT_EQ(parts("3", {10, 2}), "3,1,1! 0,2,1");
    EXPECT_EQ(parts("-1", {10}), "9,1,1!");
    EXPECT_EQ(parts("..., 3", {4, 5, 6}), "0,4,1 0,5,1 3,1,1!");
    EXPECT_EQ(parts("0, ..., ::2", {4, 5, 6}), "0,1,1! 0,5,1 0,3,2");
    EXPECT_EQ(parts("...", {}), "");
    EXPECT_EQ(parts("1, ..., 2", {4, 5}), "1,1,1! 2,1,1!");
    EXPECT_EQ(parts(" 1 : 4 : 2 , : ", {4, 5}), "1,2,2 0,5,1");
    EXPECT_EQ(parts("1_0:1_2", {20}), "10,2,1");
    EXPECT_EQ(parts(":", {0}), "0,0,1");
    EXPECT_EQ(shape_of(select("1, ..., ::2", {4, 5, 7})), (Shape{5, 4}));
    EXPECT_EQ(parts("0:9223372036854775807:9223372036854775807", {10}), "0,1,9223372036854775807");
    EXPECT_EQ(parts("-9223372036854775808:", {10}), "0,10,1");
}

TEST(Select, refuses_what_numpy_would_or_we_do_not_take) {
    EXPECT_NE(fault("10", {10}).find("index 10 lies outside of axis 0, which has 10 elements"), std::string::npos);
    EXPECT_NE(fault("-11", {10}).find("outside"), std::string::npos);
    EXPECT_NE(fault("0", {0}).find("outside"), std::string::npos);
    EXPECT_NE(fault("0, 0", {10}).find("2 terms for 1 axis"), std::string::npos);
    EXPECT_NE(fault("0, ..., 0, 0", {10, 2}).find("3 terms for 2 axes"), std::string::npos);
    EXPECT_NE(fault("..., ...", {10, 2}).find("'...' may stand once"), std::string::npos);
    EXPECT_NE(fault("::-1", {10}).find("steps are at least 1"), std::string::npos);
    EXPECT_NE(fault("::0", {10}).find("steps are at least 1"), std::string::npos);
    EXPECT_NE(fault("1:2:3:4", {10}).find("more than begin, end and step"), std::string::npos);
    EXPECT_NE(fault("a:2", {10}).find("'a' is no integer"), std::string::npos);
    EXPECT_NE(fault("1.5", {10}).find("'1.5' is no integer"), std::string::npos);
    EXPECT_NE(fault("1,", {10, 2}).find("a term is missing"), std::string::npos);
    EXPECT_NE(fault("", {10}).find("empty"), std::string::npos);
    EXPECT_NE(fault("99999999999999999999:", {10}).find("no integer"), std::string::npos);
    EXPECT_NE(fault("1__0:", {10}).find("no integer"), std::string::npos);
    EXPECT_NE(fault("010:", {20}).find("leading zero"), std::string::npos);
    EXPECT_NE(fault("3", {}).find("1 terms for 0 axes"), std::string::npos);
    EXPECT_NE(fault("20", {4, 5}).find("of shape (4, 5)"), std::string::npos);
}

}  // namespace
}  // namespace gridstride::config
