# SPDX-License-Identifier: MIT
"""The protocol as models (README.md): spin finds no error in them, and an error in each of which a rule is switched
off. The functions that the models name are those of the sources, and the sources' functions are in the models."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from length import by_length

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
HERE = SOURCE / "tests" / "model"
MODELS = ["lock", "shard", "hierarchy", "length", "s3", "s3_length"]

# Each model as it is searched in full.
WHOLE = [("lock", ""), ("lock", "HIERARCHY=1"), ("shard", ""), ("shard", "FIXED=1"), ("hierarchy", ""),
         ("length", ""), ("s3", ""), ("s3_length", "")]
WIDE = [("lock", "WIDE=1"), ("lock", "HIERARCHY=1 WIDE=1"), ("hierarchy", "CHANGES=3"),
        ("hierarchy", "EXCHANGES_WHILE_READING=1 READS_IN_HOME=1"), ("s3", "LOSSES=2"), ("s3", "ERASES_AS_SEEN=1")]

# Each rule that a model can do without, and what else the loss needs. The last one is a known gap (README.md).
BROKEN = [("lock", "NO_LOOK_AT_NAMES", ""), ("lock", "NO_UNLINKING_BEFORE", ""), ("lock", "NO_LOCK_OF_REMOVERS", ""),
          ("lock", "NO_WAIT", ""), ("lock", "NO_SINGLE_TAKER", "HIERARCHY=1"),
          ("shard", "NO_LOCKS", ""), ("shard", "NO_LOCK_OF_FLUSHES", ""), ("shard", "NO_TEMPORARY_FILES", ""),
          ("shard", "NO_REPLAY", ""), ("shard", "NO_REPLAY", "FIXED=1"),
          ("shard", "NO_JOURNALS", ""), ("shard", "NO_JOURNALS", "FIXED=1"),
          ("shard", "NO_COMPARISON_WITH_JOURNALS", ""), ("shard", "NO_COMPARISON_WITH_JOURNALS", "FIXED=1"),
          ("shard", "NO_UNDOING_OF_FAILURES", ""), ("shard", "NO_UNDOING_OF_FAILURES", "FIXED=1"),
          ("hierarchy", "NO_HOME_OF_PUTS", ""), ("hierarchy", "NO_HOME_OF_LIVE_OBJECTS", ""),
          ("hierarchy", "NO_HOME_OF_JOURNALS", ""), ("hierarchy", "NO_HOME_OF_MISSING_SHARDS", ""),
          ("hierarchy", "NO_HOME_OF_ERASED_CHUNKS", ""), ("hierarchy", "NO_SECOND_LOOK_FOR_MISSING_CHUNKS", ""),
          ("hierarchy", "NO_LOOK_AFTER_READING", ""), ("hierarchy", "NO_MOVE_IN_ONE_STEP", ""),
          ("length", "NO_TURN", ""), ("length", "NO_CHECK_OF_SHAPES", ""), ("length", "CHECK_BEFORE_LOCK", ""),
          ("length", "NO_WAIT_FOR_LOCKS", ""), ("length", "NO_LOOK_BEYOND", ""),
          ("length", "GROWTH_IS_TOLD_FIRST", ""), ("length", "CUT_IS_TOLD_LAST", ""),
          ("s3", "NO_CONDITIONS", ""), ("s3", "NO_CONDITION_OF_ERASING", ""), ("s3", "NO_LOOK_AT_WRITER", ""),
          ("s3", "NO_DOCUMENT_FIRST", ""), ("s3_length", "NO_CONDITION_AT_EDGE", ""),
          ("s3_length", "NO_CONDITION_OF_DELETE", ""), ("s3_length", "NO_LOOK_BEFORE_DELETE", ""),
          ("s3_length", "NO_LOOK_BEFORE_REFILL", ""), ("hierarchy", "EXCHANGES_WHILE_READING", "")]


def search(folder, model, settings, optimise):
    """What spin says of a model."""
    if not shutil.which("spin"):
        pytest.skip("there is no spin: tools/install-deps spin")
    defines = [f"-D{setting}" if "=" in setting else f"-D{setting}=1" for setting in settings.split()]
    made = subprocess.run(["spin", "-a", *defines, HERE / f"{model}.pml"], cwd=folder, text=True, capture_output=True)
    assert made.returncode == 0 and (folder / "pan.c").exists(), made.stdout + made.stderr
    subprocess.run([os.environ.get("CC", "cc"), optimise, "-w", "-DSAFETY", "-o", "pan", "pan.c"], cwd=folder, check=True)
    return subprocess.run(["./pan", "-m20000", "-w23"], cwd=folder, text=True, capture_output=True).stdout


@pytest.fixture(autouse=True)
def without_sanitizers(monkeypatch):
    monkeypatch.delenv("LD_PRELOAD", raising=False)


@pytest.mark.parametrize("model,settings", by_length(WHOLE, WHOLE + WIDE))
def test_no_interleaving_loses_anything(tmp_path, model, settings):
    output = search(tmp_path, model, settings, "-O2")
    assert re.search(r"errors: 0\b", output), output
    for truncated in ("max search depth too small", "out of memory", "truncated", "not completed"):
        assert truncated not in output


@pytest.mark.parametrize("model,rule,settings", BROKEN)
def test_without_a_rule_something_is_lost(tmp_path, model, rule, settings):
    output = search(tmp_path, model, f"{rule} {settings}", "-O0")
    assert "assertion violated" in output and "errors: 1" in output, output


def test_all_rules_can_be_switched_off():
    there = {(model, name) for model in MODELS
             for name in re.findall(r"#if(?:n)?def (\w+)", (HERE / f"{model}.pml").read_text())}
    settings = {"HIERARCHY", "WIDE", "FIXED", "LOSSES", "CHANGES", "READS_IN_HOME", "ERASES_AS_SEEN"}
    assert {pair for pair in there if pair[1] not in settings} == {(model, rule) for model, rule, _ in BROKEN}


# ---- Functions ----

# What changes a store, locks it, or looks into a home.
CALLS = re.compile(r"\b(?:zb_store_(?:put|erase|lock|rename|get_in|confirm_absent|copy)\w*|"
                   r"zb__hierarchy_(?:put|erase|copy)\w*|zb_object_(?:open_as|change))\(")
LAYERS = ["core/src/write", "core/src/change", "core/src/read", "core/src/node", "core/src/hierarchy", "core/src/check"]
OPERATIONS = {"open", "probe", "put", "erase", "flush", "lock", "unlock", "change", "rename",
              "sweep"}


def functions(path):
    """The names and bodies of a source's functions."""
    return re.findall(r"^[a-z_][^\n;=]*?[ *](\w+)\([^;{]*?\) \{\n(.*?)^\}", path.read_text(), re.M | re.S)


def named(text):
    return set(re.findall(r"(core/[\w/]+\.c): (\w+)", re.sub(r"\s+", " ", text)))


def in_models():
    return set().union(*(named((HERE / f"{model}.pml").read_text()) for model in MODELS))


def left_out():
    """The functions in README.md's table of those that no model has."""
    rows = re.findall(r"^\| `(core/[\w/]+\.c)` \| ([^|]+) \|", (HERE / "README.md").read_text(), re.M)
    return {(path, name) for path, names in rows for name in re.findall(r"`(\w+)`", names)}


def of_the_protocol():
    """Whoever calls such an operation, and the directory store's operations themselves."""
    found = {(str(path.relative_to(SOURCE)), name) for layer in LAYERS for path in (SOURCE / layer).glob("*.c")
             for name, body in functions(path) if CALLS.search(body)}
    table = (SOURCE / "core/src/store/fs.c").read_text().split("zb_store_ops fs_ops = {")[1].split("};")[0]
    names = {name for operation, name in re.findall(r"\.(\w+) = (\w+)", table) if operation in OPERATIONS}
    places = {(str(path.relative_to(SOURCE)), name) for path in (SOURCE / "core/src/store").glob("fs*.c")
              for name, _ in functions(path) if name in names}
    assert len(places) == len(names) == len(OPERATIONS)
    return found | places


def test_named_functions_exist():
    for path, name in sorted(in_models() | left_out()):
        assert (SOURCE / path).exists(), path
        assert name in {known for known, _ in functions(SOURCE / path)}, f"{path}: {name}"


def test_each_function_has_an_action():
    assert not in_models() & left_out()
    assert of_the_protocol() - in_models() - left_out() == set()
    assert left_out() <= of_the_protocol()
