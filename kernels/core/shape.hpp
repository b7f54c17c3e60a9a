// SPDX-License-Identifier: BSD-3-Clause
// Shapes, strides and selections: 64-bit extents, row-major order as h5py shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gridstride {

using Shape = std::vector<std::int64_t>;

/// Number of elements; 1 for a scalar (). Errors: an extent below 0, or a count above 2^63 - 1 (config).
std::int64_t count(const Shape& shape);

/// Strides in elements of a contiguous row-major tensor; the last is 1.
Shape row_major_strides(const Shape& shape);

/// NumPy's broadcasting of two shapes. Error (config, at `where`): names both shapes where they do not match.
Shape broadcast(const Shape& a, const Shape& b, std::string where = {});

/// "(2, 3)", "(5,)", "()", as Python prints it.
std::string to_text(const Shape& shape);

/// Part of one axis: begin, begin + step, ... (count of them); step >= 1.
struct Range {
    std::int64_t begin = 0, count = 0, step = 1;
    bool dropped = false;  // an integer index: the axis is not in the result
};

/// Part of a tensor, one Range an axis.
struct Selection {
    std::vector<Range> axes;
};

/// All of a tensor of this shape.
Selection whole(const Shape& shape);
/// Shape of what is selected, without the dropped axes.
Shape shape_of(const Selection& selection);

/// Multi-index of the flat row-major position `index` in `shape`.
Shape unravel(std::int64_t index, const Shape& shape);
/// "(3, 0, 7)" of that position; "()" of a scalar's.
std::string index_text(std::int64_t index, const Shape& shape);

}  // namespace gridstride
