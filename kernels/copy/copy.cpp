// SPDX-License-Identifier: BSD-3-Clause
// copy: y = x. Moves bits where the dtypes agree, converts where `result_dtype` says another.
#include "copy/copy.hpp"

#include "core/elementwise.hpp"

namespace gridstride::copy {

namespace {

std::vector<Spec> infer(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    return elementwise::infer(op, in, result);
}

Rule rule(const Problem&) {
    return Rule::rounded;
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
    .terms = elementwise::terms,
    .rule = rule,
    .prefer = elementwise::prefer,
    .axes = elementwise::axes,
    .cut = elementwise::cut,
    .reference = reference,
    .cases = [] { return elementwise::cases(1); },
    .origins = elementwise::origins,
    .keeps_units = true,
};

}  // namespace gridstride::copy
