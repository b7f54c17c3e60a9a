// SPDX-License-Identifier: BSD-3-Clause
// Finding a row of the registry by name.
#include "core/operation.hpp"

namespace gridstride {

const Entry* find(std::string_view op) {
    for (const Entry& entry : registry())
        if (entry.op->name == op) return &entry;
    return nullptr;
}

const Variant* find(const Entry& entry, std::string_view variant, std::optional<Device> device) {
    for (const Variant* row : entry.variants)
        if (row->name == variant && (!device || row->device == *device)) return row;
    return nullptr;
}

}  // namespace gridstride
