# SPDX-License-Identifier: MIT
"""A library in a process of its own, for versions that do not fit into that of the tests:

    PYTHON diff_serve.py zarr-python|gdal

answers requests, one line of JSON each, as diff_served.py sends them. The first line that it writes
says what the library has.
"""

import base64
import json
import sys
import types

import diff_gdal
import diff_peers
import numpy as np
from pathlib import Path

KINDS = {"zarr-python": diff_peers.ZarrPython, "gdal": diff_gdal.Gdal}


def packed(values):
    values = np.asarray(values)
    if values.dtype.kind in "OT":
        # zarr-python 3.0 wraps a text without dimensions in an array once more.
        texts = [str(v) for v in values.astype(object).ravel()]
        return {"shape": values.shape, "texts": texts}
    data = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return {"shape": values.shape, "dtype": values.dtype.newbyteorder("<").str,
            "data": base64.b64encode(data).decode()}  # fmt: skip


def main(name):
    out, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints
    try:
        peer = KINDS[name]()
    except diff_peers.Absent as absent:
        print(json.dumps({"absent": str(absent)}), file=out, flush=True)
        return
    hello = {"name": peer.name, "version": peer.version, "types": sorted(peer.types - {"bytes"}),
             "codecs": sorted(peer.codecs), "keys": sorted(peer.keys), "v2": peer.v2,
             "rectilinear": peer.rectilinear, "lacks": peer.lacks,
             "v2_codecs": sorted(peer.v2_codecs)}  # fmt: skip
    print(json.dumps(hello), file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            windows = [tuple(map(tuple, window)) for window in request["windows"]]
            case = types.SimpleNamespace(**request["case"])
            answer = [packed(v) for v in peer.read(Path(request["path"]), windows, case)]
        except Exception as error:  # the tests judge every error
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
