"""How many calls that change the disk were made to fail, in each way, while each kind of file was written.

python -m benchmarks.crash_points

It does what tests/test_crash_points.py does, and counts: after each failure the old or the new state must be there, and
the next attempt must succeed.
"""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.markdown import table
from benchmarks.measure import load, save
from chmcnn._io.user_code import describe_error

_NAMES = {"crash": "crash", "full": "ENOSPC", "broken": "EIO", "no rights": "EACCES"}


def main() -> None:
    """Count, and write the result to results/crash_points.json."""
    from tests.test_crash_points import WRITERS

    rows = [_count(name) for name in WRITERS]
    print(save("crash_points", "python -m benchmarks.crash_points", rows))
    raise SystemExit(any(row["faults"] for row in rows))


def _count(name: str) -> dict[str, Any]:
    """Return the failing calls of a writer by the kind of failure, and the kinds after which something was lost."""
    from tests.test_crash_points import fail_everywhere, prepare

    row: dict[str, Any] = {"writer": name, "faults": []}
    for failure in _NAMES:
        try:
            with tempfile.TemporaryDirectory() as folder, prepare(Path(folder)) as place:
                row[failure] = fail_everywhere(place, name, failure)
        except Exception as error:  # noqa: BLE001 -- any of them is a fault
            row["faults"].append(f"{failure}: {describe_error(error)}")
    print(row, flush=True)
    return row


def report() -> str:
    """Return the counts as a table."""
    content = load("crash_points")
    cells = [
        [row["writer"], *(str(row.get(failure, "")) for failure in _NAMES), str(len(row["faults"]))]
        for row in content["rows"]
    ]
    return f"{table(['written', *_NAMES.values(), 'lost or damaged'], cells)}\nCounted by `{content['command']}`.\n"


if __name__ == "__main__":
    main()
