"""Table 4 of the paper: inference with our layer, with the dense formula, and with neither."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published
from chmcnn.experiments.table4 import DENSE, INFERENCE, LAYER, OURS, PLAIN
from chmcnn.report.paper.section import Check, Picture, Section, Table, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chmcnn.experiments.table4 import Inference, Table4

_BATCH = 4
_WHAT = {INFERENCE: "whole inference", LAYER: "the layer alone"}
_COLOURS = {PLAIN: "0.6", OURS: "tab:blue", DENSE: "tab:red"}
_HEADS = ("network", "with ours", "with dense", "times", "layer, ours", "layer, dense", "times, layer")
_SAID = {PLAIN: "network alone", OURS: "with our layer", DENSE: "with the dense formula"}


def section(result: Table4) -> Section:
    """Compare the systems with each other; the paper's times are of another machine, and stand beside."""
    found = list(result.inferences.values())
    return Section(
        name="table4",
        title="Table 4: time of inference",
        text=_text(found),
        command="chmcnn reproduce table4",
        checks=_checks(found),
        tables=(_times(found), _memory(found), _larger(found), _larger_memory(found)),
        pictures=(
            Picture(
                "table4",
                "Processor time of one batch of 4, on a logarithmic scale: the network alone, with our layer, and with "
                "the paper's dense formula.",
                draw(result),
            ),
        ),
    )


def draw(result: Table4) -> Figure:
    """Draw the times of batches of 4, a line for each data set."""
    figure = Figure(figsize=(8, 1.2 + 0.26 * len(result.inferences)), layout="constrained")
    axis = figure.subplots()
    names = list(result.inferences)
    for system, colour in _COLOURS.items():
        times = [_milliseconds(each, _BATCH, INFERENCE, system) for each in result.inferences.values()]
        axis.scatter([math.nan if time is None else time for time in times], names, c=colour, label=_SAID[system], s=26)
    axis.set_xscale("log")
    axis.invert_yaxis()
    axis.set_xlabel(f"milliseconds for a batch of {_BATCH}")
    axis.grid(visible=True, color="0.9")
    axis.set_axisbelow(True)
    axis.xaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _text(found: Sequence[Inference]) -> str:
    absent = [name for name in catalogue().entries if name not in {each.dataset for each in found}]
    processors, torches = (
        " and ".join(dict.fromkeys(names))
        for names in ((each.processor for each in found), (each.versions["torch"] for each in found))
    )
    loop = "compiled" if all(each.compiled for each in found) else "without numba for some"
    return (
        "The network of each data set, two hidden layers of the paper's width, gives probabilities; behind it there is "
        "nothing, our layer, or the paper's formula with its n x n mask in double precision, as the authors have it. "
        "All are measured in one run, in turns call by call: the median processor time on one thread of "
        f"{processors}, torch {torches}, our layer {loop}. "
        + (
            "Both layers give the same values. "
            if all(each.same for each in found)
            else "The layers differ in values. "
        )
        + (f"Not measured: {', '.join(absent)}." if absent else "")
    ).strip()


def _checks(found: Sequence[Inference]) -> tuple[Check, ...]:
    go = [each for each in found if each.dataset.endswith("_GO")]
    larger = _larger_than_4(found)
    kinds = [(what, batches) for what in _WHAT for batches in ([_BATCH], larger)]
    return tuple(
        _check(group, what, batches, least)
        for group, least in ((found, 1), (go, 100))
        for what, batches in kinds
        if any(not math.isnan(each.ratio(batch, what)) for each in group for batch in batches)
    )


def _check(found: Sequence[Inference], what: str, batches: Sequence[int], least: int) -> Check:
    """Whether the dense formula takes so many times longer, wherever it was measured."""
    ratios = {(each.dataset, batch): each.ratio(batch, what) for each in found for batch in batches}
    ratios = {key: ratio for key, ratio in ratios.items() if not math.isnan(ratio)}
    below = {key: ratio for key, ratio in ratios.items() if ratio < least}
    measured = sorted({batch for _, batch in ratios})
    on = "each GO data set" if least > 1 else "each data set"
    return Check(
        claim=f"{_WHAT[what]}, batches of {', '.join(map(str, measured))}, {on}: time of dense / ours",
        published=f"{least} or more",
        ours=f"{_short(min(ratios.values()))} to {_short(max(ratios.values()))}",
        agrees=not below,
        why=". ".join(_why(each, batch, what) for each in found for batch in batches if (each.dataset, batch) in below),
        goal=True,
    )


def _why(each: Inference, batch: int, what: str) -> str:
    """What takes the time where the ratio is too small, and how large it could be."""
    ours, theirs, network = (
        _milliseconds(each, batch, *key) or math.nan for key in ((what, OURS), (what, DENSE), (INFERENCE, PLAIN))
    )
    network = min(network, ours)  # with our layer it cannot take less: that is noise
    most = (
        f"; the network alone takes about {_short(network)} ms, so that about {_short(theirs / network)} is the most "
        "there can be"
    )
    return (
        f"{each.dataset}, {each.classes:,} classes, batch {batch}: ours {_short(ours)} ms, dense {_short(theirs)} ms"
        + (most if what == INFERENCE else "")
    )


def _times(found: Sequence[Inference]) -> Table:
    paper = published.inference().to_dict("index")
    rows = tuple(
        (
            each.dataset,
            each.classes,
            each.hidden,
            f"{paper[each.dataset]['learning rate']:.0e}".replace("e-0", "e-"),
            *_measured(each, _BATCH),
            paper[each.dataset]["ms per batch"],
        )
        for each in found
    )
    columns = ("data set", "classes", "hidden", "learning rate", *_HEADS, "paper")
    note = (
        "Milliseconds; times are the dense formula's over ours. Hidden units, learning rates (used in training only) "
        "and the last column are the paper's; its times are of a Titan Xp, and tell nothing of the layer alone."
    )
    return Table(f"Batches of {_BATCH}", columns, rows, note=note)


def _measured(each: Inference, batch: int) -> tuple[Value, ...]:
    """Times of the whole inference and of the layer, as in `_HEADS`."""
    whole = [_milliseconds(each, batch, INFERENCE, system) for system in (PLAIN, OURS, DENSE)]
    layer = [_milliseconds(each, batch, LAYER, system) for system in (OURS, DENSE)]
    return (*whole, _short(each.ratio(batch, INFERENCE)), *layer, _short(each.ratio(batch, LAYER)))


def _larger(found: Sequence[Inference]) -> Table:
    rows = tuple((each.dataset, batch, *_measured(each, batch)) for each in found for batch in _larger_than_4(found))
    return Table("Larger batches", ("data set", "batch", *_HEADS), rows, note="Milliseconds, as above.")


def _larger_memory(found: Sequence[Inference]) -> Table:
    rows = tuple(
        (each.dataset, batch, *(_peak(each, batch, system) for system in (PLAIN, OURS, DENSE)), _how(each, batch))
        for each in found
        for batch in _larger_than_4(found)
    )
    note = (
        "MiB. Where the formula's (rows, classes, classes) tensor would have more than 2 GiB, the batch is computed in "
        "pieces; where all of them would have more than 16 GiB, it is left out."
    )
    columns = ("data set", "batch", "peak, network", "peak, ours", "peak, dense", "dense formula")
    return Table("Larger batches: memory", columns, rows, digits=2, note=note)


def _how(each: Inference, batch: int) -> str:
    timing = each.timing(batch, INFERENCE, DENSE)
    if timing is None:
        return "left out"
    how = f"in {timing.pieces} pieces" if timing.pieces > 1 else "at once"
    return f"{how}, 1 call" if timing.calls == 1 else how


def _memory(found: Sequence[Inference]) -> Table:
    rows = tuple(
        (
            each.dataset,
            each.parameters,
            each.layer_bytes[OURS] / 2**20,
            each.layer_bytes[DENSE] / 2**20,
            *(_peak(each, _BATCH, system) for system in (PLAIN, OURS, DENSE)),
        )
        for each in found
    )
    columns = (
        "data set",
        "parameters",
        "layer, ours",
        "mask, dense",
        *(f"peak, {system}" for system in ("network", "ours", "dense")),
    )
    note = (
        "Memory in MiB. Parameters are the network's; no layer has any. What a layer holds are positions of edges and "
        f"classes, or the mask. Peaks are of tensors made during one inference of {_BATCH} rows, without weights and "
        "mask."
    )
    return Table("Parameters and memory", columns, rows, note=note)


def _batches(found: Sequence[Inference]) -> list[int]:
    return sorted({timing.batch for each in found for timing in each.timings})


def _larger_than_4(found: Sequence[Inference]) -> list[int]:
    return [batch for batch in _batches(found) if batch > _BATCH]


def _milliseconds(each: Inference, batch: int, what: str, system: str) -> float | None:
    timing = each.timing(batch, what, system)
    return timing.milliseconds if timing else None


def _peak(each: Inference, batch: int, system: str) -> float | None:
    timing = each.timing(batch, INFERENCE, system)
    return timing.peak_bytes / 2**20 if timing and timing.peak_bytes is not None else None


def _short(number: float) -> str:
    """A number with three digits; a dash where it is not known."""
    if math.isnan(number):
        return "-"
    return f"{number:,.0f}" if number >= 1000 else f"{number:#.3g}".removesuffix(".")
