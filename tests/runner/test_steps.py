# SPDX-License-Identifier: MIT
"""tools/test: a step that cannot be taken on a machine is counted and says why; one that can be taken
and fails ends the run. tools/test-in: when a chroot is made. The programs that these call are stand-ins here."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support")
from waiting import await_call  # noqa: E402

TOOLS = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "tools"


class Machine:
    """A checkout with the real tools/test, and stand-ins for what it calls."""

    def __init__(self, folder):
        self.root, self.bin = folder / "checkout", folder / "bin"
        (self.root / "tools").mkdir(parents=True)
        self.bin.mkdir()
        for name in ("test", "format", "lib.sh"):
            shutil.copy(TOOLS / name, self.root / "tools")
        (self.root / ".clang-format-ignore").write_text("# none\n\n")
        for name in ("core", "hdf5-vol", "gdal-driver", "tests"):
            (self.root / name).mkdir()
            (self.root / name / "a.c").write_text("int a;\n")
        self.tool("install-deps", "exit 0")
        self.tool("test-in", "exit 0")
        self.program("id", "echo 0")
        self.program("python", "exit 0")
        self.program("clang-format-19", "[ $1 != --version ] || echo version 19.1.7")
        self.program("unshare", 'while [[ $1 = -* ]]; do shift; done; exec "$@"')

    def tool(self, name, text):
        self._script(self.root / "tools" / name, text)

    def program(self, name, text):
        self._script(self.bin / name, text)

    def _script(self, path, text):
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def start(self, *steps, environment=os.environ):
        environment = {**environment, "PATH": f"{self.bin}:{os.environ['PATH']}",
                       "ZARRBRIDGE_PYTHON": "python", "CC": str(self.bin / "compiler")}
        return subprocess.Popen([self.root / "tools" / "test", *steps], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test(self, *steps, **options):
        """The exit status and the output, its last lines apart from the rest."""
        with self.start(*steps, **options) as running:
            output = running.communicate()[0]
        head, _, tail = output.partition("\n== Steps: ")
        return running.returncode, head, tail.splitlines()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_what_passes_is_counted(machine):
    status, _, end = machine.test("format", "forky")
    assert status == 0 and end == ["2 of 2 passed, 0 skipped"]


@pytest.mark.parametrize("name, step", [("ctest", "release"), ("test-in", "forky")])
def test_with_all_the_steps_behind_one_that_fails_are_taken(machine, name, step):
    for program in ("cmake", "ninja", "ctest"):
        machine.program(program, CONFIGURES)
    place = machine.tool if name == "test-in" else machine.program
    place(name, '[[ $* != *" plugins" && $* != *"preset release -j"* ]]')
    status, head, end = machine.test("--all", "release", "format", "forky", "asan")
    assert status == 1 and "All files are formatted" in head and "\n== Tests: asan" in head
    assert end == ["3 of 4 passed, 0 skipped", f"Failed: {step}"]
    status, head, end = machine.test(step, "format")
    assert status != 0 and "All files are formatted" not in head and not end


def test_ten_of_many_entries_are_shown(machine):
    """More lines than a pipe takes: a reader that leaves after ten ends the writer, and the script with 141."""
    machine.program("cmake", "mkdir -p build/release/Testing/Temporary; : >build/release/Testing/Temporary/LastTest.log")
    entries = "".join(f'<testcase name="entry/{number}" time="{number}.5">\n' for number in range(9000))
    (machine.root / "entries").write_text(entries)
    machine.program("ctest", 'while [ $# -gt 0 ]; do [ "$1" != --output-junit ] || cp entries "$2"; shift; done')
    status, head, end = machine.test("release")
    slowest = re.findall(r"^ +([0-9.]+) s  release +entry/(\d+)$", head, re.MULTILINE)
    assert status == 0 and slowest == [(f"{number}.5", str(number)) for number in range(8999, 8989, -1)]


def test_no_reader_of_a_pipe_leaves_early():
    """head, grep -q and sed's q end the program that writes, and pipefail makes that a failure, now and then."""
    scripts = [path for path in [*TOOLS.iterdir(), *(TOOLS.parent / "tests").rglob("*.sh"), TOOLS.parent / ".ci" / "run"]
               if path.is_file() and "pipefail" in path.read_text(encoding="utf-8", errors="replace")]
    assert TOOLS / "test" in scripts
    early = re.compile(r"\|\s*(head|grep -[a-zA-Z]*[qm]|sed [^|]*\bq\b)")
    assert not [(path.name, line) for path in scripts for line in path.read_text(encoding="utf-8").splitlines()
                if early.search(line)]


FAILS = 'echo "E: no network" >&2; exit 1'
NO_FORMATTER = "echo version 20.1.0"


@pytest.mark.parametrize("step, name, text, reason", [
    ("format", "install-deps", FAILS, "no clang-format 19: E: no network"),
    ("forky", "install-deps", FAILS, "no debootstrap: E: no network"),
    ("forky", "test-in", FAILS, "no chroot: E: no network"),
    ("forky", "test-in", '[ "$2" = true ] || { ' + FAILS + "; }", "no chroot: E: no network"),
    ("forky", "test-in", f"echo '{FAILS}' >tools/install-deps; shift; exec \"$@\"",
     "its packages cannot be had: E: no network"),
    ("forky", "unshare", FAILS, "no chroot: E: no network"),
])
def test_what_cannot_be_had_is_skipped(machine, step, name, text, reason):
    machine.program("clang-format-19", NO_FORMATTER)
    machine.program("clang-format", NO_FORMATTER)
    if name == "unshare":
        machine.program(name, text)
    else:
        machine.tool(name, f"[ $# -gt 0 ] || exit 0\n{text}")  # the list of packages itself is there
    status, _, end = machine.test(step)
    assert status == 0 and end == ["0 of 1 passed, 1 skipped", f"{step}: {reason}"]


def test_a_user_makes_no_chroot(machine):
    machine.program("id", "echo 1000")
    assert machine.test("format", "forky")[2] == [
        "1 of 2 passed, 1 skipped", "forky: a chroot needs root"]


def test_programs_with_the_thread_sanitizer_may_not_start(machine):
    machine.program("compiler", f'''
while [ $1 != -o ]; do shift; done
cp {machine.bin}/program $2''')
    machine.program("program", 'echo "FATAL: unexpected memory mapping" >&2; exit 66')
    assert machine.test("tsan")[2] == [
        "0 of 1 passed, 1 skipped",
        "tsan: programs with the thread sanitizer do not start: FATAL: unexpected memory mapping"]


def test_the_compiler_may_lack_the_thread_sanitizer(machine):
    machine.program("compiler", 'echo "cannot find -ltsan" >&2; exit 1')
    assert machine.test("tsan")[2] == [
        "0 of 1 passed, 1 skipped",
        "tsan: the compiler makes no programs with the thread sanitizer: cannot find -ltsan"]


def test_tests_that_fail_in_the_chroot_fail(machine):
    machine.tool("test-in", '[ "$3" != plugins ]')
    status, head, end = machine.test("forky", "format")
    assert status != 0 and "== Format" not in head and end == []


WAITS = "for i in {{1..6000}}; do [ ! -e {0} ] || break; sleep 0.05; done"
FORMATS = "[ $1 != --version ] || {{ echo version 19.1.7; exit; }}\n{0}"


def test_the_chroot_is_made_beside_the_steps_before(machine):
    log = machine.root / "log"
    machine.tool("install-deps", f'echo "packages $*" >>{log}')
    machine.tool("test-in", f'echo noise; [ "$2" != true ] || {WAITS.format("formatted")}\n'
                            f'echo "$*" >>{log}')
    machine.program("clang-format-19", FORMATS.format(f"echo format >>{log}; touch formatted"))
    status, head, end = machine.test("format", "forky")
    assert status == 0 and end == ["2 of 2 passed, 0 skipped"]
    assert log.read_text().splitlines() == [
        "packages ", "packages debootstrap debian-archive-keyring 2025.1", "format", "forky true",
        "forky bash -c tools/install-deps || exit 3; tools/install-deps qgis python3-qgis; tools/test build-plugins || true", "forky tools/test plugins"]
    # That of the tests alone.
    assert head.count("noise") == 1 and head.index("== Format") < head.index("noise")


CONFIGURES = "for name in release asan; do\nmkdir -p build/$name/Testing/Temporary; touch $_/LastTest.log\ndone\n"


@pytest.mark.parametrize("status", [0, 1])
def test_later_steps_are_built_beside_the_tests(machine, status):
    """A step builds again what could not be built ahead of it."""
    log = machine.root / "log"
    machine.program("cmake", CONFIGURES + f'''
[ $1 = --preset ] && echo "configure $2" >>{log} || echo "build $3" >>{log}''')
    machine.program("ninja", f'echo "build ahead: $2" >>{log}; touch ahead; exit {status}')
    machine.program("ctest", f'[[ $* = *" -N "* ]] || {{ {WAITS.format("ahead")}; echo "test $2" >>{log}; }}')
    done, _, end = machine.test("release", "asan")
    assert done == 0 and end == ["2 of 2 passed, 0 skipped"]
    assert log.read_text().splitlines() == [
        "configure release", "build release", "configure asan", "build ahead: build/asan", "test release",
        "configure asan", "build asan", "test asan"]


@pytest.mark.parametrize("rest, ended", [("exit 0", 0), ("exec sleep 1000", 1)])
def test_a_build_is_ended_once_and_only_while_it_runs(machine, rest, ended):
    """Its process id may be that of another program later."""
    log, ahead = machine.root / "log", machine.root / "ahead"
    log.touch()
    machine.program("cmake", CONFIGURES)
    machine.program("ninja", f"echo $$ >{ahead}.new; mv {ahead}.new {ahead}; {rest}")
    gone = f"{WAITS.format(ahead)}; for i in {{1..6000}}; do [ -e /proc/$(<{ahead}) ] || break; sleep 0.05; done"
    machine.program("ctest", WAITS.format(ahead) if ended else gone)
    kill = {"BASH_FUNC_kill%%": f'() {{ echo "$*" >>{log}; builtin kill "$@"; }}'}
    status, _, end = machine.test("release", "asan", "asan", environment=os.environ | kill)
    assert status == 0 and end == ["3 of 3 passed, 0 skipped"]
    assert log.read_text() == ahead.read_text() * ended


@pytest.mark.parametrize("available, free, mount, there", [
    (1 << 40, 1 << 40, "exit 1", True), (1 << 40, 1000, "exit 0", True), (1 << 40, 1000, "exit 1", False),
    (1000, 1 << 40, "exit 0", False)])
def test_files_are_in_memory_where_there_is_room(machine, available, free, mount, there):
    """Of all steps, but for a part of the release with --all; in a file system of their own where that of the
    machine is small."""
    memory = machine.root / "memory"
    memory.mkdir()
    place = str(memory) if there else ""
    machine.program("nproc", "echo 1")  # what is needed grows with it
    machine.program("awk", f"[[ $1 != *MemAvailable* ]] || echo {available}")  # in KiB
    machine.program("df", f"echo Avail; echo {free}")
    machine.program("mount", mount)
    for name in ("cmake", "ninja"):
        machine.program(name, CONFIGURES)
    machine.program("ctest", '[[ $* = *" -N "* ]] || echo "place=${TMPDIR-}"')
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    environment["ZARRBRIDGE_MEMORY"] = str(memory)
    for options, places in ([], [place, place]), (["--all"], ["", place, place]):
        status, head, _ = machine.test(*options, "release", "asan", environment=environment)
        assert status == 0 and re.findall("^place=(.*)$", head, re.MULTILINE) == places


MUCH = 1 << 40  # KiB


@pytest.mark.parametrize("limit, room", [
    ([], True),
    (["max", 1 << 30], True),
    ([1 << 40, 1 << 30], True),
    ([1 << 30, 1 << 29], False),
    ([1 << 40, 1 << 40], False),
    (["inactive_file 4096", f"total_inactive_file {1 << 39}", 1 << 40, 1 << 40], True),
])
def test_the_limit_of_a_container_bounds_the_memory(machine, limit, room):
    """As its control group has it: the limit, and what is used. What is cached of the disk can be dropped."""
    machine.program("nproc", "echo 1")
    machine.program("df", "echo Avail; echo $((1 << 40))")
    lines = [f"MemAvailable: {MUCH} kB", "HugePages_Total: 0", *map(str, limit)]
    machine.program("cat", "\n".join(f"echo {line}" for line in lines))
    machine.program("cmake", CONFIGURES)
    machine.program("ctest", '[[ $* = *" -N "* ]] || echo "place=${TMPDIR-}"')
    memory, disk = str(machine.root / "memory"), str(machine.root)
    os.mkdir(memory)
    status, head, _ = machine.test(
        "asan", environment=os.environ | {"TMPDIR": disk, "ZARRBRIDGE_MEMORY": memory})
    assert status == 0 and re.findall("^place=(.*)$", head, re.MULTILINE) == [memory if room else disk]
    assert f"\nTemporary files: {f'in memory, in {memory}' if room else f'on the disk, in {disk}'}\n" in head


REPORT = """<testcase name="{0}" classname="{0}" time="{1}" status="run">"""


def test_the_end_tells_what_took_long_and_what_was_left_out(machine):
    for name in ("cmake", "ninja"):
        machine.program(name, CONFIGURES)
    reports = "\n".join(REPORT.format(f"entry{number}", number + 0.25) for number in range(12))
    machine.program("ctest", f"""
for word; do [[ $word != *.xml ]] || cat >"$word" <<<'{reports}'; done
[[ $* != *" -N "* ]] || printf '  Test  #1: one\\n  Test #12: two_two\\n'""")
    status, head, _ = machine.test("release")
    assert status == 0
    slowest = head.partition("\n== Slowest entries\n")[2].splitlines()[:10]
    assert slowest == [f"{number + 0.2:8.1f} s  release  entry{number}" for number in range(11, 1, -1)]
    assert "\n2 of release: one two_two\nRandom tests at length\nThe step forky\n" in head
    status, head, end = machine.test("--all", "release")
    assert status == 0 and "Left out" not in head and "Seed: ZARRBRIDGE_SEED=" in head
    assert re.search(r"\n== Times\nPackages \d+:\d\d\n  of which building \d+:\d\d\nrelease \d+:\d\d\nall ", head)


def test_all_makes_random_tests_long_with_a_seed_of_their_own(machine):
    machine.program("cmake", CONFIGURES)
    machine.program("ctest", 'echo "$ZARRBRIDGE_TEST_LENGTH $ZARRBRIDGE_SEED"')
    given = os.environ | {"ZARRBRIDGE_SEED": "71"}
    assert "\nlong 71\n" in machine.test("--all", "release", environment=given)[1]
    free = {name: value for name, value in os.environ.items() if name != "ZARRBRIDGE_SEED"}
    seeds = {re.search("^long (.*)$", machine.test("--all", "release", environment=free)[1], re.MULTILINE)[1]
             for _ in range(3)}
    assert len(seeds) > 1


def test_steps_without_a_chroot_make_none(machine):
    machine.tool("test-in", "touch called")
    assert machine.test("format")[0] == 0 and not (machine.root / "called").exists()


def wait_until(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_free(lock):
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("how", ["a step fails", signal.SIGTERM, signal.SIGKILL])
def test_no_chroot_is_made_when_the_run_has_ended(machine, how):
    """The stand-in for debootstrap holds a lock for as long as one of its processes lives."""
    (machine.bin / "unshare").unlink()
    if subprocess.run(["unshare", "--mount-proc", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    lock, held, end = (machine.root / name for name in ("lock", "held", "end"))
    machine.tool("test-in", f"exec 9>{lock}; flock 9; touch {held}; sleep 1000")
    machine.program("clang-format-19", FORMATS.format(WAITS.format(end) + "; exit 1"))
    with machine.start("format", "forky") as running:
        wait_until(held.exists)
        assert not is_free(lock)
        if how == "a step fails":
            end.touch()
        else:
            running.send_signal(how)
        assert running.wait(300) != 0
        end.touch()  # the formatter goes on, as a child of nobody
        wait_until(lambda: is_free(lock))


@pytest.fixture
def chroot(machine):
    """The real tools/test-in; the log has a line for each chroot that is made, and for each command."""
    shutil.copy(TOOLS / "test-in", machine.root / "tools")
    machine.program("apt-get", "echo mirror")
    machine.program("git", r"printf 'tools/test\0'")
    machine.program("debootstrap", """
mkdir -p $3/etc/apt/apt.conf.d $3/etc/dpkg/dpkg.cfg.d $3/var/lib/dpkg/updates
echo installed >$3/var/lib/dpkg/states
echo make >>log""")
    machine.program("dpkg-query", 'cat "${1#--admindir=}/states"')
    machine.program("unshare", "echo run >>log")
    return machine


def enter(machine):
    environment = {**os.environ, "PATH": f"{machine.bin}:{os.environ['PATH']}"}
    return subprocess.Popen([machine.root / "tools" / "test-in", "forky", "true"], env=environment)


@pytest.mark.parametrize("change, made", [
    ("true", []),
    ("rm complete", ["make"]),
    ("touch var/lib/dpkg/updates/0001", ["make"]),
    ("echo half-installed >>var/lib/dpkg/states", ["make"]),
    ("echo triggers-pending >>var/lib/dpkg/states", ["make"]),
    ("echo config-files >>var/lib/dpkg/states", []),
    ("rm var/lib/dpkg/states", ["make"]),
])
def test_a_chroot_that_is_not_whole_is_made_anew(chroot, change, made):
    assert enter(chroot).wait(300) == 0
    subprocess.run(change, shell=True, check=True, cwd=chroot.root / "build" / "in-forky")
    assert enter(chroot).wait(300) == 0
    assert (chroot.root / "log").read_text().split() == ["make", "run", *made, "run"]


def test_a_new_chroot_has_the_given_files_and_ends_with_the_command(chroot):
    """It is a copy of one that no command has been in."""
    (chroot.root / "debs").mkdir()
    (chroot.root / "debs" / "x.deb").touch()
    chroot.program("unshare", "ls build/base-forky.copy/zarrbridge/build/given >>log; "
                   "touch build/base-forky.copy/used; exit 3")
    environment = {**os.environ, "PATH": f"{chroot.bin}:{os.environ['PATH']}"}
    for _ in range(2):
        done = subprocess.run([chroot.root / "tools/test-in", "--fresh", "debs", "forky", "true"], env=environment,
                              check=False)
        assert done.returncode == 3
    assert (chroot.root / "log").read_text().split() == ["make", "x.deb", "x.deb"]
    assert not (chroot.root / "build/base-forky.copy").exists()
    assert not (chroot.root / "build/base-forky/used").exists()
    assert not (chroot.root / "build/in-forky").exists()


def test_runs_in_one_chroot_wait_for_each_other(chroot):
    lock, end = chroot.root / "build" / "in-forky.lock", chroot.root / "end"
    chroot.program("unshare", f"echo run >>log; touch runs; {WAITS.format(end)}; echo end >>log")
    with enter(chroot) as one:
        wait_until((chroot.root / "runs").exists)
        assert not is_free(lock)
        with enter(chroot) as two:
            await_call("flock", two)
            end.touch()
            assert one.wait(300) == two.wait(300) == 0
    assert (chroot.root / "log").read_text().split() == ["make", "run", "end", "run", "end"]


# The programs of this machine are in the chroot, by a mount.
DEBOOTSTRAP = """
mkdir -p $3/{dev,proc,run,sys,usr,etc/{apt/apt.conf.d,dpkg/dpkg.cfg.d},var/lib/dpkg/updates}
cp -P /bin /sbin /lib* $3
echo installed >$3/var/lib/dpkg/states"""
CHROOT = 'mount --rbind /usr "$1/usr"; exec /usr/sbin/chroot "$@"'


def test_a_command_in_a_chroot_can_mount_what_ends_with_it(chroot):
    """As tools/test does to have memory of its own."""
    (chroot.bin / "unshare").unlink()
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    if not Path("/bin").is_symlink():
        pytest.skip("the stand-in for debootstrap links /bin to /usr/bin")
    chroot.program("debootstrap", DEBOOTSTRAP)
    chroot.program("chroot", CHROOT)
    own = "mount -t tmpfs tmpfs /dev/shm; touch /dev/shm/mine; [ -e /sys/kernel ]"
    done = subprocess.run(
        [chroot.root / "tools" / "test-in", "forky", "unshare", "--mount", "bash", "-euc", own],
        env=os.environ | {"PATH": f"{chroot.bin}:{os.environ['PATH']}"}, check=False)
    assert done.returncode == 0 and not Path("/dev/shm/mine").exists()
    root = chroot.root / "build" / "in-forky"
    assert str(root) not in Path("/proc/self/mounts").read_text()
    assert not any(list((root / name).iterdir()) for name in ("dev", "proc", "run", "sys", "usr"))


def test_what_is_not_formatted_fails(machine):
    machine.program("clang-format-19", "[ $1 != --version ] || { echo version 19.1.7; exit; }\n"
                    "[[ $* = *--dry-run*core/a.c*gdal-driver/a.c*hdf5-vol/a.c*tests/a.c* ]] && exit 1")
    status, _, end = machine.test("format")
    assert status != 0 and end == []


def test_exempt_files_exist(machine):
    (machine.root / ".clang-format-ignore").write_text("# moved\ncore/b.c\n")
    status, head, end = machine.test("format")
    assert status != 0 and end == [] and "names core/b.c, which does not exist" in head


def test_what_is_missing_fails(machine):
    machine.tool("install-deps", FAILS)
    status, _, end = machine.test("format")
    assert status != 0 and end == []
