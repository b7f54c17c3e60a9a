# SPDX-License-Identifier: BSD-3-Clause
# What the programs beside it that call PyTorch share: times as bench takes them (between events, of calls below 100 us
# as the replay of a CUDA graph, over sets of inputs above twice the L2, the median of the samples), rows in its form.
import json
import statistics

import torch

CACHE = torch.cuda.get_device_properties(0).L2_cache_size


def sets(size, most=64):
    """Sets of inputs and outputs of `size` bytes that are above twice the L2."""
    return min(2 * CACHE // size + 1, most)


def seconds(calls, budget=0.5, replay=False):
    """Times of a call of the sets' `calls`. budget: seconds of samples. replay: as a graph, however long a call is."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        calls[0]()
        end.record()
        stream.synchronize()
        once = max(start.elapsed_time(end) * 1e-3, 1e-6)
        n = max(len(calls), round(1e-3 / once)) if once < 1e-4 or replay else 1
        graph = torch.cuda.CUDAGraph()
        if n > 1 or replay:
            with torch.cuda.graph(graph, stream=stream):
                for i in range(n):
                    calls[i % len(calls)]()
            graph.replay()
        samples = []
        while len(samples) < 10 or (sum(samples) * n < budget and len(samples) < 1000):
            if n == 1 and not replay:
                # The device is still busy with it when the next is launched; of another set, where there is one.
                calls[(len(samples) + 1) % len(calls)]()
            start.record()
            graph.replay() if n > 1 or replay else calls[len(samples) % len(calls)]()
            end.record()
            stream.synchronize()
            samples.append(start.elapsed_time(end) * 1e-3 / n)
    quartiles = statistics.quantiles(samples, n=4, method="inclusive")
    return {"median": statistics.median(samples), "q1": quartiles[0], "q3": quartiles[2], "min": min(samples),
            "samples": samples}


def row(case, op, program, size, times, verdict="unvalidated"):
    """A row of bench.json; size: compulsory bytes. It is printed too."""
    print(f"{case:20} {program:22} {times['median'] * 1e3:10.4f} ms {size / times['median'] * 1e-9:8.0f} GB/s")
    return {"case": case, "job": case, "op": op, "variant": "", "role": "vendor", "device": "cuda:0",
            "program": program, "verdict": verdict, "seconds": times, "bytes": size}


def write(path, program, rows):
    with open(path, "w") as file:
        json.dump({"program": program, "rows": rows}, file, indent=1)
