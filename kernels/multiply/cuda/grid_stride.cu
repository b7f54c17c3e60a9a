// SPDX-License-Identifier: BSD-3-Clause
// z = x y by the mapping grid_stride: as many threads as the device holds, striding by the grid. The kernel, its bytes
// and what limits it: core/elementwise.cuh.
#include "multiply/cuda/function.cuh"

namespace gridstride::multiply::cuda::grid_stride {

constexpr auto mapping = elementwise::Mapping::grid_stride;

extern const Variant row;
const Variant row{
    .name = "grid_stride",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "as many threads as the device holds, striding by the grid",
    .refuses = [](const Problem& problem) { return elementwise::refuses<Function>(mapping, op, problem); },
    .prepare = [](const Problem& problem) { return elementwise::plan<Function>(mapping, op, problem); },
    .memory = [](const Problem& problem) { return elementwise::converted_bytes(op, problem); },
    .growth = [](const Problem&, std::int64_t) { return 1.0; },
    .takes_launch = true,
};

}  // namespace gridstride::multiply::cuda::grid_stride
