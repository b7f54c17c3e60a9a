# SPDX-License-Identifier: BSD-3-Clause
# What h5py reads in every file below a folder, for test_real.cpp: one tab-separated line a dataset of numbers, with
# elements, NaNs, least and largest value (of complex numbers: modulus). Usage: survey.py FOLDER. Exit 77: no h5py.
import pathlib
import sys

try:
    import h5py
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)

for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*")):
    with h5py.File(path, "r") as file:
        names = []
        try:
            file.visit(names.append)
        except RuntimeError:
            pass  # a damaged part ends the visit
        for name in names:
            item = file.get(name)
            try:
                if not isinstance(item, h5py.Dataset) or item.shape is None or item.dtype.kind not in "fiucb":
                    continue
                if item.dtype.kind == "f" and item.dtype.itemsize > 8:
                    continue
                data = numpy.asarray(item[()])
            except (OSError, ValueError):
                continue  # a filter that h5py has not either, or a type that NumPy has not
            data = (numpy.abs(data) if data.dtype.kind == "c" else data).astype("f8")
            nan = int(numpy.isnan(data).sum())
            rest = data[~numpy.isnan(data)]
            least, most = (rest.min(), rest.max()) if rest.size else (numpy.nan, numpy.nan)
            print(path.relative_to(sys.argv[1]), name, data.size, nan, repr(float(least)), repr(float(most)), sep="\t")
