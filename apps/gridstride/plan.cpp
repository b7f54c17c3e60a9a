// SPDX-License-Identifier: BSD-3-Clause
// The plan: one job at a time in order of dependence, each step a function from values to values.
#include "plan.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "io/bench.hpp"
#include "io/folder.hpp"
#include "io/generate.hpp"
#include "io/report.hpp"
#include "io/suggest.hpp"

namespace gridstride::engine {

namespace fs = std::filesystem;

namespace {

/// What is known of a job once it is planned: what its readers need.
struct Planned {
    std::vector<int> cases;
    std::optional<Problem> problem;  // empty where it has errors
    std::string failed;              // the reason its cases do not run, where one is an input error
};

/// What netCDF's attributes say of the stored numbers and is left to the user; empty: nothing.
std::string stored_remark(const hdf5::Info& info) {
    if (const std::string packing = packing_of(info); !packing.empty())
        return packing +
               ", which are not applied: the stored numbers are used (`scale:` multiplies, `nan:` replaces NaN)";
    for (const hdf5::Attribute& attribute : info.attributes)
        if ((attribute.name == "_FillValue" || attribute.name == "missing_value") && attribute.text != "nan")
            return fmt::format("{} = {}: values equal to it are used as numbers", attribute.name, attribute.text);
    return {};
}

struct Planner {
    const config::Config& config;
    const PlanOptions& options;
    config::Diagnostics& diagnostics;
    Plan& plan;
    std::vector<cuda::DeviceInfo> gpus{};
    std::string no_gpu{};
    std::map<std::string, Planned> done{};
    std::map<std::string, std::string> owner{};          // output file -> case
    std::map<std::string, config::Gathered> gathered{};  // errors of the cases of a swept job
    bool no_folder = false;                              // the output directory is refused, and all files in it with it

    void error(const config::Job& job, const std::string& key, const std::string& message) {
        if (job.sweep.empty())
            diagnostics.add(job.at(key), message);
        else
            gathered[job.base].add({job.at(key), message}, job.name);
    }
    void tell_gathered() {
        for (const auto& [base, errors] : gathered)
            errors.tell(
                static_cast<std::size_t>(std::count_if(config.jobs.begin(), config.jobs.end(),
                                                       [&](const config::Job& job) { return job.base == base; })),
                diagnostics);
    }
};

std::string canonical(const std::string& path) {
    std::error_code ignored;
    const fs::path result = fs::weakly_canonical(fs::absolute(path), ignored);
    return ignored ? fs::absolute(path).lexically_normal().string() : result.string();
}

/// Jobs so that producers come first; the loader has refused cycles.
std::vector<const config::Job*> in_order(const config::Config& config) {
    std::map<std::string, const config::Job*> by_name;
    for (const config::Job& job : config.jobs) by_name[job.name] = &job;
    std::vector<const config::Job*> order;
    std::set<std::string> seen;
    const auto visit = [&](const auto& self, const config::Job& job) -> void {
        if (!seen.insert(job.name).second) return;
        for (const auto& [name, input] : job.inputs)
            if (const auto* output = std::get_if<config::JobOutput>(&input.source))
                if (const auto found = by_name.find(output->job); found != by_name.end()) self(self, *found->second);
        order.push_back(&job);
    };
    for (const config::Job& job : config.jobs) visit(visit, job);
    return order;
}

// ------------------------------------------------------------------------------------------------ inputs

/// Shape after `shape:`, whose one -1 is what is left over.
Shape reshaped(const Shape& from, Shape to) {
    const std::int64_t have = count(from);
    std::int64_t known = 1;
    auto open = to.end();
    for (auto extent = to.begin(); extent != to.end(); ++extent) {
        if (*extent == -1)
            open = extent;
        else if (__builtin_mul_overflow(known, *extent, &known))
            known = 0;
    }
    if (open != to.end() && known > 0 && have % known == 0) *open = have / known;
    if (std::find(to.begin(), to.end(), -1) != to.end() || count(to) != have)
        throw Error(Category::config,
                    fmt::format("{} elements of shape {} do not fill shape {}", have, to_text(from), to_text(to)),
                    "shape");
    return to;
}

/// What `select` picks of a tensor of this shape, all of it where it is not given.
Selection selection_of(const config::Input& input, const Shape& shape) {
    if (!input.select) return whole(shape);
    try {
        return config::select(*input.select, shape);
    } catch (const Error& fault) {
        throw Error(fault.category(), fault.what(), "select");
    }
}

/// What integers become where the operation takes none.
DType without_integers(DType dtype, bool integers) {
    return integers || !is_integer(dtype) ? dtype : DType::float64;
}

/// What more to say of an input file that is not there: the job or the file elsewhere that may be meant, where paths
/// start.
std::string elsewhere(const config::Config& config, const config::Job& reader, const config::Dataset& dataset) {
    std::error_code ignored;
    const fs::path folder = config.folder, written = fs::path(dataset.file).lexically_relative(folder);
    if (fs::status(dataset.file, ignored).type() != fs::file_type::not_found || written.empty() ||
        *written.begin() == "..")
        return {};
    for (const config::Job& job : config.jobs)
        if (job.base == written.string() && job.base != reader.base && job.entry != nullptr)
            return fmt::format("; did you mean the output of a job, '${}:/{}'?", job.base,
                               job.entry->op->outputs[0].name);
    constexpr std::string_view rule = "; paths start at the job file's folder";
    const fs::path here = fs::current_path(ignored);
    for (const fs::path& other : {here, folder.parent_path()})
        if (fs::is_regular_file(other / written, ignored))
            return fmt::format("{} (did you mean '{}'?)", rule, (other / written).lexically_relative(folder).string());
    return std::string(folder == here ? "" : rule);
}

struct Posed {
    Spec spec;            // its own dtype, not yet the common one
    bool number = false;  // takes the other inputs' type
    bool whole = false;   // of numbers
};

/// Headers and selection of a dataset, and the shape that comes of it.
Shape pose_dataset(const Planner& planner, const config::Job& job, const config::Input& input, PlannedInput& planned) {
    const auto& dataset = std::get<config::Dataset>(input.source);
    try {
        planned.info = hdf5::describe(dataset.file, dataset.path);
    } catch (const Error& fault) {
        throw Error(fault.category(), fault.what() + elsewhere(planner.config, job, dataset), fault.where());
    }
    planned.select = selection_of(input, planned.info->shape);
    Shape shape = shape_of(planned.select);
    if (input.pair) {
        if (shape.empty() || shape.back() != 2 || planned.select.axes.back().dropped)
            throw Error(
                Category::config,
                fmt::format("complex: pair needs a last axis of 2 (re, im), whole; the shape is {}", to_text(shape)),
                "complex");
        shape.pop_back();
    }
    return input.shape ? reshaped(shape, *input.shape) : shape;
}

/// Error (config): values of one type that are to become another.
void require_real(DType from, DType to) {
    if (is_complex(from) && !is_complex(to))
        throw Error(Category::config,
                    fmt::format("{} values do not become {}: complex to real is refused", name(from), name(to)),
                    "dtype");
}

/// Poses one input: its shape and own dtype. Error (config or input) as the sources say.
Posed pose_input(Planner& planner, const config::Job& job, const Input& row, const config::Input& input,
                 PlannedInput& planned) {
    const Op& op = *job.entry->op;
    const std::optional<DType> wanted = row.own_dtype ? std::optional(DType::float64)
                                        : input.dtype ? input.dtype
                                                      : job.dtype;
    Posed posed;
    DType natural = DType::float32;
    if (std::holds_alternative<config::Dataset>(input.source)) {
        posed.spec.shape = pose_dataset(planner, job, input, planned);
        natural = hdf5::natural_dtype(*planned.info, op.integers, input.pair);
    } else if (const auto* output = std::get_if<config::JobOutput>(&input.source)) {
        const Planned& producer = planner.done.at(output->job);  // plan_job has seen to it that it is posed
        planned.producer = producer.cases.front();
        const Spec& spec = producer.problem->out[0];
        natural = without_integers(spec.dtype, op.integers);
        planned.select = selection_of(input, spec.shape);
        posed.spec.shape = shape_of(planned.select);
        if (input.shape) posed.spec.shape = reshaped(posed.spec.shape, *input.shape);
    } else if (const auto* numbers = std::get_if<config::Numbers>(&input.source)) {
        posed.spec.shape = input.shape ? reshaped(numbers->shape, *input.shape) : numbers->shape;
        posed.number = !wanted;
        posed.whole = numbers->whole;
        natural = numbers->whole && op.integers ? DType::int64 : DType::float32;
    } else {
        posed.spec.shape = input.shape.value_or(Shape{});
        const auto& generate = std::get<config::Generate>(input.source);
        const std::string reason = generate::refuses(generate, posed.spec.shape, wanted.value_or(natural));
        if (!reason.empty()) throw Error(Category::config, reason, "generate");
        count(posed.spec.shape);
    }
    posed.spec.dtype = wanted.value_or(natural);
    const bool reads = !std::holds_alternative<config::Numbers>(input.source) &&
                       !std::holds_alternative<config::Generate>(input.source);
    if (reads) require_real(natural, posed.spec.dtype);
    if (!op.integers && is_integer(posed.spec.dtype))
        throw Error(Category::config,
                    fmt::format("{} takes no integers: dtype {} would have to be a float or complex type", op.name,
                                name(posed.spec.dtype)),
                    "dtype");
    planned.own = row.own_dtype && input.dtype ? *input.dtype : posed.spec.dtype;  // rounded to it first
    return posed;
}

/// The common dtype of the inputs (numbers adapt to the others), given to all but own_dtype ones.
void unify(const Op& op, std::vector<Posed>& posed) {
    std::optional<DType> common;
    bool fraction = false, whole = true, numbers = false;
    for (std::size_t i = 0; i < posed.size(); ++i) {
        const Posed& one = posed[i];
        if (!one.spec.present || op.inputs[i].own_dtype) continue;
        if (one.number) {
            numbers = true;
            fraction = fraction || !one.whole;
            whole = whole && one.whole;
        } else {
            common = common ? result_type(*common, one.spec.dtype) : one.spec.dtype;
        }
    }
    if (numbers) {
        if (!common)
            common = whole && op.integers ? DType::int64 : DType::float32;
        else if (fraction && is_integer(*common))
            common = DType::float64;
    }
    if (!common) return;
    for (std::size_t i = 0; i < posed.size(); ++i)
        if (posed[i].spec.present && !op.inputs[i].own_dtype) posed[i].spec.dtype = *common;
}

// ------------------------------------------------------------------------------------------------ device and variant

struct Choice {
    std::string word;
    const Variant* row = nullptr;
    std::string reason;  // skipped
    bool doubled = false;
    int exit = 0;  // with a reason: 0 skipped, else `error`
};

/// Why the CUDA device that the job may take cannot be had; empty: it can.
std::string no_gpu(const Planner& planner, const config::Job& job) {
    const auto index = static_cast<std::size_t>(job.device.index);
    if (planner.gpus.empty()) return planner.no_gpu;
    if (index < planner.gpus.size()) return planner.gpus[index].refusal;
    return planner.gpus.size() == 1 ? std::string("there is one CUDA device, cuda:0")
                                    : fmt::format("there are {} CUDA devices, cuda:0 to cuda:{}", planner.gpus.size(),
                                                  planner.gpus.size() - 1);
}

bool allowed(const Planner& planner, const config::Job& job, Device device) {
    if (!job.device.any) return job.device.device == device;
    return device == Device::cpu || no_gpu(planner, job).empty();
}

Place place_of(const Planner& planner, const config::Job& job, Device device) {
    Place place{device,
                device == Device::cuda ? job.device.index : 0,
                job.threads.value_or(planner.options.overrides.threads.value_or(0)),
                {}};
    if (device == Device::cuda && no_gpu(planner, job).empty())
        place.limits = planner.gpus[static_cast<std::size_t>(place.index)].limits;
    return place;
}

/// Bytes of inputs, outputs and workspace; the largest number where they cannot be counted.
std::size_t memory_of(const Problem& problem, const Variant& row) try {
    std::size_t total = row.memory == nullptr ? 0 : row.memory(problem);
    for (const Spec& spec : problem.in) total += spec.present ? spec.bytes() : 0;
    for (const Spec& spec : problem.out) total += spec.bytes();
    return total;
} catch (const Error&) {
    return SIZE_MAX;
}

double gib(std::size_t bytes) {
    return static_cast<double>(bytes) / 0x1p30;
}

/// Why so many bytes do not fit the place; empty: they do, or it is the CPU.
std::string too_large(const Planner& planner, const Place& place, std::size_t bytes) {
    if (place.device == Device::cpu) return {};
    const cuda::DeviceInfo& gpu = planner.gpus[static_cast<std::size_t>(place.index)];
    if (bytes <= gpu.free_memory) return {};
    return fmt::format("needs {:.2f} GiB of memory, cuda:{} has {:.2f} of {:.2f} GiB free", gib(bytes), place.index,
                       gib(gpu.free_memory), gib(gpu.total_memory));
}

/// Why the variant cannot take the problem here; empty: it can.
std::string refusal(const Planner& planner, const config::Job& job, const Variant& row, Problem problem) {
    if (row.device == Device::cuda && cuda::built_in())
        if (const std::string why = no_gpu(planner, job); !why.empty()) return fmt::format("{}: {}", row.name, why);
    problem.place = place_of(planner, job, row.device);
    if (row.refuses != nullptr)
        if (std::string why = row.refuses(problem); !why.empty()) return why;
    const Op& op = *job.entry->op;
    const std::optional<Problem> compact = op.compact == nullptr ? std::nullopt : op.compact(problem);
    return too_large(planner, problem.place, memory_of(compact ? *compact : problem, row));
}

/// `auto`: the first of the operation's preferences that does not refuse; on CUDA custom ones only.
Choice choose(Planner& planner, const config::Job& job, const Problem& problem) {
    std::string reason;
    for (const Device device : {Device::cuda, Device::cpu}) {
        if (!allowed(planner, job, device)) continue;
        for (const std::string_view word : job.entry->op->prefer(problem)) {
            const Variant* row = find(*job.entry, word, device);
            if (row == nullptr || row->role == Role::faulty || (device == Device::cuda && row->role != Role::custom))
                continue;
            const std::string why = refusal(planner, job, *row, problem);
            if (why.empty()) return {std::string(word), row, {}};
            if (reason.empty()) reason = why;
        }
    }
    if (reason.empty())
        reason = fmt::format("{} has no variant for {}", job.entry->op->name,
                             job.device.any ? "this machine" : name(job.device.device));
    return {"auto", nullptr, reason};
}

std::vector<Choice> choices(Planner& planner, const config::Job& job, const Problem& problem) {
    std::vector<Choice> list;
    const auto add = [&](const Variant& row, const std::string& word) {
        Choice one{word, &row, refusal(planner, job, row, problem)};
        Problem unshaped = problem;
        unshaped.launch = {};
        if (!one.reason.empty() && job.own_launch && !job.listed && refusal(planner, job, row, unshaped).empty())
            one.exit = 4;  // it is the launch, asked for by name, that cannot be
        list.push_back(std::move(one));
    };
    for (const std::string& word : job.variants) {
        if (word == "auto") {
            list.push_back(choose(planner, job, problem));
        } else if (word == "all") {
            for (const Variant* row : job.entry->variants)
                if (row->role != Role::faulty && (job.device.any || row->device == job.device.device))
                    add(*row, std::string(row->name));
        } else {
            const Variant* on_cpu = find(*job.entry, word, Device::cpu);
            const Variant* on_cuda = find(*job.entry, word, Device::cuda);
            const Variant* row = on_cpu;
            if (on_cuda != nullptr && (on_cpu == nullptr || allowed(planner, job, Device::cuda))) row = on_cuda;
            if (!job.device.any && (row == nullptr || row->device != job.device.device))
                row = job.device.device == Device::cpu ? on_cpu : on_cuda;
            if (on_cpu == nullptr && on_cuda == nullptr) continue;  // the loader has said so
            if (row == nullptr) {
                planner.error(
                    job, "variant",
                    fmt::format("{} runs on the other device than device: {} allows", word, name(job.device.device)));
                continue;
            }
            add(*row, word);
        }
    }
    for (Choice& one : list)
        one.doubled = one.row != nullptr && std::count_if(list.begin(), list.end(), [&](const Choice& other) {
                                                return other.word == one.word;
                                            }) > 1;
    for (Choice& one : list) {
        const bool launch = !job.launch.grid.empty() || !job.launch.block.empty();
        if (one.row == nullptr || !launch || one.row->takes_launch) continue;
        const std::string reason = fmt::format("{} takes no launch", one.row->name);
        if (job.listed)
            one.reason = one.reason.empty() ? reason : one.reason;
        else if (job.own_launch)
            planner.error(job, "launch",
                          reason + (one.row->device == Device::cpu ? " (on the CPU: launch: {threads: N})" : ""));
    }
    return list;
}

// ------------------------------------------------------------------------------------------------ outputs

/// What may not be meant of an output's file; empty: nothing.
std::string remark_on(const std::string& file, const std::string& path, const std::string& output_dir) {
    if (fs::path(file).is_relative() && path.rfind(output_dir + "/", 0) != 0)
        return fmt::format("outputs start at the output directory: {} is {}", file, path);
    const std::string extension = fs::path(path).extension().string();
    for (const char* usual : {".h5", ".hdf5", ".hdf", ".he5", ".nc", ".nc4", ".mat"})
        if (extension == usual) return {};
    return fmt::format("{} is written in HDF5, whatever its name says: .h5 is the usual ending", file);
}

/// FILE:/PATH of a case's outputs, expanded; every clash is an error.
std::vector<PlannedOutput> outputs_of(Planner& planner, const config::Job& job, const std::string& case_name,
                                      const Choice& choice, std::vector<std::string>& notes) {
    const Op& op = *job.entry->op;
    std::vector<PlannedOutput> result(op.outputs.size());
    if (!job.output_file && job.outputs.empty()) return result;
    const std::map<std::string, std::string> variables{
        {"job", job.base},
        {"variant", choice.row != nullptr ? std::string(choice.row->name) : choice.word},
        {"device", std::string(name(choice.row != nullptr ? choice.row->device : Device::cpu))}};
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        const std::string output(op.outputs[i].name);
        const auto own = job.outputs.find(output);
        const std::string key = own != job.outputs.end() ? "outputs." + output : "outputs";
        if (own == job.outputs.end() && !job.output_file) continue;
        std::string file, dataset = "/" + output;
        try {
            const std::string text =
                planner.config.expand(own != job.outputs.end() ? own->second : *job.output_file, variables);
            const std::size_t colon = own != job.outputs.end() ? text.find(":/") : std::string::npos;
            file = text.substr(0, colon);
            if (colon != std::string::npos) dataset = text.substr(colon + 1);
        } catch (const Error& fault) {
            planner.error(job, key, fault.what());
            continue;
        }
        const std::string path = canonical((fs::path(planner.plan.output_dir) / file).string());
        const auto [taken, fresh] = planner.owner.emplace(path, case_name);
        if (!fresh && taken->second != case_name) {
            planner.error(
                job, key,
                job.sweep.empty()
                    ? fmt::format(
                          "cases {} and {} would both write {}: one case writes one file; put a variable in the "
                          "file's name ($job, $variant, $device)",
                          taken->second, case_name, file)
                    : fmt::format(
                          "several cases would write {}: one case writes one file; put a variable in the file's "
                          "name (one that is swept, $job, $variant, $device)",
                          file));
            continue;
        }
        const auto inside = [](const std::string& outer, const std::string& inner) {
            return inner.rfind(outer + "/", 0) == 0;
        };
        auto nested = planner.owner.lower_bound(path + "/");  // a file in it, else one that is a folder of its path
        if (nested == planner.owner.end() || !inside(path, nested->first)) nested = planner.owner.end();
        for (fs::path above = fs::path(path).parent_path(); nested == planner.owner.end() && above.has_relative_path();
             above = above.parent_path())
            nested = planner.owner.find(above.string());
        if (nested != planner.owner.end()) {
            planner.error(
                job, key,
                fmt::format("{} would be a file and a folder: case {} writes {}",
                            inside(path, nested->first) ? file : nested->first, nested->second, nested->first));
            continue;
        }
        std::error_code ignored;
        if (fs::is_symlink(fs::path(planner.plan.output_dir) / file, ignored) && !fs::exists(path, ignored)) {
            planner.error(job, key, fmt::format("{} is a link to nothing: remove it, or name the file itself", file));
            continue;
        }
        const std::string stem = fs::path(path).filename().string();
        if (fs::path(path).parent_path() == planner.plan.output_dir &&
            (stem == "report.json" || stem == "report.jsonl")) {
            planner.error(job, key, fmt::format("{} is the report's own name", stem));
            continue;
        }
        if (planner.no_folder && inside(planner.plan.output_dir, path)) continue;
        try {
            hdf5::check_writable(path);
        } catch (const Error& fault) {
            planner.error(job, key, fault.what());
            planner.owner.erase(path);
            continue;
        }
        result[i] = {path, dataset};
        if (std::string remark = remark_on(file, path, planner.plan.output_dir); !remark.empty())
            notes.push_back(std::move(remark));
    }
    return result;
}

/// Error (config): HDF5 cannot store the outputs as the job asks.
void check_store(const config::Job& job, const Problem& problem) try {
    if (!job.output_file && job.outputs.empty()) return;
    const config::Store& store = job.store;
    for (std::size_t i = 0; i < problem.out.size(); ++i)
        hdf5::chunks_of(fmt::format("output {}", job.entry->op->outputs[i].name), problem.out[i],
                        {store.chunks, store.gzip, store.shuffle, store.level});
} catch (const Error& fault) {
    throw Error(fault.category(), fault.what(), "store." + fault.where());
}

// ------------------------------------------------------------------------------------------------ jobs

/// May this case compute on channel-diagonal blocks alone, as things stand with the cases it reads?
bool stays_compact(const Case& one, const Plan& plan) {
    const int alias = one.op().outputs[0].alias;
    if (alias < 0) return true;
    const auto base = static_cast<std::size_t>(alias);
    if (!compacted(one.problem.in[base], one.compact->in[base])) return true;
    // The other blocks of an in-place tensor must come from somewhere that can be copied as it is.
    const PlannedInput& input = one.inputs[base];
    const config::Input& source = *input.source;
    if (source.select || source.shape || source.scale || source.nan || source.pair) return false;
    // The kernel's blocks are rounded step by step, the copied ones once: only where that is the same.
    const auto widens = [](DType from, DType to) { return result_type(from, to) == to; };
    const DType common = one.problem.in[base].dtype, out = one.problem.out[0].dtype;
    if (input.producer >= 0) {
        const Case& producer = plan.cases[static_cast<std::size_t>(input.producer)];
        const DType made = producer.problem.out[0].dtype;
        return producer.compact && made == out && widens(made, input.own) && widens(input.own, common);
    }
    if (!input.info) return false;
    const DType stored = hdf5::natural_dtype(*input.info, false, false);
    return (widens(stored, input.own) && widens(input.own, common)) || (input.own == out && common == out);
}

/// Each case that can computes on channel-diagonal blocks, unless a reader of its output needs the full layout.
void compact_all(Plan& plan) {
    for (Case& one : plan.cases)
        if (one.reason.empty() && one.op().compact != nullptr && !one.against)
            one.compact = one.op().compact(one.problem);
    for (bool changed = true; changed;) {
        changed = false;
        for (Case& one : plan.cases) {
            if (one.compact && !stays_compact(one, plan)) {
                one.compact.reset();
                changed = true;
            }
            for (std::size_t k = 0; k < one.inputs.size(); ++k) {
                const PlannedInput& input = one.inputs[k];
                if (input.producer < 0) continue;
                Case& producer = plan.cases[static_cast<std::size_t>(input.producer)];
                const bool plain = !input.source->select && !input.source->shape;
                const bool small = one.compact && plain && compacted(one.problem.in[k], one.compact->in[k]);
                if (producer.compact && producer.problem.out != producer.compact->out && !small) {
                    producer.compact.reset();
                    changed = true;
                }
            }
        }
    }
}

/// "ladder[tiled]", "ladder[n=64,variant=tiled]": the job's name with one more word.
std::string named(const config::Job& job, const std::string& word) {
    if (!job.name.ends_with(']')) return fmt::format("{}[{}]", job.name, word);
    return fmt::format("{},{}]", job.name.substr(0, job.name.size() - 1), word);
}

/// How an answer that is read was added up nobody knows: it is judged as one accumulator is.
const Variant answer_row = [] {
    Variant row;
    row.name = "against";
    row.growth = [](const Problem&, std::int64_t n) { return std::sqrt(static_cast<double>(n)); };
    return row;
}();

/// The case of the answer that `against` names, like `one`, which computes.
void plan_answer(Planner& planner, const config::Job& job, Case one) {
    PlannedInput answer;
    answer.source = &*job.against;
    one.name = named(job, "against");
    one.notes.clear();
    one.outputs.assign(one.outputs.size(), {});
    if (!one.problem.out.empty()) {
        one.reason.clear();
        one.exit = 0;
        one.variant = &answer_row;
        one.place = one.problem.place = place_of(planner, job, Device::cpu);
        one.problem.launch = {};
        try {
            const Shape shape = pose_dataset(planner, job, *job.against, answer), &wanted = one.problem.out[0].shape;
            if (shape != wanted)
                throw Error(Category::config, fmt::format("the answer has shape {}, the output {} has {}",
                                                          to_text(shape), one.op().outputs[0].name, to_text(wanted)));
            answer.own = one.problem.out[0].dtype;
            require_real(hdf5::natural_dtype(*answer.info, true, job.against->pair), answer.own);
        } catch (const Error& fault) {
            if (fault.category() != Category::input)
                planner.error(job, fault.where().empty() ? "against" : "against." + fault.where(), fault.what());
            one.reason = fault.what();
            one.exit = 3;
        }
    }
    one.against = std::move(answer);
    planner.plan.cases.push_back(std::move(one));
}

void plan_job(Planner& planner, const config::Job& job) {
    Planned& state = planner.done[job.name];
    const Op& op = *job.entry->op;
    bool good = true;
    const auto fail = [&](const std::string& key, const std::string& message) {
        planner.error(job, key, message);
        good = false;
    };

    // Inputs, each on its own, so that every fault is found.
    std::vector<PlannedInput> inputs(op.inputs.size());
    std::vector<Posed> posed(op.inputs.size());
    std::string damaged;  // a file that cannot be read: the case is an error, the run goes on
    std::string missing;  // a producer that is not there
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const std::string key = "inputs." + std::string(op.inputs[i].name);
        const auto given = job.inputs.find(op.inputs[i].name);
        posed[i].spec.present = given != job.inputs.end();
        if (given == job.inputs.end()) {
            good = good && op.inputs[i].optional;  // the loader has said so
            continue;
        }
        inputs[i].source = &given->second;
        if (const auto* output = std::get_if<config::JobOutput>(&given->second.source)) {
            const auto producer = planner.done.find(output->job);
            if (producer == planner.done.end() || !producer->second.problem || producer->second.cases.empty()) {
                good = false;  // the producer's own error stands already
                if (producer != planner.done.end() && !producer->second.failed.empty()) missing = output->job;
                continue;
            }
        }
        try {
            posed[i] = pose_input(planner, job, op.inputs[i], given->second, inputs[i]);
        } catch (const Error& fault) {
            if (fault.category() == Category::input)
                damaged = damaged.empty() ? fault.what() : damaged;
            else
                fail(fault.where().empty() ? key : key + "." + fault.where(), fault.what());
        }
    }
    Params params;
    try {
        params = resolve(op.params, job.params);
    } catch (const Error& fault) {
        fail(fault.where(), fault.what());
    }

    Problem problem;
    if (good && damaged.empty()) {
        try {
            unify(op, posed);
            std::vector<Spec> specs;
            for (const Posed& one : posed) specs.push_back(one.spec);
            problem = pose(op, job.params, specs, job.result_dtype);
            problem.launch = job.launch;
            for (const Spec& spec : problem.out) spec.bytes();
            state.problem = problem;
        } catch (const Error& fault) {
            fail(fault.where().empty() ? "op" : fault.where(), fault.what());
        }
    }
    if (state.problem) {
        try {
            check_store(job, problem);
        } catch (const Error& fault) {
            fail(fault.where(), fault.what());
        }
    }
    if (!good && missing.empty()) return;

    const bool posed_well = state.problem.has_value();
    std::vector<Choice> list{{"auto", nullptr, {}}};
    if (posed_well) list = choices(planner, job, problem);
    for (const Choice& choice : list) {
        Case one;
        one.job = &job;
        one.name = job.name;
        if (job.listed && posed_well)
            one.name = named(job, (job.sweep.empty() ? "" : "variant=") + choice.word +
                                      (choice.doubled ? fmt::format("@{}", name(choice.row->device)) : ""));
        one.variant = choice.row;
        one.params = params;
        one.inputs = inputs;
        one.reason = choice.reason;
        one.exit = choice.reason.empty() ? 0 : choice.exit;
        if (!damaged.empty()) {
            one.reason = damaged;
            one.exit = 3;
            state.failed = damaged;
        } else if (!missing.empty()) {
            one.reason = missing + " failed";
            state.failed = one.reason;
        }
        if (one.variant != nullptr) one.place = place_of(planner, job, one.variant->device);
        one.problem = problem;
        one.problem.place = one.place;
        one.outputs = outputs_of(planner, job, one.name, choice, one.notes);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i].info)
                if (const std::string remark = stored_remark(*inputs[i].info); !remark.empty())
                    one.notes.push_back(fmt::format("input {} has {}", op.inputs[i].name, remark));
        if (posed_well && op.remark != nullptr)
            if (const std::string remark = op.remark(problem); !remark.empty()) one.notes.push_back(remark);
        state.cases.push_back(static_cast<int>(planner.plan.cases.size()));
        planner.plan.cases.push_back(std::move(one));
    }
    if (job.against && !list.empty()) plan_answer(planner, job, planner.plan.cases.back());
}

/// What a bench plans: nothing is saved; a job that names no variant has all, one that names some has the vendor's of
/// their devices beside them. One that others read keeps its one, one swept over variants those.
void pose_bench(config::Config& config) {
    std::set<std::string> read;
    for (const config::Job& job : config.jobs)
        for (const auto& [name, input] : job.inputs)
            if (const auto* output = std::get_if<config::JobOutput>(&input.source)) read.insert(output->job);
    for (config::Job& job : config.jobs) {
        job.output_file.reset();
        job.outputs.clear();
        job.against.reset();  // computed elsewhere: it has no time
        const bool swept =
            std::any_of(job.sweep.begin(), job.sweep.end(), [](const auto& value) { return value.first == "variant"; });
        if (job.entry == nullptr || swept || read.count(job.name) > 0) continue;
        std::vector<std::string>& words = job.variants;
        const auto named = [&](std::string_view word) {
            return std::find(words.begin(), words.end(), word) != words.end();
        };
        if (job.marks.count("variant") == 0) {
            words = {"all"};
            job.listed = true;
        }
        if (named("all") || named("auto")) continue;
        const auto runs_on = [&](Device device) {
            return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                return find(*job.entry, word, device) != nullptr && (job.device.any || job.device.device == device);
            });
        };
        for (const Variant* row : job.entry->variants)
            if (row->role == Role::vendor && !named(row->name) && runs_on(row->device)) {
                words.emplace_back(row->name);
                job.listed = true;
            }
    }
}

/// Inputs that a job of this run writes: an output that is an input, or a file that its values come from.
void check_overlap(Planner& planner) {
    const auto identity = [](const std::string& file) -> std::optional<std::pair<dev_t, ino_t>> {
        struct stat facts {};
        if (stat(file.c_str(), &facts) != 0) return {};
        return std::pair(facts.st_dev, facts.st_ino);
    };
    std::map<std::pair<dev_t, ino_t>, std::string> existing;  // outputs that are there: an input may be one by a link
    for (const auto& [output, writer] : planner.owner)
        if (const auto id = identity(output)) existing.emplace(*id, output);
    const auto written = [&](const std::string& file) {
        if (planner.owner.count(file) > 0) return planner.owner.find(file);
        const auto id = identity(file);
        const auto found = id ? existing.find(*id) : existing.end();
        return found == existing.end() ? planner.owner.end() : planner.owner.find(found->second);
    };
    const auto check = [&](const Case& one, const PlannedInput& input, const std::string& key) {
        if (input.source == nullptr || !std::holds_alternative<config::Dataset>(input.source->source)) return;
        std::vector<std::string> files{canonical(std::get<config::Dataset>(input.source->source).file)};
        if (input.info) files.insert(files.end(), input.info->files.begin(), input.info->files.end());
        for (const std::string& file : files) {
            const auto found = written(file);
            if (found == planner.owner.end()) continue;
            const auto& [output, writer] = *found;
            planner.error(*one.job, key,
                          writer == one.name
                              ? fmt::format("{} is this case's own output too: write elsewhere; inputs are "
                                            "never modified",
                                            output)
                              : fmt::format("{} is written by case {} of this run: use $JOB:/OUTPUT, or write "
                                            "elsewhere; inputs are never modified",
                                            output, writer));
            return;
        }
    };
    for (const Case& one : planner.plan.cases) {
        for (std::size_t i = 0; i < one.inputs.size(); ++i)
            check(one, one.inputs[i], fmt::format("inputs.{}", one.op().inputs[i].name));
        if (one.against) check(one, *one.against, "against");
    }
}

/// Keeps the cases `--only` names and what they read.
void keep_only(Plan& plan, const std::vector<std::string>& globs, config::Diagnostics& diagnostics) {
    if (globs.empty()) return;
    std::vector<bool> kept(plan.cases.size());
    const auto names = [](const std::string& glob, const Case& one) {
        for (const std::string& name : {one.name, one.job->name, one.job->base})
            if (name == glob || fnmatch(glob.c_str(), name.c_str(), FNM_NOESCAPE) == 0) return true;
        return false;
    };
    for (const std::string& glob : globs) {
        bool any = false;
        for (std::size_t i = 0; i < plan.cases.size(); ++i)
            if (names(glob, plan.cases[i])) kept[i] = any = true;
        if (any) continue;
        std::vector<std::string> all;
        for (const Case& one : plan.cases) all.push_back(one.name);
        std::string hint = did_you_mean(glob, all);
        if (const std::size_t comma = glob.find(','); comma != std::string::npos) {
            const std::string first = glob.substr(0, comma);
            if (std::any_of(plan.cases.begin(), plan.cases.end(), [&](const Case& one) { return names(first, one); }))
                hint = fmt::format(" (one name each: --only {} --only ...)", first);
        }
        diagnostics.add({"--only " + glob, 0, 0},
                        fmt::format("no case is called so{}; there are {}", hint, joined(all)));
    }
    for (std::size_t i = plan.cases.size(); i-- > 0;)
        if (kept[i])
            for (const PlannedInput& input : plan.cases[i].inputs)
                if (input.producer >= 0) kept[static_cast<std::size_t>(input.producer)] = true;
    std::vector<int> moved(plan.cases.size(), -1);
    std::vector<Case> cases;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        if (!kept[i]) continue;
        moved[i] = static_cast<int>(cases.size());
        cases.push_back(std::move(plan.cases[i]));
        for (PlannedInput& input : cases.back().inputs)
            if (input.producer >= 0) input.producer = moved[static_cast<std::size_t>(input.producer)];
    }
    plan.cases = std::move(cases);
}

/// What can be said once all cases are known: who reads whom, compact or not, memory.
void finish(Planner& planner) {
    Plan& plan = planner.plan;
    for (const Case& one : plan.cases)
        for (const PlannedInput& input : one.inputs)
            if (input.producer >= 0) ++plan.cases[static_cast<std::size_t>(input.producer)].consumers;
    compact_all(plan);
    const std::size_t available = host_memory();
    for (Case& one : plan.cases) {
        const auto find_missing = [&](const PlannedInput& input) {
            if (!one.reason.empty() || !input.info) return;
            one.reason = hdf5::missing(*input.info);
            one.exit = one.reason.empty() ? 0 : 3;
        };
        for (const PlannedInput& input : one.inputs) find_missing(input);
        if (one.against) find_missing(*one.against);
        if (!one.reason.empty()) continue;
        if (one.compact) one.compact->place = one.place;
        one.memory = memory_of(one.computed(), *one.variant);
        for (PlannedInput& input : one.inputs)
            if (input.info)
                input.bytes = static_cast<std::uint64_t>(count(shape_of(input.select))) *
                              static_cast<std::uint64_t>(std::max(input.info->type.bits, 8) / 8) *
                              (input.info->type.kind == hdf5::FileType::Kind::complex ? 2 : 1);
        if (one.memory > available)
            one.reason =
                fmt::format("needs {:.2f} GiB of memory, this machine has {:.2f} GiB", gib(one.memory), gib(available));
        else
            one.reason = too_large(planner, one.place, one.memory);
        if (!one.reason.empty()) one.exit = 4;
    }
}

/// Error (device): a case asks for a CUDA device that is not there.
void require_devices(const Planner& planner) {
    for (const Case& one : planner.plan.cases) {
        const config::DeviceChoice& device = one.job->device;
        if (device.any || device.device != Device::cuda) continue;
        if (const std::string why = no_gpu(planner, *one.job); !why.empty())
            throw Error(Category::device, fmt::format("job {} asks for cuda:{}: {}", one.job->name, device.index, why));
    }
}

}  // namespace

std::string Case::device() const {
    if (against) return "file";
    return place.device == Device::cpu ? "cpu" : fmt::format("cuda:{}", place.index);
}

std::size_t host_memory() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

std::string packing_of(const hdf5::Info& info) {
    std::string found;
    for (const hdf5::Attribute& attribute : info.attributes)
        for (const char* packing : {"scale_factor", "add_offset", "_FillValue", "_Unsigned"})
            if (attribute.name == packing && attribute.text != "false")
                found += (found.empty() ? "" : ", ") + attribute.name;
    return found == "_FillValue" ? "" : found;  // alone it fills what was never written
}

Slab diagonal_view(const Slab& full) {
    const Shape& n = full.spec.shape;
    const Shape& s = full.strides;
    return {{full.spec.dtype, {n[0], n[1], n[2], n[3], n[5], n[6]}},
            {s[0], s[1] + s[4], s[2], s[3], s[5], s[6]},
            full.data};
}

Plan plan(const std::string& source, const PlanOptions& options, config::Diagnostics& diagnostics) {
    Plan plan;
    plan.config = config::load(source, options.overrides, diagnostics);
    if (options.bench) pose_bench(plan.config);
    plan.output_dir = canonical(options.output_dir.empty() ? "out/" + plan.config.stem : options.output_dir);
    if (options.output_dir.starts_with("~/"))
        diagnostics.add({"--output-dir " + options.output_dir, 0, 0},
                        "the shell has left '~' as it is (after a '=' or in quotes it does): write $HOME");
    Planner planner{plan.config, options, diagnostics, plan};
    planner.no_folder = !unwritable(plan.output_dir).empty();
    try {
        options.bench ? timing::check_files(plan.output_dir) : report::check_reports(plan.output_dir);
    } catch (const Error& fault) {
        diagnostics.add({plan.config.source, 0, 0}, fault.what());
    }
    planner.gpus = cuda::devices(&planner.no_gpu);
    for (const config::Job* job : in_order(plan.config))
        if (job->entry != nullptr && job->sound) plan_job(planner, *job);
    check_overlap(planner);
    planner.tell_gathered();
    if (plan.cases.size() > std::max(static_cast<std::size_t>(options.overrides.max_cases), plan.config.jobs.size()))
        diagnostics.add({plan.config.source, 0, 0},
                        fmt::format("{} cases with their variants, more than {}: --max-cases {} allows them",
                                    plan.cases.size(), options.overrides.max_cases, plan.cases.size()));
    keep_only(plan, options.only, diagnostics);
    finish(planner);
    if (diagnostics.empty()) require_devices(planner);
    return plan;
}

}  // namespace gridstride::engine
