"""Transformers in a file of skops, which is read by an allow-list: reading one never runs code.

skops itself refuses types that it does not trust. Before it sees a file, `_check` refuses every node that is not on our
own, shorter list, by the names in the file alone: nothing is imported or built from a file that fails.
"""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from chmcnn.errors import ChmcnnError, ModelError
from chmcnn.estimator._transformers import describe_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from chmcnn._typing import JSONValue, Transformer

_SCHEMA = "schema.json"
_NAME = re.compile(r"[\w-]+\.npy")
_MOST_BYTES = {_SCHEMA: 2**27}
"""Largest size of the description of the objects, uncompressed; an array may have `_MOST_BYTES_OF_AN_ARRAY`."""
_MOST_BYTES_OF_AN_ARRAY = 2**31
_SKRUB_TYPES = (
    "skrub._apply_to_each_col.ApplyToEachCol",
    "skrub._check_input.CheckInputDataFrame",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._duration_to_float.DurationToFloat",
    "skrub._minhash_encoder.MinHashEncoder",
    "skrub._string_encoder.StringEncoder",
    "skrub._table_vectorizer.PassThrough",
    "skrub._table_vectorizer.ShortReprDict",
    "skrub._table_vectorizer.TableVectorizer",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat",
    "skrub._to_str.ToStr",
    "skrub.selectors._base.All",
    "skrub.selectors._base.And",
    "skrub.selectors._base.Cols",
    "skrub.selectors._base.Filter",
    "skrub.selectors._base.Sub",
)
_SKRUB_FUNCTIONS = (
    "skrub._dataframe._common.is_any_date",
    "skrub._dataframe._common.is_categorical",
    "skrub._dataframe._common.is_numeric",
    "skrub._table_vectorizer._created_by_predicate",
    "skrub.selectors._selectors._cardinality_below",
)
_UFUNCS_OF_NUMPY = ("numpy", "numpy._core.umath", "numpy._core._multiarray_umath")
_UFUNCS_OF_SCIPY = ("scipy.special", "scipy.special._ufuncs", "scipy.special._special_ufuncs")
"""Modules that skops finds ufuncs in; which one comes first depends on what is imported."""


def dump_transformer(transformer: Transformer) -> bytes:
    """Return the file of a fitted transformer; raise an error that names a type that it cannot keep."""
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    packed = copy.deepcopy(transformer)
    for part in _walk(packed, set()):
        if isinstance(part.get("vocabulary_"), dict):  # skops would write an object for each word
            part["vocabulary_"] = _pack(part["vocabulary_"])
        if "memory" in part:
            part["memory"] = None  # a cache on this machine
    try:
        content: bytes = skops.io.dumps(packed, compression=zipfile.ZIP_DEFLATED)
        _check(content)
    except ModelError as error:
        raise _refuse(transformer, error.problem) from None
    except (UnsupportedTypeException, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _refuse(transformer, describe_error(error)) from None
    return content


def _refuse(transformer: object, problem: str) -> ChmcnnError:
    return ChmcnnError(
        f"A model folder cannot keep the transformer {type(transformer).__name__} of preprocess=: {problem}. Use "
        "transformers of scikit-learn without functions of your own, or transform X yourself, and pass "
        "preprocess=False."
    )


def load_transformer(content: bytes) -> Transformer:
    """Return the transformer of a file that `dump_transformer` wrote; raise an error for any other file."""
    import skops.io

    try:
        _check(content)
        transformer = skops.io.loads(content, trusted=["numpy.dtype", *_SKRUB_TYPES, *_SKRUB_FUNCTIONS])
        _restore(transformer)
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001 -- a damaged file may raise anything
        raise ModelError(f"the file is damaged: {describe_error(error)}") from None
    if not callable(getattr(transformer, "transform", None)):
        raise ModelError(f"the file has an object of type {type(transformer).__name__}, not a transformer")
    return transformer


def _restore(transformer: Transformer) -> None:
    """Restore the vocabularies, and refuse what would be unsafe later."""
    for part in _walk(transformer, set()):
        if isinstance(part.get("vocabulary_"), np.ndarray):
            part["vocabulary_"] = _unpack(part["vocabulary_"])
        if part.get("memory") is not None:  # joblib would load pickles from there in the next training
            raise ModelError("a pipeline has a memory, which is a folder of unsafe files")


def _walk(value: object, seen: set[int]) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each object inside a transformer."""
    stack = [value]
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, list | tuple | set):
            stack += part
        elif type(part).__module__.startswith(("sklearn.", "skrub.")) and hasattr(part, "__dict__"):
            yield vars(part)
            stack += vars(part).values()


def _pack(vocabulary: Mapping[str, int]) -> NDArray[np.uint8]:
    terms = sorted(vocabulary, key=lambda term: vocabulary[term])
    return np.frombuffer(json.dumps(terms).encode(), dtype=np.uint8)


def _unpack(packed: NDArray[np.uint8]) -> dict[str, int]:
    terms = json.loads(packed.tobytes())
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise ModelError("a vocabulary is not a list of words")
    return {term: position for position, term in enumerate(terms)}


def _check(content: bytes) -> None:
    """Refuse a file with anything that is not on our list, before anything in it is used."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        names: set[str] = set()
        for entry in file.infolist():
            if (entry.filename != _SCHEMA and not _NAME.fullmatch(entry.filename)) or entry.filename in names:
                raise ModelError(f"the file has an unexpected part {entry.filename!r}")
            if entry.file_size > _MOST_BYTES.get(entry.filename, _MOST_BYTES_OF_AN_ARRAY):
                raise ModelError(f"its part {entry.filename!r} has {entry.file_size:,} bytes, which is too large")
            names.add(entry.filename)
        _check_nodes(json.loads(file.read(_SCHEMA)))
        for name in names - {_SCHEMA}:
            _check_array(file, name)


def _check_nodes(schema: JSONValue) -> None:
    allowed = _list_allowed()
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "__loader__" in value or "__class__" in value or "__module__" in value:
                loader = str(value.get("__loader__"))
                name = f"{value.get('__module__')}.{value.get('__class__')}"
                if name not in allowed.get(loader, ()):
                    raise ModelError(f"it has {name} ({loader}), which is not on the list of safe types")
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def _check_array(file: zipfile.ZipFile, name: str) -> None:
    """Refuse an array of objects, or one whose size is not that of its data."""
    with file.open(name) as part:
        version = np.lib.format.read_magic(part)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(part)
        length = int(np.prod([int(size) for size in shape], dtype=object)) * dtype.itemsize
        if dtype.hasobject or dtype.names or length != file.getinfo(name).file_size - part.tell():
            raise ModelError(f"its part {name!r} is not an array of numbers or strings")


@cache
def _list_allowed() -> dict[str, frozenset[str]]:
    """Return the types that a file may have, by the kind of the node: no methods, operators, trees or constructors."""
    from scipy import special
    from sklearn.utils import all_estimators

    scalars = {f"{kind.__module__}.{kind.__name__}" for kind in np.sctypeDict.values() if not issubclass(kind, np.void)}
    estimators = {f"{kind.__module__}.{kind.__name__}" for _, kind in all_estimators()}
    functions = {
        f"{place}.{name}"
        for module, places in ((np, _UFUNCS_OF_NUMPY), (special, _UFUNCS_OF_SCIPY))
        for name, value in vars(module).items()
        if isinstance(value, np.ufunc)
        for place in places
    }
    allowed = {
        "ObjectNode": {name for name in estimators if name.startswith("sklearn.")} | {*_SKRUB_TYPES},
        "FunctionNode": functions | {*_SKRUB_FUNCTIONS},
        "TypeNode": scalars | {f"builtins.{kind.__name__}" for kind in (str, int, float, bool)},
        "NdArrayNode": scalars | {"numpy.ndarray"},
        "DTypeNode": {"numpy.dtype"},
        "DictNode": {"builtins.dict"},
        "ListNode": {"builtins.list"},
        "TupleNode": {"builtins.tuple"},
        "SetNode": {"builtins.set"},
        "SliceNode": {"builtins.slice"},
        "JsonNode": {"builtins.str"},
    }
    return {loader: frozenset(names) for loader, names in allowed.items()}
