// SPDX-License-Identifier: BSD-3-Clause
// From a job file to cases: shapes, dtypes, variant, device, memory and output paths, all resolved from headers alone.
// Every error of the configuration is found here, before data is read or a file written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/operation.hpp"
#include "io/config.hpp"
#include "io/hdf5.hpp"

namespace gridstride::engine {

/// One input of a case: where it comes from and as what it is handed over.
struct PlannedInput {
    const config::Input* source = nullptr;  // null: an optional input that is absent
    std::optional<hdf5::Info> info;         // of a dataset
    Selection select;                       // of the dataset's, or the job output's, axes
    DType own = DType::float32;  // what it is converted to first: its own dtype, the job's, or its natural one
    int producer = -1;           // index of the case whose output it is
    std::uint64_t bytes = 0;     // read from a file
};

struct PlannedOutput {
    std::string file, dataset;  // file: absolute; empty where it is not saved
};

/// One case: a job with one variant, or with the answer of its `against`.
struct Case {
    std::string name;
    const config::Job* job = nullptr;
    const Variant* variant = nullptr;  // null: none could be chosen; of an answer: by whose bound it is judged
    Place place;
    std::string reason;              // not empty: the case is not run, and why
    int exit = 0;                    // with a reason: 0 skipped, else `error` with this exit code
    Params params;                   // resolved
    Problem problem;                 // as the user sees it
    std::optional<Problem> compact;  // what the kernel computes where only channel-diagonal blocks are handed over
    std::vector<PlannedInput> inputs;
    std::vector<PlannedOutput> outputs;
    std::optional<PlannedInput> against;  // the answer that is read and judged; nothing is computed
    std::vector<std::string> notes;
    std::size_t memory = 0;  // bytes of host memory at the peak, estimated
    int consumers = 0;       // cases that read its output

    const Op& op() const { return *job->entry->op; }
    /// The variant's word, `against` for an answer that is read.
    std::string_view word() const { return against ? "against" : variant != nullptr ? variant->name : "auto"; }
    /// "cpu", "cuda:0", "file".
    std::string device() const;
    /// The outcome that is right: with `against`, of that answer alone.
    config::Expect expect() const { return job->against && !against ? config::Expect::pass : job->expect; }
    const Problem& computed() const { return compact ? *compact : problem; }
};

struct Plan {
    config::Config config;
    std::string output_dir;   // absolute
    std::vector<Case> cases;  // producers before consumers
};

struct PlanOptions {
    std::string output_dir;         // empty: out/<stem>
    std::vector<std::string> only;  // globs of case or job names
    config::Overrides overrides;
    bool bench = false;  // nothing is saved; all variants where a job names none, the vendor's beside those it names
};

/// Loads and plans one job file. Errors go to diagnostics; a device that was asked for and is not there is an Error
/// (device).
Plan plan(const std::string& source, const PlanOptions& options, config::Diagnostics& diagnostics);

/// The channel-diagonal blocks (B, C, H, W, H, W) of a tensor in the full layout (B, C, H, W, C, H, W), as a view.
Slab diagonal_view(const Slab& full);

/// Is this rank-7 user Spec handed to the kernel as rank 6?
inline bool compacted(const Spec& user, const Spec& computed) {
    return user.present && user.shape.size() != computed.shape.size();
}

/// The attributes by which netCDF's conventions pack numbers ("scale_factor, add_offset"); empty where there are none.
/// Values are taken as they are stored.
std::string packing_of(const hdf5::Info& info);

/// Bytes of physical memory of this machine.
std::size_t host_memory();

}  // namespace gridstride::engine
