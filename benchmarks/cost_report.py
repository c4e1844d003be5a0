"""Tables and pictures of what the constraint costs, for `benchmarks.report`."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.cost import OURS, PLAIN, TORCH_ALONE
from benchmarks.markdown import table
from benchmarks.measure import load

DENSE = "dense float64"


def steps() -> str:
    """A training step: ratios to plain BCE and to the dense formula."""
    content = load("cost")
    cells = [
        [
            *_shape(group),
            f"{group[PLAIN]['milliseconds']:.1f} ms",
            f"**{group[OURS]['times_plain']:.2f} x**",
            f"{group[TORCH_ALONE]['times_plain']:.2f} x",
            _times_slower(group),
        ]
        for group in _groups(content["rows"], "training step")
    ]
    header = ["hierarchy", "batch", "plain BCE", "chmcnn", "chmcnn without numba", "the paper's dense formula"]
    return table(header, cells) + _source(content)


def layer() -> str:
    """Layer and loss alone: time and memory against the dense formula."""
    content = load("cost")
    cells = []
    for what in ("layer", "layer and gradient", "loss and gradient"):
        for group in _groups(content["rows"], what):
            ours = group[OURS]
            memory = f"{group[DENSE]['peak_mib']:,.0f} MiB" if DENSE in group else "-"
            times = [f"{group[system]['milliseconds']:.2f} ms" for system in (OURS, TORCH_ALONE)]
            cells.append([what, *_shape(group), *times, _times_slower(group), f"{ours['peak_mib']:.1f} MiB", memory])
    header = ["what", "hierarchy", "batch", "chmcnn", "without numba", "dense", "memory", "memory, dense"]
    return table(header, cells) + _source(content)


def losses() -> str:
    """The loss alone, forward and backward: ratios to plain BCE."""
    content = load("cost")
    cells = [
        [
            *_shape(group),
            f"{group[PLAIN]['milliseconds']:.2f} ms",
            *(f"{group[system]['times_plain']:.2f} x" for system in (OURS, TORCH_ALONE)),
        ]
        for group in _groups(content["rows"], "loss and gradient")
    ]
    return table(["hierarchy", "batch", "plain BCE", "chmcnn", "chmcnn without numba"], cells) + _source(content)


def growth() -> str:
    """Forward and backward from a thousand to a million classes."""
    content = load("growth")
    cells = [
        [
            row["kind"],
            f"{row['classes']:,}",
            f"{row['building_seconds']:.2g} s",
            *(f"{row[f'{name}_milliseconds']:.2f} ms" for name in ("plain", "layer", "loss")),
            f"{row['loss_milliseconds'] * 1e6 / row['classes']:.0f} ns",
            f"{row['loss_peak_mib']:.1f} MiB",
            f"{row['process_peak_mib']:,.0f} MiB",
        ]
        for row in content["rows"]
    ]
    header = ["kind", "classes", "to build", "plain BCE", "layer", "loss", "loss, a class", "tensors", "whole process"]
    return table(header, cells) + _source(content)


def ways() -> str:
    """Every way that was tried, in milliseconds."""
    content = load("ways")
    batches = sorted({row["batch"] for row in content["rows"]})
    names = dict.fromkeys(row["way"] for row in content["rows"])
    times = {(row["way"], row["batch"]): row["milliseconds"] for row in content["rows"]}
    cells = [[name, *(f"{times[name, batch]:.2f} ms" for batch in batches)] for name in names]
    return table(["way", *(f"batch {batch}" for batch in batches)], cells) + _source(content)


def loss_ways() -> str:
    """Every way to compute the loss, as a multiple of plain BCE."""
    content = load("loss_ways")
    ratios = {(row["way"], row["batch"]): row["times_plain"] for row in content["rows"]}
    batches = sorted({batch for _, batch in ratios})
    names = dict.fromkeys(name for name, _ in ratios)
    cells = [[name, *(f"{ratios[name, batch]:.2f} x" for batch in batches)] for name in names]
    return table(["way", *(f"batch {batch}" for batch in batches)], cells) + _source(content)


def ratios() -> str:
    """Return the times relative to references."""
    content = load("ratios")
    cells = [[row["what"], f"{row['ratio']:.2f}"] for row in content["rows"]]
    return table(["ours / reference", "ratio"], cells) + _source(content)


def draw_cost() -> Figure:
    """A training step as a multiple of the same step without any constraint."""
    groups = _groups(load("cost")["rows"], "training step")
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    axis = figure.subplots()
    systems = {"chmcnn": OURS, "chmcnn without numba": TORCH_ALONE, "the paper's dense formula": DENSE}
    for number, (label, system) in enumerate(systems.items()):
        places = [place for place, group in enumerate(groups) if system in group]
        values = [groups[place][system].get("times_plain") or _ratio(groups[place], system, PLAIN) for place in places]
        bars = axis.bar([place + 0.27 * (number - 1) for place in places], values, 0.25, label=label)
        axis.bar_label(bars, [f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in values], fontsize=7)
    axis.axhline(1, color="black", linewidth=1)
    for place, group in enumerate(groups):
        if DENSE not in group:
            axis.text(place + 0.27, 1.1, "not run", rotation=90, ha="center", va="bottom", fontsize=7)
    axis.set(yscale="log", ylabel="time of a step, 1 = no constraint")
    axis.set_ylim(0.8, axis.get_ylim()[1] * 2)
    axis.set_xticks(range(len(groups)), ["\nbatch ".join(_shape(group)) for group in groups])
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def draw_growth() -> Figure:
    """Time against the number of classes, with the time that a linear law would give."""
    rows = load("growth")["rows"]
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, kind in zip(axes, ("tree", "DAG"), strict=True):
        _draw_kind(axis, [row for row in rows if row["kind"] == kind])
        axis.set_title(kind, fontsize=10)
    axes[0].set_ylabel("milliseconds")
    axes[0].legend(frameon=False, fontsize=8)
    return figure


def _draw_kind(axis: Axes, rows: list[dict[str, Any]]) -> None:
    classes = [row["classes"] for row in rows]
    for name, label in {"loss": "MCLoss", "layer": "MaxConstraint", "plain": "plain BCE"}.items():
        axis.plot(classes, [row[f"{name}_milliseconds"] for row in rows], marker="o", label=label)
    linear = [rows[1]["loss_milliseconds"] * count / classes[1] for count in classes]
    axis.plot(classes, linear, color="grey", linestyle=":", label="linear")
    axis.set(xscale="log", yscale="log", xlabel="classes")
    axis.grid(visible=True, which="major", alpha=0.3)


def _groups(rows: list[dict[str, Any]], what: str) -> list[dict[str, dict[str, Any]]]:
    """For each hierarchy and batch its rows, by system."""
    groups: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["what"] == what:
            groups.setdefault((row["hierarchy"], row["batch"]), {})[row["system"]] = row
    return list(groups.values())


def _ratio(group: dict[str, dict[str, Any]], system: str, reference: str) -> float:
    return float(group[system]["milliseconds"] / group[reference]["milliseconds"])


def _times_slower(group: dict[str, dict[str, Any]]) -> str:
    return f"{_ratio(group, DENSE, OURS):,.0f} x chmcnn" if DENSE in group else "not run"


def _shape(group: dict[str, dict[str, Any]]) -> list[str]:
    row = next(iter(group.values()))
    return [row["hierarchy"] if row["origin"] == "real" else f"{row['hierarchy']}-shaped", str(row["batch"])]


def _source(content: dict[str, Any]) -> str:
    machine = content["machine"]
    return (
        f"\nMeasured by `{content['command']}` on {machine['threads']} threads of {machine['processor']}, "
        f"torch {machine['torch']}, numba {machine['numba']}; medians, all of one row in one run.\n"
    )
