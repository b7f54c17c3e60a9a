// SPDX-License-Identifier: BSD-3-Clause
// Mistakes with data: files and datasets that are read, their values, files that are written, devices.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/device.hpp"
#include "errors/cases.hpp"
#include "hdf5/support.hpp"

namespace gridstride::errors {

namespace {

namespace fs = std::filesystem;
using hdf5::testing::Raw;

/// A job `bad` that sums one input.
constexpr std::string_view reads_bad = "jobs:\n  bad: {op: sum, inputs: {x: bad.h5:/x}}\n";
constexpr std::string_view reads_in = "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/x}}\n";
constexpr std::string_view writes_bad = "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/x}, outputs: bad.h5}\n";
constexpr std::string_view run = "run job.yaml";

/// Where root would be let through: the command runs as a user who owns nothing here.
void as_nobody(Stage& stage) {
    if (geteuid() != 0) return;
    const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    chmod(stage.folder.c_str(), 0755);
    if (std::system((nobody + " test -x '" GRIDSTRIDE_COMMAND "' 2>/dev/null").c_str()) != 0)
        stage.impossible = "root may do everything, and no other user can run the command here";
    stage.before = nobody + " " + stage.before;
}

/// A small disk at the folder `out`.
void small_disk(Stage& stage) {
    const std::string out = stage / "out";
    fs::create_directory(out);
    if (mount("tmpfs", out.c_str(), "tmpfs", 0, "size=128k") != 0)
        stage.impossible = "no file system can be mounted here";
    else
        stage.after.emplace_back([out] { umount(out.c_str()); });
}

/// The command runs two job files, first.yaml before job.yaml, and `shell` is done once the first has run and before
/// the second: what the first prints is more than a pipe holds, and is taken only then.
void between(Stage& stage, const std::string& shell) {
    std::string jobs = "jobs:\n";
    for (int i = 0; i < 100; ++i)
        jobs += "  " + std::string(900, 'a') + std::to_string(i) + ": {op: sum, inputs: {x: 1}}\n";
    stage.write("first.yaml", jobs);
    stage.before += " bash -o pipefail -c '\"$0\" \"$@\" | (until [ -e out/first/report.json ]; do sleep 0.01; done; " +
                    shell + "; cat)'";
}

/// A dataset /x of 100 x 100 floats with a filter.
void filtered(const std::string& file, const std::function<void(hid_t)>& filter) {
    const Raw raw(file);
    const hid_t list = hdf5::testing::chunked({100, 100});
    filter(list);
    const std::vector<float> data(10'000, 1.5F);
    raw.dataset("/x", H5T_IEEE_F32LE, {100, 100}, H5T_NATIVE_FLOAT, data.data(), list);
    H5Pclose(list);
}

Group files() {
    return {
        "Input files",
        {
            {"A file that does not exist", "jobs:\n  bad: {op: sum, inputs: {x: inn.h5:/x}}\n", 3, "`in.h5:/x`."},
            {"A file in a folder that does not exist", "jobs:\n  bad: {op: sum, inputs: {x: raw/in.h5:/x}}\n", 3,
             "`in.h5:/x`; paths begin at the folder of the job file."},
            {"A path that begins in another folder than the job file's", "", 3,
             "`../in.h5:/x`, from the folder `jobs`.", "run jobs/job.yaml",
             "`jobs/job.yaml` has a job with `inputs: {x: in.h5:/x}`.",
             [](Stage& stage) {
                 fs::create_directory(stage / "jobs");
                 stage.write("jobs/job.yaml", "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/x}}\n");
             }},
            {"The output of a job without its dollar",
             "jobs:\n  a: {op: sum, inputs: {x: 1}}\n  bad: {op: sum, inputs: {x: a:/s}}\n", 3, "`$a:/s`."},
            {"A path that begins with ~", "jobs:\n  bad: {op: sum, inputs: {x: ~/in.h5:/x}}\n", 2,
             "`${env:HOME}/in.h5:/x`."},
            {"No colon between file and dataset", "jobs:\n  bad: {op: sum, inputs: {x: in.h5/x}}\n", 2, "`in.h5:/x`."},
            {"Two colons between file and dataset", "jobs:\n  bad: {op: sum, inputs: {x: in.h5::/x}}\n", 2,
             "`in.h5:/x`."},
            {"No slash before the dataset", "jobs:\n  bad: {op: sum, inputs: {x: \"in.h5:x\"}}\n", 2, "`in.h5:/x`."},
            {"A file without a dataset", "jobs:\n  bad: {op: sum, inputs: {x: in.h5}}\n", 2, "`in.h5:/x`."},
            {"An address on a network", "jobs:\n  bad: {op: sum, inputs: {x: \"https://example.org/in.h5:/x\"}}\n", 2,
             "the file, downloaded."},
            {"A folder in the place of a file", "jobs:\n  bad: {op: sum, inputs: {x: \".:/x\"}}\n", 3, "a file in it."},
            {"A pipe", reads_bad, 3, "a file.", run, "`bad.h5` is a FIFO to which nobody writes.",
             [](Stage& stage) { mkfifo((stage / "bad.h5").c_str(), 0600); }},
            {"A device in the place of a file", "jobs:\n  bad: {op: sum, inputs: {x: /dev/zero:/x}}\n", 3, "a file."},
            {"A file of the kernel's", "jobs:\n  bad: {op: sum, inputs: {x: /proc/self/status:/x}}\n", 3,
             "an HDF5 file."},
            {"Symbolic links in a circle", reads_bad, 3, "a link to a file.", run,
             "`bad.h5` is a link to `worse.h5`, which is a link to `bad.h5`.",
             [](Stage& stage) {
                 fs::create_symlink("worse.h5", stage / "bad.h5");
                 fs::create_symlink("bad.h5", stage / "worse.h5");
             }},
            {"A file that may not be read", reads_bad, 3, "`chmod u+r bad.h5`, by its owner.", run,
             "`bad.h5` belongs to another user, who alone may read it.",
             [](Stage& stage) {
                 fs::copy_file(stage / "in.h5", stage / "bad.h5");
                 chmod((stage / "bad.h5").c_str(), 0000);
                 fs::create_directory(stage / "out");
                 chmod((stage / "out").c_str(), 0777);
                 as_nobody(stage);
             }},
            {"A file without bytes", reads_bad, 3, "an HDF5 file.", run, "`bad.h5` has no bytes.",
             [](Stage& stage) { stage.write("bad.h5", ""); }},
            {"A text file", "jobs:\n  bad: {op: sum, inputs: {x: bad.csv:/x}}\n", 3, "the numbers saved with h5py.",
             run, "`bad.csv` is `time,value` and a line of numbers.",
             [](Stage& stage) { stage.write("bad.csv", "time,value\n0,1\n"); }},
            {"A web page", reads_bad, 3, "the data file, downloaded again.", run,
             "`bad.h5` is the page that asks for a password.",
             [](Stage& stage) { stage.write("bad.h5", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n"); }},
            {"A NumPy file", "jobs:\n  bad: {op: sum, inputs: {x: bad.npy:/x}}\n", 3, "the array saved with h5py.", run,
             "`bad.npy` is what numpy.save writes.",
             [](Stage& stage) { stage.write("bad.npy", std::string("\x93NUMPY\x01\0v\0{}\n", 13)); }},
            {"A pointer of Git LFS", reads_bad, 3, "`git lfs pull`.", run, "`bad.h5` was cloned without Git LFS.",
             [](Stage& stage) {
                 stage.write("bad.h5", "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 4\n");
             }},
            {"A truncated file", reads_bad, 3, "the whole file, copied again.", run,
             "`bad.h5` is the first 1000 bytes of `in.h5`.",
             [](Stage& stage) {
                 fs::copy_file(stage / "in.h5", stage / "bad.h5");
                 fs::resize_file(stage / "bad.h5", 1000);
             }},
            {"A file of zeros", reads_bad, 3, "the whole file, copied again.", run, "`bad.h5` is 4096 zero bytes.",
             [](Stage& stage) { stage.write("bad.h5", std::string(4096, '\0')); }},
            {"A file that another program has locked", reads_in, 3, "to wait until that program has closed it.", run,
             "Another program holds an exclusive lock of `in.h5`, as h5py does while it writes.",
             [](Stage& stage) {
                 const int descriptor = open((stage / "in.h5").c_str(), O_RDWR | O_CLOEXEC);
                 flock(descriptor, LOCK_EX);
                 stage.after.emplace_back([descriptor] { close(descriptor); });
             }},
            {"A file system that cannot lock", reads_in, 3, "`HDF5_USE_FILE_LOCKING=FALSE gridstride run job.yaml`.",
             run, "The folder is an NFS mount without locks.",
             [](Stage& stage) {
#ifdef __SANITIZE_ADDRESS__
                 stage.impossible = "AddressSanitizer wants to be the first library that is loaded";
#else
                 stage.before += " LD_PRELOAD=" GRIDSTRIDE_NO_LOCKS;
#endif
             }},
            {"A file whose writer has crashed", reads_bad, 3, "`h5clear -s bad.h5`, or a copy that was closed.", run,
             "The program that wrote `bad.h5` ended before it had closed it.",
             [](Stage& stage) {
                 const pid_t writer = fork();
                 if (writer == 0) {
                     const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
                     H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
                     const hid_t file = H5Fcreate((stage / "bad.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
                     H5Fflush(file, H5F_SCOPE_GLOBAL);
                     _exit(0);
                 }
                 waitpid(writer, nullptr, 0);
             }},
            {"A file that vanishes after it was looked at", reads_in, 3, "to leave inputs alone while a job runs.",
             "run first.yaml job.yaml", "`in.h5` is removed while `first.yaml` runs.",
             [](Stage& stage) {
                 stage.changed = {"in.h5"};
                 between(stage, "rm in.h5");
             }},
            {"A file that changes after it was looked at", reads_in, 3, "to leave inputs alone while a job runs.",
             "run first.yaml job.yaml", "While `first.yaml` runs, another `in.h5` takes its place.",
             [](Stage& stage) {
                 const double numbers[] = {1, 2};
                 Raw(stage / "other.h5").dataset("/x", H5T_IEEE_F64LE, {2}, H5T_NATIVE_DOUBLE, numbers);
                 stage.changed = {"in.h5", "other.h5"};
                 between(stage, "mv other.h5 in.h5");
             }},
        }};
}

Group datasets() {
    return {
        "Datasets",
        {
            {"A dataset that does not exist", "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/mpa}}\n", 2, "`in.h5:/map`."},
            {"A dataset in another case", "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/X}}\n", 2, "`in.h5:/x`."},
            {"A dataset below a dataset", "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/x/y}}\n", 2, "`in.h5:/x`."},
            {"A group", "jobs:\n  bad: {op: sum, inputs: {x: bad.h5:/g}}\n", 2, "`bad.h5:/g/x`.", run,
             "`bad.h5` has a dataset `/g/x`.",
             [](Stage& stage) {
                 const int one = 1;
                 Raw(stage / "bad.h5").dataset("/g/x", H5T_STD_I32LE, {1}, H5T_NATIVE_INT, &one);
             }},
            {"A text", "jobs:\n  bad: {op: sum, inputs: {x: in.h5:/name}}\n", 2, "a dataset of numbers."},
            {"A table of several columns", reads_bad, 2, "a column, saved as a dataset of its own.", run,
             "The elements of `bad.h5:/x` have a time and a value.",
             [](Stage& stage) {
                 const hid_t type = hdf5::testing::compound(H5T_IEEE_F64LE, "time", "value");
                 const double rows[] = {0, 1, 1, 4};
                 Raw(stage / "bad.h5").dataset("/x", type, {2}, type, rows);
                 H5Tclose(type);
             }},
            {"A dataset without a shape", reads_bad, 2, "a dataset with elements, or of shape (0,).", run,
             "`bad.h5:/x` is h5py's Empty.",
             [](Stage& stage) {
                 const Raw raw(stage / "bad.h5");
                 const hid_t space = H5Screate(H5S_NULL);
                 H5Dclose(H5Dcreate2(raw.id(), "/x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                 H5Sclose(space);
             }},
            {"A link to a file that does not exist", reads_bad, 3, "the other file, beside this one.", run,
             "`bad.h5:/x` is an external link to `raw.h5:/x`.",
             [](Stage& stage) {
                 H5Lcreate_external("raw.h5", "/x", Raw(stage / "bad.h5").id(), "/x", H5P_DEFAULT, H5P_DEFAULT);
             }},
            {"A link to a dataset that does not exist", reads_bad, 2, "a link to `/map`.", run,
             "`bad.h5:/x` is an external link to `in.h5:/mpa`.",
             [](Stage& stage) {
                 H5Lcreate_external("in.h5", "/mpa", Raw(stage / "bad.h5").id(), "/x", H5P_DEFAULT, H5P_DEFAULT);
             }},
            {"Links in a circle", reads_bad, 2, "a link to a dataset.", run,
             "`bad.h5:/x` is a link to `/w`, which is a link to `/x`.",
             [](Stage& stage) {
                 const Raw raw(stage / "bad.h5");
                 H5Lcreate_soft("/w", raw.id(), "/x", H5P_DEFAULT, H5P_DEFAULT);
                 H5Lcreate_soft("/x", raw.id(), "/w", H5P_DEFAULT, H5P_DEFAULT);
             }},
            {"A filter that is not installed", reads_bad, 3, "the data saved again with gzip.", run,
             "`bad.h5:/x` is compressed with lzo.",
             [](Stage& stage) {
                 filtered(stage / "bad.h5",
                          [](hid_t list) { H5Pset_filter(list, 305, H5Z_FLAG_OPTIONAL, 0, nullptr); });
             }},
            {"Bytes that have changed on the disk", reads_bad, 3, "the file, copied again.", run,
             "A byte within the data of `bad.h5:/x`, which has a checksum, has changed.",
             [](Stage& stage) {
                 filtered(stage / "bad.h5", [](hid_t list) { H5Pset_fletcher32(list); });
                 std::fstream file(stage / "bad.h5", std::ios::in | std::ios::out | std::ios::binary);
                 file.seekp(static_cast<std::streamoff>(fs::file_size(stage / "bad.h5") - 20'000));
                 file.put('\x55');
             }},
        }};
}

Group values() {
    return {"Values",
            {
                {"A fraction as an integer",
                 "jobs:\n  bad: {op: sum, inputs: {x: {from: in.h5:/x, scale: 0.5, dtype: int32}}}\n", 3,
                 "`dtype: float32`, or no `dtype`."},
                {"A number too large for its type",
                 "jobs:\n  bad: {op: copy, dtype: float16, inputs: {x: {from: in.h5:/x, scale: 1e6}}}\n", 3,
                 "`dtype: float32`."},
                {"NaN as an integer", "jobs:\n  bad: {op: copy, inputs: {x: {from: bad.h5:/x, dtype: int64}}}\n", 3,
                 "`nan: 0`, or a float `dtype`.", run, "`bad.h5:/x` holds 1 and NaN.",
                 [](Stage& stage) {
                     const double numbers[] = {1, std::nan("")};
                     Raw(stage / "bad.h5").dataset("/x", H5T_IEEE_F64LE, {2}, H5T_NATIVE_DOUBLE, numbers);
                 }},
                {"An unsigned integer beyond int64", reads_bad, 3,
                 "smaller numbers: no type of gridstride's holds it exactly.", run, "`bad.h5:/x` holds 2^63 as uint64.",
                 [](Stage& stage) {
                     const unsigned long long number = 1ULL << 63;
                     Raw(stage / "bad.h5").dataset("/x", H5T_STD_U64LE, {1}, H5T_NATIVE_ULLONG, &number);
                 }},
                {"An integer beyond float64", "jobs:\n  bad: {op: matmul, inputs: {a: bad.h5:/x, b: [1]}}\n", 3,
                 "smaller numbers, or an operation on integers.", run, "`bad.h5:/x` holds 2^53 + 1 as int64.",
                 [](Stage& stage) {
                     const long long number = (1LL << 53) + 1;
                     Raw(stage / "bad.h5").dataset("/x", H5T_STD_I64LE, {1}, H5T_NATIVE_LLONG, &number);
                 }},
                {"A result that its type does not hold",
                 "jobs:\n  bad: {op: add, result_dtype: int32, inputs: {x: in.h5:/x, y: 0.5}}\n", 3,
                 "`result_dtype: float32`."},
                {"A job that reads one that failed",
                 "jobs:\n  bad: {op: sum, inputs: {x: inn.h5:/x}}\n  next: {op: sum, inputs: {x: $bad:/s}}\n", 3,
                 "`in.h5:/x`."},
            }};
}

Group outputs() {
    return {
        "Outputs",
        {
            {"A dataset in the name of the file", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: \"s.h5:/s\"}\n", 2,
             "`outputs: {s: \"s.h5:/s\"}`, or `outputs: s.h5`."},
            {"No dataset in the place of an output", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: {s: s.h5}}\n", 2,
             "`outputs: {s: \"s.h5:/s\"}`, or `outputs: s.h5`."},
            {"An output that the operation does not have",
             "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: {y: \"s.h5:/y\"}}\n", 2, "`outputs: {s: \"s.h5:/y\"}`."},
            {"An output below ~", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: ~/s.h5}\n", 2,
             "`${env:HOME}/s.h5`."},
            {"A folder of the output's name", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: s}\n", 2,
             "`outputs: s/s.h5`.", run, "`out/job/s` is a folder.",
             [](Stage& stage) { fs::create_directories(stage / "out/job/s"); }},
            {"A device to write to", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: /dev/null}\n", 2,
             "no `outputs`: the result is judged and not saved."},
            {"A file below a file", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: ../../in.h5/s.h5}\n", 2,
             "a folder."},
            {"A file of another program's", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: ../../other.h5}\n", 2,
             "another name.", run, "`other.h5` was written with h5py.",
             [](Stage& stage) { fs::copy_file(stage / "in.h5", stage / "other.h5"); }},
            {"A file that is not HDF5", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: ../../notes.txt}\n", 2,
             "another name.", run, "`notes.txt` is a text.",
             [](Stage& stage) { stage.write("notes.txt", "somebody's notes\n"); }},
            {"The name of the report", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: report.json}\n", 2,
             "another name."},
            {"A report of another program's", "jobs:\n  bad: {op: sum, inputs: {x: 1}}\n", 2, "another `--output-dir`.",
             run, "`out/job/report.json` is a text of somebody else's.",
             [](Stage& stage) {
                 fs::create_directories(stage / "out/job");
                 stage.write("out/job/report.json", "{}\n");
             }},
            {"A link to nothing", "jobs:\n  bad: {op: sum, inputs: {x: 1}, outputs: s.h5}\n", 2, "the link removed.",
             run, "`out/job/s.h5` is a link to a file that does not exist.",
             [](Stage& stage) {
                 fs::create_directories(stage / "out/job");
                 fs::create_symlink("gone.h5", stage / "out/job/s.h5");
             }},
            {"Two cases and one file",
             "jobs:\n  a: {op: sum, inputs: {x: 1}, outputs: s.h5}\n  b: {op: sum, inputs: {x: 2}, outputs: "
             "s.h5}\n",
             2, "`outputs: $job.h5` in both."},
            {"A file and a folder of one name",
             "jobs:\n  a: {op: sum, inputs: {x: 1}, outputs: s}\n  b: {op: sum, inputs: {x: 2}, outputs: "
             "s/s.h5}\n",
             2, "two names."},
            {"An output that is an input", "jobs:\n  bad: {op: copy, inputs: {x: in.h5:/x}, outputs: ../../in.h5}\n", 2,
             "another name."},
            {"The output of a job, by the path it is saved under",
             "jobs:\n  a: {op: sum, inputs: {x: 1}, outputs: {s: \"s.h5:/total\"}}\n  b: {op: sum, inputs: {x: "
             "$a:/total}}\n",
             2, "`x: $a:/s`."},
            {"The output of a job, read as a file",
             "jobs:\n  a: {op: sum, inputs: {x: 1}, outputs: s.h5}\n  b: {op: sum, inputs: {x: out/job/s.h5:/s}}\n", 2,
             "`x: $a:/s`."},
            {"Chunks of another rank",
             "jobs:\n  bad: {op: copy, inputs: {x: in.h5:/x}, outputs: y.h5, store: {chunks: [4]}}\n", 2,
             "`chunks: [3, 5]`."},
            {"A folder that cannot be written to", writes_bad, 2, "another `--output-dir`.",
             "run job.yaml --output-dir readonly", "Only another user may write to `readonly`.",
             [](Stage& stage) {
                 fs::create_directory(stage / "readonly");
                 chmod((stage / "readonly").c_str(), 0555);
                 as_nobody(stage);
             }},
            {"A file in the place of the output directory", writes_bad, 2, "`--output-dir results`.",
             "run job.yaml --output-dir job.yaml"},
            {"An output directory below ~", writes_bad, 2, "`--output-dir ~/results`, or `--output-dir=$HOME/results`.",
             "run job.yaml --output-dir='~/results'"},
            {"A full disk",
             "jobs:\n  bad: {op: copy, inputs: {x: {generate: linear, shape: 100_000}}, outputs: "
             "bad.h5}\n",
             3, "more space, or `store: {compression: gzip}`.", run, "The folder `out` is a disk of 128 KiB.",
             small_disk},
            {"A full disk, for the report too", "", 3, "more space, or another `--output-dir`.", "run full.yaml",
             "The folder `out` is a disk of 128 KiB, and full.",
             [](Stage& stage) {
                 stage.write("full.yaml", std::string("jobs:\n") + "  total: {op: sum, inputs: {x: [1, 2]}}\n");
                 small_disk(stage);
                 if (!stage.impossible.empty()) return;
                 fs::create_directory(stage / "out/full");
                 stage.write("out/ballast", std::string(1 << 20, 'x'));
             }},
            {"A limit on the size of files",
             "jobs:\n  bad: {op: copy, inputs: {x: {generate: linear, shape: 100_000}}, outputs: bad.h5}\n", 3,
             "a higher limit, or `store: {compression: gzip}`.", run, "The limit, `ulimit -f`, is 64 KiB.",
             [](Stage& stage) { stage.before += " sh -c 'ulimit -f 128; exec \"$0\" \"$@\"'"; }},
            {"An output of an earlier run", "jobs:\n  bad: {op: sum, inputs: {x: inn.h5:/x}, outputs: bad.h5}\n", 3,
             "`in.h5:/x`.", run, "`out/job/bad.h5` was written by an earlier run, which passed.",
             [](Stage& stage) {
                 fs::create_directories(stage / "out/job");
                 fs::copy_file(stage / "in.h5", stage / "out/job/bad.h5");
                 const hid_t file = H5Fopen((stage / "out/job/bad.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
                 const hid_t space = H5Screate(H5S_SCALAR);
                 H5Aclose(H5Acreate2(file, "gridstride", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
                 H5Sclose(space);
                 H5Fclose(file);
             }},
        }};
}

Group devices() {
    return {
        "Devices and variants",
        {
            {"A device that does not exist", "jobs:\n  bad: {op: sum, device: gpu, inputs: {x: 1}}\n", 2,
             "`device: cuda`."},
            {"CUDA where there is none", "jobs:\n  bad: {op: sum, device: cuda, inputs: {x: 1}}\n", 4,
             "`device: auto`, which takes the CPU here.", run, "This build has no CUDA.",
             [](Stage& stage) {
                 if (cuda::built_in()) stage.impossible = "this build has CUDA";
             }},
            {"A variant that does not exist", "jobs:\n  bad: {op: sum, variant: lop, inputs: {x: 1}}\n", 2,
             "`variant: loop`."},
            {"A variant of the other device",
             "jobs:\n  bad: {op: sum, device: cpu, variant: block_tree, inputs: {x: 1}}\n", 2,
             "`variant: loop`, or no `device`."},
            {"A launch shape on the CPU",
             "jobs:\n  bad: {op: sum, device: cpu, launch: {block: 256}, inputs: {x: 1}}\n", 2,
             "`launch: {threads: 8}`."},
            {"More memory than there is",
             "jobs:\n  bad: {op: sum, device: cpu, inputs: {x: {generate: ones, shape: [1_000_000, 10_000_000]}}}\n",
             4,
             "smaller tensors, or a larger machine.",
             run,
             {},
             {},
             true},
        }};
}

}  // namespace

std::vector<Group> of_data_files() {
    return {files(), datasets(), values(), outputs(), devices()};
}

}  // namespace gridstride::errors
