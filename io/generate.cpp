// SPDX-License-Identifier: BSD-3-Clause
// Generated inputs, the same bits on every machine: each value follows from the seed and its own index alone, by
// integer arithmetic and float64 + - * / sqrt, which IEEE 754 rounds alike everywhere; log and sin are built from
// those. Generator: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
// used by counter: its n-th value is a mix of seed + n * golden, so that any element can be made first, on any thread.
#include "io/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>

#include "core/convert.hpp"
#include "core/device.hpp"
#include "core/parallel.hpp"
#include "io/generate_math.hpp"

namespace gridstride::generate {

namespace {

using config::Generate;

constexpr std::int64_t block = 4096;  // elements made at a time; part of no result
constexpr std::int64_t bumps = 12;    // an image of `blobs` has

constexpr std::string_view kinds[] = {"normal", "uniform", "integers", "linear", "impulse",   "zeros",
                                      "ones",   "chirp",   "walk",     "blobs",  "covariance"};

/// Writes the values from flat index `begin` on; begin is a multiple of `block`. imaginary: the other part of a complex
/// tensor.
using Fill = std::function<void(std::int64_t begin, std::span<double> values, bool imaginary)>;

/// A fill of f(index) for the real part, 0 for the imaginary one.
template <class F>
Fill real(F f) {
    return [f = std::move(f)](std::int64_t begin, std::span<double> values, bool imaginary) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = imaginary ? 0 : f(begin + static_cast<std::int64_t>(i));
    };
}

/// A fill of f(bits) for both parts, from streams of their own.
template <class F>
Fill drawn(std::uint64_t seed, F f) {
    return [=](std::int64_t begin, std::span<double> values, bool imaginary) {
        const std::uint64_t key = stream(seed, imaginary ? 1 : 0);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = f(bits_at(key, static_cast<std::uint64_t>(begin) + i));
    };
}

Fill chirp(const Generate& generate, std::int64_t length) {
    const double f0 = generate.f0, half_slope = (generate.f1 - generate.f0) / (2 * static_cast<double>(length));
    return real([=](std::int64_t index) {
        const auto t = static_cast<double>(index % length);
        return sin_cycles((f0 + half_slope * t) * t);
    });
}

/// The sums at the start of each block are found first; then any block can be made alone.
Fill walk(std::uint64_t seed, std::int64_t size, std::int64_t length) {
    const std::uint64_t key = stream(seed, 0);
    const auto step = [key](std::int64_t index) { return normal(bits_at(key, static_cast<std::uint64_t>(index))); };
    std::vector<double> before(static_cast<std::size_t>((size + block - 1) / block));  // sum of the row before a block
    for_blocks(size / length, 1, threads_of({}), [&](std::int64_t row, std::int64_t) {
        double sum = 0;
        for (std::int64_t index = row * length; index < (row + 1) * length; ++index) {
            if (index % block == 0) before[static_cast<std::size_t>(index / block)] = sum;
            sum += step(index);
        }
    });
    return [=, before = std::move(before)](std::int64_t begin, std::span<double> values, bool imaginary) {
        double sum = before[static_cast<std::size_t>(begin / block)];
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t index = begin + static_cast<std::int64_t>(i);
            if (index % length == 0) sum = 0;
            values[i] = imaginary ? 0 : sum += step(index);
        }
    };
}

/// Each image is a sum of bumps h / (1 + r^2)^2, r the distance from the bump's centre in widths.
Fill blobs(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
    struct Bump {
        double row, column, per_width, height;
    };
    const auto bump = [=](std::int64_t image, std::int64_t which) {
        const std::uint64_t key = stream(seed, 0);
        const auto draw = [&](std::int64_t k) {
            return uniform(bits_at(key, static_cast<std::uint64_t>((image * bumps + which) * 4 + k)));
        };
        const double width = static_cast<double>(std::max(rows, columns)) * (0.05 + 0.15 * draw(0));
        return Bump{static_cast<double>(rows) * draw(1), static_cast<double>(columns) * draw(2), 1 / width, draw(3)};
    };
    return [=](std::int64_t begin, std::span<double> values, bool imaginary) {
        std::array<Bump, bumps> of_image{};
        std::int64_t image = -1;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t index = begin + static_cast<std::int64_t>(i);
            if (index / (rows * columns) != image) {
                image = index / (rows * columns);
                for (std::int64_t k = 0; k < bumps; ++k) of_image[static_cast<std::size_t>(k)] = bump(image, k);
            }
            const auto row = static_cast<double>(index / columns % rows), column = static_cast<double>(index % columns);
            double sum = 0;
            for (const Bump& one : of_image) {
                const double down = (row - one.row) * one.per_width, across = (column - one.column) * one.per_width;
                const double denominator = 1 + down * down + across * across;
                sum += one.height / (denominator * denominator);
            }
            values[i] = imaginary ? 0 : sum;
        }
    };
}

/// A A^T / rank with A (batches, m, rank) normal. (i, j) and (j, i) add the same products in the same order, so the
/// matrix is symmetric to the last bit.
Fill covariance(std::uint64_t seed, std::int64_t size, std::int64_t m, std::int64_t rank) {
    std::vector<double> factor(static_cast<std::size_t>(count({size / m / m, m, rank})));
    const std::uint64_t key = stream(seed, 0);
    const auto entries = static_cast<std::int64_t>(factor.size());
    for_blocks(entries, block, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            factor[static_cast<std::size_t>(i)] = normal(bits_at(key, static_cast<std::uint64_t>(i)));
    });
    return real([=, factor = std::move(factor)](std::int64_t index) {
        const std::int64_t row = index / m, column = index / (m * m) * m + index % m;
        double sum = 0;
        for (std::int64_t k = 0; k < rank; ++k)
            sum +=
                factor[static_cast<std::size_t>(row * rank + k)] * factor[static_cast<std::size_t>(column * rank + k)];
        return sum / static_cast<double>(rank);
    });
}

std::int64_t pairs_of(const Generate& generate, const Shape& shape) {
    return generate.pairs.value_or(static_cast<std::int64_t>(shape.size()) / 2);
}

Fill prepare(const Generate& generate, const Shape& shape, std::uint64_t seed) {
    const std::int64_t size = count(shape);
    const std::string& kind = generate.kind;
    if (kind == "normal") return drawn(seed, normal);
    if (kind == "uniform") return drawn(seed, uniform);
    if (kind == "integers")
        return real([key = stream(seed, 0)](std::int64_t index) {
            const std::uint64_t bits = bits_at(key, static_cast<std::uint64_t>(index));
            return static_cast<double>(((bits >> 32) * 17) >> 32) - 8;  // 17 values, each with chance 1/17 to 2^-32
        });
    if (kind == "linear") return real([](std::int64_t index) { return static_cast<double>(index); });
    if (kind == "impulse") return real([](std::int64_t index) { return index == 0 ? 1.0 : 0.0; });
    if (kind == "zeros") return real([](std::int64_t) { return 0.0; });
    if (kind == "ones") return real([](std::int64_t) { return 1.0; });
    if (kind == "chirp") return chirp(generate, shape.back());
    if (kind == "walk") return walk(seed, size, shape.back());
    if (kind == "blobs") return blobs(seed, shape[shape.size() - 2], shape.back());
    const Shape half(shape.end() - pairs_of(generate, shape), shape.end());
    return covariance(seed, size, count(half), generate.rank);
}

struct Part {  // one addend
    double scale;
    Fill fill;
};

void collect(const Generate& generate, const Shape& shape, std::uint64_t seed, std::vector<Part>& parts) {
    seed = generate.seed.value_or(seed);
    parts.push_back({generate.scale, prepare(generate, shape, seed)});
    std::uint64_t ordinal = 2;  // streams 0 and 1 are this addend's own
    for (const Generate& other : generate.plus) collect(other, shape, stream(seed, ordinal++), parts);
}

struct Refusal {
    std::string message, where;
};

Refusal refusal(const Generate& generate, const Shape& shape, DType dtype) {
    const std::string& kind = generate.kind;
    const auto axes = static_cast<std::int64_t>(shape.size());
    const auto whole = [](double value) { return std::abs(value) < 0x1p53 && value == std::nearbyint(value); };
    if (std::find(std::begin(kinds), std::end(kinds), kind) == std::end(kinds))
        return {fmt::format("'{}' is no kind of values; there are {}", kind, fmt::join(kinds, ", ")), "generate"};
    if (!std::isfinite(generate.scale)) return {fmt::format("scale is {}, not a number", generate.scale), "scale"};
    if (is_integer(dtype)) {
        const auto fraction = {"normal", "uniform", "chirp", "walk", "blobs", "covariance"};
        if (std::find(fraction.begin(), fraction.end(), kind) != fraction.end())
            return {fmt::format("{} makes fractions, which {} cannot hold; integers, linear, impulse, zeros and ones "
                                "are whole",
                                kind, name(dtype)),
                    "generate"};
        if (!whole(generate.scale))
            return {fmt::format("scale {} makes fractions, which {} cannot hold", generate.scale, name(dtype)),
                    "scale"};
    }
    if ((kind == "chirp" || kind == "walk") && axes < 1)
        return {fmt::format("{} runs along the last axis, and shape {} has none", kind, to_text(shape)), "shape"};
    if (kind == "chirp" && !(std::abs(generate.f0) <= 1 && std::abs(generate.f1) <= 1))
        return {
            fmt::format("f0 and f1 are in cycles a sample, 0.5 the highest without aliasing and 1 the highest here, "
                        "not {} and {}; divide hertz by the sampling rate",
                        generate.f0, generate.f1),
            "generate"};
    if (kind == "blobs" && axes < 2)
        return {fmt::format("blobs are images over the last two axes, and shape {} has {}", to_text(shape), axes),
                "shape"};
    if (kind == "covariance") {
        if (generate.rank < 1) return {fmt::format("rank is {}; it is at least 1", generate.rank), "rank"};
        const std::int64_t pairs = pairs_of(generate, shape);
        if (!generate.pairs && (axes < 2 || axes % 2 != 0))
            return {fmt::format("covariance has its axes in two equal halves, and shape {} has {}; say `pairs: N` for "
                                "the last 2 N axes",
                                to_text(shape), axes),
                    "shape"};
        if (pairs < 1 || 2 * pairs > axes)
            return {fmt::format("pairs is {}; for shape {} it is 1 to {}", pairs, to_text(shape), axes / 2), "pairs"};
        const Shape left(shape.end() - 2 * pairs, shape.end() - pairs), right(shape.end() - pairs, shape.end());
        if (left != right)
            return {fmt::format("the last 2 x {} axes of a covariance are two equal halves, not {} and {}{}", pairs,
                                to_text(left), to_text(right), generate.pairs ? "" : "; `pairs` says how many axes"),
                    generate.pairs ? "pairs" : "shape"};
    }
    for (const Generate& other : generate.plus)
        if (Refusal found = refusal(other, shape, dtype); !found.message.empty())
            return {"plus: " + found.message, "plus"};
    return {};
}

}  // namespace

std::string refuses(const Generate& generate, const Shape& shape, DType dtype) {
    return refusal(generate, shape, dtype).message;
}

Tensor make(const Generate& generate, const Shape& shape, DType dtype, std::uint64_t seed) {
    if (const Refusal refused = refusal(generate, shape, dtype); !refused.message.empty())
        throw Error(Category::config, refused.message, refused.where);
    Tensor result({dtype, shape});
    const std::int64_t size = count(shape);
    if (size == 0) return result;
    std::vector<Part> parts;
    collect(generate, shape, seed, parts);

    const std::int64_t lanes = is_complex(dtype) ? 2 : 1;
    for_blocks(size, block, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
        std::array<double, block> made;
        std::array<double, 2 * block> sums{};  // of complex types: real and imaginary parts in turn
        const auto n = static_cast<std::size_t>(end - begin);
        for (const Part& part : parts) {
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                part.fill(begin, {made.data(), n}, lane == 1);
                for (std::size_t i = 0; i < n; ++i)
                    sums[i * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(lane)] += part.scale * made[i];
            }
        }
        const std::int64_t bad = convert(
            lanes == 2 ? DType::complex128 : DType::float64, reinterpret_cast<const std::byte*>(sums.data()), dtype,
            result.data() + static_cast<std::size_t>(begin) * size_of(dtype), end - begin, Overflow::refuse);
        if (bad >= 0)
            throw Error(Category::input, fmt::format("generated value {} at {} does not fit {}",
                                                     sums[static_cast<std::size_t>(bad * lanes)],
                                                     index_text(begin + bad, shape), name(dtype)));
    });
    return result;
}

std::uint64_t seed_of(std::string_view job, std::string_view input) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
    for (const char letter : fmt::format("{}/{}", job, input))
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return hash;
}

}  // namespace gridstride::generate
