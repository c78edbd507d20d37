# SPDX-License-Identifier: MIT
"""The wheel for aarch64, with the wheels of h5py and rasterio for that processor, in a root directory of Debian's arm64
that qemu runs. Skipped where `tools/package wheel --cpu aarch64` has not built one."""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
sys.path[:0] = [str(ROOT / "tests/interop"), str(ROOT / "packaging/wheel")]
import fetch  # noqa: E402
import test_wheel  # noqa: E402
import venvs  # noqa: E402

DEBS = ["python3.13-minimal", "libpython3.13-minimal", "libpython3.13-stdlib", "libc6", "libssl3t64", "libexpat1",
        "zlib1g", "libgcc-s1", "libffi8", "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1", "libstdc++6", "libzstd1",
        "libcrypt1"]
WHEELS = ["h5py", "rasterio>=1.5"]
PLATFORMS = ["manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"]


def make_root(folder, root):
    apt = fetch.Apt(folder / "apt", ["trixie"])
    for name in ("usr/lib", "usr/bin", "proc", "dev", "tmp", "work"):
        (root / name).mkdir(parents=True)
    for name in ("lib", "bin"):
        (root / name).symlink_to(f"usr/{name}")
    for deb in apt("download", "qemu-user:amd64", *(f"{name}:arm64" for name in DEBS)).glob("*.deb"):
        into = folder / "qemu" if deb.name.startswith("qemu-user") else root
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as content:
            into.mkdir(exist_ok=True)
            subprocess.run(["tar", "-x", "-C", into, "--keep-directory-symlink"], stdin=content.stdout, check=True)
    shutil.copy(folder / "qemu/usr/bin/qemu-aarch64", root / "qemu")
    fetch.run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
              "--python-version=3.13", "--implementation=cp", "--abi=cp313",
              *(f"--platform={name}" for name in PLATFORMS), "-d", folder / "wheels", *WHEELS)
    for wheel in (folder / "wheels").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(root / "site")


@pytest.fixture(scope="session")
def root():
    """A root directory with Python, h5py, rasterio and the wheel; made once."""
    wheels = list((ROOT / "build/dist/wheel").glob("*_aarch64.whl"))
    if not wheels:
        pytest.skip("no wheel for aarch64 has been built")
    if os.geteuid():
        pytest.skip("root alone can change the root directory")
    folder = venvs.PACKAGES / "aarch64"
    with venvs.alone(folder):
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                make_root(folder, folder / "root")
            except fetch.Failed as failed:
                pytest.skip(f"the packages of arm64 cannot be had: {failed}")
            (folder / "made").touch()
    shutil.rmtree(folder / "root/site/zarrbridge", ignore_errors=True)
    zipfile.ZipFile(wheels[0]).extractall(folder / "root/site")
    return folder / "root"


def run(root, *command):
    """In a new folder that the program begins in."""
    shutil.rmtree(root / "work")
    (root / "work").mkdir()
    environment = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/work", "PYTHONPATH": "/site"}
    done = subprocess.run(["chroot", root, "/qemu", *command], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


def python(root, script):
    return run(root, "/usr/bin/python3.13", "-c", "import os; os.chdir('/work')\n" + script)


def test_h5py(root):
    said = python(root, "import zarrbridge, h5py" + test_wheel.STORE + "print(os.uname().machine)")
    assert said == "aarch64\n"


def test_rasterio(root):
    """The C++ of the driver and that of rasterio's GDAL agree."""
    python(root, "import zarrbridge, rasterio" + test_wheel.RASTER)


def test_program(root):
    (root / "site/zarrbridge/bin/zarrbridge").chmod(0o755)
    assert run(root, "/site/zarrbridge/bin/zarrbridge", "--version").startswith("zarrbridge ")
