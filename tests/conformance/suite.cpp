// SPDX-License-Identifier: BSD-3-Clause
// Posing cases, making inputs, running variants.
#include "conformance/suite.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gridstride::conformance {

namespace {

/// The next of a sequence in [0, 1): Knuth's MMIX generator, 53 bits.
double next(std::uint64_t& state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 11) * 0x1p-53;
}

Tensor make_input(const Spec& spec, Values values, std::uint64_t seed) {
    Tensor result(spec);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15U;
    for (int i = 0; i < 4; ++i) next(state);
    const auto real = [&] { return values == Values::mixed ? 2 * next(state) - 1 : 0.5 + next(state); };
    with_any_type(spec.dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < spec.size(); ++i) {
            T& element = result.as<T>()[i];
            if constexpr (std::is_integral_v<T>) {
                element = static_cast<T>(values == Values::mixed ? next(state) * 17 : 9 + next(state) * 8) - 8;
            } else if constexpr (is_complex_type<T>) {
                using Part = typename T::value_type;
                const auto re = static_cast<Part>(real());
                element = T(re, static_cast<Part>(real()));
            } else {
                element = static_cast<T>(real());
            }
        }
    });
    return result;
}

}  // namespace

Posed pose_case(const Op& op, const Problem& asked, Values values, unsigned seed, std::optional<DType> result) {
    Posed posed;
    posed.problem = pose(op, asked.params, asked.in, result, Place{.threads = 1});
    posed.problem.launch = asked.launch;
    for (std::size_t i = 0; i < posed.problem.in.size(); ++i) {
        const Spec& spec = posed.problem.in[i];
        posed.tensors.push_back(spec.present ? make_input(spec, values, 100 * seed + i) : Tensor());
    }
    posed.slabs = support::slabs(posed.problem.in, posed.tensors);
    return posed;
}

const Runner on_cpu{{}, [](const Row& row, const Problem& problem, std::span<const Slab> in) {
                        return std::move(support::run(*row.variant, problem, {in.begin(), in.end()})[0]);
                    }};

std::vector<Row> cpu_rows() {
    std::vector<Row> rows;
    for (const Entry& entry : registry())
        for (const Variant* variant : entry.variants)
            if (variant->device == Device::cpu && variant->role != Role::faulty) rows.push_back({&entry, variant});
    return rows;
}

std::string row_name(const ::testing::TestParamInfo<Row>& info) {
    return fmt::format("{}_{}", info.param.entry->op->name, info.param.variant->name);
}

std::string describe(std::size_t number, const Problem& problem) {
    std::string text = fmt::format("case {}:", number);
    for (const Spec& spec : problem.in) text += " " + to_text(spec);
    text += " {";
    for (const auto& [name, value] : problem.params.all())
        if (!value.empty()) text += fmt::format(" {}: {}", name, to_text(value));
    return text + " }";
}

std::string refusal(const Variant& variant, const Problem& problem) {
    return variant.refuses == nullptr ? std::string() : variant.refuses(problem);
}

bool can_run_in_place(const Op& op, const Problem& problem) {
    const int alias = op.outputs[0].alias;
    return alias >= 0 && problem.in[static_cast<std::size_t>(alias)] == problem.out[0];
}

Tensor run_in_place(const Op& op, const Variant& variant, const Problem& problem, const std::vector<Slab>& in) {
    const auto alias = static_cast<std::size_t>(op.outputs[0].alias);
    Tensor result = clone(in[alias]);
    std::vector<Slab> slabs = in;
    slabs[alias] = result.slab();
    const Plan plan = variant.prepare(problem);
    const Tensor workspace(Spec{DType::int32, {static_cast<std::int64_t>((plan.workspace + 3) / 4)}});
    poison(workspace.slab());
    const Slab target = result.slab();
    plan.step(Call{slabs, {&target, 1}, workspace.data(), {}});
    return result;
}

std::string bytes_of(const std::vector<Tensor>& tensors) {
    std::string bytes;
    for (const Tensor& tensor : tensors)
        if (tensor.data() != nullptr) bytes += support::bits(tensor);
    return bytes;
}

}  // namespace gridstride::conformance
