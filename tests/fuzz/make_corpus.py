# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz_blosc, fuzz_codec and fuzz_filters, small streams of every form, from
numcodecs, of fuzz_gdal_write, short programs, of fuzz_gdal, an array with properties as XML, of fuzz_v2 and
fuzz_store, documents of version 2, and of fuzz_zip, archives.

    python3 make_corpus.py corpus
"""
import gzip
import io
import json
import pathlib
import struct
import sys
import zipfile
import zlib

import numpy
from collision import collision
from numcodecs import blosc, get_codec, zstd

ramp = (numpy.arange(600, dtype="<u4") * 3).tobytes()
text = b"a chunk is what a key holds; a shard is a chunk of chunks. " * 12


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def containers():
    shuffles = {"plain": blosc.NOSHUFFLE, "bytes": blosc.SHUFFLE, "bits": blosc.BITSHUFFLE}
    for compressor in (b"blosclz", b"lz4", b"snappy", b"zlib", b"zstd"):
        for name, shuffle in shuffles.items():
            data = bytes(1024) + ramp[:300] if compressor == b"blosclz" else ramp[:1203]
            array = numpy.frombuffer(data[: len(data) // 4 * 4], dtype="<u4")
            packed = blosc.compress(array, compressor, 9, shuffle, 640)
            yield f"{compressor.decode()}-{name}", packed
    noise = numpy.frombuffer(zlib.compress(ramp, 9), dtype="u1")
    yield "stored", blosc.compress(noise, b"lz4", 0, blosc.NOSHUFFLE)


def streams():
    """(name, number of the codec in fuzz_codec.c, stream, decoded size)"""
    yield "zstd", 0, zstd.compress(text, 3), len(text)
    yield "zstd-frames", 0, zstd.compress(text[:100], 1) + zstd.compress(ramp, 19), 100 + len(ramp)
    yield "zstd-blocks", 0, zstd.compress(bytes(300000) + text, 1), 300000 + len(text)
    yield "gzip", 1, gzip.compress(text, 9, mtime=0), len(text)
    members = gzip.compress(ramp, 1, mtime=0) + gzip.compress(b"", mtime=0)
    yield "gzip-members", 1, members, len(ramp)
    yield "zlib", 4, zlib.compress(text, 9), len(text)
    yield "zlib-stored", 4, zlib.compress(ramp, 0), len(ramp)
    names = ["lz4", "shuffle", "crc32", "adler32", "crc32c", "fletcher32", "jenkins_lookup3", "bz2",
             "lzma"]  # fmt: skip
    for number, name in enumerate(names, 5):
        encoded = get_codec({"id": name}).encode(numpy.frombuffer(ramp, "<u4"))
        yield f"numcodecs-{name}", number, bytes(encoded), len(ramp)
    yield "crc32c", 3, b"123456789" + struct.pack("<I", 0xE3069283), 9


# 12 numbers as zfp writes them: reversibly, at a rate of 9, and with zfpy's header.
ZFP_DOUBLES = "019060a6fe37a0022061990000000000"
ZFP_BYTES = "8b0c0b00000f0b000016860500000000"
ZFP_HEADED = "7a667005b20000000000f0ca01591700ffec140001ad2e000000000000000000"


def chunks():
    """(number of the chain in fuzz_filters.c, chunk of 12 elements behind its codecs)"""
    small = numpy.array([0, 1, 2, 5, 7, 11, 3, 5, 0, 255, 128, 64], "u1")
    floats = numpy.array([0, 1.5, -2, 5, 1e30, -1e300, numpy.nan, numpy.inf, 3, 7, 8, 9])
    bits = numpy.packbits(small[:12] > 4)
    yield 0, small
    yield 1, floats.clip(-9, 9).astype(">f2")
    yield 2, floats.clip(-9, 9).astype(">f4")
    yield 3, floats.clip(-9, 9).astype(">f4")
    yield 4, floats.astype(">f8")
    yield 5, numpy.concatenate([numpy.array([4], "u1"), bits])
    yield 6, numpy.repeat(floats.clip(-9, 9), 2).astype(">f4")
    yield 7, small
    yield 8, (small.astype(">i8") - 4) * 3
    yield 9, floats.clip(-9, 9).astype(">f4")
    yield 10, floats.astype(">f8")[:6].repeat(2)
    yield 11, small.astype(">i8")
    yield 12, small.astype(">u2")
    yield 13, numpy.concatenate([bits, numpy.array([4], "u1")])
    yield 14, numpy.frombuffer(gzip.compress(ramp[:53], mtime=0), "u1")
    for number, encoded in enumerate([ZFP_DOUBLES, ZFP_BYTES, ZFP_HEADED], 15):
        yield number, numpy.frombuffer(bytes.fromhex(encoded), "u1")


# What fuzz_gdal_write.c makes of bytes, in its order.
MEMORY, DISK = bytes([1, 0]), bytes([0, 1])
ALL = bytes([0])
SHARDS, PIXEL, CHECKED = 1, 2, 4


def array(dtype, width, height, bands, block, options=0):
    """A type by its number, extents, and a block so much larger than the least one."""
    more = bytes([1, 2] if options & SHARDS else []) + bytes([1] if options & CHECKED else [])
    return bytes([dtype, width - 1, height - 1, bands - 1, *block, options]) + more + bytes([0])


def window(x, y, width, height):
    return bytes([1, x, y, width - 1, height - 1])


def samples(where, count=1, first=0, dtype=12, layout=0):
    return where + bytes([count - 1, first, 1, dtype, 1, layout])


def written(where, value, by_dataset=1, **how):
    return bytes([0]) + samples(where, **how) + bytes([by_dataset, value, value + 1, 3])


def read(where, **how):
    return bytes([3]) + samples(where, **how) + bytes([1])


def nodata(number):
    return bytes([9, number, 0])


NEW, COPY = bytes([15, 0]), bytes([15, 1])
FLUSH, REOPEN, PLACE, ITEM = bytes([13]), bytes([14, 0]), bytes([12, 0, 1, 1]), bytes([11, 1, 1, 0])


def programs():
    yield "shards", (DISK + array(3, 38, 30, 3, (4, 3), SHARDS | CHECKED) + written(ALL, 70, count=3)
                     + written(window(3, 5, 20, 9), 3, count=2, layout=2) + read(ALL, count=3)
                     + FLUSH + written(window(30, 20, 8, 10), 12) + REOPEN + read(ALL))
    yield "interleaved", (MEMORY + array(8, 20, 17, 4, (2, 2), PIXEL)
                          + written(window(1, 1, 9, 9), 6, count=4, first=2, dtype=3, layout=1)
                          + read(ALL, count=4) + written(ALL, 18, by_dataset=0, dtype=9) + REOPEN)
    yield "appended", (MEMORY + array(0, 12, 9, 1, (1, 1)) + written(ALL, 90) + PLACE + NEW
                       + array(7, 9, 12, 2, (3, 1), SHARDS) + PLACE + ITEM + written(ALL, 5, count=2)
                       + COPY + bytes([2, 2, 6, 1, 1, 1, 0]) + written(window(0, 0, 4, 4), 2) + REOPEN)
    yield "nodata-first", (MEMORY + array(5, 10, 10, 2, (2, 2)) + read(ALL) + nodata(2) + read(ALL)
                           + FLUSH + nodata(0) + written(window(2, 2, 3, 3), 80) + nodata(3)
                           + bytes([10, 1]) + REOPEN)


def zarray(**members):
    plain = {"zarr_format": 2, "shape": [3, 4], "chunks": [2, 4], "dtype": "<i2", "order": "C",
             "compressor": None, "filters": None, "fill_value": 0}
    return json.dumps(plain | members)


def version_2():
    """The documents of fuzz_v2.c."""
    names = '{"_ARRAY_DIMENSIONS": ["y", "x"], "a": [NaN, {"b": -Infinity}]}'
    group = '{"zarr_format": 2}'
    blosc_lz4 = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}
    fields = [["a", ">i2"], ["b", [["c", "<U1"], ["d", "|S2"]]], ["e", "|V1"]]
    text = {"id": "vlen-utf8"}
    yield "plain", zarray(), names, group
    yield "blosc", zarray(compressor=blosc_lz4, order="F", dimension_separator="/"), "{}", group
    yield "filters", zarray(filters=[{"id": "delta", "dtype": "<i2", "astype": ">i4"},
                                     {"id": "shuffle", "elementsize": 4}],
                            compressor={"id": "zlib", "level": 1, "more": [1]}), "", ""
    yield "text", zarray(dtype="|O", filters=[text], fill_value=0), "", ""
    yield "raw", zarray(dtype="|V3", fill_value="AQID"), "", ""
    yield "floats", zarray(dtype=">c16", fill_value=[1.5, "NaN"]), "", ""
    yield "half", zarray(dtype="<f2", fill_value=float("nan")), "", ""
    yield "times", zarray(dtype="<M8[25us]", fill_value=-1), "", ""
    yield "struct", zarray(dtype=fields, fill_value="AAFhAAAAYmMA"), "", ""
    yield "nczarr", zarray(fill_value=[7], _NCZARR_ARRAY={"dimrefs": ["/g/y", "/x"]}), (
        '{"_nczarr_attr": {}}'), group
    yield "consolidated", "", "", group, json.dumps(
        {"metadata": {"a/.zarray": {}, "b/.zgroup": {}, ".zattrs": {}, "b/c/.zarray": {}}})


def store_of_version_2():
    objects = {".zgroup": '{"zarr_format": 2}', "a/.zarray": zarray(compressor={"id": "zlib"}),
               "a/0.0": zlib.compress(struct.pack("<8h", *range(8))), "g/b/.zarray": zarray(),
               "g/b/1.0": bytes(16), "c/zarr.json": '{"zarr_format":3,"node_type":"group"}'}
    parts = [part if isinstance(part, bytes) else part.encode()
             for item in objects.items() for part in item]
    return b"\xff".join(parts)


def colliding():
    a, b, chunk = collision(16, 1 << 20)
    assert b"\xff" not in chunk  # which stands between parts
    return [b"zarr.json", b'{"zarr_format":3,"node_type":"group"}', b"a/zarr.json", a, b"b/zarr.json", b,
            b"a/c/0", chunk, b"b/c/0", chunk]  # fmt: skip


def archive(entries, compression=zipfile.ZIP_STORED, before=b"", comment=b""):
    out = io.BytesIO()
    out.write(before)
    with zipfile.ZipFile(out, "a", compression) as packed:
        packed.comment = comment
        for name, content in entries:
            packed.writestr(zipfile.ZipInfo(name), content, compression)
    return out.getvalue()


def wide_archive():
    """The end record leaves all to the wide one."""
    data = archive([("zarr.json", "{}"), ("c/0", "chunk")])
    end = data[-22:]
    count, size, start = struct.unpack_from("<HII", end, 10)
    wide = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<IIQI", 0x07064b50, 0, len(data) - 22, 1)
    return data[:-22] + wide + locator + struct.pack(
        "<IHHHHIIH", 0x06054b50, 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)


def archives():
    """The input of fuzz_zip.c."""
    node = json.dumps({"zarr_format": 3, "node_type": "group"})
    entries = [("zarr.json", node), ("g/zarr.json", node), ("g/c/0/1", bytes(40)), ("g/x", "")]
    return [("stored", archive(entries)),
            ("deflated", archive(entries, zipfile.ZIP_DEFLATED)),
            ("folder", archive([("x.zarr/" + name, content) for name, content in entries])),
            ("repeats", archive(entries + [("g/x", "again"), ("g", "object")])),
            ("before", archive(entries[:2], before=b"#!/bin/sh", comment=b"PK\5\6 comment")),
            ("slashes", archive([("./g\\x", "1"), ("/a", "2"), ("a//b", "3"), ("../c", "4")])),
            ("wide", wide_archive())]


def urls():
    """The input of fuzz_url.c: a name and a key."""
    return [("https", ["https://host.example:8443/a%20b/x.zarr?sv=1&sig=a%2Bb#anon=1", "c/0/1"]),
            ("http", ["http://[::1]:80/\u00e9 x.zarr//", "a=@'(!+ %\u00e9#?&~"]),
            ("user", ["https://user:word@host/x.zarr", "zarr.json"]),
            ("s3", ["s3://my-bucket.x/a b/100%/x.zarr/#region=eu-west-1", "g/zarr.json"]),
            ("s3-hash", ["s3://b/a#1.zarr#", "c/0"]),
            ("s3-bucket", ["s3://b", ""])]


def extensions():
    """The input of fuzz_hdf5_extension.c: two texts of `_hdf5`, and an object with changes."""
    base = ('{"version":1,"type":{"class":"enum","base":"<i2","members":[["A",0]]},"names":["../a","b"],'
            '"order":["a",2,"b"],"attributes":{"a":{"type":"<i2","shape":[]},"bc":{"named":"/t"}},"odd":[1e3]}')
    now = ('{"version":1,"links":{"s":{"soft":"/x"},"h":{"hard":"../g/d"}},"names":["b","c"],"order":["b","c"],'
           '"moved":{"d":"old","g/x":null,"d;0123456789abcdef":"d"},"comment":"x","maxshape":[null,3],'
           '"attributes":{"r":{"type":{"class":"reference","kind":"object"}},"l":{"array":"__attribute.0"}}}')
    return [("both", [base, now, '{"names":["b","n"],"order":["b",1,"n"],"comment":null,'
                                 '"links":{"s":null,"e":{"external":["f","/p"]}},"attributes":{"a":{"type":">f8"}}}']),
            ("fresh", ["", "", '{"type":"<i2","scales":{"CLASS":{}}}']),
            ("moved", [now, now, '{"moved":{"a/b":"c","c;fedcba9876543210":"a/b"},"references":2}']),
            ("foreign", ['{"version":2}', "{}", "{}"])]


def replies():
    """The input of fuzz_reply.c: the form of a request, then heads and bodies of its tries."""
    whole = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nETag: \"v\"\r\n\r\n"
    part = ("HTTP/1.1 206 Partial Content\r\nContent-Length: 64\r\nETag: \"v\"\r\n"
            "Last-Modified: Sat, 01 Jan 2022 00:00:00 GMT\r\nContent-Range: bytes {}/100\r\n\r\n")
    chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    busy = "HTTP/1.1 503 Slow Down\r\nRetry-After: 1\r\n\r\n"
    beyond = "HTTP/1.1 416 No\r\nContent-Range: bytes */9\r\n\r\n"
    return [("whole", 64 | 1, [whole, "hello world"]),
            ("document", 64 | 32 | 1, [chunked, "{}"]),
            ("range", 16 | 8 | 2 | 1, [part.format("10-73"), "x" * 64]),
            ("pinned", 128 | 16 | 8 | 2 | 1, [part.format("10-73"), "x" * 64]),
            ("suffix", 16 | 4 | 1, [part.format("36-99"), "y" * 64]),
            ("slice", 8 | 2 | 1, [whole, "hello world"]),
            ("again", 16 | 4 | 1, [busy, "wait", part.format("36-99"), "y" * 64]),
            ("cut", 16 | 8 | 2 | 1, [part.format("10-73"), "x" * 20, part.format("30-73"), "x" * 44]),
            ("beyond", 8 | 2 | 1, [beyond, ""]),
            ("put", 0, [whole, ""])]


def profiles():
    """The input of fuzz_profile.c: files of the AWS tools, and what a program prints."""
    keys = "aws_access_key_id = AKIDEXAMPLE\naws_secret_access_key=wJalrXUtnFEMI/K7MDENG+b=\n"
    answer = {"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "a/b+c", "SessionToken": "t" * 300,
              "Expiration": "2030-01-02T03:04:05Z"}
    return [("credentials", f"[default]\n{keys}\n[work]\n{keys}aws_session_token={'abc/=;#+:' * 60}\n"),
            ("config", "\ufeff# words\n[profile work]\r\nregion: eu-west-1\r\ns3 =\n  region = no\n"
             "credential_process = '/a b/get' --x ; words\nendpoint_url=https://h\n[default]\nrole_arn=a"),
            ("long", "[work]\n" + "x" * 400 + "\nregion = " + "a b" * 200 + "\n=" + "y" * 300),
            ("printed", json.dumps(answer)),
            ("time", json.dumps(answer | {"Expiration": "2030-01-02T03:04:05.678+02:00"}))]


def s3_xml():
    """The input of fuzz_s3_xml.c."""
    return [("error", '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>PermanentRedirect</Code>'
             "<Message>a &amp; b</Message><Region>eu-west-1</Region></Error>"),
            ("error-cut", "<ErrorResponse><Error><Code>SlowDown</Code><Mess"),
            ("page", '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Prefix>a/</Prefix>'
             "<IsTruncated>true</IsTruncated><Contents><Key>a/zarr.json</Key><Size>1</Size></Contents>"
             "<Contents><Key>a/&lt;&#xe9;</Key></Contents><CommonPrefixes><Prefix>a/b/</Prefix>"
             "</CommonPrefixes></ListBucketResult>"),
            ("page-azure", '<EnumerationResults ContainerName="b"><Prefix>a/</Prefix><Blobs><Blob>'
             "<Name>a/&lt;b</Name><Properties><Etag>0x1</Etag></Properties></Blob><BlobPrefix>"
             "<Name>a/c/</Name></BlobPrefix></Blobs><NextMarker>m</NextMarker></EnumerationResults>"),
            ("upload", '<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Key>k</Key>'
             "<UploadId>a.b&amp;c</UploadId></InitiateMultipartUploadResult>"),
            ("uploads", "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><Upload><Key>a/c/0</Key>"
             "<UploadId>u</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>"
             "</ListMultipartUploadsResult>"),
            ("doctype", '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "bb">]><ListBucketResult><IsTruncated>'
             "&a;</IsTruncated></ListBucketResult>")]


def packed(value):
    return json.dumps(value, separators=(",", ":"))


def texts_of(kind, texts, fill="", **side):
    """An array of texts that stand for elements of an HDF5 type: its document, and its only chunk."""
    grid = {"name": "regular", "configuration": {"chunk_shape": [len(texts)]}}
    document = {"zarr_format": 3, "node_type": "array", "shape": [len(texts)], "data_type": "string",
                "chunk_grid": grid, "chunk_key_encoding": {"name": "default"}, "fill_value": fill,
                "codecs": [{"name": "vlen-utf8"}],
                "attributes": {"_hdf5": packed({"version": 1, "type": kind, **side})}}  # fmt: skip
    chunk = struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(t)) + t for t in texts)
    return packed(document).encode(), chunk


def nested():
    """A store for fuzz_vol.c with elements that point at others, references and a committed datatype."""
    text = {"class": "string", "size": "variable", "padding": 0, "charset": 1}
    reference = {"class": "reference", "kind": "object"}
    sequence = {"class": "vlen", "base": "<f4"}
    row = {"class": "compound", "size": 48,
           "members": [["n", 0, "<i4"], ["s", 8, text], ["v", 16, sequence], ["r", 32, reference]]}  # fmt: skip
    rows = [b'{"n":1,"s":"x","v":[1.5,"NaN"],"r":"/r"}', b"",
            b'"AQAAAAEAAAAAAAAAeAAAAAAAAAAAAAAAAAAAAAA="']  # fmt: skip
    fill = '{"n":1,"s":"f","v":[],"r":null}'
    lists = {"class": "vlen", "base": {"class": "vlen", "base": reference}}
    side = {"_hdf5": packed({"version": 1, "datatype": row})}
    parts = [b"", b"zarr.json", b'{"zarr_format":3,"node_type":"group"}']
    for name, array in (("a", texts_of(row, rows, fill, named="/t")),
                        ("r", texts_of(reference, [b"/a", b"gone"])),
                        ("v", texts_of(lists, [b'[["/a",null],[]]']))):  # fmt: skip
        parts += [f"{name}/zarr.json".encode(), array[0], f"{name}/c/0".encode(), array[1]]
    parts += [b"t/zarr.json", packed({"zarr_format": 3, "node_type": "group", "attributes": side}).encode()]
    return b"\xff".join(parts)


def group_of(**side):
    return packed({"zarr_format": 3, "node_type": "group",
                   "attributes": {"_hdf5": packed({"version": 1, **side})}}).encode()  # fmt: skip


def array_of(shape, dimensions, codecs=(), **side):
    """An array of int32 without chunks."""
    return packed({"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int32",
                   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
                   "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "dimension_names": dimensions,
                   "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, *codecs],
                   "attributes": {"_hdf5": packed({"version": 1, **side})}}).encode()  # fmt: skip


def members():
    """A store for fuzz_vol.c with what else HDF5 programs keep: scales, dimensions, lists, comments."""
    word = {"class": "string", "size": 16, "padding": 0, "charset": 0}
    text = {"class": "string", "size": "variable", "padding": 0, "charset": 0}
    reference = {"class": "reference", "kind": "object"}
    uses = {"class": "compound", "size": 16, "members": [["dataset", 0, reference], ["dimension", 8, "<u4"]]}
    scale = {"CLASS": {"type": word, "shape": [], "value": "DIMENSION_SCALE"},
             "NAME": {"type": word, "shape": [], "value": "x"},
             "REFERENCE_LIST": {"type": uses, "shape": [1], "value": [{"dataset": "../v", "dimension": 0}]}}
    user = {"DIMENSION_LIST": {"type": {"class": "vlen", "base": reference}, "shape": [2], "value": [["../x"], []]},
            "DIMENSION_LABELS": {"type": text, "shape": [2], "value": ["", "time"]}}
    only = {"length": 3, "attributes": {"units": "m", "_hdf5": packed(
        {"version": 1, "attributes": {"n": {"type": "<i2", "shape": []}}}), "n": 1}}  # fmt: skip
    of_file = {"attribute_order": "indexed", "link_phase": [12, 7], "link_estimates": [3, 9], "heap_hint": 64,
               "filters": [[1, 1, [6]]], "sizes": [8, 8], "sym_k": [16, 4], "istore_k": 40,
               "message_phase": [50, 40], "messages": [[2, 40], [8, 9]], "page_size": 8192, "file_space": "page",
               "free_space": [1, 2]}
    of_array = {"layout": "chunked", "filters": [[2, 1, [4]], [1, 1, [6]]], "fill_time": "never",
                "alloc_time": "early", "track_times": False, "attribute_phase": [8, 6]}
    deflate = [{"name": "gzip", "configuration": {"level": 6}}]
    parts = [b"netcdf_dimensions=1",
             b"zarr.json", group_of(creation=of_file, order=["x", "only", "v"], dimensions={"only": only},
                                    comment="all of it"),
             b"x/zarr.json", array_of([2], ["x"], scales=scale, creation={"layout": "contiguous"}),
             b"v/zarr.json", array_of([2, 2], ["x", "time"], deflate, scales=user, creation=of_array,
                                    comment="v", names=["../%2Ehidden/%2E."]),
             b"%2Ehidden/zarr.json", group_of(links={"..": {"hard": "../v"}, "__s": {"soft": ".hidden/.."}}),
             b"%252Ehidden/zarr.json", group_of(creation={"filters": []}),
             b"z/zarr.json", array_of([2], ["only"], creation={"layout": "compact", "fill": "undefined"})]  # fmt: skip
    return b"\xff".join(parts)


def side_properties():
    """A store of fuzz_gdal.c whose array has what GDAL keeps as XML."""
    xml = """<PAMDataset><GCPList Projection="EPSG:4326"><GCP Id="a" Pixel="1" Line="2" X="3" Y="4"/>
</GCPList><Metadata domain="RPC"><MDI key="LINE_OFF">1</MDI></Metadata>
<Metadata domain="xml:A" format="xml"><a b="c"/></Metadata><PAMRasterBand band="2">
<Histograms><HistItem><HistMin>0</HistMin><HistMax>2</HistMax><BucketCount>2</BucketCount>
<IncludeOutOfRange>0</IncludeOutOfRange><Approximate>0</Approximate><HistCounts>3|4</HistCounts>
</HistItem></Histograms><CategoryNames><Category>w</Category></CategoryNames>
<ColorTable><Entry c1="1" c2="2" c3="3" c4="255"/></ColorTable><GDALRasterAttributeTable>
<FieldDefn index="0"><Name>n</Name><Type>2</Type><Usage>2</Usage></FieldDefn>
<Row index="0"><F>f</F></Row></GDALRasterAttributeTable>
<Metadata><MDI key="STATISTICS_MEAN">5</MDI></Metadata></PAMRasterBand></PAMDataset>"""
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [3, 2, 4], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2, 4]}},
        "chunk_key_encoding": {"name": "v2"}, "fill_value": 0, "codecs": [{"name": "bytes"}],
        "attributes": {"zarrbridge:gdal": xml}}
    for name, end in ("side-properties", b'":/a'), ("side-properties-slice", b'":/a:1'):
        yield name, b"\xff".join([end, b"a/zarr.json", json.dumps(document).encode(),
                                  b"a/1.0.0", bytes(range(8))])


def main():
    root = pathlib.Path(sys.argv[1])
    write(root / "vol", "nested", nested())
    write(root / "vol", "members", members())
    for name, data in containers():
        write(root / "blosc", name, bytes(data))
        if name in ("lz4-bytes", "zstd-bits", "stored"):
            size = struct.unpack_from("<I", data, 4)[0]
            write(root / "codec", "blosc-" + name, head(2, size) + bytes(data))
    for name, program in programs():
        write(root / "gdal_write", name, program)
    for name, data in side_properties():
        write(root / "gdal", name, data)
    for name, *documents in version_2():
        write(root / "v2", name, "\xff".join(documents).encode("latin-1"))
    for name, data in archives():
        write(root / "zip", name, data)
    for kind, texts in (("profile", profiles()), ("s3_xml", s3_xml())):
        for name, text in texts:
            write(root / kind, name, text.encode())
    for name, parts in urls():
        write(root / "url", name, b"\xff".join(part.encode() for part in parts))
    for name, parts in extensions():
        write(root / "hdf5_extension", name, b"\xff".join(part.encode() for part in parts))
    for name, form, parts in replies():
        write(root / "reply", name, bytes([form]) + b"\xff".join(part.encode() for part in parts))
    write(root / "store", "version-2", store_of_version_2())
    for kind, first in ("store", []), ("vol", [b""]):
        write(root / kind, "collision", b"\xff".join(first + colliding()))
    for number, data in chunks():
        write(root / "filters", f"chain-{number}", bytes([number, 11]) + data.tobytes())
    for name, number, data, size in streams():
        write(root / "codec", name, head(number, size) + data)


def head(number, size):
    return bytes([number & 3 | 4 | number >> 2 << 3, size & 255, size >> 8 & 255, size >> 16, 60, 120])


main()
