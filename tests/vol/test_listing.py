# SPDX-License-Identifier: MIT
"""Groups, links, names, identity and lifetime, by unmodified h5py."""

import gc

import h5py
import numpy as np
import pytest
from conftest import MEMBERS, OBJECTS, RAMP, put


@pytest.fixture
def f(tree):
    with h5py.File(tree, "r") as file:
        yield file


def test_keys(f):
    assert list(f) == list(f.keys()) == MEMBERS
    assert list(reversed(f)) == MEMBERS[::-1]
    assert len(f) == len(MEMBERS) and len(f["g"]) == 3
    assert [name for name, _ in f.items()] == MEMBERS
    assert [o.name for o in f.values()] == ["/" + name for name in MEMBERS]


def test_visit(f):
    seen, items = [], []
    f.visit(seen.append)
    f.visititems(lambda name, o: items.append((name, type(o).__name__)))
    assert seen == OBJECTS
    assert dict(items)["g/sub"] == "Group" and dict(items)["g/sub/deep"] == "Dataset"
    assert [name for name, _ in items] == OBJECTS
    assert f.visit(lambda name: name if name.endswith("deep") else None) == "g/sub/deep"
    links = []
    f["g"].visit_links(links.append)
    assert links == ["b", "s", "sub", "sub/deep"]


def test_contains(f):
    for name in ("a", "g/b", "/g/sub", "g/sub/", "./g/./b"):
        assert name in f
    for name in ("zz", "g/zz", "a/b", "zz/a", "..", "g/../a", "c/0"):
        assert name not in f
    assert "/g/sub" in f["g"] and "sub/deep" in f["g"]


def test_get(f):
    assert f.get("zz") is None and f.get("zz", 5) == 5
    assert f.get("a", getclass=True) is h5py.Dataset
    assert f.get("g", getclass=True) is h5py.Group
    assert isinstance(f.get("g/b", getlink=True), h5py.HardLink)
    assert f.get("a", getclass=True, getlink=True) is h5py.HardLink
    assert f.get("g/sub/deep")[2] == 20


def test_names_that_do_not_exist(f):
    for group, name in ((f, "zz"), (f["g"], "zz"), (f, "a/b")):
        with pytest.raises(KeyError, match="doesn't exist"):
            group[name]


def test_wrong_kind(f):
    with pytest.raises(ValueError, match="is a dataset, not a group"):
        h5py.h5g.open(f.id, b"a")
    with pytest.raises(KeyError, match="is a group, not a dataset"):
        h5py.h5d.open(f.id, b"g")
    with pytest.raises(KeyError, match="no committed datatype"):
        h5py.h5t.open(f.id, b"a")


def test_names(f, tree):
    d = f["g/b"]
    assert (d.name, d.parent.name, f.name, f["/"].name) == ("/g/b", "/g", "/", "/")
    assert d.parent == f["g"] and f.parent == f["/"] and d.file == f and f.file == f
    assert d.file.filename == f.filename == tree
    assert h5py.h5i.get_name(d.id) == b"/g/b" and h5py.h5f.get_name(d.id) == tree.encode()
    assert f.mode == "r" and f.userblock_size == 0 and f.swmr_mode is False


def test_identity(f):
    assert f["a"] == f["a"] and f["a"] != f["c"] and f["g"] == f["g"] and f == f["/"].file
    assert hash(f["a"]) == hash(f["a"]) != hash(f["g"])
    assert {f["a"]: 1}[f["a"]] == 1
    assert f["a"].id == f["a"].id


def test_references(f):
    for name in ("a", "g", "g/sub/deep", "/"):
        reference = f[name].ref
        assert reference and f[reference] == f[name]
        assert f[reference].name == "/" + name.strip("/")
        assert h5py.h5r.get_name(reference, f.id) == b"/" + name.strip("/").encode()
    assert h5py.h5r.get_obj_type(f["g"].ref, f.id) == h5py.h5o.TYPE_GROUP


def test_tokens_are_stable(tree):
    """The address of an object is the same in each open of the store."""
    with h5py.File(tree, "r") as f:
        address = h5py.h5o.get_info(f["g/sub/deep"].id).addr
    with h5py.File(tree, "r") as f:
        assert h5py.h5o.get_info(f["g/sub/deep"].id).addr == address


def test_repr(f):
    d = f["a"]
    for o in (f, f["g"], d, f.attrs, d.attrs, d.dims, d.dims[0], f.id, d.id, f.keys(), f.items(),
              f.values(), d.ref, f.attrs.keys(), d.id.get_space(), d.id.get_type(), d.regionref):
        assert "losed" not in repr(o) and repr(o)
    assert repr(d) == '<HDF5 dataset "a": shape (512, 512), type "<i2">'
    assert repr(f["g"]) == '<HDF5 group "/g" (3 members)>'


def test_information(f):
    d = f["a"]
    info = h5py.h5o.get_info(d.id)
    assert info.type == h5py.h5o.TYPE_DATASET and info.rc == 1
    assert info.num_attrs == len(d.attrs)
    assert h5py.h5o.get_info(f.id, b"g").type == h5py.h5o.TYPE_GROUP
    assert f.id.get_num_objs() == len(MEMBERS)
    assert f.id.get_objname_by_idx(0) == b"a"
    assert f.id.links.exists(b"a") and not f.id.links.exists(b"zz")
    assert h5py.h5o.exists_by_name(f.id, b"g/b")
    assert f.id.get_comment(b"a") == b""
    assert f.id.get_intent() == h5py.h5f.ACC_RDONLY
    assert f.id.get_filesize() > 0 and f.id.get_freespace() == 0
    with pytest.raises(RuntimeError, match="not supported for Zarr"):
        f.id.get_vfd_handle()


def test_closing(tree):
    f = h5py.File(tree, "r")
    held = [f["g/b"], f["g"], f["a"].attrs.get_id("scale")]
    assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 4
    f.close()
    assert not f and not held[0] and not held[1]
    with pytest.raises((ValueError, RuntimeError)):
        held[0][0]
    assert "losed" in repr(held[0])


def test_two_opens_are_independent(tree):
    one, two = h5py.File(tree, "r"), h5py.File(tree, "r")
    assert one["a"] == two["a"]
    one.close()
    assert two["a"][1, 1] == RAMP[1, 1] and two["g"].attrs["gn"] == 7
    two.close()


def test_dataset_outlives_its_file_object(tree):
    f = h5py.File(tree, "r")
    d = f["a"]
    del f
    gc.collect()
    assert d[2, 2] == RAMP[2, 2] and d.file.filename == tree
    assert d.file["g/b"].shape == (10, 20, 30)
    d.file.close()
    assert not d


def test_many_open_objects(new_store):
    path, group = new_store()
    for i in range(300):
        put(group, f"d{i:03}", np.arange(3))
    with h5py.File(path, "r") as f:
        held = [f[name] for name in f for _ in range(10)]
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_DATASET) == 3000
    assert not any(held)


def test_path_spellings(tree):
    for path in (tree + "/", tree.encode(), tree + "//"):
        with h5py.File(path, "r") as f:
            assert list(f) == MEMBERS
    with h5py.File(tree + "/g/sub", "r") as f:
        assert list(f) == ["deep"] and f["deep"][1] == 10


@pytest.mark.parametrize("options", [
    {"driver": "sec2"}, {"driver": "stdio"}, {"driver": "core", "backing_store": False},
    {"libver": "latest"}, {"swmr": True}, {"locking": False}, {"track_order": True},
    {"rdcc_nbytes": 1 << 20}, {"page_buf_size": 1 << 20},
])
def test_file_options(tree, options):
    with h5py.File(tree, "r", **options) as f:
        assert list(f) == MEMBERS


@pytest.mark.parametrize("name, dataset", [
    ("t.zarr", "t"), ("t.v1.zarr", "t.v1"), ("plain", "plain"), (".zarr", "data"),
])
def test_array_stores(tmp_path, name, dataset):
    """A store whose root is an array opens as a group with one dataset."""
    import zarr
    path = tmp_path / name
    array = zarr.create_array(str(path), shape=(4,), dtype="i4", dimension_names=(dataset,))
    array[...] = [1, 2, 3, 4]
    for spelling in (str(path), str(path) + "/"):
        with h5py.File(spelling, "r") as f:
            assert list(f) == [dataset] and list(f[dataset]) == [1, 2, 3, 4]
            assert f[dataset].name == "/" + dataset and dict(f.attrs) == {}
            assert f[dataset].is_scale and f[f[dataset].ref] == f[dataset]


def test_the_document_of_a_node(tree, monkeypatch):
    """Programs that insist on a regular file get one: the document stands for its node."""
    with h5py.File(tree + "/zarr.json", "r") as f:
        assert list(f) == MEMBERS and f.filename == tree
    with h5py.File(tree + "/g/zarr.json", "r") as f:
        assert list(f) == ["b", "s", "sub"]
    monkeypatch.chdir(tree)
    with h5py.File("zarr.json", "r") as f:
        assert list(f) == MEMBERS
    for name in ("/no/zarr.json", "/types/zarr.json/zarr.json", "/a/c/0/0", "/a/.zarray"):
        with pytest.raises(OSError):
            h5py.File(tree + name, "r")


def test_array_inside_a_store(tree):
    with h5py.File(tree + "/g/b", "r") as f:
        assert list(f) == ["b"] and f["b"].shape == (10, 20, 30)
