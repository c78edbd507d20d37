# SPDX-License-Identifier: MIT
"""Data written by h5py: types, selections, sizes, filters; read by zarr-python and by h5py."""

import errno
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import NUMERIC, numbers, run_python


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "x.zarr")


def codecs(path, name):
    """Names of the innermost codecs, the serialiser aside, and the configuration of each."""
    document = json.loads((Path(path) / name / "zarr.json").read_text())
    chain = document["codecs"]
    if chain[0]["name"] == "sharding_indexed":
        chain = chain[0]["configuration"]["codecs"]
    return [(c["name"], c.get("configuration", {})) for c in chain[1:]]


def check(path, name, want):
    """Both readers see `want`."""
    got = zarr.open(path, mode="r")[name]
    assert got.dtype == want.dtype.newbyteorder("=") and got.shape == want.shape
    assert np.array_equal(got[...], want, equal_nan=want.dtype.kind in "fc")
    with h5py.File(path, "r") as f:
        assert np.array_equal(f[name][()], want, equal_nan=want.dtype.kind in "fc")
        assert f[name].dtype == want.dtype


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", [*NUMERIC, "?"])
def test_types(path, dtype, order):
    data = numbers(dtype).astype(order + dtype) if dtype != "?" else np.arange(10) % 3 == 0
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=data, chunks=(4,))
        assert np.array_equal(f["d"][...], data)
    check(path, "d", data)


def test_opaque(path):
    data = np.array([b"abc", b"de\0", b"fgh"], "V3")
    with h5py.File(path, "w") as f:
        f["d"] = data
        assert np.array_equal(f["d"][...], data)
    document = json.loads((Path(path) / "d" / "zarr.json").read_text())
    assert document["data_type"] == {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
    with h5py.File(path, "r") as f:
        assert f["d"][...].tobytes() == data.tobytes()


def test_types_without_a_form(path):
    with h5py.File(path, "w") as f:
        with pytest.raises((ValueError, TypeError, OSError), match="region"):
            h5py.h5d.create(f.id, b"d", h5py.h5t.py_create(h5py.regionref_dtype, logical=True),
                            h5py.h5s.create_simple((3,)))
        assert list(f) == []


def test_shapes(path):
    with h5py.File(path, "w") as f:
        f["scalar"] = 2.5
        f.create_dataset("empty", (0, 3), "i4")
        f.create_dataset("grows", (0,), "u2", maxshape=(None,), chunks=(4,))
        f["deep"] = np.arange(64).reshape((2,) * 6)
        f.create_dataset("untouched", (5, 5), "f4")
        assert f["scalar"][()] == 2.5 and f["scalar"].shape == ()
        f["scalar"][()] = 3.5
    check(path, "scalar", np.array(3.5))
    check(path, "empty", np.zeros((0, 3), "i4"))
    check(path, "grows", np.zeros(0, "u2"))
    check(path, "deep", np.arange(64).reshape((2,) * 6))
    check(path, "untouched", np.zeros((5, 5), "f4"))


def test_chunks_are_chosen(path):
    with h5py.File(path, "w") as f:
        f.create_dataset("small", (100, 200), "f8")
        f.create_dataset("large", (5000, 3000), "f4")
        assert f["small"].chunks is None and f["large"].chunks is None  # contiguous, as asked for
        of = zarr.open_group(path, mode="r")
        assert of["small"].chunks == (100, 200)
        chunks = of["large"].chunks
        assert 2**18 <= 4 * np.prod(chunks) <= 2**20 and min(chunks) > 100
        huge = f.create_dataset("huge", (20000, 20000), "f4")
        with_shards = json.loads((Path(path) / "huge" / "zarr.json").read_text())
    shard = with_shards["chunk_grid"]["configuration"]["chunk_shape"]
    assert with_shards["codecs"][0]["name"] == "sharding_indexed"
    assert 2**25 <= 4 * np.prod(shard) <= 2**26


@pytest.mark.parametrize("dtype", ["i2", ">f8", "c8"])
@pytest.mark.parametrize("chunks", [(10, 13), (3, 4), (7, 1)])
def test_selections(path, dtype, chunks):
    rng = np.random.default_rng(1)
    want = np.zeros((10, 13), dtype)
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (10, 13), dtype, chunks=chunks)

        def write(selection, value):
            d[selection] = value
            want[selection] = value

        write(np.s_[...], rng.integers(0, 99, (10, 13)).astype(dtype))
        write(np.s_[3], np.arange(13).astype(dtype))
        write(np.s_[:, 4], np.array(5, dtype))
        write(np.s_[1:9:3, ::2], rng.integers(0, 99, (3, 7)).astype(dtype))
        write(np.s_[2, 3], np.array(1, dtype))
        write(np.s_[5:5], np.zeros((0, 13)))
        write(np.s_[[1, 4, 7]], rng.integers(0, 99, (3, 13)).astype(dtype))
        write(np.s_[2:6, [0, 5, 12]], rng.integers(0, 99, (4, 3)).astype(dtype))
        mask = rng.random((10, 13)) < 0.3
        write(mask, rng.integers(0, 99, mask.sum()).astype(dtype))
        assert np.array_equal(d[...], want)
        d.write_direct(np.arange(100, 200).astype(dtype), np.s_[10:20:2], np.s_[0, 3:8])
        want[0, 3:8] = np.arange(110, 120, 2)
        points = h5py.h5s.create_simple((10, 13))
        points.select_elements([(9, 12), (0, 0), (9, 12)])
        d.id.write(h5py.h5s.create_simple((3,)), points, np.array([7, 8, 9], dtype))
        want[0, 0], want[9, 12] = 8, 9
        # OR-ed boxes, from a strided place in memory
        boxes = h5py.h5s.create_simple((10, 13))
        boxes.select_hyperslab((0, 0), (2, 2))
        boxes.select_hyperslab((4, 5), (1, 6), op=h5py.h5s.SELECT_OR)
        memory = h5py.h5s.create_simple((30,))
        memory.select_hyperslab((1,), (10,), (3,))
        source = np.arange(30).astype(dtype)
        d.id.write(memory, boxes, source)
        want[:2, :2] = source[1:13:3].reshape(2, 2)
        want[4, 5:11] = source[13:31:3]
        assert np.array_equal(d[...], want)
    check(path, "d", want)


def test_conversion(path):
    with h5py.File(path, "w") as f:
        for name, dtype in (("b", "i1"), ("u", "u2"), ("f", "f4"), ("h", "f2")):
            f.create_dataset(name, (4,), dtype)
        f["b"][...] = np.array([-1000, 3, 1000, -1])
        f["u"][...] = np.array([-5.5, 2.7, 1e9, 7])
        f["f"][...] = np.array([1, 2, 3, 2**40])
        f["h"].write_direct(np.array([1e9, 0.1, -2, 3], ">f8"))
        c = f.create_dataset("c", (3,), "c16", data=np.array([1 + 1j, 2 + 2j, 3 + 3j]))
        part = np.zeros(3, [("r", "f4")])
        part["r"] = [7, 8, 9]  # the imaginary parts stay
        c.id.write(h5py.h5s.ALL, h5py.h5s.ALL, part)
        with pytest.raises(OSError, match="conversion"):
            f["f"].id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(4, "V4"))
    group = zarr.open(path, mode="r")
    assert list(group["b"][...]) == [-128, 3, 127, -1]
    assert list(group["u"][...]) == [0, 2, 65535, 7]
    assert list(group["f"][...]) == [1, 2, 3, 2**40]
    assert list(group["h"][...]) == [np.inf, np.float16(0.1), -2, 3]
    assert list(group["c"][...]) == [7 + 1j, 8 + 2j, 9 + 3j]


def test_wrong_selections(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (4, 4), "i4")
        with pytest.raises(TypeError):
            d[0] = np.arange(5)
        space = h5py.h5s.create_simple((5, 4))
        with pytest.raises(Exception, match="beyond dataset"):
            d.id.write(h5py.h5s.create_simple((20,)), space, np.zeros(20, "i4"))
        with pytest.raises(Exception, match="elements"):
            d.id.write(h5py.h5s.create_simple((15,)), h5py.h5s.create_simple((4, 4)),
                       np.zeros(15, "i4"))


@pytest.mark.parametrize("fill", [None, 0, -7, 3.5, np.nan, np.inf])
def test_fill_value(path, fill):
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (5,), "f4", fillvalue=fill, chunks=(2,))
        f["d"][0] = 1
        f["d"][2:4] = 0 if fill is None else fill  # all fill: not stored
    want = np.full(5, 0 if fill is None else fill, "f4")
    want[0] = 1
    check(path, "d", want)
    assert sorted(p.name for p in (Path(path) / "d" / "c").iterdir()) == ["0"]


def test_filters(path):
    data = (np.arange(400) % 50).astype("i4").reshape(20, 20)
    made = {
        "gzip": {"compression": "gzip"}, "gzip9": {"compression": 9},
        "shuffled": {"compression": "gzip", "shuffle": True, "compression_opts": 3},
        "sum": {"fletcher32": True}, "all": {"compression": "gzip", "shuffle": True,
                                             "fletcher32": True},
        "shuffle_only": {"shuffle": True}, "none": {},
        "zstd": {"compression": 32015, "compression_opts": (7,), "allow_unknown_filter": True},
        "zstd_shuffled": {"compression": 32015, "compression_opts": (3,), "shuffle": True,
                          "allow_unknown_filter": True},
        "blosc": {"compression": 32001, "compression_opts": (0, 0, 0, 0, 4, 2, 1),
                  "allow_unknown_filter": True},
        "blosc_default": {"compression": 32001, "allow_unknown_filter": True},
        "lz4": {"compression": 32004, "compression_opts": (0,), "allow_unknown_filter": True},
        "lz4_shuffled": {"compression": 32004, "shuffle": True, "allow_unknown_filter": True},
        "bits_lz4": {"compression": 32008, "compression_opts": (0, 2), "allow_unknown_filter": True},
        "bits_zstd": {"compression": 32008, "compression_opts": (0, 3, 5),
                      "allow_unknown_filter": True},
        "bits_stored": {"compression": 32008, "compression_opts": (0, 4, 4, 0, 3, 5),
                        "allow_unknown_filter": True},
        "blosc2": {"compression": 32026, "compression_opts": (1, 5, 4, 0, 7, 1, 5),
                   "allow_unknown_filter": True},
    }
    with h5py.File(path, "w") as f:
        for name, options in made.items():
            f.create_dataset(name, data=data, chunks=(7, 20), **options)
    shuffled = {"typesize": 4, "blocksize": 0, "shuffle": "shuffle"}
    assert codecs(path, "gzip") == [("gzip", {"level": 4})]
    assert codecs(path, "gzip9") == [("gzip", {"level": 9})]
    assert codecs(path, "shuffled") == [("blosc", {"cname": "zlib", "clevel": 3, **shuffled})]
    assert [name for name, _ in codecs(path, "all")] == ["blosc", "crc32c"]
    assert [name for name, _ in codecs(path, "sum")] == ["crc32c"]
    assert codecs(path, "shuffle_only") == codecs(path, "none") == []
    assert codecs(path, "zstd") == [("zstd", {"level": 7, "checksum": False})]
    assert codecs(path, "zstd_shuffled") == [("blosc", {"cname": "zstd", "clevel": 2, **shuffled})]
    assert codecs(path, "blosc") == [("blosc", {"cname": "lz4", "clevel": 4, "typesize": 4,
                                                "blocksize": 0, "shuffle": "bitshuffle"})]
    assert codecs(path, "blosc_default") == [("blosc", {"cname": "blosclz", "clevel": 5,
                                                        **shuffled})]
    assert codecs(path, "lz4") == [("blosc", {**shuffled, "cname": "lz4", "clevel": 5,
                                              "shuffle": "noshuffle"})]
    assert codecs(path, "lz4_shuffled") == [("blosc", {"cname": "lz4", "clevel": 5, **shuffled})]
    bits = {**shuffled, "shuffle": "bitshuffle"}
    assert codecs(path, "bits_lz4") == [("blosc", {"cname": "lz4", "clevel": 5, **bits})]
    assert codecs(path, "bits_zstd") == [("blosc", {"cname": "zstd", "clevel": 3, **bits})]
    assert codecs(path, "bits_stored") == codecs(path, "bits_zstd")
    assert codecs(path, "blosc2") == [("blosc", {"cname": "zstd", "clevel": 7, **shuffled})]
    for name in made:
        check(path, name, data)
    with h5py.File(path, "r") as f:
        assert (f["gzip9"].compression, f["gzip9"].compression_opts) == ("gzip", 9)
        assert (f["all"].compression, f["all"].shuffle, f["all"].fletcher32) == ("gzip", True, True)
        assert f["shuffled"].compression_opts == 3 and f["none"].compression is None


def test_bzip2(path):
    data = np.arange(400).reshape(20, 20)
    bzip2 = {"compression": 307, "compression_opts": (6,), "allow_unknown_filter": True}
    with h5py.File(path, "w") as f:
        try:
            f.create_dataset("d", data=data, chunks=(7, 20), **bzip2)
        except (ValueError, OSError) as error:
            assert "built without libbz2" in str(error)
            return
        f.create_dataset("shuffled", data=data, chunks=(7, 20), shuffle=True, **bzip2)
    bz2 = ("numcodecs.bz2", {"level": 6})
    assert codecs(path, "d") == [bz2]
    assert codecs(path, "shuffled") == [("numcodecs.shuffle", {"elementsize": 8}), bz2]
    check(path, "d", data)
    check(path, "shuffled", data)


def test_snappy(path):
    data = np.arange(400).reshape(20, 20)
    with h5py.File(path, "w") as f:
        try:
            f.create_dataset("d", data=data, chunks=(7, 20), compression=32001,
                             compression_opts=(0, 0, 0, 0, 5, 1, 3), allow_unknown_filter=True)
        except (ValueError, OSError) as error:
            assert "snappy" in str(error)
            return
    assert codecs(path, "d")[0][1]["cname"] == "snappy"
    check(path, "d", data)


@pytest.mark.parametrize("options, words", [
    ({"compression": "lzf"}, "lzf; use blosc"), ({"scaleoffset": 2}, "scaleoffset; store"),
    ({"compression": 32008, "allow_unknown_filter": True}, "bitshuffle .* without a compressor"),
    ({"compression": 32026, "compression_opts": (0, 0, 0, 0, 5, 4, 1),
      "allow_unknown_filter": True}, "blosc2's filter 4"),
    ({"compression": 32013, "allow_unknown_filter": True}, "filter 32013; use gzip"),
])
def test_filters_without_a_form(path, options, words):
    with h5py.File(path, "w") as f:
        with pytest.raises((ValueError, OSError), match=words):
            f.create_dataset("d", (8,), "i4", chunks=(4,), **options)
        assert list(f) == []


def test_other_storage_without_a_form(path, tmp_path):
    with h5py.File(path, "w") as f:
        layout = h5py.VirtualLayout((3,), "i4")
        layout[:] = h5py.VirtualSource("other.h5", "d", (3,))
        with pytest.raises((ValueError, OSError, RuntimeError), match="virtual"):
            f.create_virtual_dataset("v", layout)
        with pytest.raises((ValueError, OSError), match="external"):
            f.create_dataset("e", (3,), "i4", external=[(str(tmp_path / "raw"), 0, 12)])
        for harmless in ({"track_order": True}, {"track_times": True}):
            f.create_dataset(next(iter(harmless)), (3,), "i4", **harmless)


def test_resize(path):
    want = np.arange(30).reshape(5, 6)
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", data=want, chunks=(2, 4), maxshape=(None, 10), fillvalue=-1)
        other = f["d"]
        assert d.maxshape == (None, 10)
        d[4, 5] = 99
        d.resize((3, 4))
        assert other.shape == (3, 4) and np.array_equal(other[...], want[:3, :4])
        d.resize(6, axis=1)
        d.resize((5, 6))
        now = np.full((5, 6), -1)
        now[:3, :4] = want[:3, :4]
        assert np.array_equal(d[...], now)
        d[4] = now[4] = np.arange(6)
        with pytest.raises(Exception, match="max: 10"):
            d.resize((5, 11))
        assert d.shape == (5, 6)
    check(path, "d", now)
    with h5py.File(path, "r+") as f:
        assert f["d"].maxshape == (None, 10)
        with pytest.raises(Exception, match="max: 10"):
            f["d"].resize((7, 12))
        f["d"].resize((7, 10))
        assert f["d"].shape == (7, 10) and f["d"][6, 9] == -1


def test_rows_one_by_one(path):
    rows = np.random.default_rng(0).integers(0, 9, (64, 50))
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (0, 50), "i8", maxshape=(None, 50), chunks=(16, 50),
                             compression="gzip")
        for i, row in enumerate(rows):
            d.resize(i + 1, axis=0)
            d[i] = row
    check(path, "d", rows)


def test_what_is_flushed_is_in_the_store(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (8,), "i4", chunks=(8,))
        flushes = (f.flush, d.flush, lambda: d[0], lambda: d.id.get_storage_size())
        for value, flush in enumerate(flushes, start=1):  # none is in the store before
            d[1] = value
            assert zarr.open(path, mode="r")["d"][1] == value - 1
            flush()
            assert zarr.open(path, mode="r")["d"][1] == value


FULL = """
import json, resource, signal, sys, h5py, numpy as np
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
f = h5py.File(sys.argv[1], "w")
d = f.create_dataset("d", (100000,), "i8", chunks=(100000,))
d[...] = np.arange(100000)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, hard))
def attempt(what, call):
    try: call()
    except Exception as e:
        print(json.dumps([what, type(e).__name__, getattr(e, "errno", None), str(e)]))
    else: print(json.dumps([what]))
d[5] = -1
attempt("flush", f.flush)
attempt("read", lambda: d[5])
attempt("whole", lambda: d.write_direct(np.ones(100000, "i8")))
if sys.argv[2] == "retried":
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    attempt("second flush", f.flush)
d.id.close()  # HDF5 crashes when a connector cannot close a dataset: the file tells
attempt("file", f.close)
attempt("second close", f.close)
"""


@pytest.mark.parametrize("retried", [True, False])
def test_failing_writes_are_reported(path, retried):
    """A file-size limit of 64 KiB stands for a full disk: the caller learns of it at the flush or the
    close, the old data stay. Flushing can be tried again, closing gives up."""
    out = run_python(FULL, path, "retried" if retried else "", connector="zarr").splitlines()
    said = [json.loads(line) for line in out]
    for _, _, _, text in said[:3]:  # the system's error and the chunk's name
        assert f"store {path}, array /d, chunk c/0: cannot write" in text
        assert "File too large" in text
    assert [line[:3] for line in said[:3]] == [
        ["flush", "RuntimeError", None], ["read", "OSError", errno.EFBIG],
        ["whole", "OSError", errno.EFBIG]]
    want = np.arange(100000)
    if retried:  # the whole chunk of ones was refused, the element went on waiting
        assert said[3:] == [["second flush"], ["file"], ["second close"]]
        want[5] = -1
    else:
        assert said[3][:3] == ["file", "RuntimeError", None] and said[4:] == [["second close"]]
        assert f"store {path}, array /d, chunk c/0: cannot write" in said[3][3]
    check(path, "d", want)


@pytest.mark.parametrize("read, touched", [
    (np.s_[4:8, 4:8], {"1/1"}),
    (np.s_[4:8:2, 4:8:3], {"1/1"}),
    (np.s_[[4, 7], 5], {"1/1"}),
    (np.s_[[5, 9], 1:6], {"1/1", "2/0"}),
    (np.s_[0, :], {"0/2"}),
    (np.s_[...], {"0/2", "1/1", "2/0"}),
    (np.s_[8:, 8:], set()),
])
@pytest.mark.parametrize("dtype", ["f8", "g"])
def test_a_read_stores_the_chunks_that_it_touches(path, read, touched, dtype):
    """A read gives the written elements, directly and through HDF5's conversion; parts of other
    chunks go on waiting for the rest of theirs."""
    want = np.zeros((12, 12))
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", want.shape, "f8", chunks=(4, 4))
        for row, column in ((1, 9), (5, 5), (7, 4), (6, 6), (4, 5), (9, 1)):
            want[row, column] = d[row, column] = row + column / 10
        assert np.array_equal(d.astype(dtype)[read], want[read])
        folder = Path(path, "d/c")
        assert {str(p.relative_to(folder)) for p in folder.glob("*/*")} == touched
    check(path, "d", want)


def test_a_part_of_complex_numbers_goes_beside_what_waits(path):
    """Writing the real parts alone keeps the imaginary ones, also of elements that were written just
    before."""
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (9,), "c16", chunks=(4,))
        d[1:7] = np.arange(1, 7) * 1j
        real = np.array([(x,) for x in range(10, 14)], [("r", "f8")])
        space = h5py.h5s.create_simple((9,))
        space.select_hyperslab((2,), (4,))
        d.id.write(h5py.h5s.create_simple((4,)), space, real)
        assert list(d[...]) == [0, 1j, 10 + 2j, 11 + 3j, 12 + 4j, 13 + 5j, 6j, 0, 0]
