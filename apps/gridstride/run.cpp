// SPDX-License-Identifier: BSD-3-Clause
// gridstride run: every job file planned first, then each run, judged, written and reported.
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <map>

#include "core/interrupt.hpp"
#include "execute.hpp"
#include "facts.hpp"
#include "progress.hpp"
#include "session.hpp"
#include "stopwatch.hpp"
#include "table.hpp"

namespace gridstride {

namespace {

using report::Status;

// ------------------------------------------------------------------------------------------------ the table

std::string checked_text(const report::Case& one) {
    return one.reference ? gridstride::checked_text(one.reference->checked, one.reference->of) : "-";
}

std::string used_text(const report::Case& one) {
    if (!one.reference) return "-";
    const std::string text = gridstride::used_text(one.reference->tolerance_used);
    return one.loose_tolerance ? text + " (loose)" : text;
}

/// Our error over the vendor's, both against the reference.
std::string vendor_text(const report::Case& one) {
    if (!one.reference) return "-";
    if (!one.vendor) return "-";
    if (one.vendor->status == "no vendor") return "no vendor";
    if (one.vendor->status != "pass") return one.vendor->name + ": " + one.vendor->status;
    if (one.reference->max_abs == 0 && one.vendor->max_abs == 0) return "exact";
    if (one.vendor->max_abs == 0) return "vendor exact";
    return fmt::format("{:.2g}", one.reference->max_abs / one.vendor->max_abs);
}

/// The cases that are compared: those of a job and, of a swept one, of the same values, the variant aside.
std::string family_of(const report::Case& one) {
    std::string family = one.job;
    for (const auto& [key, value] : one.sweep)
        if (key != "variant") family += fmt::format(" {}={}", key, to_text(value));
    return family;
}

/// The first passing case of a family with several is what `x first` counts from.
std::map<std::string, double> first_times(const std::vector<report::Case>& cases) {
    std::map<std::string, double> times;
    std::map<std::string, int> variants;
    for (const report::Case& one : cases) {
        if (one.status != Status::pass || one.seconds.with_copies <= 0) continue;
        times.emplace(family_of(one), one.seconds.with_copies);
        ++variants[family_of(one)];
    }
    for (const auto& [job, n] : variants)
        if (n < 2) times.erase(job);
    return times;
}

std::string number_text(const report::Number& number, DType dtype) {
    const auto re = static_cast<double>(number.re), im = static_cast<double>(number.im);
    if (is_integer(dtype)) return fmt::format("{}", static_cast<std::int64_t>(number.re));
    return number.complex ? fmt::format("{:.9g}{:+.9g}i", re, im) : fmt::format("{:.9g}", re);
}

std::string shell_quoted(const std::string& word) {
    constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

/// The command that runs one case again, and what it reads; its reports lie apart from this run's.
std::string command_of(const report::Case& one, const engine::Plan& plan, const RunOptions& options) {
    std::string text = "gridstride run " + shell_quoted(plan.config.source) + " --only " + shell_quoted(one.name);
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) text += fmt::format(" {} {}", option, shell_quoted(value));
    };
    for (const std::string& set : options.overrides.set) add("--set", set);
    add("--device", options.overrides.device.value_or(""));
    add("--variant", options.overrides.variant.value_or(""));
    add("--validate", options.overrides.validate.value_or(""));
    if (options.overrides.threads) add("--threads", fmt::format("{}", *options.overrides.threads));
    add("--output-dir", (std::filesystem::proximate(plan.output_dir) / "again").string());
    return text;
}

/// Where the wrong elements are: "axis 0: 31; axis 1: 0 to 127 (all 128)".
std::string axes_text(const report::MismatchLine& mismatch, const Shape& shape) {
    std::string text;
    for (std::size_t i = 0; i < mismatch.axes.size() && i < shape.size(); ++i) {
        const report::MismatchLine::Axis& axis = mismatch.axes[i];
        text += fmt::format("{}axis {}: {}", text.empty() ? "" : "; ", i, axis.first);
        if (axis.distinct == 1) continue;
        text += fmt::format(" to {} (", axis.last);
        text += axis.distinct == shape[i] ? fmt::format("all {})", shape[i])
                                          : fmt::format("{} of {})", axis.distinct, shape[i]);
    }
    return text;
}

std::string decades_text(const report::MismatchLine& mismatch) {
    std::string text;
    for (const auto& [power, count] : mismatch.decades)
        text += fmt::format("{}1e{}: {}", text.empty() ? "" : ", ", power, count);
    if (mismatch.not_finite > 0) text += fmt::format("{}not finite: {}", text.empty() ? "" : ", ", mismatch.not_finite);
    return text;
}

/// What helps to find the fault.
void print_mismatch(const report::Case& one) {
    const report::MismatchLine& mismatch = *one.mismatch;
    if (!mismatch.axes.empty())
        fmt::print("{}: wrong, of those judged: {}\n", one.name, axes_text(mismatch, one.outputs[0].spec.shape));
    if (const std::string text = decades_text(mismatch); !text.empty())
        fmt::print("{}: their errors by power of ten: {}; {:.3g} ULP at the worst element\n", one.name, text,
                   mismatch.ulp);
    if (!mismatch.dump.empty()) fmt::print("{}: the wrong block: {}\n", one.name, mismatch.dump);
    fmt::print("{}: again: {}\n", one.name, mismatch.command);
}

std::string property_text(const report::PropertyLine& property) {
    if (!property.holds) return fmt::format("{}: does not hold of {}", property.name, property.where);
    if (property.bound == 0) return fmt::format("{}: holds", property.name);
    const double used = 100 * property.value / property.bound;
    return fmt::format("{}: holds, {} of its bound", property.name, used < 1 ? "< 1 %" : fmt::format("{:.0f} %", used));
}

void print_table(const std::vector<report::Case>& cases, const RunOptions& options) {
    Table table({{"case"},
                 {"device", Align::left, 2},
                 {"verdict"},
                 {"checked", Align::right},
                 {"bound used", Align::right},
                 {"error/vendor's", Align::right, 3},
                 {"kernel", Align::right},
                 {"with copies", Align::right, 4},
                 {"x first", Align::right, 1}});
    const std::map<std::string, double> first = first_times(cases);
    for (const report::Case& one : cases) {
        if (options.quiet && one.status == Status::pass) continue;
        const bool timed = one.status == Status::pass && one.seconds.compute > 0;
        const auto base = first.find(family_of(one));
        table.row({one.name, one.device, std::string(report::name(one.status)), checked_text(one), used_text(one),
                   vendor_text(one), timed ? time_text(one.seconds.compute) : "-",
                   timed ? time_text(one.seconds.with_copies) : "-",
                   timed && base != first.end() ? fmt::format("{:.1f}", base->second / one.seconds.with_copies) : "-"});
    }
    if (!table.empty()) table.print(stdout);
}

/// What the table has no room for: reasons, small outputs, files, notes.
void print_details(const std::vector<report::Case>& cases, const RunOptions& options) {
    Reasons skipped;
    for (const report::Case& one : cases)
        if (one.status == Status::skipped) skipped.add(one.name, one.variant, one.reason);
    for (const std::string& line : skipped.lines()) fmt::print("skipped: {}\n", line);
    for (const report::Case& one : cases) {
        if (!one.reason.empty() && one.status != Status::skipped)
            fmt::print("{}: {}: {}\n", one.name, report::name(one.status), one.reason);
        if (one.mismatch) print_mismatch(one);
        if (one.repeat && (!options.quiet || one.repeat->different > 0))
            fmt::print(
                "{}: {} runs: {}\n", one.name, one.repeat->runs,
                one.repeat->different == 0 ? "the same bits" : fmt::format("{} bytes differ", one.repeat->different));
        for (const report::OutputLine& output : one.outputs) {
            if (options.quiet) continue;
            if (!output.values.empty() && one.status != Status::error) {
                std::string text;
                for (const report::Number& number : output.values)
                    text += (text.empty() ? "" : ", ") + number_text(number, output.spec.dtype);
                fmt::print("{}: {} = {}\n", one.name, output.name, output.values.size() == 1 ? text : "[" + text + "]");
            }
            if (!output.file.empty())
                fmt::print("{}: {}:{}\n", one.name, std::filesystem::proximate(output.file).string(), output.dataset);
        }
        if (options.verbose > 0 && one.reference) {
            const report::BoundLine& bound = one.reference->bound;
            fmt::print("{}: bound: {}; n = {}, g = {:.3g}, u_acc = {:.3g}, u_out = {:.3g}\n", one.name, bound.formula,
                       bound.n, bound.g, bound.u_acc, bound.u_out);
            if (one.vendor && !one.vendor->name.empty())
                fmt::print("{}: largest error: {:.3g}, {}'s {:.3g}\n", one.name, one.reference->max_abs,
                           one.vendor->name, one.vendor->max_abs);
        }
        if (options.verbose > 0)
            for (const report::PropertyLine& property : one.properties)
                fmt::print("{}: {}\n", one.name, property_text(property));
        if (options.verbose > 0 && one.status != Status::skipped)
            fmt::print("{}: read {}, validated in {}, written in {}\n", one.name, time_text(one.seconds.read),
                       time_text(one.seconds.validate), time_text(one.seconds.write));
        for (const std::string& note : one.notes)
            if (!options.quiet) fmt::print("{}: note: {}\n", one.name, note);
    }
}

/// "the table says so".
void print_unsaved(const std::vector<report::Case>& cases) {
    std::string names;
    for (const report::Case& one : cases)
        for (const report::OutputLine& output : one.outputs)
            if (output.file.empty() && one.status != Status::error && one.status != Status::timeout)
                names += (names.empty() ? "" : ", ") + one.name;
    if (!names.empty()) fmt::print("not saved (no `outputs`): {}\n", names);
}

// ------------------------------------------------------------------------------------------------ one job file

}  // namespace

int exit_of(const std::vector<report::Case>& cases) {
    const auto any = [&](auto test) { return std::any_of(cases.begin(), cases.end(), test); };
    for (const Status wrong : {Status::mismatch, Status::unexpected_pass})
        if (any([&](const report::Case& one) { return one.status == wrong; })) return Exit::mismatch;
    if (any([](const report::Case& one) { return one.exit == Exit::device_failed; })) return Exit::device_failed;
    if (any([](const report::Case& one) { return one.exit == Exit::bad_input; })) return Exit::bad_input;
    const bool all_skipped = !any([](const report::Case& one) { return one.status != Status::skipped; });
    return all_skipped ? Exit::nothing_ran : Exit::good;
}

namespace {

/// "every case that asked for judgement unvalidated".
bool none_judged(const engine::Plan& plan, const std::vector<report::Case>& cases) {
    bool asked = false;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (plan.cases[i].job->validate.mode == Validate::Mode::none) continue;
        asked = true;
        if (cases[i].status != Status::unvalidated) return false;
    }
    return asked;
}

struct Ran {
    report::Run run;
    std::string unreported;  // why the report could not be written
};

/// blocks: wrong ones of all job files.
Ran run_one(const engine::Plan& plan, const RunOptions& options, std::vector<engine::WrongBlock>& blocks) {
    const Stopwatch watch;
    Ran done;
    report::Run& run = done.run;
    const auto keep = [&](const auto& write) {  // a full disk ends neither the cases to come nor what is printed
        try {
            write();
        } catch (const Error& fault) {
            if (done.unreported.empty()) done.unreported = fault.what();
        }
    };
    run.surroundings = facts(options.command);
    run.config = plan.config.source;
    run.config_text = plan.config.text;
    report::Journal journal(plan.output_dir);
    engine::State state;
    state.results.resize(plan.cases.size());
    state.repeat_check = options.repeat_check;
    state.keep_blocks = !options.dump_mismatch.empty();
    Progress progress;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        progress.count(i + 1, plan.cases.size());
        run.cases.push_back(
            engine::run_case(plan, i, state, run.surroundings,
                             [&](std::string_view name, std::string_view stage) { progress.stage(name, stage); }));
        if (report::Case& line = run.cases.back(); line.mismatch) {
            line.mismatch->command = command_of(line, plan, options);
            line.mismatch->dump = options.dump_mismatch;
        }
        keep([&] { journal.append(run.cases.back()); });
    }
    progress.clear();
    std::move(state.blocks.begin(), state.blocks.end(), std::back_inserter(blocks));
    run.seconds = watch.seconds();
    run.exit = stop_requested ? Exit::interrupted : exit_of(run.cases);
    if (run.exit == Exit::good && none_judged(plan, run.cases)) run.exit = Exit::nothing_ran;
    keep([&] { report::write(run, plan.output_dir); });
    if (!done.unreported.empty() && (run.exit == Exit::good || run.exit == Exit::nothing_ran))
        run.exit = Exit::bad_input;
    return done;
}

}  // namespace

int run(const RunOptions& options) {
    engine::Planning planning = engine::plan_all(options);
    if (planning.exit != 0) return planning.exit;
    if (!options.dump_mismatch.empty()) hdf5::check_writable(options.dump_mismatch);
    std::vector<engine::WrongBlock> blocks;
    stop_on_signals();
    std::vector<int> exits;
    for (const engine::Plan& plan : planning.plans) {
        if (stop_requested) break;
        int code = Exit::good;
        try {
            const auto [done, unreported] = run_one(plan, options, blocks);
            code = done.exit;
            if (options.json) {
                fmt::print("{}\n", report::to_json(done));
            } else {
                if (planning.plans.size() > 1) fmt::print("{}\n", plan.config.source);
                print_table(done.cases, options);
                print_details(done.cases, options);
                if (!options.quiet) print_unsaved(done.cases);
                if (!options.quiet && unreported.empty())
                    fmt::print(
                        "report: {}\n",
                        std::filesystem::proximate(std::filesystem::path(plan.output_dir) / "report.json").string());
                if (planning.plans.size() > 1) fmt::print("\n");
            }
            if (!unreported.empty()) fmt::print(stderr, "error: {}: no report: {}\n", plan.config.source, unreported);
        } catch (const Error& fault) {
            fmt::print(stderr, "error: {}: {}\n", plan.config.source, fault.what());
            code = fault.category() == Category::input ? Exit::bad_input : Exit::device_failed;
        }
        exits.push_back(code);
    }
    if (!blocks.empty()) engine::dump(options.dump_mismatch, blocks);
    return exit_of(exits);
}

}  // namespace gridstride
