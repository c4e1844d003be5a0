import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inside import run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the server was started with, instead of starting it."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr("uvicorn.run", lambda app, **options: calls.append({"app": app, **options}))
    return calls


def test_it_listens_on_this_machine_only(folder: Path, started: list[dict[str, Any]]) -> None:
    done = run("serve", "model", "--port", "9000", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("model: http://127.0.0.1:9000. Ctrl-C ends")
    assert (started[0]["host"], started[0]["port"], started[0]["timeout_graceful_shutdown"]) == ("127.0.0.1", 9000, 30)
    assert "/predict" in started[0]["app"].openapi()["paths"]


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
