// SPDX-License-Identifier: BSD-3-Clause
// sum on the CPU: values worked out by hand, every kind of axes, exact counts at the edges of blocks, wrapping, the
// same bits from run to run and for every thread count, parts, errors.
#include <cmath>
#include <limits>

#include "support/run.hpp"

namespace gridstride::support {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr auto int32_max = std::numeric_limits<std::int32_t>::max();
constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();

Tensor sum(const Tensor& x, const Ask& ask = {}) {
    return run("sum", "loop", {x}, ask);
}
Ask along(Value axes, bool keepdims = false) {
    return {.params = params({{"axes", std::move(axes)}, {"keepdims", keepdims}})};
}

TEST(Sum, SumsEachDtype) {
    EXPECT_EQ(values<float16>(sum(make<float16>({5}, {1, -2, 0.5, 3, 100}))), (std::vector<float>{102.5}));
    EXPECT_EQ(values<bfloat16>(sum(make<bfloat16>({5}, {1, -2, 0.5, 3, 100}))), (std::vector<float>{102.5}));
    EXPECT_EQ(values<float>(sum(make<float>({5}, {1, -2, 0.5, 3, 100}))), (std::vector<float>{102.5}));
    EXPECT_EQ(values<double>(sum(make<double>({5}, {1, -2, 0.5, 3, 100}))), (std::vector<double>{102.5}));
    EXPECT_EQ(values<complex64>(sum(make<complex64>({3}, {{1, 2}, {3, -4}, {-5, 7}}))),
              (std::vector<complex64>{{-1, 5}}));
    EXPECT_EQ(values<complex128>(sum(make<complex128>({3}, {{1, 2}, {3, -4}, {-5, 7}}))),
              (std::vector<complex128>{{-1, 5}}));
    EXPECT_EQ(values<std::int64_t>(sum(make<std::int32_t>({3}, {1, -2, 30}))), (std::vector<std::int64_t>{29}));
    EXPECT_EQ(values<std::int64_t>(sum(make<std::int64_t>({3}, {1, -2, 30}))), (std::vector<std::int64_t>{29}));
}

TEST(Sum, AxesAsNumpy) {
    // x[i, j, k] = 100 i + 10 j + k of shape (2, 3, 2)
    const Tensor x =
        generate<float>({2, 3, 2}, [](std::int64_t i) { return 100 * (i / 6) + 10 * (i / 2 % 3) + i % 2; });
    const auto check = [&](Value axes, const Shape& shape, const Shape& kept, const std::vector<float>& expected) {
        const Tensor s = sum(x, along(axes)), wide = sum(x, along(axes, true));
        EXPECT_EQ(s.spec().shape, shape) << to_text(axes);
        EXPECT_EQ(wide.spec().shape, kept) << to_text(axes);
        EXPECT_EQ(values<float>(s), expected) << to_text(axes);
        EXPECT_EQ(values<float>(wide), expected) << to_text(axes);
    };
    check(0, {3, 2}, {1, 3, 2}, {100, 102, 120, 122, 140, 142});
    check(1, {2, 2}, {2, 1, 2}, {30, 33, 330, 333});
    check(2, {2, 3}, {2, 3, 1}, {1, 21, 41, 201, 221, 241});
    check(-1, {2, 3}, {2, 3, 1}, {1, 21, 41, 201, 221, 241});
    check(-3, {3, 2}, {1, 3, 2}, {100, 102, 120, 122, 140, 142});
    check(Values{0, 1}, {2}, {1, 1, 2}, {360, 366});
    check(Values{1, 2}, {2}, {2, 1, 1}, {63, 663});
    check(Values{2, 0}, {3}, {1, 3, 1}, {202, 242, 282});
    check(Values{0, 1, 2}, {}, {1, 1, 1}, {726});
    check(Values{}, {2, 3, 2}, {2, 3, 2}, {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
    EXPECT_EQ(values<float>(sum(x)), (std::vector<float>{726}));
    EXPECT_EQ(sum(x, {.params = params({{"keepdims", true}})}).spec().shape, (Shape{1, 1, 1}));
}

TEST(Sum, EveryOtherOfFiveAxes) {
    // x[a,b,c,d,e] = 10000 a + 1000 b + 100 c + 10 d + e of shape (2, 3, 2, 3, 2)
    const Tensor x = generate<std::int32_t>({2, 3, 2, 3, 2}, [](std::int64_t i) {
        return 10000 * (i / 36) + 1000 * (i / 12 % 3) + 100 * (i / 6 % 2) + 10 * (i / 2 % 3) + i % 2;
    });
    // over a, c, e: 8 terms, 4 x (10000 + 100 + 1) + 8 (1000 b + 10 d)
    std::vector<std::int64_t> odd;
    for (const std::int64_t b : {0, 1, 2})
        for (const std::int64_t d : {0, 1, 2}) odd.push_back(40404 + 8 * (1000 * b + 10 * d));
    EXPECT_EQ(values<std::int64_t>(sum(x, along(Values{0, 2, 4}))), odd);
    // over b, d: 9 terms, 9 (10000 a + 100 c + e) + 9 (1000 + 10)
    std::vector<std::int64_t> even;
    for (const std::int64_t a : {0, 1})
        for (const std::int64_t c : {0, 1})
            for (const std::int64_t e : {0, 1}) even.push_back(9 * (10000 * a + 100 * c + e) + 9090);
    EXPECT_EQ(values<std::int64_t>(sum(x, along(Values{3, 1}))), even);
}

TEST(Sum, ScalarsAndAxesOfLengthOne) {
    EXPECT_EQ(values<double>(sum(make<double>({}, {2.5}))), (std::vector<double>{2.5}));
    EXPECT_EQ(values<double>(sum(make<double>({}, {2.5}), along(Values{}))), (std::vector<double>{2.5}));
    const Tensor x = make<float>({3, 1, 2}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values<float>(sum(x, along(1))), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values<float>(sum(x, along(Values{1, 0}))), (std::vector<float>{9, 12}));
}

TEST(Sum, TheEmptySumIsZero) {
    const Tensor x = make<float>({3, 0, 2}, {});
    EXPECT_EQ(values<float>(sum(x)), (std::vector<float>{0}));
    EXPECT_EQ(values<float>(sum(x, along(1))), (std::vector<float>{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(sum(x, along(0)).spec().shape, (Shape{0, 2}));
    EXPECT_EQ(values<std::int64_t>(sum(make<std::int32_t>({0}, {}))), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(values<complex64>(sum(make<complex64>({0}, {}))), (std::vector<complex64>{{0, 0}}));
    EXPECT_EQ(terms("sum", {x}, along(1))[4].re, 0);
}

// BR036: elements beyond a whole number of blocks counted twice or dropped.
template <class T, class Result>
void count_ones() {
    const std::vector<std::int64_t> lengths = {1,    31,   32,   33,   255,   256,   257,   1023,   1024,
                                               1025, 4095, 4096, 4097, 65535, 65537, 82369, 1000001};
    for (const std::int64_t n : lengths) {
        const auto expected = static_cast<Result>(n);
        EXPECT_EQ(values<Result>(sum(generate<T>({n}, [](auto) { return 1; }))), (std::vector<Result>{expected}));
        const std::int64_t others = n > 100000 ? 2 : 3;
        const std::vector<Result> each(static_cast<std::size_t>(others), expected);
        // Column c holds c + 1 in its last place, 1 elsewhere: a sum that takes a neighbour's is seen.
        const auto rows = values<Result>(
            sum(generate<T>({others, n}, [&](std::int64_t i) { return i % n == n - 1 ? i / n + 1 : 1; }), along(1)));
        const auto columns = values<Result>(
            sum(generate<T>({n, others}, [&](std::int64_t i) { return i / others == n - 1 ? i % others + 1 : 1; }),
                along(0)));
        for (std::size_t c = 0; c < each.size(); ++c) {
            EXPECT_EQ(rows[c], each[c] + static_cast<Result>(c)) << n;
            EXPECT_EQ(columns[c], each[c] + static_cast<Result>(c)) << n;
        }
    }
}
TEST(Sum, CountsOnesOfEveryLengthInInt32) {
    count_ones<std::int32_t, std::int64_t>();
}
TEST(Sum, CountsOnesOfEveryLengthInFloat32) {
    count_ones<float, float>();
}
TEST(Sum, CountsOnesOfEveryLengthInFloat64) {
    count_ones<double, double>();
}

TEST(Sum, LongAxesOfManyColumns) {
    // x[r, c] = c + 1 where r is a multiple of 3: the columns sum to (c + 1) * ceil(rows / 3).
    for (const std::int64_t columns : {1, 7, 63, 64, 65, 511, 512, 513, 1100}) {
        const std::int64_t rows = 1003;
        const Tensor x = generate<float>({rows, columns},
                                         [&](std::int64_t i) { return i / columns % 3 == 0 ? i % columns + 1 : 0; });
        const auto s = values<float>(sum(x, along(0)));
        for (std::int64_t c = 0; c < columns; ++c)
            ASSERT_EQ(s[static_cast<std::size_t>(c)], static_cast<float>((c + 1) * 335)) << columns;
        const Tensor half = generate<float16>({2, rows, columns},
                                              [&](std::int64_t i) { return i / columns % rows % 3 == 0 ? 0.25 : 0; });
        const auto h = values<float>(sum(half, {.params = params({{"axes", 1}}), .result = DType::float32}));
        for (const float one : h) ASSERT_EQ(one, 0.25F * 335) << columns;
    }
}

// BR025: rows of odd length.
TEST(Sum, RowsOfOddLength) {
    const std::vector<Shape> shapes = {{5, 3}, {5, 7}, {1, 1}, {2, 1023}};
    for (const Shape& shape : shapes) {
        const std::int64_t n = shape[1];
        const auto check = [&]<class T>() {
            const auto s =
                values<T>(sum(generate<T>(shape,
                                          [&](std::int64_t i) {
                                              return static_cast<float>(i / n + 1) * (i % n == n / 2 ? 1.0F : 0.5F);
                                          }),
                              along(1)));
            ASSERT_EQ(s.size(), static_cast<std::size_t>(shape[0]));
            // row r: (r + 1) (n + 1) / 2; exact in float16 up to 2048 by halves
            for (std::size_t r = 0; r < s.size(); ++r)
                ASSERT_EQ(s[r], Written<T>(static_cast<float>(r + 1) * static_cast<float>(n + 1) / 2.0F));
        };
        check.operator()<float16>();
        check.operator()<float>();
        check.operator()<double>();
        check.operator()<complex64>();
    }
}

TEST(Sum, Int32DoesNotOverflowAndInt64Wraps) {
    EXPECT_EQ(values<std::int64_t>(sum(make<std::int32_t>({3}, {int32_max, int32_max, 1}))),
              (std::vector<std::int64_t>{4294967295}));
    const Tensor x = make<std::int64_t>({3}, {int64_max, 1, 5});
    EXPECT_EQ(values<std::int64_t>(sum(x)), (std::vector<std::int64_t>{-int64_max + 4}));
    const std::vector<Term> term = terms("sum", {x});
    EXPECT_TRUE(term[0].wrapped);
    EXPECT_EQ(term[0].re, static_cast<long double>(-int64_max + 4));
    // A sum that leaves the range and comes back is exact.
    const Tensor back = make<std::int64_t>({3}, {int64_max, 1, -1});
    EXPECT_EQ(values<std::int64_t>(sum(back)), (std::vector<std::int64_t>{int64_max}));
    EXPECT_FALSE(terms("sum", {back})[0].wrapped);
    // Asked for in int32, arithmetic on int32 wraps modulo 2^32.
    EXPECT_EQ(values<std::int32_t>(sum(make<std::int32_t>({2}, {int32_max, 2}), {.result = DType::int32})),
              (std::vector<std::int32_t>{-int32_max}));
    EXPECT_TRUE(terms("sum", {make<std::int32_t>({2}, {int32_max, 2})}, {.result = DType::int32})[0].wrapped);
}

TEST(Sum, Int64BeyondTwoTo53IsExact) {
    EXPECT_EQ(values<std::int64_t>(sum(make<std::int64_t>({3}, {(1LL << 53) + 1, (1LL << 60) + 1, 1}))),
              (std::vector<std::int64_t>{(1LL << 53) + (1LL << 60) + 3}));
}

TEST(Sum, HalvesAccumulateInFloat32) {
    // 4096 ones: float16 alone would stop at 2048, bfloat16 at 256.
    EXPECT_EQ(values<float16>(sum(generate<float16>({4097}, [](auto) { return 1; }))), (std::vector<float>{4096}));
    EXPECT_EQ(values<float16>(sum(generate<float16>({4098}, [](auto) { return 1; }))), (std::vector<float>{4096}));
    EXPECT_EQ(values<float16>(sum(generate<float16>({4099}, [](auto) { return 1; }))), (std::vector<float>{4100}));
    EXPECT_EQ(values<bfloat16>(sum(generate<bfloat16>({1000}, [](auto) { return 1; }))), (std::vector<float>{1000}));
    EXPECT_EQ(values<float16>(sum(generate<float16>({70000}, [](auto) { return 1; }))), (std::vector<float>{inf}));
    EXPECT_EQ(values<float>(sum(generate<float16>({70000}, [](auto) { return 1; }), {.result = DType::float32})),
              (std::vector<float>{70000}));
}

TEST(Sum, ResultDtype) {
    EXPECT_EQ(values<double>(sum(make<float>({2}, {16777216, 1}), {.result = DType::float64})),
              (std::vector<double>{16777217}));
    EXPECT_EQ(values<float>(sum(make<std::int64_t>({2}, {16777216, 1}), {.result = DType::float32})),
              (std::vector<float>{16777216}));
    EXPECT_EQ(values<complex64>(sum(make<float>({2}, {1, 2}), {.result = DType::complex64})),
              (std::vector<complex64>{{3, 0}}));
    EXPECT_EQ(values<std::int32_t>(sum(make<double>({2}, {1.5, 2.5}), {.result = DType::int32})),
              (std::vector<std::int32_t>{4}));
    EXPECT_EQ(values<complex64>(sum(make<complex128>({2}, {{1, 2}, {3, 4}}), {.result = DType::complex64})),
              (std::vector<complex64>{{4, 6}}));
    const Tensor x = make<float>({2, 3}, {1, 2, 3.5F, 0, 0, 0.25F});
    Ask ask = along(0);
    ask.result = DType::int32;
    EXPECT_EQ(message_of([&] { sum(x, ask); }),
              "sum: result 3.75 at (2,) is not a whole number: choose a float result_dtype");
    const Tensor big = make<std::int64_t>({2}, {int64_max, 0});
    EXPECT_EQ(message_of([&] { sum(big, {.result = DType::int32}); }),
              "sum: result 9223372036854775807 at () is out of int32's range: choose int64");
    EXPECT_EQ(error_of([&] { problem("sum", {make<complex64>({1}, {0})}, {.result = DType::float32}); })->where(),
              "result_dtype");
}

TEST(Sum, StaysAccurateOverAMillionTerms) {
    // 0.1 in float32, added one after the other, would be off by a percent.
    const Tensor x = generate<float>({1000003}, [](auto) { return 0.1F; });
    const double exact = 1000003 * static_cast<double>(0.1F);
    EXPECT_NEAR(static_cast<double>(values<float>(sum(x))[0]), exact, exact * 0x1p-22);
    const Tensor columns = generate<float>({333335, 3}, [](auto) { return 0.1F; });
    const double third = 333335 * static_cast<double>(0.1F);
    for (const float one : values<float>(sum(columns, along(0))))
        EXPECT_NEAR(static_cast<double>(one), third, third * 0x1p-22);
}

TEST(Sum, NonFiniteValuesReachTheirOwnSumAlone) {
    Tensor x = generate<float>({3, 1000}, [](auto) { return 1; });
    x.as<float>()[1500] = inf;
    x.as<float>()[2999] = std::numeric_limits<float>::quiet_NaN();
    const auto s = values<float>(sum(x, along(1)));
    EXPECT_EQ(s[0], 1000);
    EXPECT_EQ(s[1], inf);
    EXPECT_TRUE(std::isnan(s[2]));
}

// BR035: the same input gives the same bits, from run to run and for every thread count.
TEST(Sum, TheSameBitsEveryTimeAndForEveryThreadCount) {
    // Scaled over 1e-3 to 1e3, signs mixed; a small congruential generator.
    std::uint32_t state = 7;
    const Tensor x = generate<float>({1000, 1000}, [&](auto) {
        state = state * 1664525U + 1013904223U;
        const double uniform = static_cast<double>(state >> 8) * 0x1p-24;
        state = state * 1664525U + 1013904223U;
        return (uniform - 0.5) * std::pow(10.0, static_cast<double>(state >> 28) / 15.0 * 6 - 3);
    });
    for (const Value& axes : {Value(Values{0, 1}), Value(0), Value(1)}) {
        Ask ask = along(axes);
        ask.threads = 1;
        const std::string first = bits(sum(x, ask));
        for (int repeat = 0; repeat < 10; ++repeat) {
            ask.threads = repeat % 2 == 0 ? 2 : 7;
            EXPECT_EQ(bits(sum(x, ask)), first) << to_text(axes);
        }
    }
}

TEST(Sum, WrongAxesAreRefused) {
    const Tensor x = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    for (const Value& axes : {Value(2), Value(-3), Value(Values{0, 5}), Value(Values{0, 0}), Value(Values{1, -1})}) {
        const std::optional<Error> error = error_of([&] { sum(x, along(axes)); });
        EXPECT_EQ(error->category(), Category::config);
        EXPECT_EQ(error->where(), "params.axes");
    }
    EXPECT_EQ(message_of([&] { sum(x, along(2)); }), "axes: x (2, 3) has no axis 2; allowed: -2 to 1");
    EXPECT_EQ(message_of([&] { sum(x, along(Values{1, -1})); }), "axes: axis 1 of x (2, 3) is named twice");
    EXPECT_NE(message_of([&] { sum(make<float>({}, {1}), along(0)); }).find("scalar"), std::string::npos);
}

TEST(Sum, PiecesMakeTheWhole) {
    // Small whole numbers: sums are exact, so that parts along summed axes add up to the same bits.
    const Tensor x = generate<float16>({5, 4, 3}, [](std::int64_t i) { return i * 7 % 23 - 11; });
    const Op& op = *find("sum")->op;
    const Variant& loop = *find(*find("sum"), "loop");
    for (const Value& axes : {Value(0), Value(1), Value(Values{0, 2}), Value(Values{}), Value(Values{0, 1, 2})})
        for (const bool keepdims : {false, true}) {
            const Ask ask = along(axes, keepdims);
            const Problem posed = problem("sum", {x}, ask);
            const std::vector<bool> summed = [&] {
                std::vector<bool> result(3, false);
                for (const std::int64_t axis : posed.params.integers("axes"))
                    result[static_cast<std::size_t>(axis)] = true;
                return result;
            }();
            const Tensor expected = sum(x, ask);
            const std::vector<Axis> axes_of = op.axes(posed);
            ASSERT_EQ(axes_of.size(), 3U);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                Tensor assembled(Spec{DType::float32, posed.out[0].shape});
                for (std::int64_t i = 0; i < assembled.spec().size(); ++i) assembled.as<float>()[i] = 0;
                for (const auto& [begin, end] :
                     {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, axes_of[axis].extent}}) {
                    const Piece piece = op.cut(posed, axis, begin, end);
                    ASSERT_EQ(piece.adds, summed[axis]);
                    EXPECT_EQ(piece.problem.out[0].dtype, piece.adds ? DType::float32 : DType::float16);
                    const Tensor cut = clone(part(x.slab(), piece.in[0]));
                    EXPECT_EQ(cut.spec(), piece.problem.in[0]);
                    const Tensor got = std::move(run(loop, piece.problem, {cut.slab()})[0]);
                    const Slab target = part(assembled.slab(), piece.out[0]);
                    ASSERT_EQ(target.spec.shape, got.spec().shape);
                    for (std::int64_t i = 0; i < got.spec().size(); ++i)
                        *reinterpret_cast<float*>(target.at(i)) += static_cast<float>(real_part(got.slab(), i));
                }
                for (std::int64_t i = 0; i < assembled.spec().size(); ++i)
                    EXPECT_EQ(assembled.as<float>()[i], static_cast<float>(real_part(expected.slab(), i)))
                        << to_text(axes) << " along " << axis;
            }
        }
}

TEST(Sum, TheReferenceGivesSumsAndMagnitudes) {
    const Tensor x = make<complex64>({2, 2}, {{1, -2}, {-3, 4}, {5, 6}, {-7, 8}});
    const std::vector<Term> s = terms("sum", {x}, along(0));
    EXPECT_EQ(s[1].re, -10);
    EXPECT_EQ(s[1].im, 12);
    EXPECT_EQ(s[0].re_magnitude, 6);
    EXPECT_EQ(s[0].im_magnitude, 8);
    // 2^24 + 1 in float32 terms, and 2^53 + 1 in float64 ones, are kept.
    EXPECT_EQ(terms("sum", {make<float>({2}, {16777216, 1})})[0].re, 16777217);
    EXPECT_EQ(terms("sum", {make<double>({2}, {0x1p53, 1})})[0].re, 0x1p53L + 1);
}

TEST(Sum, TheReferenceFollowsStrides) {
    const Tensor x = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    const Spec spec{DType::float32, {3, 2}};  // the transpose, as a view
    const std::vector<Slab> in = {{spec, {1, 3}, x.data()}};
    const Problem posed = pose(*find("sum")->op, params({{"axes", 1}}), {spec});
    const Reference reference = find("sum")->op->reference(posed, in);
    EXPECT_EQ(reference(0).re, 5);
    EXPECT_EQ(reference(1).re, 7);
    EXPECT_EQ(reference(2).re, 9);
}

TEST(Sum, TermsAndGrowth) {
    const Tensor x = generate<float>({4, 6, 2}, [](auto) { return 1; });
    const Op& op = *find("sum")->op;
    EXPECT_EQ(op.terms(problem("sum", {x})), 48);
    EXPECT_EQ(op.terms(problem("sum", {x}, along(1))), 6);
    EXPECT_EQ(op.terms(problem("sum", {x}, along(Values{}))), 1);
    EXPECT_EQ(op.terms(problem("sum", {make<float>({3, 0}, {})}, along(1))), 1);
    EXPECT_EQ(op.terms(problem("sum", {make<float>({3, 0}, {})}, along(0))), 1);
    EXPECT_EQ(find(*find("sum"), "loop")->growth(problem("sum", {x}), 1024), 18);
    EXPECT_EQ(op.rule(problem("sum", {x})), Rule::accumulated);
    EXPECT_EQ(op.rule(problem("sum", {make<std::int32_t>({1}, {1})})), Rule::rounded);
    EXPECT_EQ(op.rule(problem("sum", {make<std::int32_t>({1}, {1})}, {.result = DType::float64})), Rule::accumulated);
}

TEST(Sum, MemoryIsWhatPrepareAsksFor) {
    const Variant& loop = *find(*find("sum"), "loop");
    for (const Shape& shape : {Shape{1000003}, Shape{40, 50, 60}, Shape{3, 0}, Shape{7}})
        for (const Value& axes : {Value(Values{}), Value(0), Value(Values{0, static_cast<int>(shape.size()) - 1})}) {
            if (shape.size() == 1 && std::holds_alternative<Values>(axes) && std::get<Values>(axes).size() == 2)
                continue;
            const Problem posed = pose(*find("sum")->op, params({{"axes", axes}}), {Spec{DType::float16, shape}});
            const Plan plan = loop.prepare(posed);
            EXPECT_EQ(loop.memory(posed), plan.workspace + plan.held);
        }
}

TEST(Sum, KeptAxesKnowTheirOrigin) {
    const Tensor x = generate<float>({4, 6, 2}, [](auto) { return 1; });
    const std::vector<AxisOrigin> origins = find("sum")->op->origins(problem("sum", {x}, along(Values{1}, true)));
    ASSERT_EQ(origins.size(), 3U);
    EXPECT_EQ(std::pair(origins[0].input, origins[0].axis), std::pair(0, 0));
    EXPECT_EQ(origins[1].input, -1);
    EXPECT_EQ(std::pair(origins[2].input, origins[2].axis), std::pair(0, 2));
    const std::vector<AxisOrigin> dropped = find("sum")->op->origins(problem("sum", {x}, along(Values{1})));
    ASSERT_EQ(dropped.size(), 2U);
    EXPECT_EQ(dropped[1].axis, 2);
}

}  // namespace
}  // namespace gridstride::support
