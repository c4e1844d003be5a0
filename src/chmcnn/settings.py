"""The settings of a training, each defined once: its type, its default, what it may be, and its help.

The estimator's checks, the options of `chmcnn train` and `chmcnn search`, the keys of ``--config``, the axes of a
search and the table in docs/settings.md all come from `SETTINGS`. Nothing here imports torch.
"""

from __future__ import annotations

import json
import numbers
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from chmcnn._io import strict_json
from chmcnn._wording import nearest
from chmcnn.errors import ChmcnnError, FileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from chmcnn._typing import JSONValue


class Domain(NamedTuple):
    """The values that a setting may have: the type of its option, in words, as a test, and as few words for a help."""

    type: type
    expected: str
    allows: Callable[[Any], bool]
    range: str = ""  # empty for a switch


def _is_number(value: object) -> bool:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    number, limit = cast("float", value), sys.float_info.max
    return bool(-limit <= number <= limit)  # which is exact for integers of any size, and not true of NaN


def _is_integer(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _integer(least: int) -> Domain:
    within = f"{least} or more"
    return Domain(int, f"an integer, {within}", lambda value: _is_integer(value) and least <= value < 2**63, within)


def _number(within: str, allows: Callable[[float], bool], kind: str = "a finite number,") -> Domain:
    return Domain(float, f"{kind} {within}", lambda value: _is_number(value) and allows(value), within)


def choice(*names: str) -> Domain:
    """Return the domain of a setting that is one of some names."""
    expected, within = " or ".join(map(repr, names)), " or ".join(names)
    return Domain(str, expected, lambda value: isinstance(value, str) and value in names, within)


def _is_class_weight(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(_is_number(weight) and weight >= 0 for weight in value.values())
    return isinstance(value, str) and value == "balanced"


_SHARE = _number("0 to below 1", lambda value: 0 <= value < 1, "a number from")
_POSITIVE = _number("above 0", lambda value: value > 0, "a finite number")
_NOT_NEGATIVE = _number("0 or more", lambda value: value >= 0)
BOOLEAN = Domain(bool, "true or false", lambda value: isinstance(value, bool))
_WIDTHS = Domain(
    list,
    "a list of integers above 0, such as [500, 500], or [] for no hidden layer",
    lambda value: isinstance(value, list | tuple) and all(map(_integer(1).allows, value)),
)
_CLASS_WEIGHT = Domain(str, "'balanced', or weights by class name, each 0 or more", _is_class_weight)
ABOVE_ZERO = _integer(1)
PROBABILITY = _number("0 to 1", lambda value: 0 <= value <= 1, "a number from")
BETWEEN_ZERO_AND_ONE = _number("above 0 and below 1", lambda value: 0 < value < 1, "a number")
_TUNED = ("tune", "hierarchical_f", "fmax")
_THRESHOLD = Domain(
    float,
    "a number from 0 to 1, 'tune', 'hierarchical_f' or 'fmax'",
    lambda value: (isinstance(value, str) and value in _TUNED) or PROBABILITY.allows(value),
)


def read_threshold(text: str) -> float | str:
    """Return the threshold that an option names.

    >>> read_threshold("0.3"), read_threshold("fmax")
    (0.3, 'fmax')
    """
    try:
        return float(text)
    except ValueError:
        return text


THRESHOLD_TEXT = Domain(
    str,
    _THRESHOLD.expected,
    lambda text: _THRESHOLD.allows(read_threshold(text)),
    f"{PROBABILITY.range}, {', '.join(_TUNED[:-1])} or {_TUNED[-1]}",
)
"""A threshold as text: the value of an option."""


class Option(NamedTuple):
    """An option of the command line that is not called as its setting is, or has other values."""

    name: str
    domain: Domain
    setting: Callable[[Any], Any]  # the value of the setting, from that of the option
    help: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a training."""

    domain: Domain
    help: str
    group: str = "How to train"
    default: Any = None  # None: the preset decides
    option: Option | None = None  # None: the option has the name and the values of the setting
    shortcut: Option | None = None  # a second option for some of its values
    unsearched: str = ""  # why a search takes one value of it only


ENSEMBLES = ("best", "fast")
"""Presets that are not those of a network, but of `chmcnn.CoherentEnsemble`."""
_STOPPING, _CLASSES, _NETWORK = "When to stop", "Classes", "The network"
SETTINGS: dict[str, Setting] = {
    "preset": Setting(
        choice("default", "paper", *ENSEMBLES),
        "Recipe for all settings that are not given; best and fast are ensembles.",
        default="default",
    ),
    "epochs": Setting(_integer(1), "Maximum number of epochs."),
    "batch_size": Setting(_integer(1), "Rows per step."),
    "learning_rate": Setting(_POSITIVE, "Learning rate of Adam."),
    "weight_decay": Setting(_NOT_NEGATIVE, "Weight decay of Adam."),
    "schedule": Setting(choice("constant", "cosine"), "Course of the learning rate; cosine decays it to 0."),
    "averaging": Setting(
        _NOT_NEGATIVE, "Epochs in the moving average of the weights that is validated and kept; 0 for no average."
    ),
    "sharded": Setting(
        BOOLEAN,
        "Under torchrun, divide weights, gradients and optimizer among the processes (FSDP2): less memory, more time.",
        unsearched="it does not change the result",
    ),
    "precision": Setting(choice("float32", "bfloat16"), "Precision of the network.", default="float32"),
    "preprocess": Setting(BOOLEAN, "Standardise the features.", default=True),
    "patience": Setting(_integer(0), "Epochs without a better validation score before training stops.", _STOPPING),
    "patience_growth": Setting(
        _NOT_NEGATIVE,
        "Share of the best epoch that the patience has at least, so that slow trainings have more; 0 with a patience.",
        _STOPPING,
    ),
    "max_minutes": Setting(
        _POSITIVE,
        "Minutes after which the training stops and keeps the best weights so far; no limit if not given.",
        _STOPPING,
        unsearched="settings are compared after the same time",
    ),
    "validation": Setting(
        _SHARE,
        "Share of the training rows to validate on; 0 trains for all epochs.",
        _STOPPING,
        default=0.2,
        option=Option(
            "validation_share", _SHARE, lambda share: share, "Share of the training rows to validate on; 0 for none."
        ),
        unsearched="it decides on which rows settings are compared",
    ),
    "validation_sample": Setting(
        _integer(1),
        "Validation rows that are scored after each epoch, drawn once by the seed; all if not given.",
        _STOPPING,
        unsearched="it decides on which rows settings are compared",
    ),
    "refit": Setting(
        BOOLEAN,
        "Train again on training and validation rows for the best number of epochs; otherwise keep the best epoch.",
        _STOPPING,
        unsearched="a search never trains on validation rows",
    ),
    "threshold": Setting(
        _THRESHOLD,
        "Score from which a class is predicted. Tuned on validation rows: 'tune' has one threshold per class, for its "
        "best F1; 'hierarchical_f' and 'fmax' have one for all, for the best hierarchical F or Fmax.",
        _CLASSES,
        default=0.5,
        option=Option(
            "threshold",
            THRESHOLD_TEXT,
            read_threshold,
            "Score from which a class is predicted; or tuned on validation rows: tune (one per class), hierarchical_f "
            "or fmax (one for all classes).",
        ),
        shortcut=Option(
            "tune_thresholds",
            BOOLEAN,
            lambda tune: "tune" if tune else 0.5,
            "--threshold tune, or 0.5.",
        ),
        unsearched="the AU(PRC) does not depend on it",
    ),
    "calibration": Setting(
        choice("temperature", "isotonic", "venn-abers"),
        "How scores become probabilities, learnt on validation rows; scores stay as they are if not given.",
        _CLASSES,
        unsearched="the AU(PRC) does not depend on it",
    ),
    "class_weight": Setting(
        _CLASS_WEIGHT,
        "'balanced' gives rare classes more weight; or weights by class name.",
        _CLASSES,
        option=Option(
            "balanced",
            BOOLEAN,
            lambda balanced: "balanced" if balanced else None,
            "Give rare classes more weight, or all the same.",
        ),
    ),
    "widths": Setting(
        _WIDTHS,
        "Units of each hidden layer.",
        _NETWORK,
        option=Option("width", _integer(1), lambda width: [width, width], "Units of each of the two hidden layers."),
    ),
    "dropout": Setting(
        _SHARE, "Dropout after each hidden layer; the default preset omits features as well, less often.", _NETWORK
    ),
    "output_rank": Setting(
        _integer(1),
        "Rank of the weights of the last layer, for very many classes: less time and memory; full if not given.",
        _NETWORK,
    ),
}
"""The settings by name, as the estimator has them."""

_SEARCHED_PRESET = choice("default", "paper")._replace(
    expected="'default' or 'paper': best and fast are ensembles, which have no settings to search"
)
SEARCHED: dict[str, Setting] = SETTINGS | {
    "preset": replace(SETTINGS["preset"], domain=_SEARCHED_PRESET, help="Recipe for all settings that are not given.")
}
"""The settings of a search: those of a training, without the ensembles."""

SEED = Setting(_integer(0), "Seed of everything random.", default=0)


def check(name: str, value: JSONValue, domain: Domain | None = None) -> JSONValue:
    """Return the value of a setting, numpy numbers as plain ones; refuse a value that the setting cannot have.

    >>> check("epochs", 20)
    20
    >>> check("epochs", 1.5)
    Traceback (most recent call last):
    chmcnn.errors.ChmcnnError: epochs is 1.5; expected an integer, 1 or more.
    """
    domain = domain or SETTINGS[name].domain
    plain = value.tolist() if hasattr(value, "dtype") else value
    if not domain.allows(plain):
        raise ChmcnnError(f"{name} is {value!r}; expected {domain.expected}.")
    return plain


def check_settings(
    settings: Mapping[str, JSONValue], path: Path | None = None, known: Mapping[str, Setting] = SETTINGS
) -> dict[str, JSONValue]:
    """Return the settings that are not None; refuse unknown names and wrong values, with the file they came from."""
    for name in settings:
        if name not in known:
            near = nearest(name, list(known))
            hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(known)}"
            raise FileError(f"unknown setting {name!r}; {hint}", path)
    try:
        return {name: check(name, value, known[name].domain) for name, value in settings.items() if value is not None}
    except ChmcnnError as error:
        raise FileError(str(error), path) from None


def read(path: Path) -> dict[str, Any]:
    """Read a JSON object, such as a file of settings or of a search space."""
    try:
        content = strict_json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise FileError(f"the file is not JSON: {error.msg}", path, error.lineno, error.colno) from None
    except UnicodeDecodeError:
        raise FileError("the file is not UTF-8 text", path) from None
    except ValueError as error:
        raise FileError(f"the file is not JSON that can be used: {error}", path) from None
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror}", path) from None
    if not isinstance(content, dict):
        raise FileError('expected an object of settings, such as {"epochs": 50}', path)
    return content
