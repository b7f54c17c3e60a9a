// SPDX-License-Identifier: BSD-3-Clause
// The kernels of `factored`, the host's choice of their shapes, and the launches of one call. factored.cu is the row.
//
// reduce:  S[b, p, x] = sum over channels of gamma + mu mu, for the input places p = (r, q) and x = (r', q') that
// meet under a tap. A thread has `rows` places p and a vector of x, a block a tile of them: a few rows of many
// places, so that the block's loads of mu come from L1. Channels are summed in groups (group_size), the groups'
// sums in ascending order, whoever makes them: one thread all groups, or, where there are few places, one thread a
// group and a block their sum.
//
// scatter: R = sum over columns v of the sum over rows u of S, then accumulate + coef R of some channels. A block
// has a tile of (i, j) and (i', j') and makes R in shared memory, then a thread has a vector of it for all its
// channels. An element of R is made by a thread from all its taps (of_taps; where `direct` from gamma and mu
// themselves: one launch for small problems), or, under three columns one apart, by a thread that goes along j and
// j' together and so sums each column once (marching).
//
// Both stream: a thread keeps `depth` loads of gamma or of accumulate in flight (cp.async to slots of its own in shared
// memory), without registers to hold them.
//
// S is in the accumulator's type and lies in a workspace that the L2 holds: as many batches, or output rows of one
// batch (then the panels of S, one an input row, are a ring), as fit are done at a time. reduce and scatter follow each
// other by programmatic dependent launch: a kernel's blocks start as the last blocks of the one before do, load what
// that does not write, and wait for it.
#pragma once

#include <algorithm>
#include <limits>

#include "convcov/cuda/output.cuh"

namespace gridstride::convcov::cuda::factored {

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
};

/// A Window: all its places are below 2^30. lift: a multiple of `in` that lifts places of a circular one above 0.
struct Side {
    int in = 1, taps = 1, stride = 1, dilation = 1, before = 0, lift = 0;
    bool circular = false;
    Divisor of_in{1};

    __device__ int position(int i, int u) const {
        const int place = i * stride + u * dilation - before;
        return circular ? static_cast<int>(of_in.remainder(static_cast<unsigned>(place + lift))) : place;
    }
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

/// Rows of vectors, shared out to blocks: `height` rows of `width` vectors each.
struct Tile {
    Divisor width{1}, chunks{1};
    unsigned height = 1, rows = 0, vectors = 0;  // rows and vectors there are
    std::int64_t blocks() const { return static_cast<std::int64_t>((rows + height - 1) / height) * chunks.divisor; }
};

/// Input rows and columns that meet a row or column: [begin, end), empty where it takes no part.
constexpr int most_listed = 256;
struct Met {
    std::uint16_t begin[most_listed], end[most_listed];
};

struct Reduction {
    Tile tile;
    Panels panels;
    int width = 1, places = 1;           // W; N
    int first_row = 0;                   // r of the first place
    Divisor run_groups{1}, runs{1};      // groups of `rows` places in a run of places, runs in a batch
    int run_places = 1;                  // places in a run: all rows', or one row's where step > 1
    Divisor of_width{1}, of_vectors{1};  // W; vectors in a row r'
    Divisor step{1};                     // as in Panels
    int channels = 0, group_size = 1, groups = 1;
    std::int64_t gamma_batch = 0, gamma_channel = 0, gamma_place = 0, gamma_second = 0;  // strides; the last of x
    int gamma_first_place = 0;
    bool same_place = false, half = false, listed = false, split = false;
    bool first = true;  // of the call: wait before the first load, not before the first store
    int end_row = 0;    // of S, for what half a gamma mirrors
    Met rows_met, columns_met;
};

/// How scatter comes to R.
enum class Way : std::uint8_t { direct, of_taps, marching };

struct Scatter {
    Tile tile;
    Divisor parts{1}, diagonals{1};  // where marching: of the j of one (b, i); j' - j a tile has
    Panels panels;
    Side rows, columns;
    int first_row = 0;                 // i of the first output
    Divisor owned{1}, columns_out{1};  // output rows of a batch, Wo
    std::int64_t out_batch = 0, out_channel = 0, out_place = 0, out_shift = 0, out_vector = 0;
    Divisor channels{1};              // O
    int all_channels = 1, chunk = 1;  // S O; of a block
    int coef_stride = 0;
    bool same_place = false, diagonal = false, bias = false;
    // where direct:
    int in_channels = 0, group_size = 1;
    std::int64_t gamma_batch = 0, gamma_channel = 0, gamma_place = 0;
    int gamma_first_place = 0;
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

template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Pack {
    T at[n];
};

/// A thread's own slots in shared memory, through which it streams vectors P of global memory: [slots][threads]. An
/// element of 2 bytes travels in its aligned word; the last of a row alone where it is the word's first half, since
/// nothing may follow.
template <class P, int threads>
struct Slots {
    using Slot = std::conditional_t<sizeof(P) == 2, unsigned, P>;
    Slot* own;

    __device__ explicit Slots(unsigned char* memory) : own(reinterpret_cast<Slot*>(memory) + threadIdx.x) {}

    __device__ void fetch(int slot, const P* from, bool last) const {
        const auto to = static_cast<unsigned>(__cvta_generic_to_shared(own + slot * threads));
        if constexpr (sizeof(P) == 16) {  // past L1
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        } else if constexpr (sizeof(P) == 2) {
            const auto at = reinterpret_cast<std::uintptr_t>(from);
            if (last && (at & 2) == 0) {
                own[slot * threads] = *reinterpret_cast<const unsigned short*>(from);
                return;
            }
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(at & ~std::uintptr_t{3}),
                         "r"((at & 2) != 0 ? 4 : 2)
                         : "memory");
        } else {
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(P)) : "memory");
        }
    }
    __device__ P take(int slot, const P* from) const {
        const Slot bits = own[slot * threads];
        if constexpr (sizeof(P) == 2) {
            const auto half =
                static_cast<unsigned short>((reinterpret_cast<std::uintptr_t>(from) & 2) != 0 ? bits >> 16 : bits);
            return reinterpret_cast<const P&>(half);
        } else {
            return bits;
        }
    }
};
/// Ends a group of fetches; waits for all groups but the last `depth - 1`.
__device__ inline void end_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int depth>
__device__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(depth - 1) : "memory");
}
template <class P, int threads, int slots>
constexpr int slots_bytes = (sizeof(P) == 2 ? 4 : sizeof(P)) * threads* slots;

template <class P>
__device__ void store_once(P* to, const P& value) {
    if constexpr (sizeof(P) % 16 == 0) {
#pragma unroll
        for (unsigned k = 0; k < sizeof(P) / 16; ++k)
            __stcs(reinterpret_cast<uint4*>(to) + k, reinterpret_cast<const uint4*>(&value)[k]);
    } else if constexpr (sizeof(P) == 8) {
        __stcs(reinterpret_cast<uint2*>(to), reinterpret_cast<const uint2&>(value));
    } else if constexpr (sizeof(P) == 4) {
        __stcs(reinterpret_cast<unsigned*>(to), reinterpret_cast<const unsigned&>(value));
    } else {
        static_assert(sizeof(P) == 2);
        __stcs(reinterpret_cast<unsigned short*>(to), reinterpret_cast<const unsigned short&>(value));
    }
}

__device__ inline float multiply_add(float a, float b, float c) {
    return fmaf(a, b, c);
}
__device__ inline double multiply_add(double a, double b, double c) {
    return fma(a, b, c);
}

/// Does the vector of n elements from place x on hold one that meets (r, q)?
__device__ inline bool is_met(const Reduction& s, int r, int q, int x, int n) {
    if (!s.listed) return true;
    const int first = static_cast<int>(s.of_width.quotient(x)), last = static_cast<int>(s.of_width.quotient(x + n - 1));
    if (last < s.rows_met.begin[r] || first >= s.rows_met.end[r]) return false;
    const int begin = s.columns_met.begin[q], end = s.columns_met.end[q], q2 = x - first * s.width;
    return begin < end && (first != last || (q2 + n > begin && q2 < end));
}

/// Places p a thread, channels in flight, threads a block. single: one place a thread, and, where s.split, one group.
template <class T, class A, int vector, bool single, int rows, int depth, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_reduce_kernel(const T* gammas, const T* mus, A* sums, const __grid_constant__ Reduction s) {
    using gridstride::cuda::widen;
    using Vector = Pack<T, vector>;
    static_assert(!single || rows == 1);
    __shared__ __align__(16) unsigned char memory[slots_bytes<Vector, threads, depth * rows>];
    if (s.first) wait_for_previous();
    release_next();

    // The place in the tile.
    const unsigned positions = s.tile.width.divisor * s.tile.height;
    unsigned position = threadIdx.x, group = 0;
    if (single && s.split) {
        group = position / positions;
        position -= group * positions;
    }
    const unsigned chunk = s.tile.chunks.remainder(blockIdx.x), block = s.tile.chunks.quotient(blockIdx.x);
    const unsigned line = s.tile.width.quotient(position), column = position - line * s.tile.width.divisor;
    const unsigned at_vector = chunk * s.tile.width.divisor + column, row = block * s.tile.height + line;
    const bool active = position < positions && group < static_cast<unsigned>(s.groups) && row < s.tile.rows &&
                        at_vector < s.tile.vectors;

    A total[rows][vector] = {};
    int r[rows] = {}, q[rows] = {};
    int x = 0;
    unsigned b = 0, taking = 0;  // a bit a row
    if (active) {
        const unsigned run_at = s.run_groups.quotient(row), begin = (row - run_at * s.run_groups.divisor) * rows;
        b = s.runs.quotient(run_at);
        const int run = static_cast<int>(run_at - b * s.runs.divisor);
        const bool one_run = s.step.divisor == 1;
#pragma unroll
        for (int k = 0; k < rows; ++k) {
            const int place = static_cast<int>(begin) + k;
            r[k] = one_run ? static_cast<int>(s.of_width.quotient(place)) : run;
            q[k] = one_run ? place - r[k] * s.width : place;
            r[k] += s.first_row;
        }
        const int first_place = r[0] * s.width + q[0];
        if (s.same_place) {
            x = first_place;
        } else if (one_run) {
            x = static_cast<int>(at_vector) * vector;
        } else {
            const int of_row = static_cast<int>(s.of_vectors.quotient(at_vector));
            const int r2 = static_cast<int>(s.step.remainder(r[0])) + of_row * static_cast<int>(s.step.divisor);
            x = r2 * s.width + (static_cast<int>(at_vector) - of_row * static_cast<int>(s.of_vectors.divisor)) * vector;
        }
#pragma unroll
        for (int k = 0; k < rows; ++k)
            if (static_cast<int>(begin) + k < s.run_places && x < s.places && is_met(s, r[k], q[k], x, vector) &&
                (!s.half || x + vector > first_place + k))
                taking |= 1u << k;

        // A place that takes no part reads what one that does reads.
        const int some = taking == 0 ? 0 : __ffs(static_cast<int>(taking)) - 1;
        std::int64_t row_at[rows];
        int scale_at[rows];
#pragma unroll
        for (int n = 0; n < rows; ++n) {
            scale_at[n] = first_place + ((taking >> n & 1) != 0 ? n : some);
            row_at[n] = (scale_at[n] - s.gamma_first_place) * s.gamma_place;
        }
        const bool split = single && s.split;
        const int first = split ? static_cast<int>(group) * s.group_size : 0;
        const int last = taking == 0 ? first : split ? min(first + s.group_size, s.channels) : s.channels;
        const Slots<Vector, threads> slots(memory);
        const auto gamma_of = [&](int c, int n) {
            return reinterpret_cast<const Vector*>(gammas + b * s.gamma_batch + c * s.gamma_channel + row_at[n] + x);
        };
        const auto slot = [&](int c, int n) {
            return static_cast<int>(static_cast<unsigned>(c - first) % depth) * rows + n;
        };
        const auto fetch = [&](int c) {
            if (gammas != nullptr && c < last)
#pragma unroll
                for (int n = 0; n < rows; ++n) slots.fetch(slot(c, n), gamma_of(c, n), x + vector == s.places);
            end_group();
        };
#pragma unroll
        for (int k = 0; k < depth; ++k) fetch(first + k);
        const T* means = mus + (static_cast<std::int64_t>(b) * s.channels + first) * s.places;
        A part[rows][vector] = {};
        int left = s.group_size;  // in the group
#pragma unroll 2
        for (int c = first; c < last; ++c) {
            const auto mean = *reinterpret_cast<const Vector*>(means + x);
            T scale[rows];
#pragma unroll
            for (int n = 0; n < rows; ++n) scale[n] = means[scale_at[n]];
            means += s.places;
            wait_group<depth>();
#pragma unroll
            for (int n = 0; n < rows; ++n) {
                Vector taken{};
                if (gammas != nullptr) taken = slots.take(slot(c, n), gamma_of(c, n));
#pragma unroll
                for (int e = 0; e < vector; ++e)
                    part[n][e] += multiply_add(widen<A>(scale[n]), widen<A>(mean.at[e]), widen<A>(taken.at[e]));
            }
            fetch(c + depth);
            if (--left > 0 && c + 1 < last) continue;
            left = s.group_size;
#pragma unroll
            for (int n = 0; n < rows; ++n)
#pragma unroll
                for (int e = 0; e < vector; ++e) {
                    total[n][e] += part[n][e];
                    part[n][e] = A(0);
                }
        }
    }
    if (!s.first) wait_for_previous();

    if constexpr (single) {
        __shared__ A parts[threads * vector];
        if (s.split) {  // one element a thread, groups in order
            __shared__ std::int64_t offsets[threads];
            if (group < static_cast<unsigned>(s.groups) && position < positions) {
                const int r2 = static_cast<int>(s.of_width.quotient(x));
                if (group == 0)
                    offsets[position] = taking == 0 ? -1
                                                    : b * s.panels.batch + s.panels.of_rows(r[0], r2) +
                                                          s.panels.of_columns(q[0], x - r2 * s.width);
#pragma unroll
                for (int e = 0; e < vector; ++e) parts[(group * positions + position) * vector + e] = total[0][e];
            }
            __syncthreads();
            for (unsigned k = threadIdx.x; k < positions * vector; k += threads) {
                A sum = A(0);
                for (int g = 0; g < s.groups; ++g) sum += parts[g * positions * vector + k];
                if (offsets[k / vector] >= 0) sums[offsets[k / vector] + k % vector] = sum;
            }
            return;
        }
    }

    const int r2 = static_cast<int>(s.of_width.quotient(x)), q2 = x - r2 * s.width;
    A* const batch = sums + b * s.panels.batch;
#pragma unroll
    for (int n = 0; n < rows; ++n) {
        if ((taking >> n & 1) == 0) continue;
        A* to = batch + s.panels.of_rows(r[n], r2) + s.panels.of_columns(q[n], q2);
        if (!s.half) {
            Pack<A, vector> pack;
#pragma unroll
            for (int e = 0; e < vector; ++e) pack.at[e] = total[n][e];
            *reinterpret_cast<Pack<A, vector>*>(to) = pack;
            continue;
        }
        const int p = r[n] * s.width + q[n];
#pragma unroll
        for (int e = 0; e < vector; ++e) {
            if (x + e < p) continue;
            to[e] = total[n][e];
            const int mirror_r = static_cast<int>(s.of_width.quotient(x + e)), mirror_q = x + e - mirror_r * s.width;
            if (x + e > p && mirror_r < s.end_row)
                batch[s.panels.of_rows(mirror_r, r[n]) + s.panels.of_columns(mirror_q, q[n])] = total[n][e];
        }
    }
}

constexpr int tap_block = 3;  // taps of a side whose loads are in flight together

/// Places under a block of taps: the first and the second, and whether both are inside.
struct Under {
    int r[tap_block], r2[tap_block], q[tap_block], q2[tap_block];
    bool row[tap_block], column[tap_block];
};

/// R at one pair of outputs: over columns v, the sums over rows u. load(under, values) gives a block's S, [u][v].
template <class A, class Load>
__device__ A of_taps(const Scatter& s, int i, int j, int i2, int j2, Load load) {
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
    const Scatter& s;
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
            const bool mirrored = s.half && x[k] < p[k];
            gamma_at[k] = gammas + b * s.gamma_batch +
                          ((mirrored ? x[k] : p[k]) - s.gamma_first_place) * s.gamma_place + (mirrored ? p[k] : x[k]);
            if (under.row[row] && under.column[column]) taking |= 1u << k;
            values[k] = A(0);
        }
        const T* means = mus + static_cast<std::int64_t>(b) * s.in_channels * places;
        for (int begin = 0; begin < s.in_channels; begin += s.group_size) {
            const int end = min(begin + s.group_size, s.in_channels);
            A part[taps] = {};
            for (int c = begin; c < end; c += channels) {
                T loaded[channels][taps], first[channels][taps], second[channels][taps];
#pragma unroll
                for (int n = 0; n < channels; ++n)
#pragma unroll
                    for (int k = 0; k < taps; ++k) {
                        loaded[n][k] = first[n][k] = second[n][k] = T(0);
                        if (c + n >= end || (taking >> k & 1) == 0) continue;
                        if (gammas != nullptr) loaded[n][k] = gamma_at[k][(c + n) * s.gamma_channel];
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

constexpr int march = 8;       // outputs j in a row that a thread goes along
constexpr int march_taps = 3;  // columns, one apart; rows, at most

/// R of j = j0 + k, k < march, j' = j2 + k (which may be outside), of rows i and i': put(k, R). sums: of one batch.
template <class A, class Put>
__device__ void marching(const Scatter& s, const A* sums, int i, int i2, int j0, int j2, Put put) {
    int rows[march_taps];
    bool inside[march_taps];
#pragma unroll
    for (int u = 0; u < march_taps; ++u) {
        const int r = s.rows.position(i, u), r2 = s.rows.position(i2, u);
        inside[u] = u < s.rows.taps && s.rows.inside(r) && s.rows.inside(r2);
        rows[u] = s.panels.of_rows(r, r2) + s.panels.of_columns(j0 - s.columns.before, j2 - s.columns.before);
    }
    A columns[march + march_taps - 1];
#pragma unroll
    for (int k = 0; k < march + march_taps - 1; ++k) {
        columns[k] = A(0);
        const int q = j0 + k - s.columns.before, q2 = j2 + k - s.columns.before;
        const bool there = s.columns.inside(q) && s.columns.inside(q2);
        const int along = k * (s.panels.column + s.panels.second_column);
#pragma unroll
        for (int u = 0; u < march_taps; ++u) columns[k] += there && inside[u] ? sums[rows[u] + along] : A(0);
        if (k >= march_taps - 1) put(k - march_taps + 1, ((A(0) + columns[k - 2]) + columns[k - 1]) + columns[k]);
    }
}

/// depth: vectors of accumulate in flight a thread.
template <class T, class U, int vector, Way way, int depth, int threads, int blocks>
__global__ void __launch_bounds__(threads, blocks)
    factored_scatter_kernel(Arrays<T, U> arrays, const accumulator<T, U>* sums, const __grid_constant__ Scatter s) {
    using A = accumulator<T, U>;
    using gridstride::cuda::narrow, gridstride::cuda::widen;
    using Vector = Pack<T, vector>;
    __shared__ __align__(16) unsigned char memory[slots_bytes<Vector, threads, depth>];
    __shared__ __align__(16) A results[threads * vector];

    const unsigned width = s.tile.width.divisor, positions = width * s.tile.height;
    const unsigned first_vector = s.tile.chunks.remainder(blockIdx.x) * width;
    const int wo = static_cast<int>(s.columns_out.divisor);
    unsigned first_row = s.tile.chunks.quotient(blockIdx.x), end_row = s.tile.rows;  // rows: (b, i, j)
    unsigned b_and_i = 0;
    int j0 = 0;
    if constexpr (way == Way::marching) {  // its lines are of one (b, i)
        b_and_i = s.parts.quotient(first_row);
        j0 = static_cast<int>(first_row - b_and_i * s.parts.divisor) * march;
        end_row = (b_and_i + 1) * wo;
        first_row = b_and_i * wo + j0;
    } else {
        first_row *= s.tile.height;
    }

    // This thread's vector of outputs, of all channels.
    const unsigned line = s.tile.width.quotient(threadIdx.x), row = first_row + line;
    const unsigned at_vector = first_vector + threadIdx.x - line * width;
    const bool active = threadIdx.x < positions && row < end_row && at_vector < s.tile.vectors;
    const unsigned batch = s.owned.quotient(s.columns_out.quotient(row));
    const std::int64_t at = batch * s.out_batch +
                            static_cast<std::int64_t>(row - batch * s.owned.divisor * wo) * s.out_place + s.out_shift +
                            (s.same_place ? 0 : at_vector * vector);
    const int begin = static_cast<int>(blockIdx.y) * s.chunk, end = min(begin + s.chunk, s.all_channels);
    const auto offset = [&](int k) {
        const unsigned coefficients = s.channels.quotient(k);
        return at + coefficients * s.out_vector + (k - coefficients * s.channels.divisor) * s.out_channel;
    };
    const Slots<Vector, threads> slots(memory);
    const auto before = [&](int k) { return reinterpret_cast<const Vector*>(arrays.before + offset(k)); };
    const auto slot = [&](int k) { return static_cast<int>(static_cast<unsigned>(k - begin) % depth); };
    const bool adds = arrays.before != nullptr;
    const auto fetch = [&](int k) {
        if (adds && k < end) slots.fetch(slot(k), before(k), at_vector + 1 == s.tile.vectors);
        end_group();
    };
    if constexpr (way == Way::direct) wait_for_previous();
    if (active)  // nothing before in this call writes it
#pragma unroll
        for (int k = 0; k < depth; ++k) fetch(begin + k);
    if constexpr (way != Way::direct) wait_for_previous();
    release_next();

    const A bias = s.bias ? A(1) : A(0);
    if constexpr (way == Way::marching) {
        // A thread an i' and a diagonal j' - j.
        const unsigned diagonals = s.diagonals.divisor, of_tile = s.diagonals.quotient(threadIdx.x);
        const int j2 = static_cast<int>(threadIdx.x - of_tile * diagonals) - (march - 1);
        const unsigned lines = width * vector / static_cast<unsigned>(wo);  // i' in the tile
        const int i2 = static_cast<int>(s.columns_out.quotient(first_vector * vector) + of_tile);
        const unsigned b = s.owned.quotient(b_and_i);
        const int i = s.first_row + static_cast<int>(b_and_i - b * s.owned.divisor);
        if (of_tile < lines && i2 * wo < static_cast<int>(s.tile.vectors * vector))
            marching<A>(s, sums + b * s.panels.batch, i, i2, j0, j2, [&](int k, A sum) {
                if (static_cast<unsigned>(j2 + k) < static_cast<unsigned>(wo))
                    results[(k * lines + of_tile) * wo + j2 + k] = s.bias ? sum + bias : sum;
            });
    } else {
        // One element of R a thread, neighbours being neighbours along j'.
        const unsigned line_elements = width * vector;
#pragma unroll 1
        for (unsigned n = 0; n < vector; ++n) {
            const unsigned element = n * threads + threadIdx.x;
            const unsigned of_line = vector == 1 ? line : s.tile.width.quotient(element / vector);
            const unsigned row_at = first_row + of_line;
            const unsigned x = first_vector * vector + element - of_line * line_elements;
            if (element >= positions * vector || row_at >= s.tile.rows || x >= s.tile.vectors * vector) continue;
            const unsigned place_at = s.columns_out.quotient(row_at), b = s.owned.quotient(place_at);
            const int j = static_cast<int>(row_at - place_at * wo);
            const int i = s.first_row + static_cast<int>(place_at - b * s.owned.divisor);
            const int i2 = s.same_place ? i : static_cast<int>(s.columns_out.quotient(x));
            const int j2 = s.same_place ? j : static_cast<int>(x) - i2 * wo;
            A sum;
            if constexpr (way == Way::direct)
                sum = of_taps<A>(s, i, j, i2, j2, Direct<A, T>{arrays.gammas, arrays.mus, s, b});
            else
                sum = of_taps<A>(s, i, j, i2, j2, Staged<A>{sums + b * s.panels.batch, s.panels});
            results[element] = s.bias ? sum + bias : sum;
        }
    }
    __syncthreads();
    if (!active) return;
    const auto result = *reinterpret_cast<const Pack<A, vector>*>(results + threadIdx.x * vector);

    const bool in_place = static_cast<const void*>(arrays.before) == arrays.out;
#pragma unroll 2
    for (int k = begin; k < end; ++k) {
        const A factor = arrays.coefs == nullptr ? A(1) : arrays.coefs[k * s.coef_stride];
        wait_group<depth>();
        Vector held{};
        if (adds) held = slots.take(slot(k), before(k));
        Pack<U, vector> out;
#pragma unroll
        for (int e = 0; e < vector; ++e) {
            const A start = widen<A>(held.at[e]);
            out.at[e] = narrow<U>(adds ? multiply_add(factor, result.at[e], start) : factor * result.at[e]);
            if (factor == A(0)) {  // whatever R; accumulate's bits where the types are one
                if constexpr (std::is_same_v<T, U>)
                    out.at[e] = held.at[e];
                else
                    out.at[e] = narrow<U>(start);
            }
        }
        if (factor != A(0) || !in_place) store_once(reinterpret_cast<Pack<U, vector>*>(arrays.out + offset(k)), out);
        fetch(k + depth);
    }
}

// --- Host -----------------------------------------------------------------------------------------------------------

/// What decides speed alone.
struct Tuning {
    std::int64_t sums_bytes = 24 << 20;      // of S at a time
    std::int64_t reduce_width = 64;          // vectors of a row in a block's tile, at most
    std::int64_t split_width = 8;            // the same where groups of channels are split
    std::int64_t scatter_width = 32;         // vectors of outputs in a block's tile, at most
    std::int64_t chunk = 16;                 // output channels a block, at most
    std::int64_t least_chunk = 8;            // at least, however few blocks there are
    std::int64_t blocks = 132 * 16;          // of scatter; fewer, and a block has fewer channels
    bool march = true;                       // where it can
    std::int64_t direct_terms = 1 << 21;     // of all outputs; no more, and R is summed directly
    std::int64_t split_threads = 132 * 512;  // of reduce; fewer, and groups of channels are split
};

/// Of a kernel: places a thread, loads in flight, threads a block, blocks a multiprocessor (so many registers).
struct ReduceShape {
    int rows, depth, threads, blocks;
};
struct ScatterShape {
    int depth, threads, blocks;
};
struct Shapes {
    ReduceShape whole, single;  // all groups of channels a thread; one place, and, where split, one group a thread
    ScatterShape staged, direct;
};

/// Channels in a group, and so the order of S's additions: of their number alone.
constexpr int most_groups = 32;
inline int group_size(std::int64_t channels) {
    return static_cast<int>(std::max<std::int64_t>(16, gridstride::cuda::ceil_div(channels, most_groups)));
}

/// For rows of that many vectors; how many rows there are comes with a turn.
inline Tile tile_of(std::int64_t vectors, std::int64_t threads, std::int64_t most_wide) {
    using gridstride::cuda::ceil_div;
    vectors = std::max<std::int64_t>(vectors, 1);
    const std::int64_t width = ceil_div(vectors, ceil_div(vectors, std::min(most_wide, threads)));
    Tile tile;
    tile.width = Divisor(width);
    tile.chunks = Divisor(ceil_div(vectors, width));
    tile.height = static_cast<unsigned>(threads / width);
    tile.vectors = static_cast<unsigned>(vectors);
    return tile;
}

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

inline void list_met(const Window& window, Interval outputs, Met& met) {
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
    }
}

/// A part of a problem done at a time: batches [b, b + batches), output rows [rows), the input rows they add to S.
struct Turn {
    std::int64_t b = 0, batches = 0;
    Interval rows, fresh;
};

/// A problem on its way: all but the addresses.
struct Schedule {
    Geometry g;
    Way way = Way::of_taps;
    bool split = false, single = false, half = false;
    int wide_in = 1, wide_out = 1;                   // elements in a vector of gamma, of the outputs
    std::int64_t batches = 1, rows = 1, panels = 1;  // in a turn: batches, output rows; input rows of S
    std::int64_t sums = 0;                           // elements of S
    Interval reach;                                  // input rows that S has over all turns
    Reduction reduction;                             // of the first turn, as far as turns are alike
    Scatter scatter;

    /// Blocks of scatter for so many (b, i), of one chunk of channels.
    std::int64_t tiles(std::int64_t rows) const {
        const std::int64_t wo = scatter.columns_out.divisor, height = scatter.tile.height;
        const std::int64_t lines =
            way == Way::marching ? rows * scatter.parts.divisor : gridstride::cuda::ceil_div(rows * wo, height);
        return lines * scatter.tile.chunks.divisor;
    }
    std::vector<Turn> turns() const {
        std::vector<Turn> result;
        for (std::int64_t b = 0; b < g.batch; b += batches) {
            std::int64_t made = reach.begin;
            for (std::int64_t i = g.owned.begin; i < g.owned.end; i += rows) {
                Turn turn{b, std::min(batches, g.batch - b), {i, std::min(i + rows, g.owned.end)}, {}};
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
    const auto extent = [](const Window& w) {
        return std::max(w.in, (w.out - 1) * w.stride + w.dilation * (w.taps + tap_block - 1) + 1) + w.before;
    };
    if (std::max(extent(g.rows), extent(g.columns)) >= most) return "a padded side of the map is 2^30 or longer";
    if (std::max(g.places_in(), g.places_out()) >= most) return "the map has 2^30 places or more";
    if (std::max(g.channels_in, std::max<std::int64_t>(g.vectors, 1) * g.channels_out) >= most)
        return "there are 2^30 channels or more";
    return {};
}

/// one_coef: a number for all channels. sum: bytes of the accumulator; wide_in, wide_out: elements in a vector that
/// types and addresses allow.
inline Schedule schedule(const Geometry& g, bool has_gamma, bool one_coef, std::int64_t sum, int wide_in, int wide_out,
                         const Tuning& tuning, const Shapes& shapes) {
    using gridstride::cuda::ceil_div;
    const bool same = g.same_place();
    const std::int64_t w = g.columns.in, n = g.places_in(), p = same ? 1 : g.places_out();
    const std::int64_t step = g.circular || same ? 1 : g.rows.stride;
    const std::int64_t all_channels = std::max<std::int64_t>(g.vectors, 1) * g.channels_out;
    const std::int64_t places = g.owned.count() * g.columns.out;  // (i, j) of a batch

    Schedule result;
    result.g = g;
    result.half = has_gamma && g.half_gamma && !same;
    result.reach = result.half ? g.gamma_rows : g.rows.reach(g.owned);
    const std::int64_t all_rows = result.reach.count();
    const double terms = static_cast<double>(g.batch * places) * static_cast<double>(p) *
                         static_cast<double>(g.channels_in * g.rows.taps * g.columns.taps);
    const bool direct = terms < static_cast<double>(tuning.direct_terms);
    if (direct) result.way = Way::direct;
    result.wide_in = same || (step == 1 ? n : w) % wide_in != 0 ? 1 : wide_in;
    result.wide_out = direct || same || p % wide_out != 0 ? 1 : wide_out;

    // Turns.
    constexpr std::int64_t most = 1 << 28;  // places at a time: so numbers of rows and blocks stay below 2^31
    const std::int64_t pitch = same ? 1 : ceil_div(ceil_div(g.rows.in, step) * w, 4) * 4, panel = w * pitch;
    result.batches = most / std::max({places, all_rows * w, std::int64_t{1}});
    const std::int64_t all_bytes = std::max<std::int64_t>(all_rows * panel * sum, 1);
    if (!direct) result.batches = std::min(result.batches, tuning.sums_bytes / all_bytes);
    result.batches = std::clamp<std::int64_t>(result.batches, 1, std::max<std::int64_t>(g.batch, 1));
    result.rows = std::max<std::int64_t>(g.owned.count(), 1);
    result.panels = std::max<std::int64_t>(all_rows, 1);
    if (!direct && !result.half && !g.circular && all_bytes > tuning.sums_bytes) {
        const std::int64_t span = g.rows.dilation * (g.rows.taps - 1) + 1, fitting = tuning.sums_bytes / (panel * sum);
        result.rows = std::clamp<std::int64_t>((fitting - span) / g.rows.stride + 1, 1, result.rows);
        result.panels = std::min(result.panels, (result.rows - 1) * g.rows.stride + span);
    }
    result.sums = direct ? 0 : result.batches * result.panels * panel;

    Reduction& r = result.reduction;
    r.panels.batch = result.panels * panel;
    r.panels.row = static_cast<int>(panel);
    r.panels.column = static_cast<int>(pitch);
    r.panels.second_row = same ? 0 : static_cast<int>(w);
    r.panels.second_column = same ? 0 : 1;
    r.panels.first = static_cast<int>(result.reach.begin);
    r.panels.count = Divisor(result.panels);
    r.panels.step = r.step = Divisor(step);
    r.width = static_cast<int>(w);
    r.places = static_cast<int>(n);
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
    r.listed = std::max(g.rows.in, w) <= most_listed && (!result.half || g.owned.count() == g.rows.out);
    if (r.listed) {
        list_met(g.rows, g.owned, r.rows_met);
        list_met(g.columns, {0, g.columns.out}, r.columns_met);
    }
    const std::int64_t x_vectors = same ? 1 : ceil_div(g.rows.in, step) * w / result.wide_in;
    const std::int64_t few = result.batches * ceil_div(all_rows * w, shapes.whole.rows) * x_vectors;
    result.split = !direct && !r.half && !same && r.groups > 1 && few < tuning.split_threads;
    r.split = result.split;
    result.single = result.split || same;
    const std::int64_t threads = result.single ? shapes.single.threads : shapes.whole.threads;
    r.tile = result.split ? tile_of(x_vectors, threads / r.groups, tuning.split_width)
                          : tile_of(x_vectors, threads, tuning.reduce_width);

    Scatter& s = result.scatter;
    s.panels = r.panels;
    s.rows = side_of(g.rows);
    s.columns = side_of(g.columns);
    s.columns_out = Divisor(std::max<std::int64_t>(g.columns.out, 1));
    const std::int64_t block = g.form == Form::variance ? 1 : g.places_out();
    s.out_place = g.form == Form::full ? g.channels_out * block : block;
    s.out_channel = places * s.out_place + (g.form == Form::full ? block : 0);
    s.out_batch = g.channels_out * places * s.out_place;
    s.out_vector = g.batch * s.out_batch;
    s.diagonal = same && g.form != Form::variance;
    if (s.diagonal) s.out_place += 1;
    s.channels = Divisor(std::max<std::int64_t>(g.channels_out, 1));
    s.all_channels = static_cast<int>(all_channels);
    s.same_place = same;
    s.bias = g.bias;
    s.coef_stride = one_coef ? 0 : 1;
    s.in_channels = r.channels;
    s.group_size = r.group_size;
    s.gamma_batch = r.gamma_batch;
    s.gamma_channel = r.gamma_channel;
    s.gamma_place = r.gamma_place;
    s.gamma_first_place = r.gamma_first_place;
    s.half = result.half;
    const std::int64_t threads_out = (direct ? shapes.direct : shapes.staged).threads, wo = g.columns.out;
    s.tile = tile_of(p / result.wide_out, threads_out, tuning.scatter_width);
    const Window& along = g.columns;
    if (tuning.march && !direct && !same && !g.circular && along.stride == 1 && along.dilation == 1 &&
        along.taps == march_taps && g.rows.taps <= march_taps && wo > 0) {
        // Whole rows i', of which a thread has no more than a diagonal and a vector.
        std::int64_t lines =
            std::min({g.rows.out, threads_out / (wo + march - 1), threads_out * result.wide_out / (march * wo)});
        while (lines > 0 && lines * wo % result.wide_out != 0) --lines;
        if (lines > 0) {
            result.way = Way::marching;
            s.tile.width = Divisor(lines * wo / result.wide_out);
            s.tile.chunks = Divisor(ceil_div(g.rows.out, lines));
            s.tile.height = march;
            s.parts = Divisor(ceil_div(wo, march));
            s.diagonals = Divisor(wo + march - 1);
        }
    }
    const std::int64_t tiles = result.tiles(result.batches * result.rows);
    const std::int64_t parts =
        std::max(ceil_div(tuning.blocks, std::max<std::int64_t>(tiles, 1)), ceil_div(all_channels, tuning.chunk));
    s.chunk = static_cast<int>(std::max({ceil_div(all_channels, parts), std::min(tuning.least_chunk, all_channels),
                                         ceil_div(all_channels, 65535), std::int64_t{1}}));
    return result;
}

/// The numbers of one turn.
inline Reduction reduction_of(const Schedule& schedule, const Turn& turn, int rows_a_thread) {
    Reduction r = schedule.reduction;
    const std::int64_t rows = turn.fresh.count();
    const std::int64_t runs = r.step.divisor == 1 ? 1 : rows, places = r.step.divisor == 1 ? rows * r.width : r.width;
    const std::int64_t groups = gridstride::cuda::ceil_div(places, rows_a_thread);
    r.first_row = static_cast<int>(turn.fresh.begin);
    r.run_places = static_cast<int>(places);
    r.runs = Divisor(runs);
    r.run_groups = Divisor(groups);
    r.tile.rows = static_cast<unsigned>(turn.batches * runs * groups);
    return r;
}
inline Scatter scatter_of(const Schedule& schedule, const Turn& turn) {
    Scatter s = schedule.scatter;
    s.first_row = static_cast<int>(turn.rows.begin);
    s.owned = Divisor(turn.rows.count());
    s.out_shift = s.diagonal ? turn.rows.begin * schedule.g.columns.out : 0;
    s.tile.rows = static_cast<unsigned>(turn.batches * turn.rows.count() * schedule.g.columns.out);
    return s;
}

/// overlaps: its blocks may start before the kernel before has ended (it waits for that itself).
template <class Kernel, class... Arguments>
void launch(Kernel kernel, dim3 grid, int threads, bool overlaps, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlaps ? 1 : 0;
    gridstride::cuda::check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// The kernels of a schedule: null where it has none.
template <class T, class U>
struct Kernels {
    void (*reduce)(const T*, const T*, accumulator<T, U>*, Reduction) = nullptr;
    void (*scatter)(Arrays<T, U>, const accumulator<T, U>*, Scatter) = nullptr;
    ReduceShape reduce_shape{};
    ScatterShape scatter_shape{};
};

/// Elements in a vector of the inputs: 16 bytes, but no more than 4 (maps of 4 n places are common, and 8 bytes
/// enough).
template <class T>
constexpr int wide_in = sizeof(T) == 8 ? 2 : 4;
/// Of the outputs. Inputs of another type than the result are rare: one at a time.
template <class T, class U>
constexpr int wide_out = std::is_same_v<T, U> ? 16 / sizeof(T) : 1;

template <const Shapes& shapes, class T, class U>
Kernels<T, U> kernels_of(const Schedule& schedule) {
    Kernels<T, U> result;
    const auto reduce = [&]<int vector, bool single>() {
        constexpr ReduceShape of = single ? shapes.single : shapes.whole;
        result.reduce_shape = of;
        result.reduce =
            factored_reduce_kernel<T, accumulator<T, U>, vector, single, of.rows, of.depth, of.threads, of.blocks>;
    };
    const auto scatter = [&]<int vector, Way way>() {
        constexpr ScatterShape of = way == Way::direct ? shapes.direct : shapes.staged;
        result.scatter_shape = of;
        result.scatter = factored_scatter_kernel<T, U, vector, way, of.depth, of.threads, of.blocks>;
    };
    if (schedule.way != Way::direct) {
        if (schedule.wide_in == 1)
            schedule.single ? reduce.template operator()<1, true>() : reduce.template operator()<1, false>();
        else
            schedule.single ? reduce.template operator()<wide_in<T>, true>()
                            : reduce.template operator()<wide_in<T>, false>();
    }
    constexpr int wide = wide_out<T, U>;
    if (schedule.way == Way::of_taps)
        schedule.wide_out == 1 ? scatter.template operator()<1, Way::of_taps>()
                               : scatter.template operator()<wide, Way::of_taps>();
    if constexpr (std::is_same_v<T, U>) {
        if (schedule.way == Way::direct) scatter.template operator()<1, Way::direct>();
        if (schedule.way == Way::marching)
            schedule.wide_out == 1 ? scatter.template operator()<1, Way::marching>()
                                   : scatter.template operator()<wide, Way::marching>();
    }
    return result;
}

/// The schedule of these types; aligned: all addresses are multiples of 16.
template <class T, class U>
Schedule schedule_of(const Geometry& g, bool has_gamma, bool one_coef, Tuning tuning, const Shapes& shapes,
                     bool aligned) {
    if (!std::is_same_v<T, U>) {
        tuning.direct_terms = 0;
        tuning.march = false;
    }
    return schedule(g, has_gamma, one_coef, sizeof(accumulator<T, U>), aligned ? wide_in<T> : 1,
                    aligned ? wide_out<T, U> : 1, tuning, shapes);
}

inline dim3 scatter_grid(const Schedule& schedule, const Turn& turn) {
    const Scatter& s = schedule.scatter;
    return {static_cast<unsigned>(schedule.tiles(turn.batches * turn.rows.count())),
            static_cast<unsigned>(gridstride::cuda::ceil_div(s.all_channels, s.chunk)), 1};
}

/// Launches all turns. sums: schedule.sums elements. overlaps: the device knows dependent launches.
template <class T, class U>
void enqueue(const Schedule& schedule, const Kernels<T, U>& kernels, const Arrays<T, U>& arrays,
             accumulator<T, U>* sums, bool overlaps, cudaStream_t stream) {
    const Geometry& g = schedule.g;
    bool first = true;
    for (const Turn& turn : schedule.turns()) {
        Arrays<T, U> at = arrays;
        const std::int64_t output = g.output_offset(turn.b, 0, turn.rows.begin, 0);
        if (at.gammas != nullptr) at.gammas += turn.b * schedule.reduction.gamma_batch;
        if (at.before != nullptr) at.before += output;
        at.mus += turn.b * g.channels_in * g.places_in();
        at.out += output;
        if (schedule.way != Way::direct && turn.fresh.count() > 0) {
            Reduction r = reduction_of(schedule, turn, kernels.reduce_shape.rows);
            r.first = first;
            launch(kernels.reduce, dim3(static_cast<unsigned>(r.tile.blocks())), kernels.reduce_shape.threads,
                   overlaps && !first, stream, at.gammas, at.mus, sums, r);
            first = false;
        }
        const Scatter s = scatter_of(schedule, turn);
        launch(kernels.scatter, scatter_grid(schedule, turn), kernels.scatter_shape.threads, overlaps && !first, stream,
               at, static_cast<const accumulator<T, U>*>(sums), s);
        first = false;
    }
}

}  // namespace gridstride::convcov::cuda::factored
