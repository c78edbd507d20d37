# SPDX-License-Identifier: MIT
"""Fetches what sources.tsv names into a folder, checks each sum, and unpacks it: FOLDER/NAME.

The packages come by the ordinary clients (apt-get, cargo, pip), from where these are set up to ask. apt-get gets lists
and settings of its own below the folder, so that the machine's are not changed and root is not needed. What is there
already, with the sum that the table names, is not fetched again."""
import csv
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

TABLE = pathlib.Path(__file__).with_name("sources.tsv")
COLUMNS = ("name", "kind", "release", "package", "architecture", "folder", "sha256", "licence", "licence_files")


class Failed(Exception):
    """A package that cannot be had, or is another one than the table names."""


def sources():
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return [dict(zip(COLUMNS, row, strict=True)) for row in csv.reader(lines, delimiter="\t")]


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command[:2]))} ... {command[-1]}: {done.stdout.strip()[-600:]}")
    return done.stdout


def check(path, source):
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != source["sha256"]:
        raise Failed(f"{path.name} has the SHA-256 {found}, and sources.tsv names {source['sha256']}")


class Apt:
    """apt-get with a configuration of its own, of the releases that the table names."""

    def __init__(self, folder, releases):
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        self.options = [
            "-qq", "-o", f"Dir::Etc::SourceList={folder / 'sources.list'}", "-o", "Dir::Etc::SourceParts=/dev/null",
            "-o", "Dir::Etc::Preferences=/dev/null", "-o", "Dir::Etc::PreferencesParts=/dev/null",
            "-o", f"Dir::State::Lists={folder / 'lists'}", "-o", f"Dir::State::status={folder / 'status'}",
            "-o", f"Dir::Cache={folder / 'cache'}", "-o", "APT::Architecture=amd64",
            "-o", "APT::Architectures=amd64,arm64", "-o", "APT::Sandbox::User=",
            "-o", "Acquire::Check-Valid-Until=false", "-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"]
        mirror = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
                     "Component: main").split()
        plain = [line for line in mirror if "security" not in line]
        if not plain:
            raise Failed("apt-get knows no mirror of Debian")
        signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
        (folder / "sources.list").write_text("".join(
            f"{kind} {signed} {plain[-1]} {release} main\n" for release in releases for kind in ("deb", "deb-src")))

    def __call__(self, *command):
        """Runs it in a new folder, which it returns. apt-get's lists are brought up to date where it fails without."""
        into = self.folder / "fetched"
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir()
        try:
            run("apt-get", *self.options, *command, cwd=into)
        except Failed:
            run("apt-get", *self.options, "update")
            try:
                run("apt-get", *self.options, *command, cwd=into)
            except Failed as failed:
                raise Failed(f"{failed}\nWhere Debian has gone on to another version, look at what it changed and put "
                             "its version and sum into sources.tsv.") from None
        return into


def fetch_sources(rows, apt, unpack):
    folder = apt("source", "--download-only", *(source["package"] for source in rows))
    for source in rows:
        name, version = source["package"].split("=")
        dsc, = folder.glob(f"{name}_{version.split(':')[-1]}.dsc")
        check(dsc, source)
        unpack(source, lambda into, dsc=dsc: run("dpkg-source", "--no-copy", "-x", dsc, into))


def fetch_debs(rows, apt, unpack):
    """One architecture at a time, since the names of packages are the same."""
    for architecture in sorted({source["architecture"] for source in rows}):
        some = [source for source in rows if source["architecture"] == architecture]
        packages = [source["package"].replace("=", f":{architecture}=") for source in some]
        folder = apt("download", *packages)
        for source in some:
            deb, = folder.glob(f"{source['package'].split('=')[0]}_*_{architecture}.deb")
            check(deb, source)
            unpack(source, lambda into, deb=deb: run("dpkg-deb", "-x", deb, into))


def fetch_crates(rows, scratch, unpack):
    """cargo fetches what a package asks for; none of it is built."""
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "src").mkdir(parents=True)
    (scratch / "src/lib.rs").touch()
    wanted = [source["package"].split("=") for source in rows]
    (scratch / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n' + "".join(
            f'{name} = {{ version = "={version.split("+")[0]}", default-features = false }}\n'
            for name, version in wanted))
    run("cargo", "fetch", "--quiet", cwd=scratch, env={**os.environ, "CARGO_HOME": str(scratch / "home")})
    for source, (name, version) in zip(rows, wanted):
        crate, = scratch.glob(f"home/registry/cache/*/{name}-{version}.crate")
        check(crate, source)

        def extract(into, crate=crate):
            with tarfile.open(crate) as archive:
                archive.extractall(scratch / "unpacked", filter="data")
            (scratch / "unpacked" / crate.stem).rename(into)

        unpack(source, extract)
    shutil.rmtree(scratch)


def fetch_pip(source, scratch, into):
    shutil.rmtree(scratch, ignore_errors=True)
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check", "-d", scratch,
        source["package"])
    wheel, = scratch.glob("*.whl")
    check(wheel, source)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    shutil.rmtree(scratch)


def fetch(folder, wanted):
    """Fetches the sources whose names are in `wanted`; returns their rows as {name: row}."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {source["name"]: source for source in sources() if source["name"] in wanted}

    def mark(source):
        return folder / f"{source['name']}.sha256"

    def unpack(source, into_folder):
        into = folder / source["name"]
        shutil.rmtree(into, ignore_errors=True)
        into_folder(into)
        mark(source).write_text(source["sha256"])

    missing = {}
    for source in rows.values():
        if not mark(source).exists() or mark(source).read_text() != source["sha256"]:
            missing.setdefault(source["kind"], []).append(source)
            print("to fetch:", source["package"], flush=True)
    if "source" in missing or "deb" in missing:
        apt = Apt(folder / "apt", sorted({source["release"] for source in sources()} - {"-"}))
        if "source" in missing:
            fetch_sources(missing["source"], apt, unpack)
        if "deb" in missing:
            fetch_debs(missing["deb"], apt, unpack)
        shutil.rmtree(apt.folder / "fetched")
    if "crate" in missing:
        fetch_crates(missing["crate"], folder / "cargo", unpack)
    for source in missing.get("pip", []):
        unpack(source, lambda into, source=source: fetch_pip(source, folder / "pip", into))
    return rows
