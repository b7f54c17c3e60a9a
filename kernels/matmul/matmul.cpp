// SPDX-License-Identifier: BSD-3-Clause
// matmul: c = alpha op(a) op(b) + beta c, as numpy.matmul. Its table: inputs, parameters, shape rule, cost, tiling and
// the cases that the conformance test asks.
#include "matmul/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/properties.hpp"

namespace gridstride::matmul {

Reference reference(const Problem& problem, std::span<const Slab> in);  // reference.cpp
std::vector<Property> properties(const Examined&);                      // properties.cpp

namespace {

using std::int64_t;

bool wide(DType dtype) {
    return real_of(dtype) == DType::float64;
}

/// Axes of x before its matrix; none of a vector.
Shape batch_of(const Shape& x) {
    return x.size() < 2 ? Shape() : Shape(x.begin(), x.end() - 2);
}

/// The transpose asked of an operand. Errors (config): x is a scalar, or a vector with a transpose.
Operand operand(const Params& params, const Spec& x, char name) {
    const std::string param = fmt::format("transpose_{}", name);
    const std::string& word = params.word(param);
    if (x.shape.empty())
        throw Error(
            Category::config,
            fmt::format("{} is a scalar; matmul takes vectors and matrices (multiply scales by a number)", name),
            fmt::format("inputs.{}", name));
    if (x.shape.size() == 1 && word != "none")
        throw Error(Category::config,
                    fmt::format("{} {} has one axis and takes no {}; leave {} out, or give {} two axes", name,
                                to_text(x.shape), word, param, name),
                    "params." + param);
    Operand result;
    result.transposed = word != "none";
    result.conjugate = word == "adjoint" && is_complex(x.dtype);
    result.leading = x.shape.back();
    return result;
}

/// Strides of x's batch axes as the axes of `batch` see them.
Shape batch_strides(const Shape& x, const Shape& batch) {
    const Shape own = batch_of(x), strides = row_major_strides(x);
    Shape result(batch.size(), 0);
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != 1) result[batch.size() - own.size() + i] = strides[i];
    return result;
}

std::vector<Spec> infer(const Params& params, std::span<const Spec> in, std::optional<DType> result) {
    for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i].present && is_integer(in[i].dtype))
            throw Error(Category::config,
                        fmt::format("matmul takes floating-point and complex numbers, not {}", name(in[i].dtype)),
                        fmt::format("inputs.{}", op.inputs[i].name));
    const Layout posed = layout(params, in);
    const DType common = common_type(op, in), output = output_type(common, result);
    const bool complex = is_complex(output);
    for (const std::string_view scalar : {"alpha", "beta"})
        if (params.has(scalar) && params.scalar(scalar).imag() != 0 && !complex)
            throw Error(Category::config,
                        fmt::format("{} is complex and the product is {}: give a real number, or ask for result_dtype "
                                    "complex64 or complex128",
                                    scalar, name(output)),
                        fmt::format("params.{}", scalar));
    if (params.word("compute") == "tf32" && (common != DType::float32 || wide(output) || is_integer(output)))
        throw Error(Category::config,
                    fmt::format("compute: tf32 multiplies float32 inputs for a float32 or narrower result, not {} for "
                                "{}; use compute: auto",
                                name(common), name(output)),
                    "params.compute");
    return {{output, posed.out}};
}

Cost cost(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const auto of = [](int64_t x) { return static_cast<double>(x); };
    Cost result;
    if (posed.reads_product()) {
        const double multiply_add = is_complex(arithmetic(op, problem)) ? 8 : 2;
        result.flops = multiply_add * of(posed.batches) * of(posed.m) * of(posed.n) * of(posed.k);
        result.read = of(problem.in[0].bytes()) + of(problem.in[1].bytes());
    }
    if (posed.reads_c()) result.read += of(problem.in[2].bytes());
    result.written = of(problem.out[0].bytes());
    return result;
}

int64_t terms(const Problem& problem) {
    return (is_complex(arithmetic(op, problem)) ? 2 : 1) * layout(problem.params, problem.in).k + 1;
}

Rule rule(const Problem&) {
    return Rule::accumulated;
}

std::vector<std::string_view> prefer(const Problem&) {
    return {"tiled", "naive_2d", "openblas", "loop"};
}

/// Batch axes of the output, then m and n where the operands have them, then k.
std::vector<Axis> axes(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    std::vector<Axis> result;
    for (std::size_t i = 0; i < posed.batch.size(); ++i) result.push_back({fmt::format("batch_{}", i), posed.batch[i]});
    if (problem.in[0].shape.size() > 1) result.push_back({"m", posed.m});
    if (problem.in[1].shape.size() > 1) result.push_back({"n", posed.n});
    result.push_back({"k", posed.k});
    return result;
}

Piece cut(const Problem& problem, std::size_t axis, int64_t begin, int64_t end) {
    const Layout posed = layout(problem.params, problem.in);
    const std::string name = axes(problem).at(axis).name;
    const Shape &a = problem.in[0].shape, &b = problem.in[1].shape;
    Piece piece{problem, {whole(a), whole(b), whole(posed.out)}, {whole(posed.out)}, name == "k"};
    const Range range{begin, end - begin, 1};
    const auto last = [&range](Selection& selection, std::size_t from_the_end) {
        selection.axes[selection.axes.size() - from_the_end] = range;
    };
    const bool a_matrix = a.size() > 1, b_matrix = b.size() > 1;
    if (name == "m") {
        last(piece.in[0], posed.a.transposed ? 1 : 2);
        for (Selection* of_output : {&piece.in[2], &piece.out[0]}) last(*of_output, b_matrix ? 2 : 1);
    } else if (name == "n") {
        last(piece.in[1], posed.b.transposed ? 2 : 1);
        for (Selection* of_output : {&piece.in[2], &piece.out[0]}) last(*of_output, 1);
    } else if (name == "k") {
        last(piece.in[0], a_matrix && posed.a.transposed ? 2 : 1);
        last(piece.in[1], b_matrix && !posed.b.transposed ? 2 : 1);
        piece.problem.out[0].dtype = accumulator(problem);  // rounded once, after the last sum
        if (begin > 0) {                                    // beta c is in the first sum alone
            piece.problem.in[2].present = false;
            piece.problem.params.set("beta", Value{});
        }
    } else {
        const std::size_t before_last = posed.batch.size() - axis;  // 1: the last batch axis
        for (std::size_t i = 0; i < 2; ++i) {
            const Shape own = batch_of(problem.in[i].shape);
            if (before_last <= own.size() && own[own.size() - before_last] != 1)
                piece.in[i].axes[own.size() - before_last] = range;
        }
        piece.in[2].axes[axis] = piece.out[0].axes[axis] = range;
    }
    for (std::size_t i = 0; i < 3; ++i)
        if (piece.problem.in[i].present) piece.problem.in[i].shape = shape_of(piece.in[i]);
    piece.problem.out[0].shape = shape_of(piece.out[0]);
    return piece;
}

/// Rows come from a, columns from b, a batch axis from the operand that is not broadcast along it.
std::vector<AxisOrigin> origins(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const Shape &a = problem.in[0].shape, &b = problem.in[1].shape;
    const auto from = [](std::string name, int input, std::size_t axis) {
        return AxisOrigin{.name = std::move(name), .input = input, .axis = static_cast<int>(axis)};
    };
    std::vector<AxisOrigin> result;
    for (std::size_t axis = 0; axis < posed.batch.size(); ++axis) {
        const std::size_t from_last = posed.batch.size() - axis;
        for (const int input : {0, 1}) {
            const Shape own = batch_of(input == 0 ? a : b);
            if (from_last > own.size() || own[own.size() - from_last] != posed.batch[axis]) continue;
            result.push_back(from("", input, own.size() - from_last));
            break;
        }
    }
    if (a.size() > 1) result.push_back(from("row", 0, a.size() - (posed.a.transposed ? 1 : 2)));
    if (b.size() > 1) result.push_back(from("column", 1, b.size() - (posed.b.transposed ? 2 : 1)));
    return result;
}

Problem ask(DType dtype, Shape a, Shape b, std::optional<Shape> c = {},
            std::vector<std::pair<std::string_view, Value>> given = {}) {
    Params params;
    for (auto& [name, value] : given) params.set(name, std::move(value));
    Problem problem;
    problem.params = resolve(op.params, params);
    problem.in = {{dtype, std::move(a)}, {dtype, std::move(b)}, {dtype, c.value_or(Shape()), c.has_value()}};
    return problem;
}

std::vector<Problem> cases() {
    constexpr std::array real{DType::float16, DType::bfloat16, DType::float32, DType::float64};
    constexpr std::array complex{DType::complex64, DType::complex128};
    const Value i_half(Values{0.0, 0.5}), two(2.0), minus(-0.75), zero(std::int64_t{0});
    const std::string transpose = "transpose", adjoint = "adjoint";
    std::vector<Problem> all;
    const auto each = [&](const auto& dtypes, auto&&... rest) {
        for (const DType dtype : dtypes) all.push_back(ask(dtype, rest...));
    };
    using Given = std::vector<std::pair<std::string_view, Value>>;
    each(real, Shape{17, 33}, Shape{33, 31});
    each(complex, Shape{17, 33}, Shape{33, 31});
    each(real, Shape{33, 15}, Shape{31, 33}, Shape{15, 31},
         Given{{"transpose_a", transpose}, {"transpose_b", transpose}, {"alpha", two}, {"beta", minus}});
    each(complex, Shape{33, 15}, Shape{31, 33}, Shape{15, 31},
         Given{{"transpose_a", adjoint}, {"transpose_b", transpose}, {"alpha", i_half}, {"beta", minus}});
    each(complex, Shape{2, 16}, Shape{33, 16}, Shape{2, 33}, Given{{"transpose_b", adjoint}, {"beta", i_half}});
    each(real, Shape{7}, Shape{7});                           // vector . vector
    each(complex, Shape{7}, Shape{2, 7, 5});                  // vector . stack
    each(real, Shape{3, 1, 4, 7}, Shape{7}, Shape{3, 1, 4});  // stack . vector, with c
    each(real, Shape{3, 1, 4, 7}, Shape{2, 7, 5});            // batches broadcast both ways
    each(complex, Shape{2, 1, 1, 4}, Shape{3, 5, 4}, std::nullopt, Given{{"transpose_b", adjoint}});
    const std::array some{DType::float32, DType::complex128};
    each(some, Shape{3, 1, 2, 0}, Shape{2, 0, 3}, Shape{3, 2, 2, 3}, Given{{"beta", two}});  // k = 0: beta c
    each(some, Shape{4, 0}, Shape{0, 3});                                                    // zeros
    each(some, Shape{0, 4}, Shape{4, 3});
    each(some, Shape{0, 2, 4}, Shape{4, 3});
    each(some, Shape{5, 4}, Shape{4, 3}, Shape{5, 3}, Given{{"alpha", zero}});
    each(some, Shape{5, 4}, Shape{4, 3}, Shape{5, 3}, Given{{"beta", zero}});
    each(some, Shape{5, 4}, Shape{4, 3}, Shape{5, 3}, Given{{"alpha", zero}, {"beta", zero}});
    for (const int64_t m : {1, 2, 15, 16, 17, 31, 33, 100}) {
        const int64_t n = m == 1 ? 100 : 133 - m, k = (7 * m) % 101;
        each(std::array{DType::float32, DType::float64, DType::complex64}, Shape{m, k}, Shape{k, n});
    }
    each(std::array{DType::float32}, Shape{100, 1}, Shape{1, 100});
    each(std::array{DType::float32}, Shape{1, 300}, Shape{300, 1});
    each(std::array{DType::float16, DType::float32, DType::complex64}, Shape{17, 100}, Shape{100, 3}, std::nullopt,
         Given{{"compute", std::string("float64")}});
    each(std::array{DType::float32}, Shape{17, 100}, Shape{100, 33}, std::nullopt,
         Given{{"compute", std::string("tf32")}});
    return all;
}

}  // namespace

int64_t Layout::offset(const Operand& x, int64_t i) const {
    int64_t result = 0;
    for (std::size_t axis = batch.size(); axis-- > 0;) {
        result += i % batch[axis] * x.batch[axis];
        i /= batch[axis];
    }
    return result;
}

Layout layout(const Params& params, std::span<const Spec> in) {
    const Shape &a = in[0].shape, &b = in[1].shape;
    Layout result;
    result.a = operand(params, in[0], 'a');
    result.b = operand(params, in[1], 'b');
    const auto extents = [](const Shape& x, const Operand& how) -> std::array<int64_t, 2> {  // rows, columns of op(x)
        if (how.transposed) return {x[x.size() - 1], x[x.size() - 2]};
        return {x[x.size() - 2], x[x.size() - 1]};
    };
    int64_t inner = 0;
    if (a.size() == 1) {
        result.k = a[0];
    } else {
        result.m = extents(a, result.a)[0];
        result.k = extents(a, result.a)[1];
    }
    if (b.size() == 1) {
        inner = b[0];
        result.b.leading = 1;
    } else {
        inner = extents(b, result.b)[0];
        result.n = extents(b, result.b)[1];
    }
    const auto shown = [](char name, const Shape& x, const Operand& how) {
        return fmt::format("{}{} {}", how.transposed ? "transposed " : "", name, to_text(x));
    };
    if (result.k != inner)
        throw Error(Category::config,
                    fmt::format("{} and {} do not multiply: a row of a has {} elements, a column of b {}",
                                shown('a', a, result.a), shown('b', b, result.b), result.k, inner),
                    "inputs.b");
    try {
        result.batch = broadcast(batch_of(a), batch_of(b));
    } catch (const Error& error) {
        throw Error(Category::config,
                    fmt::format("a {} and b {} do not multiply: batch {}", to_text(a), to_text(b), error.what()),
                    "inputs.b");
    }
    result.batches = count(result.batch);
    result.a.batch = batch_strides(a, result.batch);
    result.b.batch = batch_strides(b, result.batch);
    result.out = result.batch;
    if (a.size() > 1) result.out.push_back(result.m);
    if (b.size() > 1) result.out.push_back(result.n);
    count(result.out);  // above 2^63 - 1: an error

    result.alpha = params.scalar("alpha");
    if (in[2].present) {
        if (in[2].shape != result.out)
            throw Error(Category::config,
                        fmt::format("c is {} and the product of a {} and b {} is {}: c must have the product's shape",
                                    to_text(in[2].shape), to_text(a), to_text(b), to_text(result.out)),
                        "inputs.c");
        result.beta = params.has("beta") ? params.scalar("beta") : 1.0;
    } else if (params.has("beta")) {
        throw Error(Category::config, "beta multiplies c, and no c is given: give inputs.c or leave beta out",
                    "params.beta");
    }
    return result;
}

DType accumulator(const Problem& problem) {
    const DType type = arithmetic(op, problem);
    return problem.params.word("compute") == "float64" ? result_type(type, DType::float64) : type;
}

const Op op{
    .name = "matmul",
    .doc = "alpha op(a) op(b) + beta c, as numpy.matmul: batches broadcast, 1-D operands are vectors",
    .inputs = {{"a", "(..., m, k), or (k,)"},
               {"b", "(..., k, n), or (k,)"},
               {.name = "c", .doc = "added beta times; of the output's shape", .optional = true}},
    .outputs = {{.name = "c", .doc = "(..., m, n), without m where a is 1-D and without n where b is", .alias = 2}},
    .params =
        {{"alpha", Kind::scalar, Value(1.0), {}, "factor of the product; 0: a and b are not read"},
         {"beta", Kind::scalar, Value{}, {}, "factor of c (1 where c is given); 0: c is not read"},
         {"transpose_a",
          Kind::word,
          Value(std::string("none")),
          {"none", "transpose", "adjoint"},
          "what a's last two axes undergo first; adjoint also conjugates"},
         {"transpose_b", Kind::word, Value(std::string("none")), {"none", "transpose", "adjoint"}, "the same of b"},
         {"compute",
          Kind::word,
          Value(std::string("auto")),
          {"auto", "tf32", "float64"},
          "auto: sums in the arithmetic type; float64: in double precision, rounded once; tf32: float32 inputs "
          "may be rounded to 11 bits on tensor cores (the CPU keeps float32)"}},
    .infer = infer,
    .cost = cost,
    .terms = terms,
    .rule = rule,
    .prefer = prefer,
    .axes = axes,
    .cut = cut,
    .reference = reference,
    .cases = cases,
    .properties = properties,
    .origins = origins,
};

}  // namespace gridstride::matmul
