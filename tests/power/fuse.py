# SPDX-License-Identifier: MIT
"""A file system of one file, `disk`, spoken straight through /dev/fuse: no library is needed.

A loop device on that file turns each request that a file system sends to its disk into a call of
the handler: read, write, flush and zero. Linux sends one after the other has been answered or
several at once; the handler sees them in the order in which they are done.
"""
import ctypes
import errno
import os
import struct

LARGEST = 1 << 20  # bytes of one write

# The kinds of requests: the numbers of linux/fuse.h.
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 2, 3, 4, 14, 15, 16
STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR, RELEASEDIR = 17, 18, 20, 25, 26, 27, 29
INTERRUPT, BATCH_FORGET, FALLOCATE = 36, 42, 43
UNANSWERED = (FORGET, INTERRUPT, BATCH_FORGET)

REQUEST = struct.Struct("<IIQQ16x")  # length, kind, number of the request, node
ROOT, DISK = 1, 2                    # nodes
FOREVER = 1 << 30                    # seconds for which Linux may remember an answer
BIG_WRITES, MAX_PAGES = 1 << 5, 1 << 22


class Refused(Exception):
    def __init__(self, number):
        super().__init__(os.strerror(number))
        self.number = number


def attributes(node, size):
    mode = 0o040700 if node == ROOT else 0o100600
    return struct.pack("<6Q10I", node, size if node == DISK else 0, size // 512, 0, 0, 0,
                       0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def mount(directory):
    """Mounts it; the descriptor to serve."""
    fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"power", os.fsencode(directory), b"fuse", 0, options.encode()) != 0:
        number = ctypes.get_errno()
        os.close(fd)
        raise OSError(number, f"cannot mount a FUSE file system: {os.strerror(number)}")
    return fd


def answer(handler, what, node, body):
    """The bytes that answer a request."""
    if what == INIT:
        read_ahead, flags = struct.unpack_from("<8xII", body)
        return struct.pack("<IIIIHHIIHH32x", 7, 31, read_ahead, flags & (BIG_WRITES | MAX_PAGES),
                           16, 12, LARGEST, 1, LARGEST // 4096, 0)
    if what == LOOKUP:
        if bytes(body) != b"disk\0":
            raise Refused(errno.ENOENT)
        return struct.pack("<QQQQII", DISK, 0, FOREVER, FOREVER, 0, 0) + attributes(DISK,
                                                                                    handler.size)
    if what in (GETATTR, SETATTR):
        return struct.pack("<QII", FOREVER, 0, 0) + attributes(node, handler.size)
    if what in (OPEN, OPENDIR):
        return struct.pack("<QII", 0, 0, 0)
    if what == READ:
        return handler.read(*struct.unpack_from("<8xQI", body))
    if what == WRITE:
        offset, size = struct.unpack_from("<8xQI", body)
        handler.write(offset, body[40:40 + size])
        return struct.pack("<II", size, 0)
    if what == FSYNC:
        handler.flush()
        return b""
    if what == FALLOCATE:  # loop devices ask for holes and zeros alone
        handler.zero(*struct.unpack_from("<8xQQ", body))
        return b""
    if what == STATFS:
        return struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)
    if what in (FLUSH, RELEASE, RELEASEDIR):
        return b""
    raise Refused(errno.ENOSYS)


def serve(fd, handler):
    """Answers until the file system is unmounted."""
    while True:
        try:
            request = memoryview(os.read(fd, LARGEST + 65536))
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                continue
            raise
        _, what, number, node = REQUEST.unpack_from(request)
        if what in UNANSWERED:
            continue
        failed, data = 0, b""
        try:
            data = answer(handler, what, node, request[40:])
        except Refused as refused:
            failed = refused.number
        os.write(fd, struct.pack("<IiQ", 16 + len(data), -failed, number) + data)
