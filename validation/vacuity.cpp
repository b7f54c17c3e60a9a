// SPDX-License-Identifier: BSD-3-Clause
// Candidates that a check must refuse: zeros, the inputs, the expected answer rolled by one.
#include "validation/vacuity.hpp"

#include <algorithm>
#include <map>

#include "validation/scan.hpp"

namespace gridstride::validation {

namespace {

/// The expected values at some places, by whole spectra: their transforms are few.
std::vector<Complex> by_spectra(const Trial& trial, std::span<const std::int64_t> places) {
    std::map<std::int64_t, std::pair<std::vector<std::int64_t>, std::vector<Complex>>> spectra;
    std::vector<Complex> values;
    values.reserve(places.size());
    for (const std::int64_t place : places) {
        const std::int64_t transform = trial.transforms->transform_of(place);
        auto found = spectra.find(transform);
        if (found == spectra.end()) {
            auto own = trial.transforms->places(transform);
            auto spectrum = validation::spectrum(trial, transform, own);
            found = spectra.emplace(transform, std::pair(std::move(own), std::move(spectrum))).first;
        }
        const auto& [own, spectrum] = found->second;
        const auto at = std::lower_bound(own.begin(), own.end(), place) - own.begin();
        values.push_back(spectrum[static_cast<std::size_t>(at)]);
    }
    return values;
}

std::vector<Complex> by_definition(const Trial& trial, std::span<const std::int64_t> places) {
    std::vector<Complex> values;
    values.reserve(places.size());
    for (const Term& term : terms_at(trial, places)) values.push_back({term.re, term.im});
    return values;
}

/// Can this input's values be answers at all?
bool comparable(const Spec& input, const Spec& output) {
    return input.present && input.shape == output.shape && !(is_complex(input.dtype) && !is_complex(output.dtype)) &&
           !(is_integer(output.dtype) && !is_integer(input.dtype));
}

}  // namespace

std::int64_t rolled_from(std::int64_t place, const Shape& shape) {
    const auto axis = std::find_if(shape.rbegin(), shape.rend(), [](std::int64_t extent) { return extent > 1; });
    if (axis == shape.rend()) return -1;
    return place % *axis == 0 ? place + *axis - 1 : place - 1;  // the axes after it are of length 1
}

std::vector<Contender> candidates(const Trial& trial, std::span<const Slab> in, const Criterion& criterion,
                                  bool whole) {
    const Spec& output = trial.problem.out[0];
    std::vector<Contender> result;
    result.push_back(
        {"zeros", [](std::span<const std::int64_t> places) { return std::vector<Complex>(places.size()); }, criterion});
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (!comparable(in[i].spec, output)) continue;
        const auto values = answer_of(in[i]);
        result.push_back({"input " + std::string(trial.op.inputs[i].name),
                          [values, dtype = output.dtype](std::span<const std::int64_t> places) {
                              auto rounded = values(places);
                              for (Complex& value : rounded) value = round_to(value, dtype);
                              return rounded;
                          },
                          criterion});
    }
    if (rolled_from(0, output.shape) < 0) return result;
    result.push_back({"the expected answer rolled by one",
                      [&trial, whole](std::span<const std::int64_t> places) {
                          const Spec& spec = trial.problem.out[0];
                          std::vector<std::int64_t> from;
                          from.reserve(places.size());
                          for (const std::int64_t place : places) from.push_back(rolled_from(place, spec.shape));
                          auto values = whole ? by_spectra(trial, from) : by_definition(trial, from);
                          for (Complex& value : values) value = round_to(value, spec.dtype);
                          return values;
                      },
                      criterion});
    return result;
}

}  // namespace gridstride::validation
