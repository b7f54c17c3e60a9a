// SPDX-License-Identifier: BSD-3-Clause
// A case's inputs, read, made or handed over, in the dtype and layout its kernel takes.
#pragma once

#include "execute.hpp"

namespace gridstride::engine {

/// Input i of a case, and its line for the report. Errors (input): the file or a value, with its place.
Tensor load(const Case& one, std::size_t i, const std::vector<Result>& results, report::InputLine& line,
            std::uint64_t& checksum);

/// The answer that a case judges, in the output's layout and dtype. Errors (input): values that do not convert.
Tensor load_answer(const Case& one);

}  // namespace gridstride::engine
