// SPDX-License-Identifier: BSD-3-Clause
// Every key of a job file with its form, default and meaning. The loader, the JSON Schema and docs/jobs.md are made
// from these tables and the operations' own. Internal to the loader.
#pragma once

#include <array>
#include <string_view>

namespace gridstride::config {

struct Key {
    std::string_view name, form, otherwise, doc;
};

inline constexpr std::array top_keys{
    Key{"schema", "1", "1", "the version of this format"},
    Key{"vars", "mapping", "", "variables: a name (letter or `_`, then letters, digits, `_`) and any value"},
    Key{"defaults", "mapping", "",
        "job keys that apply to every job without its own; a job's key replaces the whole value"},
    Key{"jobs", "mapping", "required", "the jobs by name (letters, digits, `_`, `-`); at least one"},
};

inline constexpr std::array job_keys{
    Key{"op", "word", "required", "the operation"},
    Key{"inputs", "mapping", "required", "the operation's inputs by name"},
    Key{"params", "mapping", "", "the operation's parameters by name"},
    Key{"outputs", "FILE, or {OUTPUT: FILE:/PATH, ...}", "not saved",
        "where to write, relative to the output directory; one case writes one file; `$job`, `$variant`, `$device` are "
        "variables here"},
    Key{"store", "mapping", "uncompressed", "how outputs are stored in the file, in h5py's words"},
    Key{"dtype", "dtype", "the inputs' own", "the type inputs are converted to; an input's own `dtype` wins"},
    Key{"result_dtype", "dtype", "by the operation's rules", "the type of the outputs"},
    Key{"device", "auto, cpu, cuda or cuda:N", "auto", "where to run; auto: CUDA where build and machine have it"},
    Key{"variant", "word or list of words", "auto", "the kernel: auto, all, one or several; a case for each"},
    Key{"launch", "mapping", "the variant's own", "grid, block and threads of the kernel"},
    Key{"validate", "sample, full, none, or a mapping", "sample", "how many outputs are put to the reference"},
    Key{"tolerance", "mapping, or bitwise", "{factor: 4}", "how far an answer may be from the reference"},
    Key{"against", "FILE:/DATASET, or a mapping with `from`", "",
        "an answer of one's own, judged too, by the same rule: a case called `job[against]`"},
    Key{"sweep", "mapping, or list of mappings", "", "runs the job once for each value: see Sweeps"},
    Key{"expect", "pass, mismatch, error or skipped", "pass",
        "the outcome that is right (with `against`: of that answer): where it comes, the case is a known_issue and "
        "does "
        "not fail; a pass in its place is an unexpected_pass, exit code 1"},
    Key{"timeout", "seconds, above 0", "no limit",
        "the longest a case may take; then it ends at its next look at the clock (loops on the CPU, and between "
        "reading, "
        "computing, judging and writing) as timeout, exit code 4, and the others go on"},
};

/// Is it a key that a job alone may have, not `defaults`?
constexpr bool of_one_job(std::string_view key) {
    for (const std::string_view own : {"op", "inputs", "params", "outputs", "against", "sweep"})
        if (key == own) return true;
    return false;
}

inline constexpr std::array store_keys{
    Key{"chunks", "integer or list", "HDF5's or a default", "chunk shape, clipped to the output's"},
    Key{"compression", "none or gzip", "none", "the filter"},
    Key{"level", "0 to 9", "4", "of gzip"},
    Key{"shuffle", "boolean", "false", "bytes are grouped before compression"},
};

inline constexpr std::array launch_keys{
    Key{"grid", "integer or [x, y, z]", "covers the data", "blocks, x along the last axis"},
    Key{"block", "integer or [x, y, z]", "the variant's own", "threads of a block"},
    Key{"threads", "integer", "all there are", "CPU threads"},
};

inline constexpr std::array validate_keys{
    Key{"sample", "integer", "4096", "places at the most, where not all fit the budget"},
    Key{"terms", "number", "2e9", "outputs times terms an output that may be computed: the budget"},
    Key{"seed", "integer", "0", "of the places"},
};

inline constexpr std::array tolerance_keys{
    Key{"factor", "number above 0", "4", "c of the derived bound"},
    Key{"rtol", "number, 0 or above", "0", "relative part of |got - expected| <= atol + rtol |expected|"},
    Key{"atol", "number, 0 or above", "0", "absolute part of it"},
};

inline constexpr std::array input_keys{
    Key{"from", "FILE:/DATASET, $JOB:/OUTPUT, number or list", "", "what is read (or `generate`)"},
    Key{"generate", "kind", "", "values made, not read (or `from`)"},
    Key{"select", "text", "all",
        "of a dataset or a job's output: one term an axis: a:b:s, an integer (drops its axis), `...` once"},
    Key{"shape", "integer or list", "the data's", "reshapes, one -1 allowed; of `generate`: required, the shape made"},
    Key{"dtype", "dtype", "the job's, else the data's (made: float32)", "the type converted to"},
    Key{"complex", "auto or pair", "auto", "pair: the last axis of length 2 is (re, im); of a file"},
    Key{"scale", "number", "1", "multiplies what is read or made"},
    Key{"nan", "number", "", "of a dataset or a job's output: replaces NaN on read; counted"},
    Key{"seed", "integer", "from job and input name", "of `generate`"},
};

/// Keys of a generated input beside those above.
inline constexpr std::array generate_keys{
    Key{"f0", "number", "0", "of chirp: frequency at the start, in cycles a sample"},
    Key{"f1", "number", "0.5", "of chirp: frequency at the end"},
    Key{"rank", "integer", "8", "of covariance: the rank of A"},
    Key{"pairs", "integer", "half the rank of the shape",
        "of covariance: the last 2 x pairs axes are the two equal halves, those before are batches"},
    Key{"plus", "mapping or list of mappings", "", "adds another: `generate` and its keys, with a seed of its own"},
};

/// Keys of `plus`.
inline constexpr std::array plus_keys{
    Key{"generate", "kind", "required", "values made"},
    Key{"scale", "number", "1", "multiplies"},
    Key{"seed", "integer", "from job and input name", "of the values"},
};

/// Kinds of `generate`; form: the keys that are theirs alone.
inline constexpr std::array generate_kinds{
    Key{"normal", "", "", "normal deviates, mean 0, variance 1"},
    Key{"uniform", "", "", "uniform in [0, 1)"},
    Key{"integers", "", "", "whole numbers from -8 to 8"},
    Key{"linear", "", "", "0, 1, 2, ... in row-major order"},
    Key{"impulse", "", "", "1 at the first element, 0 elsewhere"},
    Key{"zeros", "", "", "0"},
    Key{"ones", "", "", "1"},
    Key{"chirp", "f0 f1", "", "a sine whose frequency goes from f0 to f1"},
    Key{"walk", "", "", "the running sum of normal deviates"},
    Key{"blobs", "", "", "a smooth image"},
    Key{"covariance", "rank pairs", "", "A A^T / rank over two equal halves of the last axes"},
};

}  // namespace gridstride::config
