# SPDX-License-Identifier: MIT
"""Replies that make no progress: the request is tried again. The environment (CMakeLists.txt) lets the library wait
for a second, and so often that a busy machine costs nothing but tries."""

import pytest

from test_faults import WAYS, ask, remote  # noqa: F401  (remote is a fixture)


@WAYS
@pytest.mark.parametrize("fault", [("hang", {}), ("slow", {"rate": 400})], ids=str)
def test_a_reply_that_stalls_is_given_up(server, remote, how, fault):  # noqa: F811
    """One that hangs never comes, and a slow one would take minutes."""
    server.fault("/s.zarr/k", fault[0], times=1, **fault[1])
    answer, right = ask(remote, how)
    assert (answer.code, answer.data == right) == ("OK", True), answer.message
    assert len(server.log) >= 2
