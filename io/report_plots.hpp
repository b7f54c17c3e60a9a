// SPDX-License-Identifier: BSD-3-Clause
// The plots of a report.
#pragma once

#include <string>
#include <vector>

#include "io/report_read.hpp"
#include "io/svg.hpp"

namespace gridstride::report {

/// Where one variant becomes faster than another along a swept number.
struct Crossing {
    double x = 0, y = 0;      // interpolated between from and to, both axes logarithmic
    double from = 0, to = 0;  // the last number where the one was clearly faster, the first where the other is
    std::string faster_before, faster_after;
};

/// A point is above another where its low is above the other's high. Series over one swept number, their marks sorted
/// by it.
std::vector<Crossing> crossings(const svg::Series& one, const svg::Series& other);

/// One a device: flop/s against flops a byte, under the roofs of the limit and the measured floor. Rows without
/// arithmetic stand at the left edge, as far below the roof as their bytes/s are.
std::vector<svg::Plot> rooflines(const std::vector<Document>& documents);
/// One a swept job of a bench and combination of its other swept values: speed against the number that takes most
/// values, the places named where the lead changes or a vendor's variant is overtaken.
std::vector<svg::Plot> speeds(const std::vector<Document>& documents, const std::string& op);
/// Error over its bound against the size, of the cases of runs; a plot where there are two or more.
std::vector<svg::Plot> errors(const std::vector<Document>& documents, const std::string& op);
/// Read, copy, compute, write of each case of runs, the longest where they are many.
std::vector<svg::Bars> stages(const std::vector<Document>& documents);

}  // namespace gridstride::report
