# SPDX-License-Identifier: MIT
"""A sample of random arrays (trips.py) that we wrote, read by zarrita.js, zarrs and TensorStore,
each where its packages can be had; else its test is skipped and says why.

A reader gets no arrays of kinds that it does not know or reads wrongly when zarr-python or our own
reference encoder wrote the same; the functions below name the arrays left out, and the number of
arrays read is printed.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import trips

SAMPLE = 150
HERE = Path(__file__).parent
PACKAGES = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "tests" / "interop" / "packages"
NPM = ["zarrita@0.7", "@zarrita/storage@0.2"]
# The preloaded runtime of the sanitizers, if any, is for the core.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=ENVIRONMENT, **options)


def installs(*command, **options):
    """The output of the command; None where it fails, or waits in vain for a package index."""
    try:
        done = run(*command, timeout=120, **options)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else done.stdout.strip()


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The folder of the sample, and {name: case}."""
    folder = tmp_path_factory.mktemp("sample")
    cases = {}
    for number in range(SAMPLE):
        case = cases[f"a{number}"] = trips.Case("sample", number)
        case.write(folder / "x.zarr")
        (folder / "x.zarr" / "a").rename(folder / f"a{number}")
        shutil.rmtree(folder / "x.zarr")
    return folder, cases


def zarrita():
    folder = PACKAGES / "npm"
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip(f"zarrita.js: no node or npm; {SAMPLE} arrays not read")
    if not (folder / "node_modules" / "zarrita").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if installs("npm", "install", "--no-audit", "--no-fund", "--fetch-retries=1",
                    "--fetch-timeout=20000", "--prefix", folder, *NPM, cwd=folder) is None:
            shutil.rmtree(folder)
            pytest.skip(f"zarrita.js cannot be installed; {SAMPLE} arrays not read")
    shutil.copy(HERE / "zarrita.mjs", folder)
    return ["node", folder / "zarrita.mjs"]


def in_venv(reader):
    python = installs(HERE.parents[1] / "tools" / "bench-venv", PACKAGES / "venv")
    if python is None:
        pytest.skip(f"{reader} cannot be installed; {SAMPLE} arrays not read")
    return [python, HERE / "round_peers.py", reader]


def zarrita_reads(case):
    """The reader has no float16 and complex numbers and no shards in shards, looks for all indexes
    at the end, and takes fill values for doubles."""
    exact = case.dtype.kind not in "iu" or abs(int(case.fill)) <= 2**53
    return (exact and case.dtype.kind != "c" and case.type != "float16" and len(case.levels) <= 2
            and "start" not in case.locations)  # fmt: skip


def zarrs_reads(case):
    """Where the reader decodes a part of a chunk, as at the array's edge, it swaps the parts of
    big-endian complex numbers, and takes only whole elements of a blosc container's typesize, of
    which the output of a codec before blosc need not consist (containers by zarr-python 3.0.6
    always say 1)."""
    blosc = [i for i, codec in enumerate(case.bytes_codecs) if codec["name"] == "blosc"]
    return not (case.dtype.kind == "c" and case.order == "big") and not any(blosc)


READERS = {
    "zarrita": (zarrita, zarrita_reads),
    "zarrs": (lambda: in_venv("zarrs"), zarrs_reads),
    "tensorstore": (lambda: in_venv("tensorstore"), lambda case: True),
}


def result(out, name, case):
    """A reader's result for an array: the values, or its error as text."""
    if not (out / f"{name}.bin").exists():
        return (out / f"{name}.error").read_text()
    values = np.frombuffer((out / f"{name}.bin").read_bytes(), case.dtype)
    strides = out / f"{name}.json"  # of the values; without it they are in C order
    if strides.exists():
        steps = [n * case.dtype.itemsize for n in json.loads(strides.read_text())]
        values = np.lib.stride_tricks.as_strided(values, case.shape, steps[: len(case.shape)])
    return values


@pytest.mark.parametrize("reader", READERS)
def test_reader(reader, sample, tmp_path, pytestconfig):
    find, reads = READERS[reader]
    command = find()
    folder, cases = sample
    given = {name: case for name, case in cases.items() if reads(case)}
    done = run(*command, folder, tmp_path, *given)
    assert done.returncode == 0, done.stderr[-3000:]
    for name, case in given.items():
        values = result(tmp_path, name, case)
        assert not isinstance(values, str), f"{case}: {values}"
        assert values.tobytes() == case.model.tobytes(), str(case)
    assert len(given) > SAMPLE / 5
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"{reader}: {len(given)} of {SAMPLE} arrays, ZARRBRIDGE_SEED={trips.SEED}")
