// SPDX-License-Identifier: BSD-3-Clause
// gridstride check: the plan of each case; --explain adds every resolved value and where it came from.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compute.hpp"
#include "session.hpp"
#include "table.hpp"

namespace gridstride {

namespace {

std::string state_of(const engine::Case& one) {
    if (one.reason.empty()) return "ready";
    return one.exit == 0 ? "skipped" : "error";
}

std::string device_of(const engine::Case& one) {
    return one.against ? "file" : std::string(name(one.place.device));
}

void explain(const engine::Case& one) {
    fmt::print("\n{}\n", one.name);
    Table table({{"key"}, {"value"}, {"origin"}});
    for (const config::Explained& line : one.job->explained) table.row({line.key, line.value, line.origin});
    const Op& op = one.op();
    for (std::size_t i = 0; i < one.inputs.size() && i < one.problem.in.size(); ++i) {
        const engine::PlannedInput& input = one.inputs[i];
        if (input.source == nullptr) continue;
        std::string origin =
            input.info ? fmt::format("{} in the file, {} read", input.info->type.text, bytes_text(input.bytes)) : "";
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
                   fmt::format("{} read, {} written at least", bytes_text(static_cast<std::uint64_t>(cost.read)),
                               bytes_text(static_cast<std::uint64_t>(cost.written)))});
        table.row({"memory", bytes_text(one.memory), "inputs, outputs and workspace"});
        if (one.against)
            table.row(
                {"against", one.against->info->file + ":" + one.against->info->path, "read and judged, not computed"});
        const gridstride::Plan plan = one.against ? gridstride::Plan{} : engine::prepare(*one.variant, problem);
        if (!plan.words.empty()) table.row({"plan", plan.words, ""});
        if (plan.launched)
            table.row({"launch",
                       fmt::format("grid {}, block {}", to_text(plan.launched->grid), to_text(plan.launched->block)),
                       fmt::format("{} blocks a multiprocessor, occupancy {:.0f} %, {} idle threads",
                                   plan.launched->blocks_per_multiprocessor, 100 * plan.launched->occupancy,
                                   plan.launched->idle_threads)});
    }
    table.print(stdout);
}

nlohmann::json to_json(const engine::Plan& plan) {
    nlohmann::json cases = nlohmann::json::array();
    for (const engine::Case& one : plan.cases) {
        nlohmann::json entry{{"name", one.name},
                             {"op", one.op().name},
                             {"device", device_of(one)},
                             {"variant", one.variant != nullptr ? one.word() : "-"},
                             {"sweep", nlohmann::json::object()},
                             {"state", state_of(one)},
                             {"reason", one.reason},
                             {"memory", one.memory},
                             {"inputs", nlohmann::json::array()},
                             {"outputs", nlohmann::json::array()}};
        for (const auto& [key, value] : one.job->sweep) entry["sweep"][key] = to_text(value);
        for (std::size_t i = 0; i < one.problem.in.size(); ++i)
            if (const Spec& spec = one.problem.in[i]; spec.present)
                entry["inputs"].push_back(
                    {{"name", one.op().inputs[i].name}, {"dtype", name(spec.dtype)}, {"shape", spec.shape}});
        for (std::size_t i = 0; i < one.problem.out.size(); ++i) {
            const Spec& spec = one.problem.out[i];
            entry["outputs"].push_back({{"name", one.op().outputs[i].name},
                                        {"dtype", name(spec.dtype)},
                                        {"shape", spec.shape},
                                        {"file", one.outputs[i].file},
                                        {"dataset", one.outputs[i].dataset}});
        }
        cases.push_back(std::move(entry));
    }
    return {{"config", plan.config.source}, {"output_dir", plan.output_dir}, {"cases", std::move(cases)}};
}

void print(const engine::Plan& plan, bool explained) {
    Table table({{"case"}, {"device"}, {"variant"}, {"output"}, {"memory", Align::right}, {"state"}});
    for (const engine::Case& one : plan.cases)
        table.row({one.name, device_of(one), std::string(one.variant != nullptr ? one.word() : "-"),
                   one.problem.out.empty() ? "-" : to_text(one.problem.out[0]),
                   one.reason.empty() ? bytes_text(one.memory) : "-", state_of(one)});
    table.print(stdout);
    Reasons skipped;
    for (const engine::Case& one : plan.cases)
        if (!one.reason.empty() && one.exit == 0)
            skipped.add(one.name, one.variant != nullptr ? one.variant->name : "", one.reason);
    for (const std::string& line : skipped.lines()) fmt::print("skipped: {}\n", line);
    for (const engine::Case& one : plan.cases) {
        if (!one.reason.empty() && one.exit != 0) fmt::print("{}: {}: {}\n", one.name, state_of(one), one.reason);
        for (const std::string& note : one.notes) fmt::print("{}: note: {}\n", one.name, note);
    }
    if (explained)
        for (const engine::Case& one : plan.cases) explain(one);
    fmt::print("outputs and report would go to {}\n", plan.output_dir);
}

}  // namespace

int check(const RunOptions& options) {
    engine::Planning planning = engine::plan_all(options);
    if (planning.exit != 0) return planning.exit;
    int exit = Exit::good;
    for (const engine::Plan& plan : planning.plans) {
        for (const engine::Case& one : plan.cases)
            if (one.expect() != config::Expect::error &&
                (one.exit == Exit::device_failed || (one.exit == Exit::bad_input && exit != Exit::device_failed)))
                exit = one.exit;
        if (options.json) {
            fmt::print("{}\n", to_json(plan).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        } else if (!options.quiet) {
            if (planning.plans.size() > 1) fmt::print("{}\n", plan.config.source);
            print(plan, options.explain || options.verbose > 0);
        }
    }
    return exit;
}

}  // namespace gridstride
