# SPDX-License-Identifier: MIT
"""The layers of the core stand in one order, and nothing looks up it. Nor are there circles in the network library,
the HDF5 connector, and the layers of the GDAL driver that are named below.

ZARRBRIDGE_SOURCE is the source tree; ZARRBRIDGE_OBJECTS, and ZARRBRIDGE_REMOTE_OBJECTS, ZARRBRIDGE_VOL_OBJECTS and
ZARRBRIDGE_GDAL_OBJECTS where these are built, are files with the path of each object file in a line.
"""
import functools
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE"]) / "core"
OBJECTS = Path(os.environ["ZARRBRIDGE_OBJECTS"])
REMOTE_OBJECTS = os.environ.get("ZARRBRIDGE_REMOTE_OBJECTS")
VOL_OBJECTS = os.environ.get("ZARRBRIDGE_VOL_OBJECTS")
GDAL_OBJECTS = os.environ.get("ZARRBRIDGE_GDAL_OBJECTS")

# From the lowest to the highest. A file includes, and calls, its own layer and those before it.
LAYERS = ["util", "types", "store", "codec", "array", "hierarchy", "node", "extension", "read", "write", "change",
         "check", "conventions", "pyramid", "door"]

# The layer that a public header belongs to.
PUBLIC = {
    "error": "util", "json": "util", "version": "util", "limits": "util", "stop": "util", "dtype": "types",
    "values": "types", "location": "store",
    "sys/staging": "store", "sys/store": "store", "sys/wrappers": "store", "chain_way": "codec", "array": "array",
    "hierarchy": "hierarchy", "sys/hierarchy": "hierarchy", "node": "node", "hdf5_extension": "extension",
    "gdal_extension": "extension",
    "moved": "extension", "node_edit": "change", "hidden_chunks": "write",
    "read": "read", "encoded": "read", "write": "write", "file_shard": "write", "change": "change", "check": "check",
    "conventions": "conventions", "companions": "conventions", "multiscales": "conventions", "pyramid": "pyramid", "door": "door",
}

# Sources that call each other because what they are about contains itself: a shard is a chunk of chunks, and
# its codec, which the table of codecs names, binds the pipeline of its inner chunks.
# A struct is an element of elements, whose parts are read, written and converted by the rows of their kinds.
INTRINSIC = [{"read/expand", "read/leaf"}, {"codec/pipeline_bind", "codec/shard", "codec/table"},
             {"types/conversion", "types/dtype", "types/fill", "types/kinds", "types/structs"}]

# The layers of the GDAL driver whose sources call each other in no circle.
GDAL_LAYERED = {"util", "store", "options", "array", "raster", "geo", "side", "create", "driver"}

INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def sources(pattern):
    return sorted(SOURCE.joinpath("src").glob(pattern))


def layer_of(include):
    """The layer that an included file belongs to; None for the header of all."""
    if include.startswith("zarrbridge/"):
        return PUBLIC.get(include[len("zarrbridge/"):-len(".h")])
    return include.split("/")[0]


def test_each_folder_is_a_layer():
    folders = {path.parent.name for path in sources("*/*.[ch]")}
    assert folders == {layer for layer in LAYERS if (SOURCE / "src" / layer).is_dir()}
    assert len(folders) >= 10
    public = SOURCE / "include" / "zarrbridge"
    headers = {path.relative_to(public).with_suffix("").as_posix() for path in public.rglob("*.h")}
    assert headers - {"zarrbridge"} <= set(PUBLIC)


def test_includes_look_down():
    wrong = []
    for path in sources("*/*.[ch]"):
        for include in INCLUDE.findall(path.read_text()):
            if "/" not in include:  # of a library
                continue
            layer = layer_of(include)
            if layer is None or LAYERS.index(layer) > LAYERS.index(path.parent.name):
                wrong.append(f"{path.parent.name}/{path.name} includes {include}")
    assert wrong == []


@functools.cache
def calls(objects):
    """Which source uses a symbol of which other source: {user: {owner: [symbols]}}."""
    owners, uses = {}, {}
    listing = subprocess.run(["nm", "-A", *objects.read_text().split()], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        path, entry = line.split(":", 1)
        unit = re.sub(r"^.*\.dir/(?:\./)?(?:src/)?([\w/]+)\.c(?:pp)?\.o$", r"\1", path)
        kind, symbol = entry.split()[-2:]
        if kind == "U":
            uses.setdefault(unit, set()).add(symbol)
        elif kind in "TDBRC":
            owners[symbol] = unit
    graph = {}
    for unit, symbols in uses.items():
        for symbol in sorted(symbols):
            owner = owners.get(symbol, unit)
            if owner != unit:
                graph.setdefault(unit, {}).setdefault(owner, []).append(symbol)
    return graph


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for owner in graph.get(todo.pop(), {}):
            if owner not in seen:
                seen.add(owner)
                todo.append(owner)
    return seen


def test_calls_look_down():
    graph = calls(OBJECTS)
    assert len(graph) > 50
    wrong = [f"{user} calls {', '.join(symbols)} of {owner}"
             for user, owners in graph.items() for owner, symbols in owners.items()
             if LAYERS.index(owner.split("/")[0]) > LAYERS.index(user.split("/")[0])]
    assert wrong == []


def circles(graph):
    """The sets of sources that call each other, if only by way of others."""
    ahead = {unit: reachable(graph, unit) for unit in graph}
    return {frozenset(other for other in ahead[unit] if unit in ahead.get(other, ()))
            for unit in graph if unit in ahead[unit]}


def test_waits_go_by_a_clock_that_nobody_sets():
    """Waits that end are pthread_cond_clockwait and the like: the others go by the time of day. Where an old glibc has
    none, one function waits in short pieces."""
    calls = re.compile(r"pthread_(cond_timedwait|timedjoin_np|mutex_timedlock)|sem_timedwait")
    found = [path for path in sorted(SOURCE.rglob("*.[ch]")) if calls.search(path.read_text())]
    steady = ("pthread_cond_clockwait", "pthread_condattr_setclock(&clock, CLOCK_MONOTONIC)")
    assert sorted(path.name for path in found) == ["progress.c", "wait.c"]
    assert all(any(words in path.read_text() for words in steady) for path in found)


def test_no_circles():
    assert circles(calls(OBJECTS)) == {frozenset(pair) for pair in INTRINSIC}


@pytest.mark.skipif(not REMOTE_OBJECTS, reason="the network library is not built")
def test_no_circles_of_the_network_library():
    graph = calls(Path(REMOTE_OBJECTS))
    assert len(graph) > 10
    assert circles(graph) == set()


@pytest.mark.skipif(not VOL_OBJECTS, reason="the HDF5 connector is not built")
def test_no_circles_of_the_connector():
    graph = calls(Path(VOL_OBJECTS))
    assert len(graph) > 100
    assert circles(graph) == set()


@pytest.mark.skipif(not GDAL_OBJECTS, reason="the GDAL driver is not built")
def test_no_circles_of_the_driver():
    graph = calls(Path(GDAL_OBJECTS))
    assert len([unit for unit in graph if unit.startswith("store/")]) > 5
    in_circles = {unit for circle in circles(graph) for unit in circle if unit.split("/")[0] in GDAL_LAYERED}
    assert in_circles == set()
