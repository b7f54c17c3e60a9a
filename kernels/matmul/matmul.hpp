// SPDX-License-Identifier: BSD-3-Clause
// matmul: the rows of the operation and its variants, and how a problem lies in memory (the variants share it; the
// reference does not).
#pragma once

#include <complex>

#include "core/operation.hpp"

namespace gridstride::matmul {

extern const Op op;
namespace cpu::loop {
extern const Variant row;
}
namespace cpu::openblas {
extern const Variant row;
}

/// One operand as a stack of row-major matrices. A 1-D `a` is one row, a 1-D `b` one column.
struct Operand {
    bool transposed = false;   // op(x) is the transpose of what is stored
    bool conjugate = false;    // and its conjugate
    std::int64_t leading = 1;  // elements from one stored row to the next
    Shape batch;               // stride of each batch axis of the output; 0 where x is broadcast

    std::int64_t row_stride() const { return transposed ? 1 : leading; }  // of op(x)
    std::int64_t column_stride() const { return transposed ? leading : 1; }
};

/// (m, k) times (k, n), once for each place of `batch`; c and the output are contiguous, (batch..., m, n).
struct Layout {
    Shape batch;
    std::int64_t batches = 1, m = 1, n = 1, k = 0;
    Operand a, b;
    std::complex<double> alpha = 1, beta = 0;  // beta is 0 where no c is given
    Shape out;                                 // without the rows of a 1-D a and the columns of a 1-D b

    bool reads_product() const { return k > 0 && alpha != 0.0; }
    bool reads_c() const { return beta != 0.0; }
    /// First element of operand x for the batch place i.
    std::int64_t offset(const Operand& x, std::int64_t i) const;
};

/// Errors (config): shapes that do not multiply, with both named; a transposed 1-D operand; beta without c.
Layout layout(const Params& params, std::span<const Spec> in);

/// The type of the running sums: the arithmetic type, or the double-precision one of its kind for `compute: float64`.
DType accumulator(const Problem& problem);

}  // namespace gridstride::matmul
