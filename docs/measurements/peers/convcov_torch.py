#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# convcov_torch.py OUT.json [CASE...]: convcov as a PyTorch user writes it, for the cases of configs/bench/convcov.yaml,
# as rows for `gridstride bench --rows`: channels summed first (the diagonal blocks, and all outer products of mu by one
# baddbmm), the window by sums of slices, the result added in place to the diagonal blocks. Three programs: eager; eager
# recorded in a CUDA graph, where launches cost most of the time; torch.compile, which fuses outer products and sum.
# Each is checked against the definition in float64 at some places before it is timed. Needs torch.
import itertools
import math
import random
import sys
from dataclasses import dataclass

try:
    import torch
    import torch.nn.functional as F
except ImportError as missing:
    sys.exit(f"convcov_torch: {missing}: pip install torch")

from timing import row, seconds, sets, write

torch.backends.cuda.matmul.allow_tf32 = False
COEF = 0.1


@dataclass
class Case:
    batch: int
    channels: tuple  # in, out
    side: int  # of the square map
    kernel: int = 3
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    dtype: torch.dtype = torch.float32
    full: bool = False  # gamma and accumulate with all their blocks between channels

    @property
    def out(self):
        return (self.side + 2 * self.padding - self.dilation * (self.kernel - 1) - 1) // self.stride + 1

    @property
    def accumulator(self):
        return torch.float64 if self.dtype == torch.float64 else torch.float32

    def under(self, i, u):
        """The input row (or column) of output i under tap u, None in the padding."""
        r = i * self.stride + u * self.dilation - self.padding
        return r if 0 <= r < self.side else None

    def bytes(self):
        """Compulsory: gamma's pairs that meet under a tap, mu, accumulate, cov."""
        taps = itertools.product(range(self.out), range(self.out), range(self.kernel))
        met = {(self.under(i, u), self.under(k, u)) for i, k, u in taps}
        pairs = sum(None not in pair for pair in met)
        elements = self.channels[0] * (pairs**2 + self.side**2) + 2 * self.channels[1] * self.out**4
        return self.batch * elements * self.dtype.itemsize


CASES = {
    "layer": Case(2, (64, 64), 34),
    "layer_float16": Case(2, (64, 64), 34, dtype=torch.float16),
    "layer_float64": Case(2, (64, 64), 34, dtype=torch.float64),
    "full": Case(2, (16, 16), 34, full=True),
    "few_channels": Case(16, (3, 3), 34),
    "many_channels": Case(1, (256, 256), 10),
    "small": Case(2, (3, 3), 9, full=True),
    "stride": Case(2, (64, 128), 32, stride=2, padding=1),
    "dilation": Case(2, (64, 64), 36, dilation=2),
    "kernel_5": Case(2, (64, 64), 34, kernel=5),
}


def window(case, s):
    """Sums over the taps of S (B, H, W, H, W): rows, then columns."""
    if case.padding > 0:
        s = F.pad(s, [case.padding] * 8)
    ends = case.stride * (case.out - 1) + 1
    taps = [slice(u * case.dilation, u * case.dilation + ends, case.stride) for u in range(case.kernel)]
    rows = s[:, taps[0], :, taps[0]]
    for at in taps[1:]:
        rows = rows + s[:, at, :, at]
    result = rows[:, :, taps[0], :, taps[0]]
    for at in taps[1:]:
        result = result + rows[:, :, at, :, at]
    return result


def eager(case, gamma, mu, accumulate):
    """gamma (B, C, H, W, H, W) and accumulate (B, O, Ho, Wo, Ho, Wo) may be views of the diagonal blocks."""
    batch, channels, height, width = mu.shape
    places = height * width
    means = mu.reshape(batch, channels, places).to(case.accumulator)
    s = gamma.sum(1, dtype=case.accumulator).reshape(batch, places, places)
    s = torch.baddbmm(s, means.transpose(1, 2), means).view(batch, height, width, height, width)
    accumulate.add_(window(case, s).unsqueeze(1), alpha=COEF)


def fused(case, gamma, mu, accumulate):
    """The same in the form that a compiler makes one reduction of."""
    mu = mu.to(case.accumulator)
    s = (gamma.to(case.accumulator) + mu[:, :, :, :, None, None] * mu[:, :, None, None]).sum(1)
    accumulate.add_(window(case, s).unsqueeze(1), alpha=COEF)


def diagonal(tensor):
    """(B, C, H, W, H, W), a view of (B, C, H, W, C, H, W)."""
    return tensor.diagonal(dim1=1, dim2=4).movedim(-1, 1) if tensor.dim() == 7 else tensor


def made(case):
    """gamma, mu, accumulate: diagonal blocks, of one set."""
    batch, (ci, co), n, m = case.batch, case.channels, case.side, case.out

    def blocks(channels, side):
        shape = (batch, channels, side, side, *([channels] if case.full else []), side, side)
        return diagonal(torch.rand(shape, device="cuda", dtype=case.dtype))

    gamma, accumulate = blocks(ci, n), blocks(co, m)
    return gamma, torch.randn((batch, ci, n, n), device="cuda", dtype=case.dtype), accumulate


def definition(case, gamma, mu, before, place):
    """accumulate + coef R at (b, o, i, j, i', j'), its sum of |terms|: by loops over taps and channels in float64."""
    b, o, i, j, i2, j2 = place
    terms = []
    for u, v in itertools.product(range(case.kernel), repeat=2):
        r, q, r2, q2 = case.under(i, u), case.under(j, v), case.under(i2, u), case.under(j2, v)
        if None in (r, q, r2, q2):
            continue
        first, second = mu[b, :, r, q].double().tolist(), mu[b, :, r2, q2].double().tolist()
        terms += gamma[b, :, r, q, r2, q2].double().tolist()
        terms += [x * y for x, y in zip(first, second)]
    return before + COEF * math.fsum(terms), abs(before) + COEF * math.fsum(map(abs, terms))


def passes(case, call, inputs):
    gamma, mu, accumulate = inputs
    dice, m = random.Random(1), case.out
    places = [(0, 0, 0, 0, 0, 0), (case.batch - 1, case.channels[1] - 1, m - 1, m - 1, m - 1, m - 1)]
    places += [tuple(dice.randrange(n) for n in accumulate.shape) for _ in range(14)]
    before = [accumulate[place].item() for place in places]
    call(gamma, mu, accumulate)
    depth = case.channels[0] + 2 * case.kernel  # additions behind an output, channels first
    roundoff = torch.finfo(case.accumulator).eps / 2
    stored = torch.finfo(case.dtype).eps / 2 if case.dtype == torch.float16 else 0
    for place, held in zip(places, before):
        expected, magnitude = definition(case, gamma, mu, held, place)
        got = accumulate[place].item()
        if not abs(got - expected) <= 4 * depth * roundoff * magnitude + stored * abs(expected):
            print(f"at {place}: {got}, by definition {expected}")
            return False
    return True


def measured(name, case):
    size = case.bytes()
    inputs = [made(case) for _ in range(sets(size, most=1024))]
    programs = {"torch": (eager, False)}
    if size < 50e6:
        programs["torch, in a CUDA graph"] = (eager, True)
    torch.compiler.reset()  # a case is compiled for its own sizes alone
    programs["torch.compile"] = (torch.compile(fused, dynamic=False), False)
    for program, (function, replay) in programs.items():
        def call(gamma, mu, accumulate, function=function):
            function(case, gamma, mu, accumulate)

        if not passes(case, call, inputs[0]):
            sys.exit(f"convcov_torch: {name}: {program} is wrong")
        calls = [lambda one=one: call(*one) for one in inputs]
        yield row(name, "convcov", program, size, seconds(calls, budget=0.2, replay=replay), "pass")


rows = []
with torch.no_grad():
    for name in sys.argv[2:] or CASES:
        rows += measured(name, CASES[name])
        torch.cuda.empty_cache()
write(sys.argv[1], f"torch {torch.__version__}", rows)
