// SPDX-License-Identifier: BSD-3-Clause
// Jobs back to YAML: a file that runs again as it is, with every default filled in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/ascii.hpp"
#include "io/config_values.hpp"

namespace gridstride::config {

namespace {

/// In double quotes, whatever it holds. variables: a '$' begins a variable; else it is a dollar.
std::string yaml_quoted(std::string_view text, bool variables = false) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            result += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
        else if (c == '$' && !variables)
            result += "$$";
        else
            result += c;
    }
    return result + "\"";
}

/// Plain where that is safe: a letter, then letters, digits, `_`, and none of YAML's own words.
std::string word(const std::string& text) {
    const bool safe = !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '_';
    });
    constexpr std::string_view own[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    return safe && std::find(std::begin(own), std::end(own), lower(text)) == std::end(own) ? text : yaml_quoted(text);
}

/// With a point, so that it is read as what it is: not a whole number.
std::string number(double value) {
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
    std::string text = fmt::format("{}", value);
    if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
}

std::string flow(const Value& value) {
    struct {
        std::string operator()(std::monostate) const { return "null"; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
        std::string operator()(double real) const { return number(real); }
        std::string operator()(const std::string& text) const { return word(text); }
        std::string operator()(const Values& values) const {
            std::string inner;
            for (const Value& one : values) inner += (inner.empty() ? "" : ", ") + flow(one);
            return "[" + inner + "]";
        }
    } text;
    return std::visit(text, static_cast<const Value::variant&>(value));
}

std::string flow(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// {a: 1, b: 2} from its parts.
class Mapping {
  public:
    void add(std::string_view key, const std::string& value) {
        inner_ += fmt::format("{}{}: {}", inner_.empty() ? "" : ", ", key, value);
    }
    bool empty() const { return inner_.empty(); }
    std::string text() const { return "{" + inner_ + "}"; }

  private:
    std::string inner_;
};

void add_generate(Mapping& mapping, const Generate& made) {
    mapping.add("generate", made.kind);
    if (made.scale != 1) mapping.add("scale", number(made.scale));
    if (made.kind == "chirp") {
        mapping.add("f0", number(made.f0));
        mapping.add("f1", number(made.f1));
    }
    if (made.kind == "covariance") {
        mapping.add("rank", fmt::format("{}", made.rank));
        if (made.pairs) mapping.add("pairs", fmt::format("{}", *made.pairs));
    }
    if (made.seed) mapping.add("seed", fmt::format("{}", *made.seed));
    if (made.plus.empty()) return;
    std::string list;
    for (const Generate& one : made.plus) {
        Mapping another;
        add_generate(another, one);
        list += (list.empty() ? "" : ", ") + another.text();
    }
    mapping.add("plus", "[" + list + "]");
}

/// The job's name in the file of a case's name: a case reads one case of each job.
std::string_view base(std::string_view name) {
    return name.substr(0, name.find('['));
}

std::string flow(const Input& input) {
    Mapping mapping;
    if (const auto* dataset = std::get_if<Dataset>(&input.source))
        mapping.add("from", yaml_quoted(dataset->file + ":" + dataset->path));
    else if (const auto* output = std::get_if<JobOutput>(&input.source))
        mapping.add("from", yaml_quoted(fmt::format("${}:/{}", base(output->job), output->output), true));
    else if (const auto* numbers = std::get_if<Numbers>(&input.source))
        mapping.add("from", numbers->shape.empty() ? flow(numbers->values.at(0)) : flow(Value(numbers->values)));
    else
        add_generate(mapping, std::get<Generate>(input.source));
    if (input.select) mapping.add("select", yaml_quoted(*input.select));
    if (input.shape) mapping.add("shape", flow(*input.shape));
    if (input.dtype) mapping.add("dtype", std::string(name(*input.dtype)));
    if (input.pair) mapping.add("complex", "pair");
    if (input.scale) mapping.add("scale", number(*input.scale));
    if (input.nan) mapping.add("nan", number(*input.nan));
    return mapping.text();
}

std::string flow(const Store& store) {
    Mapping mapping;
    if (store.chunks) mapping.add("chunks", flow(*store.chunks));
    mapping.add("compression", store.gzip ? "gzip" : "none");
    if (store.gzip) mapping.add("level", fmt::format("{}", store.level));
    mapping.add("shuffle", store.shuffle ? "true" : "false");
    return mapping.text();
}

std::string flow(const Validate& validate) {
    if (validate.mode == Validate::Mode::full) return "full";
    if (validate.mode == Validate::Mode::none) return "none";
    Mapping mapping;
    mapping.add("sample", fmt::format("{}", validate.sample));
    mapping.add("terms", number(validate.terms));
    mapping.add("seed", fmt::format("{}", validate.seed));
    return mapping.text();
}

std::string flow(const Tolerance& tolerance) {
    if (tolerance.mode == Tolerance::Mode::bitwise) return "bitwise";
    Mapping mapping;
    if (tolerance.mode == Tolerance::Mode::bound) {
        mapping.add("factor", number(tolerance.factor));
    } else {
        mapping.add("rtol", number(tolerance.rtol));
        mapping.add("atol", number(tolerance.atol));
    }
    return mapping.text();
}

std::string job_text(const Resolved& one) {
    const Job& job = *one.job;
    const bool cuda = one.device.substr(0, 4) == "cuda";
    const Variant* row = find(*job.entry, one.variant, cuda ? Device::cuda : Device::cpu);
    std::string text = fmt::format("  {}:\n", yaml_quoted(job.base));
    const auto line = [&](std::string_view key, const std::string& value) {
        text += fmt::format("    {}: {}\n", key, value);
    };
    line("op", std::string(job.entry->op->name));
    text += "    inputs:\n";
    for (const auto& [name, input] : job.inputs) text += fmt::format("      {}: {}\n", name, flow(input));
    Mapping params;
    for (const Param& param : job.entry->op->params)
        if (!param.hidden && one.params.has(param.name)) params.add(param.name, flow(one.params.get(param.name)));
    if (!params.empty()) line("params", params.text());
    if (job.output_file) line("outputs", yaml_quoted(*job.output_file, true));
    Mapping outputs;
    for (const auto& [name, place] : job.outputs) outputs.add(name, yaml_quoted(place, true));
    if (!outputs.empty()) line("outputs", outputs.text());
    line("store", flow(job.store));
    if (job.dtype) line("dtype", std::string(name(*job.dtype)));
    if (job.result_dtype) line("result_dtype", std::string(name(*job.result_dtype)));
    line("device", cuda && one.device == "cuda" && job.device.index > 0 ? fmt::format("cuda:{}", job.device.index)
                                                                        : std::string(one.device));
    line("variant", std::string(one.variant));
    Mapping launch;
    if (row != nullptr && row->takes_launch) {
        if (!job.launch.grid.empty()) launch.add("grid", flow(job.launch.grid));
        if (!job.launch.block.empty()) launch.add("block", flow(job.launch.block));
    }
    if (job.threads) launch.add("threads", fmt::format("{}", *job.threads));
    if (!launch.empty()) line("launch", launch.text());
    line("validate", flow(job.validate));
    line("tolerance", flow(job.tolerance));
    return text;
}

}  // namespace

std::string to_yaml(const std::vector<Resolved>& jobs) {
    std::string text = "schema: 1\njobs:\n";
    for (const Resolved& one : jobs) text += job_text(one);
    return text;
}

}  // namespace gridstride::config
