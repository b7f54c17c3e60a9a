// SPDX-License-Identifier: BSD-3-Clause
// Writing wrong blocks: /CASE/inputs/NAME, /CASE/ours, /CASE/reference (float64 or complex128, before rounding), and
// where the block begins in the output.
#include "dump.hpp"

#include <algorithm>

#include "io/hdf5.hpp"

namespace gridstride::engine {

namespace {

Tensor in_double(const std::vector<validation::Complex>& values, const Spec& like) {
    Tensor result({is_complex(like.dtype) ? DType::complex128 : DType::float64, like.shape});
    for (std::size_t i = 0; i < values.size(); ++i)
        if (is_complex(like.dtype))
            result.as<complex128>()[i] = {static_cast<double>(values[i].re), static_cast<double>(values[i].im)};
        else
            result.as<double>()[i] = static_cast<double>(values[i].re);
    return result;
}

}  // namespace

void dump(const std::string& file, const std::vector<WrongBlock>& blocks) {
    hdf5::Writer writer(file);
    const auto put = [&](const std::string& path, const Slab& slab) {
        writer.create(path, slab.spec, {});
        writer.write(path, whole(slab.spec.shape), slab);
    };
    for (const WrongBlock& one : blocks) {
        std::string group = "/" + one.name;
        std::replace(group.begin() + 1, group.end(), '/', '_');
        for (std::size_t i = 0; i < one.block.in.size(); ++i)
            if (one.block.problem.in[i].present)
                put(group + "/inputs/" + std::string(one.op->inputs[i].name), one.block.in[i].slab());
        const Slab ours = one.block.ours.slab();
        put(group + "/ours", ours);
        if (!one.block.reference.empty()) put(group + "/reference", in_double(one.block.reference, ours.spec).slab());
        writer.attribute(group + "/ours", "first_index", to_text(one.block.first));
        writer.attribute(group + "/ours", "case", one.name);
        writer.attribute(group + "/ours", "job", one.job);
    }
    writer.commit();
}

}  // namespace gridstride::engine
