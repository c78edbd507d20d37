# SPDX-License-Identifier: MIT
"""Slurm on one node, for as long as a program runs: COMMAND + [FOLDER, PROGRAM, ARGUMENT ...] ends with its status.

The daemons are those of the system, with a configuration and a key of their own. They run in namespaces of processes
and of the network, which needs root: their ports are of a loopback interface that nothing else has, and all that was
started ends with the first process in there, which dies with the one that started it. FOLDER, of a short name and
empty, gets their state. Tasks that end with status 75 are run again."""
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

NAMESPACES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
COMMAND = [*NAMESPACES, sys.executable, __file__]
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol"]
PATH = f"{os.environ['PATH']}:/usr/sbin"
SECONDS = 60  # until the node takes jobs: 2 as a rule

# Four tasks at once, however many processors there are. Where none waits, Slurm would look for tasks once a minute;
# those that are to run again wait until their first credential has expired.
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
RequeueExit=75
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes={host} Default=YES
"""


def raise_loopback():
    """With a second address: getaddrinfo(), as Slurm calls it, takes an interface that has 127.0.0.1 alone for none."""
    set_flags, up_and_running, set_address = 0x8914, 0x41, 0x8916  # SIOCSIFFLAGS; IFF_UP | IFF_RUNNING; SIOCSIFADDR
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up_and_running))
        fcntl.ioctl(any_socket, set_address, struct.pack("16sH2x4s8x", b"lo:1", socket.AF_INET, bytes([127, 0, 0, 2])))


def answer(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class Node:
    def __init__(self, folder):
        self.folder, self.daemons = folder, {}

    def start(self, *command, until):
        name = command[0]
        # The preloaded runtime of the sanitizers, if any, is for jobs, which have the environment of sbatch.
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        with open(self.folder / f"{name}.log", "w") as log:
            self.daemons[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  env=environment)
        end = time.monotonic() + SECONDS
        while not until():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self.daemons.values()):
                sys.exit("".join(f"{log.name}:\n{log.read_text()}" for log in self.folder.glob("*.log")))
            time.sleep(0.05)

    def start_all(self):
        folder, host = self.folder, socket.gethostname().split(".")[0]
        for name in "state", "spool":
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host))
        os.environ.update(SLURM_CONF=str(folder / "slurm.conf"), PATH=PATH)
        (folder / "key").touch(0o600)
        (folder / "key").write_bytes(os.urandom(128))
        # --force: FOLDER is for its owner alone, which munged would warn of.
        self.start("munged", "--foreground", "--force", f"--socket={folder}/munge", f"--key-file={folder}/key",
                   f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/seed", "--origin=127.0.0.1",
                   until=(folder / "munge").exists)
        self.start("slurmctld", "-D", until=lambda: " is UP" in answer("scontrol", "ping"))
        self.start("slurmd", "-D", until=lambda: answer("sinfo", "-h", "-o", "%t").strip() == "idle")


if __name__ == "__main__":
    raise_loopback()
    Node(Path(sys.argv[1])).start_all()
    sys.exit(subprocess.call(sys.argv[2:]))
