# SPDX-License-Identifier: MIT
"""Running programs of others on stores on the network. They are processes of their own: a Python that waits
in the HDF5 library would hold the lock that the test's server needs."""

import os
import subprocess
import sys

# Of a failure that tests wait for. A server that answers gets all the time that it needs: this process and
# that of a test may stand still for seconds on a busy machine.
HASTY = {"ZARRBRIDGE_REMOTE_TRIES": "2"}
# Of one that hangs, whose error takes twice these seconds.
IMPATIENT = HASTY | {"ZARRBRIDGE_REMOTE_STALL_SECONDS": "5"}


def run(*command, cwd=None, **environment):
    """The result of subprocess.run; a variable that is None is taken out of the environment."""
    env = os.environ | {k: str(v) for k, v in environment.items()}
    for name in [name for name, value in environment.items() if value is None]:
        del env[name]
    return subprocess.run([str(word) for word in command], env=env, cwd=cwd, timeout=600,
                          capture_output=True, text=True, check=False)


def output(*command, **options):
    """Of a program that must succeed."""
    done = run(*command, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def python(code, *arguments, **options):
    """The output of Python code that must succeed."""
    return output(sys.executable, "-W", "ignore", "-c", code, *arguments, **options)


def asked(server):
    """The paths of the requests since the last call, in order."""
    return [request.path for request in server.take_log()]
