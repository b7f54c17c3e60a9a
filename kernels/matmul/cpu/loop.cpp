// SPDX-License-Identifier: BSD-3-Clause
// matmul on the CPU: tiles of the output, each by one thread. A tile's slices of op(a) and op(b) are packed into short
// panels in the accumulator's type (which also undoes transposes, conjugates and converts), then a block of `rows` by
// one vector of sums is kept in registers while k runs. 2mnk operations; limited by multiply and add throughput.
// Every output has one running sum in ascending k, whatever the tiling and the thread count, so that results are the
// same bits for any number of threads. Technique: K. Goto, R. van de Geijn, Anatomy of high-performance matrix
// multiplication, ACM TOMS 34(3), 2008; here without its tuning.
#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <cstring>

#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "matmul/matmul.hpp"

namespace gridstride::matmul::cpu::loop {

namespace {

using std::int64_t;

template <class Real>
struct VectorOf {
    using type [[gnu::vector_size(64)]] = Real;
};
template <class Real>
using Vector = typename VectorOf<Real>::type;

template <class Real>
constexpr int64_t lanes = 64 / sizeof(Real);
template <class T>
constexpr int planes = is_complex_type<T> ? 2 : 1;  // real and imaginary parts are packed apart

// A register block: 6 rows of 64 bytes (half of them with two planes) fit the 16 registers of AVX2 as those of AVX-512.
template <class T>
constexpr int64_t block_rows = planes<T> == 2 ? 3 : 6;
constexpr int64_t depth = 256;  // k of a packed panel

struct Tiling {
    int64_t rows = 96, columns = 256;
};

/// One side of the product as packing sees it: `across` runs over its rows or columns, `along` over k.
template <class In>
struct Side {
    const In* data;
    int64_t across, along;
    bool conjugate;
};

template <class T>
struct RealOf {
    using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

/// Packs `size` places across (padded with zeros to a multiple of `width`) by `k` along: panels of `width`, within a
/// panel k by k, within that plane by plane.
template <class T, class In>
void pack(const Side<In>& side, int64_t size, int64_t k, int64_t width, Real<T>* target) {
    constexpr int64_t p = planes<T>;
    const auto put = [&side](int64_t i, int64_t l, Real<T>* to, int64_t plane) {
        const In value = side.data[i * side.across + l * side.along];
        if constexpr (is_complex_type<In>) {
            to[0] = static_cast<Real<T>>(value.real());
            to[plane] = static_cast<Real<T>>(side.conjugate ? -value.imag() : value.imag());
        } else {
            to[0] = static_cast<Real<T>>(value);
            if constexpr (is_complex_type<T>) to[plane] = 0;
        }
    };
    for (int64_t begin = 0; begin < size; begin += width, target += p * width * k) {
        const int64_t filled = std::min(width, size - begin);
        if (filled < width) std::fill(target, target + p * width * k, Real<T>(0));
        if (side.along == 1 && side.across != 1) {  // read in the order of memory
            for (int64_t i = 0; i < filled; ++i)
                for (int64_t l = 0; l < k; ++l) put(begin + i, l, target + l * p * width + i, width);
        } else {
            for (int64_t l = 0; l < k; ++l)
                for (int64_t i = 0; i < filled; ++i) put(begin + i, l, target + l * p * width + i, width);
        }
    }
}

/// Adds a packed panel of rows times a packed panel of columns to the sums at `tile` (rows apart by `stride`, planes of
/// a row by stride / planes).
template <class T, int rows>
void multiply_add(int64_t k, const Real<T>* a, const Real<T>* b, Real<T>* tile, int64_t stride) {
    using V = Vector<Real<T>>;
    constexpr int64_t width = lanes<Real<T>>, p = planes<T>, a_width = block_rows<T>;
    V sum[rows][p];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int64_t plane = 0; plane < p; ++plane)
            std::memcpy(&sum[i][plane], tile + i * stride + plane * (stride / p), sizeof(V));
    for (int64_t l = 0; l < k; ++l, a += p * a_width, b += p * width) {
        V re, im;
        std::memcpy(&re, b, sizeof(V));
        if constexpr (p == 2) std::memcpy(&im, b + width, sizeof(V));
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            if constexpr (p == 1) {
                sum[i][0] += a[i] * re;
            } else {
                sum[i][0] += a[i] * re - a[a_width + i] * im;
                sum[i][1] += a[i] * im + a[a_width + i] * re;
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int64_t plane = 0; plane < p; ++plane)
            std::memcpy(tile + i * stride + plane * (stride / p), &sum[i][plane], sizeof(V));
}

/// The block of the last, fewer rows too.
template <class T, int rows = block_rows<T>>
void multiply_add(int64_t filled, int64_t k, const Real<T>* a, const Real<T>* b, Real<T>* tile, int64_t stride) {
    if constexpr (rows > 1) {
        if (filled < rows) return multiply_add<T, rows - 1>(filled, k, a, b, tile, stride);
    }
    multiply_add<T, rows>(k, a, b, tile, stride);
}

/// scalar * value by the plain formula.
template <class T>
T times(std::complex<double> scalar, T value) {
    if constexpr (is_complex_type<T>) {
        const auto re = static_cast<Real<T>>(scalar.real()), im = static_cast<Real<T>>(scalar.imag());
        if (im == 0) return {re * value.real(), re * value.imag()};
        return {re * value.real() - im * value.imag(), re * value.imag() + im * value.real()};
    } else {
        return static_cast<T>(scalar.real()) * value;
    }
}

template <class T>
struct Buffers {  // of one thread, in elements of Real<T>
    int64_t a, b, tile;
    explicit Buffers(const Tiling& tiling)
        : a((tiling.rows + block_rows<T> - 1) / block_rows<T> * block_rows<T> * depth * planes<T>),
          b(tiling.columns * depth * planes<T>),
          tile((tiling.rows + block_rows<T>)*tiling.columns * planes<T>) {}
    std::size_t bytes() const { return (static_cast<std::size_t>(a + b + tile) * sizeof(Real<T>) + 63) / 64 * 64; }
};

/// What one execution needs, rows being those of the packed product: op(a)'s, or where `swapped`, op(b)'s columns.
template <class T, class In>
class Product {
  public:
    Product(const Layout& layout, const Tiling& tiling, const Call& call)
        : layout_(layout), tiling_(tiling), buffers_(tiling), call_(call) {
        // A product of few columns is computed as that of the transposes, so that vectors run along the longer side.
        swapped_ = layout.n < std::min(layout.m, lanes<Real<T>>);
        rows_ = swapped_ ? layout.n : layout.m;
        columns_ = swapped_ ? layout.m : layout.n;
        row_out_ = swapped_ ? 1 : layout.n;
        column_out_ = swapped_ ? layout.n : 1;
        tile_rows_ = (rows_ + tiling.rows - 1) / tiling.rows;
        tile_columns_ = (columns_ + tiling.columns - 1) / tiling.columns;
    }

    int64_t tiles() const { return layout_.batches * tile_rows_ * tile_columns_; }

    /// Computes tile number `index` with the buffers of thread `thread`.
    void operator()(int64_t index, int thread) const {
        auto* buffer =
            reinterpret_cast<Real<T>*>(call_.workspace + static_cast<std::size_t>(thread) * buffers_.bytes());
        Real<T>*const a = buffer, *const b = a + buffers_.a, *const tile = b + buffers_.b;
        const int64_t batch = index / (tile_rows_ * tile_columns_);
        const int64_t row = index / tile_columns_ % tile_rows_ * tiling_.rows;
        const int64_t column = index % tile_columns_ * tiling_.columns;
        const int64_t rows = std::min(tiling_.rows, rows_ - row);
        const int64_t columns = std::min(tiling_.columns, columns_ - column);
        constexpr int64_t width = lanes<Real<T>>, p = planes<T>;
        const int64_t stride = tiling_.columns * p;
        std::fill(tile, tile + rows * stride, Real<T>(0));
        if (layout_.reads_product()) {
            const Side<In> left = side(swapped_, batch, row), right = side(!swapped_, batch, column);
            for (int64_t l = 0; l < layout_.k; l += depth) {
                const int64_t k = std::min(depth, layout_.k - l);
                pack<T>(Side<In>{left.data + l * left.along, left.across, left.along, left.conjugate}, rows, k,
                        block_rows<T>, a);
                pack<T>(Side<In>{right.data + l * right.along, right.across, right.along, right.conjugate}, columns, k,
                        width, b);
                for (int64_t j = 0; j < columns; j += width)
                    for (int64_t i = 0; i < rows; i += block_rows<T>)
                        multiply_add<T>(std::min(block_rows<T>, rows - i), k, a + i * p * k, b + j * p * k,
                                        tile + i * stride + j, stride);
            }
        }
        const int64_t out = batch * layout_.m * layout_.n + row * row_out_ + column * column_out_;
        if (column_out_ == 1 || (layout_.n == 1 && swapped_)) {
            for (int64_t i = 0; i < rows; ++i) finish(tile + i * stride, 1, columns, out + i * row_out_);
        } else {
            for (int64_t j = 0; j < columns; ++j) finish(tile + j, stride, rows, out + j * column_out_);
        }
    }

  private:
    Side<In> side(bool of_b, int64_t batch, int64_t begin) const {
        const Operand& x = of_b ? layout_.b : layout_.a;
        Side<In> result{call_.in[of_b ? 1 : 0].as<const In>() + layout_.offset(x, batch),
                        of_b ? x.column_stride() : x.row_stride(), of_b ? x.row_stride() : x.column_stride(),
                        x.conjugate};
        result.data += begin * result.across;
        return result;
    }

    /// Writes n sums, `stride` apart, to the output's elements from `out` on: alpha sum + beta c, converted.
    void finish(const Real<T>* sums, int64_t stride, int64_t n, int64_t out) const {
        const Slab& output = call_.out[0];
        constexpr int64_t longest = 256;  // Tiling's columns at most
        T line[longest], added[longest];
        if (layout_.reads_c()) {
            const Slab& c = call_.in[2];
            convert(c.spec.dtype, c.data + out * static_cast<int64_t>(sizeof(In)), dtype_of<T>,
                    reinterpret_cast<std::byte*>(added), n, Overflow::infinity);
        }
        for (int64_t i = 0; i < n; ++i) {
            if constexpr (is_complex_type<T>)
                line[i] = T(sums[i * stride], sums[i * stride + tiling_.columns]);
            else
                line[i] = sums[i * stride];
        }
        if (layout_.reads_product() && layout_.alpha != 1.0)
            for (int64_t i = 0; i < n; ++i) line[i] = times(layout_.alpha, line[i]);
        if (layout_.reads_c())
            for (int64_t i = 0; i < n; ++i) line[i] += layout_.beta == 1.0 ? added[i] : times(layout_.beta, added[i]);
        const int64_t failed =
            convert(dtype_of<T>, reinterpret_cast<const std::byte*>(line), output.spec.dtype,
                    output.data + out * static_cast<int64_t>(size_of(output.spec.dtype)), n, Overflow::infinity);
        if (failed >= 0)
            refuse_result("matmul", out + failed, output.spec, dtype_of<T>,
                          reinterpret_cast<const std::byte*>(line + failed));
    }

    const Layout& layout_;
    const Tiling& tiling_;
    Buffers<T> buffers_;
    const Call& call_;
    bool swapped_ = false;
    int64_t rows_, columns_, row_out_, column_out_, tile_rows_, tile_columns_;
};

/// A small product is done before threads have started.
int threads_for(const Layout& layout, const Place& place) {
    const double work = static_cast<double>(layout.batches) * static_cast<double>(layout.m) *
                        static_cast<double>(layout.n) * static_cast<double>(std::max<int64_t>(layout.k, 1));
    return work < 1 << 17 ? 1 : threads_of(place);
}

/// Tiles small enough that every thread has some. The results do not depend on it.
Tiling tiling_for(const Layout& layout, int threads) {
    Tiling tiling;
    const auto tiles = [&] {
        const int64_t longer = std::max(layout.m, layout.n), shorter = std::min(layout.m, layout.n);
        return layout.batches * ((longer + tiling.columns - 1) / tiling.columns) *
               ((shorter + tiling.rows - 1) / tiling.rows);
    };
    while (threads > 1 && tiling.columns > 64 && tiles() < 3 * threads) {
        tiling.columns /= 2;
        tiling.rows /= 2;
    }
    return tiling;
}

template <class F>
decltype(auto) with_accumulator(DType dtype, F&& f) {
    return with_type<float, double, complex64, complex128>(dtype, std::forward<F>(f));
}

std::string refuses(const Problem&) {
    return {};
}

std::size_t memory(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const int threads = threads_for(posed, problem.place);
    const Tiling tiling = tiling_for(posed, threads);
    return with_accumulator(accumulator(problem),
                            [&]<class T>() { return static_cast<std::size_t>(threads) * Buffers<T>(tiling).bytes(); });
}

Plan prepare(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const int threads = threads_for(posed, problem.place);
    const Tiling tiling = tiling_for(posed, threads);
    Plan plan;
    plan.workspace = memory(problem);
    plan.words = fmt::format("tiles of {} x {}, sums in {}, {} threads", tiling.rows, tiling.columns,
                             name(accumulator(problem)), threads);
    with_accumulator(accumulator(problem), [&]<class T>() {
        with_type<float16, bfloat16, float, double, complex64, complex128>(problem.in[0].dtype, [&]<class In>() {
            if constexpr (is_complex_type<T> || !is_complex_type<In>) {
                plan.step = [posed, tiling, threads](const Call& call) {
                    const Product<T, In> product(posed, tiling, call);
                    for_blocks(product.tiles(), 1, threads, [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) product(i, omp_get_thread_num());
                    });
                };
            }
        });
    });
    return plan;
}

double growth(const Problem&, int64_t n) {
    return std::sqrt(static_cast<double>(n));
}

}  // namespace

const Variant row{
    .name = "loop",
    .role = Role::custom,
    .device = Device::cpu,
    .doc = "OpenMP and vectors: packed tiles, one running sum an output in ascending k",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::matmul::cpu::loop
