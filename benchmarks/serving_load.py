"""Load for a service: clients in one thread, and servers in processes of their own.

Each client has one connection, sends one row, and sends the next when it has the answer. All clients share one loop
over ready sockets, which takes far less time for a request than the service does; `python -m benchmarks.serving_load
PORT` is a server that answers anything with the same bytes at once, to see what the clients alone can do.
"""

import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import requests

LONGEST = 600.0
"""Seconds to wait for a service to begin, and between two answers."""
_END = b"\r\n\r\n"
_LENGTH = b"content-length: "
_TICKS = os.sysconf("SC_CLK_TCK")


class Sent(NamedTuple):
    """What became of requests: seconds of each that was answered with the status 200, and of all together."""

    times: list[float]
    seconds: float


@dataclass
class _Client:
    """A connection, and what has arrived of an answer."""

    connection: socket.socket
    start: float = 0.0
    arrived: bytes = field(default=b"")

    def send(self, request: bytes) -> None:
        self.arrived, self.start = b"", time.perf_counter()
        self.connection.sendall(request)

    def receive(self) -> bool:
        """Take what is there; return whether the answer is complete."""
        data = self.connection.recv(1 << 18)
        if not data:
            raise ConnectionError("The service closed a connection.")
        self.arrived += data
        head = self.arrived.find(_END)
        if head < 0:
            return False
        at = self.arrived.find(_LENGTH) + len(_LENGTH)
        size = int(self.arrived[at : self.arrived.index(b"\r", at)])
        return len(self.arrived) >= head + len(_END) + size


def send(port: int, bodies: Sequence[bytes], clients: int, number: int) -> Sent:
    """Send a number of requests from several clients; one that fails or is not answered is missing in the times."""
    places = iter(range(number))
    times: list[float] = []
    begin = time.perf_counter()
    with selectors.DefaultSelector() as ready:
        for place in (next(places) for _ in range(min(clients, number))):
            connection = socket.create_connection(("127.0.0.1", port), timeout=LONGEST)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = _Client(connection)
            ready.register(connection, selectors.EVENT_READ, client)
            client.send(bodies[place % len(bodies)])
        while ready.get_map() and (events := ready.select(LONGEST)):
            for key, _ in events:
                client = key.data
                if not client.receive():
                    continue
                if client.arrived.startswith(b"HTTP/1.1 200"):
                    times.append(time.perf_counter() - client.start)
                if (place := next(places, -1)) >= 0:
                    client.send(bodies[place % len(bodies)])
                else:
                    ready.unregister(client.connection)
                    client.connection.close()
    return Sent(times, time.perf_counter() - begin)


def create_request(row: object) -> bytes:
    """Return a whole request of HTTP for one row."""
    body = json.dumps({"rows": [row]}, allow_nan=False).encode()
    head = "POST /predict?top=5 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def create_requests(X: pd.DataFrame) -> list[bytes]:
    """Return a request for each row of a table; missing values are null."""
    return [create_request(row) for row in X.astype(object).where(X.notna(), None).to_dict("records")]


class Server(NamedTuple):
    """A server that runs."""

    port: int
    process: int

    def list_processes(self) -> list[int]:
        """Return the process and its workers."""
        listed = Path(f"/proc/{self.process}/task/{self.process}/children").read_text(encoding="ascii").split()
        workers = [int(each) for each in listed if "spawn_main" in read_command(int(each))]
        return [self.process, *workers]

    def measure_processor(self) -> float:
        """Return the processor seconds of the process and of its workers."""
        total = 0
        for each in self.list_processes():
            fields = Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / _TICKS

    def measure_memory(self) -> float:
        """Return the MiB that are in memory for the process and for its workers."""
        pages = [
            int(Path(f"/proc/{each}/statm").read_text(encoding="ascii").split()[1]) for each in self.list_processes()
        ]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def read_command(process: int) -> str:
    """Return the command line of a process."""
    return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8").replace("\0", " ")


@contextmanager
def serving(model: Path, *options: str) -> Iterator[Server]:
    """Start ``chmcnn serve`` on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["-m", "chmcnn", "serve", str(model), "--port", str(port), "--quiet", *options]
    command += ["--seconds", str(LONGEST)]  # a machine that others keep busy is not what is measured
    with _running(command, port) as server:
        _wait(server)
        yield server


@contextmanager
def answering_alike() -> Iterator[Server]:
    """Start a server that answers anything with the same bytes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with _running(["-m", "benchmarks.serving_load", str(port)], port) as server:
        _wait(server)
        yield server


@contextmanager
def _running(command: list[str], port: int) -> Iterator[Server]:
    with subprocess.Popen([sys.executable, *command]) as process:  # noqa: S603 -- our own commands
        try:
            yield Server(port, process.pid)
        finally:
            process.send_signal(signal.SIGTERM)


def _wait(server: Server) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            requests.get(f"http://127.0.0.1:{server.port}/healthz", timeout=10).raise_for_status()
        except requests.ConnectionError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"The service did not begin within {LONGEST:g} seconds.")


def _answer_alike(port: int) -> None:
    """Answer whatever arrives, without reading it, until the process is ended."""
    body = b'{"rows": [' + b" " * 280 + b"]}"
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\ncontent-type: application/json\r\n\r\n" % len(body) + body
    connections: dict[int, Any] = {}
    with socket.create_server(("127.0.0.1", port)) as listening, select.epoll() as ready:
        ready.register(listening, select.EPOLLIN)
        while True:
            for at, _ in ready.poll():
                if at == listening.fileno():
                    connection, _ = listening.accept()
                    connections[connection.fileno()] = connection
                    ready.register(connection, select.EPOLLIN)
                elif connections[at].recv(1 << 18):
                    connections[at].sendall(answer)
                else:
                    connections.pop(at).close()


if __name__ == "__main__":
    _answer_alike(int(sys.argv[1]))
