// SPDX-License-Identifier: BSD-3-Clause
// The steps around the CUDA kernels of convcov, and the kernel for what lies between channels in form full: a block of
// threads takes a row, the O P elements behind one (b, o, i, j), and writes all but the P of channel o itself. Bytes:
// each of them written once (and read from accumulate, where there is one elsewhere). Limited by memory bandwidth.
#include <algorithm>

#include "convcov/cuda/output.cuh"

namespace gridstride::convcov::cuda {

namespace {

constexpr unsigned threads = 256;

/// places: (i, j) of one (b, o); rows: all (b, o, i, j), of every coefficient vector.
template <class T, class U>
__global__ void between_channels_kernel(Arrays<T, U> arrays, std::int64_t rows, std::int64_t places,
                                        std::int64_t channels, std::int64_t pairs) {
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const std::int64_t o = row / places % channels, begin = row * channels * pairs;
        for (std::int64_t k = threadIdx.x; k < channels * pairs; k += blockDim.x)
            if (k < o * pairs || k >= (o + 1) * pairs) arrays.keep(begin + k);
    }
}

/// Must coef or weight_variance be converted to the accumulator's type before a kernel reads it?
bool is_converted(Operand which, DType from, DType accumulator) {
    return from != accumulator && !(which == coef && from == DType::float64);
}

/// Bytes of coef or weight_variance in the accumulator's type; 0 where it is read as it is, or absent.
std::size_t converted_bytes(const Problem& problem, Operand which) {
    if (!given(problem.in, which)) return 0;
    const Spec& spec = problem.in[which];
    const DType type = arithmetic(op, problem);
    if (!is_converted(which, spec.dtype, type)) return 0;
    return (static_cast<std::size_t>(spec.size()) * size_of(type) + 255) / 256 * 256;
}

}  // namespace

Sizes sizes_of(const Problem& problem) {
    const Geometry g = geometry(problem);
    const auto axis = [](const Window& w) { return Axis{w.in, w.taps, w.stride, w.dilation, w.before, w.circular}; };
    Sizes s;
    s.batch = g.batch;
    s.rows = axis(g.rows);
    s.columns = axis(g.columns);
    s.channels_in = g.channels_in;
    s.channels_out = g.channels_out;
    s.first_row = g.owned.begin;
    s.owned_rows = g.owned.count();
    s.columns_out = g.columns.out;
    s.full = g.form == Form::full;
    s.variance = g.form == Form::variance;
    s.pairs = s.variance ? 1 : g.places_out();
    s.outputs =
        std::max<std::int64_t>(g.vectors, 1) * g.batch * g.channels_out * s.owned_rows * s.columns_out * s.pairs;
    s.read = g.noise == Noise::read;
    s.bias = g.bias;
    s.half_gamma = g.half_gamma;
    // gamma[b, c, r, q, (c,) r', q']: the second c, in the full layout, steps over one map.
    s.gamma_column = (g.full_gamma ? g.channels_in : 1) * g.places_in();
    s.gamma_row = g.columns.in * s.gamma_column;
    s.gamma_batch = g.channels_in * g.gamma_rows.count() * s.gamma_row;
    s.gamma_channel = g.gamma_rows.count() * s.gamma_row + (g.full_gamma ? g.places_in() : 0);
    s.gamma_first_row = g.gamma_rows.begin;
    s.coef_stride = problem.in[coef].shape.empty() ? 0 : 1;
    return s;
}

Plan plan(const Problem& problem, Launch launch) {
    Plan plan;
    if (problem.out[0].size() == 0) {
        plan.step = [](const Call&) {};
        return plan;
    }
    plan.workspace = memory(problem);
    const Sizes s = sizes_of(problem);
    const bool has_between = s.full && s.channels_out > 1;
    const auto settle = typed(problem, [&]<class T, class U>() -> Launch {
        const std::int64_t rows = s.outputs / s.pairs, places = s.owned_rows * s.columns_out;
        const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, 0x7FFFFFFF));
        return [=](const Pointers& pointers, Stream stream) {
            between_channels_kernel<T, U><<<blocks, threads, 0, gridstride::cuda::raw(stream)>>>(
                pointers.as<T, U>(), rows, places, s.channels_out, s.pairs);
            gridstride::cuda::check_launch();
        };
    });
    plan.step = [=, in = problem.in, type = arithmetic(op, problem), coef_bytes = converted_bytes(problem, coef),
                 own = plan.workspace](const Call& call) {
        const auto data = [&](Operand which) -> const std::byte* {
            return given(in, which) ? call.in[which].data : nullptr;
        };
        const auto converted = [&](Operand which, std::byte* target) -> const std::byte* {
            if (!given(in, which) || !is_converted(which, in[which].dtype, type)) return data(which);
            gridstride::cuda::convert(in[which].dtype, data(which), type, target, in[which].size(), nullptr,
                                      call.stream);
            return target;
        };
        const Pointers pointers{data(gamma),
                                data(mu),
                                data(accumulate),
                                converted(coef, call.workspace),
                                converted(weight_variance, call.workspace + coef_bytes),
                                given(in, coef) && in[coef].dtype == DType::float64,
                                call.out[0].data,
                                call.workspace + own};
        const bool in_place = pointers.before == pointers.out;
        if (has_between && !in_place) settle(pointers, call.stream);
        launch(pointers, call.stream);
    };
    return plan;
}

std::size_t memory(const Problem& problem) {
    return converted_bytes(problem, coef) + converted_bytes(problem, weight_variance);
}

}  // namespace gridstride::convcov::cuda
