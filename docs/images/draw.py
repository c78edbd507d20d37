# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/start anew: ctest's environment, and a Python with matplotlib.

    python docs/images/draw.py [PAGE...]

Pictures are those that the pages' own blocks make, and one of the requests of a read, by the log of a server."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
os.environ.update(ZARRBRIDGE_SOURCE_DIR=str(ROOT), ZARRBRIDGE_BUILD_DIR=str(BUILD), MPLBACKEND="agg",
                  HDF5_PLUGIN_PATH=str(BUILD / "hdf5-vol/plugins"),
                  GDAL_DRIVER_PATH=str(BUILD / "gdal-driver/plugins"))
sys.path[:0] = [str(ROOT / "tests/docs"), str(ROOT / "tests/remote"), str(ROOT / "tests/support")]
from reader import Reader, install_core  # noqa: E402
from simserver import SimServer  # noqa: E402
from test_tutorials import blocks, draws, play  # noqa: E402

WINDOW = 'import h5py; h5py.File("%s/landsat.zarr")["landsat"][2, 400:440, 400:440]'


def ranges_of(reader):
    """(first byte, bytes) of the requests for the one shard that a window lies in, and its size."""
    shard = "landsat.zarr/landsat/c/2/0/0"
    size = (reader.folder / shard).stat().st_size
    with SimServer(reader.folder) as server:
        reader.run("python3", "-c", WINDOW % server.url)
        asked = [request for request in server.log if request.path == f"/{shard}"]
        print(len(server.log), "requests,", sum(one.sent for one in server.log), "bytes;", len(asked), "for the shard")
    spans = []
    for one in asked:
        first, last = re.fullmatch(r"bytes=(\d*)-(\d*)", one.range).groups()
        spans.append((int(first) if first else size - int(last), one.sent))
    return spans, size


def draw_ranges(reader, path):
    import matplotlib.pyplot as plt
    spans, size = ranges_of(reader)
    figure, axes = plt.subplots(figsize=(7, 1.5))
    axes.broken_barh([(0, size / 1024)], (0, 1), color="#dde3e8")
    axes.broken_barh([(first / 1024, count / 1024) for first, count in spans], (0, 1), color="#d1495b")
    axes.set(yticks=[], xlim=(0, size / 1024), xlabel="KiB of the shard; red: asked for",
             title=f"{sum(count for _, count in spans) / 1024:.0f} of {size / 1024:.0f} KiB, by {len(spans)} requests")
    figure.savefig(path, dpi=100, bbox_inches="tight")


def main():
    pages = sys.argv[1:] or ["h5py.md", "netcdf.md", "c.md", "cluster.md", "server.md"]
    with tempfile.TemporaryDirectory() as scratch:
        installed = install_core(Path(scratch, "prefix"))
        for page in pages:
            folder = Path(scratch, page)
            folder.mkdir()
            (folder / "tests").symlink_to(ROOT / "tests")
            reader = Reader(folder, {**installed, "no_proxy": "127.0.0.1"})
            play(reader, page)
            for _, text in blocks(page):
                if draws(text):
                    reader.run("python3", "-c", text)
            if page == "server.md":
                draw_ranges(reader, folder / "ranges.png")
            for path in folder.glob("*.png"):
                target = ROOT / f"docs/images/start-{path.name}"
                if path.name != "landsat.png":
                    subprocess.run(["cp", path, target], check=True)
                    print(target.relative_to(ROOT), target.stat().st_size)


main()
