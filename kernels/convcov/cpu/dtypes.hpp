// SPDX-License-Identifier: BSD-3-Clause
// The types that the CPU's variants are made for: of sums, inputs and outputs.
#pragma once

#include <type_traits>

#include "core/dtype.hpp"

namespace gridstride::convcov {

/// f<accumulator, input, output>() of these dtypes; sums are in float32, or float64 where either is float64.
template <class F>
auto with_dtypes(DType input, DType output, F&& f) {
    return with_type<float16, bfloat16, float, double>(input, [&]<class T>() {
        return with_type<float16, bfloat16, float, double>(output, [&]<class U>() {
            using A = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<U, double>, double, float>;
            return f.template operator()<A, T, U>();
        });
    });
}

}  // namespace gridstride::convcov
