// SPDX-License-Identifier: BSD-3-Clause
// What the conformance tests share: every operation's cases posed, inputs made for them, variants run on them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/run.hpp"
#include "support/verdict.hpp"
#include "validation/validation.hpp"

namespace gridstride::conformance {

/// Values of the inputs.
enum class Values {
    mixed,     // of both signs, in [-1, 1); integers in [-8, 8]
    positive,  // in [0.5, 1.5), so that no sum cancels; integers in [1, 8]
};

/// A case with its inputs. slabs follow problem.in.
struct Posed {
    Problem problem;
    std::vector<Tensor> tensors;
    std::vector<Slab> slabs;
};

/// Poses a case of the operation (its dtype and shapes) with seeded inputs, on the CPU.
Posed pose_case(const Op& op, const Problem& asked, Values values, unsigned seed = 1, std::optional<DType> result = {});

/// A row with its operation.
struct Row {
    const Entry* entry;
    const Variant* variant;
};
inline void PrintTo(const Row& row, std::ostream* out) {
    *out << row.entry->op->name << "[" << row.variant->name << "]";
}
/// Where a row's answer is computed, and how: output 0 of the problem. in: on the host, as Problem.in, not changed.
struct Runner {
    Place place;
    std::function<Tensor(const Row& row, const Problem& problem, std::span<const Slab> in)> run;
};
extern const Runner on_cpu;

/// Every row of the registry that runs on the CPU and is not faulty.
std::vector<Row> cpu_rows();
/// "matmul_loop", for gtest.
std::string row_name(const ::testing::TestParamInfo<Row>& info);

/// "case 7: float32 (3, 4), float32 (4,) {axes: 0}", for SCOPED_TRACE.
std::string describe(std::size_t number, const Problem& problem);

/// Why the variant cannot do this; empty: it can.
std::string refusal(const Variant& variant, const Problem& problem);

/// Runs on an output that begins as the aliased input. in: as Problem.in, not changed (the aliased one is copied).
Tensor run_in_place(const Op& op, const Variant& variant, const Problem& problem, const std::vector<Slab>& in);
/// May this problem run so?
bool can_run_in_place(const Op& op, const Problem& problem);

/// Every byte of every tensor.
std::string bytes_of(const std::vector<Tensor>& tensors);

}  // namespace gridstride::conformance
