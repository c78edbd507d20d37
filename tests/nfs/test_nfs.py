# SPDX-License-Identifier: MIT
"""Several clients of one NFS server, in a virtual machine: what was acknowledged is stored."""
import os
import pathlib
import re

import pytest

import machine

BUILD = pathlib.Path(os.environ["ZARRBRIDGE_BUILD_DIR"])
SECONDS = {"short": 20, "long": 60, "full": 180}[os.environ.get("ZARRBRIDGE_TEST_LENGTH", "short")]
SERVER = ["exportfs", "rpc.mountd", "rpc.nfsd", "ip"]
MODULES = ["nfsd", "nfsv4", "veth", "bridge"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nfs")
    try:
        root = machine.unpack_packages(BUILD.parent / "packages" / "nfs")
        programs = [machine.find_program(root, name) for name in SERVER]
        init = (pathlib.Path(__file__).parent / "guest.sh").read_bytes()
        programs.append(BUILD / "tests/nfs/nfs-actor")
        image = folder / "initramfs"
        image.write_bytes(machine.make_initramfs(root, init, programs, MODULES))
        text = machine.boot(root, image, f"seconds={SECONDS}", folder / "serial", 900)
    except machine.Unavailable as reason:
        pytest.skip(f"no virtual machine with NFS: {reason}")
    print(text)
    lines = re.findall(r"^RESULT (\w+) (.*?)\s*$", text, re.M)
    return {name: {word: int(value) for word, value in re.findall(r"(\w+)=(\d+)", rest)}
            for name, rest in lines}


def test_writers_on_three_clients_lose_nothing(results):
    shared = results["shared"]
    assert shared["acknowledged"] >= 2 # a slow machine has little time for more
    assert (shared["lost"], shared["failed"]) == (0, 0)
    assert shared["stored"] == shared["acknowledged"]


def test_the_file_system_is_taken_for_what_it_is(results):
    assert results["shared"]["locks"] == 1 # the lock file has stayed
    assert results["local"]["locks"] == 0


def test_writers_on_one_client_lose_nothing(results):
    one = results["one"]
    assert one["acknowledged"] > 0
    assert (one["lost"], one["failed"]) == (0, 0)


def test_a_chunk_of_another_client_is_no_fill_value(results):
    assert results["fresh"] == {"rounds": 10, "missed": 0}
