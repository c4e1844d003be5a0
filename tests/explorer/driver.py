"""A real browser: Chromium by its driver, which takes orders over HTTP (the WebDriver standard).

Requests is all that this needs. Client libraries bring more packages than the orders that they save here: Selenium's
come with trio, whose plugin for hypothesis warns, and warnings are errors in our tests.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests
from tests.browser import CHROMIUM

DRIVER = shutil.which("chromedriver")
LONGEST = 300.0
"""Seconds to wait for what must come; no test depends on how long it takes."""
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""What the standard calls a reference to an element."""
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Key:
    """Keys without a letter, by their codes in the standard."""

    BACKSPACE, ENTER, ESCAPE, END, HOME = "\ue003", "\ue007", "\ue00c", "\ue010", "\ue011"
    LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"


class Browser:
    """A session of a browser."""

    def __init__(self, session: str) -> None:
        self._session = session

    def order(self, path: str, **content: Any) -> Any:
        """Give an order, and return what comes of it."""
        response = requests.post(f"{self._session}/{path}", json=content, timeout=LONGEST).json()["value"]
        if isinstance(response, dict) and "error" in response:
            raise AssertionError(f"{path}: {response['message'].partition('Stacktrace')[0]}")
        return response

    def visit(self, address: str) -> None:
        """Open a page anew."""
        self.read_log()  # what another page said
        self.order("url", url="about:blank")
        self.order("url", url=address)

    def control(self, command: str, **parameters: Any) -> Any:
        """Give an order of Chromium's own protocol."""
        return self.order("goog/cdp/execute", cmd=command, params=parameters)

    def resize(self, width: int, height: int = 900) -> None:
        """Make the window as narrow as a phone or as wide as a desktop."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.control("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script in the page returns."""
        return self.order("execute/sync", script=script, args=list(arguments))

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements of a kind."""
        script = "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)"
        found: list[str] = self.run(script, selector)
        return found

    def click(self, selector: str) -> None:
        """Click the first element of a kind."""
        self.order(f"element/{self._find(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Type into the first element of a kind."""
        self.order(f"element/{self._find(selector)}/value", text=text)

    def put(self, selector: str, text: str) -> None:
        """Put a text into the first element of a kind, in the place of what is there."""
        self.run("document.querySelector(arguments[0]).value = arguments[1]", selector, text)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        actions = [{"type": kind, "value": key} for text in keys for key in text for kind in ("keyDown", "keyUp")]
        self.order("actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def wait(self, is_there: Callable[[], object]) -> None:
        """Wait for what must come."""
        end = time.monotonic() + LONGEST
        while not is_there():
            assert time.monotonic() < end, self.texts("body")[0][:2000]
            time.sleep(0.02)

    def read_log(self) -> list[str]:
        """What the browser complains about: scripts, the content security policy, files that are not there."""
        entries = self.order("se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def _find(self, selector: str) -> str:
        found: str = self.order("element", using="css selector", value=selector)[_ELEMENT]
        return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start Chromium with an empty profile, and end it."""
    command = [str(DRIVER), "--port=0"]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as driver,
    ):
        assert driver.stdout
        (port,) = next(filter(None, (re.findall(r"successfully on port (\d+)", line) for line in driver.stdout)))
        options = {"binary": CHROMIUM, "args": [*_OPTIONS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        sessions = f"http://127.0.0.1:{port}/session"
        try:
            started = requests.post(sessions, json={"capabilities": {"alwaysMatch": wanted}}, timeout=LONGEST).json()
            session = f"{sessions}/{started['value']['sessionId']}"
            yield Browser(session)
            requests.delete(session, timeout=LONGEST)
        finally:
            driver.terminate()
