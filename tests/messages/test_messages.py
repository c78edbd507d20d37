# SPDX-License-Identifier: MIT
"""What programs say to mistakes: a row for each has the command, and what standard error must say. The mistakes are
those of people who use zarrbridge for the first time. A message says what is wrong and what to do; "" stands for a
mistake that is none here, since the program does what was meant."""
import functools
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading

import forked
import pytest
import zarr

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
TIFF = pathlib.Path(__file__).parents[1] / "data/L7_ETMs.tif"
IS_V2 = os.environ.get("HDF5_VOL_CONNECTOR") == "zarr"  # HDF5 2.x asks the connector only when it is named
HASTY = {"ZARRBRIDGE_REMOTE_TRIES": "1"}
ZARR = {"HDF5_VOL_CONNECTOR": "zarr"}


# ---- The commands. Each gives the exit status, and what it has printed


def run(words, folder, variables):
    done = subprocess.run(words, cwd=folder, env=environment(variables), capture_output=True, text=True, timeout=120,
                          errors="replace")
    return done.returncode, done.stderr + done.stdout


def environment(variables):
    return {**os.environ, **HASTY, **variables}


def shell(line, folder, variables):
    """A line of a shell: zarrbridge, h5ls, gdalinfo, ..."""
    words = line.split(" ")
    return run([PROGRAM if words[0] == "zarrbridge" else words[0], *words[1:]], folder, variables)


def python(code, folder, variables, *arguments):
    done = forked.run(code, *arguments, env=environment(variables), cwd=folder, timeout=120)
    return done.returncode, done.stderr + done.stdout


# Lines of Python run one after the other in one child, which has loaded the libraries once.
LINES = """
import json, os, sys, traceback
answers = []
for line in sys.argv[1:]:
    kept, output = os.dup(2), os.memfd_create("errors")
    os.dup2(output, 2)
    try:
        exec(line, {})
        status = 0
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os.dup2(kept, 2)
    answers.append((status, os.pread(output, 1 << 20, 0).decode(errors="replace")))
print(json.dumps(answers))
"""


def run_lines(lines, folder, variables):
    status, said = python(LINES, folder, variables, *lines)
    assert status == 0, said
    return dict(zip(lines, json.loads(said.splitlines()[-1])))


def h5py(arguments):
    """The names in a file are listed."""
    return f"import h5py; list(h5py.File({arguments}))"


def gdal(arguments):
    return f"from osgeo import gdal; gdal.UseExceptions(); gdal.OpenEx({arguments})"


def rasterio(arguments):
    pytest.importorskip("rasterio")
    return f"import rasterio; rasterio.open({arguments})"


# ---- What there is


def make_store(path, *names):
    group = zarr.open_group(path, mode="w")
    for name in names:
        group.create_array(name, shape=(8, 8), chunks=(4, 4), dtype="int16")[:] = 1
    return path


class Web(http.server.SimpleHTTPRequestHandler):
    """A server of files as there are many: it knows ranges, and lists nothing."""

    def do_GET(self):
        wanted = self.headers.get("Range")
        path = pathlib.Path(self.translate_path(self.path))
        if not wanted or not path.is_file():
            super().do_GET()
            return
        first, last = wanted.removeprefix("bytes=").split("-")
        content = path.read_bytes()
        begin = int(first) if first else max(len(content) - int(last), 0)
        end = min(int(last) + 1, len(content)) if first and last else len(content)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        self.wfile.write(content[begin:end])

    def log_message(self, *_):
        pass

    def list_directory(self, _):
        self.send_error(404)


def serve(folder, certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Web, directory=folder))
    server.handle_error = lambda *_: None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", folder / "key.pem", "-out", folder / "certificate.pem", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    return folder / "certificate.pem", folder / "key.pem"


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield fill(pathlib.Path(name))


def fill(folder):
    make_store(folder / "s.zarr", "a")
    make_store(folder / "two.zarr", "a", "b")
    make_store(folder / "Upper.Zarr", "a")
    make_store(folder / "plain/inner.zarr", "a")
    (folder / "plain/README").write_text("x")
    (folder / "empty.zarr").mkdir()
    (folder / "files.zarr").mkdir()
    (folder / "files.zarr/notes.txt").write_text("x")
    for name in ("snapshots", "manifests", "refs"):
        (folder / "ice" / name).mkdir(parents=True)
    (folder / "k.json").write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format":2}'}}))
    (folder / "k.parq").mkdir()
    (folder / "k.parq/.zmetadata").write_text('{"metadata": {}, "record_size": 10000}')
    (folder / "n5").mkdir()
    (folder / "n5/attributes.json").write_text('{"n5": "2.0.0"}')
    (folder / "notes.txt").write_text("x")
    (folder / "c.zarr").write_bytes(b"CDF\1" + bytes(60))
    shutil.copy(TIFF, folder / "in.tif")
    zarr.open_group(folder / "v2.zarr", mode="w", zarr_format=2)
    python("import h5py\nwith h5py.File('x.h5', 'w') as f: f['x'] = 1", folder, {})
    return folder


@pytest.fixture(scope="module")
def places(folder):
    """Names of what rows speak of in braces."""
    plain, secure = serve(folder), serve(folder, make_certificate(folder))
    yield {"here": str(folder), "http": f"http://localhost:{plain.server_port}",
           "https": f"https://localhost:{secure.server_port}", "wrong": f"https://localhost:{plain.server_port}",
           "home": os.environ.get("HOME", "/home/...")}
    plain.shutdown()
    secure.shutdown()


# ---- The mistakes

ROWS = [
    # A directory that is no store.
    (h5py, "'empty.zarr'", {}, "not a Zarr store", "empty.zarr/zarr.json", "the directory is empty"),
    (h5py, "'files.zarr'", {}, "not a Zarr store", "files.zarr/zarr.json"),
    (h5py, "'plain'", ZARR, "not a Zarr store", "plain/zarr.json", "there is one in 'plain/inner.zarr'"),
    (gdal, "'empty.zarr'", {}, "not a Zarr store", "empty.zarr/zarr.json"),
    (gdal, "'ZARR3:plain'", {}, "not a Zarr store", "plain/zarr.json"),
    (shell, "gdalinfo files.zarr", {}, "not a Zarr store", "files.zarr/zarr.json"),
    (shell, "zarrbridge ls plain", {}, "not a Zarr store", "plain/zarr.json", "'plain/inner.zarr'"),
    (shell, "zarrbridge info empty.zarr", {}, "not a Zarr store", "the directory is empty"),
    (shell, "zarrbridge verify s.zarr/a/c", {}, "is not a store", "s.zarr/a/c/zarr.json"),
    (shell, "zarrbridge verify empty.zarr", {}, "is not a store", "empty.zarr/zarr.json"),
    (shell, "h5ls empty.zarr", {**ZARR, "ZARRBRIDGE_VERBOSE": "1"}, "not a Zarr store", "empty.zarr/zarr.json"),
    # A store of another kind.
    (h5py, "'ice'", {}, "Icechunk repository", "plain store of Zarr version 3"),
    (gdal, "'ice'", {}, "Icechunk repository", "plain store of Zarr version 3"),
    (shell, "zarrbridge ls ice", {}, "Icechunk repository"),
    (h5py, "'k.json'", {}, "kerchunk reference file", "write a store of Zarr version 3 from it"),
    (shell, "zarrbridge ls k.json", {}, "kerchunk reference file"),
    (h5py, "'k.parq'", {}, "kerchunk reference directory"),
    (shell, "gdalinfo k.json", {}, "kerchunk reference file", "write a store of Zarr version 3 from it"),
    (shell, "gdalinfo k.parq", {}, "kerchunk reference directory"),
    (h5py, "'n5'", {}, "this is N5, not Zarr"),
    (gdal, "'n5'", {}, "this is N5, not Zarr"),
    (shell, "zarrbridge ls x.h5", {}, "is an HDF5 file, not a Zarr store", "h5repack"),
    (shell, "zarrbridge info c.zarr", {}, "netCDF file of the classic format", "nccopy -k nc4"),
    (shell, "zarrbridge info notes.txt", {}, "neither a zip archive nor a directory"),
    (h5py, "'v2.zarr', 'r+'", {}, "Zarr version 2", "zarrbridge copy"),
    # Names in the form of other programs.
    (h5py, "'~/x.zarr'", {}, "only a shell knows ~", "write '{home}/x.zarr'"),
    (gdal, "'~/x.zarr'", {}, "only a shell knows ~", "write '{home}/x.zarr'"),
    (shell, "zarrbridge ls ~/x.zarr", {}, "only a shell knows ~", "write '{home}/x.zarr'"),
    (h5py, "'file://{here}/s.zarr'", {}, "a URL for a local path", "write '{here}/s.zarr'"),
    (h5py, "'zarr:file://{here}/s.zarr'", {}, "write '{here}/s.zarr'"),
    (gdal, "'file://{here}/s.zarr'", {}, "a URL for a local path", "write '{here}/s.zarr'"),
    (gdal, "'ZARR3:file://{here}/s.zarr'", {}, "write '{here}/s.zarr'"),
    (shell, "zarrbridge ls file://{here}/s.zarr", {}, "write '{here}/s.zarr'"),
    (shell, "zarrbridge ls file://localhost{here}/s.zarr", {}, "write '{here}/s.zarr'"),
    (shell, "zarrbridge ls zarr:{http}/s.zarr", {}, "for HDF5 programs alone", "write '{http}/s.zarr'"),
    (gdal, "'zarr:{http}/s.zarr'", {}, "for HDF5 programs", "write {http}/s.zarr"),
    (h5py, "'gs://bucket/x.zarr'", {}, "a URL of a kind that is not read here", "https://", "s3://"),
    (gdal, "'gs://bucket/x.zarr'", {}, "a URL of a kind that is not read here", "/vsigs/"),
    (shell, "zarrbridge ls s.zarr/zarr.json", {}, ""),
    (shell, "zarrbridge verify s.zarr/zarr.json", {}, ""),
    (h5py, "'Upper.Zarr'", {}, ""),
    (gdal, "'Upper.Zarr'", {}, ""),
    # Options.
    (h5py, "'s.zarr'", {"HDF5_VOL_CONNECTOR": "zarr shard=4x4"}, "no option 'shard=4x4'", "shards=auto|off|file|AxB",
     "strategy=rewrite|append|inplace"),
    (h5py, "'s.zarr'", {"HDF5_VOL_CONNECTOR": "zarr sync=maybe"}, "no option 'sync=maybe'", "sync=none|close|always"),
    (shell, "gdal_translate -q in.tif options.zarr -co SHARDS=64x64", {}, "no creation option SHARDS", "SHARD,",
     "BLOCKSIZE"),
    (shell, "gdal_translate -q in.tif values.zarr -co COMPRESS=FOO", {}, "COMPRESS=FOO is none of ZSTD"),
    (gdal, "'s.zarr', open_options=['LIST_ALL=YES']", {}, "no open option LIST_ALL", "LIST_ALL_ARRAYS"),
    (shell, "zarrbridge ls {http}/s.zarr#cafile=x", {}, "'cafile' is no option", "ca_file"),
    (shell, "zarrbridge ls {http}/s.zarr", {"ZARRBRIDGE_REMOTE_SECONDS": "x"}, "ZARRBRIDGE_REMOTE_SECONDS"),
    (shell, "zarrbridge doctor --only variable", {"ZARRBRIDGE_CACHE_BYTE": "1"},
     "ZARRBRIDGE_CACHE_BYTE is no variable", "write ZARRBRIDGE_CACHE_BYTES"),
    (shell, "zarrbridge lst s.zarr", {}, "lst", "ls"),
    # Names of the connector.
    *[(shell, "h5ls s.zarr", {"HDF5_VOL_CONNECTOR": value}, "names no connector that is here",
       "write HDF5_VOL_CONNECTOR=zarr") for value in ("zar", "Zarr", "zarrbridge", "zarr;shards=4x4", "hdf5_vol_zarr")],
    # The network.
    (h5py, "'{http}/two.zarr'", {}, "cannot list names", "zarrbridge consolidate"),
    (shell, "gdalinfo {http}/two.zarr", {}, "cannot list names", "zarrbridge consolidate"),
    (shell, "zarrbridge ls {http}/two.zarr", {}, "cannot list names", "zarrbridge consolidate"),
    (rasterio, "'{http}/two.zarr'", {}, "cannot list names", "zarrbridge consolidate"),
    (shell, "zarrbridge ls {http}/none.zarr", {}, "none.zarr/zarr.json: there is no such object"),
    (shell, "zarrbridge ls {https}/s.zarr", {}, "certificate", "SSL_CERT_FILE", "#ca_file=PATH"),
    (h5py, "'{https}/s.zarr'", {}, "certificate", "SSL_CERT_FILE", "#ca_file=PATH"),
    (shell, "zarrbridge ls {https}/s.zarr#ca_file=nothing.pem", {}, "#ca_file=PATH"),
    (shell, "zarrbridge ls {wrong}/s.zarr", {}, "http:// at this port"),
    (shell, "zarrbridge info {https}/s.zarr/a#ca_file={here}/certificate.pem", {}, ""),
    (shell, "zarrbridge ls {http}/s.zarr", {"ZARRBRIDGE_REMOTE_LIBRARY": "/nothing"}, "cannot open a URL", "/nothing"),
]


def variables_of(row):
    return ZARR if IS_V2 and row[0] is h5py and not row[2] else row[2]


def name_of(row):
    return f"{row[0].__name__} {row[1]} {' '.join(row[2].values())}"


@pytest.fixture(scope="module")
def answer(folder, places):
    """Runs a row; of rows in Python all that have the same library and variables, at the first of them."""
    known = {}

    def ask(row):
        function, line, *_ = row
        if function is shell:
            return shell(line.format(**places), folder, row[2])
        key = function, tuple(variables_of(row).items())
        if key not in known:
            lines = [function(each[1].format(**places)) for each in ROWS
                     if each[0] is function and variables_of(each) == variables_of(row)]
            known[key] = run_lines(lines, folder, variables_of(row))
        return known[key][function(line.format(**places))]

    return ask


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_the_message_helps(row, answer, places):
    status, said = answer(row)
    words = row[3:]
    if words == ("",):
        assert status == 0 and "rror" not in said, said
        return
    for word in words:
        assert word.format(**places) in said, said
    assert status != 0 or "option" in words[0], said


def test_there_are_forty():
    assert len(ROWS) >= 40


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who becomes another user")
@pytest.mark.parametrize("shut", ["", "zarr.json"])
@pytest.mark.parametrize("words", [["gdalinfo"], [PROGRAM, "ls"]])
def test_without_permission(shut, words):
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        store = make_store(pathlib.Path(place) / "s.zarr", "a")
        os.chmod(store / shut, 0)
        done = subprocess.run([*words, store], user="nobody", capture_output=True, text=True, timeout=120)
        assert done.returncode != 0 and "ermission denied" in done.stderr + done.stdout, done


def test_a_store_with_capitals_is_made(folder):
    """It was an HDF5 file of that name."""
    status, said = python(h5py("'made.Zarr', 'w'"), folder, ZARR)
    assert status == 0 and (folder / "made.Zarr/zarr.json").exists(), said


def test_every_option_that_messages_name_is_one(folder):
    said = python(h5py("'s.zarr'"), folder, {"HDF5_VOL_CONNECTOR": "zarr x=1"})[1]
    names = said.split("there are ")[1].split(", remote=")[0].split(", ")
    assert len(names) >= 8
    given = [f"{name}={value.replace('AxB', '4x4')}" for name, values in (word.split("=") for word in names)
             for value in values.split("|")]
    done = python("import h5py; h5py.File('s.zarr').close()", folder, {"HDF5_VOL_CONNECTOR": "zarr " + " ".join(given)})
    assert done == (0, ""), (given, done)
