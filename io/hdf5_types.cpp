// SPDX-License-Identifier: BSD-3-Clause
// HDF5 datatypes: which ones are numbers we convert exactly, what the others are called and what would help.
#include "io/hdf5_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "io/ascii.hpp"

namespace gridstride::hdf5 {

namespace {

using Kind = FileType::Kind;

/// The bit fields of a float type that has an implied leading 1 and the sign on top.
struct FloatFields {
    std::size_t size, exponent_at, exponent_bits, mantissa_bits, bias;
    bool operator==(const FloatFields&) const = default;
};
constexpr FloatFields half{2, 10, 5, 10, 15}, brain{2, 7, 8, 7, 127}, single{4, 23, 8, 23, 127},
    twice{8, 52, 11, 52, 1023};

Handle copy_of(hid_t type) {
    return own(H5Tcopy(type), H5Tclose, "HDF5 datatype");
}

std::string member_name(hid_t type, unsigned index) {
    char* name = H5Tget_member_name(type, index);
    std::string text = name != nullptr ? name : "?";
    if (name != nullptr) H5free_memory(name);
    return text;
}

Handle member_type(hid_t type, unsigned index) {
    return own(H5Tget_member_type(type, index), H5Tclose, "member of an HDF5 compound");
}

/// The names of the real and the imaginary member, as the file spells them; empty where the compound is not complex.
std::array<std::string, 2> complex_names(hid_t compound) {
    constexpr std::array<const char*, 2> pairs[] = {{"r", "i"}, {"real", "imag"}, {"real", "imaginary"}, {"re", "im"}};
    if (H5Tget_nmembers(compound) != 2) return {};
    std::array<std::string, 2> names{member_name(compound, 0), member_name(compound, 1)};
    for (const bool swapped : {false, true}) {  // the names tell the parts, whatever their order in the file
        if (swapped) std::swap(names[0], names[1]);
        for (const auto& pair : pairs)
            if (lower(names[0]) == pair[0] && lower(names[1]) == pair[1]) return names;
    }
    return {};
}

std::string short_text(hid_t type, int depth);

FileType refused(std::string text, std::string reason) {
    FileType type;
    type.text = std::move(text);
    type.reason = std::move(reason);
    return type;
}

FileType decode_integer(hid_t type) {
    FileType decoded;
    const std::size_t precision = H5Tget_precision(type), size = H5Tget_size(type);
    const H5T_order_t order = H5Tget_order(type);
    decoded.is_signed = H5Tget_sign(type) == H5T_SGN_2;
    if (precision > 64 || (order != H5T_ORDER_LE && order != H5T_ORDER_BE))
        return refused(fmt::format("{}-bit integer", precision), "the widest integers read are of 64 bits");
    decoded.kind = Kind::integer;
    decoded.bits = static_cast<int>(std::max<std::size_t>(8, std::bit_ceil(precision)));
    decoded.big_endian = order == H5T_ORDER_BE && size > 1;
    if (precision != 8 * size || static_cast<std::size_t>(decoded.bits) != precision)
        decoded.text = fmt::format("{}int{} in {} bytes{}", decoded.is_signed ? "" : "u", precision, size,
                                   decoded.big_endian ? ", big-endian" : "");
    else if (decoded.big_endian)
        decoded.text = fmt::format(">{}{}", decoded.is_signed ? 'i' : 'u', size);
    else
        decoded.text = fmt::format("{}int{}", decoded.is_signed ? "" : "u", precision);
    return decoded;
}

FileType decode_float(hid_t type) {
    std::size_t sign = 0, exponent_at = 0, exponent_bits = 0, mantissa_at = 0, mantissa_bits = 0;
    const std::size_t size = H5Tget_size(type), precision = H5Tget_precision(type);
    const H5T_order_t order = H5Tget_order(type);
    H5Tget_fields(type, &sign, &exponent_at, &exponent_bits, &mantissa_at, &mantissa_bits);
    const FloatFields fields{size, exponent_at, exponent_bits, mantissa_bits, H5Tget_ebias(type)};
    const bool usual = H5Tget_norm(type) == H5T_NORM_IMPLIED && mantissa_at == 0 && precision == 8 * size &&
                       sign == precision - 1 && H5Tget_offset(type) == 0 &&
                       (order == H5T_ORDER_LE || order == H5T_ORDER_BE);
    if (usual) {
        FileType decoded;
        decoded.kind = Kind::floating;
        decoded.bits = static_cast<int>(precision);
        decoded.brain = fields == brain;
        decoded.big_endian = order == H5T_ORDER_BE;
        if (fields == brain)
            decoded.text = decoded.big_endian ? ">bfloat16" : "bfloat16";
        else
            decoded.text = decoded.big_endian ? fmt::format(">f{}", size) : fmt::format("float{}", precision);
        if (fields == half || fields == brain || fields == single || fields == twice) return decoded;
    }
    const std::string widen = "it is not converted exactly; save it as float64 (h5py: d.astype('f8')[...])";
    if (precision == 80) return refused("80-bit long double", widen);
    if (precision == 128 && exponent_bits == 15) return refused("128-bit float", widen);
    return refused(
        fmt::format("{}-bit float (exponent of {} bits, mantissa of {})", precision, exponent_bits, mantissa_bits),
        "it is not converted exactly; save it as float16, bfloat16, float32 or float64");
}

FileType complex_of_parts(const FileType& part, std::string_view names) {
    FileType decoded = part;
    decoded.kind = Kind::complex;
    decoded.text = part.brain        ? fmt::format("complex of {} {}", part.text, names)
                   : part.big_endian ? fmt::format(">c{} {}", part.bits / 4, names)
                                     : fmt::format("complex{} {}", 2 * part.bits, names);
    return decoded;
}

/// The first field of a compound that is numbers, or an array of them; empty: there is none.
std::string numeric_member(hid_t compound) {
    for (int i = 0; i < H5Tget_nmembers(compound); ++i) {
        Handle member = member_type(compound, static_cast<unsigned>(i));
        if (H5Tget_class(member) == H5T_ARRAY) member = own(H5Tget_super(member), H5Tclose, "array type");
        if (decode(member).kind != Kind::unsupported) return member_name(compound, static_cast<unsigned>(i));
    }
    return {};
}

FileType decode_compound(hid_t type) {
    const auto names = complex_names(type);
    for (unsigned i = 0; i < 2 && !names[0].empty(); ++i)
        if (H5Tget_member_offset(type, i) + H5Tget_size(member_type(type, i)) > H5Tget_size(type))
            return refused(short_text(type, 0), "damaged: a part lies outside the number");  // HDF5 would crash
    if (!names[0].empty()) {
        const FileType re = decode(member_type(type, 0)), im = decode(member_type(type, 1));
        if (re.kind == Kind::floating && im.kind == Kind::floating && re.bits == im.bits && re.brain == im.brain)
            return complex_of_parts(re, fmt::format("{{{},{}}}", names[0], names[1]));
        return refused(short_text(type, 0),
                       "complex numbers are read where both parts are float16, bfloat16, float32 or float64; save it "
                       "as complex64 or complex128");
    }
    const std::string field = numeric_member(type);
    if (field.empty()) return refused(short_text(type, 0), "none of its fields is numbers");
    return refused(short_text(type, 0),
                   fmt::format("a field of a compound is not read; save it as a dataset of its own (h5py, d this "
                               "dataset, f another file: f['{}'] = d['{}'])",
                               field, field));
}

FileType decode_enum(hid_t type) {
    const int members = H5Tget_nmembers(type);
    if (members == 2 && H5Tget_size(type) == 1) {
        signed char values[2] = {-1, -1};
        for (unsigned i = 0; i < 2; ++i) H5Tget_member_value(type, i, &values[i]);
        const unsigned falsehood = values[0] == 0 ? 0 : 1;
        if (values[falsehood] == 0 && values[1 - falsehood] == 1 && lower(member_name(type, falsehood)) == "false" &&
            lower(member_name(type, 1 - falsehood)) == "true") {
            return number_type(Kind::boolean, "bool", 8, false);
        }
    }
    return refused(short_text(type, 0),
                   "names are not numbers; save the codes as integers (h5py: d[...].astype('i4'))");
}

FileType decode_bitfield(hid_t type) {
    if (H5Tget_size(type) == 1) {  // PyTables' boolean; a value other than 0 and 1 is an error on reading
        return number_type(Kind::boolean, "bool (bitfield)", 8, false);
    }
    return refused(short_text(type, 0), "bits are not numbers; save them as an unsigned integer type");
}

/// A type in a few words, for a line of a message or of a tree.
std::string short_text(hid_t type, int depth) {
    switch (H5Tget_class(type)) {
        case H5T_STRING:
            return H5Tis_variable_str(type) > 0 ? "string (variable)"
                                                : fmt::format("string ({} bytes)", H5Tget_size(type));
        case H5T_BITFIELD:
            return fmt::format("bitfield ({} bits)", H5Tget_precision(type));
        case H5T_OPAQUE: {
            char* tag = H5Tget_tag(type);
            const std::string text = tag != nullptr ? tag : "";
            if (tag != nullptr) H5free_memory(tag);
            return fmt::format("opaque ({} bytes{}{})", H5Tget_size(type), text.empty() ? "" : ", ", text);
        }
        case H5T_REFERENCE:
            return "reference";
        case H5T_TIME:
            return "time";
        case H5T_VLEN: {
            const Handle base = own(H5Tget_super(type), H5Tclose, "variable-length type");
            return "variable-length " + short_text(base, depth + 1);
        }
        case H5T_ARRAY: {
            const Handle base = own(H5Tget_super(type), H5Tclose, "array type");
            hsize_t extents[H5S_MAX_RANK] = {};
            const int rank = H5Tget_array_dims2(type, extents);
            return fmt::format("array {}[{}]", short_text(base, depth + 1),
                               fmt::join(extents, extents + std::max(rank, 0), ", "));
        }
        case H5T_COMPOUND:
        case H5T_ENUM: {
            constexpr int shown = 4;
            const bool compound = H5Tget_class(type) == H5T_COMPOUND;
            const int members = H5Tget_nmembers(type);
            std::string text = compound ? "compound {" : "enum {";
            for (int i = 0; i < std::min(members, shown); ++i) {
                text += fmt::format("{}{}", i == 0 ? "" : ", ", member_name(type, static_cast<unsigned>(i)));
                if (compound && depth < 3)
                    text += ": " + short_text(member_type(type, static_cast<unsigned>(i)), depth + 1);
            }
            return text + (members > shown ? ", ...}" : "}");
        }
        default:
            return decode(type).text;
    }
}

}  // namespace

FileType number_type(FileType::Kind kind, std::string text, int bits, bool is_signed) {
    FileType type;
    type.kind = kind;
    type.text = std::move(text);
    type.bits = bits;
    type.is_signed = is_signed;
    return type;
}

FileType decode(hid_t type) {
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return decode_integer(type);
        case H5T_FLOAT:
            return decode_float(type);
        case H5T_COMPOUND:
            return decode_compound(type);
        case H5T_ENUM:
            return decode_enum(type);
        case H5T_BITFIELD:
            return decode_bitfield(type);
        case H5T_STRING:
            return refused(short_text(type, 0),
                           "text is not numbers; where it spells them, save those (h5py, d this dataset, f another "
                           "file: f['x'] = numpy.array(d.asstr()[()], 'f8'))");
        case H5T_ARRAY:
            return refused(short_text(type, 0),
                           "save it as a dataset with the array's axes as further axes (h5py, d this dataset, f "
                           "another file: f['x'] = d[...])");
        case H5T_VLEN:
            return refused(short_text(type, 0), "rows of different lengths are not a tensor; pad them to one length");
        case H5T_OPAQUE:
            return refused(short_text(type, 0), "its bytes have no meaning in the file; save it as a numeric type");
        case H5T_REFERENCE:
            return refused(short_text(type, 0), "it points to other data; name that dataset itself");
        case H5T_TIME:
            return refused(short_text(type, 0), "save it as float64 seconds");
        default:
            break;
    }
#if H5_VERSION_GE(2, 0, 0)
    if (H5Tget_class(type) == H5T_COMPLEX) {
        const FileType part = decode(own(H5Tget_super(type), H5Tclose, "complex type"));
        if (part.kind == Kind::floating) return complex_of_parts(part, "native");
        return refused("complex of " + part.text, part.reason);
    }
#endif
    return refused(fmt::format("type of class {}", static_cast<int>(H5Tget_class(type))),
                   "this type is newer than gridstride's HDF5 library; save complex numbers as a compound {r,i}");
}

Handle memory_type(hid_t type, const FileType& decoded) {
    const auto little_endian = [](hid_t number) {
        Handle copy = copy_of(number);
        check(H5Tset_order(copy, H5T_ORDER_LE), "byte order");
        return copy;
    };
    switch (decoded.kind) {
        case Kind::integer: {
            const hid_t with_sign[] = {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE};
            const hid_t without[] = {H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE};
            const int index = std::countr_zero(static_cast<unsigned>(decoded.bits)) - 3;
            return copy_of(decoded.is_signed ? with_sign[index] : without[index]);
        }
        case Kind::floating:
            return little_endian(type);
        case Kind::boolean:
            return copy_of(type);  // one byte, moved as it is
        case Kind::complex: {
#if H5_VERSION_GE(2, 0, 0)
            if (H5Tget_class(type) == H5T_COMPLEX) {
                const Handle part = little_endian(own(H5Tget_super(type), H5Tclose, "complex type"));
                return own(H5Tcomplex_create(part), H5Tclose, "complex type");
            }
#endif
            const auto names = complex_names(type);
            const auto bytes = static_cast<std::size_t>(decoded.bits) / 8;
            Handle compound = own(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose, "complex type");
            for (std::size_t i = 0; i < 2; ++i) {
                const int at = H5Tget_member_index(type, names[i].c_str());
                const Handle part = little_endian(member_type(type, static_cast<unsigned>(at)));
                check(H5Tinsert(compound, names[i].c_str(), i * bytes, part), "complex type");
            }
            return compound;
        }
        case Kind::unsupported:
            break;
    }
    throw Error(Category::internal, decoded.text + " has no memory type");
}

Handle file_type(DType dtype) {
    const auto custom = [](const FloatFields& fields) {
        Handle type = copy_of(H5T_IEEE_F32LE);
        check(
            H5Tset_fields(type, 8 * fields.size - 1, fields.exponent_at, fields.exponent_bits, 0, fields.mantissa_bits),
            "float type");
        check(H5Tset_size(type, fields.size), "float type");
        check(H5Tset_ebias(type, fields.bias), "float type");
        return type;
    };
    switch (dtype) {
        case DType::float16:
            return custom(half);
        case DType::bfloat16:
            return custom(brain);
        case DType::float32:
            return copy_of(H5T_IEEE_F32LE);
        case DType::float64:
            return copy_of(H5T_IEEE_F64LE);
        case DType::int32:
            return copy_of(H5T_STD_I32LE);
        case DType::int64:
            return copy_of(H5T_STD_I64LE);
        case DType::complex64:
        case DType::complex128:
            break;
    }
    const std::size_t size = size_of(dtype);
    const Handle part = file_type(real_of(dtype));
    Handle type = own(H5Tcreate(H5T_COMPOUND, size), H5Tclose, "complex type");
    check(H5Tinsert(type, "r", 0, part), "complex type");
    check(H5Tinsert(type, "i", size / 2, part), "complex type");
    return type;
}

}  // namespace gridstride::hdf5
