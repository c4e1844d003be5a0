"""Altered files for every reader: anything but a result or a documented error is a fault.

python -m benchmarks.fuzz                    # up to 1,000 files for each reader; repeat it with more to go on
python -m benchmarks.fuzz --inputs 100000 --reader csv --reader obo      # the results of the others stay
python -m benchmarks.fuzz --reader csv --number 4711 --keep build/fuzz   # writes that file, and reads it

Each file is a good one with some pieces replaced, at random: its number says which. A reader hangs if it takes more
than a minute, and takes too much memory if it adds a gibibyte to the process. Both are faults, and so is a process that
dies. In a temporary folder in memory (TMPDIR=/dev/shm), most readers take half the time.
"""

import argparse
import faulthandler
import multiprocessing
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from ctypes import c_long
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.fuzz_readers import READERS
from benchmarks.measure import RESULTS, load, peak_mib, save
from chmcnn import ChmcnnError
from chmcnn._io.user_code import describe_error

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_HANGS = 60
"""Seconds after which a reader hangs."""
_MEMORY = 1024
"""The MiB that reading may add to a process."""
_AT_ONCE = 5_000
"""The files that one process reads."""
_FAULTS = 5
"""The faults of a reader that are described."""


def main() -> None:
    """Fuzz the readers, and write what was tried and what failed to results/fuzz.json."""
    parser = argparse.ArgumentParser(description="Altered files for every reader.")
    parser.add_argument("--inputs", type=int, default=1_000, help="altered files for each reader, with those so far")
    parser.add_argument("--reader", action="append", choices=READERS, help="a reader (repeatable); by default all")
    parser.add_argument("--number", type=int, help="only the file of this number, without a result")
    parser.add_argument("--keep", type=Path, help="where that file is written")
    options = parser.parse_args()
    names = options.reader or list(READERS)
    if options.number is not None:
        for name in names:
            print(name, fuzz(name, [options.number], keep=options.keep))
        return
    rows = {row["reader"]: row for row in _read_rows()}
    for target in range(_AT_ONCE, options.inputs + _AT_ONCE, _AT_ONCE):
        for name in names:
            _go_on(rows, name, min(target, options.inputs))
    raise SystemExit(any(rows[name]["faults"] for name in names))


def _read_rows() -> list[dict[str, Any]]:
    """Return the results so far: the readers need not be fuzzed all at once."""
    path = RESULTS / "fuzz.json"
    return list(load("fuzz")["rows"]) if path.exists() else []


def _go_on(rows: dict[str, dict[str, Any]], name: str, target: int) -> None:
    """Read files up to a number, and add what came of it to the results."""
    row = rows.setdefault(name, {"reader": name, "files": 0, "read": 0, "refused": 0, "slowest": 0.0, "faults": []})
    while row["files"] < target:
        found = fuzz_apart(name, range(row["files"], target))
        for key in ("files", "read", "refused"):
            row[key] += found[key]
        row["slowest"] = max(row["slowest"], found["slowest"])
        row["faults"] = [*row["faults"], *found["faults"]][:_FAULTS]
        save("fuzz", "python -m benchmarks.fuzz", [rows[name] for name in READERS if name in rows])
        print(name, row, flush=True)


def fuzz_apart(name: str, numbers: range) -> dict[str, Any]:
    """Fuzz in a process of its own; if it dies, the file that it died of is a fault, and the last one."""
    context = multiprocessing.get_context("fork")
    at: Synchronized[int] = context.Value(c_long, numbers.start)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, name, numbers, at))
    process.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
    except EOFError:
        process.join()
        cause = "hangs" if process.exitcode == -signal.SIGALRM else f"ends the process with {process.exitcode}"
        faults = [{"number": at.value, "fault": cause}]
        found = {"files": at.value + 1 - numbers.start, "read": 0, "refused": 0, "slowest": 0.0, "faults": faults}
    process.join()
    return found


def _send(sender: Any, name: str, numbers: range, at: "Synchronized[int]") -> None:  # noqa: ANN401 -- a connection
    """Send what came of some files, with bounds on time and memory."""
    faulthandler.register(signal.SIGALRM, chain=True)  # prints where it hangs, and ends the process
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 4 * _MEMORY * 2**20, resource.RLIM_INFINITY))
    sender.send(fuzz(name, numbers, at))


def fuzz(
    name: str, numbers: Iterable[int], at: "Synchronized[int] | None" = None, keep: Path | None = None
) -> dict[str, Any]:
    """Let a reader read altered files; return how many it read and refused, and the faults."""
    reader = READERS[name]
    counts: Counter[str] = Counter()
    faults: dict[str, dict[str, Any]] = {}
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        good = reader.prepare(Path(folder))
        path = (keep or Path(folder)) / reader.file
        path.parent.mkdir(parents=True, exist_ok=True)
        for number in numbers:
            path.write_bytes(reader.alter(_draw(name, number), good))
            if at is not None:
                at.value = number
                signal.alarm(_HANGS)
            start, peak = time.process_time(), peak_mib()
            try:
                reader.read(path)
                counts["read"] += 1
            except ChmcnnError:
                counts["refused"] += 1
            except Exception as error:  # noqa: BLE001 -- any of them is a fault
                faults.setdefault(describe_error(error), {"number": number})
            if counts["files"] and peak_mib() > peak + _MEMORY:
                faults.setdefault(f"took {peak_mib() - peak:.0f} MiB", {"number": number})
            slowest = max(slowest, time.process_time() - start)
            counts["files"] += 1
        signal.alarm(0)
    described = [{**where, "fault": fault} for fault, where in faults.items()]
    return {**{key: counts[key] for key in ("files", "read", "refused")}, "slowest": slowest, "faults": described}


def _draw(name: str, number: int) -> Random:
    return Random(f"{name} {number}")  # noqa: S311 -- which pieces to replace


if __name__ == "__main__":
    main()
