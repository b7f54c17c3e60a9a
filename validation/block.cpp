// SPDX-License-Identifier: BSD-3-Clause
// A small part of a case around a wrong element, by the operation's own rule of cutting.
#include <algorithm>
#include <numeric>

#include "validation/trial.hpp"

namespace gridstride::validation {

namespace {

constexpr std::int64_t side = 16;

/// Does the part along the axis from begin to end hold this output element?
bool holds(const Piece& piece, const Shape& index) {
    for (std::size_t i = 0; i < index.size(); ++i) {
        const Range& range = piece.out[0].axes[i];
        if (index[i] < range.begin || index[i] >= range.begin + range.count * range.step) return false;
    }
    return true;
}

std::vector<Slab> parts(std::span<const Slab> slabs, const Piece& piece) {
    std::vector<Slab> result;
    for (std::size_t i = 0; i < slabs.size(); ++i)
        result.push_back(piece.problem.in[i].present ? part(slabs[i], piece.in[i])
                                                     : Slab{piece.problem.in[i], {}, nullptr});
    return result;
}

}  // namespace

Block block_around(const Op& op, const Problem& problem, std::span<const Slab> in, const Slab& got, std::int64_t index,
                   double terms, int threads) {
    Block block;
    block.problem = problem;
    block.problem.launch = {};
    std::vector<Slab> inputs(in.begin(), in.end());
    Slab ours = got;
    Shape at = unravel(index, problem.out[0].shape);
    block.first.assign(at.size(), 0);
    const std::size_t axes = op.axes(problem).size();
    for (std::size_t axis = 0; axis < axes; ++axis) {
        const std::int64_t extent = op.axes(block.problem)[axis].extent;
        if (extent <= side || op.cut(block.problem, axis, 0, 1).adds) continue;
        std::int64_t begin = 0, end = extent;  // the stretch, from a multiple of `side` on, that holds the element
        while (end - begin > side) {
            const std::int64_t middle = begin + ((end - begin) / 2 + side - 1) / side * side;
            const bool first = holds(op.cut(block.problem, axis, begin, middle), at);
            (first ? end : begin) = middle;
        }
        const Piece piece = op.cut(block.problem, axis, begin, end);
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] -= piece.out[0].axes[i].begin;
            block.first[i] += piece.out[0].axes[i].begin;
        }
        inputs = parts(inputs, piece);
        ours = part(ours, piece.out[0]);
        block.problem = piece.problem;
    }
    std::vector<Slab> held;
    for (const Slab& slab : inputs) {
        block.in.push_back(slab.spec.present ? clone(slab) : Tensor());
        held.push_back(slab.spec.present ? block.in.back().slab() : slab);
    }
    block.ours = clone(ours);

    Place here;
    here.threads = threads;
    Trial trial{op,
                block.problem,
                held,
                op.reference(block.problem, held),
                {},
                block.ours.spec().size(),
                std::max<std::int64_t>(op.terms(block.problem), 1),
                threads_of(here)};
    std::vector<std::int64_t> places(static_cast<std::size_t>(trial.outputs));
    std::iota(places.begin(), places.end(), 0);
    const bool fits = static_cast<double>(trial.outputs) * static_cast<double>(trial.terms) <= terms;
    if (op.transforms != nullptr) {
        trial.transforms = op.transforms(block.problem, held);
        trial.fast = !fits;
        if (trial.fast && (trial.transforms->all == nullptr || trial.transforms->all(0).empty())) return block;
        block.reference.resize(places.size());
        for (std::int64_t transform = 0; transform < trial.transforms->count; ++transform) {
            const auto own = trial.transforms->places(transform);
            const auto values = spectrum(trial, transform, own);
            for (std::size_t i = 0; i < own.size(); ++i) block.reference[static_cast<std::size_t>(own[i])] = values[i];
        }
    } else if (fits) {
        for (const Term& term : terms_at(trial, places)) block.reference.push_back({term.re, term.im});
    }
    return block;
}

}  // namespace gridstride::validation
