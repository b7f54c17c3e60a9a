// SPDX-License-Identifier: BSD-3-Clause
// What h5py and xarray see in a file of ours, by crosscheck.py; skipped where Python or its packages are missing.
#include <sys/wait.h>

#include <cstdio>

#include "support.hpp"

namespace gridstride::hdf5::testing {
namespace {

template <class T>
void put(Writer& writer, const std::string& dataset, const Shape& shape, const std::vector<double>& data,
         const Layout& layout = {}) {
    Tensor values(Spec{dtype_of<T>, shape});
    for (std::size_t i = 0; i < data.size(); ++i) {
        if constexpr (is_complex_type<T>)
            values.as<T>()[i] = T(static_cast<typename T::value_type>(data[i]), -1);
        else
            values.as<T>()[i] = static_cast<T>(data[i]);
    }
    writer.create(dataset, values.spec(), layout);
    writer.write(dataset, whole(shape), values.slab());
}

TEST(CrossCheck, H5pyAndXarrayReadWhatTheWriterWrote) {
    const Folder folder;
    const std::string file = folder / "out.h5";
    {
        Writer writer(file);
        put<float16>(writer, "/entry/half", {2}, {0.5, -2});
        put<float>(writer, "/entry/single", {2, 3}, {0, 1, 2, 3, 4, 5},
                   {.chunks = Shape{1, 2}, .gzip = true, .shuffle = true});
        put<complex64>(writer, "/entry/z64", {2}, {1, 2});
        put<double>(writer, "/entry/double", {}, {0.1});
        put<bfloat16>(writer, "/brain", {2}, {1.5, -3});
        put<complex128>(writer, "/z128", {2}, {1, 2});
        put<std::int32_t>(writer, "/i32", {2, 2}, {1, -2, 3, -4});
        put<std::int64_t>(writer, "/i64", {3}, {7, 8, 9});
        put<float>(writer, "/empty", {0, 3}, {});
        writer.create("/long", {DType::float32, {3'000'000}}, {.chunks = Shape{1 << 18}, .sparse = true});
        writer.scale("/entry/half", {{"frequency", {0, 0.25}, "Hz", "frequency"}}, {2});
        writer.scale("/entry/single", {{"row", {}, {}, {}}, {"column", {}, {}, {}}}, {2, 3});
        writer.scale("/entry/z64", {{"frequency", {0, 0.25}, "Hz", "frequency"}}, {2});
        writer.scale("/entry/double", {}, {});
        writer.scale("/brain", {{"", {}, {}, {}}}, {2});
        writer.scale("/z128", {{"z128", {}, {}, {}}}, {2});
        writer.scale("/i32", {{"row", {}, {}, {}}, {"row", {}, {}, {}}}, {2, 2});
        writer.scale("/i64", {{"time", {0, 0.5, 1}, "s", {}}}, {3});
        writer.scale("/empty", {{"none", {}, {}, {}}, {"three", {}, {}, {}}}, {0, 3});
        writer.scale("/long", {{"sample", {}, {}, {}}}, {3'000'000});
        writer.attribute("/entry/single", "units", "m²");
        writer.attribute("/entry/single", "gain", 2.5);
        writer.text("job", "op: add");
        writer.text("config", std::string(70'000, 'c'));
        writer.commit();
    }
    const std::string command = "/usr/bin/python3 " GRIDSTRIDE_SOURCE "/tests/hdf5/crosscheck.py '" + file + "' 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string said;
    char buffer[4096];
    while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) said.append(buffer, n);
    const int status = pclose(pipe), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 77 || code == 127) GTEST_SKIP() << "h5py and xarray cannot look at our file: " << said;
    ASSERT_EQ(code, 0) << said;
    for (const std::string line : {
             "h5py entry/half float16 (2,) chunks None scales [['/entry/frequency']]",
             "h5py entry/half = 0.5 -2.0",
             "h5py entry/single float32 (2, 3) chunks (1, 2) scales [['/entry/row'], ['/entry/column']]",
             "h5py entry/single = 0.0 1.0 2.0 3.0 4.0 5.0",
             "h5py entry/single @units = 'm²'",
             "h5py entry/single @gain = 2.5",
             "h5py entry/z64 complex64 (2,)",
             "h5py entry/z64 = (1-1j) (2-1j)",
             "h5py entry/double = 0.1",
             "h5py entry/frequency @units = 'Hz'",
             "h5py brain = 1.5 -3.0",
             "h5py z128 complex128 (2,) chunks None scales [['/z128_axis']]",
             "h5py i32 int32 (2, 2) chunks None scales [['/row'], ['/row_2']]",
             "h5py i64 = 7 8 9",
             "h5py empty float32 (0, 3)",
             "h5py config str ()",
             "h5py @gridstride = '0.1.0'",
             "h5py @job = 'op: add'",
             "xarray /entry half float16 ('frequency',) (2,)",
             "xarray /entry frequency = 0.0 0.25",
             "xarray /entry single float32 ('row', 'column') (2, 3)",
             "xarray /entry single = 0.0 1.0 2.0 3.0 4.0 5.0",
             "xarray /entry column = 0 1 2",
             "xarray / i32 int32 ('row', 'row_2') (2, 2)",
             "xarray / i32 = 1 -2 3 -4",
             "xarray / time = 0.0 0.5 1.0",
             "xarray / empty float32 ('none', 'three') (0, 3)",
             "xarray / long float32 ('sample',) (3000000,)",
         })
        EXPECT_NE(said.find(line), std::string::npos) << line << "\nis not in\n" << said;
}

}  // namespace
}  // namespace gridstride::hdf5::testing
