// SPDX-License-Identifier: BSD-3-Clause
// The verbs that need no engine: one function each, its file is called as it is. Results go to standard output, all
// else to standard error; the value is the exit code. Errors of the user's are thrown (class Error) before printing.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

struct CompareOptions {
    std::string a, b;                  // two datasets or groups (FILE:/PATH), files, folders or reports
    std::optional<double> rtol, atol;  // neither: bits
    bool verbose = false;              // what is the same is shown too
};
/// What differs between A and B. Exit 1 where something does (of benches: where B is slower, or passes no more), else 3
/// where something could not be compared, 5 where there was nothing to compare. Errors (config): no such file or
/// object, two things of different kinds; (input): as the readers.
int compare(const CompareOptions& options);

struct ReportOptions {
    std::vector<std::string> paths;  // reports, or folders with reports
    std::string output, format;      // empty: standard output; by the output's extension, else Markdown
};
/// Reports of runs and benches, merged, as HTML, JUnit, CSV or Markdown. Errors as report::collect and report::write;
/// (config): no format of that name.
int merge_reports(const ReportOptions& options);

/// Devices, libraries, and small problems through each library put to the reference. Exit 0 when all is well or only
/// CUDA is absent, else 4.
int doctor();

}  // namespace gridstride
