"""An endpoint that cuts, drips, hangs, dies or talks nonsense."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from lifelong_gym.backends.graph import ActionTimeout, Deadline, open_graph
from lifelong_gym.errors import BackendError, UsageError
from tests.backends.graph.servers import Server

ox = pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")

MANY = 12_345


@pytest.fixture(scope="module")
def star():
    """A store in which one entity leads to many."""
    store = ox.Store()
    lines = [f"<urn:hub> <urn:to> <urn:n{n}> .\n" for n in range(MANY)]
    lines += [f'<urn:n{n}> <urn:v> "{n}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
              for n in range(MANY)]  # fmt: skip
    store.bulk_load(input="".join(lines), format=ox.RdfFormat.N_TRIPLES)
    return store


@pytest.fixture
def server(star):
    server = Server(star)
    yield server
    server.stop()


@pytest.fixture
def connect():
    """Opens graphs, and closes them at the end of the test."""
    graphs = []

    def connect(url):
        graphs.append(open_graph(url))
        return graphs[-1]

    yield connect
    for graph in graphs:
        graph.close()


def hub(graph, seconds=60):
    return graph.neighbors(frozenset({"urn:hub"}), "urn:to", Deadline(seconds))


def test_more_rows_than_the_endpoint_gives_at_once_are_read_in_pages(connect, server):
    server.most_rows = 1000

    assert len(hub(connect(server.url))) == MANY


def test_a_short_answer_costs_one_query(connect, server):
    graph = connect(server.url)
    graph.neighbors(frozenset({"urn:n1"}), "urn:to", Deadline(60))

    assert len(server.queries) == 1


def test_a_large_set_goes_along_in_pieces(connect, server):
    graph = connect(server.url)
    found = graph.extreme(hub(graph), "urn:v", Deadline(60), largest=True)

    assert found == {f"urn:n{MANY - 1}"}
    assert max(map(len, server.queries)) < 20_000


def test_a_slow_endpoint_ends_the_action_and_not_the_episode(connect, server):
    graph = connect(server.url)
    hub(graph)
    server.delay_s = 0.5

    started = time.monotonic()
    with pytest.raises(ActionTimeout, match=r"stopped after 0.2 s"):
        hub(graph, seconds=0.2)
    assert time.monotonic() - started < 3


def test_an_endpoint_that_hangs_is_the_systems_fault(connect, monkeypatch):
    monkeypatch.setattr("lifelong_gym.backends.graph.endpoint._PING_S", 0.2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        graph = connect(f"http://127.0.0.1:{deaf.getsockname()[1]}/sparql")

        with pytest.raises(BackendError, match="does not answer any more"):
            hub(graph, seconds=0.2)


def test_an_endpoint_that_drips_cannot_hold_an_action(connect, monkeypatch):
    monkeypatch.setattr("lifelong_gym.backends.graph.endpoint._PING_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_drip, args=(listener,), daemon=True).start()
        graph = connect(f"http://127.0.0.1:{listener.getsockname()[1]}/sparql")

        started = time.monotonic()
        with pytest.raises(BackendError, match="does not answer any more"):
            hub(graph, seconds=0.3)
        assert time.monotonic() - started < 3


def _drip(listener):
    for _ in range(2):
        client, _ = listener.accept()
        client.recv(1 << 16)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            try:
                client.sendall(b" ")
            except OSError:
                break
            time.sleep(0.05)
        client.close()


def test_an_endpoint_that_dies_is_the_systems_fault(connect, star):
    server = Server(star)
    graph = connect(server.url)
    hub(graph)
    graph.close()
    server.stop()

    with pytest.raises(BackendError, match="cannot be reached"):
        hub(graph)


def test_a_connection_that_was_closed_meanwhile_is_opened_again(connect, server):
    graph = connect(server.url)
    hub(graph)
    graph._connection._kept.sock.shutdown(socket.SHUT_RDWR)

    assert len(hub(graph)) == MANY


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, b"out of memory"), "says 500: out of memory"),
        ((404, b""), "says 404"),
        ((200, b"<html>Login</html>"), r"does not answer in SPARQL's JSON: <html>Login"),
        ((200, b'{"results": 5}'), "does not answer in SPARQL's JSON"),
        ((200, b"[" * 100_000), "does not answer in SPARQL's JSON"),
    ],
)
def test_nonsense_is_the_systems_fault(connect, server, answer, message):
    server.answer = answer

    with pytest.raises(BackendError, match=message):
        hub(connect(server.url))


def test_an_answer_that_the_endpoint_calls_partial_is_not_believed(connect, server):
    server.answer = (206, b'{"results": {"bindings": []}}')

    with pytest.raises((ActionTimeout, BackendError)):
        hub(connect(server.url))


def test_rows_that_stay_away_are_noticed(connect, server):
    graph = connect(server.url)
    whole = server.RequestHandlerClass.results
    cut = iter([5000, 5000, 0])

    class Forgetful(server.RequestHandlerClass):
        def results(self, query):
            if "COUNT" not in query:
                self.server.most_rows = next(cut)
            raw = whole(self, query)
            self.server.most_rows = None
            return raw

    server.RequestHandlerClass = Forgetful

    with pytest.raises(BackendError, match=f"gave 5000 of {MANY} rows"):
        hub(graph)


def test_a_url_without_a_host_is_refused():
    with pytest.raises(UsageError, match="has a host"):
        open_graph("http:///sparql")


def test_nothing_an_agent_names_becomes_sparql(connect, server):
    graph = connect(server.url)
    evil = "urn:hub> ?p ?o . } DROP ALL #"

    assert graph.entity(evil, Deadline(60)) is None
    assert len(graph.neighbors(frozenset({evil}), evil, Deadline(60))) == 0
    assert not any(evil in query for query in server.queries)
