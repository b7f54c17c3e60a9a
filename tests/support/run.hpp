// SPDX-License-Identifier: BSD-3-Clause
// For tests of operations: tensors from lists, a problem posed by the operation's name, a named CPU variant run on it
// with a poisoned output.
//
//     const Tensor s = run("sum", "loop", {make<float>({2, 2}, {1, 2, 3, 4})}, {.params = params({{"axes", 0}})});
//     EXPECT_EQ(values<float>(s), (std::vector<float>{4, 6}));
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/convert.hpp"
#include "core/operation.hpp"

namespace gridstride::support {

/// What a value of dtype T is written as in a list: float for the halves, T itself otherwise.
template <class T>
using Written = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

/// A tensor of these values, row-major: make<float>({2, 3}, {1, 2, 3, 4, 5, 6}).
template <class T>
Tensor make(Shape shape, const std::vector<Written<T>>& values) {
    Tensor result(Spec{dtype_of<T>, std::move(shape)});
    if (result.spec().size() != static_cast<std::int64_t>(values.size()))
        throw Error(Category::internal, std::to_string(values.size()) + " values for " + to_text(result.spec()));
    for (std::size_t i = 0; i < values.size(); ++i) result.as<T>()[i] = static_cast<T>(values[i]);
    return result;
}

/// A tensor whose element at the flat index i is value(i).
template <class T, class F>
Tensor generate(Shape shape, F&& value) {
    Tensor result(Spec{dtype_of<T>, std::move(shape)});
    for (std::int64_t i = 0; i < result.spec().size(); ++i) result.as<T>()[i] = static_cast<T>(value(i));
    return result;
}

/// Parameters: params({{"axes", Values{0, 2}}, {"keepdims", true}}).
inline Params params(std::initializer_list<std::pair<std::string_view, Value>> given) {
    Params result;
    for (const auto& [name, value] : given) result.set(name, value);
    return result;
}

/// An input: a tensor, or std::nullopt for an optional one that is absent.
struct In {
    In(const Tensor& given) : tensor(&given) {}
    In(std::nullopt_t) {}
    const Tensor* tensor = nullptr;
};
using Inputs = std::vector<In>;

/// What a job would say beside its inputs.
struct Ask {
    Params params = {};
    std::optional<DType> result = {};  // result_dtype
    int threads = 0;                   // 0: as many as there are
    Launch launch = {};
    bool in_place = false;  // the output is the memory of (a copy of) the input that Output::alias names
};

inline const Entry& entry(std::string_view op) {
    const Entry* found = find(op);
    if (found == nullptr) throw Error(Category::internal, "no operation " + std::string(op));
    return *found;
}

/// The inputs as the engine hands them over: converted to their common dtype (own_dtype ones to float64), contiguous.
/// Absent ones become empty tensors.
inline std::vector<Tensor> converted(const Op& op, const Inputs& in) {
    std::vector<Spec> specs;
    for (const In& one : in)
        specs.push_back(one.tensor != nullptr ? one.tensor->spec() : Spec{DType::float32, {}, false});
    const DType common = common_type(op, specs);
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < in.size(); ++i) {
        result.emplace_back();
        if (in[i].tensor == nullptr) continue;
        const DType dtype = op.inputs[i].own_dtype ? DType::float64 : common;
        result[i] = Tensor(Spec{dtype, specs[i].shape});
        const std::int64_t bad =
            convert(specs[i].dtype, in[i].tensor->data(), dtype, result[i].data(), specs[i].size(), Overflow::refuse);
        if (bad >= 0)
            throw Error(Category::input,
                        "input " + std::to_string(i) + " at " + index_text(bad, specs[i].shape) + " does not convert");
    }
    return result;
}

/// Specs of the inputs, absent ones marked; those beyond the end of `in` are absent.
inline std::vector<Spec> specs(const Op& op, const Inputs& in, const std::vector<Tensor>& tensors) {
    std::vector<Spec> result;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        result.push_back(i < in.size() && in[i].tensor != nullptr ? tensors[i].spec()
                                                                  : Spec{DType::float32, {}, false});
    return result;
}

inline std::vector<Slab> slabs(const std::vector<Spec>& specs, const std::vector<Tensor>& tensors) {
    std::vector<Slab> result;
    for (std::size_t i = 0; i < specs.size(); ++i)
        result.push_back(specs[i].present ? tensors[i].slab() : Slab{specs[i], {}, nullptr});
    return result;
}

/// The problem that a job with these inputs poses. Errors as the operation's infer.
inline Problem problem(std::string_view op, const Inputs& in, const Ask& ask = {}) {
    const Op& row = *entry(op).op;
    Problem posed =
        pose(row, ask.params, specs(row, in, converted(row, in)), ask.result, Place{.threads = ask.threads});
    posed.launch = ask.launch;
    return posed;
}

/// Runs one prepared problem: poisoned outputs, poisoned workspace. in: as Problem.in.
inline std::vector<Tensor> run(const Variant& variant, const Problem& posed, const std::vector<Slab>& in) {
    const std::string refusal = variant.refuses != nullptr ? variant.refuses(posed) : std::string();
    if (!refusal.empty()) throw Error(Category::config, refusal);
    const Plan plan = variant.prepare(posed);
    std::vector<Tensor> out;
    std::vector<Slab> targets;
    for (const Spec& spec : posed.out) {
        out.emplace_back(spec);
        targets.push_back(out.back().slab());
        poison(targets.back());
    }
    const Tensor workspace(Spec{DType::int32, {static_cast<std::int64_t>((plan.workspace + 3) / 4)}});
    poison(workspace.slab());
    plan.step(Call{in, targets, workspace.data(), {}});
    return out;
}

/// The first output of the named CPU variant; poisoned before. Errors as infer, refuses (config) and the step.
inline Tensor run(std::string_view op, std::string_view variant, const Inputs& in, const Ask& ask = {}) {
    const Entry& found = entry(op);
    const Variant* row = find(found, variant, Device::cpu);
    if (row == nullptr) throw Error(Category::internal, "no variant " + std::string(variant) + " on the CPU");
    const std::vector<Tensor> tensors = converted(*found.op, in);
    Problem posed =
        pose(*found.op, ask.params, specs(*found.op, in, tensors), ask.result, Place{.threads = ask.threads});
    posed.launch = ask.launch;
    const std::vector<Slab> sources = slabs(posed.in, tensors);
    if (!ask.in_place) return std::move(run(*row, posed, sources)[0]);

    const auto alias = static_cast<std::size_t>(found.op->outputs[0].alias);  // -1 is a fault of the test
    Tensor result = clone(tensors.at(alias).slab());
    std::vector<Slab> shared = sources;
    shared[alias] = result.slab();
    const Plan plan = row->prepare(posed);
    const Tensor workspace(Spec{DType::int32, {static_cast<std::int64_t>((plan.workspace + 3) / 4)}});
    poison(workspace.slab());
    const Slab target = result.slab();
    plan.step(Call{shared, {&target, 1}, workspace.data(), {}});
    return result;
}

/// The reference's Terms of every output element.
inline std::vector<Term> terms(std::string_view op, const Inputs& in, const Ask& ask = {}) {
    const Op& row = *entry(op).op;
    const std::vector<Tensor> tensors = converted(row, in);
    const Problem posed = pose(row, ask.params, specs(row, in, tensors), ask.result, Place{.threads = ask.threads});
    const std::vector<Slab> sources = slabs(posed.in, tensors);
    const Reference reference = row.reference(posed, sources);
    std::vector<Term> result;
    for (std::int64_t i = 0; i < posed.out[0].size(); ++i) result.push_back(reference(i));
    return result;
}

/// All elements, for EXPECT_EQ. T is the tensor's own type; of the halves as float. An Error otherwise.
template <class T>
std::vector<Written<T>> values(const Tensor& tensor) {
    if (tensor.spec().dtype != dtype_of<T>) throw Error(Category::internal, "the tensor is " + to_text(tensor.spec()));
    std::vector<Written<T>> result;
    for (std::int64_t i = 0; i < tensor.spec().size(); ++i)
        result.push_back(static_cast<Written<T>>(tensor.as<T>()[i]));
    return result;
}

/// The bytes, for comparisons bit for bit.
inline std::string bits(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.data()), tensor.spec().bytes()};
}

/// The Error that f throws; a test failure, and nothing, where it throws none.
template <class F>
std::optional<Error> error_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no Error was thrown";
    return {};
}

/// Its message, empty where there is none.
template <class F>
std::string message_of(F&& f) {
    const std::optional<Error> error = error_of(std::forward<F>(f));
    return error ? error->what() : "";
}

}  // namespace gridstride::support
