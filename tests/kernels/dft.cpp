// SPDX-License-Identifier: BSD-3-Clause
// dft: values by hand, by the definition and from NumPy; every case of the table against the reference; what the
// norm-wise judgement is told against the reference; the pieces of a cut against the whole.
#include "dft/dft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "support/run.hpp"

namespace gridstride {
namespace {

using namespace support;
using std::int64_t;
using Complex = std::complex<long double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const std::string inverse = "inverse", half = "half", real = "real", power = "power", ortho = "ortho";

Tensor dft(const Tensor& x, std::initializer_list<std::pair<std::string_view, Value>> given = {},
           std::optional<DType> result = {}) {
    return run("dft", "fftw", {x}, {.params = params(given), .result = result, .threads = 2});
}

/// Seeded numbers of either sign.
template <class T>
Tensor noise(Shape shape, std::uint64_t seed = 1) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Tensor result(Spec{dtype_of<T>, std::move(shape)});
    for (int64_t i = 0; i < result.spec().size(); ++i) {
        if constexpr (is_complex_type<T>) {
            const double re = normal(generator), im = normal(generator);
            result.as<T>()[i] = T(complex128(re, im));
        } else {
            result.as<T>()[i] = static_cast<T>(normal(generator));
        }
    }
    return result;
}

template <class T>
void expect_near(const Tensor& got, const Shape& shape, const std::vector<T>& right, double tolerance) {
    ASSERT_EQ(got.spec(), (Spec{dtype_of<T>, shape}));
    for (std::size_t i = 0; i < right.size(); ++i)
        EXPECT_LE(std::abs(got.as<T>()[i] - right[i]), tolerance) << "at " << i << ": " << got.as<T>()[i];
}

/// The largest distance between a tensor and value(i).
template <class F>
double distance(const Tensor& got, F&& value) {
    double largest = 0;
    for (int64_t i = 0; i < got.spec().size(); ++i) {
        const complex128 number(static_cast<double>(real_part(got.slab(), i)),
                                static_cast<double>(imaginary_part(got.slab(), i)));
        const double here = std::abs(number - complex128(value(i)));
        if (!(here <= largest)) largest = here;  // a NaN stays
    }
    return largest;
}

/// X_k of one line by the definition, without any of the code under test.
std::vector<Complex> by_definition(const std::vector<Complex>& x, int sign) {
    const auto n = static_cast<int64_t>(x.size());
    std::vector<Complex> result(x.size());
    for (int64_t k = 0; k < n; ++k)
        for (int64_t i = 0; i < n; ++i)
            result[static_cast<std::size_t>(k)] +=
                x[static_cast<std::size_t>(i)] *
                std::polar(1.0L, sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(i * k % n) /
                                     static_cast<long double>(n));
    return result;
}

TEST(Dft, of_four_samples_by_hand) {
    const Tensor x = make<double>({4}, {1, 2, 3, 4});
    expect_near<complex128>(dft(x), {4}, {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}}, 1e-15);
    expect_near<complex128>(dft(x, {{"direction", inverse}}), {4}, {{2.5, 0}, {-0.5, -0.5}, {-0.5, 0}, {-0.5, 0.5}},
                            1e-15);
    expect_near<complex128>(dft(x, {{"form", half}}), {3}, {{10, 0}, {-2, 2}, {-2, 0}}, 1e-15);
    expect_near<double>(dft(x, {{"form", power}}), {3}, {100, 8, 4}, 1e-13);
    const Tensor spectrum = make<complex64>({3}, {{10, 0}, {-2, 2}, {-2, 0}});
    expect_near<float>(dft(spectrum, {{"form", real}}), {4}, {1, 2, 3, 4}, 1e-6);
}

template <class T>
void expect_no_overflow(Written<T> huge) {
    using C = std::complex<T>;
    const double root = std::sqrt(8.0), near = 1e-6 * huge;
    const Tensor ones = generate<T>({8}, [&](int64_t) { return huge; });
    const Tensor complex = generate<C>({8}, [&](int64_t) { return C(huge, 0); });
    const auto impulse = [](int64_t n, T first) {
        std::vector<C> right(static_cast<std::size_t>(n));
        right[0] = first;
        return right;
    };
    for (const Tensor* x : {&ones, &complex}) {
        expect_near<C>(dft(*x, {{"direction", inverse}}), {8}, impulse(8, huge), near);
        expect_near<C>(dft(*x, {{"norm", std::string("forward")}}), {8}, impulse(8, huge), near);
    }
    // 8 values of huge / 2 by 1 / sqrt(8): huge sqrt(2)
    const Tensor halves = generate<T>({8}, [&](int64_t) { return huge / 2; });
    expect_near<C>(dft(halves, {{"norm", ortho}}), {8}, impulse(8, static_cast<T>(huge / 2 * root)), near);
    expect_near<C>(dft(ones, {{"form", half}, {"norm", std::string("forward")}}), {5}, impulse(5, huge), near);
    // of a constant half spectrum an impulse; along both axes of (2, 5) too; and of a prime length
    const Tensor flat = generate<C>({5}, [&](int64_t) { return C(huge, 0); });
    const Tensor plane = generate<C>({2, 5}, [&](int64_t) { return C(huge, 0); });
    std::vector<T> line(8), lines(16);
    line[0] = lines[0] = huge;
    expect_near<T>(dft(flat, {{"form", real}}), {8}, line, near);
    expect_near<T>(dft(plane, {{"form", real}, {"axes", Values{0, 1}}}), {2, 8}, lines, near);
    const Tensor prime = generate<C>({211}, [&](int64_t) { return C(huge, 0); });
    expect_near<C>(dft(prime, {{"direction", inverse}}), {211}, impulse(211, huge), near);
}

TEST(Dft, overflows_nowhere_before_a_norm_that_shrinks) {
    expect_no_overflow<float>(1e38F);
    expect_no_overflow<double>(1e308);
    const Tensor x = generate<double>({1000}, [](int64_t) { return 1e306; });
    const Tensor got = dft(x, {{"direction", inverse}});
    EXPECT_NEAR(got.as<complex128>()[0].real() / 1e306, 1, 1e-14);
}

TEST(Dft, a_line_that_overflows_leaves_what_is_not_finite_so_and_the_next_line_right) {
    std::vector<float> values(24, 1e38F);
    for (std::size_t i = 8; i < 24; ++i) values[i] = 3;
    values[17] = std::numeric_limits<float>::quiet_NaN();
    const Tensor got = dft(make<float>({3, 8}, values), {{"direction", inverse}});
    EXPECT_NEAR(got.as<complex64>()[0].real() / 1e38F, 1, 1e-6);
    EXPECT_EQ(got.as<complex64>()[8], complex64(3));
    for (int k = 0; k < 8; ++k) EXPECT_TRUE(std::isnan(std::abs(got.as<complex64>()[16 + k]))) << k;
}

TEST(Dft, of_subnormal_samples_loses_none_to_the_norm) {
    // eight times the smallest subnormal, shrunk by 8 only after the sum
    const Tensor x = generate<float>({8}, [](int64_t) { return 0x1p-149F; });
    EXPECT_EQ(dft(x, {{"direction", inverse}}).as<complex64>()[0], complex64(0x1p-149F));
}

TEST(Dft, of_any_length_follows_the_definition) {
    for (const int64_t n : {1, 2, 3, 5, 6, 17, 31, 77, 97, 128, 211}) {
        const Tensor x = noise<complex128>({n}, static_cast<std::uint64_t>(n));
        std::vector<Complex> line;
        for (int64_t i = 0; i < n; ++i) line.emplace_back(x.as<complex128>()[i]);
        const std::vector<Complex> forward = by_definition(line, -1), backward = by_definition(line, 1);
        const auto scale = static_cast<long double>(n);
        EXPECT_LE(distance(dft(x), [&](int64_t i) { return complex128(forward[static_cast<std::size_t>(i)]); }), 1e-13)
            << n;
        EXPECT_LE(distance(dft(x, {{"direction", inverse}}),
                           [&](int64_t i) { return complex128(backward[static_cast<std::size_t>(i)] / scale); }),
                  1e-13)
            << n;
        const std::vector<Term> reference = terms("dft", {x});
        for (std::size_t i = 0; i < reference.size(); ++i) {
            EXPECT_LE(std::abs(Complex(reference[i].re, reference[i].im) - forward[i]), 1e-16L) << n;
        }
    }
}

const std::vector<double> matrix{1, -2, 3.5, 0, 4, -1, 2, 2, 0.5, -3, 1, 1};                 // (4, 3)
const std::vector<complex128> spectra{{1, 2}, {3, -1}, {0.5, 4}, {-2, 1}, {0, 3}, {1, -2}};  // (2, 3)

TEST(Dft, over_several_axes_equals_numpy) {
    const Tensor a = make<double>({4, 3}, matrix);
    expect_near<complex128>(dft(a, {{"axes", Values{1, 0}}, {"norm", ortho}}), {4, 3},
                            {{2.59807621135332, 0},
                             {-1.29903810567666, -0.25},
                             {-1.29903810567666, 0.25},
                             {-0.577350269189626, -1.15470053837925},
                             {-1.39433756729741, 1.02831216351297},
                             {1.10566243270259, -2.47168783648703},
                             {1.44337567297406, 0},
                             {1.87638837486628, 2.25},
                             {1.87638837486628, -2.25},
                             {-0.577350269189626, 1.15470053837925},
                             {1.10566243270259, 2.47168783648703},
                             {-1.39433756729741, -1.02831216351297}},
                            1e-14);
    expect_near<complex128>(dft(a, {{"axes", Values{1, 0}}, {"form", half}, {"norm", std::string("forward")}}), {3, 3},
                            {{0.75, 0},
                             {-0.375, -0.0721687836487032},
                             {-0.375, 0.0721687836487032},
                             {-0.166666666666667, -0.333333333333333},
                             {-0.402510584910183, 0.296848152207589},
                             {0.319177251576849, -0.713514818874256},
                             {0.416666666666667, 0},
                             {0.541666666666667, 0.649519052838329},
                             {0.541666666666667, -0.649519052838329}},
                            1e-14);
    expect_near<double>(dft(a, {{"axes", 0}, {"form", power}, {"norm", ortho}}), {3, 3},
                        {0, 6.25, 4, 2.5, 6.25, 3.25, 9, 6.25, 4}, 1e-13);
}

// The spectra are not Hermitian: numpy.fft.irfftn says which parts count.
TEST(Dft, of_half_spectra_equals_numpy_where_they_are_not_hermitian) {
    const Tensor z = make<complex128>({2, 3}, spectra);
    expect_near<double>(dft(z, {{"form", real}, {"axes", Values{0, 1}}}), {2, 4},
                        {0.8125, -0.8125, -0.6875, 0.1875, 1.0625, 1.4375, -0.4375, -0.5625}, 1e-14);
    expect_near<double>(dft(z, {{"form", real}, {"axes", Values{0, 1}}, {"n", Values{3, 5}}, {"norm", ortho}}), {3, 5},
                        {2.06559111797729, -1.99544263436959, -0.896974145400333, -1.64734404174065, 1.18317525479748,
                         1.39477072472735, -0.919390418822195, 4.04104091009065, -3.23849962566234, 0.186033318388255,
                         2.73641151122723, 2.32994749104692, 0.913996899488585, -4.66424201956032, 2.3839090040191},
                        1e-13);
    expect_near<double>(dft(z, {{"form", real}, {"axes", Values{1, 0}}, {"n", Values{2, 3}}}), {3, 2},
                        {0, -1, -0.154700538379251, 0.577350269189626, 2.15470053837925, -0.577350269189626}, 1e-14);
    expect_near<double>(dft(z, {{"form", real}}), {2, 4}, {1.875, 0.625, -1.125, -0.375, -0.25, -2.25, -0.25, 0.75},
                        1e-14);
    expect_near<double>(dft(z, {{"form", real}, {"n", 3}}), {2, 3},
                        {2.33333333333333, -0.0893163974770409, -1.24401693585629, -0.666666666666667,
                         -2.39871747423554, 1.06538414090221},
                        1e-13);
}

TEST(Dft, n_crops_and_pads_as_numpy) {
    const Tensor a = make<double>({4, 3}, matrix), z = make<complex128>({2, 3}, spectra);
    expect_near<complex128>(dft(a, {{"n", 2}}), {4, 2},
                            {{-1, 0}, {3, 0}, {4, 0}, {-4, 0}, {4, 0}, {0, 0}, {-2, 0}, {-4, 0}}, 1e-14);
    expect_near<complex128>(dft(z, {{"n", 6}, {"axes", 0}, {"direction", inverse}}), {6, 3},
                            {{-0.166666666666667, 0.5},
                             {0.5, 0.333333333333333},
                             {0.25, 0.333333333333333},
                             {-0.144337567297406, 0.127991532071854},
                             {0.0669872981077807, 0.0833333333333333},
                             {0.455341801261479, 0.644337567297406},
                             {0.188995766035927, -0.0386751345948129},
                             {0.0669872981077807, -0.416666666666667},
                             {0.288675134594813, 0.97767090063074},
                             {0.5, 0.166666666666667},
                             {0.5, -0.666666666666667},
                             {-0.0833333333333333, 1},
                             {0.47767090063074, 0.538675134594813},
                             {0.933012701892219, -0.416666666666667},
                             {-0.288675134594813, 0.688995766035927},
                             {0.144337567297406, 0.705341801261479},
                             {0.933012701892219, 0.0833333333333333},
                             {-0.122008467928146, 0.355662432702594}},
                            1e-14);
    // What is cropped takes no part, be it what it may.
    const Tensor cropped = make<double>({2, 3}, {1, 2, nan, 3, 5, nan});
    expect_near<complex128>(dft(cropped, {{"n", 2}}), {2, 2}, {{3, 0}, {-1, 0}, {8, 0}, {-2, 0}}, 1e-15);
    const Tensor none(Spec{DType::float32, {2, 0}});
    expect_near<complex64>(dft(none, {{"n", 3}}), {2, 3}, std::vector<complex64>(6), 0);
}

// BR002: strided axes beyond where libraries split their kernels.
TEST(Dft, of_long_columns) {
    Tensor x = generate<complex128>({4096, 2}, [](int64_t i) { return i % 2 == 0 || i == 1 ? 1.0 : 0.0; });
    EXPECT_LE(distance(dft(x, {{"axes", 0}}), [](int64_t i) { return i == 0       ? 4096.0
                                                                     : i % 2 == 1 ? 1.0
                                                                                  : 0.0; }),
              1e-9);
    for (const auto [rows, columns] : {std::array<int64_t, 2>{8192, 3}, {4096, 1028}}) {
        x = noise<complex128>({rows, columns});
        const auto turn = [rows, columns](int64_t i) { return i % rows * columns + i / rows; };
        const Tensor turned =
            generate<complex128>({columns, rows}, [&](int64_t i) { return x.as<complex128>()[turn(i)]; });
        const Tensor down = dft(x, {{"axes", 0}}), along = dft(turned);
        EXPECT_LE(distance(along, [&](int64_t i) { return down.as<complex128>()[turn(i)]; }), 1e-11) << columns;
    }
}

// BR006: libraries may overwrite the input of a complex to real transform.
TEST(Dft, never_writes_its_input) {
    const auto untouched = [](const Tensor& x, std::initializer_list<std::pair<std::string_view, Value>> given) {
        Problem posed = problem("dft", {x}, {.params = params(given), .threads = 2});
        const std::string before = bits(x);
        run(dft::cpu::fftw::row, posed, {x.slab()});
        EXPECT_EQ(bits(x), before);
    };
    for (const Shape& shape : {Shape{2, 3}, Shape{64, 33}, Shape{3, 509}}) {
        const Tensor z = noise<complex64>(shape);
        untouched(z, {{"form", real}});
        untouched(z, {{"form", real}, {"axes", 0}});
        untouched(z, {{"form", real}, {"axes", Values{0, 1}}});
        untouched(z, {{"direction", inverse}, {"axes", Values{1, 0}}});
        untouched(z, {{"form", power}});
        untouched(noise<double>(shape), {{"form", half}, {"axes", Values{0, 1}}});
    }
}

// BR008: there and back along lengths of every kind, no padding in the shape.
TEST(Dft, half_and_real_are_each_others_inverse) {
    for (const int64_t n : {509, 510, 511}) {
        const Tensor x = noise<float>({512, n});
        const Tensor back = dft(dft(x, {{"form", half}}), {{"form", real}, {"n", n}});
        ASSERT_EQ(back.spec(), x.spec());
        EXPECT_LE(distance(back, [&](int64_t i) { return x.as<float>()[i]; }), 5e-6) << n;
    }
    const Tensor y = noise<double>({6, 5, 7});
    for (const std::string norm : {"backward", "ortho", "forward"}) {
        const Values axes{2, 0, 1};
        const Tensor back = dft(dft(y, {{"form", half}, {"axes", axes}, {"norm", norm}}),
                                {{"form", real}, {"axes", axes}, {"n", Values{7, 6, 5}}, {"norm", norm}});
        EXPECT_LE(distance(back, [&](int64_t i) { return y.as<double>()[i]; }), 1e-14) << norm;
    }
}

// BR009: each axis of a box whose transforms are known.
TEST(Dft, along_each_axis_of_a_box) {
    const Tensor a = generate<double>({5, 7, 3}, [](int64_t i) { return 100 * (i / 21) + 10 * (i / 3 % 7) + i % 3; });
    // A line with step s and first value a0: X_0 = n a0 + s n (n - 1) / 2, X_k = s n / (exp(-2 pi i k / n) - 1).
    const auto line = [](double first, double step, int64_t n, int64_t k) -> complex128 {
        const auto count = static_cast<double>(n);
        if (k == 0) return count * first + step * count * (count - 1) / 2;
        return step * count / (std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / count) - 1.0);
    };
    const auto at = [](int64_t i) { return std::array{i / 21, i / 3 % 7, i % 3}; };
    EXPECT_LE(distance(dft(a, {{"axes", 0}}),
                       [&](int64_t i) {
                           const auto [x, y, z] = at(i);
                           return line(static_cast<double>(10 * y + z), 100, 5, x);
                       }),
              1e-11);
    EXPECT_LE(distance(dft(a, {{"axes", 1}}),
                       [&](int64_t i) {
                           const auto [x, y, z] = at(i);
                           return line(static_cast<double>(100 * x + z), 10, 7, y);
                       }),
              1e-11);
    EXPECT_LE(distance(dft(a, {{"axes", 2}}),
                       [&](int64_t i) {
                           const auto [x, y, z] = at(i);
                           return line(static_cast<double>(100 * x + 10 * y), 1, 3, z);
                       }),
              1e-11);
}

// BR010: halves of any length, in float32.
TEST(Dft, of_halves_is_that_of_their_float32_values) {
    for (const int64_t n : {12, 1024, 1280}) {
        const Tensor x = noise<float16>({2, n});
        const Tensor same = generate<float>({2, n}, [&](int64_t i) { return static_cast<float>(x.as<float16>()[i]); });
        EXPECT_EQ(bits(dft(x)), bits(dft(same)));
        EXPECT_EQ(dft(x).spec().dtype, DType::complex64);
        EXPECT_EQ(bits(dft(x, {{"form", half}})), bits(dft(same, {{"form", half}})));
        EXPECT_EQ(dft(x, {{"form", power}}).spec().dtype, DType::float32);
        const Plan plan = dft::cpu::fftw::row.prepare(problem("dft", {x}));
        EXPECT_NE(plan.words.find("float16 promoted"), std::string::npos) << plan.words;
    }
    const Tensor b = make<bfloat16>({2}, {3, 1});
    expect_near<complex64>(dft(b), {2}, {{4, 0}, {2, 0}}, 0);
}

// BR011, small: of many rows only the last is not zero.
TEST(Dft, of_many_rows_keeps_them_apart) {
    const int64_t rows = 4099, n = 12;
    const Tensor x = generate<double>({rows, n}, [&](int64_t i) { return i == (rows - 1) * n ? 1.0 : 0.0; });
    EXPECT_EQ(distance(dft(x), [&](int64_t i) { return i / n == rows - 1 ? 1.0 : 0.0; }), 0);
}

// BR038: most bins of a pure tone are about zero, and near it in absolute terms.
TEST(Dft, of_a_pure_tone) {
    const int64_t n = 1000;
    const Tensor x = generate<complex64>({n}, [&](int64_t i) {
        return complex64(
            std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i * 37 % n) / static_cast<double>(n)));
    });
    EXPECT_LE(distance(dft(x), [&](int64_t k) { return k == 37 ? 1000.0 : 0.0; }), 1e-3);
}

TEST(Dft, ignores_imaginary_parts_that_a_real_result_has_not) {
    for (const int64_t n : {1, 2, 5, 6, 13, 34, 64, 509, 1018}) {
        Tensor z = noise<complex64>({3, n / 2 + 1});
        const Tensor clean = dft(z, {{"form", real}, {"n", n}});
        for (int64_t row = 0; row < 3; ++row) {
            complex64* const line = z.as<complex64>() + row * (n / 2 + 1);
            line[0].imag(static_cast<float>(nan));
            if (n % 2 == 0) line[n / 2].imag(static_cast<float>(nan));
        }
        EXPECT_EQ(bits(dft(z, {{"form", real}, {"n", n}})), bits(clean)) << n;
        const Problem posed = problem("dft", {z}, {.params = params({{"form", real}, {"n", n}})});
        const std::vector<Slab> in{z.slab()};
        const auto transforms = entry("dft").op->transforms(posed, in);
        EXPECT_TRUE(transforms->finite(1));
        EXPECT_FALSE(std::isnan(transforms->norm(1)));
        EXPECT_FALSE(std::isnan(transforms->all(1)[0].real()));
        EXPECT_FALSE(std::isnan(entry("dft").op->reference(posed, in)(n).re));
    }
}

TEST(Dft, result_dtype_says_the_precision) {
    const Tensor x = noise<float>({301});
    const Tensor wide = generate<double>({301}, [&](int64_t i) { return x.as<float>()[i]; });
    EXPECT_EQ(bits(dft(x, {}, DType::complex128)), bits(dft(wide)));
    const Tensor narrow = dft(wide, {}, DType::complex64), exact = dft(wide);
    for (int64_t i = 0; i < 301; ++i) EXPECT_EQ(narrow.as<complex64>()[i], complex64(exact.as<complex128>()[i])) << i;
    EXPECT_EQ(dft(x, {{"form", power}}, DType::float16).spec().dtype, DType::float16);
    const Tensor large = make<float>({2}, {200, 200});
    EXPECT_EQ(values<float16>(dft(large, {{"form", power}}, DType::float16))[0],
              std::numeric_limits<float>::infinity());
}

// Slabs of pieces may begin anywhere; FFTW's plans depend on the alignment.
TEST(Dft, of_arrays_of_any_alignment) {
    const Tensor x = noise<double>({65});
    const Problem posed = problem("dft", {Tensor(Spec{DType::float64, {64}})}, {.params = params({{"form", half}})});
    Tensor out(Spec{DType::float64, {67}});
    const Plan plan = dft::cpu::fftw::row.prepare(posed);
    std::vector<Tensor> results;
    for (const int64_t offset : {0, 1}) {
        const Slab in{posed.in[0], {1}, x.data() + 8}, to{posed.out[0], {1}, out.data() + 8 * offset};
        plan.step(Call{{&in, 1}, {&to, 1}, nullptr, {}});
        results.push_back(clone(to));
    }
    const std::vector<complex128> aligned = values<complex128>(results[0]);
    EXPECT_LE(distance(results[1], [&](int64_t i) { return aligned[static_cast<std::size_t>(i)]; }), 1e-14);
    EXPECT_GT(std::abs(aligned[1]), 0);
}

TEST(Dft, gives_the_same_bits_again) {
    const Tensor x = noise<complex64>({31, 1009});
    EXPECT_EQ(bits(dft(x, {{"axes", Values{0, 1}}})), bits(dft(x, {{"axes", Values{0, 1}}})));
}

std::string refusal(DType dtype, const Shape& shape, std::initializer_list<std::pair<std::string_view, Value>> given,
                    const char* where, std::optional<DType> result = {}) {
    const Tensor x(Spec{dtype, shape});
    const auto error = error_of([&] { problem("dft", {x}, {.params = params(given), .result = result}); });
    if (!error) return "";
    EXPECT_EQ(error->category(), Category::config);
    EXPECT_EQ(error->where(), where) << error->what();
    return error->what();
}

TEST(DftParameters, that_mean_nothing_are_refused) {
    const Shape box{4, 5, 6};
    const auto number = DType::float32, complex = DType::complex64;
    refusal(number, {}, {}, "inputs.x");
    refusal(number, box, {{"axes", Values{}}}, "params.axes");
    refusal(number, box, {{"axes", 3}}, "params.axes");
    refusal(number, box, {{"axes", -4}}, "params.axes");
    refusal(number, box, {{"axes", Values{0, -3}}}, "params.axes");
    refusal(number, box, {{"n", 0}}, "params.n");
    refusal(number, box, {{"n", Values{4, 4}}}, "params.n");
    refusal(number, box, {{"n", 4}, {"axes", Values{0, 1}}}, "params.n");
    refusal(number, {4, 0}, {}, "inputs.x");
    refusal(complex, {4, 1}, {{"form", real}}, "params.n");
    refusal(complex, box, {{"form", half}}, "params.form");
    refusal(number, box, {{"form", half}, {"direction", inverse}}, "params.direction");
    refusal(number, box, {{"form", power}, {"direction", inverse}}, "params.direction");
    refusal(complex, box, {{"form", real}, {"direction", std::string("forward")}}, "params.direction");
    refusal(number, box, {}, "result_dtype", DType::float32);
    refusal(number, box, {{"form", power}}, "result_dtype", DType::int32);
    refusal(number, box, {{"sample_spacing", 0}}, "params.sample_spacing");
    refusal(number, box,
            {{"sample_spacing", Values{1.0, std::numeric_limits<double>::infinity()}}, {"axes", Values{0, 1}}},
            "params.sample_spacing");
    refusal(number, box, {{"sample_spacing", Values{1.0, 2.0}}}, "params.sample_spacing");
    EXPECT_EQ(problem("dft", {Tensor(Spec{complex, box})}, {.params = params({{"form", real}, {"direction", inverse}})})
                  .out[0],
              (Spec{number, {4, 5, 10}}));
    EXPECT_EQ(problem("dft", {Tensor(Spec{complex, {0, 5}})}).out[0], (Spec{complex, {0, 5}}));
}

TEST(DftOrigins, give_the_frequencies_of_transformed_axes) {
    const Tensor x(Spec{DType::float32, {4, 5, 6}});
    const Problem posed = problem(
        "dft", {x},
        {.params = params(
             {{"axes", Values{2, 0}}, {"form", half}, {"n", Values{8, 4}}, {"sample_spacing", Values{0.5, 0.25}}})});
    const std::vector<AxisOrigin> origins = entry("dft").op->origins(posed);
    ASSERT_EQ(origins.size(), 3U);
    EXPECT_EQ(origins[0].frequencies, 4);
    EXPECT_EQ(origins[0].spacing, 0.25);
    EXPECT_TRUE(origins[0].half);
    EXPECT_EQ(origins[1].input, 0);
    EXPECT_EQ(origins[1].axis, 1);
    EXPECT_EQ(origins[2].name, "frequency");
    EXPECT_EQ(origins[2].frequencies, 8);
    EXPECT_EQ(origins[2].spacing, 0.5);
    EXPECT_FALSE(origins[2].half);
}

// BR047: a row vector as MATLAB stores it.
TEST(DftRemark, tells_that_an_axis_of_length_one_changes_nothing) {
    const Tensor column = noise<double>({1251, 1});
    const Op& op = *entry("dft").op;
    EXPECT_EQ(op.remark(problem("dft", {column})), "axis -1 has length 1: its transform is the identity");
    EXPECT_EQ(op.remark(problem("dft", {column}, {.params = params({{"axes", 0}})})), "");
    EXPECT_EQ(distance(dft(column), [&](int64_t i) { return column.as<double>()[i]; }), 0);
}

TEST(DftGrowth, doubles_where_a_prime_factor_is_above_thirteen) {
    const auto growth = [](int64_t n) {
        return dft::cpu::fftw::row.growth(problem("dft", {Tensor(Spec{DType::complex64, {2, n}})}), n);
    };
    EXPECT_EQ(growth(1), 1);
    EXPECT_EQ(growth(2), 1);
    EXPECT_EQ(growth(16), 2);
    EXPECT_EQ(growth(13 * 11 * 7), std::sqrt(std::log2(1001.0)));
    EXPECT_EQ(growth(34), 2 * std::sqrt(std::log2(34.0)));
}

/// A problem of the table with seeded input.
struct Case {
    Problem posed;
    Tensor x;
};

std::vector<Case> cases() {
    const Op& op = *entry("dft").op;
    std::vector<Case> result;
    for (Problem posed : op.cases()) {
        posed.out = op.infer(posed.params, posed.in, {});
        posed.place.threads = 2;
        Tensor x = with_type<float16, bfloat16, float, double, complex64, complex128>(
            posed.in[0].dtype, [&]<class T>() { return noise<T>(posed.in[0].shape, 5); });
        result.push_back({std::move(posed), std::move(x)});
    }
    return result;
}

std::string shown(const Problem& posed) {
    std::string text = to_text(posed.in[0]);
    for (const auto& [name, value] : posed.params.all()) text += " " + name + "=" + to_text(value);
    return text;
}

/// What the judge does, in short: each transform's error against c u g times its norm.
TEST(DftTable, every_case_is_within_the_bound_and_its_facts_agree_with_the_reference) {
    const Op& op = *entry("dft").op;
    for (const Case& one : cases()) {
        SCOPED_TRACE(shown(one.posed));
        const std::vector<Slab> in{one.x.slab()};
        const Tensor got = std::move(run(dft::cpu::fftw::row, one.posed, in)[0]);
        const Reference reference = op.reference(one.posed, in);
        const auto facts = op.transforms(one.posed, in);
        const bool squared = facts->squared;
        const double u = unit_roundoff(arithmetic(op, one.posed));
        const long double exactness = u > 1e-10 ? 1e-15L : 1e-17L;  // the reference's own, of float32 and float64
        const long double bound = 4 * u * dft::cpu::fftw::row.growth(one.posed, facts->length) + (squared ? u : 0);
        std::vector<int> seen(static_cast<std::size_t>(one.posed.out[0].size()));
        for (int64_t t = 0; t < facts->count; ++t) {
            const std::vector<int64_t> places = facts->places(t);
            const std::vector<Complex> all = facts->all(t);
            ASSERT_EQ(places.size(), all.size());
            ASSERT_TRUE(std::is_sorted(places.begin(), places.end()));
            ASSERT_TRUE(facts->finite(t));
            long double norm = 0, difference = 0, magnitude = 0;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const int64_t at = places[i];
                ++seen[static_cast<std::size_t>(at)];
                ASSERT_EQ(facts->transform_of(at), t);
                const Term term = reference(at);
                const Complex right(term.re, term.im), value(real_part(got.slab(), at), imaginary_part(got.slab(), at));
                const long double size = squared ? std::sqrt(term.re) : std::abs(right);
                const long double error = squared ? std::sqrt(value.real()) - size : std::abs(value - right);
                norm += facts->weight(at) * size * size;
                difference += facts->weight(at) * error * error;
                ASSERT_LE(std::abs(all[i] - right), exactness * (1 + term.re_magnitude)) << at;
                magnitude = squared ? std::sqrt(term.re_magnitude) : term.re_magnitude;
            }
            if (places.empty()) continue;
            const long double told = facts->norm(t);
            ASSERT_LE(std::abs(std::sqrt(norm) - told), 1e-15L * told) << t;
            ASSERT_LE(std::sqrt(difference), bound * told) << t;
            ASSERT_LE(facts->magnitude(t), magnitude * (1 + 1e-15L));  // |x| <= |re| + |im|
            ASSERT_GE(facts->magnitude(t), magnitude * 0.7L);
        }
        for (const int times : seen) ASSERT_EQ(times, 1);
    }
}

TEST(DftTable, pieces_along_any_axis_make_the_whole) {
    const Op& op = *entry("dft").op;
    const Variant& fftw = dft::cpu::fftw::row;
    for (const Case& one : cases()) {
        const std::vector<Slab> in{one.x.slab()};
        const std::vector<Axis> axes = op.axes(one.posed);
        if (axes.size() + op.transforms(one.posed, in)->length > 40) continue;  // shape matters here, not length
        const Tensor whole = std::move(run(fftw, one.posed, in)[0]);
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            Tensor together(one.posed.out[0]);
            poison(together.slab());
            for (int64_t begin = 0; begin < axes[axis].extent; begin += 2) {
                const Piece piece = op.cut(one.posed, axis, begin, std::min(axes[axis].extent, begin + 2));
                EXPECT_FALSE(piece.adds);
                EXPECT_EQ(op.infer(piece.problem.params, piece.problem.in, {}), piece.problem.out);
                const Tensor source = clone(part(in[0], piece.in[0]));
                const Tensor done = std::move(run(fftw, piece.problem, {source.slab()})[0]);
                copy_bits(done.slab(), part(together.slab(), piece.out[0]));
            }
            EXPECT_LE(distance(together,
                               [&](int64_t i) {
                                   return complex128(static_cast<double>(real_part(whole.slab(), i)),
                                                     static_cast<double>(imaginary_part(whole.slab(), i)));
                               }),
                      1e-4)
                << shown(one.posed);
        }
    }
}

TEST(DftReference, follows_strides) {
    const Tensor wide = make<double>({2, 8}, {1, 9, 2, 9, 3, 9, 4, 9, 1, 9, 0, 9, 0, 9, 0, 9});
    const Problem posed = problem("dft", {Tensor(Spec{DType::float64, {2, 4}})});
    const std::vector<Slab> in{part(wide.slab(), Selection{{{0, 2, 1}, {0, 4, 2}}})};
    const Reference reference = entry("dft").op->reference(posed, in);
    EXPECT_EQ(reference(0).re, 10);
    EXPECT_NEAR(static_cast<double>(reference(1).im), 2, 1e-18);
    EXPECT_EQ(reference(4).re, 1);
    const auto facts = entry("dft").op->transforms(posed, in);
    EXPECT_NEAR(static_cast<double>(facts->norm(0)), std::sqrt(4.0 * 30), 1e-14);
    EXPECT_NEAR(static_cast<double>(facts->all(0)[1].imag()), 2, 1e-18);
}

// Long lengths have no table of roots; an impulse there shows a single one.
TEST(DftReference, reduces_phases_of_long_transforms_in_integers) {
    const int64_t n = 1 << 20;
    const Tensor x = generate<double>({n}, [&](int64_t i) { return i == n - 3 ? 1.0 : 0.0; });
    const Reference reference = entry("dft").op->reference(problem("dft", {x}), std::vector<Slab>{x.slab()});
    const Term term = reference(n / 8 + 1);  // exp(2 pi i 3 (n/8 + 1) / n)
    const long double angle =
        2 * std::numbers::pi_v<long double> * 3 * (static_cast<long double>(n) / 8 + 1) / static_cast<long double>(n);
    EXPECT_LE(std::abs(Complex(term.re, term.im) - std::polar(1.0L, angle)), 1e-18L);
}

TEST(DftFacts, of_a_transform_that_is_not_finite) {
    const Tensor x = make<double>({3, 3}, {1, 2, nan, 1, 2, 3, 4, std::numeric_limits<double>::infinity(), 6});
    const std::vector<Slab> in{x.slab()};
    const Op& op = *entry("dft").op;
    const auto whole = op.transforms(problem("dft", {x}), in);
    EXPECT_FALSE(whole->finite(0));
    EXPECT_TRUE(whole->finite(1));
    EXPECT_FALSE(whole->finite(2));
    EXPECT_TRUE(op.transforms(problem("dft", {x}, {.params = params({{"n", 2}})}), in)->finite(0));  // cropped
    const Tensor huge = make<double>({2}, {1e308, 1e308});
    const std::vector<Slab> large{huge.slab()};
    const auto facts = op.transforms(problem("dft", {huge}), large);
    EXPECT_GT(facts->norm(0), 1.9e308L);  // beyond a double's square
    EXPECT_TRUE(std::isfinite(facts->norm(0)));
}

}  // namespace
}  // namespace gridstride
