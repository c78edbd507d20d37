# SPDX-License-Identifier: MIT
"""`zarrbridge copy`: version 2 becomes version 3, which zarr-python reads; version 3 stays as it is."""

import json
import os
import resource
import subprocess

import numcodecs
import numpy as np
import pytest
import zarr


def run(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)],
                          capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout.splitlines(), done.stderr


def documents(folder):
    return {str(path.relative_to(folder).parent): json.loads(path.read_text())
            for path in folder.rglob("zarr.json")}


@pytest.fixture
def old(tmp_path):
    """A store of version 2: groups, compressors, orders, attributes, a chunk that is not stored."""
    folder = tmp_path / "old.zarr"
    root = zarr.open_group(folder, mode="w", zarr_format=2)
    root.attrs["title"] = "a title"
    group = root.create_group("g")
    group.attrs["nested"] = {"list": [1, 2.5, None]}
    values = np.arange(9 * 10).reshape(9, 10)
    values[8:, 5:] = 7

    def put(name, dtype, compressor, **more):
        array = zarr.create_array(root.store, name=name, shape=(9, 10), chunks=(4, 5), dtype=dtype,
                                  zarr_format=2, filters=None, compressors=compressor,
                                  fill_value=7, **more)
        array[...] = values
        array.attrs.update({"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]})

    put("zstd", "<i4", numcodecs.Zstd(3))
    put("g/blosc", ">i2", numcodecs.Blosc("lz4", 5, 1))
    put("g/zlib", "<f8", numcodecs.Zlib(1), order="F")
    put("none", "|u1", None, chunk_key_encoding={"name": "v2", "separator": "/"})
    return folder, values


def test_version_2_becomes_version_3(old, tmp_path):
    folder, values = old
    new = tmp_path / "new.zarr"
    status, lines, message = run("copy", folder, new)
    assert (status, lines) == (0, []), message
    made = zarr.open_group(new, mode="r", zarr_format=3)
    assert dict(made.attrs) == {"title": "a title"}
    assert dict(made["g"].attrs) == {"nested": {"list": [1, 2.5, None]}}
    for name, dtype in (("zstd", "i4"), ("g/blosc", "i2"), ("g/zlib", "f8"), ("none", "u1")):
        array = made[name]
        assert array.dtype == np.dtype(dtype) and array.chunks == (4, 5)
        assert array.fill_value == 7 and array.attrs["units"] == "m"
        assert array.metadata.dimension_names == ("y", "x")
        assert "_ARRAY_DIMENSIONS" not in array.attrs
        assert (array[...] == values).all()
    found = documents(new)
    codecs = {path: [codec["name"] for codec in document.get("codecs", [])]
              for path, document in found.items()}
    assert codecs == {".": [], "g": [], "zstd": ["bytes", "zstd"], "g/blosc": ["bytes", "blosc"],
                      "g/zlib": ["bytes", "zstd"], "none": ["bytes"]}
    assert all(document["chunk_key_encoding"]["name"] == "default"
               for document in found.values() if document["node_type"] == "array")
    assert found["zstd"]["attributes"] == {"units": "m", "_FillValue": 7}
    assert not (new / "zstd/c/2/1").exists(), "a chunk that is all fill is not stored"
    assert not list(new.rglob(".z*"))
    assert run("verify", new)[0] == 0 and run("verify", folder)[0] == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("fill", ["", 0, "none", None])
def test_texts(tmp_path, order, fill):
    folder = tmp_path / "t.zarr"
    texts = np.array([["a", "", "é" * 100], ["none", "x\ny", "z"]], object)
    array = zarr.create_array(folder, shape=(4, 3), chunks=(2, 2), dtype=str, zarr_format=2,
                              order=order, fill_value="")
    array[:2] = texts
    document = json.loads((folder / ".zarray").read_text())
    assert document["dtype"] == "|O" and document["filters"] == [{"id": "vlen-utf8"}]
    (folder / ".zarray").write_text(json.dumps(document | {"fill_value": fill}))
    for chunk in ("1.0", "1.1"):
        (folder / chunk).unlink(missing_ok=True)
    assert run("copy", folder, tmp_path / "new.zarr")[0] == 0
    made = zarr.open_array(tmp_path / "new.zarr", mode="r", zarr_format=3)
    assert made[:2].tolist() == texts.tolist()
    assert made[2:].tolist() == [[fill or ""] * 3] * 2


def test_structs_of_both_byte_orders(tmp_path):
    values = np.array([(i, i / 2) for i in range(5)], dtype=[("a", ">i4"), ("b", "<f8")])
    array = zarr.create_array(tmp_path / "s.zarr", shape=(5,), chunks=(2,), dtype=values.dtype,
                              zarr_format=2, filters=None, compressors=None)
    array[...] = values
    assert run("verify", tmp_path / "s.zarr")[0] == 0
    assert "zarrbridge.bytes" in "".join(run("info", tmp_path / "s.zarr")[1])
    assert run("copy", tmp_path / "s.zarr", tmp_path / "new.zarr")[0] == 0
    made = json.loads((tmp_path / "new.zarr/zarr.json").read_text())
    assert made["codecs"] == [{"name": "bytes", "configuration": {"endian": "little"}}]
    stored = b"".join((tmp_path / f"new.zarr/c/{i}").read_bytes() for i in range(3))
    assert np.frombuffer(stored, "<i4,<f8")[:5].tolist() == values.tolist()


def test_an_array_and_a_group_by_themselves(old, tmp_path):
    folder, values = old
    assert run("copy", folder / "g" / "zlib", tmp_path / "a.zarr")[0] == 0
    assert (zarr.open_array(tmp_path / "a.zarr", mode="r")[...] == values).all()
    zarr.open_group(tmp_path / "root.zarr", mode="w", zarr_format=3)
    assert run("copy", folder / "g", tmp_path / "root.zarr" / "sub")[0] == 0
    root = zarr.open_group(tmp_path / "root.zarr", mode="r")
    assert sorted(root["sub"].array_keys()) == ["blosc", "zlib"]


def test_version_3_is_copied_byte_for_byte(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(6,), chunks=(4,), dtype="i2")
    array[:] = range(6)
    assert run("copy", tmp_path / "a.zarr", tmp_path / "b.zarr")[0] == 0
    for name in ("zarr.json", "c/0", "c/1"):
        assert (tmp_path / "a.zarr" / name).read_bytes() == (tmp_path / "b.zarr" / name).read_bytes()


def test_both_versions_in_one_store(old, tmp_path):
    folder, values = old
    array = zarr.create_array(folder / "g/three", shape=(6,), chunks=(4,), dtype="i2", zarr_format=3)
    array[:] = range(6)
    assert run("copy", folder, tmp_path / "new.zarr")[0] == 0
    made = zarr.open_group(tmp_path / "new.zarr", mode="r")
    assert made["g/three"][:].tolist() == list(range(6))
    assert (made["g/zlib"][...] == values).all()


def test_what_cannot_be_converted_leaves_nothing(old, tmp_path):
    folder, _ = old
    path = folder / "none/.zarray"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dtype": "<f16"}))
    status, _, message = run("copy", folder, tmp_path / "new.zarr")
    assert status == 2 and '/none: .zarray: dtype "<f16" is not supported' in message
    assert not (tmp_path / "new.zarr").exists()


def test_damage_is_told_and_leaves_nothing(old, tmp_path):
    folder, _ = old
    chunk = folder / "g/zlib/1.1"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    status, _, message = run("copy", folder, tmp_path / "new.zarr")
    assert status == 2 and "array /g/zlib, chunk 1.1: zlib" in message
    assert not (tmp_path / "new.zarr").exists()


def test_nothing_is_overwritten(old, tmp_path):
    folder, _ = old
    array = zarr.create_array(tmp_path / "new.zarr", shape=(6,), chunks=(4,), dtype="i2")
    array[:] = range(6)
    status, _, message = run("copy", folder, tmp_path / "new.zarr")
    assert status == 2 and "already" in message
    assert zarr.open_array(tmp_path / "new.zarr", mode="r")[:].tolist() == list(range(6))
    status, _, message = run("copy", folder, folder / "inside")
    assert status == 2 and not list(folder.rglob("zarr.json"))


def test_a_stranger_is_no_store(tmp_path):
    assert run("copy", tmp_path / "none", tmp_path / "new.zarr")[0] == 2
    (tmp_path / "empty").mkdir()
    status, _, message = run("copy", tmp_path / "empty", tmp_path / "new.zarr")
    assert status == 2 and "has no node /" in message
    assert not (tmp_path / "new.zarr").exists()


def test_a_directory_that_was_there_stays(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "new.zarr").mkdir()
    assert run("copy", tmp_path / "empty", tmp_path / "new.zarr")[0] == 2
    assert (tmp_path / "new.zarr").is_dir()


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def odd(tmp_path):
    """Files of other programs, and arrays whose names are hidden or reserved."""
    folder = tmp_path / "odd.zarr"
    root = zarr.open_group(folder, mode="w")
    root.create_group("OME")
    for name in ("0", ".hidden", "..a", "__xarray_dataarray_variable__"):
        root.create_array(name, shape=(4,), dtype="u1")[:] = 1
    (folder / "OME/METADATA.ome.xml").write_text("<OME/>")
    (folder / "points.parquet").mkdir()
    (folder / "points.parquet/part.0.parquet").write_bytes(b"PAR1")
    return folder


def test_a_copy_has_all(odd, tmp_path):
    assert run("copy", odd, tmp_path / "b.zarr")[0] == 0
    assert files(tmp_path / "b.zarr") == files(odd)
    assert run("copy", odd, tmp_path / "c.zarr.zip")[0] == 0
    assert run("copy", tmp_path / "c.zarr.zip", tmp_path / "d.zarr")[0] == 0
    assert files(tmp_path / "d.zarr") == files(odd)
    for place in (odd, tmp_path / "c.zarr.zip"):
        lines = run("ls", place)[1]
        assert [line.split()[1] for line in lines] == ["/", "/..a", "/.hidden", "/0", "/OME",
                                                       "/__xarray_dataarray_variable__"]


def test_a_copy_of_version_2_has_all(tmp_path):
    folder, new = tmp_path / "old.zarr", tmp_path / "new.zarr"
    root = zarr.open_group(folder, mode="w", zarr_format=2)
    root.create_array("__x", shape=(4,), dtype="u1", chunks=(2,))[:] = 1
    root.create_array(".y/z", shape=(4,), dtype="u1", chunks=(2,))[:] = 2
    (folder / "__x/README").write_text("in an array")
    (folder / "OME").mkdir()
    (folder / "OME/METADATA.ome.xml").write_text("<OME/>")
    assert run("copy", folder, new)[0] == 0
    made = zarr.open_group(new, mode="r", zarr_format=3)
    assert made["__x"][:].tolist() == [1] * 4 and made[".y/z"][:].tolist() == [2] * 4
    assert (new / "__x/README").exists() and (new / "OME/METADATA.ome.xml").exists()
    # A file that would be a chunk of version 3.
    (folder / "__x/c").mkdir()
    (folder / "__x/c/1").write_text("mine")
    status, _, message = run("copy", folder, tmp_path / "again.zarr")
    assert status == 2 and "'__x/c/1' is no part of the array" in message
    assert not (tmp_path / "again.zarr").exists()


@pytest.mark.parametrize("source", ["odd.zarr", "odd.zarr/0", "old.zarr"])
def test_ordinary_directories_are_refused(odd, old, tmp_path, source):
    target = tmp_path / "mine"
    (target / "t/c").mkdir(parents=True)
    for name in ("t/c/0", "t/c/9", "README"):
        (target / name).write_text("mine")
    before = files(target)
    for place in (target, target / "t"):
        status, _, message = run("copy", tmp_path / source, place)
        assert status == 2 and "belongs to no node" in message
    assert files(target) == before


def test_a_directory_in_the_place_of_a_chunk(odd, tmp_path):
    (odd / "0/c/0").unlink()
    (odd / "0/c/0").mkdir()
    for name in ("new.zarr", "new.zarr.zip"):
        status, _, message = run("copy", odd, tmp_path / name)
        assert status == 2 and "'0/c/0' is a directory" in message
        assert not (tmp_path / name / "zarr.json").exists() and not (tmp_path / name).is_file()
    root = zarr.open_group(tmp_path / "old.zarr", mode="w", zarr_format=2)
    root.create_array("t", shape=(4,), dtype="u1", chunks=(2,))
    (tmp_path / "old.zarr/t/1").mkdir(parents=True)
    status, _, message = run("copy", tmp_path / "old.zarr", tmp_path / "new2.zarr")
    assert status == 2 and "'t/1' is a directory" in message


@pytest.mark.parametrize("shards, way, short, long", [
    (None, "all files are copied as they are", True, True),
    ("32,32", "/a: encoded chunks move", True, False),
    ("auto", "/a: its files are copied as they are", True, True)])
def test_verbose_tells_the_way(tmp_path, monkeypatch, shards, way, short, long):
    """And ZARRBRIDGE_MOVE_CHUNKS=no has the long one taken, with the same elements. An array below 256 MiB gets no
    shards by `auto`."""
    root = zarr.open_group(tmp_path / "s.zarr", mode="w")
    values = np.arange(64 * 64).reshape(64, 64)
    root.create_array("a", shape=values.shape, chunks=(16, 16), dtype=values.dtype)[...] = values
    options = ["--shards", shards] if shards else []
    for name, moves, is_short in (("short.zarr", "yes", short), ("long.zarr", "no", long)):
        monkeypatch.setenv("ZARRBRIDGE_MOVE_CHUNKS", moves)
        status, _, told = run("copy", "--verbose", *options, tmp_path / "s.zarr", tmp_path / name)
        assert status == 0 and (way in told) == is_short, told
        assert is_short or "elements are copied: ZARRBRIDGE_MOVE_CHUNKS=no" in told
        assert np.array_equal(zarr.open_group(tmp_path / name, mode="r")["a"][...], values)


def test_memory_goes_by_the_shard_and_not_by_the_array(tmp_path):
    mib = 1 << 20
    array = zarr.create_array(str(tmp_path / "a.zarr"), shape=(288 * mib,), dtype="u1", chunks=(mib,),
                              compressors=None, fill_value=0)
    for start in range(0, 288 * mib, 16 * mib):
        array[start:start + 16 * mib] = start // (16 * mib) + 1
    for shard, bound in (("none", 0), (str(8 * mib), 8), (str(96 * mib), 96)):
        target = tmp_path / f"{shard}.zarr"
        most = (bound + 96) * mib  # of private memory, stacks of two threads among it
        done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "copy", "-q", "--shards", shard,
                               str(tmp_path / "a.zarr"), str(target)], capture_output=True, text=True,
                              env={**os.environ, "ZARRBRIDGE_NUM_THREADS": "2"},
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)))
        assert done.returncode == 0, (shard, done.stderr)
        assert (zarr.open_array(str(target), mode="r")[::4099] == array[::4099]).all()
        subprocess.run(["rm", "-rf", target], check=True)
