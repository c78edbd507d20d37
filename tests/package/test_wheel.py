# SPDX-License-Identifier: MIT
"""The wheel, in environments with the wheels of other projects: each has an HDF5 or a GDAL of its own.

ZARRBRIDGE_WHEEL names a wheel; without it `tools/package wheel` builds one, which skips the tests where its sources
cannot be fetched."""
import functools
import http.server
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

ROOT = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("interop", "mpi", "remote", "support")]
sys.path.append(str(ROOT / "packaging/wheel"))
import fetch  # noqa: E402
import http2  # noqa: E402
import simserver  # noqa: E402
import venvs  # noqa: E402

CANNOT_BE_FETCHED = 3  # build.py
XARRAY = ["xarray", "h5netcdf"]
HDF5 = {"3.14": ["h5py==3.14.*"], "3.15": ["h5py==3.15.*"], "3.16": ["h5py==3.16.*"],
        "newest": ["h5py", "netCDF4", "dask[array]", *XARRAY]}
GDAL = ["rasterio>=1.5", "pyogrio", "rioxarray", "h5py"]
# None of the test's own: the wheel is to find everything by itself.
PLAIN = {name: value for name, value in venvs.ENVIRONMENT.items()
         if not name.startswith(("HDF5_", "GDAL_", "ZARRBRIDGE_", "PYTHONPATH", "SSL_", "CURL_", "AWS_"))}


@pytest.fixture(scope="session")
def wheel():
    if named := os.environ.get("ZARRBRIDGE_WHEEL"):
        return Path(named)
    done = subprocess.run([ROOT / "tools/package", "wheel"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode == CANNOT_BE_FETCHED:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout
    found, = (ROOT / "build/dist/wheel").glob("*_x86_64.whl")
    return found


@functools.cache
def environment(wheel, name, *packages):
    """The interpreter of an environment with the packages and the wheel."""
    python = venvs.venv(f"wheel-{name}", *packages)
    for command in (["uninstall", "-y", "zarrbridge"], ["install", "--no-index", "--no-deps", wheel]):
        subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", *command], check=True, env=PLAIN,
                       stderr=subprocess.DEVNULL)
    return python


def run(python, script, folder, *arguments, **variables):
    done = subprocess.run([str(python), "-c", script, *map(str, arguments)], cwd=folder, text=True,
                          env={**PLAIN, "XDG_CACHE_HOME": str(folder / "cache"), **variables},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


# ---- The file ----


def test_it_is_small_and_has_all_licences(wheel):
    assert wheel.stat().st_size <= 10_000_000
    names = zipfile.ZipFile(wheel).namelist()
    licences = [name for name in names if ".dist-info/licenses/" in name]
    inside = [source["name"] for source in fetch.sources() if source["licence_files"] != "-"]
    assert {"zstd", "nghttp2", "gdal"} <= {*inside}
    for part in ("LICENSE", "THIRD_PARTY.md", *(f"{name}-" for name in inside)):
        assert any(f"/{part}" in name for name in licences), part
    assert not [name for name in names if name.startswith("packaging") or "__pycache__" in name]


def test_its_files_need_libc_alone(wheel, tmp_path):
    """And the driver for GDAL the C++ library and GDAL, both of which rasterio has loaded."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    libc = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
            "libresolv.so.2"}
    files = [path for path in tmp_path.glob("zarrbridge/**/*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(files) >= 3
    for path in files:
        text = subprocess.run(["readelf", "-dW", "--dyn-syms", path], stdout=subprocess.PIPE, text=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) - libc
        versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\bGLIBC_(\d[\d.]*)", text)}
        assert max(versions) <= (2, 28), path
        if "gdal" in path.name:
            needed -= {"libstdc++.so.6", "libgcc_s.so.1", "libgdal-placeholder-of-zarrbridge.so"}
        assert not needed, (path, needed)


# ---- HDF5 ----

STORE = """
import numpy
with h5py.File("x.zarr", "w", driver="zarr", shards="8x8", chunks="4x4") as file:
    file.create_dataset("t", data=numpy.arange(256.0).reshape(16, 16), compression="gzip")
    file["plain"] = numpy.ones((16, 16))
import json
assert json.load(open("x.zarr/plain/zarr.json"))["chunk_grid"]["configuration"]["chunk_shape"] == [8, 8]
with h5py.File("y.zarr", "w") as file: file["t"] = [1.5, 2.5]
assert (h5py.File("x.zarr")["t"][3, ::2] == numpy.arange(48.0, 64)[::2]).all()
with h5py.File("y.zarr", "a") as file: file["u"] = 1
assert list(h5py.File("y.zarr")) == ["t", "u"]
with h5py.File("x.h5", "w") as file: file["t"] = 1
assert h5py.File("x.h5")["t"][()] == 1
import os
assert os.path.isfile("x.h5") and os.path.isfile("x.zarr/t/zarr.json") and os.path.isdir("y.zarr")
try: h5py.File("missing.h5")
except FileNotFoundError: pass
"""


@pytest.mark.parametrize("imports", ["import zarrbridge, h5py", "import h5py, zarrbridge"])
@pytest.mark.parametrize("name", HDF5)
def test_h5py(wheel, tmp_path, name, imports):
    python = environment(wheel, f"h5py-{name}", *HDF5[name])
    run(python, imports + STORE, tmp_path)


@pytest.mark.parametrize("name", HDF5)
def test_h5py_where_conda_has_set_variables(wheel, tmp_path, name):
    python = environment(wheel, f"h5py-{name}", *HDF5[name])
    run(python, "import zarrbridge, h5py" + STORE, tmp_path, HDF5_PLUGIN_PATH="/nowhere/plugins",
        GDAL_DRIVER_PATH="/nowhere/gdalplugins")


@pytest.mark.parametrize("name", ["3.14", "newest"])
def test_child_processes(wheel, tmp_path, name):
    python = environment(wheel, f"h5py-{name}", *HDF5[name])
    run(python, """
import os, subprocess, sys, zarrbridge
zarrbridge.export_env()
assert os.environ["HDF5_PLUGIN_PATH"].endswith("/nowhere/plugins")
subprocess.run([sys.executable, "-c", "import h5py\\nwith h5py.File('x.zarr', 'w') as file: file['t'] = 1"], check=True)
assert os.path.isdir("x.zarr")
""", tmp_path, HDF5_PLUGIN_PATH="/nowhere/plugins")


def test_netcdf4_beside_it(wheel, tmp_path):
    """Two libhdf5 in one process, either of which may be the first."""
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    for first, second in (("netCDF4", "h5py"), ("h5py", "netCDF4")):
        run(python, f"import zarrbridge, {first}, {second}" + STORE + """
with netCDF4.Dataset("a.nc", "w") as file: file.createDimension("x", 3); file.createVariable("t", "f4", "x")[:] = 2
assert netCDF4.Dataset("a.nc")["t"][1] == 2
""", tmp_path)


def test_xarray(wheel, tmp_path):
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    run(python, """
import numpy, xarray, zarrbridge, h5py
data = xarray.Dataset({"t": (("y", "x"), numpy.arange(6.0).reshape(2, 3))}, {"x": [1, 2, 3]})
data.to_netcdf("x.zarr", engine="h5netcdf")
assert xarray.open_dataset("x.zarr", engine="zarrbridge").equals(data)
assert xarray.open_dataset("x.zarr").equals(data), "zarr-python is not there"
with h5py.File("x.zarr", "a") as file: file.create_group("below")["u"] = numpy.arange(3)
tree = xarray.open_datatree("x.zarr", engine="zarrbridge")
assert tree["below"].u[2] == 2 and (tree["t"] == data.t).all()
""", tmp_path)


def test_dask(wheel, tmp_path):
    """Processes write the shards of one array; they find the program, which tells the shards, in the wheel."""
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    (tmp_path / "main.py").write_text("""
import dask, dask.array, numpy, zarrbridge.dask
if __name__ == "__main__":
    values = numpy.arange(60000).reshape(200, 300)
    with dask.config.set(scheduler="processes", num_workers=2):
        zarrbridge.dask.store(dask.array.from_array(values, chunks=(70, 50)), "x.zarr", "t", shards=(128, 128),
                              chunks=(32, 32))
        found = zarrbridge.dask.from_store("x.zarr", "t")
        assert found.chunksize == (128, 128) and (found.compute() == values).all()
""")
    run(python, "import runpy; runpy.run_path('main.py', run_name='__main__')", tmp_path)
    assert (tmp_path / "x.zarr/t/c/1/2").is_file()


def test_ranks_of_mpi(wheel, tmp_path):
    """The connector is linked to no MPI, and works in the parallel HDF5 of the system."""
    mpi = pytest.importorskip("test_mpi")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    mpi.ran(mpi.python("rows", tmp_path / "a.zarr", HDF5_PLUGIN_PATH=str(tmp_path / "zarrbridge/lib/hdf5")))
    assert (tmp_path / "a.zarr/g/b/zarr.json").is_file()


def test_url(wheel, tmp_path):
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    run(python, "import zarrbridge, h5py\nwith h5py.File('x.zarr', 'w') as file: file['t'] = [1.5, 2.5]", tmp_path)
    subprocess.run([python.with_name("zarrbridge"), "consolidate", "x.zarr"], cwd=tmp_path, check=True, env=PLAIN)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/x.zarr"
    try:
        run(python, "import zarrbridge, h5py, sys\nassert h5py.File(sys.argv[1])['t'][1] == 2.5", tmp_path, url)
        run(python, "import xarray, sys\n"
            "assert xarray.open_dataset(sys.argv[1], engine='zarrbridge').t[1] == 2.5", tmp_path, url)
    finally:
        server.shutdown()
        server.server_close()


def test_certificates(wheel, tmp_path):
    """A server with a certificate of its own: refused, and the message names the option; trusted with it."""
    import ssl

    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    run(python, "import zarrbridge, h5py\nwith h5py.File('x.zarr', 'w') as file: file['t'] = [1.5, 2.5]", tmp_path)
    simserver.make_certificate(tmp_path)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://localhost:{server.server_port}/x.zarr"
    read = "import zarrbridge, h5py, sys\nassert h5py.File(sys.argv[1])['t'][1] == 2.5"
    try:
        run(python, read, tmp_path, url, SSL_CERT_FILE=str(tmp_path / "cert.pem"))
        run(python, read, tmp_path, f"{url}#ca_file={tmp_path / 'cert.pem'}")
        with pytest.raises(AssertionError, match="#ca_file=PATH behind the URL"):
            run(python, read, tmp_path, url)
    finally:
        server.shutdown()
        server.server_close()


def test_http2(wheel, tmp_path):
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    run(python, "import zarrbridge, h5py\nwith h5py.File('x.zarr', 'w') as file: file['t'] = [1.5, 2.5]", tmp_path)
    certificate, key = simserver.make_certificate(tmp_path)
    with http2.serve(tmp_path, certificate, key) as server:
        run(python, "import zarrbridge, h5py, sys\nassert h5py.File(sys.argv[1])['t'][1] == 2.5", tmp_path,
            f"{server.url}/x.zarr#ca_file={certificate}")
        assert {version for _, version, _ in server.take_log()} == {"2"}


# ---- The program, and the environment ----


def test_program(wheel, tmp_path):
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    run(python, "import zarrbridge, h5py" + STORE, tmp_path)
    for command in ([python.with_name("zarrbridge")], [python, "-m", "zarrbridge"]):
        done = subprocess.run([*command, "ls", "x.zarr"], cwd=tmp_path, env=PLAIN, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0 and "t" in done.stdout
        assert subprocess.run([*command, "ls", "no.zarr"], cwd=tmp_path, env=PLAIN, stderr=subprocess.DEVNULL).returncode


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="aarch64 has one kind of processor")
def test_the_program_knows_the_processor(wheel, tmp_path):
    """zig's answer to the compiler's question is no, whatever the processor (core/src/util/cpu.h)."""
    flags = re.search(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split()
    known = [name for flag, name in (("avx2", "avx2"), ("sse4_2", "sse4.2")) if flag in flags]
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    said = subprocess.run([python.with_name("zarrbridge"), "doctor", "--only", "self"], cwd=tmp_path, env=PLAIN,
                          stdout=subprocess.PIPE, text=True).stdout
    assert f"processor {', '.join(['x86-64', *known])}" in said, said


def test_the_doctor_looks_at_this_environment(wheel, tmp_path):
    """Whether it has been activated or not."""
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    said = subprocess.run([python.with_name("zarrbridge"), "doctor", "--only", "python"], cwd=tmp_path, env=PLAIN,
                          stdout=subprocess.PIPE, text=True).stdout
    assert str(python.parent) in said and "h5py" in said, said


def test_enable_and_disable(wheel, tmp_path):
    python = environment(wheel, "h5py-newest", *HDF5["newest"])
    for command, kind in (("enable", "is_dir"), ("disable", "is_file")):
        subprocess.run([python.with_name("zarrbridge"), command], check=True, env=PLAIN, stdout=subprocess.DEVNULL)
        run(python, "import h5py, sys\nh5py.File(sys.argv[1], 'w').close()", tmp_path, f"{command}.zarr")
        assert getattr(tmp_path / f"{command}.zarr", kind)(), command


# ---- GDAL ----

RASTER = """
import numpy, rasterio.env
from rasterio.transform import from_origin
pixels = numpy.arange(4096, dtype="uint16").reshape(1, 64, 64)
with rasterio.open("r.zarr", "w", driver="Zarr3", width=64, height=64, count=1, dtype="uint16", crs="EPSG:32725",
                   transform=from_origin(1e5, 9e6, 30, 30), SHARD="32x32", BLOCKSIZE="16x16") as file: file.write(pixels)
with rasterio.open("r.zarr") as file:
    assert file.driver == "Zarr3" and (file.read() == pixels).all() and file.crs.to_epsg() == 32725
assert "sharding_indexed" in "".join(open(p).read() for p in __import__("glob").glob("r.zarr/**/zarr.json", recursive=True))
"""


@pytest.mark.parametrize("imports", ["import zarrbridge, rasterio", "import rasterio, zarrbridge",
                                     "import rasterio\nwith rasterio.Env(): pass\nimport zarrbridge"])
def test_rasterio(wheel, tmp_path, imports):
    python = environment(wheel, "gdal", *GDAL)
    run(python, imports + RASTER, tmp_path)
    run(python, imports + RASTER, tmp_path)  # with the copy that the first has made
    assert len(list((tmp_path / "cache/zarrbridge").iterdir())) == 1


def test_rasterio_where_conda_has_set_variables(wheel, tmp_path):
    python = environment(wheel, "gdal", *GDAL)
    run(python, "import zarrbridge, rasterio" + RASTER, tmp_path, HDF5_PLUGIN_PATH="/nowhere/plugins",
        GDAL_DRIVER_PATH="/nowhere/gdalplugins")


def test_all_in_one_process(wheel, tmp_path):
    """h5py, rasterio, pyogrio with another GDAL, and rioxarray."""
    python = environment(wheel, "gdal", *GDAL)
    run(python, "import zarrbridge, pyogrio, h5py, rasterio, rioxarray" + RASTER + STORE + """
assert pyogrio.list_drivers()["GPKG"]
raster = rioxarray.open_rasterio("r.zarr")
assert (raster.values == pixels).all() and raster.rio.crs.to_epsg() == 32725
raster.close()
for change, driver in ((zarrbridge.disable, "Zarr"), (zarrbridge.enable, "Zarr3")):
    change()
    with rasterio.open("r.zarr") as file: assert file.driver == driver, (driver, file.driver)
""", tmp_path)


def test_rasterio_reads_a_url(wheel, tmp_path):
    """By the network library, which the copy in the cache finds."""
    python = environment(wheel, "gdal", *GDAL)
    run(python, "import zarrbridge, rasterio" + RASTER, tmp_path)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        run(python, "import zarrbridge, rasterio, sys\nassert rasterio.open(sys.argv[1]).read(1)[1, 1] == 65\n"
            "assert 'libzarrbridge_remote' in open('/proc/self/maps').read()", tmp_path,
            f"ZARR3:http://127.0.0.1:{server.server_port}/r.zarr")
    finally:
        server.shutdown()
        server.server_close()
