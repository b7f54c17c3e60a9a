// SPDX-License-Identifier: BSD-3-Clause
// HDF5 datatypes: decoded, built for files, built for memory. Private to io/hdf5*.cpp.
#pragma once

#include "core/dtype.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_handle.hpp"

namespace gridstride::hdf5 {

/// What a datatype of a file is.
FileType decode(hid_t type);

/// A native little-endian type of numbers.
FileType number_type(FileType::Kind kind, std::string text, int bits, bool is_signed);

/// The type to read into: the same kind and width as the file's (integers of odd precision in the next wider one),
/// little-endian, of complex the real part first. HDF5 then swaps bytes and widens integers, and never rounds.
Handle memory_type(hid_t file_type, const FileType& decoded);

/// The type that files of ours have for dtype: little-endian, complex {r,i}, the halves as custom floats.
Handle file_type(DType dtype);

/// Calls f.operator()<T>() with the type of one stored number (of complex: of a part) as memory_type() has it; booleans
/// are std::uint8_t. decoded must not be `unsupported`.
template <class F>
decltype(auto) with_stored_type(const FileType& decoded, F&& f) {
    using Kind = FileType::Kind;
    if (decoded.kind == Kind::boolean) return f.template operator()<std::uint8_t>();
    if (decoded.kind == Kind::integer) {
        switch (decoded.bits) {
            case 8:
                return decoded.is_signed ? f.template operator()<std::int8_t>() : f.template operator()<std::uint8_t>();
            case 16:
                return decoded.is_signed ? f.template operator()<std::int16_t>()
                                         : f.template operator()<std::uint16_t>();
            case 32:
                return decoded.is_signed ? f.template operator()<std::int32_t>()
                                         : f.template operator()<std::uint32_t>();
            default:
                return decoded.is_signed ? f.template operator()<std::int64_t>()
                                         : f.template operator()<std::uint64_t>();
        }
    }
    if (decoded.bits == 16) return decoded.brain ? f.template operator()<bfloat16>() : f.template operator()<float16>();
    return decoded.bits == 32 ? f.template operator()<float>() : f.template operator()<double>();
}

}  // namespace gridstride::hdf5
