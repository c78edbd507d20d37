# SPDX-License-Identifier: MIT
"""http2_server.py in an environment of its own, for tests; they skip where hypercorn cannot be had."""
import contextlib
import json
import pathlib
import ssl
import subprocess
import urllib.request

import venvs

PROGRAM = pathlib.Path(__file__).with_name("http2_server.py")


class Server:
    def __init__(self, url, certificate):
        self.url, self.ca_file = url, certificate

    def take_log(self):
        """The requests since the last call: (path, version of HTTP, connection) of each."""
        context = ssl.create_default_context(cafile=self.ca_file)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=context))
        with opener.open(f"{self.url}/.log") as reply:
            return [tuple(request) for request in json.load(reply)]


@contextlib.contextmanager
def serve(folder, certificate, key, *options):
    python = venvs.venv("hypercorn", "hypercorn")
    with subprocess.Popen([python, PROGRAM, folder, certificate, key, *options], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=venvs.ENVIRONMENT) as process:
        try:
            yield Server(process.stdout.readline().strip(), certificate)
        finally:
            process.stdin.close()
