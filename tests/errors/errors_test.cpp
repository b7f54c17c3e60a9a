// SPDX-License-Identifier: BSD-3-Clause
// docs/errors.md: every mistake of the table is made, the program's words and exit code are those of the page, nothing
// is written, nothing is lost, the other case of the file runs. Writes the page anew where GRIDSTRIDE_REGENERATE names
// it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "cli/support.hpp"
#include "errors/cases.hpp"
#include "hdf5/support.hpp"

namespace gridstride::errors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view good = "  good: {op: sum, inputs: {x: [1, 2, 3.5]}, outputs: good.h5}\n";
constexpr std::string_view here = "/here";  // for the folder's name

constexpr std::string_view introduction = R"(# What can go wrong

<!-- Made by tests/errors: do not edit. Anew: GRIDSTRIDE_REGENERATE=docs/errors.md build/tests/test_errors -->

Mistakes, the program's exact words and exit code, and what is right. Before every case there is `in.h5` in the folder,
here called `/here`, with `x` float32 (3, 5), `y` int32 (4,), `z` complex64 (3,), `map` float32 (1, 2, 5, 7) and `name`,
a text. Exit code 2: nothing was run. Exit code 3: one case failed; the job file has a second job, not shown, which
passes and is saved. Nothing else is written, and no input is touched.

| exit code | meaning |
|---|---|
| 2 | the job file or the command line is wrong, or a dataset is missing or does not fit: nothing was run |
| 3 | a file is absent, unreadable or damaged, or its values do not convert; or an output cannot be written |
| 4 | a device or the runtime failed |

)";

std::string slug(std::string_view title) {
    std::string text;
    for (const char c : title)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-')
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == ' ')
            text += '-';
    return text;
}

/// What lies in a folder: the bytes of files, the targets of links, the kind of all else.
std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).string();
        if (name == ".out" || name == ".err") continue;
        if (entry.is_symlink())
            found[name] = "-> " + fs::read_symlink(entry.path()).string();
        else if (entry.is_regular_file())
            found[name] = cli::read_text(entry.path());
        else
            found[name] = entry.is_directory() ? "folder" : "neither";
    }
    return found;
}

void write_input(const std::string& file) {
    const hdf5::testing::Raw raw(file);
    std::vector<float> numbers(70);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) - 7;
    const hid_t complex = hdf5::testing::compound(H5T_IEEE_F32LE, "r", "i"), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 5);
    raw.dataset("/x", H5T_IEEE_F32LE, {3, 5}, H5T_NATIVE_FLOAT, numbers.data());
    raw.dataset("/y", H5T_STD_I32LE, {4}, H5T_NATIVE_FLOAT, numbers.data());
    raw.dataset("/z", complex, {3}, complex, numbers.data());
    raw.dataset("/map", H5T_IEEE_F32LE, {1, 2, 5, 7}, H5T_NATIVE_FLOAT, numbers.data());
    raw.dataset("/name", text, {}, text, "noise");
    H5Tclose(complex);
    H5Tclose(text);
}

/// Of what was printed: all of standard error; of the table, what concerns the wrong case.
std::string words_of(const cli::Ran& ran, const fs::path& folder) {
    std::string text = ran.err;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("bad: ") || line.starts_with("skipped: ")) text += line + "\n";
    for (const std::string& path : {fs::canonical(folder).string(), folder.string()})
        for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at))
            text.replace(at, path.size(), here);
    return std::regex_replace(text, std::regex("this machine has [0-9.]+ GiB"), "this machine has 16.00 GiB");
}

std::string section(const Case& one, const std::string& words) {
    std::string text = fmt::format("### {}\n\n", one.title);
    if (!one.prepared.empty()) text += fmt::format("{}\n\n", one.prepared);
    if (!one.job.empty()) text += fmt::format("```yaml\n{}```\n\n", one.job);
    return text + fmt::format("```console\n$ gridstride{}{}\n{}```\n\nExit code {}. Right: {}\n\n",
                              one.command.empty() ? "" : " ", one.command, words, one.exit, one.right);
}

/// The section of this title in a page; empty where there is none.
std::string section_of(const std::string& page, std::string_view title) {
    const std::size_t begin = page.find(fmt::format("### {}\n", title));
    if (begin == std::string::npos) return {};
    const std::size_t end = std::min({page.find("\n## ", begin), page.find("\n### ", begin), page.size() - 1});
    return page.substr(begin, end + 1 - begin);
}

class Errors : public cli::Command {
  protected:
    /// Makes one mistake and returns its section.
    std::string make(const Case& one, const std::string& page) {
        Stage stage{folder, "env -u HDF5_USE_FILE_LOCKING", {}, {}, {}};
        write_input(stage / "in.h5");
        if (!one.job.empty()) write("job.yaml", std::string(one.job) + (one.goes_on ? std::string(good) : ""));
        if (one.prepare) one.prepare(stage);
        if (!stage.impossible.empty()) {
            fmt::print("not run: {}: {}\n", one.title, stage.impossible);
            for (const auto& undo : stage.after) undo();
            return section_of(page, one.title);
        }
        const auto before = contents(folder);
        const cli::Ran ran = run(std::string(one.command), "timeout 60 " + stage.before);
        EXPECT_EQ(ran.exit, one.exit) << ran.out << ran.err;
        const auto now = contents(folder);
        for (const auto& [name, bytes] : before)
            EXPECT_TRUE(stage.changed.count(name) > 0 || (now.count(name) > 0 && now.at(name) == bytes))
                << name << " has changed";
        bool saved = false;
        for (const auto& [name, bytes] : now) {
            if (before.count(name) > 0) continue;
            const std::string file = fs::path(name).filename().string();
            const bool output = file == "good.h5",
                       report = file == "report.json" || file == "report.jsonl" || file == "report.html";
            EXPECT_TRUE(one.goes_on && (output || report || bytes == "folder")) << name << " was left behind";
            if (output) {
                EXPECT_EQ(values<float>(name, "/s"), std::vector<float>{6.5});
            }
            saved = saved || output;
        }
        EXPECT_EQ(saved, one.goes_on && !one.job.empty()) << ran.out << ran.err;
        const std::string words = words_of(ran, folder);
        for (const auto& undo : stage.after) undo();
        return section(one, words);
    }
};

TEST_F(Errors, TheProgramSaysWhatThePageSays) {
    const std::string path = GRIDSTRIDE_SOURCE "/docs/errors.md";
    const std::string page = cli::read_text(path);
    std::string now(introduction), index;
    std::vector<Group> groups = of_job_files();
    for (Group& group : of_data_files()) groups.push_back(std::move(group));
    std::string body;
    for (const Group& group : groups) {
        index += fmt::format("- [{}](#{}): {} cases\n", group.title, slug(group.title), group.cases.size());
        body += fmt::format("## {}\n\n", group.title);
        for (const Case& one : group.cases) {
            SCOPED_TRACE(one.title);
            TearDown();
            SetUp();
            const std::string text = make(one, page);
            EXPECT_EQ(text, section_of(page, one.title));
            body += text;
        }
    }
    now += index + "\n" + body;
    if (const char* target = std::getenv("GRIDSTRIDE_REGENERATE")) std::ofstream(target) << now;
    EXPECT_TRUE(page == now) << "write it anew: GRIDSTRIDE_REGENERATE=docs/errors.md build/tests/test_errors";
}

}  // namespace

}  // namespace gridstride::errors
