"""Tables of the presets, for `benchmarks.report`: what they set, and how well they do."""

from collections.abc import Sequence

import numpy as np

from benchmarks.markdown import table
from benchmarks.measure import load
from benchmarks.presets import FOLDER, PUBLISHED, SEEDS
from chmcnn.estimator import PRESETS, Preset
from chmcnn.settings import SETTINGS


def presets() -> str:
    """Test AU(PRC) and training time of both presets beside the published figures."""
    cells = []
    for name, figure in PUBLISHED.items():
        if not (FOLDER / f"{name}-paper.json").exists():
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
    return table(header, cells) + f"\n{source}\n"


def validated(part: str, size: str, names: Sequence[str]) -> str:
    """Validation AU(PRC) of several settings, on tables of several sizes."""
    found = [load(f"presets/{part}-{name}") for name in names]
    settings = list(found[0]["validation AU(PRC)"])
    cells = [
        [each["dataset"], f"{each[size]:,}", *(f"{each['validation AU(PRC)'][key]:.4f}" for key in settings)]
        for each in found
    ]
    header = ["data set", size, *(f"{part} {key}" for key in settings)]
    return f"{table(header, cells)}\nValidation rows, one seed. Run by `python -m benchmarks.presets {part}`.\n"


def settings() -> str:
    """Return all settings of a training, with their values, defaults and options."""
    cells = []
    for name, setting in SETTINGS.items():
        option = setting.option.name if setting.option else name
        defaults = [_default(name, preset) for preset in PRESETS.values()]
        cells.append([f"`{name}`", setting.help, setting.domain.expected, *defaults, f"`--{option.replace('_', '-')}`"])
    header = ["setting", "meaning", "values", "default", "with preset paper", "option"]
    note = "An asterisk: the default preset adapts this value to the size of the table, see `chmcnn.estimator.Preset`."
    return f"{table(header, cells)}\n{note}\n"


def _default(name: str, preset: Preset) -> str:
    """Return the default of a setting: its own, or that of a preset."""
    if SETTINGS[name].default is not None:
        return f"`{SETTINGS[name].default}`"
    value = getattr(preset, name) if hasattr(preset, name) else getattr(preset.settings, name, None)
    adapted = "*" if preset.scaled and name in {"widths", "dropout", "learning_rate"} else ""
    return f"`{value}`{adapted}"
