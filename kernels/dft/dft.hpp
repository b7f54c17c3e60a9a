// SPDX-License-Identifier: BSD-3-Clause
// dft: the rows of the operation and its variants, and what a problem asks, resolved: axes, lengths, form, norm.
#pragma once

#include <algorithm>
#include <complex>

#include "core/operation.hpp"

namespace gridstride::dft {

extern const Op op;
namespace cpu::fftw {
extern const Variant row;
}

enum class Form {
    full,   // all bins
    half,   // of real input, bins 0 to n/2 of the last axis
    real,   // the inverse of a half spectrum
    power,  // |X|^2 of all bins, of real input bins 0 to n/2
};

struct Layout {
    std::vector<std::size_t> axes;  // transformed, in the order given; the last is the one that a half spectrum halves
    Shape lengths;                  // N of each of them
    std::int64_t length = 1;        // the product of the lengths
    Form form = Form::full;
    bool inverse = false;
    bool halved = false;     // the output is a half spectrum
    long double factor = 1;  // of the norm
    Shape grid;              // x cropped and zero-padded; form real: the half spectrum
    Shape out;

    /// Extent of an axis of x that enters: the shorter of x's and the grid's.
    std::int64_t entering(const Shape& x, std::size_t axis) const { return std::min(x[axis], grid[axis]); }
    /// Does place k of the last transformed axis stand for two bins of the full spectrum?
    bool is_double(std::int64_t k) const { return k != 0 && 2 * k != lengths.back(); }
    std::size_t last() const { return axes.back(); }
};

/// Errors (config): axes that repeat or are out of range, lengths below 1, forms that do not go with the input or the
/// direction.
Layout layout(const Params& params, const Spec& x);

/// The plain formula: that of std::complex recovers infinities, which costs.
inline std::complex<long double> product(std::complex<long double> a, std::complex<long double> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// g(N) of a library's fast transform.
double fast_growth(const Problem& problem, std::int64_t n);

}  // namespace gridstride::dft
