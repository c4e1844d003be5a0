"""Model files: a folder with safetensors, JSON, and skops for a transformer. Reading one never runs code.

A system has `learned_tensors`, `learned_facts` and `restore`; all else is the same for every system.
"""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from sklearn.base import clone

from chmcnn._io.strict_json import dumps, loads
from chmcnn._version import __version__
from chmcnn.datasets.preprocessing import Preprocessor
from chmcnn.errors import ModelError
from chmcnn.estimator._devices import choose_device
from chmcnn.estimator._held_out_files import held_out_tensors, restore_held_out
from chmcnn.estimator._model_folder import (
    CLASS_FACTS,
    DIGESTS,
    FACTS,
    TENSORS,
    TRANSFORMER,
    read_file,
    refuse_other,
    write_files,
)
from chmcnn.estimator._preprocessing_files import describe_preprocessing, preprocessing_tensors, restore_preprocessing
from chmcnn.estimator._signatures import verify_signature, write_signature
from chmcnn.estimator._transformer_files import dump_transformer, load_transformer
from chmcnn.estimator._transformers import CustomPreprocessor
from chmcnn.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from chmcnn._typing import Transformer
    from chmcnn.estimator._base import HierarchicalClassifier

    Key = str | Path | bytes
    Model = TypeVar("Model", bound=HierarchicalClassifier)

_FORMAT, _VERSION = "chmcnn-model", 2
_READABLE = (1, 2)
"""Versions that are read. Version 2 has parts of words and the rarity of classes, which readers of 1 would ignore."""
_NOT_STORED = {
    "hierarchy",
    "network",
    "device",
    "evaluated",
    "members",
    "path_separator",
    "preprocess",
    "random_state",
    "checkpoint",
    "n_jobs",
    "verbose",
}
"""Parameters that are stored in another form, or that the user sets when loading."""


def save_model(
    model: HierarchicalClassifier,
    path: Path,
    *,
    force: bool,
    class_facts: bytes | None = None,
    extra_files: Mapping[str, bytes] | None = None,
) -> None:
    """Write a model folder with extra files by name: a new one as a whole, or over the model that is there.

    ``class_facts`` is what is known about the classes, as JSON; it has a checksum as the files of the model have.

    At every moment the folder has the old model or the new one: see `chmcnn.estimator._model_folder`.
    """
    refuse_other(path, force=force)
    described = describe_model(model)
    optional = {TRANSFORMER: described.transformer, CLASS_FACTS: class_facts}
    files = {TENSORS: _pack(described.tensors)} | {name: each for name, each in optional.items() if each is not None}
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "chmcnn": __version__,
        "torch": str(torch.__version__),
        **{DIGESTS[name]: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "hierarchy": json.loads(model.hierarchy_.to_json()),
        **described.facts,
    }
    facts["digest"] = _digest(json.loads(dumps(facts)))
    write_files(path, dumps(facts).encode(), files, extra_files or {})


def _pack(tensors: dict[str, torch.Tensor]) -> bytes:
    from safetensors.torch import save

    return save(tensors)


class Described(NamedTuple):
    """What a model file has of a model, beside its hierarchy."""

    facts: dict[str, Any]
    tensors: dict[str, torch.Tensor]
    transformer: bytes | None = None  # of the user, by skops


def describe_model(model: HierarchicalClassifier) -> Described:
    """Return what a model file has of a model."""
    model = _as_trained(model)
    tensors = model.learned_tensors()
    tensors |= {f"thresholds.{name}": torch.tensor(values) for name, values in model.tuned_thresholds_.items()}
    tensors |= held_out_tensors(model)
    tensors["evaluated"] = torch.tensor(model.evaluated_)
    tensors |= preprocessing_tensors(model)
    facts = describe_facts(model)
    if model.streamed_ or not isinstance(model.preprocessor_, CustomPreprocessor):
        return Described(facts, tensors)
    return Described(facts, tensors, dump_transformer(model.preprocessor_.transformer_))


def describe_facts(model: HierarchicalClassifier) -> dict[str, Any]:
    """Return what a model file has of a model and is no tensor."""
    model = _as_trained(model)
    model.check_settings()
    return {
        "path separator": model.path_separator,
        "system": type(model).__name__,
        "settings": {name: getattr(model, name) for name in _list_stored(model)}
        | {"preprocess": _is_standardised(model)}
        | model.settings_to_save(),
        "seed": model.seed_,
        **describe_preprocessing(model),
        **model.learned_facts(),
    }


def _is_standardised(model: HierarchicalClassifier) -> bool:
    preprocessor = None if model.streamed_ else model.preprocessor_
    return preprocessor.standardise if isinstance(preprocessor, Preprocessor) else bool(model.preprocess)


def _as_trained(model: Model) -> Model:
    """Return the model with the parameters of its training, but for those that matter later."""
    trained, params = copy.copy(model), model.fitted_params_ or {}
    trained.set_params(**{name: value for name, value in params.items() if name not in model.set_later})
    return trained


def _list_stored(model: HierarchicalClassifier) -> list[str]:
    """Return the names of the parameters that are stored unchanged."""
    return [name for name in model.get_params(deep=False) if name not in _NOT_STORED]


def _digest(facts: dict[str, Any]) -> str:
    """Return a checksum of all facts, as they are read, except itself."""
    content = {name: value for name, value in facts.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def sign_model(path: str | Path, key: str | Path, *, password: str | None = None) -> None:
    """Sign a model: ``load_model(path, verify_key=...)`` then shows that nobody without the key has changed it.

    The signature is a file of the folder. It holds for all that is read of the model, but not for its report. A new
    training that overwrites the model deletes it.

    Parameters
    ----------
    path
        The folder of the model, all of whose files must match their checksums.
    key
        PEM file with an Ed25519 private key, by ``chmcnn create-key`` or openssl.
    password
        That of the key, if it is encrypted.
    """
    folder = Path(path)
    content = _read_content(folder)
    facts = _parse_facts(content, folder / FACTS)
    for name in DIGESTS:
        if DIGESTS[name] in facts:
            read_file(folder, name, facts)
    write_signature(folder, content, key, password)


def read_system(path: Path, verify_key: Key | None = None) -> str:
    """Return the name of the class that wrote a model folder."""
    return str(_read_facts(path, verify_key).get("system"))


def read_class_facts(path: Path, verify_key: Key | None = None) -> bytes | None:
    """Return what a model folder has about the classes, as JSON; None for a model without it."""
    facts = _read_facts(path, verify_key)
    return read_file(path, CLASS_FACTS, facts) if DIGESTS[CLASS_FACTS] in facts else None


def load_model(cls: type[Model], path: Path, options: Mapping[str, Any], verify_key: Key | None = None) -> Model:
    """Read a folder that `save_model` wrote; options are parameters that the folder does not have."""
    if "device" in options:
        choose_device(options["device"])
    facts, tensors, transformer = _read_files(path, verify_key)
    if facts.get("system") != cls.__name__:
        raise ModelError(f"a model of {facts.get('system')}, not of {cls.__name__}; load it with its own class", path)
    if facts.get("own network") and options.get("network") is None:
        raise ModelError("the model has a custom network; pass network=, as for training", path)
    try:
        hierarchy = Hierarchy.from_json(json.dumps(facts["hierarchy"]))
        return rebuild_model(cls, hierarchy, facts, tensors, transformer=transformer, options=options)
    except Exception as error:  # noqa: BLE001 -- an altered file may raise anything
        problem = str(error).partition("\n")[0] or type(error).__name__
        raise ModelError(f"the model is inconsistent: {problem}", path) from None


def _read_files(
    path: Path, verify_key: Key | None = None
) -> tuple[dict[str, Any], dict[str, torch.Tensor], Transformer | None]:
    """Return facts, tensors and the transformer of the user; read again if a new model has replaced them meanwhile."""
    facts = _read_facts(path, verify_key)
    try:
        return facts, _read_tensors(path, facts), _read_transformer(path, facts)
    except ModelError:
        if _read_facts(path, verify_key)["digest"] == facts["digest"]:
            raise
        return _read_files(path, verify_key)


def rebuild_model(
    cls: type[Model],
    hierarchy: Hierarchy,
    facts: Mapping[str, Any],
    tensors: dict[str, torch.Tensor],
    *,
    transformer: Transformer | None,
    options: Mapping[str, Any],
) -> Model:
    """Return the model that `describe_model` described; options are parameters that it does not have."""
    stored = facts["settings"]
    settings = {name: stored[name] for name in _list_stored(cls()) if name in stored}  # older models have fewer
    model = cls(
        hierarchy,
        evaluated=_read_mask(tensors["evaluated"], hierarchy),
        random_state=facts["seed"],
        path_separator=facts.get("path separator", "/"),
        preprocess=stored["preprocess"] if transformer is None else clone(transformer),
        **settings,
        **options,
    )
    model.resolve(None)
    restore_preprocessing(model, facts, tensors, transformer)
    model.tuned_thresholds_ = _restore_thresholds(model, tensors)
    restore_held_out(model, tensors)
    model.restore(facts, tensors)
    model.remember_params()
    if not model.streamed_ and not hasattr(model, "preprocessor_"):
        raise ModelError("its features are missing")
    return model


def _read_mask(evaluated: torch.Tensor, hierarchy: Hierarchy) -> NDArray[np.bool_] | None:
    """Return the classes that count; None for all of them, so that the parameter fits another hierarchy as well."""
    is_all = evaluated.shape == (len(hierarchy),) and evaluated.dtype == torch.bool and bool(evaluated.all())
    return None if is_all else evaluated.numpy()


def _read_facts(path: Path, verify_key: Key | None = None) -> dict[str, Any]:
    """Return the facts of a model; with a key, nothing is made of them before their signature is verified."""
    content = _read_content(path)
    if verify_key is not None:
        verify_signature(path, content, verify_key)
    return _parse_facts(content, path / FACTS)


def _read_content(path: Path) -> bytes:
    file = path / FACTS
    if not file.is_file():
        found = "a file" if path.exists() else "there is no such folder"
        found = f"the folder has no {FACTS}" if path.is_dir() else found
        raise ModelError(f"{found}; expected a folder that `chmcnn train` or `save` has written", path)
    try:
        return file.read_bytes()
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file) from None


def _parse_facts(content: bytes, file: Path) -> dict[str, Any]:
    try:
        facts = loads(content)
        is_unchanged = isinstance(facts, dict) and facts.get("digest") == _digest(facts)
    except ValueError as error:
        raise ModelError(f"the file is incomplete or was changed: {error}", file) from None
    if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
        raise ModelError(f'not a model; expected an object with "format": "{_FORMAT}"', file)
    if facts.get("version") not in _READABLE:
        raise ModelError(
            f"the model has version {facts.get('version')!r}, but chmcnn {__version__} reads 1 to {_VERSION}; use "
            f"chmcnn {facts.get('chmcnn')}, which wrote it, or a newer one",
            file,
        )
    if not is_unchanged:
        raise ModelError("the file was changed after it was written", file)
    return facts


def _read_tensors(path: Path, facts: dict[str, Any]) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load as load_tensors

    try:
        return load_tensors(read_file(path, TENSORS, facts))
    except SafetensorError as error:
        raise ModelError(f"the file is not safetensors: {error}", path / TENSORS) from None


def _read_transformer(path: Path, facts: dict[str, Any]) -> Transformer | None:
    """Return the transformer of the user; None for a model without one."""
    if DIGESTS[TRANSFORMER] not in facts:
        return None
    content = read_file(path, TRANSFORMER, facts)
    try:
        return load_transformer(content)
    except ModelError as error:
        raise ModelError(error.problem, path / TRANSFORMER) from None


def _restore_thresholds(
    model: HierarchicalClassifier, tensors: dict[str, torch.Tensor]
) -> dict[str, NDArray[np.float64]]:
    """Return the tuned thresholds by name; an older model has those of its parameter only."""
    tuned = {
        name.removeprefix("thresholds."): value for name, value in tensors.items() if name.startswith("thresholds.")
    }
    if "thresholds" in tensors and isinstance(model.threshold, str):
        tuned[model.threshold] = tensors["thresholds"]
    for name, value in tuned.items():
        if value.shape != (len(model.hierarchy_),) or not torch.isfinite(value).all():
            shape = tuple(value.shape)
            raise ModelError(f"thresholds {name} have shape {shape}; expected {len(model.hierarchy_)} finite numbers")
    return {name: value.numpy() for name, value in tuned.items()}
