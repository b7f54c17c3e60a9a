// SPDX-License-Identifier: BSD-3-Clause
// The kernels of `factored`, the host's choice of their shapes, and the launches of one call. factored.cu is the row.
//
// reduce:  S[b, p, x] = sum over channels of gamma + mu mu, for the input places p = (r, q) and x = (r', q') that
// meet under a tap. A thread has a place p and a vector of x, and reads gamma's blocks as one stream. Channels are
// summed in groups (group_size), the groups' sums in ascending order, whoever makes them: one thread all groups, or,
// where there are few places, one thread a group and a block their sum.
//
// window: R = sum over columns v of the sum over rows u of S. A block has an i and a tile of j, i' and j': it adds S
// under the rows u into shared memory, then that under the columns v. Where that does not fit, a thread has an element
// of R and its taps.
//
// apply: accumulate + coef R. A thread has a vector of R and a channel, so that the blocks that run at a time read and
// write one stretch of memory: as fast as a plain copy, which a block with many channels is not.
//
// direct: all of it for small problems, in one launch; a thread has an element of R, of all its taps and channels.
// walk.cuh has one for few channels, in which S and R never leave a block.
//
// S and R are in the accumulator's type and lie in a workspace that the L2 holds: as many batches, or output rows of
// one batch (then the panels of S, one an input row, are a ring), as fit are done at a time: a turn. Once they are used
// the L2 drops them (S in apply, R in the next reduce) rather than write them to memory. The kernels of a turn follow
// each other by programmatic dependent launch: a kernel's blocks start as the last blocks of the one before do, load
// what that does not write, and wait for it. Turns of other batches go along beside it on a second stream, which fills
// the gaps between its kernels.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "convcov/cuda/output.cuh"

namespace gridstride::convcov::cuda::factored {

/// Channels in a group, and so the order of S's additions: of their number alone.
constexpr int most_groups = 32, group_unit = 16;
inline int group_size(std::int64_t channels) {
    using gridstride::cuda::ceil_div;
    return static_cast<int>(ceil_div(std::max<std::int64_t>(channels, 1), most_groups * group_unit) * group_unit);
}

/// Integer division by a number that the host knows: n < 2^31.
struct Divisor {
    std::uint32_t divisor = 1, magic = 1, shift = 0;

    Divisor() = default;
    explicit Divisor(std::int64_t by) : divisor(static_cast<std::uint32_t>(by)) {
        while ((std::uint64_t{1} << shift) < divisor) ++shift;
        magic = static_cast<std::uint32_t>((((std::uint64_t{1} << shift) - divisor) << 32) / divisor + 1);
    }
    __device__ unsigned quotient(unsigned n) const { return (__umulhi(n, magic) + n) >> shift; }
    __device__ unsigned remainder(unsigned n) const { return n - quotient(n) * divisor; }
    /// n / divisor; n becomes the remainder.
    __device__ unsigned take(unsigned& n) const {
        const unsigned result = quotient(n);
        n -= result * divisor;
        return result;
    }
};

/// A Window: all its places are below 2^30. lift: a multiple of `in` that lifts places of a circular one above 0.
struct Side {
    int in = 1, taps = 1, stride = 1, dilation = 1, before = 0, lift = 0;
    bool circular = false;
    Divisor of_in{1};

    __device__ int wrapped(int place) const {
        return circular ? static_cast<int>(of_in.remainder(static_cast<unsigned>(place + lift))) : place;
    }
    __device__ int position(int i, int u) const { return wrapped(i * stride + u * dilation - before); }
    __device__ bool inside(int place) const { return static_cast<unsigned>(place) < static_cast<unsigned>(in); }
};

/// How S lies: [b][panel of r][q][x], x being r' / step, q' (rows r' of another remainder never meet r). Where only
/// places with themselves count, there is one x. Of one batch there are fewer than 2^31 elements.
struct Panels {
    std::int64_t batch = 0;  // strides
    int row = 0, column = 0, second_row = 0, second_column = 0;
    int first = 0;  // r of panel 0
    Divisor count{1}, step{1};

    __device__ int of_rows(int r, int r2) const {
        return static_cast<int>(count.remainder(static_cast<unsigned>(r - first))) * row +
               static_cast<int>(step.quotient(static_cast<unsigned>(r2))) * second_row;
    }
    __device__ int of_columns(int q, int q2) const { return q * column + q2 * second_column; }
};

/// Input rows and columns that meet a row or column: [begin, end), empty where it takes no part.
constexpr int most_listed = 256;
struct Met {
    std::uint16_t begin[most_listed], end[most_listed];
};

struct Reduction {
    Panels panels;
    unsigned vectors = 0;                // threads of one group: (b, r, q, vector of x)
    Divisor of_place{1};                 // vectors of a place
    Divisor of_batch{1};                 // places of a batch
    Divisor of_width{1}, of_vectors{1};  // W; vectors in a row r'
    int width = 1, height = 1;           // W, H
    int first_row = 0;                   // r of the first place
    int channels = 0, group_size = 1, groups = 1;
    unsigned positions = 0;                                            // vectors a block, where split
    std::int64_t gamma_batch = 0, gamma_channel = 0, gamma_place = 0;  // strides
    int gamma_first_place = 0;
    bool same_place = false, half = false, listed = false;
    bool first = true;  // of its stream: wait before the first load, not before the first store
    int end_row = 0;    // of S, for what half a gamma mirrors
    Met rows_met, columns_met;
};

/// What window and direct have in common: where R's elements lie, and S or gamma under them.
struct Windowing {
    Panels panels;
    Side rows, columns;
    int first_row = 0;                 // i of the first output
    Divisor owned{1}, columns_out{1};  // output rows of a turn, Wo
    Divisor pairs{1};                  // P; 1 where places are the same
    int height_out = 1;                // Ho
    unsigned elements = 0;             // of R
    bool same_place = false, bias = false;
    // The tile of a block: j; i'; j'. Its columns of S under j and j'; blocks along j, i' and j'.
    int tall = 1, deep = 1, wide = 1;
    int under_tall = 1;
    int lines_under = 1, lines_of = 1;  // columns of S, or j, that a block has at once
    Divisor under_wide{1}, of_wide{1}, columns_under{1}, columns_of{1};
    Divisor along_j{1}, along_i2{1}, along_j2{1};
};

/// Where R goes.
struct Application {
    unsigned vectors = 0;              // of R
    Divisor of_place{1}, of_batch{1};  // vectors of an (i, j); (i, j) of a batch
    std::int64_t out_batch = 0, out_channel = 0, out_place = 0, out_shift = 0, out_vector = 0;
    Divisor channels{1};   // O
    Divisor blocks{1};     // of a chunk of channels
    int all_channels = 1;  // S O
    int coef_stride = 0;
    int pairs = 1;  // P
    bool same_place = false;

    /// Of the pairs of place (b, i, j), in channel 0.
    __device__ std::int64_t row_of(unsigned place) const {
        const unsigned b = of_batch.take(place);
        return b * out_batch + place * out_place + out_shift;
    }
    /// Of vector `at`, in channel 0.
    __device__ std::int64_t place_of(unsigned at, int vector) const {
        const unsigned place = of_place.take(at);
        return row_of(place) + static_cast<std::int64_t>(at) * vector;
    }
    /// Of channel k < S O.
    __device__ std::int64_t offset(int k) const {
        const unsigned coefficients = channels.quotient(k);
        return coefficients * out_vector + (k - coefficients * channels.divisor) * out_channel;
    }
};

/// Lines of the workspace that nothing reads again: the L2 drops them instead of writing them to memory.
constexpr int stale_line = 128;  // bytes
struct Stale {
    void* from = nullptr;
    unsigned lines = 0;
};

/// gamma, where direct reads it.
struct Blocks {
    int channels = 0, group_size = 1;
    std::int64_t batch = 0, channel = 0, place = 0;  // strides
    int first_place = 0;
    bool half = false;
};

// --- Device ---------------------------------------------------------------------------------------------------------

/// Waits for the kernel before to end, its writes seen.
__device__ inline void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the blocks of the kernel behind start once all of this one's have.
__device__ inline void release_next() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Each thread of the launch drops its share.
__device__ inline void discard(const Stale& stale) {
#if __CUDA_ARCH__ >= 800
    const unsigned all = gridDim.x * blockDim.x;
    for (unsigned line = blockIdx.x * blockDim.x + threadIdx.x; line < stale.lines; line += all)
        asm volatile("discard.global.L2 [%0], 128;"
                     :
                     : "l"(static_cast<char*>(stale.from) + std::size_t{line} * stale_line)
                     : "memory");
#endif
}

template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Pack {
    T at[n];
};

/// The type in which a vector travels.
template <class P>
using Bits = std::conditional_t<
    sizeof(P) % 16 == 0, uint4,
    std::conditional_t<sizeof(P) == 8, uint2, std::conditional_t<sizeof(P) == 4, unsigned, unsigned short>>>;

/// Reads or writes what is not touched again.
template <class P>
__device__ P load_once(const P* from) {
    static_assert(sizeof(P) == sizeof(Bits<P>));
    const Bits<P> bits = __ldcs(reinterpret_cast<const Bits<P>*>(from));
    return reinterpret_cast<const P&>(bits);
}
template <class P>
__device__ void store_once(P* to, const P& value) {
#pragma unroll
    for (unsigned k = 0; k < sizeof(P) / sizeof(Bits<P>); ++k)
        __stcs(reinterpret_cast<Bits<P>*>(to) + k, reinterpret_cast<const Bits<P>*>(&value)[k]);
}

__device__ inline float multiply_add(float a, float b, float c) {
    return fmaf(a, b, c);
}
__device__ inline double multiply_add(double a, double b, double c) {
    return fma(a, b, c);
}

/// Places p and x of S, x the first of a vector; taken: does one of these meet p?
struct Spot {
    unsigned b = 0;
    int p = 0, x = 0;
    bool taken = false;
};

template <int vector>
__device__ Spot spot_of(const Reduction& s, unsigned at) {
    Spot spot;
    unsigned place = s.of_place.take(at);  // at: of the place's vectors
    spot.b = s.of_batch.take(place);
    const int r = static_cast<int>(s.of_width.take(place)) + s.first_row, q = static_cast<int>(place);
    spot.p = r * s.width + q;
    int r2 = 0;
    if (s.same_place) {
        spot.x = spot.p;
    } else if (s.panels.step.divisor == 1) {
        spot.x = static_cast<int>(at) * vector;
    } else {
        const auto step = static_cast<int>(s.panels.step.divisor);
        r2 = static_cast<int>(s.of_vectors.take(at)) * step + static_cast<int>(s.panels.step.remainder(r));
        spot.x = r2 * s.width + static_cast<int>(at) * vector;
    }
    spot.taken = r2 < s.height && (!s.half || spot.x + vector > spot.p);
    if (!s.listed || !spot.taken) return spot;
    const int first = static_cast<int>(s.of_width.quotient(spot.x)),
              last = static_cast<int>(s.of_width.quotient(spot.x + vector - 1));
    const int begin = s.columns_met.begin[q], end = s.columns_met.end[q], q2 = spot.x - first * s.width;
    spot.taken = last >= s.rows_met.begin[r] && first < s.rows_met.end[r] && begin < end &&
                 (first != last || (q2 + vector > begin && q2 < end));
    return spot;
}

__device__ constexpr uint4 nowhere{};  // read where there is nothing to read: no load depends on a condition

/// Where a thread reads: gamma at a spot, one channel after the other, and mu at its places.
template <class T, int vector>
struct Reader {
    using Vector = Pack<T, vector>;
    const T *gamma, *first, *second;
    std::int64_t channel;
    int places;

    __device__ Reader(const T* gammas, const T* mus, const Reduction& s, const Spot& spot, int c)
        : gamma(reinterpret_cast<const T*>(&nowhere)), channel(0), places(s.height * s.width) {
        if (gammas != nullptr) {
            channel = s.gamma_channel;
            gamma =
                gammas + spot.b * s.gamma_batch + c * channel + (spot.p - s.gamma_first_place) * s.gamma_place + spot.x;
        }
        const T* const mean = mus + static_cast<std::int64_t>(spot.b) * s.channels * places;
        first = mean + spot.p;
        second = mean + spot.x;
    }
    /// The next channel's.
    __device__ void take(Vector& value) {
        value = load_once(reinterpret_cast<const Vector*>(gamma));
        gamma += channel;
    }
    __device__ void means(int c, T& scale, Vector& other) const {
        const std::int64_t at = static_cast<std::int64_t>(c) * places;
        scale = first[at];
        other = *reinterpret_cast<const Vector*>(second + at);
    }
};

/// part += gamma + mu mu.
template <class A, class T, int vector>
__device__ void add_term(Pack<A, vector>& part, T scale, const Pack<T, vector>& other, const Pack<T, vector>& taken) {
    using gridstride::cuda::widen;
#pragma unroll
    for (int e = 0; e < vector; ++e)
        part.at[e] += multiply_add(widen<A>(scale), widen<A>(other.at[e]), widen<A>(taken.at[e]));
}

/// Writes S at a spot, and what mirrors it where half a gamma is read.
template <class A, int vector>
__device__ void put_sums(A* sums, const Reduction& s, const Spot& spot, const Pack<A, vector>& total) {
    const int r = static_cast<int>(s.of_width.quotient(spot.p)), q = spot.p - r * s.width;
    const int r2 = static_cast<int>(s.of_width.quotient(spot.x)), q2 = spot.x - r2 * s.width;
    A* const batch = sums + spot.b * s.panels.batch;
    A* const to = batch + s.panels.of_rows(r, r2) + s.panels.of_columns(q, q2);
    if (!s.half) {
        *reinterpret_cast<Pack<A, vector>*>(to) = total;
        return;
    }
#pragma unroll
    for (int e = 0; e < vector; ++e) {
        const int x = spot.x + e;
        if (x < spot.p) continue;
        to[e] = total.at[e];
        const int row = static_cast<int>(s.of_width.quotient(x)), column = x - row * s.width;
        if (x > spot.p && row < s.end_row)
            batch[s.panels.of_rows(row, r) + s.panels.of_columns(column, q)] = total.at[e];
    }
}

/// A thread a vector of S. depth: loads of gamma in flight.
template <class T, class A, int vector, int depth, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_reduce_kernel(const T* gammas, const T* mus, A* sums, const __grid_constant__ Reduction s, Stale results) {
    using Vector = Pack<T, vector>;
    if (s.first) wait_for_previous();
    release_next();
    const unsigned at = blockIdx.x * threads + threadIdx.x;
    const Spot spot = at < s.vectors ? spot_of<vector>(s, at) : Spot{};
    Pack<A, vector> total{};
    if (spot.taken) {
        Reader<T, vector> reader(gammas, mus, s, spot, 0);
        Pack<A, vector> part{};
        int left = s.group_size;  // channels of the group
        const auto add = [&](int c, const Vector& taken) {
            T scale;
            Vector other;
            reader.means(c, scale, other);
            add_term(part, scale, other, taken);
        };
        const auto end_group = [&] {
#pragma unroll
            for (int e = 0; e < vector; ++e) {
                total.at[e] += part.at[e];
                part.at[e] = A(0);
            }
            left = s.group_size;
        };
        int c = 0;
#pragma unroll 1
        for (; c + depth <= s.channels; c += depth) {
            Vector taken[depth];
#pragma unroll
            for (int k = 0; k < depth; ++k) reader.take(taken[k]);
#pragma unroll
            for (int k = 0; k < depth; ++k) add(c + k, taken[k]);
            if ((left -= depth) == 0) end_group();
        }
        if (c < s.channels) {
            Vector taken[depth - 1];
#pragma unroll
            for (int k = 0; k < depth - 1; ++k)
                if (c + k < s.channels) reader.take(taken[k]);
#pragma unroll
            for (int k = 0; k < depth - 1; ++k)
                if (c + k < s.channels) add(c + k, taken[k]);
        }
        if (left < s.group_size || c < s.channels) end_group();
    }
    if (!s.first) wait_for_previous();
    discard(results);
    if (spot.taken) put_sums(sums, s, spot, total);
}

/// A thread a group of channels of a vector of S, a block all groups. depth: channels whose loads are in flight.
template <class T, class A, int vector, int depth, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_split_kernel(const T* gammas, const T* mus, A* sums, const __grid_constant__ Reduction s, Stale results) {
    using Vector = Pack<T, vector>;
    __shared__ __align__(16) Pack<A, vector> parts[threads];
    if (s.first) wait_for_previous();
    release_next();
    const unsigned group = threadIdx.x / s.positions, position = threadIdx.x - group * s.positions;
    const unsigned at = blockIdx.x * s.positions + position;
    const bool active = group < static_cast<unsigned>(s.groups) && at < s.vectors;
    const Spot spot = active ? spot_of<vector>(s, at) : Spot{};
    Pack<A, vector> part{};
    if (spot.taken) {
        const int begin = static_cast<int>(group) * s.group_size, end = min(begin + s.group_size, s.channels);
        Reader<T, vector> reader(gammas, mus, s, spot, begin);
#pragma unroll 1
        for (int c = begin; c < end; c += depth) {
            Vector taken[depth], other[depth];
            T scale[depth];
#pragma unroll
            for (int k = 0; k < depth; ++k)
                if (c + k < end) reader.take(taken[k]);
#pragma unroll
            for (int k = 0; k < depth; ++k)
                if (c + k < end) reader.means(c + k, scale[k], other[k]);
#pragma unroll
            for (int k = 0; k < depth; ++k)
                if (c + k < end) add_term(part, scale[k], other[k], taken[k]);
        }
    }
    if (group > 0) parts[threadIdx.x] = part;
    __syncthreads();
    if (!s.first) wait_for_previous();
    discard(results);
    if (group > 0 || !spot.taken) return;
    Pack<A, vector> total = part;
#pragma unroll 4
    for (int g = 1; g < s.groups; ++g)
#pragma unroll
        for (int e = 0; e < vector; ++e) total.at[e] += parts[g * s.positions + position].at[e];
    put_sums(sums, s, spot, total);
}

constexpr int tap_block = 3;  // taps of a side whose loads are in flight together

/// Places under a block of taps: the first and the second, and whether both are inside.
struct Under {
    int r[tap_block], r2[tap_block], q[tap_block], q2[tap_block];
    bool row[tap_block], column[tap_block];
};

/// R at one pair of outputs: over columns v, the sums over rows u. load(under, values) gives a block's S, [u][v].
template <class A, class Load>
__device__ A of_taps(const Windowing& s, int i, int j, int i2, int j2, Load load) {
    A sum = A(0);
    for (int v = 0; v < s.columns.taps; v += tap_block) {
        Under under;
#pragma unroll
        for (int k = 0; k < tap_block; ++k) {
            under.q[k] = s.columns.position(j, v + k);
            under.q2[k] = s.columns.position(j2, v + k);
            under.column[k] = v + k < s.columns.taps && s.columns.inside(under.q[k]) && s.columns.inside(under.q2[k]);
        }
        A columns[tap_block] = {};
        for (int u = 0; u < s.rows.taps; u += tap_block) {
#pragma unroll
            for (int k = 0; k < tap_block; ++k) {
                under.r[k] = s.rows.position(i, u + k);
                under.r2[k] = s.rows.position(i2, u + k);
                under.row[k] = u + k < s.rows.taps && s.rows.inside(under.r[k]) && s.rows.inside(under.r2[k]);
            }
            A values[tap_block * tap_block];
            load(under, values);
#pragma unroll
            for (int k = 0; k < tap_block * tap_block; ++k) columns[k % tap_block] += values[k];
        }
#pragma unroll
        for (const A column : columns) sum += column;
    }
    return sum;
}

/// S read from the workspace, of one batch.
template <class A>
struct Staged {
    const A* sums;
    const Panels& panels;

    __device__ void operator()(const Under& under, A* values) const {
        int columns[tap_block];
#pragma unroll
        for (int k = 0; k < tap_block; ++k) columns[k] = panels.of_columns(under.q[k], under.q2[k]);
#pragma unroll
        for (int k = 0; k < tap_block; ++k) {
            const int row = panels.of_rows(under.r[k], under.r2[k]);
#pragma unroll
            for (int n = 0; n < tap_block; ++n)
                values[k * tap_block + n] = under.row[k] && under.column[n] ? sums[row + columns[n]] : A(0);
        }
    }
};

/// S summed over channels on the spot, in reduce's order.
template <class A, class T>
struct Direct {
    const T *gammas, *mus;
    const Windowing& s;
    const Blocks& blocks;
    unsigned b;

    static constexpr int taps = tap_block * tap_block, channels = 2;  // in flight together

    __device__ void operator()(const Under& under, A* values) const {
        using gridstride::cuda::widen;
        const int width = s.columns.in, places = s.rows.in * width;
        int p[taps], x[taps];
        const T* gamma_at[taps];
        unsigned taking = 0;
#pragma unroll
        for (int k = 0; k < taps; ++k) {
            const int row = k / tap_block, column = k % tap_block;
            p[k] = under.r[row] * width + under.q[column];
            x[k] = under.r2[row] * width + under.q2[column];
            const bool mirrored = blocks.half && x[k] < p[k];
            gamma_at[k] = gammas + b * blocks.batch + ((mirrored ? x[k] : p[k]) - blocks.first_place) * blocks.place +
                          (mirrored ? p[k] : x[k]);
            if (under.row[row] && under.column[column]) taking |= 1u << k;
            values[k] = A(0);
        }
        const T* means = mus + static_cast<std::int64_t>(b) * blocks.channels * places;
        for (int begin = 0; begin < blocks.channels; begin += blocks.group_size) {
            const int end = min(begin + blocks.group_size, blocks.channels);
            A part[taps] = {};
            for (int c = begin; c < end; c += channels) {
                T loaded[channels][taps], first[channels][taps], second[channels][taps];
#pragma unroll
                for (int n = 0; n < channels; ++n)
#pragma unroll
                    for (int k = 0; k < taps; ++k) {
                        loaded[n][k] = first[n][k] = second[n][k] = T(0);
                        if (c + n >= end || (taking >> k & 1) == 0) continue;
                        if (gammas != nullptr) loaded[n][k] = gamma_at[k][(c + n) * blocks.channel];
                        const T* mean = means + static_cast<std::int64_t>(c + n) * places;
                        first[n][k] = mean[p[k]];
                        second[n][k] = mean[x[k]];
                    }
#pragma unroll
                for (int n = 0; n < channels; ++n)
#pragma unroll
                    for (int k = 0; k < taps; ++k)
                        part[k] += multiply_add(widen<A>(first[n][k]), widen<A>(second[n][k]), widen<A>(loaded[n][k]));
            }
#pragma unroll
            for (int k = 0; k < taps; ++k) values[k] += part[k];
        }
    }
};

/// An element of R: b; i of all rows; j; i', j'.
struct Output {
    unsigned b;
    int i, j, i2, j2;
};
__device__ inline Output output_of(const Windowing& s, unsigned at) {
    Output o;
    unsigned place = s.pairs.take(at);
    o.b = s.owned.quotient(s.columns_out.quotient(place));
    place -= o.b * s.owned.divisor * s.columns_out.divisor;
    o.i = s.first_row + static_cast<int>(s.columns_out.take(place));
    o.j = static_cast<int>(place);
    o.i2 = s.same_place ? o.i : static_cast<int>(s.columns_out.take(at));
    o.j2 = s.same_place ? o.j : static_cast<int>(at);
    return o;
}

/// R, a thread an element.
template <class A, int threads>
__global__ void __launch_bounds__(threads)
    factored_window_kernel(const A* sums, A* results, const __grid_constant__ Windowing s) {
    release_next();
    wait_for_previous();
    const unsigned at = blockIdx.x * threads + threadIdx.x;
    if (at >= s.elements) return;
    const Output o = output_of(s, at);
    const A sum = of_taps<A>(s, o.i, o.j, o.i2, o.j2, Staged<A>{sums + o.b * s.panels.batch, s.panels});
    results[at] = s.bias ? sum + A(1) : sum;
}

/// R, a block a tile of it. in_a_block: taps of each axis fit one block of taps.
template <class A, int threads, bool in_a_block>
__global__ void __launch_bounds__(threads)
    factored_tiled_window_kernel(const A* sums, A* results, const __grid_constant__ Windowing s) {
    extern __shared__ __align__(16) unsigned char memory[];
    A* const under = reinterpret_cast<A*>(memory);  // [columns under j][i'][columns under j'], added over the rows u
    release_next();
    wait_for_previous();
    unsigned at = blockIdx.x;
    const unsigned b_and_i = s.along_j.quotient(s.along_i2.quotient(s.along_j2.quotient(at)));
    at -= b_and_i * s.along_j.divisor * s.along_i2.divisor * s.along_j2.divisor;
    const unsigned j_and_i2 = s.along_j2.take(at), j_tile = s.along_i2.quotient(j_and_i2);
    const int first_j2 = static_cast<int>(at) * s.wide, first_j = static_cast<int>(j_tile) * s.tall;
    const int first_i2 = static_cast<int>(j_and_i2 - j_tile * s.along_i2.divisor) * s.deep;
    const unsigned b = s.owned.quotient(b_and_i);
    const int i = s.first_row + static_cast<int>(b_and_i - b * s.owned.divisor);
    const int pitch = static_cast<int>(s.columns_under.divisor), row_taps = in_a_block ? 1 : s.rows.taps;

    {
        unsigned column = threadIdx.x;
        const int line = static_cast<int>(s.columns_under.take(column)), lines = s.lines_under;
        unsigned of_row = column;
        const int i2 = first_i2 + static_cast<int>(s.under_wide.take(of_row));
        const int q2 = first_j2 * s.columns.stride - s.columns.before + static_cast<int>(of_row);
        const int first_q = first_j * s.columns.stride - s.columns.before;
        const bool taken = i2 < s.height_out && s.columns.inside(q2);
        const A* const from = sums + b * s.panels.batch + q2 * s.panels.second_column +
                              static_cast<std::int64_t>(first_q + line) * s.panels.column;
        for (int first_tap = 0; line < lines && first_tap < row_taps; first_tap += tap_block) {
            const A* row[tap_block];
            std::int64_t next[tap_block];  // from line to line
#pragma unroll
            for (int k = 0; k < tap_block; ++k) {
                const int u = first_tap + k, shift = u * s.rows.dilation - s.rows.before;
                const int r = i * s.rows.stride + shift, r2 = i2 * s.rows.stride + shift;
                const bool there = taken && u < s.rows.taps && s.rows.inside(r) && s.rows.inside(r2);
                row[k] = there ? from + s.panels.of_rows(r, r2) : reinterpret_cast<const A*>(&nowhere);
                next[k] = there ? static_cast<std::int64_t>(lines) * s.panels.column : 0;
            }
            constexpr int at_once = 5;
            for (int first = line; first < s.under_tall; first += at_once * lines) {
                A values[at_once][tap_block];
#pragma unroll
                for (int k = 0; k < at_once; ++k) {
                    const int a = first + k * lines;
                    const bool in = a < s.under_tall && s.columns.inside(first_q + a);
#pragma unroll
                    for (int n = 0; n < tap_block; ++n) {
                        values[k][n] = in ? *row[n] : A(0);
                        row[n] += next[n];
                    }
                }
#pragma unroll
                for (int k = 0; k < at_once; ++k) {
                    const int a = first + k * lines;
                    if (a >= s.under_tall) break;
                    A* const to = under + a * pitch + column;
                    A sum = in_a_block || first_tap == 0 ? A(0) : *to;
#pragma unroll
                    for (int n = 0; n < tap_block; ++n) sum += values[k][n];
                    *to = sum;
                }
            }
        }
    }
    __syncthreads();

    unsigned column = threadIdx.x;
    const int line = static_cast<int>(s.columns_of.take(column)), lines = s.lines_of;
    unsigned of_row = column;
    const int i2 = static_cast<int>(s.of_wide.take(of_row)), j2 = static_cast<int>(of_row);
    const int wo = static_cast<int>(s.columns_out.divisor), tall = min(s.tall, wo - first_j);
    if (line >= lines || first_i2 + i2 >= s.height_out || first_j2 + j2 >= wo) return;
    const A* from =
        under + i2 * static_cast<int>(s.under_wide.divisor) + j2 * s.columns.stride + line * s.columns.stride * pitch;
    A* to = results + (static_cast<std::int64_t>(b_and_i) * wo + first_j + line) * s.pairs.divisor +
            (first_i2 + i2) * wo + first_j2 + j2;
    const int next_tap = s.columns.dilation * (pitch + 1), next = lines * s.columns.stride * pitch;
    const std::int64_t next_to = static_cast<std::int64_t>(lines) * s.pairs.divisor;
    const int column_taps = in_a_block ? 1 : s.columns.taps;
#pragma unroll 4
    for (int j = line; j < tall; j += lines) {
        A sum = A(0);
        for (int v = 0; v < column_taps; v += tap_block)
#pragma unroll
            for (int k = 0; k < tap_block; ++k)
                if (v + k < s.columns.taps) sum += from[(v + k) * next_tap];
        *to = s.bias ? sum + A(1) : sum;
        from += next;
        to += next_to;
    }
}

/// Rounded once.
template <class U, class A, int n>
__device__ Pack<U, n> narrowed(const Pack<A, n>& from) {
    Pack<U, n> to;
    if constexpr (sizeof(U) == 2 && std::is_same_v<A, float> && n % 2 == 0) {  // two by one instruction
#pragma unroll
        for (int e = 0; e < n; e += 2) {
            if constexpr (std::is_same_v<U, __half>)
                *reinterpret_cast<__half2*>(to.at + e) = __floats2half2_rn(from.at[e], from.at[e + 1]);
            else
                *reinterpret_cast<__nv_bfloat162*>(to.at + e) = __floats2bfloat162_rn(from.at[e], from.at[e + 1]);
        }
    } else {
#pragma unroll
        for (int e = 0; e < n; ++e) to.at[e] = gridstride::cuda::narrow<U>(from.at[e]);
    }
    return to;
}

/// What accumulate adds where there is none: x + -0 is x, of x = -0 too.
template <class T, int n>
__device__ Pack<T, n> nothing() {
    Pack<T, n> result;
#pragma unroll
    for (int e = 0; e < n; ++e) result.at[e] = gridstride::cuda::narrow<T>(-0.0f);
    return result;
}

/// accumulate + factor R.
template <class U, class T, class A, int n>
__device__ Pack<U, n> added(const Pack<T, n>& before, A factor, const Pack<A, n>& result) {
    Pack<A, n> sum;
#pragma unroll
    for (int e = 0; e < n; ++e)
        sum.at[e] = multiply_add(factor, result.at[e], gridstride::cuda::widen<A>(before.at[e]));
    return narrowed<U>(sum);
}

/// The same where the factor is 0, whatever R: accumulate, its bits where the types are one; 0 without.
template <class U, class A, class T, int n>
__device__ Pack<U, n> kept(bool adds, const Pack<T, n>& before) {
    if (!adds) return {};
    if constexpr (std::is_same_v<T, U>) {
        return before;
    } else {
        Pack<A, n> same;
#pragma unroll
        for (int e = 0; e < n; ++e) same.at[e] = gridstride::cuda::widen<A>(before.at[e]);
        return narrowed<U>(same);
    }
}

/// `items` vectors of R a thread, of `together` channels.
template <class T, class U, int vector, int items, int together, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_apply_kernel(Arrays<T, U> arrays, const accumulator<T, U>* results, const __grid_constant__ Application s,
                          Stale sums) {
    using A = accumulator<T, U>;
    const unsigned chunk = s.blocks.quotient(blockIdx.x);
    const unsigned first = (blockIdx.x - chunk * s.blocks.divisor) * threads * items + threadIdx.x;
    const int channel = static_cast<int>(chunk) * together;
    const bool adds = arrays.before != nullptr;
    std::int64_t at[together][items];
    Pack<T, vector> held[together][items];
    A factor[together];
#pragma unroll
    for (int k = 0; k < together; ++k) {
        const bool there = channel + k < s.all_channels;
        const std::int64_t offset = s.offset(channel + k);
        factor[k] = there && arrays.coefs != nullptr ? arrays.coefs[(channel + k) * s.coef_stride] : A(1);
#pragma unroll
        for (int n = 0; n < items; ++n) {
            const unsigned mine = first + n * threads;
            at[k][n] = there && mine < s.vectors ? offset + s.place_of(mine, vector) : -1;
            held[k][n] = nothing<T, vector>();
            if (adds && at[k][n] >= 0)  // nothing before in this call writes it
                held[k][n] = load_once(reinterpret_cast<const Pack<T, vector>*>(arrays.before + at[k][n]));
        }
    }
    wait_for_previous();
    release_next();
    discard(sums);
    Pack<A, vector> result[items]{};
#pragma unroll
    for (int n = 0; n < items; ++n)
        if (first + n * threads < s.vectors)
            result[n] = reinterpret_cast<const Pack<A, vector>*>(results)[first + n * threads];
#pragma unroll
    for (int k = 0; k < together; ++k)
#pragma unroll
        for (int n = 0; n < items; ++n) {
            if (at[k][n] < 0) continue;
            auto* const to = reinterpret_cast<Pack<U, vector>*>(arrays.out + at[k][n]);
            if (factor[k] != A(0))
                store_once(to, added<U>(held[k][n], factor[k], result[n]));
            else if (static_cast<const void*>(arrays.before) != arrays.out)
                store_once(to, kept<U, A>(adds, held[k][n]));
        }
}

/// The same where the outputs' rows of pairs begin anywhere: a thread has a vector of memory, and of it what is of its
/// row.
template <class T, int vector, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_ragged_apply_kernel(Arrays<T, T> arrays, const accumulator<T, T>* results,
                                 const __grid_constant__ Application s, Stale sums) {
    using A = accumulator<T, T>;
    using Vector = Pack<T, vector>;
    constexpr int lane = 16 / sizeof(A);
    const unsigned channel = s.blocks.quotient(blockIdx.x);
    unsigned at = (blockIdx.x - channel * s.blocks.divisor) * threads + threadIdx.x;
    const bool there = at < s.vectors;
    const unsigned row = s.of_place.take(at);
    const std::int64_t begin = s.offset(static_cast<int>(channel)) + s.row_of(row);
    const int before_row = static_cast<int>(reinterpret_cast<std::uintptr_t>(arrays.out + begin) / sizeof(T) % vector);
    const int x = static_cast<int>(at) * vector - before_row;
    const int from = max(-x, 0), to = there ? min(s.pairs - x, vector) : 0;
    const bool adds = arrays.before != nullptr, whole = from == 0 && to == vector;
    const A factor = arrays.coefs == nullptr ? A(1) : arrays.coefs[static_cast<int>(channel) * s.coef_stride];
    Vector held = nothing<T, vector>();
    if (adds) {
        const T* const before = arrays.before + begin + x;
        if (whole)
            held = load_once(reinterpret_cast<const Vector*>(before));
        else
#pragma unroll
            for (int e = 0; e < vector; ++e)
                if (e >= from && e < to) held.at[e] = before[e];
    }
    wait_for_previous();
    release_next();
    discard(sums);
    const std::int64_t of_result = static_cast<std::int64_t>(row) * s.pairs + x;
    Pack<A, vector> result{};
    if (whole && of_result % lane == 0)
        result = *reinterpret_cast<const Pack<A, vector>*>(results + of_result);
    else
#pragma unroll
        for (int e = 0; e < vector; ++e)
            if (e >= from && e < to) result.at[e] = results[of_result + e];
    if (factor == A(0) && static_cast<const void*>(arrays.before) == arrays.out) return;
    const Vector sum = factor != A(0) ? added<T>(held, factor, result) : kept<T, A>(adds, held);
    T* const out = arrays.out + begin + x;
    if (whole)
        store_once(reinterpret_cast<Vector*>(out), sum);
    else
#pragma unroll
        for (int e = 0; e < vector; ++e)
            if (e >= from && e < to) out[e] = sum.at[e];
}

/// An element of R a thread, summed from gamma and mu, of `together` channels.
template <class T, class U, int together, int threads>
__global__ void __launch_bounds__(threads)
    factored_direct_kernel(Arrays<T, U> arrays, const __grid_constant__ Windowing s,
                           const __grid_constant__ Blocks blocks, const __grid_constant__ Application to) {
    using A = accumulator<T, U>;
    const unsigned chunk = to.blocks.quotient(blockIdx.x);
    const unsigned element = (blockIdx.x - chunk * to.blocks.divisor) * threads + threadIdx.x;
    if (element >= s.elements) return;
    const int channel = static_cast<int>(chunk) * together;
    const bool adds = arrays.before != nullptr;
    const std::int64_t place = to.place_of(element, 1);
    Pack<T, 1> held[together];
#pragma unroll
    for (int k = 0; k < together; ++k) {
        held[k] = nothing<T, 1>();
        if (adds && channel + k < to.all_channels) held[k].at[0] = arrays.before[place + to.offset(channel + k)];
    }
    const Output o = output_of(s, element);
    const A sum = of_taps<A>(s, o.i, o.j, o.i2, o.j2, Direct<A, T>{arrays.gammas, arrays.mus, s, blocks, o.b});
    const Pack<A, 1> result{s.bias ? sum + A(1) : sum};
#pragma unroll
    for (int k = 0; k < together; ++k) {
        if (channel + k >= to.all_channels) break;
        const A factor = arrays.coefs == nullptr ? A(1) : arrays.coefs[(channel + k) * to.coef_stride];
        U* const out = arrays.out + place + to.offset(channel + k);
        if (factor != A(0))
            *out = added<U>(held[k], factor, result).at[0];
        else if (static_cast<const void*>(arrays.before) != arrays.out)
            *out = kept<U, A>(adds, held[k]).at[0];
    }
}

// --- Host -----------------------------------------------------------------------------------------------------------

constexpr std::int64_t multiprocessors = 132;  // of the device it is tuned for

/// What decides speed alone.
struct Tuning {
    std::int64_t turn_bytes = 40 << 20;      // of S and R at a time
    std::int64_t streamed_bytes = 64 << 20;  // of gamma and the outputs; from there on S and R do not stay in the L2
    std::int64_t direct_terms = 1 << 21;     // of all outputs; no more, and R is summed directly
    std::int64_t split_threads = multiprocessors * 512;  // of reduce; fewer, and groups of channels are split
    std::int64_t tile_bytes = 24 << 10;                  // of S under a tile of window, at most
    std::int64_t tall = 16;                              // j of a tile, at most
    std::int64_t blocks = multiprocessors * 2;           // of window; fewer, and its tiles are lower
};

/// Of a kernel: threads a block (of split: at most), blocks a multiprocessor (so many registers).
struct Shape {
    int threads, blocks;
};
struct Shapes {
    int depth;     // of reduce
    int together;  // of apply, of halves
    Shape reduce, split, window, apply, direct;
};

inline Side side_of(const Window& window) {
    Side side;
    side.in = static_cast<int>(window.in);
    side.taps = static_cast<int>(window.taps);
    side.stride = static_cast<int>(window.stride);
    side.dilation = static_cast<int>(window.dilation);
    side.before = static_cast<int>(window.before);
    side.circular = window.circular;
    const std::int64_t in = std::max<std::int64_t>(window.in, 1);
    side.lift = static_cast<int>(gridstride::cuda::ceil_div(window.before, in) * in);
    side.of_in = Divisor(in);
    return side;
}

/// Fills `met`. Returns the pairs that meet.
inline std::int64_t list_met(const Window& window, Interval outputs, Met& met) {
    std::int64_t pairs = 0;
    for (std::int64_t r = 0; r < window.in; ++r) {
        const Interval partners = window.partners(r, outputs);
        Interval range;
        if (partners.count() > 0) {
            range = {0, window.in};  // where they wrap
            if (!window.circular)
                range = {r + partners.begin * window.stride, r + (partners.end - 1) * window.stride + 1};
        }
        met.begin[r] = static_cast<std::uint16_t>(range.begin);
        met.end[r] = static_cast<std::uint16_t>(range.end);
        pairs += range.count();
    }
    return pairs;
}

/// A part of a problem done at a time: batches [b, b + batches), output rows [rows), the input rows they add to S.
struct Turn {
    std::int64_t b = 0, batches = 0;
    Interval rows, fresh;
    bool beside = false;  // on the second stream

    std::int64_t lines() const { return batches * rows.count(); }  // (b, i)
};

/// A problem on its way: all but the addresses.
struct Schedule {
    Geometry g;
    bool direct = false, split = false, half = false, tiled = false;
    bool streams = false, abreast = false;           // more than the L2 holds; turns on two streams
    bool ragged = false;                             // vectors of the outputs lie over two rows of pairs
    int wide_in = 1, wide_out = 1;                   // elements in a vector of gamma, of the outputs
    std::int64_t batches = 1, rows = 1, panels = 1;  // in a turn: batches, output rows; input rows of S
    std::int64_t sums = 0, results = 0;              // elements of S and R of a turn
    std::size_t tile_bytes = 0;
    Interval reach;       // input rows that S has over all turns
    Reduction reduction;  // of the first turn, as far as turns are alike
    Windowing windowing;
    Application application;
    Blocks blocks;

    /// Elements of the workspace: S and R of one turn, or of two abreast.
    std::int64_t workspace() const { return (abreast ? 2 : 1) * (sums + results); }

    std::vector<Turn> turns() const {
        std::vector<Turn> result;
        for (std::int64_t b = 0; b < g.batch; b += batches) {
            std::int64_t made = reach.begin;
            for (std::int64_t i = g.owned.begin; i < g.owned.end; i += rows) {
                Turn turn{b, std::min(batches, g.batch - b), {i, std::min(i + rows, g.owned.end)}, {}};
                turn.beside = abreast && b / batches % 2 == 1;
                const std::int64_t end = turn.rows.end == g.owned.end ? reach.end : g.rows.reach(turn.rows).end;
                turn.fresh = {made, std::max(made, end)};
                made = turn.fresh.end;
                result.push_back(turn);
            }
        }
        return result;
    }
};

/// Why the numbers of a problem do not fit; empty: they do.
inline std::string too_large(const Geometry& g) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (std::max(extent(g.rows, tap_block), extent(g.columns, tap_block)) >= most)
        return "a padded side of the map is 2^30 or longer";
    if (std::max(g.places_in(), g.places_out()) >= most) return "the map has 2^30 places or more";
    if (std::max(g.channels_in, std::max<std::int64_t>(g.vectors, 1) * g.channels_out) >= most)
        return "there are 2^30 channels or more";
    return {};
}

/// The tiles of window, of `threads` a block and so many (b, i). Not tiled: none fits.
inline void tile(Schedule& schedule, std::int64_t lines, std::int64_t sum, std::int64_t threads, const Tuning& tuning) {
    using gridstride::cuda::ceil_div;
    const Window& along = schedule.g.columns;
    const std::int64_t wo = along.out, ho = schedule.g.rows.out, reach = along.dilation * (along.taps - 1);
    const auto under = [&](std::int64_t outputs) { return (outputs - 1) * along.stride + reach + 1; };
    const auto even = [&](std::int64_t all, std::int64_t most) { return ceil_div(all, ceil_div(all, most)); };
    const std::int64_t most = std::min(threads, tuning.tile_bytes / sum / under(1));  // columns under a tile
    if (wo < 1 || ho < 1 || under(1) > most) return;
    const std::int64_t wide = even(wo, std::min(wo, (most - under(1)) / along.stride + 1));
    const std::int64_t deep = even(ho, std::min(ho, most / under(wide)));
    const std::int64_t columns = deep * under(wide), most_tall = tuning.tile_bytes / sum / columns;
    std::int64_t tall = std::min({wo, tuning.tall, (most_tall - under(1)) / along.stride + 1});
    const std::int64_t others = lines * ceil_div(ho, deep) * ceil_div(wo, wide);
    while (tall > 2 && others * ceil_div(wo, tall) < tuning.blocks) tall = ceil_div(tall, 2);
    tall = even(wo, tall);

    schedule.tiled = true;
    schedule.tile_bytes = static_cast<std::size_t>(under(tall) * columns * sum);
    Windowing& w = schedule.windowing;
    w.tall = static_cast<int>(tall);
    w.deep = static_cast<int>(deep);
    w.wide = static_cast<int>(wide);
    w.under_tall = static_cast<int>(under(tall));
    w.lines_under = static_cast<int>(threads / columns);
    w.lines_of = static_cast<int>(threads / (deep * wide));
    w.under_wide = Divisor(under(wide));
    w.of_wide = Divisor(wide);
    w.columns_under = Divisor(columns);
    w.columns_of = Divisor(deep * wide);
    w.along_j = Divisor(ceil_div(wo, tall));
    w.along_i2 = Divisor(ceil_div(ho, deep));
    w.along_j2 = Divisor(ceil_div(wo, wide));
}

/// What the types of a problem say: bytes of the accumulator, of an element of the inputs and of the outputs, elements
/// in a vector of each that addresses allow.
struct Types {
    std::int64_t sum = 4, in = 4, out = 4;
    int wide_in = 1, wide_out = 1;
};

/// one_coef: a number for all channels.
inline Schedule schedule(const Geometry& g, bool has_gamma, bool one_coef, const Types& types, const Tuning& tuning,
                         const Shapes& shapes) {
    using gridstride::cuda::ceil_div;
    const bool same = g.same_place();
    const std::int64_t w = g.columns.in, n = g.places_in(), p = same ? 1 : g.places_out(), sum = types.sum;
    const std::int64_t step = g.circular || same ? 1 : g.rows.stride;
    const std::int64_t all_channels = std::max<std::int64_t>(g.vectors, 1) * g.channels_out;
    const std::int64_t row = g.columns.out * p, places = g.owned.count() * g.columns.out;  // of R; (i, j) of a batch

    Schedule result;
    result.g = g;
    result.half = has_gamma && g.half_gamma && !same;
    result.reach = result.half ? g.gamma_rows : g.rows.reach(g.owned);
    const std::int64_t all_rows = result.reach.count();
    const double outputs = static_cast<double>(g.batch * places) * static_cast<double>(p);
    result.direct = outputs * static_cast<double>(g.channels_in * g.rows.taps * g.columns.taps) <
                    static_cast<double>(tuning.direct_terms);
    result.wide_in = same || (step == 1 ? n : w) % types.wide_in != 0 ? 1 : types.wide_in;
    const bool fits = p % types.wide_out == 0;
    result.ragged = !result.direct && !same && !fits && p >= 8 * types.wide_out;
    result.wide_out = result.ragged || (!result.direct && !same && fits) ? types.wide_out : 1;

    // Turns.
    constexpr std::int64_t most = 1 << 28;  // places at a time: so numbers of rows and blocks stay below 2^31
    const std::int64_t pitch = same ? 1 : ceil_div(ceil_div(g.rows.in, step) * w, 4) * 4, panel = w * pitch;
    const double streamed =
        outputs * static_cast<double>(all_channels * types.out) +
        static_cast<double>(g.batch * all_rows * w * g.channels_in * types.in) * static_cast<double>(same ? 1 : n);
    result.streams = !result.direct && streamed >= static_cast<double>(tuning.streamed_bytes);
    result.abreast = result.streams && g.batch > 1;
    const std::int64_t turn_bytes = result.abreast ? tuning.turn_bytes / 2 : tuning.turn_bytes;
    result.batches = most / std::max({places, all_rows * w, std::int64_t{1}});
    const std::int64_t all_bytes = std::max<std::int64_t>((all_rows * panel + g.owned.count() * row) * sum, 1);
    if (!result.direct) result.batches = std::min(result.batches, turn_bytes / all_bytes);
    if (result.abreast) result.batches = std::min(result.batches, ceil_div(g.batch, 2));
    result.batches = std::clamp<std::int64_t>(result.batches, 1, std::max<std::int64_t>(g.batch, 1));
    result.rows = std::max<std::int64_t>(g.owned.count(), 1);
    result.panels = std::max<std::int64_t>(all_rows, 1);
    if (!result.direct && !result.half && !g.circular && all_bytes > turn_bytes) {
        const std::int64_t span = g.rows.dilation * (g.rows.taps - 1) + 1;
        const std::int64_t left = turn_bytes / sum - span * panel;
        result.rows =
            std::clamp<std::int64_t>(left / std::max<std::int64_t>(g.rows.stride * panel + row, 1), 1, result.rows);
        result.panels = std::min(result.panels, (result.rows - 1) * g.rows.stride + span);
    }
    constexpr std::int64_t unit = 64;  // elements: addresses stay multiples of 256
    if (!result.direct) {
        result.sums = ceil_div(result.batches * result.panels * panel, unit) * unit;
        result.results = ceil_div(result.batches * result.rows * row, unit) * unit;
    }

    Reduction& r = result.reduction;
    r.panels.batch = result.panels * panel;
    r.panels.row = static_cast<int>(panel);
    r.panels.column = static_cast<int>(pitch);
    r.panels.second_row = same ? 0 : static_cast<int>(w);
    r.panels.second_column = same ? 0 : 1;
    r.panels.first = static_cast<int>(result.reach.begin);
    r.panels.count = Divisor(result.panels);
    r.panels.step = Divisor(step);
    r.width = static_cast<int>(w);
    r.height = static_cast<int>(g.rows.in);
    r.of_place = Divisor(same ? 1 : std::max<std::int64_t>(ceil_div(g.rows.in, step) * w / result.wide_in, 1));
    r.of_width = Divisor(std::max<std::int64_t>(w, 1));
    r.of_vectors = Divisor(std::max<std::int64_t>(w / result.wide_in, 1));
    r.channels = static_cast<int>(g.channels_in);
    r.group_size = group_size(g.channels_in);
    r.groups = static_cast<int>(std::max<std::int64_t>(ceil_div(g.channels_in, r.group_size), 1));
    r.gamma_place = (g.full_gamma ? g.channels_in : 1) * n;
    r.gamma_channel = g.gamma_rows.count() * w * r.gamma_place + (g.full_gamma ? n : 0);
    r.gamma_batch = g.channels_in * g.gamma_rows.count() * w * r.gamma_place;
    r.gamma_first_place = static_cast<int>(g.gamma_rows.begin * w);
    r.same_place = same;
    r.half = result.half;
    r.end_row = static_cast<int>(result.reach.end);
    if (std::max(g.rows.in, w) <= most_listed && (!result.half || g.owned.count() == g.rows.out)) {
        const std::int64_t rows = list_met(g.rows, g.owned, r.rows_met);
        const std::int64_t columns = list_met(g.columns, {0, g.columns.out}, r.columns_met);
        r.listed = rows * columns * 16 < n * n * 15;  // else the few that never meet cost less than the question
    }
    result.split = !result.direct && !r.half && !same && r.groups > 1 &&
                   result.batches * all_rows * w * r.of_place.divisor < tuning.split_threads;

    Windowing& window = result.windowing;
    window.panels = r.panels;
    window.rows = side_of(g.rows);
    window.columns = side_of(g.columns);
    window.columns_out = Divisor(std::max<std::int64_t>(g.columns.out, 1));
    window.pairs = Divisor(std::max<std::int64_t>(p, 1));
    window.height_out = static_cast<int>(g.rows.out);
    window.same_place = same;
    window.bias = g.bias;
    if (!result.direct && !same && !g.circular)
        tile(result, result.batches * result.rows, sum, shapes.window.threads, tuning);

    Application& a = result.application;
    const std::int64_t block = g.form == Form::variance ? 1 : g.places_out();
    const bool diagonal = same && g.form != Form::variance;
    a.out_place = g.form == Form::full ? g.channels_out * block : block;
    a.out_channel = places * a.out_place + (g.form == Form::full ? block : 0);
    a.out_batch = g.channels_out * places * a.out_place;
    a.out_vector = g.batch * a.out_batch;
    if (diagonal) a.out_place += 1;
    const std::int64_t over = result.ragged ? 2 * (result.wide_out - 1) : 0;  // vectors that a row lies over, at most
    a.of_place = Divisor(std::max<std::int64_t>((p + over) / result.wide_out, 1));
    a.pairs = static_cast<int>(p);
    a.channels = Divisor(std::max<std::int64_t>(g.channels_out, 1));
    a.all_channels = static_cast<int>(all_channels);
    a.coef_stride = one_coef ? 0 : 1;
    a.same_place = diagonal;

    result.blocks = {r.channels,    r.group_size,        r.gamma_batch, r.gamma_channel,
                     r.gamma_place, r.gamma_first_place, result.half};
    return result;
}

/// The numbers of one turn.
inline Reduction reduction_of(const Schedule& schedule, const Turn& turn, const Shapes& shapes) {
    using gridstride::cuda::ceil_div;
    Reduction r = schedule.reduction;
    const std::int64_t places = turn.fresh.count() * r.width;
    r.first_row = static_cast<int>(turn.fresh.begin);
    r.of_batch = Divisor(std::max<std::int64_t>(places, 1));
    const std::int64_t vectors = turn.batches * places * r.of_place.divisor;
    r.vectors = static_cast<unsigned>(vectors);
    r.positions = static_cast<unsigned>(  // where split: a block a multiprocessor, if that is enough
        std::clamp<std::int64_t>(ceil_div(vectors, multiprocessors), 1, shapes.split.threads / r.groups));
    return r;
}
inline Windowing windowing_of(const Schedule& schedule, const Turn& turn) {
    Windowing w = schedule.windowing;
    w.first_row = static_cast<int>(turn.rows.begin);
    w.owned = Divisor(turn.rows.count());
    w.elements = static_cast<unsigned>(turn.lines() * schedule.g.columns.out * w.pairs.divisor);
    return w;
}
/// overlaps: its blocks may start before the kernel before has ended (it waits for that itself).
template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t blocks, int threads, std::size_t shared, bool overlaps, cudaStream_t stream,
            Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlaps ? 1 : 0;
    gridstride::cuda::check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// Elements in a vector of the inputs: 16 bytes of the inputs or of their sums, but no more than 4 (maps of 4 n places
/// are common, and 8 bytes enough).
template <class T, class A>
constexpr int wide_in = 16 / sizeof(A);
/// Of the outputs. Inputs of another type than the result are rare: one at a time.
template <class T, class U>
constexpr int wide_out = std::is_same_v<T, U> ? 16 / sizeof(T) : 1;
/// Of apply: vectors a thread, so that short ones keep the memory busy.
constexpr int items_of(int vector) {
    return vector > 1 ? 1 : 4;
}
constexpr int direct_together = 8;  // channels of direct

/// Of reduce, element by element: as many bytes in flight of halves.
template <class T>
constexpr int depth_of(const Shapes& shapes) {
    return sizeof(T) == 2 ? 2 * shapes.depth : shapes.depth;
}

/// The kernels of a schedule: null where it has none.
template <class T, class U>
struct Kernels {
    using A = accumulator<T, U>;
    void (*reduce)(const T*, const T*, A*, Reduction, Stale) = nullptr;
    void (*window)(const A*, A*, Windowing) = nullptr;
    void (*apply)(Arrays<T, U>, const A*, Application, Stale) = nullptr;
    void (*direct)(Arrays<T, U>, Windowing, Blocks, Application) = nullptr;
    Shape shape_reduce, shape_output;  // of reduce; of apply or direct
    int items = 1, channels = 1;       // of apply or direct: vectors a thread, channels at once
};

template <const Shapes& shapes, class T, class U>
Kernels<T, U> kernels_of(const Schedule& schedule) {
    using A = accumulator<T, U>;
    constexpr int wide = wide_in<T, A>;
    constexpr Shape reduce = shapes.reduce, split = shapes.split, apply = shapes.apply;
    Kernels<T, U> result;
    if constexpr (std::is_same_v<T, U>) {
        if (schedule.direct) {
            result.direct = factored_direct_kernel<T, U, direct_together, shapes.direct.threads>;
            result.shape_output = shapes.direct;
            result.channels = direct_together;
            return result;
        }
    }
    result.shape_reduce = schedule.split ? split : reduce;
    if (schedule.split)
        result.reduce = schedule.wide_in == 1
                            ? factored_split_kernel<T, A, 1, shapes.depth, split.threads, split.blocks>
                            : factored_split_kernel<T, A, wide, shapes.depth, split.threads, split.blocks>;
    else
        result.reduce = schedule.wide_in == 1
                            ? factored_reduce_kernel<T, A, 1, depth_of<T>(shapes), reduce.threads, reduce.blocks>
                            : factored_reduce_kernel<T, A, wide, shapes.depth, reduce.threads, reduce.blocks>;
    constexpr int threads = shapes.window.threads;
    const bool in_a_block = std::max(schedule.g.rows.taps, schedule.g.columns.taps) <= tap_block;
    result.window = !schedule.tiled ? factored_window_kernel<A, threads>
                    : in_a_block    ? factored_tiled_window_kernel<A, threads, true>
                                    : factored_tiled_window_kernel<A, threads, false>;
    if constexpr (std::is_same_v<T, U>) {
        if (schedule.ragged) {
            result.apply = factored_ragged_apply_kernel<T, wide_out<T, T>, apply.threads, apply.blocks>;
            result.shape_output = apply;
            return result;
        }
    }
    const auto output = [&]<int vector>() {
        constexpr int items = items_of(vector), channels = sizeof(U) == 2 ? shapes.together : 1;
        result.apply = factored_apply_kernel<T, U, vector, items, channels, apply.threads, apply.blocks>;
        result.items = items;
        result.channels = channels;
    };
    schedule.wide_out == 1 ? output.template operator()<1>() : output.template operator()<wide_out<T, U>>();
    result.shape_output = apply;
    return result;
}

template <class T, class U>
Application application_of(const Schedule& schedule, const Turn& turn, const Kernels<T, U>& kernels) {
    Application a = schedule.application;
    const std::int64_t wo = schedule.g.columns.out;
    a.of_batch = Divisor(std::max<std::int64_t>(turn.rows.count() * wo, 1));
    a.out_shift = a.same_place ? turn.rows.begin * wo : 0;
    a.vectors = static_cast<unsigned>(turn.lines() * wo * a.of_place.divisor);
    a.blocks = Divisor(gridstride::cuda::ceil_div(std::int64_t{a.vectors},
                                                  std::int64_t{kernels.shape_output.threads} * kernels.items));
    return a;
}
/// Of apply, or of direct.
template <class T, class U>
std::int64_t output_blocks(const Kernels<T, U>& kernels, const Application& a) {
    return std::int64_t{a.blocks.divisor} * gridstride::cuda::ceil_div(a.all_channels, kernels.channels);
}

/// So many elements, where they are whole lines and would be written to memory.
template <class A>
Stale stale(const Schedule& schedule, A* from, std::int64_t elements) {
    if (!schedule.streams || reinterpret_cast<std::uintptr_t>(from) % stale_line != 0) return {};
    return {from, static_cast<unsigned>(elements * static_cast<std::int64_t>(sizeof(A)) / stale_line)};
}

/// The schedule of these types; aligned: all addresses are multiples of 16.
template <class T, class U>
Schedule schedule_of(const Geometry& g, bool has_gamma, bool one_coef, Tuning tuning, const Shapes& shapes,
                     bool aligned) {
    if (!std::is_same_v<T, U>) tuning.direct_terms = 0;
    const Types types{sizeof(accumulator<T, U>), sizeof(T), sizeof(U), aligned ? wide_in<T, accumulator<T, U>> : 1,
                      aligned ? wide_out<T, U> : 1};
    return schedule(g, has_gamma, one_coef, types, tuning, shapes);
}

/// The second stream of turns abreast, which starts and ends with the call's.
class Beside {
  public:
    Beside() {
        using gridstride::cuda::check;
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&reached_, cudaEventDisableTiming));
    }
    ~Beside() {
        cudaEventDestroy(reached_);
        cudaStreamDestroy(stream_);
    }
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;

    cudaStream_t stream() const { return stream_; }
    void start_after(cudaStream_t stream) const { order(stream, stream_); }
    void end_before(cudaStream_t stream) const { order(stream_, stream); }

  private:
    void order(cudaStream_t first, cudaStream_t second) const {
        gridstride::cuda::check(cudaEventRecord(reached_, first));
        gridstride::cuda::check(cudaStreamWaitEvent(second, reached_));
    }
    cudaStream_t stream_ = nullptr;
    cudaEvent_t reached_ = nullptr;
};

/// Launches all turns. workspace: schedule.workspace() elements. overlaps: the device knows dependent launches.
template <const Shapes& shapes, class T, class U>
void enqueue(const Schedule& schedule, const Arrays<T, U>& arrays, accumulator<T, U>* workspace, bool overlaps,
             const Beside* beside, cudaStream_t stream) {
    using gridstride::cuda::ceil_div;
    using A = accumulator<T, U>;
    const Geometry& g = schedule.g;
    const Kernels<T, U> kernels = kernels_of<shapes, T, U>(schedule);
    if (schedule.abreast) beside->start_after(stream);
    bool begun[2] = {};
    for (const Turn& turn : schedule.turns()) {
        const cudaStream_t on = turn.beside ? beside->stream() : stream;
        bool& running = begun[turn.beside ? 1 : 0];
        A* const sums = workspace + (turn.beside ? schedule.sums + schedule.results : 0);
        A* const results = sums + schedule.sums;
        Arrays<T, U> at = arrays;
        const std::int64_t output = g.output_offset(turn.b, 0, turn.rows.begin, 0);
        if (at.gammas != nullptr) at.gammas += turn.b * schedule.reduction.gamma_batch;
        if (at.before != nullptr) at.before += output;
        at.mus += turn.b * g.channels_in * g.places_in();
        at.out += output;
        const Windowing w = windowing_of(schedule, turn);
        const Application a = application_of(schedule, turn, kernels);
        if (schedule.direct) {
            launch(kernels.direct, output_blocks(kernels, a), kernels.shape_output.threads, 0, false, on, at, w,
                   schedule.blocks, a);
            continue;
        }
        if (turn.fresh.count() > 0) {
            Reduction r = reduction_of(schedule, turn, shapes);
            r.first = !running;
            const std::int64_t a_block = schedule.split ? r.positions : kernels.shape_reduce.threads;
            const std::int64_t threads = schedule.split ? ceil_div(a_block * r.groups, 32) * 32 : a_block;
            launch(kernels.reduce, ceil_div(r.vectors, a_block), static_cast<int>(threads), 0, overlaps && running, on,
                   at.gammas, at.mus, sums, r, stale(schedule, results, schedule.results));
            running = true;
        }
        const std::int64_t blocks = schedule.tiled
                                        ? turn.lines() * w.along_j.divisor * w.along_i2.divisor * w.along_j2.divisor
                                        : ceil_div(w.elements, shapes.window.threads);
        launch(kernels.window, blocks, shapes.window.threads, schedule.tile_bytes, overlaps && running, on,
               static_cast<const A*>(sums), results, w);
        const bool whole = schedule.rows >= g.owned.count();  // else the next turn reads panels of this one
        launch(kernels.apply, output_blocks(kernels, a), kernels.shape_output.threads, 0, overlaps, on, at,
               static_cast<const A*>(results), a, stale(schedule, sums, whole ? schedule.sums : 0));
        running = true;
    }
    if (schedule.abreast) beside->end_before(stream);
}

}  // namespace gridstride::convcov::cuda::factored
