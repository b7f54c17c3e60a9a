// SPDX-License-Identifier: BSD-3-Clause
// Blocks of 65 536 elements, a thread each; memcpy where the dtypes agree, else one conversion, rounded once.
// Bytes: x once, y once (and y's lines once more, read for ownership). Limited by memory bandwidth.
#include "copy/copy.hpp"
#include "core/convert.hpp"

namespace gridstride::copy::cpu::loop {

namespace {

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
    const DType from = problem.in[0].dtype, to = problem.out[0].dtype;
    Plan plan;
    plan.step = [from, threads = threads_of(problem.place)](const Call& call) {
        store_results(op.name, from, call.in[0].data, call.out[0], threads);
    };
    plan.words = from == to ? "memcpy" : std::string(name(from)) + " to " + std::string(name(to));
    return plan;
}

}  // namespace

const Variant row{
    .name = "loop",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "blocks on all cores, memcpy or one conversion",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::copy::cpu::loop
