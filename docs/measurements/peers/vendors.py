#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# vendors.py OUT.json: what PyTorch and CuPy get from the vendor's libraries for the cases of configs/bench/, as rows for
# `gridstride bench --rows`: the copy of a tensor, matrix products (cuBLAS through torch.matmul), transforms (cuFFT through
# CuPy's plans; torch.fft with out= copies once more). Times are those of bench: between events, of calls below 100 us as
# the replay of a CUDA graph, over sets of inputs above twice the L2, the median of the samples. Needs torch and cupy.
import sys

try:
    import cupy
    import torch
except ImportError as missing:
    sys.exit(f"vendors: {missing}: pip install torch cupy-cuda13x")

from timing import row, seconds, sets, write

torch.backends.cuda.matmul.allow_tf32 = False


def copies():
    for case, n in {"large": 536_870_912, "copy of 4 GiB": 1_073_741_824}.items():
        x = torch.rand(n, device="cuda")
        y = torch.empty_like(x)
        yield case, "copy", "torch", 8 * n, seconds([lambda: y.copy_(x)])


def products():
    kinds = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64,
             "complex128": torch.complex128}
    for case, dtype, a, b in [("small", "float32", (512, 512), (512, 512)),
                              ("float64_2048", "float64", (2048, 2048), (2048, 2048)),
                              ("float32_4096", "float32", (4096, 4096), (4096, 4096)),
                              ("tf32_4096", "float32", (4096, 4096), (4096, 4096)),
                              ("float16_4096", "float16", (4096, 4096), (4096, 4096)),
                              ("bfloat16_8192", "bfloat16", (8192, 8192), (8192, 8192)),
                              ("odd_float32", "float32", (4097, 4099), (4099, 4095)),
                              ("odd_float64", "float64", (4097, 4099), (4099, 4095)),
                              ("odd_bfloat16", "bfloat16", (4097, 4099), (4099, 4095)),
                              ("narrow", "float32", (8192, 8192), (8192, 16)),
                              ("vector", "float32", (16384, 8192), (8192,)),
                              ("batched", "float32", (512, 128, 128), (512, 128, 128)),
                              ("complex", "complex128", (1024, 1024), (1024, 1024))]:
        # In the type itself: numbers of fewer digits cost less power, and so time.
        made = [tuple(torch.randn(shape, device="cuda", dtype=kinds[dtype]) for shape in (a, b))]
        out = made[0][0] @ made[0][1]
        size = sum(t.numel() * t.element_size() for t in (*made[0], out))
        made += [(made[0][0].clone(), made[0][1].clone()) for _ in range(sets(size) - 1)]
        outs = [torch.empty_like(out) for _ in made]
        torch.backends.cuda.matmul.allow_tf32 = case.startswith("tf32")
        calls = [lambda x=x, y=y, z=z: torch.matmul(x, y, out=z) for (x, y), z in zip(made, outs)]
        yield case, "matmul", "torch (cuBLAS)", size, seconds(calls)
        torch.backends.cuda.matmul.allow_tf32 = False
        del made, outs, calls, out


def transforms():
    for case, dtype, shape in [("direct", "complex64", (64, 1021)), ("textbook", "complex128", (1, 100_000)),
                               ("batch_1024", "complex64", (65_536, 1024)),
                               ("batch_4096_double", "complex128", (8192, 4096)),
                               ("composite", "complex64", (32_768, 2310)), ("prime", "complex64", (16_384, 4093)),
                               ("long", "complex64", (1, 16_777_216)), ("long_prime", "complex128", (1, 1_299_709)),
                               ("real", "float32", (32_768, 4096)), ("image", "complex64", (32, 1024, 1024))]:
        code = {"complex64": cupy.cuda.cufft.CUFFT_C2C, "complex128": cupy.cuda.cufft.CUFFT_Z2Z,
                "float32": cupy.cuda.cufft.CUFFT_R2C}[dtype]
        length = shape[1:]
        out_shape = shape if dtype != "float32" else (shape[0], shape[1] // 2 + 1)
        out_type = "complex64" if dtype == "float32" else dtype
        x = cupy.random.standard_normal(shape).astype(dtype)
        size = x.nbytes + int(cupy.dtype(out_type).itemsize * cupy.prod(cupy.array(out_shape)))
        if len(length) == 1:
            plan = cupy.cuda.cufft.Plan1d(length[0], code, shape[0])
        else:
            n = length[0] * length[1]
            plan = cupy.cuda.cufft.PlanNd(length, length, 1, n, length, 1, n, code, shape[0], "C", 1, length[1])
        made = [(x.copy(), cupy.empty(out_shape, out_type)) for _ in range(sets(size))]

        def call(x, y):
            with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
                plan.fft(x, y, cupy.cuda.cufft.CUFFT_FORWARD)

        yield case, "dft", "cupy (cuFFT)", size, seconds([lambda x=x, y=y: call(x, y) for x, y in made])
        del made, x, plan
        cupy.get_default_memory_pool().free_all_blocks()


rows = []
for make in (copies, products, transforms):
    for case, op, program, size, times in make():
        rows.append(row(case, op, program, size, times))
    torch.cuda.empty_cache()
write(sys.argv[1], f"torch {torch.__version__}, cupy {cupy.__version__}", rows)
