"""What a study must have that was read from a file: it may be damaged, or written by another program."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chmcnn.errors import ChmcnnError
from chmcnn.settings import check_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import optuna
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from chmcnn.search._space import Space

_WORKER = re.compile(r"[0-9a-f]{32}")
_ATTRIBUTES: dict[str, Callable[[object], bool]] = {
    "worker": lambda value: isinstance(value, str) and _WORKER.fullmatch(value) is not None,  # it names a file
    "settings": lambda value: isinstance(value, Mapping),
    "begun": lambda value: type(value) is int,
    "again": lambda value: type(value) is int,
    "reason": lambda value: isinstance(value, str),
}


@contextmanager
def explain_damage(place: str) -> Iterator[None]:
    """Let whatever goes wrong while a study is read be one clear error."""
    try:
        yield
    except ChmcnnError:
        raise
    except Exception as error:  # noqa: BLE001 -- Optuna takes its files as they are, so a damaged one may raise anything
        reason = str(error.__cause__ or error).partition("\n")[0].removesuffix(".")
        raise ChmcnnError(
            f"{place} cannot be opened: it is no study of Optuna, or damaged ({type(error).__name__}: {reason}). "
            "Choose another one, or delete it to begin the search anew."
        ) from None


def check_trials(study: optuna.Study, space: Space) -> None:
    """Raise a `ValueError` for trials that no search of this space has written."""
    if [each.name for each in study.directions] != ["MAXIMIZE"]:
        raise ValueError("it does not look for the highest score")
    distributions = space.distributions()
    for trial in study.get_trials(deepcopy=False):
        problem = _find_problem(trial, distributions)
        if problem:
            raise ValueError(f"trial {trial.number} has another {problem} than a search writes")


def _find_problem(trial: FrozenTrial, distributions: Mapping[str, BaseDistribution]) -> str | None:
    attributes = trial.user_attrs
    for name, is_valid in _ATTRIBUTES.items():
        if name in attributes and not is_valid(attributes[name]):
            return name
    if not all(_is_drawn(trial, name, distributions.get(name)) for name in trial.params):
        return "choice"
    try:
        check_settings(attributes.get("settings", {}))
    except ChmcnnError:
        return "settings"
    is_complete = trial.state.name == "COMPLETE"
    if is_complete and (trial.value is None or not math.isfinite(trial.value) or "settings" not in attributes):
        return "score"
    return None


def _is_drawn(trial: FrozenTrial, name: str, distribution: BaseDistribution | None) -> bool:
    """Whether a setting of a trial is from the space."""
    value, low, high = trial.params[name], getattr(distribution, "low", None), getattr(distribution, "high", None)
    within = low is None or high is None or low <= value <= high
    return trial.distributions[name] == distribution and within
