# SPDX-License-Identifier: MIT
"""Spack's package. Not built yet: Spack is not among the tools of this repository. tests/package/test_recipes.py
compiles this file, and compares the version and the names of options.

    spack repo add packaging/spack/spack_repo/zarrbridge
    spack install zarrbridge
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Zarrbridge(CMakePackage):
    """HDF5 VOL connector and GDAL driver over one library in C for Zarr version 3, sharded stores included."""

    license("MIT")

    # The addresses of versions, `git`, belong here as soon as there is a public repository.
    version("0.1.0", tag="v0.1.0")
    version("main", branch="main")

    variant("hdf5", default=True, description="Build the VOL connector of HDF5")
    variant("gdal", default=False, description="Build the driver of GDAL")
    variant("net", default=True, description="Open stores on web servers, in S3 and in Azure")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+gdal")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zstd")
    depends_on("libdeflate")
    depends_on("lz4")
    depends_on("cjson")
    depends_on("bzip2")
    depends_on("xz")
    depends_on("zfp@1:")
    # Its headers alone are used, and one connector serves every flavour. A dependency on MPI would be one too many.
    depends_on("hdf5@1.14:", when="+hdf5")
    depends_on("gdal@3.10:", when="+gdal")
    depends_on("curl@7.78:", when="+net")
    depends_on("expat", when="+net")
    depends_on("inih", when="+net")

    def cmake_args(self):
        return [
            self.define_from_variant("ZARRBRIDGE_BUILD_HDF5_VOL", "hdf5"),
            self.define_from_variant("ZARRBRIDGE_BUILD_GDAL_DRIVER", "gdal"),
            self.define("ZARRBRIDGE_BUILD_TESTS", False),
            self.define("ZARRBRIDGE_BUILD_BENCH", False),
            self.define("ZARRBRIDGE_INSTALL_PLUGINS", "prefix"),
        ]

    def setup_run_environment(self, env):
        # Folders of our own, in front of those of other packages. HDF5_VOL_CONNECTOR stays unset: a program that
        # does not find the connector would end.
        folder = join_path(self.spec["zarrbridge"].libs.directories[0], "zarrbridge")
        if self.spec.satisfies("+hdf5"):
            env.prepend_path("HDF5_PLUGIN_PATH", join_path(folder, "hdf5"))
        if self.spec.satisfies("+gdal"):
            env.prepend_path("GDAL_DRIVER_PATH", join_path(folder, "gdal"))

    @property
    def libs(self):
        return find_libraries("libzarrbridge", root=self.prefix, shared=True, recursive=True)
