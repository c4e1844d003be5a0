"""A server on loopback for the tests of downloads: honest, or wrong in one of several ways."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


@contextmanager
def serve(folder: Path, way: str) -> Iterator[tuple[str, list[str]]]:
    """Give the address of a server of the files in a folder, and the list of paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            file = folder / self.path.lstrip("/")
            if way == "404" or not file.is_file():
                self.send_error(404)
                return
            content = file.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if way == "wrong bytes":
                content = content[:-1] + bytes([content[-1] ^ 1])
            self.wfile.write(content[: len(content) // 2] if way == "cut" else content)
            self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
