"""Run a guide: its commands and its Python, in order, in one empty folder.

The language of a block says what happens to it:

- ``python``: examples with ``>>>`` are compared with what they print; other code runs. All blocks share their names.
- ``sh``: each line is a ``chmcnn`` command that succeeds; ``> file`` writes what it prints. Lines of ``torchrun -m``
  run in the processes that it would start. Lines of ``pip`` and ``python`` do not run: the programs in ``examples/``
  have tests of their own.
- ``console``: commands after ``$``, each followed by what it prints, where ``...`` stands for anything.
- any other language followed by a file name, such as ``csv pets.csv``: the file is written.
"""

import contextlib
import doctest
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.inside import run as run_command
from tests.processes import find_places, run_programs

_BLOCK = re.compile(r"^```(\S*)[ \t]*(\S*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    language: str
    file: str
    text: str
    line: int


def read_blocks(text: str) -> list[Block]:
    found = _BLOCK.finditer(text)
    return [Block(block[1], block[2], block[3], text.count("\n", 0, block.start()) + 1) for block in found]


def run_guide(path: Path, folder: Path) -> int:
    """Run all blocks of a guide in a folder; return the number of blocks."""
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = read_blocks(path.read_text(encoding="utf-8"))
    for block in blocks:
        place = f"{path.name}, line {block.line}"
        if block.language == "python":
            with contextlib.chdir(folder):
                _run_python(block, names, place)
        elif block.language == "sh":
            for line in _join_lines(block.text):
                _run_line(line, folder, place)
        elif block.language == "console":
            _run_console(block.text, folder, place)
        elif block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return len(blocks)


def _run_python(block: Block, names: dict[str, Any], place: str) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, place, "exec"), names)  # noqa: S102 -- the code of our own guide
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, place, place, block.line)
    test.globs = names  # not a copy: later blocks use what this one defines
    told: list[str] = []
    doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=told.append, clear_globs=False)
    assert not told, "".join(told)


def _join_lines(text: str) -> list[str]:
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _run_line(line: str, folder: Path, place: str) -> None:
    words = shlex.split(line, comments=True)
    if not words or words[0] in {"pip", "python"}:
        return
    if words[0] == "torchrun":
        _run_together(line, folder, place)
        return
    assert words[0] == "chmcnn", f"{place}: {line!r} is not a chmcnn command; see tests/guides.py."
    target = folder / words[words.index(">") + 1] if ">" in words else None
    done = run_command(*words[1 : words.index(">") if target else None], cwd=folder)
    assert done.returncode == 0, f"{place}: {line}\n{done.stderr}"
    if target:
        target.write_text(done.stdout, encoding="utf-8")


def _run_together(line: str, folder: Path, place: str) -> None:
    found = re.fullmatch(r"torchrun --standalone --nproc-per-node (\d+) -m (\S+) (.*)", line.strip())
    assert found, f"{place}: {line!r} is no torchrun that the tests know; see tests/guides.py."
    places = find_places(int(found[1]))
    for ended in run_programs(found[2], *shlex.split(found[3], comments=True), cwd=folder, environments=places):
        assert ended.returncode == 0, f"{place}: {line}\n{ended.stderr}"


def _run_console(text: str, folder: Path, place: str) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.replace("\\\n", " ").partition("\n")
        words = shlex.split(line, comments=True)
        assert words[0] == "chmcnn", f"{place}: {line!r} is not a chmcnn command; see tests/guides.py."
        done = run_command(*words[1:], cwd=folder)
        printed = done.stdout + done.stderr
        same = doctest.OutputChecker().check_output(f"{expected.strip()}\n", f"{printed.strip()}\n", _FLAGS)
        assert same, f"{place}: {line}\nexpected:\n{expected}\nprinted:\n{printed}"
