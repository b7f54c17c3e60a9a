// SPDX-License-Identifier: BSD-3-Clause
// Matching the lines of two reports by name, then field by field.
#include "io/report_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace gridstride::report {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Pair {
    std::string name;
    const Json *a = nullptr, *b = nullptr;
};

/// Lines of one name belong together, the first to the first; those of B alone come last.
template <class NameOf>
std::vector<Pair> paired(const Document& a, const Document& b, NameOf name_of) {
    std::vector<Pair> pairs;
    for (const Json& line : a.lines()) pairs.push_back({name_of(line), &line, nullptr});
    for (const Json& line : b.lines()) {
        const std::string name = name_of(line);
        const auto partner = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
            return pair.b == nullptr && pair.a != nullptr && pair.name == name;
        });
        if (partner != pairs.end())
            partner->b = &line;
        else
            pairs.push_back({name, nullptr, &line});
    }
    return pairs;
}

/// near: values may differ a little, by another variant or device, and so their errors, as long as the verdict stays.
bool compared(const std::string& field, bool near) {
    static const std::set<std::string> left_out = {"device", "launch", "reason", "notes", "seconds", "mismatch"},
                                       of_values = {"variant", "reference", "vendor", "properties", "repeat"};
    const std::string first = field.substr(0, field.find('.'));
    if (left_out.contains(first) || (near && of_values.contains(first))) return false;
    return !(field.starts_with("inputs.") && field.ends_with(".source")) &&
           !(field.starts_with("outputs.") && (field.ends_with(".file") || field.ends_with(".dataset")));
}

/// Numbers as they are meant to be: "nan" and "inf" are numbers too. Lists number by number.
bool same(const Json& a, const Json& b, const std::optional<hdf5::Nearness>& nearness) {
    if (a.is_array() && b.is_array())
        return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                                  [&](const Json& x, const Json& y) { return same(x, y, nearness); });
    if (a == b) return true;
    const double x = number(a, {}), y = number(b, {});
    return nearness && std::isfinite(x) && std::isfinite(y) &&
           std::abs(x - y) <= nearness->atol + nearness->rtol * std::abs(y);
}

}  // namespace

std::vector<CaseChange> compare_runs(const Document& a, const Document& b,
                                     const std::optional<hdf5::Nearness>& nearness) {
    std::vector<CaseChange> changes;
    for (const Pair& pair : paired(a, b, [](const Json& line) { return text(line, {"name"}); })) {
        if (pair.a == nullptr || pair.b == nullptr) {
            changes.push_back({pair.name, pair.b == nullptr ? "only in A" : "only in B", {}});
            continue;
        }
        CaseChange change{pair.name, "same", {}};
        auto left = flattened(*pair.a), right = flattened(*pair.b);
        const bool near = nearness.has_value();
        std::erase_if(left, [near](const auto& field) { return !compared(field.first, near); });
        std::erase_if(right, [near](const auto& field) { return !compared(field.first, near); });
        for (const auto& [field, value] : left) {
            const auto other =
                std::find_if(right.begin(), right.end(), [&](const auto& it) { return it.first == field; });
            const Json counterpart = other == right.end() ? Json() : other->second;
            if (!same(value, counterpart, nearness))
                change.fields.push_back(fmt::format("{}: {} and {}", field, value.dump(), counterpart.dump()));
            if (other != right.end()) right.erase(other);
        }
        for (const auto& [field, value] : right)
            if (!value.is_null()) change.fields.push_back(fmt::format("{}: null and {}", field, value.dump()));
        if (!change.fields.empty()) change.verdict = "differs";
        changes.push_back(std::move(change));
    }
    return changes;
}

std::vector<SpeedChange> compare_benches(const Document& a, const Document& b) {
    std::vector<SpeedChange> changes;
    for (const Pair& pair : paired(a, b, row_name)) {
        SpeedChange change{pair.name, "", unknown, unknown, unknown, unknown, unknown, false};
        if (pair.a != nullptr) change.before = number(*pair.a, {"seconds", "median"});
        if (pair.b != nullptr) change.after = number(*pair.b, {"seconds", "median"});
        const auto skipped = [](const Json* row) { return row == nullptr || text(*row, {"verdict"}) == "skipped"; };
        if (skipped(pair.a) && skipped(pair.b)) continue;  // in neither
        if (pair.a == nullptr || pair.b == nullptr) {
            change.verdict = pair.b == nullptr ? "only in A" : "only in B";
            change.worse = pair.b == nullptr && text(*pair.a, {"verdict"}) == "pass";
            changes.push_back(change);
            continue;
        }
        const std::string now = text(*pair.b, {"verdict"});
        const auto quartile = [](const Json& row, const char* which) { return number(row, {"seconds", which}); };
        change.ratio = change.after / change.before;
        change.low = quartile(*pair.b, "q1") / quartile(*pair.a, "q3");
        change.high = quartile(*pair.b, "q3") / quartile(*pair.a, "q1");
        const bool on_cpu = text(*pair.a, {"method"}) == "clock" || text(*pair.b, {"method"}) == "clock";
        const double near = on_cpu ? same_speed_on_cpu : same_speed, beyond = on_cpu ? same_speed_on_cpu : 0;
        if (text(*pair.a, {"verdict"}) == "pass" && now != "pass")
            change.verdict = now.empty() ? "no verdict" : now, change.worse = true;
        else if (!(change.before > 0) || !(change.after > 0))
            change.verdict = "not timed";
        else if (change.low >= 1 - near && change.high <= 1 + near)
            change.verdict = "same";
        else if (change.low > 1 + beyond && change.ratio > 1 + near)
            change.verdict = "slower", change.worse = true;
        else if (change.high < 1 - beyond && change.ratio < 1 - near)
            change.verdict = "faster";
        else
            change.verdict = "unclear";  // also where a quartile is not known
        changes.push_back(change);
    }
    return changes;
}

}  // namespace gridstride::report
