#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# sanitize.sh BUILD_FOLDER: compute-sanitizer's memcheck, racecheck and initcheck over the cases of test_gpu that are
# small. One line a tool; exit 1 if any finds something or a case fails, 77 where the tool or a device is missing.
# GRIDSTRIDE_GPU_ELEMENTS and GRIDSTRIDE_GPU_CASES (tests/gpu/variants_test.cpp) may be set to other limits.
#
# memcheck runs every variant, the vendors' too: the pointers and sizes that they get are ours. Errors that CUDA calls
# return are left to the program, which checks each of them (it asks, for one, for launches that may be refused).
# racecheck looks at shared memory, initcheck at device memory; both run our kernels alone.
# For initcheck the outputs are left as they are allocated: the engine's poison counts as initialised.
# Left out: the faulty variants, which race on purpose, and devices_test.cpp, which takes all memory and ends a process.
set -u
if [ $# -ne 1 ]; then
    echo "usage: sanitize.sh BUILD_FOLDER" >&2
    exit 2
fi
program=$1/tests/test_gpu
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ ! -x "$sanitizer" ]; then
    echo "sanitize.sh: no compute-sanitizer, in PATH or in /usr/local/cuda/bin" >&2
    exit 77
fi
if [ ! -x "$program" ]; then
    echo "sanitize.sh: no $program: build with CUDA first" >&2
    exit 2
fi
export GRIDSTRIDE_GPU_ELEMENTS=${GRIDSTRIDE_GPU_ELEMENTS:-3000} GRIDSTRIDE_GPU_CASES=${GRIDSTRIDE_GPU_CASES:-25}
logs=$(mktemp -d)
left_out='*GpuFaulty*:*Devices*:GpuJudging*'
vendors='*_cublas:*_cublaslt:*_cufft:*_cub:*_memcpy'
failed=0

# check TOOL FILTER OPTIONS...
check() {
    local tool=$1 filter=$2 log=$logs/$1.log start=$SECONDS status ran
    shift 2
    "$sanitizer" --tool "$tool" --error-exitcode 1 "$@" "$program" --gtest_filter="$filter" >"$log" 2>&1
    status=$?
    if grep -q "no CUDA device" "$log"; then
        echo "sanitize.sh: no CUDA device" >&2
        exit 77
    fi
    ran=$(grep -c '^\[       OK \]' "$log")
    if [ "$status" -eq 0 ] && [ "$ran" -gt 0 ] && grep -q 'SUMMARY: 0 ' "$log"; then
        echo "$tool: clean, $ran tests, $((SECONDS - start)) s"
    else
        failed=1
        echo "$tool: FAILED ($ran tests passed, exit $status, $(grep 'SUMMARY:' "$log" | tail -1)), see $log"
    fi
}

check memcheck "-$left_out" --report-api-errors no
check racecheck "-$left_out:$vendors"
GRIDSTRIDE_GPU_POISON=off check initcheck "-$left_out:$vendors"
exit $failed
