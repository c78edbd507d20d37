# SPDX-License-Identifier: MIT
"""Datasets of strings: arrays of `string` as variable-length UTF-8, read and written by h5py and the
tools, and compared with HDF5's own files and with zarr-python. c_strings.c has what only C can ask
for."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from conftest import build_dir, run, run_python, tool

TEXT = h5py.string_dtype()
SHAPE = (11, 7)


def texts(seed=0):
    """Empty, short, long and non-ASCII ones."""
    words = np.empty(SHAPE, object)
    for i in range(words.size):
        words.flat[i] = ("", f"{i + seed}", f"é{i}→{seed}", "ab" * (i * 5))[(i + seed) % 4]
    return words


def write_zarr(path, name="s", data=None, **options):
    root = zarr.open_group(str(path), mode="a", zarr_format=3)
    data = texts() if data is None else data
    array = root.create_array(name, shape=data.shape, dtype=str, **options)
    array[...] = data
    return str(path)


KINDS = {
    "plain": {"chunks": (4, 3), "compressors": None},
    "zstd": {"chunks": (4, 3)},
    "gzip": {"chunks": (11, 7), "compressors": zarr.codecs.GzipCodec(level=1)},
    "sharded": {"chunks": (2, 3), "shards": (4, 6)},
}


@pytest.fixture(params=KINDS, name="store")
def make_store(request, tmp_path):
    return write_zarr(tmp_path / "s.zarr", fill_value="none", **KINDS[request.param])


SELECTIONS = [
    np.s_[...], np.s_[3], np.s_[3, 5], np.s_[2:9, 1:4], np.s_[1::3, ::2], np.s_[[0, 4, 9]],
    np.s_[:, [1, 5]], np.s_[0:0], np.s_[-1, -1], "mask",
]


def selected(selection):
    return texts() != "" if isinstance(selection, str) else selection


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_selections_are_read(store, selection):
    selection = selected(selection)
    with h5py.File(store, "r") as f:
        d = f["s"]
        info = h5py.check_string_dtype(d.dtype)
        assert (info.encoding, info.length) == ("utf-8", None)
        assert np.array_equal(d.asstr()[selection], texts()[selection])
        encoded = d[selection]
        if isinstance(encoded, bytes):
            assert encoded == texts()[selection].encode()
        else:
            assert [x.decode() for x in np.ravel(encoded)] == list(np.ravel(texts()[selection]))


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_selections_are_written(store, selection):
    selection = selected(selection)
    expected = texts()
    expected[selection] = texts(3)[selection]
    with h5py.File(store, "r+") as f:
        f["s"][selection] = texts(3)[selection]
        assert np.array_equal(f["s"].asstr()[...], expected)  # what waits is stored first
    assert np.array_equal(zarr.open_group(store, mode="r")["s"][...], expected)


def test_one_value_for_a_selection(store):
    expected = texts()
    expected[2:9, 1:4] = "same"
    with h5py.File(store, "r+") as f:
        f["s"][2:9, 1:4] = "same"
    assert np.array_equal(zarr.open_group(store, mode="r")["s"][...], expected)


def test_missing_chunks_are_the_fill_value(tmp_path):
    root = zarr.open_group(str(tmp_path / "f.zarr"), mode="w", zarr_format=3)
    root.create_array("e", shape=(5,), chunks=(2,), dtype=str, fill_value="ß?")[2:4] = "x"
    root.create_array("d", shape=(3,), chunks=(2,), dtype=str, fill_value="")
    with h5py.File(tmp_path / "f.zarr", "r") as f:
        assert f["e"].fillvalue == "ß?".encode()
        assert list(f["e"].asstr()[...]) == ["ß?", "ß?", "x", "x", "ß?"]
        assert list(f["d"].asstr()[...]) == ["", "", ""]


def test_scalars_and_empty_arrays(tmp_path):
    path = str(tmp_path / "s.zarr")
    with h5py.File(path, "w") as f:
        f["scalar"] = "héllo"
        f.create_dataset("empty", (0, 3), TEXT)
        f["group/list"] = ["a", "b"]
        assert f["scalar"].asstr()[()] == "héllo"
        assert f["empty"][...].shape == (0, 3)
    group = zarr.open_group(path, mode="r")
    assert group["scalar"][()] == "héllo"
    assert list(group["group/list"][...]) == ["a", "b"]
    with h5py.File(path, "r+") as f:
        f["scalar"][()] = "new"
        assert f["scalar"][()] == b"new"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("options, codecs", [
    ({}, ["vlen-utf8"]),
    ({"compression": "gzip", "compression_opts": 2}, ["vlen-utf8", "gzip"]),
    ({"compression": "gzip", "shuffle": True}, ["vlen-utf8", "gzip"]),
    ({"shuffle": True}, ["vlen-utf8"]),
])
def test_creating(tmp_path, encoding, options, codecs):
    path = str(tmp_path / "c.zarr")
    with h5py.File(path, "w") as f:
        d = f.create_dataset("s", SHAPE, h5py.string_dtype(encoding), fillvalue="??", **options)
        d[1:3, 2:5] = "x"
        assert d.fillvalue == b"??"
    document = json.loads((Path(path) / "s" / "zarr.json").read_text())
    assert document["data_type"] == "string" and document["fill_value"] == "??"
    assert [codec["name"] for codec in document["codecs"]] == codecs
    expected = np.full(SHAPE, "??", object)
    expected[1:3, 2:5] = "x"
    assert np.array_equal(zarr.open_group(path, mode="r")["s"][...], expected)
    with h5py.File(path, "r") as f:
        assert f["s"].compression == options.get("compression")
        assert np.array_equal(f["s"].asstr()[...], expected)


def test_sharded_by_option(tmp_path):
    path = tmp_path / "s.zarr"
    code = ("import h5py, sys\n"
            "with h5py.File(sys.argv[1], 'w') as f:\n"
            "    d = f.create_dataset('s', (10,), h5py.string_dtype(), chunks=(2,))\n"
            "    d[1:8] = list('bcdefgh')\n")
    run_python(code, path, connector="zarr shards=6")
    array = zarr.open_group(str(path), mode="r")["s"]
    assert (array.chunks, array.shards) == ((2,), (6,))
    assert list(array[...]) == ["", *"bcdefgh", "", ""]


def test_resize(tmp_path):
    path = str(tmp_path / "r.zarr")
    with h5py.File(path, "w") as f:
        d = f.create_dataset("s", (5,), TEXT, chunks=(2,), maxshape=(None,), fillvalue="-")
        d[...] = list("abcde")
        d.resize((3,))
        d.resize((7,))
        d[6] = "end"
        assert list(d.asstr()[...]) == ["a", "b", "c", "-", "-", "-", "end"]
    assert list(zarr.open_group(path, mode="r")["s"][...]) == ["a", "b", "c", *"---", "end"]


def test_a_nul_is_refused_by_element(tmp_path):
    data = texts()
    data[7, 2] = "a\0b"
    path = write_zarr(tmp_path / "n.zarr", data=data, chunks=(4, 3))
    with h5py.File(path, "r") as f:
        for selection in (np.s_[...], np.s_[7, 2], np.s_[1::3, ::2], [5, 7], texts() != "?"):
            with pytest.raises(OSError, match=r"'/s', element \[7, 2\]: the text holds a NUL "
                                              r"\(byte 1 of 3\).*H5T_STR_NULLPAD"):
                f["s"][selection]
        assert np.array_equal(f["s"].asstr()[:7], data[:7])  # the others can be read
    done = run(["h5repack", "--enable-error-stack", path, tmp_path / "n.h5"], "zarr")
    assert done.returncode != 0 and "'/s', element [7, 2]: the text holds a NUL" in done.stderr


def test_text_that_is_not_utf8_is_refused(tmp_path):
    path = str(tmp_path / "u.zarr")
    with h5py.File(path, "w") as f:
        d = f.create_dataset("s", (4,), TEXT)
        d[:] = "good"
        with pytest.raises(OSError, match=r"element 1 of the box is no UTF-8 text(?!, or)"):
            d[1:3] = np.array([b"ok", b"\xff"], object)
        assert list(d.asstr()[...]) == ["good"] * 4
    chunk = bytearray((Path(path) / "s" / "c" / "0").read_bytes())
    chunk[9] = 0xff
    (Path(path) / "s" / "c" / "0").write_bytes(bytes(chunk))
    with h5py.File(path, "r") as f, pytest.raises(OSError, match="chunk c/0: .*no UTF-8"):
        f["s"][...]


def test_repack_both_ways(tmp_path):
    native, store, back = tmp_path / "a.h5", tmp_path / "b.zarr", tmp_path / "c.h5"
    with h5py.File(native, "w") as f:
        f.create_dataset("s", data=texts(), dtype=TEXT, chunks=(4, 3), compression="gzip",
                         fillvalue="none")
        f.create_dataset("g/ascii", data=[b"x", b"", b"zz"], dtype=h5py.string_dtype("ascii"))
        f.create_dataset("unwritten", (4,), TEXT)  # null pointers in the file
        f["scalar"] = "one"
        f["n"] = np.arange(5)
        f["s"].attrs["units"] = "words"
    tool("h5repack", native, store, connector="zarr")
    tool("h5repack", store, back, connector="zarr")
    for one, other in ((native, store), (store, back), (native, back)):
        with h5py.File(one, "r") as f, h5py.File(other, "r") as g:
            for name in ("s", "g/ascii", "unwritten", "scalar", "n"):
                assert np.array_equal(f[name][()], g[name][()]), name
            assert (f["s"].chunks, f["s"].compression) == (g["s"].chunks, g["s"].compression)
            assert f["s"].fillvalue == g["s"].fillvalue == b"none"
            assert f["s"].attrs["units"] == g["s"].attrs["units"]
    tool("h5diff", native, back, connector="zarr")
    group = zarr.open_group(str(store), mode="r")
    assert np.array_equal(group["s"][...], texts())
    assert list(group["unwritten"][...]) == [""] * 4


def test_h5py_copies_between_files(store, tmp_path):
    with h5py.File(store, "r") as f, h5py.File(tmp_path / "o.h5", "w") as native:
        f.copy("s", native, "t")
        assert np.array_equal(native["t"].asstr()[...], texts())
        with h5py.File(tmp_path / "o.zarr", "w") as other:
            native.copy("t", other, "back")
            f.copy("s", other, "beside")
            assert np.array_equal(other["back"].asstr()[...], texts())
            assert np.array_equal(other["beside"].asstr()[...], texts())


def test_copies_of_many_pieces(tmp_path):
    """Text counts as 256 bytes an element: this is more than one piece."""
    words = np.array([f"w{i}" for i in range(300000)], object)
    with h5py.File(tmp_path / "m.h5", "w") as f:
        f.create_dataset("s", data=words, dtype=TEXT, chunks=(1000,))
    tool("h5repack", tmp_path / "m.h5", tmp_path / "m.zarr", connector="zarr")
    tool("h5repack", tmp_path / "m.zarr", tmp_path / "n.h5", connector="zarr")
    assert np.array_equal(zarr.open_group(str(tmp_path / "m.zarr"), mode="r")["s"][...], words)
    with h5py.File(tmp_path / "n.h5") as f:
        assert np.array_equal(f["s"].asstr()[...], words)
    with h5py.File(tmp_path / "m.zarr") as f:
        assert np.array_equal(f["s"].asstr()[...], words)


def test_the_tools_show_text(tmp_path):
    path = write_zarr(tmp_path / "t.zarr", data=np.array(["one", "two", ""], object))
    dump = tool("h5dump", "-d", "/s", path)
    assert "STRSIZE H5T_VARIABLE" in dump and "CSET H5T_CSET_UTF8" in dump
    assert '(0): "one", "two", ""' in dump
    assert '"one", "two", ""' in tool("h5ls", "-d", f"{path}/s")
    assert "variable-length" in tool("h5ls", "-v", path)


def test_storage_size(tmp_path):
    with h5py.File(tmp_path / "z.zarr", "w") as f:
        d = f.create_dataset("s", (3,), TEXT)
        d[:] = ["a", "bb", ""]
        assert d.id.get_storage_size() == 4 + 3 * 4 + 3


def test_a_coordinate_of_strings_is_a_scale(tmp_path):
    path = str(tmp_path / "x.zarr")
    root = zarr.open_group(path, mode="w", zarr_format=3)
    root.create_array("name", shape=(3,), dtype=str, dimension_names=["name"])[:] = \
        np.array(["x", "yy", "zzz"], object)
    root.create_array("v", shape=(3,), dtype="f8", dimension_names=["name"])[:] = [1, 2, 3]
    with h5py.File(path, "r") as f:
        assert f["name"].is_scale
        assert list(f["v"].dims[0][0].asstr()[...]) == ["x", "yy", "zzz"]


def test_random_selections(tmp_path):
    """The same operations on a store and on numpy; the seed is in the message."""
    seed = int(np.random.SeedSequence().entropy % 2**32)
    random = np.random.default_rng(seed)
    path = write_zarr(tmp_path / "r.zarr", chunks=(2, 3), shards=(4, 6))
    model = texts()
    with h5py.File(path, "r+") as f:
        for step in range(60):
            if random.integers(2):
                selection = random.random(SHAPE) < random.random()
            else:
                start = [int(random.integers(n)) for n in SHAPE]
                selection = tuple(slice(a, int(random.integers(a, n + 1)), int(random.integers(1, 4)))
                                  for a, n in zip(start, SHAPE))
            if random.integers(2):
                model[selection] = texts(step)[selection]
                f["s"][selection] = texts(step)[selection]
            else:
                assert np.array_equal(f["s"].asstr()[selection], model[selection]), seed
    assert np.array_equal(zarr.open_group(path, mode="r")["s"][...], model), seed


def test_c_program(tmp_path):
    done = run([build_dir() / "tests" / "vol" / "vol-c-strings", tmp_path], "zarr")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "9 test(s) run" in done.stderr + done.stdout


def test_xarray_writes_and_reads_text(tmp_path):
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    path = tmp_path / "x.zarr"
    output = run_python("""
import sys, numpy as np, xarray
words = np.array(["a", "bé", ""], object)
made = xarray.Dataset({"v": (("name", "x"), np.arange(6.0).reshape(3, 2)), "s": ("name", words)},
                      coords={"name": np.array(["x", "yy", "zzz"], object)})
made.to_netcdf(sys.argv[1], engine="h5netcdf")
with xarray.open_dataset(sys.argv[1], engine="h5netcdf") as found:
    xarray.testing.assert_equal(made, found.load())
    print(found.s.values.tolist(), found.indexes["name"].tolist())
""", path, connector="zarr")
    assert output == "['a', 'bé', ''] ['x', 'yy', 'zzz']\n"
    assert list(zarr.open_group(str(path), mode="r")["s"][...]) == ["a", "bé", ""]
