// SPDX-License-Identifier: BSD-3-Clause
// Mistakes on the command line and in job files.
#include "errors/cases.hpp"

namespace gridstride::errors {

namespace {

constexpr std::string_view sound = "jobs:\n  total: {op: sum, inputs: {x: [1, 2]}}\n";

Group command_line() {
    return {
        "Command line",
        {
            {"The verb is forgotten", sound, 2, "`gridstride run job.yaml`.", "job.yaml"},
            {"The verb is mistyped", sound, 2, "`gridstride run job.yaml`.", "rum job.yaml"},
            {"No argument at all", sound, 2, "`gridstride run job.yaml`.", ""},
            {"No job file is named", sound, 2, "`gridstride run job.yaml`.", "run"},
            {"An option that does not exist", sound, 2, "`--device cpu`.", "run job.yaml --devise cpu"},
            {"A dry run", sound, 2, "`gridstride check job.yaml`.", "run job.yaml --dry-run"},
            {"A short name of the output directory", sound, 2, "`--output-dir results`.", "run job.yaml -o results"},
            {"A job file that does not exist", sound, 2, "`gridstride run job.yaml`.", "run jobs.yaml"},
            {"A job file without its extension", sound, 2, "`gridstride run job.yaml`.", "run job"},
            {"A job file in a folder that does not exist", sound, 2, "`gridstride run job.yaml`.", "run jobs/job.yaml"},
            {"A folder in the place of the job file", sound, 2, "the name of a job file.", "run ."},
            {"An HDF5 file in the place of the job file", "", 2, "a job file that names `in.h5:/x` as an input.",
             "run in.h5"},
            {"A dataset in the place of the job file", "", 2, "a job file that names `in.h5:/x` as an input.",
             "run in.h5:/x"},
            {"One job file twice", sound, 2, "`gridstride run job.yaml`.", "run job.yaml job.yaml"},
            {"Two job files of one name", sound, 2,
             "two runs, each with an `--output-dir`, or another name for one of the files.",
             "run job.yaml other/job.yaml", "`other/job.yaml` is a copy of `job.yaml`.",
             [](Stage& stage) {
                 std::filesystem::create_directory(stage / "other");
                 stage.write("other/job.yaml", std::string(sound));
             }},
            {"A case that does not exist", sound, 2, "`--only total`.", "run job.yaml --only totl"},
            {"Two cases in one option", sound, 2, "`--only total --only ...`, an option a name.",
             "run job.yaml --only total,mean"},
            {"A variable that the file does not have", sound, 2,
             "a variable of `vars`, or the path of a job's key: `--set jobs.total.dtype=float64`.",
             "run job.yaml --set n=5"},
            {"An override without a value", sound, 2, "`--set jobs.total.dtype=float64`.", "run job.yaml --set dtype"},
            {"A job that an override does not find", sound, 2, "`--set jobs.total.dtype=float64`.",
             "run job.yaml --set jobs.totl.dtype=float64"},
            {"No threads", sound, 2, "`--threads 1` or more; without the option all there are.",
             "run job.yaml --threads 0"},
            {"A word in the place of a number of threads", sound, 2, "`--threads 8`.", "run job.yaml --threads many"},
            {"An operation that does not exist", "", 2, "`gridstride list sum`.", "list summ"},
            {"No colon before a dataset to inspect", "", 3, "`gridstride inspect in.h5:/x`.", "inspect in.h5/x"},
            {"A job file to inspect", sound, 3, "`gridstride check job.yaml`.", "inspect job.yaml", {}, {}, false},
            {"A dataset to inspect that does not exist", "", 2, "`gridstride inspect in.h5:/x`.", "inspect in.h5:/xx"},
        }};
}

Group grammar() {
    return {
        "YAML grammar",
        {
            {"An empty file", "", 2, "at least `jobs:` with one job.", "run job.yaml", "`job.yaml` has no bytes.",
             [](Stage& stage) { stage.write("job.yaml", ""); }},
            {"A binary file", "", 2, "a job file is text, in UTF-8.", "run job.yaml",
             "`job.yaml` begins with the bytes of a picture.",
             [](Stage& stage) { stage.write("job.yaml", "\x89PNG\r\n\x1a\n\x01\x02"); }},
            {"A file in Latin-1", "", 2, "the file saved as UTF-8.", "run job.yaml",
             "`# größe` in Latin-1 stands in `job.yaml`.",
             [](Stage& stage) {
                 stage.write("job.yaml",
                             "# gr\xF6\xDF"
                             "e\n" +
                                 std::string(sound));
             }},
            {"A file in UTF-16", "", 2, "the file saved as UTF-8.", "run job.yaml", "`job.yaml` begins with FF FE.",
             [](Stage& stage) { stage.write("job.yaml", std::string("\xFF\xFEj\0o\0b\0s\0:\0\n\0", 14)); }},
            {"A very large file", "", 2, "data in an HDF5 file.", "run job.yaml", "`job.yaml` has 5 MB.",
             [](Stage& stage) { stage.write("job.yaml", "# " + std::string(5'000'000, 'x')); }},
            {"Very deep nesting", "", 2, "a plain value.", "run job.yaml",
             "`job.yaml` is `jobs: ` and 100 brackets, each within the one before.",
             [](Stage& stage) {
                 stage.write("job.yaml", "jobs: " + std::string(100, '[') + std::string(100, ']') + "\n");
             }},
            {"A tab as indentation", "jobs:\n\ttotal: {op: sum, inputs: {x: 1}}\n", 2, "spaces."},
            {"Indentation that does not fit", "jobs:\n  total:\n   op: sum\n    inputs: {x: 1}\n", 2,
             "the keys of a job below each other."},
            {"No space after a colon", "jobs:\n  total:\n    op:sum\n    inputs: {x: 1}\n", 2, "`op: sum`."},
            {"No space after a colon, before a bracket", "jobs:\n  total:\n    op: sum\n    inputs:{x: 1}\n", 2,
             "`inputs: {x: 1}`."},
            {"No space after a colon, within brackets", "jobs:\n  total: {op:sum, inputs: {x: 1}}\n", 2,
             "`{op: sum, inputs: {x: 1}}`."},
            {"No space after the colon of an input", "jobs:\n  total: {op: sum, inputs: {x:\"in.h5:/x\"}}\n", 2,
             "`{x: \"in.h5:/x\"}`."},
            {"An equals sign for a colon", "jobs:\n  both:\n    op = add\n    inputs: {x: 1, y: 2}\n", 2, "`op: add`."},
            {"Typographic quotes", "jobs:\n  total: {op: sum, inputs: {x: \u201Cin.h5:/x\u201D}}\n", 2,
             "`\"in.h5:/x\"`."},
            {"A non-breaking space after a colon", "jobs:\n  total:\n    op:\u00A0sum\n    inputs: {x: 1}\n", 2,
             "an ordinary space."},
            {"A non-breaking space before a word", "jobs:\n  total: {op: \u00A0sum, inputs: {x: 1}}\n", 2,
             "an ordinary space."},
            {"A comment without its space", "jobs:\n  total:\n    op: sum#all\n    inputs: {x: 1}\n", 2,
             "`op: sum  # all`."},
            {"A list in parentheses, within brackets",
             "jobs:\n  total: {op: sum, inputs: {x: in.h5:/x}, params: {axes: (0, 1)}}\n", 2, "`axes: [0, 1]`."},
            {"A quote that is never closed", "jobs:\n  total: {op: sum, inputs: {x: \"in.h5:/x}}\n", 2,
             "`\"in.h5:/x\"`."},
            {"A backslash in double quotes", "jobs:\n  total: {op: sum, inputs: {x: \"raw\\in.h5:/x\"}}\n", 2,
             "`\"raw/in.h5:/x\"`."},
            {"A bracket that is never closed", "jobs:\n  total: {op: sum, inputs: {x: [1, 2}}\n", 2, "`[1, 2]`."},
            {"A bracket too many", "jobs:\n  total: {op: sum, inputs: {x: 1}}}\n", 2, "one `}` less."},
            {"A bare colon in a value",
             "jobs:\n  total:\n    op: sum\n    inputs:\n      x:\n        from: in.h5:/x\n        select: 0:2, :\n", 2,
             "`select: \"0:2, :\"`."},
            {"A bare star", "jobs:\n  total: {op: sum, inputs: {x: *}}\n", 2,
             "`\"*\"` where a text is meant; an input takes none."},
            {"The same key twice", "jobs:\n  total:\n    op: sum\n    inputs: {x: 1}\n    inputs: {x: 2}\n", 2,
             "one of the two."},
            {"A merge key", "vars: {base: {dtype: float64}}\njobs:\n  total: {<<: $base, op: sum, inputs: {x: 1}}\n", 2,
             "`defaults: {dtype: float64}`."},
            {"A tag", "jobs:\n  total: {op: !sum sum, inputs: {x: 1}}\n", 2, "`op: sum`."},
            {"A second document", "jobs:\n  total: {op: sum, inputs: {x: 1}}\n---\njobs: {}\n", 2, "two job files."},
            {"yes and no as booleans",
             "jobs:\n  total: {op: sum, inputs: {x: 1}, store: {compression: gzip, shuffle: yes}}\n", 2,
             "`shuffle: true`."},
            {"A number with a leading zero", "jobs:\n  total: {op: sum, inputs: {x: 010}}\n", 2, "`10`."},
            {"Arithmetic without braces",
             "vars: {n: 4}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: [$n+1]}}}\n", 2,
             "`shape: [\"${n + 1}\"]`."},
            {"A variable in brackets, not quoted",
             "vars: {n: 4}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: [${n // 2}, 3]}}}\n", 2,
             "`shape: [\"${n // 2}\", 3]`."},
        }};
}

Group job_file() {
    return {
        "Job file",
        {
            {"A list where the jobs should be", "jobs:\n- op: sum\n  inputs: {x: 1}\n", 2,
             "a mapping by name: `total: {op: sum, ...}`."},
            {"A job not indented below jobs", "jobs:\ntotal: {op: sum, inputs: {x: 1}}\n", 2,
             "`total` two spaces further right."},
            {"A job's keys not indented below its name", "jobs:\n  total:\n  op: sum\n  inputs: {x: 1}\n", 2,
             "`op` and `inputs` two spaces further right."},
            {"Equals signs for colons", "jobs:\n  both: {op: add, inputs: {x=1, y=2}}\n", 2, "`{x: 1, y: 2}`."},
            {"A filter without its key", "jobs:\n  total: {op: sum, inputs: {x: 1}, store: gzip}\n", 2,
             "`store: {compression: gzip}`."},
            {"A job at the top level", "op: sum\ninputs: {x: 1}\n", 2, "`jobs: {total: {op: sum, ...}}`."},
            {"A top-level key that is mistyped", "job:\n  total: {op: sum, inputs: {x: 1}}\n", 2, "`jobs:`."},
            {"A version of the future", "schema: 2\njobs:\n  total: {op: sum, inputs: {x: 1}}\n", 2,
             "`schema: 1`, or none."},
            {"No operation", "jobs:\n  total: {inputs: {x: 1}}\n", 2, "`op: sum`."},
            {"An operation that is mistyped", "jobs:\n  total: {op: smu, inputs: {x: 1}}\n", 2, "`op: sum`."},
            {"input for inputs", "jobs:\n  total: {op: sum, input: {x: 1}}\n", 2, "`inputs: {x: 1}`."},
            {"An input that is missing", "jobs:\n  both: {op: add, inputs: {x: 1}}\n", 2, "`inputs: {x: 1, y: 2}`."},
            {"An input that the operation does not have", "jobs:\n  total: {op: sum, inputs: {x: 1, y: 2}}\n", 2,
             "`inputs: {x: 1}`."},
            {"A key that does not exist", "jobs:\n  total: {op: sum, inputs: {x: 1}, chunks: [2]}\n", 2,
             "`store: {chunks: [2]}`."},
            {"A parameter beside params", "jobs:\n  total: {op: sum, inputs: {x: [1, 2]}, axes: 0}\n", 2,
             "`params: {axes: 0}`."},
            {"A parameter that is mistyped", "jobs:\n  total: {op: sum, inputs: {x: [1, 2]}, params: {axis: 0}}\n", 2,
             "`params: {axes: 0}`."},
            {"A parameter that is missing", "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: [1]}}\n", 2,
             "`params: {kernel: 3}`."},
            {"A name that is reserved", "jobs:\n  device: {op: sum, inputs: {x: 1}}\n", 2, "another name."},
            {"A name with a space", "jobs:\n  my job: {op: sum, inputs: {x: 1}}\n", 2, "`my_job`."},
            {"An output of a job that does not exist", "jobs:\n  total: {op: sum, inputs: {x: $first:/z}}\n", 2,
             "a job called `first`, or another name."},
            {"An output that the job does not have",
             "jobs:\n  first: {op: add, inputs: {x: 1, y: 2}}\n  total: {op: sum, inputs: {x: $first:/y}}\n", 2,
             "`$first:/z`."},
            {"An output of several variants",
             "jobs:\n  first: {op: matmul, variant: all, inputs: {a: [1], b: [2]}}\n  total: {op: sum, inputs: {x: "
             "$first:/c}}\n",
             2, "one variant in the job that is read."},
            {"Jobs that read each other",
             "jobs:\n  a: {op: sum, inputs: {x: $b:/s}}\n  b: {op: sum, inputs: {x: $a:/s}}\n", 2,
             "a first job that reads files or numbers."},
            {"A level without compression", "jobs:\n  total: {op: sum, inputs: {x: 1}, store: {level: 9}}\n", 2,
             "`store: {compression: gzip, level: 9}`."},
            {"A tolerance that is a number", "jobs:\n  total: {op: sum, inputs: {x: 1}, tolerance: 1e-6}\n", 2,
             "`tolerance: {rtol: 1e-6}`."},
            {"A word that validate does not know", "jobs:\n  total: {op: sum, inputs: {x: 1}, validate: all}\n", 2,
             "`validate: full`."},
            {"A dtype by another's name", "jobs:\n  total: {op: sum, dtype: double, inputs: {x: 1}}\n", 2,
             "`dtype: float64`."},
            {"Several mistakes at once",
             "jobs:\n  total: {op: sum, dtype: f32, inputs: {x: [1, two]}, params: {axis: 0}}\n", 2,
             "each is told, in one pass."},
        }};
}

Group variables() {
    return {
        "Variables",
        {
            {"A variable that does not exist",
             "vars: {rows: 3}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: $row}}}\n", 2, "`$rows`."},
            {"An environment variable that is not set",
             "jobs:\n  total: {op: sum, inputs: {x: \"${env:GRIDSTRIDE_NOWHERE}/in.h5:/x\"}}\n", 2,
             "the variable set, or a default: `${env:GRIDSTRIDE_NOWHERE:-.}`."},
            {"A variable with the name of a job", "vars: {total: 3}\njobs:\n  total: {op: sum, inputs: {x: 1}}\n", 2,
             "another name for one of the two."},
            {"A variable that needs itself", "vars: {n: $m, m: $n}\njobs:\n  total: {op: sum, inputs: {x: $n}}\n", 2,
             "a value for one of the two."},
            {"A variable whose value is wrong where it is used",
             "vars: {n: many}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: $n}}}\n", 2,
             "`vars: {n: 3}`."},
            {"Arithmetic with a text",
             "vars: {n: many}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: \"${n + 1}\"}}}\n", 2,
             "`vars: {n: 3}`."},
            {"A division by zero",
             "vars: {n: 0}\njobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: \"${8 // n}\"}}}\n", 2,
             "`n` above 0."},
            {"Arithmetic of fractions",
             "jobs:\n  total: {op: sum, inputs: {x: {generate: ones, shape: \"${7 / 2}\"}}}\n", 2, "`${7 // 2}`."},
            {"A job's output as a variable",
             "jobs:\n  first: {op: add, inputs: {x: 1, y: 2}}\n  total: {op: sum, inputs: {x: $first}}\n", 2,
             "`$first:/z`."},
            {"A case's own variable in an input", "jobs:\n  total: {op: sum, inputs: {x: \"$variant.h5:/x\"}}\n", 2,
             "a name that is known before."},
        }};
}

Group sweeps() {
    return {
        "Sweeps and answers",
        {
            {"A value where a list should be",
             "jobs:\n  total: {op: sum, sweep: {n: 3}, inputs: {x: {generate: ones, shape: $n}}}\n", 2,
             "`sweep: {n: [3, 4]}`."},
            {"A variable that nothing uses",
             "jobs:\n  total: {op: sum, sweep: {dtyp: [float32, float64]}, inputs: {x: in.h5:/x}}\n", 2,
             "`sweep: {dtype: [float32, float64]}`."},
            {"A variable of another job's sweep",
             "jobs:\n  first: {op: sum, sweep: {n: [3, 4]}, inputs: {x: {generate: ones, shape: $n}}}\n  second: {op: "
             "sum, inputs: {x: {generate: ones, shape: $n}}}\n",
             2, "`vars: {n: 5}`, or a sweep of its own."},
            {"Files that are not there",
             "jobs:\n  total: {op: sum, sweep: {file: glob(raw/*.h5)}, inputs: {x: $file:/x}}\n", 2, "`glob(*.h5)`."},
            {"A range that runs backwards",
             "jobs:\n  total: {op: sum, sweep: {n: range(9..3)}, inputs: {x: {generate: ones, shape: $n}}}\n", 2,
             "`range(3..9)`."},
            {"A size where pow2 takes an exponent",
             "jobs:\n  total: {op: sum, sweep: {n: pow2(64..1024)}, inputs: {x: {generate: ones, shape: $n}}}\n", 2,
             "`pow2(6..10)`."},
            {"A value that is wrong in one case",
             "jobs:\n  total: {op: sum, sweep: {params.axes: [0, 1, 2]}, inputs: {x: in.h5:/x}}\n", 2, "no axis 2."},
            {"More cases than one means",
             "jobs:\n  total: {op: sum, sweep: {n: range(1..20_000)}, inputs: {x: {generate: ones, shape: $n}}}\n", 2,
             "fewer, or `--max-cases 20000`."},
            {"Cases that would write one file",
             "jobs:\n  total: {op: sum, sweep: {n: [3, 4]}, inputs: {x: {generate: ones, shape: $n}}, outputs: s.h5}\n",
             2, "`outputs: s-$n.h5`."},
            {"A swept key on the command line",
             "jobs:\n  total: {op: sum, sweep: {variant: [loop, all]}, inputs: {x: in.h5:/x}}\n", 2,
             "`--set jobs.total.sweep.variant=[loop]`.", "run job.yaml --variant loop"},
            {"An outcome that does not exist", "jobs:\n  total: {op: sum, expect: fail, inputs: {x: in.h5:/x}}\n", 2,
             "`expect: mismatch`."},
            {"No time at all", "jobs:\n  total: {op: sum, timeout: 0, inputs: {x: in.h5:/x}}\n", 2, "`timeout: 60`."},
            {"An answer of another shape", "jobs:\n  total: {op: sum, against: in.h5:/y, inputs: {x: in.h5:/x}}\n", 2,
             "an answer of the output's shape, or a part: `against: {from: in.h5:/y, select: \"0\"}`."},
            {"An answer that is no dataset", "jobs:\n  total: {op: sum, against: 105, inputs: {x: in.h5:/x}}\n", 2,
             "the answer in a file: `against: mine.h5:/s`."},
        }};
}

Group parameters() {
    return {
        "Parameters",
        {
            {"Several values out of range",
             "jobs:\n  cov:\n    op: convcov\n    inputs: {mu: in.h5:/map, coef: [1]}\n    params: {kernel: 0, "
             "stride: -1, dilation: [1, 0]}\n",
             2, "`{kernel: 3, stride: 1, dilation: 1}`; each is told, in one pass."},
            {"A word that is mistyped", "jobs:\n  spectrum: {op: dft, inputs: {x: in.h5:/x}, params: {norm: orto}}\n",
             2, "`norm: ortho`."},
            {"The word of another parameter",
             "jobs:\n  signal: {op: dft, inputs: {x: in.h5:/z}, params: {form: inverse}}\n", 2,
             "`direction: inverse`."},
            {"A word of another program", "jobs:\n  spectrum: {op: dft, inputs: {x: in.h5:/x}, params: {form: rfft}}\n",
             2, "`form: half`."},
            {"True for transpose",
             "jobs:\n  gram: {op: matmul, inputs: {a: in.h5:/x, b: in.h5:/x}, params: {transpose_b: true}}\n", 2,
             "`transpose_b: transpose`."},
            {"All axes by a word", "jobs:\n  total: {op: sum, inputs: {x: in.h5:/x}, params: {axes: all}}\n", 2,
             "no `axes`."},
            {"A list as in other programs",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: [1 2 3]}, params: {kernel: 3x3}}\n", 2,
             "`coef: [1, 2, 3]` and `kernel: [3, 3]`."},
            {"An axis that the input does not have",
             "jobs:\n  total: {op: sum, inputs: {x: in.h5:/x}, params: {axes: 2}}\n", 2, "`axes: 1` or `axes: -1`."},
            {"An axis named twice", "jobs:\n  total: {op: sum, inputs: {x: in.h5:/x}, params: {axes: [1, -1]}}\n", 2,
             "`axes: 1`."},
            {"One length for two axes",
             "jobs:\n  spectrum: {op: dft, inputs: {x: in.h5:/x}, params: {axes: [0, 1], n: 8}}\n", 2, "`n: [8, 8]`."},
            {"The inverse of a half spectrum by the wrong form",
             "jobs:\n  signal: {op: dft, inputs: {x: in.h5:/z}, params: {form: half, direction: inverse}}\n", 2,
             "`form: real`."},
            {"A half spectrum of complex input",
             "jobs:\n  spectrum: {op: dft, inputs: {x: in.h5:/z}, params: {form: half}}\n", 2, "`form: full`."},
            {"A sample spacing of zero",
             "jobs:\n  spectrum: {op: dft, inputs: {x: in.h5:/x}, params: {sample_spacing: 0}}\n", 2,
             "the time between two samples."},
            {"beta without c", "jobs:\n  product: {op: matmul, inputs: {a: [1, 2], b: [3, 4]}, params: {beta: 1}}\n", 2,
             "an input `c`, or no `beta`."},
            {"A vector transposed",
             "jobs:\n  product: {op: matmul, inputs: {a: [1, 2], b: [3, 4]}, params: {transpose_a: transpose}}\n", 2,
             "a matrix, or no `transpose_a`."},
            {"A kernel larger than the map",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: [1]}, params: {kernel: 9}}\n", 2,
             "a smaller `kernel`, or `padding`."},
            {"Padding same with a stride",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: [1]}, params: {kernel: 3, stride: 2, "
             "padding: same}}\n",
             2, "`padding: 1`."},
            {"Output channels that nothing tells",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: 1}, params: {kernel: 3}}\n", 2,
             "`channels: 4`, or a list as `coef`."},
            {"Two variances of the noise",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, coef: [1], weight_variance: {generate: ones, shape: "
             "[1, 1, 3, 3]}}, params: {kernel: 3}}\n",
             2, "`coef` or `weight_variance`."},
            {"A bias beside variances of each weight",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, weight_variance: {generate: ones, shape: [1, 1, 3, "
             "3]}}, params: {kernel: 3, bias: true}}\n",
             2, "no `bias`, or `coef`."},
            {"A gamma that is not symmetric, where that is checked",
             "jobs:\n  bad: {op: convcov, inputs: {gamma: {generate: linear, shape: [1, 1, 2, 2, 2, 2]}, mu: "
             "{generate: "
             "ones, shape: [1, 1, 2, 2]}, coef: [1]}, params: {kernel: 1, symmetric: check}}\n",
             3, "a symmetric gamma, or `symmetric: none`."},
        }};
}

Group shapes() {
    return {
        "Shapes and types",
        {
            {"Shapes that do not broadcast", "jobs:\n  both: {op: add, inputs: {x: in.h5:/x, y: in.h5:/y}}\n", 2,
             "a `y` of shape (5,), (3, 1) or (3, 5)."},
            {"A map without the batch axis",
             "jobs:\n  cov: {op: convcov, inputs: {mu: {generate: ones, shape: [2, 5, 7]}, coef: [1]}, params: "
             "{kernel: "
             "3}}\n",
             2, "`shape: [1, 2, 5, 7]`."},
            {"A covariance without the batch axis",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/map, gamma: {generate: ones, shape: [2, 5, 7, 5, 7]}, "
             "coef: [1]}, params: {kernel: 3}}\n",
             2, "`shape: [1, 2, 5, 7, 5, 7]`."},
            {"Matrices that do not multiply", "jobs:\n  gram: {op: matmul, inputs: {a: in.h5:/x, b: in.h5:/x}}\n", 2,
             "`params: {transpose_b: transpose}`."},
            {"A shape that the elements do not fill",
             "jobs:\n  y: {op: copy, inputs: {x: {from: in.h5:/x, shape: [4, -1]}}}\n", 2, "`shape: [5, -1]`."},
            {"A selection outside of the dataset",
             "jobs:\n  y: {op: copy, inputs: {x: {from: in.h5:/x, select: \"3, :\"}}}\n", 2, "`select: \"2, :\"`."},
            {"A selection as a list", "jobs:\n  y: {op: copy, inputs: {x: {from: in.h5:/x, select: [\"0:2\", 2]}}}\n",
             2, "`select: \"0:2, 2\"`."},
            {"A complex number in the job file", "jobs:\n  both: {op: add, inputs: {x: in.h5:/z, y: 1+2j}}\n", 2,
             "a dataset of one complex number."},
            {"A decimal comma", "jobs:\n  both:\n    op: add\n    inputs:\n      x: in.h5:/x\n      y: 0,5\n", 2,
             "`y: 0.5`."},
            {"A decimal comma within brackets", "jobs:\n  both: {op: add, inputs: {x: in.h5:/x, y: 0,5}}\n", 2,
             "`y: 0.5`."},
            {"A selection of too many axes",
             "jobs:\n  y: {op: copy, inputs: {x: {from: in.h5:/x, select: \":, :, 0\"}}}\n", 2, "`select: \":, 0\"`."},
            {"Complex numbers as real ones", "jobs:\n  y: {op: copy, dtype: float32, inputs: {x: in.h5:/z}}\n", 2,
             "`dtype: complex64`."},
            {"A complex result as a real one", "jobs:\n  y: {op: copy, result_dtype: float64, inputs: {x: in.h5:/z}}\n",
             2, "`result_dtype: complex128`."},
            {"Integers for a transform", "jobs:\n  spectrum: {op: dft, dtype: int32, inputs: {x: in.h5:/y}}\n", 2,
             "no `dtype`: integers become float32 or float64."},
            {"Pairs that are none", "jobs:\n  y: {op: copy, inputs: {x: {from: in.h5:/x, complex: pair}}}\n", 2,
             "a last axis of length 2."},
            {"A map with an axis too few",
             "jobs:\n  cov: {op: convcov, inputs: {mu: in.h5:/x, coef: [1]}, params: {kernel: 3}}\n", 2,
             "`mu: {from: in.h5:/x, shape: [1, 1, 3, 5]}`."},
            {"A text for a number", "jobs:\n  both: {op: add, inputs: {x: [1, \"2\"], y: 3}}\n", 2, "`[1, 2]`."},
            {"A list of lists", "jobs:\n  y: {op: copy, inputs: {x: [[1, 2], [3, 4]]}}\n", 2,
             "`{from: [1, 2, 3, 4], shape: [2, 2]}`."},
            {"A fraction as a length", "jobs:\n  y: {op: copy, inputs: {x: {generate: ones, shape: 1.5}}}\n", 2,
             "`shape: 2`."},
            {"More elements than can be counted",
             "jobs:\n  y: {op: copy, inputs: {x: {generate: ones, shape: [10_000_000_000, 10_000_000_000]}}}\n", 2,
             "fewer."},
        }};
}

}  // namespace

std::vector<Group> of_job_files() {
    return {command_line(), grammar(), job_file(), variables(), sweeps(), parameters(), shapes()};
}

}  // namespace gridstride::errors
