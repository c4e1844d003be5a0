"""A server on loopback for the tests of downloads: honest, or wrong in one of several ways."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any


@contextmanager
def serve(folder: Path, way: str) -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server of the files in a folder, and the list of paths it was asked for."""
    asked: list[str] = []
    stopped = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            file = folder / self.path.lstrip("/")
            if way == "404" or not file.is_file():
                self.send_error(404)
                return
            with suppress(ConnectionError):
                if way in {"endless", "slow", "bomb"}:
                    send_without_length(self, way, file.read_bytes(), stopped)
                else:
                    send(self, way, file.read_bytes())
            self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, way: str, content: bytes) -> None:
    """Send a file, or another answer."""
    if way.startswith("redirect to "):
        handler.send_response(302)
        handler.send_header("Location", way.removeprefix("redirect to "))
    elif way == "hostile reason":
        handler.send_response_only(500, "\x1b[31mred\x9b")
    else:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    if way == "wrong bytes":
        content = content[:-1] + bytes([content[-1] ^ 1])
    handler.wfile.write(content[: len(content) // 2] if way == "cut" else content)


def send_without_length(handler: BaseHTTPRequestHandler, way: str, content: bytes, stopped: Event) -> None:
    """Send bytes without an end, or far too slowly, or packed."""
    handler.send_response(200)
    if way == "bomb":
        handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    if way == "bomb":
        handler.wfile.write(gzip.compress(bytes(100 * len(content))))
    while way == "endless":
        handler.wfile.write(content)
    while way == "slow" and not stopped.wait(0.01):
        handler.wfile.write(b"@")
