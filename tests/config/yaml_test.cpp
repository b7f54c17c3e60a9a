// SPDX-License-Identifier: BSD-3-Clause
// The strict reading of YAML: what is no job file is refused quickly, in words, at its place.
#include <fmt/format.h>

#include <sstream>

#include "io/suggest.hpp"
#include "support.hpp"

namespace gridstride::config {
namespace {

const std::string job = "jobs:\n  a:\n    op: matmul\n    inputs: {a: f.h5:/a, b: f.h5:/b}\n";

TEST(Yaml, byte_order_mark_and_crlf_are_accepted_and_do_not_shift_places) {  // BR071
    std::string crlf = "\xEF\xBB\xBF";
    for (const char c : job) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(good(crlf).config.jobs.size(), 1U);
    expect_one("\xEF\xBB\xBFjobz: 1\r\n" + crlf.substr(3), 1, 1, {"unknown key 'jobz'", "did you mean 'jobs'"});
    expect_one(crlf + "    dtipe: 1\r\n", 5, 5, {"unknown key 'dtipe'", "did you mean 'dtype'"});
}

TEST(Yaml, utf16_is_refused_in_words) {  // BR071
    std::string wide = "\xFF\xFE";
    for (const char c : job) wide += std::string(1, c) + std::string(1, '\0');
    expect_one(wide, 1, 1, {"UTF-16", "save it as UTF-8"});
    expect_one(wide.substr(2), 1, 1, {"UTF-16", "save it as UTF-8"});
}

TEST(Yaml, bytes_that_are_no_text_are_refused) {  // BR071
    expect_one(job + "    outputs: caf\xE9.h5\n", 5, 17, {"0xE9", "UTF-8"});
    expect_one(job + std::string("    outputs: a\0b\n", 17), 5, 15, {"NUL"});
    expect_one(job + "    outputs: a\x01.h5\n", 5, 15, {"control character", "0x01"});
    expect_one(job + "    outputs: \"a\\0\"\n", 5, 14, {"NUL"});
    expect_one(job + "    outputs: \xED\xA0\x80\n", 5, 14, {"not UTF-8"});
    EXPECT_EQ(good(job + "    outputs: café.h5\n").job().output_file, "café.h5");
}

TEST(Yaml, columns_count_characters_not_bytes) {
    expect_one("vars: {n: \"é\", é: 2}\n" + job, 1, 16, {"'é' is no name"});
}

TEST(Yaml, the_caret_stands_below_wide_characters_too) {
    const std::string line = "  b: {op: sum, inputs: {x: \"共分散.h5:/x\"}, fo: 2}";
    const std::string text = load_text(job + line + "\n").diagnostics.text();
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string one; std::getline(all, one);) lines.push_back(one);
    ASSERT_EQ(lines.size(), 3U) << text;
    EXPECT_EQ(lines[1], "    " + line);
    // 41 characters before `fo`, three of which take two columns each
    EXPECT_EQ(lines[2], std::string(4 + 44, ' ') + "^");
    EXPECT_TRUE(lines[0].starts_with("t.yaml:5:42: ")) << text;
}

TEST(Yaml, tab_as_indentation_is_refused_with_its_line) {  // BR071
    expect_one("jobs:\n  a:\n\t\top: matmul\n", 3, 1, {"tab", "spaces"});
    expect_one("jobs:\n  a:\n  \top: matmul\n", 3, 3, {"tab", "spaces"});
    good("jobs:\n  a:\n\t# a comment\n\t\n    op: matmul\n    inputs: {a: f.h5:/a, b: f.h5:/b}\t# tab\n");
}

TEST(Yaml, empty_files_and_comments_alone_are_errors) {  // BR071
    expect_one("", 1, 1, {"empty", "jobs"});
    expect_one("# nothing\n\n# here\n", 1, 1, {"empty"});
    expect_one("---\n", 1, 1, {"mapping of schema, vars, defaults, jobs"});
    expect_one("just a text\n", 1, 1, {"mapping of schema, vars, defaults, jobs"});
    expect_one("- a\n- b\n", 1, 1, {"mapping of"});
    expect_one("schema: 1\n", 1, 1, {"`jobs` is missing"});
    expect_one("jobs:\n", 1, 1, {"jobs has no value", "at least one"});
    expect_one("jobs: {}\n", 1, 7, {"at least one"});
}

TEST(Yaml, second_document_is_refused) {  // BR071
    expect_one(job + "---\n" + job, 5, 1, {"second document"});
    expect_one(job + "---\n", 5, 1, {"second document"});
    expect_one("{jobs: {}}\nb\n", 2, 1, {"after the end"});
    good("%YAML 1.2\n---\n" + job + "...\n");
}

TEST(Yaml, duplicate_keys_are_errors_that_name_the_first) {
    const Loaded loaded = load_text(job + "    dtype: float32\n    dtype: float64\n  a: {op: sum}\n");
    EXPECT_TRUE(has_error(loaded.diagnostics, 6, 5, {"duplicate key 'dtype'", "line 5"}));
    EXPECT_TRUE(has_error(loaded.diagnostics, 7, 3, {"duplicate key 'a'", "line 2"}));
    EXPECT_EQ(loaded.diagnostics.list().size(), 2U);
    EXPECT_EQ(loaded.job().dtype, DType::float32);
}

TEST(Yaml, merge_keys_and_tags_are_refused) {  // BR067
    for (const auto& [merge, words] : {std::pair<std::string, std::string>{"<<: *d", "use `defaults`"},
                                       {"<<: [*d, *e]", "use `defaults`"},
                                       {"<<: *d\n    dtype: float64", "use `defaults`"},
                                       {"\"<<\": *d", "unknown key '<<'"}})
        expect_one("defaults: &d {dtype: float32}\nvars: {e: &e {dtype: float64}}\njobs:\n  a:\n    " + merge +
                       "\n    op: matmul\n    inputs: {a: f.h5:/a, b: f.h5:/b}\n",
                   5, 5, {words});
    expect_one(job + "    dtype: !!str float32\n", 5, 12, {"tags"});
    expect_one(job + "    dtype: ! float32\n", 5, 12, {"tags"});
    expect_one(job + "    store: !gzip {level: 4, compression: gzip}\n", 5, 12, {"tags"});
}

TEST(Yaml, what_a_merge_key_may_have_meant_is_not_missed_too) {
    const std::string vars = "vars:\n  d: &d {op: matmul}\n  i: &i {a: f.h5:/a}\n";
    expect_one(vars + "jobs:\n  a:\n    <<: *d\n    inputs: {a: f.h5:/a, b: f.h5:/b}\n", 6, 5, {"<<"});
    expect_one(vars + "jobs:\n  a:\n    op: matmul\n    <<: *i\n", 7, 5, {"<<"});
    expect_one(vars + "jobs:\n  a:\n    op: matmul\n    inputs: {<<: *i, b: f.h5:/b}\n", 7, 14, {"<<"});
    expect_one(vars + "jobs:\n  a:\n    op: sum\n    inputs: {x: {<<: *i, dtype: float32}}\n", 7, 18, {"<<"});
    expect_one("jobs:\n  a: {inputs: {a: f.h5:/a}}\n", 2, 3, {"needs `op`"});
    const Loaded loaded = load_text(vars + "jobs:\n  a:\n    op: sum\n    inputs: {x: {<<: *i, dtype: float32}}\n");
    EXPECT_FALSE(loaded.job().sound);
}

TEST(Yaml, aliases_are_taken) {
    const Loaded loaded = good(
        "jobs:\n  a:\n    op: matmul\n    inputs: &i {a: f.h5:/a, b: f.h5:/b}\n    dtype: &t float64\n"
        "  b:\n    op: matmul\n    inputs: *i\n    result_dtype: *t\n");
    EXPECT_EQ(std::get<Dataset>(loaded.job("b").inputs.at("b").source).path, "/b");
    EXPECT_EQ(loaded.job("b").result_dtype, DType::float64);
    expect_one(job + "    dtype: *t\n", 5, 12, {"anchor", "quote it"});
    expect_one("jobs: &x [1, *x]\n", 1, 14, {"alias inside of what it stands for"});
}

TEST(Yaml, alias_bombs_are_refused_at_once) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        std::string list;
        for (int j = 0; j < 10; ++j) list += fmt::format("*a{}, ", i - 1);
        bomb += fmt::format("a{}: &a{} [{}]\n", i, i, list);
    }
    const Loaded loaded = load_text("vars:\n  x: 1\n" + bomb);
    ASSERT_EQ(loaded.diagnostics.list().size(), 1U);
    EXPECT_NE(loaded.diagnostics.list()[0].message.find("more than 1000000 values"), std::string::npos);
    const std::string text = "t: &t \"" + std::string(1 << 19, 'x') + "\"\nu: [";
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "*t, ";
    EXPECT_EQ(load_text(text + many + "]\n").diagnostics.list().size(), 1U);
}

TEST(Yaml, deep_nesting_is_refused_at_once) {
    const auto times = [](const std::string& text, int n) {
        std::string result;
        for (int i = 0; i < n; ++i) result += text;
        return result;
    };
    expect_one("jobs: " + times("[", 20'000), 1, 8, {"not closed"});
    expect_one("jobs: " + times("[", 20'000) + times("]", 20'000), 1, 70, {"64 deep"});
    expect_one("jobs: " + times("{a: ", 20'000), 1, 7 + 63 * 4, {"64 deep"});
    expect_one(times("- ", 20'000) + "\n", 1, 129, {"64 deep"});
    std::string staircase;
    for (int i = 0; i < 2'000; ++i) staircase += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    expect_one(staircase, 65, 65, {"64 deep"});
    expect_one("jobs: " + times("[", 1'000'000), 1, 100'007, {"100000 brackets"});
    expect_one(times("[", 60) + times("]", 60) + "\n", 1, 1, {"mapping of"});
}

TEST(Yaml, large_files_and_texts_are_refused) {
    expect_one(std::string(5 << 20, '#'), 0, 0, {"4 MiB"});
    expect_one("jobs: \"" + std::string(2 << 20, 'x') + "\"\n", 1, 7, {"1 MiB"});
}

TEST(Yaml, unclosed_quotes_and_brackets_are_errors) {
    expect_one(job + "    outputs: \"x.h5\n", 5, 14, {"quote", "never closed"});
    expect_one(job + "    outputs: 'x.h5\n", 5, 14, {"quote", "never closed"});
    expect_one(job + "    outputs: 'it''s.h5\n", 5, 14, {"never closed"});
    EXPECT_EQ(good(job + "    outputs: 'it''s.h5'\n").job().output_file, "it's.h5");
    EXPECT_EQ(good(job + "    outputs: \"a\\\"b.h5\"\n").job().output_file, "a\"b.h5");
    expect_one(job + "    store: {compression: gzip\n", 6, 1, {"'{'", "'}'"});
    expect_one(job + "    variant: [loop, openblas\n    dtype: float32\n", 6, 10, {"'['", "']'"});
    expect_one(job + "    variant: loop]\n    store: ]\n", 6, 12, {"opening bracket"});
}

TEST(Yaml, where_the_grammar_is_the_trap_the_message_says_to_quote) {
    const auto input = [](const std::string& value) {
        return "jobs:\n  a:\n    op: sum\n    inputs:\n      x:\n        from: f.h5:/x\n        select: " + value +
               "\n";
    };
    expect_one(input(":"), 7, 17, {"bare ':'", "quote it"});
    expect_one(input("0:10, :"), 7, 23, {"bare ':'", "quote it"});
    expect_one(input("*"), 7, 18, {"bare '*'", "quote it"});
    expect_one(input("@x"), 7, 17, {"'@'", "quote it"});
    expect_one(input("%x"), 7, 17, {"'%'", "quote it"});
    EXPECT_EQ(good(input("\":\"")).job().inputs.at("x").select, ":");
    EXPECT_EQ(good(input("0:10")).job().inputs.at("x").select, "0:10");
    EXPECT_EQ(good(input("...")).job().inputs.at("x").select, "...");
    EXPECT_EQ(good(input("-1")).job().inputs.at("x").select, "-1");
    const auto flow = [](const std::string& rest) {
        return "vars: {n: 4}\njobs:\n  a:\n    op: sum\n    inputs:\n      x: {" + rest + "}\n";
    };
    expect_one(flow("from: f.h5:/x, select: 0:10, :, 3"), 6, 40, {"bare ':'", "quote it"});
    expect_one(flow("from: f.h5:/x, select: 0:10, 3"), 6, 40, {"unknown key '3'", "must be quoted"});
    expect_one(flow("generate: ones, shape: [${n // 2}, 3]"), 6, 35, {"${n // 2}", "quote it"});
    expect_one(flow("generate: ones, shape: ${n}"), 6, 34, {"${n}", "quote it"});
    EXPECT_EQ(good(flow("generate: ones, shape: [\"${n // 2}\", 3]")).job().inputs.at("x").shape, (Shape{2, 3}));
}

TEST(Yaml, bad_indentation_is_told_at_its_line) {
    expect_one("jobs:\n  a:\n    op: matmul\n     dtype: float32\n", 4, 11, {"indentation"});
    expect_one("jobs:\n  a:\n    op: matmul\n   dtype: float32\n", 4, 4, {"indentation"});
}

TEST(Yaml, numbers_with_a_leading_zero_and_yes_and_no_are_errors_anywhere) {
    expect_one("vars: {n: 010}\n" + job, 1, 11, {"010", "leading zero"});
    expect_one("vars: {n: -007}\n" + job, 1, 11, {"leading zero"});
    expect_one(job + "    store: {compression: gzip, shuffle: yes}\n", 5, 41, {"true or false"});
    expect_one("vars: {flag: off}\n" + job, 1, 14, {"'off'", "true or false"});
    good("vars: {n: \"010\", flag: \"no\", zero: 0, small: 0.5}\n" + job);
}

TEST(Yaml, a_key_is_a_word) {
    expect_one("? [jobs]\n: 1\n", 1, 3, {"a key is a word"});
    expect_one(": 1\n", 1, 1, {"a key is missing"});
}

TEST(Diagnostics, are_shown_in_the_order_of_the_file_with_line_and_caret) {
    const Loaded loaded =
        load_text("jobs:\n  a:\n    op: matmul\n    dtype: flaot32\n    inputs: {a: f.h5:/a, bb: f.h5:/b}\n");
    const std::string text = loaded.diagnostics.text();
    EXPECT_NE(
        text.find("t.yaml:4:12: error: dtype is one of float16, bfloat16, float32, float64, complex64, complex128, "
                  "int32, int64, not flaot32 (did you mean 'float32'?)\n"
                  "        dtype: flaot32\n"
                  "               ^\n"),
        std::string::npos)
        << text;
    EXPECT_LT(text.find("t.yaml:4:12"), text.find("t.yaml:5:26")) << text;
    EXPECT_NE(text.find("'bb'"), std::string::npos);
    EXPECT_EQ(text.find('\033'), std::string::npos);
    EXPECT_NE(loaded.diagnostics.text(true).find("\033[1;31merror:"), std::string::npos);
}

TEST(Diagnostics, long_lines_are_cut_around_the_caret_and_tabs_are_spaces) {
    Diagnostics diagnostics;
    diagnostics.read_from("f", std::string(500, 'a') + "\tX" + std::string(500, 'b') + "\n");
    diagnostics.add({"f", 1, 502}, "here");
    const std::string text = diagnostics.text();
    const std::size_t line = text.find("    ..."), caret = text.find('^');
    ASSERT_NE(line, std::string::npos) << text;
    const std::size_t start = text.find('\n', line) + 1;
    EXPECT_EQ(text[line + (caret - start)], 'X') << text;
    EXPECT_EQ(text[line + (caret - start) - 1], ' ') << text;
    EXPECT_LT(text.size(), 300U);
}

TEST(Diagnostics, long_values_are_cut_in_messages) {
    const std::string endless(70'000, 'x'), dollars = "$" + endless;
    for (const std::string& value :
         {endless, dollars, endless + ".h5", endless + ":x", "'" + endless + "'", "0" + std::string(70'000, '1'),
          "[" + endless + "]", "{" + endless + ": 1}", "{from: " + endless + "}", "$" + endless + ":/c",
          "${env:" + endless + "}", "\"${" + endless + " + 1}\""})
        for (const std::string key : {"outputs", "variant", "dtype", "device", "inputs", "store", "op", "validate"}) {
            const std::string text = key == "inputs" || key == "op"
                                         ? "jobs:\n  a:\n    op: " + (key == "op" ? value : "sum") +
                                               "\n    inputs: {x: " + (key == "op" ? "1" : value) + "}\n"
                                         : job + "    " + key + ": " + value + "\n";
            const auto loaded = load_text(text);
            for (const Diagnostic& one : loaded.diagnostics.list())
                EXPECT_LT(one.message.size(), 1500U)
                    << key << ": " << value.substr(0, 20) << one.message.substr(0, 300);
        }
    const std::string letters = "\"" + std::string(59, 'a') + "\xC3\xA9\xC3\xA9\"";
    expect_one(job + "    dtype: " + letters + "\n", 5, 12, {"'" + std::string(59, 'a') + "...'"});
}

TEST(Diagnostics, hostile_numbers_of_errors_stay_readable) {
    std::string keys;
    for (int i = 0; i < 5000; ++i) keys += fmt::format("k{}: 1\n", i);
    const std::string text = load_text(keys + job).diagnostics.text();
    EXPECT_NE(text.find("at least 900 more errors"), std::string::npos);
    EXPECT_LT(text.size(), 30'000U);
}

TEST(Suggestions, are_given_for_near_words_only) {
    EXPECT_EQ(did_you_mean("tilde", {"tiled", "loop"}), " (did you mean 'tiled'?)");
    EXPECT_EQ(did_you_mean("Loop", {"tiled", "loop"}), " (did you mean 'loop'?)");
    EXPECT_EQ(did_you_mean("xyz", {"tiled", "loop"}), "");
    EXPECT_EQ(did_you_mean("", {"tiled"}), "");
    EXPECT_EQ(did_you_mean("kernal", {"stride", "kernel", "padding"}), " (did you mean 'kernel'?)");
}

}  // namespace
}  // namespace gridstride::config
