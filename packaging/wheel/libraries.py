# SPDX-License-Identifier: MIT
"""The static libraries of the wheel: how each is configured, and their build with zig."""
import os
import pathlib
import shutil
import stat
import subprocess

HERE = pathlib.Path(__file__).parent

# The folder of CMakeLists.txt in the source (or None: ours), and the options; in the order of their needs.
LIBRARIES = {
    "zstd": ("build/cmake", ["ZSTD_BUILD_PROGRAMS=OFF", "ZSTD_BUILD_SHARED=OFF", "ZSTD_BUILD_TESTS=OFF",
                             "ZSTD_MULTITHREAD_SUPPORT=OFF", "ZSTD_LEGACY_SUPPORT=OFF",
                             "ZSTD_BUILD_DICTBUILDER=OFF", "ZSTD_BUILD_DEPRECATED=OFF"]),
    "lz4": ("build/cmake", ["LZ4_BUILD_CLI=OFF", "BUILD_STATIC_LIBS=ON"]),
    "libdeflate": (".", ["LIBDEFLATE_BUILD_SHARED_LIB=OFF", "LIBDEFLATE_BUILD_GZIP=OFF"]),
    "cjson": (".", ["ENABLE_CJSON_TEST=OFF", "ENABLE_CUSTOM_COMPILER_FLAGS=OFF"]),
    "bzip2": (None, ["NAME=bz2"]),
    "lzma": (".", ["XZ_TOOL_XZ=OFF", "XZ_TOOL_XZDEC=OFF", "XZ_TOOL_LZMADEC=OFF", "XZ_TOOL_LZMAINFO=OFF",
                   "XZ_TOOL_SCRIPTS=OFF", "XZ_DOC=OFF", "XZ_NLS=OFF", "XZ_DOXYGEN=OFF", "BUILD_TESTING=OFF"]),
    "zfp": (".", ["BUILD_UTILITIES=OFF", "BUILD_TESTING=OFF", "BUILD_EXAMPLES=OFF", "ZFP_WITH_OPENMP=OFF"]),
    "zlib": (".", ["ZLIB_BUILD_SHARED=OFF", "ZLIB_BUILD_EXAMPLES=OFF", "ZLIB_BUILD_TESTING=OFF"]),
    "expat": (".", ["EXPAT_BUILD_TOOLS=OFF", "EXPAT_BUILD_EXAMPLES=OFF", "EXPAT_BUILD_TESTS=OFF",
                    "EXPAT_BUILD_DOCS=OFF", "EXPAT_SHARED_LIBS=OFF"]),
    "inih": (None, ["NAME=inih"]),
    "mbedtls": (".", ["ENABLE_PROGRAMS=OFF", "ENABLE_TESTING=OFF", "GEN_FILES=OFF", "MBEDTLS_FATAL_WARNINGS=OFF",
                      f"MBEDTLS_USER_CONFIG_FILE={HERE / 'mbedtls_threads.h'}"]),
    "curl": (".", ["BUILD_CURL_EXE=OFF", "BUILD_STATIC_LIBS=ON", "BUILD_LIBCURL_DOCS=OFF", "BUILD_MISC_DOCS=OFF",
                   "ENABLE_CURL_MANUAL=OFF", "BUILD_TESTING=OFF", "BUILD_EXAMPLES=OFF", "HTTP_ONLY=ON",
                   "CURL_USE_OPENSSL=OFF", "CURL_USE_MBEDTLS=ON", "CURL_ZLIB=ON", "CURL_BROTLI=OFF", "CURL_ZSTD=OFF",
                   "USE_NGHTTP2=OFF", "CURL_USE_LIBPSL=OFF", "USE_LIBIDN2=OFF", "CURL_USE_LIBSSH2=OFF",
                   "CURL_USE_LIBSSH=OFF", "CURL_USE_GSSAPI=OFF", "CURL_DISABLE_LDAP=ON", "CURL_CA_BUNDLE=none",
                   "CURL_CA_PATH=none", "CURL_CA_FALLBACK=OFF", "ENABLE_UNIX_SOCKETS=OFF", "CURL_DISABLE_NTLM=ON",
                   "_CURL_PREFILL=ON", "CURL_ENABLE_EXPORT_TARGET=OFF", "PICKY_COMPILER=OFF", "ENABLE_THREADED_RESOLVER=ON"]),
}


def run(*command, **options):
    """The output is shown only where the command fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}")
    return done.stdout


class Toolchain:
    """The compilers of one processor, as programs in `folder`, and the cache that zig keeps beside it."""

    def __init__(self, zig, cpu, glibc, folder, prefix, cxx_options=()):
        self.cpu, self.tools, self.prefix = cpu, folder, prefix
        folder.mkdir(parents=True, exist_ok=True)
        prefix.mkdir(parents=True, exist_ok=True)
        target = f"-target {cpu}-linux-gnu.{glibc}"
        zig.chmod(zig.stat().st_mode | stat.S_IXUSR)
        # `zig c++` would build zig's own C++ library first.
        for name, words in {"cc": f"cc {target}", "c++": f"cc {target} {' '.join(cxx_options)}", "ar": "ar",
                            "ranlib": "ranlib"}.items():
            program = folder / name
            text = f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{folder.parent / "zig-cache"}"\n' \
                   f'export ZIG_LOCAL_CACHE_DIR="$ZIG_GLOBAL_CACHE_DIR"\nexec "{zig}" {words} "$@"\n'
            if not program.exists() or program.read_text() != text:
                program.write_text(text)
                program.chmod(0o755)

    def configure(self, source, build, *options):
        run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={HERE / 'zig.cmake'}",
            f"-DZARRBRIDGE_WHEEL_TOOLS={self.tools}", f"-DZARRBRIDGE_WHEEL_CPU={self.cpu}",
            f"-DZARRBRIDGE_WHEEL_PREFIX={self.prefix}", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
            "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", *[f"-D{option}" for option in options],
            env={**os.environ, "PKG_CONFIG_LIBDIR": str(self.prefix / "lib/pkgconfig"), "PKG_CONFIG_PATH": ""})

    def build(self, build, *targets, jobs):
        run("cmake", "--build", build, "-j", jobs, *(["--target", *targets] if targets else []))


def build_library(name, source, toolchain, build, jobs):
    """Builds and installs it, unless this has been done from the same source."""
    where, options = LIBRARIES[name]
    mark = toolchain.prefix / f"{name}.built"
    state = "\n".join([source["package"], source["sha256"], *options])
    if mark.exists() and mark.read_text() == state:
        return
    print("building", name, flush=True)
    shutil.rmtree(build, ignore_errors=True)
    folder = source["path"] / source["folder"]
    if where is None:
        options = [*options, f"FOLDER={folder}"]
    toolchain.configure(HERE if where is None else folder / where, build, "BUILD_SHARED_LIBS=OFF",
                        "CMAKE_POSITION_INDEPENDENT_CODE=ON", "CMAKE_C_VISIBILITY_PRESET=hidden",
                        "CMAKE_POLICY_VERSION_MINIMUM=3.5", *options)
    toolchain.build(build, "install", jobs=jobs)
    shutil.rmtree(build)
    mark.write_text(state)
