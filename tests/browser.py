"""Chromium, for tests that look at a page; each page has a browser of its own."""

import shutil
import subprocess
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def show(file: Path, *options: str) -> str:
    """Open a page, and return what it is after a few seconds of its own time, as HTML."""
    profile = f"--user-data-dir={file.parent / 'profile'}"  # two browsers cannot share one
    command = [str(CHROMIUM), *_OPTIONS, profile, "--virtual-time-budget=5000", *options, "--dump-dom", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
