// SPDX-License-Identifier: BSD-3-Clause
// Definition of one element of the sum: every x that lands in it, one after the other. float64 for float32 and below,
// long double for float64, in three levels of at most 1024 additions each so that its own error stays below 2^-50 resp.
// 2^-60 of the sum of magnitudes up to 2^30 terms; 128-bit integers wrapped to the arithmetic type.
#include <cmath>
#include <memory>

#include "sum/sum.hpp"

namespace gridstride::sum {

namespace {

__extension__ using int128 = __int128;

/// A running sum in levels: 1024 terms make one of the next level.
template <class W>
struct Levels {
    W recent = 0, middle = 0, total = 0;
    int terms = 0, sums = 0;

    void add(W value) {
        recent += value;
        if (++terms == 1024) fold();
    }
    void fold() {
        middle += recent;
        recent = 0;
        terms = 0;
        if (++sums == 1024) {
            total += middle;
            middle = 0;
            sums = 0;
        }
    }
    W value() const { return total + (middle + recent); }
};

/// Where the terms of an output lie: kept axes give its first one, summed axes the steps from there.
struct Layout {
    Shape kept, kept_strides, summed, summed_strides;
    bool empty = false;  // no terms

    std::int64_t first(std::int64_t index) const {
        std::int64_t offset = 0;
        for (std::size_t i = kept.size(); i-- > 0; index /= kept[i]) offset += index % kept[i] * kept_strides[i];
        return offset;
    }

    template <class T, class F>
    void visit(const T* at, std::size_t axis, F& f) const {
        if (axis == summed.size()) {
            f(*at);
        } else if (axis + 1 == summed.size()) {
            for (std::int64_t i = 0; i < summed[axis]; ++i) f(at[i * summed_strides[axis]]);
        } else {
            for (std::int64_t i = 0; i < summed[axis]; ++i) visit(at + i * summed_strides[axis], axis + 1, f);
        }
    }
};

/// T: of the elements; W: of the running sums of floats.
template <class T, class W>
Term sum_floats(const Layout& layout, const T* x) {
    Levels<W> re, im, re_magnitude, im_magnitude;
    auto add = [&](const T& value) {
        if constexpr (is_complex_type<T>) {
            re.add(value.real());
            im.add(value.imag());
            re_magnitude.add(finite_size(static_cast<W>(value.real())));
            im_magnitude.add(finite_size(static_cast<W>(value.imag())));
        } else {
            const auto wide = static_cast<W>(value);
            re.add(wide);
            re_magnitude.add(finite_size(wide));
        }
    };
    if (!layout.empty) layout.visit(x, 0, add);
    Term term;
    term.re = re.value();
    term.im = im.value();
    term.re_magnitude = re_magnitude.value();
    term.im_magnitude = im_magnitude.value();
    return term;
}

template <class T>
Term sum_integers(const Layout& layout, const T* x, DType type) {
    int128 exact = 0;
    auto add = [&](const T& value) { exact += value; };
    if (!layout.empty) layout.visit(x, 0, add);
    const std::int64_t wrapped =
        type == DType::int32 ? static_cast<std::int32_t>(exact) : static_cast<std::int64_t>(exact);
    Term term;
    term.re = wrapped;
    term.wrapped = exact != wrapped;
    return term;
}

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const std::vector<bool> summed = summed_axes(problem.params, in[0].spec.shape);
    const auto layout = std::make_shared<Layout>();
    for (std::size_t i = 0; i < summed.size(); ++i) {
        const std::int64_t extent = in[0].spec.shape[i];
        (summed[i] ? layout->summed : layout->kept).push_back(extent);
        (summed[i] ? layout->summed_strides : layout->kept_strides).push_back(in[0].strides[i]);
        layout->empty = layout->empty || extent == 0;
    }
    const DType type = arithmetic(op, problem);
    return with_any_type(in[0].spec.dtype, [&]<class T>() -> Reference {
        const T* x = in[0].as<const T>();
        if constexpr (std::is_integral_v<T>) {
            if (is_integer(type))
                return [layout, x, type](std::int64_t index) {
                    return sum_integers(*layout, layout->empty ? x : x + layout->first(index), type);
                };
        }
        constexpr bool exact_in_float64 = sizeof(T) <= 4 || std::is_same_v<T, complex64>;
        using Wide = std::conditional_t<exact_in_float64 && !std::is_integral_v<T>, double, long double>;
        return [layout, x](std::int64_t index) {
            return sum_floats<T, Wide>(*layout, layout->empty ? x : x + layout->first(index));
        };
    });
}

}  // namespace gridstride::sum
