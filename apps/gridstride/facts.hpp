// SPDX-License-Identifier: BSD-3-Clause
// Facts of this build and this machine, for reports, `--version` and `doctor`.
#pragma once

#include <string>
#include <vector>

#include "io/report.hpp"

namespace gridstride {

/// "0.1.0 (1a2b3c4d5e6f)"; the commit is left out where it is not known.
std::string version_text();
/// As /proc/cpuinfo names it, or "unknown processor", and its threads: "EPYC 9654, 192 threads".
std::string processor();
/// Now, "2026-01-02T03:04:05+01:00".
std::string now_text();
/// For the report. device: the processor, its threads, and every GPU.
report::Surroundings facts(std::vector<std::string> command);

}  // namespace gridstride
