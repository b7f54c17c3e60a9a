#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Files written by h5py go through every operation of the program (argument 1) and come back through h5py and xarray;
# the answers are NumPy's. Exit 77 where a module is missing.
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5netcdf  # noqa: F401  (xarray's engine)
    import h5py
    import numpy as np
    import xarray
except ImportError as missing:
    print(missing)
    sys.exit(77)

rng = np.random.default_rng(5)
data = {
    "a": rng.standard_normal((5, 1, 7, 4)),
    "b": rng.standard_normal((3, 4, 6)).astype(np.float32),
    "z": rng.standard_normal((9, 15)) + 1j * rng.standard_normal((9, 15)),
    "x": rng.standard_normal((3, 60)).astype(np.float32),
    "i": rng.integers(-(2**31), 2**31, (4, 5), dtype=np.int32),
    "j": rng.integers(-(2**31), 2**31, (5,), dtype=np.int32),
    "u": rng.integers(0, 255, (6, 3), dtype=np.uint8),
    "big": rng.standard_normal((4, 3)).astype(">f8"),
    "h": rng.standard_normal((2, 9)).astype(np.float16),
    "f": rng.random((4, 4)) < 0.5,
    "gamma": rng.standard_normal((2, 3, 5, 4, 5, 4)),
    "mu": rng.standard_normal((2, 3, 5, 4)),
    "vectors": rng.standard_normal((2, 4)),
    "variances": rng.random((4, 3, 3, 2)),
}
z, x, mu, gamma = data["z"], data["x"], data["mu"], data["gamma"]


def windows(gamma, mu, weights, padding=(0, 0, 0, 0)):
    """The definition: sums over channel and tap of second moments at the same tap, by (O, C, rows, columns)."""
    second = gamma + np.einsum("bcij,bckl->bcijkl", mu, mu)
    for axis in (2, 4):  # the map again around it; numpy.pad's wrap of NumPy 1.24 goes wrong past one map
        second = second.take(range(-padding[0], mu.shape[2] + padding[1]), axis, mode="wrap")
        second = second.take(range(-padding[2], mu.shape[3] + padding[3]), axis + 1, mode="wrap")
    height, width = second.shape[2] - weights.shape[2] + 1, second.shape[3] - weights.shape[3] + 1
    total = 0
    for u, v in np.ndindex(weights.shape[2:]):
        down, across = slice(u, u + height), slice(v, v + width)
        total = total + np.einsum("oc,bcijkl->boijkl", weights[:, :, u, v], second[:, :, down, across, down, across])
    return total


def factor(rows, columns, gamma=gamma, **more):
    return windows(gamma, mu, np.ones((1, mu.shape[1], rows, columns)), **more)


def by_channel(coef, r):
    return np.asarray(coef)[..., None, :, None, None, None, None] * r


places = mu.shape[2] * mu.shape[3]
upper = np.triu(gamma.reshape(mu.shape[:2] + (places, places)))
mirrored = (upper + np.triu(upper, 1).swapaxes(2, 3)).reshape(gamma.shape)
itself = np.eye((mu.shape[2] - 2) * (mu.shape[3] - 1)).reshape((mu.shape[2] - 2, mu.shape[3] - 1) * 2)

# name: (operation, inputs, parameters, other keys, output, NumPy's answer, relative tolerance; 0: bit for bit)
jobs = {
    "copied": ("copy", "x: big", "", "", "y", data["big"].astype("<f8"), 0),
    "narrowed": ("copy", "x: a", "", "result_dtype: float32", "y", data["a"].astype(np.float32), 0),
    "boolean": ("copy", "x: f", "", "", "y", data["f"].astype(np.int32), 0),
    "added": ("add", "x: i, y: j", "", "", "z", data["i"] + data["j"], 0),
    "halves": ("add", "x: h, y: h", "", "", "z", data["h"] + data["h"], 0),
    "mixed": ("add", "x: x, y: {from: x64}", "", "", "z", x + x.astype(np.float64), 0),
    "multiplied": ("multiply", "x: i, y: j", "", "", "z", data["i"] * data["j"], 0),
    "product": ("multiply", "x: z, y: z", "", "", "z", z * z, 1e-15),
    "summed": ("sum", "x: a", "axes: [0, 2], keepdims: true", "", "s", data["a"].sum((0, 2), keepdims=True), 1e-14),
    "counted": ("sum", "x: u", "axes: 1", "", "s", data["u"].sum(1).astype(np.int64), 0),
    "batches": ("matmul", "a: a, b: b", "", "", "c", data["a"] @ data["b"], 1e-13),
    "adjoint": ("matmul", "a: z, b: z", "transpose_a: adjoint, alpha: [0.5, -2]", "", "c", (0.5 - 2j) * z.conj().T @ z, 1e-13),
    "forward": ("dft", "x: z", "axes: 0", "", "X", np.fft.fft(z, axis=0), 1e-13),
    "inverse": ("dft", "x: z", "axes: [0, 1], direction: inverse, norm: ortho", "", "X", np.fft.ifft2(z, norm="ortho"), 1e-13),
    "padded": ("dft", "x: z", "n: 22", "", "X", np.fft.fft(z, 22), 1e-13),
    "half": ("dft", "x: x", "form: half", "", "X", np.fft.rfft(x).astype(np.complex64), 1e-5),
    "real": ("dft", "x: z", "form: real", "", "X", np.fft.irfft(z), 1e-13),
    "power": ("dft", "x: x", "form: power", "", "X", (np.abs(np.fft.rfft(x)) ** 2).astype(np.float32), 1e-5),
    "covariance": ("convcov", "gamma: gamma, mu: mu, coef: [0.5, -1, 2]", "kernel: [3, 2]", "", "cov",
                   by_channel([0.5, -1, 2], factor(3, 2)), 1e-13),
    "circular": ("convcov", "gamma: gamma, mu: mu, coef: [0.5, -1, 2]",
                 "kernel: [3, 2], padding: [7, 0, 1, 9], padding_mode: circular", "", "cov",
                 by_channel([0.5, -1, 2], factor(3, 2, padding=(7, 0, 1, 9))), 1e-13),
    "read": ("convcov", "gamma: gamma, mu: mu, coef: [0.5, -1, 2]", "kernel: [3, 2], noise: read, bias: true", "", "cov",
             by_channel([0.5, -1, 2], (factor(3, 2) + 1) * itself), 1e-13),
    "mirrored": ("convcov", "gamma: gamma, mu: mu, coef: [0.5, -1, 2]", "kernel: [3, 2], symmetric: assume", "", "cov",
                 by_channel([0.5, -1, 2], factor(3, 2, mirrored)), 1e-13),
    "vectors": ("convcov", "gamma: gamma, mu: mu, coef: vectors", "kernel: [3, 2]", "", "cov",
                by_channel(data["vectors"], factor(3, 2)), 1e-13),
    "own_variances": ("convcov", "gamma: gamma, mu: mu, weight_variance: variances", "kernel: [3, 2]", "", "cov",
                      windows(gamma, mu, data["variances"]), 1e-13),
}

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    with h5py.File(folder / "in.h5", "w") as file:
        for key, values in data.items():
            file.create_dataset(key, data=values, chunks=values.shape, compression="gzip", shuffle=True)
        file["x64"] = x.astype(np.float64)
        file["a"].attrs["units"] = "m"
    text = "jobs:\n"
    for job, (op, inputs, params, more, _, _, _) in jobs.items():
        quoted = []
        for one in inputs.split(", ") if "coef: [" not in inputs else ["gamma: gamma", "mu: mu", inputs.split(", ", 2)[2]]:
            key, value = one.split(": ", 1)
            if "from" in value:
                value = '{from: "in.h5:/x64"}'
            elif value in data:
                value = f'"in.h5:/{value}"'
            quoted.append(f"{key}: {value}")
        text += f"  {job}:\n    op: {op}\n    inputs: {{{', '.join(quoted)}}}\n    outputs: {job}.h5\n"
        text += f"    params: {{{params}}}\n" * bool(params) + f"    {more}\n" * bool(more)
    (folder / "all.yaml").write_text(text)
    ran = subprocess.run([sys.argv[1], "run", folder / "all.yaml", "--output-dir", folder / "out"],
                         capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{text}\n{ran.stdout}{ran.stderr}\nexit {ran.returncode}")

    wrong = 0
    for job, (_, _, _, _, output, expected, tolerance) in jobs.items():
        path = folder / "out" / f"{job}.h5"
        try:
            with h5py.File(path) as file:
                got = file[output][()]
                scales = [file[output].dims[axis].keys() for axis in range(expected.ndim)]
            assert got.dtype == expected.dtype and got.shape == expected.shape, f"{got.dtype} {got.shape}"
            if tolerance == 0:
                assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), "bits differ"
            error = np.linalg.norm((got - expected).ravel()) / np.linalg.norm(expected.ravel())
            assert error <= tolerance, f"relative error {error}"
            assert all(scales), f"an axis without a scale: {scales}"
            with xarray.open_dataset(path, engine="h5netcdf") as dataset:
                assert dataset[output].shape == expected.shape and len(set(dataset[output].dims)) == expected.ndim
        except Exception as error:  # every job is looked at
            wrong += 1
            print(f"{job}: {type(error).__name__}: {error} (NumPy: {expected.dtype} {expected.shape})")
    with h5py.File(folder / "out" / "narrowed.h5") as file:
        if file["y"].attrs.get("units") not in ("m", b"m"):
            wrong += 1
            print("narrowed: units were not carried over")
    print(f"{len(jobs)} jobs, {wrong} wrong")
    sys.exit(wrong > 0)
