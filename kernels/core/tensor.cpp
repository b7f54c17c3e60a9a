// SPDX-License-Identifier: BSD-3-Clause
// Owned tensors, views of them, copies of any strides, poison.
#include "core/tensor.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/device.hpp"

namespace gridstride {

namespace {

constexpr std::size_t alignment = 64;

void free_host(std::byte* data) {
    std::free(data);
}
void free_pinned(std::byte* data) {
    cuda::release_pinned(data);
}

}  // namespace

std::size_t Spec::bytes() const {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(size(), static_cast<std::int64_t>(size_of(dtype)), &bytes))
        throw Error(Category::config, fmt::format("{} has more than 2^63 - 1 bytes", to_text(*this)));
    return static_cast<std::size_t>(bytes);
}

std::string to_text(const Spec& spec) {
    return spec.present ? fmt::format("{} {}", name(spec.dtype), to_text(spec.shape)) : "absent";
}

std::byte* Slab::at(std::int64_t index) const {
    std::int64_t offset = 0;
    for (std::size_t i = spec.shape.size(); i-- > 0;) {
        offset += index % spec.shape[i] * strides[i];
        index /= spec.shape[i];
    }
    return data + offset * static_cast<std::int64_t>(size_of(spec.dtype));
}

bool Slab::contiguous() const {
    std::int64_t stride = 1;
    for (std::size_t i = spec.shape.size(); i-- > 0;) {
        if (spec.shape[i] == 0) return true;
        if (spec.shape[i] != 1 && strides[i] != stride) return false;
        stride *= spec.shape[i];
    }
    return true;
}

Tensor::Tensor(Spec spec, Memory memory, int device) : spec_(std::move(spec)), memory_(memory) {
    const std::size_t bytes = spec_.bytes();
    if (bytes == 0) return;
    switch (memory) {
        case Memory::host: {
            const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
            auto* data = rounded < bytes ? nullptr : static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
            if (data == nullptr)
                throw Error(Category::device,
                            fmt::format("not enough memory for {} ({} bytes)", to_text(spec_), bytes));
            bytes_ = {data, free_host};
            break;
        }
        case Memory::pinned:
            bytes_ = {cuda::allocate_pinned(bytes), free_pinned};
            break;
        case Memory::device:
            bytes_ = {cuda::allocate(bytes, device), cuda::release};
            break;
    }
}

Slab Tensor::slab() const {
    return {spec_, row_major_strides(spec_.shape), bytes_.get()};
}

void Tensor::reshape(Shape shape) {
    if (count(shape) != count(spec_.shape))
        throw Error(Category::internal, fmt::format("{} cannot become {}", to_text(spec_.shape), to_text(shape)));
    spec_.shape = std::move(shape);
}

Slab part(const Slab& slab, const Selection& selection) {
    Slab result{{slab.spec.dtype, {}, slab.spec.present}, {}, slab.data};
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < selection.axes.size(); ++i) {
        const Range& range = selection.axes[i];
        offset += range.begin * slab.strides[i];
        if (range.dropped) continue;
        result.spec.shape.push_back(range.count);
        result.strides.push_back(range.step * slab.strides[i]);
    }
    if (result.data != nullptr) result.data += offset * static_cast<std::int64_t>(size_of(slab.spec.dtype));
    return result;
}

Slab broadcast(const Slab& slab, const Shape& shape) {
    Slab result{{slab.spec.dtype, shape, slab.spec.present}, Shape(shape.size(), 0), slab.data};
    const std::size_t missing = shape.size() - slab.spec.shape.size();
    for (std::size_t i = missing; i < shape.size(); ++i)
        if (slab.spec.shape[i - missing] != 1) result.strides[i] = slab.strides[i - missing];
    return result;
}

namespace {

void copy_axis(const Slab& from, const Slab& to, std::size_t axis, const std::byte* source, std::byte* target,
               std::size_t size) {
    const std::size_t rank = from.spec.shape.size();
    if (axis == rank) {
        std::memcpy(target, source, size);
        return;
    }
    const std::int64_t extent = from.spec.shape[axis];
    if (axis + 1 == rank && from.strides[axis] == 1 && to.strides[axis] == 1) {
        std::memcpy(target, source, static_cast<std::size_t>(extent) * size);
        return;
    }
    const auto step = [size](const Slab& slab, std::size_t i) {
        return slab.strides[i] * static_cast<std::int64_t>(size);
    };
    for (std::int64_t i = 0; i < extent; ++i)
        copy_axis(from, to, axis + 1, source + i * step(from, axis), target + i * step(to, axis), size);
}

}  // namespace

void copy_bits(const Slab& from, const Slab& to) {
    if (from.spec.dtype != to.spec.dtype || from.spec.shape != to.spec.shape)
        throw Error(Category::internal, fmt::format("copy_bits of {} to {}", to_text(from.spec), to_text(to.spec)));
    if (from.spec.size() == 0) return;
    if (from.contiguous() && to.contiguous())
        std::memcpy(to.data, from.data, from.spec.bytes());
    else
        copy_axis(from, to, 0, from.data, to.data, size_of(from.spec.dtype));
}

Tensor clone(const Slab& slab) {
    Tensor result(slab.spec);
    copy_bits(slab, result.slab());
    return result;
}

void poison(const Slab& slab) {
    with_any_type(slab.spec.dtype, [&]<class T>() {
        constexpr int byte = std::is_integral_v<T> ? 0xA5 : 0xFF;
        const std::int64_t n = slab.spec.size();
        if (n > 0 && slab.contiguous())
            std::memset(slab.data, byte, slab.spec.bytes());
        else
            for (std::int64_t i = 0; i < n; ++i) std::memset(slab.at(i), byte, sizeof(T));
    });
}

long double real_part(const Slab& slab, std::int64_t index) {
    return with_any_type(slab.spec.dtype, [&]<class T>() -> long double {
        const T value = *reinterpret_cast<const T*>(slab.at(index));
        if constexpr (is_complex_type<T>)
            return value.real();
        else
            return static_cast<long double>(value);
    });
}

long double imaginary_part(const Slab& slab, std::int64_t index) {
    if (slab.spec.dtype == DType::complex64) return reinterpret_cast<const complex64*>(slab.at(index))->imag();
    if (slab.spec.dtype == DType::complex128) return reinterpret_cast<const complex128*>(slab.at(index))->imag();
    return 0;
}

}  // namespace gridstride
