// SPDX-License-Identifier: BSD-3-Clause
// z = x + y by the mapping one_per_thread: a thread an element, 1-D. The kernel, its bytes and what limits it:
// core/elementwise.cuh.
#include "add/cuda/function.cuh"

namespace gridstride::add::cuda::one_per_thread {

constexpr auto mapping = elementwise::Mapping::one_per_thread;

extern const Variant row;
const Variant row{
    .name = "one_per_thread",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "a thread an element, 1-D",
    .refuses = [](const Problem& problem) { return elementwise::refuses<Function>(mapping, op, problem); },
    .prepare = [](const Problem& problem) { return elementwise::plan<Function>(mapping, op, problem); },
    .memory = [](const Problem& problem) { return elementwise::converted_bytes(op, problem); },
    .growth = [](const Problem&, std::int64_t) { return 1.0; },
    .takes_launch = true,
};

}  // namespace gridstride::add::cuda::one_per_thread
