# SPDX-License-Identifier: MIT
"""Uploads in parts that killed writers have left in a bucket: verify tells of those that are old, repair ends
them."""

import os
import time
from pathlib import Path

import pytest

from conftest import run
from remote_store import RemoteStore
from sims3 import Upload
from test_s3_writing import NAME, serve  # noqa: F401  (serve is a fixture)

DAY = 86400
LEFT = "left by a writer that was killed"


@pytest.fixture
def bucket(serve):  # noqa: F811
    server = serve()
    with RemoteStore(NAME) as store:
        store.create_group("")
    return server


def leave(server, name, key, age, prefix="a b/x.zarr/"):
    server.answer.uploads[name] = Upload(Path(server.bucket / (prefix + key)), None, time.time() - age)


def lines(*command, status):
    found, out, err = run(*command)
    assert found == status, err
    return [line for line in [*out, *err.splitlines()] if LEFT in line]


def test_old_ones_are_told_and_ended(bucket):
    leave(bucket, "old/=&", "a/c/0 +é", 2 * DAY)
    leave(bucket, "young", "a/c/0 +é", DAY / 2)
    leave(bucket, "other", "y", 2 * DAY, "a b/x.zarr.other/")
    told = lines("verify", NAME, status=1)
    assert len(told) == 1 and "a/c/0 +é?uploads" in told[0]
    assert len(bucket.answer.uploads) == 3
    told = lines("repair", NAME, status=0)
    assert len(told) == 1 and "removed" in told[0]
    assert set(bucket.answer.uploads) == {"young", "other"}
    assert lines("verify", NAME, status=0) == []


def leave_test_object(server, name, age):
    """As a writer does that is killed while it learns whether a service keeps to conditions."""
    path = server.bucket / "a b/x.zarr" / name
    path.write_bytes(b"1")
    os.utime(path, (time.time() - age,) * 2)


def test_objects_that_a_service_was_tested_with_go(bucket):
    leave_test_object(bucket, "zarrbridge-test-old", 2 * DAY)
    leave_test_object(bucket, "zarrbridge-test-young", DAY / 2)
    leave_test_object(bucket, "other-zarrbridge-test-old", 2 * DAY)
    told = lines("verify", NAME, status=1)
    assert len(told) == 1 and "zarrbridge-test-old" in told[0]
    told = lines("repair", NAME, status=0)
    assert len(told) == 1 and "removed" in told[0]
    left = sorted(p.name for p in (bucket.bucket / "a b/x.zarr").iterdir())
    assert left == ["other-zarrbridge-test-old", "zarr.json", "zarrbridge-test-young"]
    (bucket.bucket / "a b/x.zarr/other-zarrbridge-test-old").unlink()  # an orphan, which is told as such
    assert lines("verify", NAME, status=0) == []


def test_they_are_ended_where_nothing_else_is(bucket):
    leave(bucket, "old", "a/c/0", 2 * DAY, "gone.zarr/")
    assert len(lines("verify", "s3://bucket/gone.zarr", status=1)) == 1
    assert len(lines("repair", "s3://bucket/gone.zarr", status=0)) == 1
    lines("verify", "s3://bucket/gone.zarr", status=2)


@pytest.mark.parametrize("page", [1, 2, 3])
def test_pages(bucket, page):
    bucket.answer.page = page
    for i in range(7):
        leave(bucket, f"{i}", f"c/{i // 3}", 2 * DAY)
    assert len(lines("verify", NAME, status=1)) == 7
    assert len(lines("repair", NAME, status=0)) == 7 and not bucket.answer.uploads


@pytest.mark.parametrize("status, code", [(403, "AccessDenied"), (501, "NotImplemented"), (404, "NoSuchUpload")])
def test_who_may_not_see_them_verifies_the_rest(bucket, status, code):
    leave(bucket, "old", "a", 2 * DAY)
    bucket.answer.list_uploads = lambda *_: bucket.answer.error(status, code)
    assert lines("verify", NAME, status=0) == []


def test_a_service_that_fails_is_an_error(bucket, monkeypatch):
    monkeypatch.setenv("ZARRBRIDGE_REMOTE_TRIES", "1")
    bucket.answer.list_uploads = lambda *_: bucket.answer.error(500, "InternalError")
    status, _, words = run("verify", NAME)
    assert status == 2 and "500" in words


def test_a_list_without_end_ends(bucket):
    leave(bucket, "old", "a", 2 * DAY)
    full = bucket.answer.list_uploads

    def again(folder, query):
        reply = full(folder, {"prefix": query["prefix"]})
        reply.data = reply.data.replace(b"<IsTruncated>false", b"<IsTruncated>true")
        return reply

    bucket.answer.list_uploads = again
    status, _, words = run("verify", NAME)
    assert status == 2 and "does not go on" in words
