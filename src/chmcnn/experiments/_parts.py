"""Results of an experiment in parts, each in a file of its own: a finished part is never run again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from itertools import count
from typing import TYPE_CHECKING, Any

from chmcnn._io import results
from chmcnn.comparison import versions
from chmcnn.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from chmcnn.datasets.synthetic import Rectangles

    Advance = Callable[[], object]
    Part = Callable[[Advance], Mapping[str, Any]]


def run(
    folder: Path,
    parts: Mapping[str, Part],
    *,
    settings: Mapping[str, int | str],
    steps: int,
    command: str,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Run the parts that are not there.

    A part gives what to keep of it, and calls what it is given after each of its ``steps``.
    """
    done = collect(folder, parts, settings)
    total = steps * len(parts)
    counter = count(steps * len(done) + 1)

    def advance() -> None:
        if progress:
            progress(next(counter), total)

    for name in [name for name in parts if name not in done]:
        result = parts[name](advance)
        kept = {"command": command, "versions": versions(), "settings": settings, "result": result}
        results.write(folder / f"{name}.json", kept)


def coordinates(*problems: Rectangles) -> dict[str, int | str]:
    """Where the rectangles are, as a setting: a digest that tells results of other coordinates apart."""
    places = [[astuple(rectangle) for rectangle in problem.rectangles] for problem in problems]
    return {"coordinates": hashlib.sha256(json.dumps(places).encode()).hexdigest()[:8]}


def collect(folder: Path, names: Iterable[str], settings: Mapping[str, int | str]) -> dict[str, dict[str, Any]]:
    """Read the parts that are there: all of the settings that are given, and in others like the first part."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        path = folder / f"{name}.json"
        if path.exists():
            content = results.read(path)
            expected = {**next(iter(found.values()), content)["settings"], **settings}
            if content["settings"] != expected:
                raise FileError(
                    f"it is of a run with {_named(content['settings'])}, not {_named(expected)}; name another folder, "
                    f"or remove {folder} and run `chmcnn reproduce {folder.name}`",
                    path,
                )
            found[name] = content
    return found


def _named(settings: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
