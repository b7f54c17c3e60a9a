// SPDX-License-Identifier: BSD-3-Clause
// Tiny operations for the judge's tests, each written out by its definition: plus (exact), product (complex multiply),
// dot (accumulates, with an addend and a factor) and spectrum (a transform a row).
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "core/operation.hpp"
#include "support/verdict.hpp"
#include "validation/validation.hpp"

namespace gridstride::testing {

using validation::Judgement;
using validation::Verdict;

inline const float nan = std::nanf("");
inline const float inf = std::numeric_limits<float>::infinity();

extern const Op plus;      // x, y -> x + y, wrapped where integer
extern const Op product;   // x, y -> x y, complex
extern const Op dot;       // a (R, K), b (K), [c (R)] -> alpha a b + c
extern const Op spectrum;  // x (B, N) -> X (B, N), params squared: |X|^2

// Variants that only say how their error grows.
extern const Variant root;    // sqrt(n)
extern const Variant tree;    // log2(n) + 8
extern const Variant silent;  // none given

/// A tensor from a list of values.
template <class T>
Tensor tensor(Shape shape, const std::vector<T>& values) {
    Tensor result({dtype_of<T>, std::move(shape)});
    std::copy(values.begin(), values.end(), result.as<T>());
    return result;
}

/// Inputs, problem and the right answer (the reference, rounded), to be doctored.
struct Case {
    const Op& op;
    std::vector<Tensor> held;
    std::vector<Slab> in;
    Problem problem;
    Tensor answer;
    const Variant* variant = &root;
    Validate asked;
    Tolerance tolerance;
    const validation::SecondWitness* witness = nullptr;

    /// present: one flag an input where some are absent.
    Case(const Op& op, std::vector<Tensor> inputs, Params params = {}, std::optional<DType> result = {});
    Judgement judge() const;
    template <class T>
    T* values() {
        return answer.as<T>();
    }
};

/// The reference over all outputs, rounded to the output type.
Tensor right_answer(const Op& op, const Problem& problem, std::span<const Slab> in);

/// n values that no pattern fits, in [-1, 1), the same each time.
std::vector<double> scattered(std::int64_t n, unsigned seed = 1);
template <class T>
std::vector<T> scattered_as(std::int64_t n, unsigned seed = 1) {
    std::vector<T> values;
    for (const double value : scattered(n, seed)) values.push_back(static_cast<T>(value));
    return values;
}

bool has_note(const Judgement& judgement, const std::string& part);

}  // namespace gridstride::testing
