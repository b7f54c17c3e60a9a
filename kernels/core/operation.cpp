// SPDX-License-Identifier: BSD-3-Clause
// Posing a problem: parameters resolved, output Specs inferred, the arithmetic type found.
#include "core/operation.hpp"

#include <fmt/format.h>

namespace gridstride {

DType common_type(const Op& op, std::span<const Spec> in) {
    std::optional<DType> common;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].present || op.inputs[i].own_dtype) continue;
        common = common ? result_type(*common, in[i].dtype) : in[i].dtype;
    }
    if (!common) throw Error(Category::internal, "no input has a dtype");
    return *common;
}

DType arithmetic(const Op& op, const Problem& problem) {
    const DType type = result_type(common_type(op, problem.in), problem.out[0].dtype);
    return is_half(type) ? DType::float32 : type;
}

DType output_type(DType natural, std::optional<DType> asked) {
    if (asked && is_complex(natural) && !is_complex(*asked))
        throw Error(Category::config,
                    fmt::format("the result is {}: it does not convert to {}; complex64 or complex128 would do",
                                name(natural), name(*asked)),
                    "result_dtype");
    return asked.value_or(natural);
}

Problem pose(const Op& op, Params given, std::vector<Spec> in, std::optional<DType> result, Place place) {
    Problem problem;
    problem.params = resolve(op.params, given);
    problem.out = op.infer(problem.params, in, result);
    problem.in = std::move(in);
    problem.place = place;
    return problem;
}

Selection diagonal(const Shape& full, std::int64_t channel) {
    Selection block = whole(full);
    block.axes[1] = {channel, 1, 1};
    block.axes[4] = {channel, 1, 1};
    return block;
}

}  // namespace gridstride
