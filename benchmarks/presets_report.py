"""Tables of the presets, for `benchmarks.report`: what they set, and how well they do."""

from collections.abc import Sequence

from benchmarks.markdown import table
from benchmarks.measure import load, load_all
from benchmarks.presets import COMPARED, FOLDER, SYSTEMS
from chmcnn.estimator import PRESETS, Preset
from chmcnn.experiments import published
from chmcnn.settings import SETTINGS


def presets() -> str:
    """Test AU(PRC) of the presets beside the published figures, and their training times."""
    found = {result["dataset"]: result for result in load_all(FOLDER, "compared-*.json")}
    cells, theirs = [], published.auprc()["C-HMCNN"]
    for name in (name for name in COMPARED if name in found):
        runs = found[name]["presets"]
        scores = (f"{runs[preset]['test AU(PRC)']:.3f}" for preset in SYSTEMS)
        fast, default, best = (runs[preset]["processor seconds"] for preset in SYSTEMS)
        times = (f"{fast / default:.2f} x", f"{default:.0f} s", f"{best / default:.2f} x")
        cells.append([name, f"{found[name]['classes']:,}", f"{theirs[name]:.3f}", *scores, *times])
    header = ["data set", "classes", "published", *SYSTEMS, *(f"time, {preset}" for preset in SYSTEMS)]
    source = (
        "Test AU(PRC) with one seed, beside that of C-HMCNN in the paper. Processor time of a training on one thread, "
        "all presets of a row in one run. Run by `python -m benchmarks.presets`."
    )
    return f"{table(header, cells)}\n{source}\n"


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
