// SPDX-License-Identifier: BSD-3-Clause
// dft by its definition, one output element at a time: the sum over all values that enter, phases reduced modulo N in
// integers, roots of unity in long double. Long double throughout, but for float32 and narrower arithmetic, where the
// products are summed in float64 by blocks of O(sqrt N). Cost: N terms an element, O(sqrt N) roots beside them.
#include <cmath>

#include "core/operation.hpp"
#include "dft/dft.hpp"

namespace gridstride::dft {

namespace {

using std::int64_t;
using Complex = std::complex<long double>;

/// a b modulo n.
int64_t multiply_modulo(int64_t a, int64_t b, int64_t n) {
    __extension__ using Wide = __int128;
    return static_cast<int64_t>(static_cast<Wide>(a) * b % n);
}

/// exp(2 pi i index / length) to the last bit or so: the angle is reduced to the first octant in integers.
class Roots {
  public:
    explicit Roots(int64_t length) : length_(length) {
        constexpr int64_t longest_table = 1 << 18;  // 8 MiB; beyond it each root is computed when asked for
        if (length > longest_table) return;
        table_.reserve(static_cast<std::size_t>(length));
        for (int64_t i = 0; i < length; ++i) table_.push_back(compute(i));
    }

    Complex operator()(int64_t index) const {
        return table_.empty() ? compute(index) : table_[static_cast<std::size_t>(index)];
    }
    int64_t length() const { return length_; }

  private:
    Complex compute(int64_t index) const {
        constexpr long double quarter_pi = 0.78539816339744830961566084581987572L;
        const int64_t octant = 8 * index / length_, rest = 8 * index % length_;
        const bool odd = octant % 2 != 0;  // measured back from the octant's end
        const long double angle =
            quarter_pi * static_cast<long double>(odd ? length_ - rest : rest) / static_cast<long double>(length_);
        const long double c = std::cos(angle), s = std::sin(angle);
        switch (octant) {
            case 0:
                return {c, s};
            case 1:
                return {s, c};
            case 2:
                return {-s, c};
            case 3:
                return {-c, s};
            case 4:
                return {-c, -s};
            case 5:
                return {-s, -c};
            case 6:
                return {s, -c};
            default:
                return {c, -s};
        }
    }

    int64_t length_;
    std::vector<Complex> table_;
};

struct Sum {
    Complex value;
    long double size = 0;  // sum of |re| + |im|

    void add(const Sum& other, Complex root, long double weight = 1) {
        value += weight * product(other.value, root);
        size += weight * other.size;
    }
};

struct TransformedAxis {
    std::size_t axis = 0;
    int64_t entering = 0, stride = 0;
    Roots roots;
};

/// T: of the input; Wide: of the products.
template <class T, class Wide>
struct Definition {
    Layout layout;
    Slab x;
    std::vector<TransformedAxis> axes;  // in the order given; the last runs innermost

    Term operator()(int64_t index) const {
        const Shape place = unravel(index, layout.out);
        const T* base = x.as<const T>();
        for (std::size_t axis = 0; axis < place.size(); ++axis)
            if (std::find(layout.axes.begin(), layout.axes.end(), axis) == layout.axes.end())
                base += place[axis] * x.strides[axis];
        std::vector<int64_t> k;  // of exp(+2 pi i k n / N)
        for (const TransformedAxis& one : axes) {
            const int64_t bin = place[one.axis];
            k.push_back(layout.inverse || bin == 0 ? bin : one.roots.length() - bin);
        }
        // The first roots of the innermost axis serve all its blocks: the root of a sum is the product of the roots.
        const TransformedAxis& inner = axes.back();
        First first;
        const auto block = 3 * static_cast<int64_t>(std::sqrt(static_cast<double>(inner.entering))) + 1;
        first.re.reserve(static_cast<std::size_t>(block));
        first.im.reserve(static_cast<std::size_t>(block));
        for (int64_t j = 0, phase = 0; j < block; ++j) {
            const Complex root = inner.roots(phase);
            first.re.push_back(static_cast<Wide>(root.real()));
            first.im.push_back(static_cast<Wide>(root.imag()));
            phase += k.back();
            if (phase >= inner.roots.length()) phase -= inner.roots.length();
        }
        Sum sum = outer(0, base, k, first);
        Term term;
        term.factor = layout.factor;
        term.unscaled = sum.size;
        const Complex result = layout.factor * sum.value;
        term.re = result.real();
        term.re_magnitude = layout.factor * sum.size;
        if (layout.form == Form::power) {
            term.re = result.real() * result.real() + result.imag() * result.imag();
            term.re_magnitude *= term.re_magnitude;
        } else if (layout.form != Form::real) {
            term.im = result.imag();
            term.im_magnitude = term.re_magnitude;
        }
        return term;
    }

  private:
    struct First {
        std::vector<Wide> re, im;
    };

    Sum outer(std::size_t depth, const T* from, const std::vector<int64_t>& k, const First& first) const {
        const TransformedAxis& axis = axes[depth];
        if (depth + 1 == axes.size())
            return layout.form == Form::real ? half_spectrum(from, k.back(), first)
                                             : range(from, 0, axis.entering, k.back(), first);
        Sum sum;
        for (int64_t n = 0, phase = 0; n < axis.entering; ++n) {
            sum.add(outer(depth + 1, from + n * axis.stride, k, first), axis.roots(phase));
            phase += k[depth];
            if (phase >= axis.roots.length()) phase -= axis.roots.length();
        }
        return sum;
    }

    /// Terms begin to end of the innermost axis.
    Sum range(const T* from, int64_t begin, int64_t end, int64_t k, const First& first) const {
        const TransformedAxis& axis = axes.back();
        const int64_t n = axis.roots.length(), block = static_cast<int64_t>(first.re.size());
        const int64_t step = multiply_modulo(block, k, n);
        int64_t phase = multiply_modulo(begin, k, n);
        Sum sum;
        for (int64_t at = begin; at < end; at += block) {
            const Sum part = products(from + at * axis.stride, axis.stride, std::min(block, end - at), first);
            sum.add(part, axis.roots(phase));
            phase = (phase + step) % n;
        }
        return sum;
    }

    /// The values at `from` times the first roots, in a few independent sums, which a processor adds side by side.
    static Sum products(const T* from, int64_t stride, int64_t n, const First& first) {
        if (stride == 1) return products(from, std::integral_constant<int64_t, 1>(), n, first);
        return products<int64_t>(from, stride, n, first);
    }
    template <class Stride>  // a constant 1 makes vector loads
    static Sum products(const T* from, Stride stride, int64_t n, const First& first) {
        constexpr int64_t lanes = std::is_same_v<Wide, double> ? 8 : 1;  // long doubles have eight registers in all
        Wide re[lanes]{}, im[lanes]{}, size[lanes]{};
        const auto add = [&](int64_t at, int64_t lane) {
            const T value = from[at * stride];
            const Wide root_re = first.re[static_cast<std::size_t>(at)],
                       root_im = first.im[static_cast<std::size_t>(at)];
            if constexpr (is_complex_type<T>) {
                const Wide a = value.real(), b = value.imag();
                re[lane] += a * root_re - b * root_im;
                im[lane] += a * root_im + b * root_re;
                size[lane] += std::abs(a) + std::abs(b);
            } else {
                const Wide a = widened(value);
                re[lane] += a * root_re;
                im[lane] += a * root_im;
                size[lane] += std::abs(a);
            }
        };
        int64_t at = 0;
        for (; at + lanes <= n; at += lanes)
            for (int64_t lane = 0; lane < lanes; ++lane) add(at + lane, lane);
        for (; at < n; ++at) add(at, 0);
        for (int64_t lane = 1; lane < lanes; ++lane) {
            re[0] += re[lane];
            im[0] += im[lane];
            size[0] += size[lane];
        }
        return {{re[0], im[0]}, size[0]};
    }

    static Wide widened(T value) {
        if constexpr (sizeof(T) == 2)
            return static_cast<float>(value);  // one instruction; straight to long double is a call
        else
            return static_cast<Wide>(value);
    }

    /// The sum that Hermitian symmetry implies: an inner bin stands for itself and its mirror image, of which the real
    /// part of the whole (all that is used) is twice the bin's own. Of bin 0 and bin n/2 the imaginary part then drops
    /// out; where the other axes have length 1 it is not even read.
    Sum half_spectrum(const T* from, int64_t k, const First& first) const {
        const TransformedAxis& axis = axes.back();
        const int64_t n = axis.roots.length();
        Sum sum;
        const auto single = [&](int64_t bin) {
            const T value = from[bin * axis.stride];
            Sum one;
            if constexpr (is_complex_type<T>) {
                one.value = {value.real(), layout.length == n ? 0 : value.imag()};
                one.size = std::abs(one.value.real()) + std::abs(one.value.imag());
            } else {
                one.value = static_cast<long double>(value);
                one.size = std::abs(one.value.real());
            }
            sum.add(one, axis.roots(multiply_modulo(bin, k, n)));
        };
        const bool nyquist = n % 2 == 0 && axis.entering == n / 2 + 1;
        if (axis.entering > 0) single(0);
        if (nyquist) single(n / 2);
        const int64_t end = axis.entering - (nyquist ? 1 : 0);
        if (end > 1) sum.add(range(from, 1, end, k, first), 1, 2);
        return sum;
    }
};

}  // namespace

Reference reference(const Problem& problem, std::span<const Slab> in) {
    const Layout posed = layout(problem.params, problem.in[0]);
    return with_type<float16, bfloat16, float, double, complex64, complex128>(
        problem.in[0].dtype, [&]<class T>() -> Reference {
            return with_type<float, double>(real_of(arithmetic(op, problem)), [&]<class Arithmetic>() -> Reference {
                using Wide = std::conditional_t<std::is_same_v<Arithmetic, float>, double, long double>;
                Definition<T, Wide> definition{posed, in[0], {}};
                for (std::size_t i = 0; i < posed.axes.size(); ++i) {
                    const std::size_t axis = posed.axes[i];
                    definition.axes.push_back(
                        {axis, posed.entering(in[0].spec.shape, axis), in[0].strides[axis], Roots(posed.lengths[i])});
                }
                return [shared = std::make_shared<const Definition<T, Wide>>(std::move(definition))](int64_t index) {
                    return (*shared)(index);
                };
            });
        });
}

}  // namespace gridstride::dft
