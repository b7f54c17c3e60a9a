// SPDX-License-Identifier: BSD-3-Clause
// One thread block an output element (b, o, i, j, i', j') of the channel-diagonal blocks, j' fastest (coefficient
// vectors, where there are several, slowest). Its threads share the terms (c, u, v), v fastest: each adds every
// blockDim-th of them, the sums meet in a binary tree in dynamic shared memory, thread 0 writes the result; no atomics.
// Blocks stride over the outputs, so any grid is right, and any block: the tree starts at the power of two below the
// block's size.
//
// Bytes: accumulate read and cov written once; gamma is read again for every tap and every output channel, and the
//     terms of one output lie far apart (tap (u, v) at row (r, q) of gamma), so that each costs a 32-byte sector.
// Flops: 3 a term, C kh kw terms an output, for every output channel anew. Limited by the index arithmetic, the
//     barriers and the scattered loads of many small blocks.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", 2007.
#include <algorithm>
#include <cmath>

#include "convcov/cuda/output.cuh"

namespace gridstride::convcov::cuda::block_per_output {

namespace {

// Every thread finds its output's place by divisions of its own: some terms a thread repay them.
constexpr std::int64_t terms_a_thread = 8;
constexpr std::int64_t warp = 32;
constexpr std::int64_t most_threads = 256;  // of the default; a block that is asked for may be larger

/// A term (c, u, v) of an output.
struct Tap {
    std::int64_t c;
    unsigned u, v;  // below 2^31: two of them add up
};

/// Term k of so many rows and columns of taps.
__host__ __device__ Tap tap_of(unsigned k, std::int64_t rows, std::int64_t columns) {
    const auto height = static_cast<unsigned>(rows), width = static_cast<unsigned>(columns);
    return {k / width / height, k / width % height, k % width};
}

/// As many terms on as `step` stands for, by carries: a division costs more than the term.
__device__ void advance(const Sizes& s, Tap& tap, const Tap& step) {
    tap.v += step.v;
    tap.u += step.u;
    tap.c += step.c;
    const auto rows = static_cast<unsigned>(s.rows.taps), columns = static_cast<unsigned>(s.columns.taps);
    if (tap.v >= columns) {
        tap.v -= columns;
        ++tap.u;
    }
    if (tap.u >= rows) {
        tap.u -= rows;
        ++tap.c;
    }
}

/// The terms of an output where a tap is an address further: no padding that wraps, gamma whole, one coef. Places
/// are below 2^30.
template <class T, class U>
struct PlainTerms {
    using A = accumulator<T, U>;
    const T *gamma, *mean;  // of channel 0 under tap (0, 0), which may be outside
    std::int64_t other_mean, gamma_channel, gamma_row, gamma_column, map, mean_row;
    int r, r2, q, q2, row, column, height, width;

    __device__ PlainTerms(const Arrays<T, U>& arrays, const Sizes& s, const Place& at)
        : gamma(arrays.gammas),
          mean(arrays.mus),
          gamma_channel(s.gamma_channel),
          gamma_row(s.rows.dilation * (s.gamma_row + s.columns.in)),
          gamma_column(s.columns.dilation * (s.gamma_column + 1)),
          map(s.rows.in * s.columns.in),
          mean_row(s.rows.dilation * s.columns.in),
          r(static_cast<int>(s.rows.position(at.i, 0))),
          r2(static_cast<int>(s.rows.position(at.i2, 0))),
          q(static_cast<int>(s.columns.position(at.j, 0))),
          q2(static_cast<int>(s.columns.position(at.j2, 0))),
          row(static_cast<int>(s.rows.dilation)),
          column(static_cast<int>(s.columns.dilation)),
          height(static_cast<int>(s.rows.in)),
          width(static_cast<int>(s.columns.in)) {
        if (gamma != nullptr) gamma += s.gamma_offset(at.b, 0, r, q) + r2 * s.columns.in + q2;
        mean += at.b * s.channels_in * map + r * s.columns.in + q;
        other_mean = (r2 - r) * s.columns.in + q2 - q;
    }
    __device__ bool inside(int first, int second, int in) const {
        return static_cast<unsigned>(first) < static_cast<unsigned>(in) &&
               static_cast<unsigned>(second) < static_cast<unsigned>(in);
    }
    __device__ A add(A sum, const Tap& tap) const {
        using gridstride::cuda::widen;
        const int u = static_cast<int>(tap.u), v = static_cast<int>(tap.v);
        if (!inside(r + u * row, r2 + u * row, height) || !inside(q + v * column, q2 + v * column, width)) return sum;
        const T* const at = mean + tap.c * map + u * mean_row + v * column;
        const A product = widen<A>(at[0]) * widen<A>(at[other_mean]);
        if (gamma == nullptr) return sum + product;
        return sum + (widen<A>(gamma[tap.c * gamma_channel + u * gamma_row + v * gamma_column]) + product);
    }
};

/// Those of any other.
template <class T, class U>
struct AnyTerms {
    using A = accumulator<T, U>;
    const Arrays<T, U>& arrays;
    const Sizes& s;
    const Place& at;

    __device__ A add(A sum, const Tap& tap) const {
        const std::int64_t r = s.rows.position(at.i, tap.u), r2 = s.rows.position(at.i2, tap.u);
        const std::int64_t q = s.columns.position(at.j, tap.v), q2 = s.columns.position(at.j2, tap.v);
        if (!s.rows.inside(r) || !s.rows.inside(r2) || !s.columns.inside(q) || !s.columns.inside(q2)) return sum;
        const std::int64_t first = r * s.columns.in + q, second = r2 * s.columns.in + q2;
        const std::int64_t mean = (at.b * s.channels_in + tap.c) * s.rows.in * s.columns.in;
        const A product = term(arrays, s.gamma_offset(at.b, tap.c, r, q, r2, q2), mean + first, mean + second);
        return arrays.add(sum, product,
                          ((at.o * s.channels_in + tap.c) * s.rows.taps + tap.u) * s.columns.taps + tap.v);
    }
};

/// The bound keeps registers to what the largest block can have. step: blockDim terms.
template <class T, class U, class Terms>
__global__ void __launch_bounds__(1024) block_per_output_kernel(Arrays<T, U> arrays, Sizes s, Tap step) {
    using A = accumulator<T, U>;
    extern __shared__ __align__(16) unsigned char memory[];
    A* sums = reinterpret_cast<A*>(memory);
    const unsigned t = threadIdx.x;
    const std::int64_t terms = s.channels_in * s.rows.taps * s.columns.taps;
    const Tap first_tap = tap_of(t, s.rows.taps, s.columns.taps);
    unsigned top = 1;  // of the tree
    while (2 * top < blockDim.x) top *= 2;

    for (std::int64_t index = blockIdx.x; index < s.outputs; index += gridDim.x) {
        const Place at = place_of(s, index);
        const A factor = arrays.factor(s, at.vector, at.o);
        if (factor == A(0) || !is_reached(s, at)) {  // whatever R; the same for all threads of the block
            if (t == 0) arrays.keep(at.offset);
            continue;
        }
        const Terms own{arrays, s, at};
        A sum = A(0);
        Tap tap = first_tap;
        for (std::int64_t k = t; k < terms; k += blockDim.x, advance(s, tap, step)) sum = own.add(sum, tap);
        sums[t] = sum;
        __syncthreads();
        for (unsigned half = top; half > 0; half /= 2) {
            if (t < half && t + half < blockDim.x) sums[t] += sums[t + half];
            __syncthreads();
        }
        if (t == 0) arrays.store(at.offset, factor * (s.bias ? sums[0] + A(1) : sums[0]));
        __syncthreads();  // before the next output's sums overwrite these
    }
}

/// Inputs of another type than the output are rare: one kernel for all of these.
template <class T, class U>
auto kernel_of(const Problem& problem) {
    if constexpr (std::is_same_v<T, U>) {
        const Geometry g = geometry(problem);
        const bool small = std::max({extent(g.rows), extent(g.columns), g.places_in()}) < 1 << 30;
        if (small && !g.circular && !g.half_gamma && !g.per_weight)
            return block_per_output_kernel<T, U, PlainTerms<T, U>>;
    }
    return block_per_output_kernel<T, U, AnyTerms<T, U>>;
}

std::int64_t terms_of(const Problem& problem) {
    const Geometry g = geometry(problem);
    return g.channels_in * g.rows.taps * g.columns.taps;
}

/// As asked for, or whole warps of some terms a thread.
std::int64_t threads_of(const Problem& problem) {
    if (!problem.launch.block.empty()) return problem.launch.block[0];
    const std::int64_t warps = gridstride::cuda::ceil_div(terms_of(problem), terms_a_thread * warp);
    return std::clamp<std::int64_t>(warps * warp, warp, most_threads);
}

std::string refuses(const Problem& problem) {
    return typed(problem, [&]<class T, class U>() {
        return gridstride::cuda::launch_refusal(
            problem, reinterpret_cast<const void*>(kernel_of<T, U>(problem)), 1,
            static_cast<std::size_t>(threads_of(problem)) * sizeof(accumulator<T, U>));
    });
}

Plan prepare(const Problem& problem) {
    return typed(problem, [&]<class T, class U>() {
        const Sizes s = sizes_of(problem);
        const std::int64_t threads = threads_of(problem), terms = terms_of(problem);
        const std::int64_t blocks =
            problem.launch.grid.empty() ? std::min<std::int64_t>(s.outputs, 0x7FFFFFFF) : problem.launch.grid[0];
        const std::size_t shared = static_cast<std::size_t>(threads) * sizeof(accumulator<T, U>);
        const auto grid = static_cast<unsigned>(blocks), block = static_cast<unsigned>(threads);
        const auto kernel = kernel_of<T, U>(problem);
        const Tap step = tap_of(block, s.rows.taps, s.columns.taps);
        Plan result = plan(problem, [=](const Pointers& pointers, Stream stream) {
            kernel<<<grid, block, shared, gridstride::cuda::raw(stream)>>>(pointers.as<T, U>(), s, step);
            gridstride::cuda::check_launch();
        });
        result.words = std::to_string(threads) + " threads for the " + std::to_string(terms) + " terms of an output";
        if (s.outputs > 0)
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(kernel), grid, block, shared,
                                                         s.outputs * std::min(threads, terms));
        return result;
    });
}

/// A thread's own sum grows as one accumulator where it has many terms (a small block), the tree as its depth.
double growth(const Problem& problem, std::int64_t n) {
    const auto own = static_cast<double>(gridstride::cuda::ceil_div(n, threads_of(problem)));
    return std::log2(static_cast<double>(n)) + std::max(8.0, std::sqrt(own));
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "block_per_output",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "one thread block an output element, threads over channels and taps, a tree in shared memory",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
    .takes_launch = true,
};

}  // namespace gridstride::convcov::cuda::block_per_output
