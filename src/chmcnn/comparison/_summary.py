"""What a comparison says: means and deviations, ranks, and the tests that its results allow."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from chmcnn import _wording, significance
from chmcnn.comparison._runs import NUMBERS, Run, frame
from chmcnn.comparison._splits import TEST_SHARE
from chmcnn.errors import ChmcnnError, ScoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chmcnn.significance import Friedman, Missing, Nemenyi

ALPHA = 0.05
ENOUGH = 6
"""How many data sets a test over data sets needs: with 5, no two systems can differ at the level of 0.05."""
_ALONE = {"notes": ["One system: there is nothing to compare it with."]}
REPEATS = 3
"""How many folds or random splits a test on one data set needs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """How sure it is that a system differs from the control, on one data set, or (None) over all."""

    dataset: str | None
    system: str
    p: float  # corrected for the number of systems


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The results of several systems on several data sets, and what follows from them."""

    runs: pd.DataFrame  # one row for each result
    sizes: Mapping[str, Mapping[str, int]]  # of each data set
    means: pd.DataFrame  # AU(PRC), data sets x systems; NaN where a system has no result
    deviations: pd.DataFrame
    details: pd.DataFrame  # mean figures, one row for each data set and system
    reasons: Mapping[tuple[str, str], str]  # (data set, system): why there is no result
    control: str  # the system that the others are tested against
    ranks: pd.Series[float] | None
    friedman: Friedman | None
    nemenyi: Nemenyi | None
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]  # how it was tested, or why it was not
    versions: tuple[Mapping[str, str], ...]  # more than one if results of several are mixed

    def differs(self, dataset: str | None, system: str) -> bool:
        """Whether a system differs significantly from the control."""
        return any((each.dataset, each.system) == (dataset, system) and each.p < ALPHA for each in self.pairs)

    @property
    def costs(self) -> pd.DataFrame:
        """Mean figures of each system over the data sets."""
        return self.details.groupby("system", sort=False, as_index=False).mean(numeric_only=True)

    def mean(self, dataset: str, system: str) -> float:
        """The mean score; NaN where there is no result."""
        return float(self.means[system][dataset])

    def deviation(self, dataset: str, system: str) -> float:
        """The deviation of the scores; NaN where there is no result, or one."""
        return float(self.deviations[system][dataset])

    def best(self, dataset: str) -> str:
        """The system with the best mean on a data set."""
        return str(self.means.loc[dataset].idxmax())

    def facts(self) -> dict[str, Any]:
        """What a machine reads."""
        rows = [
            row | {"deviation": self.deviation(row["dataset"], row["system"])} | self._reason(row)
            for row in self.details.to_dict("records")
        ]
        return {
            "data": {name: dict(sizes) for name, sizes in self.sizes.items()},
            "results": rows,
            "average ranks": None if self.ranks is None else self.ranks.to_dict(),
            "friedman": self.friedman and {"chi-square": self.friedman.chi_square, "p": self.friedman.p},
            "nemenyi": self.nemenyi
            and {
                "critical difference": self.nemenyi.critical_difference,
                "groups that do not differ": self.nemenyi.groups,
                "p": self.nemenyi.p.to_dict(),
            },
            "control": self.control,
            "against the control": [asdict(each) for each in self.pairs],
            "notes": self.notes,
            "versions": [dict(each) for each in self.versions],
        }

    def _reason(self, row: dict[Any, Any]) -> dict[str, str]:
        place = (row["dataset"], row["system"])
        return {"reason": self.reasons[place]} if place in self.reasons else {}


def summarise(
    runs: list[Run],
    *,
    systems: Sequence[str],
    sizes: Mapping[str, Mapping[str, int]],
    drawn: Mapping[str, bool],
    missing: Missing,
) -> Comparison:
    """Sum up; ``drawn`` tells of which data sets each result has test rows of its own."""
    table = frame(runs)
    reasons = {(run.cell.dataset, run.cell.system): run.reason for run in runs if run.figures is None}
    if table["auprc"].isna().all():
        place, reason = next(iter(reasons.items()))
        raise ChmcnnError(f"There is no result at all. {place[1]} on {place[0]}: {reason}")
    figures = list(NUMBERS)
    table[figures] = table[figures].astype(float)
    for dataset, system in reasons:  # a mean of some of the seeds is not to be compared with one of all
        table.loc[(table["dataset"] == dataset) & (table["system"] == system), figures] = math.nan
    grouped = table.groupby(["dataset", "system"], sort=False)
    details = grouped[figures].mean().reindex(pd.MultiIndex.from_product([list(sizes), systems])).reset_index()
    details = details.set_axis(["dataset", "system", *figures], axis=1)
    means, deviations = (
        values.unstack().loc[list(sizes), list(systems)]  # noqa: PD010 -- there is nothing to aggregate
        for values in (grouped["auprc"].mean(), grouped["auprc"].std())
    )
    ranked = _ranked(means, missing)
    found = _over_datasets(ranked, means) if len(ranked) >= ENOUGH else _on_each(table, means, drawn, len(ranked))
    versions = tuple(dict(each) for each in dict.fromkeys(tuple(sorted(run.versions.items())) for run in runs) if each)
    notes = list(found["notes"])
    if len(versions) > 1:
        notes.append("Results of several versions are mixed: see the versions in comparison.json.")
    return Comparison(
        runs=table,
        sizes=sizes,
        means=means,
        deviations=deviations,
        details=details,
        reasons=reasons,
        control=systems[0],
        ranks=significance.ranks(ranked) if min(ranked.shape) >= 2 else None,
        versions=versions,
        **{"friedman": None, "nemenyi": None, "pairs": (), **found, "notes": tuple(notes)},
    )


def _ranked(means: pd.DataFrame, missing: Missing) -> pd.DataFrame:
    """What is ranked: no data set without any result, and, where missing ones are omitted, no such system."""
    kept = means.dropna(how="all")
    return kept.dropna(axis=1, how="all").dropna() if missing == "omit" else kept


def _over_datasets(kept: pd.DataFrame, means: pd.DataFrame) -> dict[str, Any]:
    """The tests over data sets, of which each counts once, whatever its number of seeds or folds."""
    if means.shape[1] < 2:
        return _ALONE
    found: dict[str, Any] = {}
    notes = []
    try:
        if kept.shape[1] > 2:
            found["friedman"], found["nemenyi"] = significance.friedman(kept), significance.nemenyi(kept, alpha=ALPHA)
            notes.append(
                f"Friedman over {len(kept)} data sets: p = {found['friedman'].p:.2g}. Nemenyi: average ranks that are "
                f"{found['nemenyi'].critical_difference:.2f} or more apart differ significantly."
            )
    except ScoreError as error:
        notes.append(str(error))
    control, *others = means.columns
    tested = {name: p for name in others if (p := _wilcoxon(means[control], means[name])) is not None}
    pairs = _corrected(None, tested)
    if pairs:
        notes.append(_told(pairs, control, "Wilcoxon over data sets, Holm's correction"))
    return found | {"pairs": pairs, "notes": notes}


def _wilcoxon(a: pd.Series[float], b: pd.Series[float]) -> float | None:
    """Its p-value, exact where there are few data sets and no ties; None where there are too few."""
    differences = (a - b).dropna().round(12)
    if len(differences) < ENOUGH:
        return None
    if not differences.any():
        return 1.0
    tied = differences.abs().duplicated().any() or (differences == 0).any()
    return significance.wilcoxon(a, b, exact=len(differences) <= 25 and not tied).p


def _on_each(table: pd.DataFrame, means: pd.DataFrame, drawn: Mapping[str, bool], ranked: int) -> dict[str, Any]:
    """The tests on one data set: where each result has test rows of its own, and there are enough of them."""
    if means.shape[1] < 2:
        return _ALONE
    can = f"{_wording.count(ranked, 'data set')} can be ranked, it takes {ENOUGH} or more"
    notes = [f"Over data sets nothing is tested: {can}."] if len(means) > 1 else []
    fixed = [name for name in means.index if not drawn[name]]
    if fixed:
        notes.append(
            f"On {', '.join(fixed)} nothing is tested: seeds share the test rows, and tell nothing of other rows. "
            f"Use --folds, or {ENOUGH} or more data sets."
        )
    pairs: list[Pair] = []
    for name in means.index.difference(fixed, sort=False):
        pairs += _on_one(table[table["dataset"] == name], name, means)
    if pairs:
        how = "t-test over splits, corrected for the rows that they share and, by Holm, for the number of systems"
        notes.append(_told(pairs, means.columns[0], how))
    elif len(fixed) < len(means):
        notes.append(f"On one data set nothing is tested: it takes {REPEATS} or more folds or seeds, and two results.")
    return {"pairs": tuple(pairs), "notes": notes}


def _on_one(table: pd.DataFrame, dataset: str, means: pd.DataFrame) -> tuple[Pair, ...]:
    control, *others = means.columns
    done = set(means.loc[[dataset]].dropna(axis=1).columns)
    folds = table["folds"].iloc[0]
    split = "seed" if pd.isna(folds) else "fold"
    scores = table.pivot_table(index=split, columns="system", values="auprc")
    if len(scores) < REPEATS or control not in done:
        return ()
    share = TEST_SHARE if pd.isna(folds) else 1 / folds
    tested = {
        name: significance.resampled(scores[control], scores[name], test_share=share) for name in others if name in done
    }
    return _corrected(dataset, tested)


def _told(pairs: Sequence[Pair], control: str, how: str) -> str:
    """What the stars mean, or that there is none."""
    start = "*: differs" if any(each.p < ALPHA for each in pairs) else "No system differs significantly"
    return f"{start} from {control} ({how}; level {ALPHA})."


def _corrected(dataset: str | None, tested: Mapping[str, float]) -> tuple[Pair, ...]:
    corrected = significance.holm(list(tested.values()))
    return tuple(Pair(dataset, name, p) for name, p in zip(tested, corrected, strict=True))
