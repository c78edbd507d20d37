# SPDX-License-Identifier: MIT
"""Importing this keeps zarr-python from starting threads: it hands each read of a small file, and each chunk that it
decodes, to a thread of a pool, which takes a third of the time of reading the arrays of tests. It calls the same
functions in the same order of awaits, one after the other. Tests that are about its threads do not import this."""
import asyncio


async def to_thread(function, /, *arguments, **options):
    return function(*arguments, **options)


asyncio.to_thread = to_thread
