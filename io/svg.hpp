// SPDX-License-Identifier: BSD-3-Clause
// Plots as inline SVG: no script, no colour of their own (classes of the page's style), a title and a description for
// those who cannot see them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gridstride::svg {

/// Text for HTML and XML, between tags and in attributes; control characters, which XML has no word for, as U+FFFD.
std::string escaped(std::string_view text);
/// A number for people: "0.25", "16", "4.1 k", "3e-06".
std::string number_text(double value);

struct Mark {
    double x = 0, y = 0;                                                // above 0
    std::string title;                                                  // shown where the mouse rests
    double low = std::numeric_limits<double>::quiet_NaN(), high = low;  // spread of y
};
struct Series {
    std::string name;
    std::vector<Mark> marks;
    bool joined = false;  // by a line, in the order of the marks
};
struct Rule {  // a line to compare with: a roof, a bound
    std::string name;
    std::vector<Mark> points;
    bool dashed = false;
};
struct Axis {
    std::string label;
    std::optional<double> special = {};  // a place on the axis that is no number: below it there are no ticks
    std::string special_label = {};
};
/// Both axes are logarithmic. Marks that are not above 0 are left out.
struct Plot {
    std::string id, title, description;  // id: unique in the page
    Axis x, y;
    std::vector<Series> series;
    std::vector<Rule> rules;
    std::vector<Mark> named;  // places with their title written beside them
};
/// Empty where nothing can be drawn.
std::string drawn(const Plot& plot);

struct Bar {
    std::string name, total;
    std::vector<double> parts;
};
/// Stacked horizontal bars from 0, a part a class.
struct Bars {
    std::string id, title, description;
    std::vector<std::string> parts;
    std::vector<Bar> bars;
};
std::string drawn(const Bars& bars);

}  // namespace gridstride::svg
