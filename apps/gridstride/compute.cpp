// SPDX-License-Identifier: BSD-3-Clause
// Buffers, poison, the call and its clock, for both kinds of device.
#include "compute.hpp"

#include "staging.hpp"
#include "stopwatch.hpp"
#include "timing.hpp"

#include <algorithm>
#include <vector>

namespace gridstride::engine {

gridstride::Plan prepare(const Variant& variant, const Problem& problem) {
    if (problem.place.device == Device::cuda) cuda::select(problem.place.index);
    return variant.prepare(problem);
}

Tensor buffer(std::size_t bytes, Memory memory, int device) {
    return bytes == 0 ? Tensor() : Tensor({DType::int32, {static_cast<std::int64_t>((bytes + 3) / 4)}}, memory, device);
}

int in_place(const Op& op, const Problem& problem) {
    const int alias = op.outputs[0].alias;
    return alias >= 0 && problem.in[static_cast<std::size_t>(alias)] == problem.out[0] ? alias : -1;
}

namespace {

constexpr int repeats = 5;            // timed runs after the warm-up
constexpr double repeat_seconds = 2;  // that they may take together
constexpr int replays = 20;

/// The warm-up's own time, or the median of the runs that fit.
template <class Once>
double measure(Once once, bool timed) {
    const double first = once();
    if (!timed) return first;
    const int runs = static_cast<int>(std::min<double>(repeats, repeat_seconds / std::max(first, 1e-9)));
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
        leave_if_stopped();
        seconds.push_back(once());
    }
    return seconds.empty() ? first : timing::summary(std::move(seconds)).median;
}

/// Of the bytes and their places: equal for equal bytes, different with near certainty for others.
std::uint64_t fingerprint(const Slab& slab) {
    constexpr std::int64_t block = 1 << 20;
    const auto size = static_cast<std::int64_t>(slab.spec.bytes());
    std::vector<std::uint64_t> blocks(static_cast<std::size_t>((size + block - 1) / block));
    for_blocks(size, block, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t hash = static_cast<std::uint64_t>(begin) + 1;
        for (std::int64_t at = begin; at < end; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, slab.data + at, static_cast<std::size_t>(std::min<std::int64_t>(8, end - at)));
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 29;
        }
        blocks[static_cast<std::size_t>(begin / block)] = hash;
    });
    std::uint64_t all = 0;
    for (const std::uint64_t one : blocks) all = (all ^ one) * 0xd1342543de82ef95U;
    return all;
}

std::vector<std::uint64_t> fingerprints(std::span<const Slab> in) {
    std::vector<std::uint64_t> result;
    for (const Slab& slab : in) result.push_back(slab.spec.present ? fingerprint(slab) : 0);
    return result;
}

Computed on_cpu(const Variant& variant, const Problem& problem, std::span<const Slab> in, int alias, bool timed,
                bool watched) {
    const auto before = watched ? fingerprints(in) : std::vector<std::uint64_t>();
    const gridstride::Plan plan = prepare(variant, problem);
    const Tensor workspace = buffer(plan.workspace);
    Computed result{Tensor(problem.out[0]), 0, 0, 0, {}, {}};
    const Slab out = result.out.slab();
    std::vector<Slab> handed(in.begin(), in.end());
    if (alias >= 0) handed[static_cast<std::size_t>(alias)] = out;
    result.seconds = measure(
        [&] {
            if (alias >= 0)
                copy_bits(in[static_cast<std::size_t>(alias)], out);
            else
                poison(out);
            const Stopwatch watch;
            plan.step({handed, {&out, 1}, workspace.data(), {}});
            return watch.seconds();
        },
        timed);
    if (!watched) return result;
    const auto after = fingerprints(in);
    for (std::size_t i = 0; i < after.size() && !result.changed; ++i)
        if (after[i] != before[i]) result.changed = i;
    return result;
}

Computed on_cuda(const Variant& variant, const Problem& problem, std::span<const Slab> in, int alias, bool timed,
                 bool watched) {
    const int index = problem.place.index;
    cuda::Queue queue(index);
    const gridstride::Plan plan = prepare(variant, problem);
    const Tensor workspace = buffer(plan.workspace, Memory::device, index);
    const Tensor out(problem.out[0], Memory::device, index);
    const Slab out_slab = out.slab();
    Computed result{Tensor(problem.out[0]), 0, 0, 0, plan.launched, {}};

    std::size_t largest = out.spec().bytes();
    for (const Slab& slab : in)
        if (slab.spec.present) largest = std::max(largest, slab.spec.bytes());
    Staging staging(queue, largest);
    std::vector<Tensor> inputs(in.size());
    std::vector<Slab> handed(in.begin(), in.end());
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].spec.present) continue;
        inputs[i] = Tensor(in[i].spec, Memory::device, index);
        result.copy_in += staging.to_device(in[i].data, inputs[i].data(), in[i].spec.bytes());
        handed[i] = static_cast<int>(i) == alias ? out_slab : inputs[i].slab();
    }
    const auto begin = [&] {
        if (alias >= 0)
            queue.copy(inputs[static_cast<std::size_t>(alias)].data(), out.data(), out.spec().bytes(),
                       cuda::Direction::on_device);
        else  // all bits set is NaN in every float type
            queue.fill(out.data(), is_integer(out.spec().dtype) ? 0xA5 : 0xFF, out.spec().bytes());
    };
    const auto enqueue = [&] { plan.step({handed, {&out_slab, 1}, workspace.data(), queue.stream()}); };
    result.seconds = measure(
        [&] {
            begin();
            return queue.time(enqueue);
        },
        timed);
    if (timed && result.seconds < timing::replay_below) {
        std::vector<double> seconds;
        for (int i = 0; i < repeats; ++i)
            if (const auto one = queue.replay(enqueue, replays)) seconds.push_back(*one);
        if (!seconds.empty()) result.seconds = timing::summary(std::move(seconds)).median;
        begin();  // an in-place output has been added to many times
        enqueue();
        queue.synchronize();
    }
    result.copy_out = staging.to_host(out.data(), result.out.data(), out.spec().bytes());
    for (std::size_t i = 0; watched && i < in.size() && !result.changed; ++i)
        if (in[i].spec.present && !staging.same(inputs[i].data(), in[i].data, in[i].spec.bytes())) result.changed = i;
    return result;
}

}  // namespace

Computed compute(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in, bool timed,
                 bool watched) {
    const int alias = in_place(op, problem);
    return variant.device == Device::cpu ? on_cpu(variant, problem, in, alias, timed, watched)
                                         : on_cuda(variant, problem, in, alias, timed, watched);
}

}  // namespace gridstride::engine
