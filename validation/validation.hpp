// SPDX-License-Identifier: BSD-3-Clause
// The judge: compares an answer with the operation's definition in higher precision, within a bound derived from the
// operation, the dtype and the data, and with a second witness. Knows operations by their tables alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/judging.hpp"
#include "core/operation.hpp"
#include "core/properties.hpp"

namespace gridstride::validation {

enum class Verdict { pass, mismatch, vacuous, unvalidated };

/// The formula and its numbers, for the report: "4 u_acc g(n) sum|terms| + u_out |ref|".
struct Bound {
    std::string formula{};
    double c = 4, u_out = 0, u_acc = 0, g = 1;
    std::int64_t n = 1;
    double u_in = 0;          // 2^-9 where `compute: tf32` rounds the inputs: adds u_in sum|terms|
    double g_one_signed = 0;  // takes g's place, where larger, in outputs whose terms have one sign: n/4 or 0
};

struct Complex {
    long double re = 0, im = 0;
};

struct Worst {
    std::int64_t index = 0;  // flat, row-major
    Complex got, expected;
};

/// The second witness's own judgement.
struct Witness {
    std::string name;
    bool agrees = true;  // within its own bound of the reference (and with ours, where the reference sampled)
    double tolerance_used = 0, max_abs = 0, rel_l2 = 0;
    std::string error;  // it could not run
};

/// Which elements are wrong and by how much, of those put to the reference.
struct Mismatch {
    struct Axis {
        std::int64_t first = 0, last = 0, distinct = 0;  // of the indices that wrong elements have along an axis
    };
    double ulp = 0;                       // of the worst element
    std::vector<Axis> axes;               // one an output axis; of the first 65 536 wrong elements
    std::map<int, std::int64_t> decades;  // wrong elements with 10^k <= |error| < 10^(k + 1)
    std::int64_t not_finite = 0;          // those whose error is not finite
};

struct Judgement {
    Verdict verdict = Verdict::unvalidated;
    std::string reason;  // of mismatch and vacuous, one line
    std::int64_t checked = 0, of = 0, failed = 0;
    double max_abs = 0, max_ulp = 0, rel_l2 = 0;
    double tolerance_used = 0;  // largest error over its bound; 0: exact everywhere
    Bound bound;
    std::optional<Worst> worst;  // of the place that used most of its bound
    std::optional<Witness> vendor;
    std::vector<Property> properties;  // of the operation's that fit the budget
    std::optional<Mismatch> mismatch;
    bool loose = false;              // an override looser than the bound let it pass
    std::int64_t nan_outputs = 0;    // over the whole output
    std::vector<std::string> notes;  // overflow, wrapped integers, vendor: mismatch, NaN counts, ...
};

/// A second witness: its row, and how to run it on other inputs (the magnitudes, for sum|terms|). The result is on the
/// host, contiguous, with the problem's output Spec.
struct SecondWitness {
    const Variant* variant = nullptr;
    std::function<Tensor(std::span<const Slab> in)> run;
};

/// The variant once more, on another problem, which it may refuse (an Error); for properties. On the host, contiguous.
using Again = std::function<Tensor(const Problem&, std::span<const Slab> in)>;

/// Adds a property. One that does not hold makes the verdict a mismatch.
void add_property(Judgement& judgement, Property property);

/// A small part of a case around one output element.
struct Block {
    Problem problem;
    std::vector<Tensor> in;  // as the problem's; absent ones empty
    Tensor ours;
    std::vector<Complex> reference;  // of every element, before rounding; empty where it would cost above `terms`
    Shape first;                     // its first element's index in the whole output
};
/// Cut by the operation's own rule to at most 16 along each axis that it can be cut along without adding.
Block block_around(const Op& op, const Problem& problem, std::span<const Slab> in, const Slab& got, std::int64_t index,
                   double terms, int threads);

/// Judges output 0. in: the inputs as they were before the run, got: the answer; host memory, contiguous. threads: of
/// the reference (0: all). Besides the places, up to 64 outputs that hold NaN or poison are put to the reference, and
/// of a sampled transform the largest output. The operation's
/// properties are tested too, within asked.terms again. Cost: about min(outputs, sample) times terms an output, bounded
/// by asked.terms (full: unbounded), and one pass over inputs and output. Memory: tiles of 65 536 places; of a
/// transform that is judged whole, about 100 bytes an output of one transform.
Judgement judge(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in, const Slab& got,
                const Validate& asked, const Tolerance& tolerance, const SecondWitness* witness = nullptr,
                int threads = 0, const Again& again = {});

/// The places the judge would put to the reference, ascending and distinct: first, last and seeded ones, or all. terms:
/// an output's.
std::vector<std::int64_t> places(std::int64_t outputs, std::int64_t terms, const Validate& asked);

/// Bound of one element under Rule::accumulated, by parts: c u_acc g sum|terms| + u_in sum|terms| + u_out |ref|, and
/// half the output type's smallest subnormal and n |factor| times the accumulator's.
struct ElementBound {
    long double re = 0, im = 0;
};
ElementBound element_bound(const Term& term, const Bound& bound, DType output, DType accumulator);

}  // namespace gridstride::validation
