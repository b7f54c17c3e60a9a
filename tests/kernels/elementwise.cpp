// SPDX-License-Identifier: BSD-3-Clause
// copy, add, multiply on the CPU: values worked out by hand, broadcasting, conversion, wrapping, parts, errors.
#include <cmath>
#include <cstring>
#include <limits>

#include "support/run.hpp"

namespace gridstride::support {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr auto int32_max = std::numeric_limits<std::int32_t>::max();
constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();

Tensor add(const Tensor& x, const Tensor& y, const Ask& ask = {}) {
    return run("add", "loop", {x, y}, ask);
}
Tensor multiply(const Tensor& x, const Tensor& y, const Ask& ask = {}) {
    return run("multiply", "loop", {x, y}, ask);
}
Tensor copied(const Tensor& x, const Ask& ask = {}) {
    return run("copy", "loop", {x}, ask);
}

TEST(Add, AddsEachDtype) {
    const std::vector<float> x = {1, -2, 0.5, 3, 100, -7}, y = {10, 20, 0.25, -3, 28, 7}, z = {11, 18, 0.75, 0, 128, 0};
    const auto sum = [&]<class T>() {
        return values<T>(add(make<T>({2, 3}, {x.begin(), x.end()}), make<T>({2, 3}, {y.begin(), y.end()})));
    };
    EXPECT_EQ(sum.operator()<float16>(), z);
    EXPECT_EQ(sum.operator()<bfloat16>(), z);
    EXPECT_EQ(sum.operator()<float>(), z);
    EXPECT_EQ(sum.operator()<double>(), (std::vector<double>{11, 18, 0.75, 0, 128, 0}));
    EXPECT_EQ(values<std::int32_t>(add(make<std::int32_t>({3}, {1, -2, 3}), make<std::int32_t>({3}, {4, 5, -6}))),
              (std::vector<std::int32_t>{5, 3, -3}));
    EXPECT_EQ(values<std::int64_t>(add(make<std::int64_t>({2}, {1LL << 53, -1}), make<std::int64_t>({2}, {1, 1}))),
              (std::vector<std::int64_t>{(1LL << 53) + 1, 0}));
    EXPECT_EQ(values<complex64>(add(make<complex64>({2}, {{1, 2}, {3, -4}}), make<complex64>({2}, {{5, 6}, {-3, 1}}))),
              (std::vector<complex64>{{6, 8}, {0, -3}}));
    EXPECT_EQ(values<complex128>(add(make<complex128>({1}, {{0.1, 0.2}}), make<complex128>({1}, {{0.2, 0.1}}))),
              (std::vector<complex128>{{0.1 + 0.2, 0.2 + 0.1}}));
}

TEST(Add, RoundsOnceToNearestEven) {
    // 2^24 + 1 is halfway between two float32; 0.1 + 0.2 is the float64 everyone knows.
    EXPECT_EQ(values<float>(add(make<float>({2}, {16777216, 16777218}), make<float>({2}, {1, 1}))),
              (std::vector<float>{16777216, 16777220}));
    EXPECT_EQ(values<double>(add(make<double>({1}, {0.1}), make<double>({1}, {0.2}))),
              (std::vector<double>{0.30000000000000004}));
    // 2048 + 1 is halfway in float16, 256 + 1 in bfloat16; above them the neighbour 2 resp. 2 further.
    EXPECT_EQ(values<float16>(add(make<float16>({2}, {2048, 2050}), make<float16>({2}, {1, 1}))),
              (std::vector<float>{2048, 2052}));
    EXPECT_EQ(values<bfloat16>(add(make<bfloat16>({2}, {256, 258}), make<bfloat16>({2}, {1, 1}))),
              (std::vector<float>{256, 260}));
    // A sum in float64 that x87 would round twice: 1 + (2^-53 + 2^-78) is just above halfway.
    EXPECT_EQ(values<double>(add(make<double>({1}, {1}), make<double>({1}, {0x1.0000008p-53}))),
              (std::vector<double>{0x1.0000000000001p0}));
}

TEST(Add, OverflowOfFloatsIsInfinite) {
    EXPECT_EQ(values<float16>(add(make<float16>({2}, {65504, -65504}), make<float16>({2}, {16, -32}))),
              (std::vector<float>{inf, -inf}));
    EXPECT_EQ(values<float>(add(make<float>({1}, {3e38F}), make<float>({1}, {3e38F}))), (std::vector<float>{inf}));
}

TEST(Add, TheReferenceTellsOverflowOfFiniteOperands) {
    const auto overflowed = [](const std::string& op, const Tensor& x, const Tensor& y) {
        std::vector<bool> result;
        for (const Term& term : terms(op, {x, y})) result.push_back(term.overflowed);
        return result;
    };
    const Tensor x = make<float>({4}, {3e38F, 3e38F, inf, nan}), y = make<float>({4}, {3e38F, -3e38F, 1, 1});
    EXPECT_EQ(overflowed("add", x, y), (std::vector<bool>{true, false, false, false}));
    EXPECT_EQ(overflowed("multiply", x, y), (std::vector<bool>{true, true, false, false}));
    EXPECT_EQ(overflowed("add", make<double>({1}, {1.5e308}), make<double>({1}, {1.5e308})), std::vector<bool>{true});
    EXPECT_EQ(overflowed("add", make<complex64>({2}, {{1, -3e38F}, {1, inf}}), make<complex64>({}, {{1, -3e38F}})),
              (std::vector<bool>{true, false}));
    // (1e20 + 1i)(1e20 + 1i) = 1e40 - 1 + 2e20 i
    EXPECT_EQ(overflowed("multiply", make<complex64>({2}, {{1e20F, 1}, {1e10F, 1}}),
                         make<complex64>({2}, {{1e20F, 1}, {1e10F, 1}})),
              (std::vector<bool>{true, false}));
}

TEST(Add, IntegersWrap) {
    EXPECT_EQ(values<std::int32_t>(
                  add(make<std::int32_t>({2}, {int32_max, -int32_max - 1}), make<std::int32_t>({2}, {1, -1}))),
              (std::vector<std::int32_t>{-int32_max - 1, int32_max}));
    EXPECT_EQ(
        values<std::int64_t>(add(make<std::int64_t>({2}, {int64_max, int64_min}), make<std::int64_t>({2}, {2, -1}))),
        (std::vector<std::int64_t>{int64_min + 1, int64_max}));
    const std::vector<Term> wrapped =
        terms("add", {make<std::int64_t>({2}, {int64_max, 3}), make<std::int64_t>({2}, {2, 4})});
    EXPECT_TRUE(wrapped[0].wrapped);
    EXPECT_EQ(wrapped[0].re, static_cast<long double>(int64_min + 1));
    EXPECT_FALSE(wrapped[1].wrapped);
    EXPECT_EQ(wrapped[1].re, 7);
}

TEST(Add, Int32WithAnInt64ResultDoesNotWrap) {
    const Tensor z = add(make<std::int32_t>({1}, {int32_max}), make<std::int32_t>({1}, {1}), {.result = DType::int64});
    EXPECT_EQ(values<std::int64_t>(z), (std::vector<std::int64_t>{2147483648}));
}

TEST(Add, MixedInputsFollowNumpyResultType) {
    EXPECT_EQ(values<double>(add(make<std::int32_t>({2}, {1, 2}), make<float>({2}, {0.5, 0.25}))),
              (std::vector<double>{1.5, 2.25}));
    EXPECT_EQ(values<float>(add(make<float16>({1}, {1.5}), make<bfloat16>({1}, {3}))), (std::vector<float>{4.5}));
    EXPECT_EQ(values<complex128>(add(make<complex64>({1}, {{1, 2}}), make<std::int64_t>({1}, {3}))),
              (std::vector<complex128>{{4, 2}}));
}

TEST(Add, BroadcastsAsNumpy) {
    const Tensor rows = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values<float>(add(make<float>({}, {10}), rows)), (std::vector<float>{11, 12, 13, 14, 15, 16}));
    EXPECT_EQ(values<float>(add(make<float>({1, 3}, {10, 20, 30}), rows)),
              (std::vector<float>{11, 22, 33, 14, 25, 36}));
    EXPECT_EQ(values<float>(add(rows, make<float>({3}, {10, 20, 30}))), (std::vector<float>{11, 22, 33, 14, 25, 36}));
    EXPECT_EQ(values<float>(add(rows, make<float>({2, 1}, {10, 20}))), (std::vector<float>{11, 12, 13, 24, 25, 26}));
    const Tensor outer = add(make<std::int32_t>({3, 1}, {100, 200, 300}), make<std::int32_t>({2}, {1, 2}));
    EXPECT_EQ(outer.spec().shape, (Shape{3, 2}));
    EXPECT_EQ(values<std::int32_t>(outer), (std::vector<std::int32_t>{101, 102, 201, 202, 301, 302}));
    EXPECT_EQ(values<float>(add(make<float>({}, {1}), make<float>({}, {2}))), (std::vector<float>{3}));
    // x (2, 1, 2, 1) + y (3, 1, 2) -> (2, 3, 2, 2): z[a,b,c,d] = x[a,0,c,0] + y[b,0,d]
    const Tensor z = add(make<float>({2, 1, 2, 1}, {0, 100, 200, 300}), make<float>({3, 1, 2}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(z.spec().shape, (Shape{2, 3, 2, 2}));
    EXPECT_EQ(values<float>(z), (std::vector<float>{1,   2,   101, 102, 3,   4,   103, 104, 5,   6,   105, 106,
                                                    201, 202, 301, 302, 203, 204, 303, 304, 205, 206, 305, 306}));
}

TEST(Add, BroadcastsAcrossBlocksOfTheLoop) {
    // Rows of 3 over 100 003 rows: no row begins where a block begins.
    const Tensor x = generate<float>({100003, 3}, [](std::int64_t i) { return i % 1000; });
    const Tensor z = add(x, make<float>({3}, {0.25, 0.5, 0.75}));
    const Tensor columns =
        add(generate<float>({100003, 1}, [](std::int64_t i) { return i % 1000; }), make<float>({3}, {0.25, 0.5, 0.75}));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 300009; ++i) {
        const float part = 0.25F * static_cast<float>(i % 3 + 1);
        wrong += z.as<float>()[i] != static_cast<float>(i % 1000) + part;
        wrong += columns.as<float>()[i] != static_cast<float>(i / 3 % 1000) + part;
    }
    EXPECT_EQ(wrong, 0);
}

// BR021: an 'and' in place of an 'or' let such shapes through.
TEST(Add, ShapesThatDoNotMatchAreNamed) {
    const auto message = [](Shape a, Shape b) {
        const std::optional<Error> error = error_of(
            [&] { add(generate<float>(a, [](auto) { return 1; }), generate<float>(b, [](auto) { return 1; })); });
        EXPECT_EQ(error->category(), Category::config);
        EXPECT_EQ(error->where(), "inputs.y");
        return std::string(error->what());
    };
    const std::vector<std::pair<Shape, Shape>> pairs = {
        {{10, 1}, {3, 1}}, {{3, 1}, {10, 1}}, {{2, 3}, {3, 2}}, {{4}, {2, 2}}};
    for (const auto& [a, b] : pairs) {
        EXPECT_NE(message(a, b).find(to_text(a)), std::string::npos) << message(a, b);
        EXPECT_NE(message(a, b).find(to_text(b)), std::string::npos) << message(a, b);
        EXPECT_NE(message(b, a).find(to_text(b)), std::string::npos) << message(b, a);
    }
}

// BR024: an empty problem must not disturb the next one.
TEST(Elementwise, EmptyInputsGiveEmptyOutputs) {
    const auto empty = [](Shape shape) { return generate<float>(std::move(shape), [](auto) { return 1; }); };
    EXPECT_EQ(add(empty({3, 0, 5}), empty({3, 0, 5})).spec().shape, (Shape{3, 0, 5}));
    EXPECT_EQ(multiply(empty({0}), empty({0})).spec().shape, (Shape{0}));
    EXPECT_EQ(add(empty({0}), empty({1})).spec().shape, (Shape{0}));
    EXPECT_EQ(copied(empty({0, 4})).spec().shape, (Shape{0, 4}));
    EXPECT_EQ(values<float>(add(make<float>({4}, {1, 2, 3, 4}), make<float>({4}, {10, 20, 30, 40}))),
              (std::vector<float>{11, 22, 33, 44}));
}

// BR025: rows of odd length leave every row but the first unaligned.
template <class T>
void add_odd_rows() {
    const std::vector<Shape> shapes = {{5, 3}, {5, 7}, {1, 1}, {2, 1023}};
    for (const Shape& shape : shapes) {
        const Tensor x = generate<T>(shape, [](std::int64_t i) { return static_cast<float>(i % 100); });
        const Tensor y = generate<T>(shape, [](std::int64_t i) { return static_cast<float>(i % 7) * 0.5F; });
        const auto z = values<T>(add(x, y)),
                   row = values<T>(
                       add(x, generate<T>({shape[1]}, [](std::int64_t i) { return static_cast<float>(i % 5); })));
        for (std::size_t i = 0; i < z.size(); ++i) {
            ASSERT_EQ(z[i], Written<T>(static_cast<float>(i % 100) + static_cast<float>(i % 7) * 0.5F));
            const auto column = i % static_cast<std::size_t>(shape[1]);
            ASSERT_EQ(row[i], Written<T>(static_cast<float>(i % 100 + column % 5)));
        }
    }
}
TEST(Add, RowsOfOddLength) {
    add_odd_rows<float16>();
    add_odd_rows<bfloat16>();
    add_odd_rows<float>();
    add_odd_rows<double>();
    add_odd_rows<complex64>();
}

TEST(Add, InputsAtOddAddresses) {
    // Parts of a larger tensor, from its elements 1 and 3: contiguous, but not aligned to more than one element.
    const Tensor base = generate<float>({5003}, [](std::int64_t i) { return i; });
    const Variant& loop = *find(*find("add"), "loop", Device::cpu);
    const Spec spec{DType::float32, {4999}};
    const Problem posed = pose(*find("add")->op, {}, {spec, spec});
    const std::vector<Slab> in = {{spec, {1}, base.data() + 4}, {spec, {1}, base.data() + 12}};
    const Tensor z = std::move(run(loop, posed, in)[0]);
    for (std::int64_t i = 0; i < 4999; ++i) ASSERT_EQ(z.as<float>()[i], static_cast<float>(2 * i + 4));
}

TEST(Add, NonFiniteValuesFollowIeee) {
    const auto z = values<float>(add(make<float>({4}, {inf, inf, nan, -inf}), make<float>({4}, {1, -inf, 1, -inf})));
    EXPECT_EQ(z[0], inf);
    EXPECT_TRUE(std::isnan(z[1]));
    EXPECT_TRUE(std::isnan(z[2]));
    EXPECT_EQ(z[3], -inf);
}

TEST(Multiply, MultipliesEachDtype) {
    const std::vector<float> x = {1, -2, 0.5, 3, 10, -7}, y = {10, 20, 0.25, -3, 12, 0},
                             z = {10, -40, 0.125, -9, 120, 0};
    const auto product = [&]<class T>() {
        return values<T>(multiply(make<T>({3, 2}, {x.begin(), x.end()}), make<T>({3, 2}, {y.begin(), y.end()})));
    };
    EXPECT_EQ(product.operator()<float16>(), z);
    EXPECT_EQ(product.operator()<bfloat16>(), z);
    EXPECT_EQ(product.operator()<float>(), z);
    EXPECT_EQ(product.operator()<double>(), (std::vector<double>{10, -40, 0.125, -9, 120, 0}));
    EXPECT_EQ(values<std::int32_t>(multiply(make<std::int32_t>({2}, {3, -4}), make<std::int32_t>({2}, {5, 6}))),
              (std::vector<std::int32_t>{15, -24}));
    EXPECT_EQ(values<std::int64_t>(multiply(make<std::int64_t>({1}, {3037000499}), make<std::int64_t>({}, {-3}))),
              (std::vector<std::int64_t>{-9111001497}));
    // (1 + 2i)(3 + 4i) = -5 + 10i; (2 - i)(0 + 3i) = 3 + 6i
    EXPECT_EQ(
        values<complex64>(multiply(make<complex64>({2}, {{1, 2}, {2, -1}}), make<complex64>({2}, {{3, 4}, {0, 3}}))),
        (std::vector<complex64>{{-5, 10}, {3, 6}}));
    EXPECT_EQ(values<complex128>(multiply(make<complex128>({1}, {{1, 2}}), make<complex128>({1}, {{3, 4}}))),
              (std::vector<complex128>{{-5, 10}}));
}

TEST(Multiply, IntegersWrap) {
    EXPECT_EQ(values<std::int32_t>(
                  multiply(make<std::int32_t>({2}, {65536, 65537}), make<std::int32_t>({2}, {65536, 65537}))),
              (std::vector<std::int32_t>{0, 131073}));  // 65537^2 = 2^32 + 131073
    EXPECT_EQ(values<std::int64_t>(multiply(make<std::int64_t>({2}, {4294967297, int64_min}),
                                            make<std::int64_t>({2}, {4294967297, -1}))),
              (std::vector<std::int64_t>{8589934593, int64_min}));  // (2^32 + 1)^2 = 2^64 + 2^33 + 1
    const std::vector<Term> wrapped =
        terms("multiply", {make<std::int32_t>({2}, {65537, 3}), make<std::int32_t>({2}, {65537, 5})});
    EXPECT_TRUE(wrapped[0].wrapped);
    EXPECT_EQ(wrapped[0].re, 131073);
    EXPECT_FALSE(wrapped[1].wrapped);
    EXPECT_EQ(wrapped[1].re, 15);
}

TEST(Multiply, ComplexIsThePlainFormulaWithoutRecoveryOfInfinities) {
    // (inf + inf i)(1 + 0i): Annex G would recover (inf, inf); the formula gives inf - nan, nan + inf: both NaN.
    const auto z = values<complex64>(multiply(make<complex64>({1}, {{inf, inf}}), make<complex64>({1}, {{1, 0}})));
    EXPECT_TRUE(std::isnan(z[0].real()));
    EXPECT_TRUE(std::isnan(z[0].imag()));
}

TEST(Multiply, RoundsProductsBeforeAddingThem) {
    // a c - b d with a c = (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounds to 1 + 2^-11 (tie to even); a fused one keeps
    // 2^-24.
    const float a = 1 + 0x1p-12F;
    const auto z =
        values<complex64>(multiply(make<complex64>({1}, {{a, 1}}), make<complex64>({1}, {{a, 1 + 0x1p-11F}})));
    EXPECT_EQ(z[0].real(), 0);
    const std::vector<Term> exact =
        terms("multiply", {make<complex64>({1}, {{a, 1}}), make<complex64>({1}, {{a, 1 + 0x1p-11F}})});
    EXPECT_EQ(exact[0].re, 0x1p-24L);
    EXPECT_EQ(exact[0].re_magnitude, 2 + 0x1p-10L + 0x1p-24L);
}

TEST(Multiply, TheReferenceGivesMagnitudesOfComplexProducts) {
    const std::vector<Term> z = terms("multiply", {make<complex128>({1}, {{1, -2}}), make<complex128>({1}, {{3, 4}})});
    EXPECT_EQ(z[0].re, 11);  // 3 + 8
    EXPECT_EQ(z[0].im, -2);  // 4 - 6
    EXPECT_EQ(z[0].re_magnitude, 11);
    EXPECT_EQ(z[0].im_magnitude, 10);
    EXPECT_EQ(find("multiply")->op->rule(problem("multiply", {make<complex64>({1}, {0}), make<complex64>({1}, {0})})),
              Rule::accumulated);
    EXPECT_EQ(find("multiply")->op->rule(problem("multiply", {make<float>({1}, {0}), make<float>({1}, {0})})),
              Rule::rounded);
}

TEST(Multiply, SubnormalsAreKept) {
    EXPECT_EQ(
        values<float>(multiply(make<float>({2}, {0x1p-100F, 0x1.8p-74F}), make<float>({2}, {0x1p-49F, 0x1p-75F}))),
        (std::vector<float>{0x1p-149F, 0x1p-148F}));  // 1.5 x 2^-149 is a tie, to even
    EXPECT_EQ(values<double>(multiply(make<double>({1}, {0x1p-600}), make<double>({1}, {0x1p-474}))),
              (std::vector<double>{0x1p-1074}));
}

TEST(Copy, MovesBits) {
    // Signalling NaNs with payloads in every float type, -0, and the odd length 5.
    const auto same = [](const Tensor& x) { return bits(copied(x)) == bits(x); };
    Tensor half = make<float16>({5}, {1, 2, 3, 4, 5}), brain = make<bfloat16>({5}, {1, 2, 3, 4, 5});
    Tensor single = make<float>({5}, {1, 2, 3, 4, -0.0F}), wide = make<double>({5}, {1, 2, 3, 4, -0.0});
    Tensor complex = make<complex64>({5}, {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}});
    const std::uint16_t payload_16 = 0x7d01, payload_b16 = 0xffa1;
    const std::uint32_t payload_32 = 0x7fa12345;
    const std::uint64_t payload_64 = 0xfff4123456789abc;
    std::memcpy(half.data() + 2, &payload_16, 2);
    std::memcpy(brain.data() + 2, &payload_b16, 2);
    std::memcpy(single.data() + 4, &payload_32, 4);
    std::memcpy(wide.data() + 8, &payload_64, 8);
    std::memcpy(complex.data() + 12, &payload_32, 4);
    EXPECT_TRUE(same(half));
    EXPECT_TRUE(same(brain));
    EXPECT_TRUE(same(single));
    EXPECT_TRUE(same(wide));
    EXPECT_TRUE(same(complex));
    EXPECT_TRUE(same(make<complex128>({1}, {{1, -2}})));
    EXPECT_TRUE(same(make<std::int32_t>({3}, {int32_max, -1, 0})));
    EXPECT_TRUE(same(make<std::int64_t>({3}, {int64_max, int64_min, (1LL << 53) + 1})));
    EXPECT_TRUE(same(generate<double>({7, 30001}, [](std::int64_t i) { return 0.1 * static_cast<double>(i); })));
}

TEST(Copy, IsExactWhereTheDtypesAgree) {
    const Tensor x = make<float>({2}, {-0.0F, 1});
    const std::vector<Term> same = terms("copy", {x}), wider = terms("copy", {x}, {.result = DType::float64});
    EXPECT_TRUE(same[0].exact);
    EXPECT_TRUE(std::signbit(same[0].re));
    EXPECT_FALSE(wider[0].exact);
}

TEST(Copy, ConvertsToTheResultDtype) {
    const Tensor x = make<double>({2, 2}, {1.00390625, -3.4e38, 1e-50, 2});
    EXPECT_EQ(values<float>(copied(x, {.result = DType::float32})), (std::vector<float>{1.00390625F, -3.4e38F, 0, 2}));
    EXPECT_EQ(values<bfloat16>(copied(x, {.result = DType::bfloat16})), (std::vector<float>{1, -inf, 0, 2}));
    EXPECT_EQ(values<float16>(copied(x, {.result = DType::float16})), (std::vector<float>{1.00390625F, -inf, 0, 2}));
    EXPECT_EQ(values<complex64>(copied(make<float16>({1}, {1.5}), {.result = DType::complex64})),
              (std::vector<complex64>{{1.5, 0}}));
    EXPECT_EQ(values<std::int32_t>(copied(make<float>({2}, {3, -4}), {.result = DType::int32})),
              (std::vector<std::int32_t>{3, -4}));
    EXPECT_EQ(values<complex64>(copied(make<complex128>({1}, {{1e300, 2}}), {.result = DType::complex64})),
              (std::vector<complex64>{{inf, 2}}));
}

TEST(Copy, Int64RoundsOnceToFloat32) {
    // 2^60 + 2^36 + 1 is just above halfway between two float32; by way of float64 it would be the tie, to even.
    const Tensor x = make<std::int64_t>({1}, {(1LL << 60) + (1LL << 36) + 1});
    EXPECT_EQ(values<float>(copied(x, {.result = DType::float32})), (std::vector<float>{0x1.000002p60F}));
}

TEST(Elementwise, ResultsConvertToTheResultDtype) {
    // Arithmetic in float64: 2^24 + 1 survives.
    EXPECT_EQ(values<double>(add(make<float>({1}, {16777216}), make<float>({1}, {1}), {.result = DType::float64})),
              (std::vector<double>{16777217}));
    EXPECT_EQ(values<float16>(
                  add(make<float>({2}, {60000, 1}), make<float>({2}, {6000, 0x1p-11F}), {.result = DType::float16})),
              (std::vector<float>{inf, 1}));
    EXPECT_EQ(values<std::int64_t>(
                  multiply(make<double>({2}, {1.5, -2.5}), make<double>({2}, {2, 4}), {.result = DType::int64})),
              (std::vector<std::int64_t>{3, -10}));
    EXPECT_EQ(values<complex64>(add(make<float>({1}, {1}), make<float>({1}, {2}), {.result = DType::complex64})),
              (std::vector<complex64>{{3, 0}}));
}

TEST(Elementwise, AResultThatIsNoIntegerNamesTheLowestPlace) {
    const Tensor x = make<float>({2, 4}, {1, 2, 3, 4.5, 5, 6, 7, 8.5}), zero = make<float>({}, {0});
    const std::optional<Error> error = error_of([&] { add(x, zero, {.result = DType::int32}); });
    EXPECT_EQ(error->category(), Category::input);
    EXPECT_STREQ(error->what(), "add: result 4.5 at (0, 3) is not a whole number: choose a float result_dtype");
    EXPECT_EQ(message_of([&] {
                  multiply(make<float>({2}, {1, 3e9F}), make<float>({}, {1}), {.result = DType::int32});
              }),
              "multiply: result 3000000000 at (1,) is out of int32's range: choose int64 or a float result_dtype");
    EXPECT_EQ(message_of([&] { copied(make<float>({}, {nan}), {.result = DType::int64}); }),
              "copy: result nan at () is no number that int64 holds: choose a float result_dtype");
    // Faults in many blocks, on several threads: still the lowest.
    const Tensor many = generate<float>({500, 1000}, [](std::int64_t i) { return i >= 123457 ? 0.5 : 1.0; });
    for (int repeat = 0; repeat < 5; ++repeat) {
        EXPECT_EQ(message_of([&] { add(many, zero, {.result = DType::int32, .threads = 7}); }),
                  "add: result 0.5 at (123, 457) is not a whole number: choose a float result_dtype");
        EXPECT_EQ(message_of([&] { copied(many, {.result = DType::int32, .threads = 7}); }),
                  "copy: result 0.5 at (123, 457) is not a whole number: choose a float result_dtype");
    }
}

TEST(Elementwise, ComplexToRealIsRefused) {
    const Tensor z = make<complex64>({1}, {{1, 2}});
    for (const char* op : {"copy", "add", "multiply"}) {
        const Inputs in = std::string_view(op) == "copy" ? Inputs{z} : Inputs{z, z};
        const std::optional<Error> error = error_of([&] { problem(op, in, {.result = DType::float64}); });
        EXPECT_EQ(error->category(), Category::config);
        EXPECT_EQ(error->where(), "result_dtype");
    }
}

TEST(Elementwise, AnOutputTooLargeToCountIsRefused) {
    const Spec column{DType::float32, {std::int64_t{1} << 40, 1}}, row{DType::float32, {std::int64_t{1} << 40}};
    EXPECT_EQ(error_of([&] { pose(*find("add")->op, {}, {column, row}); })->category(), Category::config);
}

TEST(Elementwise, TheSameBitsForEveryThreadCount) {
    const Tensor x = generate<float>({300, 701}, [](std::int64_t i) { return 1.0 / static_cast<double>(i + 1); });
    const Tensor y = generate<float>({701}, [](std::int64_t i) { return 1.0 / static_cast<double>(3 * i + 2); });
    for (const char* op : {"add", "multiply"}) {
        const std::string one = bits(run(op, "loop", {x, y}, {.threads = 1}));
        EXPECT_EQ(bits(run(op, "loop", {x, y}, {.threads = 2})), one);
        EXPECT_EQ(bits(run(op, "loop", {x, y}, {.threads = 7})), one);
    }
}

TEST(Elementwise, PiecesMakeTheWhole) {
    const Tensor x = generate<double>({4, 1, 7}, [](std::int64_t i) { return 1.0 / static_cast<double>(i + 1); });
    const Tensor y = generate<double>({5, 1}, [](std::int64_t i) { return static_cast<double>(i * i) - 3; });
    for (const char* name : {"add", "multiply"}) {
        const Op& op = *find(name)->op;
        const Variant& loop = *find(*find(name), "loop");
        const Problem posed = problem(name, {x, y});
        const std::vector<Axis> axes = op.axes(posed);
        ASSERT_EQ(axes.size(), 3U);
        const std::string whole_answer = bits(run(name, "loop", {x, y}));
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_EQ(axes[axis].extent, posed.out[0].shape[axis]);
            Tensor assembled(posed.out[0]);
            poison(assembled.slab());
            const std::int64_t middle = axes[axis].extent / 3 + 1;
            for (const auto& [begin, end] :
                 {std::pair{std::int64_t{0}, middle}, std::pair{middle, axes[axis].extent}}) {
                const Piece piece = op.cut(posed, axis, begin, end);
                EXPECT_FALSE(piece.adds);
                const Tensor a = clone(part(x.slab(), piece.in[0])), b = clone(part(y.slab(), piece.in[1]));
                EXPECT_EQ(a.spec(), piece.problem.in[0]);
                EXPECT_EQ(b.spec(), piece.problem.in[1]);
                const Tensor got = std::move(run(loop, piece.problem, {a.slab(), b.slab()})[0]);
                copy_bits(got.slab(), part(assembled.slab(), piece.out[0]));
            }
            EXPECT_EQ(bits(assembled), whole_answer) << name << " along axis " << axis;
        }
    }
}

TEST(Elementwise, TheReferenceFollowsStrides) {
    // x transposed and every second column of y, as views.
    const Tensor x = make<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
                 y = make<float>({3, 4}, {10, 0, 20, 0, 30, 0, 40, 0, 50, 0, 60, 0});
    const Spec spec{DType::float32, {3, 2}};
    const std::vector<Slab> in = {{spec, {1, 3}, x.data()}, {spec, {4, 2}, y.data()}};
    const Problem posed = pose(*find("add")->op, {}, {spec, spec});
    const Reference reference = find("add")->op->reference(posed, in);
    const std::vector<float> z = {11, 24, 32, 45, 53, 66};
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(reference(i).re, z[static_cast<std::size_t>(i)]);
}

TEST(Elementwise, CostsCountEachByteOnce) {
    const Problem posed = problem("add", {make<double>({2, 3}, {1, 2, 3, 4, 5, 6}), make<double>({3}, {1, 2, 3})},
                                  {.result = DType::float32});
    const Cost cost = find("add")->op->cost(posed);
    EXPECT_EQ(cost.flops, 6);
    EXPECT_EQ(cost.read, 72);
    EXPECT_EQ(cost.written, 24);
    EXPECT_EQ(find("copy")->op->cost(problem("copy", {make<complex64>({2}, {0, 0})})).flops, 0);
    const Tensor z = make<complex64>({2}, {0, 0});
    EXPECT_EQ(find("multiply")->op->cost(problem("multiply", {z, z})).flops, 12);
}

TEST(Elementwise, OutputAxesKnowTheInputAxesTheyKeep) {
    const Problem posed =
        problem("add", {make<float>({1, 3}, {1, 2, 3}), make<float>({4, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8})});
    const std::vector<AxisOrigin> origins = find("add")->op->origins(posed);
    ASSERT_EQ(origins.size(), 3U);
    EXPECT_EQ(std::pair(origins[0].input, origins[0].axis), std::pair(1, 0));
    EXPECT_EQ(std::pair(origins[1].input, origins[1].axis), std::pair(1, 1));
    EXPECT_EQ(std::pair(origins[2].input, origins[2].axis), std::pair(0, 1));
}

}  // namespace
}  // namespace gridstride::support
