// SPDX-License-Identifier: BSD-3-Clause
// From the lines of reports to the points of plots.
#include "io/report_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "io/report_tables.hpp"
#include "io/words.hpp"

namespace gridstride::report {

namespace {

using svg::number_text;

constexpr std::size_t most_bars = 40;

/// The series of that name, made where it is new.
svg::Series& series_of(std::vector<svg::Series>& all, const std::string& name, bool joined) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const svg::Series& one) { return one.name == name; });
    if (known != all.end()) return *known;
    all.push_back({name, {}, joined});
    return all.back();
}

std::string device_kind(const Json& line) {
    const std::string device = text(line, {"device"});
    return device.substr(0, device.find(':'));
}

/// A variant as a legend names it: with its program where that is another.
std::string series_name(const Json& row) {
    const std::string program = text(row, {"program"}), variant = text(row, {"variant"});
    if (program.empty() || program == "gridstride") return variant;
    return variant.empty() ? program : program + ": " + variant;
}

std::string line_name(const Document& document, const Json& line) {
    return document.kind == Document::Kind::run ? text(line, {"name"}) : row_name(line);
}

/// f(document, line) for all lines of a kind, of one operation or (empty) of all.
template <class F>
void for_lines(const std::vector<Document>& documents, Document::Kind kind, const std::string& op, F f) {
    for (const Document& document : documents)
        for (const Json& line : document.lines())
            if (document.kind == kind && (op.empty() || text(line, {"op"}) == op)) f(document, line);
}

/// An id for a page, of any text.
std::string id_of(std::string_view kind, std::size_t number, const std::string& op) {
    std::string id = fmt::format("{}-{}", kind, number);
    for (const char letter : op) id += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-';
    return id;
}

// ------------------------------------------------------------------------------------------------ roofline

struct Roofs {
    double bandwidth = 0, measured = 0;   // bytes/s: theoretical, of the floor
    std::map<std::string, double> peaks;  // by dtype, flop/s
};

/// bandwidth until the peak is met; a peak of 0: unknown.
std::vector<svg::Mark> roof(double bandwidth, double peak, double from, double to) {
    std::vector<svg::Mark> points{{from, std::min(bandwidth * from, peak > 0 ? peak : bandwidth * from), ""}};
    const double ridge = peak > 0 ? peak / bandwidth : to;
    if (ridge > from && ridge < to) points.push_back({ridge, peak, ""});
    points.push_back({to, peak > 0 ? std::min(bandwidth * to, peak) : bandwidth * to, ""});
    return points;
}

}  // namespace

std::vector<svg::Plot> rooflines(const std::vector<Document>& documents) {
    struct Row {
        const Json* json;
        double bytes, flops, seconds;
    };
    std::map<std::string, std::vector<Row>> devices;
    for_lines(documents, Document::Kind::bench, "", [&](const Document& document, const Json& row) {
        const Row one{&row, number(row, {"bytes"}), number(row, {"flops"}), number(row, {"seconds", "median"})};
        if (!(one.bytes > 0) || !(one.seconds > 0)) return;
        const std::string host = text(document.json, {"host"});
        devices[text(row, {"device"}) + (host.empty() ? "" : " of " + host)].push_back(one);
    });
    std::vector<svg::Plot> plots;
    for (const auto& [device, rows] : devices) {
        Roofs roofs;
        double low = std::numeric_limits<double>::infinity(), high = 0;
        for (const Row& row : rows) {
            const double limit = number(*row.json, {"limit", "seconds"}),
                         floor = number(*row.json, {"floor", "seconds"});
            const std::string by = text(*row.json, {"limit", "by"});
            if (limit > 0 && by == "bytes") roofs.bandwidth = std::max(roofs.bandwidth, row.bytes / limit);
            if (limit > 0 && by == "flops" && row.flops > 0) {
                double& peak = roofs.peaks[text(*row.json, {"dtype"})];
                peak = std::max(peak, row.flops / limit);
            }
            if (floor > 0 && text(*row.json, {"floor", "by"}) == "bytes")
                roofs.measured = std::max(roofs.measured, row.bytes / floor);
            if (row.flops > 0) low = std::min(low, row.flops / row.bytes), high = std::max(high, row.flops / row.bytes);
        }
        const bool some_without =
            std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !(row.flops > 0); });
        if (high <= 0) low = 0.25, high = 1;  // no arithmetic at all
        const double edge = some_without ? low / 4 : low / 1.5, end = high * 2;
        svg::Plot plot{id_of("roofline", plots.size(), ""),
                       "Roofline, " + device,
                       "",
                       {"flops a byte (compulsory)"},
                       {"GFLOP/s"},
                       {},
                       {},
                       {}};
        if (some_without) plot.x.special = edge, plot.x.special_label = "none";
        const std::map<std::string, double> no_peak{{"", 0.0}};
        const double bandwidth = roofs.bandwidth > 0 ? roofs.bandwidth : roofs.measured;
        const auto lines = [&](std::string_view what, double rate, bool dashed) {
            for (const auto& [dtype, peak] : roofs.peaks.empty() ? no_peak : roofs.peaks) {
                std::string name = fmt::format("{} {}B/s", what, number_text(rate));
                if (peak > 0 && !dashed) name += fmt::format(", {} {}FLOP/s", dtype, number_text(peak));
                std::vector<svg::Mark> points = roof(rate, peak, edge, end);
                for (svg::Mark& point : points) point.y /= 1e9;
                plot.rules.push_back({name, std::move(points), dashed});
                if (dashed) break;  // the measured rate is one line
            }
        };
        if (roofs.bandwidth > 0) lines("limit", roofs.bandwidth, false);
        if (roofs.measured > 0) lines("measured", roofs.measured, true);
        double best = 0;
        for (const Row& row : rows) {
            const double intensity = row.flops > 0 ? row.flops / row.bytes : edge;
            const double speed = row.flops > 0 ? row.flops / row.seconds : row.bytes / row.seconds * edge;
            best = std::max(best, row.bytes / row.seconds);
            series_of(plot.series, text(*row.json, {"op"}) + ", " + series_name(*row.json), false)
                .marks.push_back({intensity, speed / 1e9,
                                  fmt::format("{}: {}, {}B/s, {}FLOP/s", row_name(*row.json), time_text(row.seconds),
                                              number_text(row.bytes / row.seconds),
                                              number_text(row.flops > 0 ? row.flops / row.seconds : 0))});
        }
        plot.description = fmt::format(
            "{} rows by their flops a byte and their flop rate. The fastest moves {}B/s{}.{} "
            "The tables have every number.",
            rows.size(), number_text(best),
            bandwidth > 0 ? fmt::format(" under a roof of {}B/s", number_text(bandwidth)) : "",
            some_without ? " Rows without arithmetic stand at the left edge (none), as far "
                           "below the roof as their bytes a second are."
                         : "");
        plots.push_back(std::move(plot));
    }
    return plots;
}

// ------------------------------------------------------------------------------------------------ speed

std::vector<Crossing> crossings(const svg::Series& one, const svg::Series& other) {
    struct Both {
        const svg::Mark *a, *b;
    };
    std::vector<Crossing> found;
    const auto clear = [](const Both& both) {  // 1: a is clearly faster, -1: b is, 0: their spreads overlap
        const auto low = [](const svg::Mark& mark) { return mark.low > 0 ? mark.low : mark.y; };
        const auto high = [](const svg::Mark& mark) { return mark.high > 0 ? mark.high : mark.y; };
        return low(*both.a) > high(*both.b) ? 1 : low(*both.b) > high(*both.a) ? -1 : 0;
    };
    Both last{nullptr, nullptr};
    for (const svg::Mark& a : one.marks) {
        const auto b =
            std::find_if(other.marks.begin(), other.marks.end(), [&](const auto& it) { return it.x == a.x; });
        if (b == other.marks.end()) continue;
        const Both here{&a, &*b};
        const int now = clear(here);
        if (now == 0) continue;
        if (last.a != nullptr && clear(last) != now) {
            const double before = std::log(last.a->y / last.b->y), after = std::log(here.a->y / here.b->y);
            const double t = before / (before - after);  // both straight lines where axes are logarithmic
            Crossing crossing;
            crossing.x = std::exp(std::lerp(std::log(last.a->x), std::log(a.x), t));
            crossing.y = std::exp(std::lerp(std::log(last.a->y), std::log(a.y), t));
            crossing.from = last.a->x, crossing.to = a.x;
            crossing.faster_before = now > 0 ? other.name : one.name;
            crossing.faster_after = now > 0 ? one.name : other.name;
            found.push_back(crossing);
        }
        last = here;
    }
    return found;
}

namespace {

/// A swept value as a number above 0, else NaN.
double swept_number(const Json& value) {
    const double number = report::number(value, {});
    return number > 0 && std::isfinite(number) ? number : std::numeric_limits<double>::quiet_NaN();
}

/// The swept number with the most values; empty where none has two.
std::string most_swept(const std::vector<const Json*>& rows) {
    std::map<std::string, std::set<double>> values;
    for (const Json* row : rows)
        for (const auto& [key, value] : at(*row, {"sweep"}).items())
            if (const double number = swept_number(value); number > 0) values[key].insert(number);
    std::string best;
    for (const auto& [key, numbers] : values)
        if (numbers.size() > 1 && (best.empty() || numbers.size() > values[best].size())) best = key;
    return best;
}

/// Names where the lead changes, and where a vendor's variant is overtaken or overtakes.
void name_crossings(svg::Plot& plot, const std::string& swept, const std::set<std::string>& vendors) {
    const auto leads = [&](const std::string& name, double x) {
        double best = 0, own = 0;
        for (const svg::Series& series : plot.series)
            for (const svg::Mark& mark : series.marks)
                if (mark.x == x) {
                    best = std::max(best, mark.y);
                    if (series.name == name) own = mark.y;
                }
        return own == best;
    };
    std::string words;
    for (std::size_t i = 0; i < plot.series.size(); ++i)
        for (std::size_t j = i + 1; j < plot.series.size(); ++j)
            for (const Crossing& crossing : crossings(plot.series[i], plot.series[j])) {
                const bool vendor = vendors.contains(crossing.faster_before) != vendors.contains(crossing.faster_after);
                if (!vendor && !leads(crossing.faster_before, crossing.from) &&
                    !leads(crossing.faster_after, crossing.to))
                    continue;
                plot.named.push_back({crossing.x, crossing.y, std::to_string(plot.named.size() + 1)});
                words += fmt::format(" {}: {} overtakes {} at {} ≈ {} (between {} and {}).", plot.named.size(),
                                     crossing.faster_after, crossing.faster_before, swept, number_text(crossing.x),
                                     number_text(crossing.from), number_text(crossing.to));
            }
    plot.description += words.empty() ? " No crossing that the spread does not hide." : words;
}

}  // namespace

std::vector<svg::Plot> speeds(const std::vector<Document>& documents, const std::string& op) {
    std::vector<svg::Plot> plots;
    for (const Document& document : documents) {
        std::map<std::string, std::vector<const Json*>> jobs;
        for (const Json& row : document.lines())
            if (document.kind == Document::Kind::bench && text(row, {"op"}) == op &&
                number(row, {"seconds", "median"}) > 0)
                jobs[text(row, {"job"})].push_back(&row);
        for (const auto& [job, rows] : jobs) {
            const std::string swept = most_swept(rows);
            if (swept.empty()) continue;
            std::map<std::string, std::vector<const Json*>> groups;  // by what else was swept
            for (const Json* row : rows) {
                std::string others = text(*row, {"dtype"});
                for (const auto& [key, value] : at(*row, {"sweep"}).items())
                    if (key != swept && key != "variant" && key != "dtype")
                        others += fmt::format(", {} = {}", key, text(value, {}));
                if (swept_number(at(*row, {"sweep", swept.c_str()})) > 0) groups[others].push_back(row);
            }
            for (const auto& [others, group] : groups) {
                const auto all = [&](const char* what) {
                    return std::all_of(group.begin(), group.end(),
                                       [&](const Json* row) { return number(*row, {what}) > 0; });
                };
                const char* const work = all("flops") ? "flops" : all("bytes") ? "bytes" : nullptr;
                const std::string unit = work == nullptr ? "runs/s" : all("flops") ? "GFLOP/s" : "GB/s";
                std::set<std::string> kinds, vendors;
                for (const Json* row : group) kinds.insert(device_kind(*row));
                svg::Plot plot{id_of("speed", plots.size(), op),
                               fmt::format("Speed of {}, {}", job, others),
                               fmt::format("{} against {}, a line a variant, with quartiles.", unit, swept),
                               {swept},
                               {unit},
                               {},
                               {},
                               {}};
                for (const Json* row : group) {
                    std::string name = series_name(*row);
                    if (kinds.size() > 1) name += " (" + device_kind(*row) + ")";
                    if (text(*row, {"role"}) == "vendor") vendors.insert(name);
                    const double amount = work == nullptr ? 1 : number(*row, {work}) / 1e9;
                    const double median = number(*row, {"seconds", "median"});
                    series_of(plot.series, name, true)
                        .marks.push_back({swept_number(at(*row, {"sweep", swept.c_str()})), amount / median,
                                          fmt::format("{}: {} {}", row_name(*row), number_text(amount / median), unit),
                                          amount / number(*row, {"seconds", "q3"}),
                                          amount / number(*row, {"seconds", "q1"})});
                }
                for (svg::Series& series : plot.series)
                    std::stable_sort(series.marks.begin(), series.marks.end(),
                                     [](const svg::Mark& a, const svg::Mark& b) { return a.x < b.x; });
                name_crossings(plot, swept, vendors);
                plots.push_back(std::move(plot));
            }
        }
    }
    return plots;
}

// ------------------------------------------------------------------------------------------------ errors, stages

std::vector<svg::Plot> errors(const std::vector<Document>& documents, const std::string& op) {
    struct Point {
        std::string series, name;
        double terms, outputs, used;
    };
    std::vector<Point> points;
    std::set<double> terms;
    for_lines(documents, Document::Kind::run, op, [&](const Document& document, const Json& one) {
        const Json& outputs = at(one, {"outputs"});
        const std::string dtype = outputs.is_array() && !outputs.empty() ? text(outputs.front(), {"dtype"}) : "";
        const Point point{text(one, {"variant"}) + ", " + dtype, line_name(document, one),
                          number(one, {"reference", "bound", "n"}), number(one, {"reference", "of"}),
                          number(one, {"reference", "tolerance_used"})};
        if (!(point.outputs > 0) || !std::isfinite(point.used)) return;
        points.push_back(point);
        terms.insert(point.terms);
    });
    if (points.size() < 2) return {};
    const bool by_terms = terms.size() > 1 && *terms.begin() > 0;
    double least = 1;
    for (const Point& point : points)
        if (point.used > 0) least = std::min(least, point.used);
    const double exact = least / 10;
    svg::Plot plot{id_of("error", 0, op),
                   "Error of " + op + " against its bound",
                   "",
                   {by_terms ? "n, terms an output" : "outputs"},
                   {"error / bound"},
                   {},
                   {},
                   {}};
    std::set<double> sizes;
    double worst = 0;
    std::string worst_name;
    for (const Point& point : points) {
        const double size = by_terms ? point.terms : point.outputs;
        sizes.insert(size);
        if (point.used <= 0) plot.y.special = exact, plot.y.special_label = "exact";
        if (point.used >= worst) worst = point.used, worst_name = point.name;
        series_of(plot.series, point.series, false)
            .marks.push_back(
                {size, point.used > 0 ? point.used : exact, fmt::format("{}: {}", point.name, used_text(point.used))});
    }
    plot.rules.push_back({"the bound", {{*sizes.begin(), 1, ""}, {*sizes.rbegin() * 1.0001, 1, ""}}, false});
    plot.description = fmt::format(
        "{} cases: how much of its bound the worst error took, against {}; the bound is the line at 1. The "
        "largest is {}, of {}.",
        points.size(), plot.x.label, used_text(worst), worst_name);
    return {plot};
}

std::vector<svg::Bars> stages(const std::vector<Document>& documents) {
    svg::Bars bars{"stages", "Time by stage", "", {"read", "copy", "compute", "write"}, {}};
    for_lines(documents, Document::Kind::run, "", [&](const Document& document, const Json& one) {
        const auto seconds = [&](const char* stage) {
            const double time = number(one, {"seconds", stage});
            return std::isfinite(time) ? time : 0;
        };
        svg::Bar bar{line_name(document, one),
                     "",
                     {seconds("read"), seconds("copy_in") + seconds("copy_out"), seconds("compute"), seconds("write")}};
        const double total = bar.parts[0] + bar.parts[1] + bar.parts[2] + bar.parts[3];
        bar.total = time_text(total);
        if (total > 0) bars.bars.push_back(std::move(bar));
    });
    if (bars.bars.empty()) return {};
    const auto total = [](const svg::Bar& bar) { return bar.parts[0] + bar.parts[1] + bar.parts[2] + bar.parts[3]; };
    const std::size_t all = bars.bars.size();
    const auto longest = std::max_element(bars.bars.begin(), bars.bars.end(),
                                          [&](const auto& a, const auto& b) { return total(a) < total(b); });
    bars.description = fmt::format(
        "Seconds that each case read, copied to and from the device, computed (one run of the "
        "kernel, its median) and wrote. The longest is {}, {}.",
        longest->name, longest->total);
    if (all > most_bars) {
        std::stable_sort(bars.bars.begin(), bars.bars.end(),
                         [&](const auto& a, const auto& b) { return total(a) > total(b); });
        bars.bars.resize(most_bars);
        bars.description += fmt::format(" The {} longest of {} cases.", most_bars, all);
    }
    return {bars};
}

}  // namespace gridstride::report
