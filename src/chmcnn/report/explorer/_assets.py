"""The script and the style of the explorer."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files

_SCRIPTS = ("elements", "sources", "graph", "search", "classes", "answers", "rows", "main")
"""Parts of the script, in the order in which they are needed."""


def read_script() -> str:
    """Return the script, as one program that leaves nothing behind in the page."""
    parts = "\n".join(_read(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def read_style() -> str:
    """Return the style."""
    return _read("explorer.css")


def read_page() -> str:
    """Return the page of a service, which has no data and needs the script and the style as files beside it."""
    return _read("service.html")


def create_policy(script: str, style: str) -> str:
    """Return the content security policy of a page that loads nothing, and executes this script alone.

    >>> create_policy("alert(1)", "").split("; ")[:3]
    ["default-src 'none'", 'img-src data:', "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"]
    """
    return f"default-src 'none'; img-src data:; script-src {_sign(script)}; style-src {_sign(style)}; base-uri 'none'"


def _sign(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (files("chmcnn.report.explorer") / "files" / name).read_text(encoding="utf-8")
