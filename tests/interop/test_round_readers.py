# SPDX-License-Identifier: MIT
"""A sample of random arrays (trips.py) that we wrote, read by zarrita.js, zarrs and TensorStore,
each where its packages can be had; else its test is skipped and says why.

A reader gets no arrays of kinds that it does not know or reads wrongly when zarr-python or our own
reference encoder wrote the same; the functions below name the arrays left out, and the number of
arrays read is printed.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import trips
from length import by_length
from peer_packages import Missing, python_with_zarrs, run, zarrita

SAMPLE = by_length(50, 150)
HERE = Path(__file__).parent


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


def in_venv(reader):
    return [python_with_zarrs(), HERE / "round_peers.py", reader]


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
    "zarrita": (lambda: zarrita("zarrita.mjs")[0], zarrita_reads),
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
    try:
        command = find()
    except Missing as missing:
        pytest.skip(f"{missing}; {SAMPLE} arrays not read")
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
