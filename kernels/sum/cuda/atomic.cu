// SPDX-License-Identifier: BSD-3-Clause
// One thread an element of x; each adds its element to its output in global memory with atomicAdd. Adds to one address
// queue up in the L2: that, not bandwidth, limits it where outputs are few. Textbook; the order of additions varies.
#include <cmath>

#include "sum/cuda/reduce.cuh"

namespace gridstride::sum::cuda::atomic {

namespace {

constexpr unsigned threads = 256;

template <class T, class A>
__global__ void atomic_kernel(const T* x, A* s, Terms terms) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= terms.outputs * terms.terms) return;
    const std::int64_t o = i / terms.terms, r = i % terms.terms;
    atomic_add(s + o, gridstride::cuda::widen<A>(x[terms.at(o, r)]));
}

std::string refuses(const Problem&) {
    return {};
}

Plan prepare(const Problem& problem) {
    return with_any_type(element_type(problem), [&]<class Host>() {
        using T = gridstride::cuda::device_type<Host>;
        using A = accumulator<T>;
        const Terms terms = terms_of(problem);
        const auto blocks = static_cast<unsigned>(gridstride::cuda::ceil_div(problem.in[0].size(), threads));
        Plan result = plan(problem, [=](const std::byte* x, std::byte* s, std::byte*, Stream stream) {
            atomic_kernel<T, A><<<blocks, threads, 0, gridstride::cuda::raw(stream)>>>(reinterpret_cast<const T*>(x),
                                                                                       reinterpret_cast<A*>(s), terms);
            gridstride::cuda::check_launch();
        });
        if (blocks > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(atomic_kernel<T, A>), blocks,
                                                         threads, 0, problem.in[0].size());
        return result;
    });
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "atomic",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread an element, atomicAdd in global memory",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); },
};

}  // namespace gridstride::sum::cuda::atomic
