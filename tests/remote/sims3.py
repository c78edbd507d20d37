# SPDX-License-Identifier: MIT
"""The part of S3 that stores need, on the server of simserver.py: buckets are folders. Signatures are
verified by what Amazon has written about them, and not by what the client does.

    with SimServer(folder, answer=S3({"AKID": "secret"})) as server:
        ... endpoint=server.url ...

As a program: sims3.py FOLDER [--rtt S] [--bandwidth BYTES/S] [--trusting]; the keys are AKID and secret, and it
prints its URL. Several of them may serve one folder. `trusting` looks at no signature: for times, in which
the server's own work should not count."""

import argparse
import calendar
import contextlib
import dataclasses
import datetime
import email.utils
import fcntl
import hashlib
import itertools
import hmac
import os
import re
import threading
import time
import urllib.parse
import xml.etree.ElementTree
import xml.sax.saxutils

from simserver import Reply, SimServer, count


def quoted(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def canonical_request(method, raw_path, query, headers, signed, payload):
    path = quoted(urllib.parse.unquote_to_bytes(raw_path), safe="/")
    # A '+' is a plus here: only forms have it for a blank.
    pairs = [part.partition("=") for part in query.split("&") if part]
    pairs = sorted((quoted(urllib.parse.unquote_to_bytes(name)), quoted(urllib.parse.unquote_to_bytes(value)))
                   for name, _, value in pairs)
    lines = [f"{name}:{' '.join(headers[name].split())}\n" for name in signed]
    return "\n".join([method, path, "&".join(f"{n}={v}" for n, v in pairs), "".join(lines),
                      ";".join(signed), payload])


def signature(secret, date, region, request):
    day = date[:8]
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = mac(key, part)
    text = "\n".join(["AWS4-HMAC-SHA256", date, f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(request.encode()).hexdigest()])
    return mac(key, text).hex()


AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8})/([^/,]+)/s3/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})")


class FolderLock:
    """Of all servers of a folder: those of other processes, too."""

    def __init__(self, folder):
        self.threads, self.file = threading.Lock(), os.open(folder, os.O_RDONLY)

    def __enter__(self):
        self.threads.acquire()
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *error):
        fcntl.flock(self.file, fcntl.LOCK_UN)
        self.threads.release()


@dataclasses.dataclass
class Upload:
    """One in parts: nothing of it is there before it is completed."""
    path: object
    mark: str
    begun: float = dataclasses.field(default_factory=time.time)
    parts: dict = dataclasses.field(default_factory=dict)  # number -> (ETag, bytes)


class S3:
    """keys: id -> secret, or id -> (secret, session token). public: nobody needs to sign.
    hides: who asks for a key that does not exist is told that access is denied.
    clock: seconds by which it is ahead. page: names in a page of a listing.
    conditions: those of puts are kept to; part_conditions: those of uploads in parts, too; delete_conditions:
    those of DELETE.
    multipart: there are uploads in parts.
    redirects: another region is told by a 301, as to requests that are not signed.
    copies: how it takes requests to copy an object: "served"; "ignored", as puts of no bytes; or the status
    and code of an error. copy_most: bytes that one of them may copy. copy_failures: how many more are
    answered with 200, and an error in the body.
    lock: held by whoever looks at an object or changes one."""

    def __init__(self, keys=None, region="us-east-1", public=False, hides=False, clock=0, page=1000,
                 requester_pays=False, redirects=False, conditions=True, part_conditions=True,
                 delete_conditions=True, multipart=True, copies="served", copy_most=5 << 30, copy_failures=0, lock=None):
        self.keys = {name: value if isinstance(value, tuple) else (value, None)
                     for name, value in (keys or {}).items()}
        self.region, self.public, self.hides, self.clock, self.page = region, public, hides, clock, page
        self.requester_pays, self.redirects, self.conditions = requester_pays, redirects, conditions
        self.part_conditions, self.delete_conditions, self.multipart = part_conditions, delete_conditions, multipart
        self.copies, self.copy_most, self.copy_failures = copies, copy_most, copy_failures
        self.lock = lock or threading.Lock()
        self.uploads = {}  # id -> Upload
        self.upload_numbers = itertools.count()
        self.upload_name = "Upload.{}/=&x"  # letters that a query has a use for
        self.marks = {}  # path -> ETag, x-amz-meta-zb-write
        self.expired = set()
        self.verified = 0

    # ---- errors

    def error(self, status, code, headers=(), **more):
        more = {"Message": "words & more", "AWSAccessKeyId": "canary-id", "RequestId": "1"} | more
        rows = "".join(f"<{n}>{xml.sax.saxutils.escape(v)}</{n}>" for n, v in more.items())
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>{rows}</Error>'
        return Reply(status, {"Content-Type": "application/xml"} | dict(headers), body.encode())

    # ---- signatures

    def check(self, handler, request):
        """None, or the error."""
        now = time.time() + self.clock
        handler.date_time_string = lambda timestamp=None: email.utils.formatdate(now, usegmt=True)
        text = request.headers.get("authorization")
        if not text:
            if self.redirects:
                return self.elsewhere()
            return None if self.public else self.error(403, "AccessDenied")
        match = AUTHORIZATION.fullmatch(text)
        if not match:
            return self.error(400, "AuthorizationHeaderMalformed")
        return self.check_signature(handler, request, now, *match.groups())

    def elsewhere(self):
        return self.error(301, "PermanentRedirect", {"x-amz-bucket-region": self.region})

    def check_signature(self, handler, request, now, name, day, region, signed, given):
        headers, signed = request.headers, signed.split(";")
        if name not in self.keys:
            return self.error(403, "InvalidAccessKeyId")
        secret, token = self.keys[name]
        if name in self.expired:
            return self.error(400, "ExpiredToken")
        if region != self.region:
            return self.elsewhere() if self.redirects else self.error(
                400, "AuthorizationHeaderMalformed", Region=self.region)
        date = headers.get("x-amz-date", "")
        then = calendar.timegm(datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").timetuple())
        if abs(now - then) > 900:
            return self.error(403, "RequestTimeTooSkewed")
        payload = headers.get("x-amz-content-sha256", "")
        must = {"host"} | {name for name in headers if name.startswith("x-amz-")}
        parts = urllib.parse.urlsplit(handler.path)
        wanted = signature(secret, date, region, canonical_request(
            request.method, parts.path, parts.query, headers, signed, payload))
        if not must <= set(signed) or day != date[:8] or payload not in (hashlib.sha256(request.body).hexdigest(), "UNSIGNED-PAYLOAD") \
                or given != wanted:
            return self.error(403, "SignatureDoesNotMatch", StringToSign="canary-string",
                              SignatureProvided=given)
        if headers.get("x-amz-security-token") != token:
            return self.error(400, "InvalidToken")
        self.verified += 1
        return None

    # ---- requests

    def __call__(self, handler, request):
        sim = handler.server.sim
        request.body = handler.read_body()
        request.taken = len(request.body)
        refused = self.check(handler, request)
        if refused:
            return refused
        if self.requester_pays and request.headers.get("x-amz-request-payer") != "requester":
            return self.error(403, "AccessDenied")
        host = request.headers["host"].partition(":")[0]
        bucket, key = host.removesuffix(".localhost"), request.path[1:]
        if not host.endswith(".localhost"):
            bucket, _, key = key.partition("/")
        folder = sim.folder / bucket
        if not folder.is_dir():
            return self.error(404, "NoSuchBucket")
        if request.method in ("PUT", "DELETE") and key and not request.query:
            with self.lock:
                return self.change(sim, request, folder / key)
        if request.method in ("PUT", "POST", "DELETE") and key and self.multipart:
            with self.lock:
                return self.upload(sim, request, folder / key)
        if request.method not in ("GET", "HEAD"):
            return self.error(405, "MethodNotAllowed")
        if not key and "uploads" in request.query:
            return self.list_uploads(folder, urllib.parse.parse_qs(request.query, keep_blank_values=True))
        if not key:
            return self.list(sim, folder, urllib.parse.parse_qs(request.query, keep_blank_values=True))
        path = folder / key
        with self.lock:
            there = path.is_file()
            data, stat = (path.read_bytes(), path.stat()) if there else (None, None)
            tag, mark = self.marks.get(path, (None, None))
        if not there:
            return self.error(403, "AccessDenied") if self.hides else self.error(404, "NoSuchKey")
        reply = handler.answer_data(request, data, stat)
        if mark and tag == sim.etag_of(stat):  # else another server's
            reply.headers["x-amz-meta-zb-write"] = mark
        return reply

    def change(self, sim, request, path):
        """With the lock: a put or an erasure; conditions are of the object as it is then."""
        tag = sim.etag_of(path.stat()) if path.is_file() else None
        if request.method == "DELETE":
            refused = self.delete_conditions and self.refused(request, tag)
            if refused:
                return refused
            self.marks.pop(path, None)
            path.unlink(missing_ok=True)
            folder = path.parent
            while folder.parent != sim.folder and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()  # S3 has no empty folders
                folder = folder.parent
            return Reply(204, {})
        refused = self.conditions and self.refused(request, tag)
        if refused:
            return refused
        if "x-amz-copy-source" in request.headers and self.copies != "ignored":
            data, mark, failure = self.source(sim, request)
            return failure or self.xml("CopyObjectResult", ETag=self.store(sim, path, data, mark))
        tag = self.store(sim, path, request.body, request.headers.get("x-amz-meta-zb-write"))
        return Reply(200, {"ETag": tag})

    def source(self, sim, request):
        """With the lock: the bytes that are to be copied, their mark, and the error if they are not."""
        if self.copies != "served":
            return None, None, self.error(*self.copies)
        name = request.headers["x-amz-copy-source"].partition("?")[0]
        path = sim.folder / urllib.parse.unquote(name).removeprefix("/")
        if not path.is_file():
            return None, None, self.error(404, "NoSuchKey")
        data, stat = path.read_bytes(), path.stat()
        tag, mark = self.marks.get(path, (None, None))
        wanted, part = request.headers.get("x-amz-copy-source-if-match"), request.headers.get("x-amz-copy-source-range")
        if wanted and wanted != sim.etag_of(stat):
            return None, None, self.error(412, "PreconditionFailed")
        if part:
            first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", part).groups()
            data = data[int(first):int(last) + 1]
        if len(data) > self.copy_most:
            return None, None, self.error(400, "InvalidRequest")
        if self.copy_failures:
            self.copy_failures -= 1
            return None, None, dataclasses.replace(self.error(500, "InternalError"), status=200)
        return data, mark if tag == sim.etag_of(stat) else None, None

    def refused(self, request, tag):
        """The error, if the conditions do not hold for an object of this ETag."""
        wanted, unwanted = request.headers.get("if-match"), request.headers.get("if-none-match")
        if wanted and tag is None:
            return self.error(404, "NoSuchKey")
        if (wanted and wanted != tag) or (unwanted == "*" and tag):
            return self.error(412, "PreconditionFailed")
        return None

    def store(self, sim, path, data, mark):
        """Returns the ETag."""
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_mtime_ns if path.is_file() else 0
        path.write_bytes(data)
        now = max(before + 1000, time.time_ns())  # the ETag is made of it
        os.utime(path, ns=(now, now))
        tag = sim.etag_of(path.stat())
        self.marks[path] = tag, mark
        return tag

    def upload(self, sim, request, path):
        """With the lock: the requests of an upload in parts."""
        query = urllib.parse.parse_qs(request.query, keep_blank_values=True)
        if request.method == "POST" and "uploads" in query:
            name = self.upload_name.format(next(self.upload_numbers))
            self.uploads[name] = Upload(path, request.headers.get("x-amz-meta-zb-write"))
            return self.xml("InitiateMultipartUploadResult", UploadId=name)
        upload = self.uploads.get(query.get("uploadId", [""])[0])
        if not upload or upload.path != path:
            return self.error(404, "NoSuchUpload")
        if request.method == "DELETE":
            self.uploads = {n: u for n, u in self.uploads.items() if u is not upload}
            return Reply(204, {})
        if request.method == "PUT":
            is_copy = "x-amz-copy-source" in request.headers
            data, _, failure = self.source(sim, request) if is_copy else (request.body, None, None)
            if failure:
                return failure
            tag = f'"{hashlib.md5(data).hexdigest()}"'
            upload.parts[int(query["partNumber"][0])] = tag, data
            return self.xml("CopyPartResult", ETag=tag) if is_copy else Reply(200, {"ETag": tag})
        return self.complete(sim, request, upload)

    def complete(self, sim, request, upload):
        rows = [(int(row.findtext("{*}PartNumber")), row.findtext("{*}ETag"))
                for row in xml.etree.ElementTree.fromstring(request.body)]
        data = [upload.parts.get(number, ("", b"")) for number, _ in rows]
        if [n for n, _ in rows] != list(range(1, len(rows) + 1)) or \
                [tag for _, tag in rows] != [tag for tag, _ in data]:
            return self.error(400, "InvalidPart")
        if any(len(part) < 5 << 20 for _, part in data[:-1]):
            return self.error(400, "EntityTooSmall")
        path = upload.path
        tag = sim.etag_of(path.stat()) if path.is_file() else None
        refused = self.part_conditions and self.refused(request, tag)
        if refused:
            return refused
        tag = self.store(sim, path, b"".join(part for _, part in data), upload.mark)
        self.uploads = {n: u for n, u in self.uploads.items() if u is not upload}
        return self.xml("CompleteMultipartUploadResult", ETag=tag)

    def list_uploads(self, folder, query):
        if not self.multipart:
            return self.error(501, "NotImplemented")
        marker = query.get("key-marker", [""])[0], query.get("upload-id-marker", ["\U0010ffff"])[0]
        found = sorted((str(upload.path.relative_to(folder)), name, upload) for name, upload in self.uploads.items()
                       if str(upload.path.relative_to(folder)).startswith(query["prefix"][0]))
        found = [row for row in found if row[:2] > marker]
        rows = "".join(
            f"<Upload><Key>{xml.sax.saxutils.escape(key)}</Key><UploadId>{xml.sax.saxutils.escape(name)}</UploadId>"
            f"<Initiator><ID>x</ID></Initiator><Initiated>"
            f"{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(upload.begun))}</Initiated></Upload>"
            for key, name, upload in found[:self.page])
        body = ('<?xml version="1.0"?>\n<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Bucket>b</Bucket><IsTruncated>{str(len(found) > self.page).lower()}</IsTruncated>{rows}"
                "</ListMultipartUploadsResult>")
        return Reply(200, {"Content-Type": "application/xml"}, body.encode())

    def xml(self, name, **values):
        rows = "".join(f"<{n}>{xml.sax.saxutils.escape(v)}</{n}>" for n, v in values.items())
        body = (f'<?xml version="1.0" encoding="UTF-8"?>\n<{name} xmlns="http://s3.amazonaws.com/doc/'
                f'2006-03-01/"><Bucket>b</Bucket>{rows}</{name}>')
        return Reply(200, {"Content-Type": "application/xml"}, body.encode())

    def tag_of(self, sim, path):
        """As a listing tells it; one of an object that has gone meanwhile is some other."""
        with contextlib.suppress(FileNotFoundError):
            return sim.etag_of(path.stat()) or ""
        return '"gone"'

    def list(self, sim, folder, query):
        prefix, delimiter = query["prefix"][0], query.get("delimiter", [None])[0]
        after, names = query.get("start-after", [""])[0], {}
        most = min(self.page, int(query.get("max-keys", [self.page])[0]))
        assert query["list-type"] == ["2"]
        for path in folder.rglob("*"):
            key = str(path.relative_to(folder))
            if path.is_file() and key.startswith(prefix) and key.encode() > after.encode():
                rest = key[len(prefix):]
                name, found, _ = rest.partition(delimiter) if delimiter else (rest, "", "")
                names[prefix + name + found] = None if found else self.tag_of(sim, path)
        page = sorted(names.items(), key=lambda item: item[0].encode())
        more, page = len(page) > most, page[:most]
        rows = [f"<Contents><Key>{xml.sax.saxutils.escape(n)}</Key><ETag>{xml.sax.saxutils.escape(tag)}</ETag>"
                f"<Size>1</Size></Contents>" for n, tag in page if tag is not None]
        rows += [f"<CommonPrefixes><Prefix>{xml.sax.saxutils.escape(n)}</Prefix></CommonPrefixes>"
                 for n, tag in page if tag is None]
        body = ('<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>b</Name><Prefix>{xml.sax.saxutils.escape(prefix)}</Prefix>"
                f"<IsTruncated>{str(more).lower()}</IsTruncated>{''.join(rows)}</ListBucketResult>")
        return Reply(200, {"Content-Type": "application/xml"}, body.encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rtt", type=float, default=0.0)
    parser.add_argument("--bandwidth", type=float)
    parser.add_argument("--trusting", action="store_true")
    chosen = parser.parse_args()
    s3 = S3({"AKID": "secret"}, lock=FolderLock(chosen.folder))
    if chosen.trusting:
        s3.check = lambda handler, request: None

    def answer(handler, request):
        return count(handler, request) or s3(handler, request)

    with SimServer(chosen.folder, chosen.rtt, chosen.bandwidth, answer=answer, handshake=0) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
