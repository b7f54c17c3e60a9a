// SPDX-License-Identifier: BSD-3-Clause
// gridstride bench: each case judged, then timed, beside the vendor's, its limit and its floor; a wrong answer has no
// speed.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/interrupt.hpp"
#include "execute.hpp"
#include "facts.hpp"
#include "measure.hpp"
#include "progress.hpp"
#include "session.hpp"
#include "stopwatch.hpp"
#include "table.hpp"

namespace gridstride {

namespace {

using timing::Row;

// ------------------------------------------------------------------------------------------------ one row

std::string_view role_text(Role role) {
    return role == Role::custom ? "custom" : role == Role::vendor ? "vendor" : "faulty";
}

/// What the report says of a case, without times.
Row row_of(const engine::Case& one, const report::Case& line, const engine::Result& result) {
    Row row;
    row.name = line.name;
    row.job = line.job;
    row.op = line.op;
    row.variant = line.variant;
    row.role = one.variant == nullptr ? "" : role_text(one.variant->role);
    row.device = line.device;
    row.params = line.params;
    row.sweep = line.sweep;
    for (const Spec& spec : one.problem.in)
        if (spec.present) {
            row.dtype = name(spec.dtype);
            row.shape = spec.shape;
            break;
        }
    row.verdict = report::name(line.status);
    row.reason = line.reason;
    if (line.reference) row.tolerance_used = line.reference->tolerance_used;
    row.launch = line.launch;
    row.notes = line.notes;
    if (!result.identity.empty()) row.identity = result.identity;
    return row;
}

/// By the device's data sheet; nothing where that is not known.
std::optional<timing::Limit> limit_of(const engine::Case& one, const Cost& cost) {
    const Problem& problem = one.computed();
    const rates::Sheet sheet = rates::sheet(one.place);
    const auto first =
        std::find_if(problem.in.begin(), problem.in.end(), [](const Spec& spec) { return spec.present; });
    const bool tf32 = problem.params.has("compute") && problem.params.word("compute") == "tf32";
    const double peak = first == problem.in.end() ? 0 : rates::peak_flops(sheet, first->dtype, tf32);
    const double by_bytes = sheet.bandwidth > 0 ? (cost.read + cost.written) / sheet.bandwidth : 0;
    const double by_flops = peak > 0 ? cost.flops / peak : 0;
    if (by_bytes == 0 && by_flops == 0) return {};
    return timing::Limit{std::max(by_bytes, by_flops), by_flops > by_bytes};
}

/// The times of a case that has passed, and what they are measured by.
void add_times(const engine::Case& one, const engine::Measured& measured, const report::Seconds& copies,
               engine::Rates& rates, Row& row) {
    const Cost cost = one.op().cost(one.computed());
    const double bytes = cost.read + cost.written;
    row.method = measured.method;
    row.seconds = measured.seconds;
    row.with_copies = copies.copy_in + measured.seconds.median + copies.copy_out;
    row.bytes = bytes;
    row.flops = cost.flops;
    row.clocks = measured.clocks;
    row.notes.insert(row.notes.end(), measured.notes.begin(), measured.notes.end());
    if (!measured.from_memory) row.notes.push_back("so small that its inputs stay in the cache");
    row.limit = limit_of(one, cost);
    if (bytes > 0) {
        const rates::Mix mix = rates::nearest(cost.read, cost.written);
        const double rate = rates.of(mix, static_cast<std::size_t>(bytes), one.place);
        row.floor = timing::Floor{bytes / rate, rate, std::string(rates::name(mix))};
        row.fraction_of_floor = row.floor->seconds / measured.seconds.median;
    }
}

/// Why a time cannot be; empty: it can.
std::string too_fast(const Row& row, bool from_memory) {
    if (!row.limit || !(from_memory || row.limit->by_flops) || row.seconds->median >= row.limit->seconds) return {};
    return fmt::format(
        "measured {}, below the {} that its {} take by the device's data sheet: the measurement is wrong",
        time_text(row.seconds->median), time_text(row.limit->seconds), row.limit->by_flops ? "flops" : "bytes");
}

// ------------------------------------------------------------------------------------------------ the table

std::string rate_text(double value) {
    return value >= 999.5 ? grouped(static_cast<std::int64_t>(value + 0.5)) : fmt::format("{:.3g}", value);
}

std::string per_cent(const std::optional<double>& fraction) {
    return fraction ? fmt::format("{:.{}f} %", 100 * *fraction, *fraction < 0.0995 ? 1 : 0) : "-";
}

/// Two digits behind the point, of small ones two that count: "1.31", "0.062", "0.0018".
std::string ratio_text(double ratio) {
    return ratio < 0.0995 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.2f}", ratio);
}

void print_table(const std::vector<Row>& rows, const RunOptions& options) {
    std::vector<Column> columns{{"case"},
                                {"device", Align::left, 6},
                                {"verdict", Align::left, 5},
                                {"time", Align::right},
                                {"spread", Align::right, 2},
                                {"GB/s", Align::right, 3},
                                {"Gflop/s", Align::right, 4},
                                {"of limit", Align::right, 7},
                                {"of floor", Align::right},
                                {"x vendor", Align::right},
                                {"with copies", Align::right, 8}};
    const bool others = !options.rows.empty();
    if (others) columns.insert(columns.begin() + 1, {"program", Align::fixed});
    Table table(columns);
    const auto put = [&](const Row& row, std::vector<std::string> cells) {
        cells.insert(cells.begin(), {row.device, row.verdict});
        if (others) cells.insert(cells.begin(), row.program);
        cells.insert(cells.begin(), row.name);
        table.row(cells);
    };
    for (const Row& row : rows) {
        if (row.verdict == "skipped" || (options.quiet && row.verdict == "pass")) continue;
        if (!row.seconds) {
            put(row, std::vector<std::string>(8, "-"));
            continue;
        }
        const timing::Seconds& seconds = *row.seconds;
        const auto rate = [&](const std::optional<double>& amount) {
            return amount.value_or(0) > 0 ? rate_text(*amount / seconds.median * 1e-9) : "-";
        };
        put(row,
            {time_text(seconds.median), per_cent((seconds.q3 - seconds.q1) / seconds.median), rate(row.bytes),
             rate(row.flops), per_cent(row.limit ? std::optional(row.limit->seconds / seconds.median) : std::nullopt),
             per_cent(row.fraction_of_floor), row.ratio_to_vendor ? ratio_text(*row.ratio_to_vendor) : "-",
             row.with_copies ? time_text(*row.with_copies) : "-"});
    }
    if (!table.empty()) table.print(stdout);
}

/// What the table has no room for.
void print_details(const std::vector<Row>& rows, const RunOptions& options) {
    Reasons skipped;
    for (const Row& row : rows)
        if (row.verdict == "skipped") skipped.add(row.name, row.variant, row.reason);
    if (!options.quiet)
        for (const std::string& line : skipped.lines()) fmt::print("skipped: {}\n", line);
    for (const Row& row : rows) {
        if (!row.reason.empty() && row.verdict != "skipped")
            fmt::print("{}: {}: {}\n", row.name, row.verdict, row.reason);
        if (options.quiet) continue;
        for (const std::string& note : row.notes) fmt::print("{}: note: {}\n", row.name, note);
        if (row.clocks && !row.clocks->throttle.empty())
            fmt::print("{}: note: held back by {}\n", row.name, row.clocks->throttle);
        if (options.verbose > 0 && row.seconds)
            fmt::print("{}: {} to {} in half of {} samples, by {}{}\n", row.name, time_text(row.seconds->q1),
                       time_text(row.seconds->q3), row.seconds->samples.size(), row.method,
                       row.clocks ? fmt::format("; {} MHz, memory {} MHz, {:.0f} W", row.clocks->sm_mhz,
                                                row.clocks->mem_mhz, row.clocks->power_w)
                                  : "");
        if (options.verbose > 0 && row.floor)
            fmt::print("{}: floor {} at {} GB/s of a plain {}\n", row.name, time_text(row.floor->seconds),
                       rate_text(row.floor->rate * 1e-9), row.floor->mix);
    }
}

// ------------------------------------------------------------------------------------------------ one job file

/// Rows of other programs behind ours of the same job, the rest at the end.
void add_others(std::vector<Row>& rows, const std::vector<Row>& others) {
    for (const Row& other : others) {
        const auto last = std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) {
            return row.name == other.name || row.job == other.job || row.job == other.name;
        });
        rows.insert(last == rows.rend() ? rows.end() : last.base(), other);
    }
}

/// Says which of these rows are of no job or case of any plan: mistyped, or of another bench.
void warn_of_strangers(const std::vector<engine::Plan>& plans, const std::vector<Row>& others,
                       const std::string& file) {
    std::set<std::string> ours, strangers;
    for (const engine::Plan& plan : plans)
        for (const engine::Case& one : plan.cases) ours.insert({one.name, one.job->base});
    for (const Row& other : others)
        if (!ours.contains(other.name) && !ours.contains(other.job)) strangers.insert(other.name);
    if (!strangers.empty())
        fmt::print(stderr, "warning: {} has rows of no job or case here: {}\n", file, fmt::join(strangers, ", "));
}

struct Benched {
    timing::Bench bench;
    std::string unwritten;  // why the files could not be
};

Benched bench_one(const engine::Plan& plan, const std::vector<Row>& others, const RunOptions& options) {
    const Stopwatch watch;
    Benched done;
    timing::Bench& bench = done.bench;
    bench.surroundings = facts(options.command);
    bench.config = plan.config.source;
    bench.config_text = plan.config.text;
    std::vector<report::Case> lines;
    engine::Rates rates(options.seconds);
    engine::Measured measured;
    engine::State state;
    state.results.resize(plan.cases.size());
    state.measure = [&](const engine::Case& one, std::span<const Slab> in) {
        measured = engine::measure(one.op(), *one.variant, one.computed(), in, options.seconds);
        return std::move(measured.out);
    };
    Progress progress;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        const engine::Case& one = plan.cases[i];
        progress.count(i + 1, plan.cases.size());
        report::Case line =
            engine::run_case(plan, i, state, bench.surroundings,
                             [&](std::string_view name, std::string_view stage) { progress.stage(name, stage); });
        Row row = row_of(one, line, state.results[i]);
        if (line.status == report::Status::pass && one.variant->role != Role::faulty) {
            try {
                progress.stage(one.name, "measuring the floor");
                add_times(one, measured, line.seconds, rates, row);
                row.reason = too_fast(row, measured.from_memory);
            } catch (const Interrupted&) {
                row.reason = line.reason = "interrupted";
            } catch (const Error& fault) {
                row.reason = fault.what();
            }
            if (!row.reason.empty()) {
                line.status = stop_requested ? report::Status::skipped : report::Status::error;
                line.exit = stop_requested ? 0 : Exit::device_failed;
                row.verdict = report::name(line.status);
                row.seconds.reset();
                row.with_copies.reset();
                row.fraction_of_floor.reset();
            }
        }
        lines.push_back(std::move(line));
        bench.rows.push_back(std::move(row));
    }
    progress.clear();
    add_others(bench.rows, others);
    timing::relate_to_vendor(bench.rows);
    bench.seconds = watch.seconds();
    bench.exit = stop_requested ? Exit::interrupted : exit_of(lines);
    if (bench.exit == Exit::good && std::none_of(bench.rows.begin(), bench.rows.end(), [](const Row& row) {
            return row.program == "gridstride" && row.seconds;
        }))
        bench.exit = Exit::nothing_ran;
    try {
        timing::write(bench, plan.output_dir);
    } catch (const Error& fault) {
        done.unwritten = fault.what();
        if (bench.exit == Exit::good || bench.exit == Exit::nothing_ran) bench.exit = Exit::bad_input;
    }
    return done;
}

}  // namespace

int bench(const RunOptions& options) {
    const std::vector<Row> others = options.rows.empty() ? std::vector<Row>() : timing::read_rows(options.rows);
    const engine::Planning planning = engine::plan_all(options);
    if (planning.exit != 0) return planning.exit;
    if (options.only.empty() && !options.quiet) warn_of_strangers(planning.plans, others, options.rows);
    stop_on_signals();
    std::vector<int> exits;
    for (const engine::Plan& plan : planning.plans) {
        if (stop_requested) break;
        const auto [done, unwritten] = bench_one(plan, others, options);
        if (options.json) {
            fmt::print("{}\n", timing::to_json(done));
        } else {
            if (planning.plans.size() > 1) fmt::print("{}\n", plan.config.source);
            print_table(done.rows, options);
            print_details(done.rows, options);
            if (!options.quiet && unwritten.empty())
                fmt::print("rows: {}, beside it bench.csv and report.html\n",
                           std::filesystem::proximate(std::filesystem::path(plan.output_dir) / "bench.json").string());
            if (planning.plans.size() > 1) fmt::print("\n");
        }
        if (!unwritten.empty()) fmt::print(stderr, "error: {}: no rows: {}\n", plan.config.source, unwritten);
        exits.push_back(done.exit);
    }
    return exit_of(exits);
}

}  // namespace gridstride
