// SPDX-License-Identifier: BSD-3-Clause
// What the tests of job files share: loading a text, and asking for an error at a place.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/config.hpp"

namespace gridstride::config {

struct Loaded {
    Config config;
    Diagnostics diagnostics;

    const Job& job(const std::string& name = "a") const {
        for (const Job& one : config.jobs)
            if (one.name == name) return one;
        throw std::runtime_error("no job " + name);
    }
};

inline Loaded load_text(const std::string& text, const Overrides& overrides = {}) {
    Loaded loaded;
    loaded.config = parse(text, "t.yaml", "/jobs", overrides, loaded.diagnostics);
    return loaded;
}

/// Loads what must be right.
inline Loaded good(const std::string& text, const Overrides& overrides = {}) {
    Loaded loaded = load_text(text, overrides);
    EXPECT_TRUE(loaded.diagnostics.empty()) << loaded.diagnostics.text() << "in:\n" << text;
    return loaded;
}

/// A matmul job `a` with more lines, each a key of the job ("    dtype: float32").
inline std::string matmul(const std::string& more) {
    return "jobs:\n  a:\n    op: matmul\n    inputs: {a: f.h5:/a, b: f.h5:/b}\n" + more;
}

/// Is there an error at line:column whose message has every one of the words?
inline ::testing::AssertionResult has_error(const Diagnostics& diagnostics, int line, int column,
                                            const std::vector<std::string>& words) {
    for (const Diagnostic& one : diagnostics.list()) {
        if (one.mark.line != line || one.mark.column != column) continue;
        bool all = true;
        for (const std::string& word : words) all = all && one.message.find(word) != std::string::npos;
        if (all) return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "no error at " << line << ":" << column << " with those words; there are\n"
                                         << diagnostics.text();
}

/// The only error of a text is at line:column and says the words.
inline void expect_one(const std::string& text, int line, int column, const std::vector<std::string>& words,
                       const Overrides& overrides = {}) {
    const Loaded loaded = load_text(text, overrides);
    EXPECT_TRUE(has_error(loaded.diagnostics, line, column, words)) << "in:\n" << text.substr(0, 2000);
    EXPECT_EQ(loaded.diagnostics.list().size(), 1U) << loaded.diagnostics.text() << "in:\n" << text.substr(0, 2000);
}

}  // namespace gridstride::config
