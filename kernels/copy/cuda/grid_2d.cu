// SPDX-License-Identifier: BSD-3-Clause
// y = x by the mapping grid_2d: a thread an element, x along the last axis, y along the rows. The kernel, its bytes and
// what limits it: core/elementwise.cuh.
#include "copy/cuda/function.cuh"

namespace gridstride::copy::cuda::grid_2d {

constexpr auto mapping = elementwise::Mapping::grid_2d;

extern const Variant row;
const Variant row{
    .name = "grid_2d",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "a thread an element, x along the last axis, y along the rows",
    .refuses = [](const Problem& problem) { return elementwise::refuses<Function>(mapping, op, problem); },
    .prepare = [](const Problem& problem) { return elementwise::plan<Function>(mapping, op, problem); },
    .memory = [](const Problem& problem) { return elementwise::converted_bytes(op, problem); },
    .growth = [](const Problem&, std::int64_t) { return 1.0; },
    .takes_launch = true,
};

}  // namespace gridstride::copy::cuda::grid_2d
