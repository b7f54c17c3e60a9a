// SPDX-License-Identifier: BSD-3-Clause
// For tests of the command: a folder of its own, files in it, the command run as a user runs it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/tensor.hpp"
#include "io/hdf5.hpp"
#include "support/folder.hpp"

namespace gridstride::cli {

namespace fs = std::filesystem;

struct Ran {
    int exit = -1;
    std::string out, err;
};

inline std::string read_text(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Command : public InFolder {
  protected:
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }

    /// Runs `gridstride ARGUMENTS` in the folder, by the shell, on the CPU whatever the machine has.
    /// before: a command that starts it, "timeout 2".
    Ran run(const std::string& arguments, const std::string& before = "") const {
        const std::string line = "cd '" + folder.string() + "' && CUDA_VISIBLE_DEVICES= " + before +
                                 " '" GRIDSTRIDE_COMMAND "' " + arguments + " >.out 2>.err";
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder / ".out"), read_text(folder / ".err")};
    }
    /// Writes job.yaml and runs it; outputs land in out/job.
    Ran run_job(const std::string& yaml, const std::string& options = "") const {
        write("job.yaml", yaml);
        return run("run job.yaml " + options);
    }

    /// A dataset of an output, in its natural dtype.
    Tensor read(const std::string& file, const std::string& dataset) const {
        const hdf5::Info info = hdf5::describe((folder / file).string(), dataset);
        Tensor tensor({hdf5::natural_dtype(info, true, false), info.shape});
        hdf5::Reading all;
        all.select = whole(info.shape);
        hdf5::read(info, all, tensor.slab());
        return tensor;
    }
    template <class T>
    std::vector<T> values(const std::string& file, const std::string& dataset) const {
        const Tensor tensor = read(file, dataset);
        EXPECT_EQ(tensor.spec().dtype, dtype_of<T>) << file << dataset;
        return {tensor.as<T>(), tensor.as<T>() + tensor.spec().size()};
    }
    /// Writes a dataset by the library, as another program's file would be (without our mark it could not be replaced).
    template <class T>
    void save(const std::string& file, const std::string& dataset, const Shape& shape, const std::vector<T>& numbers,
              const hdf5::Layout& layout = {}) const {
        Tensor tensor({dtype_of<T>, shape});
        ASSERT_EQ(static_cast<std::size_t>(tensor.spec().size()), numbers.size());
        std::copy(numbers.begin(), numbers.end(), tensor.as<T>());
        hdf5::Writer writer((folder / file).string());
        writer.create(dataset, tensor.spec(), layout);
        writer.write(dataset, whole(shape), tensor.slab());
        writer.commit();
    }
    bool exists(const std::string& name) const { return fs::exists(folder / name); }
};

/// Does text hold all of the words?
inline testing::AssertionResult has(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        if (text.find(word) == std::string::npos)
            return testing::AssertionFailure() << "no '" << word << "' in:\n" << text;
    return testing::AssertionSuccess();
}

}  // namespace gridstride::cli
