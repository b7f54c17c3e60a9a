// SPDX-License-Identifier: BSD-3-Clause
// Definition of one element of x + y: both converted to the arithmetic type and added there, by IEEE 754 for floats (in
// float64 and then rounded for float32, which gives the same as rounding once), modulo 2^n for integers.
#include <cmath>

#include "add/add.hpp"

namespace gridstride::add {

namespace {

__extension__ using int128 = __int128;

template <class T>
long double sum(long double x, long double y, Term& term) {
    const T result = static_cast<T>(static_cast<double>(static_cast<T>(x)) + static_cast<double>(static_cast<T>(y)));
    term.overflowed = term.overflowed || (std::isfinite(x) && std::isfinite(y) && !std::isfinite(result));
    return result;
}

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const Slab x = broadcast(in[0], problem.out[0].shape), y = broadcast(in[1], problem.out[0].shape);
    return with_type<float, double, complex64, complex128, std::int32_t, std::int64_t>(
        arithmetic(op, problem), [&]<class T>() -> Reference {
            return [x, y](std::int64_t index) {
                const long double a = real_part(x, index), b = real_part(y, index);
                Term term;
                if constexpr (std::is_integral_v<T>) {
                    const int128 exact = static_cast<int128>(a) + static_cast<int128>(b);
                    term.re = static_cast<T>(exact);
                    term.wrapped = exact != static_cast<T>(exact);
                } else if constexpr (is_complex_type<T>) {
                    using Part = typename T::value_type;
                    term.re = sum<Part>(a, b, term);
                    term.im = sum<Part>(imaginary_part(x, index), imaginary_part(y, index), term);
                } else {
                    term.re = sum<T>(a, b, term);
                }
                return term;
            };
        });
}

}  // namespace gridstride::add
