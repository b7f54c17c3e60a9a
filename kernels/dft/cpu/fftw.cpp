// SPDX-License-Identifier: BSD-3-Clause
// dft by FFTW, in float or double, any axes and strides through its 64-bit guru interface:
//   load       what FFTW cannot take as it lies (halves, narrower types, cropped or padded axes) goes to the workspace
//   transform  complex to complex, real to complex, or complex to real (after the complex inverse along the other axes)
//   finish     the norm's factor, |X|^2 and the conversion, in one pass
// Where the norm shrinks and a transform before it overflowed (finish sees that), the input is scaled by a power of two
// into the workspace and transformed again, so that what has a finite answer gets it.
// Plans are FFTW_ESTIMATE: the same plan, so the same bits, in every run; measured plans would depend on the load of
// the machine. The input is never written.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "core/convert.hpp"
#include "core/parallel.hpp"
#include "dft/dft.hpp"

namespace gridstride::dft::cpu::fftw {

namespace {

using std::int64_t;

/// FFTW's names for one precision.
template <class R>
struct Api;
template <>
struct Api<float> {
    using Plan = fftwf_plan;
    using Complex = fftwf_complex;
    static constexpr auto init_threads = fftwf_init_threads;
    static constexpr auto plan_with_nthreads = fftwf_plan_with_nthreads;
    static constexpr auto alignment_of = fftwf_alignment_of;
    static constexpr auto plan_c2c = fftwf_plan_guru64_dft;
    static constexpr auto plan_r2c = fftwf_plan_guru64_dft_r2c;
    static constexpr auto plan_c2r = fftwf_plan_guru64_dft_c2r;
    static constexpr auto execute_c2c = fftwf_execute_dft;
    static constexpr auto execute_r2c = fftwf_execute_dft_r2c;
    static constexpr auto execute_c2r = fftwf_execute_dft_c2r;
    static constexpr auto destroy = fftwf_destroy_plan;
};
template <>
struct Api<double> {
    using Plan = fftw_plan;
    using Complex = fftw_complex;
    static constexpr auto init_threads = fftw_init_threads;
    static constexpr auto plan_with_nthreads = fftw_plan_with_nthreads;
    static constexpr auto alignment_of = fftw_alignment_of;
    static constexpr auto plan_c2c = fftw_plan_guru64_dft;
    static constexpr auto plan_r2c = fftw_plan_guru64_dft_r2c;
    static constexpr auto plan_c2r = fftw_plan_guru64_dft_c2r;
    static constexpr auto execute_c2c = fftw_execute_dft;
    static constexpr auto execute_r2c = fftw_execute_dft_r2c;
    static constexpr auto execute_c2r = fftw_execute_dft_c2r;
    static constexpr auto destroy = fftw_destroy_plan;
};

enum class Kind { c2c, r2c, c2r };

/// One call of FFTW: what kind, along which dimensions, for which others; extents and strides in elements.
struct Transform {
    Kind kind = Kind::c2c;
    int sign = FFTW_FORWARD;
    unsigned preserve = FFTW_PRESERVE_INPUT;
    std::vector<fftw_iodim64> dims = {}, batch = {};
    int threads = 1;
};

template <class R>
using Shared = std::shared_ptr<std::remove_pointer_t<typename Api<R>::Plan>>;

/// Plans of one precision that this process has made. FFTW's planner serves one thread at a time; executing is free.
template <class R>
class Cache {
  public:
    Cache() { Api<R>::init_threads(); }

    /// The plan for arrays aligned as these. Error (device): FFTW makes none.
    Shared<R> get(const Transform& transform, const std::byte* in, const std::byte* out) {
        const auto alignment = [](const std::byte* data) {
            return Api<R>::alignment_of(reinterpret_cast<R*>(const_cast<std::byte*>(data)));
        };
        std::vector<int64_t> key{static_cast<int64_t>(transform.kind),
                                 transform.sign,
                                 transform.preserve,
                                 transform.threads,
                                 in == out,
                                 alignment(in),
                                 alignment(out)};
        for (const auto* dims : {&transform.dims, &transform.batch}) {
            key.push_back(static_cast<int64_t>(dims->size()));
            for (const fftw_iodim64& dim : *dims) key.insert(key.end(), {dim.n, dim.is, dim.os});
        }
        const std::lock_guard lock(mutex_);
        const auto found = plans_.find(key);
        if (found != plans_.end()) return found->second;
        constexpr std::size_t most = 256;  // plans hold tables; a long sweep starts afresh
        if (plans_.size() >= most) plans_.clear();
        Shared<R> plan(make(transform, in, out), [this](auto* made) {
            const std::lock_guard planner(planner_);
            if (made != nullptr) Api<R>::destroy(made);
        });
        if (plan == nullptr) throw Error(Category::device, "fftw: FFTW makes no plan for this transform");
        plans_.emplace(std::move(key), plan);
        return plan;
    }

  private:
    typename Api<R>::Plan make(const Transform& transform, const std::byte* in, const std::byte* out) {
        const std::lock_guard planner(planner_);
        Api<R>::plan_with_nthreads(transform.threads);
        auto* from = const_cast<std::byte*>(in);
        auto* to = const_cast<std::byte*>(out);
        const auto rank = static_cast<int>(transform.dims.size()), batch = static_cast<int>(transform.batch.size());
        const unsigned flags = FFTW_ESTIMATE | transform.preserve;
        using Complex = typename Api<R>::Complex;
        switch (transform.kind) {
            case Kind::c2c:
                return Api<R>::plan_c2c(rank, transform.dims.data(), batch, transform.batch.data(),
                                        reinterpret_cast<Complex*>(from), reinterpret_cast<Complex*>(to),
                                        transform.sign, flags);
            case Kind::r2c:
                return Api<R>::plan_r2c(rank, transform.dims.data(), batch, transform.batch.data(),
                                        reinterpret_cast<R*>(from), reinterpret_cast<Complex*>(to), flags);
            case Kind::c2r:
                return Api<R>::plan_c2r(rank, transform.dims.data(), batch, transform.batch.data(),
                                        reinterpret_cast<Complex*>(from), reinterpret_cast<R*>(to), flags);
        }
        return nullptr;
    }

    std::mutex mutex_, planner_;  // of the map; of FFTW's planner (plans are destroyed while the map is locked, or not)
    std::map<std::vector<int64_t>, Shared<R>> plans_;
};

template <class R>
Cache<R>& cache() {
    static Cache<R> plans;
    return plans;
}

/// in is written only where in == out or the transform does not preserve it.
template <class R>
void execute(const Transform& transform, const std::byte* in, std::byte* out) {
    using Complex = typename Api<R>::Complex;
    const Shared<R> plan = cache<R>().get(transform, in, out);
    auto* from = const_cast<std::byte*>(in);
    switch (transform.kind) {
        case Kind::c2c:
            return Api<R>::execute_c2c(plan.get(), reinterpret_cast<Complex*>(from), reinterpret_cast<Complex*>(out));
        case Kind::r2c:
            return Api<R>::execute_r2c(plan.get(), reinterpret_cast<R*>(from), reinterpret_cast<Complex*>(out));
        case Kind::c2r:
            return Api<R>::execute_c2r(plan.get(), reinterpret_cast<Complex*>(from), reinterpret_cast<R*>(out));
    }
}

/// The whole computation, resolved. Offsets are into the workspace.
struct Work {
    Layout layout;
    Spec x;
    DType output = DType::complex64;      // of the result
    DType taken = DType::complex64;       // what FFTW reads
    DType made = DType::complex64;        // what it writes
    bool loads = false, resizes = false;  // the input goes through the workspace; its lengths change
    bool finishes_elsewhere = false;      // the result is converted or squared out of the workspace
    int shrink = 0;  // input times 2^-shrink overflows nowhere on its way; 0: the norm shrinks nothing
    std::size_t loaded = 0, transformed = 0, workspace = 0;
    std::vector<Transform> before;  // along the other axes of a real result, in place
    Transform main;
    int threads = 1;
};

/// Has N a prime factor above 13? FFTW then goes through a convolution of twice the length or more.
bool has_large_prime(int64_t length) {
    for (const int64_t prime : {2, 3, 5, 7, 11, 13})
        while (length % prime == 0) length /= prime;
    return length != 1;
}

std::size_t padded(std::size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/// The dimensions of a transform along `axes` of an array of shape `from` into one of shape `to`; lengths: of the axes.
void set_dims(Transform& transform, std::span<const std::size_t> axes, std::span<const int64_t> lengths,
              const Shape& from, const Shape& to) {
    const Shape from_strides = row_major_strides(from), to_strides = row_major_strides(to);
    for (std::size_t i = 0; i < axes.size(); ++i)
        transform.dims.push_back({lengths[i], from_strides[axes[i]], to_strides[axes[i]]});
    for (std::size_t axis = 0; axis < from.size(); ++axis)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end() && from[axis] != 1)
            transform.batch.push_back({from[axis], from_strides[axis], to_strides[axis]});
}

Work work(const Problem& problem) {
    Work result;
    result.layout = layout(problem.params, problem.in[0]);
    const Layout& layout = result.layout;
    result.x = problem.in[0];
    result.output = problem.out[0].dtype;
    const DType real = real_of(arithmetic(op, problem));
    result.main.kind = layout.form == Form::real ? Kind::c2r : layout.halved ? Kind::r2c : Kind::c2c;
    result.taken = result.main.kind == Kind::r2c ? real : complex_of(real);
    result.made = result.main.kind == Kind::c2r ? real : complex_of(real);
    const bool several = layout.axes.size() > 1;
    result.resizes = layout.grid != result.x.shape;
    result.loads = result.resizes || result.x.dtype != result.taken || (layout.form == Form::real && several);
    result.finishes_elsewhere = layout.form == Form::power || result.output != result.made;
    if (layout.factor < 1) {  // 2: a half spectrum counts twice, a complex value may turn; a convolution squares N
        const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(layout.length)));
        const bool convolved = std::any_of(layout.lengths.begin(), layout.lengths.end(), has_large_prime);
        result.shrink = (convolved ? 2 : 1) * bits + 2;
    }
    // A complex transform is in place where its input was loaded (or scaled).
    if ((result.loads || result.shrink > 0) && result.main.kind != Kind::c2c)
        result.workspace += padded(Spec{result.taken, layout.grid}.bytes());
    if (result.finishes_elsewhere) {
        result.transformed = result.workspace;
        result.workspace += padded(Spec{result.made, layout.out}.bytes());
    }

    // Threads cost some ten microseconds a call; a small transform is done before they have started.
    result.threads = threads_of(problem.place);
    const int fftw_threads = count(layout.grid) < (1 << 15) ? 1 : result.threads;
    result.main.threads = fftw_threads;
    result.main.sign = layout.inverse ? FFTW_BACKWARD : FFTW_FORWARD;
    if (layout.form == Form::real && several) {
        Transform others{.sign = FFTW_BACKWARD, .threads = fftw_threads};
        set_dims(others, std::span(layout.axes).first(layout.axes.size() - 1),
                 std::span(layout.lengths).first(layout.axes.size() - 1), layout.grid, layout.grid);
        result.before.push_back(std::move(others));
        set_dims(result.main, std::span(layout.axes).last(1), std::span(layout.lengths).last(1), layout.grid,
                 layout.out);
    } else {
        set_dims(result.main, layout.axes, layout.lengths, layout.grid, layout.out);
    }
    if (result.loads) result.main.preserve = FFTW_DESTROY_INPUT;
    return result;
}

/// Converts x into the grid, cropping and padding.
void load(const Work& work, const std::byte* x, std::byte* grid) {
    const Shape &from = work.x.shape, &to = work.layout.grid;
    const auto from_size = static_cast<int64_t>(size_of(work.x.dtype)),
               to_size = static_cast<int64_t>(size_of(work.taken));
    constexpr int64_t block = 1 << 16;
    if (!work.resizes) {
        for_blocks(count(to), block, work.threads, [&](int64_t begin, int64_t end) {
            convert(work.x.dtype, x + begin * from_size, work.taken, grid + begin * to_size, end - begin,
                    Overflow::infinity);
        });
        return;
    }
    // Rows reach from the last axis whose length changes to the end; what lies in such a row is contiguous in both.
    std::size_t axis = from.size() - 1;
    while (from[axis] == to[axis]) --axis;
    const Shape outer(to.begin(), to.begin() + static_cast<int64_t>(axis));
    const int64_t inner = count(Shape(to.begin() + static_cast<int64_t>(axis) + 1, to.end()));
    const int64_t row = to[axis] * inner, from_row = from[axis] * inner, entering = std::min(row, from_row);
    const Shape from_strides = row_major_strides(Shape(from.begin(), from.begin() + static_cast<int64_t>(axis)));
    for_blocks(count(outer), std::max<int64_t>(1, block / std::max<int64_t>(row, 1)), work.threads,
               [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                       const Shape place = unravel(i, outer);
                       bool inside = true;
                       int64_t source = 0;
                       for (std::size_t a = 0; a < place.size(); ++a) {
                           inside = inside && place[a] < from[a];
                           source += place[a] * from_strides[a];
                       }
                       std::byte* target = grid + i * row * to_size;
                       const int64_t copied = inside ? entering : 0;
                       if (copied > 0)
                           convert(work.x.dtype, x + source * from_row * from_size, work.taken, target, copied,
                                   Overflow::infinity);
                       std::fill(target + copied * to_size, target + row * to_size, std::byte{0});
                   }
               });
}

/// The largest finite |part| of n elements.
double largest(DType dtype, const std::byte* x, int64_t n) {
    return with_type<float16, bfloat16, float, double>(real_of(dtype), [&]<class T>() {
        const T* values = reinterpret_cast<const T*>(x);
        double result = 0;
        for (int64_t i = 0; i < (is_complex(dtype) ? 2 : 1) * n; ++i) {
            const double size = std::abs(static_cast<double>(values[i]));
            if (size > result && size <= std::numeric_limits<double>::max()) result = size;
        }
        return result;
    });
}

/// Is the input such that finite values may have overflowed on their way (and not merely Inf and NaN that were there)?
template <class R>
bool may_overflow(const Work& work, const std::byte* x) {
    const double limit = std::ldexp(static_cast<double>(std::numeric_limits<R>::max()), -work.shrink);
    const auto size = static_cast<int64_t>(size_of(work.x.dtype));
    std::atomic<bool> found = false;
    for_blocks(work.x.size(), 1 << 16, work.threads, [&](int64_t begin, int64_t end) {
        if (largest(work.x.dtype, x + begin * size, end - begin) > limit) found = true;
    });
    return found;
}

/// values *= 2^-shrink.
template <class R>
void scale(const Work& work, std::byte* values, int64_t n) {
    R* all = reinterpret_cast<R*>(values);
    const R power = std::ldexp(R{1}, -work.shrink);
    for_blocks(n, 1 << 16, work.threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) all[i] *= power;
    });
}

/// The factor, |X|^2 and the conversion. `values` (type made) may be the output itself. False where a value was not
/// finite before the factor, which is looked at where the norm shrinks.
template <class R>
bool finish(const Work& work, long double norm, std::byte* values, std::byte* out) {
    const auto factor = static_cast<R>(norm);
    const bool power = work.layout.form == Form::power;
    if (!work.finishes_elsewhere && factor == 1) return true;
    std::atomic<bool> finite = true;
    const int64_t parts = is_complex(work.made) ? 2 : 1;
    const auto size = static_cast<int64_t>(size_of(work.output));
    constexpr int64_t block = 1 << 12;
    for_blocks(count(work.layout.out), block, work.threads, [&](int64_t begin, int64_t end) {
        R* here = reinterpret_cast<R*>(values) + begin * parts;
        const int64_t n = end - begin;
        if (work.shrink > 0) {
            std::conditional_t<sizeof(R) == 8, int64_t, std::int32_t> failures = 0;
            for (int64_t i = 0; i < n * parts; ++i) failures |= !(std::abs(here[i]) <= std::numeric_limits<R>::max());
            if (failures != 0) finite = false;
        }
        if (factor != 1)
            for (int64_t i = 0; i < n * parts; ++i) here[i] *= factor;
        R squares[block];
        if (power)
            for (int64_t i = 0; i < n; ++i) squares[i] = here[2 * i] * here[2 * i] + here[2 * i + 1] * here[2 * i + 1];
        if (work.finishes_elsewhere)
            convert(power ? dtype_of<R> : work.made, reinterpret_cast<std::byte*>(power ? squares : here), work.output,
                    out + begin * size, n, Overflow::infinity);
    });
    return finite;
}

template <class R>
void run(const Work& work, const Call& call) {
    if (count(work.layout.out) == 0) return;
    std::byte* const out = call.out[0].data;
    std::byte* const made = work.finishes_elsewhere ? call.workspace + work.transformed : out;
    const std::byte* const x = call.in[0].data;
    std::byte* const grid = work.main.kind == Kind::c2c ? made : call.workspace + work.loaded;
    const auto transform = [&](const std::byte* taken) {
        for (const Transform& before : work.before) execute<R>(before, grid, grid);
        execute<R>(work.main, taken, made);
    };
    if (work.loads) load(work, x, grid);
    transform(work.loads ? grid : x);
    if (finish<R>(work, work.layout.factor, made, out) || !may_overflow<R>(work, x)) return;
    load(work, x, grid);
    scale<R>(work, grid, count(work.layout.grid) * (is_complex(work.taken) ? 2 : 1));
    transform(grid);
    finish<R>(work, std::ldexp(work.layout.factor, work.shrink), made, out);
}

/// Roots of unity that FFTW holds, about; it does not tell.
std::size_t held(const Work& work) {
    std::size_t total = 0;
    for (const int64_t length : work.layout.lengths)
        total += static_cast<std::size_t>(length) * size_of(complex_of(work.taken));
    return total;
}

std::string refuses(const Problem&) {
    return {};
}

std::size_t memory(const Problem& problem) {
    const Work resolved = work(problem);
    return resolved.workspace + held(resolved);
}

Plan prepare(const Problem& problem) {
    const Work resolved = work(problem);
    Plan plan;
    plan.workspace = resolved.workspace;
    plan.held = held(resolved);
    const std::string_view kind = resolved.main.kind == Kind::c2c   ? "complex to complex"
                                  : resolved.main.kind == Kind::r2c ? "real to complex"
                                                                    : "complex to real";
    plan.words =
        fmt::format("FFTW_ESTIMATE, {} in {}, {} threads", kind, name(real_of(resolved.taken)), resolved.main.threads);
    if (resolved.x.dtype != resolved.taken)
        plan.words += fmt::format(", {} promoted to {}", name(resolved.x.dtype), name(resolved.taken));
    if (resolved.resizes) plan.words += ", cropped or padded in a copy";
    with_type<float, double>(real_of(resolved.taken), [&]<class R>() {
        // FFTW looks at the alignment of the arrays alone; tensors are aligned to 64 bytes.
        if (count(resolved.layout.out) != 0) {
            const auto* one = reinterpret_cast<const std::byte*>(4096);
            const auto* other = reinterpret_cast<const std::byte*>(8192);
            for (const Transform& transform : resolved.before) cache<R>().get(transform, one, one);
            cache<R>().get(resolved.main, one, resolved.loads && resolved.main.kind == Kind::c2c ? one : other);
        }
        plan.step = [resolved](const Call& call) { run<R>(resolved, call); };
    });
    return plan;
}

}  // namespace

const Variant row{
    .name = "fftw",
    .role = Role::vendor,
    .device = Device::cpu,
    .doc = "FFTW in float or double, any axes, lengths and strides; halves promoted to float32",
    .refuses = refuses,
    .prepare = prepare,
    .memory = memory,
    .growth = fast_growth,
};

}  // namespace gridstride::dft::cpu::fftw
