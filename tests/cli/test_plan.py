# SPDX-License-Identifier: MIT
"""`zarrbridge plan`: pieces that cover an array, none of which shares a shard with another one."""

import json
import os
import subprocess

import numpy as np
import pytest
import zarr

SHAPE = (70, 50)


def run(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "plan", *map(str, arguments)], capture_output=True,
                          text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "x.zarr"
    root = zarr.create_group(store=str(path), zarr_format=3)
    root.create_array("sharded", shape=SHAPE, dtype="i2", chunks=(8, 8), shards=(16, 16))
    root.create_array("plain", shape=SHAPE, dtype="i2", chunks=(16, 16))
    return path


def boxes(text):
    return [tuple(slice(*map(int, part.split(":"))) for part in line.split("  ")[0].split(","))
            for line in text.splitlines()]


@pytest.mark.parametrize("name, unit", [("sharded", "shards"), ("plain", "chunks")])
@pytest.mark.parametrize("most", [None, 1, 3, 8])
def test_pieces_cover_the_array_once(store, name, unit, most):
    status, text, said = run(store / name, *(["--pieces", most] if most else []))
    found, seen = boxes(text), np.zeros(SHAPE, int)
    for box in found:
        seen[box] += 1
        for part, length in zip(box, SHAPE):
            assert part.start % 16 == 0 and (part.stop % 16 == 0 or part.stop == length)
    assert status == 0 and (seen == 1).all()
    assert len(found) == 20 if most is None else 0 < len(found) <= most
    plural = "" if len(found) == 1 else "s"
    assert said == f"{len(found)} piece{plural}, {len(found)} of whole {unit}\n"


@pytest.mark.parametrize("name, unit", [("sharded", "shards"), ("plain", "chunks")])
def test_a_region_that_cuts(store, name, unit):
    status, text, said = run(store / name, "10:40,:", "--pieces", 8)
    lines = text.splitlines()
    cut = [line for line in lines if line.endswith(f"  (a part of its {unit})")]
    assert status == 0 and cut and said.endswith(f" of whole {unit}\n")
    seen = np.zeros(SHAPE, int)
    for box in boxes(text):
        seen[box] += 1
    assert (seen[10:40] == 1).all() and seen.sum() == 30 * 50
    assert sum("a part" not in line for line in lines) == int(said.split(", ")[1].split()[0])
    assert boxes(run(store / name, "20,16:32")[1]) == [(slice(20, 21), slice(16, 32))]


def test_one_piece_is_that_of_the_list(store):
    lines = run(store / "sharded", "--pieces", 3)[1].splitlines()
    for number, line in enumerate(lines):
        assert run(store / "sharded", "--pieces", 3, "--piece", number) == (0, f"{line}\n", "")
    status, text, said = run(store / "sharded", "--pieces", 3, "--piece", 7)
    assert (status, text) == (0, "") and said == f"there are {len(lines)} pieces, and no piece 7\n"


def test_document(store):
    status, text, _ = run(store / "sharded", "10:20,:16", "--json")
    assert status == 0 and json.loads(text) == {
        "pieces": [{"number": 0, "start": [10, 0], "stop": [16, 16], "whole": False, "bytes": 192},
                   {"number": 1, "start": [16, 0], "stop": [20, 16], "whole": False, "bytes": 128}],
        "summary": {"array": str(store / "sharded"), "shape": [70, 50], "unit": [16, 16], "pieces": 2, "whole": 0}}


@pytest.mark.parametrize("arguments", [["1:2:3"], ["71"], ["5:4"], ["0:99"], ["0,0,0"], ["-1"], ["x"],
                                       ["18446744073709551616"], ["--pieces=0"], ["--pieces=x"], ["--pieces=-1"],
                                       ["--pieces=18446744073709551616"], ["--piece=-1"], ["--piece="]])
def test_mistakes(store, arguments):
    if arguments == ["-1"]:
        arguments = ["--", *arguments]
    status, text, said = run(store / "sharded", *arguments)
    assert (status, text) == (2, "") and said.startswith("zarrbridge") and "plan --help" in said


def test_no_array(store):
    status, text, said = run(store)
    assert (status, text) == (2, "") and "is a group; give the path of an array, as zarrbridge ls lists them" in said
