// SPDX-License-Identifier: BSD-3-Clause
// Tensors (owned bytes in one memory) and slabs (views, not owned).
#pragma once

#include <cstddef>
#include <memory>

#include "core/dtype.hpp"
#include "core/shape.hpp"

namespace gridstride {

/// What a tensor is: dtype and shape. An absent optional input has present = false.
struct Spec {
    DType dtype = DType::float32;
    Shape shape;
    bool present = true;

    std::int64_t size() const { return present ? count(shape) : 0; }
    /// Bytes. Error (config): above 2^63 - 1.
    std::size_t bytes() const;
    bool operator==(const Spec&) const = default;
};

/// "float32 (2, 3)"; "absent".
std::string to_text(const Spec& spec);

/// A tensor or a part of one, not owned. strides are in elements.
struct Slab {
    Spec spec;
    Shape strides;
    std::byte* data = nullptr;

    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data);
    }
    /// Address of the element at the flat row-major position `index` (strides followed).
    std::byte* at(std::int64_t index) const;
    bool contiguous() const;
};

enum class Memory : std::uint8_t { host, pinned, device };

/// A Spec and its bytes in one memory, contiguous and 64-byte aligned (host). Move-only. Contents start undefined.
/// Error (device): not enough memory, with the numbers.
class Tensor {
  public:
    Tensor() = default;
    explicit Tensor(Spec spec, Memory memory = Memory::host, int device = 0);

    const Spec& spec() const { return spec_; }
    Memory memory() const { return memory_; }
    std::byte* data() const { return bytes_.get(); }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(bytes_.get());
    }
    Slab slab() const;
    /// The same bytes under another shape of as many elements.
    void reshape(Shape shape);

  private:
    Spec spec_;
    Memory memory_ = Memory::host;
    std::unique_ptr<std::byte, void (*)(std::byte*)> bytes_{nullptr, nullptr};
};

/// The part of a slab that a selection names; dropped axes are left out.
Slab part(const Slab& slab, const Selection& selection);

/// The slab as if it had `shape`, which it broadcasts to (NumPy's rules): repeated axes have stride 0. Read only.
Slab broadcast(const Slab& slab, const Shape& shape);

/// Host to host, same dtype and shape, any strides. Bits are moved, not converted.
void copy_bits(const Slab& from, const Slab& to);

/// A contiguous host copy.
Tensor clone(const Slab& slab);

/// Fills with what no right answer holds: floats with all bits set (a NaN that no arithmetic makes), integers with 0xA5
/// bytes.
void poison(const Slab& slab);

/// One element as a long double, its real or imaginary part (0 for real types). index: flat row-major.
long double real_part(const Slab& slab, std::int64_t index);
long double imaginary_part(const Slab& slab, std::int64_t index);

}  // namespace gridstride
