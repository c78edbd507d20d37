# SPDX-License-Identifier: MIT
"""--json, --quiet, --color, progress and names of documents: what the subcommands share."""

import json
import os
import pathlib
import pty
import re
import subprocess

import numpy
import pytest
import zarr

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
PAGE = pathlib.Path(__file__).parents[2] / "docs/program.md"


def run(*arguments, **environment):
    done = subprocess.run([PROGRAM, *map(str, arguments)], env={**os.environ, **environment}, capture_output=True,
                          timeout=600)
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode()


def document(*arguments):
    """The document, which is strict JSON, after its keys were looked for in docs/program.md."""
    status, text, _ = run(*arguments, "--json")
    whole = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    keys = re.findall("^- `([a-z_.\\[\\]]+)`:", PAGE.read_text().split(f"\n## {arguments[0]}\n")[1].split("\n## ")[0],
                      re.M)
    for key in found_keys(whole):
        assert key in keys or key.startswith("error."), key
    return status, whole


def found_keys(value, name=""):
    """Of a summary, the items of a list, and the members of a document without one."""
    for key, below in value.items():
        if key in ("summary", "error"):
            yield from (f"{key}.{each}" for each in below)
        elif isinstance(below, list) and below and isinstance(below[0], dict) and key != "codecs":
            yield from (f"{key}[].{each}" for item in below for each in item)
        elif key not in ("nodes", "findings", "mended"):
            yield key


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.zarr"
    group = zarr.open_group(path, mode="w")
    array = group.create_array("a", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="int32",
                               dimension_names=["y", "x"], attributes={"nan": float("nan"), "list": [1, 2.50, "é"]})
    array[:32] = numpy.arange(32 * 64).reshape(32, 64)
    plain = group.create_group("g").create_array("b", shape=(10,), chunks=(4,), dtype="float64", compressors=None)
    plain[:5] = 1.5
    return path


def files(path):
    return [each for each in path.glob("c/**/*") if each.is_file()]


@pytest.mark.parametrize("name", ["a", "g/b"])
def test_info_says_what_zarr_python_says(store, name):
    array = zarr.open_array(store / name)
    status, found = document("info", store / name)
    assert status == 0 and found["path"] == "/" + name and found["kind"] == "array" and found["format"] == 3
    assert found["type"] == str(array.dtype) and found["shape"] == list(array.shape)
    assert found["chunks"] == list(array.chunks) and found["chunks_in_all"] == array.nchunks
    assert found["shards"] == (list(array.shards) if array.shards else None)
    assert found["objects_in_all"] == numpy.prod(array.cdata_shape if not array.shards else (2, 2))
    assert found["bytes_decoded"] == array.nbytes
    assert found["objects_stored"] == len(files(store / name)) == 2
    other = sum(each.stat().st_size for each in (store / name).iterdir() if each.is_file())
    assert found["bytes_stored"] == array.nbytes_stored() - other
    assert found["ratio"] == found["bytes_decoded"] / found["bytes_stored"]
    assert found["codecs"] == json.loads((store / name / "zarr.json").read_text())["codecs"]
    assert found["dimension_names"] == (["y", "x"] if name == "a" else None)


def test_attributes_are_strict_json(store):
    assert document("info", store / "a")[1]["attributes"] == {"nan": "NaN", "list": [1, 2.5, "é"]}
    assert document("info", store) == (0, {"path": "/", "kind": "group", "format": 3, "attributes": {}})


def test_what_is_not_known_is_null(store):
    zarr.open_group(store).create_array("t", shape=(3,), chunks=(2,), dtype=str)[...] = ["a", "b", "c"]
    found = document("info", store / "t")[1]
    assert found["bytes_decoded"] is None and found["ratio"] is None and found["objects_stored"] == 2


def test_ls_and_tree(store):
    (store / "g/b/zarr.json").write_text("{")
    status, found = document("ls", store)
    assert status == 1 and found["summary"] == {"nodes": 4, "unreadable": 1}
    assert [(node["path"], node["kind"]) for node in found["nodes"]] == [
        ("/", "group"), ("/a", "array"), ("/g", "group"), ("/g/b", "unreadable")]
    assert found["nodes"][1] == {"path": "/a", "kind": "array", "format": 3, "type": "int32", "shape": [64, 64],
                                 "shards": [32, 32], "chunks": [8, 8]}
    assert document("tree", store)[1] == found
    assert run("tree", store)[1].splitlines()[:3] == ["/", "├── a  int32 (64, 64) in shards (32, 32)", "└── g"]
    assert run("tree", store)[1].splitlines()[3].startswith("    └── b  ")
    zarr.open_group(store).create_group("h")
    assert run("tree", store)[1].splitlines()[2:4] + run("tree", store)[1].splitlines()[-1:] == [
        "├── g", run("tree", store)[1].splitlines()[3], "└── h"]
    assert run("tree", store)[1].splitlines()[3].startswith("│   └── b  ")
    assert run("tree", "--depth=0", store / "g")[1] == "/g\n"


def test_depth(store):
    zarr.open_group(store).create_array("g/h/c", shape=(3,), dtype="i2")
    (store / "g/h/zarr.json").write_text("{")
    for depth, count in ((0, 1), (1, 3), (2, 5)):
        assert document("ls", "-d", str(depth), store)[1]["summary"]["nodes"] == count
    assert document("ls", "-d1", store / "g")[1]["summary"] == {"nodes": 3, "unreadable": 1}
    assert document("ls", "-d0", store)[1]["summary"] == {"nodes": 1, "unreadable": 0}, "none below was looked at"


def test_verify_and_repair(store):
    (store / "a/c/0/0").write_bytes(b"x")
    zarr.consolidate_metadata(store)
    zarr.open_group(store, use_consolidated=False).create_group("h")
    (store / os.fsdecode(b"caf\xe9")).write_text("mine")
    status, found = document("verify", store)
    assert status == 1 and found["summary"] == {"nodes": 5, "objects": 4, "encoded_chunks": 18, "findings": 2,
                                                "bytes": found["summary"]["bytes"], "foreign": 1}
    assert {(each["kind"], each["key"]) for each in found["findings"]} == {
        ("truncated", "a/c/0/0"), ("stale", "zarr.json"), ("foreign", "caf\\xe9")}
    status, found = document("repair", store)
    assert status == 0 and found["summary"] == {"mended": 1} and found["mended"][0]["key"] == "zarr.json"


def test_what_changes_a_store(store, tmp_path):
    assert document("compact", store / "a") == (0, {"reclaimed_bytes": 0})
    assert document("consolidate", store) == (0, {"consolidated": str(store)})
    copy = tmp_path / "copy.zarr"
    assert document("copy", store, copy) == (0, {"source": str(store), "copy": str(copy)})
    assert document("pyramid", copy / "a", "--factors", "2") == (0, {"array": str(copy / "a"), "levels": ["/ovr_2x/a"]})
    assert document("pyramid", copy / "a", "--clean") == (0, {"array": str(copy / "a"), "removed": 1})


@pytest.mark.parametrize("command", ["ls", "tree", "info", "verify", "repair", "compact", "consolidate", "copy", "pyramid"])
def test_errors_end_the_document(command, tmp_path):
    words = [tmp_path / "none.zarr"] + ([tmp_path / "new.zarr"] if command == "copy" else [])
    status, found = document(command, *words)
    assert status == 2 and found["error"]["code"] == "ZB_ENOTFOUND" and "none.zarr" in found["error"]["message"]


def test_quiet(store):
    for words in (["ls", store], ["verify", store], ["repair", store], ["compact", store / "a"]):
        assert run(*words)[2] != "" and run(*words, "--quiet")[2] == "" and run(words[0], "-q", *words[1:])[2] == ""


def test_colors(store):
    assert "\x1b" not in run("ls", store)[1]
    assert "\x1b[36marray     \x1b[0m /a  int32" in run("ls", "--color=always", store)[1]
    assert "\x1b" not in run("ls", "--color=always", "--json", store)[1]
    for more, colored in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
        assert ("\x1b[" in on_terminal("ls", store, **more)) == colored
    assert "\x1b[" not in on_terminal("ls", store, "--color=never")
    assert "\x1b[36m" in on_terminal("ls", store, "--color=always", NO_COLOR="1")


def on_terminal(*arguments, **environment):
    """All that the program writes, to standard output and error, which are one terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=theirs, stderr=theirs,
                          env={**os.environ, "TERM": "xterm", **environment}) as child:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # how Linux tells the end
            pass
    os.close(ours)
    assert child.returncode in (0, 1)
    return text.decode()


def test_progress_is_shown_on_a_terminal_alone(store, tmp_path):
    (store / "a/c/0/0").write_bytes(b"x")
    for words in (["verify", store], ["copy", store, tmp_path / "1.zarr"], ["copy", store, tmp_path / "1.zip"],
                  ["repair", store], ["compact", store / "g/b"], ["consolidate", store], ["pyramid", store / "a"]):
        shown = on_terminal(*words)
        assert shown.startswith(f"\r{words[0]}  0 s\x1b[K") and "\r\x1b[K" in shown
        lines = shown.replace("\r\n", "\n").splitlines()
        assert not re.search(r"^\w+  \d+ s", lines[-1].split("\r\x1b[K")[-1]), "the line is gone at the end"
    assert on_terminal("verify", "-q", store).count("\r\x1b") == 0
    assert on_terminal("verify", store, TERM="dumb").count("\x1b") == 0
    assert "\r" not in run("verify", store)[2]


def test_findings_stand_on_lines_of_their_own(store):
    (store / "a/c/0/0").write_bytes(b"x")
    shown = on_terminal("verify", "--color=never", store).replace("\r\n", "\n")
    assert re.search("(^|\x1b\\[K)truncated a/c/0/0: [^\r]*\n", shown)


def test_the_name_of_a_document_is_that_of_its_node(store, tmp_path):
    assert document("ls", store / "zarr.json") == document("ls", store)
    assert document("info", store / "a/zarr.json") == document("info", store / "a")
    assert document("verify", store / "zarr.json") == document("verify", store)
    assert document("compact", store / "a/zarr.json")[0] == 0
    assert document("copy", store / "a/zarr.json", tmp_path / "b.zarr")[0] == 0
    assert document("copy", store, tmp_path / "c.zarr/zarr.json")[0] == 0
    assert (tmp_path / "c.zarr/zarr.json").is_file()
    done = subprocess.run([PROGRAM, "info", "zarr.json"], cwd=store / "a", capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("array /\n")
    zarr.open_group(tmp_path / "old.zarr", mode="w", zarr_format=2).create_array("a", shape=(3,), dtype="i2")
    assert document("info", tmp_path / "old.zarr/a/.zarray")[1]["format"] == 2
    status, found = document("info", store / "none/zarr.json")
    assert status == 2 and "none" in found["error"]["message"]


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                    reason="sanitizers use several times the memory")
def test_lists_are_not_held(tmp_path):
    """The peak of memory of a list of thousands of nodes is that of a short one."""
    path = tmp_path / "many.zarr"
    zarr.open_group(path, mode="w")
    text = (path / "zarr.json").read_text()
    for outer in range(20):
        for inner in range(200):
            node = path / f"{outer:0200}/{inner:0200}"
            node.mkdir(parents=True)
            (node / "zarr.json").write_text(text)
        (node.parent / "zarr.json").write_text(text)
    for words, more in ((["ls"], 0), (["tree"], 0), (["ls", "--json"], 2)):
        short = peak(1 + more, *words, path / f"{0:0200}/{0:0200}")
        long = peak(4021 + more, *words, path)
        assert long - short < 600, (words, short, long)


def peak(lines, *words):
    """KiB, when so many lines were printed. The program cannot end before: nobody reads what it says at last."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(theirs, bytes(4096))
    os.set_blocking(theirs, True)
    with subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=theirs) as child:
        for _ in range(lines):
            assert child.stdout.readline()
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        os.close(ours)
        os.close(theirs)
        child.communicate()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1])
