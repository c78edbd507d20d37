# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Shell functions shared by the programs in tools/ and by CMake (cmake/TestPython.cmake). Sourced,
# never run. It defines functions and constants only and changes nothing else in the shell that reads
# it.

# Prints the path of a Python that has every module the tests and the demo import. A second Python
# (pyenv, conda) is often first on PATH and has none of them, so Debian's own is asked first.
# ZARRBRIDGE_PYTHON, when set, is the only one asked.
find_python() {
    local modules='h5py, osgeo.gdal, zarr, numcodecs, xarray, pytest' python tried=''
    for python in ${ZARRBRIDGE_PYTHON:-/usr/bin/python3 python3}; do
        python=$(command -v "$python") || continue
        if "$python" -c "import $modules" >/dev/null 2>&1; then
            printf '%s\n' "$python"
            return 0
        fi
        tried="$tried $python"
    done
    echo "no Python with the modules $modules (tried:${tried:- none}); run tools/install-deps" >&2
    return 1
}

# Others break some lines differently.
clang_format_version=19

# Prints the path of that clang-format.
find_clang_format() {
    local name
    for name in "clang-format-$clang_format_version" clang-format; do
        if [[ $("$name" --version 2>/dev/null) = *"version $clang_format_version."* ]]; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# Prints a heading for the step that follows.
step() { printf '\n== %s\n' "$*"; }

# Shows a command as a person would type it, then runs it.
show() {
    local word
    printf '\n$'
    for word; do
        case $word in
        *[!A-Za-z0-9_./:=,+%@-]* | '') printf ' %s' "${word@Q}" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}
