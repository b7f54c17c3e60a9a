// SPDX-License-Identifier: BSD-3-Clause
// One element a thread, grid-stride; bytes: each element read and written once. Limited by memory bandwidth.
#include "core/device_convert.cuh"

#include <algorithm>

#include "core/convert.hpp"

namespace gridstride::cuda {

namespace {

template <class T>
inline constexpr bool is_complex_device = false;
template <class T>
inline constexpr bool is_complex_device<Complex<T>> = true;

template <class From, class To>
__global__ void convert_kernel(const From* source, To* target, std::int64_t n, std::int64_t* first_bad) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        if constexpr (is_complex_device<To>) {
            if constexpr (is_complex_device<From>)
                target[i] = To(source[i]);
            else
                target[i] = To(static_cast<decltype(To::re)>(widen<double>(source[i])));
        } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
            const auto value = widen<double>(source[i]);
            constexpr double limit = sizeof(To) == 4 ? 0x1p31 : 0x1p63;
            const bool fits = value >= -limit && value < limit && value == rint(value);
            target[i] = fits ? static_cast<To>(value) : To{0};
            if (!fits && first_bad != nullptr)
                atomicMin(reinterpret_cast<unsigned long long*>(first_bad), static_cast<unsigned long long>(i));
        } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
            target[i] = static_cast<To>(source[i]);
            if (static_cast<From>(target[i]) != source[i] && first_bad != nullptr)
                atomicMin(reinterpret_cast<unsigned long long*>(first_bad), static_cast<unsigned long long>(i));
        } else if constexpr (std::is_integral_v<From>) {
            if constexpr (sizeof(To) == 8)
                target[i] = static_cast<To>(source[i]);
            else if constexpr (sizeof(To) == 4)
                target[i] = static_cast<To>(source[i]);  // rounded once from the integer
            else
                target[i] = narrow<To>(static_cast<double>(source[i]));
        } else if constexpr (sizeof(From) == 8) {
            target[i] = narrow<To>(static_cast<double>(source[i]));
        } else {
            target[i] = narrow<To>(widen<float>(source[i]));
        }
    }
}

}  // namespace

void convert(DType from, const std::byte* source, DType to, std::byte* target, std::int64_t n, std::int64_t* first_bad,
             Stream stream) {
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(n, 256), 132 * 16));
    with_any_type(from, [&]<class HostFrom>() {
        with_any_type(to, [&]<class HostTo>() {
            if constexpr (is_complex_type<HostFrom> && !is_complex_type<HostTo>)
                throw Error(Category::internal, "complex values do not convert to real ones");
            else
                convert_kernel<<<blocks, 256, 0, raw(stream)>>>(reinterpret_cast<const device_type<HostFrom>*>(source),
                                                                reinterpret_cast<device_type<HostTo>*>(target), n,
                                                                first_bad);
        });
    });
    check_launch();
}

void store_results(std::string_view op, DType from, const std::byte* results, const Spec& out, std::byte* target,
                   std::int64_t* scratch, Stream stream) {
    const bool may_fail = is_integer(out.dtype) && !is_integer(from);
    if (may_fail) check(cudaMemsetAsync(scratch, 0x7F, sizeof *scratch, raw(stream)));
    convert(from, results, out.dtype, target, out.size(), may_fail ? scratch : nullptr, stream);
    if (!may_fail) return;
    std::int64_t first = 0;
    check(cudaMemcpyAsync(&first, scratch, sizeof first, cudaMemcpyDeviceToHost, raw(stream)));
    check(cudaStreamSynchronize(raw(stream)));
    if (first >= out.size()) return;
    alignas(16) std::byte value[sizeof(complex128)];
    const std::size_t size = size_of(from);
    check(cudaMemcpyAsync(value, results + static_cast<std::size_t>(first) * size, size, cudaMemcpyDeviceToHost,
                          raw(stream)));
    check(cudaStreamSynchronize(raw(stream)));
    refuse_result(op, first, out, from, value);
}

}  // namespace gridstride::cuda
