// SPDX-License-Identifier: BSD-3-Clause
// The convolution-covariance reduction as a table row: its inputs and parameters, what it refuses, its geometry, cost,
// pieces and test cases. README.md has the mathematics.
#include "convcov/convcov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel.hpp"

#include "core/properties.hpp"

namespace gridstride::convcov {

namespace {

constexpr std::int64_t largest_parameter = std::numeric_limits<std::int32_t>::max();  // so that no product overflows
constexpr Bounds positive{1, largest_parameter};

[[noreturn]] void wrong_parameter(std::string_view name, const std::string& message) {
    throw Error(Category::config, message, fmt::format("params.{}", name));
}
[[noreturn]] void wrong_input(Operand which, const std::string& message) {
    throw Error(Category::config, message, fmt::format("inputs.{}", op.inputs[which].name));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {  // b > 0
    return a / b - (a % b < 0 ? 1 : 0);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return -floor_div(-a, b);
}

// --- Parameters -----------------------------------------------------------------------------------------------------

std::array<std::int64_t, 2> pair(const Params& params, std::string_view name) {
    const std::vector<std::int64_t> values = params.integers(name);
    if (values.size() != 1 && values.size() != 2)
        wrong_parameter(name, fmt::format("{} is n or [rows, columns], not a list of {}", name, values.size()));
    return {values.front(), values.back()};
}

struct Padding {
    std::int64_t top, bottom, left, right;
};

/// Taps, stride and dilation of the windows are set already.
Padding padding(const Params& params, const Window& rows, const Window& columns) {
    if (params.is_word("padding")) {
        if (params.word("padding") == "valid") return {0, 0, 0, 0};
        if (rows.stride != 1 || columns.stride != 1)
            wrong_parameter("padding",
                            fmt::format("padding: same is for stride 1 alone, and stride is [{}, {}]: give [top, "
                                        "bottom, left, right]",
                                        rows.stride, columns.stride));
        const std::int64_t vertical = rows.dilation * (rows.taps - 1);
        const std::int64_t horizontal = columns.dilation * (columns.taps - 1);
        return {vertical / 2, vertical - vertical / 2, horizontal / 2, horizontal - horizontal / 2};
    }
    const std::vector<std::int64_t> given = params.integers("padding");
    switch (given.size()) {
        case 1:
            return {given[0], given[0], given[0], given[0]};
        case 2:
            return {given[0], given[0], given[1], given[1]};
        case 4:
            return {given[0], given[1], given[2], given[3]};
        default:
            wrong_parameter("padding", fmt::format("padding is n, [rows, columns], [top, bottom, left, right], valid "
                                                   "or same, not a list of {}",
                                                   given.size()));
    }
}

void set_output(Window& window, std::int64_t after, std::string_view what) {
    const std::int64_t covered = window.dilation * (window.taps - 1) + 1;
    const std::int64_t padded = window.in + window.before + after;
    if (padded < covered)
        wrong_parameter("kernel", fmt::format("the kernel covers {} {}, the padded map has {}: no output is left",
                                              covered, what, padded));
    window.out = (padded - covered) / window.stride + 1;
}

// --- Inputs ---------------------------------------------------------------------------------------------------------

void check_dtypes(std::span<const Spec> in) {
    for (const Operand which : {gamma, mu, coef, accumulate, weight_variance})
        if (given(in, which) && (is_complex(in[which].dtype) || is_integer(in[which].dtype)))
            wrong_input(which, fmt::format("{} is {}: convcov takes real types (float16, bfloat16, float32, float64)",
                                           op.inputs[which].name, name(in[which].dtype)));
}

std::string_view text(Form form) {
    constexpr std::string_view words[] = {"full", "channel_diagonal", "factor", "variance"};
    return words[static_cast<std::size_t>(form)];
}

/// S of coef (S, O); 0 of a number or (O,).
std::int64_t vectors_of(std::span<const Spec> in) {
    if (!given(in, coef)) return 0;
    const Shape& shape = in[coef].shape;
    if (shape.size() > 2 || (shape.size() == 2 && shape[0] == 0))
        wrong_input(coef, fmt::format("coef has shape {}; right are (), (O,) and (S, O), S vectors of one number an "
                                      "output channel, S >= 1",
                                      to_text(shape)));
    return shape.size() == 2 ? shape[0] : 0;
}

Form form_of(const Params& params, std::span<const Spec> in, std::int64_t vectors) {
    std::optional<Form> asked;
    if (params.has("form"))
        for (const Form form : {Form::full, Form::channel_diagonal, Form::factor, Form::variance})
            if (text(form) == params.word("form")) asked = form;
    if (!given(in, accumulate)) return asked.value_or(Form::channel_diagonal);

    const Shape& shape = in[accumulate].shape;
    if (asked == Form::factor)
        wrong_input(accumulate, "form: factor takes no accumulate: it gives R alone, before coef");
    std::optional<Form> told;
    const std::size_t rank = shape.size() - std::min<std::size_t>(vectors > 0 ? 1 : 0, shape.size());
    if (rank == 7) told = Form::full;
    if (rank == 6) told = Form::channel_diagonal;
    if (rank == 4) told = Form::variance;
    if (!told)
        wrong_input(accumulate,
                    fmt::format("accumulate has shape {} of rank {}; right are ({}B, O, Ho, Wo, O, Ho, Wo)"
                                ", ({}B, O, Ho, Wo, Ho, Wo) and ({}B, O, Ho, Wo){}",
                                to_text(shape), shape.size(), vectors > 0 ? "S, " : "", vectors > 0 ? "S, " : "",
                                vectors > 0 ? "S, " : "", vectors > 0 ? ", S being the coefficient vectors" : ""));
    if (asked && asked != told)
        wrong_parameter("form", fmt::format("form is {}, but accumulate has shape {}, which is {}: leave form out, or "
                                            "give an accumulate of that form",
                                            text(*asked), to_text(shape), text(*told)));
    return *told;
}

/// What form: factor does not take: it gives R, before any of them.
void check_factor(const Params& params, std::span<const Spec> in) {
    for (const Operand which : {coef, weight_variance})
        if (given(in, which))
            wrong_input(which,
                        fmt::format("form: factor takes no {0}: it gives R alone, before {0}", op.inputs[which].name));
    if (params.has("channels")) wrong_parameter("channels", "form: factor has no output channels: leave channels out");
    if (params.boolean("bias"))
        wrong_parameter("bias", "form: factor takes no bias: it gives R alone, before coef (R + 1)");
    if (params.word("noise") == "read")
        wrong_parameter("noise",
                        "form: factor takes no noise: it gives R alone; of noise: read only its places with themselves "
                        "count, which form: variance with coef: 1 gives");
}

/// weight_variance (O, C, kh, kw).
void check_weight_variance(const Geometry& geometry, const Params& params, std::span<const Spec> in) {
    if (given(in, coef))
        wrong_input(weight_variance,
                    "weight_variance stands in place of coef, and both are given: leave one of them out");
    if (params.boolean("bias"))
        wrong_parameter("bias",
                        "bias goes with coef, whose number is its variance too: weight_variance has no number for it");
    const Shape& shape = in[weight_variance].shape;
    const Shape right{shape.empty() ? 0 : shape[0], geometry.channels_in, geometry.rows.taps, geometry.columns.taps};
    if (shape != right)
        wrong_input(weight_variance,
                    fmt::format("weight_variance has shape {}; beside mu of {} channels and kernel [{}, {}] it has "
                                "(O, C, rows, columns) = (O, {}, {}, {})",
                                to_text(shape), right[1], right[2], right[3], right[1], right[2], right[3]));
}

std::int64_t output_channels(const Geometry& geometry, const Params& params, std::span<const Spec> in) {
    std::optional<std::int64_t> channels;
    std::string_view told = "coef";
    if (given(in, weight_variance)) {
        told = "weight_variance";
        channels = in[weight_variance].shape[0];
    } else if (!given(in, coef)) {
        wrong_input(coef,
                    "coef is required: a number, or a list of one number an output channel (only form: factor "
                    "does without, and weight_variance in its place)");
    } else if (!in[coef].shape.empty()) {
        channels = in[coef].shape.back();
    }
    if (given(in, accumulate)) {
        const Shape& shape = in[accumulate].shape;
        const std::int64_t theirs = shape[geometry.vectors > 0 ? 2 : 1];
        if (channels && *channels != theirs)
            wrong_input(geometry.per_weight ? weight_variance : coef,
                        fmt::format("{} has {} elements, but accumulate has {} output channels, shape {}: give one {}",
                                    told, *channels, theirs, to_text(shape),
                                    geometry.per_weight ? "(C, rows, columns) an output channel"
                                                        : "number an output channel, or a bare number for all"));
        if (!channels) told = "accumulate";
        channels = theirs;
    }
    if (params.has("channels")) {
        const std::int64_t asked = params.integer("channels");
        if (channels && *channels != asked)
            wrong_parameter("channels",
                            fmt::format("channels is {}, but {} has {} output channels", asked, told, *channels));
        channels = asked;
    }
    if (!channels)
        wrong_parameter("channels",
                        "how many output channels? Give channels, a list of numbers as coef, or an "
                        "accumulate");
    return *channels;
}

/// Where only the batch axis is missing, the shape with it.
std::string with_batch(const Shape& shape) {
    return fmt::format("; as a batch of one: {{from: ..., shape: [1, {}]}}", fmt::join(shape, ", "));
}

void check_gamma(Geometry& geometry, const Spec& spec, bool cut) {
    const Shape& shape = spec.shape;
    geometry.full_gamma = shape.size() == 7;
    const std::int64_t b = geometry.batch, c = geometry.channels_in, h = geometry.rows.in, w = geometry.columns.in;
    const std::int64_t first = cut ? geometry.gamma_rows.count() : h;
    const Shape full{b, c, first, w, c, h, w}, diagonal{b, c, first, w, h, w};
    if (shape == full || shape == diagonal) return;
    Shape batched{1};
    batched.insert(batched.end(), shape.begin(), shape.end());
    wrong_input(gamma, fmt::format("gamma has shape {}; beside mu of shape {} it has (B, C, H, W, C, H, W) = {} or "
                                   "(B, C, H, W, H, W) = {}{}",
                                   to_text(shape), to_text(Shape{b, c, h, w}), to_text(full), to_text(diagonal),
                                   batched == full || batched == diagonal ? with_batch(shape) : ""));
}

}  // namespace

// --- Window ---------------------------------------------------------------------------------------------------------

Interval Window::valid(std::int64_t u, Interval range) const {
    if (circular) return range;
    const std::int64_t offset = u * dilation - before;
    const std::int64_t begin = std::max(range.begin, ceil_div(-offset, stride));
    return {begin, std::max(begin, std::min(range.end, ceil_div(in - offset, stride)))};
}

Interval Window::reach(Interval range) const {
    if (range.count() <= 0) return {0, 0};
    const std::int64_t first = unwrapped(range.begin, 0), last = unwrapped(range.end - 1, taps - 1);
    if (circular) {
        if (floor_div(first, in) != floor_div(last, in)) return {0, in};
        return {wrap(first), wrap(last) + 1};
    }
    const std::int64_t begin = std::clamp<std::int64_t>(first, 0, in);
    return {begin, std::clamp(last + 1, begin, in)};
}

Interval Window::partners(std::int64_t r, Interval range) const {
    Interval result;
    if (range.count() <= 0) return result;
    // The unwrapped places that lie over r: r itself, and where circular those some times `in` from it.
    const std::int64_t first = unwrapped(range.begin, 0), last = unwrapped(range.end - 1, taps - 1);
    const std::int64_t begin = circular ? r + ceil_div(first - r, in) * in : r, end = circular ? last : r;
    for (std::int64_t place = begin; place <= end; place += in) {
        const std::int64_t lowest = ceil_div(place + before - (range.end - 1) * stride, dilation);
        const std::int64_t highest = floor_div(place + before - range.begin * stride, dilation);
        for (std::int64_t u = std::max<std::int64_t>(lowest, 0); u < taps && u <= highest; ++u) {
            const std::int64_t shifted = place + before - u * dilation;
            if (shifted % stride != 0) continue;
            const std::int64_t i = shifted / stride;  // r meets those of i' = i + m, all m from -i to out - i
            result = {std::min(result.begin, -i), std::max(result.end, out - i)};
        }
    }
    if (circular) return result;
    return {std::max(result.begin, ceil_div(-r, stride)), std::min(result.end, ceil_div(in - r, stride))};
}

// --- Geometry -------------------------------------------------------------------------------------------------------

Shape Geometry::output_shape() const {
    const std::int64_t i = owned.count(), j = columns.out, h = rows.out, w = columns.out, o = channels_out;
    Shape shape;
    switch (form) {
        case Form::full:
            shape = {batch, o, i, j, o, h, w};
            break;
        case Form::channel_diagonal:
            shape = {batch, o, i, j, h, w};
            break;
        case Form::factor:
            shape = {batch, i, j, h, w};
            break;
        case Form::variance:
            shape = {batch, o, i, j};
            break;
    }
    if (vectors > 0) shape.insert(shape.begin(), vectors);
    return shape;
}

Interval Geometry::gamma_rows_of(Interval outputs) const {
    const Interval reach = rows.reach(outputs);
    // What mirrors a pair whose second row comes first lies under that row.
    return half_gamma && !same_place() ? Interval{rows.reach({0, rows.out}).begin, reach.end} : reach;
}

std::int64_t Geometry::vector_size() const {
    return output_offset(batch, 0, owned.begin, 0);
}

std::int64_t Geometry::gamma_offset(std::int64_t b, std::int64_t c, std::int64_t r, std::int64_t q) const {
    const std::int64_t place = ((b * channels_in + c) * gamma_rows.count() + r - gamma_rows.begin) * columns.in + q;
    return (full_gamma ? place * channels_in + c : place) * places_in();
}

std::int64_t Geometry::output_offset(std::int64_t b, std::int64_t o, std::int64_t i, std::int64_t j) const {
    const std::int64_t place = ((b * channels_out + o) * owned.count() + i - owned.begin) * columns.out + j;
    if (form == Form::variance) return place;
    return (form == Form::full ? place * channels_out + o : place) * places_out();
}

Geometry geometry(const Params& params, std::span<const Spec> in) {
    check_dtypes(in);
    if (!given(in, mu)) wrong_input(mu, "mu is required: (B, C, H, W)");
    const Shape& shape = in[mu].shape;
    if (shape.size() != 4)
        wrong_input(mu, fmt::format("mu has shape {} of rank {}; right is (B, C, H, W){}", to_text(shape), shape.size(),
                                    shape.size() == 3 ? with_batch(shape) : ""));
    if (std::max(shape[2], shape[3]) > largest_parameter)
        wrong_input(mu, fmt::format("mu has shape {}; H and W are at most {}", to_text(shape), largest_parameter));

    Geometry result;
    result.batch = shape[0];
    result.channels_in = shape[1];
    const auto taps = pair(params, "kernel"), stride = pair(params, "stride"), dilation = pair(params, "dilation");
    result.circular = params.word("padding_mode") == "circular";
    result.rows = {shape[2], 1, taps[0], stride[0], dilation[0], 0, result.circular};
    result.columns = {shape[3], 1, taps[1], stride[1], dilation[1], 0, result.circular};
    if (result.circular && std::min(shape[2], shape[3]) == 0)
        wrong_parameter("padding_mode",
                        fmt::format("padding_mode: circular wraps around a map, and mu of shape {} has none: give "
                                    "padding_mode: zeros",
                                    to_text(shape)));
    const Padding pads = padding(params, result.rows, result.columns);
    result.rows.before = pads.top;
    result.columns.before = pads.left;
    set_output(result.rows, pads.bottom, "rows");
    set_output(result.columns, pads.right, "columns");

    result.noise = params.word("noise") == "read" ? Noise::read : Noise::programming;
    result.bias = params.boolean("bias");
    result.half_gamma = given(in, gamma) && params.word("symmetric") != "none";
    result.vectors = vectors_of(in);
    result.form = form_of(params, in, result.vectors);

    result.owned = {0, result.rows.out};
    result.gamma_rows = {0, result.rows.in};
    const bool cut = params.has("rows");
    if (cut) {
        const std::vector<std::int64_t> range = params.integers("rows");
        result.owned = {range.at(0), range.at(1)};
        result.gamma_rows = result.gamma_rows_of(result.owned);
    }
    if (given(in, gamma)) check_gamma(result, in[gamma], cut);

    result.per_weight = given(in, weight_variance);
    if (result.form == Form::factor) {
        check_factor(params, in);
        result.channels_out = 1;
    } else {
        if (result.per_weight) check_weight_variance(result, params, in);
        result.channels_out = output_channels(result, params, in);
    }
    if (given(in, accumulate) && in[accumulate].shape != result.output_shape())
        wrong_input(accumulate, fmt::format("accumulate has shape {}, but the output has {}",
                                            to_text(in[accumulate].shape), to_text(result.output_shape())));
    return result;
}

std::vector<double> rounded_to(const Slab& values, Operand which, DType accumulator) {
    std::vector<double> result(static_cast<std::size_t>(values.spec.size()));
    for (std::size_t k = 0; k < result.size(); ++k) {
        const auto index = static_cast<std::int64_t>(k);
        const long double value = real_part(values, index);
        result[k] = accumulator == DType::float32 ? static_cast<float>(value) : static_cast<double>(value);
        if (std::isinf(result[k]) && !std::isinf(value))
            throw Error(
                Category::input,
                fmt::format("{} at {} is {}, beyond the accumulator's {}", op.inputs[which].name,
                            index_text(index, values.spec.shape), static_cast<double>(value), name(accumulator)),
                fmt::format("inputs.{}", op.inputs[which].name));
    }
    return result;
}

std::vector<double> coefficients(const Geometry& geometry, const Slab& coef, DType accumulator) {
    const auto channels = static_cast<std::size_t>(geometry.channels_out);
    if (geometry.form == Form::factor || geometry.per_weight) return std::vector<double>(channels, 1.0);
    const std::vector<double> values = rounded_to(coef, Operand::coef, accumulator);
    return coef.spec.shape.empty() ? std::vector<double>(channels, values[0]) : values;
}

// --- The table's functions ------------------------------------------------------------------------------------------

namespace {

std::vector<Spec> infer(const Params& params, std::span<const Spec> in, std::optional<DType> result) {
    const Geometry shape = geometry(params, in);
    const DType dtype = result.value_or(common_type(op, in));
    if (is_complex(dtype) || is_integer(dtype))
        throw Error(Category::config,
                    fmt::format("result_dtype is {}: convcov gives float16, bfloat16, float32 or float64", name(dtype)),
                    "result_dtype");
    const Spec cov{dtype, shape.output_shape()};
    cov.bytes();  // an Error where they are more than can be counted
    return {cov};
}

/// Number of (r, r') that take part: those under one tap of some output pair, the first of which is in `range`.
double pairs(const Window& window, Interval range) {
    double total = 0;
    const Interval reach = window.reach(range);
    for (std::int64_t r = reach.begin; r < reach.end; ++r) {
        std::int64_t partners = window.partners(r, range).count();
        // A step of stride comes back to r after so many.
        if (window.circular) partners = std::min(partners, window.in / std::gcd(window.in, window.stride));
        total += static_cast<double>(partners);
    }
    return total;
}

/// Number of r that take part.
double singles(const Window& window, Interval range) {
    double total = 0;
    const Interval reach = window.reach(range);
    for (std::int64_t r = reach.begin; r < reach.end; ++r) total += window.partners(r, range).count() > 0 ? 1 : 0;
    return total;
}

Cost cost(const Problem& problem) {
    const Geometry g = geometry(problem);
    const Interval columns{0, g.columns.out};
    const bool same = g.same_place(), has_gamma = given(problem.in, gamma), in_place = given(problem.in, accumulate);
    const auto b = static_cast<double>(g.batch), ci = static_cast<double>(g.channels_in),
               blocks = static_cast<double>(g.channels_out * std::max<std::int64_t>(g.vectors, 1)),
               wo = static_cast<double>(g.columns.out),
               first = static_cast<double>(g.owned.count());  // output rows of the first place
    const double ho = same ? 1 : static_cast<double>(g.rows.out);
    const double places = singles(g.rows, g.owned) * singles(g.columns, columns);
    const double column_pairs = same ? singles(g.columns, columns) : pairs(g.columns, columns);
    const double sums = same ? places : pairs(g.rows, g.owned) * column_pairs;  // S: pairs of places of one batch
    const double results = first * wo * (same ? 1 : ho * wo);                   // R: of one batch
    const auto taps = static_cast<double>(g.rows.taps * g.columns.taps);

    Cost total;
    if (g.per_weight)  // gamma + mu mu once a pair and channel, then a product and a sum a term
        total.flops = b * ci * ((has_gamma ? 2 : 1) * sums + 2 * blocks * taps * results);
    else
        total.flops = (has_gamma ? 3 : 2) * b * ci * sums +
                      b * (static_cast<double>(g.rows.taps - 1) * first * ho * column_pairs +
                           static_cast<double>(g.columns.taps - 1) * results);
    if (g.bias) total.flops += b * results;
    if (g.form != Form::factor) total.flops += (in_place ? 2 : 1) * b * blocks * results;
    const auto bytes = [](const Spec& spec) {
        return static_cast<double>(spec.size()) * static_cast<double>(size_of(spec.dtype));
    };
    const auto element = static_cast<double>(size_of(problem.in[mu].dtype));
    total.read = bytes(problem.in[mu]);
    // Of the half the diagonal is whole.
    if (has_gamma) total.read += element * b * ci * (g.half_gamma ? (sums + places) / 2 : sums);
    for (const Operand which : {coef, weight_variance})
        if (given(problem.in, which)) total.read += bytes(problem.in[which]);
    if (in_place) total.read += element * b * blocks * results;
    // A fresh output is written whole, its zeros too; an accumulated one only where it changes.
    total.written =
        in_place ? static_cast<double>(size_of(problem.out[0].dtype)) * b * blocks * results : bytes(problem.out[0]);
    return total;
}

std::int64_t terms(const Problem& problem) {
    const Geometry g = geometry(problem);
    return g.channels_in * g.rows.taps * g.columns.taps + (g.bias ? 2 : 1);
}

enum Cut : std::size_t { batch, input_channel, output_row, output_channel };

/// output_channel is offered where every piece is a block of its own: blocks between the channels of different pieces
/// of a full output would be in none (compact() gives the problem without them).
std::vector<Axis> axes(const Problem& problem) {
    const Geometry g = geometry(problem);
    std::vector<Axis> result{{"batch", g.batch}, {"input_channel", g.channels_in}, {"output_row", g.owned.count()}};
    if (g.form == Form::channel_diagonal || g.form == Form::variance)
        result.push_back({"output_channel", g.channels_out});
    return result;
}

Piece cut(const Problem& problem, std::size_t axis, std::int64_t begin, std::int64_t end) {
    const Geometry g = geometry(problem);
    const Range range{begin, end - begin, 1};
    Piece piece;
    piece.problem = problem;
    for (const Spec& spec : problem.in) piece.in.push_back(whole(spec.shape));
    piece.out.push_back(whole(problem.out[0].shape));
    const auto take = [range](Selection& selection, std::size_t of) { selection.axes[of] = range; };
    const auto has = [&](Operand which) { return given(problem.in, which); };
    const std::size_t first = g.vectors > 0 ? 1 : 0;  // of the output's axes, the batch

    // What accumulate or a vector coef told of the whole is said here, for pieces without accumulate.
    Params& params = piece.problem.params;
    params.set("form", std::string(text(g.form)));
    if (g.form != Form::factor) params.set("channels", g.channels_out);

    switch (axis) {
        case batch:
            if (has(gamma)) take(piece.in[gamma], 0);
            take(piece.in[mu], 0);
            if (has(accumulate)) take(piece.in[accumulate], first);
            take(piece.out[0], first);
            break;
        case input_channel:
            if (has(gamma)) take(piece.in[gamma], 1);
            if (has(gamma) && g.full_gamma) take(piece.in[gamma], 4);
            take(piece.in[mu], 1);
            if (has(weight_variance)) take(piece.in[weight_variance], 1);
            piece.adds = true;
            piece.problem.out[0].dtype = arithmetic(op, problem);
            if (begin > 0) {  // what enters the sum once
                piece.problem.in[accumulate].present = false;
                params.set("bias", false);
            }
            break;
        case output_row: {
            const Interval owned{g.owned.begin + begin, g.owned.begin + end};
            params.set("rows", Values{owned.begin, owned.end});
            const Interval needed = g.gamma_rows_of(owned);
            if (has(gamma)) piece.in[gamma].axes[2] = {needed.begin - g.gamma_rows.begin, needed.count(), 1};
            const std::size_t rows = first + (g.form == Form::factor ? 1 : 2);
            if (has(accumulate)) take(piece.in[accumulate], rows);
            take(piece.out[0], rows);
            break;
        }
        case output_channel:
            if (has(weight_variance)) take(piece.in[weight_variance], 0);
            if (has(coef) && !problem.in[coef].shape.empty()) take(piece.in[coef], problem.in[coef].shape.size() - 1);
            if (has(accumulate)) take(piece.in[accumulate], first + 1);
            take(piece.out[0], first + 1);
            params.set("channels", range.count);
            break;
        default:
            throw Error(Category::internal, fmt::format("convcov has no axis {} to cut", axis));
    }
    for (std::size_t i = 0; i < piece.in.size(); ++i)
        if (piece.problem.in[i].present) piece.problem.in[i].shape = shape_of(piece.in[i]);
    piece.problem.out[0].shape = shape_of(piece.out[0]);
    return piece;
}

std::optional<Problem> compact(const Problem& problem) {
    const Geometry g = geometry(problem);
    const bool full_output = g.form == Form::full && g.vectors == 0;  // the blocks of (B, O, Ho, Wo, O, Ho, Wo) alone
    if (!g.full_gamma && !full_output) return {};
    Problem result = problem;
    const auto drop = [](Spec& spec) { spec.shape.erase(spec.shape.begin() + 4); };  // the second channel axis
    if (g.full_gamma) drop(result.in[gamma]);
    if (full_output) {
        if (given(problem.in, accumulate)) drop(result.in[accumulate]);
        drop(result.out[0]);
        result.params.set("form", std::string(text(Form::channel_diagonal)));
    }
    return result;
}

std::vector<AxisOrigin> origins(const Problem& problem) {
    std::vector<std::string> names{"batch", "channel", "row", "column", "channel_2", "row_2", "column_2"};
    const Geometry g = geometry(problem);
    const Form form = g.form;
    if (form == Form::variance) names.resize(4);
    if (form == Form::channel_diagonal || form == Form::factor) names.erase(names.begin() + 4);
    if (form == Form::factor) names.erase(names.begin() + 1);
    const std::size_t first = g.vectors > 0 ? 1 : 0;
    if (first > 0) names.insert(names.begin(), "vector");
    std::vector<AxisOrigin> result;
    for (std::size_t i = 0; i < names.size(); ++i) {
        AxisOrigin origin{.name = names[i]};
        if (given(problem.in, accumulate)) {
            origin.input = accumulate;
            origin.axis = static_cast<int>(i);
        } else if (i == first) {
            origin.input = mu;
            origin.axis = 0;
        } else if (i == 0) {
            origin.input = coef;
            origin.axis = 0;
        }
        result.push_back(origin);
    }
    return result;
}

/// Error (input): the first pair of places, in row-major order, that gamma has two values for.
template <class T>
void check_symmetry(const Geometry& g, const Slab& gammas, int threads) {
    constexpr std::int64_t tile = 64;  // rows of gamma, and of its columns, that stay in the cache
    const std::int64_t width = g.columns.in, begin = g.gamma_rows.begin * width, end = g.gamma_rows.end * width;
    const std::int64_t tiles = (end - begin + tile - 1) / tile;
    const std::int64_t pitch = (g.full_gamma ? g.channels_in : 1) * g.places_in();
    const auto* values = gammas.as<const T>();
    for_blocks(g.batch * g.channels_in * tiles, 1, threads, [&](std::int64_t item, std::int64_t) {
        const std::int64_t b = item / tiles / g.channels_in, c = item / tiles % g.channels_in;
        const Interval rows{begin + item % tiles * tile, std::min(end, begin + (item % tiles + 1) * tile)};
        const std::int64_t first_row = g.gamma_offset(b, c, g.gamma_rows.begin, 0);
        const auto value = [&](std::int64_t x, std::int64_t y) {
            return static_cast<double>(values[first_row + (x - begin) * pitch + y]);
        };
        std::array<std::int64_t, 2> first{end, end};
        for (std::int64_t y0 = rows.begin; y0 < end; y0 += tile)
            for (std::int64_t x = rows.begin; x < rows.end; ++x)
                for (std::int64_t y = std::max(y0, x + 1); y < std::min(y0 + tile, end); ++y) {
                    const double one = value(x, y), other = value(y, x);
                    if (one != other && !(std::isnan(one) && std::isnan(other)))
                        first = std::min(first, std::array{x, y});
                }
        if (first[0] == end) return;
        const auto place = [&](std::size_t which) {
            return fmt::format("({}, {})", first[which] / width, first[which] % width);
        };
        throw Error(Category::input,
                    fmt::format("input gamma is not symmetric: in batch {}, channel {}, place {} with {} has {}, but "
                                "{} with {} has {}; symmetric: none takes gamma as it is",
                                b, c, place(0), place(1), value(first[0], first[1]), place(1), place(0),
                                value(first[1], first[0])),
                    "inputs.gamma");
    });
}

void admit(const Problem& problem, std::span<const Slab> in) {
    if (problem.params.word("symmetric") != "check" || !given(problem.in, gamma)) return;
    with_type<float16, bfloat16, float, double>(problem.in[gamma].dtype, [&]<class T>() {
        check_symmetry<T>(geometry(problem), in[gamma], std::max(1, threads_of(problem.place)));
    });
}

// --- Test cases -----------------------------------------------------------------------------------------------------

enum class Gamma { absent, full, diagonal };
enum class Coef { scalar, vector };

/// What is not plain about the noise, the padding and gamma.
struct Mode {
    std::string padding_mode = "zeros", noise = "programming", symmetric = "none";
    bool bias = false, weights = false;  // weights: weight_variance in place of coef
    std::int64_t vectors = 0;
};

/// A problem of these sizes; the accumulate's shape follows from the rest.
struct Sizes {
    Shape mu;  // (B, C, H, W)
    Value kernel;
    std::int64_t channels = 1;
    Form form = Form::channel_diagonal;
    Gamma gamma = Gamma::diagonal;
    Coef coef = Coef::vector;
    bool accumulate = false;
    Value stride = std::int64_t{1}, dilation = std::int64_t{1}, padding = std::int64_t{0};
    Mode mode = {};
};

Problem made(const Sizes& sizes, DType dtype) {
    Problem problem;
    Params& params = problem.params;
    params.set("kernel", sizes.kernel);
    params.set("stride", sizes.stride);
    params.set("dilation", sizes.dilation);
    params.set("padding", sizes.padding);
    params.set("padding_mode", sizes.mode.padding_mode);
    params.set("noise", sizes.mode.noise);
    params.set("bias", sizes.mode.bias);
    params.set("symmetric", sizes.mode.symmetric);
    params.set("form", std::string(text(sizes.form)));
    if (sizes.form != Form::factor && sizes.coef == Coef::scalar) params.set("channels", sizes.channels);
    const std::int64_t b = sizes.mu[0], c = sizes.mu[1], h = sizes.mu[2], w = sizes.mu[3];
    const Spec absent{DType::float32, {}, false};
    problem.in.assign(5, absent);
    problem.in[mu] = {dtype, sizes.mu};
    if (sizes.gamma == Gamma::full) problem.in[gamma] = {dtype, {b, c, h, w, c, h, w}};
    if (sizes.gamma == Gamma::diagonal) problem.in[gamma] = {dtype, {b, c, h, w, h, w}};
    if (sizes.form != Form::factor && !sizes.mode.weights) {
        problem.in[coef] = {DType::float64, sizes.coef == Coef::scalar ? Shape{} : Shape{sizes.channels}};
        if (sizes.mode.vectors > 0) problem.in[coef].shape = {sizes.mode.vectors, sizes.channels};
    }
    if (sizes.mode.weights) {
        const auto taps = pair(params, "kernel");
        problem.in[weight_variance] = {DType::float64, {sizes.channels, c, taps[0], taps[1]}};
    }
    if (sizes.accumulate)
        problem.in[accumulate] = {dtype, geometry(resolve(op.params, params), problem.in).output_shape()};
    return problem;
}

std::vector<Problem> cases() {
    const auto list = [](auto... values) { return Value(Values{Value(std::int64_t{values})...}); };
    const Value three = std::int64_t{3}, one = std::int64_t{1};
    const Value same = std::string("same"), valid = std::string("valid");
    std::vector<Problem> result;

    // Every form, each layout of gamma, with and without accumulate, in every dtype; Ci != Co, an even kernel side.
    for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        const Shape map{2, 3, 5, 4};
        const Value kernel = list(3, 2);
        for (const Gamma layout : {Gamma::absent, Gamma::full, Gamma::diagonal}) {
            result.push_back(made({map, kernel, 1, Form::factor, layout}, dtype));
            result.push_back(
                made({map, kernel, 2, Form::variance, layout, Coef::vector, layout == Gamma::full}, dtype));
            result.push_back(
                made({map, kernel, 2, Form::channel_diagonal, layout, Coef::scalar, layout == Gamma::full}, dtype));
            result.push_back(made({map, kernel, 2, Form::full, layout, Coef::vector, layout != Gamma::absent}, dtype));
        }
    }

    // Geometry: each with a full accumulate in place and channel-diagonal without.
    struct Shaped {
        Shape map;
        Value kernel, stride, dilation, padding;
    };
    const Shaped shaped[] = {
        {{1, 2, 7, 5}, three, one, one, same},                          // odd kernel, same
        {{1, 2, 5, 6}, list(2, 4), one, one, same},                     // even kernel, same: unequal sides
        {{1, 2, 6, 5}, list(3, 2), list(2, 1), one, list(1, 1)},        // strides per axis
        {{2, 1, 5, 7}, list(2, 3), list(3, 2), one, list(0, 1, 2, 0)},  // unequal padding, stride past the kernel
        {{1, 2, 8, 7}, list(2, 3), one, list(3, 2), valid},             // dilation
        {{1, 1, 6, 6}, list(2, 2), list(2, 3), list(2, 3), list(3, 0, 0, 4)},  // all at once, padding past the kernel
        {{2, 2, 1, 9}, list(1, 3), one, one, list(0, 1)},                      // one row
        {{2, 2, 9, 1}, list(5, 1), list(2, 1), one, list(2, 0)},               // one column
        {{1, 1, 2, 3}, list(1, 1), one, one, list(2, 3)},                      // outputs that are padding alone
    };
    for (const Shaped& shape : shaped) {
        Sizes sizes{shape.map,      shape.kernel,  2, Form::full, Gamma::full, Coef::vector, true, shape.stride,
                    shape.dilation, shape.padding, {}};
        result.push_back(made(sizes, DType::float32));
        sizes.mode.symmetric = "assume";
        result.push_back(made(sizes, DType::float32));
        sizes.form = Form::channel_diagonal;
        sizes.gamma = Gamma::diagonal;
        sizes.accumulate = false;
        sizes.mode.symmetric = "none";
        result.push_back(made(sizes, DType::float32));
        sizes.mode.padding_mode = "circular";  // the last two wrap more than once
        result.push_back(made(sizes, DType::float32));
    }

    // Modes: the noise, its coefficients, the padding, half of gamma; alone and together, in every form that has them.
    const Mode modes[] = {
        {.padding_mode = "circular"},
        {.symmetric = "assume"},
        {.symmetric = "check"},
        {.padding_mode = "circular", .symmetric = "assume"},
        {.noise = "read"},
        {.noise = "read", .symmetric = "assume"},
        {.bias = true},
        {.noise = "read", .bias = true},
        {.weights = true},
        {.noise = "read", .weights = true},
        {.padding_mode = "circular", .symmetric = "assume", .weights = true},
        {.vectors = 1},
        {.bias = true, .vectors = 3},
        {.padding_mode = "circular", .noise = "read", .bias = true, .vectors = 2},
    };
    for (const Mode& mode : modes) {
        Sizes sizes{{2, 3, 5, 3}, list(2, 3), 2,   Form::full,       Gamma::full, Coef::vector,
                    true,         one,        one, list(1, 0, 0, 2), mode};
        result.push_back(made(sizes, DType::float32));
        sizes.accumulate = false;
        result.push_back(made(sizes, DType::float16));
        sizes.gamma = Gamma::diagonal;
        sizes.form = Form::channel_diagonal;
        result.push_back(made(sizes, DType::float64));
        sizes.accumulate = true;
        sizes.stride = list(2, 1);
        result.push_back(made(sizes, DType::bfloat16));
        sizes.form = Form::variance;
        result.push_back(made(sizes, DType::float32));
        sizes.form = Form::factor;
        sizes.accumulate = false;
        if (mode.noise == "programming" && !mode.bias && !mode.weights && mode.vectors == 0)
            result.push_back(made(sizes, DType::float32));
    }
    result.push_back(made({{1, 2, 3, 2},
                           list(2, 3),
                           2,
                           Form::full,
                           Gamma::full,
                           Coef::vector,
                           true,
                           list(2, 1),
                           list(1, 2),
                           list(7, 4, 5, 9),
                           {.padding_mode = "circular"}},
                          DType::float32));
    result.push_back(made({{1501, 2, 1, 1},
                           three,
                           3,
                           Form::channel_diagonal,
                           Gamma::diagonal,
                           Coef::vector,
                           false,
                           one,
                           one,
                           one,
                           {.padding_mode = "circular", .vectors = 2}},
                          DType::float16));

    // Sizes: 1 x 1 maps in a large batch, many channels, the worked example of the README, a map of some tiles.
    result.push_back(
        made({{3001, 2, 1, 1}, one, 3, Form::channel_diagonal, Gamma::diagonal, Coef::vector, true}, DType::float32));
    result.push_back(
        made({{1, 130, 3, 3}, three, 2, Form::full, Gamma::diagonal, Coef::vector, false}, DType::float16));
    result.push_back(made({{2, 3, 9, 9}, three, 3, Form::full, Gamma::full, Coef::scalar, true}, DType::float32));
    result.push_back(made({{1, 1, 3, 23}, list(2, 3), 2, Form::channel_diagonal, Gamma::diagonal, Coef::vector, true},
                          DType::float64));

    // Everything left to its default, the form too.
    Problem plain =
        made({{2, 3, 6, 5}, list(3, 2), 4, Form::channel_diagonal, Gamma::full, Coef::vector, false}, DType::float32);
    plain.params.set("form", Value{});
    result.push_back(plain);
    return result;
}

}  // namespace

const Op op{
    .name = "convcov",
    .doc = "the covariance that noise in the weights adds to the output of a 2-D convolution",
    .inputs =
        {
            {"gamma",
             "covariance of the input map, (B, C, H, W, C, H, W) or its channel-diagonal blocks (B, C, H, W, H, W), "
             "told by the rank; only those blocks are read; absent means zero",
             true},
            {"mu", "mean of the input map, (B, C, H, W)"},
            {"coef",
             "variance of the noise in the weights, a number or one an output channel (O,); 0 leaves its block as "
             "it is; (S, O): S results, along a first axis of cov and accumulate; not for form: factor",
             true, true},
            {"accumulate", "what the result is added to, of the output's shape; its rank tells the form", true},
            {"weight_variance",
             "in place of coef, the variance of each weight's own noise, (O, C, rows, columns) with the rows and "
             "columns of the kernel",
             true, true},
        },
    .outputs = {{"cov", "accumulate + coef * R, where R sums gamma + mu mu over the taps of the kernel", accumulate}},
    .params =
        {
            {"kernel", Kind::integers, std::nullopt, {}, "taps: n or [rows, columns]", positive},
            {"stride", Kind::integers, Value{std::int64_t{1}}, {}, "n or [rows, columns]", positive},
            {"dilation",
             Kind::integers,
             Value{std::int64_t{1}},
             {},
             "distance of the taps: n or [rows, columns]",
             positive},
            {"padding",
             Kind::integers_or_word,
             Value{std::int64_t{0}},
             {"valid", "same"},
             "places around the map: n, [rows, columns], [top, bottom, left, right], valid (none) or same (stride 1 "
             "alone: dilation (kernel - 1) in all, the smaller half at top and left)",
             {0, largest_parameter}},
            {"padding_mode",
             Kind::word,
             Value{std::string("zeros")},
             {"zeros", "circular"},
             "what lies around the map: zeros, or the map again, as often as the padding needs"},
            {"noise",
             Kind::word,
             Value{std::string("programming")},
             {"programming", "read"},
             "programming: drawn once for the map, every pair of places gets coef R; read: drawn anew for every output "
             "place, only a place with itself does"},
            {"bias",
             Kind::boolean,
             Value{false},
             {},
             "a bias of the same noise beside the weights: coef (R + 1) in place of coef R"},
            {"symmetric",
             Kind::word,
             Value{std::string("none")},
             {"none", "assume", "check"},
             "none: gamma is taken as it is; assume: only its pairs of places with the second not before the first "
             "(row-major) are read, and mirrored; check: the same, once gamma is seen to be symmetric"},
            {"form",
             Kind::word,
             Value{},
             {"full", "channel_diagonal", "factor", "variance"},
             "full (B, O, Ho, Wo, O, Ho, Wo), channel_diagonal (B, O, Ho, Wo, Ho, Wo), factor (B, Ho, Wo, Ho, Wo) = R, "
             "variance (B, O, Ho, Wo); default: accumulate's, else channel_diagonal"},
            {"channels",
             Kind::integer,
             Value{},
             {},
             "output channels O, where neither coef nor accumulate tells",
             positive},
            {"rows", Kind::integers, Value{}, {}, "output rows [begin, end) of a piece", {}, true},
        },
    .infer = infer,
    .cost = cost,
    .terms = terms,
    .rule = [](const Problem&) { return Rule::accumulated; },
    .prefer = [](const Problem&) -> std::vector<std::string_view> {
        return {"factored", "thread_per_output", "loop"};
    },
    .axes = axes,
    .cut = cut,
    .reference = reference,
    .cases = cases,
    .properties = properties,
    .compact = compact,
    .origins = origins,
    .admit = admit,
};

}  // namespace gridstride::convcov
