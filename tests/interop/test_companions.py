# SPDX-License-Identifier: MIT
"""What belongs to a raster alone, its levels and its mask, goes with it, and keeps its place while it has them:
through h5py as through GDAL."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
from osgeo import gdal

gdal.UseExceptions()
PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
GROUPS = "OVERVIEW_LAYOUT=GROUPS"
VALUES = (np.arange(64 * 64) % 200).astype("u1").reshape(64, 64)


def raster(path, *options, mask=False, levels=(2, 4)):
    """Makes a raster by GDAL: "r" of r.zarr, with a mask that hides the first pixel."""
    dataset = gdal.GetDriverByName("Zarr3").Create(str(path), 64, 64, 1, gdal.GDT_Byte,
                                                   ["BLOCKSIZE=16,16", *options])
    dataset.GetRasterBand(1).WriteArray(VALUES)
    if mask:
        dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
        valid = np.full((64, 64), 255, "u1")
        valid[0, 0] = 0
        dataset.GetRasterBand(1).GetMaskBand().WriteArray(valid)
    if levels:
        dataset.BuildOverviews("NEAREST", list(levels))
    dataset = None
    return str(path)


def files(path):
    """What lies in the store: paths of directories and files."""
    return sorted(os.path.relpath(os.path.join(folder, name), path)
                  for folder, folders, names in os.walk(path) for name in folders + names
                  if ".zarrbridge" not in name)


def verify(path):
    done = subprocess.run([PROGRAM, "verify", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def sub(path, node):
    return 'ZARR3:"%s":/%s' % (path, node)


def overviews(name):
    dataset = gdal.Open(name)
    return dataset.GetRasterBand(1).GetOverviewCount()


def masked(name):
    """Of the first two pixels of a raster: what its mask says."""
    dataset = gdal.Open(name)
    return dataset.GetRasterBand(1).GetMaskBand().ReadAsArray()[0, :2].tolist()


def delete_by_h5py(path, node):
    with h5py.File(path, "r+") as file:
        del file[node]


def delete_by_gdal(path, node):
    group = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    *above, name = node.split("/")
    for part in above:
        group = group.OpenGroup(part)
    (group.DeleteMDArray if name in (group.GetMDArrayNames() or []) else group.DeleteGroup)(name)


DELETIONS = pytest.mark.parametrize("delete", [delete_by_h5py, delete_by_gdal])


@DELETIONS
def test_a_raster_goes_with_its_levels_and_its_mask(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", mask=True)
    assert "ovr_2x" in files(path) and "r_mask" in files(path)
    delete(path, "r")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == []
    verify(path)
    with h5py.File(path) as file:
        assert list(file) == [] and "multiscales" not in file.attrs


@DELETIONS
def test_what_is_left_of_groups_of_levels(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", GROUPS)
    delete(path, "0/r")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == ["0"]
    verify(path)
    with h5py.File(path) as file:
        assert "multiscales" not in file.attrs


@DELETIONS
def test_a_group_goes_with_the_levels_of_its_raster(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", GROUPS)
    delete(path, "0")
    assert files(path) == ["zarr.json"]
    verify(path)
    with h5py.File(path) as file:
        assert list(file) == [] and "multiscales" not in file.attrs


@DELETIONS
def test_another_raster_keeps_what_it_has(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", mask=True)
    raster(path, "APPEND_SUBDATASET=YES", "ARRAY_NAME=slope", mask=True)
    assert overviews(sub(path, "r")) == overviews(sub(path, "slope")) == 2
    delete(path, "r")
    assert overviews(sub(path, "slope")) == 2 and masked(sub(path, "slope")) == [0, 255]
    assert (gdal.Open(sub(path, "slope")).ReadAsArray() == VALUES).all()
    verify(path)
    delete(path, "slope")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == []


@DELETIONS
def test_levels_of_the_program(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", levels=())
    subprocess.run([PROGRAM, "pyramid", path + "/r", "--factors", "2"], check=True)
    assert overviews(path) == 1
    delete(path, "r")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == []


@DELETIONS
def test_a_mask_of_two_stays(tmp_path, delete):
    path = raster(tmp_path / "r.zarr", mask=True, levels=())
    with h5py.File(path, "r+") as file:
        file.copy("r", "copy")
    delete(path, "copy")
    assert masked(sub(path, "r")) == [0, 255]
    delete(path, "r")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == []


def test_an_open_file_shows_it(tmp_path):
    path = raster(tmp_path / "r.zarr", mask=True)
    with h5py.File(path, "r+") as file:
        level, mask, kept = file["ovr_2x/r"], file["r_mask"], level_values(file)
        assert "multiscales" in file.attrs and sorted(file) == ["ovr_2x", "ovr_4x", "r", "r_mask"]
        reference = file["r"].ref
        file.attrs["other"] = 1
        del file["r"]
        assert list(file) == [] and list(file.attrs) == ["other"]
        assert (level[...] == kept).all() and mask[0, :2].tolist() == [0, 255]  # as HDF5 keeps what has ids
        with pytest.raises(Exception):
            file[reference]
        file["r"] = VALUES
    verify(path)
    assert overviews(path) == 0 and (gdal.Open(path).ReadAsArray() == VALUES).all()


def level_values(file):
    return file["ovr_2x/r"][...]


def test_a_raster_with_a_second_hard_link_stays(tmp_path):
    path = raster(tmp_path / "r.zarr", mask=True)
    with h5py.File(path, "r+") as file:
        file["again"] = file["r"]
    before = files(path)
    with h5py.File(path, "r+") as file:
        with pytest.raises(KeyError, match="has overviews under its name; `gdaladdo -clean`"):
            del file["r"]
        assert (file["r"][...] == VALUES).all() and (file["again"][...] == VALUES).all()
    assert files(path) == before and overviews(sub(path, "r")) == 2
    delete_by_h5py(path, "again")  # the link alone
    assert overviews(sub(path, "r")) == 2
    delete_by_h5py(path, "r")
    assert [name for name in files(path) if not name.endswith("zarr.json")] == []


def test_a_level_with_a_second_hard_link_goes_there(tmp_path):
    path = raster(tmp_path / "r.zarr")
    with h5py.File(path, "r+") as file:
        file["small"] = file["ovr_2x/r"]
        values = level_values(file)
        del file["r"]
        assert list(file) == ["small"] and (file["small"][...] == values).all()
    with h5py.File(path) as file:
        assert list(file) == ["small"] and (file["small"][...] == values).all()
        assert "multiscales" not in file.attrs
    verify(path)
    assert (gdal.Open(path).ReadAsArray() == values).all()


def test_a_raster_with_levels_keeps_its_name(tmp_path):
    path = raster(tmp_path / "r.zarr")
    before = files(path)
    with h5py.File(path, "r+") as file:
        with pytest.raises(ValueError, match="zarrbridge pyramid --clean"):
            file.move("r", "s")
        with pytest.raises(ValueError, match="list of levels of a group above"):
            file.move("ovr_2x", "small")
    assert files(path) == before and overviews(path) == 2
    subprocess.run([PROGRAM, "pyramid", path + "/r", "--clean"], check=True)
    with h5py.File(path, "r+") as file:
        file.move("r", "s")
    assert (gdal.Open(path).ReadAsArray() == VALUES).all()


def test_a_raster_does_not_leave_its_mask(tmp_path):
    path = raster(tmp_path / "r.zarr", mask=True, levels=())
    with h5py.File(path, "r+") as file:
        file.create_group("g")
        with pytest.raises(ValueError, match="mask beside it, /r_mask: move that"):
            file.move("r", "g/r")
    with pytest.raises(RuntimeError, match="mask beside it, /r_mask: move that"):
        gdal.GetDriverByName("Zarr3").Rename(sub(path, "g/r"), sub(path, "r"))
    with h5py.File(path, "r+") as file:
        file.move("r", "s")
        file.move("r_mask", "g/r_mask")
        file.move("s", "g/s")
    assert masked(sub(path, "g/s")) == [0, 255]


def test_an_array_that_is_the_file_keeps_all(tmp_path):
    path = raster(tmp_path / "r.zarr", mask=True)
    before = files(path)
    with h5py.File(path + "/r", "r+") as file:
        with pytest.raises(KeyError, match="delete the file instead"):
            del file["r"]
        assert (file["r"][...] == VALUES).all()
    assert files(path) == before


def test_a_group_that_is_the_file(tmp_path):
    """The list, and levels in groups, lie above what the file shows."""
    path = raster(tmp_path / "r.zarr", GROUPS)
    with h5py.File(path + "/0", "r+") as file:
        del file["r"]
        assert list(file) == []
    assert [name for name in files(path) if not name.endswith("zarr.json")] == ["0"]
    verify(path)


def say(path, node, **members):
    """Sets members of a node's GDAL extension; None: the attribute goes."""
    document = json.loads((path / node / "zarr.json").read_text())
    attributes = document.setdefault("attributes", {})
    if members:
        attributes["zarrbridge:gdal"] = json.dumps({"version": 1, **members})
    else:
        attributes.pop("zarrbridge:gdal", None)
    (path / node / "zarr.json").write_text(json.dumps(document))


@DELETIONS
@pytest.mark.parametrize("raster_says, mask_says", [({"mask": "b"}, {}), ({}, {"mask_of": "a"}),
                                                    ({"mask": "b"}, {"mask_of": "c"})])
def test_what_one_side_alone_calls_a_mask_stays(tmp_path, delete, raster_says, mask_says):
    path = tmp_path / "m.zarr"
    with h5py.File(path, "w") as file:
        for name in "abc":
            file[name] = np.zeros((4, 4), "u1")
        file["a"].attrs["mask"] = file["a"].attrs["zarrbridge:level_of"] = "b"
    say(path, "a", **raster_says)
    say(path, "b", **mask_says)
    delete(str(path), "a")
    with h5py.File(path) as file:
        assert list(file) == ["b", "c"]


@DELETIONS
def test_levels_that_do_not_say_so_stay(tmp_path, delete):
    """Another program may have made such a list of data of its own, and called groups so."""
    path = tmp_path / "r.zarr"
    raster(path)
    say(path, "ovr_4x")
    delete(str(path), "r")
    assert "ovr_4x/r" in files(path) and "ovr_2x" not in files(path)
    with h5py.File(path) as file:
        assert (file["ovr_4x/r"][...] == VALUES[::4, ::4]).all()


@DELETIONS
def test_a_mask_goes_with_a_raster_that_was_renamed(tmp_path, delete):
    for rename in ("h5py", "gdal"):
        (tmp_path / rename).mkdir()
        path = tmp_path / rename / "r.zarr"
        raster(path, mask=True, levels=())
        if rename == "h5py":
            with h5py.File(path, "r+") as file:
                file.move("r", "s")
        else:
            group = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
            group.OpenMDArray("r").Rename("s")
            group = None
        assert masked(sub(path, "s")) == [0, 255]
        delete(str(path), "s")
        assert [name for name in files(path) if not name.endswith("zarr.json")] == []


@pytest.mark.parametrize("masks, left", [({"a": "a"}, ["b"]), ({"a": "b", "b": "a"}, [])])
def test_masks_that_name_each_other(tmp_path, masks, left):
    """Attributes come from anywhere: a deletion ends."""
    path = tmp_path / "m.zarr"
    with h5py.File(path, "w") as file:
        for name in "ab":
            file[name] = np.zeros((4, 4), "u1")
    for name, mask in masks.items():
        say(path, name, mask=mask, mask_of=mask)
    with h5py.File(path, "r+") as file:
        del file["a"]
        assert list(file) == left
