#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Every dataset of other programs' files (GRIDSTRIDE_TEST_DATA: folders `format` and `real`) goes through `copy` of the
# program (argument 1). Its values are h5py's, bit for bit after the documented conversion, or it is refused by its name
# and its type or filter. Exit 77 where the data or a module is missing.
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)
if "GRIDSTRIDE_TEST_DATA" not in os.environ:
    print("GRIDSTRIDE_TEST_DATA is not set: no files of other programs to read")
    sys.exit(77)

ALWAYS = {1, 2, 3}  # filters of every HDF5: gzip, shuffle, fletcher32
PERHAPS = {4: "szip", 32000: "lzf", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32026: "blosc2"}
REFUSED = {h5py.h5t.STRING: "string (", h5py.h5t.COMPOUND: "compound {"}


def walk(group, path=""):
    """The paths of all datasets, and of the links that lead nowhere."""
    for name in group:
        below = f"{path}/{name}"
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            if name not in group:
                yield below
        elif isinstance(group[name], h5py.Group):
            yield from walk(group[name], below)
        else:
            yield below


def filters(item):
    created = item.id.get_create_plist()
    return [created.get_filter(i)[0] for i in range(created.get_nfilters())]


def refusal(item):
    """The words by which the type is refused; none where it is one of numbers."""
    stored = item.id.get_type()
    if stored.get_class() == h5py.h5t.FLOAT and stored.get_size() > 8:  # h5py has no quadruple precision at all
        return "80-bit long double" if stored.get_precision() == 80 else "128-bit float"
    numbers = item.dtype.kind in "biufc" or item.dtype.names == ("real", "imag")
    return None if numbers else REFUSED[stored.get_class()]


def converted(item):
    """h5py's values in the type that a copy has."""
    if "MATLAB_empty" in item.attrs:
        assert item.attrs["MATLAB_class"] == b"double"
        return np.empty(item[()][::-1].astype(int), "f8")
    values = np.asarray(item[()])
    if values.dtype.names:
        return values.view("c16")
    if values.dtype.kind not in "biu":
        return values.astype(values.dtype.newbyteorder("="))
    return values.astype("i4" if values.dtype.itemsize < 4 or values.dtype.newbyteorder("=") == "i4" else "i8")


def expectation(item):
    """The values, and the words of a refusal; both where the program may have no filter that h5py has."""
    if item is None:
        return None, "dangling external link"
    if item.shape is None:
        return None, "null dataspace"
    if words := refusal(item):
        return None, words
    words = [f"{PERHAPS[number]} (filter {number})" for number in filters(item) if number not in ALWAYS]
    try:
        return converted(item), words[0] if words else None
    except OSError as error:  # data behind the end of the file, or a filter that h5py has not either
        return None, "damaged: addr overflow" if "addr overflow" in str(error) else words[0]


def copies(folder, datasets):
    """Copies each by a job of its own: the values, or the text of the refusal."""
    jobs = {str(i): {"op": "copy", "inputs": {"x": where.replace("$", "$$")}, "outputs": "$job.h5"}
            for i, where in enumerate(datasets)}
    (folder / "all.yaml").write_text(json.dumps({"jobs": jobs}))
    ran = subprocess.run([sys.argv[1], "run", folder / "all.yaml", "--output-dir", folder, "--json"],
                         capture_output=True, text=True)
    outcome = {}
    if ran.returncode == 2:  # what does not fit is told of all datasets, and nothing runs: the rest, then
        errors = [line.split("error: ", 1)[1] for line in ran.stderr.splitlines() if "all.yaml:1:" in line]
        outcome = {re.match("(.*?:/.*?)(:| has a )", error)[1]: error for error in errors}
        return outcome | copies(folder, [where for where in datasets if where not in outcome])
    for i, case in enumerate(json.loads(ran.stdout)["cases"]):
        outcome[datasets[i]] = case["reason"]
        if case["status"] in ("pass", "vacuous"):  # vacuous: all are NaN
            with h5py.File(folder / f"{i}.h5") as file:
                outcome[datasets[i]] = file["y"][()]
    return outcome


read, refused, wrong = 0, 0, []
data = pathlib.Path(os.environ["GRIDSTRIDE_TEST_DATA"]).resolve()
for path in sorted(data.glob("*/*")):
    with h5py.File(path) as file:
        expected = {f"{path}:{name}": expectation(file.get(name)) for name in walk(file)}
    with tempfile.TemporaryDirectory() as name:
        got = copies(pathlib.Path(name), list(expected)) if expected else {}
    for where, (values, words) in expected.items():
        one = got[where]
        if isinstance(one, str):
            refused += 1
            if words is None or words not in one or not one.startswith(where):
                wrong.append(f"{one} (expected: {words})")
        else:
            read += 1
            same = values is not None and (one.dtype, one.shape) == (values.dtype, values.shape)
            if not same or one.tobytes() != values.tobytes():
                wrong.append(f"{where}: {one.dtype} {one.shape} are not h5py's values")
for line in wrong:
    print(line)
print(f"{read + refused} datasets: {read} read, {refused} refused, {len(wrong)} wrong")
sys.exit(bool(wrong) or not read)
