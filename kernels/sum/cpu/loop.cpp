// SPDX-License-Identifier: BSD-3-Clause
// Pairwise sums, vectorised along memory. Summed axes that are neighbours are one axis; one such group is summed at a
// time, the longest first, so that x is seen as (outer, rows, columns) and its rows are added. A thread takes a segment
// of about 65 536 elements: columns side by side (short rows are taken several at once), eight rows in registers, and
// their sums in a binary tree in the L1 cache. Segments are rows of the next pass. No order depends on the thread
// count. Bytes: x once, the partial sums (1/128 of x at the most) twice; 1 flop an element: limited by memory
// bandwidth. Pairwise summation: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002,
// section 4.2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "sum/sum.hpp"

namespace gridstride::sum::cpu::loop {

namespace {

constexpr std::int64_t segment = 64 * 1024;  // elements a task adds up
constexpr std::int64_t tile = 512;           // columns a task takes of long rows
constexpr std::int64_t lane = 64;            // shorter rows are added in groups of at least that many elements
constexpr std::int64_t leaf = 8;             // rows added in registers

/// One pass: y[o, s, k] = sum over the rows r of segment s of x[o, r, k].
struct Pass {
    std::int64_t outer = 1, rows = 1, columns = 1;
    std::int64_t segment_rows = 1, segments = 1;

    std::int64_t outputs() const { return outer * segments * columns; }
};

/// The passes of a problem that has elements, in order.
std::vector<Pass> passes(const Problem& problem) {
    // Alternating groups of kept and summed axes; axes of length 1 are neither.
    const std::vector<bool> summed = summed_axes(problem.params, problem.in[0].shape);
    Shape extents;
    std::vector<bool> adds;
    for (std::size_t i = 0; i < summed.size(); ++i) {
        const std::int64_t extent = problem.in[0].shape[i];
        if (extent == 1) continue;
        if (!adds.empty() && adds.back() == summed[i]) {
            extents.back() *= extent;
        } else {
            extents.push_back(extent);
            adds.push_back(summed[i]);
        }
    }
    std::vector<Pass> result;
    const auto pass = [&](std::size_t group) {
        Pass one;
        for (std::size_t i = 0; i < extents.size(); ++i)
            (i < group ? one.outer : i == group ? one.rows : one.columns) *= extents[i];
        if (is_complex(problem.in[0].dtype)) one.columns *= 2;  // the parts side by side
        one.segment_rows = segment / std::min(one.columns, tile);
        one.segments = (one.rows + one.segment_rows - 1) / one.segment_rows;
        result.push_back(one);
        return one.segments;
    };
    while (true) {
        std::size_t longest = extents.size();
        for (std::size_t i = 0; i < extents.size(); ++i)
            if (adds[i] && extents[i] > 1 && (longest == extents.size() || extents[i] > extents[longest])) longest = i;
        if (longest == extents.size()) break;
        extents[longest] = pass(longest);
    }
    if (result.empty()) pass(extents.size());  // nothing to add: one row
    return result;
}

/// f with the type a pass adds in: of integers the unsigned one, which wraps.
template <class F>
void with_sum_type(DType type, F&& f) {
    with_type<float, double, std::int32_t, std::int64_t>(type, [&]<class T>() {
        if constexpr (std::is_integral_v<T>)
            f.template operator()<std::make_unsigned_t<T>>();
        else
            f.template operator()<T>();
    });
}

/// y[i] = sum of `count` rows of `width` elements, `stride` apart, in sequence: for few rows.
template <class T>
void add_few(const T* __restrict x, std::int64_t count, std::int64_t width, std::int64_t stride, T* __restrict y) {
    std::copy_n(x, width, y);
    for (std::int64_t r = 1; r < count; ++r)
        for (std::int64_t i = 0; i < width; ++i) y[i] += x[r * stride + i];
}

/// The same of eight rows, pairwise.
template <class T>
void add_leaf(const T* __restrict x, std::int64_t width, std::int64_t stride, T* __restrict y) {
    for (std::int64_t i = 0; i < width; ++i) {
        const T* at = x + i;
        y[i] = ((at[0] + at[stride]) + (at[2 * stride] + at[3 * stride])) +
               ((at[4 * stride] + at[5 * stride]) + (at[6 * stride] + at[7 * stride]));
    }
}

/// The same of any number of rows and `tail` more elements of a last one, pairwise; `tree`: room for a sum a level.
template <class T>
void add_many(const T* x, std::int64_t count, std::int64_t tail, std::int64_t width, std::int64_t stride, T* tree) {
    std::int64_t depth = 0, leaves = 0;
    const auto merge = [&] {  // the two sums on top of the stack become one
        --depth;
        T* __restrict low = tree + (depth - 1) * width;
        const T* __restrict high = tree + depth * width;
        for (std::int64_t i = 0; i < width; ++i) low[i] += high[i];
    };
    std::int64_t row = 0;
    for (; row + leaf <= count; row += leaf) {
        add_leaf(x + row * stride, width, stride, tree + depth++ * width);
        for (std::int64_t bit = ++leaves; bit % 2 == 0; bit /= 2) merge();
    }
    if (row < count) add_few(x + row * stride, count - row, width, stride, tree + depth++ * width);
    while (depth > 1) merge();
    for (std::int64_t i = 0; i < tail; ++i) tree[i] += x[count * stride + i];
}

/// The sum of n elements side by side: 16 accumulators over 256 elements, pairwise above.
template <class T>
T add_row(const T* x, std::int64_t n) {
    constexpr std::int64_t width = 16, base = 256;
    if (n > base) {
        const std::int64_t half = (n / 2 + base - 1) / base * base;
        return add_row(x, half) + add_row(x + half, n - half);
    }
    std::int64_t i = 0;
    if (n < width / 2) {
        T sum = x[0];
        for (i = 1; i < n; ++i) sum += x[i];
        return sum;
    }
    T sum[width] = {};
    for (; i + width <= n; i += width)
        for (std::int64_t j = 0; j < width; ++j) sum[j] += x[i + j];
    for (std::int64_t j = 0; i + j < n; ++j) sum[j] += x[i + j];
    for (std::int64_t half = width / 2; half > 0; half /= 2)
        for (std::int64_t j = 0; j < half; ++j) sum[j] += sum[j + half];
    return sum[0];
}

/// Room for the trees: a segment of the widest columns has 16 leaves, so 5 levels; of lane-wide groups 128, so 8.
constexpr std::int64_t tree_size = 8 * tile;
static_assert(segment / tile / leaf <= 16 && segment / lane / leaf <= 128 && 2 * lane <= tile);

/// y[k] = sum over `rows` rows of x[r, k], `width` columns of rows `stride` apart.
template <class T>
void add_rows(const T* x, std::int64_t rows, std::int64_t width, std::int64_t stride, T* tree, T* y) {
    if (width == 1 && stride == 1) {
        *y = add_row(x, rows);
        return;
    }
    if (rows <= leaf) {
        add_few(x, rows, width, stride, y);
        return;
    }
    if (width >= lane || width < stride) {
        add_many(x, rows, 0, width, stride, tree);
        std::copy_n(tree, width, y);
        return;
    }
    // Short whole rows, one behind the other: several at once, then these sums are added.
    const std::int64_t group = std::min(rows, (lane + width - 1) / width);
    const std::int64_t wide = group * width, total = rows * width;
    add_many(x, total / wide, total % wide, wide, wide, tree);
    for (std::int64_t left = group; left > 1;) {
        const std::int64_t half = (left + 1) / 2;
        for (std::int64_t i = half * width; i < left * width; ++i) tree[i - half * width] += tree[i];
        left = half;
    }
    std::copy_n(tree, width, y);
}

/// One pass over elements of dtype `from`, converted to `type`, T's, where they differ. Neither is complex.
template <class T>
void run(const Pass& pass, DType from, const std::byte* source, DType type, T* y, int threads) {
    const std::int64_t tiles = (pass.columns + tile - 1) / tile;
    const std::int64_t rows = std::min(pass.rows, pass.segment_rows);
    const std::int64_t block = std::max<std::int64_t>(1, segment / (rows * std::min(pass.columns, tile)));  // of tasks
    const auto size = static_cast<std::int64_t>(size_of(from));
    struct Task {
        std::int64_t rows, width;
        std::int64_t in, out;  // first element
    };
    const auto task_at = [&](std::int64_t index) {
        if (tiles == 1 && pass.segments == 1)  // without the divisions below, which short rows would feel
            return Task{pass.rows, pass.columns, index * pass.rows * pass.columns, index * pass.columns};
        const std::int64_t column = index % tiles * tile, s = index / tiles % pass.segments;
        const std::int64_t o = index / tiles / pass.segments, row = s * pass.segment_rows;
        return Task{std::min(pass.segment_rows, pass.rows - row), std::min(tile, pass.columns - column),
                    (o * pass.rows + row) * pass.columns + column, (o * pass.segments + s) * pass.columns + column};
    };
    for_blocks(pass.outer * pass.segments * tiles, block, threads, [&](std::int64_t first, std::int64_t past) {
        const auto tree = std::make_unique_for_overwrite<T[]>(rows > leaf ? tree_size : 0);
        if (from == type) {
            for (std::int64_t i = first; i < past; ++i) {
                const Task task = task_at(i);
                add_rows(reinterpret_cast<const T*>(source) + task.in, task.rows, task.width, pass.columns, tree.get(),
                         y + task.out);
            }
            return;
        }
        const auto values = std::make_unique_for_overwrite<T[]>(segment);
        const auto converted = [&](std::int64_t begin, T* target, std::int64_t n) {
            convert(from, source + begin * size, type, reinterpret_cast<std::byte*>(target), n, Overflow::infinity);
        };
        if (tiles == 1) {  // what the block reads lies side by side
            const Task last = task_at(past - 1);
            const std::int64_t begin = task_at(first).in;
            converted(begin, values.get(), last.in + last.rows * last.width - begin);
            for (std::int64_t i = first; i < past; ++i) {
                const Task task = task_at(i);
                add_rows(values.get() + (task.in - begin), task.rows, task.width, task.width, tree.get(), y + task.out);
            }
            return;
        }
        for (std::int64_t i = first; i < past; ++i) {
            const Task task = task_at(i);
            for (std::int64_t r = 0; r < task.rows; ++r)
                converted(task.in + r * pass.columns, values.get() + r * task.width, task.width);
            add_rows(values.get(), task.rows, task.width, task.width, tree.get(), y + task.out);
        }
    });
}

/// The type sums are held in: arithmetic's, but real while the inputs are.
DType accumulator(const Problem& problem) {
    const DType type = arithmetic(op, problem);
    return is_complex(problem.in[0].dtype) ? type : real_of(type);
}

/// Where the passes write: into two halves of the workspace in turn, the last one into the output where its type is the
/// accumulator's.
struct Room {
    std::size_t even = 0, odd = 0;  // bytes
};

Room room(const Problem& problem, const std::vector<Pass>& steps) {
    Room result;
    const bool direct = accumulator(problem) == problem.out[0].dtype;
    for (std::size_t i = 0; i + (direct ? 1 : 0) < steps.size(); ++i) {
        std::size_t& half = i % 2 == 0 ? result.even : result.odd;
        const std::size_t bytes = static_cast<std::size_t>(steps[i].outputs()) * size_of(real_of(accumulator(problem)));
        half = std::max(half, (bytes + 63) / 64 * 64);
    }
    return result;
}

std::string refuses(const Problem&) {
    return {};
}

std::size_t memory(const Problem& problem) {
    if (problem.in[0].size() == 0) return 0;
    const Room halves = room(problem, passes(problem));
    return halves.even + halves.odd;
}

double growth(const Problem&, std::int64_t n) {
    return std::log2(static_cast<double>(n)) + 8;
}

Plan prepare(const Problem& problem) {
    Plan plan;
    const Spec out = problem.out[0];
    if (problem.in[0].size() == 0) {
        plan.step = [bytes = out.bytes()](const Call& call) {
            if (bytes > 0) std::memset(call.out[0].data, 0, bytes);
        };
        plan.words = "nothing to add";
        return plan;
    }
    const std::vector<Pass> steps = passes(problem);
    const Room halves = room(problem, steps);
    const DType type = accumulator(problem);
    plan.workspace = halves.even + halves.odd;
    plan.words = fmt::format("pairwise in {}, {} {}", name(type), steps.size(), steps.size() == 1 ? "pass" : "passes");
    plan.step = [steps, type, from = problem.in[0].dtype, odd = halves.even,
                 threads = threads_of(problem.place)](const Call& call) {
        const bool direct = type == call.out[0].spec.dtype;
        const std::byte* source = call.in[0].data;
        DType dtype = real_of(from);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            std::byte* target =
                direct && i + 1 == steps.size() ? call.out[0].data : call.workspace + (i % 2 == 0 ? 0 : odd);
            with_sum_type(real_of(type), [&]<class T>() {
                run(steps[i], dtype, source, real_of(type), reinterpret_cast<T*>(target), threads);
            });
            source = target;
            dtype = real_of(type);
        }
        if (!direct) store_results(op.name, type, source, call.out[0], threads);
    };
    return plan;
}

}  // namespace

const Variant row{
    .name = "loop",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "pairwise sums on all cores, vectorised; the same bits for every thread count",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::sum::cpu::loop
