# SPDX-License-Identifier: MIT
"""The rasters of run_gdal.py: a folder may hold other files beside them."""

import os

import pytest

pytest.importorskip("osgeo")
import run_gdal  # noqa: E402


def test_only_the_rasters_are_written_anew(tmp_path):
    rasters = {run_gdal.FILES[driver].format(raster) for driver, raster in run_gdal.READERS}
    own = [tmp_path / name / "zarr.json" if name.endswith(".zarr") else tmp_path / name for name in rasters]
    other = tmp_path / "venv/bin/program"
    for path in [*own, other]:  # so that none is made
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content")
        os.utime(path, (1, 1))
    run_gdal.make(tmp_path)
    assert other.stat().st_mtime == 1
    assert all(path.stat().st_mtime > 1 and path.read_text() == "content" for path in own)
