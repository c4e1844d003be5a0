"""The systems of a comparison: those of the package by name, and those of the user by class or ``module:Class``."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chmcnn._io import user_code
from chmcnn._wording import nearest
from chmcnn.baselines import Coherent
from chmcnn.ensemble import NETWORK_SETTINGS, SYSTEMS, BestEnsemble, gather_network_settings
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

_GIVEN = ("hierarchy", "evaluated", "random_state")
"""Parameters that a comparison sets."""


@dataclass(frozen=True, slots=True)
class System:
    """A system: its name, and for one of the user where it is and which version of it this is."""

    name: str
    path: str | None = None  # module:Class
    version: str | None = None

    def find_class(self) -> type[Any]:
        """Return its class; import that of the user."""
        return SYSTEMS[self.name] if self.path is None else _check_class(user_code.find_object(self.path), self.path)

    def list_options(self) -> tuple[str, ...]:
        """Return the names of the parameters that a user may set."""
        kind = self.find_class()
        if hasattr(kind, "_get_param_names"):
            names = kind._get_param_names()  # noqa: SLF001 -- also for a class whose parameters have no defaults
        else:
            names = [
                parameter.name
                for parameter in inspect.signature(kind).parameters.values()
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            ]
        network = NETWORK_SETTINGS if kind is BestEnsemble else ()
        return (*(name for name in names if name not in _GIVEN), *network)

    def gather_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options as its constructor has them: those of the network of an ensemble are in one parameter."""
        return gather_network_settings(options) if self.find_class() is BestEnsemble else dict(options)

    def create(self, options: Mapping[str, Any], **given: Any) -> HierarchicalClassifier:  # noqa: ANN401
        """Return a new estimator; a class that is no `HierarchicalClassifier` is wrapped by `Coherent`."""
        kind = self.find_class()
        if issubclass(kind, HierarchicalClassifier):
            return kind(**given, **options)
        return Coherent(kind(**options), **given)


def find_system(wanted: str | type[Any]) -> System:
    """Return a system by the name of one of the package, by ``module:Class``, or by its class."""
    if isinstance(wanted, type):
        return _describe(wanted, user_code.get_path(wanted))
    if wanted in SYSTEMS:
        return System(wanted)
    if isinstance(wanted, str) and ":" in wanted:
        return _describe(user_code.find_object(wanted), wanted)
    near = nearest(str(wanted), tuple(SYSTEMS))
    hint = f" Did you mean {near!r}?" if near else ""
    raise ChmcnnError(
        f"Unknown system {wanted!r}.{hint} Systems: {', '.join(SYSTEMS)}, or module:Class for one of your own."
    )


def _describe(kind: Any, path: str) -> System:  # noqa: ANN401 -- whatever the user wrote
    kind = _check_class(kind, path)
    for name, built_in in SYSTEMS.items():
        if kind is built_in:
            return System(name)
    own_name = vars(kind).get("name")
    name = own_name if isinstance(own_name, str) else kind.__name__
    if not name.strip() or "," in name:
        raise ChmcnnError(f"{path!r} has the name {name!r}; expected text without a comma.")
    if name in SYSTEMS:
        raise ChmcnnError(f"{path!r} is called {name!r}, like a system of the package; give it another name = '...'.")
    return System(name, path, user_code.get_version(kind))


def _check_class(kind: Any, path: str) -> type[Any]:  # noqa: ANN401
    if not inspect.isclass(kind):
        raise ChmcnnError(f"{path!r} is of type {type(kind).__name__}; expected a class.")
    scores = (
        ("uncorrected_proba",) if issubclass(kind, HierarchicalClassifier) else ("predict_proba", "decision_function")
    )
    if not hasattr(kind, "fit") or not any(hasattr(kind, name) for name in scores):
        raise ChmcnnError(
            f"{path!r} is no system: expected a subclass of chmcnn.estimator.HierarchicalClassifier, or a class with "
            "fit and predict_proba (or decision_function)."
        )
    if issubclass(kind, HierarchicalClassifier):
        lacking = [name for name in _GIVEN if name not in kind._get_param_names()]  # noqa: SLF001
        if lacking:
            raise ChmcnnError(
                f"The constructor of {path!r} has no {', '.join(lacking)}; add **options to it, and pass them on: "
                "super().__init__(hierarchy, **options)."
            )
    return kind
