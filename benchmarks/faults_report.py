"""Tables of what was tried to break, and what failed, for `benchmarks.report`."""

from benchmarks.markdown import table
from benchmarks.measure import load


def fuzz() -> str:
    """What readers made of altered files."""
    content = load("fuzz")
    keys = ("files", "read", "refused")
    cells = [
        [
            row["reader"],
            *(f"{row[key]:,}" for key in keys),
            "; ".join(each["fault"] for each in row["faults"]) or "-",
        ]
        for row in content["rows"]
    ]
    return f"{table(['reader', 'altered files', *keys[1:], 'faults'], cells)}\nRun by `{content['command']}`.\n"


def summary() -> str:
    """What was tried in all, and what failed, by command."""
    return f"{table(['what', 'tried', 'failed', 'command'], list_trials())}\n"


def list_trials() -> list[list[str]]:
    """Return what was tried, how often, how often it failed, and by which command."""
    fuzzed, soaked = load("fuzz"), {row["task"]: row for row in load("soak")["rows"]}
    altered, crashes = load("altered")["rows"][0], load("crash_points")["rows"]
    files = [row["files"] for row in fuzzed["rows"]]
    faults = sum(len(row["faults"]) for row in fuzzed["rows"])
    bad_models = sum(altered[key] for key in ("code run", "unclear", "hangs", "loaded with the key"))
    points = sum(row[failure] for row in crashes for failure in ("crash", "full", "broken", "no rights"))
    cells = [
        [
            f"altered files, {min(files):,} to {max(files):,} for each of {len(files)} readers",
            f"{sum(files):,}",
            str(faults),
            "`python -m benchmarks.fuzz`",
        ],
        [
            f"altered models, {altered['hostile']:,} of them hostile, loaded without and with the key of a signature",
            f"{altered['models']:,}",
            str(bad_models),
            "`python -m benchmarks.altered`",
        ],
        [
            f"crash, ENOSPC, EIO and EACCES at each call that changes the disk, for {len(crashes)} kinds of files",
            f"{points:,}",
            str(sum(len(row["faults"]) for row in crashes)),
            "`python -m benchmarks.crash_points`",
        ],
    ]
    names = {"train": "trainings", "predict": "predictions", "compare": "comparisons", "search": "searches"}
    for task, name in names.items():
        row = soaked[task]
        failed = sum(row[key] for key in ("lost", "different", "unclear", "hangs"))
        more = f"{row['full']:,} times on a full disk, {row['clock']:,} times with another clock"
        what = f"{name}: the process was killed; besides, {more}"
        cells.append([what, f"{row['killed']:,}", str(failed), "`python -m benchmarks.soak`"])
    return cells
