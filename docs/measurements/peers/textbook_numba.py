#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# textbook_numba.py OUT.json: the textbook kernels as a Numba user writes them, on the first CUDA device, in the rows of
# tests/gpu/textbook/textbook.cpp and on the same problems. Times are by CUDA events, the median of 5 after a warm-up;
# short kernels are launched many times between two events, so that Python's own time for a launch does not count.
# Needs numba (with its CUDA target) and numpy.
import cmath
import datetime
import json
import math
import subprocess
import sys

try:
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba's CUDA target of 2026 names what NumPy 2.5 no longer has
        np.row_stack = np.vstack
    import numba
    from numba import cuda, float32, float64
except ImportError as missing:
    sys.exit(f"textbook_numba: {missing}: pip install numba numpy")

REPEATS = 5
STRETCH = 10e-3  # seconds between two events, at the least where several launches are needed for it
THREADS = 256
rng = np.random.default_rng(1)


@cuda.jit
def add(x, y, z):
    """One thread an element."""
    i = cuda.grid(1)
    if i < z.size:
        z[i] = x[i] + y[i]


@cuda.jit
def matmul_x_along_rows(a, b, c):
    """One thread an output, as Numba's examples write it: neighbours of a warp are a row apart."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def matmul_x_along_columns(a, b, c):
    """The same with the axes swapped: neighbours of a warp are neighbours of a row."""
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def dft(x, X):
    """One thread a frequency."""
    k = cuda.grid(1)
    N = x.size
    if k < N:
        step = -2 * math.pi / N
        total = 0j
        for n in range(N):
            total += x[n] * cmath.exp(1j * (step * k * n))
        X[k] = total


@cuda.jit
def tree_sum(x, total):
    """Threads stride over x, a block's sums meet in a tree in shared memory, one atomic a block."""
    sums = cuda.shared.array(THREADS, float64)
    t = cuda.threadIdx.x
    own = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        own += x[i]
    sums[t] = own
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(total, 0, sums[0])


@cuda.jit
def convcov(gamma, mu, coef, cov, kh, kw):
    """One block an element (b, o, i, j, i', j') of the channel-diagonal blocks, threads over (c, u, v); in place."""
    sums = cuda.shared.array(THREADS, float32)
    Ho, Wo = cov.shape[2], cov.shape[3]
    t = cuda.threadIdx.x
    rest = cuda.blockIdx.x
    j2 = rest % Wo
    rest //= Wo
    i2 = rest % Ho
    rest //= Ho
    j = rest % Wo
    rest //= Wo
    i = rest % Ho
    rest //= Ho
    o = rest % cov.shape[1]
    b = rest // cov.shape[1]
    own = float32(0)
    for term in range(t, mu.shape[1] * kh * kw, THREADS):
        v = term % kw
        u = term // kw % kh
        c = term // (kw * kh)
        own += gamma[b, c, i + u, j + v, c, i2 + u, j2 + v] + mu[b, c, i + u, j + v] * mu[b, c, i2 + u, j2 + v]
    sums[t] = own
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cov[b, o, i, j, o, i2, j2] += coef[o] * sums[0]


def seconds(launch, count=1):
    """Of one launch, by events around `count` of them."""
    begin, end = cuda.event(), cuda.event()
    begin.record()
    for _ in range(count):
        launch()
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(begin, end) / 1e3 / count


def median_seconds(launch):
    launch()  # compiles
    cuda.synchronize()
    count = max(1, math.ceil(STRETCH / max(seconds(launch), 1e-6)))
    return sorted(seconds(launch, count) for _ in range(REPEATS))[REPEATS // 2]


rows = []


def record(case, op, variant, first, took, passed, **more):
    rows.append({
        "case": case, "op": op, "variant": variant, "device": "cuda:0", "dtype": str(first.dtype),
        "shape": list(first.shape), "seconds": took if passed else None, "verdict": "pass" if passed else "mismatch",
        "tolerance_used": None, "vendor_seconds": None, "ratio": None, **more,
    })
    note = "".join(f"  {name} {value:.2g}" for name, value in more.items())
    print(f"{case:<24}{variant:<24}{rows[-1]['verdict']:<10}{took * 1e3:12.4f} ms{note}", flush=True)


def relative(got, expected):
    return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))


def blocks(n, threads=THREADS):
    return (n + threads - 1) // threads


def time_add():
    x, y = rng.uniform(-1, 1, 12_000_000), rng.uniform(-1, 1, 12_000_000)
    dx, dy, dz = cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(x)
    took = median_seconds(lambda: add[blocks(x.size), THREADS](dx, dy, dz))
    record("add of 12 million", "add", "one_per_thread", x, took, np.array_equal(dz.copy_to_host(), x + y))


def time_matmul():
    n = 2048
    a, b = rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, (n, n))
    expected = a @ b
    da, db = cuda.to_device(a), cuda.to_device(b)
    for variant, kernel, block in (("naive_2d_x_along_rows", matmul_x_along_rows, (16, 16)),
                                   ("naive_2d", matmul_x_along_columns, (32, 8))):
        dc = cuda.device_array_like(a)
        grid = (blocks(n, block[0]), blocks(n, block[1]))
        took = median_seconds(lambda: kernel[grid, block](da, db, dc))
        record("matmul 2048", "matmul", variant, a, took, relative(dc.copy_to_host(), expected) < 1e-13)


def time_dft():
    x = rng.uniform(-1, 1, 100_000) + 1j * rng.uniform(-1, 1, 100_000)
    dx, dX = cuda.to_device(x), cuda.device_array_like(x)
    took = median_seconds(lambda: dft[blocks(x.size), THREADS](dx, dX))
    error = relative(dX.copy_to_host(), np.fft.fft(x))
    record("dft of 100 000", "dft", "direct", x, took, error < 1e-9, relative_error=error)


def time_sum():
    x = rng.uniform(-1, 1, 100_000_000)
    dx, total = cuda.to_device(x), cuda.to_device(np.zeros(1))
    grid = 16 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    took = median_seconds(lambda: tree_sum[grid, THREADS](dx, total))
    total.copy_to_device(np.zeros(1))
    tree_sum[grid, THREADS](dx, total)
    error = abs(total.copy_to_host()[0] - math.fsum(x))
    record("sum of 100 million", "sum", "block_tree", x, took, error < 1e-13 * np.abs(x).sum())


def uniform32(shape):
    values = rng.random(shape, dtype=np.float32)
    values *= 2
    values -= 1
    return values


def time_convcov():
    B, C, O, H, W, Ho, Wo, kh, kw = 2, 16, 16, 34, 34, 32, 32, 3, 3
    gamma, mu = uniform32((B, C, H, W, C, H, W)), uniform32((B, C, H, W))
    coef, start = uniform32(O), uniform32((B, O, Ho, Wo, O, Ho, Wo))
    dgamma, dmu, dcoef, cov = (cuda.to_device(array) for array in (gamma, mu, coef, start))
    grid = B * O * Ho * Wo * Ho * Wo

    def launch():
        convcov[grid, THREADS](dgamma, dmu, dcoef, cov, kh, kw)

    took = median_seconds(launch)
    cov.copy_to_device(start)  # it has been added to many times
    launch()
    got = cov.copy_to_host()
    passed = True
    for _ in range(1000):
        b, o, other, i, j, i2, j2 = (int(rng.integers(n)) for n in (B, O, O, Ho, Wo, Ho, Wo))
        expected = float(start[b, o, i, j, o, i2, j2])
        for c in range(C):
            left = mu[b, c, i:i + kh, j:j + kw].astype(float)
            right = mu[b, c, i2:i2 + kh, j2:j2 + kw].astype(float)
            noise = sum(float(gamma[b, c, i + u, j + v, c, i2 + u, j2 + v]) for u in range(kh) for v in range(kw))
            expected += float(coef[o]) * (noise + float((left * right).sum()))
        passed = passed and abs(got[b, o, i, j, o, i2, j2] - expected) < 1e-4
        if other != o:
            passed = passed and got[b, o, i, j, other, i2, j2] == start[b, o, i, j, other, i2, j2]
    record("convcov 34x34 to 32x32", "convcov", "block_per_output", gamma, took, bool(passed))


def driver():
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: textbook_numba.py OUT.json")
    if not cuda.is_available():
        sys.exit("textbook_numba: no CUDA device that Numba can use")
    name = cuda.get_current_device().name
    for timed in (time_add, time_matmul, time_dft, time_sum, time_convcov):
        timed()
    document = {
        "schema": 1, "program": f"numba {numba.__version__}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": name.decode() if isinstance(name, bytes) else name, "driver": driver(),
        "cuda": ".".join(str(part) for part in cuda.runtime.get_version()), "rows": rows,
    }
    with open(sys.argv[1], "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    sys.exit(0 if all(row["verdict"] == "pass" for row in rows) else 1)


if __name__ == "__main__":
    main()
