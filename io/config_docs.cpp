// SPDX-License-Identifier: BSD-3-Clause
// docs/jobs.md: the reference of job files, rendered from the tables that the loader itself reads.
#include <fmt/format.h>

#include <span>

#include "io/config_values.hpp"

namespace gridstride::config {

namespace {

/// Text for a cell of a table.
std::string cell(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '|') result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : fmt::format("`{}`", cell(text));
}

std::string table(std::span<const Key> keys) {
    std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
    for (const Key& key : keys)
        text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, cell(key.form), cell(key.otherwise), cell(key.doc));
    return text + "\n";
}

std::string operation(const Entry& entry) {
    const Op& op = *entry.op;
    std::string text = fmt::format("### `{}`\n\n{}\n\n", op.name, op.doc);
    text += "| input | | meaning |\n|---|---|---|\n";
    for (const gridstride::Input& row : op.inputs)
        text += fmt::format("| `{}` | {} | {} |\n", row.name, row.optional ? "optional" : "required", cell(row.doc));
    text += "\n| output | meaning |\n|---|---|\n";
    for (const Output& row : op.outputs) text += fmt::format("| `{}` | {} |\n", row.name, cell(row.doc));
    text += "\n";
    std::string params;
    for (const Param& row : op.params) {
        if (row.hidden) continue;
        const std::string otherwise = !row.otherwise           ? "required"
                                      : row.otherwise->empty() ? "unset"
                                                               : code(to_text(*row.otherwise));
        params += fmt::format("| `{}` | {} | {} | {} |\n", row.name, cell(describe(row)), otherwise, cell(row.doc));
    }
    text += params.empty() ? "No parameters.\n\n"
                           : "| parameter | value | default | meaning |\n|---|---|---|---|\n" + params + "\n";
    // Not what this build can run: the page is the same for all builds.
    text += "| variant | device | role |\n|---|---|---|\n";
    for (const Variant* row : entry.variants)
        text += fmt::format("| `{}` | {} | {} |\n", row->name, name(row->device),
                            row->role == Role::vendor   ? "vendor"
                            : row->role == Role::faulty ? "faulty: runs only when named, never timed"
                                                        : "custom");
    return text + "\n";
}

constexpr std::string_view opening = R"(# Job files

<!-- Made from the program's own tables: do not edit. -->

A job file is one YAML document. Unknown and duplicate keys, values of the wrong type, numbers with a leading zero,
`yes` and `no` as booleans, `<<`, tags and a second document are errors. All errors of a file are reported in one pass,
each with its line, column and what would be right. A complete job: `gridstride list OP --example`; a JSON Schema for
editors: `gridstride list --schema`.

```yaml
vars: {n: 512}
defaults: {validate: sample}
jobs:
  product:
    op: matmul
    inputs:
      a: measured.h5:/a
      b: {generate: normal, shape: [$n, 64]}
    outputs: product.h5
```

)";

constexpr std::string_view values = R"(## Values

- Integers are decimal, with `_` as they please the eye: `1_000_000`. Where a size is wanted `1e6` is one too. Numbers are
  written in every plain decimal form: `0.5`, `.5`, `1e-6`, `1E-6`; `.inf` and `.nan` only as input data.
- `$name` and `${name}` are variables, in values, quoted or not. A value that is exactly one variable takes its type: it
  may be a list or a mapping. `${env:NAME}` and `${env:NAME:-default}` read the environment.
- `${n // 2}` is integer arithmetic: `+ - * // % ( )` as in Python, names bare. Inside of brackets it must be quoted:
  `shape: ["${n // 2}", 3]`. `$$` is a dollar.
- Variables and jobs share one set of names; `env`, `job`, `variant`, `device` and the top-level keys are taken.
- Precedence: command line (`--set KEY=VALUE`, `--device`, `--variant`, `--validate`, `--threads`), job, `defaults`,
  built in. KEY is a variable, `jobs.NAME.KEY...` or `defaults.KEY...`; VALUE is YAML. `gridstride check --explain` shows
  where each value is from.
- A `variant` or `launch` of `defaults` or the command line applies to the operations that have it; the others keep theirs.

)";

constexpr std::string_view sweeps = R"(## Sweeps

`sweep` makes a job into several cases. A mapping of lists is their product, a list of mappings is those cases:

```yaml
jobs:
  ladder:
    op: matmul
    sweep: {n: pow2(6..9), variant: [loop, openblas]}          # ladder[n=64,variant=loop] and so on: 8 cases
    inputs: {a: {generate: normal, shape: [$n, $n]}, b: {generate: normal, shape: [$n, 3]}}
  spectra:
    op: dft
    sweep: {file: 'glob(raw/*.h5)'}                            # a case a file; $file and $stem
    inputs: {x: "$file:/strain"}
    outputs: spectra/$stem.h5
  launches:
    op: add
    variant: grid_stride
    sweep: [{launch: {grid: 1, block: 256}}, {launch.block: 100}, {launch.block: 4096, expect: error}]
    inputs: {x: {generate: normal, shape: 12_000}, y: 2}
```

- A key is a variable, or the path of a key of the job: `dtype`, `params.kernel`, `launch`, `inputs.coef`; `op` is not swept.
  A variable of `vars` has the case's value in this job, and in all that is made of it. `file` sets `stem` too: its name
  without folder and extension.
- The values of a mapping are a list; `range(a..b)` or `range(a..b..s)`: a, a + s, ... up to b, b too; `pow2(a..b)`: 2^a to
  2^b; or `glob(PATTERN)`: the files of a pattern (`*`, `?`, `[...]`), relative to the job file, sorted; no match is an error; in quotes inside braces.
- A job that reads the output of a swept job is swept with it: `$n` is there too, and each case reads its own.
- A case is named by its values, `ladder[n=64,variant=loop]`, a list as `3x1`, a long value by its position, `#2`;
  `--only 'ladder[n=64,variant=loop]'` runs it alone. `expect` and `timeout` do not name a case.
- Generated inputs are the same in every case, but for their shapes: the seed is from the job's name, not the case's.
- One case writes one file: where outputs are saved, a swept variable stands in the file's name.
- More than 10 000 cases need `--max-cases N`.

)";

constexpr std::string_view inputs = R"(## Inputs

| form | meaning |
|---|---|
| `FILE:/DATASET` | a dataset of an HDF5 file; FILE is relative to the job file; split at the first `:/` |
| `$JOB:/OUTPUT` | an output of another job of this file, which names one variant |
| `0.5` | a number |
| `[1, 2, 3]` | a list of numbers, of one axis |
| `{from: ..., ...}` | any of these, and more keys |
| `{generate: KIND, shape: ..., ...}` | values made, the same bits on every machine |

The axes of a dataset are those of the file, as h5py shows them. MATLAB reverses the axes when it writes: its 3 x 4 matrix
is a dataset (4, 3), its column vector (1, N). `MATLAB_empty` arrays are empty, of the dimensions they hold.

)";

constexpr std::string_view select_text =
    R"(`select` takes one term an axis; axes left out are whole. `a:b:s` with s >= 1 counts from the end where a or b are negative
and is clamped as NumPy does; an integer drops its axis and must lie inside; `...` stands once. Only the selection is
read. Quote it: `select: "0:100, ..., 3"`.

)";

}  // namespace

std::string jobs_markdown() {
    std::string text(opening);
    text += "## Top level\n\n" + table(top_keys) + std::string(values);
    text += "## Jobs\n\n" + table(job_keys);
    text += "`store`:\n\n" + table(store_keys) + "`launch`:\n\n" + table(launch_keys);
    text += "`validate` as a mapping:\n\n" + table(validate_keys);
    text += "`tolerance`: `{factor}`, `{rtol, atol}`, or `bitwise`:\n\n" + table(tolerance_keys);
    text += fmt::format("dtypes: {}.\n\n", dtype_names());
    text += std::string(sweeps) + std::string(inputs) + table(input_keys) + std::string(select_text);
    text +=
        "### Generated inputs\n\nMade in float64, times `scale`, `plus` added, rounded once to the input's `dtype`, "
        "else the job's, else "
        "float32.\n\n| kind | its own keys | values |\n|---|---|---|\n";
    for (const Key& kind : generate_kinds)
        text += fmt::format("| `{}` | {} | {} |\n", kind.name, cell(kind.form), cell(kind.doc));
    text += "\n" + table(generate_keys) + "Keys of `plus`, beside those above:\n\n" + table(plus_keys);
    text += "## Operations\n\n";
    for (const Entry& entry : registry()) text += operation(entry);
    while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
    return text;
}

}  // namespace gridstride::config
