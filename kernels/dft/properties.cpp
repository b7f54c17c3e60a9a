// SPDX-License-Identifier: BSD-3-Clause
// dft without a reference, each transform by itself, within the norm-wise bound e |X|:
//   Parseval      | |got| - |X| | <= e |X|, the norm known from the input
//   weighted sum  sum_k t_k X_k = sum_n x_n T_n, T the transform of random weights t (the matrix is symmetric): one
//                 transform by FFTW in long double for all; a wrong element, sign, order or factor shows
//   Hermitian     X[-k] = conj X[k] of real input, within twice the bound
//   shift         the same variant on x rolled by one: X_k times a phase, within twice the bound
//   impulse       the same variant on x with the sign of its last sample changed: by linearity X_k and the transform of
//   an
//                 impulse of -2 x_m, which is known, within twice the bound
//   round trip    the same variant back: x again, within both bounds
// The last three run the variant again, where x is neither cropped nor padded nor itself a half spectrum.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/parallel.hpp"
#include "core/properties.hpp"
#include "dft/dft.hpp"

namespace gridstride::dft {

// transforms.cpp
std::function<std::complex<long double>(std::int64_t transform)> weighted_sums(const Problem& problem,
                                                                               std::span<const Slab> in,
                                                                               std::uint64_t seed);

namespace {

using std::int64_t;
using Complex = std::complex<long double>;

/// What one transform is held to; nothing where its values are not finite or may overflow.
struct Held {
    bool judged = false;
    long double norm = 0, bound = 0;
};

Held held(const Examined& one, int64_t transform, std::size_t outputs) {
    const Transforms& all = *one.transforms;
    if (!all.finite(transform)) return {};
    const long double norm = all.norm(transform), magnitude = all.magnitude(transform);
    if (!((all.squared ? magnitude * magnitude : magnitude) < one.allowance.largest)) return {};
    // Of zeros the transform is exact zeros.
    const long double least = one.allowance.least * std::sqrt(2 * static_cast<long double>(outputs));
    return {true, norm, norm > 0 ? one.allowance.relative * norm + least : 0};
}

std::string name_of(int64_t transform) {
    return "transform " + std::to_string(transform);
}

/// body(transform, its places, what it is held to), transforms in parallel blocks, in order within each.
template <class Body>
Property each_transform(const Examined& one, std::string name, Body&& body) {
    const Transforms& all = *one.transforms;
    const int64_t blocks = std::min<int64_t>(all.count, 4 * one.threads), block = (all.count + blocks - 1) / blocks;
    std::vector<Property> worst(static_cast<std::size_t>((all.count + block - 1) / block), Property{.name = name});
    for_blocks(all.count, block, one.threads, [&](int64_t begin, int64_t end) {
        Property& here = worst[static_cast<std::size_t>(begin / block)];
        for (int64_t transform = begin; transform < end; ++transform) {
            const auto places = all.places(transform);
            const Held limits = held(one, transform, places.size());
            if (!limits.judged) continue;
            const auto [off, bound] = body(transform, places, limits);
            if (keep_worst(here, off, bound, name_of(transform)) && !here.holds()) here.outputs = places;
        }
    });
    Property result{.name = std::move(name)};
    for (Property& part : worst)
        if (part.bound != 0 || part.value != 0)
            if (result.where.empty() || part.used() > result.used()) result = std::move(part);
    return result;
}

struct Off {
    long double value, bound;
};

Property parseval(const Examined& one) {
    const Elements output(one.out);
    return each_transform(one, "Parseval", [&](int64_t, const std::vector<int64_t>& places, const Held& limits) {
        long double squares = 0;
        for (const int64_t place : places) {
            const Complex got = output(place);
            squares += one.transforms->weight(place) * (one.transforms->squared ? got.real() : std::norm(got));
        }
        return Off{std::abs(std::sqrt(squares) - limits.norm), limits.bound};
    });
}

/// sums: of the outputs' exact values with the weights 0, 1, ... of places(), by transform.
Property weighted_sum(const Examined& one, const std::function<Complex(int64_t)>& sums) {
    const Elements output(one.out);
    return each_transform(one, "weighted sum",
                          [&](int64_t transform, const std::vector<int64_t>& places, const Held& limits) {
                              Complex sum;
                              for (std::size_t i = 0; i < places.size(); ++i)
                                  sum += random_weight(one.seed, static_cast<int64_t>(i)) * output(places[i]);
                              return Off{larger_part(sum - sums(transform)), weighted_sum_factor * limits.bound};
                          });
}

/// Place of the output that stands for the opposite frequencies; -1 where none does.
int64_t mirrored(const Layout& layout, const Shape& strides, int64_t place) {
    int64_t mirror = place;
    for (std::size_t i = 0; i < layout.axes.size(); ++i) {
        const std::size_t axis = layout.axes[i];
        const int64_t k = place / strides[axis] % layout.out[axis], opposite = k == 0 ? 0 : layout.lengths[i] - k;
        if (opposite >= layout.out[axis]) return -1;
        mirror += (opposite - k) * strides[axis];
    }
    return mirror;
}

Property hermitian(const Examined& one, const Layout& layout) {
    const Elements output(one.out);
    const Shape strides = row_major_strides(layout.out);
    return each_transform(one, "Hermitian", [&](int64_t, const std::vector<int64_t>& places, const Held& limits) {
        long double squares = 0;
        for (const int64_t place : places)
            if (const int64_t mirror = mirrored(layout, strides, place); mirror >= 0)
                squares += std::norm(output(place) - std::conj(output(mirror)));
        return Off{std::sqrt(squares), 2 * limits.bound};
    });
}

/// A copy of x rolled by one along every transformed axis.
Tensor rolled(const Slab& x, const Layout& layout) {
    Tensor result(x.spec);
    const std::size_t size = size_of(x.spec.dtype);
    for (int64_t i = 0; i < x.spec.size(); ++i) {
        int64_t to = i;
        for (const std::size_t axis : layout.axes) {
            const int64_t extent = x.spec.shape[axis], at = i / x.strides[axis] % extent;
            to += (at + 1 == extent ? 1 - extent : 1) * x.strides[axis];
        }
        std::memcpy(result.data() + static_cast<std::size_t>(to) * size, x.data + static_cast<std::size_t>(i) * size,
                    size);
    }
    return result;
}

/// sum of m_a k_a / N_a over the transformed axes, m the last sample of each; of the output at this place.
long double turns_of_last(const Layout& layout, const Shape& in, const Shape& strides, int64_t place) {
    long double turns = 0;
    for (std::size_t i = 0; i < layout.axes.size(); ++i) {
        const std::size_t axis = layout.axes[i];
        const int64_t k = place / strides[axis] % layout.out[axis], length = layout.lengths[i];
        turns += static_cast<long double>((in[axis] - 1) * k % length) / static_cast<long double>(length);
    }
    return turns;
}

/// Where in x the last sample of the transform lies that the output at this place belongs to.
int64_t last_sample(const Layout& layout, const Slab& x, const Shape& strides, int64_t place) {
    int64_t at = 0;
    for (std::size_t axis = 0; axis < layout.out.size(); ++axis) {
        const bool transformed = std::find(layout.axes.begin(), layout.axes.end(), axis) != layout.axes.end();
        const int64_t coordinate = transformed ? x.spec.shape[axis] - 1 : place / strides[axis] % layout.out[axis];
        at += coordinate * x.strides[axis];
    }
    return at;
}

/// A copy of x in which the last sample of every transform has the other sign.
Tensor with_last_negated(const Slab& x, const Layout& layout) {
    Tensor result(x.spec);
    std::memcpy(result.data(), x.data, x.spec.bytes());
    const std::size_t size = size_of(x.spec.dtype), part = is_complex(x.spec.dtype) ? size / 2 : size;
    for (int64_t i = 0; i < x.spec.size(); ++i) {
        const bool last = std::all_of(layout.axes.begin(), layout.axes.end(), [&](std::size_t axis) {
            return i / x.strides[axis] % x.spec.shape[axis] == x.spec.shape[axis] - 1;
        });
        if (!last) continue;
        std::byte* const element = result.data() + static_cast<std::size_t>(i) * size;
        for (std::size_t end = part; end <= size; end += part) element[end - 1] ^= std::byte{0x80};  // IEEE 754's sign
    }
    return result;
}

Property impulse(const Examined& one, const Layout& layout) {
    const Tensor x = with_last_negated(one.in[0], layout);
    const Slab from = x.slab();
    const Tensor answer = one.again(one.problem, {&from, 1});
    const Elements output(one.out), other(answer.slab()), input(one.in[0]);
    const Shape strides = row_major_strides(layout.out);
    return each_transform(one, "impulse", [&](int64_t, const std::vector<int64_t>& places, const Held& limits) {
        const Complex sample = input(last_sample(layout, one.in[0], strides, places[0]));
        long double squares = 0;
        for (const int64_t place : places) {
            const long double angle = (layout.inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                      turns_of_last(layout, one.in[0].spec.shape, strides, place);
            const Complex added = product(-2 * layout.factor * sample, std::polar(1.0L, angle));
            squares += std::norm(other(place) - output(place) - added);
        }
        return Off{std::sqrt(squares), 2 * limits.bound};  // the norm of both is the same: so are the magnitudes
    });
}

Property shift(const Examined& one, const Layout& layout) {
    const Tensor x = rolled(one.in[0], layout);
    const Slab from = x.slab();
    const Tensor answer = one.again(one.problem, {&from, 1});
    const Elements output(one.out), rolled_output(answer.slab());
    const Shape strides = row_major_strides(layout.out);
    return each_transform(one, "shift", [&](int64_t, const std::vector<int64_t>& places, const Held& limits) {
        long double squares = 0;
        for (const int64_t place : places) {
            const Complex ours = output(place), theirs = rolled_output(place);
            if (layout.form == Form::power) {
                const long double off = std::sqrt(theirs.real()) - std::sqrt(ours.real());
                squares += off * off;
                continue;
            }
            long double turns = 0;
            for (std::size_t i = 0; i < layout.axes.size(); ++i) {
                const std::size_t axis = layout.axes[i];
                turns += static_cast<long double>(place / strides[axis] % layout.out[axis]) /
                         static_cast<long double>(layout.lengths[i]);
            }
            const long double angle = (layout.inverse ? 2 : -2) * std::numbers::pi_v<long double> * turns;
            squares += std::norm(theirs - product(ours, std::polar(1.0L, angle)));
        }
        return Off{std::sqrt(squares), 2 * limits.bound};
    });
}

Property round_trip(const Examined& one, const Layout& layout) {
    const bool half = layout.form == Form::half;
    Problem back = one.problem;
    back.params.set("form", std::string(half ? "real" : "full"));
    back.params.set("direction", std::string(half || !layout.inverse ? "inverse" : "forward"));
    Values lengths;
    for (const int64_t length : layout.lengths) lengths.emplace_back(length);
    back.params.set("n", lengths);
    back.launch = {};
    back.in = {one.problem.out[0]};
    back.out = op.infer(back.params, back.in, {});
    const Tensor answer = one.again(back, {&one.out, 1});
    const Elements again(answer.slab()), x(one.in[0]);
    // The places of x of a transform are those of the answer: both have x's shape.
    const auto other = op.transforms(back, {&one.out, 1});
    const long double scale = layout.factor * std::sqrt(static_cast<long double>(layout.length));
    return each_transform(one, "round trip", [&](int64_t transform, const std::vector<int64_t>&, const Held& limits) {
        long double squares = 0;
        for (const int64_t place : other->places(transform)) squares += std::norm(again(place) - x(place));
        const long double bound = (2 + one.allowance.relative) * limits.bound / scale +
                                  one.allowance.least * std::sqrt(2 * static_cast<long double>(layout.length));
        return Off{std::sqrt(squares), bound};
    });
}

}  // namespace

std::vector<Property> properties(const Examined& one) {
    const Layout posed = layout(one.problem.params, one.problem.in[0]);
    const auto outputs = static_cast<double>(one.out.spec.size()), n = static_cast<double>(posed.length);
    const bool power = posed.form == Form::power, real_input = !is_complex(one.in[0].spec.dtype);
    if (outputs == 0 || 2 * outputs > one.terms) return {};
    std::vector<Property> all{parseval(one)};
    if (!power && n * std::log2(n) + 2 * outputs <= one.terms)
        if (const auto sums = weighted_sums(one.problem, one.in, one.seed)) all.push_back(weighted_sum(one, sums));
    if (real_input && !power && posed.form != Form::real) all.push_back(hermitian(one, posed));
    if (one.again == nullptr || posed.form == Form::real || posed.grid != one.in[0].spec.shape) return all;
    const auto try_again = [&](Property (*property)(const Examined&, const Layout&)) {
        try {
            all.push_back(property(one, posed));
        } catch (const Error&) {  // there is no room for a second run, or the variant refuses the way back
        }
    };
    try_again(shift);
    if (!power) try_again(impulse);
    const bool kept = one.problem.out[0].dtype == complex_of(arithmetic(op, one.problem));  // not stored narrower
    if (!power && kept) try_again(round_trip);
    return all;
}

}  // namespace gridstride::dft
