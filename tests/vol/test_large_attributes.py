# SPDX-License-Identifier: MIT
"""Attributes above the limit attribute_bytes: hidden arrays, which go where their attribute goes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, environment, run, tool

SMALL = 64 * 1024  # a limit that keeps these tests fast
NUMBERS = np.arange(20000.).reshape(100, 200)
TEXTS = [f"hällo {i}" * 8 for i in range(3000)]
RECORDS = np.dtype([("a", "i4"), ("b", "S5"), ("c", "f8", (2, ))])
PROGRAM = str(build_dir() / "core/zarrbridge")




def hidden(path):
    return sorted(str(p.relative_to(path)) for p in Path(path).rglob("__attribute.*"))


def python(code, *arguments, limit=SMALL, document=16 << 20, **options):
    """Runs code with h5py, numpy and this module's values in a process with those limits."""
    prelude = ("import h5py, numpy as np, sys, os, signal\n"
               "from test_large_attributes import NUMBERS, TEXTS, RECORDS, hidden\n")
    env = environment("zarr") | {"ZARRBRIDGE_ATTRIBUTE_BYTES": str(limit),
                                 "ZARRBRIDGE_DOCUMENT_BYTES": str(document),
                                 "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.run([sys.executable, "-W", "ignore", "-c", prelude + code,
                           *map(str, arguments)], env=env, capture_output=True, text=True,
                          check=False, timeout=1200, **options)


def succeed(code, *arguments, **options):
    done = python(code, *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


WRITE = """
with h5py.File(sys.argv[1], "w") as f:
    f["d"] = [1, 2, 3]
    f.create_group("g")
    for owner in (f, f["d"], f["g"]):
        owner.attrs["numbers"] = NUMBERS
        owner.attrs["texts"] = TEXTS
        owner.attrs["small"] = 3
    f["g"].attrs["records"] = np.ones(5000, RECORDS)
    f["g"].attrs["fixed"] = np.array([b"ab", b"c"] * 20000, "S7")
    f["g"].attrs["big_endian"] = NUMBERS.astype(">f4")
    f["g"].attrs.create("bytes", np.array([b"\\xff" + b"x" * 40000] * 3, object),
                        dtype=h5py.string_dtype("ascii"))
    f["g"].attrs.create("lists", np.array([np.arange(i, dtype="i4") for i in range(300)], object),
                        dtype=h5py.vlen_dtype("i4"))
    f["g"].attrs.create("refs", np.array([f["d"].ref, f["g"].ref] * 5000, object),
                        dtype=h5py.ref_dtype)
    pair = np.dtype([("n", "i4"), ("t", h5py.string_dtype())])
    f["g"].attrs["pairs"] = np.array([(i, f"{i}" * 20) for i in range(2000)], pair)
    assert (f["d"].attrs["numbers"] == NUMBERS).all()
"""

CHECK = """
def check(f, d="d", g="g"):
    for owner in (f, f[d], f[g]):
        got = owner.attrs["numbers"]
        assert got.shape == NUMBERS.shape and got.dtype == NUMBERS.dtype and (got == NUMBERS).all()
        assert list(owner.attrs["texts"]) == TEXTS and owner.attrs["small"] == 3
    a = f[g].attrs
    assert a["records"].dtype == RECORDS and (a["records"] == np.ones(5000, RECORDS)).all()
    assert a["fixed"].dtype == "S7" and (a["fixed"][:2] == [b"ab", b"c"]).all()
    assert a["big_endian"].dtype == ">f4" and (a["big_endian"] == NUMBERS).all()
    raw = np.empty(3, object)
    a.get_id("bytes").read(raw, mtype=h5py.h5t.py_create(h5py.string_dtype("ascii")))
    assert raw[2] == b"\\xff" + b"x" * 40000
    assert all((x == np.arange(i)).all() for i, x in enumerate(a["lists"]))
    assert f[a["refs"][4]] == f[d] and f[a["refs"][5]] == f[g]
    assert a["pairs"][7]["n"] == 7 and a["pairs"][7]["t"] in ("7" * 20, b"7" * 20)
"""


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "x.zarr"
    succeed(WRITE, path)
    return path


def test_comes_back_exactly(store):
    """With any limit: it decides where an attribute is written, not how it is read."""
    assert len(hidden(store)) == 13
    for limit in (SMALL, 10**9):
        succeed(CHECK + "with h5py.File(sys.argv[1]) as f: check(f)", store, limit=limit)


def test_others_see_an_array(store):
    root = zarr.open_group(str(store), mode="r")
    for name in ("d", "g"):
        value = root[name].attrs["numbers"]
        assert list(value) == ["array"]
        assert (zarr.open_array(str(store), path=f"{name}/{value['array']}")[:] == NUMBERS).all()
    texts = zarr.open_array(str(store), path="d/" + root["d"].attrs["texts"]["array"])
    assert list(texts[:]) == TEXTS
    assert (root["d"][:] == [1, 2, 3]).all()
    for document in store.rglob("zarr.json"):
        assert document.stat().st_size < SMALL


def test_is_in_no_listing(store):
    subprocess.run([PROGRAM, "consolidate", str(store)], check=True, capture_output=True)
    metadata = json.loads((store / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
    assert sorted(metadata) == ["d", "g"]
    for listing in (tool("h5ls", "-r", store),
                    subprocess.run([PROGRAM, "ls", str(store)], check=True, capture_output=True,
                                   text=True).stdout):
        assert "__attribute" not in listing and "/d" in listing
    with h5py.File(store) as f:
        met = []
        f.visit(met.append)
        assert sorted(f) == sorted(met) == ["d", "g"]
    verified = subprocess.run([PROGRAM, "verify", str(store)], capture_output=True, text=True)
    assert verified.returncode == 0, verified.stdout
    succeed(CHECK + "with h5py.File(sys.argv[1]) as f: check(f)", store)


def test_changes(store):
    """Replaced, renamed, removed: the arrays that are of no use go with the flush."""
    succeed("""
path = sys.argv[1]
with h5py.File(path, "a") as f:
    before = hidden(path + "/d")
    f["d"].attrs["numbers"] = NUMBERS + 1
    assert set(before) < set(hidden(path + "/d"))  # the old one stays until the new one is stored
    f.flush()
    after = hidden(path + "/d")
    assert len(after) == 2 and after != before
    h5py.h5a.rename(f["d"].id, b"numbers", b"renamed")
    f.flush()
    assert hidden(path + "/d") == after and (f["d"].attrs["renamed"] == NUMBERS + 1).all()
    f["d"].attrs["texts"] = "short"
    f.flush()
    assert len(hidden(path + "/d")) == 1
    del f["d"].attrs["renamed"]
    f.flush()
    assert hidden(path + "/d") == []
with h5py.File(path) as f:
    assert sorted(f["d"].attrs) == ["small", "texts"] and f["d"].attrs["texts"] == "short"
with h5py.File(path, "w"):
    pass
assert hidden(path) == []
""", store)


def test_copies_and_moves(store, tmp_path):
    succeed(CHECK + """
path = sys.argv[1]
with h5py.File(path, "a") as f:
    f.copy("g", "g2"), f.copy("d", "g/d2"), f.move("d", "e")
    f.copy(f["g2"], f, name="shallow", shallow=True)
    f.copy(f["g2"], f, name="bare", without_attrs=True)
    f["named"] = h5py.SoftLink("/e")
with h5py.File(path) as f:
    assert (f["shallow"].attrs["numbers"] == NUMBERS).all()
    assert (f["g/d2"].attrs["numbers"] == NUMBERS).all()
    assert (f["g2"].attrs["records"] == np.ones(5000, RECORDS)).all()
    assert (f["e"].attrs["numbers"] == NUMBERS).all()
    assert not list(f["bare"].attrs) and hidden(path + "/bare") == []
""", store)
    for name in ("copy.zarr", "copy.zarr.zip"):
        subprocess.run([PROGRAM, "copy", str(store), str(tmp_path / name)], check=True,
                       capture_output=True)
        succeed("with h5py.File(sys.argv[1]) as f: "
                "assert (f['e'].attrs['numbers'] == NUMBERS).all()", tmp_path / name)


def test_way_back(store, tmp_path):
    """HDF5's own files need the newer format (-L) for attributes above 64 KiB."""
    h5, back = tmp_path / "x.h5", tmp_path / "back.zarr"
    tool("h5repack", "-L", store, h5, connector="zarr")
    succeed("import subprocess\nsubprocess.run(['h5repack', *sys.argv[1:]], check=True)", h5, back)
    assert len(hidden(back)) == 13
    for a, b in ((store, h5), (back, h5)):
        compared = run(["h5diff", a, b], connector="zarr")
        assert compared.returncode == 0, compared.stdout


def test_default_limit(tmp_path):
    """Without a setting, 1 MiB is the limit; above 16 MiB a document could not hold the text."""
    path = tmp_path / "x.zarr"
    succeed("""
del os.environ["ZARRBRIDGE_ATTRIBUTE_BYTES"]
os.execv(sys.executable, [sys.executable, "-c", sys.argv[2], sys.argv[1]])
""", path, """
import h5py, numpy as np, sys
with h5py.File(sys.argv[1], "w") as f:
    f.attrs["below"] = np.zeros(1 << 17)
    f.attrs["above"] = np.zeros((1 << 17) + 1)
    f.attrs["large"] = np.arange(1 << 22)
with h5py.File(sys.argv[1]) as f:
    assert (f.attrs["large"] == np.arange(1 << 22)).all() and f.attrs["above"].shape == (131073,)
""")
    assert len(hidden(path)) == 2


CROWD = """
values = {f"n{i}": (np.arange(1500.) + i if i % 3 else f"text {i} " * 700) for i in range(300)}
def check(owner):
    assert sorted(owner.attrs) == sorted(values)
    for name, value in values.items():
        assert np.array_equal(owner.attrs[name], value), name
"""


def test_many_that_no_document_can_hold_together(tmp_path):
    """Those that come last are arrays. They are changed as any others."""
    path = tmp_path / "x.zarr"
    succeed(CROWD + """
with h5py.File(sys.argv[1], "w") as f:
    g = f.create_group("g")
    for name, value in values.items():
        g.attrs[name] = value
    check(g)
with h5py.File(sys.argv[1], "a") as f:
    g = f["g"]
    check(g)
    f.copy("g", "copy")
    check(f["copy"])
    for i in range(300):
        name = f"n{i}"
        if i % 5 == 0:
            del g.attrs[name], values[name]
        elif i % 5 == 1:
            g.attrs[name] = values[name] = i
        elif i % 5 == 2:
            g.attrs[name] = values[name] = np.arange(9000.) - i
        elif i % 5 == 3:
            h5py.h5a.rename(g.id, name.encode(), b"m%d" % i)
            values[f"m{i}"] = values.pop(name)
    check(g)
with h5py.File(sys.argv[1]) as f:
    check(f["g"])
""", path, document=1 << 20)
    assert len(hidden(path / "copy")) > 100
    named = re.findall("__attribute[.][0-9a-f]{16}", (path / "g/zarr.json").read_text())
    assert set(hidden(path / "g")) == set(named)
    assert (path / "g/zarr.json").stat().st_size < 1 << 20


def test_a_kill_leaves_the_old_value(store):
    """The new array is there, and nothing tells of it yet."""
    done = python("""
f = h5py.File(sys.argv[1], "a")
f["d"].attrs["numbers"] = NUMBERS + 1
os.kill(os.getpid(), signal.SIGKILL)
""", store)
    assert done.returncode == -9
    left = set(hidden(store / "d")) - set(re.findall("__attribute[.][0-9a-f]{16}",
                                                     (store / "d/zarr.json").read_text()))
    assert len(hidden(store / "d")) == 3 and len(left) == 1
    verified = subprocess.run([PROGRAM, "verify", str(store)], capture_output=True, text=True)
    assert verified.returncode == 1 and verified.stdout.count("no attribute names") == 1
    assert "d/" + left.pop() in verified.stdout
    subprocess.run([PROGRAM, "repair", str(store)], check=True)
    assert len(hidden(store / "d")) == 3  # a program that is at work may name it yet
    succeed(CHECK + "with h5py.File(sys.argv[1]) as f: check(f)", store)


def test_lost_arrays_are_errors(store):
    """Never other elements, and nothing else is harmed."""
    with h5py.File(store) as f:
        lost = json.loads((store / "d/zarr.json").read_text())["attributes"]["numbers"]["array"]
        subprocess.run(["rm", "-r", str(store / "d" / lost)], check=True)
        assert f["d"].attrs.get_id("numbers").shape == NUMBERS.shape
        with pytest.raises(OSError, match=f"numbers.*{lost}"):
            f["d"].attrs["numbers"]
        assert list(f["d"].attrs["texts"]) == TEXTS


def test_hostile_entries(store):
    """An array of another shape or type is an error, and a path out of the node is none."""
    document = store / "d/zarr.json"
    text = json.loads(document.read_text())
    entry = json.loads(text["attributes"]["_hdf5"])
    for shape in ([10, 10], [2**40, 2**40], [200, 100]):
        entry["attributes"]["numbers"]["shape"] = shape
        text["attributes"]["_hdf5"] = json.dumps(entry)
        document.write_text(json.dumps(text))
        with h5py.File(store) as f:
            if shape[0] > 200:  # no attribute can have it: the entry does not count
                assert json.loads(f["d"].attrs["numbers"])["array"]
            else:
                with pytest.raises(OSError, match="another type or shape"):
                    f["d"].attrs["numbers"]
    entry["attributes"]["numbers"] |= {"shape": [100, 200], "array": "../g"}
    text["attributes"] |= {"_hdf5": json.dumps(entry), "numbers": {"array": "../g"}}
    document.write_text(json.dumps(text))
    with h5py.File(store) as f:
        with pytest.raises(OSError, match="name of a hidden array"):
            f["d"].attrs["numbers"]


def test_another_program_changes_the_value(store):
    root = zarr.open_group(str(store), mode="r+")
    root["d"].attrs["numbers"] = [1, 2]
    with h5py.File(store) as f:
        assert list(f["d"].attrs["numbers"]) == [1, 2]


def test_attributes_without_elements_are_none(tmp_path):
    """However long their types are: an array would not shorten these, and has nothing to hold."""
    path = tmp_path / "x.zarr"
    many = "h5py.enum_dtype({f'name {i}': i for i in range(200)}, 'i4')"
    succeed(f"""
with h5py.File(sys.argv[1], "w") as f:
    f.attrs["null"] = h5py.Empty({many})
    f.attrs.create("empty", np.zeros((0, 3), "i4"), dtype={many})
    f.attrs.create("one", np.ones((), "i4"), dtype={many})
with h5py.File(sys.argv[1]) as f:
    assert isinstance(f.attrs["null"], h5py.Empty) and f.attrs["empty"].shape == (0, 3) and f.attrs["one"] == 1
    for name in f.attrs:
        assert len(h5py.check_enum_dtype(f.attrs.get_id(name).dtype)) == 200
""", path, limit=1000)
    assert len(hidden(path)) == 1
