// SPDX-License-Identifier: BSD-3-Clause
// matmul by its definition, one output element at a time: a sum of k products, in float64 for float32 and below, in
// long double for float64. Finds its way by the shapes and strides alone and shares nothing with the variants.
#include <cmath>

#include "core/operation.hpp"
#include "matmul/matmul.hpp"

namespace gridstride::matmul {

namespace {

using std::int64_t;

/// Strides of an operand's row, column and batch axes, for an output of `batch` axes.
struct View {
    const std::byte* data = nullptr;
    int64_t row = 0, column = 0;
    Shape batch;  // as many as the output's; 0 where broadcast
    bool conjugate = false;
};

View view(const Slab& slab, const std::string& transpose, bool first, std::size_t batch_axes) {
    const Shape &shape = slab.spec.shape, &strides = slab.strides;
    const std::size_t rank = shape.size();
    View result{slab.data, 0, 0, Shape(batch_axes, 0), transpose == "adjoint"};
    if (rank == 1) {
        (first ? result.column : result.row) = strides[0];
        return result;
    }
    result.row = strides[rank - 2];
    result.column = strides[rank - 1];
    if (transpose != "none") std::swap(result.row, result.column);
    for (std::size_t i = 0; i + 2 < rank; ++i)
        result.batch[batch_axes - (rank - 2) + i] = shape[i] == 1 ? 0 : strides[i];
    return result;
}

/// An element as the sums take it.
template <class Wide, class T>
auto widened(const T& value) {
    if constexpr (is_complex_type<T>)
        return std::complex<Wide>(value.real(), value.imag());
    else if constexpr (sizeof(T) == 2)
        return static_cast<Wide>(static_cast<float>(value));  // one instruction; straight to long double is a call
    else
        return static_cast<Wide>(value);
}

/// A sum of products and of their absolute values, by parts.
template <class Wide>
struct Sums {
    Wide re = 0, im = 0, re_size = 0, im_size = 0;

    void add(Wide p, Wide q) {
        const Wide product = p * q;
        re += product;
        re_size += finite_size(product);
    }
    void add(std::complex<Wide> p, std::complex<Wide> q) {
        const Wide rr = p.real() * q.real(), ii = p.imag() * q.imag(), ri = p.real() * q.imag(),
                   ir = p.imag() * q.real();
        re += rr - ii;
        im += ri + ir;
        re_size += finite_size(rr) + finite_size(ii);
        im_size += finite_size(ri) + finite_size(ir);
    }
    void add(const Sums& other) {
        re += other.re;
        im += other.im;
        re_size += other.re_size;
        im_size += other.im_size;
    }
};

/// x . y, in a few independent sums, which a processor adds side by side.
template <class Wide, class T>
Sums<Wide> dot(const T* x, int64_t x_stride, bool x_conjugate, const T* y, int64_t y_stride, bool y_conjugate,
               int64_t k) {
    constexpr int64_t lanes = std::is_same_v<Wide, double> ? 8 : 1;  // long doubles have eight registers in all
    Sums<Wide> sums[lanes];
    const auto add = [&](int64_t l, int64_t lane) {
        auto p = widened<Wide>(x[l * x_stride]), q = widened<Wide>(y[l * y_stride]);
        if constexpr (is_complex_type<T>) {
            if (x_conjugate) p = std::conj(p);
            if (y_conjugate) q = std::conj(q);
        }
        sums[lane].add(p, q);
    };
    int64_t l = 0;
    for (; l + lanes <= k; l += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) add(l + lane, lane);
    for (; l < k; ++l) add(l, 0);
    for (int64_t lane = 1; lane < lanes; ++lane) sums[0].add(sums[lane]);
    return sums[0];
}

struct Definition {
    View a, b;
    std::optional<Slab> c;  // where it is read
    Shape batch, out;
    bool a_vector = false, b_vector = false;
    int64_t k = 0;
    std::complex<long double> alpha, beta;
    std::shared_ptr<const std::byte> columns;  // what b.data points into, where b was copied

    /// Copies a b of moderate size column by column: its columns are read once for each row of the output, and
    /// elements far apart in memory take many times as long to fetch as neighbours.
    void gather_columns(const Slab& slab) {
        constexpr std::size_t most = std::size_t{64} << 20;
        if (b_vector || b.row == 1 || slab.spec.bytes() > most || slab.spec.size() == 0) return;
        const std::size_t rank = slab.spec.shape.size();
        if (b.row != slab.strides[rank - 2]) return;  // transposed: its columns lie as they should
        Slab turned = slab;
        std::swap(turned.spec.shape[rank - 2], turned.spec.shape[rank - 1]);
        std::swap(turned.strides[rank - 2], turned.strides[rank - 1]);
        auto copy = std::make_shared<const Tensor>(clone(turned));
        const Shape strides = row_major_strides(turned.spec.shape);
        b.data = copy->data();
        b.row = 1;
        b.column = strides[rank - 2];
        for (std::size_t i = 0; i + 2 < rank; ++i)
            if (slab.spec.shape[i] != 1) b.batch[batch.size() - (rank - 2) + i] = strides[i];
        columns = std::shared_ptr<const std::byte>(copy, copy->data());
    }

    template <class T, class Wide>
    Term term(int64_t index) const {
        const Shape place = unravel(index, out);
        const int64_t i = a_vector ? 0 : place[batch.size()];
        const int64_t j = b_vector ? 0 : place.back();
        Sums<Wide> sums;
        if (alpha != 0.0L) {
            const auto* x = reinterpret_cast<const T*>(a.data) + i * a.row;
            const auto* y = reinterpret_cast<const T*>(b.data) + j * b.column;
            for (std::size_t axis = 0; axis < batch.size(); ++axis) {
                x += place[axis] * a.batch[axis];
                y += place[axis] * b.batch[axis];
            }
            if (a.column == 1 && b.row == 1)
                sums = dot<Wide>(x, 1, a.conjugate, y, 1, b.conjugate, k);
            else
                sums = dot<Wide>(x, a.column, a.conjugate, y, b.row, b.conjugate, k);
        }
        Term result;
        result.factor = std::abs(alpha);
        result.unscaled = std::max<long double>(sums.re_size, sums.im_size);
        scaled(result, alpha, {sums.re, sums.im}, {sums.re_size, sums.im_size});
        if (c) {
            const std::complex<long double> value{real_part(*c, index), imaginary_part(*c, index)};
            scaled(result, beta, value, {finite_size(value.real()), finite_size(value.imag())});
        }
        return result;
    }

    /// Adds scalar * value. A part that is 0 takes no part, so that 0 times Inf does not become NaN in a real product.
    static void scaled(Term& term, std::complex<long double> scalar, std::complex<long double> value,
                       std::complex<long double> size) {
        if (scalar.real() != 0) {
            term.re += scalar.real() * value.real();
            term.im += scalar.real() * value.imag();
            term.re_magnitude += std::abs(scalar.real()) * size.real();
            term.im_magnitude += std::abs(scalar.real()) * size.imag();
        }
        if (scalar.imag() != 0) {
            term.re -= scalar.imag() * value.imag();
            term.im += scalar.imag() * value.real();
            term.re_magnitude += std::abs(scalar.imag()) * size.imag();
            term.im_magnitude += std::abs(scalar.imag()) * size.real();
        }
    }
};

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const Shape &a = problem.in[0].shape, &b = problem.in[1].shape;
    Definition definition;
    definition.out = problem.out[0].shape;
    definition.a_vector = a.size() == 1;
    definition.b_vector = b.size() == 1;
    const std::size_t matrix_axes = (definition.a_vector ? 0 : 1) + (definition.b_vector ? 0 : 1);
    definition.batch = Shape(definition.out.begin(), definition.out.end() - static_cast<int64_t>(matrix_axes));
    const std::string &how_a = problem.params.word("transpose_a"), &how_b = problem.params.word("transpose_b");
    definition.a = view(in[0], how_a, true, definition.batch.size());
    definition.b = view(in[1], how_b, false, definition.batch.size());
    definition.k = definition.a_vector || how_a == "none" ? a.back() : a[a.size() - 2];
    definition.alpha = problem.params.scalar("alpha");
    if (problem.in[2].present) {
        definition.beta = problem.params.has("beta") ? problem.params.scalar("beta") : 1.0;
        if (definition.beta != 0.0L) definition.c = in[2];
    }
    if (definition.alpha != 0.0L) definition.gather_columns(in[1]);
    const bool wide = real_of(accumulator(problem)) == DType::float64;
    return with_type<float16, bfloat16, float, double, complex64, complex128>(
        problem.in[0].dtype, [&]<class T>() -> Reference {
            if (wide) return [definition](int64_t index) { return definition.term<T, long double>(index); };
            return [definition](int64_t index) { return definition.term<T, double>(index); };
        });
}

}  // namespace gridstride::matmul
