# SPDX-License-Identifier: MIT
"""Known faults of the other libraries: the one list of what differential tests let pass.

A fault that a case meets is counted and printed. A fault that no case of a long run meets any more
is reported, too: it is mended by then, or the condition is wrong. What a library merely does not
have (a type, a codec) is in diff_peers.py and is no fault.
"""

from dataclasses import dataclass
from typing import Callable

import diff_codecs
import numpy as np
from diff_peers import number


@dataclass
class Fault:
    peer: str
    does: str  # what it does in place of the right thing
    when: Callable  # the condition on the case
    on: str = "read"  # which operations: words out of create, read, write, resize
    says: str = ""  # a part of the error's text; empty: other elements, or any error
    since: str = "0"  # the first and the last version that is known to have it
    until: str = "999"
    link: str = ""  # the library's own thread about it

    def __str__(self):
        return f"{self.peer}: {self.does}" + (f" ({self.link})" if self.link else "")

    def explains(self, peer, operation, case, message):
        return (peer.name == self.peer and operation in self.on.split()
                and number(self.since) <= number(peer.version) <= number(self.until)
                and self.says in message and bool(self.when(case)))  # fmt: skip


# ---- Conditions on a case ----

SHARD, TURN = {"sharding_indexed"}, {"transpose"}
# Filters of numcodecs look at the order in memory of what they get, which a transpose turns.
IN_MEMORY_ORDER = {"numcodecs.delta", "numcodecs.fixedscaleoffset", "numcodecs.quantize",
                   "numcodecs.astype", "numcodecs.bitround", "numcodecs.packbits"}  # fmt: skip
BEHIND = {c.name for c in diff_codecs.COMMON + diff_codecs.COMPRESSORS}


def unconfigured(case):
    return any(codec["name"].startswith("numcodecs.") and "configuration" not in codec
               for chain in diff_codecs.chains(case.chain) for codec in chain)  # fmt: skip


def turned_shard(case):
    return diff_codecs.follows(case.chain, TURN, SHARD)


def big_generic_time(case):
    return case.order == "big" and case.dtype in (np.dtype("M8"), np.dtype("m8"))


def nested(case):
    return diff_codecs.depth(case.chain) > 1


def sharded_point(case):
    return case.version == 3 and not case.shape and case.has(*SHARD)


def big_filter(case):
    return case.order == "big" and case.has(*IN_MEMORY_ORDER)


def v2_complex(case):
    return case.version == 2 and case.dtype.kind == "c" and not case.forms["no_fill"]


def uneven_shards(case):
    return case.runs and case.has(*SHARD)


def uneven_turn(case):
    """A transpose that is not its own inverse."""
    orders = [codec["configuration"]["order"] for chain in diff_codecs.chains(case.chain)
              for codec in chain if codec["name"] == "transpose"]  # fmt: skip
    return any(order[n] != i for order in orders for i, n in enumerate(order))


def compressed_shard(case):
    return diff_codecs.follows(case.chain, SHARD, BEHIND)


def behind_another(*names):
    """One of these codecs stands behind another bytes-to-bytes codec."""
    return lambda case: diff_codecs.follows(case.chain, BEHIND | SHARD, set(names))


def big_complex(case):
    return case.dtype.kind == "c" and case.order == "big"


def turned_filter(case):
    if case.version == 2:
        return case.forms["order"] == "F" and case.has(*IN_MEMORY_ORDER)
    return (diff_codecs.follows(case.chain, TURN, IN_MEMORY_ORDER)
            or diff_codecs.follows(case.chain, IN_MEMORY_ORDER, TURN))  # fmt: skip


ALL = "create read write resize"
FAULTS = [
    Fault("zarr-python", "refuses a codec of numcodecs without `configuration`", unconfigured, ALL,
          "Named configuration does not have"),
    *[Fault(peer, "refuses a transpose in front of shards where the chunk's shape as it was before "
            "is no multiple of the inner chunks'", turned_shard, ALL,
            "divisible by the shard's inner")
      for peer in ("zarr-python", "zarrs")],
    *[Fault(peer, "grows shards of several extents by one that its inner chunks do not divide",
            uneven_shards, "resize", "divisible by the shard's inner")
      for peer in ("zarr-python", "zarrs")],
    Fault("zarr-python", "applies filters of numcodecs in memory order, not that of the dimensions, "
          "next to a transpose, or in order F", turned_filter, "read write"),
    Fault("zarr-python", "hands filters a single big-endian element as one of the machine's order",
          lambda case: not case.shape and big_filter(case), "read write"),
    Fault("zarr-python", "writes no `bytes` without dimensions",
          lambda case: not case.shape and "bytes" in case.type.name, "write", "Expected bytes"),
    Fault("zarr-python", "has no bitround of numcodecs for chunks that no compressor decodes",
          lambda case: case.version == 2 and case.has("numcodecs.bitround"), "read write",
          "'|f1' not understood", until="3.0.99"),
    Fault("zarr-python", "does not swap big-endian times without a unit (nor does numpy)",
          big_generic_time, "read write"),
    Fault("zarr-python", "hands big-endian elements to filters of numcodecs as little-endian ones",
          big_filter, "read write", until="3.0.99"),
    Fault("zarr-python", "has no bitround of numcodecs for big-endian elements of version 2",
          lambda case: case.version == 2 and case.order == "big" and case.has("numcodecs.bitround"),
          "read write", "KeyError"),
    Fault("zarr-python", "takes base64 as fill value of `bytes` for the bytes themselves",
          lambda case: case.type.name == "bytes" and case.fill, ALL, until="3.0.99"),
    Fault("zarr-python", "takes a complex fill value of version 2 for an array", v2_complex, ALL,
          until="3.0.99"),
    Fault("zarr-python", "reads no parts of shards in shards, nor of shards with codecs around",
          lambda case: nested(case) or compressed_shard(case) or turned_shard(case), "read",
          "byte_range", until="3.0.99"),
    Fault("zarr-python", "writes no parts of shards in shards, nor of shards with codecs around",
          lambda case: nested(case) or compressed_shard(case) or turned_shard(case), "write",
          "NotImplementedError", until="3.0.99"),
    Fault("zarr-python", "reads and writes no shards without dimensions", sharded_point, "read write",
          until="3.0.99"),
    Fault("zarrs", "swaps the parts of big-endian complex numbers", big_complex, "read write"),
    Fault("zarrs", "takes a blosc container behind another compressor for whole elements",
          behind_another("blosc"), "read write"),
    Fault("tensorstore", "reads a `fill_value` of float8_e8m0fnu that is a number as another one",
          lambda case: case.type.name == "float8_e8m0fnu", "create read write resize"),
    Fault("zarrita", "does not know shards in shards, transposed ones, and codecs behind them",
          lambda case: nested(case) or turned_shard(case) or compressed_shard(case)),
    Fault("zarrita", "looks for an index at the start of a shard at its end",
          lambda case: case.has_member("index_location", "start")),
    Fault("zarrita", "takes fill values for doubles, also of integers of 64 bits",
          lambda case: case.dtype.kind in "iu" and abs(int(case.fill)) > 2**53),
    Fault("zarrita", "does not read arrays with an extent of 0", lambda case: 0 in case.shape,
          says="empty iterator"),
    Fault("gdal", "does not open arrays with an extent of 0", lambda case: 0 in case.shape,
          says="Invalid content for shape"),
    Fault("gdal", "does not open shards without dimensions", sharded_point, says="scalar array"),
    Fault("gdal", "reads shards in shards, transposed ones, and those with codecs behind, wrongly or "
          "not at all", lambda case: nested(case) or turned_shard(case) or compressed_shard(case)),
    Fault("gdal", "takes the order of a transpose for its inverse", uneven_turn),
    Fault("gdal", "refuses negative levels of zstd", lambda case: case.has_member("level", -3),
          says="invalid value for level"),
    Fault("gdal", "takes a fill value of uint64 above 2^63 for another",
          lambda case: case.type.name == "uint64" and int(case.fill) >= 2**63),
    Fault("gdal", "refuses a list as complex fill value of version 2", v2_complex,
          says="Invalid fill_value"),
    Fault("tensorstore", "refuses the member `typesize` that zarr-python adds to blosc in version 2",
          lambda case: case.version == 2 and case.has("blosc"), ALL, "typesize"),
    Fault("tensorstore", "refuses codecs behind shards", compressed_shard, ALL,
          "is not compatible with subsequent"),
]


def explain(peer, operation, case, message):
    """The fault that a difference or an error is, or None."""
    for fault in FAULTS:
        if fault.explains(peer, operation, case, message):
            return fault
    return None
