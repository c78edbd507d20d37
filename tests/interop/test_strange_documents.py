# SPDX-License-Identifier: MIT
"""Documents with attributes that JSON allows and other programs write, but that no C text or tree of
a bounded depth can hold: the node and all beside it stay readable, and an edit keeps their bytes."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
import zarr

DEEP = "[" * 400 + "1" + "]" * 400
STRANGE = {
    "nul": r'"a\u0000b"',
    "half": r'"\ud800 and \uDC00"',
    "list": r'[1, "\u0000"]',
    "deep": DEEP,
    "object": r'{"k\u0000": {"x": "\u0000"}}',
}
SHOWN = {
    "nul": r"a\u0000b",
    "half": r"\ud800 and \uDC00",
    "list": r'[1,"\u0000"]',
    "deep": DEEP,
    "object": r'{"k\u0000":{"x":"\u0000"}}',
}


def members():
    """The attributes as text: one name stands twice, and one has a NUL itself."""
    strange = ",\n".join(f'"{name}": {text}' for name, text in STRANGE.items())
    return '"twice": 1, ' + strange + r', "na\u0000me": 5, "twice": 2, "plain": "p"'


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "z.zarr")
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"X": 0})
    array = root.create_array("a", shape=(4, 5), dtype="i4", attributes={"X": 0})
    array[...] = np.arange(20).reshape(4, 5)
    for node in ("", "a"):
        with open(document(path, node)) as file:
            text = file.read()
        cut = text.index('"X": 0')
        text = text[:cut] + members() + text[cut + len('"X": 0'):]
        with open(document(path, node), "w") as file:
            file.write(text)
    return path


def document(path, node):
    return os.path.join(path, node, "zarr.json")


def read(path, node):
    with open(document(path, node)) as file:
        return file.read()


def test_h5py(path):
    with h5py.File(path, "r") as file:
        for node in file, file["a"]:
            attributes = dict(node.attrs)
            for name, text in SHOWN.items():
                assert attributes[name].replace(" ", "") == text.replace(" ", ""), name
            assert attributes["twice"] == 2 and attributes["plain"] == "p"
            assert attributes[r"na\u0000me"] == 5
            assert len(attributes) == len(STRANGE) + 3
        assert (file["a"][...] == np.arange(20).reshape(4, 5)).all()


def test_gdal(path):
    gdal = pytest.importorskip("osgeo.gdal")
    gdal.UseExceptions()
    dataset = gdal.Open(f'ZARR3:"{path}":/a')
    items = dataset.GetMetadata()
    assert items["plain"] == "p" and items["twice"] == "2"
    assert items["nul"] == r"a\u0000b" and items["half"] == SHOWN["half"]
    assert dataset.ReadAsArray()[3, 4] == 19


@pytest.mark.parametrize("node", ["", "a"])
def test_an_edit_keeps_the_bytes(path, node):
    before = read(path, node)
    with h5py.File(path, "r+") as file:
        attributes = file[node or "/"].attrs
        attributes["plain"] = "q"
        attributes["new"] = 3
    expected = before.replace('"plain": "p"', '"plain": "q"')
    now = read(path, node)
    assert now.startswith(expected[: expected.index('"q"') + 3])
    assert json.loads(now)["attributes"] == {**json.loads(before)["attributes"], "plain": "q",
                                             "new": 3}
    with h5py.File(path, "r+") as file:
        attributes = file[node or "/"].attrs
        del attributes["twice"]
        attributes["nul"] = "whole"
        del attributes[r"na\u0000me"]
    left = json.loads(read(path, node))["attributes"]
    assert "twice" not in left and "na\0me" not in left and left["nul"] == "whole"
    assert left["half"] == json.loads(STRANGE["half"])


def test_consolidated(path):
    """The block that we put back has what zarr-python reads in the documents."""
    zarr.consolidate_metadata(path)
    with h5py.File(path, "r+") as file:
        file["a"].attrs["plain"] = "q"
        file.create_group("g")
    with open(document(path, "")) as file:
        block = json.load(file)["consolidated_metadata"]["metadata"]
    assert block["a"]["attributes"] == json.loads(read(path, "a"))["attributes"]
    assert block["a"]["attributes"]["nul"] == "a\0b"
    assert dict(zarr.open_group(path, mode="r", use_consolidated=True)["a"].attrs)["nul"] == "a\0b"
    program = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "core", "zarrbridge")
    done = subprocess.run([program, "verify", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_describes_the_array_is_strict(path):
    text = read(path, "a")
    with open(document(path, "a"), "w") as file:
        file.write(text.replace('"zarr_format": 3', '"zarr_format": 3, "shape": [9, 9]'))
    with h5py.File(path, "r") as file:
        assert "stands twice" in file["a"].attrs["zarr:unreadable"]
