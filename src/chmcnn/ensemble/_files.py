"""Members in the model file of an ensemble: facts of each in a list, tensors of each under its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chmcnn import baselines
from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.estimator import describe_facts, describe_model, load_transformer, rebuild_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from chmcnn.estimator import HierarchicalClassifier
    from chmcnn.hierarchy import Hierarchy

    Members = Mapping[str, HierarchicalClassifier]

_TRANSFORMER = "transformer"
"""Tensor with the bytes of the transformer of a member, if it has one."""


def collect_tensors(members: Members) -> dict[str, Tensor]:
    """Return the tensors of all members, by names that begin with the number of the member."""
    tensors: dict[str, Tensor] = {}
    for number, model in enumerate(members.values()):
        described = describe_model(model)
        tensors |= {f"{_prefix(number)}{name}": value for name, value in described.tensors.items()}
        if described.transformer is not None:
            content = np.frombuffer(described.transformer, dtype=np.uint8)
            tensors[f"{_prefix(number)}{_TRANSFORMER}"] = torch.tensor(content)
    return tensors


def describe_members(members: Members) -> list[dict[str, Any]]:
    """Return the facts of all members, with their names; refuse those that could not be read again."""
    for name, model in members.items():
        is_known = type(model) in baselines.SYSTEMS.values()
        if not is_known or (model.fitted_params_ or {}).get("network") is not None:
            reason = "has a network of its own" if is_known else "is of a kind that files of ensembles do not have"
            raise ChmcnnError(
                f"The member {name!r} ({type(model).__name__}) {reason}, so the ensemble cannot be saved; use "
                "joblib.dump, and load such files only if you trust them."
            )
    return [{"name": name, **describe_facts(model)} for name, model in members.items()]


def rebuild_members(
    facts: Sequence[Mapping[str, Any]], tensors: Mapping[str, Tensor], hierarchy: Hierarchy, device: str
) -> dict[str, HierarchicalClassifier]:
    """Return the members of a model file, by name."""
    return {
        member["name"]: _rebuild(member, _select(tensors, number), hierarchy, device)
        for number, member in enumerate(facts)
    }


def _rebuild(
    facts: Mapping[str, Any], tensors: dict[str, Tensor], hierarchy: Hierarchy, device: str
) -> HierarchicalClassifier:
    kinds = {kind.__name__: kind for kind in baselines.SYSTEMS.values()}
    kind = kinds.get(facts["system"])
    if kind is None:
        raise ModelError(f"the member {facts['name']!r} is a model of {facts['system']}, which is not a known system")
    if facts.get("own network"):
        raise ModelError(f"the member {facts['name']!r} has a custom network, which a model file does not have")
    content = tensors.pop(_TRANSFORMER, None)
    transformer = None if content is None else load_transformer(content.numpy().tobytes())
    options = {"device": device} if "device" in kind().get_params(deep=False) else {}
    return rebuild_model(kind, hierarchy, facts, tensors, transformer=transformer, options=options)


def _select(tensors: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    start = _prefix(number)
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def _prefix(number: int) -> str:
    return f"member.{number}."
