// SPDX-License-Identifier: BSD-3-Clause
// Writing a case's output: compact results go to the diagonal blocks of the full dataset, the other blocks are copied
// file to file or never allocated.
#include "outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gridstride::engine {

namespace {

/// Frequencies in FFT order: k / (n d), negative ones after the middle; the first half alone where `half`.
std::vector<double> frequencies(const AxisOrigin& origin) {
    const std::int64_t n = origin.frequencies;
    std::vector<double> values;
    for (std::int64_t k = 0; k < (origin.half ? n / 2 + 1 : n); ++k)
        values.push_back(static_cast<double>(!origin.half && k > (n - 1) / 2 ? k - n : k) /
                         (static_cast<double>(n) * origin.spacing));
    return values;
}

/// The scale of axis `axis` of input `i`, as the user sees that input; nothing where it is not known.
std::optional<hdf5::Scale> input_scale(const Case& one, std::size_t i, std::size_t axis,
                                       const std::vector<Result>& results) {
    const PlannedInput& input = one.inputs[i];
    if (input.source == nullptr || input.source->shape) return {};
    std::vector<hdf5::Scale> all;
    if (input.producer >= 0)
        all = results[static_cast<std::size_t>(input.producer)].scales;
    else if (input.info)
        all = hdf5::scales(input.info->file, input.info->path);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < input.select.axes.size() && k < all.size(); ++k) {
        const Range& range = input.select.axes[k];
        if (range.dropped || kept++ != axis) continue;
        hdf5::Scale scale = all[k];
        const bool counted = input.producer >= 0 && scale.values.empty() && !scale.bare;  // written as 0..n-1
        const bool shifted = range.begin != 0 || range.step != 1;
        std::vector<double> values;
        for (std::int64_t at = 0; at < range.count && (counted ? shifted : !scale.values.empty()); ++at) {
            const std::int64_t index = range.begin + at * range.step;
            if (!counted && index >= static_cast<std::int64_t>(scale.values.size())) return {};
            values.push_back(counted ? static_cast<double>(index) : scale.values[static_cast<std::size_t>(index)]);
        }
        scale.values = std::move(values);
        return scale;
    }
    return {};
}

Naming naming_of(const Case& one, std::size_t i, const std::vector<Result>& results) {
    const PlannedInput& input = one.inputs[i];
    if (input.source == nullptr || input.source->scale.value_or(1) != 1) return {};
    if (input.info && !packing_of(*input.info).empty()) return {};
    if (input.producer >= 0) return results[static_cast<std::size_t>(input.producer)].naming;
    return input.info ? Naming{input.info->units, input.info->long_name, input.info->calendar} : Naming{};
}

/// The chunk of a full covariance of which only diagonal blocks are written: at most one block, at most 16 MiB.
Shape block_chunk(const Spec& full) {
    Shape chunk = full.shape;
    for (const std::size_t axis : {0, 1, 4}) chunk[axis] = 1;
    for (const std::size_t axis : {2, 3, 5})
        while (chunk[axis] > 1 && count(chunk) * static_cast<std::int64_t>(size_of(full.dtype)) > (16 << 20))
            chunk[axis] = (chunk[axis] + 1) / 2;
    return chunk;
}

void write_blocks(hdf5::Writer& writer, const std::string& dataset, const Spec& full, const Slab& compact) {
    for (std::int64_t c = 0; c < full.shape[1]; ++c) {
        Selection block = whole(compact.spec.shape);
        block.axes[1] = {c, 1, 1, false};
        Slab source = part(compact, block);
        source.spec.shape.insert(source.spec.shape.begin() + 4, 1);
        source.strides.insert(source.strides.begin() + 4, 1);
        writer.write(dataset, diagonal(full.shape, c), source);
    }
}

}  // namespace

void describe_axes(const Case& one, const std::vector<Result>& results, Result& result,
                   std::vector<std::string>& notes) {
    const Spec& out = one.problem.out[0];
    std::vector<AxisOrigin> origins;
    if (one.op().origins != nullptr) origins = one.op().origins(one.problem);
    origins.resize(out.shape.size());
    result.scales.clear();
    for (std::size_t axis = 0; axis < out.shape.size(); ++axis) {
        const AxisOrigin& origin = origins[axis];
        hdf5::Scale scale;
        if (origin.frequencies > 0)
            scale.values = frequencies(origin);
        else if (origin.input >= 0)
            if (const auto kept = input_scale(one, static_cast<std::size_t>(origin.input),
                                              static_cast<std::size_t>(origin.axis), results)) {
                const bool counted = one.inputs[static_cast<std::size_t>(origin.input)].producer >= 0;
                if (!kept->values.empty() || kept->bare || counted || out.shape[axis] == 0)
                    scale = *kept;
                else if (!kept->name.empty())  // never other numbers under its name
                    notes.push_back(fmt::format("axis {}: the scale '{}' is not carried over: {}", axis, kept->name,
                                                kept->unknown));
            }
        if (static_cast<std::int64_t>(scale.values.size()) != out.shape[axis]) scale.values.clear();
        if (!origin.name.empty()) {
            scale.name = origin.name;
            scale.bare = false;
        }
        if (scale.name.empty()) scale.name = fmt::format("axis_{}", axis);
        result.scales.push_back(std::move(scale));
    }
    if (!one.op().keeps_units) return;
    std::optional<Naming> common;
    int present = 0;
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
        if (one.inputs[i].source == nullptr) continue;
        const Naming naming = naming_of(one, i, results);
        if (common && (common->units != naming.units || common->calendar != naming.calendar)) return;
        common = naming;
        ++present;
    }
    if (!common) return;
    result.naming = *common;
    if (present > 1) result.naming.long_name.clear();
}

void write(const Case& one, const Result& result, const report::Surroundings& surroundings, report::Case& line) {
    const PlannedOutput& target = one.outputs[0];
    const Spec& spec = one.problem.out[0];
    const config::Store& store = one.job->store;
    const bool small = result.data.spec().shape.size() != spec.shape.size();
    hdf5::Writer writer(target.file);
    hdf5::Layout layout{store.chunks, store.gzip, store.shuffle, store.level, small};
    if (small && !layout.chunks) layout.chunks = block_chunk(spec);
    for (const std::string& note : writer.create(target.dataset, spec, layout)) line.notes.push_back(note);
    if (small) {
        if (result.rest) writer.copy_from(target.dataset, *result.rest);
        write_blocks(writer, target.dataset, spec, result.data.slab());
    } else {
        writer.write(target.dataset, whole(spec.shape), result.data.slab());
    }
    writer.scale(target.dataset, result.scales, spec.shape);
    const auto& [units, long_name, calendar] = result.naming;
    if (!units.empty()) writer.attribute(target.dataset, "units", units);
    if (!long_name.empty()) writer.attribute(target.dataset, "long_name", long_name);
    if (!calendar.empty()) writer.attribute(target.dataset, "calendar", calendar);
    writer.text("job", result.job);
    writer.attribute("/", "verdict",
                     std::string(report::name(line.status)) + (line.loose_tolerance ? " (loose tolerance)" : ""));
    writer.attribute("/", "device", surroundings.device);
    writer.attribute("/", "libraries", nlohmann::json(surroundings.libraries).dump());
    writer.text("inputs", result.identity);
    writer.attribute("/", "created", surroundings.started);
    writer.commit();
    line.outputs[0].file = target.file;
    line.outputs[0].dataset = target.dataset;
}

}  // namespace gridstride::engine
