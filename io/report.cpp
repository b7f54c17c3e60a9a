// SPDX-License-Identifier: BSD-3-Clause
// Reports as JSON, and files that are whole or not there: written under another name, synced, then renamed.
#include "io/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "io/folder.hpp"
#include "io/report_json.hpp"
#include "io/report_tables.hpp"

namespace gridstride::report {

// JSON has no NaN and no infinities; readers get a text that every language's float() takes.
Json number(long double value) {
    if (std::isnan(value)) return "nan";
    const auto narrow = static_cast<double>(value);
    if (std::isinf(narrow)) return narrow > 0 ? "inf" : "-inf";
    return narrow;
}

namespace {

using report::json;
using report::number;

Json number(const Number& value, DType dtype) {
    if (value.complex) return {number(value.re), number(value.im)};
    if (is_integer(dtype) && std::isfinite(value.re)) return static_cast<std::int64_t>(value.re);
    return number(value.re);
}

Json json(const Value& value) {
    struct {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(bool flag) const { return flag; }
        Json operator()(std::int64_t integer) const { return integer; }
        Json operator()(double real) const { return number(real); }
        Json operator()(const std::string& word) const { return word; }
        Json operator()(const Values& values) const {
            Json list = Json::array();
            for (const Value& one : values) list.push_back(json(one));
            return list;
        }
    } convert;
    return std::visit(convert, static_cast<const Value::variant&>(value));
}

}  // namespace

Json json(const Params& params) {
    Json object = Json::object();
    for (const auto& [name, value] : params.all()) object[name] = json(value);
    return object;
}

Json json(const Swept& sweep) {
    Json object = Json::object();
    for (const auto& [key, value] : sweep) object[key] = json(value);
    return object;
}

Json json(const LaunchLine& launch) {
    return {{"grid", launch.grid},
            {"block", launch.block},
            {"blocks_per_sm", launch.blocks_per_sm},
            {"occupancy", number(launch.occupancy)},
            {"idle_threads", launch.idle_threads}};
}

namespace {

Json json(const InputLine& input) {
    return {{"name", input.name},        {"source", input.source},    {"dtype", name(input.spec.dtype)},
            {"shape", input.spec.shape}, {"min", number(input.min)},  {"max", number(input.max)},
            {"nan", input.nan},          {"replaced", input.replaced}};
}

Json json(const OutputLine& output) {
    Json values = Json::array();
    for (const Number& one : output.values) values.push_back(number(one, output.spec.dtype));
    return {{"name", output.name},
            {"dtype", name(output.spec.dtype)},
            {"shape", output.spec.shape},
            {"file", output.file.empty() ? Json() : Json(output.file)},
            {"dataset", output.file.empty() ? Json() : Json(output.dataset)},
            {"nan", output.nan},
            {"values", values}};
}

Json json(const ReferenceLine& reference, DType dtype) {
    const BoundLine& bound = reference.bound;
    Json worst;
    if (reference.worst)
        worst = {{"index", reference.worst->index},
                 {"got", number(reference.worst->got, dtype)},
                 {"expected", number(reference.worst->expected, dtype)}};
    return {{"checked", reference.checked},
            {"of", reference.of},
            {"failed", reference.failed},
            {"max_abs", number(reference.max_abs)},
            {"max_ulp", number(reference.max_ulp)},
            {"rel_l2", number(reference.rel_l2)},
            {"tolerance_used", number(reference.tolerance_used)},
            {"bound",
             {{"formula", bound.formula},
              {"c", number(bound.c)},
              {"u_out", number(bound.u_out)},
              {"u_acc", number(bound.u_acc)},
              {"u_in", number(bound.u_in)},
              {"n", bound.n},
              {"g", number(bound.g)},
              {"g_one_signed", number(bound.g_one_signed)}}},
            {"worst", worst}};
}

/// error_ratio: our largest error over the vendor's; none where the vendor's is 0.
Json json(const VendorLine& vendor, const std::optional<ReferenceLine>& ours) {
    const bool known = ours && vendor.max_abs > 0;
    return {{"name", vendor.name},
            {"status", vendor.status},
            {"tolerance_used", number(vendor.tolerance_used)},
            {"max_abs", number(vendor.max_abs)},
            {"rel_l2", number(vendor.rel_l2)},
            {"error_ratio", known ? number(ours->max_abs / vendor.max_abs) : Json()}};
}

Json json(const PropertyLine& property) {
    return {{"name", property.name},
            {"status", property.holds ? "pass" : "mismatch"},
            {"value", number(property.value)},
            {"bound", number(property.bound)},
            {"where", property.where}};
}

Json json(const RepeatLine& repeat) {
    return {{"runs", repeat.runs}, {"equal", repeat.different == 0}, {"different_bytes", repeat.different}};
}

Json json(const MismatchLine& mismatch) {
    Json axes = Json::array(), decades = Json::array();
    for (const MismatchLine::Axis& axis : mismatch.axes)
        axes.push_back({{"first", axis.first}, {"last", axis.last}, {"distinct", axis.distinct}});
    for (const auto& [power, count] : mismatch.decades) decades.push_back({{"power", power}, {"count", count}});
    return {{"ulp", number(mismatch.ulp)}, {"axes", axes},
            {"decades", decades},          {"not_finite", mismatch.not_finite},
            {"command", mismatch.command}, {"dump", mismatch.dump.empty() ? Json() : Json(mismatch.dump)}};
}

Json json(const Seconds& seconds) {
    return {{"read", number(seconds.read)},
            {"copy_in", number(seconds.copy_in)},
            {"compute", number(seconds.compute)},
            {"copy_out", number(seconds.copy_out)},
            {"with_copies", number(seconds.with_copies)},
            {"validate", number(seconds.validate)},
            {"write", number(seconds.write)}};
}

Json json(const Case& one);

template <class Line>
Json json_list(const std::vector<Line>& lines) {
    Json list = Json::array();
    for (const Line& line : lines) list.push_back(json(line));
    return list;
}

Json json(const Case& one) {
    const DType dtype = one.outputs.empty() ? DType::float64 : one.outputs[0].spec.dtype;
    return {{"name", one.name},
            {"job", one.job},
            {"op", one.op},
            {"device", one.device},
            {"variant", one.variant},
            {"sweep", json(one.sweep)},
            {"expect", one.expect},
            {"status", name(one.status)},
            {"reason", one.reason},
            {"params", json(one.params)},
            {"launch", one.launch ? json(*one.launch) : Json()},
            {"inputs", json_list(one.inputs)},
            {"outputs", json_list(one.outputs)},
            {"reference", one.reference ? json(*one.reference, dtype) : Json()},
            {"vendor", one.vendor ? json(*one.vendor, one.reference) : Json()},
            {"properties", json_list(one.properties)},
            {"repeat", one.repeat ? json(*one.repeat) : Json()},
            {"mismatch", one.mismatch ? json(*one.mismatch) : Json()},
            {"loose_tolerance", one.loose_tolerance},
            {"notes", one.notes},
            {"seconds", json(one.seconds)}};
}

Json json(const Run& run) {
    const Surroundings& here = run.surroundings;
    return {{"schema", 1},
            {"program", {{"version", here.version}, {"commit", here.commit}}},
            {"command", here.command},
            {"config", run.config},
            {"config_text", run.config_text},
            {"started", here.started},
            {"seconds", number(run.seconds)},
            {"exit", run.exit},
            {"host", here.host},
            {"device", here.device},
            {"libraries", here.libraries},
            {"environment", here.environment},
            {"cases", json_list(run.cases)}};
}

}  // namespace

std::string text(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int code) {
    throw Error(Category::input, fmt::format("{}: {} ({})", path, what, std::strerror(code)));
}

void make_folder(const std::string& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder.empty() ? "." : folder, code);
    if (code) fail("the folder cannot be made", folder, code.value());
}

void write_all(int file, std::string_view content, const std::string& path) {
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("cannot be written", path, errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file) != 0) fail("cannot be written to the disk", path, errno);
}

/// A file descriptor that closes itself.
struct File {
    int number;
    explicit File(int number) : number(number) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (number >= 0) ::close(number);
    }
};

std::string in_folder(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder.empty() ? "." : folder) / name).string();
}

/// The begin of a file; no more than 64 KiB.
std::string head(int file) {
    std::string text(std::size_t{64} << 10, '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got = ::read(file, text.data() + have, text.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
}

}  // namespace

// to_json(Run) begins with schema and program, whatever the white space between.
bool is_report(const std::string& head) {
    std::string text = head;
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    constexpr std::string_view schema = "{\"schema\":", program = ",\"program\":{\"version\":\"";
    if (!text.starts_with(schema)) return false;
    const std::size_t end = text.find_first_not_of("0123456789", schema.size());
    return end != std::string::npos && end > schema.size() && text.compare(end, program.size(), program) == 0;
}

namespace {

/// to_json(Case) begins with name, job and op. A journal may be empty: no case has ended yet.
bool is_journal(const std::string& text) {
    if (text.empty()) return true;
    const std::string line = text.substr(0, text.find('\n'));
    if (!line.starts_with("{\"name\":\"")) return false;
    const std::size_t job = line.find(",\"job\":\"");
    return job != std::string::npos && line.find(",\"op\":\"", job) != std::string::npos;
}

constexpr Leaving whole_report{"report.json", "a run writes its report", is_report};
constexpr Leaving journal{"report.jsonl", "a run writes its journal", is_journal};
constexpr Leaving page{"report.html", "a run writes its report for browsers",
                       [](const std::string& text) { return is_formatted(text, Format::html); }};

/// Why a file may not be replaced; empty where it may, or is not there.
std::string in_the_way(const std::string& path, const std::function<bool(const std::string&)>& ours) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return errno == ENOENT ? "" : std::strerror(errno);
    if (S_ISLNK(facts.st_mode)) return "is a symbolic link, which is not followed";
    if (S_ISDIR(facts.st_mode)) return "is a folder";
    if (!S_ISREG(facts.st_mode)) return "is not a regular file";
    const File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.number < 0) return fmt::format("cannot be read ({})", std::strerror(errno));
    return ours(head(file.number)) ? "" : "exists and was not written by gridstride: it is not replaced";
}

}  // namespace

void refuse(const std::string& folder, const Leaving& leaving, Category category) {
    const std::string path = in_folder(folder, leaving.name);
    if (const std::string why = in_the_way(path, leaving.ours); !why.empty())
        throw Error(category,
                    fmt::format("{}: {}; {} there: move it, or choose another --output-dir", path, why, leaving.what));
}

void write_whole(const std::string& content, const std::filesystem::path& path) {
    make_folder(path.parent_path().string());
    std::string temporary;
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0; ++attempt) {  // a name of ours alone: a crash may have left some
        temporary = fmt::format("{}.{}-{}.tmp", path.string(), ::getpid(), attempt);
        descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0 && (errno != EEXIST || attempt == 100)) fail("cannot be written", path.string(), errno);
    }
    try {
        const File file(descriptor);
        write_all(file.number, content, path.string());
        if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot be replaced", path.string(), errno);
    } catch (const Error&) {
        ::unlink(temporary.c_str());
        throw;
    }
    const File parent(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.number >= 0)
        ::fsync(parent.number);  // the new name; where the file system cannot, the content is safe all the same
}

std::string_view name(Status status) {
    switch (status) {
        case Status::pass:
            return "pass";
        case Status::mismatch:
            return "mismatch";
        case Status::error:
            return "error";
        case Status::skipped:
            return "skipped";
        case Status::vacuous:
            return "vacuous";
        case Status::unvalidated:
            return "unvalidated";
        case Status::timeout:
            return "timeout";
        case Status::known_issue:
            return "known_issue";
        case Status::unexpected_pass:
            return "unexpected_pass";
    }
    return "";
}

std::string to_json(const Run& run) {
    return text(json(run));
}

std::string to_json(const Case& one) {
    return text(json(one));
}

void check_reports(const std::string& folder) {
    if (const std::string why = unwritable(folder); !why.empty())
        throw Error(Category::config,
                    fmt::format("no report can be written to {}: {}; choose another --output-dir", folder, why));
    for (const Leaving& leaving : {whole_report, journal, page}) refuse(folder, leaving, Category::config);
}

void write(const Run& run, const std::string& folder) {
    const std::string path = in_folder(folder, whole_report.name), content = text(json(run), 1) + "\n";
    for (const Leaving& leaving : {whole_report, page}) refuse(folder, leaving, Category::input);
    write_whole(content, path);
    write_whole(formatted({*parse(path, content)}, Format::html), in_folder(folder, page.name));
}

void write(const std::vector<Document>& documents, Format format, const std::string& path) {
    const auto ours = [&](const std::string& text) { return is_formatted(text, format); };
    if (const std::string why = in_the_way(path, ours); !why.empty())
        throw Error(Category::config, fmt::format("{}: {}; choose another name", path, why));
    write_whole(formatted(documents, format), path);
}

Journal::Journal(const std::string& folder) : path_(in_folder(folder, journal.name)) {
    make_folder(folder);
    refuse(folder, journal, Category::input);
    for (const Leaving& leaving : {whole_report, page}) {  // after a crash they would be taken for this run's
        refuse(folder, leaving, Category::input);
        const std::string last = in_folder(folder, leaving.name);
        if (::unlink(last.c_str()) != 0 && errno != ENOENT) fail("cannot be replaced", last, errno);
    }
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file_ < 0) fail("cannot be written", path_, errno);
}

Journal::~Journal() {
    ::close(file_);
}

void Journal::append(const Case& one) {
    const off_t end = ::lseek(file_, 0, SEEK_END);
    try {
        write_all(file_, to_json(one) + "\n", path_);
    } catch (const Error&) {
        [[maybe_unused]] const int ignored = ::ftruncate(file_, end);  // no half line
        throw;
    }
}

}  // namespace gridstride::report
