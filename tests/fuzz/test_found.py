# SPDX-License-Identifier: MIT
"""The inputs that fuzzing found: one archive for each target, which replay.c runs to the last member,
and which archive.py makes again byte for byte."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import archive
import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "tests" / "fuzz"
TARGETS = sorted(path.name for path in (HERE / "corpus").iterdir())
QUICK = "codec"  # its program takes milliseconds for hundreds of inputs


def found(name):
    return HERE / "found" / f"{name}.zip"


def replay(*arguments):
    """The exit status, and how many inputs were run."""
    # Not this interpreter's sanitizers: the program brings its own.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([PROGRAMS / f"fuzz-{QUICK}-replay", *arguments], env=environment,
                          check=False, capture_output=True, text=True)
    return done.returncode, int(done.stdout.split()[0])


def test_each_target_has_one():
    assert sorted(path.name for path in (HERE / "found").iterdir()) == [
        f"{name}.zip" for name in TARGETS]


@pytest.mark.parametrize("name", TARGETS)
def test_archive(name, tmp_path):
    """Members are called as libFuzzer calls them, by their SHA-1: none was damaged on the way."""
    archive.unpack(found(name), tmp_path / "files")
    files = list((tmp_path / "files").iterdir())
    assert len(files) > 0
    for path in files:
        assert hashlib.sha1(path.read_bytes()).hexdigest() == path.name
    archive.pack(tmp_path / "files", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == found(name).read_bytes()


def test_seeds_have_names():
    """Every file of the corpus is a seed with a name of its own, and lies where replay.c looks."""
    for path in (HERE / "corpus").rglob("*"):
        assert path.is_dir() == (path.parent == HERE / "corpus")
        assert len(path.name) < 40


def test_replay_runs_every_member(tmp_path):
    with zipfile.ZipFile(found(QUICK)) as packed:
        members = len(packed.namelist())
    assert replay(found(QUICK)) == (0, members)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_bytes(b"1")
    assert replay("0", seeds, found(QUICK)) == (0, members + 1)


def test_replay_refuses_what_is_incomplete(tmp_path):
    whole = found(QUICK).read_bytes()
    cut = tmp_path / "cut.zip"
    with zipfile.ZipFile(found(QUICK)) as packed:
        second = packed.infolist()[1]
    ends = [0, 10, second.header_offset, second.header_offset + 40, len(whole) // 2,
            whole.index(b"PK\1\2"), len(whole) - 22, len(whole) - 1]
    for end in ends:
        cut.write_bytes(whole[:end])
        assert replay(cut)[0] == 1, f"cut off at {end}"
    assert replay(tmp_path / "none.zip") == (1, 0)
    # Its members are not as they were found.
    with zipfile.ZipFile(cut, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("deflated", bytes(1000))
    assert replay(cut) == (1, 0)
