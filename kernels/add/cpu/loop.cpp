// SPDX-License-Identifier: BSD-3-Clause
// Blocks of 1024 elements in the L1 cache, 64 blocks a thread at a time: gather what is broadcast, convert to the
// arithmetic type, add, convert to the output's. Where nothing is to gather or convert, one vectorised pass.
// Bytes: x, y and z once. 1 flop an element (complex 2): limited by memory bandwidth.
#include "add/add.hpp"
#include "core/elementwise.hpp"

namespace gridstride::add::cpu::loop {

namespace {

template <class T>
void compute(const std::byte* const* in, std::byte* out, std::int64_t n) {
    const auto* x = reinterpret_cast<const T*>(in[0]);
    const auto* y = reinterpret_cast<const T*>(in[1]);
    auto* z = reinterpret_cast<T*>(out);
    for (std::int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_integral_v<T>) {  // wraps
            using Unsigned = std::make_unsigned_t<T>;
            z[i] = static_cast<T>(static_cast<Unsigned>(x[i]) + static_cast<Unsigned>(y[i]));
        } else {
            z[i] = x[i] + y[i];
        }
    }
}

std::string refuses(const Problem&) {
    return {};
}

std::size_t memory(const Problem&) {
    return 0;
}

double growth(const Problem&, std::int64_t) {
    return 1;
}

Plan prepare(const Problem& problem) {
    const DType type = arithmetic(op, problem);
    Plan plan;
    with_type<float, double, complex64, complex128, std::int32_t, std::int64_t>(
        type, [&]<class T>() { plan.step = elementwise::step(op, problem, compute<T>); });
    plan.words = std::string(name(type)) + " in blocks of 1024";
    return plan;
}

}  // namespace

const Variant row{
    .name = "loop",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "L1-sized blocks on all cores, vectorised",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::add::cpu::loop
