// SPDX-License-Identifier: BSD-3-Clause
// Data sheets, mixes, and the plain kernels of the CPU: each thread has one stretch of the tensors; memcpy for a copy
// (which stores past the cache where that pays), vectorised loops else. Limited by memory bandwidth.
#include "core/rates.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gridstride::rates {

Sheet cuda_sheet(int device);                        // rates.cu
Plan cuda_prepare(Mix mix, const Problem& problem);  // rates.cu

namespace {

/// flop a clock and multiprocessor: CUDA cores, and tensor cores with dense matrices. From NVIDIA's architecture white
/// papers and the CUDA C++ Programming Guide's table of arithmetic throughput; 0: there are none.
struct Units {
    int major, minor;
    double float32, float64, tensor_float64, tensor_tf32, tensor_half;
};
constexpr Units units[] = {
    {8, 0, 128, 64, 128, 1024, 2048},   // A100
    {8, 6, 256, 4, 0, 512, 1024},       // GA10x
    {8, 9, 256, 4, 0, 512, 1024},       // AD10x
    {9, 0, 256, 128, 256, 2048, 4096},  // H100, H200
};

constexpr std::size_t unknown_cache = std::size_t{32} << 20;  // bytes: of most processors of today, or less

void read(const std::uint32_t* x, std::uint32_t* out, std::int64_t n, int threads) {
    std::uint32_t sum = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += x[i];
    *out = sum;
}

void copy(const float* x, float* out, std::int64_t n, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; ++t) {
        const std::int64_t begin = n * t / threads, end = n * (t + 1) / threads;
        std::memcpy(out + begin, x + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
    }
}

void add(const float* x, const float* y, float* out, std::int64_t n, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i];
}

}  // namespace

Sheet sheet(const Place& place) {
    if (place.device == Device::cuda) return cuda_sheet(place.index);
    const long cache = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
    return {cache > 0 ? static_cast<std::size_t>(cache) : unknown_cache};
}

double peak_flops(const Sheet& sheet, DType input, bool tf32) {
    const auto* row = std::find_if(std::begin(units), std::end(units), [&](const Units& one) {
        return one.major == sheet.major && one.minor == sheet.minor;
    });
    if (row == std::end(units) || is_integer(input)) return 0;
    const double a_clock = is_half(input)                     ? row->tensor_half
                           : real_of(input) == DType::float64 ? std::max(row->float64, row->tensor_float64)
                           : tf32                             ? row->tensor_tf32
                                                              : row->float32;
    return a_clock * sheet.multiprocessors * sheet.clock;
}

std::string_view name(Mix mix) {
    return mix == Mix::read ? "read" : mix == Mix::copy ? "copy" : "add";
}

Mix nearest(double read, double written) {
    const double share = read / (read + written);
    const auto away = [share](double of) { return std::abs(share - of); };
    if (away(1) < away(2.0 / 3)) return Mix::read;
    return away(2.0 / 3) < away(0.5) ? Mix::add : Mix::copy;
}

Problem problem(Mix mix, std::size_t bytes, const Place& place) {
    const std::size_t tensors = mix == Mix::read ? 1 : mix == Mix::copy ? 2 : 3;
    const auto n = std::max<std::int64_t>(4, static_cast<std::int64_t>(bytes / tensors / 16 * 4));  // of 16 bytes
    const Spec spec{DType::float32, {n}};
    Problem problem;
    problem.place = place;
    problem.in.assign(mix == Mix::add ? 2 : 1, spec);
    problem.out = {mix == Mix::read ? Spec{DType::float32, {1}} : spec};
    return problem;
}

Plan prepare(Mix mix, const Problem& problem) {
    if (problem.place.device == Device::cuda) return cuda_prepare(mix, problem);
    Plan plan;
    plan.step = [mix, n = problem.in[0].size(), threads = threads_of(problem.place)](const Call& call) {
        if (mix == Mix::read)
            read(call.in[0].as<const std::uint32_t>(), call.out[0].as<std::uint32_t>(), n, threads);
        else if (mix == Mix::copy)
            copy(call.in[0].as<const float>(), call.out[0].as<float>(), n, threads);
        else
            add(call.in[0].as<const float>(), call.in[1].as<const float>(), call.out[0].as<float>(), n, threads);
    };
    return plan;
}

}  // namespace gridstride::rates
