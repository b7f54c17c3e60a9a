// SPDX-License-Identifier: BSD-3-Clause
// Job files: YAML in, typed jobs out, every error of a file in one pass with its place. Reads no HDF5 and computes
// nothing; one loader serves every verb.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/judging.hpp"
#include "core/operation.hpp"

namespace gridstride::config {

/// Where a value came from. line, column from 1; 0 where the source is no file ("--set n=5", "built in").
struct Mark {
    std::string source;
    int line = 0, column = 0;
};

struct Diagnostic {
    Mark mark;
    std::string message;  // what is wrong, the allowed values, a suggestion: one line
};

/// Collects the errors of one job file and prints them with the line they are in and a caret.
class Diagnostics {
  public:
    /// text: the file's content, for the lines shown.
    void read_from(std::string source, std::string text);
    void add(const Mark& mark, std::string message);
    bool empty() const { return list_.empty(); }
    const std::vector<Diagnostic>& list() const { return list_; }  // each once, 1000 at the most
    /// Errors added, repeated ones too: has something gone wrong since?
    std::size_t met() const { return met_; }
    /// "file:line:column: error: message", the line, a caret; in the order of the file. Tabs and control characters of
    /// the line are shown as spaces, a long line is cut around the caret. colour: ANSI.
    std::string text(bool colour = false) const;

  private:
    std::map<std::string, std::vector<std::string>> lines_;
    std::vector<Diagnostic> list_;
    std::size_t met_ = 0;
};

/// Errors of the cases of one swept job: each is told once, plain where all cases have it, else with the first that
/// does.
class Gathered {
  public:
    void add(const Diagnostic& one, const std::string& name);
    void tell(std::size_t cases, Diagnostics& diagnostics) const;

  private:
    struct Met {
        Diagnostic error;
        std::string first;
        std::size_t times = 1;
    };
    std::vector<Met> list_;
};

/// Values made, not read.
struct Generate {
    std::string kind;  // normal, uniform, integers, linear, impulse, zeros, ones, chirp, walk, blobs, covariance
    double scale = 1, f0 = 0, f1 = 0.5;
    std::int64_t rank = 8;
    std::optional<std::int64_t> pairs;
    std::optional<std::uint64_t> seed;  // as given; else from job and input name
    std::vector<Generate> plus;
};
struct Dataset {
    std::string file, path;  // file: as written, made absolute against the job file's folder; path: "/x"
};
struct JobOutput {
    std::string job, output;
};
/// A number or a list of numbers: empty shape for a number. Whole numbers are int64, others double.
struct Numbers {
    Values values;
    Shape shape;
    bool whole = false;  // all are whole
};

struct Input {
    Mark mark;
    std::variant<Dataset, JobOutput, Numbers, Generate> source;
    std::optional<std::string> select;  // "0:100, ..., 3": see select()
    std::optional<Shape> shape;         // reshapes; of generate: the shape; one -1 allowed where it reshapes
    std::optional<DType> dtype;
    bool pair = false;  // complex: pair: the last axis of 2 is (re, im)
    std::optional<double> scale, nan;
    std::map<std::string, Mark> marks;  // of its keys: "select", "shape", ...
};

/// `store`: how datasets are written, in h5py's words.
struct Store {
    std::optional<Shape> chunks;
    bool gzip = false, shuffle = false;
    int level = 4;
};

/// `device`: auto | cpu | cuda | cuda:N.
struct DeviceChoice {
    bool any = true;  // auto
    Device device = Device::cpu;
    int index = 0;
};

/// `expect`: the outcome of a case that is right.
enum class Expect { pass, mismatch, error, skipped };

/// A value with its origin, for `check --explain`: "file.yaml:12", "defaults, file.yaml:3", "--set", "built in".
struct Explained {
    std::string key, value, origin;
};

struct Job {
    std::string name;                                  // unique: of a swept job with its values, "ladder[n=64]"
    std::string base;                                  // as the file has it: "ladder"
    std::vector<std::pair<std::string, Value>> sweep;  // the values that make it, those of the jobs it reads too
    Mark mark;
    const Entry* entry = nullptr;  // operation and variants
    std::map<std::string, Input, std::less<>> inputs;
    Params params;                                            // as given; resolve() fills in the rest
    std::map<std::string, std::string, std::less<>> outputs;  // output name -> FILE:/PATH, not yet expanded
    std::optional<std::string> output_file;                   // `outputs: FILE`
    Store store;
    std::optional<DType> dtype, result_dtype;
    DeviceChoice device;
    std::vector<std::string> variants{"auto"};  // "auto", "all" or words
    bool listed = false;                        // `variant` was a list (or all): a case a word
    Launch launch;
    std::optional<int> threads;  // `launch: {threads: N}`
    bool own_launch = false;     // launch stands in the job itself, not in defaults or on the command line
    Validate validate;
    Tolerance tolerance;
    std::optional<Input> against;  // a dataset: an answer of the user's own
    Expect expect = Expect::pass;
    std::optional<double> timeout;      // seconds a case
    std::map<std::string, Mark> marks;  // "op", "inputs.x", "params.axes", "launch", ...: where to point
    std::vector<Explained> explained;
    bool sound = true;  // false: an error stands in it, and a plan of it would only repeat that

    /// The mark of a key, of its nearest parent that has one, else the job's.
    Mark at(std::string_view key) const;
};

/// A job file, loaded.
struct Config {
    std::string source;  // as named on the command line; "-" is standard input
    std::string stem;    // names the output folder; "stdin" for "-"
    std::string folder;  // relative input paths start here
    std::string text;
    std::vector<Job> jobs;  // in the file's order; of a swept one each case
    /// Expands $name, ${...} in a text that is used later (outputs), with more variables: job, variant, device.
    /// Errors (config).
    std::function<std::string(const std::string&, const std::map<std::string, std::string>&)> expand;
};

/// What the command line overrides.
struct Overrides {
    std::vector<std::string> set;  // KEY=VALUE
    std::optional<std::string> device, variant, validate;
    std::optional<int> threads;
    std::int64_t max_cases = 10'000;  // that sweeps may make
};

/// Loads a job file; errors go to diagnostics, and what could be understood is returned all the same (so that the plan
/// can find more). source: a path or "-". Error (config): the file cannot be read at all.
Config load(const std::string& source, const Overrides& overrides, Diagnostics& diagnostics);
/// The same from text, for tests.
Config parse(const std::string& text, const std::string& source, const std::string& folder, const Overrides& overrides,
             Diagnostics& diagnostics);

/// One term an axis: a:b:s (s >= 1, negative a and b from the end, clamped as NumPy), an integer (drops its axis, must
/// lie inside), `...` once; axes left out are whole. Error (config): what is wrong, and the shape.
Selection select(std::string_view text, const Shape& shape);

/// A case's job as it was resolved. device: "cpu", "cuda" or "cuda:N".
struct Resolved {
    const Job* job = nullptr;
    Params params;
    std::string variant, device;
};
/// A job file of these jobs, resolved, which runs again as it is: absolute paths, every default filled in. One that
/// reads `$job:/OUTPUT` needs the jobs it reads beside it.
std::string to_yaml(const std::vector<Resolved>& jobs);

/// JSON Schema (2020-12) of job files, for editors; made from the operation tables.
std::string schema();

/// The reference of job files in Markdown (docs/jobs.md): every key, form, generator and operation, from the tables.
std::string jobs_markdown();

}  // namespace gridstride::config
