# SPDX-License-Identifier: MIT
"""Cuts the power while actors write, at places of the disk's log, and checks the state that is
left: README.md."""
import collections
import os
import pathlib
import random
import sys
import tempfile

import pytest

import filesystems
from check import Check
from disk import Cut, Disk, Image, images, read_log, settled
from record import Recording
from length import SEED, by_length
from scripts import CONTROLS, SCRIPTS, SHORT

SYSTEMS = os.environ.get("ZB_POWER_SYSTEM", " ".join(filesystems.DISKS)).split()
ONLY = os.environ.get("ZB_POWER_CUT")  # PLACE:FATE, as a failure names it
CUTS = by_length(1, 30, sys.maxsize)   # of a script
# A short test has one script on each file system.
CASES = by_length([(system, SHORT[system]) for system in SYSTEMS],
                  [(system, name) for system in SYSTEMS for name in SCRIPTS])


@pytest.fixture
def system(request):
    reason = filesystems.what_lacks(filesystems.ALL[request.param], "/dev/fuse")
    if reason:
        pytest.skip(reason)
    return filesystems.ALL[request.param]


@pytest.fixture(scope="module")
def place():
    """In memory, which the test itself mounts: a power cut there is a copy."""
    if filesystems.why_no_mounts():
        pytest.skip(filesystems.why_no_mounts())
    with tempfile.TemporaryDirectory() as path:
        filesystems.run(["mount", "-t", "tmpfs", "-o", "size=4g,mode=700", "power", path])
        yield pathlib.Path(path)
        filesystems.run(["umount", "-l", path])



def record(system, script, place):
    """Runs a script; returns the promises, the disk's first content, and its log."""
    old, run = script
    image = place / "image"
    system.format(image)
    first = Image(image)
    with Disk(place / "fuse", image) as disk:
        recording = Recording(disk, place / "stores")
        try:
            with filesystems.mounted(disk.path, recording.directory, system.options):
                old(recording)
            recording.settle()
            with filesystems.mounted(disk.path, recording.directory, system.options):
                recording.begin = recording.now()
                run(recording)
                recording.stop = recording.now()
        finally:
            recording.end()
    entries = read_log(disk.log)
    os.unlink(disk.log)
    return recording, first, entries


def choose(recording, entries, chance):
    """The cuts: at promises, with the disk's cache lost; just behind flushes of the disk; and
    anywhere, with each sector by chance."""
    begin, stop = recording.begin, recording.stop
    promises = sorted({place for place in recording.stops if begin < place <= stop})
    flushes = [place for place in settled(entries, begin) if place <= stop]
    anywhere = [entry.end for entry in entries if begin < entry.end <= stop]
    third = CUTS // 3
    promises = chance.sample(promises, min(len(promises), CUTS - 2 * third))
    flushes = chance.sample(flushes, min(len(flushes), third))
    anywhere = chance.sample(anywhere, min(len(anywhere), third))
    return ([Cut(place, "lost") for place in [*promises, *flushes]] +
            [Cut(place, str(chance.randrange(1 << 16))) for place in anywhere])


def findings_of(system, script, place, seed):
    """The faults after each of the cuts, and the number of cuts."""
    recording, first, entries = record(system, script, place)
    assert recording.promised > 0 or not recording.stops
    chance, found, count = random.Random(seed), [], 0
    cuts = choose(recording, entries, chance)
    if ONLY:
        cuts = [Cut(int(ONLY.partition(":")[0]), ONLY.partition(":")[2])]
    for cut, image in images(first, entries, cuts):
        image.save(place / "cut")
        with filesystems.mounted(place / "cut", place / "after", system.again) as directory:
            checked = Check(recording, os.path.join(directory, "x.zarr"), cut.end).all()
        found += [(cut, finding) for finding in checked]
        count += 1
    return found, count


def tell(found, count, seed):
    kinds = collections.Counter(finding.kind for _, finding in found)
    bad = len({str(cut) for cut, _ in found})
    lines = [f"{bad} of {count} cuts broke promises (ZARRBRIDGE_SEED={seed}): " +
             ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())]
    return "\n".join(lines + [f"  {cut} {finding}" for cut, finding in found[:12]])


@pytest.mark.parametrize("system, name", CASES, indirect=["system"])
def test_cuts(system, name, place):
    found, count = findings_of(system, SCRIPTS[name], place, SEED)
    assert count > 0
    assert not found, tell(found, count, SEED)


@pytest.mark.parametrize("system", SYSTEMS, indirect=True)
def test_careful_writer(system, place):
    """No false alarm: a writer with every necessary sync keeps all promises."""
    found, count = findings_of(system, CONTROLS["careful"], place, SEED)
    assert count > 0 and not found, tell(found, count, SEED)


@pytest.mark.parametrize("system", SYSTEMS, indirect=True)
def test_careless_writer(system, place):
    """No missed fault: a writer without syncs breaks promises, and that is found."""
    found, _ = findings_of(system, CONTROLS["careless"], place, SEED)
    assert found
