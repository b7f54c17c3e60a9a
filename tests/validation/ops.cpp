// SPDX-License-Identifier: BSD-3-Clause
// The tiny operations of the judge's tests.
#include "validation/ops.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/convert.hpp"

namespace gridstride::testing {

namespace {

using Wide = std::complex<long double>;

Wide value(const Slab& slab, std::int64_t i) {
    return {real_part(slab, i), imaginary_part(slab, i)};
}

std::vector<Spec> like_first(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    Spec out = in[0];
    if (result) out.dtype = *result;
    return {out};
}

Rule rounded_rule(const Problem&) {
    return Rule::rounded;
}
Rule accumulated_rule(const Problem&) {
    return Rule::accumulated;
}
Rule transform_rule(const Problem&) {
    return Rule::transform;
}
std::int64_t one(const Problem&) {
    return 1;
}

Reference plus_reference(const Problem& problem, std::span<const Slab> in) {
    const DType type = arithmetic(plus, problem);
    return [x = in[0], y = in[1], type](std::int64_t i) {
        const Wide sum = value(x, i) + value(y, i);
        Term term{.re = sum.real(), .im = sum.imag()};
        if (is_integer(type)) {
            term.re = rounded(sum.real(), type);
            term.wrapped = term.re != sum.real();
        } else {
            term.re = rounded(term.re, type);
            term.im = rounded(term.im, type);
        }
        return term;
    };
}

Reference product_reference(const Problem&, std::span<const Slab> in) {
    return [x = in[0], y = in[1]](std::int64_t i) {
        const Wide a = value(x, i), b = value(y, i);
        const long double ac = a.real() * b.real(), bd = a.imag() * b.imag();
        const long double ad = a.real() * b.imag(), bc = a.imag() * b.real();
        return Term{.re = ac - bd,
                    .im = ad + bc,
                    .re_magnitude = std::abs(ac) + std::abs(bd),
                    .im_magnitude = std::abs(ad) + std::abs(bc)};
    };
}

std::vector<Spec> dot_infer(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    return {{result.value_or(in[0].dtype), {in[0].shape[0]}}};
}

Reference dot_reference(const Problem& problem, std::span<const Slab> in) {
    const auto alpha = static_cast<long double>(problem.params.numbers("alpha")[0]);
    return [a = in[0], b = in[1], c = in[2], alpha](std::int64_t row) {
        const std::int64_t k = a.spec.shape[1];
        Term term;
        Wide sum = 0;
        for (std::int64_t j = 0; j < k; ++j) {
            const Wide x = value(a, row * k + j), y = value(b, j);
            sum += Wide(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
            term.re_magnitude += std::abs(x.real() * y.real()) + std::abs(x.imag() * y.imag());
            term.im_magnitude += std::abs(x.real() * y.imag()) + std::abs(x.imag() * y.real());
        }
        term.unscaled = std::max(term.re_magnitude, term.im_magnitude);
        term.factor = std::abs(alpha);
        term.re = alpha * sum.real();
        term.im = alpha * sum.imag();
        term.re_magnitude *= term.factor;
        term.im_magnitude *= term.factor;
        if (c.spec.present) {
            term.re += value(c, row).real();
            term.im += value(c, row).imag();
            term.re_magnitude += std::abs(value(c, row).real());
            term.im_magnitude += std::abs(value(c, row).imag());
        }
        return term;
    };
}

std::vector<Spec> spectrum_infer(const Params& params, std::span<const Spec> in, std::optional<DType> result) {
    const DType type = complex_of(in[0].dtype);
    return {{result.value_or(params.boolean("squared") ? real_of(type) : type), in[0].shape}};
}

Wide bin(const Slab& x, std::int64_t index) {
    const std::int64_t n = x.spec.shape[1], row = index / n, k = index % n;
    Wide sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
        sum += value(x, row * n + j) *
               std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) /
                                    static_cast<long double>(n));
    return sum;
}

Reference spectrum_reference(const Problem& problem, std::span<const Slab> in) {
    const bool squared = problem.params.boolean("squared");
    return [x = in[0], squared](std::int64_t index) {
        const Wide sum = bin(x, index);
        return squared ? Term{.re = std::norm(sum)} : Term{.re = sum.real(), .im = sum.imag()};
    };
}

std::unique_ptr<Transforms> spectrum_transforms(const Problem& problem, std::span<const Slab> in) {
    auto result = std::make_unique<Transforms>();
    const Slab x = in[0];
    const std::int64_t n = x.spec.shape[1];
    result->count = x.spec.shape[0];
    result->length = n;
    result->squared = problem.params.boolean("squared");
    result->transform_of = [n](std::int64_t index) { return index / n; };
    result->places = [n](std::int64_t row) {
        std::vector<std::int64_t> places;
        for (std::int64_t k = 0; k < n; ++k) places.push_back(row * n + k);
        return places;
    };
    result->weight = [](std::int64_t) { return 1.0; };
    const auto over_row = [x, n](std::int64_t row, auto each) {
        for (std::int64_t j = 0; j < n; ++j) each(value(x, row * n + j));
    };
    result->norm = [over_row, n](std::int64_t row) {
        long double sum = 0;
        over_row(row, [&](const Wide& one) { sum += std::norm(one); });
        return std::sqrt(sum * static_cast<long double>(n));
    };
    result->magnitude = [over_row](std::int64_t row) {
        long double sum = 0;
        over_row(row, [&](const Wide& one) { sum += std::abs(one); });
        return sum;
    };
    result->finite = [over_row](std::int64_t row) {
        bool finite = true;
        over_row(row, [&](const Wide& one) { finite &= std::isfinite(one.real()) && std::isfinite(one.imag()); });
        return finite;
    };
    return result;
}

std::int64_t last_extent(const Problem& problem) {
    return problem.in[0].shape.back();
}
std::int64_t last_extent_and_addend(const Problem& problem) {
    return problem.in[0].shape.back() + 1;
}

double grows_as_root(const Problem&, std::int64_t n) {
    return std::sqrt(static_cast<double>(n));
}
double grows_as_tree(const Problem&, std::int64_t n) {
    return std::log2(static_cast<double>(n)) + 8;
}

}  // namespace

const Op plus{.name = "plus",
              .doc = "",
              .inputs = {{"x", ""}, {"y", ""}},
              .outputs = {{"z", "", 0}},
              .params = {},
              .integers = true,
              .infer = like_first,
              .terms = one,
              .rule = rounded_rule,
              .reference = plus_reference};
const Op product{.name = "product",
                 .doc = "",
                 .inputs = {{"x", ""}, {"y", ""}},
                 .outputs = {{"z", "", 0}},
                 .params = {},
                 .infer = like_first,
                 .terms = one,
                 .rule = accumulated_rule,
                 .reference = product_reference};
const Op dot{.name = "dot",
             .doc = "",
             .inputs = {{"a", ""}, {"b", ""}, {"c", "", true}},
             .outputs = {{"y", "", 2}},
             .params = {{"alpha", Kind::scalar, Value(1.0), {}, ""},
                        {"compute", Kind::word, Value("auto"), {"auto", "tf32", "float64"}, ""}},
             .infer = dot_infer,
             .terms = last_extent_and_addend,
             .rule = accumulated_rule,
             .reference = dot_reference};
const Op spectrum{.name = "spectrum",
                  .doc = "",
                  .inputs = {{"x", ""}},
                  .outputs = {{"X", ""}},
                  .params = {{"squared", Kind::boolean, Value(false), {}, ""}},
                  .infer = spectrum_infer,
                  .terms = last_extent,
                  .rule = transform_rule,
                  .reference = spectrum_reference,
                  .transforms = spectrum_transforms};

const Variant root{.name = "root", .doc = "", .growth = grows_as_root};
const Variant tree{.name = "tree", .doc = "", .growth = grows_as_tree};
const Variant silent{.name = "silent", .doc = ""};

Tensor right_answer(const Op& op, const Problem& problem, std::span<const Slab> in) {
    Tensor answer(problem.out[0]);
    const Reference reference = op.reference(problem, in);
    with_any_type(answer.spec().dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < answer.spec().size(); ++i) {
            const Term term = reference(i);
            if constexpr (is_complex_type<T>) {
                using Part = typename T::value_type;
                answer.as<T>()[i] = T(static_cast<Part>(term.re), static_cast<Part>(term.im));
            } else {
                answer.as<T>()[i] = static_cast<T>(term.re);
            }
        }
    });
    return answer;
}

Case::Case(const Op& operation, std::vector<Tensor> inputs, Params params, std::optional<DType> result)
    : op(operation), held(std::move(inputs)) {
    std::vector<Spec> specs;
    for (const Tensor& tensor : held) {
        in.push_back(tensor.slab());
        specs.push_back(tensor.spec());
    }
    while (in.size() < op.inputs.size()) {
        specs.push_back({specs[0].dtype, {}, false});
        in.push_back({specs.back(), {}, nullptr});
    }
    problem = pose(op, std::move(params), specs, result);
    answer = right_answer(op, problem, in);
}

Judgement Case::judge() const {
    return validation::judge(op, *variant, problem, in, answer.slab(), asked, tolerance, witness, 1);
}

std::vector<double> scattered(std::int64_t n, unsigned seed) {
    std::vector<double> values;
    std::uint64_t state = seed;
    for (std::int64_t i = 0; i < n; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
        values.push_back(static_cast<double>(static_cast<std::int64_t>(state) >> 11) * 0x1p-52);
    }
    return values;
}

bool has_note(const Judgement& judgement, const std::string& part) {
    return std::any_of(judgement.notes.begin(), judgement.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace gridstride::testing
