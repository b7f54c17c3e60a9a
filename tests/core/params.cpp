// SPDX-License-Identifier: BSD-3-Clause
// Parameters: defaults, kinds, the errors of resolve.
#include "core/params.hpp"

#include "support/run.hpp"

namespace gridstride::support {
namespace {

const std::vector<Param> table = {
    {.name = "kernel", .kind = Kind::integers, .otherwise = {}, .words = {}, .doc = ""},
    {.name = "stride", .kind = Kind::integer, .otherwise = Value(1), .words = {}, .doc = ""},
    {.name = "padding", .kind = Kind::integers_or_word, .otherwise = Value(0), .words = {"valid", "same"}, .doc = ""},
    {.name = "alpha", .kind = Kind::scalar, .otherwise = Value(1), .words = {}, .doc = ""},
    {.name = "norm", .kind = Kind::word, .otherwise = Value("backward"), .words = {"backward", "ortho"}, .doc = ""},
    {.name = "axes", .kind = Kind::integers, .otherwise = Value{}, .words = {}, .doc = ""},
    {.name = "keepdims", .kind = Kind::boolean, .otherwise = Value(false), .words = {}, .doc = ""},
    {.name = "spacing", .kind = Kind::numbers, .otherwise = Value{}, .words = {}, .doc = ""},
};

Params resolved(std::initializer_list<std::pair<std::string_view, Value>> given) {
    Params all = params(given);
    if (!all.has("kernel")) all.set("kernel", 3);
    return resolve(table, all);
}

TEST(Resolve, FillsInDefaults) {
    const Params all = resolved({});
    EXPECT_EQ(all.integers("kernel"), (std::vector<std::int64_t>{3}));
    EXPECT_EQ(all.integer("stride"), 1);
    EXPECT_EQ(all.word("norm"), "backward");
    EXPECT_FALSE(all.boolean("keepdims"));
    EXPECT_FALSE(all.has("axes"));
    EXPECT_EQ(all.scalar("alpha"), std::complex<double>(1, 0));
    EXPECT_EQ(all.all().size(), table.size());
}

TEST(Resolve, TakesWhatIsGiven) {
    const Params all = resolved({{"kernel", Values{3, 5}},
                                 {"stride", 2.0},
                                 {"padding", "same"},
                                 {"alpha", Values{1, -0.5}},
                                 {"axes", Values{}},
                                 {"keepdims", true},
                                 {"spacing", Values{1, 0.25}}});
    EXPECT_EQ(all.integers("kernel"), (std::vector<std::int64_t>{3, 5}));
    EXPECT_EQ(all.integer("stride"), 2);  // an integral double counts as an integer
    EXPECT_TRUE(all.is_word("padding"));
    EXPECT_EQ(all.scalar("alpha"), std::complex<double>(1, -0.5));
    EXPECT_TRUE(all.has("axes"));
    EXPECT_TRUE(all.integers("axes").empty());
    EXPECT_TRUE(all.boolean("keepdims"));
    EXPECT_EQ(all.numbers("spacing"), (std::vector<double>{1, 0.25}));
    EXPECT_FALSE(resolved({{"padding", Values{1, 2}}}).is_word("padding"));
}

TEST(Resolve, AnEmptyValueIsTheDefault) {
    EXPECT_EQ(resolved({{"stride", Value{}}}).integer("stride"), 1);
}

TEST(Resolve, NamesAnUnknownParameter) {
    const std::optional<Error> error = error_of([] { resolved({{"kernle", 3}}); });
    EXPECT_EQ(error->category(), Category::config);
    EXPECT_EQ(error->where(), "params.kernle");
    EXPECT_STREQ(error->what(), "unknown parameter 'kernle'");
}

TEST(Resolve, NamesAMissingOne) {
    const std::optional<Error> error = error_of([] { resolve(table, {}); });
    EXPECT_EQ(error->category(), Category::config);
    EXPECT_EQ(error->where(), "params");
    EXPECT_NE(std::string(error->what()).find("'kernel' is required"), std::string::npos);
}

TEST(Resolve, RefusesWrongKindsAndWords) {
    const std::vector<std::pair<std::string_view, Value>> wrong = {{"kernel", "three"},
                                                                   {"kernel", 1.5},
                                                                   {"kernel", Values{3, 1.5}},
                                                                   {"kernel", true},
                                                                   {"stride", Values{1}},
                                                                   {"stride", false},
                                                                   {"padding", "full"},
                                                                   {"padding", 0.5},
                                                                   {"alpha", Values{1}},
                                                                   {"alpha", Values{1, 2, 3}},
                                                                   {"alpha", "x"},
                                                                   {"norm", "orto"},
                                                                   {"norm", 1},
                                                                   {"keepdims", 1},
                                                                   {"keepdims", "true"},
                                                                   {"spacing", Values{1, "x"}}};
    for (const auto& [name, value] : wrong) {
        const std::optional<Error> error = error_of([&] { resolved({{name, value}}); });
        ASSERT_TRUE(error) << name << " " << to_text(value);
        EXPECT_EQ(error->category(), Category::config);
        EXPECT_EQ(error->where(), "params." + std::string(name));
        EXPECT_NE(std::string(error->what()).find(to_text(value)), std::string::npos) << error->what();
    }
    EXPECT_EQ(message_of([] { resolved({{"norm", "orto"}}); }), "norm is one of backward, ortho, not orto");
}

TEST(Params, AccessorsRefuseOtherKinds) {
    const Params all = params({{"flag", true}, {"word", "same"}, {"half", 0.5}, {"list", Values{1, 2, 3}}});
    EXPECT_THROW(all.integer("flag"), Error);
    EXPECT_THROW(all.integer("half"), Error);
    EXPECT_THROW(all.boolean("word"), Error);
    EXPECT_THROW(all.word("flag"), Error);
    EXPECT_THROW(all.scalar("list"), Error);
    EXPECT_THROW(all.integers("word"), Error);
    EXPECT_THROW(all.integer("absent"), Error);
    EXPECT_FALSE(all.has("absent"));
    EXPECT_EQ(all.integers("list"), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(ValueText, IsYamlsFlowStyle) {
    EXPECT_EQ(to_text(Value(3)), "3");
    EXPECT_EQ(to_text(Value(0.5)), "0.5");
    EXPECT_EQ(to_text(Value(true)), "true");
    EXPECT_EQ(to_text(Value("same")), "same");
    EXPECT_EQ(to_text(Value(Values{1, 0.25, Values{2}})), "[1, 0.25, [2]]");
    EXPECT_EQ(to_text(Value(Values{})), "[]");
}

}  // namespace
}  // namespace gridstride::support
