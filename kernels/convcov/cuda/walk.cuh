// SPDX-License-Identifier: BSD-3-Clause
// walk: convcov of few channels in one kernel, neither S nor R in memory. walk.cu chooses, factored.cu launches.
//
// A block has a batch, a group of adjacent diagonals d = i' - i, and a part of the output rows i. It walks along them:
// a step is an input row r, and with it the rows r' = r + d, which follow each other in gamma. A thread adds the
// channels of its places (q, vector of (d, q')) to S, and S to the sums under the rows begun, which it keeps in
// registers; the finished ones go to shared memory, where the block adds them under the columns to R, and coef R to its
// outputs. Each diagonal d > 0 goes with d - Ho: they have Ho rows together, the second's behind the first's, so that
// all blocks are as long and the blocks of a batch are at the same r: they read and write whole stretches of memory
// together.
//
// Bytes: gamma once (but kh - 1 rows at the start of a part), accumulate and the outputs once. Flops: as factored's.
//     Limited by memory, so a thread asks for gamma of the next step as soon as it has used that of this one, and
//     likewise for accumulate: reads are in flight while a block sums, waits and writes.
// Technique: a stencil's walk along one axis, what it still needs in registers (P. Micikevicius, 3D Finite Difference
//     Computation on GPUs using CUDA, GPGPU-2, 2009).
//
// It takes 3 x 3 taps, stride and dilation 1, zeros as padding, pairs of places, a whole gamma, up to 3 channels in and
// 3 blocks out (of all coefficient vectors), one type up to float32, map widths that its threads cover (28, 30, 32,
// 34), and problems of enough blocks. All sums have the order, and so the bits, of the kernels in factored.cuh.
#pragma once

#include "convcov/cuda/factored.cuh"

namespace gridstride::convcov::cuda::factored {

constexpr int walk_taps = 3;      // of rows and of columns
constexpr int walk_channels = 3;  // at most: in; out, of all coefficient vectors
constexpr int walk_wide = 2;      // elements in a vector of gamma

/// B = 16, 3 channels, 34 x 34 to 32 x 32, float32, in place takes 181 us (replayed graphs; 183 between events), a
/// plain kernel of the same bytes 150 to 157, on one NVIDIA H200, 2026-11-30; the best with one diagonal a block 180,
/// with four 178, with gamma by cp.async 181.
struct WalkTuning {
    int diagonals = 2, threads = 256, blocks = 2;  // of a block; blocks a multiprocessor
    std::int64_t all_blocks = 132 * 2 * 2;         // about two waves, of parts
    std::int64_t rows = 4;                         // i of a part, at least
    std::int64_t least_blocks = 200;               // fewer: the other kernels are as fast
    std::size_t shared_bytes = 47 << 10;           // what a block has without asking, but for the coefficients
};
constexpr WalkTuning walking;

/// Vectors of the outputs a thread: as many bytes in flight of halves take twice the registers.
template <class T>
constexpr int walk_vectors = sizeof(T) == 2 ? 1 : 2;

struct Walk {
    Divisor groups{1}, parts{1};                      // of diagonals; of the output rows
    Divisor lanes_in{1}, of_width{1};                 // vectors of gamma in all rows r' of a step; in one
    Divisor lanes_out{1}, of_out{1};                  // vectors of the outputs in all rows i'; in one
    int lines_in = 1, lines_out = 1;                  // q, j that a block has at once
    int rows_a_part = 1, first_row = 0, end_row = 0;  // i
    int width = 1, places = 1, wo = 1, ho = 1;
    int pitch = 1, tile = 1;  // of the sums under the rows: [q + before][d][q' + before], padding as zeros
    Side rows, columns;
    std::int64_t gamma_batch = 0, gamma_channel = 0, gamma_place = 0;
    int gamma_first_place = 0;
    Application to;
    bool bias = false;
};

// --- Device ---------------------------------------------------------------------------------------------------------

/// Where `if_so` reads what is not touched again, at this point of the program (load_once may sink to its use) and
/// without a branch, so that the reads of a thread follow each other closely.
template <class P>
__device__ void fetch(bool if_so, P& to, const P* from) {
    static_assert(sizeof(P) == 16 || sizeof(P) == 8 || sizeof(P) == 4);
    auto& bits = reinterpret_cast<Bits<P>&>(to);
    const unsigned asked = if_so ? 1 : 0;
    if constexpr (sizeof(P) == 16)
        asm volatile(
            "{.reg .pred p; setp.ne.u32 p, %5, 0;"
            "@p ld.global.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];}"
            : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w)
            : "l"(from), "r"(asked));
    else if constexpr (sizeof(P) == 8)
        asm volatile(
            "{.reg .pred p; setp.ne.u32 p, %3, 0;"
            "@p ld.global.L1::no_allocate.L2::128B.v2.u32 {%0, %1}, [%2];}"
            : "+r"(bits.x), "+r"(bits.y)
            : "l"(from), "r"(asked));
    else
        asm volatile(
            "{.reg .pred p; setp.ne.u32 p, %2, 0;"
            "@p ld.global.L1::no_allocate.L2::128B.u32 %0, [%1];}"
            : "+r"(bits)
            : "l"(from), "r"(asked));
}

/// items: vectors of gamma a thread. channels: in.
template <class T, int channels, int items>
__global__ void __launch_bounds__(walking.threads, walking.blocks)
    factored_walk_kernel(Arrays<T, T> arrays, const __grid_constant__ Walk s) {
    using A = accumulator<T, T>;
    using gridstride::cuda::widen;
    constexpr int taps = walk_taps, diagonals = walking.diagonals, threads = walking.threads;
    constexpr int wide = walk_wide, vector = wide_out<T, T>, vectors = walk_vectors<T>, lane = 16 / sizeof(A);
    using Piece = Pack<T, wide>;
    using Vector = Pack<T, vector>;
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ A factors[walk_channels];
    __shared__ std::int64_t offsets[walk_channels];
    A* const tiles = reinterpret_cast<A*>(memory);  // two
    T* const means = reinterpret_cast<T*>(tiles + 2 * s.tile);

    unsigned group = blockIdx.x;
    const unsigned b_and_part = s.groups.take(group), b = s.parts.quotient(b_and_part);
    const int begin = s.first_row + static_cast<int>(b_and_part - b * s.parts.divisor) * s.rows_a_part;
    const int end = min(begin + s.rows_a_part, s.end_row);
    const int d = static_cast<int>(group) * diagonals, last = min(diagonals, s.ho - d) - 1;
    // Rows [begin, turn) go with i' = i + d, ..., i + d + last, rows [back, end) with i' - Ho.
    const int turn = min(end, s.ho - d), back = max(begin, s.ho - d - last);
    const int steps_to = turn > begin ? turn - begin + taps - 1 : 0;
    const int steps = steps_to + (end > back ? end - back + taps - 1 : 0);
    struct Step {
        int i, shift;  // row r = i - before is read; i' - i of the first diagonal
        bool puts;     // outputs i - (taps - 1)
    };
    const auto step_of = [&](int n) {
        const bool second = n >= steps_to;
        const int of = second ? n - steps_to : n;
        return Step{of + (second ? back : begin), second ? d - s.ho : d, n < steps && of >= taps - 1};
    };

    // Of gamma: q = line + k lines_in; r', q' from the lane. All but the last item of a thread are inside.
    unsigned lane_in = threadIdx.x;
    const int own_line = static_cast<int>(s.lanes_in.take(lane_in));
    const int e_in = static_cast<int>(s.of_width.quotient(lane_in));
    const int x_in = static_cast<int>(lane_in) * wide;  // e_in W + q'
    const bool in_use = own_line < s.lines_in;
    const int line_in = min(own_line, s.lines_in - 1);
    const int last_q = min(line_in + (items - 1) * s.lines_in, s.width - 1) - line_in;
    const bool whole_in = last_q == (items - 1) * s.lines_in;
    const T* const gammas = arrays.gammas + b * s.gamma_batch + line_in * s.gamma_place + x_in;
    const std::int64_t next_in = s.lines_in * s.gamma_place, step_in = s.width * s.gamma_place + s.width;
    const auto takes = [&](int n, const Step& at) {
        const int r = at.i - s.rows.before;
        return n < steps && in_use && e_in <= last && s.rows.inside(r) && s.rows.inside(r + at.shift + e_in);
    };
    const auto gamma_of = [&](const Step& at) {
        const int r = at.i - s.rows.before;
        return gammas + (r * s.width - s.gamma_first_place) * s.gamma_place + (r + at.shift) * s.width;
    };
    Piece taken[items][channels]{};
    const auto ask = [&](bool if_so, const T* gamma, int k) {
        if (k + 1 == items) if_so = if_so && whole_in;
#pragma unroll
        for (int c = 0; c < channels; ++c)
            fetch(if_so, taken[k][c], reinterpret_cast<const Piece*>(gamma + c * s.gamma_channel + k * next_in));
    };

    // Of the outputs: j = line + k lines_out; i', j' from the lane.
    unsigned lane_out = threadIdx.x;
    const int own_row = static_cast<int>(s.lanes_out.take(lane_out));
    const int e_out = static_cast<int>(s.of_out.quotient(lane_out));
    const int x_out = static_cast<int>(lane_out) * vector;  // e_out Wo + j'
    const bool out_use = own_row < s.lines_out && e_out <= last;
    const int line_out = min(own_row, s.lines_out - 1);
    const int last_j = min(line_out + (vectors - 1) * s.lines_out, s.wo - 1) - line_out;
    const bool whole_out = last_j == (vectors - 1) * s.lines_out;
    const int first_sum = (line_out * diagonals + e_out) * s.pitch + x_out - e_out * s.wo;
    const std::int64_t out_at = b * s.to.out_batch + line_out * s.to.out_place + x_out;
    const std::int64_t next_out = s.lines_out * s.to.out_place, step_out = s.wo * s.to.out_place + s.wo;
    const bool adds = arrays.before != nullptr, in_place = static_cast<const void*>(arrays.before) == arrays.out;
    const auto there = [&](const Step& at) {
        const int i2 = at.i - (taps - 1) + at.shift + e_out;
        return at.puts && out_use && static_cast<unsigned>(i2) < static_cast<unsigned>(s.ho);
    };
    const auto place_of = [&](const Step& at) {  // of its outputs in channel 0
        const int i = at.i - (taps - 1);
        return out_at + static_cast<std::int64_t>(i - s.first_row) * s.wo * s.to.out_place + (i + at.shift) * s.wo;
    };
    Vector held[walk_channels][vectors];
#pragma unroll
    for (int c = 0; c < walk_channels; ++c)
#pragma unroll
        for (int k = 0; k < vectors; ++k) held[c][k] = nothing<T, vector>();
    const auto hold = [&](bool if_so, std::int64_t place) {
        if (!adds) return;
#pragma unroll
        for (int c = 0; c < walk_channels; ++c) {
            if (c >= s.to.all_channels) break;
            const T* const from = arrays.before + place + offsets[c];
#pragma unroll
            for (int k = 0; k < vectors; ++k)
                fetch(if_so && (k + 1 < vectors || whole_out), held[c][k],
                      reinterpret_cast<const Vector*>(from + k * next_out));
        }
    };

    {
        const Step at = step_of(0);
        const bool if_so = takes(0, at);
        const T* const gamma = gamma_of(at);
#pragma unroll
        for (int k = 0; k < items; ++k) ask(if_so, gamma, k);
    }
    for (int k = threadIdx.x; k < 2 * s.tile; k += threads) tiles[k] = A(0);
    for (int k = threadIdx.x; k < channels * s.places; k += threads)
        means[k] = arrays.mus[static_cast<std::int64_t>(b) * channels * s.places + k];
    if (const int k = threadIdx.x; k < s.to.all_channels) {
        factors[k] = arrays.coefs == nullptr ? A(1) : arrays.coefs[k * s.to.coef_stride];
        offsets[k] = s.to.offset(k);
    }
    __syncthreads();

    A begun[taps - 1][items][wide] = {};  // sums under the first rows of the outputs to come, the next one first
    A* tile = tiles;
    // Where the next step begins in gamma, and this step in the outputs. They go on by a row, but from the first
    // diagonals to the second.
    const int rows_on = back - (begin + steps_to - 1);
    const std::int64_t jump_in = rows_on * step_in - s.ho * s.width, jump_out = rows_on * step_out - s.ho * s.wo;
    const T* gamma = gamma_of(step_of(1));
    std::int64_t place = place_of(step_of(0));
#pragma unroll 1
    for (int n = 0; n < steps; ++n) {
        const Step now = step_of(n), next = step_of(n + 1);
        const bool takes_now = takes(n, now), takes_next = takes(n + 1, next);
        const std::int64_t on = n + 1 == steps_to ? jump_out : step_out;
        // Where nothing is read some mean or other stands in.
        const int r = takes_now ? now.i - s.rows.before : 0, r2 = takes_now ? r + now.shift : 0;
        const T* const mean = means + r * s.width + line_in;
        Piece other[channels];
#pragma unroll
        for (int c = 0; c < channels; ++c)
            other[c] = *reinterpret_cast<const Piece*>(means + c * s.places + r2 * s.width + (takes_now ? x_in : 0));
        A* const to = tile + ((line_in + s.columns.before) * diagonals + e_in) * s.pitch + x_in - e_in * s.width +
                      s.columns.before;
#pragma unroll
        for (int k = 0; k < items; ++k) {
            A sum[wide];  // S; where it is -0 for 0, R, which begins with 0, is the same
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                const A scale = widen<A>(mean[c * s.places + (k + 1 < items ? k * s.lines_in : last_q)]);
#pragma unroll
                for (int e = 0; e < wide; ++e) {
                    const A term = multiply_add(scale, widen<A>(other[c].at[e]), widen<A>(taken[k][c].at[e]));
                    sum[e] = c == 0 ? term : sum[e] + term;
                }
            }
            ask(takes_next, gamma, k);
            A* const at = to + k * s.lines_in * diagonals * s.pitch;
#pragma unroll
            for (int e = 0; e < wide; ++e) {
                if (!takes_now) sum[e] = A(0);
                if (now.puts && in_use && (k + 1 < items || whole_in)) at[e] = begun[0][k][e] + sum[e];
#pragma unroll
                for (int u = 0; u + 2 < taps; ++u) begun[u][k][e] = begun[u + 1][k][e] + sum[e];
                begun[taps - 2][k][e] = sum[e];
            }
        }
        gamma += n + 2 == steps_to ? jump_in : step_in;
        if (!now.puts) {
            place += on;
            hold(there(next), place);
            continue;
        }
        __syncthreads();  // one a step: the tile of the step before is still read, this one is another
        Pack<A, vector> result[vectors];
#pragma unroll
        for (int k = 0; k < vectors; ++k) {
            const A* const from = tile + first_sum + (k + 1 < vectors ? k * s.lines_out : last_j) * diagonals * s.pitch;
#pragma unroll
            for (int e = 0; e < vector; ++e) result[k].at[e] = A(0);
#pragma unroll
            for (int v = 0; v < taps; ++v) {
                constexpr int most = (vector + taps - 1 + lane - 1) / lane;
                Pack<A, lane> under[most];
#pragma unroll
                for (int p = 0; p < most; ++p)
                    if (p * lane < vector + v)
                        under[p] = *reinterpret_cast<const Pack<A, lane>*>(from + v * diagonals * s.pitch + p * lane);
#pragma unroll
                for (int e = 0; e < vector; ++e) result[k].at[e] += under[(e + v) / lane].at[(e + v) % lane];
            }
            if (s.bias)
#pragma unroll
                for (int e = 0; e < vector; ++e) result[k].at[e] += A(1);
        }
        tile = tile == tiles ? tiles + s.tile : tiles;
        const bool puts_now = there(now);
#pragma unroll
        for (int c = 0; c < walk_channels; ++c) {
            if (c >= s.to.all_channels) break;
            const A factor = factors[c];
            if (!puts_now || (factor == A(0) && in_place)) continue;
            T* const out = arrays.out + place + offsets[c];
#pragma unroll
            for (int k = 0; k < vectors; ++k) {
                if (k + 1 == vectors && !whole_out) continue;
                store_once(reinterpret_cast<Vector*>(out + k * next_out),
                           factor != A(0) ? added<T>(held[c][k], factor, result[k]) : kept<T, A>(adds, held[c][k]));
            }
        }
        place += on;
        hold(there(next), place);
    }
}

// --- Host -----------------------------------------------------------------------------------------------------------

/// A thread's vectors, in lines of `lanes` vectors: do they cover `all` lines, all but the last of them inside?
inline bool walk_covers(std::int64_t lanes, std::int64_t all, std::int64_t a_thread) {
    const std::int64_t lines = walking.threads / std::max<std::int64_t>(lanes, 1);
    return lines * a_thread >= all && lines * (a_thread - 1) <= all;
}

/// Is the problem, its number of channels and of lines of gamma aside, one for the walk?
template <class T>
bool walks(const Geometry& g, bool has_gamma, std::int64_t all_channels) {
    constexpr std::int64_t vector = wide_out<T, T>;
    const auto plain = [](const Window& w) {
        return w.taps == walk_taps && w.stride == 1 && w.dilation == 1 && !w.circular && w.in >= 1 && w.out >= 1 &&
               w.in + w.before <= w.out + walk_taps - 1;
    };
    return has_gamma && !g.half_gamma && !g.per_weight && !g.same_place() && plain(g.rows) && plain(g.columns) &&
           g.owned.count() >= 1 && all_channels <= walk_channels && g.columns.in % walk_wide == 0 &&
           g.columns.out % vector == 0 &&
           walk_covers(walking.diagonals * g.columns.out / vector, g.columns.out, walk_vectors<T>);
}

/// The numbers of a walk over all outputs of such a schedule's problem.
template <class T>
Walk walk_numbers(const Schedule& schedule) {
    using gridstride::cuda::ceil_div;
    constexpr int vector = wide_out<T, T>, lane = 16 / sizeof(accumulator<T, T>);
    const Geometry& g = schedule.g;
    const Reduction& r = schedule.reduction;
    const std::int64_t owned = g.owned.count();
    Walk s;
    s.groups = Divisor(ceil_div(g.rows.out, std::int64_t{walking.diagonals}));
    const std::int64_t wanted = walking.all_blocks / (g.batch * s.groups.divisor);
    const std::int64_t parts = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(owned / walking.rows, 1));
    s.rows_a_part = static_cast<int>(ceil_div(owned, parts));
    s.parts = Divisor(ceil_div(owned, std::int64_t{s.rows_a_part}));
    s.first_row = static_cast<int>(g.owned.begin);
    s.end_row = static_cast<int>(g.owned.end);
    s.of_width = Divisor(g.columns.in / walk_wide);
    s.lanes_in = Divisor(walking.diagonals * g.columns.in / walk_wide);
    s.lines_in = walking.threads / static_cast<int>(s.lanes_in.divisor);
    s.of_out = Divisor(g.columns.out / vector);
    s.lanes_out = Divisor(walking.diagonals * g.columns.out / vector);
    s.lines_out = walking.threads / static_cast<int>(s.lanes_out.divisor);
    s.width = static_cast<int>(g.columns.in);
    s.places = static_cast<int>(g.places_in());
    s.wo = static_cast<int>(g.columns.out);
    s.ho = static_cast<int>(g.rows.out);
    s.pitch = s.wo + (walk_taps - 1 + lane - 1) / lane * lane;  // a vector and its taps, in whole packs
    s.tile = (s.wo + walk_taps - 1) * walking.diagonals * s.pitch;
    s.rows = side_of(g.rows);
    s.columns = side_of(g.columns);
    s.gamma_batch = r.gamma_batch;
    s.gamma_channel = r.gamma_channel;
    s.gamma_place = r.gamma_place;
    s.gamma_first_place = r.gamma_first_place;
    s.to = schedule.application;
    s.bias = g.bias;
    return s;
}

/// A launch of it.
template <class T, class U>
struct WalkLaunch {
    void (*kernel)(Arrays<T, U>, Walk) = nullptr;  // null: the problem is none for it
    Walk walk;
    std::int64_t blocks = 0;
    int threads = walking.threads, busy = 0;  // of a block
    std::size_t shared = 0;
};
/// The walk over all outputs of a schedule's problem, of addresses that are multiples of 16. T: __half, __nv_bfloat16,
/// float.
template <class T>
WalkLaunch<T, T> walk_of(const Schedule& schedule, bool has_gamma);

}  // namespace gridstride::convcov::cuda::factored
