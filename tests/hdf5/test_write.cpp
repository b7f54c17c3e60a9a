// SPDX-License-Identifier: BSD-3-Clause
// Writing: whole files or nothing, layouts, selections, scales, texts, and what may not be replaced.
#include <hdf5_hl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <numeric>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

template <class T>
Tensor tensor(const Shape& shape, const std::vector<T>& data) {
    Tensor result(Spec{dtype_of<T>, shape});
    std::copy(data.begin(), data.end(), result.as<T>());
    return result;
}

template <class T>
void put(Writer& writer, const std::string& dataset, const Shape& shape, const std::vector<T>& data,
         const Layout& layout = {}) {
    const Tensor values = tensor(shape, data);
    writer.create(dataset, values.spec(), layout);
    writer.write(dataset, whole(shape), values.slab());
}

TEST(Write, EveryDtypeComesBackBitForBit) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    for (const DType dtype : all_dtypes) {
        SCOPED_TRACE(name(dtype));
        Tensor values(Spec{dtype, {3, 5}});
        for (std::size_t i = 0; i < values.spec().bytes(); ++i) values.data()[i] = std::byte(37 * i + 1);
        {
            Writer writer(file);
            writer.create("/x", values.spec(), {});
            writer.write("/x", whole({3, 5}), values.slab());
            writer.commit();
        }
        const Info info = describe(file, "/x");
        EXPECT_EQ(natural_dtype(info, true, false), dtype);
        Tensor back(values.spec());
        read(info, {whole({3, 5})}, back.slab());
        EXPECT_EQ(std::memcmp(back.data(), values.data(), values.spec().bytes()), 0);
    }
}

TEST(Write, NothingIsLeftWithoutCommit) {
    const Folder folder;
    {
        Writer writer(folder / "deep/er/out.h5");
        put<float>(writer, "x", {2}, {1, 2});
        EXPECT_FALSE(std::filesystem::exists(folder / "deep/er/out.h5"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder / "deep/er"));
}

TEST(Write, OneOfOursIsReplacedWhenTheNewOneIsWhole) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    for (const float value : {1.F, 2.F}) {
        check_writable(file);
        Writer writer(file);
        put<float>(writer, "/x", {1}, {value});
        if (value == 2) {
            EXPECT_EQ(values<float>(file, "/x"), (std::vector<float>{1}));
        }
        writer.commit();
    }
    EXPECT_EQ(values<float>(file, "/x"), (std::vector<float>{2}));
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"out.h5"}));
}

TEST(Write, WhatGridstrideDidNotWriteIsNeverReplaced) {
    const Folder folder;
    { const Raw raw(folder / "theirs.h5"); }
    write_text(folder / "notes.h5", "text");
    write_text(folder / "empty.h5", "");
    ASSERT_EQ(mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
    std::filesystem::create_directory(folder / "folder.h5");
    const std::vector<std::pair<std::string, std::string>> cases{
        {"theirs.h5", "was not written by gridstride"},
        {"notes.h5", "not replaced"},
        {"empty.h5", "not replaced"},
        {"pipe.h5", "is a pipe"},
        {"folder.h5", "is a folder"},
        {"notes.h5/out.h5", "notes.h5 is a file, not a folder"}};
    for (const auto& [name, words] : cases) {
        expect_error(Category::config, {folder / name, words}, [&] { check_writable(folder / name); });
        expect_error(Category::input, {folder / name, words}, [&] { Writer writer(folder / name); });
    }
    EXPECT_EQ(std::filesystem::file_size(folder / "notes.h5"), 4U);
    check_writable(folder / "new/out.h5");
    EXPECT_FALSE(std::filesystem::exists(folder / "new"));
}

TEST(Write, AFileThatAppearsWhileWeWriteIsNotReplaced) {
    const Folder folder;
    Writer writer(folder / "out.h5");
    write_text(folder / "out.h5", "theirs");
    expect_error(Category::input, {"out.h5", "not replaced"}, [&] { writer.commit(); });
    EXPECT_EQ(std::filesystem::file_size(folder / "out.h5"), 6U);
}

TEST(Write, ASymbolicLinkIsWrittenThrough) {
    const Folder folder;
    {
        Writer writer(folder / "real.h5");
        put<float>(writer, "/x", {1}, {1});
        writer.commit();
    }
    std::filesystem::create_symlink("real.h5", folder / "link.h5");
    Writer writer(folder / "link.h5");
    put<float>(writer, "/x", {1}, {2});
    writer.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.h5"));
    EXPECT_EQ(values<float>(folder / "real.h5", "/x"), (std::vector<float>{2}));
}

TEST(Write, AFileThatCannotGrowIsSaidToBeAndNothingIsLeft) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        Writer writer(file);
        const Tensor values = tensor<double>({100'000}, std::vector<double>(100'000, 1.5));
        writer.create("/x", values.spec(), {});
        rlimit small = before;
        small.rlim_cur = 100 << 10;  // any file stops at 100 KiB
        setrlimit(RLIMIT_FSIZE, &small);
        expect_error(Category::input, {file + ":/x", "cannot be written", "File too large"},
                     [&] { writer.write("/x", whole({100'000}), values.slab()); });
        setrlimit(RLIMIT_FSIZE, &before);
        expect_error(Category::input, {file, "an earlier write failed"}, [&] { writer.commit(); });
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(folder.names().empty());
    Writer again(file);
    put<float>(again, "/x", {1}, {3});
    again.commit();
    EXPECT_EQ(values<float>(file, "/x"), (std::vector<float>{3}));
}

TEST(Write, AFullDiskIsSaidToBeWhicheverCallMeetsIt) {
    const Folder folder;
    if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=512k") != 0)
        GTEST_SKIP() << "only root may mount a small disk";
    const std::string file = folder / "out.h5";
    const Layout layouts[] = {{}, {.chunks = Shape{1000}}, {.chunks = Shape{1000}, .gzip = true, .shuffle = true}};
    int failed = 0;
    for (std::int64_t n = 40'000; n < 70'000; n += 1'700)  // doubles; the disk holds 65 536
        for (const Layout& layout : layouts) {
            SCOPED_TRACE(n);
            std::vector<double> data(static_cast<std::size_t>(n));
            for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<double>(i * i));
            try {
                Writer writer(file);
                put(writer, "/x", {n}, data, layout);
                writer.text("note", std::string(20'000, 'n'));
                writer.scale("/x", {{"time", {}, {}, {}}}, {n});
                writer.commit();
                EXPECT_EQ(values<double>(file, "/x"), data);
            } catch (const Error& error) {
                ++failed;
                EXPECT_EQ(error.category(), Category::input);
                EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos) << error.what();
                EXPECT_TRUE(folder.names().empty());
            }
            std::filesystem::remove(file);
        }
    EXPECT_GT(failed, 10);
    umount(folder.path().c_str());
}

/// In a program of its own, as the crash would be at its end.
TEST(WriteDeathTest, AProgramWhoseWriteFailedEndsInOrder) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    const auto fail = [&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{0, RLIM_INFINITY};  // bytes: not even the header
        setrlimit(RLIMIT_FSIZE, &none);
        int failures = 0;
        try {
            Writer writer(file);
            put<float>(writer, "/x", {1000}, std::vector<float>(1000, 1));
            writer.commit();
        } catch (const Error& error) {
            failures = error.category() == Category::input ? 1 : 2;
        }
        if (!folder.names().empty()) failures = 3;
        std::filesystem::remove_all(folder.path());
        std::exit(failures);
    };
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";  // the program anew, with a folder of its own
    EXPECT_EXIT(fail(), ::testing::ExitedWithCode(1), "");
}

TEST(Write, SelectionsAreWrittenFromAnySlab) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    put<std::int32_t>(writer, "/x", {3, 4}, std::vector<std::int32_t>(12, 0));
    Tensor values = tensor<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
    const Slab transposed{{DType::int32, {3, 2}}, {1, 3}, values.data()};  // 1 4, 2 5, 3 6
    writer.write("/x", {{{0, 3, 1}, {1, 2, 2}}}, transposed);
    const Slab row{{DType::int32, {2}}, {2}, values.data()};  // 1 3
    writer.write("/x", {{{2, 1, 1, true}, {0, 2, 2}}}, row);
    writer.commit();
    EXPECT_EQ(testing::values<std::int32_t>(file, "/x"),
              (std::vector<std::int32_t>{0, 1, 0, 4, 0, 2, 0, 5, 1, 3, 3, 6}));
}

TEST(Write, LayoutsAreAsAskedAndClipped) {  // BR049, BR056
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    std::vector<float> data(21 * 16);
    std::iota(data.begin(), data.end(), 0.F);
    put(writer, "/clipped", {21, 16}, data, {.chunks = Shape{8, 100}});
    put(writer, "/compressed", {21, 16}, data, {.chunks = {}, .gzip = true, .shuffle = true, .level = 6});
    put(writer, "/plain", {21, 16}, data);
    const auto scalar = writer.create("/scalar", {DType::float32, {}}, {.chunks = Shape{8}, .gzip = true});
    const auto empty = writer.create("/empty", {DType::complex64, {3, 0, 5}}, {.chunks = Shape{3, 1, 5}, .gzip = true});
    const auto quiet = writer.create("/quiet", {DType::complex64, {0}}, {});
    writer.create("/large", {DType::float32, {32768, 32769}}, {.chunks = {}, .gzip = true});
    writer.commit();
    EXPECT_EQ(describe(file, "/clipped").chunks, (Shape{8, 16}));
    EXPECT_EQ(describe(file, "/compressed").filters, (std::vector<std::string>{"shuffle", "gzip 6"}));
    EXPECT_LT(describe(file, "/compressed").stored_bytes, 21U * 16 * 4);
    EXPECT_FALSE(describe(file, "/plain").chunks.has_value());
    for (const std::string path : {"/clipped", "/compressed", "/plain"}) EXPECT_EQ(values<float>(file, path), data);
    ASSERT_EQ(scalar.size(), 1U);
    EXPECT_NE(scalar[0].find("/scalar: chunks and compression are ignored"), std::string::npos);
    EXPECT_EQ(empty.size(), 1U);
    EXPECT_TRUE(quiet.empty());
    EXPECT_EQ(describe(file, "/empty").shape, (Shape{3, 0, 5}));
    EXPECT_TRUE(values<complex64>(file, "/empty").empty());
    const Shape chunks = describe(file, "/large").chunks.value();
    EXPECT_LE(count(chunks) * 4, 1 << 20);
    EXPECT_GE(count(chunks) * 4, 1 << 18);
}

TEST(Write, LayoutsThatHdf5DoesNotHaveAreRefused) {
    const Folder folder;
    Writer writer(folder / "out.h5");
    const auto create = [&](const Shape& shape, const Layout& layout) {
        writer.create("/x", {DType::float32, shape}, layout);
    };
    expect_error(Category::config, {"chunks (4,)", "shape (3, 2)"}, [&] { create({3, 2}, {.chunks = Shape{4}}); });
    expect_error(Category::config, {"chunks (0, 2)", "at least 1"}, [&] { create({3, 2}, {.chunks = Shape{0, 2}}); });
    expect_error(Category::config, {"level 11", "0 to 9"}, [&] {
        create({3, 2}, {.chunks = {}, .gzip = true, .shuffle = false, .level = 11});
    });
    expect_error(Category::config, {"4 GiB"}, [&] { create({1 << 16, 1 << 15}, {.chunks = Shape{1 << 16, 1 << 15}}); });
    create({3, 2}, {});
    expect_error(Category::config, {"/x", "already"}, [&] { create({3, 2}, {}); });
    expect_error(Category::config, {"/x: is a dataset"}, [&] { writer.create("/x/y", {DType::float32, {1}}, {}); });
}

TEST(Write, ASparseDatasetAllocatesOnlyWhatIsWritten) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    const Shape shape{4, 300, 200, 4, 300, 200};  // 230 GB if it were whole
    writer.create("/cov", {DType::float32, shape}, {.chunks = Shape{1, 10, 20, 1, 10, 20}, .sparse = true});
    const Tensor block = tensor<float>({10, 20, 10, 20}, std::vector<float>(40'000, 2.5F));
    writer.write("/cov", {{{1, 1, 1, true}, {20, 10, 1}, {40, 20, 1}, {1, 1, 1, true}, {20, 10, 1}, {40, 20, 1}}},
                 block.slab());
    writer.commit();
    EXPECT_EQ(describe(file, "/cov").stored_bytes, 160'000U);
    EXPECT_LT(std::filesystem::file_size(file), 1U << 20);
    Reading reading;
    reading.select.axes = {{1, 1, 1, true}, {29, 1, 1, true}, {40, 1, 1, true}, {0, 2, 1}, {29, 2, 1}, {59, 2, 1}};
    EXPECT_EQ(values<float>(file, "/cov", reading), (std::vector<float>{0, 0, 0, 0, 2.5F, 0, 0, 0}));
}

TEST(Write, CopyFromConvertsInPiecesAndKeepsZerosUnstored) {
    const Folder folder;
    const std::string from = folder / "from.h5", file = folder / "out.h5";
    std::vector<double> data(6 * 1000, 0.0);
    data[2500] = 0.1;
    data[5999] = -3;
    {
        const Raw raw(from);
        const hid_t created = chunked({2, 500});
        raw.dataset("/x", H5T_IEEE_F64BE, {6, 1000}, H5T_NATIVE_DOUBLE, data.data(), created);
        H5Pclose(created);
    }
    Writer writer(file);
    writer.create("/x", {DType::float32, {6, 1000}}, {.chunks = Shape{1, 100}, .sparse = true});
    writer.copy_from("/x", describe(from, "/x"));
    writer.create("/other", {DType::float32, {6000}}, {});
    expect_error(Category::config, {"(6, 1000)", "(6000,)"}, [&] { writer.copy_from("/other", describe(from, "/x")); });
    writer.commit();
    EXPECT_EQ(values<float>(file, "/x"), std::vector<float>(data.begin(), data.end()));

    std::vector<double> zeros(6 * 1000, 0.0);
    {
        const Raw raw(from);
        raw.dataset("/x", H5T_IEEE_F64LE, {6, 1000}, H5T_NATIVE_DOUBLE, zeros.data());
    }
    Writer second(file);
    second.create("/x", {DType::float64, {6, 1000}}, {.chunks = Shape{1, 100}, .sparse = true});
    second.copy_from("/x", describe(from, "/x"));
    second.commit();
    EXPECT_EQ(describe(file, "/x").stored_bytes, 0U);
    EXPECT_EQ(values<double>(file, "/x"), zeros);
}

std::vector<std::string> scale_names(const std::string& file, const std::string& path) {
    std::vector<std::string> names;
    for (const Scale& scale : scales(file, path)) names.push_back(scale.name);
    return names;
}

TEST(Scales, AxesGetDistinctNamesAndPositions) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    put<float>(writer, "/entry/cov", {2, 3, 2, 3}, std::vector<float>(36, 1));
    writer.scale("/entry/cov", {{"row", {}, {}, {}}, {"column", {}, {}, {}}, {"row", {}, {}, {}}, {"", {}, {}, {}}},
                 {2, 3, 2, 3});
    put<float>(writer, "/scalar", {}, {1});
    writer.scale("/scalar", {}, {});
    writer.commit();
    EXPECT_EQ(scale_names(file, "/entry/cov"), (std::vector<std::string>{"row", "column", "row_2", "axis_3"}));
    EXPECT_EQ(scales(file, "/entry/cov")[1].values, (std::vector<double>{0, 1, 2}));
    EXPECT_EQ(values<std::int64_t>(file, "/entry/axis_3"), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_TRUE(scales(file, "/scalar").empty());
}

TEST(Scales, ValuesUnitsAndLongNamesAreCarried) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    put<float>(writer, "/x", {3}, {1, 2, 3});
    writer.scale("/x", {{"frequency", {0, 0.5, -0.5}, "Hz", "frequency of the strain"}}, {3});
    writer.commit();
    const auto axes = scales(file, "/x");
    ASSERT_EQ(axes.size(), 1U);
    EXPECT_EQ(axes[0].name, "frequency");
    EXPECT_EQ(axes[0].values, (std::vector<double>{0, 0.5, -0.5}));
    EXPECT_EQ(axes[0].units, "Hz");
    EXPECT_EQ(axes[0].long_name, "frequency of the strain");
    EXPECT_EQ(scales(file, "/frequency")[0].name, "frequency");
}

TEST(Scales, AreSharedWhereTheyAgreeAndNumberedWhereNot) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    for (const std::string path : {"/a", "/b", "/c", "/d"}) put<float>(writer, path, {2}, {1, 2});
    writer.scale("/a", {{"time", {0, 1}, "s", ""}}, {2});
    writer.scale("/b", {{"time", {0, 1}, "s", ""}}, {2});
    writer.scale("/c", {{"time", {0, 2}, "s", ""}}, {2});
    writer.scale("/d", {{"time", {0, 1}, "ms", ""}}, {2});
    writer.commit();
    EXPECT_EQ(scale_names(file, "/b"), (std::vector<std::string>{"time"}));
    EXPECT_EQ(scale_names(file, "/c"), (std::vector<std::string>{"time_2"}));
    EXPECT_EQ(scale_names(file, "/d"), (std::vector<std::string>{"time_3"}));
    EXPECT_EQ(tree(file).size(), 8U);  // the root, four datasets, three scales
}

TEST(Scales, ANameTakenByADatasetGetsAnAffix) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    put<float>(writer, "/x", {2, 2}, {1, 2, 3, 4});
    put<float>(writer, "/y", {2}, {1, 2});
    writer.scale("/x", {{"x", {}, {}, {}}, {"y", {}, {}, {}}}, {2, 2});
    writer.commit();
    EXPECT_EQ(scale_names(file, "/x"), (std::vector<std::string>{"x_axis", "y_axis"}));
}

TEST(Scales, EmptyAndVeryLongAxesHaveThemToo) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    Writer writer(file);
    writer.create("/e", {DType::float32, {0, 3}}, {});
    writer.scale("/e", {{"a", {}, {}, {}}, {"b", {}, {}, {}}}, {0, 3});
    const std::int64_t n = std::int64_t{1} << 33;
    writer.create("/long", {DType::float32, {n}}, {.chunks = Shape{1 << 18}, .sparse = true});
    writer.scale("/long", {{"sample", {}, {}, {}}}, {n});
    writer.commit();
    EXPECT_EQ(scale_names(file, "/e"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(scale_names(file, "/long"), (std::vector<std::string>{"sample"}));
    EXPECT_TRUE(scales(file, "/long")[0].values.empty());
    EXPECT_LT(std::filesystem::file_size(file), 1U << 20);
}

TEST(Scales, ABareAxisHasANameAndNoValues) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        Writer writer(file);
        for (const char* name : {"/x", "/y"}) writer.create(name, {DType::float32, {3, 5}}, {});
        writer.scale("/x", {{"time", {}, "", "", true}, {"distance", {}, "", ""}}, {3, 5});
        writer.scale("/y", {{"time", {}, "", "", true}, {"distance", {}, "", "", true}}, {3, 5});
        writer.commit();
    }
    const std::vector<Scale> x = scales(file, "/x"), y = scales(file, "/y");
    EXPECT_EQ(x[0].name, "time");
    EXPECT_TRUE(x[0].bare && x[0].values.empty());
    EXPECT_FALSE(x[1].bare);
    EXPECT_EQ(x[1].values, (std::vector<double>{0, 1, 2, 3, 4}));
    EXPECT_EQ(y[0].name, "time");        // shared
    EXPECT_EQ(y[1].name, "distance_2");  // never the counted one
    EXPECT_TRUE(y[1].bare);
    const std::string title = "This is a netCDF dimension but not a netCDF variable.          3";
    const auto time = describe(file, "/time").attributes;
    EXPECT_TRUE(std::any_of(time.begin(), time.end(), [&](const Attribute& one) { return one.text == title; }));
}

TEST(Text, IsAnAttributeOrWhereLongADataset) {  // BR056
    const Folder folder;
    const std::string file = folder / "out.h5";
    const std::string longest(70'000, 'c');
    {
        Writer writer(file);
        writer.text("job", "op: add\n");
        writer.text("job", "op: sum\n");
        writer.text("config", "short");
        writer.text("config", longest);
        writer.attribute("/", "seconds", 0.25);
        put<float>(writer, "/x", {1}, {1});
        writer.attribute("/x", "units", "m");
        writer.commit();
    }
    std::vector<std::string> found;
    const auto nodes = tree(file);
    for (const Attribute& attribute : nodes[0].attributes) found.push_back(attribute.name + "=" + attribute.text);
    EXPECT_EQ(found,
              (std::vector<std::string>{"config_dataset=/config", "gridstride=0.1.0", "job=op: sum ", "seconds=0.25"}));
    EXPECT_EQ(describe(file, "/x").units, "m");
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(id, "/config", H5P_DEFAULT), type = H5Dget_type(dataset);
    char* text = nullptr;
    ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text), 0);
    EXPECT_TRUE(text == longest);
    H5free_memory(text);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(id);
}

TEST(Text, ALongOneMakesWayForDatasetsOfItsName) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    {
        Writer writer(file);
        put<float>(writer, "/job", {1}, {5});
        put<float>(writer, "/job_1/x", {1}, {6});
        writer.text("job", std::string(70'000, 'j'));
        writer.commit();
    }
    EXPECT_EQ(values<float>(file, "/job"), (std::vector<float>{5}));
    EXPECT_EQ(values<float>(file, "/job_1/x"), (std::vector<float>{6}));
    std::string named;
    const auto nodes = tree(file);
    for (const Attribute& attribute : nodes[0].attributes)
        if (attribute.name == "job_dataset") named = attribute.text;
    EXPECT_EQ(named, "/job_2");
    EXPECT_EQ(describe(file, named).shape, Shape{});
}

TEST(Write, LongNamesAndLeftoversOfCrashesAreNoTrouble) {
    const Folder folder;
    const std::string name = std::string(245, 'n') + ".h5";
    write_text(folder / (".out.h5.gridstride-" + std::to_string(getpid()) + ".tmp"), "left over");
    for (const std::string& file : {folder / name, folder / "out.h5"}) {
        Writer writer(file);
        put<float>(writer, "/x", {1}, {4});
        writer.commit();
        EXPECT_EQ(values<float>(file, "/x"), (std::vector<float>{4}));
    }
}

}  // namespace
}  // namespace gridstride::hdf5::testing
