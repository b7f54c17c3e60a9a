// SPDX-License-Identifier: BSD-3-Clause
// The steps around the direct CUDA kernels of dft.
#include "dft/cuda/passes.cuh"

#include <cmath>

namespace gridstride::dft::cuda {

namespace {

using std::int64_t;

std::size_t padded(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/// exp(2 pi i j / n): the angle is reduced to a quarter turn, then to an eighth, in integers.
std::complex<long double> root(int64_t j, int64_t n) {
    constexpr long double half_pi = 1.57079632679489661923132169163975144L;
    const int64_t quarter = 4 * j / n, rest = 4 * j % n;  // the angle is quarter + rest / n quarter turns
    const bool beyond = 2 * rest > n;                     // an eighth: measured back from the quarter's end
    const long double angle =
        half_pi * static_cast<long double>(beyond ? n - rest : rest) / static_cast<long double>(n);
    const long double near = std::cos(angle), far = std::sin(angle);
    const long double c = beyond ? far : near, s = beyond ? near : far;
    switch (quarter) {
        case 0:
            return {c, s};
        case 1:
            return {-s, c};
        case 2:
            return {-c, -s};
        default:
            return {s, -c};
    }
}

}  // namespace

Work work(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in[0]);
    Work result;
    result.x = problem.in[0];
    result.out = problem.out[0];
    result.to = posed.form == Form::real ? To::samples : posed.form == Form::power ? To::power : To::spectrum;
    result.real = real_of(arithmetic(op, problem));

    Shape shape = result.x.shape;  // of what the next pass reads
    std::vector<std::size_t> order = posed.axes;
    if (posed.form != Form::real) std::reverse(order.begin(), order.end());
    std::size_t sizes[2] = {};
    for (std::size_t p = 0; p < order.size(); ++p) {
        const std::size_t axis = order[p];
        const auto at =
            static_cast<std::size_t>(std::find(posed.axes.begin(), posed.axes.end(), axis) - posed.axes.begin());
        Pass pass;
        pass.length = posed.lengths[at];
        pass.extent = shape[axis];
        pass.entering = posed.entering(result.x.shape, axis);
        pass.bins = posed.out[axis];
        pass.outer = count(Shape(shape.begin(), shape.begin() + static_cast<int64_t>(axis)));
        pass.inner = count(Shape(shape.begin() + static_cast<int64_t>(axis) + 1, shape.end()));
        pass.inverse = posed.inverse;
        if (p + 1 == order.size()) pass.factor = static_cast<double>(posed.factor);
        shape[axis] = pass.bins;
        if (p + 1 < order.size())
            sizes[p % 2] = std::max(sizes[p % 2], padded(Spec{complex_of(result.real), shape}.bytes()));
        result.passes.push_back(pass);
    }

    // The kernels read the arithmetic's own real and complex types; a half spectrum is complex.
    result.taken = is_complex(result.x.dtype) || result.to == To::samples ? complex_of(result.real) : result.real;
    result.made = result.to == To::spectrum ? complex_of(result.real) : result.real;
    result.loads = result.x.dtype != result.taken;
    result.converts = result.out.dtype != result.made;
    result.partial = !problem.launch.grid.empty();
    if (result.loads) result.workspace += padded(Spec{result.taken, result.x.shape}.bytes());
    for (std::size_t i = 0; i < 2; ++i) {
        result.between[i] = result.workspace;
        result.workspace += sizes[i];
    }
    result.result = result.workspace;
    if (result.converts) result.workspace += padded(Spec{result.made, result.out.shape}.bytes());

    result.words = std::to_string(order.size()) + (order.size() == 1 ? " pass in " : " passes in ");
    result.words += name(result.real);
    if (result.loads) {
        result.words += ", ";
        result.words += name(result.x.dtype);
        result.words += " promoted to ";
        result.words += name(result.taken);
    }
    return result;
}

Plan plan(const Work& work, Enqueue enqueue) {
    Plan plan;
    plan.workspace = work.workspace;
    plan.words = work.words;
    plan.step = [work, enqueue = std::move(enqueue)](const Call& call) {
        if (work.out.size() == 0) return;
        const cudaStream_t stream = gridstride::cuda::raw(call.stream);
        const std::byte* from = call.in[0].data;
        if (work.loads) {
            gridstride::cuda::convert(work.x.dtype, from, work.taken, call.workspace + work.loaded, work.x.size(),
                                      nullptr, call.stream);
            from = call.workspace + work.loaded;
        }
        std::byte* const result = work.converts ? call.workspace + work.result : call.out[0].data;
        if (work.converts && work.partial)  // all bits set is a NaN
            gridstride::cuda::check(
                cudaMemsetAsync(result, 0xFF, static_cast<std::size_t>(work.out.size()) * size_of(work.made), stream));
        for (std::size_t p = 0; p < work.passes.size(); ++p) {
            const bool last = p + 1 == work.passes.size();
            std::byte* const to = last ? result : call.workspace + work.between[p % 2];
            if (work.passes[p].outputs() > 0) enqueue(p, from, to, stream);
            from = to;
        }
        if (work.converts)
            gridstride::cuda::convert(work.made, result, work.out.dtype, call.out[0].data, work.out.size(), nullptr,
                                      call.stream);
    };
    return plan;
}

std::shared_ptr<const Tensor> roots(int64_t length, bool inverse, DType real, int device) {
    Tensor table({complex_of(real), {length}}, Memory::device, device);
    with_type<complex64, complex128>(complex_of(real), [&]<class T>() {
        using R = typename T::value_type;
        std::vector<T> values(static_cast<std::size_t>(length));
        for (int64_t j = 0; j < length; ++j) {
            const std::complex<long double> value = root(j, length);
            values[static_cast<std::size_t>(j)] = {static_cast<R>(value.real()),
                                                   static_cast<R>(inverse ? value.imag() : -value.imag())};
        }
        gridstride::cuda::check(
            cudaMemcpy(table.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
        gridstride::cuda::check(cudaStreamSynchronize(nullptr));  // streams of the engine do not wait for this one
    });
    return std::make_shared<const Tensor>(std::move(table));
}

double growth(const Problem&, int64_t n) {
    return std::sqrt(static_cast<double>(n));
}

}  // namespace gridstride::dft::cuda
