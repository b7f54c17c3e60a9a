// SPDX-License-Identifier: BSD-3-Clause
// Files of other programs, found through GRIDSTRIDE_TEST_DATA (a folder with `format` and `real`): each dataset is read
// right or refused by name. Spot values are h5py's.
#include <algorithm>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

namespace fs = std::filesystem;

class Real : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* folder = std::getenv("GRIDSTRIDE_TEST_DATA");
        if (folder == nullptr) GTEST_SKIP() << "GRIDSTRIDE_TEST_DATA is not set: no files of other programs to read";
        folder_ = folder;
    }
    std::string file(const std::string& name) const { return (folder_ / name).string(); }
    const fs::path& folder() const { return folder_; }

  private:
    fs::path folder_;
};

/// One element, as complex128.
complex128 element(const std::string& file, const std::string& path, const Shape& index) {
    Reading reading;
    for (const std::int64_t i : index) reading.select.axes.push_back({i, 1, 1, true});
    return values<complex128>(file, path, reading).at(0);
}

TEST_F(Real, SpotValuesAreThoseOfH5py) {
    struct Spot {
        std::string file, path;
        Shape index;
        complex128 value;
    };
    const std::vector<Spot> spots{
        {"format/h5py_compound-dtype-complex.h5", "<c16", {99}, {0.8635684577985904, 0.28854963758385943}},
        {"format/h5py_compound-dtype-complex.h5", ">c16", {99}, {0.36392990656205393, 0.5688121654269268}},
        {"format/h5py_compound-dtype-complex.h5", "<c8", {99}, {0.22809601F, 0.32082257F}},
        {"format/h5py_compound-dtype-complex.h5", ">c8", {99}, {0.6519431F, 0.20948343F}},
        {"format/matjl_sparse.mat", "sparse_complex/data", {3}, {9, 9}},
        {"format/jhdf_hdf_v14_test1.hdf5", "dset1", {3, 5}, 8},
        {"format/jhdf_hdf_v14_test1.hdf5", "dset2", {29, 19}, 29.0019},
        {"format/jhdf_hdf_v14_test2.hdf5", "dset2", {29, 9}, 9},
        {"format/pytables_smpl_f64be.h5", "TestArray", {5, 3}, 8},
        {"format/pytables_test_szip.h5", "dset_szip", {39, 19}, 799},
        {"format/purehdf_sine_chunked.mat", "sine", {600, 0}, 0.5646424733950354},
        {"format/pyfive_compressed.hdf5", "dataset1", {7, 3}, 115},
        {"format/pyfive_compressed.hdf5", "dataset3", {20, 15}, 335},
        {"format/pyfive_resizable.hdf5", "dataset3", {7, 3}, 31},
        {"format/pytables_float.h5", "float16", {1, 2}, 3},
        {"real/H-H1_LOSC_4_V2-1126259446-32.hdf5", "strain/Strain", {131071}, 7.5812119511653e-20},
        {"real/das_decimated_optodas.hdf5", "data", {4999, 50}, -6.758154e-07F},
        {"real/das_silixa_h5_1.hdf5", "Acoustic", {50, 7}, -97},
        {"real/das_xdas_netcdf.nc", "__values__", {17, 3}, 0.3256170073868473},
        {"real/hera_zen.2459861.baseline.0_4.sum.uvh5",
         "Data/visdata",
         {13, 57, 0},
         {30.61135401218162, 46.26952600942965}},
        {"real/mwa_sigma1.h5", "sig_data", {7}, 0.9700000000000001},
        {"real/mwa_MWA_rev_cb_10khz_doubles.h5", "coarse_band", {5}, 0.55582106240073}};
    for (const Spot& spot : spots) {
        if (spot.path == "dset_szip" && !describe(file(spot.file), spot.path).missing_filters.empty()) continue;
        EXPECT_EQ(element(file(spot.file), spot.path, spot.index), spot.value) << spot.file << " " << spot.path;
    }
}

TEST_F(Real, EveryDatasetIsReadOrRefusedByName) {  // the values: tests/python/formats.py
    const std::vector<std::string> reasons{
        "filter that is not installed", "null dataspace", "compound {", "string (", "128-bit float",
        "80-bit long double",           "addr overflow"};
    int datasets = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
        if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
        for (const Node& node : tree(entry.path().string())) {
            if (node.kind != Node::Kind::dataset) continue;
            ++datasets;
            try {
                Tensor tensor(Spec{natural_dtype(node.info, true, false), node.info.shape});
                const Statistics seen = read(node.info, {whole(node.info.shape)}, tensor.slab());
                EXPECT_EQ(statistics(tensor.slab()).checksum, seen.checksum) << entry.path() << node.path;
            } catch (const Error& error) {
                const std::string text = error.what();
                EXPECT_TRUE(text.starts_with(entry.path().string() + ":" + node.path)) << text;
                EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
                    return text.find(reason) != std::string::npos;
                })) << text;
            }
        }
    }
    EXPECT_GT(datasets, 300);
}

TEST_F(Real, BigAndLittleEndianTwinsAreEqual) {  // BR045
    const std::string types = file("format/pyfive_dataset_datatypes.hdf5");
    int twins = 0;
    for (const Node& node : tree(types)) {
        const auto end = node.path.find("_little");
        if (end == std::string::npos) continue;
        const std::string twin = node.path.substr(0, end) + "_big";
        EXPECT_EQ(values<double>(types, node.path), values<double>(types, twin)) << twin;
        ++twins;
    }
    EXPECT_EQ(twins, 10);
}

TEST_F(Real, MatlabArraysAreUsedAsStored) {  // BR047
    const std::string arrays = file("format/matjl_array.mat");
    EXPECT_EQ(describe(arrays, "a2x1").shape, (Shape{1, 2}));
    EXPECT_EQ(describe(arrays, "a1x2").shape, (Shape{2, 1}));
    EXPECT_EQ(values<double>(arrays, "a2x2"), (std::vector<double>{1, 4, 3, 2}));
    EXPECT_EQ(describe(arrays, "empty").shape, (Shape{0, 0}));
    EXPECT_TRUE(values<double>(arrays, "empty").empty());
}

TEST_F(Real, ASparseMatrixOfMatlabIsSaidToBe) {  // BR048
    for (const std::string path : {"/sparse_empty", "/sparse_random"})
        expect_error(Category::config, {path + ": is a group", "a sparse matrix of MATLAB; save it as full(x)"},
                     [&] { describe(file("format/matjl_sparse.mat"), path); });
}

TEST_F(Real, MissingFiltersAreNamedWithTheirPackages) {  // BR051
    struct Case {
        std::string file, path, name;
    };
    const std::vector<Case> cases{
        {"format/jhdf_lz4_datasets.hdf5", "float32_bs8", "lz4 (filter 32004): apt-get install hdf5-filter-plugin"},
        {"format/jhdf_bitshuffle_datasets.hdf5", "int8_bs8_comp2", "bitshuffle (filter 32008)"},
        {"format/pytables_blosc_bigendian.h5", "i4",
         "blosc (filter 32001): apt-get install hdf5-filter-plugin-blosc-serial"},
        {"format/purehdf_blosc.h5", "blosclz", "blosc (filter 32001)"},
        {"format/pytables_b2nd-no-chunkshape.h5", "data", "blosc2 (filter 32026)"},
        {"format/purehdf_lzf.h5", "lzf", "lzf (filter 32000)"},
        {"real/hera_zen.2459861.baseline.0_4.sum.uvh5", "Data/flags", "lzf (filter 32000)"}};
    for (const Case& one : cases) {
        const Info info = describe(file(one.file), one.path);
        if (info.missing_filters.empty()) continue;  // it is installed here
        expect_error(Category::input, {one.file + ":/" + one.path, one.name},
                     [&] { values<double>(file(one.file), one.path); });
    }
}

TEST_F(Real, ExternalLinksOfOthersFollowTheFile) {  // BR053
    expect_error(Category::input, {"/root_dot", "test_file.hdf5", "no such file"},
                 [&] { describe(file("format/jhdf_external_link.hdf5"), "/root_dot"); });
    const auto before = fs::current_path();
    const Folder elsewhere;
    fs::create_symlink(fs::absolute(file("format/elink.h5")), elsewhere / "link.h5");
    for (const std::string& name : {fs::absolute(file("format/elink.h5")).string(), elsewhere / "link.h5"}) {
        fs::current_path(elsewhere.path());
        expect_error(Category::config, {"/pep/pep2: is a group, not a dataset"}, [&] { describe(name, "/pep/pep2"); });
        fs::current_path(before);
    }
}

TEST_F(Real, TruncatedCopiesAreSaidToBe) {  // BR054
    const Folder folder;
    for (const std::string name : {"format/jhdf_float_special_values_latest.hdf5", "format/matjl_array.mat",
                                   "format/pyfive_compressed.hdf5", "real/das_xdas_netcdf.nc"}) {
        const std::string copy = folder / "copy.h5";
        fs::copy_file(file(name), copy, fs::copy_options::overwrite_existing);
        fs::permissions(copy, fs::perms::owner_all);
        const auto size = fs::file_size(copy);
        fs::resize_file(copy, size * 6 / 10);
        expect_error(Category::input, {copy + ": truncated: has " + std::to_string(size * 6 / 10) + " bytes, needs "},
                     [&] { describe(copy, "/x"); });
    }
}

TEST_F(Real, ScalesOfNetcdfAreNamedAndPlaceHoldersHaveNoValues) {
    const auto axes = scales(file("real/das_xdas_netcdf.nc"), "__values__");
    ASSERT_EQ(axes.size(), 2U);
    EXPECT_EQ(axes[0].name, "time");
    EXPECT_EQ(axes[1].name, "distance");
    EXPECT_TRUE(axes[0].values.empty());
}

}  // namespace
}  // namespace gridstride::hdf5::testing
