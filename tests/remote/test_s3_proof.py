# SPDX-License-Identifier: MIT
"""Eight programs write one shard in S3 at the same time, strip by strip, by two servers of one bucket: nothing
of any of them is lost. ZARRBRIDGE_PROOF="RUNS MEGABYTES" makes RUNS / 2 rounds."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import zarr

from length import by_length
from remote_store import RemoteStore

HERE = Path(__file__).resolve().parent
ROUNDS = max(1, int(os.environ.get("ZARRBRIDGE_PROOF", by_length("2", "6", "200")).split()[0]) // 2)
WRITERS, STRIPS = 8, 10

# Writes every eighth row of the array that a line of the input names, one flush for each. A flush that
# found the object changed too often is done again, as docs/remote.md says.
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from length import by_length
from remote_store import RemoteStore, Writer, ZarrbridgeError
first, writers, strips = map(int, sys.argv[2:])
for line in sys.stdin:
    errors = 0
    with RemoteStore("s3://bucket/x.zarr") as store, Writer(store, line.strip()) as writer:
        for row in range(first, writers * strips, writers):
            writer.write((row, 0), (1, 1), np.full((1, 64), row + 1, "i4"))
            while True:
                try:
                    writer.flush()
                    break
                except ZarrbridgeError as error:
                    if "another program has changed" not in str(error):
                        raise
                    errors += 1
    print(errors, flush=True)
"""


class Server:
    """A process."""

    def __init__(self, folder):
        self.process = subprocess.Popen([sys.executable, HERE / "sims3.py", folder], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def conflicts(self):
        with urllib.request.urlopen(self.url + "/.count") as reply:
            return json.load(reply)["conflicts"]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def start_writer(number, url):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, HERE, *map(str, (number, WRITERS, STRIPS))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        env=os.environ | {"AWS_ENDPOINT_URL": url})


def test_no_strip_is_lost(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": tmp_path, "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}.items():
        monkeypatch.setenv(name, str(value))
    bucket = tmp_path / "served/bucket"
    bucket.mkdir(parents=True)
    servers = [Server(tmp_path / "served") for _ in range(2)]
    monkeypatch.setenv("AWS_ENDPOINT_URL", servers[0].url)
    writers = [start_writer(i, servers[i % 2].url) for i in range(WRITERS)]
    lost = errors = conflicts = 0
    try:
        with RemoteStore("s3://bucket/x.zarr") as store:
            store.create_group("")
            for number in range(ROUNDS):
                name, rows = f"a{number}", WRITERS * STRIPS
                store.create_array(name, (rows, 64), (1, 64), "<i4", shards=(rows, 64))
                for writer in writers:
                    writer.stdin.write(name + "\n")
                errors += sum(int(writer.stdout.readline()) for writer in writers)
                found = zarr.open_array(bucket / "x.zarr" / name, mode="r")[...]
                conflicts += sum(server.conflicts() for server in servers)
                lost += int(np.any(found != np.arange(1, rows + 1)[:, None], axis=1).sum())
    finally:
        for writer in writers:
            writer.stdin.close()
        for process in writers:
            process.wait()
        for server in servers:
            server.stop()
    print(f"{ROUNDS} rounds of {WRITERS * STRIPS} strips: {lost} lost, {conflicts} conflicts, {errors} flushes done again")
    assert lost == 0 and conflicts
