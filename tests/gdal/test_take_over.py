# SPDX-License-Identifier: MIT
"""The driver under the name of GDAL's own, where GDAL_ZARR3_TAKE_OVER=YES asks for that."""
import numpy as np
import pytest
from conftest import put, run, run_python
from osgeo import gdal

TAKE_OVER = {"GDAL_ZARR3_TAKE_OVER": "YES"}
OWN = gdal.GetDriverByName("Zarr")


def test_without_the_option_it_is_not_there():
    assert OWN.LongName == "Zarr"


def test_names_lead_here(store):
    path, group = store
    put(group, "t", np.arange(12, dtype="i2").reshape(3, 4))
    script = """
import sys
from osgeo import gdal
gdal.UseExceptions()
path = sys.argv[1]
driver = gdal.GetDriverByName("Zarr")
assert "zarrbridge" in driver.LongName
for name in (path, f'ZARR:"{path}":/t', f'ZARR3:"{path}":/t', f"ZARR:{path}"):
    with gdal.OpenEx(name, allowed_drivers=["Zarr"]) as d:
        assert d.GetDriver().ShortName == "Zarr", name
        assert d.ReadAsArray()[2, 3] == 11 and d.GetMetadata("IMAGE_STRUCTURE"), name
        assert gdal.IdentifyDriver(name).ShortName == "Zarr"
assert gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup().GetMDArrayNames() == ["t"]
assert gdal.OpenEx(path, allowed_drivers=["Zarr3"]).GetDriver().ShortName == "Zarr3"
"""
    run_python(script, path, **TAKE_OVER)


def test_copies_are_ours_unless_version_2_is_asked_for(tmp_path):
    source = tmp_path / "a.tif"
    gdal.GetDriverByName("GTiff").Create(str(source), 5, 4).Close()
    new, old, mdim = tmp_path / "new.zarr", tmp_path / "old.zarr", tmp_path / "mdim.zarr"
    run("gdal_translate", "-of", "Zarr", source, new, **TAKE_OVER)
    assert (new / "new" / "zarr.json").exists()
    run("gdal_translate", "-of", "Zarr", "-co", "FORMAT=ZARR_V2", source, old, **TAKE_OVER)
    assert list(tmp_path.glob("old.zarr/**/.zarray"))
    run("gdalmdimtranslate", "-of", "Zarr", "-co", "FORMAT=ZARR_V2", new, mdim, **TAKE_OVER)
    assert (mdim / ".zgroup").exists()
    for path in (new, old):
        assert "Size is 5, 4" in run("gdalinfo", path, **TAKE_OVER)
        run("gdalmanage", "delete", path, **TAKE_OVER)
        assert not path.exists()


@pytest.mark.skipif(OWN.GetMetadataItem("COMPRESSORS") is None, reason="GDAL's driver names none")
def test_what_the_own_driver_has_is_told():
    script = """
from osgeo import gdal
print(gdal.GetDriverByName("Zarr").GetMetadataItem("COMPRESSORS"))
"""
    assert run_python(script, **TAKE_OVER).strip() == OWN.GetMetadataItem("COMPRESSORS")


def test_one_driver_has_the_suffix():
    script = """
from osgeo import gdal
drivers = [gdal.GetDriver(i) for i in range(gdal.GetDriverCount())]
print(*[d.ShortName for d in drivers if "zarr" in (d.GetMetadataItem("DMD_EXTENSIONS") or "").split()])
"""
    assert run_python(script, **TAKE_OVER).strip() == "Zarr"
