// SPDX-License-Identifier: BSD-3-Clause
// CPU loops over blocks of a range, by OpenMP; an exception in one block reaches the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>

#include "core/interrupt.hpp"

namespace gridstride {

/// Calls body(begin, end) over [0, n) in blocks of `block`, on `threads` threads. Which thread takes which block
/// varies, the blocks do not, so that results do not depend on the thread count. Of the exceptions thrown the one of
/// the lowest block is rethrown.
template <class Body>
void for_blocks(std::int64_t n, std::int64_t block, int threads, Body&& body) {
    const std::int64_t blocks = (n + block - 1) / block;
    std::exception_ptr failure;
    std::int64_t failed = blocks;
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (blocks > 1 && threads > 1)
    for (std::int64_t i = 0; i < blocks; ++i) {
        try {
            leave_if_stopped();
            body(i * block, std::min(n, (i + 1) * block));
        } catch (...) {
#pragma omp critical(gridstride_for_blocks)
            if (i < failed) {
                failed = i;
                failure = std::current_exception();
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace gridstride
