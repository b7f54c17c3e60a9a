// SPDX-License-Identifier: BSD-3-Clause
// The vendor's product: cublasGemmStridedBatchedEx with 64-bit sizes.
// Row-major matrices are its transposes: a and b change places (blas.cuh).
// Batches: the longest of the batch axes (neighbours that step as one joined) is one call's batch, broadcasting is a
// stride of 0; the other axes are loops over calls.
// Types: halves are multiplied as they are, with sums and scalars in float32 and no reduction in less; into float16,
// bfloat16 or float32. Where the sums are of another type than a and b otherwise, a workspace converts. float32 is not
// TF32 but where `compute: tf32` asks. What beta = 0, alpha = 0 and k = 0 mean is seen to here. The library's own
// workspace is part of ours, so that a step allocates nothing and can be captured in a graph.
#include <algorithm>

#include "matmul/cuda/blas.cuh"

namespace gridstride::matmul::cuda::cublas {

namespace {

using std::int64_t;

/// Bytes of converted copies in the workspace, in this order after the library's; 0: the tensor itself serves.
struct Copies {
    std::size_t a = 0, b = 0, out = 0;
    std::size_t all() const { return library_workspace + a + b + out; }
};

Copies copies_of(const Problem& problem, const Layout& posed, const Types& types) {
    const auto bytes = [](const Spec& spec, DType type) {
        return spec.dtype == type ? 0 : rounded_up(static_cast<std::size_t>(spec.size()) * size_of(type));
    };
    Copies copies;
    if (posed.reads_product()) {
        copies.a = bytes(problem.in[0], types.in);
        copies.b = bytes(problem.in[1], types.in);
    }
    copies.out = bytes(problem.out[0], types.out);
    if (copies.out > 0) copies.out += 256;  // store_results' int64
    return copies;
}

/// out = beta out: what is left of the operation where there is no product.
template <class T>
__global__ void scale_kernel(T* out, Complex<double> beta, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] =
            gridstride::cuda::narrow<T>(scalar<accumulator<T>>(beta) * gridstride::cuda::widen<accumulator<T>>(out[i]));
}

void scale(DType type, std::byte* out, std::complex<double> beta, int64_t n, cudaStream_t stream) {
    typed(type, [&]<class T>() {
        const auto blocks = static_cast<unsigned>(std::min<int64_t>(gridstride::cuda::ceil_div(n, 256), most_yz));
        scale_kernel<T><<<blocks, 256, 0, stream>>>(reinterpret_cast<T*>(out), {beta.real(), beta.imag()}, n);
        gridstride::cuda::check_launch();
    });
}

std::string refuses(const Problem&) {
    return {};
}

Plan prepare(const Problem& problem) {
    const Layout posed = layout(problem.params, problem.in);
    const Types types = types_of(problem);
    const Copies copies = copies_of(problem, posed, types);
    const Spec out = problem.out[0];
    Plan plan;
    if (out.size() == 0) {
        plan.step = [](const Call&) {};
        return plan;
    }
    const Batch batch = batch_of(problem, posed);
    const cublasComputeType_t compute = compute_type(problem, types);
    gridstride::cuda::check(cudaSetDevice(problem.place.index));
    const gridstride::cuda::CublasHandle handle = gridstride::cuda::cublas_handle();
    gridstride::cuda::check(cublasSetMathMode(
        handle.get(),
        static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));

    plan.workspace = copies.all();
    plan.words = std::string("cublasGemmStridedBatchedEx_64, ") +
                 (compute == CUBLAS_COMPUTE_64F   ? "CUBLAS_COMPUTE_64F"
                  : compute == CUBLAS_COMPUTE_32F ? "CUBLAS_COMPUTE_32F (no TF32)"
                                                  : "CUBLAS_COMPUTE_32F_FAST_TF32") +
                 ", no reduction in a narrower type, " + std::string(name(types.in)) + " to " +
                 std::string(name(types.out)) + ", " + std::to_string(batch.calls) +
                 (batch.calls == 1 ? " call" : " calls") + " of " + std::to_string(batch.inside.extent) +
                 (batch.inside.extent == 1 ? " matrix" : " matrices");
    if (copies.a > 0 || copies.b > 0)
        plan.words += ", " + std::string(name(problem.in[0].dtype)) + " converted to " + std::string(name(types.in)) +
                      " in a workspace";
    if (copies.out > 0) plan.words += ", rounded to " + std::string(name(out.dtype)) + " from a workspace";

    plan.step = [=, alpha = Scalar(posed.alpha, types.sums), beta = Scalar(posed.beta, types.sums)](const Call& call) {
        const cudaStream_t stream = gridstride::cuda::raw(call.stream);
        std::byte* const a_copy = call.workspace + library_workspace;
        std::byte* const b_copy = a_copy + copies.a;
        std::byte* const c = copies.out > 0 ? b_copy + copies.b : call.out[0].data;  // cuBLAS adds in place
        const auto convert = [&](const Slab& from, DType type, std::byte* to) {
            gridstride::cuda::convert(from.spec.dtype, from.data, type, to, from.spec.size(), nullptr, call.stream);
        };
        if (posed.reads_c() && call.in[2].data != c) {
            if (call.in[2].spec.dtype == types.out)
                gridstride::cuda::check(
                    cudaMemcpyAsync(c, call.in[2].data, call.in[2].spec.bytes(), cudaMemcpyDeviceToDevice, stream));
            else
                convert(call.in[2], types.out, c);
        }
        if (posed.reads_product()) {
            if (copies.a > 0) convert(call.in[0], types.in, a_copy);
            if (copies.b > 0) convert(call.in[1], types.in, b_copy);
            const std::byte* const a = copies.a > 0 ? a_copy : call.in[0].data;
            const std::byte* const b = copies.b > 0 ? b_copy : call.in[1].data;
            const auto in_size = static_cast<int64_t>(size_of(types.in)),
                       out_size = static_cast<int64_t>(size_of(types.out));
            gridstride::cuda::check(cublasSetStream(handle.get(), stream));  // takes the workspace away: first
            gridstride::cuda::check(cublasSetWorkspace(handle.get(), call.workspace, library_workspace));
            for (int64_t i = 0; i < batch.calls; ++i) {
                int64_t at[3] = {}, rest = i;  // first elements of a, b and the output
                for (const Batch::Axis& axis : batch.outside) {
                    for (int x = 0; x < 3; ++x) at[x] += rest % axis.extent * axis.strides[x];
                    rest /= axis.extent;
                }
                gridstride::cuda::check(cublasGemmStridedBatchedEx_64(
                    handle.get(), library_op(posed.b), library_op(posed.a), posed.n, posed.m, posed.k, alpha.bytes,
                    b + at[1] * in_size, library_type(types.in), posed.b.leading, batch.inside.strides[1],
                    a + at[0] * in_size, library_type(types.in), posed.a.leading, batch.inside.strides[0], beta.bytes,
                    c + at[2] * out_size, library_type(types.out), posed.n, batch.inside.strides[2],
                    batch.inside.extent, compute, CUBLAS_GEMM_DEFAULT));
            }
        } else if (!posed.reads_c()) {
            gridstride::cuda::check(
                cudaMemsetAsync(c, 0, static_cast<std::size_t>(out.size()) * size_of(types.out), stream));
        } else if (posed.beta != 1.0) {
            scale(types.out, c, posed.beta, out.size(), stream);
        }
        if (copies.out > 0)
            gridstride::cuda::store_results("matmul", types.out, c, out, call.out[0].data,
                                            reinterpret_cast<int64_t*>(c + copies.out - 256), call.stream);
    };
    return plan;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "cublas",
    .role = Role::vendor,
    .device = Device::cuda,
    .doc = "cublasGemmStridedBatchedEx, operands swapped for row-major order, compute type pinned",
    .refuses = refuses,
    .prepare = prepare,
    .memory =
        [](const Problem& problem) {
            return copies_of(problem, layout(problem.params, problem.in), types_of(problem)).all();
        },
    .growth = growth,
};

}  // namespace gridstride::matmul::cuda::cublas
