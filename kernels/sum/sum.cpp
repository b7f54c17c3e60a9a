// SPDX-License-Identifier: BSD-3-Clause
// sum: s = the sum of x over some of its axes.
#include "sum/sum.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gridstride::sum {

std::vector<bool> summed_axes(const Params& params, const Shape& x) {
    if (!params.has("axes")) return std::vector<bool>(x.size(), true);
    if (const auto given = params.integers("axes"); x.empty() && !given.empty())
        throw Error(Category::config,
                    fmt::format("axes: x is a scalar and has no axis {}; leave axes out, or []", given[0]),
                    "params.axes");
    std::vector<bool> summed(x.size(), false);
    for (const std::size_t axis : axes_of(params, x)) summed[axis] = true;
    return summed;
}

namespace {

std::vector<Spec> infer(const Params& params, std::span<const Spec> in, std::optional<DType> result) {
    const DType type = output_type(is_integer(in[0].dtype) ? DType::int64 : in[0].dtype, result);
    const std::vector<bool> summed = summed_axes(params, in[0].shape);
    Shape shape;
    for (std::size_t i = 0; i < summed.size(); ++i) {
        if (!summed[i])
            shape.push_back(in[0].shape[i]);
        else if (params.boolean("keepdims"))
            shape.push_back(1);
    }
    count(shape);  // x may be empty where the output is too large
    return {{type, shape}};
}

Cost cost(const Problem& problem) {
    return {.flops = static_cast<double>(problem.in[0].size()) * (is_complex(problem.in[0].dtype) ? 2 : 1),
            .read = static_cast<double>(problem.in[0].bytes()),
            .written = static_cast<double>(problem.out[0].bytes())};
}

std::int64_t terms(const Problem& problem) {
    const std::int64_t outputs = problem.out[0].size();
    return outputs == 0 ? 1 : std::max<std::int64_t>(1, problem.in[0].size() / outputs);
}

Rule rule(const Problem& problem) {
    return is_integer(arithmetic(op, problem)) ? Rule::rounded : Rule::accumulated;
}

std::vector<std::string_view> prefer(const Problem&) {
    return {"block_tree", "loop"};
}

std::vector<Axis> axes(const Problem& problem) {
    std::vector<Axis> result;
    const Shape& shape = problem.in[0].shape;
    for (std::size_t i = 0; i < shape.size(); ++i) result.push_back({fmt::format("axis_{}", i), shape[i]});
    return result;
}

Piece cut(const Problem& problem, std::size_t axis, std::int64_t begin, std::int64_t end) {
    const std::vector<bool> summed = summed_axes(problem.params, problem.in[0].shape);
    Piece piece{problem, {whole(problem.in[0].shape)}, {whole(problem.out[0].shape)}};
    piece.in[0].axes[axis] = {begin, end - begin};
    piece.problem.in[0].shape[axis] = end - begin;
    if (summed[axis]) {
        piece.adds = true;
        piece.problem.out[0].dtype = arithmetic(op, problem);
        return piece;
    }
    const bool keepdims = problem.params.boolean("keepdims");
    const auto before =
        static_cast<std::size_t>(std::count(summed.begin(), summed.begin() + static_cast<std::ptrdiff_t>(axis), true));
    const std::size_t place = keepdims ? axis : axis - before;
    piece.out[0].axes[place] = {begin, end - begin};
    piece.problem.out[0].shape[place] = end - begin;
    return piece;
}

std::vector<AxisOrigin> origins(const Problem& problem) {
    const std::vector<bool> summed = summed_axes(problem.params, problem.in[0].shape);
    std::vector<AxisOrigin> result;
    for (std::size_t i = 0; i < summed.size(); ++i) {
        if (!summed[i])
            result.push_back({.name = {}, .input = 0, .axis = static_cast<int>(i)});
        else if (problem.params.boolean("keepdims"))
            result.push_back({});
    }
    return result;
}

std::vector<Problem> cases() {
    const std::vector<std::pair<Shape, std::vector<Value>>> asked = {
        // an empty Value: all axes
        {{}, {Value{}, Values{}}},
        {{0}, {Value{}, Values{}, 0}},
        {{1}, {Value{}, Values{}, -1}},
        {{3, 0, 5}, {Value{}, 0, 1, 2, Values{0, 1}, Values{}}},
        {{7}, {Value{}, Values{}}},
        {{33}, {0}},
        {{5, 7}, {Value{}, 0, 1, Values{}}},
        {{2, 1023}, {0, 1}},
        {{1023, 2}, {0, 1}},
        {{4097}, {Value{}}},
        {{4, 1, 9}, {1, Values{0, 1}, Values{-1, 0}}},
        {{9, 5, 6, 3, 7},
         {0, 1, 2, 3, 4, Values{0, 2, 4}, Values{1, 3}, Values{-1, 0}, Values{3, 2}, Values{0, 1, 2, 3}, Value{}}},
        {{3, 601}, {0}},
        {{259, 601}, {0, 1}},
        {{40009, 3}, {0, 1}},
        {{100003}, {Value{}}}};
    std::vector<Problem> result;
    for (const DType dtype : all_dtypes)
        for (const auto& [shape, variants] : asked)
            for (const Value& value : variants)
                for (const bool keepdims : {false, true}) {
                    Problem problem;
                    problem.in = {{dtype, shape}};
                    if (!value.empty()) problem.params.set("axes", value);
                    problem.params.set("keepdims", keepdims);
                    result.push_back(std::move(problem));
                }
    return result;
}

}  // namespace

const Op op{
    .name = "sum",
    .doc = "s = the sum of x over some of its axes; of integers int64",
    .inputs = {{.name = "x", .doc = "any shape, any dtype"}},
    .outputs = {{.name = "s", .doc = "the shape of x without the summed axes"}},
    .params = {{.name = "axes",
                .kind = Kind::integers,
                .otherwise = Value{},
                .words = {},
                .doc = "the axes to sum over, counted from the end where negative; all by default, [] sums nothing"},
               {.name = "keepdims",
                .kind = Kind::boolean,
                .otherwise = false,
                .words = {},
                .doc = "summed axes stay, with length 1"}},
    .integers = true,
    .infer = infer,
    .cost = cost,
    .terms = terms,
    .rule = rule,
    .prefer = prefer,
    .axes = axes,
    .cut = cut,
    .reference = reference,
    .cases = cases,
    .origins = origins,
    .keeps_units = true,
};

}  // namespace gridstride::sum
