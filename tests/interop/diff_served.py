# SPDX-License-Identifier: MIT
"""The other side of diff_serve.py and diff_zarrita.mjs: a peer in a process of its own, which
reads."""

import base64
import json
import subprocess

import numpy as np
from diff_peers import Absent, Peer


class Served(Peer):
    """command: a list. inside: what stands in front of paths for a process with another root, in
    place of the first member of the pair."""

    def __init__(self, command, directory=None, inside=None):
        self.command, self.directory, self.inside = command, directory, inside
        self.process = None
        hello = self.start()
        if "absent" in hello:
            raise Absent(hello["absent"])
        self.name, self.version = hello["name"], hello["version"]
        self.types, self.codecs, self.keys = (set(hello[k]) for k in ("types", "codecs", "keys"))
        self.v2, self.rectilinear = hello["v2"], hello["rectilinear"]
        self.v2_codecs = set(hello.get("v2_codecs", []))
        self.lacks = hello.get("lacks", [])  # pairs: values of members of codecs

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.directory, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)  # fmt: skip
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"absent": "its process does not start"}

    def ask(self, request):
        if self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"the process of {self.name} has ended")
        return json.loads(line)

    def read(self, path, windows, case):
        path = str(path)
        if self.inside:
            path = path.replace(*self.inside, 1)
        about = {"type": None, "version": case.version}
        answer = self.ask({"path": path, "windows": windows, "case": about})
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return [self.values(item, case) for item in answer]

    def values(self, item, case):
        if "texts" in item:
            values = np.empty(len(item["texts"]), object)
            values[:] = item["texts"]
            return values.reshape(item["shape"])
        data = base64.b64decode(item["data"])
        return np.frombuffer(data, item["dtype"] or case.dtype).reshape(item["shape"])

    def close(self):
        self.process.stdin.close()
        self.process.wait()
