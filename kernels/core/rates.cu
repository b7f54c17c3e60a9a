// SPDX-License-Identifier: BSD-3-Clause
// Plain kernels that move bytes and do nothing else, in groups of four floats. Copying and adding, a thread has one
// group; reading, four a block apart, all under way at once (what a memory's latency asks for: V. Volkov, "Better
// Performance at Lower Occupancy", GTC 2010). Limited by memory bandwidth.
#include "core/kernel.cuh"
#include "core/rates.hpp"

namespace gridstride::rates {

namespace {

// NVIDIA H200, 2026-11-29, GB/s of 4 GiB moved, by groups a thread (1, 2, 4, 8): copy 4283, 4164, 4121, 4078 (the
// driver's own copy 4288), add 4378, 4352, 4352, 4346, read 4618 with 4 and with 8; blocks that stay and stride over
// the tensors are 8 % slower.
struct Tuning {
    int threads;      // a block
    int read_groups;  // a thread
};
constexpr Tuning tuning{256, 4};
static_assert(tuning.threads % 32 == 0 && tuning.read_groups > 0);

/// The place of this thread's first group.
__device__ std::int64_t place(int groups) {
    return static_cast<std::int64_t>(blockIdx.x) * tuning.threads * groups + threadIdx.x;
}

/// The sum is stored where it is a number that sums of zeros are not, so that the loads stay.
__global__ void read_kernel(const uint4* x, unsigned* out, std::int64_t n) {
    constexpr int groups = tuning.read_groups;
    const std::int64_t first = place(groups);
    uint4 loaded[groups];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
        const std::int64_t at = first + g * tuning.threads;
        loaded[g] = at < n ? x[at] : uint4{0, 0, 0, 0};
    }
    unsigned sum = 0;
#pragma unroll
    for (int g = 0; g < groups; ++g) sum += loaded[g].x + loaded[g].y + loaded[g].z + loaded[g].w;
    if (sum == 0x5eedU) *out = sum;
}

__global__ void copy_kernel(const float4* x, float4* out, std::int64_t n) {
    if (const std::int64_t at = place(1); at < n) out[at] = x[at];
}

__global__ void add_kernel(const float4* x, const float4* y, float4* out, std::int64_t n) {
    const std::int64_t at = place(1);
    if (at >= n) return;
    const float4 a = x[at], b = y[at];
    out[at] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
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
    constexpr int threads = tuning.threads;
    const auto blocks =
        static_cast<unsigned>(cuda::ceil_div(n, mix == Mix::read ? threads * tuning.read_groups : threads));
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
