// SPDX-License-Identifier: BSD-3-Clause
// The definition again, but a block of 256 threads stages x in shared memory, tile by tile, and every thread reads it
// there for its own bin. `width` threads, the power of two that holds the bins, 256 at the most, share a line; a block
// has 256 / width lines, so that short transforms fill it too. Blocks stride over the groups of lines and bins.
//   Run       32 samples by Horner's rule in w = exp(-2 pi i k / N): x_0 + w (x_1 + w (x_2 + ...)). The root of every
//             term, and with it most of the work of `direct`, is gone. w's rounding error enters the t-th term t times,
//             which is why runs are short.
//   Seed      a run's sum is multiplied by exp(-2 pi i k n_0 / N), n_0 its first sample, from a table of N roots made
//             in long double, at k n_0 modulo N in integers: accuracy does not decay with N.
//   Sum       runs add up to a tile's sum, tiles to the bin's: errors grow as the square roots of their numbers.
//   Bytes     x once for every 256 bins, from L2 if not from memory; the output once
//   Flops     8 an output and term (4 fused operations): these limit it; a term's shared-memory read is a broadcast
// Tiles: textbook, as for N-body sums (L. Nyland, M. Harris, J. Prins: Fast N-body simulation with CUDA, GPU Gems 3,
// 2007). Horner's rule for one bin: G. Goertzel, American Mathematical Monthly 65(1), 1958; its errors: W. Gentleman,
// Computer Journal 12(2), 1969.
#include <algorithm>
#include <bit>
#include <map>

#include "dft/cuda/passes.cuh"

namespace gridstride::dft::cuda::direct_tiled {

namespace {

using std::int64_t;

constexpr int threads = 256;      // 100 000 bins are then 3 blocks a multiprocessor of an H200, nearly even
constexpr int run = 32;           // terms: w's error costs up to 16 roundoffs, a seed's cost is shared by 32
constexpr int tile_a_thread = 2;  // samples staged by each thread: all of a line wherever it has less than 256 bins
static_assert(threads * tile_a_thread % run == 0, "runs do not cross the tiles of a long line");

template <class R, class X, To to>
__global__ void __launch_bounds__(threads)
    direct_tiled_kernel(const X* x, Out<R, to>* out, const Complex<R>* roots, Pass pass, int width) {
    const int lines = threads / width, tile = tile_a_thread * width;
    const int pitch = tile + 1;                                       // lines begin in different banks
    __shared__ Complex<R> staged[tile_a_thread * threads + threads];  // lines * pitch at the most
    const int line = static_cast<int>(threadIdx.x) / width, lane = static_cast<int>(threadIdx.x) % width;
    const Complex<R>* mine = staged + line * pitch;

    const int64_t bin_groups = (pass.bins + width - 1) / width;
    const int64_t groups = (pass.lines() + lines - 1) / lines * bin_groups;
    for (int64_t group = blockIdx.x; group < groups; group += gridDim.x) {
        const int64_t first_line = group / bin_groups * lines;
        const int64_t bin = group % bin_groups * width + lane;
        const bool spare = bin >= pass.bins || first_line + line >= pass.lines();  // helps to stage, writes nothing
        const int64_t k = spare ? 0 : bin;
        const Complex<R> w = roots[k];
        const int64_t step = k * run % pass.length;
        int64_t phase = 0;  // k n_0 modulo N
        Complex<R> sum(0);
        for (int64_t begin = 0; begin < pass.entering; begin += tile) {
            const int here = pass.entering - begin < tile ? static_cast<int>(pass.entering - begin) : tile;
            __syncthreads();  // the tile before has been read
            for (int e = static_cast<int>(threadIdx.x); e < lines * here; e += threads) {
                // Neighbouring threads load what is neighbouring in x: samples of a line, or lines.
                const int l = pass.inner == 1 ? e / here : e % lines, t = pass.inner == 1 ? e % here : e / lines;
                Complex<R> value(0);
                if (first_line + l < pass.lines())
                    value = sample<R, to>(x, pass.in(first_line + l, begin + t), begin + t, pass);
                staged[l * pitch + t] = value;
            }
            __syncthreads();
            Complex<R> tile_sum(0);
            for (int start = 0; start < here; start += run) {
                const int end = start + run < here ? start + run : here;
                Complex<R> run_sum(0);
#pragma unroll 8
                for (int t = end - 1; t >= start; --t) run_sum = multiply_add(run_sum, w, mine[t]);
                tile_sum = multiply_add(run_sum, roots[phase], tile_sum);
                phase += step;
                if (phase >= pass.length) phase -= pass.length;
            }
            sum += tile_sum;
        }
        if (!spare) out[pass.out(first_line + line, bin)] = finish<R, to>(sum, pass);
    }
}

/// Threads of a block that share a line. Below 256 the whole line is one tile: its samples are at most twice its bins.
int width_of(const Pass& pass) {
    return static_cast<int>(std::min<std::uint64_t>(threads, std::bit_ceil(static_cast<std::uint64_t>(pass.bins))));
}

unsigned blocks_of(const Pass& pass) {
    const int width = width_of(pass);
    const int64_t groups =
        gridstride::cuda::ceil_div(pass.lines(), threads / width) * gridstride::cuda::ceil_div(pass.bins, width);
    return static_cast<unsigned>(std::min<int64_t>(groups, 0x7FFFFFFF));
}

std::string refuses(const Problem&) {
    return {};
}

/// Bytes of the tables: one for every length.
std::size_t held(const Work& work) {
    std::map<int64_t, std::size_t> tables;
    for (const Pass& pass : work.passes)
        tables[pass.length] = static_cast<std::size_t>(pass.length) * size_of(complex_of(work.real));
    std::size_t total = 0;
    for (const auto& [length, bytes] : tables) total += bytes;
    return total;
}

std::size_t memory(const Problem& problem) {
    const Work resolved = work(problem);
    return resolved.workspace + held(resolved);
}

Plan prepare(const Problem& problem) {
    const Work resolved = work(problem);
    const std::vector<Pass> passes = resolved.passes;
    std::map<int64_t, std::shared_ptr<const Tensor>> tables;
    if (resolved.out.size() > 0)
        for (const Pass& pass : passes)
            if (auto& table = tables[pass.length]; table == nullptr)
                table = roots(pass.length, pass.inverse, resolved.real, problem.place.index);

    Plan result = plan(resolved, [=](std::size_t p, const std::byte* x, std::byte* out, cudaStream_t stream) {
        const Pass& pass = passes[p];
        typed(resolved, p, [&]<class R, class X, To to>() {
            direct_tiled_kernel<R, X, to><<<blocks_of(pass), threads, 0, stream>>>(
                reinterpret_cast<const X*>(x), reinterpret_cast<Out<R, to>*>(out),
                tables.at(pass.length)->template as<const Complex<R>>(), pass, width_of(pass));
            gridstride::cuda::check_launch();
        });
    });
    if (!tables.empty()) {
        result.held = held(resolved);
        const Pass& last = passes.back();
        result.words += ", " + std::to_string(threads / width_of(last)) + " lines a block";
        typed(resolved, passes.size() - 1, [&]<class R, class X, To to>() {
            result.launched = gridstride::cuda::describe(reinterpret_cast<const void*>(direct_tiled_kernel<R, X, to>),
                                                         blocks_of(last), threads, 0, last.outputs());
        });
    }
    return result;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "direct_tiled",
    .role = Role::custom,
    .device = Device::cuda,
    .doc = "the definition with x staged in shared memory, by Horner's rule in runs of 32",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::dft::cuda::direct_tiled
