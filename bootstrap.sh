#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 or Ubuntu 24.04 to a first result, or to all tests passed:
#   ./bootstrap.sh run    installs what is missing, builds, runs configs/quickstart.yaml
#   ./bootstrap.sh test   the same build, then all but the big tests; the last line is 'N passed, N failed, N skipped'
set -euo pipefail
cd "$(dirname "$0")"

packages=(g++ cmake ninja-build pkg-config libhdf5-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev
    libfftw3-dev libopenblas-dev libgtest-dev)
test_packages=(clang-format-14 python3 python3-numpy python3-h5py python3-xarray python3-h5netcdf)

say() { printf '\n== %s\n' "$*"; }

# install PACKAGE...: those that are not there yet, or the command that would.
install() {
    if ! command -v apt-get >/dev/null; then
        echo "no apt-get here: what is needed has these names on Debian: $*"
        return
    fi
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    if [ ${#root[@]} -gt 0 ] && ! sudo -n true 2>/dev/null; then
        echo "packages are missing; install them, then start this again:"
        echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
        exit 1
    fi
    say "Installing ${missing[*]}"
    "${root[@]}" apt-get update -q
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configure PRESET
configure() {
    local options=()
    if command -v ccache >/dev/null; then
        options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
    fi
    [ "${CI:-}" != true ] || options+=(-DGRIDSTRIDE_WERROR=ON -DCMAKE_CUDA_ARCHITECTURES=90a-real)
    cmake --preset "$1" "${options[@]}"
}

passed=0 failed=0 skipped=0

# check NAME COMMAND...: one case; what it printed is shown where it failed, 77 is skipped.
check() {
    local name=$1 output status=0
    output=$("${@:2}" 2>&1) || status=$?
    case $status in
    0) passed=$((passed + 1)) && echo "ok      $name" ;;
    77) skipped=$((skipped + 1)) && echo "skipped $name: $output" ;;
    *) failed=$((failed + 1)) && printf '%s\nFAILED  %s (exit %s)\n' "$output" "$name" "$status" ;;
    esac
}

# run_tests FOLDER: ctest, its programs' cases counted. Programs share the processors, so their threads wait asleep.
run_tests() {
    local counts
    rm -rf "$1/results" && mkdir "$1/results"
    OMP_WAIT_POLICY=passive GTEST_OUTPUT="xml:$PWD/$1/results/" ctest --test-dir "$1" -LE big --output-on-failure -j "$(nproc)" \
        --output-junit results/ctest.junit || true
    counts=$(/usr/bin/python3 tests/count.py "$1/results")
    echo "$1: $counts"
    read -r p _ f _ s _ <<<"$counts"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

sources() { find apps io kernels tests validation -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh'; }

build() {
    [ -x /usr/local/cuda/bin/nvcc ] && PATH=$PATH:/usr/local/cuda/bin
    local preset=cpu
    if [ "${GRIDSTRIDE_CUDA:-}" = OFF ]; then
        echo "CUDA is left out: GRIDSTRIDE_CUDA=OFF"
    elif command -v nvcc >/dev/null; then
        preset=cuda
    else
        echo "CUDA is left out: no toolkit (nvcc) was found"
    fi
    say "Configuring and building ($preset) in build/"
    configure "$preset"
    cmake --build build "$@"
}

case ${1:-} in
run)
    install "${packages[@]}"
    build --target gridstride
    say "Running configs/quickstart.yaml"
    ./build/gridstride run configs/quickstart.yaml
    echo
    echo "The results and report.json lie in $PWD/out/quickstart/:"
    ls out/quickstart
    echo "Run your own job: ./build/gridstride run JOB.yaml; an example: ./build/gridstride list matmul --example"
    ;;
test)
    install "${packages[@]}" "${test_packages[@]}"
    build
    say "Tests"
    run_tests build
    say "Sanitizers: building in build-sanitize/ and testing"
    configure sanitize
    cmake --build build-sanitize
    run_tests build-sanitize
    say "Format, job files, and other programs on the results"
    check "clang-format" bash -c "$(declare -f sources); sources | xargs clang-format-14 --dry-run --Werror"
    for config in configs/*.yaml; do
        check "$config" ./build/gridstride run "$config" --output-dir "build/results/$(basename "$config" .yaml)"
    done
    for script in tests/python/*.py; do
        check "$script" /usr/bin/python3 "$script" ./build/gridstride
    done
    echo
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    ;;
*)
    sed -n '3,5s/^# //p' "$0"
    exit 2
    ;;
esac
