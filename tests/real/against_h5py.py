#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# against_h5py.py DATA OUT: does OUT hold what NumPy computes, in float64, of the files of DATA/real read by h5py? OUT
# is the folder that `gridstride run tests/real/*.yaml` wrote: a folder a job file, a file a job. For each output its
# dtype, shape, values, scales and units; one line each with its relative L2 difference. Exit 0 yes, 1 no, 77 where a
# module is missing.
import glob
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

data, out = sys.argv[1:3]


def read(file, name):
    return h5py.File(f"{data}/real/{file}")[name][()]


def steps(n, spacing):
    return np.fft.fftfreq(n, spacing)


def half_steps(n, spacing):
    return np.fft.rfftfreq(n, spacing)


def power(x):
    return x.real**2 + x.imag**2


expected = {}  # "job file/job": dataset, dtype, values, {axis: (name of its scale, values)}, units


def expect(case, dataset, dtype, values, scales=None, units=None):
    expected[case] = dataset, np.dtype(dtype), np.asarray(values), scales or {}, units


# --- LIGO
file = "H-H1_LOSC_4_V2-1126259446-32.hdf5"
strain, dt = read(file, "strain/Strain"), 1 / 4096
frequency = {0: ("frequency", half_steps(131072, dt))}
coarse = ("frequency", half_steps(4096, dt))
seconds = power(np.fft.rfft(strain.reshape(32, 4096)))
expect("ligo/spectrum", "X", "c16", np.fft.rfft(strain), frequency)
expect("ligo/back", "X", "f8", strain)
expect("ligo/segments", "X", "f8", seconds, {1: coarse})
expect("ligo/averaged", "s", "f8", seconds.mean(axis=0), {0: coarse})
scaled = (strain * 1e21).astype("f4").astype("f8").reshape(32, 4096)
expect("ligo/segments_single", "X", "f4", power(np.fft.rfft(scaled, norm="ortho")), {1: coarse})
expect("ligo/power", "X", "f8", power(np.fft.rfft(strain, norm="ortho")))
lagged = np.fft.irfft(power(np.fft.rfft(strain, norm="ortho")))
expect("ligo/autocorrelation", "X", "f8", lagged)
assert np.isclose(lagged[0], np.dot(strain, strain) / 131072)  # by another way: the mean square
expect("ligo/seconds_of_good_data", "s", "i8", read(file, "quality/simple/DQmask").astype("i8").sum())
expect("ligo/start", "y", "i8", 1126259446)

# --- Silixa
x = read("das_silixa_h5_1.hdf5", "Acoustic").astype("f8")
centred = x - x.mean(axis=0)
some = centred[:, 1000:1037]
expect("silixa/spectrum", "X", "c8", np.fft.rfft(x, axis=0), {0: ("frequency", half_steps(100, 0.002))})
expect("silixa/power", "X", "f4", power(np.fft.rfft(x[:, ::64], 128, axis=0, norm="ortho")))
expect("silixa/over_time", "s", "i8", x.sum(axis=0, keepdims=True))
expect("silixa/over_channels", "s", "i8", x.sum(axis=1))
expect("silixa/total", "s", "i8", x.sum())
expect("silixa/centred", "z", "f8", centred)
channels = np.arange(1000, 1037)
expect("silixa/covariance", "c", "f8", np.cov(some, rowvar=False, bias=True),
       {0: ("row", channels), 1: ("column", channels)})
expect("silixa/single", "y", "f4", x)
bits = x[7, 5::11].astype("f4").view("u4")  # to bfloat16, to nearest, ties to even
rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view("f4")
expect("silixa/brain", "y", "f4", rounded)  # h5py shows bfloat16 as float32

# --- OptoDAS
file = "das_decimated_optodas.hdf5"
x = read(file, "data").astype("f8")
frequency = ("frequency", half_steps(5000, 0.002))
centred = x - x.mean(axis=0)
expect("optodas/spectrum", "X", "c8", np.fft.rfft(x, axis=0), {0: frequency})
expect("optodas/power", "X", "f4", power(np.fft.rfft(x, axis=0, norm="forward")), {0: frequency})
expect("optodas/wavenumber", "X", "c8", np.fft.fft2(x),
       {0: ("frequency", steps(5000, 0.002)), 1: ("frequency_2", steps(51, 50))})
expect("optodas/decimated_double", "X", "c16", np.fft.rfft(x[::7, 50]), {0: ("frequency", half_steps(715, 0.014))})
expect("optodas/over_time", "s", "f4", x.sum(axis=0, keepdims=True))
expect("optodas/over_channels", "s", "f4", x.sum(axis=1))
expect("optodas/centred", "z", "f4", centred)
expect("optodas/covariance", "c", "f4", np.cov(x, rowvar=False, bias=True))
expect("optodas/second_moments_double", "c", "f8", np.einsum("ta,tb->ab", x, x) / 5000)
expect("optodas/calibrated", "z", "f4", x * read(file, "header/dataScale"))
expect("optodas/kilometres", "y", "f8", read(file, "cableSpec/sensorDistances")[::10] / 1000)
expect("optodas/mixer", "z", "c16", read(file, "demodSpec/mixerCoeffX1") * read(file, "demodSpec/mixerCoeffY1"))

# --- xdas, netCDF-4: `time` and `distance` are dimensions without values, and stay so
file = "das_xdas_netcdf.nc"
x, bare = read(file, "__values__"), np.zeros
time, distance = ("time", bare(300)), ("distance", bare(401))
expect("xdas/wavenumber", "X", "c16", np.fft.fft(x), {0: time, 1: ("frequency", steps(401, 25))})
expect("xdas/spectrum", "X", "c16", np.fft.rfft(x, axis=0), {0: ("frequency", half_steps(300, 0.02)), 1: distance})
expect("xdas/both", "X", "c16", np.fft.fft2(x, norm="ortho"))
expect("xdas/power", "X", "f8", power(np.fft.rfft2(x)),
       {0: ("frequency", steps(300, 0.02)), 1: ("frequency_2", half_steps(401, 25))})
expect("xdas/over_time", "s", "f8", x.sum(axis=0), {0: distance})
expect("xdas/over_distance", "s", "f8", x.sum(axis=1), {0: time})
expect("xdas/covariance", "c", "f8", x @ x.T, {0: ("row", np.arange(300)), 1: ("column", np.arange(300))})
expect("xdas/half_precision", "y", "f2", x.astype("f2"), {0: time, 1: distance})
points = {0: ("time_points", bare(2))}
expect("xdas/time", "y", "i8", [0, 5980], points, "milliseconds since 2023-01-01 00:00:00")
expect("xdas/seconds", "y", "f8", [0, 5.98], points)

# --- HERA: 60 NaN, in the first two channels
file = "hera_zen.2459861.baseline.0_4.sum.uvh5"
x, width, second = read(file, "Data/visdata"), 122070.3125, 9.66367642
filled = np.where(np.isnan(x), 0, x)
assert (np.argwhere(np.isnan(x))[:, 1] < 2).all() and np.isnan(x).sum() == 60
delay = steps(100, width)
powers = power(np.fft.fft(filled[..., 0]))
v = filled[..., 0]
expect("hera/delay", "X", "c16", np.fft.fft(filled, axis=1), {1: ("frequency", delay)})
expect("hera/delay_of_good_channels", "X", "c16", np.fft.fft(x[:, 2:, 0]), {1: ("frequency", steps(98, width))})
expect("hera/delay_with_nan", "X", "c16", np.full((30, 100, 1), np.nan))
fringe = np.fft.fft(filled, axis=0)
expect("hera/fringe", "X", "c16", fringe, {0: ("frequency", steps(30, second))})
expect("hera/fringe_with_nan", "X", "c16", np.where(np.arange(100)[:, None] < 2, np.nan, fringe))
expect("hera/delay_power", "X", "f8", powers, {1: ("frequency", delay)})
expect("hera/delay_power_averaged", "s", "f8", powers.sum(axis=0), {0: ("frequency", delay)})
expect("hera/over_time", "s", "c16", x.sum(axis=0))
expect("hera/over_time_without_nan", "s", "c16", np.nansum(x, axis=0))
expect("hera/covariance", "c", "c16", np.einsum("ta,tb->ab", v.conj(), v))
expect("hera/rotated", "z", "c16", x * x[11:12])
expect("hera/megahertz", "y", "f8", read(file, "Header/freq_array") / 1e6)
antennas = read(file, "Header/antenna_positions")
expect("hera/antennas", "c", "f8", np.einsum("ia,ja->ij", antennas, antennas))
expect("hera/centre", "s", "f8", antennas.sum(axis=0))
expect("hera/correlator_start", "y", "i8", read(file, "Header/extra_keywords/t0").astype("i8"))

# --- DES Y1
expect("desy1/metadata", "y", "f8", np.zeros(0))
expect("desy1/nothing", "s", "f8", 0)
expect("desy1/version", "y", "i4", [1])

# --- MWA
band = read("mwa_MWA_rev_cb_10khz_doubles.h5", "coarse_band")
table = read("mwa_sigma1.h5", "sig_data").reshape(19, 19)
expect("mwa/lags", "X", "c16", np.fft.fft(band), {0: ("frequency", steps(128, 1e4))})
expect("mwa/response", "z", "f8", band**2)
expect("mwa/outer", "c", "f8", np.outer(band, band))
expect("mwa/energy", "c", "f8", np.dot(band, band))
expect("mwa/table_transformed", "X", "c16", np.fft.fft2(table))
expect("mwa/table_times_its_transpose", "c", "f8", table @ table.T)
expect("mwa/rows", "s", "f8", table.sum(axis=1))
expect("mwa/columns_single", "s", "f4", table.sum(axis=0))


def fault_of(stored, dtype, values, scales, units):
    """What is wrong with a dataset, and its relative L2 difference."""
    if (stored.dtype, stored.shape) != (dtype, values.shape):
        return f"is {stored.dtype} {stored.shape}, not {dtype} {values.shape}", np.nan
    got = stored[()]
    if (np.isnan(got) != np.isnan(values)).any():
        return "NaN at other places", np.nan
    error, norm = np.linalg.norm(np.nan_to_num(got - values)), np.linalg.norm(np.nan_to_num(values))
    relative = error / norm if error else 0.0
    single = dtype in (np.dtype("f4"), np.dtype("c8"))
    if relative > (0 if dtype.kind == "i" or dtype == np.dtype("f2") else 4e-6 if single else 4e-14):
        return "differs", relative
    for axis, (name, positions) in scales.items():
        scale = stored.dims[axis][0]
        if scale.name.split("/")[-1] != name:
            return f"axis {axis} is {scale.name}, not {name}", relative
        if not np.allclose(scale[()], positions, rtol=1e-14, atol=0):
            return f"{name} has other values", relative
    given = stored.attrs.get("units")
    return ("" if given == units else f"units are {given}, not {units}"), relative


bad = 0
for case, (dataset, *wanted) in expected.items():
    path = f"{out}/{case}.h5"
    fault, relative = "was not written", np.nan
    if os.path.exists(path):
        with h5py.File(path) as stored:
            fault, relative = fault_of(stored[dataset], *wanted)
    print(f"{case:32} {relative:8.1e}  {fault or 'good'}")
    bad += fault != ""
written = {path[len(out) + 1 : -3] for path in glob.glob(out + "/*/*.h5")}
for case in sorted(written - set(expected)):
    print(f"{case:32}           nothing is expected of it")
    bad += 1
sys.exit(1 if bad else 0)
