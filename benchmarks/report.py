"""Tables and pictures of the results, written into the documents that quote them.

python -m benchmarks.report
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import (
    altered,
    cluster,
    crash_points,
    ensembles,
    estimate,
    explorer,
    faults_report,
    headline,
    layers,
    missing,
    more,
    processes,
    scale_memory,
    scale_report,
    serving,
    serving_schema,
    soak,
    starts,
    text_report,
    trust_report,
)
from benchmarks.cost import OURS, PLAIN, TORCH_ALONE
from benchmarks.markdown import table as _table
from benchmarks.measure import RESULTS, load
from benchmarks.presets import LONG, PUBLISHED, SEEDS, WIDE
from chmcnn import comparison
from chmcnn.estimator import PRESETS, Preset
from chmcnn.experiments import published, recipes, registry, table3
from chmcnn.experiments.section import format_cells
from chmcnn.settings import SETTINGS

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "docs" / "benchmarks.md",
    ROOT / "docs" / "systems.md",
    ROOT / "docs" / "reproduction.md",
    ROOT / "docs" / "settings.md",
    ROOT / "docs" / "findings.md",
    ROOT / "docs" / "scaling.md",
    ROOT / "docs" / "guides" / "many_machines.md",
    ROOT / "docs" / "guides" / "explorer.md",
    ROOT / "docs" / "tutorials" / "serving.md",
)
DENSE = "dense float64"


def main() -> None:
    """Fill in the tables between their marks, and draw the pictures."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        document.write_text(filled_in(text), encoding="utf-8")
        print(document.relative_to(ROOT))
    draw_cost(load("cost")["rows"]).savefig(IMAGES / "cost.png", dpi=150)
    draw_growth(load("growth")["rows"]).savefig(IMAGES / "growth.png", dpi=150)
    scale_report.draw_scale().savefig(IMAGES / "scale.png", dpi=150)
    layers.draw().savefig(IMAGES / "layers.png", dpi=110)
    for experiment in ("figure2", "table2"):
        section = registry.read_section(experiment, ROOT / "results")
        if section:
            section.pictures[0].figure.savefig(IMAGES / f"{experiment}.png", dpi=110)


def filled_in(text: str) -> str:
    """Return a document with each table between ``<!-- table: NAME -->`` and ``<!-- end -->`` replaced."""
    makers: dict[str, Callable[[], str]] = {
        "headline": partial(headline.report, ROOT / "results"),
        "steps": steps,
        "layer": layer,
        "losses": losses,
        "growth": growth,
        "ways": ways,
        "loss_ways": loss_ways,
        "presets": presets,
        "starts": starts.report,
        "missing": missing.report,
        "ensembles": ensembles.report,
        "more": more.report,
        "layers": partial(validated, "layers", "columns", WIDE),
        "dropout": partial(validated, "dropout", "rows", LONG),
        "systems": systems,
        "ablation": ablation,
        "checks": checks,
        "settings": settings,
        "ratios": ratios,
        "texts": text_report.compared,
        "choices": text_report.choices,
        "text_losses": text_report.losses,
        "text_settings": text_report.settings,
        "reading": reading,
        "fuzz": faults_report.fuzz,
        "altered": altered.report,
        "crash_points": crash_points.report,
        "soak": soak.report,
        "faults": faults_report.summary,
        "table2": table2,
        "scale": scale_report.scale,
        "scale_memory": scale_memory.report,
        "estimate": estimate.report,
        "serving": serving.report,
        "serving_memory": serving.report_memory,
        "serving_schema": serving_schema.report,
        "explorer": explorer.report,
        "wordnet": scale_report.wordnet,
        "large": scale_report.large,
        "outputs": scale_report.outputs,
        "ranks": scale_report.ranks,
        "calibration": trust_report.calibration,
        "risks": trust_report.risks,
        "agreement": trust_report.agreement,
        "process_steps": processes.steps,
        "process_trainings": processes.trainings,
        "process_memory": processes.memory,
        "cluster": cluster.report_time,
        "cluster_kills": cluster.report_losses,
    }
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{makers[found[2]]()}{found[3]}",
        text,
        flags=re.DOTALL,
    )


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
    return _table(header, cells) + _source(content)


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
    return _table(header, cells) + _source(content)


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
    return _table(["hierarchy", "batch", "plain BCE", "chmcnn", "chmcnn without numba"], cells) + _source(content)


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
    return _table(header, cells) + _source(content)


def ways() -> str:
    """Every way that was tried, in milliseconds."""
    content = load("ways")
    batches = sorted({row["batch"] for row in content["rows"]})
    names = dict.fromkeys(row["way"] for row in content["rows"])
    times = {(row["way"], row["batch"]): row["milliseconds"] for row in content["rows"]}
    cells = [[name, *(f"{times[name, batch]:.2f} ms" for batch in batches)] for name in names]
    return _table(["way", *(f"batch {batch}" for batch in batches)], cells) + _source(content)


def loss_ways() -> str:
    """Every way to compute the loss, as a multiple of plain BCE."""
    content = load("loss_ways")
    ratios = {(row["way"], row["batch"]): row["times_plain"] for row in content["rows"]}
    batches = sorted({batch for _, batch in ratios})
    names = dict.fromkeys(name for name, _ in ratios)
    cells = [[name, *(f"{ratios[name, batch]:.2f} x" for batch in batches)] for name in names]
    return _table(["way", *(f"batch {batch}" for batch in batches)], cells) + _source(content)


def presets() -> str:
    """Test AU(PRC) and training time of both presets beside the published figures."""
    cells = []
    for name, figure in PUBLISHED.items():
        if not (RESULTS / f"presets/{name}-paper.json").exists():
            continue  # not run yet: `python -m benchmarks.presets` runs what is missing
        default, paper = (load(f"presets/{name}-{preset}") for preset in ("default", "paper"))
        scores = [np.array(run["test AU(PRC)"], ndmin=1) for run in (default, paper)]
        seconds = [float(np.mean(run["processor seconds"])) for run in (default, paper)]
        ours = f"{scores[0].mean():.4f} ± {scores[0].std(ddof=1):.4f}"
        times = (f"{each:.0f} s" for each in seconds)
        cells.append([name, f"{figure:.3f}", ours, f"{scores[1][0]:.4f}", *times, f"{seconds[0] / seconds[1]:.2f}"])
    header = ["data set", "published", "default", "paper", "time, default", "time, paper", "ratio"]
    source = (
        f"Test rows; the default over {SEEDS['default']} seeds, the paper's preset with one. Processor time of one "
        "training on one thread. Run by `python -m benchmarks.presets`."
    )
    return _table(header, cells) + f"\n{source}\n"


def validated(part: str, size: str, names: Sequence[str]) -> str:
    """Validation AU(PRC) of several settings, on tables of several sizes."""
    found = [load(f"presets/{part}-{name}") for name in names]
    settings = list(found[0]["validation AU(PRC)"])
    cells = [
        [each["dataset"], f"{each[size]:,}", *(f"{each['validation AU(PRC)'][key]:.4f}" for key in settings)]
        for each in found
    ]
    table = _table(["data set", size, *(f"{part} {key}" for key in settings)], cells)
    return f"{table}\nValidation rows, one seed. Run by `python -m benchmarks.presets {part}`.\n"


def systems() -> str:
    """Test AU(PRC) of all systems beside the published figures."""
    found, theirs = _compared("systems"), published.auprc()
    datasets = list(dict.fromkeys(found["dataset"]))
    groups = dict(iter(found.groupby(["system", "dataset"])["auprc"]))
    cells = [
        [name, *(_cell(groups.get((name, each)), theirs[name].get(each, math.nan)) for each in datasets)]
        for name in dict.fromkeys(found["system"])
    ]
    said = "Test rows: mean and deviation, in brackets the seeds, and then the published figure."
    return f"{_table(['system', *datasets], cells)}\n{said} {_command(found)}\n"


def _cell(ours: "pd.Series[float] | None", theirs: float) -> str:
    shown = "-" if math.isnan(theirs) else f"{theirs:.3f}"
    if ours is None:
        return f"not run; {shown}"
    deviation = f" ± {ours.std():.3f}" if len(ours) > 1 else ""
    return f"{ours.mean():.3f}{deviation} ({len(ours)}); {shown}"


def ablation() -> str:
    """Validation AU(PRC) of the paper's variants beside its Table 3."""
    found, theirs = table3.collect(ROOT / "results" / "table3"), published.ablation()["validation AU(PRC)"]
    if found is None:
        raise AssertionError("there are no results of table3")
    means = recipes.genuine(found.scores["default"])
    cells = [[name, *(f"{means[each][name]:.3f} ({theirs[each][name]:.3f})" for each in means)] for name in means.index]
    overall = [f"**{means[each].mean():.4f}** ({theirs[each][means.index].mean():.4f})" for each in means]
    table = _table(["data set", *means], [*cells, ["mean", *overall]])
    said = f"Validation rows, means of {found.seeds['default']}, and in brackets the published figure."
    return f"{table}\n{said} Run by `{recipes.commands(found.runs)}`.\n"


def checks() -> str:
    """Return all comparisons with the paper."""
    sections = [section for name in registry.EXPERIMENTS if (section := registry.read_section(name, ROOT / "results"))]
    cells = [
        [
            section.name,
            check.claim,
            f"goal: {check.published}" if check.goal else check.published,
            check.ours,
            "yes" if check.agrees else f"**no** {check.why}".strip(),
        ]
        for section in sections
        for check in section.checks
    ]
    header = ["experiment", "comparison", "published, or our own goal", "ours", "agrees"]
    return f"{_table(header, cells)}\nMade by `chmcnn reproduce all`.\n"


def table2() -> str:
    """Return our AU(PRC) on the test rows beside the published ones, and the missed targets."""
    section = registry.read_section("table2", ROOT / "results")
    if section is None:
        raise AssertionError("there are no results of table2")
    scores, missed = (
        f"{_table(list(table.columns), format_cells(table))}\n{table.note}" for table in section.tables[:2]
    )
    commands = "".join(f"- `{command}`\n" for command in section.commands)
    return f"{scores} Run by\n\n{commands}\n{section.tables[1].title}:\n\n{missed}".rstrip() + "\n"


def ratios() -> str:
    """Return the times relative to references."""
    content = load("ratios")
    cells = [[row["what"], f"{row['ratio']:.2f}"] for row in content["rows"]]
    return _table(["ours / reference", "ratio"], cells) + _source(content)


def reading() -> str:
    """Time and memory of our readers, of pandas and of Arrow."""
    content = load("reading")
    groups: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in content["rows"]:
        groups.setdefault((row["file"], row["shape"]), {})[row["reader"]] = row
    cells = [
        [
            f"`{file}`",
            shape,
            f"{group['pandas']['processor_seconds']:.2f} s",
            *(
                f"{group[name]['processor_seconds'] / group['pandas']['processor_seconds']:.2f} x"
                for name in ("chmcnn", "Arrow")
            ),
            *(f"{group[name]['peak_mib']:,.0f} MiB" for name in ("pandas", "chmcnn", "Arrow")),
        ]
        for (file, shape), group in groups.items()
    ]
    header = ["file", "rows x columns", "pandas", "chmcnn", "Arrow", "memory, pandas", "chmcnn", "Arrow"]
    said = f"Processor time, the fastest of 3 fresh processes each, in turns. Measured by `{content['command']}`."
    return f"{_table(header, cells)}\n{said}\n"


def settings() -> str:
    """Return all settings of a training, with their values, defaults and options."""
    cells = []
    for name, setting in SETTINGS.items():
        option = setting.option.name if setting.option else name
        defaults = [_default(name, preset) for preset in PRESETS.values()]
        cells.append([f"`{name}`", setting.help, setting.domain.expected, *defaults, f"`--{option.replace('_', '-')}`"])
    header = ["setting", "meaning", "values", "default", "with preset paper", "option"]
    note = "An asterisk: the default preset adapts this value to the size of the table, see `chmcnn.estimator.Preset`."
    return f"{_table(header, cells)}\n{note}\n"


def _default(name: str, preset: Preset) -> str:
    """Return the default of a setting: its own, or that of a preset."""
    if SETTINGS[name].default is not None:
        return f"`{SETTINGS[name].default}`"
    value = getattr(preset, name) if hasattr(preset, name) else getattr(preset.settings, name, None)
    adapted = "*" if preset.scaled and name in {"widths", "dropout", "learning_rate"} else ""
    return f"`{value}`{adapted}"


def _compared(name: str) -> pd.DataFrame:
    """The results of a comparison whose run files are kept below ``results/``."""
    return comparison.collect(ROOT / "results" / name / "runs")


def _command(found: pd.DataFrame) -> str:
    return f"Run by `{found['command'].iloc[0]}`."


def draw_cost(rows: list[dict[str, Any]]) -> Figure:
    """A training step as a multiple of the same step without any constraint."""
    groups = _groups(rows, "training step")
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


def draw_growth(rows: list[dict[str, Any]]) -> Figure:
    """Time against the number of classes, with the time that a linear law would give."""
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


if __name__ == "__main__":
    main()
