"""The members of each preset: one rule for all problems, by the form and the size of the training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scipy import sparse

from chmcnn.baselines import ClusEns
from chmcnn.classifier import CHMCNNClassifier
from chmcnn.ensemble._members import Member
from chmcnn.errors import ChmcnnError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn._typing import JSONValue
    from chmcnn.training import Rows


class Problem(NamedTuple):
    """The form and the size of training rows."""

    rows: int
    columns: int
    classes: int
    sparse: bool

    @classmethod
    def of(cls, train: Rows) -> Problem:
        """Describe training rows."""
        return cls(len(train), int(train.x.shape[1]), int(train.y.shape[1]), sparse.issparse(train.x))


def choose_members(preset: str, problem: Problem, network: Mapping[str, JSONValue]) -> tuple[list[Member], list[str]]:
    """Return the members of a preset, not fitted, and notices of those that step aside.

    ``network`` has settings of the network, if the preset has one.
    """
    trees = Member("trees", ClusEns())
    if preset == "fast":
        _refuse_network_settings(network)
        return [trees], []
    return [Member("network", CHMCNNClassifier(**network)), trees], []


def _refuse_network_settings(network: Mapping[str, JSONValue]) -> None:
    if network:
        raise ChmcnnError(f"The preset 'fast' has no network: {', '.join(network)} would have no effect.")
