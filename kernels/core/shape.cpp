// SPDX-License-Identifier: BSD-3-Clause
// Shapes: counting with overflow checked, broadcasting, selections.
#include "core/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace gridstride {

std::int64_t count(const Shape& shape) {
    std::int64_t total = 1;
    bool empty = false, overflow = false;
    for (const std::int64_t extent : shape) {
        if (extent < 0) throw Error(Category::config, fmt::format("shape {}: extents are at least 0", to_text(shape)));
        empty = empty || extent == 0;
        if (extent != 0 && __builtin_mul_overflow(total, extent, &total)) overflow = true;
    }
    if (empty) return 0;
    if (overflow)
        throw Error(Category::config, fmt::format("shape {} has more than 2^63 - 1 elements", to_text(shape)));
    return total;
}

Shape row_major_strides(const Shape& shape) {
    Shape strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= std::max<std::int64_t>(shape[i], 1);
    }
    return strides;
}

Shape broadcast(const Shape& a, const Shape& b, std::string where) {
    Shape result(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < result.size(); ++i) {  // from the last axis
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            throw Error(
                Category::config,
                fmt::format("shapes {} and {} do not broadcast: axes of length {} and {} meet, and neither is 1",
                            to_text(a), to_text(b), x, y),
                std::move(where));
        result[result.size() - 1 - i] = x == 1 ? y : x;
    }
    return result;
}

std::string to_text(const Shape& shape) {
    if (shape.size() == 1) return fmt::format("({},)", shape[0]);
    return fmt::format("({})", fmt::join(shape, ", "));
}

Selection whole(const Shape& shape) {
    Selection all;
    for (const std::int64_t extent : shape) all.axes.push_back({0, extent, 1});
    return all;
}

Shape shape_of(const Selection& selection) {
    Shape shape;
    for (const Range& range : selection.axes)
        if (!range.dropped) shape.push_back(range.count);
    return shape;
}

Shape unravel(std::int64_t index, const Shape& shape) {
    Shape place(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        const std::int64_t extent = std::max<std::int64_t>(shape[i], 1);
        place[i] = index % extent;
        index /= extent;
    }
    return place;
}

std::string index_text(std::int64_t index, const Shape& shape) {
    return to_text(unravel(index, shape));
}

}  // namespace gridstride
