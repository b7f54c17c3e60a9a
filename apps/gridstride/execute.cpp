// SPDX-License-Identifier: BSD-3-Clause
// Running a case: every stage timed, every failure caught and recorded.
#include "execute.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "compute.hpp"
#include "core/interrupt.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "validation/validation.hpp"

namespace gridstride::engine {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Slab> slabs(const std::vector<Tensor>& tensors) {
    std::vector<Slab> list;
    for (const Tensor& tensor : tensors) list.push_back(tensor.slab());
    return list;
}

report::Number number(const validation::Complex& value, DType dtype) {
    return {value.re, value.im, is_complex(dtype)};
}

/// The index of an element of a compact output, in the layout the user sees.
Shape as_the_user_sees(Shape index, const Case& one) {
    if (index.size() < one.problem.out[0].shape.size()) index.insert(index.begin() + 4, index[1]);
    return index;
}

/// Is there a second witness for such a case, if not within every budget?
bool has_vendor(const Case& one) {
    const auto& rows = one.job->entry->variants;
    return std::any_of(rows.begin(), rows.end(), [&](const Variant* row) {
        return row != one.variant && row->device == one.place.device &&
               (one.place.device == Device::cpu ? one.variant->role == Role::vendor && row->name == "loop"
                                                : row->role == Role::vendor);
    });
}

/// The judgement as report lines.
void record(const validation::Judgement& judged, const Case& one, report::Case& line) {
    const Spec& out = one.computed().out[0];
    switch (judged.verdict) {
        case validation::Verdict::pass:
            line.status = report::Status::pass;
            break;
        case validation::Verdict::mismatch:
            line.status = report::Status::mismatch;
            break;
        case validation::Verdict::vacuous:
            line.status = report::Status::vacuous;
            break;
        case validation::Verdict::unvalidated:
            line.status = report::Status::unvalidated;
            break;
    }
    line.reason = judged.reason;
    if (judged.worst && out.shape != one.problem.out[0].shape) {  // its index too, in the layout the user sees
        const std::string index = index_text(judged.worst->index, out.shape);
        if (const auto at = line.reason.find(index); at != std::string::npos)
            line.reason.replace(at, index.size(),
                                to_text(as_the_user_sees(unravel(judged.worst->index, out.shape), one)));
    }
    line.loose_tolerance = judged.loose;
    line.notes.insert(line.notes.end(), judged.notes.begin(), judged.notes.end());
    line.outputs[0].nan = judged.nan_outputs;
    if (judged.verdict == validation::Verdict::unvalidated) return;
    report::ReferenceLine reference{
        judged.checked,
        judged.of,
        judged.failed,
        judged.max_abs,
        judged.max_ulp,
        judged.rel_l2,
        judged.tolerance_used,
        {judged.bound.formula, judged.bound.c, judged.bound.u_out, judged.bound.u_acc, judged.bound.g, judged.bound.n},
        {}};
    if (judged.worst)
        reference.worst = {as_the_user_sees(unravel(judged.worst->index, out.shape), one),
                           number(judged.worst->got, out.dtype), number(judged.worst->expected, out.dtype)};
    line.reference = reference;
    if (out.shape != one.problem.out[0].shape)
        line.notes.push_back("judged: the channel-diagonal blocks; the others are " +
                             std::string(one.problem.in[static_cast<std::size_t>(one.op().outputs[0].alias)].present
                                             ? "copied as they are"
                                             : "zero and take no space in the file"));
    if (judged.vendor) {
        const validation::Witness& witness = *judged.vendor;
        line.vendor = {witness.name,
                       !witness.error.empty() ? "error: " + witness.error
                       : witness.agrees       ? "pass"
                                              : "mismatch",
                       witness.tolerance_used, witness.max_abs, witness.rel_l2};
    } else if (!has_vendor(one)) {
        line.vendor = {"", "no vendor", 0, 0, 0};
    }
}

/// The second witness of a case: on CUDA the vendor's library; of a library on the CPU our own loop, where its cost is
/// within the budget. Null where there is none.
const Variant* witness_of(const Case& one) {
    const auto can = [&](const Variant* row) {
        return row != nullptr && row != one.variant &&
               (row->refuses == nullptr || row->refuses(one.computed()).empty());
    };
    if (one.place.device == Device::cuda) {
        for (const Variant* row : one.job->entry->variants)
            if (row->device == Device::cuda && row->role == Role::vendor && can(row)) return row;
        return nullptr;
    }
    const Variant* loop = find(*one.job->entry, "loop", Device::cpu);
    if (one.variant->role != Role::vendor || !can(loop)) return nullptr;
    const double terms =
        static_cast<double>(one.computed().out[0].size()) * static_cast<double>(one.op().terms(one.computed()));
    return one.job->validate.mode == Validate::Mode::full || terms <= one.job->validate.terms ? loop : nullptr;
}

validation::Judgement judge(const Case& one, std::span<const Slab> in, const Slab& out) {
    const Variant* other = witness_of(one);
    validation::SecondWitness witness;
    if (other != nullptr) {
        Problem problem = one.computed();
        problem.launch = {};
        witness = {other, [&one, other, problem](std::span<const Slab> inputs) {
                       return compute(one.op(), *other, problem, inputs, false).out;
                   }};
    }
    return validation::judge(one.op(), *one.variant, one.computed(), in, out, one.job->validate, one.job->tolerance,
                             other != nullptr ? &witness : nullptr, one.place.threads);
}

nlohmann::json identity_of(const PlannedInput& input, std::uint64_t checksum) {
    struct stat status {};
    nlohmann::json entry{
        {"file", input.info->file}, {"dataset", input.info->path}, {"checksum", fmt::format("{:016x}", checksum)}};
    if (stat(input.info->file.c_str(), &status) == 0) {
        entry["bytes"] = status.st_size;
        entry["mtime"] = status.st_mtime;
    }
    return entry;
}

/// The resolved jobs behind a case's output, its producers' first, and the datasets they read.
void describe_origin(const Plan& plan, std::size_t index, std::vector<Result>& results, nlohmann::json identity) {
    std::vector<config::Resolved> jobs;
    std::set<std::size_t> seen;
    const auto visit = [&](const auto& self, std::size_t at) -> void {
        if (!seen.insert(at).second) return;
        const Case& one = plan.cases[at];
        for (const PlannedInput& input : one.inputs)
            if (input.producer >= 0) self(self, static_cast<std::size_t>(input.producer));
        jobs.push_back({one.job, one.params, std::string(one.variant->name), std::string(name(one.place.device))});
        if (at == index) return;
        for (const auto& entry : nlohmann::json::parse(results[at].identity))
            if (std::find(identity.begin(), identity.end(), entry) == identity.end()) identity.push_back(entry);
    };
    visit(visit, index);
    results[index].job = config::to_yaml(jobs);
    // A path need not be UTF-8, as JSON must be.
    results[index].identity = identity.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void run_stages(const Plan& plan, std::size_t index, std::vector<Result>& results,
                const report::Surroundings& surroundings, const OnStage& on_stage, report::Case& line) {
    const Case& one = plan.cases[index];
    Result& result = results[index];
    auto start = Clock::now();
    std::optional<cuda::Mark> mark;  // in a profiler's time line
    const auto begin = [&](const char* stage) {
        on_stage(one.name, stage);
        mark.emplace(stage);
        start = Clock::now();
    };
    begin("reading");
    std::vector<Tensor> tensors(one.inputs.size());
    nlohmann::json identity = nlohmann::json::array();
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
        if (one.inputs[i].source == nullptr) continue;
        report::InputLine input;
        std::uint64_t checksum = 0;
        tensors[i] = load(one, i, results, input, checksum);
        if (one.inputs[i].info) identity.push_back(identity_of(one.inputs[i], checksum));
        if (input.replaced > 0)
            line.notes.push_back(fmt::format("input {}: {} NaN replaced", input.name, input.replaced));
        line.inputs.push_back(std::move(input));
    }
    std::vector<Slab> in = slabs(tensors);
    for (std::size_t i = 0; i < in.size(); ++i) in[i].spec.present = one.computed().in[i].present;
    line.seconds.read = since(start);

    if (one.op().admit != nullptr) {
        begin("checking");
        one.op().admit(one.computed(), in);
    }

    begin("computing");
    Computed computed = compute(one.op(), *one.variant, one.computed(), in, one.variant->role != Role::faulty);
    if (computed.launched) {
        const Launched& launched = *computed.launched;
        line.launch = {launched.grid, launched.block, launched.blocks_per_multiprocessor, launched.occupancy,
                       launched.idle_threads};
    }

    begin("validating");
    line.outputs = {{std::string(one.op().outputs[0].name), one.problem.out[0], {}, {}, 0, {}}};
    const Slab out = computed.out.slab();
    record(judge(one, in, out), one, line);
    line.seconds.validate = since(start);
    if (line.status != report::Status::mismatch && one.variant->role != Role::faulty) {  // a wrong answer has no speed
        line.seconds.compute = computed.seconds;
        line.seconds.copy_in = computed.copy_in;
        line.seconds.copy_out = computed.copy_out;
        line.seconds.with_copies = computed.with_copies();
    }
    if (out.spec.size() <= 4)
        for (std::int64_t i = 0; i < out.spec.size(); ++i)
            line.outputs[0].values.push_back({real_part(out, i), imaginary_part(out, i), is_complex(out.spec.dtype)});

    result.data = std::move(computed.out);
    const int alias = one.op().outputs[0].alias;
    if (one.compact && alias >= 0) {
        const PlannedInput& base = one.inputs[static_cast<std::size_t>(alias)];
        if (base.producer >= 0)
            result.rest = results[static_cast<std::size_t>(base.producer)].rest;
        else
            result.rest = base.info;
    }
    describe_axes(one, results, result, line.notes);
    describe_origin(plan, index, results, identity);
    if (!one.outputs[0].file.empty()) {
        begin("writing");
        write(one, result, surroundings, line);
        line.seconds.write = since(start);
    }
    if (line.status == report::Status::mismatch) result.failed = "mismatch";
}

}  // namespace

report::Case run_case(const Plan& plan, std::size_t index, State& state, const report::Surroundings& surroundings,
                      const OnStage& on_stage) {
    std::vector<Result>& results = state.results;
    const Case& one = plan.cases[index];
    Result& result = results[index];
    result.readers = one.consumers;
    report::Case line;
    line.name = one.name;
    line.job = one.job->name;
    line.op = one.op().name;
    line.device = name(one.place);
    line.variant = one.variant != nullptr ? one.variant->name : "auto";
    line.params = one.params;
    line.notes = one.notes;
    const auto fail = [&](report::Status status, const std::string& reason, int exit) {
        line.status = status;
        line.reason = reason;
        line.exit = exit;
        result.failed = reason;
        result.data = Tensor();
        std::error_code ignored;
        for (const PlannedOutput& output : one.outputs)
            if (!output.file.empty() && std::filesystem::exists(output.file, ignored))
                line.notes.push_back(output.file + " is from an earlier run");
    };
    if (stop_requested) {
        fail(report::Status::skipped, "interrupted", 0);
        return line;
    }
    const cuda::Mark mark(one.name);
    const bool on_cuda = one.place.device == Device::cuda;
    std::string producer;
    for (const PlannedInput& input : one.inputs)
        if (input.producer >= 0 && !results[static_cast<std::size_t>(input.producer)].failed.empty())
            producer = plan.cases[static_cast<std::size_t>(input.producer)].name;
    if (!one.reason.empty()) {
        fail(one.exit == 0 ? report::Status::skipped : report::Status::error, one.reason, one.exit);
    } else if (!producer.empty()) {
        fail(report::Status::skipped, producer + " failed", 0);
    } else if (on_cuda && state.lost.count(one.place.index) > 0) {
        fail(report::Status::error, "device lost in case " + state.lost.at(one.place.index), 4);
    } else {
        try {
            run_stages(plan, index, results, surroundings, on_stage, line);
        } catch (const Error& fault) {
            if (on_cuda && fault.category() == Category::device && !cuda::usable(one.place.index))
                state.lost[one.place.index] = one.name;
            fail(report::Status::error, fault.what(),
                 fault.category() == Category::input || fault.category() == Category::config ? 3 : 4);
        } catch (const Interrupted&) {
            fail(report::Status::skipped, "interrupted", 0);
        } catch (const std::bad_alloc&) {
            fail(report::Status::error, "not enough memory", 4);
        } catch (const std::exception& fault) {
            fail(report::Status::error, fault.what(), 4);
        }
    }
    for (const PlannedInput& input : one.inputs)
        if (input.producer >= 0)
            if (Result& read = results[static_cast<std::size_t>(input.producer)]; --read.readers == 0)
                read.data = Tensor();
    if (result.readers == 0) result.data = Tensor();
    return line;
}

}  // namespace gridstride::engine
