// SPDX-License-Identifier: BSD-3-Clause
// Thin ownership of HDF5 identifiers, and HDF5's error stack folded into one line. Private to io/hdf5*.cpp.
#pragma once

#include <hdf5.h>

#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"

namespace gridstride::hdf5 {

static_assert(std::endian::native == std::endian::little, "memory types are built little-endian");

/// Owns one identifier and closes it. Invalid (below 0) where the call that made it failed.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }

    bool valid() const { return id_ >= 0; }
    operator hid_t() const { return id_; }
    /// Closes now; below 0 where that fails.
    herr_t close() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

/// HDF5 prints nothing while this lives; afterwards as before. One in each public function.
class Quiet {
  public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    H5E_auto2_t printer_ = nullptr;
    void* data_ = nullptr;
};

/// The reason of the last failed HDF5 call of this thread: the operating system's where there is one ("No space left on
/// device"), else the innermost message. To be asked for before the next HDF5 call.
std::string error_text();
/// All messages of the stack, to search in.
std::string error_stack();

/// The handle, or Error(input): "what: reason".
Handle own(hid_t id, Handle::Close close, std::string_view what);
/// Error(input) "what: reason" where status is below 0.
void check(herr_t status, std::string_view what);

}  // namespace gridstride::hdf5
