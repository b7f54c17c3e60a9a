// SPDX-License-Identifier: BSD-3-Clause
// gridstride compare A B: what differs between two datasets, files, folders or reports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "io/hdf5_compare.hpp"
#include "io/report_compare.hpp"
#include "options.hpp"
#include "table.hpp"
#include "verbs.hpp"

namespace gridstride {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t fields_shown = 8;  // of a case that differs
constexpr std::size_t value_width = 60;

struct Tally {
    int same = 0, differ = 0, only_a = 0, only_b = 0, failed = 0;
};

/// What is known of A and B so far, and the table of it.
struct Comparison {
    const CompareOptions& options;
    std::optional<hdf5::Nearness> nearness;
    Tally tally = {};
    Table table{{{"what", Align::left},
                 {"verdict"},
                 {"differ", Align::right},
                 {"max abs", Align::right},
                 {"rel L2", Align::right},
                 {"max ULP", Align::right, 1}}};

    void same(const std::string& what) {
        ++tally.same;
        if (options.verbose) table.row({printable(what), "same", "-", "-", "-", "-"});
    }
    void differs(const std::string& what, std::vector<std::string> cells, std::vector<std::string> below) {
        ++tally.differ;
        cells.insert(cells.begin(), {printable(what), "differs"});
        for (std::string& line : below) line = "    " + printable(line);
        table.row(std::move(cells), std::move(below));
    }
    void only(const std::string& what, bool in_a) {
        ++(in_a ? tally.only_a : tally.only_b);
        table.row({printable(what), in_a ? "only in A" : "only in B", "-", "-", "-", "-"});
    }
    void failed(const std::string& what, const std::string& why) {
        ++tally.failed;
        fmt::print(stderr, "error: {}: {}\n", printable(what), printable(why));
    }
};

std::string error_text(double number) {
    return std::isnan(number) ? "-" : fmt::format("{:.3g}", number);
}

// ------------------------------------------------------------------------------------------------ HDF5

void compare_datasets(const std::string& what, const hdf5::Info& a, const hdf5::Info& b, Comparison& all) {
    const hdf5::Comparison seen = hdf5::compare(a, b, all.nearness);
    if (seen.same) return all.same(what);
    std::vector<std::string> below;
    if (!seen.why.empty()) below.push_back(seen.why);
    if (seen.not_finite > 0)
        below.push_back(fmt::format("at {} NaN or Inf against something else", grouped(seen.not_finite)));
    if (seen.differ > 0 && seen.max_abs == 0 && seen.not_finite == 0)
        below.push_back("equal as numbers: only signs of zeros or bits of NaN differ");
    for (const hdf5::Difference& place : seen.worst)
        below.push_back(fmt::format("at {}: {} and {}", to_text(place.index), shortened(place.a, value_width),
                                    shortened(place.b, value_width)));
    all.differs(what,
                {seen.elements == 0 ? "-" : fmt::format("{} of {}", grouped(seen.differ), grouped(seen.elements)),
                 error_text(seen.max_abs), error_text(seen.rel_l2), error_text(seen.max_ulp)},
                std::move(below));
}

std::string_view kind_name(hdf5::Node::Kind kind) {
    switch (kind) {
        case hdf5::Node::Kind::group:
            return "a group";
        case hdf5::Node::Kind::dataset:
            return "a dataset";
        case hdf5::Node::Kind::type:
            return "a named type";
        default:
            return "a link";
    }
}

/// What a link leads to, where that is a dataset; else the node as it is.
hdf5::Node followed(const std::string& file, hdf5::Node node) {
    if (node.kind != hdf5::Node::Kind::link || node.target.empty()) return node;
    try {
        node.info = hdf5::describe(file, node.path);
        node.kind = hdf5::Node::Kind::dataset;
        node.problem.clear();
    } catch (const Error&) {  // a group, whose target is compared, or what `problem` says
    }
    return node;
}

void compare_nodes(const std::string& what, const hdf5::Node& a, const hdf5::Node& b, Comparison& all) {
    for (const hdf5::Node* node : {&a, &b})
        if (!node->problem.empty()) return all.failed(what, node->problem);
    if (a.kind != b.kind)
        return all.differs(what, {"-", "-", "-", "-"},
                           {fmt::format("{} and {}", kind_name(a.kind), kind_name(b.kind))});
    if (a.kind == hdf5::Node::Kind::dataset) return compare_datasets(what, a.info, b.info, all);
    if (a.target != b.target)
        return all.differs(what, {"-", "-", "-", "-"}, {fmt::format("links to {} and {}", a.target, b.target)});
    if (a.kind == hdf5::Node::Kind::link) all.same(what);
}

/// Two objects of files and all below them. prefix: before each path in the table.
void compare_objects(const std::string& prefix, const std::string& file_a, const std::string& path_a,
                     const std::string& file_b, const std::string& path_b, Comparison& all) {
    const auto below = [](const std::string& file, const std::string& path) {
        std::map<std::string, hdf5::Node> nodes;  // by the path below the object
        const std::string root = path == "/" ? "" : path;
        for (hdf5::Node& node : hdf5::tree(file, path)) {
            const std::string relative = node.path == "/" ? "" : node.path.substr(root.size());
            nodes.emplace(relative, followed(file, std::move(node)));
        }
        return nodes;
    };
    const std::map<std::string, hdf5::Node> a = below(file_a, path_a), b = below(file_b, path_b);
    const hdf5::Node &top_a = a.at(""), &top_b = b.at("");
    if (top_a.kind != top_b.kind)
        throw Error(Category::config,
                    fmt::format("{}:{} is {}, {}:{} is {}: name two of a kind, as FILE:/PATH", file_a, path_a,
                                kind_name(top_a.kind), file_b, path_b, kind_name(top_b.kind)));
    std::set<std::string> paths;
    for (const auto& [path, node] : a) paths.insert(path);
    for (const auto& [path, node] : b) paths.insert(path);
    for (const std::string& path : paths) {
        const std::string what = prefix + (path.empty() ? path_a : path);
        const auto in_a = a.find(path), in_b = b.find(path);
        if (in_a == a.end() || in_b == b.end()) {
            all.only(what, in_b == b.end());
            continue;
        }
        try {
            compare_nodes(what, in_a->second, in_b->second, all);
        } catch (const Error& error) {
            all.failed(what, error.what());
        }
    }
}

// ------------------------------------------------------------------------------------------------ reports

void run_changes(const std::string& prefix, const report::Document& a, const report::Document& b, Comparison& all) {
    for (const report::CaseChange& change : report::compare_runs(a, b, all.nearness)) {
        const std::string what = prefix + change.name;
        if (change.verdict == "same") {
            all.same(what);
        } else if (change.verdict == "differs") {
            std::vector<std::string> fields = change.fields;
            const std::size_t hidden =
                all.options.verbose || fields.size() <= fields_shown ? 0 : fields.size() - fields_shown;
            fields.resize(fields.size() - hidden);
            for (std::string& field : fields) field = shortened(field, 2 * value_width);
            if (hidden > 0) fields.push_back(fmt::format("and {} more (-v)", hidden));
            all.differs(what, {fmt::format("{} fields", change.fields.size()), "-", "-", "-"}, std::move(fields));
        } else {
            all.only(what, change.verdict == "only in A");
        }
    }
}

/// Exit code.
int bench_changes(const report::Document& a, const report::Document& b) {
    Table table({{"row"},
                 {"verdict"},
                 {"A", Align::right},
                 {"B", Align::right},
                 {"B/A", Align::right},
                 {"range", Align::right, 1}});
    for (const char* fact : {"host", "device"})
        if (const std::string old = report::text(a.json, {fact}), now = report::text(b.json, {fact}); old != now)
            fmt::print(stderr, "warning: {} differs: {} and {}\n", fact, printable(old), printable(now));
    std::map<std::string, int> counts;
    bool worse = false, common = false;
    for (const report::SpeedChange& change : report::compare_benches(a, b)) {
        const auto ratio = [](double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f}", value); };
        table.row({printable(change.name), change.verdict, time_text(change.before), time_text(change.after),
                   ratio(change.ratio),
                   std::isnan(change.low) || std::isnan(change.high)
                       ? "-"
                       : fmt::format("{:.3f} to {:.3f}", change.low, change.high)});
        ++counts[change.verdict];
        worse = worse || change.worse;
        common = common || !change.verdict.starts_with("only");
    }
    if (!table.empty()) table.print(stdout);
    std::string text;
    for (const auto& [verdict, n] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, verdict);
    fmt::print("{} (same: within {:.0f} %, on a CPU {:.0f} %, by the quartiles of both)\n",
               text.empty() ? "no rows" : text, 100 * report::same_speed, 100 * report::same_speed_on_cpu);
    if (!common) return Exit::nothing_ran;
    return worse ? Exit::mismatch : Exit::good;
}

// ------------------------------------------------------------------------------------------------ files, folders

bool same_bytes(const fs::path& a, const fs::path& b) {
    std::error_code code;
    if (fs::file_size(a, code) != fs::file_size(b, code)) return false;
    std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
    std::string left(std::size_t{1} << 16, '\0'), right = left;
    do {
        first.read(left.data(), static_cast<std::streamsize>(left.size()));
        second.read(right.data(), static_cast<std::streamsize>(right.size()));
        if (first.bad() || second.bad() || !first.is_open() || !second.is_open())
            throw Error(Category::input, "cannot be read");
        if (first.gcount() != second.gcount() ||
            !std::equal(left.begin(), left.begin() + first.gcount(), right.begin()))
            return false;
    } while (first);
    return true;
}

/// By its signature, which may stand behind a user block.
bool is_hdf5(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    for (const std::streamoff offset : {0, 512, 1024, 2048}) {
        char signature[8] = {};
        if (file.seekg(offset).read(signature, sizeof signature); !file) return false;
        if (std::string_view(signature, sizeof signature) == "\x89HDF\r\n\x1a\n") return true;
    }
    return false;
}

std::optional<report::Document> report_in(const fs::path& path) {
    const fs::path extension = path.extension();
    if (extension != ".json" && extension != ".jsonl") return {};
    return report::load(path.string());
}

void compare_files(const std::string& name, const fs::path& a, const fs::path& b, Comparison& all) {
    const auto report_a = report_in(a), report_b = report_in(b);
    if (report_a && report_b && report_a->kind == report_b->kind) {
        if (report_a->kind == report::Document::Kind::run) return run_changes(name + ": ", *report_a, *report_b, all);
        fmt::print("{}\n", printable(name));
        if (bench_changes(*report_a, *report_b) == Exit::mismatch) return all.differs(name, {"-", "-", "-", "-"}, {});
        return all.same(name);
    }
    if (is_hdf5(a) && is_hdf5(b)) return compare_objects(name + ":", a.string(), "/", b.string(), "/", all);
    if (same_bytes(a, b)) return all.same(name);
    all.differs(name, {"-", "-", "-", "-"}, {"its bytes differ"});
}

/// Files of a folder and those below it, by their path in it, apart from those that say again what a report.json or
/// bench.json beside them says.
std::set<std::string> files_of(const std::string& folder) {
    std::set<std::string> files;
    try {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
            const fs::path& path = entry.path();
            const auto beside = [&](const char* name) { return fs::exists(path.parent_path() / name); };
            const fs::path name = path.filename();
            const bool again = ((name == "report.jsonl" || name == "report.html") && beside("report.json")) ||
                               ((name == "bench.csv" || name == "report.html") && beside("bench.json"));
            if (!entry.is_directory() && !again) files.insert(path.lexically_relative(folder).string());
        }
    } catch (const fs::filesystem_error& fault) {
        throw Error(Category::input, fmt::format("{}: {}", folder, fault.code().message()));
    }
    return files;
}

void compare_folders(const std::string& a, const std::string& b, Comparison& all) {
    const std::set<std::string> in_a = files_of(a), in_b = files_of(b);
    std::set<std::string> names = in_a;
    names.insert(in_b.begin(), in_b.end());
    for (const std::string& name : names) {
        if (!in_a.contains(name) || !in_b.contains(name)) {
            all.only(name, in_a.contains(name));
            continue;
        }
        try {
            compare_files(name, fs::path(a) / name, fs::path(b) / name, all);
        } catch (const Error& error) {
            all.failed(name, error.what());
        }
    }
}

/// What an argument names.
struct Target {
    enum class Kind { object, run, bench, folder } kind = Kind::object;
    std::string file, path = "/";  // of an object
    std::optional<report::Document> document = {};
};

Target target_of(const std::string& word) {
    std::error_code code;
    if (fs::is_directory(word, code)) return {Target::Kind::folder, word};
    if (!fs::exists(word, code)) {
        const std::size_t colon = word.find(":/");
        if (colon == std::string::npos) throw Error(Category::config, fmt::format("{}: no such file or folder", word));
        return {Target::Kind::object, word.substr(0, colon), word.substr(colon + 1)};
    }
    if (!is_hdf5(word))
        if (std::optional<report::Document> document = report::load(word)) {
            const bool run = document->kind == report::Document::Kind::run;
            return {run ? Target::Kind::run : Target::Kind::bench, word, "/", std::move(document)};
        }
    return {Target::Kind::object, word};
}

std::string_view kind_name(Target::Kind kind) {
    switch (kind) {
        case Target::Kind::run:
            return "the report of a run";
        case Target::Kind::bench:
            return "the report of a bench";
        case Target::Kind::folder:
            return "a folder";
        default:
            return "an HDF5 file";
    }
}

}  // namespace

int compare(const CompareOptions& options) {
    for (const auto& [name, value] : {std::pair{"--rtol", options.rtol}, {"--atol", options.atol}})
        if (value && !(*value >= 0)) throw Error(Category::config, fmt::format("{} {}: 0 or above", name, *value));
    const Target a = target_of(options.a), b = target_of(options.b);
    if (a.kind != b.kind)
        throw Error(Category::config, fmt::format("{} is {}, {} is {}: name two of a kind", options.a,
                                                  kind_name(a.kind), options.b, kind_name(b.kind)));
    if (a.kind == Target::Kind::bench) return bench_changes(*a.document, *b.document);
    Comparison all{options, {}};
    if (options.rtol || options.atol) all.nearness = {options.rtol.value_or(0), options.atol.value_or(0)};
    if (a.kind == Target::Kind::folder)
        compare_folders(a.file, b.file, all);
    else if (a.kind == Target::Kind::run)
        run_changes("", *a.document, *b.document, all);
    else
        compare_objects("", a.file, a.path, b.file, b.path, all);

    if (!all.table.empty()) all.table.print(stdout);
    const Tally& tally = all.tally;
    std::vector<std::string> parts;
    for (const auto& [n, word] : {std::pair{tally.same, "same"},
                                  {tally.differ, tally.differ == 1 ? "differs" : "differ"},
                                  {tally.only_a, "only in A"},
                                  {tally.only_b, "only in B"},
                                  {tally.failed, "not compared"}})
        if (n > 0) parts.push_back(fmt::format("{} {}", n, word));
    fmt::print("{}\n", parts.empty() ? "nothing to compare" : fmt::format("{}", fmt::join(parts, ", ")));
    if (tally.differ + tally.only_a + tally.only_b > 0) return Exit::mismatch;
    if (tally.failed > 0) return Exit::bad_input;
    return parts.empty() ? Exit::nothing_ran : Exit::good;
}

}  // namespace gridstride
