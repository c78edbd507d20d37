# SPDX-License-Identifier: MIT
"""Files of many nodes: walks keep in memory what they are in, and not what they have left."""
import os

import pytest

from conftest import run_python

GROUP = '{"zarr_format":3,"node_type":"group"}'
ARRAY = ('{"zarr_format":3,"node_type":"array","shape":[2,3],"data_type":"int8","chunk_grid":'
         '{"name":"regular","configuration":{"chunk_shape":[2,3]}},"chunk_key_encoding":'
         '{"name":"default"},"fill_value":7,"codecs":[{"name":"bytes"}],"attributes":{"k":1}}')
GROUPS, ARRAYS = 20, 500


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A store of 20 groups with 500 arrays each. Documents are links to two files."""
    root = tmp_path_factory.mktemp("size") / "s.zarr"
    root.mkdir()
    (root / "zarr.json").write_text(GROUP)
    (root / "g00").mkdir()
    (root / "g00" / "zarr.json").write_text(GROUP)
    (root / "g00" / "a000").mkdir()
    (root / "g00" / "a000" / "zarr.json").write_text(ARRAY)
    for g in range(GROUPS):
        group = root / f"g{g:02}"
        group.mkdir(exist_ok=True)
        if g > 0:
            os.link(root / "g00" / "zarr.json", group / "zarr.json")
        for a in range(ARRAYS):
            array = group / f"a{a:03}"
            array.mkdir(exist_ok=True)
            if g + a > 0:
                os.link(root / "g00" / "a000" / "zarr.json", array / "zarr.json")
    return str(root)


MEMORY = """
import sys, h5py
def status(field):
    return int(open("/proc/self/status").read().split(field + ":")[1].split()[0]) // 1024
names = []
with h5py.File(sys.argv[1], "r") as f:
    list(f["g00"])
    before = status("VmRSS")
    f.visititems(lambda name, node: names.append((name, node.shape if name[3:] else None)))
    f.visit_links(lambda name: names.append(name))
    print(len(names), status("VmHWM") - before < 40)
"""


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                    reason="sanitizers use several times the memory")
def test_walks_forget_what_they_have_left(large):
    """10 020 nodes of about 9 KiB; 2000 may stay, and the 500 of a group."""
    assert run_python(MEMORY, large) == f"{2 * GROUPS * (ARRAYS + 1)} True\n"


SAME = """
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    expected = sorted(f"g{g:02}" for g in range(20))
    expected += [f"g{g:02}/a{a:03}" for g in range(20) for a in range(500)]
    expected.sort()
    kept = []
    def see(name, node):
        seen.append(name)
        if name.endswith("a499") or name == "g05":
            kept.append((name, node))
        if name == "g07":
            # A walk within the walk, over the groups that the outer one is in and has left.
            f.visit(inner.append)
            f["g07"].visit(inner.append)
            list(f["g00"]), f["g07"].parent["g08/a001"][()]
    for walk in range(2):
        seen, inner = [], []
        f.visititems(see)
        assert seen == expected and inner[:10020] == expected and len(inner) == 10520
    for name, node in kept:
        assert node.name == "/" + name and f[name] == node
        assert node.attrs["k"] == 1 if "/" in name else len(node) == 500
        assert not "/" in name or (node[()] == 7).all()
    token = h5py.h5o.get_info(kept[0][1].id).addr
    kept.clear()
    f.visit(lambda name: None)
    assert h5py.h5o.get_info(f["g00/a499"].id).addr == token
    assert len(f["g19"]) == 500 and f["g19/a000"].shape == (2, 3)
print("fine")
"""


def test_what_was_forgotten_is_found_again(large):
    """Objects that are open stay as they are, walks within walks see all, and addresses stay."""
    assert run_python(SAME, large) == "fine\n"


def test_a_file_that_is_written_forgets_nothing(large):
    """Its nodes may hold what is not in the store yet."""
    code = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["g03/a003"][0, 0] = 9
    names = []
    f.visit(names.append)
    assert len(names) == 10020 and f["g03/a003"][0, 0] == 9
with h5py.File(sys.argv[1], "r") as f:
    print(f["g03/a003"][0, 0])
"""
    assert run_python(code, large) == "9\n"


def test_nodes_at_once_are_limited(large):
    code = """
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    try: f.visit(lambda name: None)
    except Exception as e: print("limit open_nodes" in str(e))
"""
    os.environ["ZARRBRIDGE_OPEN_NODES"] = "300"
    try:
        assert run_python(code, large) == "True\n"
    finally:
        del os.environ["ZARRBRIDGE_OPEN_NODES"]
