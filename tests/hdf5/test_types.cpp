// SPDX-License-Identifier: BSD-3-Clause
// Which stored types are numbers, what they become, and how the others are refused.
#include <limits>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

using Kind = FileType::Kind;

struct Stored {
    hid_t type;
    std::string text;
    int bits;
    bool is_signed, big_endian;
    DType in_integers, in_floats;
};

TEST(Types, IntegersOfEveryWidthAndByteOrderAreReadExactly) {  // BR045
    const Folder folder;
    const std::string file = folder / "integers.h5";
    const DType i32 = DType::int32, i64 = DType::int64, f32 = DType::float32, f64 = DType::float64;
    const std::vector<Stored> all{
        {H5T_STD_I8LE, "int8", 8, true, false, i32, f32},      {H5T_STD_U8LE, "uint8", 8, false, false, i32, f32},
        {H5T_STD_I16LE, "int16", 16, true, false, i32, f32},   {H5T_STD_I16BE, ">i2", 16, true, true, i32, f32},
        {H5T_STD_U16LE, "uint16", 16, false, false, i32, f32}, {H5T_STD_U16BE, ">u2", 16, false, true, i32, f32},
        {H5T_STD_I32LE, "int32", 32, true, false, i32, f64},   {H5T_STD_I32BE, ">i4", 32, true, true, i32, f64},
        {H5T_STD_U32LE, "uint32", 32, false, false, i64, f64}, {H5T_STD_U32BE, ">u4", 32, false, true, i64, f64},
        {H5T_STD_I64LE, "int64", 64, true, false, i64, f64},   {H5T_STD_I64BE, ">i8", 64, true, true, i64, f64},
        {H5T_STD_U64LE, "uint64", 64, false, false, i64, f64}, {H5T_STD_U64BE, ">u8", 64, false, true, i64, f64}};
    const std::vector<long> signed_values{1, -3, 77}, unsigned_values{1, 3, 201};
    {
        const Raw raw(file);
        for (const Stored& stored : all)
            raw.dataset("/" + stored.text, stored.type, {3}, H5T_NATIVE_LONG,
                        stored.is_signed ? signed_values.data() : unsigned_values.data());
    }
    for (const Stored& stored : all) {
        SCOPED_TRACE(stored.text);
        const Info info = describe(file, stored.text);
        EXPECT_EQ(info.type.text, stored.text);
        EXPECT_EQ(info.type.kind, Kind::integer);
        EXPECT_EQ(info.type.bits, stored.bits);
        EXPECT_EQ(info.type.is_signed, stored.is_signed);
        EXPECT_EQ(info.type.big_endian, stored.big_endian);
        EXPECT_EQ(natural_dtype(info, true, false), stored.in_integers);
        EXPECT_EQ(natural_dtype(info, false, false), stored.in_floats);
        const auto& expected = stored.is_signed ? signed_values : unsigned_values;
        EXPECT_EQ(values<std::int64_t>(file, stored.text), std::vector<std::int64_t>(expected.begin(), expected.end()));
        EXPECT_EQ(values<std::int32_t>(file, stored.text), std::vector<std::int32_t>(expected.begin(), expected.end()));
        EXPECT_EQ(values<float>(file, stored.text), std::vector<float>(expected.begin(), expected.end()));
        EXPECT_EQ(values<complex128>(file, stored.text), std::vector<complex128>(expected.begin(), expected.end()));
    }
}

TEST(Types, IntegersOfOddPrecisionAreWidened) {
    const Folder folder;
    const std::string file = folder / "odd.h5";
    const hid_t twelve = H5Tcopy(H5T_STD_U16LE), three_bytes = H5Tcopy(H5T_STD_I32BE);
    H5Tset_precision(twelve, 12);
    H5Tset_size(three_bytes, 3);
    const std::vector<long> counts{4095, 0, 17}, depths{-8388608, 5, 8388607};
    {
        const Raw raw(file);
        raw.dataset("/counts", twelve, {3}, H5T_NATIVE_LONG, counts.data());
        raw.dataset("/depths", three_bytes, {3}, H5T_NATIVE_LONG, depths.data());
    }
    EXPECT_EQ(describe(file, "counts").type.text, "uint12 in 2 bytes");
    EXPECT_EQ(describe(file, "depths").type.text, "int24 in 3 bytes, big-endian");
    EXPECT_EQ(values<std::int32_t>(file, "counts"), (std::vector<std::int32_t>{4095, 0, 17}));
    EXPECT_EQ(values<std::int32_t>(file, "depths"), (std::vector<std::int32_t>{-8388608, 5, 8388607}));
    H5Tclose(twelve);
    H5Tclose(three_bytes);
}

TEST(Types, FloatsOfBothByteOrdersKeepTheirBits) {  // BR045
    const Folder folder;
    const std::string file = folder / "floats.h5";
    const std::vector<double> doubles{0.1, -1e300, 5e-324, std::numeric_limits<double>::infinity()};
    const std::vector<float> floats{0.1F, -3e38F, 1e-45F, -0.0F};
    const std::vector<std::uint16_t> half_bits{0x3555, 0xfbff, 0x0001, 0xfc00};  // 0.33325, -65504, 2^-24, -inf
    {
        const Raw raw(file);
        raw.dataset("/f8", H5T_IEEE_F64LE, {4}, H5T_NATIVE_DOUBLE, doubles.data());
        raw.dataset("/f8_big", H5T_IEEE_F64BE, {4}, H5T_NATIVE_DOUBLE, doubles.data());
        raw.dataset("/f4", H5T_IEEE_F32LE, {4}, H5T_NATIVE_FLOAT, floats.data());
        raw.dataset("/f4_big", H5T_IEEE_F32BE, {4}, H5T_NATIVE_FLOAT, floats.data());
        for (const bool is_brain : {false, true}) {
            const hid_t little = is_brain ? bfloat16_type() : float16_type(), big = H5Tcopy(little);
            H5Tset_order(big, H5T_ORDER_BE);
            raw.dataset(is_brain ? "/b2" : "/f2", little, {4}, little, half_bits.data());
            raw.dataset(is_brain ? "/b2_big" : "/f2_big", big, {4}, little, half_bits.data());
            H5Tclose(little);
            H5Tclose(big);
        }
    }
    for (const std::string suffix : {"", "_big"}) {
        SCOPED_TRACE(suffix);
        EXPECT_EQ(values<double>(file, "f8" + suffix), doubles);
        EXPECT_EQ(values<float>(file, "f4" + suffix), floats);
        EXPECT_TRUE(std::signbit(values<float>(file, "f4" + suffix)[3]));
        const auto halves = values<float16>(file, "f2" + suffix);
        const auto brains = values<bfloat16>(file, "b2" + suffix);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(std::bit_cast<std::uint16_t>(halves[i]), half_bits[i]);
            EXPECT_EQ(brains[i].bits, half_bits[i]);
        }
        EXPECT_EQ(values<float>(file, "f2" + suffix),
                  (std::vector<float>{0.333251953125F, -65504, 0x1p-24F, -std::numeric_limits<float>::infinity()}));
        EXPECT_EQ(describe(file, "b2" + suffix).type.brain, true);
        EXPECT_EQ(describe(file, "f2" + suffix).type.brain, false);
        EXPECT_EQ(natural_dtype(describe(file, "b2" + suffix), true, false), DType::bfloat16);
        EXPECT_EQ(natural_dtype(describe(file, "f2" + suffix), false, false), DType::float16);
    }
    EXPECT_EQ(describe(file, "f4_big").type.text, ">f4");
    EXPECT_EQ(describe(file, "f2").type.text, "float16");
    EXPECT_EQ(describe(file, "b2_big").type.text, ">bfloat16");
}

TEST(Types, SignallingNaNsOfBfloat16AreMovedUntouched) {
    const Folder folder;
    const std::string file = folder / "nan.h5";
    const std::vector<std::uint16_t> bits{0x7f81, 0xffc1, 0x7f80};
    {
        const Raw raw(file);
        const hid_t type = bfloat16_type();
        raw.dataset("/x", type, {3}, type, bits.data());
        H5Tclose(type);
    }
    Statistics seen;
    const auto read = values<bfloat16>(file, "x", {}, &seen);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(read[i].bits, bits[i]);
    EXPECT_EQ(seen.nan, 2);
}

TEST(Types, ComplexCompoundsOfEverySpellingAreRead) {
    const Folder folder;
    const std::string file = folder / "complex.h5";
    const std::vector<complex128> expected{{1.5, -2.25}, {0.5, 3}, {-7, 0.125}};
    const char* const names[][2] = {{"r", "i"}, {"real", "imag"}, {"Real", "Imaginary"}, {"re", "im"}};
    const hid_t parts[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    {
        const Raw raw(file);
        for (const auto& [re, im] : names)
            for (std::size_t part = 0; part < 4; ++part) {
                const hid_t stored = compound(parts[part], re, im), given = compound(H5T_NATIVE_DOUBLE, re, im);
                raw.dataset(std::string("/") + re + std::to_string(part), stored, {3}, given, expected.data());
                H5Tclose(stored);
                H5Tclose(given);
            }
    }
    for (const auto& [re, im] : names)
        for (std::size_t part = 0; part < 4; ++part) {
            const std::string path = std::string("/") + re + std::to_string(part);
            SCOPED_TRACE(path);
            const Info info = describe(file, path);
            EXPECT_EQ(info.type.kind, Kind::complex);
            EXPECT_EQ(info.type.big_endian, part % 2 == 1);
            EXPECT_EQ(natural_dtype(info, false, false), part < 2 ? DType::complex64 : DType::complex128);
            EXPECT_EQ(values<complex128>(file, path), expected);
            EXPECT_EQ(values<complex64>(file, path), std::vector<complex64>(expected.begin(), expected.end()));
        }
    EXPECT_EQ(describe(file, "Real2").type.text, "complex128 {Real,Imaginary}");
    EXPECT_EQ(describe(file, "r1").type.text, ">c8 {r,i}");
}

TEST(Types, NamesTellThePartsOfAComplexNumberNotTheirOrder) {
    const Folder folder;
    const std::string file = folder / "swapped.h5";
    const double stored[] = {-2.25, 1.5, 3, 0.5};  // i, r, i, r
    {
        const Raw raw(file);
        const hid_t type = compound(H5T_NATIVE_DOUBLE, "i", "r");
        raw.dataset("/z", type, {2}, type, stored);
        H5Tclose(type);
    }
    EXPECT_EQ(values<complex128>(file, "z"), (std::vector<complex128>{{1.5, -2.25}, {0.5, 3}}));
}

TEST(Types, ComplexOfPaddedCompoundIsRead) {
    const Folder folder;
    const std::string file = folder / "padded.h5";
    struct Padded {
        std::int64_t before;
        float re;
        std::int32_t between;
        float im;
    };
    const std::vector<Padded> stored{{9, 1.5F, 9, -2.5F}, {9, 4, 9, 8}};
    {
        const Raw raw(file);
        const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Padded));
        H5Tinsert(type, "r", offsetof(Padded, re), H5T_NATIVE_FLOAT);
        H5Tinsert(type, "i", offsetof(Padded, im), H5T_NATIVE_FLOAT);
        raw.dataset("/z", type, {2}, type, stored.data());
        H5Tclose(type);
    }
    EXPECT_EQ(values<complex64>(file, "z"), (std::vector<complex64>{{1.5F, -2.5F}, {4, 8}}));
}

TEST(Types, ComplexOfHalvesIsWidenedExactly) {  // BR044
    const Folder folder;
    const std::string file = folder / "halves.h5";
    const std::uint16_t bits[] = {0x3555, 0xc000, 0x0001, 0x7bff};
    {
        const Raw raw(file);
        const hid_t part = float16_type(), type = compound(part, "r", "i");
        raw.dataset("/z", type, {2}, type, bits);
        H5Tclose(part);
        H5Tclose(type);
    }
    const Info info = describe(file, "z");
    EXPECT_EQ(info.type.text, "complex32 {r,i}");
    EXPECT_EQ(natural_dtype(info, false, false), DType::complex64);
    EXPECT_EQ(values<complex64>(file, "z"), (std::vector<complex64>{{0.333251953125F, -2}, {0x1p-24F, 65504}}));
}

TEST(Types, BooleansOfH5pyAndOfPyTablesAreZeroAndOne) {
    const Folder folder;
    const std::string file = folder / "bool.h5";
    const signed char flags[] = {1, 0, 1}, zero = 0, one = 1, off = 4;
    {
        const Raw raw(file);
        const hid_t type = H5Tenum_create(H5T_STD_I8LE), levels = H5Tenum_create(H5T_STD_I8LE);
        H5Tenum_insert(type, "FALSE", &zero);
        H5Tenum_insert(type, "TRUE", &one);
        H5Tenum_insert(levels, "LOW", &one);
        H5Tenum_insert(levels, "OFF", &off);
        raw.dataset("/h5py", type, {3}, type, flags);
        raw.dataset("/pytables", H5T_STD_B8LE, {3}, H5T_STD_B8LE, flags);
        const unsigned char mask[] = {1, 6, 0};
        raw.dataset("/mask", H5T_STD_B8LE, {3}, H5T_STD_B8LE, mask);
        raw.dataset("/levels", levels, {3}, levels, nullptr);
        H5Tclose(type);
        H5Tclose(levels);
    }
    for (const std::string path : {"/h5py", "/pytables"}) {
        EXPECT_EQ(describe(file, path).type.kind, Kind::boolean);
        EXPECT_EQ(natural_dtype(describe(file, path), true, false), DType::int32);
        EXPECT_EQ(natural_dtype(describe(file, path), false, false), DType::float32);
        EXPECT_EQ(values<std::int32_t>(file, path), (std::vector<std::int32_t>{1, 0, 1}));
        EXPECT_EQ(values<float>(file, path), (std::vector<float>{1, 0, 1}));
    }
    expect_error(Category::input, {"mask", "at (1,)", "6 is neither 0 nor 1"},
                 [&] { values<std::int32_t>(file, "/mask"); });
    expect_error(Category::config, {"levels", "enum {LOW, OFF}"},
                 [&] { natural_dtype(describe(file, "/levels"), true, false); });
}

TEST(Types, WhatIsNotConvertedExactlyIsRefusedByName) {
    const Folder folder;
    const std::string file = folder / "others.h5";
    std::vector<std::pair<std::string, std::string>> cases;
    {
        const Raw raw(file);
        const auto add = [&](const std::string& path, hid_t type, const std::string& words) {
            raw.dataset(path, type, {2}, type, nullptr);
            H5Tclose(type);
            cases.emplace_back(path, words);
        };
        const hsize_t extents[] = {457};
        const hid_t record = H5Tcreate(H5T_COMPOUND, 12);
        H5Tinsert(record, "a", 0, H5T_STD_I32LE);
        H5Tinsert(record, "b", 4, H5T_IEEE_F64LE);
        add("/record", record, "compound {a: int32, b: float64}");
        add("/array", H5Tarray_create2(H5T_IEEE_F64LE, 1, extents), "array float64[457]");
        const hid_t text = H5Tcopy(H5T_C_S1), fixed = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, H5T_VARIABLE);
        H5Tset_size(fixed, 12);
        add("/text", text, "string (variable)");
        add("/fixed", fixed, "string (12 bytes)");
        add("/ragged", H5Tvlen_create(H5T_STD_I16BE), "variable-length >i2");
        const hid_t opaque = H5Tcreate(H5T_OPAQUE, 6);
        H5Tset_tag(opaque, "numpy");
        add("/opaque", opaque, "opaque (6 bytes, numpy)");
        add("/reference", H5Tcopy(H5T_STD_REF_OBJ), "reference");
        add("/bits", H5Tcopy(H5T_STD_B16LE), "bitfield (16 bits)");
        add("/long", H5Tcopy(H5T_NATIVE_LDOUBLE), "80-bit long double");
        add("/fp8", custom_float(8, 4, 7), "8-bit float (exponent of 4 bits, mantissa of 3)");
        add("/vax", H5Tcopy(H5T_VAX_F32), "32-bit float");
        add("/integer_complex", compound(H5T_STD_I16LE, "r", "i"), "compound {r: int16, i: int16}");
        add("/named_else", compound(H5T_IEEE_F32LE, "x", "y"), "compound {x: float32, y: float32}");
    }
    for (const auto& [path, words] : cases) {
        SCOPED_TRACE(path);
        const Info info = describe(file, path);
        EXPECT_EQ(info.type.kind, Kind::unsupported);
        EXPECT_FALSE(info.type.reason.empty());
        EXPECT_NE(info.type.text.find(words), std::string::npos) << info.type.text;
        expect_error(Category::config, {file + ":" + path, words}, [&] { natural_dtype(info, true, false); });
        Tensor tensor(Spec{DType::float32, {2}});
        expect_error(Category::config, {path, words}, [&] { read(info, {whole({2})}, tensor.slab()); });
    }
}

TEST(Types, ARefusedCompoundNamesTheFieldThatIsNumbers) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, 5);
        const hsize_t extent = 457;
        const hid_t rows = H5Tcreate(H5T_COMPOUND, 5 + 8 * extent);
        H5Tinsert(rows, "name", 0, text);
        H5Tinsert(rows, "row", 5, H5Tarray_create2(H5T_IEEE_F64LE, 1, &extent));
        raw.dataset("/rows", rows, {2}, rows, nullptr);
        const hid_t words = H5Tcreate(H5T_COMPOUND, 5);
        H5Tinsert(words, "name", 0, text);
        raw.dataset("/words", words, {2}, words, nullptr);
        raw.dataset("/text", text, {2}, text, nullptr);
    }
    expect_error(Category::config,
                 {"/rows: compound {name: string (5 bytes), row: array float64[457]}: ",
                  "(h5py, d this dataset, f another file: f['row'] = d['row'])"},
                 [&] { natural_dtype(describe(file, "rows"), true, false); });
    expect_error(Category::config, {"/words: compound {name: string (5 bytes)}: none of its fields is numbers"},
                 [&] { natural_dtype(describe(file, "words"), true, false); });
    expect_error(Category::config, {"/text: string (5 bytes): ", "numpy.array(d.asstr()[()], 'f8')"},
                 [&] { natural_dtype(describe(file, "text"), true, false); });
}

TEST(Types, ATypeNewerThanTheLibraryIsSaidToBe) {  // BR044
    const Folder folder;
    const std::string file = folder / "newer.h5";
    {
        const Raw raw(file);
        const double zeros[3] = {};
        raw.dataset("/z", H5T_IEEE_F64LE, {3}, H5T_NATIVE_DOUBLE, zeros);
        raw.dataset("/x", H5T_STD_I32LE, {3}, H5T_NATIVE_DOUBLE, zeros);
    }
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(bytes)), {});
    const std::string float64("\x11\x20\x3f\x00\x08\x00\x00\x00", 8);  // version 1, class 1: the header of a float64
    const std::size_t at = all.find(float64);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(all.find(float64, at + 1), std::string::npos);
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put('\x5b');  // version 5, class 11: HDF5 2's complex
    bytes.close();
    expect_error(Category::config, {file + ":/z", "newer than this HDF5 library"}, [&] { describe(file, "/z"); });
    EXPECT_EQ(values<std::int32_t>(file, "/x"), (std::vector<std::int32_t>{0, 0, 0}));
    bool told = false;
    for (const Node& node : tree(file))
        told = told || (node.path == "/z" && node.problem.find("newer") != std::string::npos);
    EXPECT_TRUE(told);
}

TEST(Types, ALayoutNewerThanTheLibraryIsSaidToBeNotCalledDamage) {
    const Folder folder;
    const std::string file = folder / "newer.h5";
    {
        const Raw raw(file);
        const int data[12] = {};
        const hid_t created = chunked({2, 3});
        raw.dataset("/x", H5T_STD_I32LE, {3, 4}, H5T_NATIVE_INT, data, created);
        H5Pclose(created);
    }
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(bytes)), {});
    const std::size_t at = all.find(std::string("\2\0\0\0\3\0\0\0\4\0\0\0", 12));  // the chunk and the element's size
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(all.substr(at - 11, 3), "\3\2\3");  // version 3, chunked, of 2 + 1 lengths; then an address
    bytes.seekp(static_cast<std::streamoff>(at) - 11);
    bytes.put('\5');  // HDF5 2's
    bytes.close();
    expect_error(Category::config,
                 {file + ":/x", "newer than this HDF5 library", "layout", "save it without libver='latest'"},
                 [&] { describe(file, "/x"); });
}

}  // namespace
}  // namespace gridstride::hdf5::testing
