#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# ligo_spectrum.py DATA OUTPUT: does OUTPUT:/spectrum hold the spectrum that numpy computes of the strain read by h5py?
# Exit 0 yes, 1 no, 77 where a module is missing.
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

strain = h5py.File(sys.argv[1] + "/real/H-H1_LOSC_4_V2-1126259446-32.hdf5")["strain/Strain"][...]
with h5py.File(sys.argv[2]) as output:
    spectrum, frequency = output["spectrum"][...], output["frequency"][...]
expected = np.fft.rfft(strain)
error = np.linalg.norm(spectrum - expected) / np.linalg.norm(expected)
print(f"relative L2 difference {error:.2e}")
good = error < 1e-14 and np.allclose(frequency, np.fft.rfftfreq(len(strain), 1 / 4096), rtol=1e-15, atol=0)
sys.exit(0 if good else 1)
