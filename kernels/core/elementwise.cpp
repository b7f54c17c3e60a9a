// SPDX-License-Identifier: BSD-3-Clause
// Broadcasting and the blocked loop of the elementwise operations.
#include "core/elementwise.hpp"

#include <algorithm>

#include "core/convert.hpp"
#include "core/parallel.hpp"

namespace gridstride::elementwise {

std::vector<Spec> infer(const Op& op, std::span<const Spec> in, std::optional<DType> result) {
    Shape shape = in[0].shape;
    for (std::size_t i = 1; i < in.size(); ++i)
        shape = broadcast(shape, in[i].shape, "inputs." + std::string(op.inputs[i].name));
    count(shape);  // an output may be too large where no input is
    return {{output_type(common_type(op, in), result), shape}};
}

Cost traffic(const Problem& problem) {
    Cost cost;
    for (const Spec& spec : problem.in) cost.read += static_cast<double>(spec.bytes());
    cost.written = static_cast<double>(problem.out[0].bytes());
    return cost;
}

std::vector<Axis> axes(const Problem& problem) {
    std::vector<Axis> result;
    const Shape& shape = problem.out[0].shape;
    for (std::size_t i = 0; i < shape.size(); ++i) result.push_back({"axis_" + std::to_string(i), shape[i]});
    return result;
}

Piece cut(const Problem& problem, std::size_t axis, std::int64_t begin, std::int64_t end) {
    Piece piece{problem, {}, {whole(problem.out[0].shape)}};
    const std::size_t rank = problem.out[0].shape.size();
    const std::int64_t extent = problem.out[0].shape[axis];
    piece.out[0].axes[axis] = {begin, end - begin};
    piece.problem.out[0].shape[axis] = end - begin;
    for (Spec& spec : piece.problem.in) {
        Selection selection = whole(spec.shape);
        const std::size_t missing = rank - spec.shape.size();
        if (axis >= missing && spec.shape[axis - missing] == extent) {
            selection.axes[axis - missing] = {begin, end - begin};
            spec.shape[axis - missing] = end - begin;
        }
        piece.in.push_back(std::move(selection));
    }
    return piece;
}

std::vector<AxisOrigin> origins(const Problem& problem) {
    const Shape& shape = problem.out[0].shape;
    std::vector<AxisOrigin> result(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        for (std::size_t i = problem.in.size(); i-- > 0;) {
            const Shape& from = problem.in[i].shape;
            const std::size_t missing = shape.size() - from.size();
            if (axis < missing || from[axis - missing] != shape[axis]) continue;
            result[axis].input = static_cast<int>(i);
            result[axis].axis = static_cast<int>(axis - missing);
        }
    return result;
}

std::int64_t terms(const Problem&) {
    return 1;
}

std::vector<std::string_view> prefer(const Problem&) {
    return {"grid_stride", "loop"};
}

std::vector<Problem> cases(std::size_t inputs) {
    const std::vector<std::vector<Shape>> broadcasting = {{{}, {}},
                                                          {{}, {2, 3}},
                                                          {{1}, {1}},
                                                          {{0}, {0}},
                                                          {{3, 0, 5}, {1, 1, 5}},
                                                          {{2, 3}, {0, 1, 1}},
                                                          {{7}, {7}},
                                                          {{5, 7}, {5, 7}},
                                                          {{1, 3}, {2, 3}},
                                                          {{5, 1}, {1, 7}},
                                                          {{1, 1023}, {2, 1}},
                                                          {{4097}, {4097}},
                                                          {{31, 1, 33}, {17, 1}},
                                                          {{3, 2, 5, 2, 3}, {2, 1, 2, 1}},
                                                          {{2, 1, 3, 1, 5}, {1, 4, 1, 2, 1}},
                                                          {{1000, 3}, {3}},
                                                          {{100003}, {}},
                                                          {{100003}, {100003}}};
    std::vector<Problem> result;
    for (const DType dtype : all_dtypes)
        for (const std::vector<Shape>& shapes : broadcasting) {
            Problem problem;
            for (std::size_t i = 0; i < inputs; ++i) problem.in.push_back({dtype, shapes[i]});
            result.push_back(problem);
        }
    return result;
}

Nest collapse(const Shape& out, std::span<const Spec> in) {
    std::vector<Shape> strides;  // over out's axes
    for (const Spec& spec : in)
        strides.push_back(broadcast(Slab{spec, row_major_strides(spec.shape), nullptr}, out).strides);
    Nest nest{{}, std::vector<Shape>(in.size())};
    for (std::size_t axis = out.size(); axis-- > 0;) {  // built from the last axis
        if (out[axis] == 1) continue;
        bool joins = !nest.extents.empty();
        for (std::size_t i = 0; joins && i < in.size(); ++i)
            joins = strides[i][axis] == nest.strides[i].back() * nest.extents.back();
        if (joins) {
            nest.extents.back() *= out[axis];
            continue;
        }
        nest.extents.push_back(out[axis]);
        for (std::size_t i = 0; i < in.size(); ++i) nest.strides[i].push_back(strides[i][axis]);
    }
    if (nest.extents.empty()) {
        nest.extents.push_back(1);
        for (Shape& one : nest.strides) one.push_back(1);
    }
    std::reverse(nest.extents.begin(), nest.extents.end());
    for (Shape& one : nest.strides) std::reverse(one.begin(), one.end());
    return nest;
}

namespace {

constexpr std::int64_t block = 1024;       // elements: five buffers of the widest type are 80 KiB, of float32 20 KiB
constexpr std::int64_t grain = 64 * 1024;  // elements a thread takes at a time
constexpr std::size_t widest = sizeof(complex128);
constexpr std::size_t most_inputs = 2;

/// The elements [begin, begin + n) of the output's index space, of an input with these strides, side by side.
template <class T>
void gather(const Shape& extents, const Shape& strides, const T* source, std::int64_t begin, std::int64_t n,
            T* target) {
    Shape place = unravel(begin, extents);
    const std::size_t last = extents.size() - 1;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < last; ++i) offset += place[i] * strides[i];
    while (n > 0) {
        const std::int64_t run = std::min(extents[last] - place[last], n);
        const T* row = source + offset + place[last] * strides[last];
        if (run < 16)  // too short for a call
            for (std::int64_t i = 0; i < run; ++i) target[i] = row[i * strides[last]];
        else if (strides[last] == 0)
            std::fill_n(target, run, *row);
        else
            std::copy_n(row, run, target);
        target += run;
        n -= run;
        place[last] = 0;
        for (std::size_t i = last; i-- > 0;) {  // the next row
            offset += strides[i];
            if (++place[i] < extents[i]) break;
            offset -= extents[i] * strides[i];
            place[i] = 0;
        }
    }
}

/// An input as the loop sees it.
struct Operand {
    Shape strides;
    bool whole = false;     // of the output's shape: its blocks lie in memory as they are
    bool constant = false;  // one element: its block is made once
};

}  // namespace

Step step(const Op& op, const Problem& problem, Compute compute) {
    const DType type = arithmetic(op, problem);
    const Spec out = problem.out[0];
    const DType from = problem.in[0].dtype;
    Nest nest = collapse(out.shape, problem.in);
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < problem.in.size(); ++i)
        operands.push_back({nest.strides[i], problem.in[i].size() == out.size(), problem.in[i].size() == 1});

    return [name = op.name, type, out, from, operands, extents = nest.extents, compute,
            threads = threads_of(problem.place)](const Call& call) {
        const auto from_size = static_cast<std::int64_t>(size_of(from));
        const auto out_size = static_cast<std::int64_t>(size_of(out.dtype));
        for_blocks(out.size(), grain, threads, [&](std::int64_t first, std::int64_t past) {
            alignas(64) std::byte gathered[most_inputs][block * widest], wide[most_inputs][block * widest];
            alignas(64) std::byte results[block * widest];
            const std::byte* in[most_inputs] = {};
            for (std::int64_t begin = first; begin < past; begin += block) {
                const std::int64_t n = std::min(block, past - begin);
                for (std::size_t i = 0; i < operands.size(); ++i) {
                    if (operands[i].constant && begin > first) continue;
                    const std::byte* source = gathered[i];
                    if (operands[i].whole)
                        source = call.in[i].data + begin * from_size;
                    else
                        with_any_type(from, [&]<class T>() {
                            gather(extents, operands[i].strides, call.in[i].as<const T>(), begin, n,
                                   reinterpret_cast<T*>(gathered[i]));
                        });
                    if (from != type) {
                        convert(from, source, type, wide[i], n, Overflow::infinity);
                        source = wide[i];
                    }
                    in[i] = source;
                }
                std::byte* target = call.out[0].data + begin * out_size;
                if (out.dtype == type) {
                    compute(in, target, n);
                } else {
                    compute(in, results, n);
                    const std::int64_t bad = convert(type, results, out.dtype, target, n, Overflow::infinity);
                    if (bad >= 0) {
                        const auto size = static_cast<std::int64_t>(size_of(type));
                        refuse_result(name, begin + bad, out, type, results + bad * size);
                    }
                }
            }
        });
    };
}

}  // namespace gridstride::elementwise
