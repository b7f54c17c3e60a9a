// SPDX-License-Identifier: BSD-3-Clause
// What a bench leaves behind: bench.json and bench.csv, a row a case; and rows of other programs in the same form.
// docs/bench.md explains every field.
#pragma once

#include "io/report.hpp"

namespace gridstride::timing {

/// Times of samples, in seconds; of a sample of many calls, a call's.
struct Seconds {
    double median = 0, q1 = 0, q3 = 0, min = 0;
    std::vector<double> samples;  // in the order they were taken
};

struct Limit {  // by a device's data sheet: no time goes below
    double seconds = 0;
    bool by_flops = false;
};
struct Floor {                     // by the rate of a plain kernel of the same mix, measured in the same run
    double seconds = 0, rate = 0;  // bytes/s
    std::string mix;
};
struct Clocks {
    unsigned sm_mhz = 0, mem_mhz = 0;
    double power_w = 0;
    std::string throttle;
};

/// What is not known is empty.
struct Row {
    std::string name, job, op, variant, role, device;  // name: of the case
    std::string program = "gridstride";
    std::string dtype;  // of the first input, as its shape
    Shape shape;
    Params params;
    report::Swept sweep;
    std::string verdict, reason;
    std::optional<double> tolerance_used;
    std::string method;  // events | graph | clock
    std::optional<Seconds> seconds;
    std::optional<double> with_copies, bytes, flops;
    std::optional<Limit> limit;
    std::optional<Floor> floor;
    std::optional<double> fraction_of_floor, ratio_to_vendor;  // floor's seconds, the vendor's median, over the median
    std::optional<report::LaunchLine> launch;
    std::optional<Clocks> clocks;
    std::vector<std::string> notes;
    std::string identity = "[]";  // of the datasets read, a JSON list
};

struct Bench {
    report::Surroundings surroundings;
    std::string config, config_text;
    double seconds = 0;
    int exit = 0;
    std::vector<Row> rows;
};

/// Gives each row with a time its ratio to the vendor's best of the same job, swept values (but `variant`) and device;
/// a row of another program that of the job or case that it names.
void relate_to_vendor(std::vector<Row>& rows);

/// bench.json's content, schema 1, on one line.
std::string to_json(const Bench& bench);
/// bench.csv's: the same fields, a line a row, samples and inputs left out.
std::string to_csv(const std::vector<Row>& rows);

/// Rows of a file {"rows": [...]} in bench.json's form, of which `case` and `program` (the row's or the file's) are
/// required; `seconds` may be one number. Error (config): where it is not in that form, and what would be right.
std::vector<Row> read_rows(const std::string& file);

/// May the files of a bench lie in this folder? Error (config): what is in the way, and what would be right.
void check_files(const std::string& folder);
/// Writes bench.json, bench.csv and report.html, each whole. Error (input): cannot.
void write(const Bench& bench, const std::string& folder);

}  // namespace gridstride::timing
