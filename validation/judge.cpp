// SPDX-License-Identifier: BSD-3-Clause
// The judge: which places, by which rule, what else could have passed, what the second witness says, and the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "validation/properties.hpp"
#include "validation/scan.hpp"
#include "validation/trial.hpp"
#include "validation/vacuity.hpp"
#include "validation/witness.hpp"

namespace gridstride::validation {

namespace {

constexpr double terms_by_definition = 2e8;   // terms above which whole transforms come from FFTW in long double
constexpr std::int64_t confirmed = 4096;      // elements of the definition that confirm those for FFTW's own answer
constexpr std::int64_t poisoned_places = 64;  // outputs that hold NaN or poison and are put to the reference

std::string number(long double value, DType dtype) {
    if (std::isnan(value)) return "nan";  // whatever its sign
    if (is_integer(dtype) && value == std::nearbyint(value) && std::abs(value) < 0x1p63L)
        return fmt::format("{}", static_cast<std::int64_t>(value));
    const int digits = is_half(dtype) ? 5 : real_of(dtype) == DType::float32 ? 9 : 17;
    return fmt::format("{:.{}g}", value, digits);
}

std::string text(const Complex& value, DType dtype) {
    const std::string re = number(value.re, dtype);
    if (!is_complex(dtype)) return re;
    const std::string im = number(std::abs(value.im), dtype);
    return fmt::format("{}{}{}i", re, std::signbit(value.im) ? "-" : "+", im);
}

/// One line: where, what, how far over, how many; and what was never written, or is NaN.
/// poison_inputs: inputs hold the poison's bits, which a right answer may hold too.
std::string describe(const Tally& tally, const Scan& found, const Spec& output, bool poison_inputs) {
    std::string line;
    if (tally.worst && tally.worst_used > 1) {
        const Worst& worst = *tally.worst;
        line = fmt::format("at {}: got {}, expected {}", index_text(worst.index, output.shape),
                           text(worst.got, output.dtype), text(worst.expected, output.dtype));
        if (std::isfinite(tally.worst_used))
            line += fmt::format(", an error {:.3g} times its bound", tally.worst_used);
        else if (tally.worst_error == 0)
            line += ", a zero of the wrong sign";
        else if (class_of(worst.expected) == Class::finite && class_of(worst.got) != Class::finite)
            line += ", not finite where the reference is";
        else if (std::isfinite(tally.worst_error))
            line += fmt::format(", an error of {:.3g} where none is allowed", tally.worst_error);
        line += fmt::format("; {} of {} checked are wrong", tally.failed, tally.checked);
    } else {
        line = fmt::format("{} of {} checked are outside the bound that nine in ten must keep", tally.failed,
                           tally.checked);
        if (std::isfinite(tally.used)) line += fmt::format(", by {:.3g} times", tally.used);
    }
    if (tally.poisoned > 0 && found.first >= 0)
        line += fmt::format("; {} elements {}unwritten, first at {}", found.poisoned, poison_inputs ? "NaN or " : "",
                            index_text(found.first, output.shape));
    else if (tally.worst && class_of(tally.worst->got) == Class::nan && found.first_nan >= 0)
        line += fmt::format("; {} elements NaN, first at {}", found.nan, index_text(found.first_nan, output.shape));
    return line;
}

/// Notes the NaNs of inputs and output. Do inputs hold any with the poison's bits?
bool count_nans(const Op& op, std::span<const Slab> in, const Scan& found, int threads, Judgement& judgement) {
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!in[i].spec.present || is_integer(in[i].spec.dtype)) continue;
        const Scan held = scan(in[i], 1, threads);
        if (held.nan > 0) judgement.notes.push_back(fmt::format("input {} holds {} NaN", op.inputs[i].name, held.nan));
        any = any || held.poisoned > 0;
    }
    judgement.nan_outputs = found.nan;
    if (found.nan > 0) judgement.notes.push_back(fmt::format("the output holds {} NaN", found.nan));
    return any;
}

void note_rounding(const Tally& tally, const Criterion& criterion, Judgement& judgement) {
    const auto output = name(criterion.output);
    if (tally.wrapped > 0)
        judgement.notes.push_back(fmt::format("{} of the judged results overflow {} and wrap", tally.wrapped, output));
    if (tally.lost > 0)
        judgement.notes.push_back(
            fmt::format("{} of the judged results are what they were before: what is added is too small for {} beside "
                        "them; result_dtype: float32 keeps it",
                        tally.lost, output));
    if (tally.infinite > 0)
        judgement.notes.push_back(fmt::format("{} of the judged results are beyond {}'s largest number, {:g}: Inf",
                                              tally.infinite, output, largest(criterion.output)));
    if (tally.overflow > 0)
        judgement.notes.push_back(
            fmt::format("overflow: {} of the judged results are not finite, where the sum of their terms' magnitudes "
                        "is beyond {}'s largest number",
                        tally.overflow, name(criterion.accumulator)));
}

/// Everything one judgement puts together; the trial, and how its places are judged.
struct Judging {
    Trial trial;
    Places places;
    bool by_norm = false;  // Rule::transform, without an override of another kind

    bool whole() const { return by_norm && places.all; }
    std::vector<Tally> operator()(std::span<const Contender> contenders, Extent extent = Extent::whole) const {
        if (whole()) return judge_transforms(trial, 0, trial.transforms->count, contenders, extent);
        if (by_norm) return judge_bins(trial, places, contenders, true, extent);
        return judge_elements(trial, places, contenders, extent);
    }
};

/// Sets the verdict to vacuous where a candidate that differs from the reference passes too.
void check_vacuity(const Judging& judging, std::span<const Slab> in, const Criterion& criterion, Judgement& judgement) {
    const auto others = candidates(judging.trial, in, criterion, judging.whole());
    const auto tallies = judging(others, Extent::until_failed);
    // Of one input, rounded, the answer may be that input by definition (copy): no news.
    const bool identity = criterion.rule == Rule::rounded && in.size() == 1;
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (tallies[i].failed > 0) continue;
        if (tallies[i].different == 0) {
            if (!identity || !others[i].name.starts_with("input"))
                judgement.notes.push_back(
                    fmt::format("{} would be right at every judged place: equal to the reference", others[i].name));
        } else if (judgement.verdict == Verdict::pass) {
            judgement.verdict = Verdict::vacuous;
            judgement.reason = fmt::format(
                "the bound cannot tell: {} would pass too, though not equal to the reference", others[i].name);
        }
    }
}

/// Is this override such that it may let pass what the derived bound does not?
bool may_be_looser(const Tolerance& tolerance) {
    return tolerance.mode == Tolerance::Mode::absolute_relative ||
           (tolerance.mode == Tolerance::Mode::bound && !(tolerance.factor <= Tolerance{}.factor));
}

/// Is this what fails, by the derived bound, though it passed an override?
bool fails_derived(Judging& judging, std::span<const Slab> in, const Variant& variant, const Slab& got) {
    const Criterion derived =
        criterion_of(judging.trial.op, variant, judging.trial.problem, in, {}, judging.trial.transforms.get());
    judging.by_norm = derived.rule == Rule::transform;
    const std::vector<Contender> ours{{"ours", answer_of(got), derived}};
    return judging(ours, Extent::until_failed).front().failed > 0;
}

/// Which indices the wrong elements have, axis by axis.
Mismatch locate(const Tally& tally, const Spec& output) {
    Mismatch result;
    result.decades = tally.decades;
    result.not_finite = tally.not_finite;
    if (tally.worst) {
        const Worst& worst = *tally.worst;
        result.ulp = std::max(ulps(worst.expected.re, worst.got.re, output.dtype),
                              is_complex(output.dtype) ? ulps(worst.expected.im, worst.got.im, output.dtype) : 0.0);
    }
    const Shape strides = row_major_strides(output.shape);
    for (std::size_t axis = 0; axis < output.shape.size() && !tally.wrong.empty(); ++axis) {
        std::set<std::int64_t> along;
        for (const std::int64_t place : tally.wrong) along.insert(place / strides[axis] % output.shape[axis]);
        result.axes.push_back({*along.begin(), *along.rbegin(), static_cast<std::int64_t>(along.size())});
    }
    return result;
}

void fill(const Tally& tally, Judgement& judgement) {
    judgement.checked = std::min(tally.checked, judgement.of);
    judgement.failed = tally.failed;
    judgement.max_abs = static_cast<double>(tally.max_abs);
    judgement.max_ulp = tally.max_ulp;
    judgement.rel_l2 = tally.relative();
    judgement.tolerance_used = static_cast<double>(tally.used);
    judgement.worst = tally.worst;
}

}  // namespace

Judgement judge(const Op& op, const Variant& variant, const Problem& problem, std::span<const Slab> in, const Slab& got,
                const Validate& asked, const Tolerance& tolerance, const SecondWitness* witness, int threads,
                const Again& again) {
    Judgement judgement;
    const Spec& output = problem.out[0];
    Place here;
    here.threads = threads;
    Judging judging{
        {op, problem, in, {}, {}, output.size(), std::max<std::int64_t>(op.terms(problem), 1), threads_of(here)}, {}};
    Trial& trial = judging.trial;
    const double terms = static_cast<double>(trial.terms);
    const auto suspects =
        static_cast<std::int64_t>(std::clamp(asked.terms / terms, 16.0, static_cast<double>(poisoned_places)));
    const Scan found = scan(got, suspects, trial.threads);
    judgement.of = trial.outputs;
    const bool poison_inputs = count_nans(op, in, found, trial.threads, judgement);

    const bool empty = trial.outputs == 0, judged = asked.mode != Validate::Mode::none;
    if (op.rule(problem) == Rule::transform && judged && !empty) trial.transforms = op.transforms(problem, in);
    const Criterion criterion = criterion_of(op, variant, problem, in, tolerance, trial.transforms.get());
    judgement.bound = criterion.bound;
    if (!judged) return judgement;
    judgement.verdict = Verdict::pass;
    if (empty) return judgement;

    trial.reference = op.reference(problem, in);
    judging.places = choose_places(trial.outputs, trial.terms, asked);
    judging.by_norm = criterion.rule == Rule::transform && tolerance.mode == Tolerance::Mode::bound;
    trial.fast = judging.by_norm && trial.transforms->all != nullptr &&
                 static_cast<double>(trial.outputs) * terms > terms_by_definition && judging.places.all;
    add_places(judging.places, found.some);
    if (judging.by_norm && found.largest >= 0) add_places(judging.places, {found.largest});

    std::vector<Contender> contenders{{"ours", answer_of(got), criterion}};
    Tensor theirs;
    if (witness != nullptr) {
        judgement.vendor.emplace();
        judgement.vendor->name = witness->variant->name;
        try {
            theirs = witness->run(in);
            contenders.push_back({judgement.vendor->name, answer_of(theirs.slab()),
                                  criterion_of(op, *witness->variant, problem, in, tolerance, trial.transforms.get())});
        } catch (const std::exception& error) {
            judgement.vendor->agrees = false;
            judgement.vendor->error = error.what();
        }
    }

    auto tallies = judging(contenders);
    Tally& ours = tallies[0];
    if (trial.fast &&
        variant.name == trial.transforms->library) {  // a library does not judge itself: the definition confirms it
        const Places some{trial.outputs, false,
                          seeded_places(trial.outputs, std::min(confirmed, trial.outputs), asked.seed)};
        const Tally confirmation = judge_bins(trial, some, std::span(contenders).first(1), true).front();
        if (confirmation.failed > 0 && ours.failed == 0) ours = confirmation;
    }
    if (contenders.size() == 2) {
        const Tally& other = tallies[1];
        Witness& vendor = *judgement.vendor;
        vendor.agrees = other.failed == 0;
        vendor.tolerance_used = static_cast<double>(other.used);
        vendor.max_abs = static_cast<double>(other.max_abs);
        vendor.rel_l2 = other.relative();
        if (!vendor.agrees)
            judgement.notes.push_back(
                fmt::format("vendor: mismatch ({}: {})", vendor.name, describe(other, Scan{}, output, false)));
        if (!judging.places.all && ours.failed == 0) {
            const Everywhere everywhere = compare_everywhere(trial, std::span<const Contender, 2>(contenders.data(), 2),
                                                             got, theirs.slab(), *witness, asked);
            if (everywhere.ours.failed > 0) {
                ours.merge(everywhere.ours);
            } else if (everywhere.differs && vendor.agrees) {
                vendor.agrees = false;
                judgement.notes.push_back(fmt::format(
                    "vendor: mismatch ({} and this answer are further apart than both bounds allow in {} {}; "
                    "the reference found this answer right in the worst of them)",
                    vendor.name, everywhere.outside, judging.by_norm ? "transforms" : "elements"));
            }
        }
    }

    for (Property& property : properties_of(trial, variant, criterion, got, asked, again)) {
        if (ours.failed == 0 && !property.holds()) ours.merge(judge_suspects(trial, property, contenders[0], asked));
        judgement.properties.push_back(std::move(property));
    }
    fill(ours, judgement);
    note_rounding(ours, criterion, judgement);
    if (ours.failed > 0) {
        judgement.verdict = Verdict::mismatch;
        judgement.reason = describe(ours, found, output, poison_inputs);
        judgement.mismatch = locate(ours, output);
        return judgement;
    }
    for (Property& property : std::exchange(judgement.properties, {})) add_property(judgement, std::move(property));
    if (judgement.verdict == Verdict::mismatch) return judgement;
    check_vacuity(judging, in, criterion, judgement);
    if (judgement.nan_outputs == trial.outputs) {
        judgement.verdict = Verdict::vacuous;
        judgement.reason = "all outputs are NaN";
    }
    // A larger factor is looser whatever the answer; other overrides where they let pass what the bound would not.
    if (tolerance.mode == Tolerance::Mode::bound)
        judgement.loose = tolerance.factor > Tolerance{}.factor;
    else if (may_be_looser(tolerance))
        judgement.loose = fails_derived(judging, in, variant, got);
    return judgement;
}

}  // namespace gridstride::validation
