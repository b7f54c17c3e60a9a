// SPDX-License-Identifier: BSD-3-Clause
// The vendor's copy: cudaMemcpyAsync within the device. Bytes: x read and y written once; limited by memory bandwidth.
#include "copy/copy.hpp"
#include "core/cuda.hpp"

namespace gridstride::copy::cuda::memcpy {

namespace {

std::string refuses(const Problem& problem) {
    return problem.in[0].dtype == problem.out[0].dtype
               ? ""
               : "memcpy: moves bits and converts nothing; grid_stride converts";
}

Plan prepare(const Problem& problem) {
    Plan plan;
    plan.step = [bytes = problem.out[0].bytes()](const Call& call) {
        if (bytes == 0) return;
        gridstride::cuda::check(cudaMemcpyAsync(call.out[0].data, call.in[0].data, bytes, cudaMemcpyDeviceToDevice,
                                                static_cast<cudaStream_t>(call.stream.handle)));
    };
    plan.words = "cudaMemcpyAsync, device to device";
    return plan;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "memcpy",
    .role = Role::vendor,
    .device = Device::cuda,
    .doc = "cudaMemcpyAsync, device to device",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem&) -> std::size_t { return 0; },
    .growth = [](const Problem&, std::int64_t) { return 1.0; },
};

}  // namespace gridstride::copy::cuda::memcpy
