// SPDX-License-Identifier: BSD-3-Clause
// Definition of one element of a copy: the element of x at the same place, exactly: bit for bit where the dtypes agree,
// else the judge rounds it to the output's type, once.
#include "copy/copy.hpp"

namespace gridstride::copy {

Reference reference(const Problem& problem, std::span<const Slab> in) {
    return [x = in[0], exact = problem.out[0].dtype == in[0].spec.dtype](std::int64_t index) {
        Term term;
        term.re = real_part(x, index);
        term.im = imaginary_part(x, index);
        term.exact = exact;
        return term;
    };
}

}  // namespace gridstride::copy
