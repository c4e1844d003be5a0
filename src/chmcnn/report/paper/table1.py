"""Table 1 of the paper: the counts of the files beside the printed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chmcnn import _wording
from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published
from chmcnn.report.paper.section import Check, Section, Table, Value

if TYPE_CHECKING:
    from chmcnn.experiments.table1 import Sizes, Table1

_NEAR = {"features": 0, "classes": 0, "train rows": 10, "valid rows": 10, "test rows": 10}
_THREE_QUARTERS = "the paper's 1,085 + 464 rows are three quarters of the 2,065 in the file"
_KNOWN = {
    ("enron", "features"): "the files have one attribute more",
    ("spo_GO", "classes"): "the files have the classes of derisi_GO, of which the paper says 4,116 too",
    ("diatoms", "train rows"): _THREE_QUARTERS,
    ("diatoms", "valid rows"): _THREE_QUARTERS,
}

_Counts = dict[str, dict[str, int | None]]


def section(result: Table1) -> Section:
    """Say what the files have, what the paper prints, and why they differ."""
    ours = {name: _counts(name, result.sizes.get(name)) for name in catalogue().entries}
    printed: dict[Any, dict[Any, Any]] = published.sizes().to_dict("index")
    return Section(
        name="table1",
        title="Table 1: the data sets",
        text=(
            "The 20 data sets as their files have them. Features (D) are attributes before categories are one-hot "
            "encoded; classes (n) are counted without the roots, which no measure looks at."
        ),
        command="chmcnn reproduce table1",
        checks=tuple(_check(count, ours, printed) for count in _NEAR),
        tables=(_table(result, ours, printed),),
    )


def _counts(name: str, sizes: Sizes | None) -> dict[str, int | None]:
    """What was counted; of a data set that was not read, what the catalogue knows."""
    entry = catalogue()[name]
    if sizes:
        rows = {part: sizes.rows.get(part) for part in ("train", "valid", "test")}
        counts: dict[str, int | None] = {"features": sizes.features, "classes": sizes.classes}
    else:
        drawn = "valid" not in entry.files  # from the training rows, which are then fewer than those of the file
        rows = {part: None if drawn else entry.files[part].rows for part in ("train", "valid")}
        rows["test"] = entry.files["test"].rows
        counts = {"features": entry.features, "classes": entry.evaluated}
    return counts | {f"{part} rows": number for part, number in rows.items()}


def _table(result: Table1, ours: _Counts, printed: _Counts) -> Table:
    rows = tuple(
        (
            name,
            *(_cell(counts[count], printed[name][count]) for count in _NEAR),
            "; ".join(_reasons(name, ours, printed) + _remarks(result.sizes.get(name))),
        )
        for name, counts in ours.items()
    )
    return Table(
        "Counts of the files, with those of the paper where they differ",
        ("data set", "D", "n", "train", "valid", "test", "what to know"),
        rows,
        note=(
            f"Files of {_wording.count(len(result.sizes), 'data set')} were read. FUN and GO files of the same genes "
            "differ by a few rows; the paper prints the same counts for both, mostly those of GO."
        ),
    )


def _cell(found: int | None, printed: int | None) -> Value:
    if found == printed:
        return found
    return f"{'not known' if found is None else f'{found:,}'} (paper: {printed:,})"


def _reasons(name: str, ours: _Counts, printed: _Counts) -> list[str]:
    """Why counts differ, each reason once."""
    differing = [count for count in _NEAR if ours[name][count] not in {None, printed[name][count]}]
    return list(dict.fromkeys(_reason(name, count, ours, printed) for count in differing))


def _reason(name: str, count: str, ours: _Counts, printed: _Counts) -> str:
    genes, _, kind = name.partition("_")
    other = f"{genes}_{'GO' if kind == 'FUN' else 'FUN'}"
    if other in ours and ours[other][count] == printed[name][count]:
        return f"the paper has the number of rows of {other}"
    return _KNOWN.get((name, count), f"why the {count} differ is not known")


def _remarks(sizes: Sizes | None) -> list[str]:
    if sizes is None:
        return ["its files were not read here: what is known is from the catalogue"]
    remarks = [f"the file of the part {part!r} could not be had" for part in sizes.missing]
    if sizes.drawn is not None:
        remarks.append(f"30 % of the {sizes.drawn:,} rows of the training file are drawn for validation")
    if sizes.encoded != sizes.features:
        remarks.append(f"{_wording.count(sizes.encoded, 'column')} after one-hot encoding")
    return remarks


def _check(count: str, ours: _Counts, printed: _Counts) -> Check:
    """Compare one count of all data sets."""
    off = {name: abs(found - (printed[name][count] or 0)) for name in ours if (found := ours[name][count]) is not None}
    far = [name for name, difference in off.items() if difference > _NEAR[count]]
    why = [
        f"{name} has {ours[name][count]:,}, not {printed[name][count]:,}: {_reason(name, count, ours, printed)}"
        for name in far
    ]
    unknown = [name for name in ours if name not in off]
    if unknown:
        why.append(f"not known: {', '.join(unknown)}")
    same = sum(difference == 0 for difference in off.values())
    return Check(
        claim=f"{count} of each data set, {f'within {_NEAR[count]}' if _NEAR[count] else 'exactly'}",
        published=f"{len(ours)} counts",
        ours=f"{len(off) - len(far)} of {len(off)} agree, {same} exactly",
        agrees=not far,
        why="; ".join(why),
    )
