import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.serving.asking import ask

from chmcnn.serving._measured import Measured
from chmcnn.serving._watch import LOOPBACK, Guard, Watch


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    del receive
    if scope["path"] == "/broken":
        raise RuntimeError("a fault of ours")
    policy = [(b"content-security-policy", b"of the page")] if scope["path"] == "/page" else []
    await send({"type": "http.response.start", "status": 200, "headers": policy})
    await send({"type": "http.response.body", "body": b"fine"})


def test_all_answers_have_headers_and_a_page_keeps_its_policy() -> None:
    app = Watch(answer, Measured())
    headers = ask(app, "GET", "/any").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert ask(app, "GET", "/page").headers["content-security-policy"] == "of the page"


def test_a_fault_is_an_answer_that_tells_nothing_and_goes_on_to_the_log() -> None:
    measured, sent = Measured(), []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {"type": "http", "path": "/broken", "method": "GET", "headers": []}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a fault of ours"):
            asyncio.run(Watch(answer, measured)(scope, receive, send))
    assert sent[0]["status"] == 500
    assert sent[0]["headers"] == sent[2]["headers"], "each answer has its own"
    assert (b"x-content-type-options", b"nosniff") in sent[0]["headers"]
    assert sent[1]["body"] == b'{"detail":"The service failed; its log says why."}'
    assert 'status="500"' in measured.text().decode()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert ask(Guard(answer, None, LOOPBACK), "GET", "/", {"Host": host}).status == 200


@pytest.mark.parametrize("host", ["page.example", "localhost.page.example:8000", "", "127.0.0.1.page.example"])
def test_another_name_of_this_machine_is_refused(host: str) -> None:
    found = ask(Guard(answer, None, LOOPBACK), "GET", "/", {"Host": host})
    assert found.status == 421
    assert found.json()["detail"].startswith(
        f"The header Host is {host.removesuffix(':8000')!r}; expected 127.0.0.1 or"
    )


def test_other_names_are_answered_where_none_are_given() -> None:
    assert ask(Guard(answer, None, ()), "GET", "/", {"Host": "page.example"}).status == 200


def test_a_token_is_compared_as_a_whole() -> None:
    guard = Guard(answer, "abc", ())
    found = [
        ask(guard, "GET", "/model", {"Authorization": given}).status
        for given in ("Bearer abc", "bearer  abc ", "Bearer ab", "Bearer abcd", "Basic abc", "abc", "Bearer ä")
    ]
    assert found == [200, 200, 401, 401, 401, 401, 401]
    assert ask(guard, "GET", "/healthz").status == 200


def test_open_paths_need_no_token_where_the_service_is_mounted() -> None:
    async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
        await Guard(answer, "abc", ())({**scope, "root_path": "/models"}, receive, send)

    assert ask(mounted, "GET", "/models/healthz").status == 200
    assert ask(mounted, "GET", "/models/model").status == 401
