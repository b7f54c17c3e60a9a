// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of the elementwise operations, one for each mapping of elements to threads. An operation gives its
// function; the kernels are the textbook's. Bytes: each input and the output once. Limited by memory bandwidth.
//   one_per_thread  1-D grid, thread i makes element i; the guard stops the last block's spare threads
//   grid_2d         x along the last axis, y along the rows; a problem of more rows than a grid has loops over y
//   grid_stride     as many blocks as the device holds, each thread strides over the elements by the grid's size
//                   (M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops", 2013)
#pragma once

#include <algorithm>

#include "core/device_convert.cuh"
#include "core/elementwise.hpp"

namespace gridstride::elementwise {

constexpr std::size_t most_axes = 8;  // after neighbours that step as one are joined

/// Where element i of the output finds its inputs.
struct Access {
    int rank = 1;
    std::int64_t extents[most_axes] = {};
    std::int64_t strides[2][most_axes] = {};  // 0: repeated

    __device__ std::int64_t offset(int input, std::int64_t i) const {
        if (rank == 1) return i * strides[input][0];
        std::int64_t at = 0;
        for (int axis = rank - 1; axis > 0; --axis) {
            at += i % extents[axis] * strides[input][axis];
            i /= extents[axis];
        }
        return at + i * strides[input][0];
    }
};

/// out[i] = Function()(x[...], y[...]) in the arithmetic type A of the stored type T. Unary functions leave y alone.
template <class Function, class T>
__device__ void make(const T* x, const T* y, T* out, const Access& access, std::int64_t i) {
    if constexpr (Function::inputs == 1)
        out[i] = Function::template of<T>(x[access.offset(0, i)]);
    else
        out[i] = Function::template of<T>(x[access.offset(0, i)], y[access.offset(1, i)]);
}

template <class Function, class T>
__global__ void one_per_thread_kernel(const T* x, const T* y, T* out, Access access, std::int64_t n) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) make<Function>(x, y, out, access, i);
}

/// rows_a_step: how many rows the grid covers at a time, or all of them (then a thread has one row at the most).
template <class Function, class T>
__global__ void grid_2d_kernel(const T* x, const T* y, T* out, Access access, std::int64_t rows, std::int64_t columns,
                               std::int64_t rows_a_step) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; row < rows;
         row += rows_a_step)
        make<Function>(x, y, out, access, row * columns + column);
}

template <class Function, class T>
__global__ void grid_stride_kernel(const T* x, const T* y, T* out, Access access, std::int64_t n) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        make<Function>(x, y, out, access, i);
}

enum class Mapping { one_per_thread, grid_2d, grid_stride };

/// The kernel's address, for limits and occupancy.
template <class Function, class T>
const void* kernel_of(Mapping mapping) {
    switch (mapping) {
        case Mapping::one_per_thread:
            return reinterpret_cast<const void*>(one_per_thread_kernel<Function, T>);
        case Mapping::grid_2d:
            return reinterpret_cast<const void*>(grid_2d_kernel<Function, T>);
        default:
            return reinterpret_cast<const void*>(grid_stride_kernel<Function, T>);
    }
}

/// The type elements have in the kernel: the inputs' where the output has it too and arithmetic is its own, else the
/// arithmetic type, to and from which a workspace converts.
inline DType element_type(const Op& op, const Problem& problem) {
    const DType in = problem.in[0].dtype, out = problem.out[0].dtype;
    return in == out ? in : arithmetic(op, problem);
}

/// Bytes of workspace where types differ: inputs and result in the arithmetic type.
inline std::size_t converted_bytes(const Op& op, const Problem& problem) {
    const DType type = element_type(op, problem);
    std::size_t bytes = 0;
    for (const Spec& spec : problem.in)
        if (spec.dtype != type) bytes += static_cast<std::size_t>(spec.size()) * size_of(type) + 256;
    return problem.out[0].dtype == type ? bytes
                                        : bytes + static_cast<std::size_t>(problem.out[0].size()) * size_of(type) + 512;
}

/// Why the mapping cannot do the problem; empty: it can.
template <class Function>
std::string refuses(Mapping mapping, const Op& op, const Problem& problem) {
    if (collapse(problem.out[0].shape, problem.in).extents.size() > most_axes)
        return "more than 8 axes that do not merge";
    const void* kernel = with_any_type(element_type(op, problem), [&]<class T>() {
        return kernel_of<Function, gridstride::cuda::device_type<T>>(mapping);
    });
    return gridstride::cuda::launch_refusal(problem, kernel, mapping == Mapping::grid_2d ? 2 : 1, 0);
}

struct Shapes {
    dim3 grid, block;
};

/// Grid and block: those asked for, or 256 threads a block and a grid that covers the data.
inline Shapes shapes(Mapping mapping, const Problem& problem, const Nest& nest, std::int64_t n) {
    using gridstride::cuda::ceil_div;
    using gridstride::cuda::dim3_of;
    const Launch& launch = problem.launch;
    const bool flat = mapping != Mapping::grid_2d;
    const bool one_row = nest.extents.back() == n;
    Shapes result{{1, 1, 1},
                  launch.block.empty() ? (flat || one_row ? dim3(256) : dim3(32, 8)) : dim3_of(launch.block)};
    if (!launch.grid.empty()) {
        result.grid = dim3_of(launch.grid);
    } else if (mapping == Mapping::one_per_thread) {
        result.grid.x = static_cast<unsigned>(ceil_div(n, result.block.x));
    } else if (mapping == Mapping::grid_2d) {
        const std::int64_t columns = nest.extents.back();
        result.grid.x = static_cast<unsigned>(ceil_div(columns, result.block.x));
        result.grid.y = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(n / columns, result.block.y), 65535));
    } else {
        const std::int64_t resident =
            std::max<std::int64_t>(problem.place.limits.multiprocessors, 1) * (2048 / result.block.x);
        result.grid.x =
            static_cast<unsigned>(std::min(ceil_div(n, result.block.x), std::max<std::int64_t>(resident, 1)));
    }
    return result;
}

/// The whole operation as a plan.
template <class Function>
Plan plan(Mapping mapping, const Op& op, const Problem& problem) {
    using gridstride::cuda::device_type;
    const std::int64_t n = problem.out[0].size();
    Plan plan;
    if (n == 0) {
        plan.step = [](const Call&) {};
        return plan;
    }
    const Nest nest = collapse(problem.out[0].shape, problem.in);
    Access access;
    access.rank = static_cast<int>(nest.extents.size());
    for (std::size_t axis = 0; axis < nest.extents.size(); ++axis) {
        access.extents[axis] = nest.extents[axis];
        for (std::size_t i = 0; i < problem.in.size(); ++i) access.strides[i][axis] = nest.strides[i][axis];
    }
    const DType type = element_type(op, problem), from = problem.in[0].dtype, to = problem.out[0].dtype;
    const auto size = size_of(type);
    const auto aligned = [&](std::int64_t elements) {
        return (static_cast<std::size_t>(elements) * size + 255) / 256 * 256;
    };
    std::vector<std::size_t> at;  // of converted inputs, then of the result, in the workspace
    for (const Spec& spec : problem.in) {
        at.push_back(plan.workspace);
        if (from != type) plan.workspace += aligned(spec.size());
    }
    at.push_back(plan.workspace);
    if (to != type) plan.workspace += aligned(n) + 256;  // and store_results' scratch

    const Shapes launch = shapes(mapping, problem, nest, n);
    with_any_type(type, [&]<class Host>() {
        using T = device_type<Host>;
        plan.launched = gridstride::cuda::describe(kernel_of<Function, T>(mapping), launch.grid, launch.block, 0, n);
        plan.step = [=, op = &op, out = problem.out[0], inputs = problem.in, columns = nest.extents.back(),
                     asked_grid = !problem.launch.grid.empty()](const Call& call) {
            const T* in[2] = {};
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                in[i] = call.in[i].as<const T>();
                if (from == type) continue;
                gridstride::cuda::convert(from, call.in[i].data, type, call.workspace + at[i], inputs[i].size(),
                                          nullptr, call.stream);
                in[i] = reinterpret_cast<const T*>(call.workspace + at[i]);
            }
            T* result = to == type ? call.out[0].as<T>() : reinterpret_cast<T*>(call.workspace + at.back());
            const auto stream = gridstride::cuda::raw(call.stream);
            if (mapping == Mapping::one_per_thread) {
                one_per_thread_kernel<Function, T>
                    <<<launch.grid, launch.block, 0, stream>>>(in[0], in[1], result, access, n);
            } else if (mapping == Mapping::grid_2d) {
                const std::int64_t rows = n / columns,
                                   covered = static_cast<std::int64_t>(launch.grid.y) * launch.block.y;
                const bool loops = !asked_grid || rows > std::int64_t{65535} * launch.block.y;
                grid_2d_kernel<Function, T><<<launch.grid, launch.block, 0, stream>>>(
                    in[0], in[1], result, access, rows, columns, loops ? covered : rows);
            } else {
                grid_stride_kernel<Function, T>
                    <<<launch.grid, launch.block, 0, stream>>>(in[0], in[1], result, access, n);
            }
            gridstride::cuda::check_launch();
            if (to != type)
                gridstride::cuda::store_results(
                    op->name, type, reinterpret_cast<const std::byte*>(result), out, call.out[0].data,
                    reinterpret_cast<std::int64_t*>(call.workspace + at.back() + aligned(n)), call.stream);
        };
    });
    return plan;
}

}  // namespace gridstride::elementwise
