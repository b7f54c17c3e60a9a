// SPDX-License-Identifier: BSD-3-Clause
// A case's output file: datasets, dimension scales, units, and the attributes that say where the numbers come from.
#pragma once

#include "execute.hpp"

namespace gridstride::engine {

/// Fills result's scales, units and long_name from the operation and the inputs. notes: what is not carried over.
void describe_axes(const Case& one, const std::vector<Result>& results, Result& result,
                   std::vector<std::string>& notes);

/// Writes the case's file, whole. line: the report line so far; its notes and output lines are added to. Errors
/// (input).
void write(const Case& one, const Result& result, const report::Surroundings& surroundings, report::Case& line);

}  // namespace gridstride::engine
