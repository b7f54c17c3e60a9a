// SPDX-License-Identifier: BSD-3-Clause
// matmul: values by hand and from NumPy, both CPU variants, every case of the table against the reference, the pieces
// of a cut against the whole, and what must not be read.
#include "matmul/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/run.hpp"

namespace gridstride {
namespace {

using namespace support;
using std::int64_t;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
const std::string transpose = "transpose", adjoint = "adjoint";

class Matmul : public testing::TestWithParam<const char*> {
  protected:
    Tensor product(const Inputs& in, const Ask& ask = {}) const { return run("matmul", GetParam(), in, ask); }
};

INSTANTIATE_TEST_SUITE_P(Variants, Matmul, testing::Values("loop", "openblas"),
                         [](const auto& info) { return std::string(info.param); });

Tensor random(const Spec& spec, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    Tensor result(spec);
    with_any_type(spec.dtype, [&]<class T>() {
        for (int64_t i = 0; i < spec.size(); ++i) {
            if constexpr (is_complex_type<T>) {
                const double re = normal(generator), im = normal(generator);
                result.as<T>()[i] = T(complex128(re, im));
            } else {
                result.as<T>()[i] = static_cast<T>(normal(generator));
            }
        }
    });
    return result;
}

// BR018: rectangles tell row-major from column-major, squares do not.
TEST_P(Matmul, rectangles_are_row_major) {
    const Tensor a = make<float>({2, 3}, {1, -3, 1, 2, -6, 2}), b = make<float>({3, 1}, {2, 1, 1});
    EXPECT_EQ(values<float>(product({a, b})), (std::vector<float>{0, 0}));

    const Tensor c = generate<double>({2, 3}, [](int64_t i) { return 10 * (i / 3) + i % 3; });
    const Tensor d = generate<double>({3, 5}, [](int64_t i) { return 10 * (i / 5) + i % 5; });
    const Tensor cd = product({c, d});
    EXPECT_EQ(cd.spec(), (Spec{DType::float64, {2, 5}}));
    EXPECT_EQ(values<double>(cd), (std::vector<double>{50, 53, 56, 59, 62, 350, 383, 416, 449, 482}));

    const Tensor row = make<float>({1, 4}, {1, 2, 3, 4}), column = make<float>({4, 1}, {5, -6, 7, 8});
    EXPECT_EQ(values<float>(product({row, column})), (std::vector<float>{5 - 12 + 21 + 32}));
    EXPECT_EQ(values<float>(product({column, row})),
              (std::vector<float>{5, 10, 15, 20, -6, -12, -18, -24, 7, 14, 21, 28, 8, 16, 24, 32}));
}

// BR047: datasets are multiplied in the order they are stored in, so what MATLAB wrote as a (1,2) is a (2,1) here.
TEST_P(Matmul, stored_order_decides_between_a_number_and_an_outer_product) {
    const Tensor column = make<double>({2, 1}, {3, 5}), row = make<double>({1, 2}, {2, 7});
    EXPECT_EQ(values<double>(product({column, row})), (std::vector<double>{6, 21, 10, 35}));
    EXPECT_EQ(values<double>(product({row, column})), (std::vector<double>{41}));
}

// BR017: every combination of sides around the tile.
TEST_P(Matmul, sides_around_the_tiles_are_exact) {
    for (const int64_t m : {1, 2, 15, 16, 17, 31, 32, 33, 100})
        for (const int64_t k : {1, 2, 15, 16, 17, 31, 32, 33, 100})
            for (const int64_t n : {1, 2, 15, 16, 17, 31, 32, 33, 100}) {
                const Tensor a = generate<float>({m, k}, [k](int64_t i) { return i / k + 1; });
                const Tensor b = generate<float>({k, n}, [n](int64_t i) { return i % n + 1; });
                const Tensor c = product({a, b}, {.threads = 2});
                int64_t wrong = 0;
                for (int64_t i = 0; i < m * n; ++i)
                    wrong += c.as<float>()[i] != static_cast<float>(k * (i / n + 1) * (i % n + 1));
                ASSERT_EQ(wrong, 0) << m << " " << k << " " << n;
            }
}

// BR017: 1752 rows failed where 1744 and 1760 did not.
TEST_P(Matmul, long_sides_are_exact_across_blocks) {
    const int64_t m = 1752, k = 584, n = 4720;
    const Tensor a = generate<float>({m, k}, [](int64_t) { return 1; });
    const Tensor b = generate<float>({k, n}, [](int64_t) { return 1; });
    EXPECT_EQ(values<float>(product({a, b}, {.threads = 2})),
              std::vector<float>(static_cast<std::size_t>(m * n), 584.0F));
}

// numpy: (2,1,2,3) @ (3,3,2), vectors before and after the stacks.
TEST_P(Matmul, batches_broadcast_and_vectors_lose_their_axis) {
    const Tensor a = generate<double>({2, 1, 2, 3}, [](int64_t i) { return i % 7 - 3; });
    const Tensor b = generate<double>({3, 3, 2}, [](int64_t i) { return i % 5 - 2; });
    const Tensor v = make<double>({3}, {1, -2, 3});
    const Tensor ab = product({a, b});
    EXPECT_EQ(ab.spec().shape, (Shape{2, 3, 2, 2}));
    EXPECT_EQ(values<double>(ab), (std::vector<double>{4,   3,  4, -3, 3,  -3, -3, 0,  -3, 1, 0,  -2,
                                                       -10, -2, 4, -1, -2, -4, -1, -1, -4, 9, -1, -1}));
    const Tensor vb = product({v, b});
    EXPECT_EQ(vb.spec().shape, (Shape{3, 2}));
    EXPECT_EQ(values<double>(vb), (std::vector<double>{4, -9, -9, -7, -7, 5}));
    const Tensor av = product({a, v});
    EXPECT_EQ(av.spec().shape, (Shape{2, 1, 2}));
    EXPECT_EQ(values<double>(av), (std::vector<double>{-2, 4, 3, 2}));
    const Tensor vv = product({v, v});
    EXPECT_EQ(vv.spec().shape, Shape());
    EXPECT_EQ(values<double>(vv), std::vector<double>{14});
}

template <class T>
void expect_transposes(const char* variant) {
    const Tensor a = make<T>({3, 2}, {{1, 2}, {3, -1}, {0, 1}, {2, 0}, {-1, 0}, {1, 1}});
    const Tensor b = make<T>({3, 2}, {{2, -1}, {1, 0}, {0, 1}, {-3, 2}, {1, 0}, {1, -1}});
    const Tensor c = make<T>({2, 2}, {{1, 0}, {0, 2}, {3, 0}, {-1, 0}});
    EXPECT_EQ(values<T>(run("matmul", variant, {a, b}, {.params = params({{"transpose_a", adjoint}})})),
              (std::vector<T>{{0, -5}, {2, 2}, {8, 0}, {-3, 3}}));
    EXPECT_EQ(values<T>(run("matmul", variant, {a, b}, {.params = params({{"transpose_a", transpose}})})),
              (std::vector<T>{{2, 3}, {-2, 0}, {6, -2}, {-1, 3}}));
    EXPECT_EQ(values<T>(run("matmul", variant, {a, b}, {.params = params({{"transpose_b", adjoint}})})),
              (std::vector<T>{{3, 4}, {-9, -4}, {5, 4}, {1, 2}, {-5, -4}, {2, 3}, {-1, 0}, {-1, -4}, {-1, 2}}));
    const Params scaled = params({{"transpose_a", adjoint}, {"alpha", Values{0.5, -2.0}}, {"beta", Values{1.0, 1.0}}});
    EXPECT_EQ(values<T>(run("matmul", variant, {a, b, c}, {.params = scaled})),
              (std::vector<T>{{-9, -1.5}, {3, -1}, {7, -13}, {3.5, 6.5}}));
}

TEST_P(Matmul, complex_transposes_adjoints_and_factors) {
    expect_transposes<complex64>(GetParam());
    expect_transposes<complex128>(GetParam());
}

TEST_P(Matmul, real_transposes) {
    const Tensor a = make<float>({3, 2}, {1, 2, 3, 4, 5, 6}),
                 b = make<float>({4, 3}, {1, 0, 2, 0, 1, 0, 3, 0, 1, 1, 1, 1});
    for (const std::string& word : {transpose, adjoint})  // the same for real numbers
        EXPECT_EQ(values<float>(product({a, b}, {.params = params({{"transpose_a", word}, {"transpose_b", word}})})),
                  (std::vector<float>{11, 3, 8, 9, 14, 4, 12, 12}));
}

// BR015, and the same of the product's operands.
TEST_P(Matmul, what_a_zero_factor_multiplies_is_not_read) {
    const Tensor a = generate<float>({32, 33}, [](int64_t i) { return i % 5 - 2; });
    const Tensor b = generate<float>({33, 17}, [](int64_t i) { return i % 3 - 1; });
    const Tensor nans = generate<float>({32, 17}, [](int64_t) { return nan; });
    const Tensor plain = product({a, b});
    for (int64_t i = 0; i < plain.spec().size(); ++i) ASSERT_FALSE(std::isnan(plain.as<float>()[i]));
    EXPECT_EQ(bits(product({a, b, nans}, {.params = params({{"beta", 0}})})), bits(plain));
    EXPECT_EQ(bits(product({a, b, nans}, {.params = params({{"beta", 0}}), .in_place = true})), bits(plain));

    const Tensor bad = generate<float>({2, 3}, [](int64_t) { return nan; }), c = make<float>({2, 2}, {1, 2, 3, 4});
    const Tensor worse = generate<float>({3, 2}, [](int64_t) { return nan; });
    EXPECT_EQ(values<float>(product({bad, worse, c}, {.params = params({{"alpha", 0}, {"beta", 0.5}})})),
              (std::vector<float>{0.5F, 1, 1.5F, 2}));
    EXPECT_EQ(values<float>(product({bad, worse}, {.params = params({{"alpha", 0}})})),
              (std::vector<float>{0, 0, 0, 0}));
    for (const Term& term : terms("matmul", {bad, worse, c}, {.params = params({{"alpha", 0}, {"beta", 0.5}})}))
        EXPECT_FALSE(std::isnan(term.re) || std::isnan(term.re_magnitude));
}

TEST_P(Matmul, c_is_added_once_and_may_be_the_output) {
    const Tensor a = make<float>({2, 1}, {1, 2}), b = make<float>({1, 3}, {1, 2, 3});
    const Tensor c = make<float>({2, 3}, {10, 20, 30, 40, 50, 60});
    const std::vector<float> right{11, 22, 33, 42, 54, 66};
    EXPECT_EQ(values<float>(product({a, b, c})), right);
    EXPECT_EQ(values<float>(product({a, b, c}, {.in_place = true})), right);
    const Params factors = params({{"alpha", 2}, {"beta", -1}});
    EXPECT_EQ(values<float>(product({a, b, c}, {.params = factors, .in_place = true})),
              (std::vector<float>{-8, -16, -24, -36, -42, -48}));
}

TEST_P(Matmul, no_terms_give_beta_c) {
    const Tensor a(Spec{DType::float64, {2, 0}}), b(Spec{DType::float64, {0, 3}});
    const Tensor c = make<double>({2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values<double>(product({a, b})), std::vector<double>(6, 0.0));
    EXPECT_EQ(values<double>(product({a, b, c})), values<double>(c));
    EXPECT_EQ(values<double>(product({a, b, c}, {.params = params({{"beta", 3}}), .in_place = true})),
              (std::vector<double>{3, 6, 9, 12, 15, 18}));
    const Tensor none(Spec{DType::float64, {0, 2}});
    EXPECT_EQ(product({none, a}).spec().shape, (Shape{0, 0}));
}

// A sum kept in the half type itself would stop at 2048, or 256.
TEST_P(Matmul, halves_are_summed_in_float32_and_rounded_once) {
    const Tensor a = generate<float16>({3, 4096}, [](int64_t) { return 1.0F; });
    const Tensor b = generate<float16>({4096, 2}, [](int64_t) { return 1.0F; });
    EXPECT_EQ(values<float16>(product({a, b})), std::vector<float>(6, 4096.0F));
    const Tensor c = generate<bfloat16>({3, 4096}, [](int64_t) { return 1.0F; });
    const Tensor d = generate<bfloat16>({4096, 2}, [](int64_t) { return 1.0F; });
    EXPECT_EQ(values<bfloat16>(product({c, d})), std::vector<float>(6, 4096.0F));
    // 2049 is halfway between 2048 and 2050: a tie goes to the even 2048, a second rounding would have no such tie.
    const Tensor e = make<float16>({1, 3}, {2048, 1, 0.0009765625F}), f = make<float16>({3, 1}, {1, 1, 1});
    EXPECT_EQ(values<float16>(product({e, f})), std::vector<float>{2050.0F});
}

TEST_P(Matmul, results_beyond_the_type_are_infinite) {
    const Tensor a = make<float16>({1, 2}, {65504, -65504}), b = make<float16>({2, 2}, {1, 0, -1, 2});
    const std::vector<float> got = values<float16>(product({a, b}));
    EXPECT_EQ(got[0], std::numeric_limits<float>::infinity());
    EXPECT_EQ(got[1], -std::numeric_limits<float>::infinity());
}

TEST_P(Matmul, compute_float64_keeps_what_float32_loses) {
    const Tensor a = make<float>({1, 3}, {1e8F, 1, -1e8F}), b = make<float>({3, 1}, {1, 1, 1});
    const Params wide = params({{"compute", std::string("float64")}});
    EXPECT_EQ(values<float>(product({a, b}, {.params = wide})), std::vector<float>{1});
    const Tensor c = make<complex64>({1, 3}, {{0, 1e8F}, {0, 1}, {0, -1e8F}});
    EXPECT_EQ(values<complex64>(product({c, b}, {.params = wide})), (std::vector<complex64>{{0, 1}}));
    EXPECT_EQ(values<double>(product({a, b}, {.result = DType::float64})), std::vector<double>{1});
}

TEST_P(Matmul, result_dtype_widens_or_rounds) {
    const Tensor a = make<float>({1, 2}, {1, 1}), b = make<float>({2, 1}, {2048, 1});
    EXPECT_EQ(values<float16>(product({a, b}, {.result = DType::float16})), std::vector<float>{2048});
    EXPECT_EQ(values<complex64>(
                  product({a, b}, {.params = params({{"alpha", Values{0.0, 1.0}}}), .result = DType::complex64})),
              (std::vector<complex64>{{0, 2049}}));
    EXPECT_EQ(values<std::int64_t>(product({a, b}, {.result = DType::int64})), std::vector<std::int64_t>{2049});
}

TEST_P(Matmul, a_result_that_is_no_integer_is_an_error_with_its_index) {
    const Tensor a = make<float>({2, 1}, {1, 0.5F}), b = make<float>({1, 3}, {2, 4, 3});
    const auto error = error_of([&] { product({a, b}, {.result = DType::int32}); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->category(), Category::input);
    EXPECT_NE(std::string(error->what()).find("(1, 2)"), std::string::npos) << error->what();
}

TEST(MatmulLoop, gives_the_same_bits_on_any_number_of_threads) {
    const Tensor a = random({DType::float32, {3, 130, 700}}, 1), b = random({DType::float32, {700, 290}}, 2);
    const std::string one = bits(run("matmul", "loop", {a, b}, {.threads = 1}));
    for (const int threads : {2, 3, 7}) EXPECT_EQ(bits(run("matmul", "loop", {a, b}, {.threads = threads})), one);
    const Tensor x = random({DType::complex128, {700, 3}}, 3), y = random({DType::complex128, {5, 700}}, 4);
    const std::string narrow = bits(run("matmul", "loop", {y, x}, {.threads = 1}));
    EXPECT_EQ(bits(run("matmul", "loop", {y, x}, {.threads = 5})), narrow);
}

std::string refusal(const Inputs& in, std::initializer_list<std::pair<std::string_view, Value>> given,
                    const char* where, std::optional<DType> result = {}) {
    const auto error = error_of([&] { problem("matmul", in, {.params = params(given), .result = result}); });
    if (!error) return "";
    EXPECT_EQ(error->category(), Category::config);
    EXPECT_EQ(error->where(), where);
    return error->what();
}

TEST(MatmulShapes, that_do_not_multiply_are_named) {
    const Tensor a(Spec{DType::float32, {2, 3}}), b(Spec{DType::float32, {4, 5}}), v(Spec{DType::float32, {3}});
    const Tensor scalar(Spec{DType::float32, {}}), stack(Spec{DType::float32, {2, 3, 5}}),
        other(Spec{DType::float32, {3, 5, 2}});
    const std::string inner = refusal({a, b}, {}, "inputs.b");
    EXPECT_NE(inner.find("(2, 3)"), std::string::npos) << inner;
    EXPECT_NE(inner.find("(4, 5)"), std::string::npos) << inner;
    const std::string batch = refusal({stack, other}, {}, "inputs.b");
    EXPECT_NE(batch.find("(2, 3, 5)"), std::string::npos) << batch;
    EXPECT_NE(batch.find("(3, 5, 2)"), std::string::npos) << batch;
    refusal({scalar, a}, {}, "inputs.a");
    refusal({a, scalar}, {}, "inputs.b");
    refusal({v, a}, {{"transpose_a", transpose}}, "params.transpose_a");
    refusal({a, v}, {{"transpose_b", adjoint}}, "params.transpose_b");
    const std::string added = refusal({a, v, v}, {}, "inputs.c");
    EXPECT_NE(added.find("(3,)"), std::string::npos) << added;
    EXPECT_NE(added.find("(2,)"), std::string::npos) << added;
}

TEST(MatmulParameters, that_make_no_sense_are_refused) {
    const Tensor a(Spec{DType::float32, {2, 3}}), b(Spec{DType::float32, {3, 2}}), c(Spec{DType::float32, {2, 2}});
    const Tensor z(Spec{DType::complex64, {3, 2}}), h(Spec{DType::float16, {2, 3}}), g(Spec{DType::float16, {3, 2}});
    const Values i{0.0, 1.0};
    const std::string tf32 = "tf32";
    refusal({a, b}, {{"beta", 1}}, "params.beta");
    refusal({a, b}, {{"alpha", i}}, "params.alpha");
    refusal({a, b, c}, {{"beta", i}}, "params.beta");
    refusal({a, z}, {}, "result_dtype", DType::float32);
    refusal({h, g}, {{"compute", tf32}}, "params.compute");
    refusal({a, z}, {{"compute", tf32}}, "params.compute");
    refusal({a, b}, {{"compute", tf32}}, "params.compute", DType::float64);
    EXPECT_EQ(problem("matmul", {a, b}, {.params = params({{"compute", tf32}})}).out[0].dtype, DType::float32);
    EXPECT_EQ(problem("matmul", {a, z}, {.params = params({{"alpha", i}})}).out[0].dtype, DType::complex64);
}

TEST(MatmulReference, counts_the_terms_behind_a_value) {
    const Tensor a = make<float>({1, 2}, {3, -4}), b = make<float>({2, 1}, {2, 1}), c = make<float>({1, 1}, {-5});
    const Term term = terms("matmul", {a, b, c}, {.params = params({{"alpha", -2}, {"beta", 3}})})[0];
    EXPECT_EQ(term.re, -2 * 2 - 15);
    EXPECT_EQ(term.re_magnitude, 2 * 10 + 15);
    EXPECT_EQ(term.factor, 2);
    EXPECT_EQ(term.unscaled, 10);
    const Tensor x = make<complex64>({1}, {{1, 2}}), y = make<complex64>({1}, {{3, -4}});
    const Term complex = terms("matmul", {x, y})[0];
    EXPECT_EQ(complex.re, 11);
    EXPECT_EQ(complex.im, 2);
    EXPECT_EQ(complex.re_magnitude, 3 + 8);
    EXPECT_EQ(complex.im_magnitude, 4 + 6);
    const Op& op = *entry("matmul").op;
    EXPECT_EQ(op.terms(problem("matmul", {a, b, c})), 3);
    EXPECT_EQ(op.terms(problem("matmul", {x, y})), 3);
}

TEST(MatmulReference, follows_strides) {
    const Tensor a = make<double>({2, 6}, {1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9}), b = make<double>({3, 1}, {1, 10, 100});
    const Problem posed = problem("matmul", {Tensor(Spec{DType::float64, {2, 3}}), b});
    const std::vector<Slab> in{part(a.slab(), Selection{{{0, 2, 1}, {0, 3, 2}}}), b.slab(),
                               Slab{posed.in[2], {}, nullptr}};
    const Reference reference = entry("matmul").op->reference(posed, in);
    EXPECT_EQ(reference(0).re, 321);
    EXPECT_EQ(reference(1).re, 654);
}

// BR019: each extent is small, their product is not.
TEST(MatmulLayout, counts_beyond_two_to_the_31) {
    Problem posed;
    const Op& op = *entry("matmul").op;
    posed.params = resolve(op.params, {});
    posed.in = {{DType::float32, {3, 46341, 64}}, {DType::float32, {64, 46341}}, {DType::float32, {}, false}};
    posed.out = op.infer(posed.params, posed.in, {});
    EXPECT_EQ(posed.out[0].size(), 3 * int64_t{2147488281});
    posed.in[0].shape = {3, 46341, 46341};
    posed.in[1].shape = {46341, 2};
    const matmul::Layout layout = matmul::layout(posed.params, posed.in);
    EXPECT_EQ(layout.offset(layout.a, 2), 2 * int64_t{2147488281});
    EXPECT_EQ(layout.offset(layout.b, 2), 0);
    for (const Variant* variant : entry("matmul").variants)
        if (variant->device == Device::cpu) {
            EXPECT_EQ(variant->refuses(posed), "");
        }
    posed.in[0].shape = {1, int64_t{1} << 31};
    posed.in[1].shape = {int64_t{1} << 31, 1};
    EXPECT_NE(matmul::cpu::openblas::row.refuses(posed).find("k is 2147483648"), std::string::npos);
    EXPECT_EQ(matmul::cpu::loop::row.refuses(posed), "");
}

/// Inputs of a problem, seeded.
std::vector<Tensor> inputs_of(const Problem& posed) {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < posed.in.size(); ++i)
        result.push_back(posed.in[i].present ? random(posed.in[i], 17 + i) : Tensor());
    return result;
}

TEST_P(Matmul, every_case_of_the_table_is_within_the_bound) {
    const Op& op = *entry("matmul").op;
    const Variant& variant = *find(entry("matmul"), GetParam());
    for (Problem posed : op.cases()) {
        posed.out = op.infer(posed.params, posed.in, {});
        posed.place.threads = 2;
        const std::vector<Tensor> tensors = inputs_of(posed);
        const std::vector<Slab> in = slabs(posed.in, tensors);
        const Tensor got = std::move(run(variant, posed, in)[0]);
        const Reference reference = op.reference(posed, in);
        const DType type = posed.out[0].dtype;
        const auto n = static_cast<double>(op.terms(posed));
        const long double accumulated = 4 * unit_roundoff(arithmetic(op, posed)) * std::sqrt(n);
        for (int64_t i = 0; i < posed.out[0].size(); ++i) {
            const Term term = reference(i);
            const long double u = unit_roundoff(type), tiny = smallest_subnormal(type);
            ASSERT_LE(std::abs(real_part(got.slab(), i) - term.re),
                      accumulated * term.re_magnitude + u * std::abs(term.re) + tiny)
                << to_text(posed.in[0]) << to_text(posed.in[1]) << " at " << i;
            ASSERT_LE(std::abs(imaginary_part(got.slab(), i) - term.im),
                      accumulated * term.im_magnitude + u * std::abs(term.im) + tiny)
                << to_text(posed.in[0]) << to_text(posed.in[1]) << " at " << i;
        }
    }
}

/// The problem done in pieces of two along one axis.
Tensor in_pieces(const Op& op, const Variant& variant, const Problem& posed, const std::vector<Slab>& in,
                 std::size_t axis) {
    Tensor result(posed.out[0]);
    const int64_t extent = op.axes(posed)[axis].extent;
    poison(result.slab());
    std::vector<double> sums;
    for (int64_t begin = 0; begin < extent; begin += 2) {
        const Piece piece = op.cut(posed, axis, begin, std::min(extent, begin + 2));
        EXPECT_EQ(op.infer(piece.problem.params, piece.problem.in, piece.problem.out[0].dtype), piece.problem.out);
        std::vector<Tensor> copies;
        std::vector<Slab> parts;
        for (std::size_t i = 0; i < in.size(); ++i) {
            copies.push_back(piece.problem.in[i].present ? clone(part(in[i], piece.in[i])) : Tensor());
            parts.push_back(Slab{piece.problem.in[i], row_major_strides(copies[i].spec().shape), copies[i].data()});
        }
        const Tensor done = std::move(run(variant, piece.problem, parts)[0]);
        if (!piece.adds) {
            copy_bits(done.slab(), part(result.slab(), piece.out[0]));
            continue;
        }
        EXPECT_EQ(done.spec().dtype, arithmetic(op, posed));
        for (int64_t i = 0; i < result.spec().size(); ++i) {
            if (begin == 0) sums.push_back(0);
            sums[static_cast<std::size_t>(i)] += static_cast<double>(real_part(done.slab(), i));
        }
    }
    if (!sums.empty())
        convert(DType::float64, reinterpret_cast<const std::byte*>(sums.data()), posed.out[0].dtype, result.data(),
                result.spec().size(), Overflow::infinity);
    return result;
}

TEST_P(Matmul, pieces_along_any_axis_make_the_whole) {
    const Op& op = *entry("matmul").op;
    const Variant& variant = *find(entry("matmul"), GetParam());
    const auto small = [](Shape shape) {
        return generate<float>(std::move(shape), [](int64_t i) { return i * i % 11 - 5; });
    };
    const auto check = [&](const Inputs& in, const Params& given, const std::vector<std::string>& names,
                           std::optional<DType> result = {}) {
        const std::vector<Tensor> tensors = converted(op, in);
        const Problem posed = problem("matmul", in, {.params = given, .result = result});
        const std::vector<Slab> sources = slabs(posed.in, tensors);
        const Tensor whole = std::move(run(variant, posed, sources)[0]);
        const std::vector<Axis> axes = op.axes(posed);
        ASSERT_EQ(axes.size(), names.size());
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            EXPECT_EQ(axes[axis].name, names[axis]);
            EXPECT_EQ(bits(in_pieces(op, variant, posed, sources, axis)), bits(whole)) << names[axis];
        }
    };
    const Params scaled = params({{"alpha", 2}, {"beta", -1}});
    check({small({3, 1, 5, 7}), small({4, 7, 3}), small({3, 4, 5, 3})}, scaled, {"batch_0", "batch_1", "m", "n", "k"});
    check({small({7, 5}), small({3, 3, 7}), small({3, 5, 3})},
          params({{"transpose_a", transpose}, {"transpose_b", transpose}}), {"batch_0", "m", "n", "k"});
    check({small({7}), small({2, 7, 3})}, {}, {"batch_0", "n", "k"}, DType::float16);
    check({small({2, 5, 7}), small({7}), small({2, 5})}, scaled, {"batch_0", "m", "k"});
    check({small({7}), small({7})}, {}, {"k"});
}

}  // namespace
}  // namespace gridstride
