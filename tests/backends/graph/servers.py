"""SPARQL servers for tests and benchmarks: a real Virtuoso, and an Oxigraph in a thread."""

from __future__ import annotations

import http.server
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from urllib.parse import parse_qs

VIRTUOSO, ISQL = shutil.which("virtuoso-t"), shutil.which("isql-vt")
GRAPH = "http://lifelong-gym.test/graph"

_SETTINGS = """\
[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
ErrorLogLevel = 7
FileExtend = 200
MaxCheckpointRemap = 2000
Striping = 0
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = {folder}/temp.db
TransactionFile = {folder}/temp.trx
MaxCheckpointRemap = 2000
Striping = 0
[Parameters]
ServerPort = 127.0.0.1:{port}
DirsAllowed = {folder}
NumberOfBuffers = {buffers}
MaxDirtyBuffers = {dirty}
SchedulerInterval = 10
[HTTPServer]
ServerPort = 127.0.0.1:{http_port}
ServerRoot = {folder}
MaxKeepAlives = 10
KeepAliveTimeout = 60
ServerThreads = 10
[SPARQL]
ResultSetMaxRows = {most_rows}
DefaultGraph = {graph}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def virtuoso(folder, triples, *, buffers=40_000, most_rows=10_000):
    """A Virtuoso with one file of N-Triples in it, its own limits as Debian sets them."""
    folder.mkdir(parents=True, exist_ok=True)
    port, http_port = free_port(), free_port()
    settings = _SETTINGS.format(
        folder=folder, port=port, http_port=http_port, graph=GRAPH,
        buffers=buffers, dirty=buffers * 3 // 4, most_rows=most_rows,
    )  # fmt: skip
    (folder / "virtuoso.ini").write_text(settings)
    server = subprocess.Popen(
        [VIRTUOSO, "+foreground", "+configfile", folder / "virtuoso.ini"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait(server, port)
        shutil.copyfile(triples, folder / "load.nt")
        _isql(port, f"ld_dir('{folder}', 'load.nt', '{GRAPH}'); rdf_loader_run(); checkpoint;")
        yield f"http://127.0.0.1:{http_port}/sparql?default-graph-uri={GRAPH}"
    finally:
        server.kill()
        server.wait()


def _isql(port, statements):
    done = subprocess.run(
        [ISQL, f"127.0.0.1:{port}", "dba", "dba", "VERBOSE=OFF", f"EXEC={statements}"],
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert "Error" not in done.stderr + done.stdout, done.stderr + done.stdout


def _wait(server, port):
    for _ in range(600):
        assert server.poll() is None, "virtuoso ended by itself"
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("virtuoso did not start within a minute")


class Server(http.server.ThreadingHTTPServer):
    """A SPARQL endpoint over a store, which can be made to misbehave.

    `delay_s` waits before every answer, `most_rows` cuts results without a word, `answer`
    replaces them.
    """

    daemon_threads = True

    def __init__(self, store=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store, self.delay_s, self.most_rows, self.answer = store, 0.0, None, None
        self.queries = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/sparql"

    def stop(self):
        self.shutdown()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version = "Oxigraph-in-a-test"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = parse_qs(body)["query"][0]
        self.server.queries.append(query)
        time.sleep(self.server.delay_s)
        status, answer = self.server.answer or (200, self.results(query))
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def results(self, query):
        import json

        import pyoxigraph as ox

        raw = self.server.store.query(query).serialize(format=ox.QueryResultsFormat.JSON)
        if self.server.most_rows is None:
            return raw
        results = json.loads(raw)
        del results["results"]["bindings"][self.server.most_rows :]
        return json.dumps(results).encode()

    def log_message(self, *args):
        pass
