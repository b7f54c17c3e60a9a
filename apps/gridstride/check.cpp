// SPDX-License-Identifier: BSD-3-Clause
// gridstride check: the plan of each case; --explain adds every resolved value and where it came from.
#include <fmt/format.h>

#include "session.hpp"
#include "table.hpp"

namespace gridstride {

namespace {

std::string size_text(double bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, units[unit]);
}

std::string state_of(const engine::Case& one) {
    if (one.reason.empty()) return "ready";
    return one.exit == 0 ? "skipped" : "error";
}

void explain(const engine::Case& one) {
    fmt::print("\n{}\n", one.name);
    Table table({{"key"}, {"value"}, {"origin"}});
    for (const config::Explained& line : one.job->explained) table.row({line.key, line.value, line.origin});
    const Op& op = one.op();
    for (std::size_t i = 0; i < one.inputs.size() && i < one.problem.in.size(); ++i) {
        const engine::PlannedInput& input = one.inputs[i];
        if (input.source == nullptr) continue;
        std::string origin = input.info ? fmt::format("{} in the file, {} read", input.info->type.text,
                                                      size_text(static_cast<double>(input.bytes)))
                                        : "";
        if (one.compact && engine::compacted(one.problem.in[i], one.compact->in[i]))
            origin += ", its channel-diagonal blocks alone are read";
        table.row({fmt::format("input {}", op.inputs[i].name), to_text(one.problem.in[i]), origin});
    }
    for (std::size_t i = 0; i < one.problem.out.size(); ++i)
        table.row({fmt::format("output {}", op.outputs[i].name), to_text(one.problem.out[i]),
                   one.outputs[i].file.empty() ? "not saved" : one.outputs[i].file + ":" + one.outputs[i].dataset});
    if (one.reason.empty()) {
        const Problem& problem = one.computed();
        const Cost cost = op.cost(problem);
        table.row({"cost", fmt::format("{:.3g} flop", cost.flops),
                   fmt::format("{} read, {} written at least", size_text(cost.read), size_text(cost.written))});
        table.row({"memory", size_text(static_cast<double>(one.memory)), "inputs, outputs and workspace"});
        if (one.place.device == Device::cpu) {
            const gridstride::Plan plan = one.variant->prepare(problem);
            if (!plan.words.empty()) table.row({"plan", plan.words, ""});
        }
    }
    table.print(stdout);
}

}  // namespace

int check(const RunOptions& options) {
    engine::Planning planning = engine::plan_all(options);
    if (planning.exit != 0) return planning.exit;
    int exit = Exit::good;
    for (const engine::Plan& plan : planning.plans) {
        if (planning.plans.size() > 1) fmt::print("{}\n", plan.config.source);
        Table table({{"case"}, {"device"}, {"variant"}, {"output"}, {"memory", Align::right}, {"state"}});
        for (const engine::Case& one : plan.cases)
            table.row({one.name, std::string(name(one.place.device)),
                       std::string(one.variant != nullptr ? one.variant->name : "-"),
                       one.problem.out.empty() ? "-" : to_text(one.problem.out[0]),
                       one.reason.empty() ? size_text(static_cast<double>(one.memory)) : "-", state_of(one)});
        table.print(stdout);
        for (const engine::Case& one : plan.cases) {
            if (!one.reason.empty()) fmt::print("{}: {}: {}\n", one.name, state_of(one), one.reason);
            for (const std::string& note : one.notes) fmt::print("{}: note: {}\n", one.name, note);
            if (one.exit == Exit::device_failed || (one.exit == Exit::bad_input && exit != Exit::device_failed))
                exit = one.exit;
        }
        if (options.explain)
            for (const engine::Case& one : plan.cases) explain(one);
        fmt::print("outputs and report would go to {}\n", plan.output_dir);
    }
    return exit;
}

}  // namespace gridstride
