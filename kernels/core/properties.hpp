// SPDX-License-Identifier: BSD-3-Clause
// Properties: what holds of every right answer and can be tested without the reference, at sizes where that can judge
// only some places. Most are sums of outputs with random weights of either sign, known from the inputs at little cost:
// where each element's error is at most b_i, the sum of the errors, with weights up to 1 that do not depend on them,
// exceeds 8 sqrt(sum b_i^2) with probability below 3e-14 (Hoeffding, "Probability inequalities for sums of bounded
// random variables", 1963), while a wrong element shows at half its size or more.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/operation.hpp"

namespace gridstride {

/// What the judge allows an element: relative sum|terms| + stored |value| + least + scaled |factor|, by parts. Of a
/// transform's amplitudes: relative times the norm of the transform + least.
struct Allowance {
    long double relative = 0, stored = 0, least = 0, scaled = 0;
    long double largest = 0;  // where sums of magnitudes reach it, results may be Inf
};

/// An answer to be examined. in, out: host memory, contiguous; in as they were before the run.
struct Examined {
    const Problem& problem;
    std::span<const Slab> in;
    Slab out;
    Allowance allowance;
    double terms = 0;  // products and sums that may be formed, beside a pass over inputs and output
    std::uint64_t seed = 0;
    int threads = 1;
    const Transforms* transforms = nullptr;  // Rule::transform
    /// The variant that gave the answer, once more, on another problem (which it may refuse: an Error).
    std::function<Tensor(const Problem&, std::span<const Slab>)> again = {};
};

struct Property {
    std::string name;                        // "Freivalds"
    long double value = 0, bound = 0;        // of the part that comes closest to its bound, or exceeds it most
    std::string where = {};                  // that part: "row 3"
    std::vector<std::int64_t> outputs = {};  // its elements, where the property does not hold there
    bool holds() const { return value <= bound; }
    /// Of the bound; above 1 fails.
    long double used() const {
        if (value == 0) return 0;
        return bound > 0 && value < std::numeric_limits<long double>::infinity()
                   ? value / bound
                   : std::numeric_limits<long double>::infinity();
    }
};

/// Number `index` of a random sequence, of either sign, from 1/2 to 1 in size (the hash is SplitMix64's, as in
/// validation/places.cpp).
inline long double random_weight(std::uint64_t seed, std::int64_t index) {
    std::uint64_t z = (seed + 1) * 0xd1342543de82ef95U + static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    const long double size = 0.5L + static_cast<long double>(z >> 33) * 0x1p-32L;
    return (z & 1U) != 0 ? size : -size;
}

/// Of the root of the summed squares of errors: what a sum of them with random weights keeps within.
inline constexpr long double weighted_sum_factor = 8;

/// The elements of a contiguous slab by their flat index; the dtype is looked at once.
class Elements {
  public:
    explicit Elements(const Slab& slab) : data_(slab.data) {
        if (slab.spec.present) read_ = with_any_type(slab.spec.dtype, [&]<class T>() -> Read { return read<T>; });
    }
    std::complex<long double> operator()(std::int64_t index) const { return read_(data_, index); }
    long double real(std::int64_t index) const { return read_(data_, index).real(); }

  private:
    using Read = std::complex<long double> (*)(const std::byte*, std::int64_t);
    template <class T>
    static std::complex<long double> read(const std::byte* data, std::int64_t index) {
        const T& value = reinterpret_cast<const T*>(data)[index];
        if constexpr (is_complex_type<T>)
            return {value.real(), value.imag()};
        else if constexpr (sizeof(T) == 2)
            return static_cast<float>(value);  // one instruction; straight to long double is a call
        else
            return static_cast<long double>(value);
    }
    const std::byte* data_;
    Read read_ = nullptr;
};

/// Keeps the part that used most of its bound. A value that is not finite fails, whatever the bound.
inline bool keep_worst(Property& property, long double value, long double bound, std::string where) {
    constexpr long double infinity = std::numeric_limits<long double>::infinity();
    const bool finite = value < infinity;
    Property one{property.name, finite ? value : infinity, finite ? bound : 0, std::move(where)};
    if (property.bound != 0 && !(one.used() > property.used())) return false;
    property = std::move(one);
    return true;
}

/// The larger part, NaN where either is.
inline long double larger_part(std::complex<long double> value) {
    const long double re = std::abs(value.real()), im = std::abs(value.imag());
    return std::isnan(im) || im > re ? im : re;
}

}  // namespace gridstride
