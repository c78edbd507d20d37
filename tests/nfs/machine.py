# SPDX-License-Identifier: MIT
"""A virtual machine of Debian's packages: its kernel with the modules that are needed, BusyBox, and
programs with the libraries that they are linked with."""
import lzma
import os
import pathlib
import re
import shutil
import stat
import subprocess

PACKAGES = ["linux-image-cloud-amd64", "nfs-kernel-server", "busybox-static", "iproute2"]


class Unavailable(Exception):
    """What the machine needs cannot be had here."""


def _run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason"]
        raise Unavailable(f"{command[0]} {command[1]}: {lines[-1]}")
    return done.stdout


def unpack_packages(place):
    """Debian's packages, with those that they need and that are not installed, below `place`. They
    are downloaded once, by apt, and nothing is installed."""
    root = place / "root"
    if root.exists():
        return root
    if not shutil.which("apt-get"):
        raise Unavailable("there is no apt-get")
    # A package that is installed is needed as well: what it brings may be missing in a chroot.
    plan = _run("apt-get", "-s", "-qq", "--no-install-recommends", "install", *PACKAGES)
    names = re.findall(r"^Inst (\S+)", plan, re.M)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    _run("apt-get", "-qq", "download", *names, cwd=place)
    for package in sorted(place.glob("*.deb")):
        _run("dpkg-deb", "-x", package, place / "new")
        package.unlink()
    (place / "new").rename(root)
    return root


def find_program(root, name):
    for folder in ["usr/sbin", "sbin", "usr/bin", "bin"]:
        if (root / folder / name).exists():
            return root / folder / name
    found = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not found:
        raise Unavailable(f"there is no {name}")
    return pathlib.Path(found)


def libraries(root, program):
    """The libraries that it is linked with, by the paths at which its loader looks for them."""
    folders = [root / "usr/lib/x86_64-linux-gnu", root / "lib/x86_64-linux-gnu"]
    environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ":".join(map(str, folders))}
    text = subprocess.run(["ldd", program], capture_output=True, text=True, env=environment).stdout
    if "not found" in text:
        raise Unavailable(f"{program.name} lacks libraries: {text}")
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", text)]


def modules(root, wanted):
    """Kernel modules, each after those that it depends on: name and content."""
    files = {path.name.split(".ko")[0].replace("-", "_"): path
             for path in root.glob("**/lib/modules/**/*.ko*")}
    found = {}

    def add(name):
        if name in found or name not in files: # built in
            return
        content = files[name].read_bytes()
        if files[name].suffix == ".xz":
            content = lzma.decompress(content)
        depends = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in depends[1].decode().split(",") if depends else []:
            add(other.replace("-", "_"))
        found[name] = content

    for name in wanted:
        add(name)
    return found


class Archive:
    """An initramfs: a cpio archive of the form "newc"."""

    def __init__(self):
        self.bytes = bytearray()
        self.names = set()

    def _entry(self, name, mode, content):
        fields = [len(self.names) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.bytes += b"070701" + b"".join(b"%08x" % field for field in fields)
        for data in [name.encode() + b"\0", content]:
            self.bytes += data
            self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.names.add(name)

    def add_folder(self, name):
        parts = name.split("/")
        for i in range(1, len(parts) + 1):
            path = "/".join(parts[:i])
            if path and path not in self.names:
                self._entry(path, stat.S_IFDIR | 0o755, b"")

    def add(self, name, content, mode=0o755):
        self.add_folder(os.path.dirname(name))
        if name not in self.names:
            self._entry(name, stat.S_IFREG | mode, content)

    def end(self):
        self._entry("TRAILER!!!", 0, b"")
        return bytes(self.bytes)


def make_initramfs(root, init, programs, wanted_modules):
    archive = Archive()
    for folder in ["proc", "sys", "dev", "run", "srv", "mnt", "tmp", "etc", "bin", "sbin"]:
        archive.add_folder(folder)
    archive.add("init", init)
    archive.add("bin/busybox", find_program(root, "busybox").read_bytes())
    for program in programs:
        archive.add(f"sbin/{program.name}", program.read_bytes())
        for library in libraries(root, program):
            loader = library.name.startswith("ld-linux")
            archive.add(f"lib64/{library.name}" if loader else f"lib/{library.name}",
                        library.read_bytes())
    found = modules(root, wanted_modules)
    for name, content in found.items():
        archive.add(f"modules/{name}.ko", content)
    archive.add("modules/order", "".join(f"{name}.ko\n" for name in found).encode())
    for name in ["etc/netconfig", "etc/protocols", "etc/services"]:
        for path in [root / name, pathlib.Path("/") / name]:
            if path.exists():
                archive.add(name, path.read_bytes(), 0o644)
                break
    archive.add("etc/passwd", b"root:x:0:0:root:/:/bin/sh\n", 0o644)
    archive.add("etc/hosts", b"127.0.0.1 localhost\n", 0o644)
    return archive.end()


def boot(root, initramfs, options, log, seconds):
    """Runs the machine to its end; what it has printed. Without KVM: in a machine that is virtual
    itself it may stand still."""
    kernel = max(root.glob("boot/vmlinuz-*"), default=None)
    qemu = shutil.which("qemu-system-x86_64")
    if not kernel or not qemu:
        raise Unavailable("there is no " + ("qemu-system-x86_64" if kernel else "kernel"))
    subprocess.run([qemu, "-machine", "accel=tcg", "-smp", "2", "-m", "2048", "-nographic",
                    "-nodefaults", "-no-reboot", "-serial", f"file:{log}", "-kernel", kernel,
                    "-initrd", initramfs, "-append", f"console=ttyS0 quiet panic=1 {options}"],
                   timeout=seconds, check=True)
    return log.read_text(errors="replace")
