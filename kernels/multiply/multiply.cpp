// SPDX-License-Identifier: BSD-3-Clause
// multiply: z = x y, elementwise, with NumPy's broadcasting.
#include "multiply/multiply.hpp"

#include "core/elementwise.hpp"

namespace gridstride::multiply {

namespace {

std::vector<Spec> infer(const Params&, std::span<const Spec> in, std::optional<DType> result) {
    return elementwise::infer(op, in, result);
}

Cost cost(const Problem& problem) {
    Cost cost = elementwise::traffic(problem);
    cost.flops = static_cast<double>(problem.out[0].size()) * (is_complex(arithmetic(op, problem)) ? 6 : 1);
    return cost;
}

Rule rule(const Problem& problem) {  // the parts of a complex product are sums of two rounded products
    return is_complex(arithmetic(op, problem)) ? Rule::accumulated : Rule::rounded;
}

}  // namespace

const Op op{
    .name = "multiply",
    .doc = "z = x y, elementwise, with NumPy's broadcasting",
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
};

}  // namespace gridstride::multiply
