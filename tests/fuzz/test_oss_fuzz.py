# SPDX-License-Identifier: MIT
"""oss-fuzz/build.sh does what OSS-Fuzz wants of it. Its engine is replay.c here: any object with a
main() that calls the target is one."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PLUGINS = {"gdal", "gdal_write", "vol", "vol_write"}
TARGETS = sorted({path.name for path in (HERE / "corpus").iterdir()} - PLUGINS)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    work, out = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("out")
    engine = work / "engine.o"
    subprocess.run([os.environ["CC"], "-c", HERE / "replay.c", "-o", engine, "-D_GNU_SOURCE",
                    f"-I{HERE.parents[1] / 'core' / 'include'}"], check=True)
    subprocess.run([HERE / "oss-fuzz" / "build.sh"], check=True,
                   env={**os.environ, "OUT": str(out), "WORK": str(work),
                        "LIB_FUZZING_ENGINE": str(engine)})
    return out


def test_nothing_else_is_made(out):
    programs = {path.name for path in out.iterdir() if path.is_file() and not path.suffix
                and not path.name.endswith(".zip")}
    assert programs == {f"fuzz-{name}" for name in TARGETS}


@pytest.mark.parametrize("name", TARGETS)
def test_target(out, tmp_path, name):
    """It runs its own seeds, with the libraries that lie beside it."""
    assert (out / f"fuzz-{name}.dict").stat().st_size > 0
    assert "max_len" in (out / f"fuzz-{name}.options").read_text()
    with zipfile.ZipFile(out / f"fuzz-{name}_seed_corpus.zip") as seeds:
        seeds.extractall(tmp_path)
    wanted = {path.name for path in (HERE / "corpus" / name).iterdir()}
    with zipfile.ZipFile(HERE / "found" / f"{name}.zip") as found:
        wanted |= set(found.namelist())
    files = sorted(tmp_path.iterdir())
    assert {path.name for path in files} == wanted and len(wanted) > 0
    subprocess.run([out / f"fuzz-{name}", *files], check=True, capture_output=True)
    used = subprocess.run(["ldd", out / f"fuzz-{name}"], check=True, capture_output=True, text=True)
    assert f" => {out}/lib/libzstd.so" in used.stdout
