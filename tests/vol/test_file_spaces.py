# SPDX-License-Identifier: MIT
"""File dataspaces of another extent than the dataset's, as programs have them that resize a dataset, or
make a dataspace of their own: what counts is where the elements are. Each test runs on a .h5 file, and
on a store."""

import h5py
import numpy as np
import pytest
from h5py import h5s

RAMP = np.arange(24, dtype="i4").reshape(4, 6)
TEXT = [f"t{i}" for i in range(24)]
KINDS = ["i4", ">i4", h5py.string_dtype()]


@pytest.fixture(params=["x.h5", "x.zarr"])
def file(request, tmp_path):
    with h5py.File(tmp_path / request.param, "w") as f:
        yield f


def put(file, dtype="i4"):
    data = np.array(TEXT, object).reshape(4, 6) if h5py.check_string_dtype(np.dtype(dtype)) else RAMP
    return data, file.create_dataset("d", data=data, dtype=dtype, chunks=(2, 3),
                                     maxshape=(None, None))


def read(d, space, count):
    out = np.zeros(count, d.dtype)
    d.id.read(h5s.create_simple((count,)), space, out)
    return [x.decode() if isinstance(x, bytes) else x for x in out.tolist()]


def selections(space):
    """The same four elements in three ways, of which one is no box."""
    space.select_hyperslab((1, 1), (2, 2))
    yield space
    space.select_elements([(1, 1), (1, 2), (2, 1), (2, 2)])
    yield space
    space.select_hyperslab((1, 1), (1, 2))
    space.select_hyperslab((2, 1), (1, 2), op=h5s.SELECT_OR)
    yield space


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("change", ["grown", "shrunk", "own"])
def test_a_dataspace_of_another_extent(file, change, dtype):
    data, d = put(file, dtype)
    space = h5s.create_simple((50, 40)) if change == "own" else d.id.get_space()
    if change != "own":
        d.resize((8, 6) if change == "grown" else (3, 5))
    want = data[1:3, 1:3].ravel().tolist()
    for space in selections(space):
        assert read(d, space, 4) == want
    now = d[...]
    now[1:3, 1:3] = new = np.array(want[::-1], data.dtype).reshape(2, 2)
    for space in selections(space):
        d.id.write(h5s.create_simple((4,)), space, new.ravel().astype(d.dtype))
        got = d.asstr()[...] if data.dtype == object else d[...]
        want_now = now if data.dtype != object else \
            np.array([x.decode() if isinstance(x, bytes) else x for x in now.ravel()],
                     object).reshape(now.shape)
        assert np.array_equal(got, want_now)


def test_all_of_an_old_dataspace(file):
    _, d = put(file)
    space = d.id.get_space()
    d.resize((8, 6))
    assert read(d, space, 24) == RAMP.ravel().tolist()
    out = np.zeros((4, 6), "i4")
    d.id.read(h5s.ALL, space, out)
    assert np.array_equal(out, RAMP)


def test_an_element_of_other_dimensions(file):
    for shape in ((), (1,), (1, 1)):
        d = file.create_dataset(f"d{len(shape)}", shape, "i4")
        for other in ((), (1,), (1, 1, 1)):
            space = h5s.create_simple(other) if other else h5s.create(h5s.SCALAR)
            d.id.write(space, space, np.full((), len(other) + 3, "i4"))
            out = np.zeros((), "i4")
            d.id.read(space, space, out)
            assert out == len(other) + 3 == d[()]


def test_elements_beyond_the_dataset_are_refused(tmp_path):
    """HDF5 reads memory, or what lies beyond in the file, for its own files."""
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        _, d = put(f)
        space = d.id.get_space()
        d.resize((2, 6))
        with pytest.raises(OSError, match=r"beyond dataset '/d', which has 2 elements in dimension 0"):
            read(d, space, 24)
        for space in selections(space):
            with pytest.raises(OSError, match="beyond dataset '/d'"):
                read(d, space, 4)
        wide = h5s.create_simple((12,))
        with pytest.raises(OSError, match="the file dataspace has 1 dimensions, dataset '/d' has 2"):
            read(d, wide, 12)
