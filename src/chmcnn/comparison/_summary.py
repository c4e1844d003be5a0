"""The summary of a comparison: means and deviations, ranks, and the tests that its results allow."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from chmcnn import _wording, significance
from chmcnn.comparison._figures import NUMBERS
from chmcnn.comparison._runs import Run, to_frame
from chmcnn.comparison._splits import TEST_SHARE
from chmcnn.errors import ChmcnnError, ScoreError
from chmcnn.metrics import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chmcnn.metrics import Measure
    from chmcnn.significance import Friedman, Missing, Nemenyi

ALPHA = 0.05
MIN_DATASETS = 6
"""Number of data sets that a test over data sets needs: with 5, no two systems can differ at the level of 0.05."""
MIN_REPEATS = 3
"""Number of folds or random splits that a test on one data set needs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The p-value of a system against the control, on one data set, or over all (None)."""

    dataset: str | None
    system: str
    p: float  # corrected for the number of systems


class Scores(NamedTuple):
    """The scores by one measure, data sets x systems; NaN where a system has no result."""

    means: pd.DataFrame
    deviations: pd.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The results of several systems on several data sets, and their statistics."""

    runs: pd.DataFrame  # one row for each result
    sizes: Mapping[str, Mapping[str, int]]  # of each data set
    measures: tuple[Measure, ...]  # ranks and tests use the first
    scores: Mapping[str, Scores]  # by the name of the measure
    details: pd.DataFrame  # mean figures, one row for each data set and system
    reasons: Mapping[tuple[str, str], str]  # of missing results, by (data set, system)
    traces: Mapping[tuple[str, str], str]  # where an error was raised, for those that are not about the input
    control: str  # the system that the others are tested against
    ranks: pd.Series[float] | None
    friedman: Friedman | None
    nemenyi: Nemenyi | None
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]  # how systems were tested, or why they were not
    versions: tuple[Mapping[str, str], ...]  # more than one if results of several are mixed

    def differs(self, dataset: str | None, system: str) -> bool:
        """Whether a system differs significantly from the control."""
        return any((pair.dataset, pair.system) == (dataset, system) and pair.p < ALPHA for pair in self.pairs)

    @property
    def costs(self) -> pd.DataFrame:
        """The mean figures of each system over the data sets."""
        return self.details.groupby("system", sort=False, as_index=False).mean(numeric_only=True)

    @property
    def main(self) -> Measure:
        """The measure of the ranks and tests."""
        return self.measures[0]

    @property
    def means(self) -> pd.DataFrame:
        """The mean scores by the main measure, data sets x systems; NaN where a system has no result."""
        return self.scores[self.main.name].means

    @property
    def deviations(self) -> pd.DataFrame:
        """The standard deviations of the scores by the main measure."""
        return self.scores[self.main.name].deviations

    def mean(self, dataset: str, system: str, measure: Measure | None = None) -> float:
        """Return the mean score; NaN where there is no result."""
        return float(self.scores[(measure or self.main).name].means[system][dataset])

    def deviation(self, dataset: str, system: str, measure: Measure | None = None) -> float:
        """Return the deviation of the scores; NaN with fewer than two results."""
        return float(self.scores[(measure or self.main).name].deviations[system][dataset])

    def best(self, dataset: str, measure: Measure | None = None) -> str | None:
        """Return the system with the best mean on a data set; None if no system has one."""
        chosen = measure or self.main
        means = self.scores[chosen.name].means.loc[dataset].dropna()
        if means.empty:
            return None
        return str(means.idxmax() if chosen.higher_is_better else means.idxmin())

    def facts(self) -> dict[str, Any]:
        """Return the content of comparison.json."""
        rows = [row | self._deviations(row) | self._reason(row) for row in self.details.to_dict("records")]
        return {
            "measures": [
                {"name": each.name, "title": each.title, "higher is better": each.higher_is_better}
                for each in self.measures
            ],
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
            "against the control": [asdict(pair) for pair in self.pairs],
            "notes": self.notes,
            "versions": [dict(versions) for versions in self.versions],
        }

    def _reason(self, row: dict[Any, Any]) -> dict[str, str]:
        place = (row["dataset"], row["system"])
        reason = {"reason": self.reasons[place]} if place in self.reasons else {}
        return reason | ({"traceback": self.traces[place]} if place in self.traces else {})

    def _deviations(self, row: dict[Any, Any]) -> dict[str, Any]:
        place = (row["dataset"], row["system"])
        every = {each.name: self.deviation(*place, each) for each in self.measures}
        return {"deviation": every[self.main.name]} | ({"deviations": every} if len(every) > 1 else {})


class _Tests(NamedTuple):
    """The tests that results allow."""

    friedman: Friedman | None = None
    nemenyi: Nemenyi | None = None
    pairs: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()


def summarise(
    runs: list[Run],
    *,
    systems: Sequence[str],
    sizes: Mapping[str, Mapping[str, int]],
    drawn: Mapping[str, bool],
    missing: Missing,
    measures: Sequence[Measure] = (MEASURES["auprc"],),
) -> Comparison:
    """Summarise results; ``drawn`` says for each data set whether each result has test rows of its own."""
    reasons = {(run.spec.dataset, run.spec.system): run.reason for run in runs if run.figures is None}
    if all(run.figures is None for run in runs):
        (dataset, system), reason = next(iter(reasons.items()))
        raise ChmcnnError(f"No run has a result. {system} on {dataset}: {reason}")
    figures = [*NUMBERS, *(measure.name for measure in measures if measure.name not in NUMBERS)]
    table = _mask_incomplete(to_frame(runs, measures), reasons, figures)
    grouped = table.groupby(["dataset", "system"], sort=False)
    details = grouped[figures].mean().reindex(pd.MultiIndex.from_product([list(sizes), systems])).reset_index()

    def arrange(values: pd.Series) -> pd.DataFrame:
        return values.unstack().loc[list(sizes), list(systems)]  # noqa: PD010 -- there is nothing to aggregate

    scores = {
        measure.name: Scores(arrange(grouped[measure.name].mean()), arrange(grouped[measure.name].std()))
        for measure in measures
    }
    main = measures[0]
    means = scores[main.name].means if main.higher_is_better else -scores[main.name].means
    ranked = _select_ranked(means, missing)
    tests = _run_tests(table.assign(score=table[main.name]), means, ranked, drawn)
    versions = tuple(
        dict(items) for items in dict.fromkeys(tuple(sorted(run.versions.items())) for run in runs) if items
    )
    mixed = ("The results come from several versions: see versions in comparison.json.",) if len(versions) > 1 else ()
    return Comparison(
        runs=table,
        sizes=sizes,
        measures=tuple(measures),
        scores=scores,
        details=details.set_axis(["dataset", "system", *figures], axis=1),
        reasons=reasons,
        traces={(run.spec.dataset, run.spec.system): run.trace for run in runs if run.figures is None and run.trace},
        control=systems[0],
        ranks=significance.ranks(ranked) if min(ranked.shape) >= 2 else None,
        friedman=tests.friedman,
        nemenyi=tests.nemenyi,
        pairs=tests.pairs,
        notes=tests.notes + mixed,
        versions=versions,
    )


def _mask_incomplete(table: pd.DataFrame, reasons: Mapping[tuple[str, str], str], figures: list[str]) -> pd.DataFrame:
    """Remove all figures of a system on a data set where one is missing: a mean over some seeds is not comparable."""
    table[figures] = table[figures].astype(float)
    for dataset, system in reasons:
        table.loc[(table["dataset"] == dataset) & (table["system"] == system), figures] = math.nan
    return table


def _select_ranked(means: pd.DataFrame, missing: Missing) -> pd.DataFrame:
    """Leave out data sets without any result and, where missing ones are omitted, such systems too."""
    ranked = means.dropna(how="all")
    return ranked.dropna(axis=1, how="all").dropna() if missing == "omit" else ranked


def _run_tests(table: pd.DataFrame, means: pd.DataFrame, ranked: pd.DataFrame, drawn: Mapping[str, bool]) -> _Tests:
    if means.shape[1] < 2:
        return _Tests(notes=("There is only one system, so there is nothing to compare it with.",))
    return (
        _test_over_datasets(ranked, means)
        if len(ranked) >= MIN_DATASETS
        else _test_each(table, means, drawn, len(ranked))
    )


def _test_over_datasets(ranked: pd.DataFrame, means: pd.DataFrame) -> _Tests:
    """Test over data sets; each counts once, whatever its number of seeds or folds."""
    friedman, nemenyi, notes = None, None, []
    try:
        if ranked.shape[1] > 2:
            friedman, nemenyi = significance.friedman(ranked), significance.nemenyi(ranked, alpha=ALPHA)
            notes.append(
                f"Friedman over {len(ranked)} data sets: p = {friedman.p:.2g}. Nemenyi: average ranks differ "
                f"significantly if they are at least {nemenyi.critical_difference:.2f} apart."
            )
    except ScoreError as error:
        notes.append(str(error))
    control, *others = means.columns
    p_values = {name: p for name in others if (p := _test_pair(means[control], means[name])) is not None}
    pairs = _correct_pairs(None, p_values)
    if pairs:
        notes.append(_explain_stars(pairs, control, "Wilcoxon over data sets, Holm's correction"))
    return _Tests(friedman, nemenyi, pairs, tuple(notes))


def _test_pair(a: pd.Series[float], b: pd.Series[float]) -> float | None:
    """Return Wilcoxon's p-value, exact for few data sets without ties; None where there are too few."""
    differences = (a - b).dropna().round(12)
    if len(differences) < MIN_DATASETS:
        return None
    if not differences.any():
        return 1.0
    tied = differences.abs().duplicated().any() or (differences == 0).any()
    return significance.wilcoxon(a, b, exact=len(differences) <= 25 and not tied).p


def _test_each(table: pd.DataFrame, means: pd.DataFrame, drawn: Mapping[str, bool], ranked: int) -> _Tests:
    """Test on each data set where each result has test rows of its own, and there are enough of them."""
    notes = []
    if len(means) > 1:
        sets = _wording.count(ranked, "data set")
        notes.append(f"No test over data sets: {sets} can be ranked, but the test needs at least {MIN_DATASETS}.")
    fixed = [name for name in means.index if not drawn[name]]
    if fixed:
        notes.append(
            f"No test on {', '.join(fixed)}: all seeds share the same test rows, so they say nothing about other rows. "
            f"Use folds, or at least {MIN_DATASETS} data sets."
        )
    pairs: list[Pair] = []
    for name in means.index.difference(fixed, sort=False):
        pairs += _test_one(table[table["dataset"] == name], name, means)
    if pairs:
        how = "t-test over splits, corrected for the rows that they share and, by Holm, for the number of systems"
        notes.append(_explain_stars(pairs, means.columns[0], how))
    elif len(fixed) < len(means):
        notes.append(
            f"No test on one data set: it needs at least {MIN_REPEATS} folds or seeds, and results of two systems."
        )
    return _Tests(pairs=tuple(pairs), notes=tuple(notes))


def _test_one(table: pd.DataFrame, dataset: str, means: pd.DataFrame) -> tuple[Pair, ...]:
    control, *others = means.columns
    complete = set(means.loc[[dataset]].dropna(axis=1).columns)
    folds = table["folds"].iloc[0]
    split = "seed" if pd.isna(folds) else "fold"
    scores = table.pivot_table(index=split, columns="system", values="score")
    if len(scores) < MIN_REPEATS or control not in complete:
        return ()
    share = TEST_SHARE if pd.isna(folds) else 1 / folds
    p_values = {
        name: significance.resampled(scores[control], scores[name], test_share=share)
        for name in others
        if name in complete
    }
    return _correct_pairs(dataset, p_values)


def _explain_stars(pairs: Sequence[Pair], control: str, how: str) -> str:
    """Say what the stars mean, or that there is none."""
    start = "*: differs" if any(pair.p < ALPHA for pair in pairs) else "No system differs significantly"
    return f"{start} from {control} ({how}; level {ALPHA})."


def _correct_pairs(dataset: str | None, p_values: Mapping[str, float]) -> tuple[Pair, ...]:
    corrected = significance.holm(list(p_values.values()))
    return tuple(Pair(dataset, name, p) for name, p in zip(p_values, corrected, strict=True))
