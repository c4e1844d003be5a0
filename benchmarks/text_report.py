"""Tables of the results of `benchmarks.texts`."""

import pandas as pd

from benchmarks.markdown import table
from benchmarks.measure import load_all
from benchmarks.text_problems import PROBLEMS as UNSORTED
from benchmarks.texts import BY_WORDS, CANDIDATES, DEFAULT, FOLDER, LENGTHS, LOSSES, PAIRS, PLAIN, SETTINGS

PROBLEMS = sorted(UNSORTED)
MEASURES = ["AU(PRC)", "hierarchical F"]
_COMMAND = "Run by `python -m benchmarks.texts choose`"
_BEFORE = f"{_COMMAND} of version 0.2.0, with words and pairs as features, and 10 epochs with a cosine."


def compared() -> str:
    """Return the mean measures of the systems on text, over all seeds."""
    runs = pd.DataFrame([run for result in load_all(FOLDER, "[!c]*.json") for run in result])
    means = runs.groupby(["problem", "system"], sort=False).mean().reset_index()
    cells = [
        [
            str(row["problem"]),
            str(row["system"]),
            *(f"{row[name]:.3f}" for name in MEASURES),
            f"{row['processor seconds']:.0f} s",
        ]
        for row in means.to_dict("records")
    ]
    header = ["problem", "system", *MEASURES, "processor time"]
    seeds, violations = runs["seed"].nunique(), int(runs["violations"].sum())
    note = f"Means of {seeds} seeds by `python -m benchmarks.texts`; {violations:,} violations."
    return f"{table(header, cells)}\n{note}\n"


def choices() -> str:
    """Return the measures of the default on validation rows of text, and by how much other candidates differ."""
    runs = _select(_load_choices(), DEFAULT)
    default = [_describe(runs.loc[[problem]], "") for problem in PROBLEMS]
    others = _subtract([(name, DEFAULT) for name in CANDIDATES | SETTINGS if name != DEFAULT])
    note = (
        "AU(PRC) / hierarchical F on validation rows, and for the others the mean difference to C-HMCNN on the same "
        f"rows; in brackets the number of seeds. {_BEFORE}"
    )
    return f"{table(['candidate', *PROBLEMS], [[DEFAULT, *default], *others])}\n{note}\n"


def losses() -> str:
    """Return by how much other losses differ from plain cross-entropy on validation rows of text."""
    cells = _subtract([(name, PLAIN) for name in (DEFAULT, *LOSSES)], deviations=True)
    note = (
        "AU(PRC) / hierarchical F on validation rows: the mean difference to the same network with plain BCE on the "
        f"same rows, and its deviation over the seeds; in brackets their number. {_BEFORE}"
    )
    return f"{table(['loss', *PROBLEMS], cells)}\n{note}\n"


def settings() -> str:
    """Return by how much MCLoss differs from plain cross-entropy if both have the same changed setting."""
    cells = _subtract(PAIRS, deviations=True)
    note = f"The mean difference of C-HMCNN to plain BCE, both with this setting, as above. {_BEFORE}"
    return f"{table(['setting', *PROBLEMS], cells)}\n{note}\n"


def lengths() -> str:
    """Return how well the network does if it is trained for longer, its best epochs, and its time."""
    runs = pd.DataFrame(load_all(FOLDER, "choose-*.json"))
    if runs.empty:
        return ""
    columns = [*MEASURES, "best epoch", "processor seconds"]
    run = [name for name in LENGTHS if name in set(runs["candidate"])]
    of_all = runs.groupby(["problem", "seed"])["candidate"].transform("nunique") == len(run)  # the same rows for all
    means = runs[of_all].groupby(["candidate", "problem"])[columns].mean()
    shown = {
        at: f"{auprc:.4f} / {f:.4f}, epoch {epoch:.0f}, {seconds:.0f} s"
        for at, (auprc, f, epoch, seconds) in zip(means.index, means.to_numpy(), strict=True)
    }
    cells = [[name, *(shown.get((name, problem), "not run") for problem in PROBLEMS)] for name in run]
    note = (
        "AU(PRC) / hierarchical F on validation rows, the best epoch, and processor time with the refit; "
        f"means of {runs[of_all]['seed'].nunique()} seeds or fewer. {_COMMAND}."
    )
    return f"{table(['training', *PROBLEMS], cells)}\n{note}\n"


def _subtract(pairs: list[tuple[str, str]], *, deviations: bool = False) -> list[list[str]]:
    """Return for each pair that was run by how much its first candidate differs from the second one."""
    runs = _load_choices()
    cells = []
    for name, other in pairs:
        differences = (_select(runs, name) - _select(runs, other)).dropna()
        if len(differences):
            groups = differences.groupby("problem")
            shown = {problem: _describe(group, "+", deviations=deviations) for problem, group in groups}
            cells.append([name, *(shown.get(problem, "not run") for problem in PROBLEMS)])
    return cells


def _describe(figures: pd.DataFrame, sign: str, *, deviations: bool = False) -> str:
    """Return the mean of each measure over the seeds, its deviation where there are several, and their number."""
    shown = [f"{value:{sign}.4f}" for value in figures.mean()]
    if deviations and len(figures) > 1:
        shown = [f"{mean} ± {value:.4f}" for mean, value in zip(shown, figures.std(), strict=True)]
    return f"{' / '.join(shown)} ({len(figures)})"


def _select(runs: pd.DataFrame, candidate: str) -> pd.DataFrame:
    """Return the measures of a candidate by problem and seed, which may be none."""
    return runs[runs.index.get_level_values("candidate") == candidate].droplevel("candidate")


def _load_choices() -> pd.DataFrame:
    """Return the measures by candidate, problem and seed; candidates that were not run have no rows."""
    runs = pd.DataFrame(load_all(BY_WORDS))
    return runs.set_index(["candidate", "problem", "seed"])[MEASURES].sort_index()
