// SPDX-License-Identifier: BSD-3-Clause
// matmul without a reference: Freivalds' check of every row of the product, C t = alpha op(a) (op(b) t) + beta c t with
// t of random weights. Costs the elements of a, b, c and the product once, in long double. After R. Freivalds,
// "Probabilistic machines can use less running time", 1977.
#include "core/properties.hpp"
#include "core/parallel.hpp"
#include "matmul/matmul.hpp"

namespace gridstride::matmul {

namespace {

using std::int64_t;
using Complex = std::complex<long double>;

Complex product(Complex a, Complex b) {  // the plain formula; std's recovers infinities, which costs
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// op(x) at (row, column) of the matrix that begins at `offset`.
struct Matrix {
    const Elements& elements;
    const Operand& operand;
    int64_t offset;
    Complex operator()(int64_t row, int64_t column) const {
        const Complex x = elements(offset + row * operand.row_stride() + column * operand.column_stride());
        return operand.conjugate ? std::conj(x) : x;
    }
};

struct Row {
    Complex sum;              // with the weights
    long double norm = 0;     // of the magnitudes
    long double reached = 0;  // by them on the way
};

}  // namespace

std::vector<Property> properties(const Examined& one) {
    const Layout posed = layout(one.problem.params, one.problem.in);
    const auto [batches, m, n, k] = std::array{posed.batches, posed.m, posed.n, posed.k};
    const double each = static_cast<double>(m) * static_cast<double>(k) +
                        static_cast<double>(k) * static_cast<double>(n) +
                        2 * static_cast<double>(m) * static_cast<double>(n);
    if (batches * m * n == 0 || each * static_cast<double>(batches) > one.terms) return {};
    const Allowance& allowed = one.allowance;
    const Complex alpha = posed.alpha, beta = posed.beta;
    const bool complex = is_complex(one.out.spec.dtype);
    const long double parts = complex ? std::sqrt(2.0L) : 1.0L, root = std::sqrt(static_cast<long double>(n));
    const Elements left(one.in[0]), right(one.in[1]), addend(one.in[2]), output(one.out);
    Property property{.name = "Freivalds"};
    std::vector<Row> inner(static_cast<std::size_t>(k)), rows(static_cast<std::size_t>(m)), got(rows.size());
    for (int64_t batch = 0; batch < batches; ++batch) {
        const Matrix a{left, posed.a, posed.offset(posed.a, batch)}, b{right, posed.b, posed.offset(posed.b, batch)};
        const auto fold = [&](int64_t count, std::vector<Row>& into, auto&& row) {
            const int64_t block = std::max<int64_t>(1, 65536 / (n + k));
            for_blocks(count, block, one.threads, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) into[static_cast<std::size_t>(i)] = row(i);
            });
        };
        const auto weighted = [&](auto&& element) {  // sum of element(j) t_j, and the norm of the elements
            Row row;
            for (int64_t j = 0; j < n; ++j) {
                const Complex x = element(j);
                row.sum += random_weight(one.seed, j) * x;
                row.norm += std::norm(x);
            }
            row.norm = std::sqrt(row.norm);
            return row;
        };
        if (posed.reads_product())
            fold(k, inner, [&](int64_t l) { return weighted([&](int64_t j) { return b(l, j); }); });
        fold(m, rows, [&](int64_t i) {
            Row row;
            if (posed.reads_product())
                for (int64_t l = 0; l < k; ++l) {
                    const Complex x = a(i, l);
                    row.sum += product(x, inner[static_cast<std::size_t>(l)].sum);
                    row.norm += std::abs(x) * inner[static_cast<std::size_t>(l)].norm;
                }
            row.reached = row.norm;
            row.sum = product(alpha, row.sum);
            row.norm *= parts * std::abs(alpha);
            if (!posed.reads_c()) return row;
            const Row added = weighted([&](int64_t j) { return addend((batch * m + i) * n + j); });
            row.sum += product(beta, added.sum);
            row.norm += std::abs(beta) * added.norm;
            return row;
        });
        fold(m, got, [&](int64_t i) { return weighted([&](int64_t j) { return output((batch * m + i) * n + j); }); });
        for (int64_t i = 0; i < m; ++i) {
            const Row &exact = rows[static_cast<std::size_t>(i)], &ours = got[static_cast<std::size_t>(i)];
            if (!(std::max(exact.reached, exact.norm) < allowed.largest) || std::isnan(exact.norm)) continue;
            const long double terms =
                allowed.relative * exact.norm + root * (allowed.least + allowed.scaled * std::abs(alpha));
            const long double bound =
                weighted_sum_factor * (terms + allowed.stored * (ours.norm + terms) / (1 - allowed.stored));
            const std::string where = (batches > 1 ? "batch " + index_text(batch, posed.batch) + ", " : std::string()) +
                                      "row " + std::to_string(i);
            if (!keep_worst(property, larger_part(ours.sum - exact.sum), bound, where) || property.holds()) continue;
            for (int64_t j = 0; j < n; ++j) property.outputs.push_back((batch * m + i) * n + j);
        }
    }
    return {property};
}

}  // namespace gridstride::matmul
