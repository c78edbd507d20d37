# SPDX-License-Identifier: MIT
"""The attribute _hdf5 may hold anything: programs end, and nothing of the nodes is lost."""

import json
import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from test_links import side

PARTS = ["..", ".", "", "a", "g", "d", "s", "/", "../../..", "g/d", "\u00e9", "x" * 300, "%2Ex", "zarr.json"]


def put_side(node, value):
    document = json.loads(Path(node, "zarr.json").read_text())
    document.setdefault("attributes", {})["_hdf5"] = value
    Path(node, "zarr.json").write_text(json.dumps(document))


def walk(f):
    """What a program may do that knows nothing of the content."""
    names = list(f)
    f.visit(lambda name: None)
    f.visititems_links(lambda name, link: None)
    for name in names:
        link = f.get(name, getlink=True)
        try:
            thing = f[name]
        except (KeyError, OSError, ValueError):
            assert isinstance(link, (h5py.SoftLink, h5py.ExternalLink))
            continue
        assert h5py.h5o.get_info(thing.id).rc >= 1
    return names


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        f["g/d"] = np.arange(4)
        f["s"] = h5py.SoftLink("/g/d")
        f["a"] = f["g/d"]
        f["g/up"] = f["g"]
        f["e"] = h5py.ExternalLink("none.zarr", "d")
    return path


@pytest.mark.parametrize("members", [
    {"links": 5}, {"links": []}, {"links": {"": {"soft": "a"}}}, {"links": {"a/b": {"soft": "a"}}},
    {"links": {".": {"soft": "a"}}}, {"links": {"x": {"soft": ""}}}, {"links": {"x": {"soft": 5}}},
    {"links": {"x": {"hard": 5}}}, {"links": {"x": {"hard": ""}}}, {"links": {"x": {"hard": "x"}}},
    {"links": {"x": {"hard": ".."}}}, {"links": {"x": {"hard": "../" * 1000}}},
    {"links": {"x": {"external": ["f"]}}}, {"links": {"x": {"external": [1, 2]}}},
    {"links": {"x": {"external": {"f": "g"}}}}, {"links": {"x": {"later": 1}}},
    {"links": {"x": {"soft": "a", "hard": "b"}}}, {"links": {"x": {}}}, {"links": {"x": "y"}},
    {"order": 5}, {"order": [1, None, "g", "g", "zz"]}, {"order": [], "order_indexed": 7},
    {"names": 5}, {"names": [1, "", "..", "../a", "../../a", "zz", "../a", "../a"]},
])
def test_forms(path, members):
    for node in (path, path / "g", path / "g/d"):
        put_side(node, json.dumps({"version": 1, **members}))
    with h5py.File(path, "r") as f:
        assert "g" in walk(f)
        assert list(f["g/d"]) == [0, 1, 2, 3] and h5py.h5o.get_info(f["g/d"].id).rc == 1
    with h5py.File(path, "r+") as f:
        f["new"] = h5py.SoftLink("g/d") if members.get("links") not in (5, []) else 1
        f["g"].create_group("made")
        f.move("g", "moved")
        assert list(f["moved/d"]) == [0, 1, 2, 3]
    with h5py.File(path, "r+") as f:
        del f["moved"]
        walk(f)


@pytest.mark.parametrize("unknown", [{"later": [1, 2]}, {"soft": "a", "hard": "b"}, "text", 7])
def test_unknown_links_are_kept(path, unknown):
    put_side(path, json.dumps({"version": 1, "links": {"x": unknown, "y": {"soft": "g"}}}))
    with h5py.File(path, "r+") as f:
        assert list(f) == ["g", "y"] and "x" not in f
        f["z"] = h5py.SoftLink("y")
        with pytest.raises(Exception, match="exists"):
            f["x"] = h5py.SoftLink("y")
    assert side(path)["links"] == {"x": unknown, "y": {"soft": "g"}, "z": {"soft": "y"}}


def mutate(rng, value):
    """Changes something in a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        changed = dict(value)
        kind = rng.random()
        if kind < 0.15:
            del changed[key]
        elif kind < 0.4:
            changed[rng.choice(["soft", "hard", "external", "x", "", "..", "g", *PARTS])] = value[key]
        else:
            changed[key] = mutate(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed = list(value)
        at = rng.randrange(len(changed))
        changed[at] = mutate(rng, changed[at])
        return changed + changed[:1] if rng.random() < 0.3 else changed
    return rng.choice([None, True, -1, 2 ** 70, 1.5, [], {}, "", "/".join(rng.choices(PARTS, k=4)),
                       ["a", "b"], {"hard": ".."}, "\u0000", "\ud800"])


def test_mutations(path):
    rng = random.Random(2026)
    nodes = [path, path / "g", path / "g/d"]
    originals = [Path(node, "zarr.json").read_text() for node in nodes]
    for turn in range(250):
        for node, original in zip(nodes, originals):
            value = json.loads(json.loads(original)["attributes"]["_hdf5"])
            for _ in range(rng.randrange(4)):
                value = mutate(rng, value)
            text = json.dumps(value)
            if rng.random() < 0.2:
                at = rng.randrange(len(text))
                text = text[:at] + rng.choice('{}[]",:\\x0') + text[at + rng.randrange(3):]
            Path(node, "zarr.json").write_text(original)
            put_side(node, text if rng.random() < 0.95 else value)
        with h5py.File(path, "r") as f:
            assert "g" in walk(f), turn
            assert list(f["g/d"]) == [0, 1, 2, 3]
            f.copy("g", h5py.File("copy", "w", driver="core", backing_store=False), "g")
        with h5py.File(path, "r+") as f:
            for change in (lambda: f.__setitem__("n1", h5py.SoftLink("g")),
                           lambda: f.__setitem__("n2", f["g/d"]), lambda: f.__delitem__("a"),
                           lambda: f.copy("g", "c"), lambda: f.move("g", "m"),
                           lambda: f.move("m", "g"), lambda: f.__delitem__("c")):
                try:
                    change()
                except (KeyError, ValueError, OSError, RuntimeError):
                    pass
            if "m" in f:  # a link that "g" had hidden has its name now
                del f["g"]
                f.move("m", "g")
            assert list(f["g/d"]) == [0, 1, 2, 3], turn
            for name in ("n1", "n2"):
                if name in f:
                    del f[name]
