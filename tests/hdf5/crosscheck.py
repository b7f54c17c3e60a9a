# SPDX-License-Identifier: BSD-3-Clause
# Reads a file with h5py and with xarray (h5netcdf) and prints what they see, one fact a line, for test_crosscheck.cpp.
# Usage: crosscheck.py FILE. Exit 77: h5py, xarray or h5netcdf is missing.
import sys

try:
    import h5netcdf  # noqa: F401
    import h5py
    import xarray
except ImportError as error:
    print(error)
    sys.exit(77)


def flat(array):
    return " ".join(str(value) for value in array.ravel().tolist()) if hasattr(array, "ravel") else str(array)


with h5py.File(sys.argv[1], "r") as file:

    def show(name, item):
        if isinstance(item, h5py.Dataset):
            kind = "str" if h5py.check_string_dtype(item.dtype) else str(item.dtype)
            scales = [[leaf.name for leaf in axis.values()] for axis in item.dims]
            print(f"h5py {name} {kind} {item.shape} chunks {item.chunks} scales {scales}")
            if item.size < 100 and kind != "str":
                print(f"h5py {name} = {flat(item[()])}")
        for key, value in sorted(item.attrs.items()):
            if key in ("units", "long_name", "gain"):
                print(f"h5py {name} @{key} = {value!r}")

    file.visititems(show)
    for key, value in sorted(file.attrs.items()):
        print(f"h5py @{key} = {value!r}")

for group in ("/", "/entry"):
    try:
        with xarray.open_dataset(sys.argv[1], engine="h5netcdf", group=group, decode_times=False) as data:
            for name, variable in data.variables.items():
                print(f"xarray {group} {name} {variable.dtype} {variable.dims} {variable.shape}")
                if variable.size < 100 and variable.dtype.kind in "fic":
                    print(f"xarray {group} {name} = {flat(variable.values)}")
    except OSError as error:
        print(f"xarray {group} none: {error}")
