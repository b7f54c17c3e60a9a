// SPDX-License-Identifier: BSD-3-Clause
// textbook OUT.json: times the textbook kernels on the first CUDA device, beside the vendor's library on the same
// problem, and writes a row each. An answer is judged before its time counts: without a pass the row has no seconds.
// docs/measurements/peers/textbook_numba.py writes the same rows for the same kernels in Numba.
//
// Exit: 0 all passed; 1 an answer did not pass or a variant failed; 2 usage; 4 no device; 3 OUT.json cannot be written.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compute.hpp"
#include "core/parallel.hpp"
#include "validation/validation.hpp"

namespace gridstride {

namespace {

using Json = nlohmann::ordered_json;
using validation::Judgement;
using validation::Verdict;

struct Case {
    std::string name, op;
    std::vector<Spec> in;
    std::vector<std::string> variants;
    std::string vendor{};  // runs first; empty: there is none
    Params params{};
    Validate::Mode places = Validate::Mode::sample;
    bool shows_error = false;                        // the row has "relative_error", the relative L2 one
    std::vector<std::string> only_below_a_second{};  // of `variants`: left out where they take longer
};

std::vector<Case> all_cases() {
    const Shape full_gamma{2, 16, 34, 34, 16, 34, 34}, full_cov{2, 16, 32, 32, 16, 32, 32};
    Params windows;
    windows.set("kernel", 3);
    return {
        {.name = "add of 12 million",
         .op = "add",
         .in = {{DType::float64, {12'000'000}}, {DType::float64, {12'000'000}}},
         .variants = {"one_per_thread", "grid_2d", "grid_stride"}},
        {.name = "matmul 2048",
         .op = "matmul",
         .in = {{DType::float64, {2048, 2048}}, {DType::float64, {2048, 2048}}, {DType::float64, {}, false}},
         .variants = {"naive_2d", "naive_2d_global", "naive_1d", "tiled", "one_per_row"},
         .vendor = "cublas",
         .only_below_a_second = {"one_per_row"}},
        {.name = "dft of 100 000",
         .op = "dft",
         .in = {{DType::complex128, {100'000}}},
         .variants = {"direct", "direct_tiled"},
         .vendor = "cufft",
         .places = Validate::Mode::full,  // by FFTW in long double
         .shows_error = true},
        {.name = "sum of 100 million",
         .op = "sum",
         .in = {{DType::float64, {100'000'000}}},
         .variants = {"atomic", "block_tree"},
         .vendor = "cub"},
        {.name = "convcov 34x34 to 32x32",  // accumulate has the output's Spec: the engine runs it in place
         .op = "convcov",
         .in = {{DType::float32, full_gamma},
                {DType::float32, {2, 16, 34, 34}},
                {DType::float64, {16}},
                {DType::float32, full_cov}},
         .variants = {"block_per_output", "thread_per_output"},
         .params = windows},
    };
}

/// In [-1, 1), by the place alone: splitmix64.
double value(std::uint64_t place) {
    std::uint64_t z = (place + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

Tensor make_input(const Spec& spec, std::uint64_t stream) {
    if (!spec.present) return {};
    Tensor result(spec);
    const int parts = is_complex(spec.dtype) ? 2 : 1;
    with_type<float, double>(real_of(spec.dtype), [&]<class T>() {
        for_blocks(spec.size() * parts, 1 << 20, threads_of({}), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                result.as<T>()[i] = static_cast<T>(value((stream << 40) + static_cast<std::uint64_t>(i)));
        });
    });
    return result;
}

std::string_view word(Verdict verdict) {
    constexpr std::string_view words[] = {"pass", "mismatch", "vacuous", "unvalidated"};
    return words[static_cast<std::size_t>(verdict)];
}

std::string describe(const Json& row) {
    const auto number = [&](std::string_view key, double unit, std::string_view format) {
        const Json& entry = row[std::string(key)];
        return entry.is_number() ? fmt::format(fmt::runtime(format), entry.get<double>() * unit) : std::string("-");
    };
    std::string text = fmt::format("{:<24}{:<20}{:<10}{:>14}  bound used {:>7}  vendor's/ours {:>7}",
                                   row["case"].get<std::string>(), row["variant"].get<std::string>(),
                                   row["verdict"].get<std::string>(), number("seconds", 1e3, "{:.4f} ms"),
                                   number("tolerance_used", 100, "{:.2g} %"), number("ratio", 1, "{:.3f}"));
    if (row.contains("relative_error"))
        text += fmt::format("  relative error {:.2g}", row["relative_error"].get<double>());
    if (row.contains("reason")) text += "  " + row["reason"].get<std::string>();
    return text;
}

/// One variant on one problem; nothing where it is too slow to be timed. seconds: null without a pass.
std::optional<Json> measured(const Case& one, const Entry& entry, const std::string& name, const Problem& problem,
                             std::span<const Slab> in, const Json& vendor_seconds) {
    Json row{{"case", one.name},
             {"op", one.op},
             {"variant", name},
             {"device", "cuda:0"},
             {"dtype", std::string(gridstride::name(problem.in[0].dtype))},
             {"shape", problem.in[0].shape},
             {"seconds", nullptr},
             {"verdict", "error"},
             {"tolerance_used", nullptr},
             {"vendor_seconds", vendor_seconds},
             {"ratio", nullptr}};
    try {
        const Variant* variant = find(entry, name, Device::cuda);
        if (variant == nullptr) throw Error(Category::internal, one.op + " has no variant " + name + " on CUDA");
        if (variant->refuses != nullptr)
            if (const std::string why = variant->refuses(problem); !why.empty()) throw Error(Category::device, why);
        const auto& slow = one.only_below_a_second;
        if (std::find(slow.begin(), slow.end(), name) != slow.end() &&
            engine::compute(*entry.op, *variant, problem, in, false).seconds >= 1)
            return std::nullopt;
        const engine::Computed got = engine::compute(*entry.op, *variant, problem, in, true);
        const Judgement judged =
            validation::judge(*entry.op, *variant, problem, in, got.out.slab(), {.mode = one.places}, {});
        row["verdict"] = std::string(word(judged.verdict));
        row["tolerance_used"] = judged.tolerance_used;
        if (one.shows_error) row["relative_error"] = judged.rel_l2;
        if (judged.verdict != Verdict::pass) {
            row["reason"] = judged.reason;
            return row;
        }
        row["seconds"] = got.seconds;
        if (vendor_seconds.is_number()) row["ratio"] = vendor_seconds.get<double>() / got.seconds;
    } catch (const Error& error) {
        row["reason"] = error.what();
    }
    return row;
}

int run(const std::string& path) {
    std::string why;
    const auto devices = cuda::devices(&why);
    if (devices.empty()) {
        fmt::print(stderr, "textbook: no CUDA device: {}\n", why);
        return 4;
    }
    const Place place{Device::cuda, 0, 0, devices[0].limits};
    Json rows = Json::array();
    bool passed = true;
    for (const Case& one : all_cases()) {
        const Entry* entry = find(one.op);
        if (entry == nullptr) throw Error(Category::internal, "no operation " + one.op);
        const Problem problem = pose(*entry->op, one.params, one.in, {}, place);
        std::vector<Tensor> tensors;
        std::vector<Slab> slabs;
        for (const Spec& spec : problem.in) {
            tensors.push_back(make_input(spec, tensors.size()));
            slabs.push_back(spec.present ? tensors.back().slab() : Slab{spec, {}, nullptr});
        }
        std::vector<std::string> names = one.variants;
        if (!one.vendor.empty()) names.insert(names.begin(), one.vendor);
        Json vendor_seconds = nullptr;
        for (const std::string& name : names) {
            const std::optional<Json> row = measured(one, *entry, name, problem, slabs, vendor_seconds);
            if (!row) {
                fmt::print("{:<24}{:<20}left out: takes a second or more\n", one.name, name);
                continue;
            }
            if (name == one.vendor) vendor_seconds = (*row)["seconds"];
            passed = passed && (*row)["verdict"] == "pass";
            fmt::print("{}\n", describe(*row));
            std::fflush(stdout);
            rows.push_back(*row);
        }
    }
    const Json document{{"schema", 1},
                        {"program", "gridstride"},
                        {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                        {"device", devices[0].name},
                        {"driver", cuda::driver_version()},
                        {"cuda", cuda::runtime_version()},
                        {"rows", rows}};
    std::ofstream file(path);
    file << document.dump(1) << '\n';
    if (!file.flush()) {
        fmt::print(stderr, "textbook: cannot write {}\n", path);
        return 3;
    }
    return passed ? 0 : 1;
}

}  // namespace
}  // namespace gridstride

int main(int count, char** arguments) {
    if (count != 2) {
        fmt::print(stderr, "usage: textbook OUT.json\n");
        return 2;
    }
    try {
        return gridstride::run(arguments[1]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "textbook: {}\n", error.what());
        return 4;
    }
}
