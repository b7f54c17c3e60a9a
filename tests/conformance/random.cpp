// SPDX-License-Identifier: BSD-3-Clause
// The cases, made from a number each.
#include "conformance/random.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

namespace gridstride::conformance {

namespace {

using validation::Judgement;
using validation::Verdict;

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::int64_t roll(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool one_in(std::int64_t n) { return roll(1, n) == 1; }
    double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(6.283185307179586 * unit()); }
    template <class T>
    const T& pick(const std::vector<T>& of) {
        return of[static_cast<std::size_t>(roll(0, static_cast<std::int64_t>(of.size()) - 1))];
    }
    /// Extents; small ones are likelier.
    std::int64_t extent(std::int64_t most) {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::pow(static_cast<double>(most), unit()) + 0.5));
    }
    Shape shape(std::int64_t rank, std::int64_t most) {
        Shape result;
        for (std::int64_t i = 0; i < rank; ++i) result.push_back(extent(most));
        return result;
    }

  private:
    std::mt19937_64 engine_;
};

Value word(const std::string& text) {
    return {text};
}

const std::vector<DType> floats{DType::float16, DType::bfloat16,  DType::float32,
                                DType::float64, DType::complex64, DType::complex128};
const std::vector<DType> reals{DType::float16, DType::bfloat16, DType::float32, DType::float64};
const std::vector<DType> integers{DType::int32, DType::int64};

void elementwise(Dice& dice, Problem& problem, const Op& op) {
    const DType dtype = dice.one_in(4) ? dice.pick(integers) : dice.pick(floats);
    const Shape shape = dice.shape(dice.roll(0, 4), 40);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        Shape own = shape;
        for (std::int64_t& extent : own)
            if (op.inputs.size() > 1 && dice.one_in(5)) extent = 1;
        problem.in[i] = {dtype, own};
    }
}

void sum(Dice& dice, Problem& problem) {
    const auto rank = dice.roll(0, 4);
    const Shape shape = rank == 1 ? Shape{dice.extent(200'000)} : dice.shape(rank, 60);
    problem.in[0] = {dice.one_in(4) ? dice.pick(integers) : dice.pick(floats), shape};
    gridstride::Values axes;
    for (std::int64_t axis = 0; axis < rank; ++axis)
        if (dice.one_in(2)) axes.emplace_back(axis);
    if (dice.one_in(2)) problem.params.set("axes", axes);
    problem.params.set("keepdims", dice.one_in(2));
}

void matmul(Dice& dice, Problem& problem) {
    const DType dtype = dice.pick(floats);
    const std::int64_t m = dice.extent(80), n = dice.extent(80), k = dice.one_in(20) ? 0 : dice.extent(900);
    const bool turn_a = dice.one_in(3), turn_b = dice.one_in(3);
    Shape a = turn_a ? Shape{k, m} : Shape{m, k}, b = turn_b ? Shape{n, k} : Shape{k, n}, c{m, n};
    if (dice.one_in(3)) {
        const std::int64_t batch = dice.roll(1, 4);
        a.insert(a.begin(), batch);
        c.insert(c.begin(), batch);
        if (dice.one_in(2)) b.insert(b.begin(), dice.one_in(2) ? 1 : batch);
    }
    problem.in[0] = {dtype, a};
    problem.in[1] = {dtype, b};
    const std::string turned = dice.one_in(2) ? "transpose" : "adjoint";
    if (turn_a) problem.params.set("transpose_a", turned);
    if (turn_b) problem.params.set("transpose_b", turned);
    const auto scalar = [&]() -> Value {
        if (is_complex(dtype) && dice.one_in(2)) return gridstride::Values{Value(dice.normal()), Value(dice.normal())};
        return dice.one_in(8) ? Value(0.0) : Value(dice.normal() * (dice.one_in(6) ? 1e-6 : 1));
    };
    if (dice.one_in(2)) problem.params.set("alpha", scalar());
    if (dice.one_in(2)) {
        problem.in[2] = {dtype, c};
        if (dice.one_in(2)) problem.params.set("beta", scalar());
    }
    if (dice.one_in(6)) problem.params.set("compute", word("float64"));
    if (dtype == DType::float32 && dice.one_in(6)) problem.params.set("compute", word("tf32"));
}

void dft(Dice& dice, Problem& problem) {
    const auto rank = dice.roll(1, 3);
    Shape shape = rank == 1 ? Shape{dice.extent(1500)} : dice.shape(rank, rank == 2 ? 50 : 15);
    problem.in[0] = {dice.pick(floats), shape};
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < rank; ++axis) order.push_back(axis);
    for (std::size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[static_cast<std::size_t>(dice.roll(0, static_cast<std::int64_t>(i)))]);
    order.resize(static_cast<std::size_t>(dice.roll(1, rank)));
    gridstride::Values axes, lengths;
    for (const std::int64_t axis : order) {
        axes.emplace_back(axis);
        lengths.emplace_back(std::max<std::int64_t>(1, shape[static_cast<std::size_t>(axis)] + dice.roll(-3, 4)));
    }
    problem.params.set("axes", axes);
    if (dice.one_in(3)) problem.params.set("n", lengths);
    problem.params.set("norm", word(dice.pick<std::string>({"backward", "ortho", "forward"})));
    const auto form = dice.pick<std::string>({"full", "full", "half", "real", "power"});
    problem.params.set("form", word(form));
    if (form == "full" && dice.one_in(2)) problem.params.set("direction", word("inverse"));
}

void convcov(Dice& dice, Problem& problem) {
    const DType dtype = dice.pick(reals);
    const std::int64_t b = dice.roll(1, 2), c = dice.extent(6), h = dice.roll(1, 8), w = dice.roll(1, 8);
    Params& params = problem.params;
    const auto pair = [&](std::int64_t least, std::int64_t most) {
        return gridstride::Values{Value(dice.roll(least, most)), Value(dice.roll(least, most))};
    };
    const Shape taps{dice.roll(1, 4), dice.roll(1, 4)};
    params.set("kernel", gridstride::Values{Value(taps[0]), Value(taps[1])});
    params.set("stride", pair(1, 3));
    params.set("dilation", pair(1, 2));
    params.set("padding", pair(0, 3));
    if (dice.one_in(3)) params.set("padding_mode", word("circular"));
    if (dice.one_in(3)) params.set("symmetric", word("assume"));
    const auto form = dice.pick<std::string>({"full", "channel_diagonal", "factor", "variance"});
    params.set("form", word(form));
    problem.in[1] = {dtype, {b, c, h, w}};
    if (!dice.one_in(4)) problem.in[0] = {dtype, dice.one_in(2) ? Shape{b, c, h, w, c, h, w} : Shape{b, c, h, w, h, w}};
    if (form == "factor") return;
    const std::int64_t channels = dice.roll(1, 4);
    if (dice.one_in(3)) params.set("noise", word("read"));
    if (dice.one_in(4)) {  // weight_variance in place of coef
        problem.in[4] = {DType::float64, {channels, c, taps[0], taps[1]}};
    } else {
        problem.in[2] = {DType::float64, dice.one_in(3) ? Shape{dice.roll(1, 3), channels} : Shape{channels}};
        params.set("bias", dice.one_in(3));
    }
    if (!dice.one_in(2)) return;
    const Shape shape = pose(*support::entry("convcov").op, params, problem.in).out[0].shape;
    problem.in[3] = {dtype, shape};
}

/// Values of one kind, different from case to case.
void fill(Dice& dice, const Slab& slab, double scale) {
    const auto kind = dice.roll(0, 5);
    const double constant = dice.normal();
    const auto real = [&] {
        switch (kind) {
            case 0:
                return scale * dice.normal();
            case 1:
                return scale * dice.unit();
            case 2:
                return scale * constant;
            case 3:
                return scale * (1000 + dice.normal());
            case 4:
                return dice.one_in(20) ? scale * dice.normal() : 0.0;
            default:
                return scale * std::exp(3 * dice.normal());
        }
    };
    with_any_type(slab.spec.dtype, [&]<class T>() {
        for (std::int64_t i = 0; i < slab.spec.size(); ++i) {
            if constexpr (std::is_integral_v<T>) {
                slab.as<T>()[i] = static_cast<T>(dice.roll(-1'000'000'000, 1'000'000'000));
            } else if constexpr (is_complex_type<T>) {
                using Part = typename T::value_type;
                const auto re = static_cast<Part>(real());
                slab.as<T>()[i] = T(re, static_cast<Part>(real()));
            } else {
                slab.as<T>()[i] = static_cast<T>(real());
            }
        }
    });
}

Problem random_problem(Dice& dice, const Op& op) {
    Problem problem;
    problem.in.assign(op.inputs.size(), Spec{DType::float32, {}, false});
    if (op.name == "sum")
        sum(dice, problem);
    else if (op.name == "matmul")
        matmul(dice, problem);
    else if (op.name == "dft")
        dft(dice, problem);
    else if (op.name == "convcov")
        convcov(dice, problem);
    else
        elementwise(dice, problem, op);
    return problem;
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

void expect_no_false_alarm(const Runner& runner) {
    const std::uint64_t wanted = number_of("GRIDSTRIDE_RANDOM_CASES", 300),
                        seed = number_of("GRIDSTRIDE_RANDOM_SEED", 1);
    std::map<std::string, double> used;
    std::map<std::string, int> cases;
    std::uint64_t done = 0;
    for (std::uint64_t number = seed; done < wanted; ++number) {
        Dice dice(number * 0x9e3779b97f4a7c15U);
        const Entry& entry = dice.pick(registry());
        const Op& op = *entry.op;
        Posed posed;
        try {
            const Problem asked = random_problem(dice, op);
            const bool halves = dice.one_in(8);
            posed = pose_case(op, asked, Values::mixed, 1,
                              halves && !is_complex(common_type(op, asked.in)) && op.name != "dft" &&
                                      !is_integer(common_type(op, asked.in))
                                  ? std::optional(DType::float16)
                                  : std::nullopt);
        } catch (const Error&) {
            continue;  // not a valid case
        }
        posed.problem.place = runner.place;
        const double scale = is_half(posed.problem.out[0].dtype) || dice.one_in(2) ? 1 : std::exp2(dice.roll(-80, 50));
        for (const Slab& slab : posed.slabs)
            if (slab.spec.present) fill(dice, slab, is_half(slab.spec.dtype) ? 1 : scale);
        const std::string text = describe(number, posed.problem);
        const Validate asked = dice.one_in(2) ? Validate{.mode = Validate::Mode::full}
                                              : Validate{.sample = 64, .terms = 1e6, .seed = number};
        for (const Variant* variant : entry.variants) {
            if (variant->device != runner.place.device || variant->role == Role::faulty ||
                !refusal(*variant, posed.problem).empty())
                continue;
            SCOPED_TRACE(fmt::format("{}[{}] {}", op.name, variant->name, text));
            const auto again = [&](const Problem& problem, std::span<const Slab> in) {
                return runner.run({&entry, variant}, problem, in);
            };
            const Tensor out = again(posed.problem, posed.slabs);
            const Judgement got =
                validation::judge(op, *variant, posed.problem, posed.slabs, out.slab(), asked, {}, nullptr, 1, again);
            EXPECT_NE(got.verdict, Verdict::mismatch) << got.reason;
            const std::string row = fmt::format("{}[{}]", op.name, variant->name);
            used[row] = std::max(used[row], got.tolerance_used);
            ++cases[row];
            for (const Property& one : got.properties) {
                const std::string name = fmt::format("{} {}", op.name, one.name);
                used[name] = std::max(used[name], static_cast<double>(one.used()));
                ++cases[name];
            }
        }
        ++done;
    }
    for (const auto& [name, share] : used)
        fmt::print("{}: {} cases, at most {:.1f} % of the bound\n", name, cases[name], 100 * share);
}

}  // namespace gridstride::conformance
