# SPDX-License-Identifier: MIT
"""Stores behind URLs in programs that use HDF5."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import zarr

from conftest import make_store
from programs import HASTY, IMPATIENT, asked, output, python, run_python

# HDF5 2.x finds no connector by itself: see docs/hdf5.md.
SEARCHES = h5py.version.hdf5_version_tuple < (2,)
WAYS = [None, "zarr"] if SEARCHES else ["zarr"]
FINDS = WAYS[0]


def put(group, name, data, **options):
    array = group.create_array(name, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data


CONTENT = r"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "r") as f:
    names = []; f.visit(names.append)
    assert names == ["below", "below/deep", "plain", "sharded"], names
    assert (f["sharded"][...] == np.arange(4096).reshape(64, 64)).all()
    assert (f["plain"][1:7] == np.arange(1, 7) / 2).all() and list(f["below/deep"]) == [1, 2, 3]
    print(f.filename, f.mode)
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["{}", "zarr:{}", "{}/", "{}/zarr.json"])
def test_a_store_opens_by_its_url(store, form, way):
    said = python(CONTENT, form.format(store), HDF5_VOL_CONNECTOR=way).split()
    assert said[0].startswith(store) and said[1] == "r"


@pytest.mark.parametrize("way", WAYS)
def test_any_url_opens_behind_the_prefix(server, way):
    make_store(server.folder / "data")
    python(CONTENT, f"zarr:{server.url}/data", HDF5_VOL_CONNECTOR=way)
    python(CONTENT, f"{server.url}/data/zarr.json", HDF5_VOL_CONNECTOR=way)


NODE = r"""
import sys, h5py
with h5py.File(sys.argv[1], "r") as f: print({name: f[name].shape for name in f})
"""


@pytest.mark.parametrize("path, shown", [
    ("below", "{'deep': (3,)}"), ("below/deep", "{'deep': (3,)}"), ("plain/", "{'plain': (10,)}"),
    ("below/zarr.json", "{'deep': (3,)}")])
def test_a_node_opens_by_its_url(store, path, shown):
    assert python(NODE, f"{store}/{path}", HDF5_VOL_CONNECTOR=FINDS).strip() == shown


def test_an_archive_opens_by_its_url(server, tmp_path):
    with zarr.storage.ZipStore(server.folder / "s.zarr.zip", mode="w") as archive:
        put(zarr.create_group(store=archive), "a", np.arange(3))
    url = f"{server.url}/s.zarr.zip"
    assert python(NODE, url, HDF5_VOL_CONNECTOR=FINDS).strip() == "{'a': (3,)}"


NO_FILE = r"""
import sys, h5py
for name in sys.argv[1:]:
    try: h5py.File(name, "r")
    except OSError as error: print(type(error).__name__, "no such object" in str(error))
"""


def test_what_does_not_exist_is_no_file(server):
    names = [server.url + "/none.zarr", server.url + "/none.zarr.zip"]
    assert python(NO_FILE, *names, HDF5_VOL_CONNECTOR=FINDS).splitlines() == 2 * ["FileNotFoundError True"]


OPEN = r"""
import sys, h5py
f = h5py.File(sys.argv[1], "r")
for step in sys.argv[2:]: eval(step)
"""


@pytest.mark.parametrize("way", WAYS)
def test_requests_of_an_open(server, store, way):
    """The search asks no host: the open does, once."""
    python(OPEN, store, HDF5_VOL_CONNECTOR=way)
    assert asked(server) == ["/s.zarr/zarr.json"]


def test_requests_of_a_walk_and_of_one_chunk(server, store):
    """The block of consolidated metadata has all documents."""
    output("h5ls", "-r", store, HDF5_VOL_CONNECTOR=FINDS)
    assert asked(server) == ["/s.zarr/zarr.json"]
    python(OPEN, store, "f['plain'][0]", HDF5_VOL_CONNECTOR=FINDS)
    assert asked(server) == ["/s.zarr/zarr.json", "/s.zarr/plain/c/0"]


GONE = r"""
import os, sys, h5py
name, folder = sys.argv[1:]
data = h5py.File(name, "r")["plain"]
print(data.id.get_chunk_info_by_coord((4,)).size)
os.rename(folder, folder + ".away")
for ask in (lambda: data.id.get_chunk_info_by_coord((4,)), data.id.get_num_chunks,
            lambda: data.id.chunk_iter(print)):
    try: print("said", ask())
    except Exception as error: print("deleted or moved" in str(error))
"""


def test_no_chunk_is_missing_where_the_store_has_gone(server, store):
    """As of reads: a server that has lost the store says of each chunk that it is missing."""
    said = python(GONE, store, server.folder / "s.zarr", HDF5_VOL_CONNECTOR="zarr",
                  ZARRBRIDGE_REMOTE_FRESH_SECONDS="0")
    assert said.splitlines() == ["32"] + 3 * ["True"]


@pytest.mark.parametrize("tool", ["h5ls -r", "h5dump -d /below/deep", "h5dump -H"])
def test_tools(server, store, tool):
    text = output(*tool.split(), store, HDF5_VOL_CONNECTOR=FINDS)
    local = output(*tool.split(), server.folder / "s.zarr", HDF5_VOL_CONNECTOR=FINDS)
    assert text.replace(store, "STORE") == local.replace(str(server.folder / "s.zarr"), "STORE")
    assert text and {request.method for request in server.take_log()} == {"GET"}


def test_h5repack_copies_a_store_from_a_server(store, tmp_path):
    output("h5repack", store, tmp_path / "copy.h5", HDF5_VOL_CONNECTOR="zarr")
    with h5py.File(tmp_path / "copy.h5") as f:
        assert (f["sharded"][...] == np.arange(4096).reshape(64, 64)).all()


XARRAY = r"""
import sys, numpy as np, xarray
with xarray.open_dataset(sys.argv[1], engine="h5netcdf") as d:
    print(sorted(d.sizes.items()), float(d.v.sel(x=2).sum()))
"""


def test_xarray_opens_a_store_behind_the_prefix(server, tmp_path):
    """xarray hands bare URLs to fsspec, and h5netcdf to h5pyd. It takes a name with the prefix for a
    path, and makes an absolute one of it, with one slash behind the colon."""
    pytest.importorskip("h5netcdf")
    root = zarr.create_group(server.folder / "n.zarr")
    put(root, "x", np.arange(4), dimension_names=("x",))
    put(root, "y", np.arange(3), dimension_names=("y",))
    put(root, "v", np.ones((3, 4)), dimension_names=("y", "x"))
    zarr.consolidate_metadata(root.store)
    said = python(XARRAY, f"zarr:{server.url}/n.zarr", HDF5_VOL_CONNECTOR=FINDS, cwd=tmp_path)
    assert said.strip() == "[('x', 4), ('y', 3)] 3.0"


def test_https(tls_server, certificate):
    make_store(tls_server.folder / "s.zarr")
    url = tls_server.url + "/s.zarr"
    python(CONTENT, url, SSL_CERT_FILE=certificate[0], HDF5_VOL_CONNECTOR=FINDS)
    said = failure(url)
    assert "certificate" in said


# ---- What is none of our business

ATTEMPT = r"""
import sys, h5py
try: h5py.File(*sys.argv[1:])
except OSError as error: print(type(error).__name__, error.errno, error)
else: print("opened")
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", ["x.h5", "s", "x.nc?file=x.zarr", "zarr.json.h5"])
def test_other_urls_contact_nobody(server, store, path, way):
    url = f"{server.url}/{path}"
    said = python(ATTEMPT, url, "r", HDF5_VOL_CONNECTOR=way)
    without = python(ATTEMPT, url, "r", HDF5_VOL_CONNECTOR=None, HDF5_PLUGIN_PATH="/nonexistent")
    assert said == without and asked(server) == []


LINKS = r"""
import sys, h5py
with h5py.File(sys.argv[1], "w") as f: f["out"] = h5py.ExternalLink(sys.argv[2], "/plain")
"""

FOLLOW = r"""
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    try: f["out"]
    except KeyError as error: print(error)
"""


def test_links_in_a_store_contact_nobody(server, store, tmp_path):
    for name in store, "zarr:" + store:
        python(LINKS, tmp_path / "l.zarr", name, HDF5_VOL_CONNECTOR="zarr")
        said = python(FOLLOW, tmp_path / "l.zarr", HDF5_VOL_CONNECTOR="zarr")
        assert "is not followed" in said and asked(server) == []


def test_links_from_a_server_open_no_local_file(server, tmp_path):
    make_store(tmp_path / "mine.zarr")
    python(LINKS, server.folder / "l.zarr", tmp_path / "mine.zarr", HDF5_VOL_CONNECTOR="zarr")
    said = python(FOLLOW, server.url + "/l.zarr", HDF5_VOL_CONNECTOR="zarr")
    assert "from a store on the network" in said
    assert python(NODE.replace("f[name].shape", "1"), server.folder / "l.zarr",
                  HDF5_VOL_CONNECTOR="zarr").strip() == "{'out': 1}"


ACCESSIBLE = r"""
import ctypes, sys, h5py
lib = ctypes.CDLL(h5py.defs.__file__)  # which is linked to the library
lib.H5Fis_accessible.argtypes = [ctypes.c_char_p, ctypes.c_int64]
fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
h5py._errors.silence_errors()
for name in sys.argv[1:]: print(lib.H5Fis_accessible(name.encode(), fapl.id))
"""


def test_accessible_is_what_the_host_has(server, store):
    names = [store, server.url + "/no.zarr", "http://127.0.0.1:1/x.zarr"]
    said = python(ACCESSIBLE, *names, HDF5_VOL_CONNECTOR="zarr", **HASTY).split()
    assert said == ["1", "0", "-1"]


# ---- What cannot be done

@pytest.mark.parametrize("mode", ["r+", "a", "w", "x"])
@pytest.mark.parametrize("form", ["{}", "zarr:{}", "{}/new"])
def test_writing_is_refused(server, store, form, mode, tmp_path):
    said = python(ATTEMPT, form.format(store), mode, HDF5_VOL_CONNECTOR="zarr", cwd=tmp_path)
    assert "read but not changed" in said and "local directory" in said
    assert asked(server) == [] and [p.name for p in tmp_path.iterdir()] == ["served"]


DELETE = r"""
import ctypes, sys, h5py
lib = ctypes.CDLL(h5py.defs.__file__)  # which is linked to the library
lib.H5Fdelete.argtypes = [ctypes.c_char_p, ctypes.c_int64]
print(lib.H5Fdelete(sys.argv[1].encode(), h5py.h5p.create(h5py.h5p.FILE_ACCESS).id))
"""


def test_deleting_is_refused(server, store):
    assert python(DELETE, store, HDF5_VOL_CONNECTOR="zarr").strip() == "-1"
    assert asked(server) == []


# ---- Faults: an error with the host and what it said, never other data

def failure(url, *steps, **environment):
    """The last line that a program says when a step fails."""
    done = run_python(OPEN, url, *steps, HDF5_VOL_CONNECTOR=FINDS, **(HASTY | environment))
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_no_such_store(server):
    said = failure(server.url + "/no.zarr")
    assert said.startswith("FileNotFoundError") and "127.0.0.1" in said and "no.zarr" in said


def test_a_server_that_fails_for_good(server, store):
    server.fault("/s.zarr/zarr.json", "status", code=503)
    said = failure(store)
    assert "503" in said and "127.0.0.1" in said
    assert len(server.take_log()) == 2


def test_a_server_that_fails_once(server, store):
    server.fault("/s.zarr", "status", code=500, times=1)
    server.fault("/s.zarr/plain/c", "cut", after=5, times=1)
    python(CONTENT, store, HDF5_VOL_CONNECTOR=FINDS)


def test_a_refused_connection():
    said = failure("http://127.0.0.1:1/x.zarr")
    assert "127.0.0.1" in said and "onnect" in said and "after 2 tries" in said


@pytest.mark.parametrize("kind, options, words", [
    ("status", {"code": 500}, "500"), ("status", {"code": 403}, "403"),
    ("cut", {"after": 7}, "plain/c/0"), ("hang", {}, "plain/c/0")])
def test_a_chunk_that_cannot_be_had_is_an_error(server, store, kind, options, words):
    server.fault("/s.zarr/plain/c/0", kind, **options)
    said = failure(store, "f['plain'][...]", **IMPATIENT if kind == "hang" else {})
    assert said.startswith("OSError") and words in said and "plain/c/0" in said
    assert "127.0.0.1" in said
    assert len([path for path in asked(server) if path.endswith("plain/c/0")]) == (1 if "403" in words else 2)


def test_no_query_in_messages(server, store):
    """The user's secrets go to the server with each key, and nowhere else."""
    canary = "sig=canary"
    server.fault("/s.zarr/plain/c/0", "status", code=403)
    for url, steps in [(store, ["f['plain'][...]"]), (server.url + "/no.zarr", []),
                       ("http://127.0.0.1:1/x.zarr", []), (store, ["f.create_group('g')"])]:
        said = failure(f"{url}?{canary}", *steps)
        assert "canary" not in said
    assert {request.query for request in server.take_log()} == {canary}
    for mode in "r+", "w":
        assert "canary" not in python(ATTEMPT, f"{store}?{canary}", mode, HDF5_VOL_CONNECTOR="zarr")


COPY = r"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "r") as source, h5py.File(sys.argv[2], "w") as target:
    source.copy("sharded", target)
    source.copy("below", target)
    assert (target["sharded"][...] == np.arange(4096).reshape(64, 64)).all()
    assert list(target["below/deep"]) == [1, 2, 3]
"""


@pytest.mark.parametrize("suffix", ["zarr", "h5"])
def test_copies_of_what_a_web_server_has(store, suffix, tmp_path):
    """H5Ocopy, also by h5repack, takes objects as they are, though nobody lists them."""
    python(COPY, store, tmp_path / f"x.{suffix}", HDF5_VOL_CONNECTOR="zarr")
    output("h5repack", store, tmp_path / f"y.{suffix}", HDF5_VOL_CONNECTOR="zarr")
    output("h5diff", store, tmp_path / f"y.{suffix}", HDF5_VOL_CONNECTOR="zarr")


INTERRUPTED = r"""
import signal, sys, h5py
told = []
if sys.argv[2] == "own": signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
handler = signal.getsignal(signal.SIGINT)
with h5py.File(sys.argv[1], "r") as f:
    try: f["plain"][...]
    except BaseException as error: print(type(error).__name__, error)
    assert signal.getsignal(signal.SIGINT) is handler
    try: signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt: told.append("raised")
    print(told, f["below/deep"][0])
"""


def interrupt(server, handler, **environment):
    """What a program says whose read of a chunk that never comes gets SIGINT."""
    make_store(server.folder / "s.zarr")
    server.fault("/s.zarr/plain/c", "hang")
    program = subprocess.Popen([sys.executable, "-W", "ignore", "-c", INTERRUPTED, f"{server.url}/s.zarr", handler],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=os.environ | {"HDF5_VOL_CONNECTOR": "zarr"} | environment)
    while program.poll() is None and not any("/plain/c" in request.path for request in list(server.log)):
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    return program.communicate(timeout=600)[0].splitlines()


def test_sigint_ends_a_read(server):
    error, then = interrupt(server, "own")
    assert error.startswith("OSError") and "the read was interrupted by SIGINT" in error
    assert then == "[2, 2] 1", "the program's handler is called once for each signal"


def test_sigint_is_a_keyboard_interrupt_of_python(server):
    assert interrupt(server, "pythons") == ["KeyboardInterrupt ", "['raised'] 1"]


def test_signals_can_be_left_alone(server):
    error, then = interrupt(server, "own", ZARRBRIDGE_INTERRUPT="no", ZARRBRIDGE_REMOTE_TRIES="1",
                            ZARRBRIDGE_REMOTE_STALL_SECONDS="1")
    assert error.startswith("OSError") and "after 1 try" in error and "SIGINT" not in error
    assert then == "[2, 2] 1"
