// SPDX-License-Identifier: BSD-3-Clause
// HDF5's error stack in one line; errors not printed by the library.
#include "io/hdf5_handle.hpp"

#include <fmt/format.h>

#include <vector>

namespace gridstride::hdf5 {

namespace {

// HDF5 must not close what is open when the program ends: after a write that failed, on a full disk, that crashes.
// Asked for before main(), since only the time before the first call counts. All that is ours is closed by its owner.
[[maybe_unused]] const herr_t not_at_exit = H5dont_atexit();

std::vector<std::string> messages() {  // outermost first
    std::vector<std::string> all;
    const auto add = [](unsigned, const H5E_error2_t* entry, void* list) -> herr_t {
        if (entry->desc != nullptr) static_cast<std::vector<std::string>*>(list)->emplace_back(entry->desc);
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, add, &all);
    return all;
}

}  // namespace

Quiet::Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
    H5Eset_auto2(H5E_DEFAULT, printer_, data_);
}

std::string error_text() {
    const auto all = messages();
    for (const std::string& message : all) {
        const std::string_view mark = "error message = '";
        const auto begin = message.find(mark);
        if (begin == std::string::npos) continue;
        const auto text = begin + mark.size();
        return message.substr(text, message.find('\'', text) - text);
    }
    return all.empty() ? "HDF5 gives no reason" : all.back();
}

std::string error_stack() {
    return fmt::format("{}", fmt::join(messages(), "; "));
}

Handle own(hid_t id, Handle::Close close, std::string_view what) {
    if (id < 0) throw Error(Category::input, fmt::format("{}: {}", what, error_text()));
    return {id, close};
}

void check(herr_t status, std::string_view what) {
    if (status < 0) throw Error(Category::input, fmt::format("{}: {}", what, error_text()));
}

}  // namespace gridstride::hdf5
