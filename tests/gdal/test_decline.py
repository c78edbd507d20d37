# SPDX-License-Identifier: MIT
"""Everything that is not Zarr version 3 opens, or fails to open, exactly as without the plugin."""
import json

import numpy as np
import zarr
from osgeo import gdal

from conftest import DATA, run_python

SCRIPT = r"""
import json, sys
from osgeo import gdal
names = json.loads(sys.argv[1])
seen = []
gdal.DontUseExceptions()
gdal.PushErrorHandler(lambda kind, number, text: seen.append((kind, number, text)))
results = {}
for i in range(10000):
    name = names[i % len(names)]
    seen.clear()
    dataset = gdal.OpenEx(name, gdal.OF_RASTER)
    result = [dataset.GetDriver().ShortName if dataset else None, dataset and dataset.RasterXSize]
    results.setdefault(json.dumps([name, result, seen]), 0)
    results[json.dumps([name, result, seen])] += 1
print(json.dumps(results, sort_keys=True))
"""


def test_ten_thousand_opens_are_the_same(tmp_path):
    tif = str(DATA / "olinda_dem_utm25s.tif")
    (tmp_path / "garbage").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "zarr.json").write_text("no json at all")
    (tmp_path / "empty").mkdir()
    for name, text in (("junk", "{]"), ("list", "[1, 2]"), ("later", '{"zarr_format": 31}'),
                       ("text", '{"zarr_format": "3"}'), ("none", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "zarr.json").write_text(text)
    zarr.create_array(store=str(tmp_path / "v2.zarr"), data=np.zeros((4, 5), "u1"), zarr_format=2)
    names = [tif, str(tmp_path / "missing"), str(tmp_path / "missing.zarr"), "", "NETCDF:x",
             *(str(tmp_path / name) for name in
               ("garbage", "zarr.json", "empty", "junk", "list", "later", "text", "none",
                "v2.zarr", ""))]
    ours = json.loads(run_python(SCRIPT, json.dumps(names)))
    plain = json.loads(run_python(SCRIPT, json.dumps(names), GDAL_DRIVER_PATH="disable"))
    assert len(plain) == len(set(names))
    assert ours == plain


def test_in_tree_driver_can_still_be_asked_for(store):
    path, root = store
    root.create_array("t", shape=(4, 4), dtype="u1")
    assert gdal.IdentifyDriverEx(path, allowed_drivers=["Zarr"]).ShortName == "Zarr"
