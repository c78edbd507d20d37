# SPDX-License-Identifier: MIT
"""Builds the wheel: fetches, builds the libraries, then zarrbridge against them, and packs. See README.md here."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import fetch
import figures
import libraries

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GLIBC = "2.28"
GDAL = "3.12"  # the minor version of the headers in sources.tsv
LARGEST = 10_000_000  # bytes of the wheel
TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}


def cxx_options(sources, cpu):
    """GCC's C++ library of an older Debian: the driver and GDAL hand each other its objects, which zig's are not. Its
    symbols are those of GCC 8 and later then."""
    if f"libstdcxx-{cpu}" not in sources:
        return []
    headers, triplet = sources[f"libstdcxx-headers-{cpu}"]["path"] / "usr/include", TRIPLETS[cpu]
    return ["-nostdinc++", f"-I{headers}/c++/10", f"-I{headers}/{triplet}/c++/10",
            f"-I{headers}/c++/10/backward"]


def make_prefix(prefix, sources, gdal):
    """What CMake is to find beside the libraries."""
    pc = prefix / "lib/pkgconfig"
    pc.mkdir(parents=True, exist_ok=True)
    headers = sources["hdf5"]["path"] / sources["hdf5"]["folder"]
    (pc / "hdf5.pc").write_text(f"Name: hdf5\nDescription: headers\nVersion: 1.14.5\nCflags: -I{headers}\nLibs:\n")
    cmake = prefix / "lib/cmake/GDAL"
    cmake.mkdir(parents=True, exist_ok=True)
    for name in ("GDALConfig.cmake", "GDALConfigVersion.cmake"):
        shutil.copyfile(HERE / name, cmake / name)


def build_zarrbridge(toolchain, sources, build, gdal, jobs):
    options = ["ZARRBRIDGE_BUILD_TESTS=OFF", "ZARRBRIDGE_BUILD_BENCH=OFF", "HDF5_PLUGIN_INSTALL_DIR=lib/hdf5",
               "PKG_CONFIG_ARGN=--static", "CMAKE_INSTALL_PREFIX=/zarrbridge",
               f"ZARRBRIDGE_BUILD_GDAL_DRIVER={'ON' if gdal else 'OFF'}", "CMAKE_CXX_FLAGS=-Wno-user-defined-literals"]
    targets = ["hdf5_vol_zarr", "zarrbridge_program", "zarrbridge_remote"]
    if gdal:
        source = sources["gdal"]["path"] / sources["gdal"]["folder"]
        library = sources[f"libstdcxx-{toolchain.cpu}"]["path"] / "usr/lib" / TRIPLETS[toolchain.cpu] / "libstdc++.so.6"
        options += [f"ZARRBRIDGE_GDAL_SOURCE={source}", "ZARRBRIDGE_GDAL_PLUGIN_DIR=lib/gdal",
                    f"CMAKE_CXX_STANDARD_LIBRARIES={library}"]
        targets.append("gdal_Zarr3")
    toolchain.configure(ROOT, build, *options)
    toolchain.build(build, *targets, jobs=jobs)


def lay(build, tree, gdal):
    """The files as they lie in the package (python/zarrbridge/_places.py)."""
    shutil.rmtree(tree, ignore_errors=True)
    places = {"core/zarrbridge": "bin/zarrbridge",
              "hdf5-vol/plugins/libhdf5_vol_zarr.so": "lib/hdf5/libhdf5_vol_zarr.so",
              "core/libzarrbridge_remote.so": "lib/zarrbridge/libzarrbridge_remote.so"}
    if gdal:
        places["gdal-driver/plugins/gdal_Zarr3.so"] = f"lib/gdal/gdal_Zarr3-{GDAL}.so"
    for source, place in places.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / source, tree / place)


def collect_licences(sources, folder):
    """Those of what is inside; a licence that a Debian binary package has is that of the source."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, source in sources.items():
        if source["licence_files"] == "-":
            continue
        for file in source["licence_files"].split(","):
            shutil.copyfile(source["path"] / source["folder"] / file,
                            folder / f"{name}-{pathlib.Path(file).name}")


def pack(tree, licences, cpu, dist):
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{cpu}"
    dist.mkdir(parents=True, exist_ok=True)
    for old in dist.glob(f"*_{cpu}.whl"):
        old.unlink()
    libraries.run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT,
                  env={**os.environ, "ZARRBRIDGE_WHEEL_TREE": str(tree), "ZARRBRIDGE_WHEEL_TAG": f"py3-none-{tag}",
                       "ZARRBRIDGE_WHEEL_LICENCES": str(licences)})
    wheel, = dist.glob(f"*_{cpu}.whl")
    if wheel.stat().st_size > LARGEST:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}")
    return wheel


def audit(wheel):
    """Fails where a file in it needs a newer glibc than the tag says, or another library."""
    program = pathlib.Path(sys.executable).with_name
    print(libraries.run(program("twine"), "check", "--strict", wheel).strip())
    print(libraries.run(program("auditwheel"), "show", wheel).strip())


def enter_environment(folder):
    """Goes on in an environment of Python's with what packs and checks the wheel; made at the first run."""
    if pathlib.Path(sys.prefix) == folder:
        return
    python = folder / "bin/python"
    there = python.exists() and not subprocess.run([python, "-c", "import build, hatchling, auditwheel, twine"],
                                                   stderr=subprocess.DEVNULL).returncode
    if not there:
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        libraries.run(sys.executable, "-m", "venv", "--clear", folder, env=plain)
        libraries.run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "build",
                      "hatchling>=1.27", "auditwheel", "twine")
    os.execv(python, [python, *sys.argv])


def main():
    parser = argparse.ArgumentParser(prog="tools/package wheel")
    parser.add_argument("--cpu", choices=sorted(TRIPLETS), default="x86_64")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--without-gdal", action="store_true", help="no driver for rasterio")
    parser.add_argument("--fetch-only", action="store_true", help="fetch the sources, and build nothing")
    arguments = parser.parse_args()
    cpu, gdal, folder = arguments.cpu, not arguments.without_gdal, ROOT / "build/packages/wheel"
    enter_environment(folder / "python")
    wanted = [*libraries.LIBRARIES, "hdf5", "zig"]
    if gdal:
        wanted += ["gdal", f"libstdcxx-headers-{cpu}", f"libstdcxx-{cpu}"]
    try:
        sources = fetch.fetch(folder / "sources", wanted)
    except fetch.Failed as failed:
        print(f"cannot be fetched: {failed}", file=sys.stderr)
        raise SystemExit(3) from None
    for name, source in sources.items():
        source["path"] = folder / "sources" / name
    if arguments.fetch_only:
        return
    own = folder / cpu
    toolchain = libraries.Toolchain(sources["zig"]["path"] / "ziglang/zig", cpu, GLIBC, own / "tools", own / "prefix",
                                    cxx_options(sources, cpu))
    libraries.build_all(sources, toolchain, own / "libraries", arguments.jobs)
    make_prefix(toolchain.prefix, sources, gdal)
    print("building zarrbridge", flush=True)
    build_zarrbridge(toolchain, sources, own / "build", gdal, arguments.jobs)
    lay(own / "build", own / "tree", gdal)
    collect_licences(sources, own / "licences")
    wheel = pack(own / "tree", own / "licences", cpu, ROOT / "build/dist/wheel")
    audit(wheel)
    print(figures.table(own / "tree", wheel))


if __name__ == "__main__":
    main()
