// SPDX-License-Identifier: BSD-3-Clause
// Plain kernels that move bytes and do nothing else. Each block has 16 KiB of every tensor, each thread four groups of
// four floats a block apart: loads of 16 bytes, four of them under way at once (what a memory's latency asks for: V.
// Volkov, "Better Performance at Lower Occupancy", GTC 2010). Limited by memory bandwidth.
#include "core/kernel.cuh"
#include "core/rates.hpp"

namespace gridstride::rates {

namespace {

constexpr int threads = 256, groups = 4;  // a block, a thread

struct Begin {
    std::int64_t first, n;
    __device__ explicit Begin(std::int64_t n)
        : first(static_cast<std::int64_t>(blockIdx.x) * threads * groups + threadIdx.x), n(n) {}
    __device__ std::int64_t at(int group) const { return first + group * threads; }
    __device__ bool has(int group) const { return at(group) < n; }
};

/// The sum is stored where it is a number that sums of zeros are not, so that the loads stay.
__global__ void read_kernel(const uint4* x, unsigned* out, std::int64_t n) {
    const Begin begin(n);
    uint4 loaded[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) loaded[g] = begin.has(g) ? x[begin.at(g)] : uint4{0, 0, 0, 0};
    unsigned sum = 0;
#pragma unroll
    for (int g = 0; g < groups; ++g) sum += loaded[g].x + loaded[g].y + loaded[g].z + loaded[g].w;
    if (sum == 0x5eedU) *out = sum;
}

__global__ void copy_kernel(const float4* x, float4* out, std::int64_t n) {
    const Begin begin(n);
    float4 loaded[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g)
        if (begin.has(g)) loaded[g] = x[begin.at(g)];
#pragma unroll
    for (int g = 0; g < groups; ++g)
        if (begin.has(g)) out[begin.at(g)] = loaded[g];
}

__global__ void add_kernel(const float4* x, const float4* y, float4* out, std::int64_t n) {
    const Begin begin(n);
    float4 a[groups], b[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g)
        if (begin.has(g)) a[g] = x[begin.at(g)], b[g] = y[begin.at(g)];
#pragma unroll
    for (int g = 0; g < groups; ++g)
        if (begin.has(g)) out[begin.at(g)] = {a[g].x + b[g].x, a[g].y + b[g].y, a[g].z + b[g].z, a[g].w + b[g].w};
}

}  // namespace

Sheet cuda_sheet(int device) {
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        cuda::check(cudaDeviceGetAttribute(&value, which, device));
        return value;
    };
    Sheet sheet;
    sheet.cache = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    sheet.bandwidth =
        2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;  // kHz, bits
    sheet.clock = 1e3 * attribute(cudaDevAttrClockRate);
    sheet.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    sheet.major = attribute(cudaDevAttrComputeCapabilityMajor);
    sheet.minor = attribute(cudaDevAttrComputeCapabilityMinor);
    return sheet;
}

Plan cuda_prepare(Mix mix, const Problem& problem) {
    const std::int64_t n = problem.in[0].size() / 4;
    const auto blocks = static_cast<unsigned>(cuda::ceil_div(n, threads * groups));
    Plan plan;
    plan.step = [=](const Call& call) {
        const cudaStream_t stream = cuda::raw(call.stream);
        const auto* x = call.in[0].as<const float4>();
        auto* out = call.out[0].as<float4>();
        if (mix == Mix::read)
            read_kernel<<<blocks, threads, 0, stream>>>(call.in[0].as<const uint4>(), call.out[0].as<unsigned>(), n);
        else if (mix == Mix::copy)
            copy_kernel<<<blocks, threads, 0, stream>>>(x, out, n);
        else
            add_kernel<<<blocks, threads, 0, stream>>>(x, call.in[1].as<const float4>(), out, n);
        cuda::check_launch();
    };
    return plan;
}

}  // namespace gridstride::rates
