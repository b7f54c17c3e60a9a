// SPDX-License-Identifier: BSD-3-Clause
// Two reports compared: answers and verdicts of runs, speed of benches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/hdf5_compare.hpp"
#include "io/report_read.hpp"

namespace gridstride::report {

struct CaseChange {
    std::string name;
    std::string verdict;              // same | differs | only in A | only in B
    std::vector<std::string> fields;  // "reference.max_abs: 1e-7 and 2e-7"
};

/// Cases by their name: verdict, parameters, inputs, outputs, errors and bounds. Not compared: times, launches,
/// devices, paths of files, remarks. Numbers as hdf5::compare does.
std::vector<CaseChange> compare_runs(const Document& a, const Document& b,
                                     const std::optional<hdf5::Nearness>& nearness);

struct SpeedChange {
    std::string name;
    std::string verdict;  // faster | slower | same | unclear | mismatch ... | not timed | only in A | only in B
    double before = 0, after = 0;         // medians in seconds; NaN: not timed
    double ratio = 0, low = 0, high = 0;  // after / before; the least and the most that the quartiles allow
    bool worse = false;                   // slower, or it passed and does no more (or is no more there)
};

/// How far from 1 a ratio of times may be and still be called the same.
inline constexpr double same_speed = 0.03;
/// On a CPU, whose clock and other programs change from one run to the next.
inline constexpr double same_speed_on_cpu = 0.1;

/// Rows by row_name(), those left out that ran in neither. The quartiles of both give the range that the ratio of their
/// times lies in: `same` within same_speed of 1; else `faster` or `slower` where all of it lies on one side of 1 (on a
/// CPU: of what is the same there); else `unclear`.
std::vector<SpeedChange> compare_benches(const Document& a, const Document& b);

}  // namespace gridstride::report
