# SPDX-License-Identifier: MIT
"""Locks of stores as another writer holds them."""

import fcntl
import os
import struct


def lock_hierarchy(path):
    """The lock ends with the descriptor."""
    descriptor = os.open(path / ".zarr.json.zb-lock", os.O_RDWR | os.O_CREAT)
    fcntl.fcntl(descriptor, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
    return descriptor
