// SPDX-License-Identifier: BSD-3-Clause
// Data sheets against NVIDIA's published numbers; the plain kernels do what they are named for.
#include "core/rates.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace gridstride::rates {

namespace {

constexpr Sheet h200{std::size_t{50} << 20, 4.8e12, 1.98e9, 132, 9, 0};

TEST(Peak, OfAnH200IsItsDataSheets) {  // 67 Tflop/s; the dense tensor core numbers there are at 1.83 GHz
    EXPECT_NEAR(peak_flops(h200, DType::float32, false), 67e12, 0.5e12);
    EXPECT_NEAR(peak_flops(h200, DType::float64, false), 67e12, 0.5e12);
    EXPECT_NEAR(peak_flops(h200, DType::float16, false) * 1.83 / 1.98, 989.5e12, 2e12);
    EXPECT_NEAR(peak_flops(h200, DType::bfloat16, false) * 1.83 / 1.98, 989.5e12, 2e12);
    EXPECT_NEAR(peak_flops(h200, DType::float32, true) * 1.83 / 1.98, 494.7e12, 1e12);
}

TEST(Peak, OfAnA100IsItsDataSheets) {
    constexpr Sheet a100{std::size_t{40} << 20, 1.555e12, 1.41e9, 108, 8, 0};
    EXPECT_NEAR(peak_flops(a100, DType::float32, false), 19.5e12, 0.05e12);
    EXPECT_NEAR(peak_flops(a100, DType::float64, false), 19.5e12, 0.05e12);
    EXPECT_NEAR(peak_flops(a100, DType::float32, true), 156e12, 0.5e12);
    EXPECT_NEAR(peak_flops(a100, DType::float16, false), 312e12, 0.5e12);
}

TEST(Peak, OfComplexNumbersIsTheirPartsAndOfIntegersUnknown) {
    EXPECT_EQ(peak_flops(h200, DType::complex64, false), peak_flops(h200, DType::float32, false));
    EXPECT_EQ(peak_flops(h200, DType::complex128, true), peak_flops(h200, DType::float64, false));
    EXPECT_EQ(peak_flops(h200, DType::int32, false), 0);
}

TEST(Peak, IsUnknownOfADeviceThatIsNotInTheTable) {
    EXPECT_EQ(peak_flops({1, 1, 1e9, 100, 3, 5}, DType::float32, false), 0);
    EXPECT_EQ(peak_flops(sheet({}), DType::float32, false), 0);
    EXPECT_EQ(sheet({}).bandwidth, 0);
    EXPECT_GT(sheet({}).cache, 0U);
}

TEST(Mixes, AreTheNearestByTheShareThatIsRead) {
    EXPECT_EQ(nearest(1e9, 4), Mix::read);  // a sum
    EXPECT_EQ(nearest(9, 1), Mix::read);
    EXPECT_EQ(nearest(8, 2), Mix::add);  // 0.8 is nearer to 2/3 than to 1
    EXPECT_EQ(nearest(2, 1), Mix::add);
    EXPECT_EQ(nearest(59, 41), Mix::add);
    EXPECT_EQ(nearest(58, 42), Mix::copy);
    EXPECT_EQ(nearest(1, 1), Mix::copy);
    EXPECT_EQ(nearest(1, 1000), Mix::copy);  // an outer sum: no plain kernel writes alone
}

/// The bytes that a plain kernel's problem moves.
std::size_t moved(const Problem& problem) {
    std::size_t bytes = 0;
    for (const Spec& spec : problem.in) bytes += spec.bytes();
    return bytes + problem.out[0].bytes();
}

TEST(PlainKernels, MoveTheBytesThatWereAskedFor) {
    for (const Mix mix : {Mix::read, Mix::copy, Mix::add}) {
        const std::size_t bytes = moved(problem(mix, 1'000'003, {}));
        EXPECT_LE(bytes, 1'000'007U) << name(mix);
        EXPECT_GE(bytes, 1'000'003U - 48) << name(mix);
        EXPECT_EQ(problem(mix, 0, {}).in[0].size(), 4) << name(mix);
    }
}

TEST(PlainKernels, ReadCopyAndAdd) {
    for (const int threads : {1, 3}) {
        const Place place{Device::cpu, 0, threads, {}};
        const auto run = [&](Mix mix, std::size_t bytes) {
            const Problem posed = problem(mix, bytes, place);
            std::vector<Tensor> tensors;
            std::vector<Slab> in;
            for (const Spec& spec : posed.in) {
                tensors.emplace_back(spec);
                std::iota(tensors.back().as<float>(), tensors.back().as<float>() + spec.size(), 1.F);
                in.push_back(tensors.back().slab());
            }
            Tensor out(posed.out[0]);
            const Slab result = out.slab();
            poison(result);
            prepare(mix, posed).step({in, {&result, 1}, nullptr, {}});
            return out;
        };
        const Tensor copied = run(Mix::copy, 2 * 4 * 1012), added = run(Mix::add, 3 * 4 * 1012);
        ASSERT_EQ(copied.spec().size(), 1012);
        ASSERT_EQ(added.spec().size(), 1012);
        for (int i = 0; i < 1012; ++i) {
            ASSERT_EQ(copied.as<float>()[i], static_cast<float>(i + 1)) << threads;
            ASSERT_EQ(added.as<float>()[i], static_cast<float>(2 * i + 2)) << threads;
        }
        std::uint32_t sum = 0;  // of the words, modulo 2^32: all have been read
        for (int i = 0; i < 1012; ++i) sum += std::bit_cast<std::uint32_t>(static_cast<float>(i + 1));
        EXPECT_EQ(run(Mix::read, 4 * 1012).as<std::uint32_t>()[0], sum) << threads;
    }
}

}  // namespace

}  // namespace gridstride::rates
