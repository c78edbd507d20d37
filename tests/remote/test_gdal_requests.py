# SPDX-License-Identifier: MIT
"""What reading through GDAL asks a server for, beside what h5py asks for the same elements."""

import numpy as np
import pytest
import zarr

from programs import output, python
from simserver import SimServer

SIZE = 768
STORES = {  # shape, inner chunks, shards
    "sharded": ((SIZE, SIZE), (64, 64), (192, 192)),
    "plain": ((SIZE, SIZE), (96, 96), None),
    "one shard": ((SIZE, SIZE), (64, 64), (SIZE, SIZE)),
    "cut by the edge": ((SIZE, SIZE), (80, 80), (240, 320)),
    "a band each": ((3, SIZE, SIZE), (1, 128, 128), (1, 384, 384)),
    "all bands": ((3, SIZE, SIZE), (1, 128, 128), (3, 384, 384)),
    "all bands, small chunks": ((3, SIZE, SIZE), (1, 96, 96), (3, 384, 384)),
    "pixel by pixel": ((SIZE, SIZE, 3), (128, 128, 3), (384, 384, 3)),
}

HDF5 = r"""
import os; os.environ["HDF5_VOL_CONNECTOR"] = "zarr"
import sys, h5py
d = h5py.File(sys.argv[1])["a"]
x, y, w, h = map(int, sys.argv[2:6])
(d[:, y:y + h, x:x + w] if d.ndim == 3 and d.shape[0] == 3 else d[y:y + h, x:x + w])
"""

GDAL = r"""
import sys; import numpy as np; from osgeo import gdal; gdal.UseExceptions()
url, way, out, pixels = sys.argv[1:]
d = gdal.Open(url)
bands = [d.GetRasterBand(i + 1) for i in range(d.RasterCount)]
whole = np.load(pixels)
def read(x, y, w, h):
    w, h = min(w, d.RasterXSize - x), min(h, d.RasterYSize - y)
    assert (d.ReadAsArray(x, y, w, h) == whole[..., y:y + h, x:x + w]).all()
if way == "statistics":
    for band in bands: band.ComputeStatistics(False)
elif way == "a histogram":
    for band in bands: band.GetHistogram(approx_ok=False)
elif way == "minimum and maximum":
    for band in bands: band.ComputeRasterMinMax(False)
elif way == "rows":
    for y in range(0, d.RasterYSize): read(0, y, d.RasterXSize, 1)
elif way == "rows of blocks":
    for y in range(0, d.RasterYSize, 64): read(0, y, d.RasterXSize, 64)
elif way == "columns of blocks":
    w, h = bands[0].GetBlockSize()
    for x in range(0, d.RasterXSize, w):
        for y in range(0, d.RasterYSize, h): read(x, y, w, h)
elif way == "blocks" or way.startswith("windows of "):
    w, h = bands[0].GetBlockSize() if way == "blocks" else [int(way.split()[-1])] * 2
    for y in range(0, d.RasterYSize, h):
        for x in range(0, d.RasterXSize, w): read(x, y, w, h)
else:
    gdal.Translate(out, d, options=way)
    assert (gdal.Open(out).ReadAsArray() == whole).all()
"""


class Served:
    """A store with one array `a`, in whose shards inner chunks lie in Morton order."""

    def __init__(self, server, form):
        shape, chunks, shards = STORES[form]
        data = np.random.default_rng(1).integers(0, 60000, shape, "u2")
        root = zarr.create_group(server.folder / "s.zarr")
        root.create_array("a", shape=shape, chunks=chunks, shards=shards, dtype="u2")[...] = data
        zarr.consolidate_metadata(root.store)
        self.server, self.url, self.pixels = server, server.url + "/s.zarr", server.folder / "pixels.npy"
        np.save(self.pixels, data if data.ndim == 2 or shape[0] == 3 else np.moveaxis(data, -1, 0))
        self.whole = self.cost(HDF5, 0, 0, SIZE, SIZE)

    def cost(self, code, *arguments):
        """Requests and bytes."""
        self.server.take_log()
        python(code, self.url, *arguments)
        log = self.server.take_log()
        return len(log), sum(request.sent for request in log)

    def by_gdal(self, way):
        return self.cost(GDAL, way, self.server.folder / way.replace(" ", "_"), self.pixels)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Each store is made once."""
    servers, known = [], {}

    def serve(form):
        if form not in known:
            servers.append(SimServer(tmp_path_factory.mktemp("served")).__enter__())
            known[form] = Served(servers[-1], form)
        return known[form]

    yield serve
    for server in servers:
        server.__exit__(None, None, None)


CASES = [("sharded", way) for way in (
    "-of GTiff -co TILED=YES", "-of ENVI", "-of Zarr3", "statistics", "a histogram", "minimum and maximum")] + [
    (form, way) for form in STORES for way in ("-of GTiff", "-of COG")]


@pytest.mark.parametrize("form, way", CASES)
def test_a_whole_raster_asks_for_each_shard_once(served, form, way):
    store = served(form)
    requests, sent = store.by_gdal(way)
    assert requests <= 1.3 * store.whole[0] and sent <= 1.3 * store.whole[1], (requests, sent, store.whole)


@pytest.mark.parametrize("form, way", [("sharded", way) for way in (
    "blocks", "columns of blocks", "windows of 128", "windows of 160")] + [
    (form, way) for form in ("cut by the edge", "a band each", "pixel by pixel") for way in (
        "blocks", "columns of blocks")])
def test_parts_in_order_from_the_corner_on_bring_shards(served, form, way):
    """The first shard alone, of each band, is asked for in parts: its index, what is wanted first, and the rest."""
    store = served(form)
    requests, sent = store.by_gdal(way)
    first = 3 if form == "a band each" else 1
    assert requests <= store.whole[0] + 2 * first and sent <= 1.1 * store.whole[1], (requests, sent, store.whole)


def test_gdal_calc_asks_for_each_shard_once(served, tmp_path):
    """It takes blocks in columns."""
    store = served("sharded")
    store.server.take_log()
    output("gdal_calc.py", "--quiet", "-A", store.url, "--calc=A", f"--outfile={tmp_path}/o.tif")
    log = store.server.take_log()
    assert len(log) <= store.whole[0] + 2 and sum(request.sent for request in log) <= 1.1 * store.whole[1], len(log)


@pytest.mark.parametrize("way, more", [("rows", 16), ("rows of blocks", 16), ("windows of 200", 18),
                                       ("windows of 300", 18)])
def test_programs_that_take_parts_of_several_shards_go_on_by_shards(served, way, more):
    """The first row of blocks may be all that they want: of each of four shards an index and three ranges, for inner
    chunks lie in Morton order, and then the rest."""
    store = served("sharded")
    requests, sent = store.by_gdal(way)
    assert requests <= store.whole[0] + more and sent <= 1.3 * store.whole[1], (requests, sent, store.whole)


BAND_BY_BAND = r"""
import os; os.environ["HDF5_VOL_CONNECTOR"] = "zarr"
import sys, h5py
d = h5py.File(sys.argv[1])["a"]
for band in d: pass
"""


@pytest.mark.parametrize("way", ["statistics", "a histogram", "minimum and maximum"])
def test_the_second_band_of_shared_shards_brings_the_others(served, way):
    """All that h5py does not know is that a third band follows."""
    store = served("all bands, small chunks")
    peers = store.cost(BAND_BY_BAND)
    requests, sent = store.by_gdal(way)
    assert requests <= peers[0] * 2 / 3 and sent <= 1.4 * peers[1], (requests, sent, peers)


class Peer(zarr.storage.LocalStore):
    """Counts what zarr-python takes of chunks."""

    taken = asked = 0

    async def get(self, key, prototype, byte_range=None):
        value = await super().get(key, prototype, byte_range)
        Peer.asked += "/c/" in key
        Peer.taken += len(value) if value is not None and "/c/" in key else 0
        return value


WINDOW = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d, numbers = gdal.Open(sys.argv[1]), list(map(int, sys.argv[2:]))
for i in range(0, len(numbers), 4): d.ReadAsArray(*numbers[i:i + 4])
"""


WINDOWS = [(0, 0, 64, 64), (70, 70, 9, 9), (200, 300, 1, 1), (180, 180, 20, 20),  # the last in four shards
           (69, 69, 64, 64), (0, 0, 192, 64), (0, 0, 64, 192),  # over several inner chunks
           (10, 10, 256, 256), (0, 256, SIZE, 10), (256, 0, 10, SIZE), (130, 70, 500, 600)]


def against_peer(store, windows):
    """Requests and bytes of chunks for windows that one program reads, and zarr-python's."""
    array = zarr.open_group(Peer(store.server.folder / "s.zarr", read_only=True), mode="r")["a"]
    Peer.taken = Peer.asked = 0
    for x, y, width, height in windows:
        box = (slice(y, y + height), slice(x, x + width))
        array[(..., *box) if array.shape[0] == 3 else box]
    store.server.take_log()
    python(WINDOW, store.url, *(number for window in windows for number in window))
    log = [request for request in store.server.take_log() if "/c/" in request.path]
    return (len(log), sum(request.sent for request in log)), (Peer.asked, Peer.taken)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("form", ["sharded", "one shard", "a band each", "pixel by pixel"])
def test_a_window_adds_little_to_its_chunks(served, form, window):
    (requests, sent), (asked, taken) = against_peer(served(form), [window])
    assert 0 < sent <= taken + 16384, (sent, taken)
    # From 3.4 on zarr-python takes what lies between its ranges along, to ask less often.
    asks_less = zarr.__version__ >= "3.4" and sent < taken
    assert requests <= asked or asks_less, (sent, taken, requests, asked)


@pytest.mark.parametrize("form", ["sharded", "one shard", "a band each", "pixel by pixel"])
def test_windows_anywhere_add_no_more(served, form):
    """One of them after the other: that they lie close to one another means nothing."""
    dice = np.random.default_rng(3)
    windows = [(*dice.integers(0, SIZE - 100, 2), *dice.integers(1, 100, 2)) for _ in range(20)]
    (_, sent), (_, taken) = against_peer(served(form), windows)
    assert sent <= taken + 20 * 16384, (sent, taken)


@pytest.mark.parametrize("name, windows, times", [
    ("two blocks", [(256, 256, 64, 64), (320, 256, 64, 64)], 4),
    ("two blocks at the corner", [(0, 0, 64, 64), (64, 0, 64, 64)], 7),
    ("a row of blocks", [(x, 256, 64, 64) for x in range(0, SIZE, 64)], 1.6),
    ("a column of blocks", [(256, y, 64, 64) for y in range(0, SIZE, 64)], 1.6),
    ("a map moved to the right", [(x, 200, 200, 100) for x in range(100, 500, 64)], 1.6),
])
def test_who_stops_gets_a_multiple_at_most(served, name, windows, times):
    """Blocks up to the end of the shard in the way of reading; of the rest between them three eighths."""
    (_, sent), (_, taken) = against_peer(served("one shard"), windows)
    assert sent <= times * taken + 16384, (name, sent, taken)


@pytest.mark.parametrize("form, most", [("{}/a", 6), ('ZARR3:"{}":/a', 6), ("/vsicurl/{}/a", 9)])
def test_opening_without_consolidated_metadata(server, form, most):
    """The store and the array, and the names that a CRS and coordinates may have, each asked for once."""
    root = zarr.create_group(server.folder / "n.zarr")
    root.create_array("a", shape=(3, 60, 80), chunks=(1, 30, 40), dtype="u2", dimension_names=("band", "y", "x"))
    output("gdalinfo", form.format(server.url + "/n.zarr"))
    log = server.take_log()
    assert len(log) <= most, "\n".join(f"{request.method} {request.path}" for request in log)
