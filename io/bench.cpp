// SPDX-License-Identifier: BSD-3-Clause
// Benches as JSON and CSV, written and read.
#include "io/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "io/folder.hpp"
#include "io/report_json.hpp"
#include "io/report_tables.hpp"

namespace gridstride::timing {

namespace {

constexpr std::string_view ours = "gridstride";

using report::Json;
using report::number;

/// bench.csv's columns: places in a row of bench.json. Text that is none (lists, mappings) is JSON.
constexpr std::string_view columns[] = {"case",
                                        "job",
                                        "op",
                                        "variant",
                                        "role",
                                        "device",
                                        "program",
                                        "dtype",
                                        "shape",
                                        "params",
                                        "sweep",
                                        "verdict",
                                        "reason",
                                        "tolerance_used",
                                        "method",
                                        "seconds/median",
                                        "seconds/q1",
                                        "seconds/q3",
                                        "seconds/min",
                                        "with_copies",
                                        "bytes",
                                        "flops",
                                        "limit/seconds",
                                        "limit/by",
                                        "floor/seconds",
                                        "floor/by",
                                        "floor/mix",
                                        "floor/rate",
                                        "fraction_of_floor",
                                        "ratio_to_vendor",
                                        "launch/grid",
                                        "launch/block",
                                        "launch/occupancy",
                                        "clocks/sm_mhz",
                                        "clocks/mem_mhz",
                                        "clocks/power_w",
                                        "clocks/throttle",
                                        "notes"};

Json optional(const std::optional<double>& value) {
    return value ? number(*value) : Json();
}

Json json(const Seconds& seconds) {
    Json samples = Json::array();
    for (const double sample : seconds.samples) samples.push_back(number(sample));
    return {{"median", number(seconds.median)},
            {"q1", number(seconds.q1)},
            {"q3", number(seconds.q3)},
            {"min", number(seconds.min)},
            {"samples", samples}};
}

Json json(const Row& row) {
    Json limit, floor, clocks;
    if (row.limit) limit = {{"seconds", number(row.limit->seconds)}, {"by", row.limit->by_flops ? "flops" : "bytes"}};
    if (row.floor)
        floor = {{"seconds", number(row.floor->seconds)},
                 {"by", "bytes"},
                 {"mix", row.floor->mix},
                 {"rate", number(row.floor->rate)}};
    if (row.clocks)
        clocks = {{"sm_mhz", row.clocks->sm_mhz},
                  {"mem_mhz", row.clocks->mem_mhz},
                  {"power_w", number(row.clocks->power_w)},
                  {"throttle", row.clocks->throttle}};
    return {{"case", row.name},
            {"job", row.job},
            {"op", row.op},
            {"variant", row.variant},
            {"role", row.role},
            {"device", row.device},
            {"program", row.program},
            {"dtype", row.dtype},
            {"shape", row.shape},
            {"params", report::json(row.params)},
            {"sweep", report::json(row.sweep)},
            {"verdict", row.verdict},
            {"reason", row.reason},
            {"tolerance_used", optional(row.tolerance_used)},
            {"method", row.method.empty() ? Json() : Json(row.method)},
            {"seconds", row.seconds ? json(*row.seconds) : Json()},
            {"with_copies", optional(row.with_copies)},
            {"bytes", optional(row.bytes)},
            {"flops", optional(row.flops)},
            {"limit", limit},
            {"floor", floor},
            {"fraction_of_floor", optional(row.fraction_of_floor)},
            {"ratio_to_vendor", optional(row.ratio_to_vendor)},
            {"launch", row.launch ? report::json(*row.launch) : Json()},
            {"clocks", clocks},
            {"notes", row.notes},
            {"inputs", Json::parse(row.identity)}};
}

Json json(const Bench& bench) {
    const report::Surroundings& here = bench.surroundings;
    Json rows = Json::array();
    for (const Row& row : bench.rows) rows.push_back(json(row));
    return {{"schema", 1},
            {"program", {{"version", here.version}, {"commit", here.commit}}},
            {"command", here.command},
            {"config", bench.config},
            {"config_text", bench.config_text},
            {"started", here.started},
            {"seconds", number(bench.seconds)},
            {"exit", bench.exit},
            {"host", here.host},
            {"device", here.device},
            {"libraries", here.libraries},
            {"environment", here.environment},
            {"rows", rows}};
}

std::string csv_cell(const Json& value) {
    return report::csv_quoted(value.is_null()     ? ""
                              : value.is_string() ? value.get<std::string>()
                                                  : report::text(value));
}

std::string csv_head() {
    std::string head;
    for (const std::string_view column : columns) {
        std::string name(column);
        std::replace(name.begin(), name.end(), '/', '_');
        head += (head.empty() ? "" : ",") + name;
    }
    return head + "\n";
}

bool is_csv(const std::string& head) {
    return head.starts_with(csv_head());
}

constexpr report::Leaving whole{"bench.json", "a bench writes its rows", report::is_report};
constexpr report::Leaving table{"bench.csv", "a bench writes its rows", is_csv};
constexpr report::Leaving page{"report.html", "a bench writes its report for browsers", [](const std::string& head) {
                                   return report::is_formatted(head, report::Format::html);
                               }};

// ------------------------------------------------------------------------------------------------ reading

/// One row of another program. Errors (config): the field, and what it should be.
class RowReader {
  public:
    explicit RowReader(const Json& row) : row_(row) {
        if (!row.is_object()) fail("is no mapping");
    }

    Row read(const std::string& program) const {
        Row result;
        result.name = text("case");
        if (result.name.empty()) fail("has no `case`: the name of the case that it stands beside");
        result.program = text("program").empty() ? program : text("program");
        if (result.program.empty()) fail("has no `program`: what made it, with its version");
        result.job = text("job").empty() ? result.name : text("job");
        for (const auto& [to, key] : {std::pair{&result.op, "op"},
                                      {&result.variant, "variant"},
                                      {&result.role, "role"},
                                      {&result.device, "device"},
                                      {&result.dtype, "dtype"},
                                      {&result.reason, "reason"},
                                      {&result.method, "method"}})
            *to = text(key);
        if (has("shape")) result.shape = shape();
        result.seconds = seconds();
        result.verdict = text("verdict");
        if (result.verdict.empty()) result.verdict = result.seconds ? "unvalidated" : "error";
        result.tolerance_used = real("tolerance_used");
        result.with_copies = real("with_copies");
        result.bytes = real("bytes");
        result.flops = real("flops");
        if (has("notes"))
            for (const Json& note : row_["notes"])
                result.notes.push_back(note.is_string() ? note.get<std::string>() : report::text(note));
        return result;
    }

  private:
    [[noreturn]] static void fail(const std::string& what) { throw Error(Category::config, what); }
    bool has(const char* key) const { return row_.contains(key) && !row_[key].is_null(); }

    std::string text(const char* key) const {
        if (!has(key)) return {};
        if (!row_[key].is_string()) fail(fmt::format("`{}` is no text", key));
        return row_[key].get<std::string>();
    }
    std::optional<double> real(const char* key) const {
        if (!has(key)) return {};
        if (!row_[key].is_number()) fail(fmt::format("`{}` is no number", key));
        return row_[key].get<double>();
    }
    Shape shape() const {
        const Json& list = row_["shape"];
        if (!list.is_array() ||
            !std::all_of(list.begin(), list.end(), [](const Json& n) { return n.is_number_integer(); }))
            fail("`shape` is no list of integers");
        return list.get<Shape>();
    }
    std::optional<Seconds> seconds() const {
        if (!has("seconds")) return {};
        const Json& given = row_["seconds"];
        const Json median = given.is_object() && given.contains("median") ? given["median"] : given;
        if (!median.is_number() || !(median.get<double>() > 0))
            fail("`seconds` is no number above 0, and no mapping with such a `median`");
        const auto part = [&](const char* key) {
            return given.is_object() && given.contains(key) && given[key].is_number() ? given[key].get<double>()
                                                                                      : median.get<double>();
        };
        Seconds result{median.get<double>(), part("q1"), part("q3"), part("min"), {}};
        if (given.is_object() && given.contains("samples"))
            for (const Json& sample : given["samples"])
                if (sample.is_number()) result.samples.push_back(sample.get<double>());
        return result;
    }

    const Json& row_;
};

}  // namespace

void relate_to_vendor(std::vector<Row>& rows) {
    const auto group_of = [](const Row& row) {
        report::Swept sweep = row.sweep;
        std::erase_if(sweep, [](const auto& swept) { return swept.first == "variant"; });
        return report::text({row.job, report::json(sweep), row.device});
    };
    std::map<std::string, double> best;  // group -> the vendor's median
    for (const Row& row : rows)
        if (row.role == "vendor" && row.seconds && row.program == ours) {
            double& median = best.try_emplace(group_of(row), row.seconds->median).first->second;
            median = std::min(median, row.seconds->median);
        }
    for (Row& row : rows) {
        if (!row.seconds) continue;
        const auto beside = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
            return other.program == ours && other.device == row.device &&
                   (other.name == row.name || other.job == row.job || other.job == row.name);
        });
        const bool other_program = row.program != ours;
        if (other_program && beside == rows.end()) continue;
        const auto vendor = best.find(group_of(other_program ? *beside : row));
        if (vendor != best.end()) row.ratio_to_vendor = vendor->second / row.seconds->median;
    }
}

std::string to_json(const Bench& bench) {
    return report::text(json(bench));
}

std::string to_csv(const std::vector<Row>& rows) {
    std::string text = csv_head();
    for (const Row& row : rows) {
        const Json fields = json(row);
        std::string line;
        for (const std::string_view column : columns) {
            const Json::json_pointer place("/" + std::string(column));
            line += (column == columns[0] ? "" : ",") + csv_cell(fields.value(place, Json()));
        }
        text += line + "\n";
    }
    return text;
}

std::vector<Row> read_rows(const std::string& file) {
    const auto fail = [&](const std::string& what) -> void {
        throw Error(Category::config, fmt::format("{}: {}; docs/bench.md has the form of rows", file, what));
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) fail("is a folder");
    std::ifstream stream(file);
    if (!stream) fail("cannot be read");
    Json document;
    try {
        document = Json::parse(stream);
    } catch (const Json::parse_error& fault) {
        fail(fmt::format("is no JSON (byte {})", fault.byte));
    } catch (const Json::exception& fault) {  // a number beyond float64
        fail(fmt::format("is no JSON that can be read: {}", fault.what()));
    }
    if (!document.is_object() || !document.contains("rows") || !document["rows"].is_array())
        fail("is no mapping with a list `rows`");
    const Json program = document.value("program", Json());
    std::vector<Row> rows;
    for (const Json& row : document["rows"]) {
        try {
            rows.push_back(RowReader(row).read(program.is_string() ? program.get<std::string>()
                                               : program.is_object() && program.contains("commit") ? "gridstride"
                                                                                                   : ""));
        } catch (const Error& fault) {
            fail(fmt::format("row {} {}", rows.size() + 1, fault.what()));
        }
    }
    return rows;
}

void check_files(const std::string& folder) {
    if (const std::string why = unwritable(folder); !why.empty())
        throw Error(Category::config,
                    fmt::format("no bench can be written to {}: {}; choose another --output-dir", folder, why));
    for (const report::Leaving& leaving : {whole, table, page}) report::refuse(folder, leaving, Category::config);
}

void write(const Bench& bench, const std::string& folder) {
    for (const report::Leaving& leaving : {whole, table, page}) report::refuse(folder, leaving, Category::input);
    const std::filesystem::path place(folder.empty() ? "." : folder);
    const std::string path = (place / whole.name).string(), content = report::text(json(bench), 1) + "\n";
    report::write_whole(content, path);
    report::write_whole(to_csv(bench.rows), place / table.name);
    report::write_whole(report::formatted({*report::parse(path, content)}, report::Format::html), place / page.name);
}

}  // namespace gridstride::timing
