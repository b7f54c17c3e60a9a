// SPDX-License-Identifier: BSD-3-Clause
// gridstride doctor: what this machine has, and whether it works: an HDF5 file written and read back, and every variant
// that can run here put to the reference on small problems. Each fault comes with its remedy.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "compute.hpp"
#include "core/operation.hpp"
#include "facts.hpp"
#include "io/generate.hpp"
#include "io/hdf5.hpp"
#include "table.hpp"
#include "validation/validation.hpp"
#include "verbs.hpp"

namespace gridstride {

namespace {

using Kind = Align;
namespace fs = std::filesystem;

struct Fault {
    std::string what, remedy;
};

Tensor normal(const Spec& spec, std::uint64_t seed) {
    config::Generate values;
    values.kind = is_integer(spec.dtype) ? "integers" : "normal";
    return generate::make(values, spec.shape, spec.dtype, seed);
}

std::string remedy(const Variant& variant) {
    if (variant.device == Device::cuda)
        return "see what the driver says (nvidia-smi, dmesg); the driver must not be older than the toolkit";
    if (variant.name == "openblas")
        return "another BLAS may stand in its place, or one for another processor: reinstall libopenblas0-pthread, or "
               "try "
               "OPENBLAS_CORETYPE=Haswell gridstride doctor";
    if (variant.name == "fftw") return "reinstall libfftw3-dev and build again";
    return "build again on this machine (the build is for the processor it was made on: GRIDSTRIDE_MARCH)";
}

/// One row of the table: a variant on the first problem of each dtype among the operation's own cases that it takes.
void check(const Op& op, const Variant& variant, const Place& place, Table& table, std::vector<Fault>& faults) {
    std::set<DType> seen;
    std::vector<std::string> dtypes;
    std::string verdict = "pass", reason;
    double used = 0;
    for (const Problem& one : op.cases()) {
        try {
            const Problem problem = pose(op, one.params, one.in, {}, place);
            const DType dtype = common_type(op, problem.in);
            if (!variant.refuses(problem).empty() || !seen.insert(dtype).second) continue;
            dtypes.emplace_back(name(dtype));
            std::vector<Tensor> tensors;
            std::vector<Slab> in;
            for (const Spec& spec : problem.in) {
                tensors.push_back(spec.present ? normal(spec, 1 + tensors.size()) : Tensor());
                in.push_back(spec.present ? tensors.back().slab() : Slab{spec, {}, nullptr});
            }
            const engine::Computed got = engine::compute(op, variant, problem, in, false);
            const validation::Judgement judged =
                validation::judge(op, variant, problem, in, got.out.slab(), Validate{}, Tolerance{});
            used = std::max(used, judged.tolerance_used);
            if (judged.verdict == validation::Verdict::mismatch) verdict = "mismatch", reason = judged.reason;
        } catch (const std::exception& error) {
            verdict = "error", reason = error.what();
        }
        if (verdict != "pass") break;
    }
    if (dtypes.empty() && verdict == "pass") return;  // it takes none of them here
    const std::string title = fmt::format("{}[{}]", op.name, variant.name), device = name(place);
    table.row({title, device, verdict,
               verdict != "pass" ? "-"
               : used == 0       ? "exact"
                                 : fmt::format("{:.0f} %", 100 * used),
               fmt::format("{}", fmt::join(dtypes, ", "))});
    if (verdict != "pass")
        faults.push_back({fmt::format("{} on {}: {}: {}", title, device, verdict, reason), remedy(variant)});
}

/// A compressed dataset written and read back, in the current folder where that may be written: locks and space depend
/// on the file system.
void check_hdf5(Table& table, std::vector<Fault>& faults) {
    const fs::path folder = access(".", W_OK) == 0 ? fs::path(".") : fs::temp_directory_path();
    const std::string file = (folder / fmt::format("gridstride-doctor-{}.h5", getpid())).string();
    std::string verdict = "pass", reason;
    try {
        const Tensor values = normal({DType::float64, {37, 41}}, 5), back(values.spec());
        hdf5::Writer writer(file);
        writer.create("/x", values.spec(), {Shape{16, 16}, true, true, 4, false});
        writer.write("/x", whole(values.spec().shape), values.slab());
        writer.commit();
        hdf5::read(hdf5::describe(file, "/x"), {whole(values.spec().shape), false, 1, {}}, back.slab());
        if (std::memcmp(values.data(), back.data(), values.spec().bytes()) != 0)
            verdict = "mismatch", reason = "what was read is not what was written";
    } catch (const std::exception& error) {
        verdict = "error", reason = error.what();
    }
    std::error_code ignored;
    fs::remove(file, ignored);
    table.row({"hdf5[write, read]", "cpu", verdict, verdict == "pass" ? "exact" : "-", "float64, shuffle, gzip"});
    if (verdict != "pass")
        faults.push_back(
            {fmt::format("HDF5 in {}: {}: {}", fs::absolute(folder).string(), verdict, reason),
             "try another folder; on a file system without locks set HDF5_USE_FILE_LOCKING=FALSE; where gzip "
             "is missing, reinstall libhdf5-dev"});
}

}  // namespace

int doctor() {
    const Terminal out = terminal(STDOUT_FILENO);
    const report::Surroundings here = facts({});
    std::string no_cuda;
    const std::vector<cuda::DeviceInfo> gpus = cuda::devices(&no_cuda);

    Table machine({{"", Align::fixed}, {"", Align::prose}}, 2);
    machine.row({"gridstride", version_text()});
    machine.row({"host", here.host});
    machine.row({"processor", processor()});
    for (std::size_t i = 0; i < gpus.size(); ++i)
        machine.row({fmt::format("cuda:{}", i),
                     fmt::format("{}, compute capability {}.{}, {:.1f} of {:.1f} GiB free", gpus[i].name, gpus[i].major,
                                 gpus[i].minor, static_cast<double>(gpus[i].free_memory) / 0x1p30,
                                 static_cast<double>(gpus[i].total_memory) / 0x1p30)});
    if (gpus.empty())
        machine.row({"cuda", fmt::format("none: {}. {}", no_cuda,
                                         cuda::built_in()
                                             ? "With a GPU in the machine: install its driver (nvidia-smi must list it)"
                                             : "For a GPU: install the CUDA toolkit, configure and build again")});
    fmt::print("machine\n{}\n", machine.text(out));

    Table libraries({{"", Align::fixed}, {"", Align::prose}}, 2);
    for (const auto& [library, version] : here.libraries) libraries.row({library, version.empty() ? "none" : version});
    const hdf5::Library hdf5 = hdf5::library();
    std::vector<std::string>
        filters;  // those that are missing carry their remedy, which `inspect` and `run` give where it matters
    for (const std::string& filter : hdf5.filters)
        if (filter.find(':') == std::string::npos) filters.push_back(filter);
    libraries.row({"HDF5 filters", fmt::format("{}", fmt::join(filters, ", "))});
    libraries.row({"HDF5 plugins", hdf5.plugin_path});
    libraries.row({"HDF5 locking", hdf5.locking});
    fmt::print("libraries\n{}\n", libraries.text(out));

    Table checks({{
                      "check",
                  },
                  {"device", Align::fixed},
                  {"verdict"},
                  {"bound used", Align::right},
                  {"on", Align::prose}},
                 2);
    std::vector<Fault> faults;
    check_hdf5(checks, faults);
    std::vector<Place> places{{}};
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (gpus[i].refusal.empty())
            places.push_back({Device::cuda, static_cast<int>(i), 0, gpus[i].limits});
        else
            faults.push_back({fmt::format("cuda:{} cannot be used", i), gpus[i].refusal});
    for (const Entry& entry : registry())
        for (const Variant* variant : entry.variants)
            for (const Place& place : places)
                if (variant->role != Role::faulty && variant->device == place.device)
                    check(*entry.op, *variant, place, checks, faults);
    fmt::print("small problems against the reference\n{}\n", checks.text(out));

    for (const Fault& fault : faults) fmt::print("fault: {}\n  remedy: {}\n", printable(fault.what), fault.remedy);
    if (faults.empty()) fmt::print("{}\n", gpus.empty() ? "all is well, without CUDA" : "all is well");
    return faults.empty() ? 0 : 4;
}

}  // namespace gridstride
