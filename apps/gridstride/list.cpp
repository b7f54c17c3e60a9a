// SPDX-License-Identifier: BSD-3-Clause
// gridstride list [OP]: what there is, read from the operations' tables; an example job that runs; the schema.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "core/operation.hpp"
#include "facts.hpp"
#include "io/config.hpp"
#include "io/suggest.hpp"
#include "table.hpp"
#include "verbs.hpp"

namespace gridstride {

namespace {

std::string signature(const Op& op) {
    std::vector<std::string> in, out;
    for (const Input& input : op.inputs)
        in.push_back(input.optional ? fmt::format("[{}]", input.name) : std::string(input.name));
    for (const Output& output : op.outputs) out.emplace_back(output.name);
    return fmt::format("{} -> {}", fmt::join(in, ", "), fmt::join(out, ", "));
}

std::string default_of(const Param& param) {
    if (!param.otherwise) return "required";
    return param.otherwise->empty() ? "unset" : to_text(*param.otherwise);
}

std::string_view name(Role role) {
    return role == Role::custom ? "custom" : role == Role::vendor ? "vendor" : "faulty";
}

void print(const Table& table, std::string_view heading) {
    if (table.empty()) return;
    fmt::print("\n{}\n{}", heading, table.text(terminal(STDOUT_FILENO)));
}

void operations() {
    Table table({{"operation", Align::fixed}, {"inputs -> output", Align::fixed}, {"meaning", Align::prose}});
    for (const Entry& entry : registry())
        table.row({std::string(entry.op->name), signature(*entry.op), std::string(entry.op->doc)});
    fmt::print("{}\n`gridstride list OP` tells more of one, `gridstride list OP --example` prints a job that runs.\n",
               table.text(terminal(STDOUT_FILENO)));
}

void operation(const Entry& entry) {
    const Op& op = *entry.op;
    fmt::print("{}: {}\n", op.name, signature(op));
    for (const std::string& line : wrapped(op.doc, terminal(STDOUT_FILENO).width)) fmt::print("{}\n", line);

    Table inputs({{"", Align::fixed}, {"", Align::prose}}, 2);
    for (const Input& input : op.inputs)
        inputs.row({std::string(input.name), fmt::format("{}{}", input.doc, input.optional ? " (optional)" : "")});
    print(inputs, "inputs");

    Table outputs({{"", Align::fixed}, {"", Align::prose}}, 2);
    for (const Output& output : op.outputs) {
        const bool reuses = output.alias >= 0;
        outputs.row({std::string(output.name),
                     fmt::format("{}{}", output.doc,
                                 reuses ? fmt::format(" (made in the memory of {} where that is no longer needed)",
                                                      op.inputs[static_cast<std::size_t>(output.alias)].name)
                                        : "")});
    }
    print(outputs, "outputs");

    Table params({{"name", Align::fixed}, {"default", Align::fixed}, {"meaning", Align::prose}}, 2);
    for (const Param& param : op.params)
        if (!param.hidden)
            params.row({std::string(param.name), default_of(param), fmt::format("{}: {}", describe(param), param.doc)});
    print(params, "params");

    Table variants(
        {{"name", Align::fixed}, {"device", Align::fixed}, {"role", Align::fixed}, {"meaning", Align::prose}}, 2);
    for (const Variant* variant : entry.variants)
        variants.row({std::string(variant->name), std::string(name(variant->device)), std::string(name(variant->role)),
                      fmt::format("{}{}", variant->doc, variant->takes_launch ? " (takes `launch`)" : "")});
    print(variants, "variants");
}

/// The problem of the operation's own test cases that shows it best: parameters at their defaults, all required inputs
/// and no other, float32, more than one element along every axis.
Problem representative(const Op& op) {
    const auto rank = [&](const Problem& problem) {
        int changed = 0, unusual = 0, optional = 0;
        for (const Param& param : op.params)
            if (param.otherwise && problem.params.has(param.name) &&
                to_text(problem.params.get(param.name)) != to_text(*param.otherwise))
                ++changed;
        for (std::size_t i = 0; i < problem.in.size(); ++i) {
            const Spec& spec = problem.in[i];
            if (!spec.present) continue;
            optional -= op.inputs[i].optional ? 1 : 0;  // the more inputs are shown the better
            if (op.inputs[i].own_dtype) continue;
            unusual += spec.dtype != DType::float32 ? 1 : 0;
            unusual += spec.shape.empty() || *std::min_element(spec.shape.begin(), spec.shape.end()) < 2 ? 1 : 0;
        }
        return std::tuple(changed, unusual, optional);
    };
    std::vector<Problem> cases = op.cases();
    for (Problem& problem : cases) problem.params = resolve(op.params, problem.params);
    return *std::min_element(cases.begin(), cases.end(),
                             [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
}

std::string input_text(const Input& input, const Spec& spec) {
    if (input.own_dtype)  // a coefficient
        return spec.shape.empty()
                   ? "1"
                   : fmt::format("[{}]", fmt::join(std::vector<int>(static_cast<std::size_t>(spec.size()), 1), ", "));
    const auto axes = static_cast<std::int64_t>(spec.shape.size());
    std::string kind = "normal";
    for (std::int64_t pairs = axes / 2; pairs >= 2; --pairs)  // two equal halves of several axes: a covariance
        if (std::equal(spec.shape.end() - pairs, spec.shape.end(), spec.shape.end() - 2 * pairs)) {
            kind = fmt::format("covariance, pairs: {}", pairs);
            break;
        }
    return fmt::format("{{generate: {}, shape: [{}], dtype: {}}}", kind, fmt::join(spec.shape, ", "), name(spec.dtype));
}

void example(const Entry& entry) {
    const Op& op = *entry.op;
    const Problem problem = representative(op);
    Table lines({{"", Align::fixed}, {"", Align::fixed}});
    const auto add = [&](const std::string& line, const std::string& comment) {
        lines.row({line, comment.empty() ? "" : "# " + comment});
    };
    fmt::print("# {} on generated values, every parameter at its default.\n", op.name);
    fmt::print("# A file's dataset as input: FILE.h5:/DATASET in place of {{generate: ...}}.\n");
    add("jobs:", "");
    add(fmt::format("  {}:", op.name), "");
    add(fmt::format("    op: {}", op.name), std::string(op.doc));
    add("    inputs:", "");
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const Input& input = op.inputs[i];
        if (problem.in[i].present)
            add(fmt::format("      {}: {}", input.name, input_text(input, problem.in[i])), std::string(input.doc));
        else
            add(fmt::format("      # {}: FILE.h5:/{}", input.name, input.name), fmt::format("optional: {}", input.doc));
    }
    const bool any = std::any_of(op.params.begin(), op.params.end(),
                                 [&](const Param& param) { return problem.params.has(param.name); });
    if (!op.params.empty()) add(any ? "    params:" : "    # params:", "");
    for (const Param& param : op.params) {
        if (param.hidden) continue;
        const std::string meaning = fmt::format("{}: {}", describe(param), param.doc);
        if (problem.params.has(param.name))
            add(fmt::format("      {}: {}", param.name, to_text(problem.params.get(param.name))), meaning);
        else
            add(fmt::format("      # {}:", param.name), meaning);
    }
    std::vector<std::string_view> words;
    for (const Variant* variant : entry.variants)
        if (std::find(words.begin(), words.end(), variant->name) == words.end()) words.push_back(variant->name);
    add("    variant: auto", fmt::format("or {}, a list of these, all", fmt::join(words, ", ")));
    add("    device: auto", "cpu, cuda, cuda:0, ...");
    add("    validate: sample", "or full, none");
    add(fmt::format("    outputs: {}.h5", op.name),
        fmt::format("dataset /{}, in the output directory", op.outputs[0].name));
    fmt::print("{}", lines.text({}));
}

}  // namespace

int list(const ListOptions& options) {
    if (options.schema) {
        fmt::print("{}\n", config::schema());
        return 0;
    }
    if (options.reference) {
        fmt::print("{}", config::jobs_markdown());
        return 0;
    }
    if (options.op.empty()) {
        if (options.example)
            throw Error(Category::config, "--example needs an operation: gridstride list matmul --example");
        operations();
        return 0;
    }
    const Entry* entry = find(options.op);
    if (entry == nullptr) {
        std::vector<std::string> names;
        for (const Entry& one : registry()) names.emplace_back(one.op->name);
        throw Error(Category::config, fmt::format("no operation '{}'{}; there are {}", options.op,
                                                  did_you_mean(options.op, names), joined(names)));
    }
    if (options.example)
        example(*entry);
    else
        operation(*entry);
    return 0;
}

}  // namespace gridstride
