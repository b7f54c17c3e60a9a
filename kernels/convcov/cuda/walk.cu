// SPDX-License-Identifier: BSD-3-Clause
// The kernels of walk.cuh, and which of them takes a problem.
#include "convcov/cuda/walk.cuh"

namespace gridstride::convcov::cuda::factored {

namespace {

template <class T, int channels>
void (*kernel_of(std::int64_t width))(Arrays<T, T>, Walk) {
    const auto covers = [&](int items) { return walk_covers(walking.diagonals * width / walk_wide, width, items); };
    if (covers(4)) return factored_walk_kernel<T, channels, 4>;
    if (covers(5)) return factored_walk_kernel<T, channels, 5>;
    return nullptr;
}

}  // namespace

template <class T>
WalkLaunch<T, T> walk_of(const Schedule& schedule, bool has_gamma) {
    const Geometry& g = schedule.g;
    if (schedule.direct || !walks<T>(g, has_gamma, schedule.application.all_channels)) return {};
    WalkLaunch<T, T> result;
    result.walk = walk_numbers<T>(schedule);
    const Walk& s = result.walk;
    result.blocks = g.batch * s.parts.divisor * s.groups.divisor;
    result.busy = s.lines_in * static_cast<int>(s.lanes_in.divisor);
    result.shared = 2 * static_cast<std::size_t>(s.tile) * sizeof(accumulator<T, T>) +
                    static_cast<std::size_t>(g.channels_in * s.places) * sizeof(T);
    if (result.blocks < walking.least_blocks || result.shared > walking.shared_bytes) return {};
    if (g.channels_in == 1) result.kernel = kernel_of<T, 1>(g.columns.in);
    if (g.channels_in == 2) result.kernel = kernel_of<T, 2>(g.columns.in);
    if (g.channels_in == 3) result.kernel = kernel_of<T, 3>(g.columns.in);
    return result;
}

template WalkLaunch<float, float> walk_of(const Schedule&, bool);
template WalkLaunch<__half, __half> walk_of(const Schedule&, bool);
template WalkLaunch<__nv_bfloat16, __nv_bfloat16> walk_of(const Schedule&, bool);

}  // namespace gridstride::convcov::cuda::factored
