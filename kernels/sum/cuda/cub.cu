// SPDX-License-Identifier: BSD-3-Clause
// The vendor's sum: cub::DeviceReduce for one output, cub::DeviceSegmentedReduce for more, over x as it lies, or an
// iterator that finds the terms of each output. Elements are converted to the accumulator's type first. Counts are
// 64-bit.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cmath>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "sum/cuda/reduce.cuh"

namespace gridstride::sum::cuda::cub {

namespace {

/// Term i % terms of output i / terms.
template <class A>
struct Fetch {
    const A* x;
    Terms terms;
    __host__ __device__ A operator()(std::int64_t i) const { return x[terms.at(i / terms.terms, i % terms.terms)]; }
};

struct Begin {
    std::int64_t terms;
    __host__ __device__ std::int64_t operator()(std::int64_t segment) const { return segment * terms; }
};

struct Plus {
    template <class A>
    __device__ A operator()(A a, A b) const {
        return plus(a, b);
    }
};

template <class A>
cudaError_t reduce(void* scratch, std::size_t& bytes, const A* x, A* s, const Terms& terms, cudaStream_t stream) {
    const auto counting = thrust::counting_iterator<std::int64_t>(0);
    const auto is_contiguous = [](const Digits& digits, std::int64_t stride) {
        return digits.rank == 0 || (digits.rank == 1 && digits.strides[0] == stride);
    };
    if (is_contiguous(terms.summed, 1) &&
        is_contiguous(terms.kept, terms.terms)) {  // the library at its best: x as it lies
        if (terms.outputs == 1)
            return ::cub::DeviceReduce::Reduce(scratch, bytes, x, s, terms.terms, Plus{}, A(0), stream);
        const auto first = thrust::make_transform_iterator(counting, Begin{terms.terms});
        return ::cub::DeviceSegmentedReduce::Reduce(scratch, bytes, x, s, terms.outputs, first, first + 1, Plus{}, A(0),
                                                    stream);
    }
    const auto in = thrust::make_transform_iterator(counting, Fetch<A>{x, terms});
    const auto begin = thrust::make_transform_iterator(counting, Begin{terms.terms});
    return ::cub::DeviceSegmentedReduce::Reduce(scratch, bytes, in, s, terms.outputs, begin, begin + 1, Plus{}, A(0),
                                                stream);
}

template <class F>
auto typed(const Problem& problem, F f) {
    return with_type<float, double, complex64, complex128, std::int64_t>(accumulator_type(problem), [&]<class Host>() {
        return f.template operator()<gridstride::cuda::device_type<Host>>();
    });
}

std::string refuses(const Problem&) {
    return {};
}

std::size_t converted(const Problem& problem) {
    const DType type = accumulator_type(problem);
    return problem.in[0].dtype == type
               ? 0
               : (static_cast<std::size_t>(problem.in[0].size()) * size_of(type) + 255) / 256 * 256;
}

Plan prepare(const Problem& problem) {
    Problem wide = problem;  // as if x were of the accumulator's type: converted by the step below
    const DType type = accumulator_type(problem), from = problem.in[0].dtype;
    wide.in[0].dtype = type;
    const std::size_t extra = converted(problem);
    return typed(problem, [&]<class A>() {
        const Terms terms = terms_of(problem);
        std::size_t scratch = 0;
        if (terms.outputs * terms.terms > 0)
            gridstride::cuda::check(reduce<A>(nullptr, scratch, nullptr, nullptr, terms, nullptr));
        Plan inner = plan(
            wide,
            [=](const std::byte* x, std::byte* s, std::byte* memory, Stream stream) {
                std::size_t bytes = scratch;
                gridstride::cuda::check(reduce<A>(memory, bytes, reinterpret_cast<const A*>(x), reinterpret_cast<A*>(s),
                                                  terms, gridstride::cuda::raw(stream)));
            },
            scratch);
        Plan result;
        result.workspace = extra + inner.workspace;
        result.words = "CUB, accumulating in " + std::string(name(type));
        result.step = [=, step = inner.step](const Call& call) {
            if (extra == 0) return step(call);
            gridstride::cuda::convert(from, call.in[0].data, type, call.workspace, call.in[0].spec.size(), nullptr,
                                      call.stream);
            const Slab x{{type, call.in[0].spec.shape}, call.in[0].strides, call.workspace};
            step({{&x, 1}, call.out, call.workspace + extra, call.stream});
        };
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "cub",
    .role = Role::vendor,
    .device = Device::cuda,
    .doc = "cub::DeviceReduce, and cub::DeviceSegmentedReduce for several outputs",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem& problem) { return converted(problem) + memory(problem); },
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
};

}  // namespace gridstride::sum::cuda::cub
