# SPDX-License-Identifier: MIT
"""Stores in GDAL's virtual file systems."""
import gzip
import http.server
import os
import pathlib
import re
import shutil
import tarfile
import threading
import warnings
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, run_python, sub

PLANE = np.arange(60 * 80, dtype="uint16").reshape(60, 80)


@pytest.fixture
def sample(store):
    path, root = store
    put(root, "t", PLANE, dims=("y", "x"), chunks=(10, 10), shards=(20, 40), fill_value=9)
    put(root.create_group("g"), "u", PLANE + 1, chunks=(30, 30))
    put(root, "x", 5.0 + 10 * np.arange(80), dims=("x",))
    put(root, "y", 5.0 + 10 * np.arange(60), dims=("y",))
    return path


def check(name, expected_list):
    group = opened(name)
    assert [entry for entry, _ in group.GetSubDatasets()] == expected_list
    dataset = opened(expected_list[1])
    assert (dataset.ReadAsArray() == PLANE).all()
    assert (dataset.ReadAsArray(33, 17, 30, 40) == PLANE[17:57, 33:63]).all()
    assert dataset.GetGeoTransform() == (0, 10, 0, 0, 0, 10)


def copy_to_memory(path, target):
    for directory, _, files in os.walk(path):
        for file in files:
            full = os.path.join(directory, file)
            gdal.FileFromMemBuffer(target + full[len(path):], pathlib.Path(full).read_bytes())


def test_vsimem(sample):
    target = "/vsimem/m/x.zarr"
    copy_to_memory(sample, target)
    try:
        check(target, [sub(target, "g/u"), sub(target, "t")])
        gdal.Unlink(target + "/t/c/0/0")
        expected = PLANE.copy()
        expected[:20, :40] = 9
        assert (opened(sub(target, "t")).ReadAsArray() == expected).all()
        gdal.FileFromMemBuffer(target + "/t/c/0/0", b"damaged")
        dataset = opened(sub(target, "t"))
        with Errors() as errors:
            assert dataset.ReadAsArray() is None
        assert len(errors.failures) == 1 and "c/0/0" in errors.failures[0]
    finally:
        gdal.RmdirRecursive("/vsimem/m")


@pytest.mark.parametrize("content", [None, b""])
@pytest.mark.parametrize("name", ["t/c/0/0", "g/u/c/1/1"])
def test_a_directory_is_no_missing_chunk(sample, name, content):
    target = "/vsimem/m/x.zarr"
    copy_to_memory(sample, target)
    try:
        gdal.Unlink(target + "/" + name)
        if content is None:
            gdal.Mkdir(target + "/" + name, 0o755)
        else:
            gdal.FileFromMemBuffer(target + "/" + name + "/0", content)
        dataset = opened(sub(target, name.split("/c/")[0]))
        with Errors() as errors:
            assert dataset.ReadAsArray() is None
        assert len(errors.failures) == 1 and "directory" in errors.failures[0]
    finally:
        gdal.RmdirRecursive("/vsimem/m")


def test_a_directory_in_an_archive_is_no_missing_chunk(sample, tmp_path):
    archive = str(tmp_path / "x.zip")
    with zipfile.ZipFile(archive, "w") as file:
        for directory, _, names in os.walk(sample):
            for name in names:
                full = os.path.join(directory, name)
                key = full[len(sample) + 1:]
                if key != "t/c/0/0":
                    file.write(full, key)
        file.writestr("t/c/0/0/", b"")
    dataset = opened("/vsizip/" + archive + "/t")
    with Errors() as errors:
        assert dataset.ReadAsArray() is None
    assert len(errors.failures) == 1 and "directory" in errors.failures[0]


@pytest.mark.parametrize("compressed", [False, True])
def test_vsizip(sample, tmp_path, compressed):
    archive = str(tmp_path / "x.zip")
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(archive, "w", kind) as file:
        for directory, _, names in os.walk(sample):
            for name in names:
                full = os.path.join(directory, name)
                file.write(full, "x.zarr" + full[len(sample):])
    root = "/vsizip/" + archive + "/x.zarr"
    check(root, [sub(root, "g/u"), sub(root, "t")])


def test_store_at_the_root_of_an_archive(tmp_path):
    archive = str(tmp_path / "y.zarr.zip")
    with zarr.storage.ZipStore(archive, mode="w") as file:
        put(zarr.create_group(store=file, zarr_format=3), "t", PLANE)
    assert (opened("/vsizip/" + archive).ReadAsArray() == PLANE).all()
    assert (opened("ZARR3:/vsizip/" + archive).ReadAsArray() == PLANE).all()


LOSE = r"""
import os, resource, sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
name, file, trouble = sys.argv[1:]
dataset = gdal.OpenEx(name, gdal.OF_RASTER, allowed_drivers=["Zarr3"])
assert (dataset.ReadAsArray(0, 0, 10, 10) == 1234).all()
assert (dataset.ReadAsArray(0, 20, 10, 10) == 7).all()  # a chunk that is missing indeed
held = []
if trouble == "gone":
    os.rename(file, file + ".away")
elif trouble == "damaged":
    os.truncate(file, 1)
else:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
try:
    print("read", np.unique(dataset.ReadAsArray(20, 20, 20, 20)))
except RuntimeError as error:
    print("error", error)
for descriptor in held:
    os.close(descriptor)
if held:
    print("then", np.unique(dataset.ReadAsArray(20, 20, 20, 20)))
"""


def needs_descriptors(trouble):
    if trouble == "descriptors" and "UBSAN_OPTIONS" in os.environ:
        pytest.skip("the sanitizer's own checks of types need a file descriptor")


def pack(source, target, kind):
    """The store at `source` as a file at `target`, and the name of GDAL's for what is in it."""
    if kind == "tar":
        with tarfile.open(target, "w") as file:
            file.add(source, "s.zarr")
        return "/vsitar/" + target + "/s.zarr"
    with zipfile.ZipFile(target, "w") as file:
        for directory, _, names in os.walk(source):
            for name in names:
                full = os.path.join(directory, name)
                file.write(full, "s.zarr" + full[len(source):])
    return {"zip": "/vsizip/" + target + "/s.zarr",
            "part": "/vsizip/{/vsisubfile/0," + target + "}/s.zarr"}[kind]


@pytest.mark.parametrize("trouble", ["gone", "damaged", "descriptors"])
@pytest.mark.parametrize("kind", ["zip", "tar", "part"])
def test_what_cannot_be_opened_is_no_missing_chunk(tmp_path, kind, trouble):
    """In an archive that was moved away or cut off, or with no file descriptor free."""
    needs_descriptors(trouble)
    path = str(tmp_path / "s.zarr")
    array = zarr.create_array(path, shape=(40, 40), chunks=(10, 10), dtype="u2", fill_value=7)
    array[:] = 1234
    os.remove(os.path.join(path, "c", "2", "0"))
    target = str(tmp_path / ("s.tar" if kind == "tar" else "s.zip"))
    name = pack(path, target, kind)
    lines = run_python(LOSE, "ZARR3:" + name, target, trouble).splitlines()
    assert lines[0].startswith("error"), lines
    if trouble == "descriptors":
        assert lines[1:] == ["then [1234]"]


@pytest.mark.parametrize("trouble", ["gone", "damaged", "descriptors"])
def test_compressed_files_that_cannot_be_opened(tmp_path, trouble):
    needs_descriptors(trouble)
    path = str(tmp_path / "s.zarr")
    array = zarr.create_array(path, shape=(40, 40), chunks=(10, 10), dtype="u2", fill_value=7)
    array[:] = 1234
    os.remove(os.path.join(path, "c", "2", "0"))
    for directory, _, names in os.walk(path):
        for name in names:
            full = os.path.join(directory, name)
            data = pathlib.Path(full).read_bytes()
            with gzip.open(full, "wb") as file:
                file.write(data)
    lost = os.path.join(path, "c", "3", "3") if trouble == "damaged" else path
    lines = run_python(LOSE, "ZARR3:/vsigzip/" + path, lost, trouble).splitlines()
    assert lines[0].startswith("error"), lines


class Handler(http.server.SimpleHTTPRequestHandler):
    """A web server that knows ranges, which Python's own does not, and fails on demand."""
    broken = silent = None  # a part of the paths that are answered by an error, or not at all
    ranges = True
    dated = False  # tells when files were made, long ago
    awaited = 0  # requests, of which none is answered before so many were there at once
    log = None  # a list of what was asked for
    lock = threading.Condition()
    inside = most_inside = 0  # requests that are being answered

    def do_GET(self):
        with self.lock:
            kind = type(self)
            kind.inside += 1
            kind.most_inside = max(kind.most_inside, kind.inside)
            if kind.log is not None:
                kind.log.append((self.command, self.path, self.headers.get("Range")))
            kind.lock.notify_all()
            kind.lock.wait_for(lambda: kind.most_inside >= kind.awaited, 300)
            kind.inside -= 1
        path = pathlib.Path(self.translate_path(self.path))
        if self.broken and self.broken in self.path:
            return self.send_error(500)
        if self.silent and self.silent in self.path:
            return None  # the connection ends
        if not path.is_file():
            return self.send_error(404)
        data = path.read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        wanted = wanted if self.ranges else None
        self.send_response(206 if wanted else 200)
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2] or len(data)), len(data) - 1)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, len(data)))
            data = data[first:last + 1]
        if self.dated:
            self.send_header("Last-Modified", self.date_time_string(path.stat().st_mtime - 3600))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def server(sample):
    class Local(Handler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=os.path.dirname(sample))

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Local)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "/vsicurl/http://127.0.0.1:%d/x.zarr" % server.server_port, Local
    server.shutdown()
    thread.join()
    server.server_close()
    gdal.VSICurlClearCache()


def test_web_server(server, sample):
    root, _ = server
    os.remove(os.path.join(sample, "g", "u", "c", "1", "1"))
    assert (opened("ZARR3:" + root + "/t").ReadAsArray() == PLANE).all()
    expected = PLANE + 1
    expected[30:60, 30:60] = 0
    assert (opened(sub(root, "g/u")).ReadAsArray() == expected).all()
    assert (opened("ZARR3:" + root + ":/g/u").ReadAsArray() == expected).all()


def test_a_failing_server_is_no_missing_chunk(server):
    root, handler = server
    dataset = opened(sub(root, "g/u"))
    handler.broken = "c/1/1"
    with Errors() as errors:
        assert dataset.ReadAsArray() is None
    assert len(errors.failures) == 1 and "c/1/1" in errors.failures[0]


@pytest.mark.parametrize("kind", ["plain", "zip", "tar"])
def test_a_server_that_does_not_reply_makes_no_missing_chunk(server, sample, kind):
    """Neither at once nor when GDAL has noted the failed request as a file that does not exist."""
    root, handler = server
    os.remove(os.path.join(sample, "g", "u", "c", "0", "0"))
    if kind != "plain":
        target = os.path.join(os.path.dirname(sample), "s." + kind)
        archive = root.replace("x.zarr", "s." + kind)
        root = pack(sample, target, kind).replace(target, archive)
    dataset = opened(sub(root, "g/u"))
    assert (dataset.ReadAsArray(0, 0, 30, 30) == 0).all()
    handler.silent = "c/1/1" if kind == "plain" else "s." + kind
    if kind != "plain":  # what was read stays in GDAL's memory
        gdal.VSICurlClearCache()
    for _ in range(2):
        with Errors() as errors:
            assert dataset.ReadAsArray(30, 30, 30, 30) is None
        assert len(errors.failures) == 1
    handler.silent = None
    assert (dataset.ReadAsArray(30, 30, 30, 30) == PLANE[30:60, 30:60] + 1).all()


def test_a_server_without_ranges_is_named_as_the_reason(server):
    """`python3 -m http.server` is one."""
    root, handler = server
    handler.ranges = False
    with Errors() as errors:
        assert gdal.Open(sub(root, "g/u")) is None
    assert len(errors.failures) == 1 and "range requests" in errors.failures[0]


def test_a_web_server_needs_consolidated_metadata_to_be_listed(server, sample):
    root, _ = server
    with Errors() as errors:
        assert gdal.Open("ZARR3:" + root) is None
    assert len(errors.failures) == 1
    zarr.consolidate_metadata(sample)
    gdal.VSICurlClearCache()
    assert len(opened("ZARR3:" + root).GetSubDatasets()) == 2


VANISH = """
import os, sys
from osgeo import gdal
gdal.UseExceptions()
name, folder, kind = sys.argv[1:]
dataset = gdal.Open("ZARR3:" + name)
for chunk in ("t/c/0/0", "t/c/1/1"):
    os.remove(os.path.join(folder, chunk))
if kind == "all":
    os.rename(folder, folder + ".away")
try:
    print("pixels", dataset.ReadAsArray().shape)
except RuntimeError as error:
    print("error", error)
"""


@pytest.mark.parametrize("virtual", [True, False])
@pytest.mark.parametrize("consolidated", [True, False])
def test_a_store_that_has_gone_is_no_missing_chunks(server, sample, virtual, consolidated):
    """A chunk is believed to be missing while the document was there a moment ago."""
    root, _ = server
    if not virtual:
        root = root[len("/vsicurl/"):]
    if consolidated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            zarr.consolidate_metadata(sample)
    shutil.copytree(sample, sample + ".before")
    lines = {}
    for kind in ("some", "all"):
        lines[kind] = run_python(VANISH, root + "/t", sample, kind,
                                 ZARRBRIDGE_REMOTE_FRESH_SECONDS="0")
        shutil.rmtree(sample, ignore_errors=True)
        shutil.copytree(sample + ".before", sample)
    assert lines["some"].startswith("pixels")
    assert lines["all"].startswith("error") and "deleted or moved" in lines["all"]


@pytest.fixture
def many(server, sample):
    """256 chunks that are files of their own, and one shard of 256."""
    root, handler = server
    plane = np.random.default_rng(5).integers(0, 60000, (256, 256)).astype("uint16")
    group = zarr.open_group(sample, mode="r+")
    put(group, "chunks", plane, dims=("y", "x"), chunks=(16, 16))
    put(group, "shard", plane, dims=("y", "x"), chunks=(16, 16), shards=(256, 256))
    zarr.consolidate_metadata(sample)
    handler.log = []
    return root, handler, plane


def test_requests_go_on_together(many):
    root, handler, plane = many
    dataset = opened("ZARR3:" + root + "/chunks")
    handler.log.clear()
    handler.awaited = 8
    assert (dataset.ReadAsArray() == plane).all()
    asked = {path for _, path, _ in handler.log if "/chunks/c/" in path}
    assert len(asked) == 256
    assert 8 <= handler.most_inside <= 16
    assert [method for method, _, _ in handler.log] == 256 * ["GET"]


def requests_of(handler, dataset, *window):
    """What is asked for a window of a dataset."""
    handler.log.clear()
    dataset.ReadAsArray(*window)
    return [(method, wanted) for method, path, wanted in handler.log if "/c/" in path]


def test_a_small_shard_is_read_whole(many):
    root, handler, plane = many
    dataset = opened("ZARR3:" + root + "/shard")
    assert [method for method, _ in requests_of(handler, dataset, 16, 32, 16, 16)] == ["GET"]
    assert len(requests_of(handler, dataset, 160, 32, 16, 16)) <= 1
    assert (dataset.ReadAsArray() == plane).all()


def test_few_requests_read_from_a_large_shard(many, sample):
    """GDAL has no ranges that count from the end: the index takes the shard's size."""
    root, handler, _ = many
    handler.dated = True
    plane = np.random.default_rng(6).integers(0, 60000, (1024, 1024)).astype("uint16")
    put(zarr.open_group(sample, mode="r+"), "large", plane, chunks=(64, 64), shards=(1024, 1024))
    dataset = opened("ZARR3:" + root + "/large")
    assert [method for method, _ in requests_of(handler, dataset, 64, 64, 64, 64)] == \
        ["HEAD", "GET", "GET"]
    assert [method for method, _ in requests_of(handler, dataset, 640, 64, 64, 64)] == ["GET"]
    assert (dataset.ReadAsArray() == plane).all()


def test_a_chunk_of_many_bytes(many, sample):
    """More than the first request asks for."""
    root, handler, _ = many
    plane = np.random.default_rng(7).integers(0, 1 << 62, (1, 1200000))
    put(zarr.open_group(sample, mode="r+"), "long", plane, chunks=plane.shape)
    put(zarr.open_group(sample, mode="r+"), "raw", plane, chunks=plane.shape, compressors=None)
    for name in "long", "raw":
        assert (opened("ZARR3:" + root + "/" + name).ReadAsArray() == plane).all()


@pytest.mark.parametrize("stored", ["none", "some"])
def test_missing_chunks_take_a_request_or_two(many, sample, stored):
    root, handler, plane = many
    folder = pathlib.Path(sample, "chunks", "c")
    expected = plane.copy()
    missing = 0
    for y in range(16):
        for x in range(16):
            if stored == "none" or (x // 8 + y // 8) % 2:  # clusters, as on real maps
                (folder / str(y) / str(x)).unlink()
                expected[16 * y:16 * y + 16, 16 * x:16 * x + 16] = 0
                missing += 1
    dataset = opened("ZARR3:" + root + "/chunks")
    handler.log.clear()
    assert (dataset.ReadAsArray() == expected).all()
    assert len([1 for _, path, _ in handler.log if "/c/" in path]) <= 256 + missing + 32
    if stored == "none":  # only those are asked for twice that were under way when the first was missed
        gdal.VSICurlClearCache()
        dataset = opened("ZARR3:" + root + "/chunks")
        handler.log.clear()
        dataset.ReadAsArray()
        assert len([1 for _, path, _ in handler.log if "/c/" in path]) <= 256 + 32


def test_a_chunk_is_read_when_its_server_is_well_again(many):
    root, handler, plane = many
    dataset = opened("ZARR3:" + root + "/chunks")
    handler.broken = "c/1/1"
    with Errors() as errors:
        assert dataset.ReadAsArray() is None
    assert len(errors.failures) == 1
    handler.broken = None
    assert (dataset.ReadAsArray() == plane).all()


def test_an_open_takes_few_requests(server, sample):
    """CRS and place included, and none for sidecar files, which stores on servers do not have."""
    root, handler = server
    zarr.consolidate_metadata(sample)
    handler.log = []
    dataset = opened("ZARR3:" + root + "/t")
    assert dataset.GetGeoTransform() == (0, 10, 0, 0, 0, 10)
    assert dataset.GetProjection() == ""
    dataset.GetMetadata()
    assert dataset.GetRasterBand(1).GetOverviewCount() == 0
    assert dataset.GetRasterBand(1).GetMaskFlags() != 0
    assert dataset.GetFileList() == [root + "/t/zarr.json"]
    documents = [path for _, path, _ in handler.log if path.endswith("zarr.json")]
    assert len(handler.log) == len(documents) + 2, handler.log
    assert not [path for _, path, _ in handler.log if "aux" in path or "ovr" in path.lower()]


def test_sidecars_of_a_store_on_a_server_have_a_place_in_a_directory(server, tmp_path):
    root, _ = server
    (tmp_path / "pam").mkdir()
    code = ("import sys; from osgeo import gdal; gdal.UseExceptions(); d = gdal.Open(sys.argv[1]);"
            "print(d.GetRasterBand(1).GetStatistics(False, len(sys.argv) > 2))")
    name = "ZARR3:" + root + "/t"
    computed = run_python(code, name, "yes", GDAL_PAM_PROXY_DIR=tmp_path / "pam")
    again = run_python(code, name, GDAL_PAM_PROXY_DIR=tmp_path / "pam")
    most = str(float(PLANE.max()))
    assert most in computed and most in again and os.listdir(tmp_path / "pam")
    assert most not in run_python(code, name)


def test_options_of_the_opening_thread_hold_in_all(many):
    """As rasterio sets them."""
    root, handler, plane = many
    seen = []
    plain = handler.do_GET

    def watch(self):
        seen.append(self.headers.get("X-Test"))
        plain(self)

    handler.do_GET = handler.do_HEAD = watch
    gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", "X-Test: mine")
    try:
        dataset = opened("ZARR3:" + root + "/chunks")
        assert (dataset.ReadAsArray() == plane).all()
    finally:
        gdal.SetThreadLocalConfigOption("GDAL_HTTP_HEADERS", None)
    assert len(seen) > 256 and set(seen) == {"mine"}
