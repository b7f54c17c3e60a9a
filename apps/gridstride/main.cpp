// SPDX-License-Identifier: BSD-3-Clause
// The command line: one subcommand a verb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <cstdlib>

#include "facts.hpp"
#include "io/suggest.hpp"
#include "options.hpp"
#include "verbs.hpp"

namespace {

using gridstride::RunOptions;

void add_run_options(CLI::App& verb, RunOptions& options) {
    verb.add_option("CONFIG", options.configs, "job files; - is standard input")->required();
    verb.add_option("--set", options.overrides.set, "override a value: n=8192, jobs.layer1.params.kernel=5")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false)
        ->take_all();
    verb.add_option("--device", options.overrides.device, "auto, cpu, cuda or cuda:N")->type_name("D");
    verb.add_option("--variant", options.overrides.variant, "a variant, or all")->type_name("V");
    verb.add_option("--validate", options.overrides.validate, "sample, full or none")->type_name("W");
    verb.add_option("--threads", options.overrides.threads, "CPU threads (default: all)")
        ->type_name("N")
        ->check([](const std::string& text) {
            return CLI::Range(1, 4096)(text).empty() ? "" : fmt::format("a number from 1 to 4096, not '{}'", text);
        });
    verb.add_option(
            "--output-dir", options.output_dir,
            "folder of outputs and reports (default: out/<config stem>; with several job files a folder each in it)")
        ->type_name("DIR");
    verb.add_option("--only", options.only, "only the cases or jobs this glob names, and what they read")
        ->type_name("GLOB")
        ->allow_extra_args(false)
        ->take_all();
    verb.add_option("--max-cases", options.overrides.max_cases, "cases that sweeps may make (default: 10000)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
    verb.add_flag("--json", options.json, "print the report, or the plan, as JSON, one document a line");
    verb.add_flag("-q,--quiet", options.quiet, "print only what went wrong");
    verb.add_flag("-v,--verbose", options.verbose,
                  "print more: bounds and stages of run, the explanation of check, samples and clocks of bench");
}

/// What to say where no verb stands first: "gridstride mine.yaml", "gridstride rum mine.yaml".
std::string no_verb(const CLI::App& app, const std::string& word) {
    std::vector<std::string> verbs;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(verb->get_name());
    const std::string known = fmt::format("the verbs are {}", fmt::join(verbs, ", "));
    if (word.empty()) return fmt::format("no verb: {}; `gridstride run JOB.yaml` runs a job file", known);
    std::error_code ignored;
    const std::string extension = std::filesystem::path(word).extension().string();
    if (extension == ".yaml" || extension == ".yml")
        return fmt::format("'{}' is no verb: `gridstride run {}` runs a job file", word, word);
    if (word.find(":/") != std::string::npos || std::filesystem::is_regular_file(word, ignored))
        return fmt::format("'{}' is no verb: `gridstride inspect {}` shows an HDF5 file", word, word);
    return fmt::format("'{}' is no verb{}: {}", word, gridstride::did_you_mean(word, verbs), known);
}

/// What the command line's parser says, with the option that may have been meant and where to look.
std::string bad_usage(const CLI::App& app, const CLI::ParseError& fault) {
    const auto given = app.get_subcommands();
    const CLI::App& verb = given.empty() ? app : *given.front();
    std::vector<std::string> options;
    for (const CLI::Option* option : verb.get_options()) options.push_back(option->get_name());
    const auto unknown = app.remaining(true);
    std::string hint;
    if (!unknown.empty()) hint = gridstride::did_you_mean(unknown.front(), options);
    if (!unknown.empty() && verb.get_option_no_throw("--output-dir") != nullptr) {  // other programs' words
        if (unknown.front() == "--dry-run") hint = " (did you mean `gridstride check`?)";
        if (unknown.front() == "-o") hint = " (did you mean '--output-dir'?)";
    }
    return fmt::format("{}{}; `gridstride{}{} --help` tells what there is", fault.what(), hint,
                       given.empty() ? "" : " ", given.empty() ? "" : verb.get_name());
}

}  // namespace

int main(int argc, char** argv) {
    using namespace gridstride;
    CLI::App app{"gridstride: numerical kernels on HDF5 tensors, from a YAML job file, with proof of the answers"};
    app.set_version_flag("--version", "gridstride " + version_text());
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 nothing failed (a skipped case does not fail), 1 a mismatch or an unexpected pass, 2 bad "
        "configuration or usage, 3 an "
        "input or output failed,\n"
        "4 a device or the runtime failed or a case took too long, 5 nothing ran or was judged, 130 interrupted.");

    RunOptions run_options, check_options, bench_options;
    CLI::App* run_verb = app.add_subcommand("run", "compute, judge, write, report");
    add_run_options(*run_verb, run_options);
    run_verb->add_option("--repeat-check", run_options.repeat_check, "run each case K times and compare the bits")
        ->type_name("K")
        ->check(CLI::Range(2, 1000));
    run_verb
        ->add_option("--dump-mismatch", run_options.dump_mismatch,
                     "HDF5 file for the wrong block of each mismatch: inputs, ours, reference")
        ->type_name("FILE");
    run_verb->footer("Example: gridstride run configs/quickstart.yaml --device cpu");
    CLI::App* check_verb = app.add_subcommand("check", "plan only: nothing is read but headers, nothing is written");
    add_run_options(*check_verb, check_options);
    check_verb->add_flag("--explain", check_options.explain, "each resolved value and its origin, bytes, memory");
    check_verb->footer("Example: gridstride check --explain configs/quickstart.yaml");

    CLI::App* bench_verb =
        app.add_subcommand("bench", "time all variants and the vendor's beside each other, each once it has passed");
    add_run_options(*bench_verb, bench_options);
    bench_verb->add_option("--rows", bench_options.rows, "rows of other programs (bench.json's form), shown beside")
        ->type_name("FILE");
    bench_verb->add_option("--seconds", bench_options.seconds, "time for the samples of a case (default: 1)")
        ->type_name("S")
        ->check(
            [](const std::string& text) {
                char* end = nullptr;
                const double value = std::strtod(text.c_str(), &end);
                return *end == '\0' && value > 0 && value <= 3600
                           ? std::string()
                           : fmt::format("a number of seconds above 0 and at most 3600, not '{}'", text);
            },
            "");
    bench_verb->footer("Example: gridstride bench configs/bench/quick.yaml");
    bench_options.bench = true;

    ListOptions list_options;
    CLI::App* list_verb = app.add_subcommand("list", "operations, their parameters and variants");
    list_verb->add_option("OP", list_options.op, "one operation");
    list_verb->add_flag("--example", list_options.example, "print a complete job");
    list_verb->add_flag("--schema", list_options.schema, "print the JSON Schema of job files");
    list_verb->add_flag("--reference", list_options.reference, "print the reference of job files as Markdown");
    list_verb->footer("Example: gridstride list convcov --example");

    InspectOptions inspect_options;
    CLI::App* inspect_verb = app.add_subcommand("inspect", "what is in an HDF5 file");
    inspect_verb->add_option("FILE", inspect_options.target, "FILE or FILE:/PATH: a file, or a group or dataset in it")
        ->required();
    inspect_verb->add_flag("--stats", inspect_options.stats, "min, max, mean and NaN count of each dataset");
    inspect_verb->footer("Example: gridstride inspect data/signal.h5:/signal --stats");

    CompareOptions compare_options;
    CLI::App* compare_verb = app.add_subcommand("compare", "two datasets, files, folders or reports: what differs");
    compare_verb->add_option("A", compare_options.a, "FILE:/PATH, an HDF5 file, a folder, report.json or bench.json")
        ->required();
    compare_verb->add_option("B", compare_options.b, "the same of the other; of two benches the newer")->required();
    compare_verb->add_option("--rtol", compare_options.rtol, "|a - b| <= atol + rtol |b| is the same (default: bits)")
        ->type_name("R");
    compare_verb->add_option("--atol", compare_options.atol, "the absolute part of it")->type_name("R");
    compare_verb->add_flag("-v,--verbose", compare_options.verbose, "show what is the same, too");
    compare_verb->footer(
        "Exit code 1 where they differ; of two benches: where B is slower or passes no more.\n"
        "Example: gridstride compare out/monday out/tuesday --rtol 1e-6");

    ReportOptions report_options;
    CLI::App* report_verb =
        app.add_subcommand("report", "reports of runs and benches, merged, for people and programs");
    report_verb->add_option("PATH", report_options.paths, "report.json, report.jsonl, bench.json, or folders with them")
        ->required();
    report_verb->add_option("-o,--output", report_options.output, "the file to write (default: standard output)")
        ->type_name("FILE");
    report_verb
        ->add_option(
            "--format", report_options.format,
            "html, junit, csv or markdown (default: by FILE's extension .html, .xml, .csv, .md; else markdown)")
        ->type_name("FORMAT");
    report_verb->footer("Example: gridstride report out -o report.html");

    CLI::App* doctor_verb =
        app.add_subcommand("doctor", "devices, driver, libraries; a small computation through each");
    doctor_verb->footer("Example: gridstride doctor");

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& done) {
        return app.exit(done);
    } catch (const CLI::ParseError& fault) {
        const std::string first = argc > 1 ? argv[1] : "";
        const bool verb = !app.get_subcommands().empty() || first.starts_with('-');
        fmt::print(stderr, "error: {}\n", verb ? bad_usage(app, fault) : no_verb(app, first));
        return Exit::bad_config;
    }
    run_options.command = check_options.command = bench_options.command = {argv, argv + argc};
    const auto answer = [&]() -> int {
        if (*run_verb) return run(run_options);
        if (*check_verb) return check(check_options);
        if (*bench_verb) return bench(bench_options);
        if (*list_verb) return list(list_options);
        if (*inspect_verb) return inspect(inspect_options);
        if (*compare_verb) return compare(compare_options);
        if (*report_verb) return merge_reports(report_options);
        return doctor();
    };
    try {
        const int code = answer();
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        fmt::print(stderr, "error: standard output cannot be written: {}\n", std::strerror(errno));
        return code == Exit::good ? Exit::bad_input : code;
    } catch (const Error& fault) {
        fmt::print(stderr, "error: {}\n", fault.what());
        switch (fault.category()) {
            case Category::config:
                return Exit::bad_config;
            case Category::input:
                return Exit::bad_input;
            default:
                return Exit::device_failed;
        }
    } catch (const std::system_error& fault) {  // fmt's, of standard output
        fmt::print(stderr, "error: {}\n", fault.what());
        return Exit::bad_input;
    } catch (const std::exception& fault) {
        fmt::print(stderr, "error: {}\n", fault.what());
        return Exit::device_failed;
    }
}
