// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 elements in each operation, by every variant that this machine can run, compared at every place with a
// value known beforehand: small integers, which every dtype holds exactly, and impulses. Label `big`: not a part of
// the usual tests; it needs up to 80 GiB of memory and some minutes with a GPU. Skips aloud where there is less.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numbers>

#include "compute.hpp"
#include "core/parallel.hpp"
#include "support/cases.hpp"
#include "support/run.hpp"
#include "validation/validation.hpp"

namespace gridstride {

namespace {

using complex = std::complex<double>;
using InputValue = std::function<double(std::size_t input, std::int64_t index)>;
using OutputValue = std::function<complex(std::int64_t index)>;

struct Big {
    std::string name, op;
    std::vector<Spec> in;
    Params params;
    InputValue value;
    std::function<OutputValue()> expected;
    double tolerance = 0;                     // absolute
    std::vector<std::string_view> only = {};  // variants; empty: all
};

void PrintTo(const Big& big, std::ostream* out) {
    *out << big.name;
}

/// -2 .. 2, of period 5, which divides no power of two.
double fifth(std::int64_t i) {
    return static_cast<double>(i % 5 - 2);
}
double third(std::int64_t i) {
    return static_cast<double>(i % 3 - 1);
}
/// exp(-2 pi i k / n)
complex root(std::int64_t k, std::int64_t n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

// Past 2^31 = 2147483648: as one axis, as a product of two, as a batch.
constexpr std::int64_t many = 2'147'483'700;
constexpr std::int64_t rows = 65'536, columns = 32'769;
constexpr std::int64_t side = 46'341, other_side = 46'343;

Big copies() {
    return {"copy",
            "copy",
            {{DType::int32, {many}}},
            {},
            [](std::size_t, std::int64_t i) { return fifth(i); },
            [] { return OutputValue([](std::int64_t i) { return complex(fifth(i)); }); }};
}

Big adds() {  // BR022
    return {"add",
            "add",
            {{DType::float16, {rows, columns}}, {DType::float16, {rows, columns}}},
            {},
            [](std::size_t input, std::int64_t i) { return input == 0 ? fifth(i) : third(i); },
            [] { return OutputValue([](std::int64_t i) { return complex(fifth(i) + third(i)); }); }};
}

Big multiplies() {  // y is one row
    return {"multiply",
            "multiply",
            {{DType::float16, {rows, columns}}, {DType::float16, {columns}}},
            {},
            [](std::size_t input, std::int64_t i) { return input == 0 ? fifth(i) : third(i); },
            [] { return OutputValue([](std::int64_t i) { return complex(fifth(i) * third(i % columns)); }); }};
}

Big sums() {  // BR033 with 2097153 ones before the last element, 7
    return {"sum",
            "sum",
            {{DType::float32, {many}}},
            {},
            [](std::size_t, std::int64_t i) { return i == many - 1   ? 7
                                                     : i % 1024 == 0 ? 1
                                                                     : 0; },
            [] { return OutputValue([](std::int64_t) { return complex(2'097'160); }); }};
}

Big column_sums() {
    return {"column_sums",
            "sum",
            {{DType::float32, {side, other_side}}},
            support::params({{"axes", 0}}),
            [](std::size_t, std::int64_t i) { return fifth(i); },
            [] {
                return OutputValue([](std::int64_t j) {
                    std::int64_t sum = 0;
                    for (std::int64_t i = 0; i < side; ++i) sum += (i * other_side + j) % 5 - 2;
                    return complex(static_cast<double>(sum));
                });
            }};
}

Big products() {  // BR019: 46341 x 46341 from 46341 x 64 and 64 x 46341; c[i,j] depends on i mod 3 and j mod 5
    const auto a = [](std::int64_t i, std::int64_t k) { return third(i + 2 * k); };
    const auto b = [](std::int64_t k, std::int64_t j) { return fifth(k + j); };
    return {
        "matmul",
        "matmul",
        {{DType::float32, {side, 64}}, {DType::float32, {64, side}}, {DType::float32, {}, false}},
        {},
        [=](std::size_t input, std::int64_t i) { return input == 0 ? a(i / 64, i % 64) : b(i / side, i % side); },
        [=] {
            std::array<std::array<double, 5>, 3> table{};
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 5; ++j)
                    for (int k = 0; k < 64; ++k)
                        table[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] += a(i, k) * b(k, j);
            return OutputValue([=](std::int64_t i) {
                return complex(table[static_cast<std::size_t>(i / side % 3)][static_cast<std::size_t>(i % side % 5)]);
            });
        }};
}

Big transforms() {  // a batch of 429496741 transforms of 5 numbers, in row r an impulse at r mod 5
    return {"dft",
            "dft",
            {{DType::float32, {429'496'741, 5}}},
            {},
            [](std::size_t, std::int64_t i) { return i % 5 == i / 5 % 5 ? 1 : 0; },
            [] { return OutputValue([](std::int64_t i) { return root(i % 5 * (i / 5 % 5), 5); }); },
            1e-6};
}

Big last_row() {  // BR011: only the last of many rows is not zero
    constexpr std::int64_t batch = 178'958, n = 1152, half = n / 2 + 1;
    return {
        "dft_last_row",
        "dft",
        {{DType::float64, {batch, n}}},
        support::params({{"form", "half"}}),
        [](std::size_t, std::int64_t i) { return i == (batch - 1) * n + 1 ? 1 : 0; },
        [] {
            return OutputValue([](std::int64_t i) { return i / half == batch - 1 ? root(i % half, n) : complex(0); });
        },
        1e-14};
}

Big long_transform() {  // BR011: just past 2 GiB, 17 x 15790321
    constexpr std::int64_t n = (std::int64_t{1} << 28) + 1;
    return {"dft_long",
            "dft",
            {{DType::complex64, {n}}},
            {},
            [](std::size_t, std::int64_t i) { return i == 1 ? 1 : 0; },
            [] { return OutputValue([](std::int64_t k) { return root(k, n); }); },
            1e-5,
            {"cufft"}};
}

Big covariances() {  // 1 x 2 windows over 3 channels of 140 x 140 positions; gamma, mu and coef are small integers
    constexpr std::int64_t C = 3, H = 140, W = 140, Wo = 139;
    const auto gamma = [](std::int64_t b, std::int64_t c, std::int64_t p, std::int64_t q) {
        return fifth(b + 2 * c + p + 3 * q);
    };
    const auto mu = [](std::int64_t b, std::int64_t c, std::int64_t p) { return third(b + c + p); };
    return {"convcov",
            "convcov",
            {{DType::float16, {2, C, H, W, H, W}},
             {DType::float16, {2, C, H, W}},
             {DType::float64, {3}},
             {DType::float16, {}, false}},
            support::params({{"kernel", Values{1, 2}}}),
            [=](std::size_t input, std::int64_t i) {
                const std::int64_t maps = H * W;
                if (input == 0) return gamma(i / (maps * maps) / C, i / (maps * maps) % C, i / maps % maps, i % maps);
                return input == 1 ? mu(i / maps / C, i / maps % C, i % maps) : static_cast<double>(i + 1);
            },
            [=] {
                return OutputValue([=](std::int64_t i) {
                    const std::int64_t j2 = i % Wo, i2 = i / Wo % H, j1 = i / Wo / H % Wo, i1 = i / Wo / H / Wo % H,
                                       o = i / Wo / H / Wo / H % 3, b = i / Wo / H / Wo / H / 3;
                    double r = 0;
                    for (std::int64_t c = 0; c < C; ++c)
                        for (std::int64_t v = 0; v < 2; ++v) {
                            const std::int64_t p = i1 * W + j1 + v, q = i2 * W + j2 + v;
                            r += gamma(b, c, p, q) + mu(b, c, p) * mu(b, c, q);
                        }
                    return complex(static_cast<double>(o + 1) * r);
                });
            }};
}

Tensor made(const Big& big, std::size_t input) {
    const Spec& spec = big.in[input];
    if (!spec.present) return {};
    Tensor result(spec);
    with_any_type(spec.dtype, [&]<class T>() {
        for_blocks(spec.size(), 1 << 20, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                result.as<T>()[i] = static_cast<T>(static_cast<float>(big.value(input, i)));
        });
    });
    return result;
}

/// The lowest place where the tensor is not what is expected, or -1.
std::int64_t first_wrong(const Tensor& got, const OutputValue& expected, double tolerance) {
    std::atomic<std::int64_t> lowest = got.spec().size();
    const Slab slab = got.slab();
    for_blocks(got.spec().size(), 1 << 20, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && i < lowest; ++i) {
            const complex value(static_cast<double>(real_part(slab, i)), static_cast<double>(imaginary_part(slab, i)));
            if (std::abs(value - expected(i)) <= tolerance) continue;  // false for NaN
            for (std::int64_t seen = lowest; i < seen && !lowest.compare_exchange_weak(seen, i);) {
            }
            return;
        }
    });
    return lowest == got.spec().size() ? -1 : lowest.load();
}

/// Is there memory for so much?
bool fits(std::size_t bytes) {
    return bytes + (std::size_t{4} << 30) < engine::host_memory();
}

class BigCase : public ::testing::TestWithParam<Big> {};

TEST_P(BigCase, EveryVariantIsRightAtEveryPlace) {
    const Big& big = GetParam();
    const Entry& entry = support::entry(big.op);
    Problem problem = pose(*entry.op, big.params, big.in);
    std::size_t bytes = 2 * problem.out[0].bytes();
    for (const Spec& spec : problem.in) bytes += spec.present ? spec.bytes() : 0;
    if (!fits(bytes)) GTEST_SKIP() << "needs " << (bytes >> 30) << " GiB of memory";
    const auto devices = cuda::devices();
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < big.in.size(); ++i) tensors.push_back(made(big, i));
    const std::vector<Slab> in = support::slabs(problem.in, tensors);
    const OutputValue expected = big.expected();
    std::size_t ran = 0;
    for (const Variant* variant : entry.variants) {
        if (variant->role == Role::faulty || (variant->device == Device::cuda && devices.empty())) continue;
        if (!big.only.empty() && std::find(big.only.begin(), big.only.end(), variant->name) == big.only.end()) continue;
        problem.place = {variant->device, 0, 0, devices.empty() ? Limits{} : devices[0].limits};
        if (variant->refuses != nullptr && !variant->refuses(problem).empty()) continue;
        SCOPED_TRACE(variant->name);
        const Tensor got = engine::compute(*entry.op, *variant, problem, in, false).out;
        EXPECT_EQ(first_wrong(got, expected, big.tolerance), -1);
        if (ran++ == 0 && big.only.empty()) {  // the judge can count so far too
            const auto judged = validation::judge(*entry.op, *variant, problem, in, got.slab(), {}, {});
            EXPECT_EQ(judged.verdict, validation::Verdict::pass) << judged.reason;
            EXPECT_EQ(judged.of, problem.out[0].size());
        }
    }
    if (ran == 0) GTEST_SKIP() << "no CUDA device";
}

INSTANTIATE_TEST_SUITE_P(Past, BigCase,
                         ::testing::Values(copies(), adds(), multiplies(), sums(), column_sums(), products(),
                                           transforms(), last_row(), long_transform(), covariances()),
                         [](const auto& info) { return info.param.name; });

/// From a chunked, compressed file that is small on disk, by the way a job goes: all zero but the last element.
TEST(BigFile, IsReadSummedAndWritten) {  // BR022, BR033
    if (!fits(std::size_t{16} << 30)) GTEST_SKIP() << "needs 16 GiB of memory";
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "gridstride_big";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const auto file = [&](const char* name) { return (folder / name).string(); };
    const auto save = [&](const char* name, const Spec& spec, const Shape& chunks, const Tensor& last) {
        hdf5::Writer writer(file(name));
        writer.create("/x", spec, {.chunks = chunks, .gzip = true});
        Selection end;
        for (const std::int64_t extent : spec.shape) end.axes.push_back({extent - 1, 1, 1, false});
        writer.write("/x", end, last.slab());
        writer.commit();
    };
    save("long.h5", {DType::float32, {many}}, {1 << 20}, support::make<float>({1}, {7}));
    save("wide.h5", {DType::float16, {rows, columns}}, {64, columns}, support::make<float16>({1, 1}, {3}));
    std::ofstream(file("job.yaml")) << "jobs:\n"
                                       "  last: {op: sum, variant: [loop, block_tree, cub], inputs: {x: long.h5:/x}}\n"
                                       "  twice: {op: add, inputs: {x: wide.h5:/x, y: wide.h5:/x}, outputs: z.h5}\n"
                                       "  both: {op: sum, inputs: {x: $twice:/z}}\n";
    config::Diagnostics diagnostics;
    const engine::Plan plan = engine::plan(file("job.yaml"), {file("out"), {}, {}}, diagnostics);
    ASSERT_TRUE(diagnostics.empty()) << diagnostics.text(false);
    std::filesystem::create_directories(file("out"));
    for (const report::Case& line : support::run_cases(plan)) {
        if (line.status == report::Status::skipped) continue;  // no device
        // Of so many terms of one sign the bound of cub cannot tell 7 from 0: vacuous.
        EXPECT_TRUE(line.status == report::Status::pass || line.variant == "cub") << line.name << line.reason;
        if (line.op == "sum") {
            EXPECT_EQ(line.outputs.at(0).values.at(0).re, line.job == "last" ? 7 : 6) << line.name;
        }
    }
    const hdf5::Info sum = hdf5::describe(file("out/z.h5"), "/z");
    EXPECT_EQ(sum.shape, (Shape{rows, columns}));
    Tensor corner({DType::float16, {1, 2}});
    hdf5::Reading reading;
    reading.select.axes = {{rows - 1, 1, 1, false}, {columns - 2, 2, 1, false}};
    hdf5::read(sum, reading, corner.slab());
    EXPECT_EQ(static_cast<float>(corner.as<float16>()[0]), 0);
    EXPECT_EQ(static_cast<float>(corner.as<float16>()[1]), 6);
    std::filesystem::remove_all(folder);
}

}  // namespace

}  // namespace gridstride
