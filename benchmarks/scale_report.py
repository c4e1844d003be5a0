"""Tables and the picture of large problems and very many outputs, for `benchmarks.report`."""

import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.markdown import table
from benchmarks.measure import RESULTS, load_all, read

GIB = 1024
_LARGE = {
    "wordnet": "glosses of nouns, whose classes are the hypernyms of their synset, among all synsets",
    "phenotypes": "definitions of all terms of the human phenotype ontology, whose classes are the terms above",
    "phenotypes-encoded": "the same with the 384 numbers of all-MiniLM-L6-v2 for each text in columns beside it",
    "proteins": "generated rows in families that share classes and words; most families and classes are rare",
}


def scale() -> str:
    """Return time and memory of an epoch, beside plain cross-entropy on dense labels."""
    rows = load_scale()
    cells = [
        [
            f"{row['rows']:,}",
            f"{row['classes']:,}",
            f"{row['dense']} dense" if row["dense"] else "sparse",
            f"{row['epoch seconds']:.0f} s",
            f"{row['epoch seconds'] / plain['epoch seconds']:.2f} x plain" if plain else "not run",
            f"{row['peak MiB'] / GIB:.1f} GiB",
            f"{plain['peak MiB'] / GIB:.1f} GiB" if plain else "not run",
        ]
        for row, plain in rows
    ]
    header = ["rows", "classes", "features", "epoch", "time", "peak memory", "peak memory, plain"]
    return f"{table(header, cells)}\nMeasured by `python -m benchmarks.scale`{describe_machine(rows[0][0])}.\n"


def large() -> str:
    """Return the results of all presets on large problems, trained to the end."""
    results = {name: read(path) for name in _LARGE if (path := RESULTS / "scale" / f"{name}.json").exists()}
    cells, notes = [], []
    for name, result in results.items():
        systems = (
            result["systems"] | _read_linear(f"{name}-linear") | _read_linear(f"{name}-linear-by-words", ", by words")
        )
        for system, figures in systems.items():
            measured = (f"{figures[measure]:.3f}" for measure in ("AU(PRC)", "hierarchical F", "Fmax"))
            cells.append([name, system, *measured, f"{figures['processor seconds'] / 60:.1f} min"])
        options = f" The options are {_list_options(result['options'])}." if result["options"] else ""
        weights = ", ".join(f"{member} {weight:.1f}" for member, weight in result["weights"].items())
        notes.append(
            f"{name}: {_LARGE[name]}. {result['rows']:,} rows, {result['columns']:,} columns, "
            f"{result['classes']:,} classes, of which {result['classes with a row']:,} have a row; "
            f"{result['test rows']:,} test rows. `best` took "
            f"{result['peak MiB'] / GIB:.1f} GiB; its weights are {weights}.{options}"
        )
    header = ["problem", "system", "AU(PRC)", "hierarchical F", "Fmax", "processor time"]
    described = "\n".join(f"- {note}" for note in notes)
    violations = sum(result["violations"] for result in results.values())
    command = f"Measured by `python -m benchmarks.large`{describe_machine(next(iter(results.values())))}"
    return f"{table(header, cells)}\n{described}\n\n{command}; {violations} violations.\n"


def _read_linear(name: str, features: str = "") -> dict[str, Any]:
    """Return the results of LinearSVC, if there are any, with what is said of its features."""
    path = RESULTS / "scale" / f"{name}.json"
    found = read(path)["systems"] if path.exists() else {}
    return {f"{system}{features}": figures for system, figures in found.items()}


def outputs() -> str:
    """Return what a step of the last layer costs."""
    rows = [read(path) for path in sorted((RESULTS / "outputs").glob("[1-9]*.json"), key=by_size)]
    cells = [
        [
            f"{row['classes']:,}",
            row["way"],
            f"{row['weights'] / 1e6:,.0f} million",
            f"{row['gradient seconds']:.2f} s",
            f"{row['optimizer seconds']:.2f} s",
            f"{row['MiB'] / GIB:.1f} GiB",
        ]
        for row in rows
    ]
    header = ["classes", "optimizer and rank", "weights", "gradient", "optimizer", "memory"]
    return f"{table(header, cells)}\nMeasured by `python -m benchmarks.outputs`{describe_machine(rows[0])}.\n"


def ranks() -> str:
    """Return the validation scores of each rank of the last layer."""
    rows = load_all(RESULTS / "outputs", "accuracy-*.json")
    names = list(rows[0]["validation AU(PRC)"])
    cells = [
        [row["dataset"], f"{row['classes']:,}", *(f"{row['validation AU(PRC)'][name]:.4f}" for name in names)]
        for row in rows
    ]
    header = ["data set", "classes", *("full rank" if name == "None" else f"rank {name}" for name in names)]
    return f"{table(header, cells)}\nValidation rows, one seed. Run by `python -m benchmarks.outputs accuracy`.\n"


def draw_scale() -> Figure:
    """Draw time and memory of an epoch over the number of pairs of a row and a class."""
    rows = load_scale()
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, name, label in zip(axes, ("epoch seconds", "peak MiB"), ("seconds", "MiB"), strict=True):
        pairs = [(row["rows"] * row["classes"], row[name], plain and plain[name]) for row, plain in rows]
        both = [(cells, theirs) for cells, _, theirs in pairs if theirs]
        axis.scatter(*zip(*both, strict=True), color="grey", marker="s", label="plain BCE, dense labels")
        axis.scatter([cells for cells, _, _ in pairs], [ours for _, ours, _ in pairs], label="chmcnn")
        axis.set(xscale="log", yscale="log", xlabel="rows x classes", ylabel=label)
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_title("an epoch with validation", fontsize=10)
    axes[1].set_title("peak memory of the process", fontsize=10)
    axes[0].legend(frameon=False, fontsize=8)
    return figure


def load_scale() -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Return the results of each size: ours, and the plain one if it was run."""
    ours = sorted((RESULTS / "scale").glob("*-ours.json"), key=by_size)
    plain = [path.with_name(path.name.replace("-ours", "-plain")) for path in ours]
    return [(read(own), read(other) if other.exists() else None) for own, other in zip(ours, plain, strict=True)]


def by_size(path: Path) -> tuple[int, ...]:
    """Return the numbers in the name of a file."""
    return tuple(map(int, re.findall(r"\d+", path.stem)))


def _list_options(options: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value!r}`" for name, value in options.items())


def describe_machine(result: dict[str, Any]) -> str:
    """Return the end of a sentence about the machine of a result."""
    machine = result["machine"]
    return f" on {machine['threads']} threads of {machine['processor']}, torch {machine['torch']}"
