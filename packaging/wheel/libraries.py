# SPDX-License-Identifier: MIT
"""The static libraries of the wheel, and their build with zig."""
import os
import pathlib
import stat
import subprocess

HERE = pathlib.Path(__file__).parent

# Those of CMakeLists.txt here, and curl, which is built against them.
PLAIN = ["zstd", "lz4", "libdeflate", "cjson", "bzip2", "lzma", "zfp", "zlib", "expat", "inih", "mbedtls",
         "nghttp2"]
LIBRARIES = [*PLAIN, "curl"]
CURL = ["BUILD_CURL_EXE=OFF", "BUILD_SHARED_LIBS=OFF", "BUILD_STATIC_LIBS=ON", "BUILD_LIBCURL_DOCS=OFF",
        "BUILD_MISC_DOCS=OFF", "ENABLE_CURL_MANUAL=OFF", "BUILD_TESTING=OFF", "BUILD_EXAMPLES=OFF", "_CURL_PREFILL=ON",
        "CMAKE_DISABLE_FIND_PACKAGE_Perl=ON",
        "HTTP_ONLY=ON", "CURL_USE_OPENSSL=OFF", "CURL_USE_MBEDTLS=ON", "CURL_ZLIB=ON", "CURL_BROTLI=OFF",
        "CURL_ZSTD=OFF", "USE_NGHTTP2=ON", "CURL_USE_LIBPSL=OFF", "USE_LIBIDN2=OFF", "CURL_USE_LIBSSH2=OFF",
        "CURL_USE_LIBSSH=OFF", "CURL_USE_GSSAPI=OFF", "CURL_DISABLE_LDAP=ON", "CURL_DISABLE_NTLM=ON",
        "HAVE_MBEDTLS_DES_CRYPT_ECB=0",
        "CURL_CA_BUNDLE=none", "CURL_CA_PATH=none", "CURL_CA_FALLBACK=OFF", "ENABLE_UNIX_SOCKETS=OFF",
        "PICKY_COMPILER=OFF", "ENABLE_THREADED_RESOLVER=ON",
        "CMAKE_POSITION_INDEPENDENT_CODE=ON", "CMAKE_C_VISIBILITY_PRESET=hidden"]


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
        run("cmake", "--build", build, "-j", jobs, *(["--target", *targets] if targets else []), "--", "-k", "0")


def build(name, sources, state, toolchain, folder, source, options, jobs):
    """Builds and installs, unless this has been done of the same."""
    mark = toolchain.prefix / f"{name}.built"
    state = "\n".join([state, *(sources[name]["sha256"] for name in sorted(sources)), *options])
    if mark.exists() and mark.read_text() == state:
        return
    print("building", name, flush=True)
    toolchain.configure(source, folder / name, *options)
    toolchain.build(folder / name, "install", jobs=jobs)
    mark.write_text(state)


def build_all(sources, toolchain, folder, jobs):
    """`sources`: the rows of sources.tsv by their names, with the path of each."""
    below = next(iter(sources.values()))["path"].parent
    plain = {name: sources[name] for name in PLAIN}
    build("codecs", plain, (HERE / "CMakeLists.txt").read_text(), toolchain, folder, HERE, [f"SOURCES={below}"], jobs)
    curl, prefix = sources["curl"], toolchain.prefix
    tls = [f"MBEDTLS_INCLUDE_DIR={prefix}/include",
           *(f"{name}_LIBRARY={prefix}/lib/libmbedtls.a" for name in ("MBEDTLS", "MBEDX509", "MBEDCRYPTO"))]
    http2 = [f"NGHTTP2_INCLUDE_DIR={prefix}/include", f"NGHTTP2_LIBRARY={prefix}/lib/libnghttp2.a"]
    build("curl", {"curl": curl}, "", toolchain, folder, curl["path"] / curl["folder"], [*CURL, *tls, *http2], jobs)
