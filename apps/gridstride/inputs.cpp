// SPDX-License-Identifier: BSD-3-Clause
// Loading inputs: datasets (of a full covariance only the channel-diagonal blocks), numbers, generated values, earlier
// outputs.
#include "inputs.hpp"

#include <fmt/format.h>

#include "core/convert.hpp"
#include "io/generate.hpp"

namespace gridstride::engine {

namespace {

/// The values in another dtype. Error (input): the first that does not convert.
Tensor converted(Tensor tensor, DType dtype, std::string_view what) {
    if (tensor.spec().dtype == dtype) return tensor;
    Tensor result({dtype, tensor.spec().shape});
    const std::int64_t bad =
        convert(tensor.spec().dtype, tensor.data(), dtype, result.data(), tensor.spec().size(), Overflow::refuse);
    if (bad >= 0)
        throw Error(Category::input, fmt::format("{}: the value {} at {} does not convert to {}", what,
                                                 static_cast<double>(real_part(tensor.slab(), bad)),
                                                 index_text(bad, tensor.spec().shape), name(dtype)));
    return result;
}

void merge(hdf5::Statistics& all, const hdf5::Statistics& one) {
    all.min = all.elements == all.nan ? one.min : one.elements == one.nan ? all.min : std::min(all.min, one.min);
    all.max = all.elements == all.nan ? one.max : one.elements == one.nan ? all.max : std::max(all.max, one.max);
    all.elements += one.elements;
    all.nan += one.nan;
    all.replaced += one.replaced;
    all.checksum = all.checksum * 0x100000001b3ULL ^ one.checksum;
}

/// The compact tensor (B, C, H, W, H, W), block by block from the full dataset.
Tensor read_diagonal(const PlannedInput& input, const hdf5::Reading& reading, const Shape& shape,
                     hdf5::Statistics& statistics) {
    Tensor tensor({input.own, shape});
    const Slab all = tensor.slab();
    for (std::int64_t c = 0; c < shape[1]; ++c) {
        hdf5::Reading one = reading;
        for (const std::size_t axis : {std::size_t{1}, std::size_t{4}}) {
            const Range& range = reading.select.axes[axis];
            one.select.axes[axis] = {range.begin + c * range.step, 1, 1, false};
        }
        Selection block = whole(shape);
        block.axes[1] = {c, 1, 1, false};
        Slab target = part(all, block);  // (B, 1, H, W, H, W), to be seen as (B, 1, H, W, 1, H, W)
        target.spec.shape.insert(target.spec.shape.begin() + 4, 1);
        target.strides.insert(target.strides.begin() + 4, 1);
        merge(statistics, hdf5::read(*input.info, one, target));
    }
    return tensor;
}

hdf5::Reading reading_of(const PlannedInput& input) {
    const config::Input& source = *input.source;
    return {input.select, source.pair, source.scale.value_or(1), source.nan};
}

/// What is selected of a dataset, in the tensor's order whatever its shape.
hdf5::Statistics read_whole(const PlannedInput& input, const Tensor& tensor) {
    Slab target = tensor.slab();
    target.spec.shape = shape_of(input.select);
    if (input.source->pair) target.spec.shape.pop_back();
    target.strides = row_major_strides(target.spec.shape);
    return hdf5::read(*input.info, reading_of(input), target);
}

Tensor from_numbers(const config::Numbers& numbers, const Spec& wanted, std::optional<DType> own,
                    std::string_view what) {
    Tensor tensor({numbers.whole ? DType::int64 : DType::float64, wanted.shape});
    for (std::size_t i = 0; i < numbers.values.size(); ++i) {
        const Value& value = numbers.values[i];
        const auto* integer = std::get_if<std::int64_t>(&value);
        if (numbers.whole)
            tensor.as<std::int64_t>()[i] =
                integer != nullptr ? *integer : static_cast<std::int64_t>(std::get<double>(value));
        else
            tensor.as<double>()[i] = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    }
    if (own) tensor = converted(std::move(tensor), *own, what);
    return converted(std::move(tensor), wanted.dtype, what);
}

}  // namespace

Tensor load(const Case& one, std::size_t i, const std::vector<Result>& results, report::InputLine& line,
            std::uint64_t& checksum) {
    const PlannedInput& input = one.inputs[i];
    const config::Input& source = *input.source;
    const Spec& user = one.problem.in[i];
    const Spec& wanted = one.computed().in[i];
    const bool small = compacted(user, wanted);
    const std::string name = std::string(one.op().inputs[i].name);
    line.name = name;
    hdf5::Statistics statistics;
    bool seen = false;  // statistics are taken
    Tensor tensor;
    if (const auto* dataset = std::get_if<config::Dataset>(&source.source)) {
        line.source = dataset->file + ":" + dataset->path + (source.select ? "[" + *source.select + "]" : "");
        const bool blockwise = small && !source.shape && !source.pair && input.select.axes.size() == 7 &&
                               shape_of(input.select).size() == 7;
        if (blockwise) {
            tensor = read_diagonal(input, reading_of(input), wanted.shape, statistics);
        } else {
            tensor = Tensor({input.own, user.shape});
            statistics = read_whole(input, tensor);
        }
        seen = !source.scale && !source.nan;  // else what was read is not what the kernel gets
    } else if (input.producer >= 0) {
        const auto& output = std::get<config::JobOutput>(source.source);
        line.source = "$" + output.job + ":/" + output.output;
        const Tensor& made = results[static_cast<std::size_t>(input.producer)].data;
        const bool same = made.spec().shape == wanted.shape && small;
        tensor = same ? clone(made.slab()) : clone(part(made.slab(), input.select));
        if (!same) tensor.reshape(user.shape);
        if (source.nan) statistics.replaced = hdf5::statistics(tensor.slab()).nan;
        tensor = hdf5::as_read(std::move(tensor), source.scale.value_or(1), source.nan, input.own, "input " + name);
    } else if (const auto* numbers = std::get_if<config::Numbers>(&source.source)) {
        line.source = "the numbers";
        tensor = from_numbers(*numbers, {wanted.dtype, user.shape},
                              source.dtype ? std::optional(input.own) : std::nullopt, "input " + name);
    } else {
        const auto& generate = std::get<config::Generate>(source.source);
        const std::uint64_t seed = generate.seed.value_or(generate::seed_of(one.job->base, name));
        line.source = fmt::format("generate {}, seed {}", generate.kind, seed);
        tensor = generate::make(generate, user.shape, input.own, seed);
    }
    if (small && tensor.spec().shape.size() == user.shape.size()) tensor = clone(diagonal_view(tensor.slab()));
    tensor = converted(std::move(tensor), wanted.dtype, "input " + name);
    if (!seen) {
        const hdf5::Statistics read = statistics;
        statistics = hdf5::statistics(tensor.slab());
        statistics.replaced = read.replaced;
        if (read.elements > 0) statistics.checksum = read.checksum;  // of the dataset's own values
    }
    if (tensor.spec().shape != wanted.shape) tensor.reshape(wanted.shape);
    checksum = statistics.checksum;
    line.spec = user;
    line.min = statistics.min;
    line.max = statistics.max;
    line.nan = statistics.nan;
    line.replaced = statistics.replaced;
    return tensor;
}

Tensor load_answer(const Case& one) {
    Tensor answer(one.problem.out[0]);
    read_whole(*one.against, answer);
    return answer;
}

}  // namespace gridstride::engine
