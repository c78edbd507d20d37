"""zarrbridge.dask with the newest Dask and the system's h5py, rasterio and zarr-python: what several processes store is
what zarr-python reads. Each test is a program of its own, since HDF5 reads its variables once, and Dask's workers import
the main module."""
import os
import subprocess
import sys

import pytest
import venvs

pytest.importorskip("h5py")
pytest.importorskip("zarr")

HEAD = """
import os, pickle, sys
import dask, dask.array as da, numpy as np, zarr
import zarrbridge.dask as zd

def check(expected, name="a"):
    found = zarr.open_array("x.zarr/" + name, mode="r")[...]
    assert (found == expected).all(), (found != expected).sum()

def main():
    values = np.arange(300 * 400, dtype="i4").reshape(300, 400) + 1
"""
PROCESSES = """
if __name__ == "__main__":
    with dask.config.set(scheduler="processes", num_workers=2):
        main()
"""
CLUSTER = """
if __name__ == "__main__":
    from distributed import Client, LocalCluster
    with LocalCluster(2, threads_per_worker=2, host="127.0.0.1", dashboard_address=None) as cluster, Client(cluster):
        main()
"""


@pytest.fixture(scope="module")
def python():
    return venvs.venv("dask", "dask[array]", "distributed", system=True)


def run(python, body, folder, tail=PROCESSES):
    script = folder / "main.py"
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    script.write_text(HEAD + lines + tail)
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_VOL_CONNECTOR"}
    environment["PATH"] = os.path.dirname(os.environ["ZARRBRIDGE_PROGRAM"]) + os.pathsep + environment["PATH"]
    done = subprocess.run([python, script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_import_loads_no_engine(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import sys, zarrbridge.dask; print(*sys.modules)"],
                          stdout=subprocess.PIPE, text=True, check=True)
    assert not {"dask", "h5py", "rasterio", "numpy"} & set(done.stdout.split())


def test_store_aligns_to_shards(python, tmp_path):
    run(python, """
zd.store(da.from_array(values, chunks=(70, 50)), "x.zarr", "a", shards=(128, 128), chunks=(32, 32), compression="gzip")
check(values)
assert zarr.open_array("x.zarr/a").shards == (128, 128)
back = zd.from_store("x.zarr", "a")
assert back.chunksize == (128, 128)
assert (back.compute() == values).all()
""", tmp_path)


def test_unaligned_blocks_share_shards(python, tmp_path):
    run(python, """
random = np.random.default_rng(int.from_bytes(os.urandom(4), "little"))
def cuts(n):
    edges = [0, *sorted(set(random.integers(1, n, 6).tolist())), n]
    return tuple(b - a for a, b in zip(edges, edges[1:]))
chunks = cuts(300), cuts(400)
print(chunks)
zd.store(da.from_array(values, chunks=chunks), "x.zarr", "a", shards=(256, 256), align=False, chunks=(32, 32))
check(values)
zd.store(da.from_array(values * 2, chunks=chunks), "x.zarr", "a", align=False)
check(values * 2)
""", tmp_path)


def test_another_form_is_refused(python, tmp_path):
    run(python, """
zd.store(da.from_array(values, chunks=100), "x.zarr", "a", chunks=(64, 64))
try:
    zd.store(da.zeros((5, 5), dtype="i4"), "x.zarr", "a")
except ValueError as error:
    assert "take another name" in str(error)
else:
    raise SystemExit("a smaller array went into a larger one")
check(values)
""", tmp_path)


def test_plan_covers_the_array_once(python, tmp_path):
    run(python, """
zd.store(da.from_array(values, chunks=100), "x.zarr", "a", shards=(128, 128), chunks=(32, 32))
seen = np.zeros(values.shape, int)
for piece in zd.plan("x.zarr", "a", pieces=4):
    assert piece.is_whole
    seen[piece.slices] += 1
assert (seen == 1).all()
assert not zd.plan("x.zarr", "a", "0:10,0:10")[0].is_whole
""", tmp_path)


def test_raster_blocks(python, tmp_path):
    pytest.importorskip("rasterio")
    run(python, """
import rasterio
with rasterio.open("x.zarr", "w", driver="Zarr3", width=400, height=300, count=1, dtype="int32"): pass
da.store(da.from_array(values, chunks=(70, 90)), zd.RasterTarget("x.zarr"), lock=False)
with rasterio.open("x.zarr") as raster:
    assert (raster.read(1) == values).all()
""", tmp_path)


def test_cluster(python, tmp_path):
    """Two processes of two threads each, which share shards."""
    run(python, """
zd.store(da.from_array(values, chunks=(70, 90)), "x.zarr", "a", shards=(256, 256), align=False, chunks=(32, 32))
check(values)
zd.store(da.from_array(values * 2, chunks=(40, 130)), "x.zarr", "a", align=False)
check(values * 2)
assert (zd.from_store("x.zarr", "a").sum().compute() == values.sum(dtype="i8") * 2)
""", tmp_path, CLUSTER)


def test_a_killed_worker_loses_nothing(python, tmp_path):
    """It dies once in the midst of its blocks, with some stored; Dask does what it has not told again."""
    run(python, """
def block(part, block_info=None):
    if block_info[0]["chunk-location"] == (2, 2) and not os.path.exists("died"):
        open("died", "x").close()
        os.kill(os.getpid(), 9)
    return part

x = da.from_array(values, chunks=(70, 90)).map_blocks(block, dtype=values.dtype)
zd.store(x, "x.zarr", "a", shards=(256, 256), align=False, chunks=(32, 32))
assert os.path.exists("died")
check(values)
""", tmp_path, CLUSTER)


def test_no_lock_is_free_and_picklable(python, tmp_path):
    run(python, """
lock = pickle.loads(pickle.dumps(zd.NoLock()))
with lock:
    assert lock.acquire() and not lock.locked()
    lock.release()
""", tmp_path)
