// SPDX-License-Identifier: BSD-3-Clause
// The vendor's transform, in float32 or float64, by plans with 64-bit sizes:
//   load       what cuFFT cannot take as it lies (halves, narrower types, cropped or padded axes), and every half
//              spectrum, since a complex to real transform destroys its input, goes to the workspace. x is never
//              written
//   transform  one stage for each run of up to three axes that are neighbours in memory: real to complex first, complex
//              to real last, complex ones in place beside them. A stage is one call where a batch of a single stride
//              holds all its transforms, else one call for each place outside (or inside) the axes, of which the fewer
//   finish     the norm's factor, |X|^2, the real part; then the conversion to the output
// cuFFT wants real data aligned as complex data is: where a real stage takes several calls, the part of each begins at
// an even place of a copy. The work area is in the plan's workspace; nothing is allocated in the step.
// About 2.5 N log2 N flops a real and 5 N log2 N a complex transform; limited by memory bandwidth.
// cuFFT: https://docs.nvidia.com/cuda/cufft
#include <cufft.h>
#include <cufftXt.h>

#include <algorithm>
#include <memory>

#include "core/cufft.hpp"
#include "core/device_convert.cuh"
#include "dft/dft.hpp"

namespace gridstride::dft::cuda::cufft {

namespace {

using gridstride::cuda::Complex;
using std::int64_t;

enum class Kind { c2c, r2c, c2r };

constexpr unsigned threads = 256;
constexpr int most_axes = 8;            // of which the length changes
constexpr std::size_t most_a_plan = 3;  // axes: cuFFT's limit

// ---- load and finish --------------------------------------------------------------------------------------------

/// Where element (o, n, i) of a row-major (outer, along, inner) lies on the real side of a stage.
struct Lines {
    int64_t along = 1, inner = 1;
    int64_t outer_step = 1, along_step = 1, inner_step = 1;
    bool as_it_is = true;  // row-major itself

    __device__ int64_t at(int64_t i) const {
        if (as_it_is) return i;
        return i / (along * inner) * outer_step + i / inner % along * along_step + i % inner * inner_step;
    }
};

/// The grid's elements in x: axes whose length does not change are one with the axis before them.
struct Box {
    int rank = 0;
    int64_t extents[most_axes + 1] = {};                                // of the grid
    int64_t entering[most_axes + 1] = {}, strides[most_axes + 1] = {};  // of x

    /// Offset in x, or -1 where the grid is padding.
    __device__ int64_t at(int64_t i) const {
        int64_t offset = 0;
        for (int axis = rank - 1; axis >= 0; --axis) {
            const int64_t place = i % extents[axis];
            if (place >= entering[axis]) return -1;
            offset += place * strides[axis];
            i /= extents[axis];
        }
        return offset;
    }
};

template <class T>
inline constexpr bool is_complex_device = false;
template <class T>
inline constexpr bool is_complex_device<Complex<T>> = true;

/// E: R or Complex<R>.
template <class R, class T, class E>
__global__ void load_kernel(const T* x, E* grid, Box box, Lines lines, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t from = box.at(i);
        E value(0);
        if (from >= 0) {
            if constexpr (is_complex_device<T>)
                value = E(x[from]);
            else
                value = E(gridstride::cuda::widen<R>(x[from]));
        }
        grid[lines.at(i)] = value;
    }
}

/// Imaginary parts of bins 0 and N/2 to zero along an axis of `bins` = N/2 + 1: a real result does not depend on them.
template <class R>
__global__ void edges_kernel(Complex<R>* spectrum, int64_t bins, int64_t inner, bool even, int64_t lines) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t l = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; l < lines; l += step) {
        const int64_t first = l / inner * bins * inner + l % inner;
        spectrum[first].im = 0;
        if (even) spectrum[first + (bins - 1) * inner].im = 0;
    }
}

/// `out` may be `made` where the types are the same and the lines as they are.
template <class M, class R, class Out>
__global__ void finish_kernel(const M* made, Out* out, Lines lines, R factor, bool power, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const M value = made[lines.at(i)];
        if constexpr (std::is_same_v<M, R>) {
            out[i] = factor * value;
        } else {
            const M scaled(factor * value.re, factor * value.im);
            if constexpr (std::is_same_v<Out, R>)
                out[i] = power ? scaled.re * scaled.re + scaled.im * scaled.im : scaled.re;
            else
                out[i] = scaled;
        }
    }
}

unsigned blocks_for(int64_t n) {
    return static_cast<unsigned>(std::min<int64_t>(gridstride::cuda::ceil_div(n, threads), 132 * 16));
}

// ---- stages -----------------------------------------------------------------------------------------------------

/// How one side of a stage lies: cuFFT's advanced layout, and the distance between calls. In elements.
struct Side {
    std::vector<long long> extents;
    long long stride = 1, distance = 1, step = 0;
};

struct Stage {
    Kind kind = Kind::c2c;
    std::vector<long long> lengths;
    Side from, to;
    long long batch = 1;
    int64_t calls = 1;
};

int64_t product(const std::vector<long long>& values) {
    int64_t result = 1;
    for (const long long value : values) result *= value;
    return result;
}

/// A side that lies row-major: (outer, extents, inner).
Side side(std::vector<long long> extents, int64_t outer, int64_t inner) {
    const int64_t along = product(extents);
    Side result{std::move(extents), inner, 1, 0};
    if (inner == 1)
        result.distance = along;
    else if (outer > inner) {
        result.distance = along * inner;
        result.step = 1;
    } else {
        result.step = along * inner;
    }
    return result;
}

/// The real side: as it is where one call does all, else a copy in which each call's part begins at an even place.
Side real_side(std::vector<long long> extents, int64_t outer, int64_t inner, Lines& lines) {
    const int64_t along = product(extents);
    const auto even = [](int64_t n) { return n + n % 2; };
    lines = {along, inner, along * inner, inner, 1, true};
    if (inner == 1 || outer == 1) return side(std::move(extents), outer, inner);
    lines.as_it_is = false;
    if (outer <= inner) {
        lines.outer_step = even(along * inner);
        return {std::move(extents), inner, 1, lines.outer_step};
    }
    lines.outer_step = along;  // (inner, outer, along)
    lines.along_step = 1;
    lines.inner_step = even(outer * along);
    return {std::move(extents), 1, along, lines.inner_step};
}

/// The transform along axes first .. last, from an array of one shape into one of the other. lines: of its real side.
Stage stage(Kind kind, const Shape& from, const Shape& to, std::size_t first, std::size_t last, Lines& lines) {
    const auto slice = [](const Shape& shape, std::size_t begin, std::size_t end) {
        return std::vector<long long>(shape.begin() + static_cast<int64_t>(begin),
                                      shape.begin() + static_cast<int64_t>(end));
    };
    const int64_t outer = product(slice(from, 0, first)), inner = product(slice(from, last + 1, from.size()));
    Stage result;
    result.kind = kind;
    const std::vector<long long> in = slice(from, first, last + 1), out = slice(to, first, last + 1);
    result.lengths = kind == Kind::c2r ? out : in;
    result.from = kind == Kind::r2c ? real_side(in, outer, inner, lines) : side(in, outer, inner);
    result.to = kind == Kind::c2r ? real_side(out, outer, inner, lines) : side(out, outer, inner);
    const bool over_inner = inner > 1 && outer > inner;  // one call for each place inside
    result.batch = inner == 1 || over_inner ? outer : inner;
    result.calls = inner == 1 ? 1 : over_inner ? inner : outer;
    return result;
}

// ---- the whole computation, resolved ----------------------------------------------------------------------------

struct Work {
    Layout layout;
    Spec x, out;
    Kind kind = Kind::c2c;
    DType real = DType::float32;                                                   // of the arithmetic
    DType taken = DType::float32, made = DType::float32, result = DType::float32;  // what cuFFT reads, writes; finished
    Box box;
    Lines lines;                                                           // of the real side
    std::vector<Stage> stages;                                             // in order
    int64_t bins = 1, outer = 1, inner = 1;                                // of the half spectrum that c2r reads
    bool resizes = false, loads = false, makes = false, converts = false;  // through: loaded, made, result
    std::size_t loaded = 0, made_at = 0, result_at = 0, area = 0;  // offsets in the workspace; area: the last, cuFFT's
};

std::size_t padded(int64_t elements, DType type) {
    return (static_cast<std::size_t>(elements) * size_of(type) + 255) / 256 * 256;
}

/// The grid's axes in x, those that keep their length joined to the one before. False: too many that change.
bool set_box(Box& box, const Shape& x, const Shape& grid) {
    const Shape strides = row_major_strides(x);
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
        if (box.rank > 0 && x[axis] == grid[axis]) {
            box.extents[box.rank - 1] *= grid[axis];
            box.entering[box.rank - 1] *= x[axis];
            box.strides[box.rank - 1] = strides[axis];
            continue;
        }
        if (box.rank == most_axes + 1) return false;
        box.extents[box.rank] = grid[axis];
        box.entering[box.rank] = x[axis];
        box.strides[box.rank++] = strides[axis];
    }
    return true;
}

/// Complex stages along the marked axes of `shape`, one a run of neighbours.
void add_complex_stages(std::vector<Stage>& stages, const Shape& shape, const std::vector<bool>& marked) {
    Lines none;
    for (std::size_t axis = 0; axis < shape.size();) {
        std::size_t end = axis;
        while (end < shape.size() && marked[end] && end - axis < most_a_plan) ++end;
        if (end > axis) stages.push_back(stage(Kind::c2c, shape, shape, axis, end - 1, none));
        axis = std::max(end, axis + 1);
    }
}

Work work(const Problem& problem) {
    Work result;
    result.layout = layout(problem.params, problem.in[0]);
    const Layout& posed = result.layout;
    result.x = problem.in[0];
    result.out = problem.out[0];
    result.real = real_of(arithmetic(op, problem));
    const DType complex = complex_of(result.real);
    const bool gives_real = posed.form == Form::real || posed.form == Form::power;
    // A transform of length 1 is the identity: no stage has one.
    if (posed.lengths.back() > 1)
        result.kind = posed.form == Form::real ? Kind::c2r : posed.halved ? Kind::r2c : Kind::c2c;
    result.taken = result.kind == Kind::r2c ? result.real : complex;
    result.made = result.kind == Kind::c2r ? result.real : complex;
    result.result = gives_real ? result.real : complex;
    result.converts = result.out.dtype != result.result;
    result.resizes = posed.grid != result.x.shape;

    // Axes of length 1 keep no others apart.
    Shape grid, out;
    std::vector<bool> marked;
    std::size_t last = 0;
    for (std::size_t axis = 0; axis < posed.grid.size(); ++axis) {
        if (posed.grid[axis] == 1) continue;
        if (axis == posed.last()) last = grid.size();
        grid.push_back(posed.grid[axis]);
        out.push_back(posed.out[axis]);
        marked.push_back(std::find(posed.axes.begin(), posed.axes.end(), axis) != posed.axes.end());
    }
    if (result.out.size() > 0) {
        if (result.kind == Kind::r2c) {
            std::size_t first = last;
            while (first > 0 && marked[first - 1] && last - first + 1 < most_a_plan) --first;
            result.stages.push_back(stage(Kind::r2c, grid, out, first, last, result.lines));
            std::fill(marked.begin() + static_cast<int64_t>(first), marked.begin() + static_cast<int64_t>(last) + 1,
                      false);
            add_complex_stages(result.stages, out, marked);
        } else if (result.kind == Kind::c2r) {
            marked[last] = false;
            add_complex_stages(result.stages, grid, marked);
            result.stages.push_back(stage(Kind::c2r, grid, out, last, last, result.lines));
            result.bins = grid[last];
            result.outer = count(Shape(grid.begin(), grid.begin() + static_cast<int64_t>(last)));
            result.inner = count(Shape(grid.begin() + static_cast<int64_t>(last) + 1, grid.end()));
        } else {
            add_complex_stages(result.stages, grid, marked);
        }
    }

    result.loads = result.x.dtype != result.taken || result.resizes || result.kind == Kind::c2r ||
                   result.stages.empty() || (result.kind == Kind::r2c && !result.lines.as_it_is);
    result.makes = result.made != result.result || (result.kind == Kind::c2r && !result.lines.as_it_is);
    // The real side may hold gaps: as many elements as its calls' parts.
    const auto real_elements = [&](const Shape& shape, const Side& side, int64_t calls) {
        return result.lines.as_it_is ? count(shape) : side.step * calls;
    };
    std::size_t at = 0;
    if (result.loads && result.kind != Kind::c2c && !result.stages.empty()) {  // a complex transform is in place
        const Stage& first = result.stages.front();
        at += padded(result.kind == Kind::r2c ? real_elements(posed.grid, first.from, first.calls) : count(posed.grid),
                     result.taken);
    }
    result.made_at = at;
    if (result.makes && result.out.size() > 0) {
        const int64_t elements = result.kind == Kind::c2r && !result.stages.empty()
                                     ? real_elements(posed.out, result.stages.back().to, result.stages.back().calls)
                                     : count(posed.out);
        at += padded(elements, result.made);
    }
    result.result_at = at;
    if (result.converts) at += padded(result.out.size(), result.result);
    result.area = at;
    return result;
}

// ---- cuFFT's plans ----------------------------------------------------------------------------------------------

class Handle {
  public:
    /// Error (device): cuFFT makes no plan for the stage.
    Handle(const Stage& stage, DType real) {
        using gridstride::cuda::check;
        check(cufftCreate(&plan_));
        try {
            check(cufftSetAutoAllocation(plan_, 0));
            const bool wide = real == DType::float64;
            const cudaDataType of_real = wide ? CUDA_R_64F : CUDA_R_32F, of_complex = wide ? CUDA_C_64F : CUDA_C_32F;
            Stage s = stage;  // cuFFT takes the sizes through pointers that are not const
            check(cufftXtMakePlanMany(
                plan_, static_cast<int>(s.lengths.size()), s.lengths.data(), s.from.extents.data(), s.from.stride,
                s.from.distance, s.kind == Kind::r2c ? of_real : of_complex, s.to.extents.data(), s.to.stride,
                s.to.distance, s.kind == Kind::c2r ? of_real : of_complex, s.batch, &area_, of_complex));
        } catch (...) {
            cufftDestroy(plan_);
            throw;
        }
    }
    ~Handle() { cufftDestroy(plan_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    cufftHandle get() const { return plan_; }
    std::size_t area() const { return area_; }

  private:
    cufftHandle plan_ = 0;
    std::size_t area_ = 0;
};

using Handles = std::vector<std::shared_ptr<const Handle>>;

// ---- the step ---------------------------------------------------------------------------------------------------

template <class R>
void load(const Work& work, const std::byte* x, std::byte* grid, cudaStream_t stream) {
    const int64_t n = count(work.layout.grid);
    const Lines lines = work.kind == Kind::r2c ? work.lines : Lines{};
    with_type<float16, bfloat16, float, double, complex64, complex128>(work.x.dtype, [&]<class Host>() {
        using T = gridstride::cuda::device_type<Host>;
        const auto* from = reinterpret_cast<const T*>(x);
        if constexpr (sizeof(Host) <= (is_complex_type<Host> ? 2 : 1) * sizeof(R)) {  // arithmetic is no narrower
            if (is_complex(work.taken))
                load_kernel<R><<<blocks_for(n), threads, 0, stream>>>(from, reinterpret_cast<Complex<R>*>(grid),
                                                                      work.box, lines, n);
            else if constexpr (!is_complex_type<Host>)
                load_kernel<R>
                    <<<blocks_for(n), threads, 0, stream>>>(from, reinterpret_cast<R*>(grid), work.box, lines, n);
        }
    });
    gridstride::cuda::check_launch();
}

template <class R>
void finish(const Work& work, const std::byte* made, std::byte* result, cudaStream_t stream) {
    const auto factor = static_cast<R>(work.layout.factor);
    if (made == result && factor == 1) return;
    const int64_t n = work.out.size();
    const bool power = work.layout.form == Form::power;
    const Lines lines = work.kind == Kind::c2r ? work.lines : Lines{};
    const auto launch = [&]<class M, class Out>() {
        finish_kernel<M, R, Out><<<blocks_for(n), threads, 0, stream>>>(
            reinterpret_cast<const M*>(made), reinterpret_cast<Out*>(result), lines, factor, power, n);
    };
    if (!is_complex(work.made))
        launch.template operator()<R, R>();
    else if (!is_complex(work.result))
        launch.template operator()<Complex<R>, R>();
    else
        launch.template operator()<Complex<R>, Complex<R>>();
    gridstride::cuda::check_launch();
}

/// One stage: all its calls.
void execute(const Stage& stage, const Handle& handle, DType real, bool inverse, const std::byte* from, std::byte* to,
             std::byte* area, cudaStream_t stream) {
    using gridstride::cuda::check;
    check(cufftSetStream(handle.get(), stream));
    if (handle.area() > 0) check(cufftSetWorkArea(handle.get(), area));
    const auto bytes = [&](long long step, bool is_real) {
        return step * static_cast<int64_t>(size_of(is_real ? real : complex_of(real)));
    };
    const int64_t from_step = bytes(stage.from.step, stage.kind == Kind::r2c),
                  to_step = bytes(stage.to.step, stage.kind == Kind::c2r);
    for (int64_t call = 0; call < stage.calls; ++call)
        check(cufftXtExec(handle.get(), const_cast<std::byte*>(from + call * from_step), to + call * to_step,
                          inverse ? CUFFT_INVERSE : CUFFT_FORWARD));
}

template <class R>
void run(const Work& work, const Handles& handles, const Call& call) {
    if (work.out.size() == 0) return;
    const cudaStream_t stream = gridstride::cuda::raw(call.stream);
    std::byte* const memory = call.workspace;
    std::byte* const result = work.converts ? memory + work.result_at : call.out[0].data;
    std::byte* const made = work.makes ? memory + work.made_at : result;

    const std::byte* from = call.in[0].data;
    std::byte* const grid = work.kind == Kind::c2c ? made : memory + work.loaded;
    if (work.loads) {
        load<R>(work, from, grid, stream);
        from = grid;
    }
    for (std::size_t s = 0; s < work.stages.size(); ++s) {
        const Stage& stage = work.stages[s];
        // Before a half spectrum becomes real, its complex stages are in place in the copy.
        std::byte* const to = work.kind == Kind::c2r && stage.kind == Kind::c2c ? grid : made;
        if (stage.kind == Kind::c2r) {
            const int64_t lines = work.outer * work.inner;
            edges_kernel<<<blocks_for(lines), threads, 0, stream>>>(
                reinterpret_cast<Complex<R>*>(grid), work.bins, work.inner, work.layout.lengths.back() % 2 == 0, lines);
            gridstride::cuda::check_launch();
        }
        execute(stage, *handles[s], work.real, work.layout.inverse, from, to, memory + work.area, stream);
        from = to;
    }
    finish<R>(work, made, result, stream);
    if (work.converts)
        gridstride::cuda::convert(work.result, result, work.out.dtype, call.out[0].data, work.out.size(), nullptr,
                                  call.stream);
}

std::string refuses(const Problem& problem) {
    Box box;
    if (!set_box(box, problem.in[0].shape, layout(problem.params, problem.in[0]).grid))
        return "more than " + std::to_string(most_axes) + " axes are cropped or padded";
    return {};
}

/// cuFFT tells the size of its work area where there is a device; it is about the size of the data.
std::size_t memory(const Problem& problem) {
    const Work resolved = work(problem);
    return resolved.area + padded(count(resolved.layout.grid), complex_of(resolved.real));
}

Plan prepare(const Problem& problem) {
    Work resolved = work(problem);
    set_box(resolved.box, resolved.x.shape, resolved.layout.grid);
    gridstride::cuda::check(cudaSetDevice(problem.place.index));
    Handles handles;
    std::size_t area = 0;
    int64_t calls = 0;
    for (const Stage& stage : resolved.stages) {
        handles.push_back(std::make_shared<const Handle>(stage, resolved.real));
        area = std::max(area, handles.back()->area());
        calls += stage.calls;
    }
    Plan plan;
    plan.workspace = resolved.area + area;
    int version = 0;
    gridstride::cuda::check(cufftGetVersion(&version));
    plan.words = "cuFFT " + std::to_string(version) + ", ";
    plan.words += resolved.kind == Kind::c2c   ? "complex to complex"
                  : resolved.kind == Kind::r2c ? "real to complex"
                                               : "complex to real";
    plan.words += " in " + std::string(name(resolved.real)) + ", plans: " + std::to_string(resolved.stages.size()) +
                  ", calls: " + std::to_string(calls);
    if (resolved.x.dtype != resolved.taken)
        plan.words += ", " + std::string(name(resolved.x.dtype)) + " promoted to " + std::string(name(resolved.taken));
    if (resolved.resizes) plan.words += ", cropped or padded in a copy";
    with_type<float, double>(resolved.real, [&]<class R>() {
        plan.step = [resolved, handles](const Call& call) { run<R>(resolved, handles, call); };
    });
    return plan;
}

}  // namespace

extern const Variant row;
const Variant row{
    .name = "cufft",
    .role = Role::vendor,
    .device = Device::cuda,
    .doc = "cuFFT in float32 or float64, any axes and lengths; halves promoted to float32",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = fast_growth,
};

}  // namespace gridstride::dft::cuda::cufft
