# SPDX-License-Identifier: MIT
"""Running programs of others on stores on the network. They are processes of their own: a Python that waits
in the HDF5 library would hold the lock that the test's server needs."""

import os
import subprocess

import forked

# Of a failure that tests wait for. A server that answers gets all the time that it needs: this process and
# that of a test may stand still for seconds on a busy machine.
HASTY = {"ZARRBRIDGE_REMOTE_TRIES": "2"}
# Of one that hangs, whose error takes twice these seconds.
IMPATIENT = HASTY | {"ZARRBRIDGE_REMOTE_STALL_SECONDS": "5"}


def changed(variables):
    """The environment with these; one that is None is taken out of it."""
    env = os.environ | {k: str(v) for k, v in variables.items()}
    for name in [name for name, value in variables.items() if value is None]:
        del env[name]
    return env


def run(*command, cwd=None, **variables):
    """The result of subprocess.run."""
    return subprocess.run([str(word) for word in command], env=changed(variables), cwd=cwd, timeout=600,
                          capture_output=True, text=True, check=False)


def run_python(code, *arguments, cwd=None, **variables):
    """The same of Python code, in a process that is forked from one that has loaded neither plugin."""
    return forked.run(code, *arguments, env=changed(variables), cwd=cwd, timeout=600)


def succeeded(done):
    """Its output."""
    assert done.returncode == 0, f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def output(*command, **options):
    """Of a program that must succeed."""
    return succeeded(run(*command, **options))


def python(code, *arguments, **options):
    """The output of Python code that must succeed."""
    return succeeded(run_python(code, *arguments, **options))


def asked(server):
    """The paths of the requests since the last call, in order."""
    return [request.path for request in server.take_log()]
