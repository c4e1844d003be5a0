"""Model files: a folder with safetensors and JSON. Reading one never runs code."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

import chmcnn
from chmcnn._io.strict_json import dumps
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ModelError
from chmcnn.hierarchy import Hierarchy
from chmcnn.training import Epoch, optimizer_tensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chmcnn.estimator._neural import NetworkLike, NeuralClassifier

    Model = TypeVar("Model", bound=NeuralClassifier)

_FORMAT, _VERSION = "chmcnn-model", 1
_FACTS, _TENSORS = "model.json", "model.safetensors"
_NOT_KEPT = {"hierarchy", "network", "device", "evaluated", "random_state", "checkpoint", "verbose"}
"""Parameters that are kept in another form, or are for the user of a model to say."""


def save(model: NeuralClassifier, path: Path, *, force: bool, further: Mapping[str, bytes] | None = None) -> None:
    """Write a folder, all at once: beside its place first, then renamed. ``further`` files, by name, go in as well."""
    if path.exists() and not force:
        raise ModelError("already exists; choose another folder, or use force=True to overwrite it", path)
    if path.exists() and not (path / _FACTS).is_file():
        raise ModelError("not a model folder, so it is not overwritten; choose another folder", path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}-"))
    except OSError as error:
        raise ModelError(f"it cannot be written: {error.strerror}", path) from None
    old = temporary.with_name(f"{temporary.name}-old")
    try:
        _write(model, temporary)
        for name, content in (further or {}).items():
            (temporary / name).write_bytes(content)
        temporary.chmod(0o755)
        if path.exists():
            path.rename(old)
        temporary.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"it cannot be written: {error.strerror or error}", path) from None
    finally:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(temporary, ignore_errors=True)


def _write(model: NeuralClassifier, folder: Path) -> None:
    from safetensors.torch import save

    tensors = {
        f"network.{name}": value.detach().cpu().contiguous().clone()
        for name, value in model.network_.state_dict().items()
    }
    tensors |= {"thresholds": torch.tensor(model.thresholds_), "evaluated": torch.tensor(model.evaluated_)}
    state = getattr(model, "training_state_", None)
    if state is not None:  # partial_fit resumes from it
        tensors |= optimizer_tensors(state.optimizer)
    if not model.streamed_:
        tensors |= {name: torch.tensor(getattr(model.preprocessor_, f"{name}_")) for name in ("means", "scales")}
    content = save(tensors)
    facts: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "chmcnn": chmcnn.__version__,
        "torch": str(torch.__version__),
        "sha256": hashlib.sha256(content).hexdigest(),
        "hierarchy": json.loads(model.hierarchy_.to_json()),
        "system": type(model).__name__,
        "settings": {name: getattr(model, name) for name in _kept(model)} | model.settings_to_save(),
        "seed": model.seed_,
        "epochs of partial_fit": 0 if state is None else state.epoch,
        "own network": model.network is not None,
        **_input(model),
        "best epoch": model.best_epoch_,
        "best score": model.best_score_,
        "history": [asdict(epoch) for epoch in model.history_],
    }
    facts["digest"] = _digest(facts)
    (folder / _TENSORS).write_bytes(content)
    (folder / _FACTS).write_text(dumps(facts), encoding="utf-8")


def _kept(model: NeuralClassifier) -> list[str]:
    """The names of the settings that are kept as they are."""
    return [name for name in model.get_params(deep=False) if name not in _NOT_KEPT]


def _input(model: NeuralClassifier) -> dict[str, Any]:
    """What rows look like."""
    if model.streamed_:
        return {"shape": model.feature_shape_}
    return {
        "features": [str(name) for name in getattr(model, "feature_names_in_", [])] or model.n_features_in_,
        "categories": model.preprocessor_.categories_,
        "sparse": model.preprocessor_.sparse_,
    }


def _digest(facts: dict[str, Any]) -> str:
    """A checksum of all facts but itself."""
    content = dumps({name: value for name, value in facts.items() if name != "digest"})
    return hashlib.sha256(json.dumps(json.loads(content), sort_keys=True).encode()).hexdigest()


def load(cls: type[Model], path: Path, *, network: NetworkLike, device: str) -> Model:
    """Read a folder that `save` wrote."""
    facts = _facts(path)
    tensors = _tensors(path, facts)
    if facts.get("system") != cls.__name__:
        raise ModelError(f"it is a {facts.get('system')}, not a {cls.__name__}: load it with that class", path)
    if facts.get("own network") and network is None:
        raise ModelError("it was trained with a network of its own: give network=, as it was for training", path)
    try:
        settings = {name: facts["settings"][name] for name in _kept(cls())}
        model = cls(
            Hierarchy.from_json(json.dumps(facts["hierarchy"])),
            network=network,
            device=device,
            evaluated=tensors["evaluated"].numpy(),
            random_state=facts["seed"],
            **settings,
        )
        _restore(model, facts, tensors)
    except (LookupError, TypeError, RuntimeError, AttributeError, ValueError) as error:
        raise ModelError(f"it does not fit together: {str(error).splitlines()[0]}", path) from None
    return model


def _facts(path: Path) -> dict[str, Any]:
    file = path / _FACTS
    if not file.is_file():
        raise ModelError(f"there is no {_FACTS} in it; expected a folder that CHMCNNClassifier.save wrote", path)
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"the file is not whole, or was altered: {error}", file) from None
    if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
        raise ModelError(f'it is not a model; expected an object with "format": "{_FORMAT}"', file)
    if facts.get("version") != _VERSION:
        raise ModelError(
            f"it has version {facts.get('version')!r}, however this chmcnn {chmcnn.__version__} reads {_VERSION}: "
            f"chmcnn {facts.get('chmcnn')} wrote it; use that one, or a newer one",
            file,
        )
    if facts.get("digest") != _digest(facts):
        raise ModelError("the file was altered after it was written", file)
    return facts


def _tensors(path: Path, facts: dict[str, Any]) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load as load_tensors

    file = path / _TENSORS
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file) from None
    if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
        raise ModelError(
            f"the file is not the one that {_FACTS} was written with: it is not whole, or was altered", file
        )
    try:
        return load_tensors(content)
    except SafetensorError as error:
        raise ModelError(f"the file is not safetensors: {error}", file) from None


def _restore(model: NeuralClassifier, facts: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    model.resolve(None)
    _restore_input(model, facts, tensors)
    model.thresholds_ = tensors["thresholds"].numpy()
    if model.thresholds_.shape != (len(model.hierarchy_),):
        raise ModelError(f"thresholds have shape {model.thresholds_.shape}; expected {len(model.hierarchy_)}")
    model.history_ = tuple(Epoch(**{**epoch, "score": _number(epoch["score"])}) for epoch in facts["history"])
    model.best_epoch_, model.best_score_ = facts["best epoch"], _number(facts["best score"])
    network = model.build_network()
    weights = {name.removeprefix("network."): value for name, value in tensors.items() if name.startswith("network.")}
    network.load_state_dict(weights)
    model.network_ = network.to(model.device_).eval()
    if facts["epochs of partial_fit"]:
        model.restore_optimizer(facts["epochs of partial_fit"], tensors)


def _restore_input(model: NeuralClassifier, facts: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
    if "shape" in facts:
        model.streamed_, model.feature_shape_ = True, tuple(facts["shape"])
        model.n_features_in_ = math.prod(model.feature_shape_)
        return
    model.feature_shape_ = tensors["means"].shape
    found = model.preprocessor_ = _preprocessor(facts, tensors, standardise=model.preprocess)
    model.n_features_in_ = found.n_features_in_
    if hasattr(found, "feature_names_in_"):
        model.feature_names_in_ = found.feature_names_in_


def _number(value: float | None) -> float:
    """A number that JSON may have no form for."""
    return math.nan if value is None else value


def _preprocessor(facts: dict[str, Any], tensors: dict[str, torch.Tensor], *, standardise: bool) -> Preprocessor:
    found = Preprocessor(standardise=standardise)
    found.categories_ = [None if known is None else tuple(known) for known in facts["categories"]]
    found.means_, found.scales_ = tensors["means"].numpy(), tensors["scales"].numpy()
    found.sparse_ = facts["sparse"]
    features = facts["features"]
    found.n_features_in_ = features if isinstance(features, int) else len(features)
    if not isinstance(features, int):
        found.feature_names_in_ = np.array(features, dtype=object)
    columns = len(found.get_feature_names_out())
    if found.means_.shape != (columns,) or found.scales_.shape != (columns,):
        raise ModelError(f"there are {columns} columns, however means of shape {found.means_.shape}")
    return found
