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
    from chmcnn.experiments.context import Context

    Advance = Callable[[], object]
    Part = Callable[[Advance], Mapping[str, Any]]


def run(context: Context, parts: Mapping[str, Part], *, settings: Mapping[str, int | str], steps: int) -> None:
    """Run the parts that have no file.

    A part returns its result, and calls its argument after each of its ``steps``.
    """
    finished = collect(context.folder, parts, settings)
    total = steps * len(parts)
    counter = count(steps * len(finished) + 1)
    with context.show_progress() as progress:
        for name in [name for name in parts if name not in finished]:
            result = parts[name](lambda: progress(next(counter), total))
            content = {"command": context.command, "versions": versions(), "settings": settings, "result": result}
            results.write(context.folder / f"{name}.json", content)


def coordinates(*problems: Rectangles) -> dict[str, int | str]:
    """Return a digest of the rectangles' coordinates, as a setting: results of other coordinates have another one."""
    places = [[astuple(rectangle) for rectangle in problem.rectangles] for problem in problems]
    return {"coordinates": hashlib.sha256(json.dumps(places).encode()).hexdigest()[:8]}


def collect(folder: Path, names: Iterable[str], settings: Mapping[str, int | str]) -> dict[str, dict[str, Any]]:
    """Read the parts that have a file; all must have the given settings, and agree in the others."""
    parts: dict[str, dict[str, Any]] = {}
    for name in names:
        path = folder / f"{name}.json"
        if path.exists():
            content = results.read(path)
            expected = {**next(iter(parts.values()), content)["settings"], **settings}
            if content["settings"] != expected:
                raise FileError(
                    f"it has results for {_describe(content['settings'])}, not for {_describe(expected)}; "
                    f"choose another folder, or delete {folder} and run `chmcnn reproduce {folder.name}`",
                    path,
                )
            parts[name] = content
    return parts


def _describe(settings: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
