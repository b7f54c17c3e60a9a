// SPDX-License-Identifier: BSD-3-Clause
// What a run leaves behind: report.json, report.html, and report.jsonl to which each case is appended as it ends.
// docs/report.md explains every field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/operation.hpp"

namespace gridstride::report {

struct Document;  // a report read back: io/report_read.hpp
enum class Format;

struct Number {  // one output value, complex or not
    long double re = 0, im = 0;
    bool complex = false;
};

struct InputLine {
    std::string name, source;
    Spec spec;
    double min = 0, max = 0;
    std::int64_t nan = 0, replaced = 0;
};
struct OutputLine {
    std::string name;
    Spec spec;
    std::string file, dataset;  // empty: not saved
    std::int64_t nan = 0;
    std::vector<Number> values;  // of outputs of up to 4 numbers
};
struct BoundLine {
    std::string formula;
    double c = 0, u_out = 0, u_acc = 0, g = 0;
    std::int64_t n = 0;
    double u_in = 0, g_one_signed = 0;
};
struct WorstLine {
    std::vector<std::int64_t> index;
    Number got, expected;
};
struct ReferenceLine {
    std::int64_t checked = 0, of = 0, failed = 0;
    double max_abs = 0, max_ulp = 0, rel_l2 = 0, tolerance_used = 0;
    BoundLine bound;
    std::optional<WorstLine> worst;
};
struct VendorLine {
    std::string name, status;  // pass | mismatch | no vendor | error: ...
    double tolerance_used = 0, max_abs = 0, rel_l2 = 0;
};
/// What holds of every right answer and needs no reference.
struct PropertyLine {
    std::string name;
    bool holds = true;
    double value = 0, bound = 0;
    std::string where;
};
struct RepeatLine {
    int runs = 0;
    std::int64_t different = 0;  // bytes that were not the same in every run
};
struct MismatchLine {
    struct Axis {
        std::int64_t first = 0, last = 0, distinct = 0;
    };
    double ulp = 0;
    std::vector<Axis> axes;
    std::map<int, std::int64_t> decades;
    std::int64_t not_finite = 0;
    std::string command, dump;  // that runs this case alone; the file its block was written to
};
struct LaunchLine {
    Shape grid, block;
    int blocks_per_sm = 0;
    double occupancy = 0;
    std::int64_t idle_threads = 0;
};
struct Seconds {
    double read = 0, copy_in = 0, compute = 0, copy_out = 0, with_copies = 0, validate = 0, write = 0;
};

enum class Status { pass, mismatch, error, skipped, vacuous, unvalidated, timeout, known_issue, unexpected_pass };
std::string_view name(Status status);

/// Swept values by their keys.
using Swept = std::vector<std::pair<std::string, Value>>;

struct Case {
    std::string name, job, op, device, variant;
    Swept sweep;                  // what makes the case
    std::string expect = "pass";  // the outcome that was said to be right
    Status status = Status::unvalidated;
    std::string reason;
    int exit = 0;  // the code an error calls for: 3 or 4; 0 elsewhere
    Params params;
    std::optional<LaunchLine> launch;
    std::vector<InputLine> inputs;
    std::vector<OutputLine> outputs;
    std::optional<ReferenceLine> reference;
    std::optional<VendorLine> vendor;
    std::vector<PropertyLine> properties;
    std::optional<RepeatLine> repeat;
    std::optional<MismatchLine> mismatch;
    std::vector<std::string> notes;
    bool loose_tolerance = false;
    Seconds seconds;
};

/// Facts of the machine and the libraries.
struct Surroundings {
    std::string version, commit, host, started;  // ISO 8601 with zone
    std::vector<std::string> command;
    std::string device;                              // "cpu: Xeon ..., 16 threads", "cuda:0: NVIDIA H200"
    std::map<std::string, std::string> libraries;    // name -> version
    std::map<std::string, std::string> environment;  // the variables set that change numbers or speed
};

struct Run {
    Surroundings surroundings;
    std::string config, config_text;
    double seconds = 0;
    int exit = 0;
    std::vector<Case> cases;
};

/// report.json's content, schema 1, on one line.
std::string to_json(const Run& run);
std::string to_json(const Case& one);

/// May the reports of a run lie in this folder: those that are there are of ours. Error (config): what is
/// in the way (a link, a folder, a file of someone else), and what would be right.
void check_reports(const std::string& folder);

/// Writes report.json and report.html (each whole: temporary name, renamed). Error (input): cannot write, or a file
/// that is no report of ours has the name.
void write(const Run& run, const std::string& folder);

/// Writes the documents as one file of that format, whole. Error (config): a file that is none of ours has the name;
/// (input): cannot write.
void write(const std::vector<Document>& documents, Format format, const std::string& path);

/// report.jsonl, one line a case, flushed and synced as each ends. Error (input): as write().
class Journal {
  public:
    explicit Journal(const std::string& folder);  // starts it anew; report.json of a run before goes
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    void append(const Case& one);

  private:
    std::string path_;
    int file_ = -1;
};

}  // namespace gridstride::report
