// SPDX-License-Identifier: BSD-3-Clause
// Reading: selections, pieces, conversions with their indices, scale, nan, pairs, statistics, shapes of every kind.
#include <hdf5_hl.h>

#include <cmath>
#include <limits>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
void write(const std::string& file, const Shape& shape, hid_t stored, hid_t given, const std::vector<T>& data,
           hid_t created = H5P_DEFAULT) {
    const Raw raw(file);
    raw.dataset("/x", stored, shape, given, data.data(), created);
}

TEST(Read, OnlyTheSelectionIsReadWithStepsAndDroppedAxes) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    std::vector<int> data(5 * 7 * 4);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
    for (const bool in_chunks : {false, true}) {
        const hid_t created = in_chunks ? chunked({2, 3, 3}) : H5Pcreate(H5P_DATASET_CREATE);
        write(file, {5, 7, 4}, H5T_STD_I32LE, H5T_NATIVE_INT, data, created);
        H5Pclose(created);
        Reading reading;
        reading.select.axes = {{1, 2, 3}, {2, 1, 1, true}, {0, 2, 3}};  // [1::3, 2, ::3]
        EXPECT_EQ(values<std::int32_t>(file, "x", reading),
                  (std::vector<std::int32_t>{36, 39, 120, 123}));  // 28 i + 4 * 2 + k
        reading.select.axes = {{4, 1, 1, true}, {6, 1, 1, true}, {3, 1, 1, true}};
        EXPECT_EQ(values<std::int32_t>(file, "x", reading), (std::vector<std::int32_t>{139}));
        reading.select.axes = {{0, 5, 1}, {7, 0, 1}, {0, 4, 1}};
        EXPECT_TRUE(values<std::int32_t>(file, "x", reading).empty());
    }
}

TEST(Read, ASelectionOutsideTheShapeIsRefused) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write<int>(file, {3, 2}, H5T_STD_I32LE, H5T_NATIVE_INT, {0, 1, 2, 3, 4, 5});
    for (const Range& range : {Range{0, 4, 1}, Range{3, 1, 1}, Range{1, 2, 2}, Range{-1, 1, 1}})
        expect_error(Category::config, {"/x", "leaves the shape (3, 2)"}, [&] {
            Reading reading;
            reading.select.axes = {range, {0, 2, 1}};
            values<std::int32_t>(file, "x", reading);
        });
}

/// More than one piece: 18 MB, the value of [i, j] is 10007 i + j.
class Pieces : public ::testing::TestWithParam<std::vector<hsize_t>> {};

TEST_P(Pieces, CutALargeDatasetWithoutLossOrRepetition) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    constexpr std::int64_t rows = 1501, columns = 3001;
    const auto value = [](std::int64_t i, std::int64_t j) { return static_cast<std::int32_t>(10007 * i + j); };
    std::vector<std::int32_t> data(rows * columns);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) data[static_cast<std::size_t>(i * columns + j)] = value(i, j);
    const hid_t created = GetParam().empty() ? H5Pcreate(H5P_DATASET_CREATE) : chunked(GetParam());
    write(file, {rows, columns}, H5T_STD_I32BE, H5T_NATIVE_INT, data, created);
    H5Pclose(created);
    Statistics seen;
    EXPECT_TRUE(values<std::int32_t>(file, "x", {}, &seen) == data);
    EXPECT_EQ(seen.elements, rows * columns);
    EXPECT_EQ(seen.min, 0);
    EXPECT_EQ(seen.max, value(rows - 1, columns - 1));
    const Slab in_memory{{DType::int32, {rows, columns}}, {columns, 1}, reinterpret_cast<std::byte*>(data.data())};
    EXPECT_EQ(seen.checksum, statistics(in_memory).checksum);

    Reading reading;
    reading.select.axes = {{2, 500, 3}, {1, 1500, 2}};
    const auto some = values<std::int32_t>(file, "x", reading);
    ASSERT_EQ(some.size(), 500U * 1500U);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 500; ++i)
        for (std::int64_t j = 0; j < 1500; ++j)
            wrong += some[static_cast<std::size_t>(i * 1500 + j)] != value(2 + 3 * i, 1 + 2 * j);
    EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Pieces,
                         ::testing::Values(std::vector<hsize_t>{}, std::vector<hsize_t>{200, 301},
                                           std::vector<hsize_t>{1501, 1}, std::vector<hsize_t>{1, 3001},
                                           std::vector<hsize_t>{1400, 3000}));

TEST(Read, IndicesBeyond32BitsAreReached) {
    const Folder folder;
    const std::string file = folder / "big.h5";
    constexpr std::int64_t n = (std::int64_t{1} << 33) + 5;
    {
        const Raw raw(file);
        const hid_t created = chunked({4096});
        raw.dataset("/x", H5T_IEEE_F32LE, {n}, H5T_NATIVE_FLOAT, nullptr, created);
        H5Pclose(created);
        const hid_t dataset = H5Dopen2(raw.id(), "/x", H5P_DEFAULT), space = H5Dget_space(dataset);
        const hsize_t begin[] = {hsize_t{1} << 33}, count[] = {5};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, count, nullptr);
        const hid_t memory = H5Screate_simple(1, count, nullptr);
        const float data[] = {1, 2, 3, 4, 5};
        ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, data), 0);
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    EXPECT_EQ(describe(file, "x").shape, Shape{n});
    Reading reading;
    reading.select.axes = {{(std::int64_t{1} << 33) - 1, 6, 1}};
    EXPECT_EQ(values<float>(file, "x", reading), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    reading.select.axes = {{3, 2, std::int64_t{1} << 33}};
    EXPECT_EQ(values<float>(file, "x", reading), (std::vector<float>{0, 4}));
}

TEST(Read, AStridedTargetIsFilledAndNothingElse) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write<float>(file, {2, 3}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {1, 2, 3, 4, 5, 6});
    std::vector<double> room(12, -1);
    const Slab transposed{{DType::float64, {2, 3}}, {1, 4}, reinterpret_cast<std::byte*>(room.data())};
    read(describe(file, "x"), {whole({2, 3})}, transposed);
    EXPECT_EQ(room, (std::vector<double>{1, 4, -1, -1, 2, 5, -1, -1, 3, 6, -1, -1}));
}

TEST(Read, ValuesThatDoNotConvertAreNamedWithTheirIndexInTheDataset) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    Reading odd_columns;
    odd_columns.select.axes = {{0, 2, 1}, {1, 2, 2}};

    write<double>(file, {2, 4}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {0, 1, 2, 3, 4, 5, 6, 1e39});
    expect_error(Category::input, {"/x", "at (1, 3)", "1e+39 does not fit float32"},
                 [&] { values<float>(file, "x", odd_columns); });
    EXPECT_EQ(values<double>(file, "x", odd_columns), (std::vector<double>{1, 3, 5, 1e39}));

    write<double>(file, {2, 4}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {0.5, 1, 2, 3, 4, 5.5, 6, 7});
    expect_error(Category::input, {"at (1, 1)", "5.5 is not a whole number that int32 holds"},
                 [&] { values<std::int32_t>(file, "x", odd_columns); });

    write<long>(file, {2, 4}, H5T_STD_I64LE, H5T_NATIVE_LONG, {0, 1, 2, 3, 4, 5, 6, (1L << 53) + 1});
    expect_error(Category::input, {"at (1, 3)", "9007199254740993 is beyond 2^53"},
                 [&] { values<double>(file, "x", odd_columns); });
    expect_error(Category::input, {"beyond 2^53"}, [&] { values<float>(file, "x", odd_columns); });
    EXPECT_EQ(values<std::int64_t>(file, "x", odd_columns)[3], (std::int64_t{1} << 53) + 1);

    const unsigned long most = std::numeric_limits<std::int64_t>::max();
    write<unsigned long>(file, {3}, H5T_STD_U64LE, H5T_NATIVE_ULONG, {7, most, most + 1});
    expect_error(Category::input, {"at (2,)", "9223372036854775808 is above 2^63 - 1"},
                 [&] { values<std::int64_t>(file, "x"); });
    Reading first_two;
    first_two.select.axes = {{0, 2, 1}};
    EXPECT_EQ(values<std::int64_t>(file, "x", first_two), (std::vector<std::int64_t>{7, static_cast<long>(most)}));

    write<long>(file, {3}, H5T_STD_I64LE, H5T_NATIVE_LONG, {7, -3, 1L << 31});
    expect_error(Category::input, {"at (2,)", "2147483648", "int32"}, [&] { values<std::int32_t>(file, "x"); });
    write<float>(file, {2}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {65504, 65520});
    expect_error(Category::input, {"at (1,)", "65520 does not fit float16 (largest 65504)"},
                 [&] { values<float16>(file, "x"); });
}

TEST(Read, NarrowerFloatsRoundToNearestAndInfinityStays) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write<double>(file, {4}, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {1.00390625, 0.1, -HUGE_VAL, nan});
    const auto brains = values<bfloat16>(file, "x");
    EXPECT_EQ(brains[0].bits, 0x3f80);  // a tie: to even, where HDF5's own conversion gives 0x3f81
    EXPECT_EQ(brains[1].bits, 0x3dcd);
    EXPECT_EQ(brains[2].bits, 0xff80);
    EXPECT_EQ(brains[3].bits & 0x7fff, 0x7fc0);
    EXPECT_EQ(values<float>(file, "x")[1], 0.1F);
}

TEST(Read, ComplexValuesDoNotBecomeReal) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    const hid_t type = compound(H5T_IEEE_F32LE, "r", "i");
    write<float>(file, {1}, type, type, {1, 2});
    H5Tclose(type);
    expect_error(Category::config, {"/x", "complex values do not convert to float64"},
                 [&] { values<double>(file, "x"); });
}

TEST(Read, ScaleMultipliesInFloat64AndRoundsOnce) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write<float>(file, {3}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {0.1F, -3, 3e38F});
    Reading reading;
    reading.scale = 1.0 / 3;
    const auto scaled = values<float>(file, "x", reading);
    EXPECT_EQ(scaled[0], static_cast<float>(static_cast<double>(0.1F) * (1.0 / 3)));
    EXPECT_EQ(scaled[1], -1.0F);
    reading.scale = 10;
    expect_error(Category::input, {"at (2,)", "times 10 does not fit float32"},
                 [&] { values<float>(file, "x", reading); });
    EXPECT_EQ(values<double>(file, "x", reading)[2], 10.0 * static_cast<double>(3e38F));

    write<int>(file, {2}, H5T_STD_I16LE, H5T_NATIVE_INT, {4, 7});
    reading.scale = 0.5;
    EXPECT_EQ(values<float>(file, "x", reading), (std::vector<float>{2, 3.5}));
    expect_error(Category::input, {"at (1,)", "7 times 0.5 is not a whole number"},
                 [&] { values<std::int32_t>(file, "x", reading); });
    reading.scale = -2;
    EXPECT_EQ(values<std::int32_t>(file, "x", reading), (std::vector<std::int32_t>{-8, -14}));
}

TEST(Read, NaNIsReplacedAndCounted) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write<double>(file, {4}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {nan, 2, nan, -5});
    Reading reading;
    Statistics seen;
    EXPECT_TRUE(std::isnan(values<float>(file, "x", reading, &seen)[0]));
    EXPECT_EQ(seen.nan, 2);
    EXPECT_EQ(seen.replaced, 0);
    EXPECT_EQ(seen.min, -5);
    EXPECT_EQ(seen.max, 2);
    reading.nan = 0.25;
    reading.scale = 2;
    EXPECT_EQ(values<float>(file, "x", reading, &seen), (std::vector<float>{0.25, 4, 0.25, -10}));
    EXPECT_EQ(seen.nan, 2);
    EXPECT_EQ(seen.replaced, 2);

    reading.nan = 1e300;
    expect_error(Category::input, {"the replacement of NaN, 1e+300, does not fit float32"},
                 [&] { values<float>(file, "x", reading); });
    reading.scale = 1e300;
    reading.nan = 1;
    expect_error(Category::input, {"2 times 1e+300 does not fit float32"}, [&] { values<float>(file, "x", reading); });

    const hid_t type = compound(H5T_IEEE_F64LE, "r", "i");
    write<double>(file, {3}, type, type, {1, nan, nan, 7, 3, 4});
    H5Tclose(type);
    reading.scale = 1;
    reading.nan = 0.25;
    EXPECT_EQ(values<complex128>(file, "x", reading, &seen), (std::vector<complex128>{{0.25, 0}, {0.25, 0}, {3, 4}}));
    EXPECT_EQ(seen.replaced, 2);
    EXPECT_EQ(seen.max, 5);
    EXPECT_EQ(seen.elements, 3);
}

TEST(Read, APairOfNumbersIsAComplexOne) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    const std::vector<float> data{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const hid_t created = chunked({2, 2, 1});
    write(file, {2, 3, 2}, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, data, created);
    H5Pclose(created);
    Reading reading;
    reading.pair = true;
    Statistics seen;
    EXPECT_EQ(natural_dtype(describe(file, "x"), false, true), DType::complex64);
    EXPECT_EQ(values<complex64>(file, "x", reading, &seen),
              (std::vector<complex64>{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}));
    EXPECT_EQ(seen.elements, 6);
    reading.select.axes = {{1, 1, 1, true}, {0, 2, 2}, {0, 2, 1}};
    EXPECT_EQ(values<complex128>(file, "x", reading), (std::vector<complex128>{{7, 8}, {11, 12}}));
    reading.select.axes = {{0, 2, 1}, {0, 3, 1}, {0, 1, 1}};
    expect_error(Category::config, {"complex: pair", "last axis"}, [&] { values<complex64>(file, "x", reading); });

    const std::string integers = folder / "i.h5";
    write<int>(integers, {1, 2}, H5T_STD_I16LE, H5T_NATIVE_INT, {-3, 4});
    EXPECT_EQ(natural_dtype(describe(integers, "x"), true, true), DType::complex64);
    EXPECT_EQ(values<complex64>(integers, "x", {{}, true, 1, {}}), (std::vector<complex64>{{-3, 4}}));
    write<int>(integers, {2, 3}, H5T_STD_I16LE, H5T_NATIVE_INT, {0, 0, 0, 0, 0, 0});
    expect_error(Category::config, {"(2, 3)", "last axis of 2"},
                 [&] { natural_dtype(describe(integers, "x"), true, true); });
}

TEST(Read, ScalarsEmptiesAndNullSpaces) {  // BR049, BR050
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const float value = 2.5F;
        raw.dataset("/scalar", H5T_IEEE_F32LE, {}, H5T_NATIVE_FLOAT, &value);
        raw.dataset("/empty", H5T_IEEE_F32LE, {3, 0, 5}, H5T_NATIVE_FLOAT, nullptr);
        const hid_t space = H5Screate(H5S_NULL);
        H5Dclose(H5Dcreate2(raw.id(), "/null", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
    }
    EXPECT_EQ(describe(file, "scalar").shape, Shape{});
    EXPECT_EQ(values<float>(file, "scalar"), (std::vector<float>{2.5F}));
    EXPECT_EQ(describe(file, "empty").shape, (Shape{3, 0, 5}));
    Statistics seen;
    EXPECT_TRUE(values<float>(file, "empty", {}, &seen).empty());
    EXPECT_EQ(seen.elements, 0);
    EXPECT_TRUE(std::isnan(seen.min));
    EXPECT_TRUE(describe(file, "null").null_space);
    expect_error(Category::config, {"/null", "null dataspace"}, [&] { values<float>(file, "null"); });
    expect_error(Category::config, {"/null"}, [&] { natural_dtype(describe(file, "null"), true, false); });
}

TEST(Read, AnEmptyMatlabArrayIsEmptyNotItsDimensions) {  // BR048
    const Folder folder;
    const std::string file = folder / "empty.mat";
    {
        const Raw raw(file);
        const unsigned long extents[] = {0, 3};  // zeros(0, 3)
        raw.dataset("/e", H5T_STD_U64LE, {2}, H5T_NATIVE_ULONG, extents);
        raw.number("/e", "MATLAB_empty", 1);
        raw.text("/e", "MATLAB_class", "double");
    }
    const Info info = describe(file, "e");
    EXPECT_TRUE(info.matlab_empty);
    EXPECT_EQ(info.shape, (Shape{3, 0}));  // a full 3 x 4 x 5 array is a dataset of (5, 4, 3)
    EXPECT_EQ(natural_dtype(info, true, false), DType::float64);
    Statistics seen;
    EXPECT_TRUE(values<double>(file, "e", {}, &seen).empty());
    EXPECT_EQ(seen.elements, 0);
}

TEST(Read, TheChecksumDependsOnValuesAndPlacesNotOnStorage) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    const std::vector<float> data{1, 2, 3, -4, 5, 0, 1, 2, 3, 9, 8, 7};
    const auto checksum = [&](hid_t stored, const std::vector<float>& numbers, hid_t created) {
        write(file, {3, 4}, stored, H5T_NATIVE_FLOAT, numbers, created);
        Statistics seen;
        values<float>(file, "x", {}, &seen);
        return seen.checksum;
    };
    const hid_t contiguous = H5Pcreate(H5P_DATASET_CREATE), chunks = chunked({2, 3});
    const std::uint64_t plain = checksum(H5T_IEEE_F32LE, data, contiguous);
    EXPECT_EQ(checksum(H5T_IEEE_F32BE, data, chunks), plain);
    EXPECT_EQ(checksum(H5T_IEEE_F64LE, data, chunks), plain);
    auto swapped = data, negated = data;
    std::swap(swapped[1], swapped[2]);
    negated[5] = -0.0F;
    EXPECT_NE(checksum(H5T_IEEE_F32LE, swapped, contiguous), plain);
    EXPECT_NE(checksum(H5T_IEEE_F32LE, negated, contiguous), plain);
    H5Pclose(contiguous);
    H5Pclose(chunks);
}

TEST(Read, StatisticsOfAStridedTensorAreThoseOfItsElements) {
    std::vector<double> data{3, 100, nan, 100, -2, 100};
    const Slab slab{{DType::float64, {3}}, {2}, reinterpret_cast<std::byte*>(data.data())};
    const Statistics seen = statistics(slab);
    EXPECT_EQ(seen.elements, 3);
    EXPECT_EQ(seen.nan, 1);
    EXPECT_EQ(seen.min, -2);
    EXPECT_EQ(seen.max, 3);
    std::vector<complex64> points{{3, -4}, {0, 1}};
    const Slab complex{{DType::complex64, {2}}, {1}, reinterpret_cast<std::byte*>(points.data())};
    EXPECT_EQ(statistics(complex).max, 5);
    EXPECT_EQ(statistics(complex).min, 1);
}

TEST(Read, DescribesLayoutFiltersAttributesAndScales) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const hid_t created = chunked({2, 3});
        H5Pset_shuffle(created);
        H5Pset_deflate(created, 7);
        const std::vector<hsize_t> extents{4, 6}, most{H5S_UNLIMITED, 6};
        const hid_t space = H5Screate_simple(2, extents.data(), most.data());
        H5Dclose(H5Dcreate2(raw.id(), "/x", H5T_IEEE_F32LE, space, H5P_DEFAULT, created, H5P_DEFAULT));
        H5Sclose(space);
        H5Pclose(created);
        raw.text("/x", "units", "m s-1");
        raw.text("/x", "long_name", "wind speed");
        raw.text("/x", "note", std::string(300, 'n'));
        raw.number("/x", "version", 3);
    }
    const Info info = describe(file, "x");
    EXPECT_EQ(info.chunks, (Shape{2, 3}));
    EXPECT_EQ(info.maximum, (Shape{-1, 6}));
    EXPECT_EQ(info.filters, (std::vector<std::string>{"shuffle", "gzip 7"}));
    EXPECT_TRUE(info.missing_filters.empty());
    EXPECT_EQ(info.units, "m s-1");
    EXPECT_EQ(info.long_name, "wind speed");
    ASSERT_EQ(info.attributes.size(), 4U);
    EXPECT_EQ(info.attributes[3].name, "version");
    EXPECT_EQ(info.attributes[3].text, "3");
    EXPECT_LT(info.attributes[1].text.size(), 80U);
    const auto axes = scales(file, "x");
    ASSERT_EQ(axes.size(), 2U);
    EXPECT_TRUE(axes[0].name.empty());
}

TEST(Read, AScaleGivesWhatItsReadersSeeOrSaysWhyItGivesNothing) {
    const Folder folder;
    const std::string file = folder / "x.nc";
    {
        const Raw raw(file);
        const std::vector<double> x(6, 1);
        raw.dataset("/x", H5T_IEEE_F64LE, {2, 3}, H5T_NATIVE_DOUBLE, x.data());
        const std::vector<signed char> packed{-1, 5};
        raw.dataset("/packed", H5T_STD_I8LE, {2}, H5T_NATIVE_SCHAR, packed.data());
        raw.number("/packed", "scale_factor", 2);
        raw.number("/packed", "add_offset", -3);
        raw.text("/packed", "_Unsigned", "true");
        raw.text("/packed", "calendar", "360_day");
        const std::vector<double> longer{0, 1, 2, 3, 4};
        raw.dataset("/longer", H5T_IEEE_F64LE, {5}, H5T_NATIVE_DOUBLE, longer.data());
        const hid_t dataset = H5Dopen2(raw.id(), "/x", H5P_DEFAULT);
        unsigned axis = 0;
        for (const char* name : {"/packed", "/longer"}) {
            const hid_t scale = H5Dopen2(raw.id(), name, H5P_DEFAULT);
            H5DSset_scale(scale, name + 1);
            H5DSattach_scale(dataset, scale, axis++);
            H5Dclose(scale);
        }
        H5Dclose(dataset);
    }
    const auto axes = scales(file, "x");
    EXPECT_EQ(axes.at(0).values, (std::vector<double>{2 * 255 - 3, 2 * 5 - 3}));
    EXPECT_EQ(axes[0].calendar, "360_day");
    EXPECT_EQ(axes[0].unknown, "");
    EXPECT_TRUE(axes.at(1).values.empty());
    EXPECT_EQ(axes[1].unknown, "it has shape (5,), the axis length 3");
}

TEST(Read, AVirtualDatasetIsReadThroughAndAMissingSourceIsAnError) {
    const Folder folder;
    const std::string file = folder / "all.h5";
    write<int>(folder / "part0.h5", {3}, H5T_STD_I32LE, H5T_NATIVE_INT, {1, 2, 3});
    write<int>(folder / "part1.h5", {3}, H5T_STD_I32LE, H5T_NATIVE_INT, {4, 5, 6});
    {
        const hsize_t all[] = {2, 3}, one[] = {3}, begin[] = {0, 0}, row[] = {1, 3}, second[] = {1, 0};
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, all, nullptr),
                    source = H5Screate_simple(1, one, nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, row, nullptr);
        H5Pset_virtual(created, space, "part0.h5", "/x", source);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, second, nullptr, row, nullptr);
        H5Pset_virtual(created, space, "part1.h5", "/x", source);
        H5Sselect_all(space);
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
        const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Dclose(H5Dcreate2(id, "/v", H5T_STD_I32LE, space, H5P_DEFAULT, created, H5P_DEFAULT));
        H5Fclose(id);
        H5Pclose(access);
        H5Pclose(created);
        H5Sclose(space);
        H5Sclose(source);
    }
    const auto real = [&](const std::string& name) { return std::filesystem::canonical(folder / name).string(); };
    EXPECT_TRUE(describe(file, "v").missing_sources.empty());
    EXPECT_EQ(describe(file, "v").files,
              (std::vector<std::string>{real("all.h5"), real("part0.h5"), real("part1.h5")}));
    EXPECT_EQ(values<std::int32_t>(file, "v"), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
    std::filesystem::rename(folder / "part1.h5", folder / "gone.h5");
    const Info info = describe(file, "v");
    ASSERT_EQ(info.missing_sources.size(), 1U);
    EXPECT_NE(info.missing_sources[0].find("part1.h5"), std::string::npos);
    expect_error(Category::input, {"all.h5:/v", "part1.h5: no such file"}, [&] { values<std::int32_t>(file, "v"); });
}

TEST(Read, AVirtualDatasetOfNumberedFilesSaysWhichTheyAre) {
    const Folder folder;
    const std::string file = folder / "all.h5";
    for (const char* name : {"part0.h5", "part1.h5", "part3.h5"})
        write<int>(folder / name, {3}, H5T_STD_I32LE, H5T_NATIVE_INT, {1, 2, 3});
    {
        const hsize_t all[] = {2, 3}, most[] = {H5S_UNLIMITED, 3}, one[] = {3}, begin[] = {0, 0}, row[] = {1, 3},
                      step[] = {1, 1}, many[] = {H5S_UNLIMITED, 1};
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, all, most),
                    source = H5Screate_simple(1, one, nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, step, many, row);
        ASSERT_GE(H5Pset_virtual(created, space, "part%b.h5", "/x", source), 0);
        H5Sselect_all(space);
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
        const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Dclose(H5Dcreate2(id, "/v", H5T_STD_I32LE, space, H5P_DEFAULT, created, H5P_DEFAULT));
        H5Fclose(id);
        H5Pclose(access);
        H5Pclose(created);
        H5Sclose(space);
        H5Sclose(source);
    }
    const auto real = [&](const std::string& name) { return std::filesystem::canonical(folder / name).string(); };
    EXPECT_EQ(describe(file, "v").files,
              (std::vector<std::string>{real("all.h5"), real("part0.h5"), real("part1.h5"), real("part3.h5")}));
}

TEST(Read, RawFilesAreSoughtBesideTheFileAndMustBeWhole) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    const std::vector<int> data{1, 2, 3, 4};
    write_text(folder / "x.bin", std::string(reinterpret_cast<const char*>(data.data()), 16));
    {
        const Raw raw(file);
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_external(created, "x.bin", 0, 16);
        raw.dataset("/x", H5T_STD_I32LE, {4}, H5T_NATIVE_INT, nullptr, created);
        H5Pclose(created);
    }
    EXPECT_EQ(values<std::int32_t>(file, "x"), data);
    EXPECT_EQ(describe(file, "x").files, (std::vector<std::string>{std::filesystem::canonical(file).string(),
                                                                   std::filesystem::canonical(folder / "x.bin")}));
    std::filesystem::resize_file(folder / "x.bin", 9);
    expect_error(Category::input, {"x.bin: truncated: has 9 bytes, needs 16"},
                 [&] { values<std::int32_t>(file, "x"); });
}

}  // namespace
}  // namespace gridstride::hdf5::testing
