"""The programs of examples/, each with its engine from the index, at toy size: zarr-python reads what they have
written. An engine that cannot be had is skipped."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import venvs

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ENGINES = {
    "ray": ["ray"],
    "lithops": ["lithops"],
    "spark": ["--no-binary", "pyspark", "pyspark"],  # has no wheel
    "beam": ["apache-beam"],
    "cubed": ["cubed"],
}


def environment(folder, python):
    programs = [os.path.dirname(os.environ["ZARRBRIDGE_PROGRAM"]), os.path.dirname(python)]
    return {
        **{k: v for k, v in os.environ.items() if k != "HDF5_VOL_CONNECTOR"},
        "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
        "HOME": str(folder), "TMPDIR": str(folder),  # where engines put what they leave
        "RAY_USAGE_STATS_ENABLED": "0",
        "LITHOPS_TELEMETRY": "False",
    }


def run(command, folder, python=sys.executable, **variables):
    done = subprocess.run(command, cwd=folder, env={**environment(folder, python), **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def check(path):
    rows, columns = np.ogrid[0:256, 0:320]
    array = zarr.open_array(path / "field", mode="r")
    assert (array[...] == rows * 1000 + columns).all() and array.shards == (128, 128)


def test_each_engine_has_its_example():
    files = {path.name for path in EXAMPLES.iterdir()} - {"README.md", "slurm_array.sh"}
    assert files == {f"{engine}_pieces.py" for engine in ENGINES}


@pytest.mark.parametrize("engine", ENGINES)
def test_engine(tmp_path, engine):
    if engine == "spark" and not shutil.which("java"):
        pytest.skip("no java for Spark")
    python = venvs.venv(engine, *ENGINES[engine], system=True)
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as short:  # for the names of sockets
        run([python, EXAMPLES / f"{engine}_pieces.py", "x.zarr"], tmp_path, python, RAY_TMPDIR=short,
            PYSPARK_PYTHON=str(python), SPARK_LOCAL_IP="127.0.0.1")
    check(tmp_path / "x.zarr")


def test_job_array(tmp_path):
    """What Slurm does with the script: a process for each task, of which one is done again, and one has no shard."""
    code = """import h5py, zarrbridge
with h5py.File("x.zarr", "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32))"""
    run([sys.executable, "-c", code], tmp_path)
    tasks = [subprocess.Popen([EXAMPLES / "slurm_array.sh", "x.zarr", "field"], cwd=tmp_path,
                              env={**environment(tmp_path, sys.executable), "SLURM_ARRAY_TASK_COUNT": "7",
                                   "SLURM_ARRAY_TASK_ID": str(task)}) for task in [*range(7), 2]]
    assert [task.wait(100) for task in tasks] == [0] * 8
    check(tmp_path / "x.zarr")


def test_slurm(tmp_path):
    """The same, by Slurm itself."""
    if not shutil.which("sbatch") or subprocess.run(["sinfo"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no Slurm that takes jobs")
    code = """import h5py, zarrbridge
with h5py.File("x.zarr", "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32))"""
    run([sys.executable, "-c", code], tmp_path)
    run(["sbatch", "--wait", "--array=0-3", EXAMPLES / "slurm_array.sh", "x.zarr", "field"], tmp_path)
    check(tmp_path / "x.zarr")
