# SPDX-License-Identifier: MIT
"""gdaladdo, or zarrbridge pyramid, that is killed before or after a system call that writes.

What is left opens, shows the raster unchanged, and lists no level but one that is whole: the old one
or the new one. The next run makes all of them, and -clean leaves nothing behind."""
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from osgeo import gdal

from test_plugins import SHIM, SHIM_PLACE, joined, killed, place, points

gdal.UseExceptions()

ROWS, COLUMNS = 96, 80
RUNS = {  # levels that are there before, arguments, levels that are there after
    "first": ([], ["2", "4"], [2, 4]),
    "again": ([2, 4], ["2", "4", "8"], [2, 4, 8]),
    "more": ([2], ["4"], [2, 4]),
    "clean": ([2, 4], ["-clean"], []),
}


def command(program, path, form, arguments):
    options = [word for word in arguments if word.startswith("-")]
    factors = [word for word in arguments if not word.startswith("-")]
    if program == "gdaladdo":
        return ["gdaladdo", "-q", "-r", "average", *options, str(path), *factors]
    array = path / ("0/r" if form == "GROUPS" else "r")
    work = ["--factors", ",".join(factors), "--method", "average"] if factors else ["--clean"]
    return [os.environ["ZARRBRIDGE_PROGRAM"], "pyramid", str(array), *work]


def run(program, path, form, *arguments, shim=None, report=None):
    more = {}
    if shim:
        more = {"LD_PRELOAD": joined("LD_PRELOAD", SHIM),
                "LD_LIBRARY_PATH": joined("LD_LIBRARY_PATH", SHIM_PLACE),
                "ZB_SHIM": f"{shim}:{path}", "ZB_SHIM_REPORT": str(report)}
    result = subprocess.run(command(program, path, form, arguments), capture_output=True, text=True,
                            env={**os.environ, **more})
    return result.returncode, result.stderr


def levels(path):
    """Of the raster that the store's name opens: its pixels, and those of each level by its factor."""
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER, allowed_drivers=["Zarr3"])
    assert dataset.RasterCount == 1, "the store is not its raster any more"
    band = dataset.GetRasterBand(1)
    found = {round(COLUMNS / band.GetOverview(i).XSize): band.GetOverview(i).ReadAsArray()
             for i in range(band.GetOverviewCount())}
    return band.ReadAsArray(), found


def write(path, value, form="BESIDE"):
    """The raster; `value` tells the old one from the new one."""
    pixels = value + np.arange(ROWS * COLUMNS, dtype="i4").reshape(ROWS, COLUMNS)
    if path.exists():
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    else:
        dataset = gdal.GetDriverByName("Zarr3").Create(
            str(path), COLUMNS, ROWS, 1, gdal.GDT_Int32,
            options=["BLOCKSIZE=32x32", "ARRAY_NAME=r", "OVERVIEW_LAYOUT=" + form])
        dataset.SetGeoTransform((500000, 10, 0, 9000, 0, -10))
    dataset.GetRasterBand(1).WriteArray(pixels)
    dataset.FlushCache()
    return pixels


def check(path, pixels, before, after, finished):
    shown, found = levels(path)
    assert (shown == pixels).all()
    for factor, level in found.items():
        whole = [levels_of[factor] for levels_of in (before, after) if factor in levels_of]
        assert any(np.array_equal(level, one) for one in whole), f"level {factor} is torn"
    if finished:
        assert set(found) == set(after)
        assert all(np.array_equal(found[factor], after[factor]) for factor in after)


@pytest.mark.parametrize("form", ["BESIDE", "GROUPS"])
@pytest.mark.parametrize("program", ["gdaladdo", "zarrbridge"])
@pytest.mark.parametrize("moment", ["kill-before", "kill-after"])
@pytest.mark.parametrize("name", RUNS)
def test_killed(place, name, moment, program, form):
    there, arguments, _ = RUNS[name]
    start, path, report = place / "start.zarr", place / "x.zarr", place / "report"
    write(start, 0, form)
    if there:
        assert run(program, start, form, *map(str, there))[0] == 0
    pixels = write(start, 100000)
    before = levels(start)[1]
    assert sorted(before) == there
    shutil.copytree(start, path)
    status, said = run(program, path, form, *arguments, shim=f"count:{2**63}:5", report=report)
    assert status == 0, said
    after = levels(path)[1]
    assert sorted(after) == RUNS[name][2]
    calls, struck = map(int, report.read_text().split())
    assert calls >= 4 and struck == 0
    for nth in points(calls, 6):
        shutil.rmtree(path)
        shutil.copytree(start, path)
        status, said = run(program, path, form, *arguments, shim=f"{moment}:{nth}:5", report=report)
        check(path, pixels, before, after, finished=not killed(status, nth, calls))
        status, said = run(program, path, form, *arguments)
        assert status == 0, (nth, said)
        check(path, pixels, before, after, finished=True)
        assert run(program, path, form, "-clean")[0] == 0
        assert levels(path)[1] == {}
        left = {name for name in os.listdir(path) if not name.startswith(".")}
        assert left <= {"zarr.json", "0", "r", "x", "y", "spatial_ref"}, (nth, left)
