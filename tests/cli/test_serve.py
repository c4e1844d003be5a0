import gc
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inside import run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What the server was started with, instead of starting it, and what its workers are told."""
    calls: list[dict[str, Any]] = []

    def start(app: object, **options: Any) -> None:
        calls.append({"app": app, "told": os.environ.get("CHMCNN_SERVE"), **options})

    monkeypatch.setattr("uvicorn.run", start)
    monkeypatch.setattr("socket.create_server", lambda *_, **__: socket.socket())  # others may use these ports
    yield calls
    gc.unfreeze()


def test_it_listens_on_this_machine_only(folder: Path, started: list[dict[str, Any]]) -> None:
    done = run("serve", "model", "--port", "9000", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("model: http://127.0.0.1:9000. Ctrl-C ends")
    assert (started[0]["host"], started[0]["port"], started[0]["timeout_graceful_shutdown"]) == ("127.0.0.1", 9000, 30)
    assert "/predict" in started[0]["app"].openapi()["paths"]


def test_several_workers_are_told_what_to_serve(folder: Path, tmp_path: Path, started: list[dict[str, Any]]) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("abc-def\n")
    done = run("serve", "model", "--workers", "2", "--token-file", secret, "--most-rows", "7", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (started[0]["workers"], started[0]["factory"]) == (2, True)
    assert started[0]["app"] == "chmcnn.serving:create_app_from_environment"
    told = json.loads(started[0]["told"])
    assert (told["model"], told["limits"]["rows"], told["token_file"]) == ("model", 7, str(secret))
    assert "abc-def" not in started[0]["told"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "name.example"])  # noqa: S104 -- it is refused
def test_an_address_that_other_machines_reach_needs_a_token_or_a_word(
    folder: Path, started: list[dict[str, Any]], host: str
) -> None:
    done = run("serve", "model", "--host", host, cwd=folder)
    assert done.returncode == 2
    assert f"--host is {host!r}, so that other machines reach the service" in done.stderr
    assert started == []


def test_everybody_may_use_it_if_that_is_said(folder: Path, started: list[dict[str, Any]]) -> None:
    done = run("serve", "model", "--host", "0.0.0.0", "--without-token", cwd=folder)  # noqa: S104
    assert done.returncode == 0, done.stderr
    assert started[0]["host"] == "0.0.0.0"  # noqa: S104


def test_a_secret_that_cannot_be_used_is_refused(folder: Path, tmp_path: Path, started: list[dict[str, Any]]) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("two words\n")
    done = run("serve", "model", "--token-file", secret, cwd=folder)
    assert done.returncode == 2
    assert "has no usable secret; expected one line of letters, digits or signs." in done.stderr
    assert run("serve", "model", "--token-file", "none.txt", cwd=folder).returncode == 2
    assert started == []


def test_a_folder_without_a_model_is_told(folder: Path, started: list[dict[str, Any]]) -> None:
    done = run("serve", "none", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("chmcnn: none")
    assert started == []


def test_without_its_packages_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("serve", "model", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "chmcnn: The service needs uvicorn: pip install 'chmcnn[serve]'.\n"


def test_a_port_in_use_is_told_before_the_model_is_loaded(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = run("serve", "nowhere", "--port", str(port), cwd=tmp_path)
    assert done.returncode == 2
    assert f"Port {port} of 127.0.0.1 cannot be used: Address already in use; choose another with" in " ".join(
        done.stderr.split()
    )
