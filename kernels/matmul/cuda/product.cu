// SPDX-License-Identifier: BSD-3-Clause
// The steps around the CUDA kernels of matmul.
#include "matmul/cuda/product.cuh"

#include <algorithm>
#include <cmath>

namespace gridstride::matmul::cuda {

namespace {

using gridstride::cuda::ceil_div;
using std::int64_t;

std::size_t bytes_of(DType type, const Spec& spec) {
    return rounded_up(static_cast<std::size_t>(spec.size()) * size_of(type));
}

/// Bytes of converted copies in the workspace; 0: the tensor itself serves.
struct Copies {
    std::size_t a = 0, b = 0, c = 0, out = 0;
    std::size_t all() const { return a + b + c + out; }
};

Copies copies_of(const Problem& problem, DType element, bool covers) {
    const Layout posed = layout(problem.params, problem.in);
    Copies copies;
    if (posed.reads_product()) {
        if (problem.in[0].dtype != element) copies.a = bytes_of(element, problem.in[0]);
        if (problem.in[1].dtype != element) copies.b = bytes_of(element, problem.in[1]);
    }
    if (posed.reads_c() && (problem.in[2].dtype != element || !covers)) copies.c = bytes_of(element, problem.in[2]);
    if (problem.out[0].dtype != element) copies.out = bytes_of(element, problem.out[0]) + 256;  // store_results' int64
    return copies;
}

}  // namespace

elementwise::Nest batch_nest(const Problem& problem, const Layout& layout) {
    std::vector<Spec> operands;
    int64_t matrix[2] = {1, 1};  // elements of one matrix
    for (std::size_t i = 0; i < 2; ++i) {
        Shape shape = problem.in[i].shape;
        for (int axis = 0; axis < 2 && !shape.empty(); ++axis) {
            matrix[i] *= shape.back();
            shape.pop_back();
        }
        operands.push_back({problem.in[i].dtype, shape});
    }
    elementwise::Nest nest = elementwise::collapse(layout.batch, operands);
    for (std::size_t i = 0; i < 2; ++i)
        for (int64_t& stride : nest.strides[i]) stride *= matrix[i];
    return nest;
}

Product product_of(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const elementwise::Nest nest = batch_nest(problem, posed);
    if (nest.extents.size() > most_axes)
        throw Error(Category::config, "more than 8 batch axes that do not merge", "inputs.a");
    Product p;
    p.batches = posed.batches;
    p.m = posed.m;
    p.n = posed.n;
    if (posed.reads_product()) {
        p.k = posed.k;
        p.alpha = {posed.alpha.real(), posed.alpha.imag()};
    } else {
        p.alpha = 0;
    }
    p.beta = {posed.beta.real(), posed.beta.imag()};
    p.batch_rank = static_cast<int>(nest.extents.size());
    std::copy(nest.extents.begin(), nest.extents.end(), p.batch_extents);
    const auto matrix = [&](const Operand& x, const Shape& batch_strides) {
        Matrix result;
        result.row_stride = x.row_stride();
        result.column_stride = x.column_stride();
        std::copy(batch_strides.begin(), batch_strides.end(), result.batch_strides);
        result.conjugate = x.conjugate;
        result.rows_adjacent = x.transposed ? x.leading > 1 : x.leading == 1;
        return result;
    };
    p.a = matrix(posed.a, nest.strides[0]);
    p.b = matrix(posed.b, nest.strides[1]);
    return p;
}

DType element_type(const Problem& problem) {
    const DType in = problem.in[0].dtype, sums = matmul::accumulator(problem);
    const DType own = is_half(in) ? DType::float32 : in;
    return own == sums && problem.out[0].dtype == in ? in : sums;
}

Plan plan(const Problem& problem, DType element, bool covers, Run run, std::size_t scratch) {
    const Copies copies = copies_of(problem, element, covers);
    const bool reads_c = layout(problem.params, problem.in).reads_c();
    Plan plan;
    plan.workspace = copies.all() + scratch;
    plan.words = "sums in " + std::string(name(matmul::accumulator(problem)));
    plan.step = [=, out = problem.out[0]](const Call& call) {
        if (out.size() == 0) return;
        const cudaStream_t stream = gridstride::cuda::raw(call.stream);
        std::byte* next = call.workspace;
        const auto take = [&](std::size_t bytes) {
            std::byte* const part = next;
            next += bytes;
            return part;
        };
        const auto given = [&](std::size_t i, std::size_t bytes) -> const std::byte* {
            const Slab& x = call.in[i];
            if (bytes == 0) return x.data;
            std::byte* const copy = take(bytes);
            if (x.spec.dtype != element)
                gridstride::cuda::convert(x.spec.dtype, x.data, element, copy, x.spec.size(), nullptr, call.stream);
            else
                gridstride::cuda::check(
                    cudaMemcpyAsync(copy, x.data, x.spec.bytes(), cudaMemcpyDeviceToDevice, stream));
            return copy;
        };
        Buffers buffers;
        buffers.stream = call.stream;
        buffers.a = given(0, copies.a);
        buffers.b = given(1, copies.b);
        if (reads_c) buffers.c = given(2, copies.c);
        buffers.out = copies.out > 0 ? take(copies.out) : call.out[0].data;
        buffers.scratch = next;
        if (!covers)  // all bits set is NaN in every float type
            gridstride::cuda::check(
                cudaMemsetAsync(buffers.out, 0xFF, static_cast<std::size_t>(out.size()) * size_of(element), stream));
        run(buffers);
        if (copies.out > 0)
            gridstride::cuda::store_results("matmul", element, buffers.out, out, call.out[0].data,
                                            reinterpret_cast<std::int64_t*>(buffers.out + copies.out - 256),
                                            call.stream);
    };
    return plan;
}

std::size_t memory(const Problem& problem, DType element) {
    return copies_of(problem, element, true).all();
}

std::string refusal(const Problem& problem, const void* kernel, std::size_t rank, std::int64_t work_x,
                    std::int64_t block_x) {
    if (batch_nest(problem, layout(problem.params, problem.in)).extents.size() > most_axes)
        return "more than 8 batch axes that do not merge";
    const Launch& launch = problem.launch;
    if (std::string why = gridstride::cuda::launch_refusal(problem, kernel, rank, 0); !why.empty()) return why;
    const int64_t block = launch.block.empty() ? block_x : launch.block[0];
    if (launch.grid.empty() && ceil_div(work_x, block) > most_x)
        return "blocks of " + std::to_string(block) + " threads in x: " + std::to_string(ceil_div(work_x, block)) +
               " would cover the output, a grid has at most " + std::to_string(most_x);
    return {};
}

Shapes shapes_1d(const Problem& problem, std::int64_t work, unsigned threads) {
    const Launch& launch = problem.launch;
    Shapes result;
    result.block = launch.block.empty() ? dim3(threads) : gridstride::cuda::dim3_of(launch.block);
    result.grid = launch.grid.empty() ? dim3(static_cast<unsigned>(ceil_div(work, result.block.x)))
                                      : gridstride::cuda::dim3_of(launch.grid);
    result.covers = static_cast<int64_t>(result.grid.x) * result.block.x >= work;
    return result;
}

Shapes shapes_2d(const Problem& problem, const Product& p, dim3 block) {
    const Launch& launch = problem.launch;
    Shapes result;
    result.block = launch.block.empty() ? block : gridstride::cuda::dim3_of(launch.block);
    const int64_t columns = ceil_div(p.n, result.block.x), rows = ceil_div(p.m, result.block.y);
    result.grid = launch.grid.empty()
                      ? dim3(static_cast<unsigned>(columns), static_cast<unsigned>(std::min(rows, most_yz)))
                      : gridstride::cuda::dim3_of(launch.grid);
    result.grid.z = static_cast<unsigned>(std::min(p.batches, most_yz));
    const bool loops = launch.grid.empty() || rows > most_yz;
    result.row_step = loops ? static_cast<int64_t>(result.grid.y) * result.block.y : p.m;
    result.covers = result.grid.x >= columns && (loops || result.grid.y >= rows);
    return result;
}

double growth(const Problem&, std::int64_t n) {
    return std::sqrt(static_cast<double>(n));
}

}  // namespace gridstride::matmul::cuda
