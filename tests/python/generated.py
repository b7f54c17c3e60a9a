#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Generated inputs have the same bits everywhere: what the program (argument 1) makes is made again here, from the
# published SplitMix64 and the definitions in docs/jobs.md. Exit 77 where a module is missing.
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def bits(key, index):
    return mix(key + (index + 1) * GOLDEN & WORD)


def stream(seed, number):
    return mix(mix(seed + GOLDEN & WORD) ^ mix(number))


def seed_of(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & WORD
    return value


def uniform(word):
    return (word >> 11) * 2.0**-53


def normal(word):
    draw = 0
    while True:
        u, v = (2 * uniform(bits(word, draw + i)) - 1 for i in (0, 1))
        square = u * u + v * v
        if 0 < square < 1:
            return u * math.sqrt(-2 * math.log(square) / square)
        draw += 2


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    kinds = {
        "flat": "{generate: uniform, shape: [3, 40], dtype: float64}",
        "bell": "{generate: normal, shape: [3, 40], dtype: float64, seed: 12}",
        "whole": "{generate: integers, shape: [3, 40], dtype: int32}",
        "pair": "{generate: normal, shape: [3, 40], dtype: complex128, seed: 12}",
    }
    text = "jobs:\n" + "".join(f"  {job}: {{op: copy, inputs: {{x: {made}}}, outputs: {job}.h5}}\n" for job, made in kinds.items())
    (folder / "made.yaml").write_text(text)
    subprocess.run([sys.argv[1], "run", folder / "made.yaml", "--output-dir", folder / "out"], check=True)
    got = {}
    for job in kinds:
        with h5py.File(folder / "out" / f"{job}.h5") as file:
            got[job] = file["y"][()].ravel()

places = range(120)
flat, whole = stream(seed_of("flat/x"), 0), stream(seed_of("whole/x"), 0)
np.testing.assert_array_equal(got["flat"], [uniform(bits(flat, i)) for i in places])
np.testing.assert_array_equal(got["whole"], [((bits(whole, i) >> 32) * 17 >> 32) - 8 for i in places])
re, im = ([normal(bits(stream(12, part), i)) for i in places] for part in (0, 1))
np.testing.assert_allclose(got["bell"], re, rtol=1e-15)  # log differs in its last bit from one libm to the next
np.testing.assert_array_equal(got["pair"].real, got["bell"])
np.testing.assert_allclose(got["pair"].imag, im, rtol=1e-15)
