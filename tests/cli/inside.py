"""Run the command line inside the process of the tests: starting torch anew each time would take long."""

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from chmcnn.cli import main


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What `chmcnn` with these arguments prints, and its exit code."""
    words = ["chmcnn", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
