"""Table 1 of the paper: the sizes of the 20 data sets, counted in their files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from chmcnn import _wording
from chmcnn.datasets.catalogue import ROOTS, catalogue
from chmcnn.datasets.dataset import split
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.datasets.registry import VALIDATION_SHARE
from chmcnn.experiments import _by_dataset, published
from chmcnn.experiments.section import Check, Section, SectionTable, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from chmcnn.experiments.context import Context

_NEAR = {"features": 0, "classes": 0, "train rows": 10, "valid rows": 10, "test rows": 10}
_THREE_QUARTERS = "the paper's 1,085 + 464 rows are three quarters of the 2,065 in the file"
_REASONS = {
    ("enron", "features"): "the files have one attribute more",
    ("spo_GO", "classes"): "the files have the classes of derisi_GO, for which the paper says 4,116 too",
    ("diatoms", "train rows"): _THREE_QUARTERS,
    ("diatoms", "valid rows"): _THREE_QUARTERS,
}

_Counts = dict[str, dict[str, int | None]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The counts of one data set."""

    dataset: str
    features: int  # attributes of the files
    encoded: int  # columns after one-hot encoding
    classes: int  # without the roots
    rows: Mapping[str, int]  # of each part whose file is available
    drawn: int | None  # rows of the training file, if validation rows are drawn from it
    missing: tuple[str, ...]  # parts whose file is not available
    command: str = ""


@dataclass(frozen=True, slots=True)
class Table1:
    """The counts of all data sets."""

    sizes: Mapping[str, Sizes]


def run(context: Context, *, datasets: Sequence[str]) -> dict[str, str]:
    """Count rows, features and classes in the files of each data set, and store them, one file per data set.

    Returns
    -------
    Data sets without a result, because none of their files is available, with the reason.
    """
    return _by_dataset.run(context, datasets, lambda name: asdict(_measure(name, context)))


def collect(folder: Path) -> Table1 | None:
    """Read the results in a folder; return None if there are none."""
    sizes = _by_dataset.collect(folder, lambda result: Sizes(**result | {"missing": tuple(result["missing"])}))
    return Table1(sizes) if sizes else None


def _measure(name: str, context: Context) -> Sizes:
    files = catalogue()[name].files
    tables = dict(_by_dataset.read_parts(name, context.data_dir))
    drawn = None
    if "train" in tables and "valid" not in files:
        drawn = len(tables["train"])
        tables["train"], tables["valid"] = split(tables["train"], 1 - VALIDATION_SHARE, VALIDATION_SHARE)
    some = next(iter(tables.values()))
    return Sizes(
        dataset=name,
        features=len(some.feature_names),
        encoded=len(Preprocessor().fit(some.X).get_feature_names_out()),
        classes=len(set(some.hierarchy) - ROOTS),
        rows={part: len(tables[part]) for part in ("train", "valid", "test") if part in tables},
        drawn=drawn,
        missing=tuple(part for part in files if part not in tables),
        command=context.command,
    )


def section(result: Table1) -> Section:
    """Turn the results into a section of the page."""
    ours = {name: _counts(name, result.sizes.get(name)) for name in catalogue().entries}
    printed: dict[Any, dict[Any, Any]] = published.sizes().to_dict("index")
    return Section(
        name="table1",
        title="Table 1: the data sets",
        text=(
            "The sizes of the 20 data sets, counted in their files. Features (D) are attributes before one-hot "
            "encoding; classes (n) do not include the artificial roots, which are not evaluated."
        ),
        command="chmcnn reproduce table1",
        checks=tuple(_check(count, ours, printed) for count in _NEAR),
        tables=(_table(result, ours, printed),),
    )


def _counts(name: str, sizes: Sizes | None) -> dict[str, int | None]:
    """Return the counts of a data set: from its files, or from the catalogue if they were not read."""
    entry = catalogue()[name]
    if sizes:
        rows = {part: sizes.rows.get(part) for part in ("train", "valid", "test")}
        counts: dict[str, int | None] = {"features": sizes.features, "classes": sizes.classes}
    else:
        drawn = "valid" not in entry.files  # from the training file, which then has more rows than the training part
        rows = {part: None if drawn else entry.files[part].rows for part in ("train", "valid")}
        rows["test"] = entry.files["test"].rows
        counts = {"features": entry.features, "classes": entry.evaluated}
    return counts | {f"{part} rows": number for part, number in rows.items()}


def _table(result: Table1, ours: _Counts, printed: _Counts) -> SectionTable:
    rows = tuple(
        (
            name,
            *(_cell(counts[count], printed[name][count]) for count in _NEAR),
            "; ".join(_reasons(name, ours, printed) + _remarks(result.sizes.get(name))),
        )
        for name, counts in ours.items()
    )
    return SectionTable(
        "Counts in the files; counts of the paper where they differ",
        ("data set", "D", "n", "train", "valid", "test", "remarks"),
        rows,
        note=(
            f"Files of {_wording.count(len(result.sizes), 'data set')} were read. FUN and GO files of the same genes "
            "differ by a few rows; the paper prints the same counts for both, mostly those of GO."
        ),
    )


def _cell(count: int | None, printed: int | None) -> Value:
    if count == printed:
        return count
    return f"{'unknown' if count is None else f'{count:,}'} (paper: {printed:,})"


def _reasons(name: str, ours: _Counts, printed: _Counts) -> list[str]:
    """Return why counts differ, each reason once."""
    differing = [count for count in _NEAR if ours[name][count] not in {None, printed[name][count]}]
    return list(dict.fromkeys(_reason(name, count, ours, printed) for count in differing))


def _reason(name: str, count: str, ours: _Counts, printed: _Counts) -> str:
    genes, _, kind = name.partition("_")
    other = f"{genes}_{'GO' if kind == 'FUN' else 'FUN'}"
    if other in ours and ours[other][count] == printed[name][count]:
        return f"the paper has the count of {other}"
    return _REASONS.get((name, count), f"unknown why the {count} differ")


def _remarks(sizes: Sizes | None) -> list[str]:
    if sizes is None:
        return ["files not read; counts are from the catalogue"]
    remarks = [f"the {part} file is not available" for part in sizes.missing]
    if sizes.drawn is not None:
        remarks.append(f"30 % of the {sizes.drawn:,} rows of the training file are drawn for validation")
    if sizes.encoded != sizes.features:
        remarks.append(f"{_wording.count(sizes.encoded, 'column')} after one-hot encoding")
    return remarks


def _check(count: str, ours: _Counts, printed: _Counts) -> Check:
    """Compare one count of all data sets."""
    off = {
        name: abs(number - (printed[name][count] or 0)) for name in ours if (number := ours[name][count]) is not None
    }
    far = [name for name, difference in off.items() if difference > _NEAR[count]]
    why = [
        f"{name} has {ours[name][count]:,}, not {printed[name][count]:,}: {_reason(name, count, ours, printed)}"
        for name in far
    ]
    unknown = [name for name in ours if name not in off]
    if unknown:
        why.append(f"unknown: {', '.join(unknown)}")
    same = sum(difference == 0 for difference in off.values())
    return Check(
        claim=f"{count} of each data set, {f'within {_NEAR[count]}' if _NEAR[count] else 'exactly'}",
        published=f"{len(ours)} counts",
        ours=f"{len(off) - len(far)} of {len(off)} agree, {same} exactly",
        agrees=not far,
        why="; ".join(why),
    )
