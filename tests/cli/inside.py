"""Run the command line inside the process of the tests: starting torch anew each time would take long."""

import contextlib
import functools
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import typer.main

from chmcnn.cli import main

_get_command = functools.cache(typer.main.get_command)
"""Reads the options of all commands: once, and not in each call, as many calls take no longer than that."""


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What `chmcnn` with these arguments prints, and its exit code."""
    words = ["chmcnn", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(typer.main, "get_command", _get_command),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run_to_file(arguments: Sequence[str | Path], cwd: Path, file: Path) -> None:
    """Run a command in a process that `tests.processes` starts, and write what it prints as JSON."""
    done = run(*arguments, cwd=cwd)
    file.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
