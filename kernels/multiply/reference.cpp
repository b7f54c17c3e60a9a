// SPDX-License-Identifier: BSD-3-Clause
// Definition of one element of x y: both converted to the arithmetic type and multiplied there, by IEEE 754 for floats
// (the product of two float32 is exact in float64), modulo 2^n for integers; complex ones by the plain formula in
// higher precision (float64 for complex64, long double for complex128), with the magnitudes |ac| + |bd|, |ad| + |bc|.
#include <cmath>

#include "multiply/multiply.hpp"

namespace gridstride::multiply {

namespace {

__extension__ using int128 = __int128;

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const Slab x = broadcast(in[0], problem.out[0].shape), y = broadcast(in[1], problem.out[0].shape);
    return with_type<float, double, complex64, complex128, std::int32_t, std::int64_t>(
        arithmetic(op, problem), [&]<class T>() -> Reference {
            return [x, y](std::int64_t index) {
                const long double re_x = real_part(x, index), re_y = real_part(y, index);
                Term term;
                if constexpr (std::is_integral_v<T>) {
                    const int128 exact = static_cast<int128>(re_x) * static_cast<int128>(re_y);
                    term.re = static_cast<T>(exact);
                    term.wrapped = exact != static_cast<T>(exact);
                } else if constexpr (is_complex_type<T>) {
                    using Part = typename T::value_type;
                    using Wide = std::conditional_t<std::is_same_v<Part, float>, double, long double>;
                    const Wide a = static_cast<Part>(re_x), b = static_cast<Part>(imaginary_part(x, index));
                    const Wide c = static_cast<Part>(re_y), d = static_cast<Part>(imaginary_part(y, index));
                    term.re = a * c - b * d;
                    term.im = a * d + b * c;
                    term.re_magnitude = std::abs(a * c) + std::abs(b * d);
                    term.im_magnitude = std::abs(a * d) + std::abs(b * c);
                    term.overflowed =
                        std::isfinite(a) && std::isfinite(b) && std::isfinite(c) && std::isfinite(d) &&
                        (std::isinf(static_cast<Part>(term.re)) || std::isinf(static_cast<Part>(term.im)));
                } else {
                    const double a = static_cast<T>(re_x), b = static_cast<T>(re_y);
                    term.re = static_cast<T>(a * b);
                    term.overflowed = std::isfinite(a) && std::isfinite(b) && !std::isfinite(term.re);
                }
                return term;
            };
        });
}

}  // namespace gridstride::multiply
