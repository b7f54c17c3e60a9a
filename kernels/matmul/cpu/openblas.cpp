// SPDX-License-Identifier: BSD-3-Clause
// matmul by OpenBLAS: one ?gemm a batch place, row-major. Where the accumulator is another type than the inputs or the
// output (halves, compute: float64, result_dtype), those are converted through the workspace. What beta = 0, alpha = 0
// and k = 0 mean is seen to here and not left to the library.
#include <cblas.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "matmul/matmul.hpp"

namespace gridstride::matmul::cpu::openblas {

namespace {

using std::int64_t;

/// Where converted copies lie in the workspace; bytes = 0: the tensor itself serves.
struct Part {
    std::size_t offset = 0, bytes = 0;
};
struct Workspace {
    Part a, b, out;
    std::size_t bytes = 0;
};

Workspace workspace(const Problem& problem, const Layout& layout) {
    const DType type = accumulator(problem);
    Workspace result;
    const auto reserve = [&](Part& part, const Spec& spec) {
        if (spec.dtype == type) return;
        part = {result.bytes, (Spec{type, spec.shape}.bytes() + 63) / 64 * 64};
        result.bytes += part.bytes;
    };
    if (layout.reads_product()) {
        reserve(result.a, problem.in[0]);
        reserve(result.b, problem.in[1]);
    }
    reserve(result.out, problem.out[0]);
    return result;
}

/// Converts on all threads; every input converts to the accumulator.
void convert_all(DType from, const std::byte* source, DType to, std::byte* target, int64_t n, int threads) {
    for_blocks(n, 1 << 16, threads, [&](int64_t begin, int64_t end) {
        convert(from, source + begin * static_cast<int64_t>(size_of(from)), to,
                target + begin * static_cast<int64_t>(size_of(to)), end - begin, Overflow::infinity);
    });
}

void gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, std::complex<double> alpha, const float* a,
          int lda, const float* b, int ldb, std::complex<double> beta, float* c, int ldc) {
    cblas_sgemm(CblasRowMajor, a_op, b_op, m, n, k, static_cast<float>(alpha.real()), a, lda, b, ldb,
                static_cast<float>(beta.real()), c, ldc);
}
void gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, std::complex<double> alpha, const double* a,
          int lda, const double* b, int ldb, std::complex<double> beta, double* c, int ldc) {
    cblas_dgemm(CblasRowMajor, a_op, b_op, m, n, k, alpha.real(), a, lda, b, ldb, beta.real(), c, ldc);
}
void gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, std::complex<double> alpha,
          const complex64* a, int lda, const complex64* b, int ldb, std::complex<double> beta, complex64* c, int ldc) {
    const complex64 narrow_alpha(alpha), narrow_beta(beta);
    cblas_cgemm(CblasRowMajor, a_op, b_op, m, n, k, &narrow_alpha, a, lda, b, ldb, &narrow_beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, std::complex<double> alpha,
          const complex128* a, int lda, const complex128* b, int ldb, std::complex<double> beta, complex128* c,
          int ldc) {
    cblas_zgemm(CblasRowMajor, a_op, b_op, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

CBLAS_TRANSPOSE blas_op(const Operand& x) {
    if (!x.transposed) return CblasNoTrans;
    return x.conjugate ? CblasConjTrans : CblasTrans;
}

/// values = beta values, by the plain formula.
template <class T>
void scale(T* values, int64_t n, std::complex<double> beta, int threads) {
    for_blocks(n, 1 << 16, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            if constexpr (is_complex_type<T>) {
                const T factor(beta), value = values[i];
                values[i] = factor.imag() == 0 ? T(factor.real() * value.real(), factor.real() * value.imag())
                                               : T(factor.real() * value.real() - factor.imag() * value.imag(),
                                                   factor.real() * value.imag() + factor.imag() * value.real());
            } else {
                values[i] *= static_cast<T>(beta.real());
            }
        }
    });
}

template <class T>
void multiply(const Layout& layout, const Workspace& parts, int threads, const Call& call) {
    const int64_t outputs = layout.batches * layout.m * layout.n;
    if (outputs == 0) return;
    const Slab& output = call.out[0];
    const auto converted = [&](const Slab& x, const Part& part) -> const T* {
        if (part.bytes == 0) return x.as<const T>();
        convert_all(x.spec.dtype, x.data, dtype_of<T>, call.workspace + part.offset, x.spec.size(), threads);
        return reinterpret_cast<const T*>(call.workspace + part.offset);
    };
    T* const sums = parts.out.bytes == 0 ? output.as<T>() : reinterpret_cast<T*>(call.workspace + parts.out.offset);

    if (!layout.reads_c())
        std::fill(sums, sums + outputs, T(0));
    else if (reinterpret_cast<std::byte*>(sums) != call.in[2].data)
        convert_all(call.in[2].spec.dtype, call.in[2].data, dtype_of<T>, reinterpret_cast<std::byte*>(sums), outputs,
                    threads);
    if (layout.reads_product()) {
        const T* const a = converted(call.in[0], parts.a);
        const T* const b = converted(call.in[1], parts.b);
        openblas_set_num_threads(threads);
        for (int64_t i = 0; i < layout.batches; ++i)
            gemm(blas_op(layout.a), blas_op(layout.b), static_cast<int>(layout.m), static_cast<int>(layout.n),
                 static_cast<int>(layout.k), layout.alpha, a + layout.offset(layout.a, i),
                 static_cast<int>(layout.a.leading), b + layout.offset(layout.b, i), static_cast<int>(layout.b.leading),
                 layout.beta, sums + i * layout.m * layout.n, static_cast<int>(layout.n));
    } else if (layout.reads_c() && layout.beta != 1.0) {
        scale(sums, outputs, layout.beta, threads);
    }
    if (parts.out.bytes != 0)
        store_results("matmul", dtype_of<T>, reinterpret_cast<const std::byte*>(sums), output, threads);
}

std::string refuses(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    constexpr int64_t most = std::numeric_limits<int>::max();
    const std::array<std::pair<std::string_view, int64_t>, 5> sizes{{{"m", posed.m},
                                                                     {"n", posed.n},
                                                                     {"k", posed.k},
                                                                     {"the row length of a", posed.a.leading},
                                                                     {"the row length of b", posed.b.leading}}};
    for (const auto& [what, size] : sizes)
        if (size > most)
            return fmt::format("openblas: {} is {}, and its sizes are 32-bit integers, at most {}; use loop", what,
                               size, most);
    return {};
}

std::size_t memory(const Problem& problem) {
    return workspace(problem, layout(problem.params, problem.in)).bytes;
}

Plan prepare(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const Workspace parts = workspace(problem, posed);
    const DType type = accumulator(problem);
    const int threads = threads_of(problem.place);
    Plan plan;
    plan.workspace = parts.bytes;
    const std::string_view letter = type == DType::float32     ? "s"
                                    : type == DType::float64   ? "d"
                                    : type == DType::complex64 ? "c"
                                                               : "z";
    plan.words = fmt::format("{}gemm, {} threads", letter, threads);
    if (parts.a.bytes != 0 || parts.b.bytes != 0)
        plan.words += fmt::format(", {} promoted to {} in a workspace", name(problem.in[0].dtype), name(type));
    if (parts.out.bytes != 0) plan.words += fmt::format(", rounded to {} from a workspace", name(problem.out[0].dtype));
    with_type<float, double, complex64, complex128>(type, [&]<class T>() {
        plan.step = [posed, parts, threads](const Call& call) { multiply<T>(posed, parts, threads, call); };
    });
    return plan;
}

double growth(const Problem&, int64_t n) {
    return std::sqrt(static_cast<double>(n));
}

}  // namespace

const Variant row{
    .name = "openblas",
    .role = Role::vendor,
    .device = Device::cpu,
    .doc = "OpenBLAS ?gemm, one call a batch place; halves promoted to float32",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = growth,
};

}  // namespace gridstride::matmul::cpu::openblas
