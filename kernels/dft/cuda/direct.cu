// SPDX-License-Identifier: BSD-3-Clause
// The definition, one thread an output: thread i of a 1-D grid has bin k of one line and sums x_n exp(-2 pi i k n / N)
// over n. The guard stops the last block's spare threads.
//   Phase     k n modulo N, by adding k and subtracting N: exact in integers, so that accuracy does not decay with N. A
//             phase from the rounded product 2 pi k n / N is off by about k n ulps, and so are textbook results.
//   Root      sincospi of the phase as a fraction of the half turn, between -1 and 1, rounded once. A table of N roots
//             would be gathered from all over L2, 32 sectors a warp, which takes longer than computing them.
//   Sum       in parts of 256 terms: errors grow as the square root of 256 and of N/256, not of N.
//   Bytes     x once and the output once from memory; N loads an output, which a warp shares or the cache answers
//   Flops     8 an output and term, and about 30 for the root: these limit it
// Textbook; the reduction of angles is in W. Cody, W. Waite: Software Manual for the Elementary Functions, 1980.
#include "dft/cuda/passes.cuh"

namespace gridstride::dft::cuda::direct {

namespace {

using std::int64_t;

constexpr int64_t default_threads = 256;
constexpr int64_t part = 256;  // terms: near sqrt(N) at the lengths that a direct sum is for

__device__ void sin_cos_pi(float x, float* s, float* c) {
    sincospif(x, s, c);
}
__device__ void sin_cos_pi(double x, double* s, double* c) {
    sincospi(x, s, c);
}

/// The signed half turns of one sample, +-2/N, as the sum of two doubles: a phase times it is then rounded once.
struct Turn {
    double high = 0, low = 0;
};

/// exp(i pi turn phase), 0 <= phase < N.
template <class R>
__device__ Complex<R> root(int64_t phase, int64_t length, Turn turn) {
    // Measured from the nearer end of the full turn: a smaller angle has a smaller rounding error.
    const auto from_nearer = static_cast<double>(2 * phase > length ? phase - length : phase);
    Complex<R> result;
    sin_cos_pi(static_cast<R>(fma(from_nearer, turn.high, from_nearer * turn.low)), &result.im, &result.re);
    return result;
}

template <class R, class X, To to>
__global__ void direct_kernel(const X* x, Out<R, to>* out, Pass pass, Turn turn) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= pass.outputs()) return;
    const int64_t k = i / pass.inner % pass.bins;
    const int64_t line = i / (pass.inner * pass.bins) * pass.inner + i % pass.inner;
    const int64_t first = pass.in(line, 0);
    int64_t phase = 0;  // k n modulo N
    Complex<R> sum(0);
    for (int64_t begin = 0; begin < pass.entering; begin += part) {
        const int64_t end = begin + part < pass.entering ? begin + part : pass.entering;
        Complex<R> partial(0);
        for (int64_t n = begin; n < end; ++n) {
            const X value = sample<R, to>(x, first + n * pass.inner, n, pass);
            partial = multiply_add(root<R>(phase, pass.length, turn), value, partial);
            phase += k;
            if (phase >= pass.length) phase -= pass.length;
        }
        sum += partial;
    }
    out[i] = finish<R, to>(sum, pass);
}

Turn turn_of(const Pass& pass) {
    const long double exact = (pass.inverse ? 2.0L : -2.0L) / static_cast<long double>(pass.length);
    const auto high = static_cast<double>(exact);
    return {high, static_cast<double>(exact - static_cast<long double>(high))};
}

int64_t threads_of(const Problem& problem) {
    return problem.launch.block.empty() ? default_threads : problem.launch.block[0];
}

std::string refuses(const Problem& problem) {
    const Work resolved = work(problem);
    std::string why;
    for (std::size_t p = 0; p < resolved.passes.size() && why.empty(); ++p) {
        typed(resolved, p, [&]<class R, class X, To to>() {
            why =
                gridstride::cuda::launch_refusal(problem, reinterpret_cast<const void*>(direct_kernel<R, X, to>), 1, 0);
        });
        if (!why.empty()) break;
        const bool given = p + 1 == resolved.passes.size() && !problem.launch.grid.empty();
        const int64_t blocks = gridstride::cuda::ceil_div(resolved.passes[p].outputs(), threads_of(problem));
        if (!given && blocks > 0x7FFFFFFF)
            why = "grid x: " + std::to_string(blocks) + " blocks of " + std::to_string(threads_of(problem)) +
                  " threads cover the outputs, at most 2147483647 can be launched: ask for a larger block";
    }
    return why;
}

std::size_t memory(const Problem& problem) {
    return work(problem).workspace;
}

Plan prepare(const Problem& problem) {
    const Work resolved = work(problem);
    const auto threads = static_cast<unsigned>(threads_of(problem));
    const std::vector<Pass> passes = resolved.passes;
    std::vector<unsigned> blocks;  // each pass covers its outputs; the grid asked for is the last one's
    for (const Pass& pass : passes)
        blocks.push_back(static_cast<unsigned>(gridstride::cuda::ceil_div(pass.outputs(), threads)));
    if (!problem.launch.grid.empty()) blocks.back() = static_cast<unsigned>(problem.launch.grid[0]);

    Plan result = plan(resolved, [=](std::size_t p, const std::byte* x, std::byte* out, cudaStream_t stream) {
        typed(resolved, p, [&]<class R, class X, To to>() {
            direct_kernel<R, X, to><<<blocks[p], threads, 0, stream>>>(
                reinterpret_cast<const X*>(x), reinterpret_cast<Out<R, to>*>(out), passes[p], turn_of(passes[p]));
            gridstride::cuda::check_launch();
        });
    });
    if (passes.back().outputs() > 0)
        typed(resolved, passes.size() - 1, [&]<class R, class X, To to>() {
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(direct_kernel<R, X, to>),
                                                         blocks.back(), threads, 0, passes.back().outputs());
        });
    return result;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "direct",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "the definition, one thread an output; phases reduced in integers",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
    .takes_launch = true,
};

}  // namespace gridstride::dft::cuda::direct
