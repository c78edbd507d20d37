# SPDX-License-Identifier: MIT
"""Lifetimes and threads: uses that would crash a process if we held our objects the wrong way."""

import os
import sys
from pathlib import Path

import pytest
from conftest import WAYS, run_python

sys.path.append(str(Path(__file__).parents[1] / "fuzz"))
from collision import collision  # noqa: E402

HAZARD = r"""
import sys, h5py, numpy as np
folder, store = sys.argv[1:]
z = h5py.File(store)
held = [z, z["g"], z["a"], z["g/b"], z.attrs.get_id("n")]
for k in range(20):
    p = f"{folder}/n{k}.h5"
    f = h5py.File(p, "w"); f.create_group("g/h"); f["x"] = np.arange(10); f["s"] = ["a", "b"]
    f["T"] = np.dtype([("a", "i4")])
    f.move("g/h", "g/i"); f["y"] = f["x"]; del f["y"]; f.move("x", "xx"); f.flush()
    a, b = f["xx"], f["g/i"]; f.attrs["q"] = 1
    h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL)
    h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_ALL)
    f.close(); assert not a
    f = h5py.File(p, "r+"); g = h5py.File(p, "r+"); g["new"] = 3; f.close(); g.close()
assert z["a"][1, 1] == 513 and held[3][1, 1, 1] > 0
z.close()
print("done")
"""

LEFT_OPEN = r"""
import sys, h5py
f = h5py.File(sys.argv[1]); held = [f["a"], f["g"], f.attrs.get_id("n"), h5py.File(sys.argv[1])]
import atexit
atexit.register(lambda: print(f["a"][1, 1]))
raw = [h5py.h5f.open(sys.argv[1].encode(), 0) for _ in range(3)]
for r in raw: h5py.h5i.inc_ref(r)
"""

THREADS = r"""
import sys, h5py, numpy as np, concurrent.futures as futures
f = h5py.File(sys.argv[1]); d = f["a"]; whole = d[...]
def work(i):
    if i % 8 == 0:
        with h5py.File(sys.argv[1]) as g: assert len(list(g)) == 6 and g["g/b"][1, 1, 1] > 0
    return int(d[i].sum(dtype="i8"))
with futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(work, range(512))) == whole.sum(dtype="i8")
print("done")
"""

IMPORT_WAITING = 'import os, sys; sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support"); import waiting'

# GCC's AddressSanitizer does not guard its locks at a fork: a child inherits them held when a thread
# of the pool is just starting, and hangs. There the fork comes when all have started.
FORK = IMPORT_WAITING + r"""
import os, sys, h5py
f = h5py.File(sys.argv[1]); before = f["a"][...]
if "libasan" in os.environ.get("LD_PRELOAD", ""): waiting.await_idle_threads()
child = os.fork()
if child == 0:
    same = (f["a"][...] == before).all() and h5py.File(sys.argv[1])["a"][1, 1] == 513
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0 and (f["a"][...] == before).all()
print("done")
"""

LARGE = IMPORT_WAITING + r"""
import os, sys, h5py, zarr, numpy as np
path = sys.argv[1] + "/l.zarr"
a = zarr.create_array(path, shape=(64, 256, 256), chunks=(8, 64, 64), dtype="u4")
a[...] = np.arange(64 * 65536, dtype="u4").reshape(64, 256, 256)
def total(i):
    with h5py.File(path) as f: return int(f["l"][i * 16:(i + 1) * 16].sum(dtype="u8"))
with h5py.File(path) as f: whole = int(f["l"][...].sum(dtype="u8"))    # starts the pool
if "libasan" in os.environ.get("LD_PRELOAD", ""): waiting.await_idle_threads()
pipes = [os.pipe() for _ in range(4)]
for i, (_, end) in enumerate(pipes):
    if os.fork() == 0:
        os.write(end, total(i).to_bytes(8, "little"))
        os._exit(0)
for _, end in pipes: os.close(end)
assert sum(int.from_bytes(os.read(end, 8), "little") for end, _ in pipes) == whole
for _ in pipes: assert os.wait()[1] == 0
print("done")
"""

RECREATE = r"""
import sys, h5py
for _ in range(200):
    with h5py.File(sys.argv[1]) as f: assert f["g/s"][()] == 3.25
    f = h5py.File(sys.argv[1]); d = f["a"]; f.close(); assert not d
print("done")
"""


@pytest.mark.parametrize("connector", [*WAYS, "zarr native_compat=0"])
def test_native_files_while_ours_are_open(tmp_path, tree, connector):
    assert run_python(HAZARD, tmp_path, tree, connector=connector) == "done\n"


@pytest.mark.parametrize("connector", WAYS)
def test_objects_left_open_at_exit(tree, connector):
    assert run_python(LEFT_OPEN, tree, connector=connector) == "513\n"


@pytest.mark.parametrize("code", [THREADS, FORK, RECREATE], ids=["threads", "fork", "recreate"])
def test_threads_and_processes(tree, code):
    assert run_python(code, tree) == "done\n"


def test_processes_after_the_pool_has_started(tmp_path):
    assert run_python(LARGE, tmp_path) == "done\n"


COLLISION = r"""
import sys, h5py
f = h5py.File(sys.argv[1])
assert f["a"][0:16].tobytes() == (16).to_bytes(8, "little") + (1 << 20).to_bytes(8, "little")
try:
    print(f["b"][0:1])
except OSError as error:
    print("16 elements" in str(error) or str(error))
"""


def test_documents_that_collide(tmp_path):
    """Two arrays that caches must not take for one, whoever has chosen their documents: the numbers of one would be
    pointers of the other."""
    a, b, chunk = collision(16, 1 << 20)
    (tmp_path / "zarr.json").write_text('{"zarr_format":3,"node_type":"group"}')
    for name, document in ("a", a), ("b", b):
        (tmp_path / name / "c").mkdir(parents=True)
        (tmp_path / name / "zarr.json").write_bytes(document)
    (tmp_path / "a/c/0").write_bytes(chunk)
    os.link(tmp_path / "a/c/0", tmp_path / "b/c/0")  # of one version
    os.utime(tmp_path / "a/c/0", (1e9, 1e9))
    assert run_python(COLLISION, tmp_path, connector="zarr") == "True\n"
