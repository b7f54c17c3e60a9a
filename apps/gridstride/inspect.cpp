// SPDX-License-Identifier: BSD-3-Clause
// gridstride inspect FILE[:/PATH]: what an HDF5 file holds, each dataset as a job file names it; --stats reads the
// data.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "io/hdf5.hpp"
#include "io/suggest.hpp"
#include "table.hpp"
#include "verbs.hpp"

namespace gridstride {

namespace {

constexpr std::int64_t piece = std::int64_t{1} << 24;  // elements read at a time for --stats

/// FILE:/PATH as it stands in a job file: a dollar doubled, in quotes where YAML would read it otherwise.
std::string pasted(const std::string& file, const std::string& path) {
    std::string text;
    for (const char letter : file + ":" + path) text.append(letter == '$' ? 2 : 1, letter);
    const auto control = [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; };
    if (std::any_of(text.begin(), text.end(), control)) {
        std::string quoted;
        for (const char letter : text) {
            if (control(letter))
                quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
            else
                quoted.append(letter == '"' || letter == '\\' ? "\\" : "").push_back(letter);
        }
        return fmt::format("\"{}\"", quoted);
    }
    const bool plain = text.find_first_of(",[]{}#&*!|>'\"%@`") == std::string::npos &&
                       text.find(": ") == std::string::npos && text.find_first_of(" -?") != 0 && text.back() != ' ' &&
                       text.back() != ':';
    if (plain) return text;
    std::string quoted;
    for (const char letter : text) quoted.append(letter == '\'' ? 2 : 1, letter);
    return fmt::format("'{}'", quoted);
}

std::string shape_text(const hdf5::Info& info) {
    if (info.null_space) return "no elements";
    std::string text = to_text(info.shape);
    if (info.maximum && *info.maximum != info.shape) {
        std::vector<std::string> limits;
        for (const std::int64_t extent : *info.maximum)
            limits.push_back(extent < 0 ? "unlimited" : fmt::format("{}", extent));
        text += fmt::format(" of at most ({})", fmt::join(limits, ", "));
    }
    return text;
}

/// "chunks (64, 64), shuffle, gzip 4, 1.2 MiB"
std::string storage_text(const hdf5::Info& info) {
    std::vector<std::string> parts;
    if (info.chunks) parts.push_back("chunks " + to_text(*info.chunks));
    parts.insert(parts.end(), info.filters.begin(), info.filters.end());
    parts.push_back(bytes_text(info.stored_bytes));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Calls body for selections of at most `piece` elements that make up the shape: a range along the first axis whose
/// slices fit, one index along those before it.
template <class Body>
void for_pieces(const Shape& shape, Body&& body) {
    std::size_t axis = 0;
    std::int64_t inner = count(shape);
    while (axis < shape.size() && inner > piece) inner /= shape[axis++];
    if (axis > 0) --axis, inner *= shape[axis];  // slices along this axis fit, the whole axis does not
    Selection selection = whole(shape);
    if (inner <= piece) return body(selection);
    const std::int64_t step = std::max<std::int64_t>(1, piece / (inner / shape[axis]));
    const Shape outer(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::int64_t i = 0; i < count(outer); ++i) {
        const Shape index = unravel(i, outer);
        for (std::size_t a = 0; a < axis; ++a) selection.axes[a] = {index[a], 1, 1};
        for (std::int64_t begin = 0; begin < shape[axis]; begin += step) {
            selection.axes[axis] = {begin, std::min(step, shape[axis] - begin), 1};
            body(selection);
        }
    }
}

struct Statistics {
    double min = std::numeric_limits<double>::quiet_NaN(), max = min;
    long double re = 0, im = 0;  // sums without NaN
    std::int64_t nan = 0, elements = 0;
    bool complex = false;
};

Statistics statistics(const hdf5::Info& info) {
    Statistics all;
    const DType dtype = hdf5::natural_dtype(info, true, false);
    all.complex = is_complex(dtype);
    if (info.matlab_empty) return all;
    for_pieces(info.shape, [&](const Selection& selection) {
        const Tensor values({dtype, shape_of(selection)});
        const Slab slab = values.slab();
        const hdf5::Statistics seen = hdf5::read(info, {selection, false, 1, {}}, slab);
        all.min = std::fmin(all.min, seen.min);
        all.max = std::fmax(all.max, seen.max);
        all.nan += seen.nan;
        all.elements += seen.elements;
        for (std::int64_t i = 0; i < seen.elements; ++i) {
            const long double re = real_part(slab, i), im = imaginary_part(slab, i);
            if (std::isnan(re) || std::isnan(im)) continue;
            all.re += re;
            all.im += im;
        }
    });
    return all;
}

/// min, max, mean, NaN count, as they are shown; min and max of integers with all their digits.
std::vector<std::string> numbers_of(const hdf5::Info& info, const Statistics& all) {
    const auto text = [](double number) { return std::isnan(number) ? "-" : fmt::format("{:.6g}", number); };
    const bool whole = info.type.kind == hdf5::FileType::Kind::integer;
    const auto extreme = [&](double number) {
        return whole && std::abs(number) <= 0x1p53 ? fmt::format("{:.0f}", number) : text(number);
    };
    const auto numbers = static_cast<long double>(all.elements - all.nan);
    const auto re = static_cast<double>(all.re / numbers), im = static_cast<double>(all.im / numbers);
    const std::string mean = numbers > 0 && all.complex ? fmt::format("{:.6g}{:+.6g}i", re, im) : text(re);
    return {extreme(all.min), extreme(all.max), mean, grouped(all.nan)};
}

/// May its values be read? Where not, trouble() says why, or its text or shape show it.
bool readable(const hdf5::Info& info) {
    return info.type.kind != hdf5::FileType::Kind::unsupported && !info.null_space && hdf5::missing(info).empty();
}

/// Why a dataset cannot be an input; empty where it can, and where it is text, which shows itself.
std::string trouble(const hdf5::Node& node) {
    const hdf5::Info& info = node.info;
    std::vector<std::string> parts;
    if (info.type.kind == hdf5::FileType::Kind::unsupported && node.text.empty()) parts.push_back(info.type.reason);
    for (const std::string& filter : info.missing_filters) parts.push_back("missing filter " + filter);
    for (const std::string& source : info.missing_sources) parts.push_back("missing source " + source);
    return fmt::format("{}", fmt::join(parts, "; "));
}

/// The lines below a node: what is wrong with it, its first texts, its attributes. width: the terminal's, 0 for any.
std::vector<std::string> remarks(const hdf5::Node& node, std::size_t width) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& text) {
        std::string line = "    " + printable(text);
        if (width > 0) line = shortened(line, width);
        line.resize(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    };
    for (const std::string& text : {node.kind == hdf5::Node::Kind::dataset ? trouble(node) : "", node.problem})
        if (!text.empty())
            for (const std::string& line : wrapped("! " + text, width > 8 ? width - 4 : 0)) add(line);
    if (!node.text.empty()) add("= " + node.text);
    const bool scale = std::any_of(node.attributes.begin(), node.attributes.end(), [](const hdf5::Attribute& one) {
        return one.name == "CLASS" && one.text == "DIMENSION_SCALE";
    });
    for (const auto& [name, value] : node.attributes) {
        const bool of_scales = name == "REFERENCE_LIST" || name == "DIMENSION_LIST" || name == "_Netcdf4Dimid" ||
                               name == "_Netcdf4Coordinates" || (scale && (name == "CLASS" || name == "NAME"));
        if (!of_scales) add(fmt::format("@{} = {}", name, value));
    }
    return lines;
}

/// What else the target may be that is no dataset of an HDF5 file; empty: nothing.
std::string meant(const std::string& target) {
    std::error_code ignored;
    const std::string extension = std::filesystem::path(target).extension().string();
    if ((extension == ".yaml" || extension == ".yml") && std::filesystem::is_regular_file(target, ignored))
        return fmt::format(" (a job file? `gridstride check {}` looks at it)", target);
    const std::string dataset = meant_dataset(".", target);
    return dataset.empty() || dataset == target ? "" : fmt::format(" (did you mean '{}'?)", dataset);
}

}  // namespace

int inspect(const InspectOptions& options) {
    const std::size_t colon = options.target.find(":/");
    const std::string file = options.target.substr(0, colon);
    const std::string path = colon == std::string::npos ? "/" : options.target.substr(colon + 1);
    std::vector<hdf5::Node> nodes;
    try {
        nodes = hdf5::tree(file, path);
    } catch (const Error& fault) {
        throw Error(fault.category(), fault.what() + meant(options.target), fault.where());
    }
    const Terminal out = terminal(STDOUT_FILENO);

    std::vector<Column> columns{{"to paste", Align::head}, {"dtype"}, {"shape"}};
    if (options.stats)
        for (const auto& [name, spare] : {std::pair{"min", 0}, {"max", 0}, {"mean", 1}, {"NaN", 0}})
            columns.push_back({name, Align::right, spare});
    columns.push_back({"stored", Align::left, options.stats ? 2 : 0});
    Table table(std::move(columns));
    int exit = 0;
    for (const hdf5::Node& node : nodes) {
        const std::string name = fmt::format("{}:{}", file, node.path);
        std::vector<std::string> cells;
        switch (node.kind) {
            case hdf5::Node::Kind::group:
                cells = {name, "group"};
                break;
            case hdf5::Node::Kind::type:
                cells = {name, "named type"};
                break;
            case hdf5::Node::Kind::link:
                cells = {name, node.target.empty() ? "broken" : "link -> " + node.target};
                break;
            case hdf5::Node::Kind::dataset:
                cells = {pasted(file, node.path), node.info.type.text, shape_text(node.info)};
                if (options.stats) {
                    std::vector<std::string> numbers(4, "-");
                    try {
                        if (readable(node.info)) numbers = numbers_of(node.info, statistics(node.info));
                        if (!hdf5::missing(node.info).empty()) exit = 3;
                    } catch (const Error& error) {
                        fmt::print(stderr, "error: {}\n", printable(error.what()));
                        exit = 3;
                    }
                    cells.insert(cells.end(), numbers.begin(), numbers.end());
                }
                cells.push_back(storage_text(node.info));
                break;
        }
        for (std::string& cell : cells) cell = printable(cell);
        table.row(std::move(cells), remarks(node, out.width));
    }
    table.print(stdout);
    return exit;
}

}  // namespace gridstride
