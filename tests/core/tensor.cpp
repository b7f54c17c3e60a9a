// SPDX-License-Identifier: BSD-3-Clause
// Tensors and slabs: bytes, parts, strided copies, poison, single elements.
#include "core/tensor.hpp"

#include <cmath>
#include <cstring>

#include "support/run.hpp"

namespace gridstride::support {
namespace {

TEST(Spec, CountsBytes) {
    EXPECT_EQ((Spec{DType::complex128, {2, 3}}).bytes(), 96U);
    EXPECT_EQ((Spec{DType::float16, {}}).bytes(), 2U);
    EXPECT_EQ((Spec{DType::float32, {5}, false}).bytes(), 0U);
    EXPECT_THROW((Spec{DType::float64, {std::int64_t{1} << 61}}).bytes(), Error);
    EXPECT_EQ(to_text(Spec{DType::bfloat16, {2, 3}}), "bfloat16 (2, 3)");
    EXPECT_EQ(to_text(Spec{DType::float32, {}, false}), "absent");
}

TEST(Tensor, IsAlignedAndKnowsItsSlab) {
    const Tensor x(Spec{DType::float32, {3, 5}});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0U);
    EXPECT_EQ(x.slab().strides, (Shape{5, 1}));
    EXPECT_TRUE(x.slab().contiguous());
    EXPECT_EQ(Tensor(Spec{DType::float32, {3, 0}}).data(), nullptr);
}

TEST(Tensor, ThatDoesNotFitSaysItsSize) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the address sanitizer stops at such a request";
#endif
    const std::optional<Error> error = error_of([] { Tensor(Spec{DType::int64, {std::int64_t{1} << 55}}); });
    EXPECT_EQ(error->category(), Category::device);
    EXPECT_NE(std::string(error->what()).find("288230376151711744 bytes"), std::string::npos) << error->what();
}

TEST(Tensor, ReshapesToAsManyElements) {
    Tensor x = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    x.reshape({3, 2});
    EXPECT_EQ(x.spec().shape, (Shape{3, 2}));
    EXPECT_EQ(values<float>(x), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_THROW(x.reshape({4}), Error);
}

TEST(Part, StepsAndDropsAxes) {
    // x[i, j, k] = 100 i + 10 j + k of shape (2, 4, 5)
    const Tensor x =
        generate<std::int32_t>({2, 4, 5}, [](std::int64_t i) { return 100 * (i / 20) + 10 * (i / 5 % 4) + i % 5; });
    const Slab some = part(x.slab(), {{{1, 1, 1, true}, {1, 2, 2, false}, {0, 3, 2, false}}});  // x[1, 1::2, ::2]
    EXPECT_EQ(some.spec.shape, (Shape{2, 3}));
    EXPECT_FALSE(some.contiguous());
    EXPECT_EQ(values<std::int32_t>(clone(some)), (std::vector<std::int32_t>{110, 112, 114, 130, 132, 134}));
    EXPECT_EQ(real_part(some, 4), 132);
    const Slab rows = part(x.slab(), {{{1, 1, 1, false}, {0, 4, 1, false}, {0, 5, 1, false}}});  // x[1:2]
    EXPECT_TRUE(rows.contiguous());
    EXPECT_EQ(values<std::int32_t>(clone(rows))[0], 100);
    EXPECT_EQ(clone(part(x.slab(), {{{0, 0, 1, false}, {0, 4, 1, false}, {0, 5, 1, false}}})).spec().size(), 0);
}

TEST(CopyBits, WritesOnlyTheTarget) {
    Tensor x = generate<std::int32_t>({4, 6}, [](std::int64_t i) { return i; });
    const Tensor small = make<std::int32_t>({2, 3}, {-1, -2, -3, -4, -5, -6});
    copy_bits(small.slab(), part(x.slab(), {{{1, 2, 2, false}, {1, 3, 2, false}}}));  // x[1::2, 1::2]
    EXPECT_EQ(values<std::int32_t>(x), (std::vector<std::int32_t>{0,  1,  2,  3,  4,  5,  6,  -1, 8,  -2, 10, -3,
                                                                  12, 13, 14, 15, 16, 17, 18, -4, 20, -5, 22, -6}));
    Tensor columns = generate<double>({3, 4}, [](std::int64_t i) { return i; });
    copy_bits(make<double>({3, 2}, {10, 11, 12, 13, 14, 15}).slab(),
              part(columns.slab(), {{{0, 3, 1, false}, {2, 2, 1, false}}}));
    EXPECT_EQ(values<double>(columns), (std::vector<double>{0, 1, 10, 11, 4, 5, 12, 13, 8, 9, 14, 15}));
    EXPECT_THROW(copy_bits(small.slab(), x.slab()), Error);
}

TEST(CopyBits, KeepsSignallingNans) {
    Tensor x = make<float>({2}, {0, 0});
    const std::uint32_t word = 0x7fa00001;
    std::memcpy(x.data() + 4, &word, 4);
    EXPECT_EQ(bits(clone(x.slab())), bits(x));
}

TEST(BroadcastSlab, RepeatsWithStrideZero) {
    const Tensor x = make<float>({3, 1}, {1, 2, 3});
    const Slab wide = broadcast(x.slab(), {2, 3, 2});
    EXPECT_EQ(wide.strides, (Shape{0, 1, 0}));
    EXPECT_EQ(values<float>(clone(wide)), (std::vector<float>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(values<float>(clone(broadcast(make<float>({}, {7}).slab(), {3}))), (std::vector<float>{7, 7, 7}));
}

TEST(Poison, IsNanOrA5) {
    for (const DType dtype : all_dtypes) {
        const Tensor x(Spec{dtype, {3, 5}});
        poison(x.slab());
        for (std::int64_t i = 0; i < 15; ++i) {
            if (is_integer(dtype)) {
                EXPECT_EQ(std::to_integer<int>(x.data()[i * 4]), 0xA5);
            } else {
                EXPECT_TRUE(std::isnan(real_part(x.slab(), i))) << name(dtype);
                EXPECT_EQ(std::isnan(imaginary_part(x.slab(), i)), is_complex(dtype));
            }
        }
    }
    EXPECT_EQ(bits(Tensor(Spec{DType::float32, {0}})), "");
}

TEST(Poison, IsANanThatArithmeticDoesNotMake) {
    const Tensor x(Spec{DType::float32, {1}});
    poison(x.slab());
    EXPECT_EQ(bits(x), std::string(4, '\xff'));
    volatile float zero = 0;
    const Tensor quotient = make<float>({2}, {zero / zero, std::numeric_limits<float>::quiet_NaN()});
    EXPECT_NE(bits(quotient).substr(0, 4), bits(x));
    EXPECT_NE(bits(quotient).substr(4), bits(x));
}

TEST(Poison, OfAPartLeavesTheRest) {
    const Tensor x = generate<float>({3, 4}, [](std::int64_t i) { return i; });
    poison(part(x.slab(), {{{0, 3, 1, false}, {1, 2, 2, false}}}));  // columns 1 and 3
    for (std::int64_t i = 0; i < 12; ++i) {
        if (i % 2 == 1)
            EXPECT_TRUE(std::isnan(x.as<float>()[i]));
        else
            EXPECT_EQ(x.as<float>()[i], static_cast<float>(i));
    }
}

TEST(Elements, AreExactInLongDouble) {
    EXPECT_EQ(real_part(make<std::int64_t>({1}, {(1LL << 62) + 1}).slab(), 0),
              static_cast<long double>((1LL << 62) + 1));
    const Tensor z = make<complex64>({2}, {{1, -2}, {3, -4}});
    EXPECT_EQ(real_part(z.slab(), 1), 3);
    EXPECT_EQ(imaginary_part(z.slab(), 1), -4);
    EXPECT_EQ(imaginary_part(make<complex128>({1}, {{0, 0.1}}).slab(), 0), static_cast<long double>(0.1));
    EXPECT_EQ(real_part(make<float16>({1}, {0.1F}).slab(), 0), 1638.0L / 16384);  // 0.1 to 11 bits
    EXPECT_EQ(imaginary_part(make<float>({1}, {1}).slab(), 0), 0);
}

}  // namespace
}  // namespace gridstride::support
