# SPDX-License-Identifier: MIT
"""CREATE_CONSOLIDATED_METADATA: the root of a new store describes all arrays, so that a store on a web
server opens by its name, and what is changed later is described, too."""
import json
import subprocess
import sys

import numpy as np
import pytest
import zarr
from osgeo import gdal

from test_append import DRIVER, placed

YES, NO = ("CREATE_CONSOLIDATED_METADATA=" + word for word in ("YES", "NO"))


def block_of(path):
    """The entries of the root's block, each of which is the document that it repeats."""
    block = json.loads((path / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
    for name, entry in block.items():
        document = json.loads((path / name / "zarr.json").read_text())
        entry.pop("consolidated_metadata", None)
        assert entry == document, name
    found = {str(each.parent.relative_to(path)) for each in path.rglob("zarr.json")} - {"."}
    assert set(block) == found
    return block


def has_block(path):
    return "consolidated_metadata" in json.loads((path / "zarr.json").read_text())


@pytest.mark.parametrize("options", [[], [YES], ["CREATE_ZMETADATA=YES"]])
def test_copy(tmp_path, options):
    path = tmp_path / "x.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=t", *options]).Close()
    assert {"t", "x", "y", "spatial_ref"} <= set(block_of(path))
    root = zarr.open_consolidated(path)
    with gdal.Open(str(path)) as dataset:
        np.testing.assert_array_equal(root["t"][...].squeeze(), dataset.ReadAsArray())


def test_what_is_changed_later_is_described(tmp_path):
    path = tmp_path / "x.zarr"
    with DRIVER.Create(str(path), 20, 10, 1, gdal.GDT_Int16, options=["ARRAY_NAME=t"]) as made:
        made.SetMetadataItem("later", "yes")
        made.GetRasterBand(1).Fill(3)
    assert block_of(path)["t"]["attributes"]["later"] == "yes"
    DRIVER.CreateCopy(str(path), placed(),
                      options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=second"]).Close()
    assert "second" in block_of(path)
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=t", NO]).Close()  # replaces the store
    assert not has_block(path)
    DRIVER.CreateCopy(f'ZARR3:"{path}":/g', placed(), options=["ARRAY_NAME=t"]).Close()
    DRIVER.CreateCopy(str(path), placed(),
                      options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=second"]).Close()
    assert not has_block(path)  # what is added leaves a store as it is
    DRIVER.CreateCopy(f'ZARR3:"{path}":/g', placed(), options=["ARRAY_NAME=t", YES]).Close()
    assert {"t", "g", "g/t", "second"} <= set(block_of(path))


def test_multidimensional(tmp_path):
    source = tmp_path / "in.nc"
    if gdal.GetDriverByName("netCDF") is None:
        pytest.skip("GDAL's netCDF driver is absent")
    gdal.Translate(str(source), placed(), format="netCDF")
    path = tmp_path / "x.zarr"
    subprocess.run(["gdalmdimtranslate", "-of", "Zarr3", "-co", YES, source, path], check=True,
                   capture_output=True)
    assert "Band1" in block_of(path)


def test_a_block_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "x.zarr"
    program = ("from osgeo import gdal; gdal.UseExceptions(); import sys\n"
               "s = gdal.GetDriverByName('MEM').Create('', 4, 4)\n"
               f"s.SetMetadataItem('long', 'x' * 2000000)\n"
               f"gdal.GetDriverByName('Zarr3').CreateCopy({str(path)!r}, s, options=['{YES}'])\n")
    monkeypatch.setenv("ZARRBRIDGE_CONSOLIDATED_BYTES", "1048576")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode != 0 and "consolidated_bytes" in done.stderr
    assert list(tmp_path.iterdir()) == []
    unasked = program.replace(f"'{YES}'", "")
    done = subprocess.run([sys.executable, "-c", unasked], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and not has_block(path)


def test_nodes_in_consolidated_metadata_alone_are_read(tmp_path):
    """Their documents were lost, or never made; the chunks are there."""
    path = tmp_path / "x.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=t", YES]).Close()
    with gdal.Open(str(path)) as dataset:
        pixels, place = dataset.ReadAsArray(), dataset.GetGeoTransform()
    for document in path.glob("*/zarr.json"):
        document.unlink()
    for name in (str(path), f'ZARR3:"{path}":/t'):
        with gdal.Open(name) as dataset:
            np.testing.assert_array_equal(dataset.ReadAsArray(), pixels)
            assert dataset.GetGeoTransform() == place
    root = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert "t" in root.GetMDArrayNames()


def test_a_store_that_is_being_deleted_does_not_read_as_fill(tmp_path):
    """Its root's document goes first, and then it looks as if its nodes had never had any."""
    path = tmp_path / "x.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=t"]).Close()
    for document in path.glob("*/zarr.json"):
        document.unlink()
    dataset = gdal.Open(str(path))
    (path / "zarr.json").unlink()
    for chunk in path.glob("t/c/**/*"):
        chunk.is_dir() or chunk.unlink()
    with pytest.raises(RuntimeError, match="deleted or moved"):
        dataset.ReadAsArray()
