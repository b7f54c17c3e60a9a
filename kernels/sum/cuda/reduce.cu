// SPDX-License-Identifier: BSD-3-Clause
// The steps around the CUDA kernels of sum.
#include "sum/cuda/reduce.cuh"

namespace gridstride::sum::cuda {

namespace {

void append(Digits& digits, std::int64_t extent, std::int64_t stride) {
    if (extent == 1) return;
    if (digits.rank > 0 && digits.strides[digits.rank - 1] == extent * stride) {  // the two step as one
        digits.extents[digits.rank - 1] *= extent;
        digits.strides[digits.rank - 1] = stride;
        return;
    }
    if (digits.rank == static_cast<int>(most_axes))
        throw Error(Category::config, "more than 8 axes that do not merge", "params.axes");
    digits.extents[digits.rank] = extent;
    digits.strides[digits.rank++] = stride;
}

std::size_t rounded_up(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

}  // namespace

Terms terms_of(const Problem& problem) {
    const Shape& shape = problem.in[0].shape;
    const std::vector<bool> summed = summed_axes(problem.params, shape);
    const Shape strides = row_major_strides(shape);
    Terms terms;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        append(summed[axis] ? terms.summed : terms.kept, shape[axis], strides[axis]);
        (summed[axis] ? terms.terms : terms.outputs) *= shape[axis];
    }
    return terms;
}

DType accumulator_type(const Problem& problem) {
    return arithmetic(op, problem);
}

DType element_type(const Problem& problem) {
    const DType in = problem.in[0].dtype, type = accumulator_type(problem);
    const DType own = is_half(in) ? DType::float32 : in == DType::int32 ? DType::int64 : in;
    return own == type ? in : type;
}

Plan plan(const Problem& problem, Launch launch, std::size_t scratch) {
    const Spec in = problem.in[0], out = problem.out[0];
    const DType element = element_type(problem), type = accumulator_type(problem);
    const std::size_t converted =
        element == in.dtype ? 0 : rounded_up(static_cast<std::size_t>(in.size()) * size_of(element));
    const std::size_t sums =
        out.dtype == type ? 0 : rounded_up(static_cast<std::size_t>(out.size()) * size_of(type)) + 256;
    Plan plan;
    plan.workspace = converted + sums + scratch;
    plan.step = [=](const Call& call) {
        if (out.size() == 0) return;
        const std::byte* x = call.in[0].data;
        if (converted > 0) {
            gridstride::cuda::convert(in.dtype, x, element, call.workspace, in.size(), nullptr, call.stream);
            x = call.workspace;
        }
        std::byte* s = sums > 0 ? call.workspace + converted : call.out[0].data;
        gridstride::cuda::check(cudaMemsetAsync(s, 0, static_cast<std::size_t>(out.size()) * size_of(type),
                                                gridstride::cuda::raw(call.stream)));
        if (in.size() > 0) launch(x, s, call.workspace + converted + sums, call.stream);
        if (sums > 0)
            gridstride::cuda::store_results("sum", type, s, out, call.out[0].data,
                                            reinterpret_cast<std::int64_t*>(s + sums - 256), call.stream);
    };
    return plan;
}

std::size_t memory(const Problem& problem) {
    const DType element = element_type(problem), type = accumulator_type(problem);
    std::size_t bytes = 0;
    if (element != problem.in[0].dtype)
        bytes += rounded_up(static_cast<std::size_t>(problem.in[0].size()) * size_of(element));
    if (problem.out[0].dtype != type)
        bytes += rounded_up(static_cast<std::size_t>(problem.out[0].size()) * size_of(type)) + 256;
    return bytes;
}

}  // namespace gridstride::sum::cuda
