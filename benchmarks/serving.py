"""A service under load: ``python -m benchmarks.serving [REQUESTS]``.

A service of a model of the handwritten digits runs in a process of its own. Clients here send one row at a time, and
the next one when they have the answer. Beside it: the same rows by `predict_proba` in a loop, one at a time, and in
batches.
"""

import asyncio
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import requests

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, save
from chmcnn import CHMCNNClassifier, datasets

CLIENTS = (1, 8, 64)
REQUESTS = 5000
BATCH = 64
LONGEST = 60.0
"""Seconds to wait for the service to begin."""


def main(words: list[str]) -> None:
    """Measure the loops and the service, and write results/serving.json."""
    number = int(words[0]) if words else REQUESTS
    data = datasets.load("digits")
    model = CHMCNNClassifier(data.hierarchy, epochs=15, random_state=0).fit(data.train.X, data.train.Y)
    rows = [
        measure_loop(model, data.test.X, 1, "a loop, row by row"),
        measure_loop(model, data.test.X, BATCH, "a loop, in batches"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        with serving(Path(folder, "model")) as (port, process):
            bodies = [create_request(row) for row in data.test.X.to_dict("records")]
            asyncio.run(send(port, bodies, 64, 500))  # what libraries do at first use
            for clients in CLIENTS:
                rows.append(measure_service(port, process, bodies, clients, number))
                print(rows[-1], flush=True)
    print(save("serving", "python -m benchmarks.serving", rows))


def report() -> str:
    """Return the table of the guide."""
    content = json.loads((RESULTS / "serving.json").read_text(encoding="utf-8"))
    rows = content["rows"]
    loop = rows[0]["rows a second"]
    cells = [
        [
            f"{row['way']}, {row['clients']} clients" if row["clients"] else row["way"],
            f"{row['requests']:,}",
            f"{row.get('lost', 0)}",
            f"{row['rows a second']:,.0f}",
            f"{row['rows a second'] / loop:.2f} x",
            f"{row['p50 ms']:.1f} ms",
            f"{row['p99 ms']:.1f} ms",
            f"{row['MiB more']:+.1f} MiB" if "MiB more" in row else "",
        ]
        for row in rows
    ]
    header = ["way", "calls", "lost", "rows a second", "to the loop by row", "p50", "p99", "memory afterwards"]
    return f"{table(header, cells)}\nMeasured by `{content['command']}`, clients and service on the same two cores.\n"


def measure_loop(model: CHMCNNClassifier, X: pd.DataFrame, batch: int, name: str) -> dict[str, Any]:
    """Predict rows in this process."""
    blocks = [X[start : start + batch] for start in range(0, len(X) // batch * batch, batch)]
    for block in blocks[:20]:
        model.predict_proba(block)
    times: list[float] = []
    while sum(times) < 5:
        for block in blocks:
            start = time.perf_counter()
            model.predict_proba(block)
            times.append(time.perf_counter() - start)
    return {
        "way": name,
        "clients": 0,
        "requests": len(times),
        "rows a second": batch * len(times) / sum(times),
    } | _quantiles(times)


def measure_service(port: int, process: int, bodies: list[bytes], clients: int, number: int) -> dict[str, Any]:
    """Send requests from several clients at a time."""
    before, start = _resident_mib(process), time.perf_counter()
    times = asyncio.run(send(port, bodies, clients, number))
    seconds = time.perf_counter() - start
    return {
        "way": "the service",
        "clients": clients,
        "requests": number,
        "lost": number - len(times),
        "rows a second": len(times) / seconds,
        "MiB more": _resident_mib(process) - before,
    } | _quantiles(times)


def _resident_mib(process: int) -> float:
    """Return the memory of a process, where the system has /proc."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def _quantiles(times: list[float]) -> dict[str, float]:
    return {"p50 ms": float(np.quantile(times, 0.5)) * 1e3, "p99 ms": float(np.quantile(times, 0.99)) * 1e3}


def create_request(row: dict[str, float]) -> bytes:
    """Return a whole request of HTTP for one row."""
    body = json.dumps({"rows": [row]}).encode()
    head = "POST /predict?top=5 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def send(port: int, bodies: list[bytes], clients: int, number: int) -> list[float]:
    """Send a number of requests; return the time of each that was answered with the status 200."""
    places = iter(range(number))
    times: list[float] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for place in places:
            start = time.perf_counter()
            writer.write(bodies[place % len(bodies)])
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(size.split(b":")[1]))
            if head.startswith(b"HTTP/1.1 200"):
                times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return times


@contextmanager
def serving(model: Path) -> Iterator[tuple[int, int]]:
    """Start ``chmcnn serve`` on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "chmcnn", "serve", str(model), "--port", str(port), "--quiet"]
    with subprocess.Popen(command) as process:  # noqa: S603 -- our own command
        try:
            _wait(port)
            yield port, process.pid
        finally:
            process.terminate()


def _wait(port: int) -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            requests.get(f"http://127.0.0.1:{port}/healthz", timeout=1).raise_for_status()
        except requests.ConnectionError:
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"The service did not begin within {LONGEST:g} seconds.")


if __name__ == "__main__":
    main(sys.argv[1:])
