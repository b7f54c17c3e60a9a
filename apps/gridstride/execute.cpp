// SPDX-License-Identifier: BSD-3-Clause
// Running a case: every stage timed, every failure caught and recorded.
#include "execute.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "compute.hpp"
#include "core/interrupt.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "stopwatch.hpp"
#include "validation/validation.hpp"

namespace gridstride::engine {

namespace {

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
    report::ReferenceLine reference{judged.checked,
                                    judged.of,
                                    judged.failed,
                                    judged.max_abs,
                                    judged.max_ulp,
                                    judged.rel_l2,
                                    judged.tolerance_used,
                                    {judged.bound.formula, judged.bound.c, judged.bound.u_out, judged.bound.u_acc,
                                     judged.bound.g, judged.bound.n, judged.bound.u_in, judged.bound.g_one_signed},
                                    {}};
    if (judged.worst)
        reference.worst = {as_the_user_sees(unravel(judged.worst->index, out.shape), one),
                           number(judged.worst->got, out.dtype), number(judged.worst->expected, out.dtype)};
    line.reference = reference;
    for (const Property& property : judged.properties)
        line.properties.push_back({property.name, property.holds(), static_cast<double>(property.value),
                                   static_cast<double>(property.bound), property.where});
    if (judged.verdict == validation::Verdict::mismatch) line.mismatch.emplace();
    if (judged.mismatch) {
        const validation::Mismatch& wrong = *judged.mismatch;
        line.mismatch->ulp = wrong.ulp;
        for (const auto& axis : wrong.axes) line.mismatch->axes.push_back({axis.first, axis.last, axis.distinct});
        // Of diagonal blocks the second channel is the first.
        if (out.shape != one.problem.out[0].shape && wrong.axes.size() > 1)
            line.mismatch->axes.insert(line.mismatch->axes.begin() + 4, line.mismatch->axes[1]);
        line.mismatch->decades = wrong.decades;
        line.mismatch->not_finite = wrong.not_finite;
    }
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
    if (one.against) return nullptr;
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
    std::function<Tensor(const Problem&, std::span<const Slab>)> again;  // nothing computes an answer that was read
    if (!one.against)
        again = [&one](const Problem& problem, std::span<const Slab> inputs) {
            return compute(one.op(), *one.variant, problem, inputs, false).out;
        };
    return validation::judge(one.op(), *one.variant, one.computed(), in, out, one.job->validate, one.job->tolerance,
                             other != nullptr ? &witness : nullptr, one.place.threads, again);
}

/// Runs the case again, `runs` times in all, and counts the bytes that differ from those of `first`.
report::RepeatLine repeated(const Case& one, std::span<const Slab> in, const Tensor& first, int runs) {
    report::RepeatLine line{runs, 0};
    const std::size_t size = first.spec().bytes();
    std::vector<bool> different(size, false);
    for (int run = 1; run < runs; ++run) {
        const Tensor other = compute(one.op(), *one.variant, one.computed(), in, false).out;
        if (std::memcmp(first.data(), other.data(), size) == 0) continue;
        for (std::size_t i = 0; i < size; ++i) different[i] = different[i] || first.data()[i] != other.data()[i];
    }
    line.different = std::count(different.begin(), different.end(), true);
    return line;
}

/// The output element that a mismatch is about.
std::int64_t wrong_place(const validation::Judgement& judged) {
    if (judged.worst && judged.failed > 0) return judged.worst->index;
    for (const Property& property : judged.properties)
        if (!property.holds() && !property.outputs.empty()) return property.outputs.front();
    return 0;
}

/// Of a mismatch, where blocks are asked for. job: what gave the answer.
void keep_block(const std::string& job, const validation::Judgement& judged, const Case& one, std::span<const Slab> in,
                const Slab& out, State& state) {
    if (!state.keep_blocks || judged.verdict != validation::Verdict::mismatch) return;
    state.blocks.push_back({one.name, job, &one.op(),
                            validation::block_around(one.op(), one.computed(), in, out, wrong_place(judged),
                                                     one.job->validate.terms, one.place.threads)});
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

void run_stages(const Plan& plan, std::size_t index, State& state, const report::Surroundings& surroundings,
                const OnStage& on_stage, report::Case& line) {
    std::vector<Result>& results = state.results;
    const Case& one = plan.cases[index];
    Result& result = results[index];
    Stopwatch watch;
    std::optional<cuda::Mark> mark;  // in a profiler's time line
    const auto begin = [&](const char* stage) {
        if (time_is_up) throw TimeUp{};
        on_stage(one.name, stage);
        mark.emplace(stage);
        watch = {};
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
    line.seconds.read = watch.seconds();

    if (one.op().admit != nullptr) {
        begin("checking");
        one.op().admit(one.computed(), in);
    }

    if (one.against) {
        const Tensor answer = load_answer(one);
        begin("validating");
        line.outputs = {{std::string(one.op().outputs[0].name),
                         one.problem.out[0],
                         one.against->info->file,
                         one.against->info->path,
                         0,
                         {}}};
        const validation::Judgement judged = judge(one, in, answer.slab());
        record(judged, one, line);
        keep_block(plan.config.text, judged, one, in, answer.slab(), state);
        line.vendor.reset();
        line.seconds.validate = watch.seconds();
        return;
    }

    begin("computing");
    const bool watched = one.job->validate.mode != Validate::Mode::none;
    Computed computed = compute(one.op(), *one.variant, one.computed(), in,
                                !state.measure && one.variant->role != Role::faulty, watched);
    if (state.repeat_check > 1) line.repeat = repeated(one, in, computed.out, state.repeat_check);
    if (computed.launched) {
        const Launched& launched = *computed.launched;
        line.launch = {launched.grid, launched.block, launched.blocks_per_multiprocessor, launched.occupancy,
                       launched.idle_threads};
    }

    begin("validating");
    line.outputs = {{std::string(one.op().outputs[0].name), one.problem.out[0], {}, {}, 0, {}}};
    const Slab out = computed.out.slab();
    validation::Judgement judged = judge(one, in, out);
    if (watched)
        validation::add_property(
            judged, {.name = "inputs unchanged",
                     .value = computed.changed ? 1.0L : 0.0L,
                     .where = computed.changed ? std::string(one.op().inputs[*computed.changed].name) : std::string()});
    record(judged, one, line);
    line.seconds.validate = watch.seconds();
    if (state.measure && line.status == report::Status::pass && one.variant->role != Role::faulty) {
        begin("measuring");
        const Tensor again = state.measure(one, in);
        if (std::memcmp(again.data(), computed.out.data(), out.spec.bytes()) != 0)
            if (judged = judge(one, in, again.slab()); judged.verdict != validation::Verdict::pass) {
                record(judged, one, line);
                line.reason = "when called many times: " + line.reason;
            }
    }
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
    keep_block(result.job, judged, one, in, result.data.slab(), state);
    if (!one.outputs[0].file.empty()) {
        begin("writing");
        write(one, result, surroundings, line);
        line.seconds.write = watch.seconds();
    }
    if (line.status == report::Status::mismatch) result.failed = "mismatch";
}

/// Sets time_is_up once so many seconds have gone, and clears it when it goes itself.
class TimeLimit {
  public:
    explicit TimeLimit(std::optional<double> seconds) {
        if (!seconds) return;
        constexpr double longest = 1e9;  // that the clock can count
        using Clock = std::chrono::steady_clock;
        const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(std::min(*seconds, longest)));
        watch_ = std::jthread([this, end](const std::stop_token& ended) {
            std::unique_lock lock(mutex_);
            wake_.wait_until(lock, ended, end, [] { return false; });
            if (!ended.stop_requested()) time_is_up = true;
        });
    }
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;
    ~TimeLimit() {
        if (watch_.joinable()) {
            watch_.request_stop();
            watch_.join();
        }
        time_is_up = false;
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread watch_;
};

std::string word_of(config::Expect expect) {
    switch (expect) {
        case config::Expect::pass:
            return "pass";
        case config::Expect::mismatch:
            return "mismatch";
        case config::Expect::error:
            return "error";
        case config::Expect::skipped:
            return "skipped";
    }
    return "";
}

/// An outcome that was expected, other than pass, is a known issue; a pass in its place must not go unseen.
void meet(config::Expect expect, report::Case& line) {
    if (expect == config::Expect::pass) return;
    if (line.status == report::Status::pass) {
        line.status = report::Status::unexpected_pass;
        line.reason = fmt::format("passed; the job file expects {}", word_of(expect));
    } else if (report::name(line.status) == word_of(expect)) {
        line.status = report::Status::known_issue;
        line.reason = fmt::format("{}, as expected: {}", word_of(expect), line.reason);
        line.exit = 0;
    }
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
    line.job = one.job->base;
    line.sweep = one.job->sweep;
    line.expect = word_of(one.expect());
    line.op = one.op().name;
    line.device = one.device();
    line.variant = one.word();
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
            const TimeLimit limit(one.job->timeout);
            run_stages(plan, index, state, surroundings, on_stage, line);
        } catch (const Error& fault) {
            if (on_cuda && fault.category() == Category::device && !cuda::usable(one.place.index))
                state.lost[one.place.index] = one.name;
            fail(report::Status::error, fault.what(),
                 fault.category() == Category::input || fault.category() == Category::config ? 3 : 4);
        } catch (const TimeUp&) {
            fail(report::Status::timeout, fmt::format("took longer than {} s", *one.job->timeout), 4);
        } catch (const Interrupted&) {
            fail(report::Status::skipped, "interrupted", 0);
        } catch (const std::bad_alloc&) {
            fail(report::Status::error, "not enough memory", 4);
        } catch (const std::exception& fault) {
            fail(report::Status::error, fault.what(), 4);
        }
    }
    if (!stop_requested) meet(one.expect(), line);
    for (const PlannedInput& input : one.inputs)
        if (input.producer >= 0)
            if (Result& read = results[static_cast<std::size_t>(input.producer)]; --read.readers == 0)
                read.data = Tensor();
    if (result.readers == 0) result.data = Tensor();
    return line;
}

}  // namespace gridstride::engine
