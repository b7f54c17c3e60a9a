// SPDX-License-Identifier: BSD-3-Clause
// copy: y = x. Moves bits where the dtypes agree, converts where `result_dtype` says another.
#include "copy/copy.hpp"

#include "core/elementwise.hpp"

namespace gridstride::copy {

namespace {

std::vector<Spec> infer(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    return elementwise::infer(op, in, result);
}

std::int64_t terms(const Problem&) {
    return 1;
}

Rule rule(const Problem&) {
    return Rule::rounded;
}

std::vector<std::string_view> prefer(const Problem&) {
    return {"grid_stride", "loop"};
}

std::vector<Problem> cases() {
    std::vector<Problem> result;
    for (const DType dtype : all_dtypes)
        for (const std::vector<Shape>& shapes : elementwise::broadcasting_shapes()) {
            Problem problem;
            problem.in = {{dtype, shapes[0]}};
            result.push_back(problem);
        }
    return result;
}

}  // namespace

const Op op{
    .name = "copy",
    .doc = "y = x, bit for bit; with result_dtype, converted",
    .inputs = {{.name = "x", .doc = "any shape, any dtype"}},
    .outputs = {{.name = "y", .doc = "the shape of x"}},
    .params = {},
    .integers = true,
    .infer = infer,
    .cost = elementwise::traffic,
    .terms = terms,
    .rule = rule,
    .prefer = prefer,
    .axes = elementwise::axes,
    .cut = elementwise::cut,
    .reference = reference,
    .cases = cases,
    .origins = elementwise::origins,
    .keeps_units = true,
};

}  // namespace gridstride::copy
