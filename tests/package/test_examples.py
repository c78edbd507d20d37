"""The programs of examples/, each with its engine from the index, at toy size: zarr-python reads what they have
written. An engine that cannot be had is skipped."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import slurm_node
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


def make(path, folder):
    code = """import sys, h5py, zarrbridge
with h5py.File(sys.argv[1], "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32))"""
    run([sys.executable, "-c", code, path], folder)


def test_job_array(tmp_path):
    """What Slurm does with the script: a process for each task, of which one is done again, and one has no shard."""
    make("x.zarr", tmp_path)
    tasks = [subprocess.Popen([EXAMPLES / "slurm_array.sh", "x.zarr", "field"], cwd=tmp_path,
                              env={**environment(tmp_path, sys.executable), "SLURM_ARRAY_TASK_COUNT": "7",
                                   "SLURM_ARRAY_TASK_ID": str(task)}) for task in [*range(7), 2]]
    assert [task.wait(100) for task in tasks] == [0] * 8
    check(tmp_path / "x.zarr")


def slurm(script, folder):
    """Runs a shell script where Slurm takes jobs."""
    absent = [name for name in slurm_node.PROGRAMS if not shutil.which(name, path=slurm_node.PATH)]
    if absent:
        pytest.skip(f"no Slurm: {', '.join(absent)} missing (tools/install-deps slurmctld slurmd slurm-client)")
    refused = subprocess.run([*slurm_node.NAMESPACES, "true"], capture_output=True, text=True, check=False).stderr
    if refused:
        pytest.skip(f"no namespaces for Slurm's daemons (root has them): {refused}")
    with tempfile.TemporaryDirectory(prefix="slurm", dir="/tmp") as short:  # for the names of sockets
        return run([*slurm_node.COMMAND, short, "sh", "-euc", script], folder, EXAMPLE=str(EXAMPLES / "slurm_array.sh"))


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_slurm(tmp_path):
    """By Slurm itself: an array of which each shard is stored once, by one task; one whose tasks are killed somewhere,
    or fail behind their end, and are run again; and what a job may do where locks hold on one machine alone."""
    if not shutil.which("strace"):
        pytest.skip("no strace")
    for name in "once", "again", "part":
        make(f"{name}.zarr", tmp_path)
    write_script(tmp_path / "once.sh", """
        exec strace -ff -y -qq -e trace=/^rename -o "task$SLURM_ARRAY_TASK_ID" "$EXAMPLE" once.zarr field""")
    write_script(tmp_path / "again.sh", """
        echo "$SLURM_ARRAY_TASK_ID ${SLURM_RESTART_COUNT:-0} $SLURM_JOB_NUM_NODES" >>runs
        [ -z "${SLURM_RESTART_COUNT:-}" ] || exec "$EXAMPLE" again.zarr field
        timeout -s KILL "$(echo ".3 .5 .8 100" | cut -d' ' -f$((SLURM_ARRAY_TASK_ID + 1)))" "$EXAMPLE" again.zarr field
        exit 75""")
    write_script(tmp_path / "part.sh", """
        export ZARRBRIDGE_LOCKS=node
        exec python3 -c 'import h5py, zarrbridge
with h5py.File("part.zarr", "r+", driver="zarr") as store:
    store["field"][0:3, 0:3] = 7'""")
    slurm("""
        sbatch --requeue --array=0-3 again.sh
        sbatch -o job.out part.sh
        sbatch -o array.%a.out --array=0-1 part.sh
        sbatch --wait --array=0-3 once.sh
        while [ -n "$(squeue -h)" ]; do sleep 0.2; done""", tmp_path)

    check(tmp_path / "once.zarr")
    stored = [(trace.name[:5], place) for trace in tmp_path.glob("task*")
              for place in re.findall(r', \d+<[^>]*/once.zarr/field/(c/\d)>, "(\d)"\) = 0$', trace.read_text(), re.M)]
    assert sorted(place for _, place in stored) == [(f"c/{i}", f"{j}") for i in range(2) for j in range(3)]
    assert {task for task, _ in stored} == {"task0", "task1", "task2", "task3"}

    check(tmp_path / "again.zarr")
    runs = sorted((tmp_path / "runs").read_text().splitlines())
    assert runs == [f"{task} {count} 1" for task in range(4) for count in range(2)]
    run(["zarrbridge", "repair", "again.zarr"], tmp_path)
    run(["zarrbridge", "verify", "again.zarr"], tmp_path)

    # A job of one node has no other machine beside it; the tasks of an array may have.
    assert (tmp_path / "job.out").read_text() == ""
    assert (zarr.open_array(tmp_path / "part.zarr/field")[0:3, 0:3] == 7).all()
    for task in range(2):
        assert "ZARRBRIDGE_MACHINES=one" in (tmp_path / f"array.{task}.out").read_text()
