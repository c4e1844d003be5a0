import gc
import json
import os
from pathlib import Path

import pytest
from tests.serving.models import create_model

from chmcnn.errors import ChmcnnError
from chmcnn.serving import Limits, ServiceSettings, create_app_from_environment
from chmcnn.serving._measured import SHARED


def test_a_process_serves_what_it_is_told_and_reads_the_secret_itself(tmp_path: Path) -> None:
    create_model().save(tmp_path / "model")
    secret = tmp_path / "secret.txt"
    secret.write_text("abc-def\n")
    settings = ServiceSettings(
        str(tmp_path / "model"), "cpu", Limits(rows=7), str(secret), ("http://page.example",), ("localhost",)
    )
    with settings.shared():
        told = os.environ["CHMCNN_SERVE"]
        folder = Path(os.environ[SHARED])
        assert folder.is_dir()
        app = create_app_from_environment()
        gc.unfreeze()
    assert "abc-def" not in told
    assert json.loads(told)["limits"]["rows"] == 7
    document = app.openapi()
    body = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["rows"]["maxItems"] == 7
    assert document["security"] == [{"token": []}]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_nothing_is_left_of_what_processes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, "before")
    with ServiceSettings("model").shared():
        folder = Path(os.environ[SHARED])
    assert not folder.exists()
    assert os.environ[SHARED] == "before"
    assert "CHMCNN_SERVE" not in os.environ


def test_what_is_wrong_is_found_without_a_service_that_keeps_the_model(tmp_path: Path) -> None:
    create_model().save(tmp_path / "model")
    ServiceSettings(str(tmp_path / "model")).check()
    with pytest.raises(ChmcnnError, match=r"secret.txt: the secret cannot be read: No such file"):
        ServiceSettings(str(tmp_path / "model"), token_file=str(tmp_path / "secret.txt")).check()
    with pytest.raises(ChmcnnError, match="there is no such folder"):
        ServiceSettings(str(tmp_path / "other")).check()


@pytest.mark.parametrize("content", ["two words", "", "ä"])
def test_a_secret_that_cannot_be_used_is_refused(tmp_path: Path, content: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(content, encoding="utf-8")
    with pytest.raises(ChmcnnError, match="has no usable secret; expected one line of letters, digits or signs"):
        ServiceSettings("model", token_file=str(secret)).read_token()
