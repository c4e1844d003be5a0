"""Altered files for every reader: anything but a result or a documented error is a fault.

python -m benchmarks.fuzz                    # 1,000 files for each reader
python -m benchmarks.fuzz --inputs 100000 --reader csv --reader obo      # the results of the others stay

Each file is a good one with some pieces replaced, by Hypothesis, which also finds the smallest one that fails. A reader
that takes longer than a minute ends the run with its traceback.
"""

import argparse
import faulthandler
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_readers import READERS, Reader
from benchmarks.measure import RESULTS, save
from chmcnn import ChmcnnError
from chmcnn._io.user_code import describe_error

_HANGS = 60
"""Seconds after which a reader hangs."""


def main() -> None:
    """Fuzz the readers, and write what was tried and what failed to results/fuzz.json."""
    parser = argparse.ArgumentParser(description="Altered files for every reader.")
    parser.add_argument("--inputs", type=int, default=1_000, help="altered files for each reader")
    parser.add_argument("--reader", action="append", choices=READERS, help="a reader (repeatable); by default all")
    options = parser.parse_args()
    rows = {row["reader"]: row for row in _read_rows()}
    for name in options.reader or READERS:
        rows[name] = {"reader": name, **fuzz(READERS[name], options.inputs)}
        save("fuzz", "python -m benchmarks.fuzz", [rows[name] for name in READERS if name in rows])
    raise SystemExit(any(rows[name]["fault"] for name in options.reader or READERS))


def _read_rows() -> list[dict[str, Any]]:
    """Return the results so far: the readers need not be fuzzed all at once."""
    path = RESULTS / "fuzz.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["rows"]) if path.exists() else []


def fuzz(reader: Reader, inputs: int) -> dict[str, Any]:
    """Let a reader read altered files; return how many it read and refused, and the first fault."""
    counts: Counter[str] = Counter()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / reader.file
        prepared = reader.prepare(Path(folder))

        @settings(
            max_examples=inputs,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def read(data: st.DataObject) -> None:
            path.write_bytes(reader.alter(data, prepared))
            counts["files"] += 1
            faulthandler.dump_traceback_later(_HANGS, exit=True)
            try:
                reader.read(path)
                counts["read"] += 1
            except ChmcnnError:
                counts["refused"] += 1
            finally:
                faulthandler.cancel_dump_traceback_later()

        fault = ""
        try:
            read()
        except Exception as error:  # noqa: BLE001 -- any of them is a fault
            faults = error.exceptions if isinstance(error, ExceptionGroup) else [error]
            fault = "; ".join(map(describe_error, faults))
    print(f"{reader.file}: {dict(counts)} {fault}", flush=True)
    return {"files": counts["files"], "read": counts["read"], "refused": counts["refused"], "fault": fault}


if __name__ == "__main__":
    main()
