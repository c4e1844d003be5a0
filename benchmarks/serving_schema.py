"""Requests made from the description of the service: ``python -m benchmarks.serving_schema [REQUESTS]``.

Schemathesis reads the OpenAPI document of a running service, sends requests that follow it and requests that do not,
and compares the answers with it. It is a program of its own (``pip install "chmcnn[schema]"``, also in another
environment), and is looked for beside the running Python and then in the search path.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import requests

from benchmarks.markdown import table
from benchmarks.measure import load, save
from benchmarks.serving_load import serving
from chmcnn import CHMCNNClassifier, Hierarchy

REQUESTS = 10_000
PROCESSES = 4
SECONDS = 240
"""Time of a round, after which results are written."""
ROUNDS = 60
LONGEST = 3600
"""Seconds until a round is given up."""
CHECKS = {
    "not_a_server_error": "no answer says that the service failed",
    "status_code_conformance": "each status is in the document",
    "content_type_conformance": "each kind of content is in the document",
    "response_headers_conformance": "headers are as in the document",
    "response_schema_conformance": "each answer has the form that the document says",
    "negative_data_rejection": "requests that break the document are refused",
    "unsupported_method": "other methods are refused",
    "allow_header_conformance": "and the methods that are allowed are named",
}
"""Not `positive_data_acceptance`: no document can say which texts are CSV files with the columns of a model."""
CONFIGURATION = """
[checks.negative_data_rejection]
expected-statuses = [404, 405, 413, 415, 422]
"""
"""A refusal may say that there are too many rows (413), which Schemathesis does not expect by itself."""


def main(words: list[str]) -> None:
    """Send requests, and write results/serving_schema.json."""
    number = int(words[0]) if words else REQUESTS
    with tempfile.TemporaryDirectory() as folder:
        create_model().save(Path(folder, "model"))
        with serving(Path(folder, "model")) as server:
            address = f"http://127.0.0.1:{server.port}"
            codes: list[int] = []
            rows: list[dict[str, Any]] = []
            while count_all(rows) < number and len(codes) < ROUNDS:
                codes.append(run_schemathesis(f"{address}/openapi.json", Path(folder), len(codes)))
                rows = count(Path(folder), requests.get(f"{address}/metrics", timeout=LONGEST).text)
                print(save("serving_schema", "python -m benchmarks.serving_schema", rows))
    print(report(), f"schemathesis ended with {codes}", sep="\n")
    sys.exit(max(codes))


def create_model() -> CHMCNNClassifier:
    """Return a model of numbers, categories, dates and text."""
    random = np.random.default_rng(0)
    kinds = random.choice(["dog", "cat", "pet"], 60)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=60),
            "zone": random.choice(["north", "south"], 60),
            "day": pd.to_datetime(random.choice(["2026-01-01", "2026-05-02"], 60)),
            "note": [f"a {kind} was seen by {number} people" for number, kind in enumerate(kinds)],
        }
    )
    hierarchy = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
    model = CHMCNNClassifier(hierarchy, epochs=2, refit=False, widths=(16,), random_state=0)
    return model.fit(frame, [{str(kind)} for kind in kinds])


def run_schemathesis(address: str, folder: Path, turn: int) -> int:
    """Let several processes send requests for some time, each with a seed of its own; return the highest exit code."""
    beside = Path(sys.executable).parent
    program = shutil.which("schemathesis", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        sys.exit("schemathesis is not there: pip install 'chmcnn[schema]'.")
    (folder / "schemathesis.toml").write_text(CONFIGURATION, encoding="utf-8")
    command = [program, "run", address, "--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing"]
    command += ["--max-time", str(SECONDS), "--continue-on-failure"]
    command += ["--suppress-health-check", "all", "--report", "ndjson", "--report-ndjson-path"]
    processes = [
        subprocess.Popen([*command, str(folder / f"{seed}.ndjson"), "--seed", str(seed)], cwd=folder)  # noqa: S603 -- found by name
        for seed in range(turn * PROCESSES, (turn + 1) * PROCESSES)
    ]
    return max(process.wait(LONGEST) for process in processes)


def count_all(rows: list[dict[str, Any]]) -> int:
    """Return the number of requests."""
    return sum(number for row in rows for number in row["statuses"].values())


def count(folder: Path, counts: str) -> list[dict[str, Any]]:
    """Return the requests that the service counted by path and status, and the checks that failed by path."""
    failed: dict[str, Counter[str]] = {}
    lines = (line for events in folder.glob("*.ndjson") for line in events.read_text(encoding="utf-8").splitlines())
    for line in lines:
        recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
        path = str(recorder.get("label", " ")).split(" ")[1]
        checks = [check for each in recorder.get("checks", {}).values() for check in each]
        failed.setdefault(path, Counter()).update(each["name"] for each in checks if each["status"] == "failure")
    statuses: dict[str, dict[str, int]] = {}
    for path, status, number in re.findall(r'chmcnn_requests_total{path="(.*)",status="(.*)"} (.*)', counts):
        statuses.setdefault(path, {})[status] = round(float(number))
    return [
        {"path": path, "statuses": dict(sorted(found.items())), "failed": dict(failed.get(path, {}))}
        for path, found in sorted(statuses.items())
    ]


def report() -> str:
    """Return the table of the guide."""
    content = load("serving_schema")
    cells = [
        [
            f"`{row['path']}`" if row["path"] != "other" else "other paths and methods",
            f"{sum(row['statuses'].values()):,}",
            ", ".join(f"{status}: {number:,}" for status, number in row["statuses"].items()),
            f"{sum(number for status, number in row['statuses'].items() if status.startswith('5'))}",
            ", ".join(f"{name}: {number:,}" for name, number in row["failed"].items()) or "none",
        ]
        for row in content["rows"]
    ]
    checks = "; ".join(f"{said} (`{name}`)" for name, said in CHECKS.items())
    header = ["path", "requests", "answers by status", "server errors", "failed checks"]
    total = f"{count_all(content['rows']):,} requests of `{content['command']}`, as the service counted them."
    return f"{table(header, cells)}\n{total} What was checked: {checks}.\n"


if __name__ == "__main__":
    main(sys.argv[1:])
