# SPDX-License-Identifier: MIT
"""`zarrbridge doctor --peers`: processes that try the locks of a directory together."""
import os
import subprocess

import pytest
from doctors import FAKES, PROGRAM, Answer, doctor, start

FAKE = {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')}:{FAKES}/libdoctor-fake-place.so".lstrip(":")}


@pytest.mark.parametrize("count", [2, 5])
def test_locks_that_hold(tmp_path, count):
    running = [start("--peers", count, tmp_path) for _ in range(count)]
    for answer in [Answer(process) for process in running]:
        assert answer.status == 0 and not answer.findings(), answer.lines
        assert f"{count} processes: a lock of one kept all others out" in answer.text
    assert not list(tmp_path.iterdir())


def test_locks_that_all_get(tmp_path):
    running = [start("--peers", 3, tmp_path, variables={**FAKE, "FAKE_LOCKS": "grant"}) for _ in range(3)]
    for answer in [Answer(process) for process in running]:
        assert answer.status == 2
        found = answer.findings("error")
        assert len(found) == 2, answer.lines
        assert all("got a lock that another process held" in line["message"] for line in found)
        assert all("mount the file system with locks" in line["advice"] for line in found)
    assert not list(tmp_path.iterdir())


def test_locks_that_there_are_not(tmp_path):
    running = [start("--peers", 2, tmp_path, variables={**FAKE, "FAKE_LOCKS": "refuse"}) for _ in range(2)]
    for answer in [Answer(process) for process in running]:
        answer.of("could not lock a file at all", "error")
    assert not list(tmp_path.iterdir())


def test_those_who_do_not_come(tmp_path):
    answer = doctor("--peers", 2, "--seconds", 1, tmp_path)
    assert answer.status == 2
    assert "start as many at once" in answer.of("did not meet", "error")["advice"]
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_not_there(tmp_path):
    assert doctor("--peers", 2, tmp_path / "no/such").of("cannot meet", "error")


def test_a_link_in_place_of_the_folder(tmp_path):
    elsewhere, meeting = tmp_path / "elsewhere", tmp_path / "scratch"
    for place in (elsewhere, meeting):
        place.mkdir()
    (elsewhere / "mine.all").touch()
    (meeting / ".zb-doctor-peers").symlink_to(elsewhere)
    answer = doctor("--peers", 2, "--seconds", 1, meeting)
    assert answer.of("cannot meet", "error")["advice"].endswith("another thing of that name")
    assert [path.name for path in elsewhere.iterdir()] == ["mine.all"]


@pytest.mark.parametrize("leads_to", ["file", "nothing"])
def test_links_in_the_folder(tmp_path, leads_to):
    folder = tmp_path / ".zb-doctor-peers"
    folder.mkdir()
    target = tmp_path / "target"
    if leads_to == "file":
        target.touch()
    (folder / "lock.all").symlink_to(target)
    running = [start("--peers", 2, "--seconds", 1, tmp_path) for _ in range(2)]
    for answer in [Answer(process) for process in running]:
        assert answer.of("did not meet", "error"), answer.lines
    assert target.exists() == (leads_to == "file")


@pytest.mark.parametrize("words", [["--peers", "1", "."], ["--peers", "x", "."], ["--peers", "2"],
                                   ["--seconds", "0"]])
def test_misuse(words):
    done = subprocess.run([PROGRAM, "doctor", *words], capture_output=True, text=True)
    assert done.returncode == 2 and words[0] in done.stderr and not done.stdout
