// SPDX-License-Identifier: BSD-3-Clause
// add: z = x + y, elementwise, with NumPy's broadcasting.
#include "add/add.hpp"

#include "core/elementwise.hpp"

namespace gridstride::add {

namespace {

std::vector<Spec> infer(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    return elementwise::infer(op, in, result);
}

Cost cost(const Problem& problem) {
    Cost cost = elementwise::traffic(problem);
    cost.flops = static_cast<double>(problem.out[0].size()) * (is_complex(arithmetic(op, problem)) ? 2 : 1);
    return cost;
}

Rule rule(const Problem&) {
    return Rule::rounded;
}

}  // namespace

const Op op{
    .name = "add",
    .doc = "z = x + y, elementwise, with NumPy's broadcasting",
    .inputs = {{.name = "x", .doc = "any shape, any dtype"}, {.name = "y", .doc = "a shape that broadcasts with x's"}},
    .outputs = {{.name = "z", .doc = "the broadcast shape"}},
    .params = {},
    .integers = true,
    .infer = infer,
    .cost = cost,
    .terms = elementwise::terms,
    .rule = rule,
    .prefer = elementwise::prefer,
    .axes = elementwise::axes,
    .cut = elementwise::cut,
    .reference = reference,
    .cases = [] { return elementwise::cases(2); },
    .origins = elementwise::origins,
    .keeps_units = true,
};

}  // namespace gridstride::add
