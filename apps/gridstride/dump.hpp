// SPDX-License-Identifier: BSD-3-Clause
// The wrong blocks of a run in one HDF5 file: a group a case, with inputs, ours and the reference.
#pragma once

#include <string>
#include <vector>

#include "validation/validation.hpp"

namespace gridstride::engine {

struct WrongBlock {
    std::string name, job;  // the case's; the resolved job, as a job file
    const Op* op = nullptr;
    validation::Block block;
};

/// Writes FILE, whole. Errors (input): as hdf5::Writer; (config): a file that gridstride did not write has the name.
void dump(const std::string& file, const std::vector<WrongBlock>& blocks);

}  // namespace gridstride::engine
