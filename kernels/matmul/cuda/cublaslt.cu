// SPDX-License-Identifier: BSD-3-Clause
// The vendor's product at its best: cublasLtMatmul by the fastest of the 8 algorithms that its heuristics name first.
// `prepare` times them on scratch matrices of the problem's shape (where those do not fit, the first is taken), so its
// choice may differ from run to run; `cublas` is the witness that does not.
// Types, compute type and the change of places of a and b are as in cublas.cu; no reduction in a narrower type. What
// needs a conversion, more than one batch axis or no product at all is left to `cublas`.
#include <cublasLt.h>

#include <limits>

#include "matmul/cuda/blas.cuh"

namespace gridstride::matmul::cuda::cublaslt {

namespace {

using gridstride::cuda::check;
using std::int64_t;

constexpr int most_algorithms = 8, trials = 3;
constexpr double replay_below = 1e-4;    // seconds: shorter ones are told apart as a replayed graph
constexpr int replayed = 50;             // calls of it
constexpr std::uint32_t alignment = 16;  // bytes, of every operand's first element

struct Algorithm {  // nvcc 13.0 fails on a vector of the library's unnamed struct itself
    cublasLtMatmulAlgo_t value{};
};

template <class Pointer>
using Owned = std::shared_ptr<std::remove_pointer_t<Pointer>>;

/// A stack of column-major matrices.
Owned<cublasLtMatrixLayout_t> matrices(DType type, int64_t rows, int64_t columns, int64_t leading, int64_t count,
                                       int64_t stride) {
    cublasLtMatrixLayout_t layout = nullptr;
    check(cublasLtMatrixLayoutCreate(&layout, library_type(type), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), leading));
    Owned<cublasLtMatrixLayout_t> result{layout, [](cublasLtMatrixLayout_t one) { cublasLtMatrixLayoutDestroy(one); }};
    const auto matrices = static_cast<std::int32_t>(count);
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &matrices, sizeof matrices));
    check(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return result;
}

/// What lies in memory as op's operand x of (rows, columns), as cuBLAS sees it.
Owned<cublasLtMatrixLayout_t> operand(const Operand& x, DType type, int64_t rows, int64_t columns, int64_t count,
                                      int64_t stride) {
    return x.transposed ? matrices(type, rows, columns, x.leading, count, stride)
                        : matrices(type, columns, rows, x.leading, count, stride);
}

/// A product as cublasLt takes it, a and b already in each other's places.
struct Call {
    Owned<cublasLtHandle_t> handle;
    Owned<cublasLtMatmulDesc_t> product;
    Owned<cublasLtMatrixLayout_t> a, b, c;
    Scalar alpha, beta;
    Algorithm algorithm{};

    void run(const std::byte* a_data, const std::byte* b_data, const std::byte* c_data, std::byte* out,
             std::byte* workspace, cudaStream_t stream) const {
        check(cublasLtMatmul(handle.get(), product.get(), alpha.bytes, b_data, b.get(), a_data, a.get(), beta.bytes,
                             c_data, c.get(), out, c.get(), &algorithm.value, workspace, library_workspace, stream));
    }
};

Call pose(const Problem& problem, const Layout& posed, const Types& types, const Batch::Axis& batch) {
    Call call{{}, {}, {}, {}, {}, Scalar(posed.alpha, types.sums), Scalar(posed.beta, types.sums)};
    cublasLtHandle_t handle = nullptr;
    check(cublasLtCreate(&handle));
    call.handle = {handle, [](cublasLtHandle_t one) { cublasLtDestroy(one); }};
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, compute_type(problem, types), library_type(types.sums)));
    call.product = {product, [](cublasLtMatmulDesc_t one) { cublasLtMatmulDescDestroy(one); }};
    const cublasOperation_t op_b = library_op(posed.b), op_a = library_op(posed.a);
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &op_b, sizeof op_b));
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &op_a, sizeof op_a));
    call.a = operand(posed.a, types.in, posed.m, posed.k, batch.extent, batch.strides[0]);
    call.b = operand(posed.b, types.in, posed.k, posed.n, batch.extent, batch.strides[1]);
    call.c = matrices(types.out, posed.n, posed.m, posed.n, batch.extent, batch.strides[2]);
    return call;
}

/// The algorithms that the library's heuristics name, its best guess first.
std::vector<Algorithm> algorithms(const Call& call) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference));
    const Owned<cublasLtMatmulPreference_t> owner{
        preference, [](cublasLtMatmulPreference_t one) { cublasLtMatmulPreferenceDestroy(one); }};
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
        check(cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(library_workspace));
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    for (const auto which : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                             CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
        set(which, alignment);
    cublasLtMatmulHeuristicResult_t found[most_algorithms] = {};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(call.handle.get(), call.product.get(), call.b.get(), call.a.get(),
                                         call.c.get(), call.c.get(), preference, most_algorithms, found, &count));
    std::vector<Algorithm> list;
    for (int i = 0; i < count; ++i)
        if (found[i].state == CUBLAS_STATUS_SUCCESS) list.push_back({found[i].algo});
    if (list.empty()) throw Error(Category::device, "cublasLt has no algorithm for this problem");
    return list;
}

/// The place of the fastest in the list: the shortest of a few calls each.
std::size_t fastest(Call call, const std::vector<Algorithm>& list, const Problem& problem) {
    if (list.size() == 1) return 0;
    const int device = problem.place.index;
    gridstride::cuda::Queue queue(device);
    const Tensor a(problem.in[0], Memory::device, device), b(problem.in[1], Memory::device, device),
        out(problem.out[0], Memory::device, device),
        workspace({DType::int32, {static_cast<int64_t>(library_workspace / 4)}}, Memory::device, device);
    for (const Tensor* tensor : {&a, &b, &out}) queue.fill(tensor->data(), 0, tensor->spec().bytes());
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < list.size(); ++i) {
        call.algorithm = list[i];
        const auto run = [&] {
            call.run(a.data(), b.data(), out.data(), out.data(), workspace.data(),
                     gridstride::cuda::raw(queue.stream()));
        };
        try {
            for (int trial = 0; trial < trials; ++trial) {
                run();  // hides the launch of the timed one
                double seconds = queue.time(run);
                if (seconds < replay_below) seconds = queue.replay(run, replayed).value_or(seconds);
                if (seconds < least) {
                    least = seconds;
                    best = i;
                }
            }
        } catch (const Error&) {  // an algorithm that does not suit the layout after all
        }
    }
    return best;
}

std::string refuses(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    if (problem.out[0].size() == 0) return {};
    if (!posed.reads_product()) return "there is no product to make (k = 0 or alpha = 0): cublas does what is left";
    const Types types = types_of(problem);
    if (problem.in[0].dtype != types.in || problem.out[0].dtype != types.out ||
        (posed.reads_c() && problem.in[2].dtype != types.out))
        return "it converts no types: cublas does";
    const Batch batch = batch_of(problem, posed);
    if (batch.calls > 1) return "it takes one batch axis: cublas takes more";
    if (batch.inside.extent > 1 && (batch.inside.strides[0] == 0 || batch.inside.strides[1] == 0))
        return "it broadcasts no batch: cublas does";
    if (batch.inside.extent > std::numeric_limits<std::int32_t>::max())
        return "its batches are below 2^31: cublas's not";
    return {};
}

Plan prepare(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    Plan plan;
    if (problem.out[0].size() == 0) {
        plan.step = [](const gridstride::Call&) {};
        return plan;
    }
    gridstride::cuda::select(problem.place.index);
    Call call = pose(problem, posed, types_of(problem), batch_of(problem, posed).inside);
    const std::vector<Algorithm> list = algorithms(call);
    std::size_t best = 0;
    plan.words = "cublasLtMatmul, ";
    try {
        best = fastest(call, list, problem);
        plan.words += "the fastest of " + std::to_string(list.size()) + " algorithms, the heuristics' number " +
                      std::to_string(best + 1);
    } catch (const Error&) {  // no room for scratch matrices
        plan.words += "the heuristics' first algorithm, untimed";
    }
    call.algorithm = list[best];
    plan.workspace = library_workspace;
    plan.step = [call, reads_c = posed.reads_c()](const gridstride::Call& given) {
        call.run(given.in[0].data, given.in[1].data, reads_c ? given.in[2].data : given.out[0].data, given.out[0].data,
                 given.workspace, gridstride::cuda::raw(given.stream));
    };
    return plan;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "cublaslt",
    .role = Role::vendor,
    .device = Device::cuda,
    .doc = "cublasLtMatmul by the fastest of its heuristics' algorithms, timed beforehand",
    .refuses = refuses,
    .prepare = prepare,
    .memory = [](const Problem&) { return library_workspace; },
    .growth = growth,
};

}  // namespace gridstride::matmul::cuda::cublaslt
