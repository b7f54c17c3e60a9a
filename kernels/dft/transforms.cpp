// SPDX-License-Identifier: BSD-3-Clause
// What the norm-wise judgement needs of a dft: which outputs form one transform, its norm by Parseval from the values
// that enter, and all its outputs by FFTW in long double.
#include <fftw3.h>

#include <cmath>
#include <map>
#include <mutex>

#include "core/operation.hpp"
#include "core/properties.hpp"
#include "dft/dft.hpp"

namespace gridstride::dft {

namespace {

using std::int64_t;
using Complex = std::complex<long double>;

/// FFTW's planner serves one thread at a time.
std::mutex& planner() {
    static std::mutex mutex;
    return mutex;
}

struct Destroy {
    void operator()(fftwl_plan_s* plan) const {
        const std::lock_guard lock(planner());
        fftwl_destroy_plan(plan);
    }
};

class State {
  public:
    State(Layout layout, Slab x) : layout_(std::move(layout)), x_(std::move(x)) {
        const Shape& shape = layout_.out;
        const Shape strides = row_major_strides(shape);
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const auto found = std::find(layout_.axes.begin(), layout_.axes.end(), axis);
            if (found == layout_.axes.end())
                batch_.push_back({shape[axis], strides[axis], x_.strides[axis]});
            else
                ascending_.push_back(static_cast<std::size_t>(found - layout_.axes.begin()));
        }
        for (const std::size_t axis : layout_.axes) {
            extents_.push_back(shape[axis]);
            out_strides_.push_back(strides[axis]);
            entering_.push_back(layout_.entering(x_.spec.shape, axis));
            x_strides_.push_back(x_.strides[axis]);
        }
        grid_strides_ = row_major_strides(layout_.lengths);
    }

    int64_t batches() const {
        int64_t result = 1;
        for (const Batch& axis : batch_) result *= axis.extent;
        return result;
    }

    int64_t transform_of(int64_t index) const {
        int64_t transform = 0;
        for (const Batch& axis : batch_) transform = transform * axis.extent + index / axis.out % axis.extent;
        return transform;
    }

    std::vector<int64_t> places(int64_t transform) const {
        std::vector<int64_t> result;
        const int64_t base = offset(transform, &Batch::out);
        result.reserve(static_cast<std::size_t>(count(extents_)));
        for_each_output([&](int64_t place, int64_t) { result.push_back(base + place); });
        return result;
    }

    double weight(int64_t index) const {
        return layout_.halved && layout_.is_double(index / out_strides_.back() % extents_.back()) ? 2 : 1;
    }

    struct Summary {
        long double norm = 0, magnitude = 0;
        bool finite = true;
    };

    /// Of one transform; computed once.
    Summary summary(int64_t transform) const {
        {
            const std::lock_guard lock(mutex_);
            const auto found = summaries_.find(transform);
            if (found != summaries_.end()) return found->second;
        }
        const Summary result = with_type<float16, bfloat16, float, double, complex64, complex128>(
            x_.spec.dtype, [&]<class T>() { return summarize<T>(transform); });
        const std::lock_guard lock(mutex_);
        return summaries_.emplace(transform, result).first->second;
    }

    std::vector<Complex> all(int64_t transform) const {
        if (!can_transform()) return {};
        std::vector<Complex> grid(static_cast<std::size_t>(layout_.length));
        with_type<float16, bfloat16, float, double, complex64, complex128>(x_.spec.dtype, [&]<class T>() {
            for_each_entering([&](const Shape& place, int64_t at) {
                int64_t target = 0;
                for (std::size_t i = 0; i < place.size(); ++i) target += place[i] * grid_strides_[i];
                // The real part of the transform of the weighted half spectrum is what its Hermitian completion gives.
                grid[static_cast<std::size_t>(target)] =
                    weight_in(place.back()) * value<T>(offset(transform, &Batch::in) + at, place.back());
            });
        });
        auto* data = reinterpret_cast<fftwl_complex*>(grid.data());
        fftwl_execute_dft(plan(data), data, data);
        std::vector<Complex> result;
        result.reserve(static_cast<std::size_t>(count(extents_)));
        for_each_output([&](int64_t, int64_t at) {
            const Complex bin = layout_.factor * grid[static_cast<std::size_t>(at)];
            if (layout_.form == Form::power)
                result.emplace_back(bin.real() * bin.real() + bin.imag() * bin.imag());
            else
                result.push_back(layout_.form == Form::real ? Complex(bin.real()) : bin);
        });
        return result;
    }

    bool can_transform() const { return layout_.length <= longest; }

    /// The transform of random weights at the outputs, 0 elsewhere: sum over the outputs of weight X is sum over what
    /// enters of x times this. Called once, before weighted_sum.
    void draw_weights(std::uint64_t seed) {
        weights_.assign(static_cast<std::size_t>(layout_.length), Complex());
        int64_t output = 0;
        for_each_output(
            [&](int64_t, int64_t at) { weights_[static_cast<std::size_t>(at)] = random_weight(seed, output++); });
        auto* data = reinterpret_cast<fftwl_complex*>(weights_.data());
        fftwl_execute_dft(plan(data), data, data);
    }

    Complex weighted_sum(int64_t transform) const {
        Complex sum;
        with_type<float16, bfloat16, float, double, complex64, complex128>(x_.spec.dtype, [&]<class T>() {
            const int64_t base = offset(transform, &Batch::in);
            for_each_entering([&](const Shape& place, int64_t at) {
                int64_t target = 0;
                for (std::size_t i = 0; i < place.size(); ++i) target += place[i] * grid_strides_[i];
                const Complex x = value<T>(base + at, place.back()),
                              weight = weights_[static_cast<std::size_t>(target)];
                sum += weight_in(place.back()) * Complex(x.real() * weight.real() - x.imag() * weight.imag(),
                                                         x.real() * weight.imag() + x.imag() * weight.real());
            });
        });
        return layout_.factor * (layout_.form == Form::real ? Complex(sum.real()) : sum);
    }

  private:
    static constexpr int64_t longest = 1 << 25;  // 1 GiB of complex long double, and as much of results

    struct Batch {
        int64_t extent, out, in;  // strides in the output and in x
    };

    int64_t offset(int64_t transform, int64_t Batch::*stride) const {
        int64_t result = 0;
        for (std::size_t i = batch_.size(); i-- > 0;) {
            result += transform % batch_[i].extent * (batch_[i].*stride);
            transform /= batch_[i].extent;
        }
        return result;
    }

    /// body(place in the output, place in the grid of all bins), ascending in the output.
    template <class Body>
    void for_each_output(Body&& body) const {
        const std::size_t rank = ascending_.size();
        Shape place(rank, 0);
        int64_t out = 0, grid = 0;
        for (int64_t left = count(extents_); left > 0; --left) {
            body(out, grid);
            for (std::size_t i = rank; i-- > 0;) {
                const std::size_t axis = ascending_[i];
                out += out_strides_[axis];
                grid += grid_strides_[axis];
                if (++place[axis] < extents_[axis]) break;
                out -= extents_[axis] * out_strides_[axis];
                grid -= extents_[axis] * grid_strides_[axis];
                place[axis] = 0;
            }
        }
    }

    /// body(place along the transformed axes, offset in x).
    template <class Body>
    void for_each_entering(Body&& body) const {
        Shape place(entering_.size(), 0);
        int64_t at = 0;
        for (int64_t left = count(entering_); left > 0; --left) {
            body(static_cast<const Shape&>(place), at);
            for (std::size_t i = entering_.size(); i-- > 0;) {
                at += x_strides_[i];
                if (++place[i] < entering_[i]) break;
                at -= entering_[i] * x_strides_[i];
                place[i] = 0;
            }
        }
    }

    /// How many bins a value that enters stands for.
    long double weight_in(int64_t bin) const { return layout_.form == Form::real && layout_.is_double(bin) ? 2 : 1; }

    /// An element of x; without the imaginary part that a real result does not depend on.
    template <class T>
    Complex value(int64_t at, int64_t bin) const {
        const T element = x_.as<const T>()[at];
        if constexpr (is_complex_type<T>) {
            const bool ignored =
                layout_.form == Form::real && !layout_.is_double(bin) && layout_.length == layout_.lengths.back();
            return {element.real(), ignored ? 0 : element.imag()};
        } else {
            return static_cast<long double>(element);
        }
    }

    /// Long double squares what a double holds without overflow or underflow, so that no scaling is needed.
    template <class T>
    Summary summarize(int64_t transform) const {
        const int64_t base = offset(transform, &Batch::in);
        Summary result;
        long double squares = 0;
        for_each_entering([&](const Shape& place, int64_t at) {
            const Complex x = value<T>(base + at, place.back());
            const long double weight = weight_in(place.back());
            result.finite = result.finite && std::isfinite(x.real()) && std::isfinite(x.imag());
            result.magnitude += weight * std::hypot(x.real(), x.imag());
            if (layout_.form == Form::real && !layout_.is_double(place.back()))
                squares += hermitian<T>(place, base, x);
            else
                squares += weight * (x.real() * x.real() + x.imag() * x.imag());
        });
        result.magnitude *= layout_.factor;
        result.norm = layout_.factor * std::sqrt(static_cast<long double>(layout_.length) * squares);
        return result;
    }

    /// Share of one value of bin 0 or n/2 in the squares of a real result: only the part that is Hermitian along the
    /// other axes shows there, (X[l] + conj X[-l]) / 2. Where -l is padding, the value answers for both.
    template <class T>
    long double hermitian(const Shape& place, int64_t base, Complex x) const {
        int64_t mirror = place.back() * x_strides_.back();
        for (std::size_t i = 0; i + 1 < place.size(); ++i) {
            const int64_t opposite = place[i] == 0 ? 0 : layout_.lengths[i] - place[i];
            if (opposite >= entering_[i]) return (x.real() * x.real() + x.imag() * x.imag()) / 2;
            mirror += opposite * x_strides_[i];
        }
        const Complex other = value<T>(base + mirror, place.back());
        const long double re = (x.real() + other.real()) / 2, im = (x.imag() - other.imag()) / 2;
        return re * re + im * im;
    }

    /// Made once for all transforms; data: what it will be executed on, of any alignment.
    fftwl_plan plan(fftwl_complex* data) const {
        const std::lock_guard lock(planner());
        if (!plan_) {
            std::vector<fftwl_iodim64> dims;
            for (std::size_t i = 0; i < layout_.lengths.size(); ++i)
                dims.push_back({layout_.lengths[i], grid_strides_[i], grid_strides_[i]});
            plan_.reset(fftwl_plan_guru64_dft(static_cast<int>(dims.size()), dims.data(), 0, nullptr, data, data,
                                              layout_.inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                                              FFTW_ESTIMATE | FFTW_UNALIGNED));
            if (!plan_) throw Error(Category::internal, "FFTW makes no plan in long double");
        }
        return plan_.get();
    }

    Layout layout_;
    Slab x_;
    std::vector<Batch> batch_;                                           // the axes that are not transformed
    std::vector<std::size_t> ascending_;                                 // order of Layout::axes in the output
    Shape extents_, out_strides_, entering_, x_strides_, grid_strides_;  // one for each of Layout::axes
    std::vector<Complex> weights_;
    mutable std::mutex mutex_;
    mutable std::map<int64_t, Summary> summaries_;
    mutable std::unique_ptr<fftwl_plan_s, Destroy> plan_;
};

}  // namespace

/// Of a transform's outputs with the random weights 0, 1, ... in the order of places(); null where N is too long.
std::function<Complex(int64_t transform)> weighted_sums(const Problem& problem, std::span<const Slab> in,
                                                        std::uint64_t seed) {
    const auto state = std::make_shared<State>(layout(problem.params, problem.in[0]), in[0]);
    if (!state->can_transform()) return {};
    state->draw_weights(seed);
    return [state](int64_t transform) { return state->weighted_sum(transform); };
}

std::unique_ptr<Transforms> transforms(const Problem& problem, std::span<const Slab> in) {
    const Layout posed = layout(problem.params, problem.in[0]);
    const auto state = std::make_shared<const State>(posed, in[0]);
    auto result = std::make_unique<Transforms>();
    result->count = state->batches();
    result->length = posed.length;
    result->squared = posed.form == Form::power;
    result->transform_of = [state](int64_t index) { return state->transform_of(index); };
    result->places = [state](int64_t transform) { return state->places(transform); };
    result->weight = [state](int64_t index) { return state->weight(index); };
    result->norm = [state](int64_t transform) { return state->summary(transform).norm; };
    result->magnitude = [state](int64_t transform) { return state->summary(transform).magnitude; };
    result->finite = [state](int64_t transform) { return state->summary(transform).finite; };
    result->all = [state](int64_t transform) { return state->all(transform); };
    result->library = "fftw";
    return result;
}

}  // namespace gridstride::dft
