#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds the fuzz targets of the core as OSS-Fuzz wants them: for each a program, its seeds as an
# archive, the dictionary and the options, in $OUT. CC, CXX, CFLAGS, CXXFLAGS say which compiler and
# sanitizers, LIB_FUZZING_ENGINE what runs the targets; $WORK is for what is built on the way.
#
# The targets of the plugins are not among them: they load libhdf5 and libgdal, which would have to
# be built with the same sanitizers and engine first. tools/fuzz runs them.

set -euo pipefail
cd "$(dirname "$0")"
[ -d ../corpus ] || cd "${SRC:?}/zarrbridge/tests/fuzz/oss-fuzz"
cd ../../..

# No build type adds options to CFLAGS.
cmake -S . -B "$WORK/zarrbridge" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DZARRBRIDGE_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
    -DCMAKE_BUILD_RPATH='$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags \
    -DZARRBRIDGE_BUILD_HDF5_VOL=OFF -DZARRBRIDGE_BUILD_GDAL_DRIVER=OFF \
    -DZARRBRIDGE_BUILD_TESTS=OFF -DZARRBRIDGE_BUILD_BENCH=OFF
cmake --build "$WORK/zarrbridge" --target fuzz

mkdir -p "$OUT/lib"
for program in "$WORK"/zarrbridge/tests/fuzz/fuzz-*; do
    [ -x "$program" ] || continue
    target=$(basename "$program")
    name=${target#fuzz-}
    cp "$program" "$OUT/$target"
    # The machine that runs the targets has none of the libraries that this one has. The program
    # finds them beside itself, those that they want included.
    ldd "$program" | sed -nE 's#.* => (/.*/lib(zstd|deflate|lz4|blosc|cjson|snappy|bz2|lzma|zfp|gomp|z)\.so[^ ]*) .*#\1#p' |
        xargs -r cp -Lt "$OUT/lib"
    # The inputs that fuzzing found are an archive already; the seeds come into a copy of it.
    cp "tests/fuzz/found/$name.zip" "$OUT/${target}_seed_corpus.zip"
    find "tests/fuzz/corpus/$name" -type f -print0 | sort -z |
        xargs -0 zip -q -j "$OUT/${target}_seed_corpus.zip"
    cp tests/fuzz/words.dict "$OUT/$target.dict"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 25\n' >"$OUT/$target.options"
done
