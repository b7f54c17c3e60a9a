// SPDX-License-Identifier: BSD-3-Clause
// Plots: a plot area to the left, its legend to the right, both in one SVG that grows with the page.
#include "io/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace gridstride::svg {

namespace {

constexpr double width = 900, left = 78, right = 600, top = 14, bottom_margin = 52, line_height = 18;
constexpr std::size_t colours = 8;
constexpr std::size_t legend_letters = 36, bar_letters = 31;

constexpr std::array<std::string_view, 6> shapes = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",                   // circle
    "M-3.6 -3.6h7.2v7.2h-7.2z",                              // square
    "M0 -5.2L5.2 0L0 5.2L-5.2 0z",                           // diamond
    "M0 -4.8L4.8 3.6H-4.8z",                                 // triangle
    "M0 4.8L4.8 -3.6H-4.8z",                                 // the other way
    "M-5 -1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",  // cross
};

std::string mark_path(std::size_t series, double x, double y, const std::string& title) {
    return fmt::format("<path d=\"{}\" transform=\"translate({:.1f} {:.1f})\"><title>{}</title></path>",
                       shapes[series % shapes.size()], x, y, escaped(title));
}

/// At most so many letters, the last an ellipsis where some were cut; letters of UTF-8 stay whole.
std::string cut(const std::string& text, std::size_t letters) {
    std::size_t seen = 0, end = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
        if (++seen == letters) end = i;
    }
    return seen <= letters ? text : text.substr(0, end) + "…";
}

/// The same with the ellipsis inside: names that begin alike differ at the end.
std::string cut_inside(const std::string& text, std::size_t letters) {
    std::vector<std::size_t> begins;  // of letters
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) begins.push_back(i);
    if (begins.size() <= letters) return text;
    const std::size_t front = letters / 4, back = letters - front - 1;
    return text.substr(0, begins[front]) + "…" + text.substr(begins[begins.size() - back]);
}

std::string opening(const std::string& id, const std::string& title, const std::string& description, double height) {
    return fmt::format(
        "<svg viewBox=\"0 0 {0} {1:.0f}\" role=\"img\" aria-labelledby=\"{2}-title {2}-description\">\n"
        "<title id=\"{2}-title\">{3}</title>\n<desc id=\"{2}-description\">{4}</desc>\n",
        width, height, escaped(id), escaped(title), escaped(description));
}

/// A logarithmic axis.
class Scale {
  public:
    Scale(double low, double high, double from, double to) : from_(from), to_(to) {
        const double begin = std::log10(low), end = std::log10(high);
        const double margin = begin == end ? 0.3 : 0.04 * (end - begin);
        low_ = begin - margin;
        high_ = end + margin;
    }
    double operator()(double value) const {
        return from_ + (to_ - from_) * (std::log10(value) - low_) / (high_ - low_);
    }
    /// Powers of ten, every second or further where they are many; between them 2 and 5 where they are few.
    std::vector<double> ticks() const {
        const double decades = high_ - low_;
        const int step = std::max(1, static_cast<int>(std::ceil(decades / 8)));
        std::vector<double> ticks;
        for (int power = static_cast<int>(std::floor(low_)); power <= high_; ++power) {
            if (((power % step) + step) % step != 0) continue;
            for (const double digit : {1.0, 2.0, 5.0}) {
                const double at = power + std::log10(digit);
                if ((digit == 1 || decades < 3) && at >= low_ && at <= high_) ticks.push_back(std::pow(10.0, at));
            }
        }
        return ticks;
    }

  private:
    double low_, high_, from_, to_;
};

bool drawable(double value) {
    return std::isfinite(value) && value > 0;
}

struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    void add(double value) {
        if (drawable(value)) low = std::min(low, value), high = std::max(high, value);
    }
};

std::string points_text(const std::vector<Mark>& marks, const Scale& x, const Scale& y) {
    std::string text;
    for (const Mark& mark : marks)
        if (drawable(mark.x) && drawable(mark.y)) text += fmt::format("{:.1f},{:.1f} ", x(mark.x), y(mark.y));
    return text;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (const std::string_view three = text.substr(i, 3); three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
            safe += "\uFFFD";  // U+FFFE and U+FFFF are no characters of XML
            i += 2;
            continue;
        }
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '&')
            safe += "&amp;";
        else if (letter == '<')
            safe += "&lt;";
        else if (letter == '>')
            safe += "&gt;";
        else if (letter == '"')
            safe += "&quot;";
        else if (letter == '\'')
            safe += "&#39;";
        else if ((code < 0x20 && letter != '\n' && letter != '\t') || code == 0x7F)
            safe += "\uFFFD";
        else
            safe += letter;
    }
    return safe;
}

std::string number_text(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "-" : value > 0 ? "inf" : "-inf";
    constexpr std::array<std::string_view, 5> units = {"", " k", " M", " G", " T"};
    double size = value;
    std::size_t unit = 0;
    for (; std::abs(size) >= 999.5 && unit + 1 < units.size(); ++unit) size /= 1000;
    return fmt::format("{:.3g}{}", size, units[unit]);
}

std::string drawn(const Plot& plot) {
    Extent x_extent, y_extent;
    bool any = false;
    const auto look = [&](const std::vector<Mark>& marks) {
        for (const Mark& mark : marks)
            if (drawable(mark.x) && drawable(mark.y))
                for (x_extent.add(mark.x); const double y : {mark.y, mark.low, mark.high}) y_extent.add(y);
    };
    for (const Series& one : plot.series)
        for (look(one.marks); const Mark& mark : one.marks) any = any || (drawable(mark.x) && drawable(mark.y));
    if (!any) return {};
    for (const Rule& rule : plot.rules) look(rule.points);

    const double lines = static_cast<double>(plot.series.size() + plot.rules.size());
    const double height = std::max(380.0, top + line_height * (lines + 1)), bottom = height - bottom_margin;
    const Scale x(x_extent.low, x_extent.high, left, right), y(y_extent.low, y_extent.high, bottom, top);
    std::string svg = opening(plot.id, plot.title, plot.description, height);

    svg += "<g class=\"grid\">";
    const auto ticks = [&](const Axis& axis, const Scale& scale, double room, auto&& draw) {
        if (axis.special) draw(scale(*axis.special), axis.special_label);
        for (const double tick : scale.ticks())
            if (!axis.special || (tick > *axis.special && std::abs(scale(tick) - scale(*axis.special)) > room))
                draw(scale(tick), number_text(tick));
    };
    ticks(plot.x, x, 44, [&](double at, const std::string& label) {
        svg += fmt::format(
            "<path d=\"M{0:.1f} {1}V{2:.1f}\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
            "text-anchor=\"middle\">{4}</text>",
            at, top, bottom, bottom + 17, escaped(label));
    });
    ticks(plot.y, y, 16, [&](double at, const std::string& label) {
        svg += fmt::format("<path d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>",
                           left, at, right, left - 8, at + 4, escaped(label));
    });
    svg += fmt::format("</g>\n<path class=\"frame\" d=\"M{0} {1}V{2:.1f}H{3}\"/>\n", left, top, bottom, right);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + right) / 2,
                       height - 12, escaped(plot.x.label));
    svg += fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       (top + bottom) / 2, escaped(plot.y.label));

    const double legend = right + 24;
    double row = top + 6;
    const auto entry = [&](const std::string& sample, const std::string& name) {
        svg += fmt::format("{}<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", sample, legend + 32, row + 4,
                           escaped(cut(name, legend_letters)));
        row += line_height;
    };
    for (const Rule& rule : plot.rules) {
        const std::string_view style = rule.dashed ? "rule dashed" : "rule";
        svg += fmt::format("<polyline class=\"{}\" points=\"{}\"><title>{}</title></polyline>\n", style,
                           points_text(rule.points, x, y), escaped(rule.name));
        entry(fmt::format("<path class=\"{}\" d=\"M{} {:.1f}h24\"/>", style, legend, row), rule.name);
    }
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
        const Series& one = plot.series[i];
        svg += fmt::format("<g class=\"c{}\">", i % colours);
        if (one.joined) svg += fmt::format("<polyline points=\"{}\"/>", points_text(one.marks, x, y));
        for (const Mark& mark : one.marks) {
            if (!drawable(mark.x) || !drawable(mark.y)) continue;
            if (drawable(mark.low) && drawable(mark.high))
                svg += fmt::format("<path class=\"spread\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x(mark.x), y(mark.low),
                                   y(mark.high));
            svg += mark_path(i, x(mark.x), y(mark.y), mark.title);
        }
        std::string sample = one.joined ? fmt::format("<path class=\"line\" d=\"M{} {:.1f}h24\"/>", legend, row) : "";
        entry(sample + mark_path(i, legend + 12, row, one.name), one.name);
        svg += "</g>\n";
    }
    for (const Mark& mark : plot.named)
        if (drawable(mark.x) && drawable(mark.y))
            svg += fmt::format(
                "<circle class=\"named\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"8\"/><text x=\"{0:.1f}\" "
                "y=\"{2:.1f}\" text-anchor=\"middle\">{3}</text>\n",
                x(mark.x), y(mark.y), y(mark.y) - 12, escaped(mark.title));
    return svg + "</svg>\n";
}

std::string drawn(const Bars& bars) {
    double longest = 0;
    for (const Bar& bar : bars.bars) {
        double sum = 0;
        for (const double part : bar.parts) sum += drawable(part) ? part : 0;
        longest = std::max(longest, sum);
    }
    if (longest <= 0) return {};
    constexpr double begin = 250, end = 760, bar_height = 22;
    const double height = 44 + bar_height * static_cast<double>(bars.bars.size());
    std::string svg = opening(bars.id, bars.title, bars.description, height);
    double at = begin;
    for (std::size_t i = 0; i < bars.parts.size(); ++i, at += 120)
        svg += fmt::format("<g class=\"c{}\"><path d=\"M{} 6h14v14h-14z\"/></g><text x=\"{}\" y=\"18\">{}</text>\n",
                           i % colours, at, at + 20, escaped(bars.parts[i]));
    double row = 34;
    for (const Bar& bar : bars.bars) {
        svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", begin - 8, row + 13,
                           escaped(cut_inside(bar.name, bar_letters)));
        double x = begin;
        for (std::size_t i = 0; i < bar.parts.size(); ++i) {
            const double length = drawable(bar.parts[i]) ? (end - begin) * bar.parts[i] / longest : 0;
            if (length <= 0) continue;
            svg += fmt::format(
                "<g class=\"c{}\"><path d=\"M{:.2f} {:.1f}h{:.2f}v16h-{:.2f}z\"><title>{}: {}</title>"
                "</path></g>",
                i % colours, x, row, length, length, escaped(bar.name), escaped(bars.parts[i]));
            x += length;
        }
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 8, row + 13, escaped(bar.total));
        row += bar_height;
    }
    return svg + "</svg>\n";
}

}  // namespace gridstride::svg
