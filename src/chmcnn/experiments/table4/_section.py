"""The section of Table 4."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published
from chmcnn.experiments.section import Check, Picture, Section, SectionTable, Value, new_figure
from chmcnn.experiments.table4._measure import DENSE, INFERENCE, LAYER, OURS, PLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from chmcnn.experiments.table4._measure import Inference, Table4

_BATCH = 4
_WHAT = {INFERENCE: "whole inference", LAYER: "the layer alone"}
_COLOURS = {PLAIN: "0.6", OURS: "tab:blue", DENSE: "tab:red"}
_HEADS = ("network", "with ours", "with dense", "times", "layer, ours", "layer, dense", "times, layer")
_LEGEND = {PLAIN: "network alone", OURS: "with our layer", DENSE: "with the dense formula"}


def section(result: Table4) -> Section:
    """Compare the systems with each other; the paper's times are from another machine."""
    inferences = list(result.inferences.values())
    return Section(
        name="table4",
        title="Table 4: time of inference",
        text=_text(inferences),
        command="chmcnn reproduce table4",
        checks=_checks(inferences),
        tables=(_times(inferences), _memory(inferences), _larger(inferences), _larger_memory(inferences)),
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
    """Draw the times of batches of 4, one line per data set."""
    figure = new_figure(8, 1.2 + 0.26 * len(result.inferences))
    axis = figure.subplots()
    names = list(result.inferences)
    for system, colour in _COLOURS.items():
        times = [_milliseconds(inference, _BATCH, INFERENCE, system) for inference in result.inferences.values()]
        axis.scatter(
            [math.nan if time is None else time for time in times], names, c=colour, label=_LEGEND[system], s=26
        )
    axis.set_xscale("log")
    axis.invert_yaxis()
    axis.set_xlabel(f"milliseconds for a batch of {_BATCH}")
    axis.grid(visible=True, color="0.9")
    axis.set_axisbelow(True)
    axis.xaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _text(inferences: Sequence[Inference]) -> str:
    absent = [name for name in catalogue().entries if name not in {inference.dataset for inference in inferences}]
    processors, torches = (
        " and ".join(dict.fromkeys(names))
        for names in (
            (inference.processor for inference in inferences),
            (inference.versions["torch"] for inference in inferences),
        )
    )
    loop = "compiled" if all(inference.compiled for inference in inferences) else "without numba for some"
    return (
        "The network of each data set has two hidden layers of the paper's width and is followed by nothing, by our "
        "layer, or by the paper's formula with its n x n mask in double precision, as in the authors' program. All are "
        "measured in one run, in turns: the median processor time on one thread of "
        f"{processors}, torch {torches}, our layer {loop}. "
        + (
            "Both layers return the same values. "
            if all(inference.same for inference in inferences)
            else "The layers return different values. "
        )
        + (f"Not measured: {', '.join(absent)}." if absent else "")
    ).strip()


def _checks(inferences: Sequence[Inference]) -> tuple[Check, ...]:
    go = [inference for inference in inferences if inference.dataset.endswith("_GO")]
    larger = _larger_than_4(inferences)
    kinds = [(what, batches) for what in _WHAT for batches in ([_BATCH], larger)]
    return tuple(
        _check(group, what, batches, least)
        for group, least in ((inferences, 1), (go, 100))
        for what, batches in kinds
        if any(not math.isnan(inference.ratio(batch, what)) for inference in group for batch in batches)
    )


def _check(inferences: Sequence[Inference], what: str, batches: Sequence[int], least: int) -> Check:
    """Check whether the dense formula takes that many times longer, wherever it was measured."""
    ratios = {(inference.dataset, batch): inference.ratio(batch, what) for inference in inferences for batch in batches}
    ratios = {key: ratio for key, ratio in ratios.items() if not math.isnan(ratio)}
    below = {key: ratio for key, ratio in ratios.items() if ratio < least}
    measured = sorted({batch for _, batch in ratios})
    on = "each GO data set" if least > 1 else "each data set"
    return Check(
        claim=f"{_WHAT[what]}, batches of {', '.join(map(str, measured))}, {on}: time of dense / ours",
        published=f"{least} or more",
        ours=f"{_short(min(ratios.values()))} to {_short(max(ratios.values()))}",
        agrees=not below,
        why=". ".join(
            _why(inference, batch, what)
            for inference in inferences
            for batch in batches
            if (inference.dataset, batch) in below
        ),
        goal=True,
    )


def _why(inference: Inference, batch: int, what: str) -> str:
    """Explain a ratio that is too small, and how large it could be."""
    ours, theirs, network = (
        _milliseconds(inference, batch, *key) or math.nan for key in ((what, OURS), (what, DENSE), (INFERENCE, PLAIN))
    )
    network = min(network, ours)  # with our layer it cannot take less; a difference is noise
    most = (
        f"; the network alone takes about {_short(network)} ms, so the ratio cannot exceed about "
        f"{_short(theirs / network)}"
    )
    return (
        f"{inference.dataset}, {inference.classes:,} classes, batch {batch}: "
        f"ours {_short(ours)} ms, dense {_short(theirs)} ms" + (most if what == INFERENCE else "")
    )


def _times(inferences: Sequence[Inference]) -> SectionTable:
    paper = published.inference().to_dict("index")
    rows = tuple(
        (
            inference.dataset,
            inference.classes,
            inference.hidden,
            f"{paper[inference.dataset]['learning rate']:.0e}".replace("e-0", "e-"),
            *_measured(inference, _BATCH),
            paper[inference.dataset]["ms per batch"],
        )
        for inference in inferences
    )
    columns = ("data set", "classes", "hidden", "learning rate", *_HEADS, "paper")
    note = (
        'Milliseconds; "times" is the time of the dense formula divided by ours. Hidden units, learning rates (for '
        "training only) and the last column are the paper's, whose times were measured on a Titan Xp."
    )
    return SectionTable(f"Batches of {_BATCH}", columns, rows, note=note)


def _measured(inference: Inference, batch: int) -> tuple[Value, ...]:
    """Return times of the whole inference and of the layer, as in `_HEADS`."""
    whole = [_milliseconds(inference, batch, INFERENCE, system) for system in (PLAIN, OURS, DENSE)]
    layer = [_milliseconds(inference, batch, LAYER, system) for system in (OURS, DENSE)]
    return (*whole, _short(inference.ratio(batch, INFERENCE)), *layer, _short(inference.ratio(batch, LAYER)))


def _larger(inferences: Sequence[Inference]) -> SectionTable:
    rows = tuple(
        (inference.dataset, batch, *_measured(inference, batch))
        for inference in inferences
        for batch in _larger_than_4(inferences)
    )
    return SectionTable("Larger batches", ("data set", "batch", *_HEADS), rows, note="Milliseconds, as above.")


def _larger_memory(inferences: Sequence[Inference]) -> SectionTable:
    rows = tuple(
        (
            inference.dataset,
            batch,
            *(_peak(inference, batch, system) for system in (PLAIN, OURS, DENSE)),
            _how(inference, batch),
        )
        for inference in inferences
        for batch in _larger_than_4(inferences)
    )
    note = (
        "MiB. If the (rows, classes, classes) tensor of the formula would exceed 2 GiB, the batch is computed in "
        "pieces; if all pieces together would exceed 16 GiB, it is skipped."
    )
    columns = ("data set", "batch", "peak, network", "peak, ours", "peak, dense", "dense formula")
    return SectionTable("Larger batches: memory", columns, rows, digits=2, note=note)


def _how(inference: Inference, batch: int) -> str:
    timing = inference.timing(batch, INFERENCE, DENSE)
    if timing is None:
        return "skipped"
    how = f"in {timing.pieces} pieces" if timing.pieces > 1 else "at once"
    return f"{how}, 1 call" if timing.calls == 1 else how


def _memory(inferences: Sequence[Inference]) -> SectionTable:
    rows = tuple(
        (
            inference.dataset,
            inference.parameters,
            inference.layer_bytes[OURS] / 2**20,
            inference.layer_bytes[DENSE] / 2**20,
            *(_peak(inference, _BATCH, system) for system in (PLAIN, OURS, DENSE)),
        )
        for inference in inferences
    )
    columns = (
        "data set",
        "parameters",
        "layer, ours",
        "mask, dense",
        *(f"peak, {system}" for system in ("network", "ours", "dense")),
    )
    note = (
        "Memory in MiB. Only the network has parameters. Our layer stores indices of edges and classes, the dense "
        f"formula its mask. Peaks are of tensors allocated during one inference of {_BATCH} rows, without weights and "
        "mask."
    )
    return SectionTable("Parameters and memory", columns, rows, note=note)


def _batches(inferences: Sequence[Inference]) -> list[int]:
    return sorted({timing.batch for inference in inferences for timing in inference.timings})


def _larger_than_4(inferences: Sequence[Inference]) -> list[int]:
    return [batch for batch in _batches(inferences) if batch > _BATCH]


def _milliseconds(inference: Inference, batch: int, what: str, system: str) -> float | None:
    timing = inference.timing(batch, what, system)
    return timing.milliseconds if timing else None


def _peak(inference: Inference, batch: int, system: str) -> float | None:
    timing = inference.timing(batch, INFERENCE, system)
    return timing.peak_bytes / 2**20 if timing and timing.peak_bytes is not None else None


def _short(number: float) -> str:
    """Return a number with three digits; a dash for NaN."""
    if math.isnan(number):
        return "-"
    return f"{number:,.0f}" if number >= 1000 else f"{number:#.3g}".removesuffix(".")
