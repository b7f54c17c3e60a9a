// SPDX-License-Identifier: BSD-3-Clause
// The verbs that need no engine: one function each, its file is called as it is. Results go to standard output, all
// else to standard error; the value is the exit code. Errors of the user's are thrown (class Error) before printing.
#pragma once

#include <string>

namespace gridstride {

struct ListOptions {
    std::string op;          // empty: all operations
    bool example = false;    // a complete job file of op
    bool schema = false;     // a JSON Schema of job files
    bool reference = false;  // docs/jobs.md: every key of a job file
};
/// Operations; of one: inputs, outputs, parameters, variants. Errors (config): no such operation; an example of none.
int list(const ListOptions& options);

struct InspectOptions {
    std::string target;  // FILE or FILE:/PATH
    bool stats = false;  // reads the data: min, max, mean, NaN count
};
/// The tree of an HDF5 file. Exit 3 where a dataset could not be read for its statistics. Errors as hdf5::tree.
int inspect(const InspectOptions& options);

/// Devices, libraries, and small problems through each library put to the reference. Exit 0 when all is well or only
/// CUDA is absent, else 4.
int doctor();

}  // namespace gridstride
