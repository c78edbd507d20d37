# SPDX-License-Identifier: MIT
"""The program `zarrbridge`, on stores that zarr-python wrote and somebody damaged."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy
import pytest
import zarr


def run(*arguments, user=None, **environment):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)], user=user,
                          env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout.splitlines(), done.stderr


def new_store(path):
    group = zarr.open_group(path, mode="w")
    array = group.create_array("a", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="int32")
    array[:] = numpy.arange(64 * 64).reshape(64, 64)
    plain = group.create_array("b", shape=(10,), chunks=(4,), dtype="float64", compressors=None)
    plain[:] = 1.5
    return path


@pytest.fixture
def store(tmp_path):
    return new_store(tmp_path / "s.zarr")


@pytest.fixture
def store_for_all():
    """One that other users reach. pytest closes the directories above tmp_path to them."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        yield new_store(pathlib.Path(directory) / "s.zarr")


def test_what_zarr_python_writes_is_fine(store):
    assert run("verify", store) == (
        0, [], f"3 nodes, 7 chunks or shards with 67 encoded chunks in {stored(store)} bytes: "
               "0 findings\n")
    assert run("repair", store) == (0, [], "0 things mended\n")
    assert run("compact", store / "a") == (0, [], "0 bytes reclaimed\n")


def stored(store):
    return sum(path.stat().st_size for path in store.glob("*/c/**/*") if path.is_file())


def test_damage_is_listed(store):
    shard = store / "a/c/1/0"
    shard.write_bytes(shard.read_bytes()[:-1])
    (store / "b/c/2").write_bytes(b"")
    (store / "b/c/7").write_bytes(b"x" * 32)
    (store / "notes.txt").write_text("mine")
    status, lines, summary = run("verify", store)
    assert status == 1
    assert summary.endswith(": 3 findings, 1 foreign files\n")
    assert sorted(line.split(":")[0] for line in lines) == [
        "damaged   a/c/1/0", "foreign   notes.txt", "orphaned  b/c/7", "truncated b/c/2"]
    assert run("repair", store)[0] == 0
    assert run("verify", store)[0] == 1, "repairing judges nothing"


def test_foreign_files_are_no_fault(store, tmp_path):
    (store / ".DS_Store").write_bytes(b"x")
    (store / "a/README").write_text("mine")
    status, lines, summary = run("verify", store)
    assert status == 0 and summary.endswith(": 0 findings, 2 foreign files\n")
    assert sorted(lines) == ["foreign   .DS_Store: no part of the store", "foreign   a/README: no part of the store"]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/README").write_text("no store")
    status, lines, message = run("verify", tmp_path / "plain")
    assert (status, lines) == (2, []) and "is not a store" in message


def test_names_in_findings_are_printable(store):
    (store / "red\x1b[31m\nfine a: nothing").write_text("mine")
    (store / ".zarrbridge-tmp-\x1b").write_text("mine")
    lines = run("verify", store)[1]
    assert "foreign   red\\x1b[31m\\x0afine a: nothing: no part of the store" in lines
    assert all(line.isprintable() for line in lines)


def test_consolidated_metadata_is_refreshed(store):
    zarr.consolidate_metadata(store)
    assert run("verify", store)[0] == 0
    group = zarr.open_group(store, mode="r+", use_consolidated=False)
    group.create_array("new", shape=(2,), dtype="uint8", fill_value=3)
    assert "new" not in zarr.open_group(store, mode="r", use_consolidated=True)
    status, lines, _ = run("verify", store)
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith("stale     zarr.json: consolidated metadata")
    assert run("repair", store)[1:] == (
        ["zarr.json: brought up to date: consolidated metadata"], "1 things mended\n")
    assert run("verify", store)[0] == 0
    fresh = zarr.open_group(store, mode="r", use_consolidated=True)
    assert sorted(fresh) == ["a", "b", "new"]
    assert fresh["new"][:].tolist() == [3, 3]


def test_nodes_are_listed(store):
    group = zarr.open_group(store, mode="r+")
    group.create_group("sub").create_array("x\ny", shape=(), dtype="float32")
    assert run("ls", store) == (0, [
        "group      /",
        "array      /a  int32 (64, 64) in shards (32, 32)",
        "array      /b  float64 (10) in chunks (4)",
        "group      /sub",
        "array      /sub/x\\x0ay  float32 () in chunks ()",
    ], "5 nodes, 0 of them unreadable\n")
    assert run("ls", store / "b")[1] == ["array      /b  float64 (10) in chunks (4)"]
    (store / "b" / "zarr.json").write_text("{")
    status, lines, message = run("ls", store)
    assert status == 1 and message == "5 nodes, 1 of them unreadable\n"
    assert len(lines) == 5 and lines[2].startswith("unreadable /b  ") and "line 1" in lines[2]


def test_a_node_is_described(store):
    group = zarr.open_group(store, mode="r+")
    group.create_array("c", shape=(7, 3), chunks=(7, 3), dtype="i2", fill_value=-1, compressors=None,
                       dimension_names=["y\n", None], attributes={"units": "m", "b\nc": [1]})
    assert run("info", store / "c") == (0, [
        "array /c", "  format      Zarr version 3", "  type        int16", "  shape       (7, 3)",
        "  chunks      (7, 3)", "  in all      1 chunks", "  codecs      bytes (little-endian)",
        "  fill value  -1", "  dimensions  y\\x0a, -", "  attributes  units, b\\x0ac", "  decoded     42 bytes",
        "  stored      0 bytes in 0 of 1 chunks"], "")
    lines = run("info", "--attributes", store / "c")[1]
    assert lines[9:12] == ["  attributes  ", '    units: "m"', "    b\\x0ac: [1]"]
    lines = run("info", store / "a")[1]
    assert lines[3:8] == ["  shape       (64, 64)", "  shards      (32, 32)", "  chunks      (8, 8)",
                          "  in all      4 shards, 64 chunks",
                          "  codecs      shards of [bytes (little-endian), zstd (level 0)]"]
    size = stored(store) - 80 - 16
    assert lines[-3:] == ["  decoded     16384 bytes (16.0 KiB)",
                          f"  stored      {size} bytes ({size / 1024:.1f} KiB) in 4 of 4 shards",
                          f"  ratio       {16384 / size:.2f}"]
    assert run("info", store) == (0, ["group /", "  format      Zarr version 3"], "")
    zarr.create_array(store / "old", shape=(3,), dtype="f4", zarr_format=2, fill_value=float("nan"))
    lines = run("info", store / "old")[1]
    assert "  format      Zarr version 2" in lines and '  fill value  NaN' in lines
    for path in (store / "none", store.parent / "none"):
        status, lines, message = run("info", path)
        assert (status, lines) == (2, []) and "none" in message


def test_listing_what_is_not_there(store, tmp_path):
    status, lines, message = run("ls", store / "none")
    assert (status, lines) == (2, []) and "zarr.json" in message
    status, lines, message = run("ls", tmp_path / "none")
    assert (status, lines) == (2, []) and "none" in message


def test_errors_are_told(store, tmp_path):
    status, lines, message = run("verify", tmp_path / "none")
    assert (status, lines) == (2, []) and "none" in message
    status, _, message = run("compact", store)
    assert status == 2 and "is a group" in message
    status, lines, message = run("ls", "http://127.0.0.1:9/x.zarr", ZARRBRIDGE_REMOTE_TRIES="1", no_proxy="*")
    assert (status, lines) == (2, []) and "x.zarr" in message
    (tmp_path / "notes.txt").write_text("mine")
    status, lines, message = run("ls", tmp_path / "notes.txt")
    assert (status, lines) == (2, []) and "is a file" in message


def test_misspelt_commands_are_told(store):
    status, lines, message = run()
    assert (status, lines) == (2, []) and "verify " in message
    for words, told in ((["verfy", store], "no command 'verfy'; 'verify' is near"),
                        (["frobnicate"], "no command 'frobnicate'\n"),
                        (["ls"], "ls takes 1 argument, and got 0: STORE[/NODE]\n"),
                        (["ls", store, store], "ls takes 1 argument, and got 2"),
                        (["copy", store], "copy takes 2 arguments, and got 1: STORE[/NODE] NEW\n"),
                        (["ls", "--long", store], "zarrbridge ls: unrecognized option '--long'"),
                        (["ls", "--depth", "x", store], "--depth=x: expected a number of levels"),
                        (["ls", "--color=blue", store], "--color=blue: expected auto, always or never")):
        status, lines, message = run(*words)
        assert (status, lines) == (2, []) and told in message and "--help' " in message, message
    assert run("ls", "--", store)[0] == 0
    assert run("--version")[1][0].startswith("zarrbridge ")


def test_help_is_told(store):
    for words in (["--help"], ["-h"]):
        status, lines, message = run(*words)
        assert (status, message) == (0, "") and "  verify       decode every chunk, and list what is wrong" in lines
    for words in (["ls", "--help"], ["ls", "-h"], ["ls", store, "--help"]):
        status, lines, message = run(*words)
        assert (status, message) == (0, "") and lines[0] == "Usage: zarrbridge ls [OPTION...] STORE[/NODE]"


def test_groups_whose_document_is_missing_are_listed(store):
    """No program that lists the group above finds what is below them: a copy was not finished, say."""
    group = zarr.open_group(store)
    group.create_array("x/y/z", shape=(3,), dtype="i2")[...] = 7
    group.create_array("x/w", shape=(3,), dtype="i2")[...] = 7
    zarr.open_group(store / "old", mode="w", zarr_format=2).create_array("g/a", shape=(3,), dtype="i2")
    (store / "old/g/.zgroup").unlink()
    assert run("verify", store)[0] == 0, "version 2 has groups without a document"
    (store / "x/zarr.json").unlink()
    (store / "x/y/zarr.json").unlink()
    status, lines, _ = run("verify", store)
    assert (status, sorted(lines)) == (1, [
        f"damaged   {name}/zarr.json: there is none: programs that list groups do not find the nodes below"
        for name in ("x/y", "x")])
    (store / "zarr.json").unlink()
    status, lines, _ = run("verify", store)
    assert status == 1 and sorted(line.split(":")[0] for line in lines) == [
        "damaged   x/y/zarr.json", "damaged   x/zarr.json", "damaged   zarr.json"]


def test_a_copy_that_is_not_finished_is_told_once(store):
    """The documents of its groups, and of those that it makes above, come last."""
    group = zarr.open_group(store)
    group.create_array("x/y/z/a", shape=(3,), dtype="i2")[...] = 7
    for missing in ("x", "x/y", "x/y/z"):
        (store / missing / "zarr.json").unlink()
    (store / "x/y/.zarrbridge-copy").touch()
    status, lines, _ = run("verify", store)
    assert status == 1 and [line.split(":")[0] for line in lines] == ["stale     x/y/.zarrbridge-copy"]
    zarr.create_array(store / "x/z", shape=(3,), dtype="i2")
    (store / "x/zarr.json").unlink(missing_ok=True)
    assert sorted(line.split(":")[0] for line in run("verify", store)[1]) == [
        "damaged   x/zarr.json", "stale     x/y/.zarrbridge-copy"]


def test_what_is_no_store_is_not_fine(store, tmp_path):
    (tmp_path / "empty").mkdir()
    status, lines, message = run("verify", tmp_path / "empty")
    assert (status, lines) == (2, []) and "no group and no array" in message and "empty" in message
    status, lines, message = run("verify", store / "b/c")
    assert (status, lines) == (2, []) and "no group and no array" in message and "b/c/zarr.json" in message


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, and so root")
def test_rights_that_are_missing_are_no_damage(store_for_all):
    """All else is checked nevertheless."""
    store = store_for_all
    zarr.open_group(store).create_array("c", shape=(3,), chunks=(1,), dtype="i2")[...] = 7
    (store / "c/c/1").chmod(0)
    (store / "a/c/1").chmod(0)
    (store / "b/zarr.json").chmod(0)
    status, lines, summary = run("verify", store, user="nobody")
    assert status == 1 and all("Permission denied" in line for line in lines)
    assert sorted(line.split(":")[0] for line in lines) == [
        "unchecked a/c/1", "unchecked b/zarr.json", "unchecked c/c/1"]
    assert "3 nodes, 4 chunks" in summary
    status, _, message = run("repair", store, user="nobody")
    assert status == 2 and "Permission denied" in message


def test_hidden_arrays_that_nothing_names_are_listed(store):
    """Those of attributes only, and only where the owner's document can be read."""
    named, unnamed = "__attribute.0000000000000001", "__attribute.0000000000000002"
    zarr.open_group(store).attrs["large"] = {"array": named}
    shutil.copytree(store / "b", store / "spare")
    for place in (named, unnamed, "a/" + named, "__attribute.other", "__mine", "lost/" + named):
        shutil.copytree(store / "spare", store / place)
    shutil.rmtree(store / "spare")
    (store / "lost/zarr.json").write_text("{")
    status, lines, _ = run("verify", store)
    assert status == 1
    assert sorted(line.split(":")[0] for line in lines) == [
        "damaged   lost/zarr.json", "stale     " + unnamed, "stale     a/" + named]
    run("repair", store)
    assert (store / unnamed / "zarr.json").exists(), "a writer may be about to name it"
