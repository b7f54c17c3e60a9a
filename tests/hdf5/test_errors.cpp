// SPDX-License-Identifier: BSD-3-Clause
// Files that are absent, damaged or not HDF5; links that dangle, loop or lead to other files.
#include <sys/file.h>
#include <sys/stat.h>

#include <fcntl.h>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

void write_x(const std::string& file, int value = 7, const std::string& path = "/x") {
    const Raw raw(file);
    raw.dataset(path, H5T_STD_I32LE, {1}, H5T_NATIVE_INT, &value);
}

TEST(Errors, AnAbsentFileIsNamedWithItsNeighbours) {
    const Folder folder;
    write_x(folder / "layer1.h5");
    write_text(folder / "notes.txt", "x");
    expect_error(Category::input, {folder / "layer2.h5", "no such file", "has layer1.h5, notes.txt"},
                 [&] { describe(folder / "layer2.h5", "/x"); });
    expect_error(Category::input, {"no such file", "does not exist either"},
                 [&] { describe(folder / "none/layer1.h5", "/x"); });
    expect_error(Category::input, {"Not a directory"}, [&] { describe(folder / "layer1.h5/deeper.h5", "/x"); });
}

TEST(Errors, WhatIsNotAFileIsSaidToBeAndNothingBlocks) {
    const Folder folder;
    ASSERT_EQ(mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
    expect_error(Category::input, {"pipe.h5", "is a pipe"}, [&] { describe(folder / "pipe.h5", "/x"); });
    expect_error(Category::input, {"is a folder"}, [&] { describe(folder.path(), "/x"); });
}

TEST(Errors, WhatIsNotHdf5IsToldFromItsLooks) {  // BR054
    const Folder folder;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "empty (0 bytes)"},
        {"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>", "web page"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 4\n", "git lfs pull"},
        {std::string("CDF\x01\0\0\0\0", 8), "netCDF-3"},
        {"\x93NUMPY\x01", "NumPy"},
        {std::string(700, '\0'), "zero bytes"},
        {"time,value\n0,1\n", "it is text"},
        {"\x89PNG\r\n\x1a\n\x01\x02", "no HDF5 signature"}};
    for (const auto& [content, words] : cases) {
        write_text(folder / "x.hdf5", content);
        expect_error(Category::input, {folder / "x.hdf5", "not an HDF5 file", words},
                     [&] { describe(folder / "x.hdf5", "/x"); });
    }
}

TEST(Errors, ATruncatedFileIsSaidToBeWithItsSizes) {  // BR054
    const Folder folder;
    for (const bool newest : {false, true}) {
        const std::string file = folder / (newest ? "new.h5" : "old.h5");
        const hid_t access = H5Pcreate(H5P_FILE_ACCESS), created = H5Pcreate(H5P_FILE_CREATE);
        if (newest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        if (newest) H5Pset_userblock(created, 1024);
        const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, created, access);
        const hsize_t extents[] = {1000};
        const hid_t space = H5Screate_simple(1, extents, nullptr);
        const std::vector<int> data(1000, 5);
        const hid_t dataset = H5Dcreate2(id, "/x", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
        H5Dclose(dataset);
        H5Sclose(space);
        H5Fclose(id);
        H5Pclose(access);
        H5Pclose(created);
        const auto size = std::filesystem::file_size(file);
        EXPECT_EQ(values<std::int32_t>(file, "x"), data);
        std::filesystem::resize_file(file, size * 6 / 10);
        expect_error(
            Category::input,
            {file, "truncated: has " + std::to_string(size * 6 / 10) + " bytes, needs " + std::to_string(size)},
            [&] { describe(file, "/x"); });
        std::filesystem::resize_file(file, newest ? 1100 : 96);
        expect_error(Category::input, {file, "truncated", "needs " + std::to_string(size)},
                     [&] { describe(file, "/x"); });
        std::filesystem::resize_file(file, newest ? 1040 : 20);
        expect_error(Category::input, {file, "truncated"}, [&] { describe(file, "/x"); });
    }
}

TEST(Errors, ALockedFileIsSaidToBe) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write_x(file);
    const int descriptor = open(file.c_str(), O_RDWR);
    ASSERT_EQ(flock(descriptor, LOCK_EX | LOCK_NB), 0);
    if (const char* locking = std::getenv("HDF5_USE_FILE_LOCKING"); locking == nullptr)
        expect_error(Category::input, {file, "locked", "another program writes it"}, [&] { describe(file, "/x"); });
    close(descriptor);
    EXPECT_EQ(values<std::int32_t>(file, "/x"), (std::vector<std::int32_t>{7}));
}

TEST(Errors, AnUnreadableFileIsSaidToBe) {
    if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
    const Folder folder;
    write_x(folder / "x.h5");
    chmod((folder / "x.h5").c_str(), 0);
    expect_error(Category::input, {"Permission denied"}, [&] { describe(folder / "x.h5", "/x"); });
}

TEST(Errors, AMissingDatasetIsNamedWithWhatIsThere) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write_x(file, 7, "/entry/gamma");
    expect_error(Category::config, {file + ":/entry/gama", "no 'gama' in /entry", "which has gamma"},
                 [&] { describe(file, "/entry/gama"); });
    expect_error(Category::config, {"no 'entri' in /", "entry"}, [&] { describe(file, "/entri/gamma"); });
    expect_error(Category::config, {"/entry: is a group, not a dataset", "gamma"}, [&] { describe(file, "/entry"); });
    expect_error(Category::config, {"/entry/gamma is a dataset, not a group"},
                 [&] { describe(file, "/entry/gamma/deeper"); });
    EXPECT_EQ(describe(file, "entry//./gamma").shape, Shape{1});
}

TEST(Errors, SoftLinksAreFollowedAndDanglingOrCircularOnesNamed) {  // BR053
    const Folder folder;
    const std::string file = folder / "x.h5";
    write_x(file, 7, "/group/x");
    {
        const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const auto link = [&](const char* target, const char* name) {
            H5Lcreate_soft(target, id, name, H5P_DEFAULT, H5P_DEFAULT);
        };
        link("/group", "/alias");
        link("x", "/group/relative");
        link("/a", "/b");
        link("/b", "/a");
        link("/nowhere", "/dangling");
        H5Fclose(id);
    }
    EXPECT_EQ(values<std::int32_t>(file, "/alias/x"), (std::vector<std::int32_t>{7}));
    EXPECT_EQ(values<std::int32_t>(file, "/alias/relative"), (std::vector<std::int32_t>{7}));
    expect_error(Category::config, {file + ":/a", "circular", "soft link /a -> /b", "soft link /b -> /a", "circle"},
                 [&] { describe(file, "/a"); });
    expect_error(Category::config, {file + ":/dangling", "dangling soft link /dangling -> /nowhere", "no 'nowhere'"},
                 [&] { describe(file, "/dangling"); });
}

TEST(Errors, ExternalLinksAreRelativeToTheFileWhateverTheCurrentFolder) {  // BR053
    const Folder folder, elsewhere;
    const std::string file = folder / "main.h5";
    write_x(folder / "other.h5", 11, "/g/x");
    write_x(elsewhere / "other.h5", 99, "/g/x");
    write_x(elsewhere / "absent.h5", 99, "/g/x");
    {
        const Raw raw(file);
        H5Lcreate_external("other.h5", "/g", raw.id(), "/link", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_external("absent.h5", "/g", raw.id(), "/gone", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_external("other.h5", "/h", raw.id(), "/wrong", H5P_DEFAULT, H5P_DEFAULT);
    }
    std::filesystem::create_symlink(file, elsewhere / "by_symlink.h5");
    const auto before = std::filesystem::current_path();
    for (const std::string& here : {folder.path(), elsewhere.path(), std::string("/")}) {
        std::filesystem::current_path(here);
        EXPECT_EQ(values<std::int32_t>(file, "/link/x"), (std::vector<std::int32_t>{11}));
        expect_error(Category::input, {file + ":/gone/x", "external link /gone -> absent.h5:/g", "no such file"},
                     [&] { describe(file, "/gone/x"); });
        expect_error(Category::config, {"external link /wrong -> other.h5:/h", "no 'h' in /", "which has g"},
                     [&] { describe(file, "/wrong/x"); });
    }
    std::filesystem::current_path(folder.path());
    EXPECT_EQ(values<std::int32_t>("main.h5", "link/x"), (std::vector<std::int32_t>{11}));
    EXPECT_EQ(describe("main.h5", "link/x").files,
              (std::vector<std::string>{std::filesystem::canonical(file).string(),
                                        std::filesystem::canonical(folder / "other.h5").string()}));
    expect_error(Category::input, {"gone.h5: no such file; this folder has main.h5, other.h5"},
                 [&] { describe("gone.h5", "/x"); });
    std::filesystem::current_path(before);
    std::filesystem::remove(elsewhere / "other.h5");
    EXPECT_EQ(values<std::int32_t>(elsewhere / "by_symlink.h5", "/link/x"), (std::vector<std::int32_t>{11}));
}

TEST(Errors, NothingIsPrintedByTheLibraryAndItsOwnPrintingComesBack) {
    const Folder folder;
    H5E_auto2_t before = nullptr, after = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    ::testing::internal::CaptureStderr();
    write_text(folder / "x.h5", "text");
    EXPECT_THROW(describe(folder / "x.h5", "/x"), Error);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    EXPECT_EQ(before, after);
}

TEST(Errors, ADatasetChangedSinceItWasDescribedIsNotRead) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write_x(file);
    const Info info = describe(file, "/x");
    {
        const Raw raw(file);
        const double values[] = {1, 2};
        raw.dataset("/x", H5T_IEEE_F64LE, {2}, H5T_NATIVE_DOUBLE, values);
    }
    Tensor tensor(Spec{DType::int32, {1}});
    expect_error(Category::input, {"has changed"}, [&] { read(info, {whole({1})}, tensor.slab()); });
}

TEST(Errors, AShapeThatItsBytesDoNotFillIsDamage) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const int data[] = {1, 2};
        const hid_t created = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_layout(created, H5D_COMPACT);
        raw.dataset("/x", H5T_STD_I32LE, {2, 1}, H5T_NATIVE_INT, data, created);
        H5Pclose(created);
    }
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(bytes)), {});
    std::string extents(16, '\0');
    extents[0] = 2;
    extents[8] = 1;
    const std::size_t at = all.find(extents);
    ASSERT_NE(at, std::string::npos);
    bytes.seekp(static_cast<std::streamoff>(at) + 2);
    bytes.put('\x10');  // 2 + 2^20 rows
    bytes.close();
    EXPECT_EQ(describe(file, "x").shape[0], (1 << 20) + 2);
    expect_error(Category::input, {file + ":/x", "damaged", "8 bytes"}, [&] { values<std::int32_t>(file, "x"); });
}

TEST(Errors, AComplexNumberWithAPartOutsideItIsDamage) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const hid_t type = compound(H5T_IEEE_F32LE, "r", "i");
        const float data[] = {1, 2};
        raw.dataset("/z", type, {1}, type, data);
        H5Tclose(type);
    }
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(bytes)), {});
    const std::string member("i\0\0\0\0\0\0\0\x04\0\0\0", 12);  // its name, then its offset
    const std::size_t at = all.find(member);
    ASSERT_NE(at, std::string::npos);
    bytes.seekp(static_cast<std::streamoff>(at) + 11);
    bytes.put('\x40');
    bytes.close();
    EXPECT_NE(describe(file, "z").type.reason.find("damaged"), std::string::npos);
    expect_error(Category::config, {file + ":/z", "damaged"}, [&] { values<complex64>(file, "z"); });
}

TEST(Tree, ShowsGroupsDatasetsAndLinksAndEndsInCycles) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    write_x(file, 7, "/group/x");
    {
        const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        H5Lcreate_hard(id, "/group", id, "/group/up", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/group/x", id, "/soft", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_external("absent.h5", "/y", id, "/outside", H5P_DEFAULT, H5P_DEFAULT);
        H5Fclose(id);
    }
    std::vector<std::string> lines;
    for (const Node& node : tree(file)) {
        const char kinds[] = {'g', 'd', 't', 'l'};
        lines.push_back(std::string(1, kinds[static_cast<int>(node.kind)]) + " " + node.path + " " + node.target +
                        (node.problem.empty() ? "" : " !"));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"g / ", "g /group ", "l /group/up /group", "d /group/x ",
                                               "l /outside absent.h5:/y !", "l /soft /group/x"}));
    const auto below = tree(file, "/group/x");
    ASSERT_EQ(below.size(), 1U);
    EXPECT_EQ(below[0].info.shape, Shape{1});
}

TEST(Tree, ShowsTheFirstStringsOfADataset) {
    const Folder folder;
    const std::string file = folder / "x.h5";
    {
        const Raw raw(file);
        const hid_t fixed = H5Tcopy(H5T_C_S1), variable = H5Tcopy(H5T_C_S1);
        H5Tset_size(fixed, 4);
        H5Tset_size(variable, H5T_VARIABLE);
        const char* const words[] = {"one", "two", "three"};
        raw.dataset("/a", fixed, {2, 4}, fixed, "x\0\0\0yz\0\0\0\0\0\0w\0\0\0a\0\0\0b\0\0\0c\0\0\0d\0\0\0");
        raw.dataset("/b", variable, {}, variable, words);
        raw.dataset("/c", variable, {3}, variable, words);
        raw.dataset("/d", variable, {0}, variable, nullptr);
        const float number = 1;
        raw.dataset("/e", H5T_IEEE_F32LE, {}, H5T_NATIVE_FLOAT, &number);
    }
    std::vector<std::string> texts;
    for (const Node& node : tree(file)) texts.push_back(node.text);
    EXPECT_EQ(texts, (std::vector<std::string>{"", R"(["x", "yz", "", "w", "a", "b", ... 8 in all])", "\"one\"",
                                               R"(["one", "two", "three"])", "", ""}));
}

TEST(Library, SaysItsVersionAndFilters) {
    const Library facts = library();
    EXPECT_EQ(facts.version.substr(0, 2), "1.");
    EXPECT_NE(std::find(facts.filters.begin(), facts.filters.end(), "gzip"), facts.filters.end());
    EXPECT_FALSE(facts.locking.empty());
}

}  // namespace
}  // namespace gridstride::hdf5::testing
