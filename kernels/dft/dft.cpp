// SPDX-License-Identifier: BSD-3-Clause
// dft: the discrete Fourier transform along any axes, of any length, as numpy.fft. Its table: parameters, shape rule,
// cost, tiling and the cases that the conformance test asks.
#include "dft/dft.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/properties.hpp"

namespace gridstride::dft {

Reference reference(const Problem& problem, std::span<const Slab> in);                     // reference.cpp
std::unique_ptr<Transforms> transforms(const Problem& problem, std::span<const Slab> in);  // transforms.cpp
std::vector<Property> properties(const Examined&);                                         // properties.cpp

namespace {

using std::int64_t;

std::vector<std::size_t> transformed_axes(const Params& params, const Shape& x) {
    if (x.empty()) throw Error(Category::config, "x is a scalar (): it has no axis to transform", "inputs.x");
    std::vector<std::size_t> axes = axes_of(params, x);
    if (axes.empty()) throw Error(Category::config, "axes is empty: name at least one", "params.axes");
    return axes;
}

Form form_of(const std::string& word) {
    if (word == "half") return Form::half;
    if (word == "real") return Form::real;
    return word == "power" ? Form::power : Form::full;
}

/// Errors (config): combinations that mean nothing, with the one that would be right.
bool is_inverse(const Params& params, Form form, DType x) {
    const std::string given = params.has("direction") ? params.word("direction") : "";
    const auto refuse = [](const std::string& message, std::string_view where) {
        throw Error(Category::config, message, fmt::format("params.{}", where));
    };
    if (form == Form::half && given == "inverse")
        refuse("form: half is forward; the inverse of a half spectrum is form: real", "direction");
    if (form == Form::power && given == "inverse")
        refuse("form: power is forward; leave direction out, or use form: full", "direction");
    if (form == Form::real && given == "forward")
        refuse("form: real is the inverse of a half spectrum; the forward transform of real input is form: half",
               "direction");
    if (form == Form::half && is_complex(x))
        refuse(fmt::format("form: half is of real input, and x is {}; use form: full", name(x)), "form");
    return form == Form::real || given == "inverse";
}

std::vector<Spec> infer(const Params& params, std::span<const Spec> in, std::optional<DType> result) {
    const DType input = common_type(op, in);
    if (is_integer(input))
        throw Error(Category::config, fmt::format("dft takes floating-point and complex numbers, not {}", name(input)),
                    "inputs.x");
    const Layout posed = layout(params, in[0]);
    const bool real = posed.form == Form::real || posed.form == Form::power;
    const DType natural = real ? real_of(complex_of(input)) : complex_of(input);
    const DType output = result.value_or(natural);
    if (is_integer(output) || (!real && !is_complex(output)))
        throw Error(Category::config,
                    fmt::format("form: {} gives {}; result_dtype {} cannot hold it: ask for {}", params.word("form"),
                                name(natural), name(output),
                                real ? "float16, bfloat16, float32 or float64" : "complex64 or complex128"),
                    "result_dtype");
    if (params.has("sample_spacing")) {
        const std::vector<double> spacing = params.numbers("sample_spacing");
        if (spacing.size() != 1 && spacing.size() != posed.axes.size())
            throw Error(Category::config,
                        fmt::format("sample_spacing has {} numbers for {} axes: give one, or one an axis",
                                    spacing.size(), posed.axes.size()),
                        "params.sample_spacing");
        for (const double step : spacing)
            if (!(step > 0) || !std::isfinite(step))
                throw Error(Category::config, fmt::format("sample_spacing is {}; it is above 0 and finite", step),
                            "params.sample_spacing");
    }
    return {{output, posed.out}};
}

/// 5 N log2 N a transform, half of it where input or output is real; bytes of what enters and of the output.
Cost cost(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in[0]);
    const Shape& x = problem.in[0].shape;
    const auto n = static_cast<double>(posed.length);
    const bool real = posed.form == Form::real || posed.halved;
    double transforms = 1, entering = 1;
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
        entering *= static_cast<double>(posed.entering(x, axis));
        if (std::find(posed.axes.begin(), posed.axes.end(), axis) == posed.axes.end())
            transforms *= static_cast<double>(x[axis]);
    }
    return {.flops = transforms * (real ? 2.5 : 5) * n * std::log2(std::max(n, 2.0)),
            .read = entering * static_cast<double>(size_of(problem.in[0].dtype)),
            .written = static_cast<double>(problem.out[0].bytes())};
}

int64_t terms(const Problem& problem) {
    return layout(problem.params, problem.in[0]).length;
}

Rule rule(const Problem&) {
    return Rule::transform;
}

std::vector<std::string_view> prefer(const Problem&) {
    return {"direct_tiled", "direct", "fftw"};
}

/// The axes that are not transformed, of these the places in x.
std::vector<std::size_t> batch_axes(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in[0]);
    std::vector<std::size_t> result;
    for (std::size_t axis = 0; axis < posed.out.size(); ++axis)
        if (std::find(posed.axes.begin(), posed.axes.end(), axis) == posed.axes.end()) result.push_back(axis);
    return result;
}

std::vector<Axis> axes(const Problem& problem) {
    std::vector<Axis> result;
    for (const std::size_t axis : batch_axes(problem))
        result.push_back({fmt::format("axis_{}", axis), problem.in[0].shape[axis]});
    return result;
}

Piece cut(const Problem& problem, std::size_t axis, int64_t begin, int64_t end) {
    const std::size_t place = batch_axes(problem).at(axis);
    Piece piece{problem, {whole(problem.in[0].shape)}, {whole(problem.out[0].shape)}, false};
    piece.in[0].axes[place] = piece.out[0].axes[place] = {begin, end - begin, 1};
    piece.problem.in[0].shape = shape_of(piece.in[0]);
    piece.problem.out[0].shape = shape_of(piece.out[0]);
    return piece;
}

/// A forward transform turns an axis into frequencies, an inverse one into samples of which nothing is known.
std::vector<AxisOrigin> origins(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in[0]);
    const std::vector<double> spacing =
        problem.params.has("sample_spacing") ? problem.params.numbers("sample_spacing") : std::vector<double>{1.0};
    std::vector<AxisOrigin> result;
    for (std::size_t axis = 0; axis < posed.out.size(); ++axis)
        result.push_back({.name = {}, .input = 0, .axis = static_cast<int>(axis)});
    for (std::size_t i = 0; i < posed.axes.size(); ++i) {
        AxisOrigin& origin = result[posed.axes[i]] = {};
        if (posed.inverse) continue;
        origin.name = "frequency";
        origin.frequencies = posed.lengths[i];
        origin.spacing = spacing.size() == 1 ? spacing[0] : spacing[i];
        origin.half = posed.halved && posed.axes[i] == posed.last();
    }
    return result;
}

std::string remark(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in[0]);
    const std::vector<int64_t> given = problem.params.integers("axes");
    std::string text;
    for (std::size_t i = 0; i < given.size(); ++i)
        if (posed.lengths[i] == 1)
            text += fmt::format("{}axis {} has length 1: its transform is the identity", text.empty() ? "" : "; ",
                                given[i]);
    if (posed.form == Form::real && !is_complex(problem.in[0].dtype))
        text += fmt::format(
            "{}x is real, and form: real takes it for a half spectrum; the transform of real input is "
            "form: half",
            text.empty() ? "" : "; ");
    return text;
}

using Given = std::vector<std::pair<std::string_view, Value>>;

Problem ask(DType dtype, Shape x, const Given& given = {}) {
    Params params;
    for (const auto& [name, value] : given) params.set(name, value);
    Problem problem;
    problem.params = resolve(op.params, params);
    problem.in = {{dtype, std::move(x)}};
    return problem;
}

std::vector<Problem> cases() {
    constexpr DType dtypes[] = {DType::float16, DType::bfloat16,  DType::float32,
                                DType::float64, DType::complex64, DType::complex128};
    const auto word = [](const char* text) { return Value(std::string(text)); };
    const auto list = [](std::initializer_list<int64_t> values) {
        Values result;
        for (const int64_t value : values) result.emplace_back(value);
        return Value(result);
    };
    std::vector<Problem> all;
    for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 31, 101, 127, 128, 210, 509, 512, 1009}) {
        all.push_back(ask(DType::complex64, {3, n}));
        all.push_back(ask(DType::complex128, {n, 2}, {{"axes", Value(int64_t{0})}, {"direction", word("inverse")}}));
        all.push_back(ask(DType::float32, {2, n}, {{"form", word("half")}}));
        all.push_back(ask(DType::complex64, {2, n / 2 + 1}, {{"form", word("real")}, {"n", Value(n)}}));
        all.push_back(ask(DType::complex128, {n / 2 + 1, 3},
                          {{"form", word("real")}, {"n", Value(n)}, {"axes", Value(int64_t{0})}}));
    }
    for (const DType dtype : dtypes) {
        all.push_back(ask(dtype, {3, 12}));
        all.push_back(ask(dtype, {3, 12}, {{"direction", word("inverse")}, {"norm", word("ortho")}}));
        all.push_back(ask(dtype, {4, 15}, {{"form", word("real")}}));
        all.push_back(ask(dtype, {4, 15}, {{"form", word("power")}}));
        all.push_back(ask(dtype, {5, 7, 3}, {{"axes", list({2, 0})}}));
        if (!is_complex(dtype)) all.push_back(ask(dtype, {5, 8, 3}, {{"form", word("half")}, {"axes", list({0, 1})}}));
        for (const int64_t n : {5, 21}) {  // crops, pads
            all.push_back(ask(dtype, {3, 12}, {{"n", Value(n)}}));
            all.push_back(ask(dtype, {12, 3}, {{"n", Value(n)}, {"axes", Value(int64_t{0})}, {"form", word("power")}}));
            all.push_back(ask(dtype, {3, 6}, {{"n", Value(n)}, {"form", word("real")}}));
        }
    }
    for (const char* const norm : {"backward", "ortho", "forward"}) {
        for (const char* const direction : {"forward", "inverse"})
            all.push_back(ask(DType::complex64, {4, 6, 5},
                              {{"axes", list({1, 0})}, {"norm", word(norm)}, {"direction", word(direction)}}));
        all.push_back(
            ask(DType::float32, {4, 6, 5}, {{"axes", list({1, 2})}, {"norm", word(norm)}, {"form", word("half")}}));
        all.push_back(ask(DType::complex128, {4, 6, 5},
                          {{"axes", list({2, 0, 1})}, {"norm", word(norm)}, {"form", word("real")}}));
        all.push_back(
            ask(DType::float32, {4, 6, 5}, {{"axes", list({0, 1, 2})}, {"norm", word(norm)}, {"form", word("power")}}));
        all.push_back(ask(DType::complex64, {33}, {{"norm", word(norm)}, {"form", word("power")}}));
    }
    all.push_back(ask(DType::float32, {7, 6, 5}, {{"axes", list({2, 0})}, {"n", list({8, 4})}}));
    all.push_back(
        ask(DType::complex128, {7, 6, 5}, {{"axes", list({0, 2})}, {"n", list({4, 11})}, {"form", word("real")}}));
    all.push_back(
        ask(DType::complex64, {4, 2, 5}, {{"axes", list({0, 2})}, {"n", list({7, 8})}, {"form", word("real")}}));
    all.push_back(ask(DType::float64, {5, 8, 3}, {{"axes", list({2, 1})}, {"form", word("half")}}));
    all.push_back(ask(DType::complex64, {0, 8}));  // an empty batch
    all.push_back(ask(DType::float32, {8, 0}, {{"axes", Value(int64_t{0})}, {"form", word("half")}}));
    all.push_back(ask(DType::float32, {2, 0}, {{"n", Value(int64_t{4})}}));  // nothing but padding: zeros
    all.push_back(ask(DType::complex128, {512, 3}, {{"axes", Value(int64_t{0})}}));
    all.push_back(ask(DType::complex64, {2, 1}, {{"form", word("real")}, {"n", Value(int64_t{1})}}));
    return all;
}

}  // namespace

Layout layout(const Params& params, const Spec& x) {
    Layout result;
    result.axes = transformed_axes(params, x.shape);
    result.form = form_of(params.word("form"));
    result.inverse = is_inverse(params, result.form, x.dtype);
    result.halved = result.form == Form::half || (result.form == Form::power && !is_complex(x.dtype));
    result.grid = result.out = x.shape;

    std::vector<int64_t> n;
    if (params.has("n")) {
        n = params.integers("n");
        if (n.size() != result.axes.size())
            throw Error(Category::config,
                        fmt::format("n is {} for {} axes: give one length an axis", to_text(params.get("n")),
                                    result.axes.size()),
                        "params.n");
    }
    for (std::size_t i = 0; i < result.axes.size(); ++i) {
        const std::size_t axis = result.axes[i];
        const bool spectrum = result.form == Form::real && axis == result.last();
        const int64_t extent = x.shape[axis];
        if (extent == 0 && n.empty())
            throw Error(Category::config,
                        fmt::format("axis {} of x {} has length 0: there is nothing to transform (n pads with zeros)",
                                    axis, to_text(x.shape)),
                        "inputs.x");
        if (spectrum && extent == 1 && n.empty())
            throw Error(Category::config,
                        fmt::format("a half spectrum of 1 element (axis {} of x {}) stands for 2 (1 - 1) = 0 samples; "
                                    "give n: 1 for one sample",
                                    axis, to_text(x.shape)),
                        "params.n");
        const int64_t length = !n.empty() ? n[i] : spectrum ? 2 * (extent - 1) : extent;
        result.lengths.push_back(length);
        result.grid[axis] = spectrum ? length / 2 + 1 : length;
        result.out[axis] = result.halved && axis == result.last() ? length / 2 + 1 : length;
    }
    result.length = count(result.lengths);
    count(result.grid);  // above 2^63 - 1: an error
    count(result.out);

    const std::string& norm = params.word("norm");
    if (norm == "ortho")
        result.factor = 1 / std::sqrt(static_cast<long double>(result.length));
    else if ((norm == "forward") != result.inverse)
        result.factor = 1 / static_cast<long double>(result.length);
    return result;
}

/// A fast transform is accurate to sqrt(log2 N) roundoffs; lengths with a prime factor above 13 go through a
/// convolution of twice the length or more, which doubles it.
double fast_growth(const Problem& problem, int64_t n) {
    const double result = std::sqrt(std::max(1.0, std::log2(static_cast<double>(n))));
    for (int64_t length : layout(problem.params, problem.in[0]).lengths) {
        for (const int64_t prime : {2, 3, 5, 7, 11, 13})
            while (length % prime == 0) length /= prime;
        if (length != 1) return 2 * result;
    }
    return result;
}

const Op op{
    .name = "dft",
    .doc = "discrete Fourier transform along axes, any length: X_k = sum_n x_n exp(-2 pi i k n / N), as numpy.fft",
    .inputs = {{"x", "real or complex, at least one axis"}},
    .outputs = {{.name = "X", .doc = "x's shape with the transformed axes n long (a half spectrum n/2+1)"}},
    .params =
        {{"axes", Kind::integers, Value(int64_t{-1}), {}, "axis, or a list of distinct ones; negative: from the end"},
         {"n",
          Kind::integers,
          Value{},
          {},
          "length, one an axis: crops or zero-pads (x's own; form real: 2(m-1))",
          {1}},
         {"direction", Kind::word, Value{}, {"forward", "inverse"}, "forward; form real is inverse"},
         {"norm",
          Kind::word,
          Value(std::string("backward")),
          {"backward", "ortho", "forward"},
          "backward: the inverse is divided by N; forward: the forward one; ortho: both by sqrt(N)"},
         {"form",
          Kind::word,
          Value(std::string("full")),
          {"full", "half", "real", "power"},
          "full: all bins; half: of real input, bins 0 to n/2 of the last of axes; real: the inverse of such a "
          "half spectrum; power: |X|^2, of real input as half"},
         {"sample_spacing",
          Kind::numbers,
          Value{},
          {},
          "distance of samples, one number or one an axis: gives the output's frequency scale"}},
    .infer = infer,
    .cost = cost,
    .terms = terms,
    .rule = rule,
    .prefer = prefer,
    .axes = axes,
    .cut = cut,
    .reference = reference,
    .cases = cases,
    .transforms = transforms,
    .properties = properties,
    .origins = origins,
    .remark = remark,
};

}  // namespace gridstride::dft
