"""Classes and functions of the user, by ``module:name``: how they are found, and how a change of them is noticed."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Any

from chmcnn._wording import nearest
from chmcnn.errors import ChmcnnError


def find_object(path: str) -> Any:  # noqa: ANN401 -- whatever the user wrote
    """Import ``module:name``; modules in the working folder are found too.

    >>> find_object("collections:OrderedDict").__name__
    'OrderedDict'
    """
    module_name, _, name = path.partition(":")
    parts = [*module_name.split("."), *name.split(".")]
    if not all(part.isidentifier() for part in parts):
        raise ChmcnnError(f"{path!r} is not the name of a class or function; expected module:Name, such as mine:Mine.")
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # as with `python -m`; worker processes inherit it
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise _explain_import(path, module_name, error) from error
    for part in name.split("."):
        if not hasattr(found, part):
            near = nearest(part, [other for other in vars(found) if not other.startswith("_")])
            hint = f" Did you mean {near!r}?" if near else ""
            raise ChmcnnError(f"{path!r}: the module {module_name!r} has no {part!r}.{hint}")
        found = getattr(found, part)
    return found


def _explain_import(path: str, module_name: str, error: Exception) -> ChmcnnError:
    missing = isinstance(error, ModuleNotFoundError) and error.name and f"{module_name}.".startswith(f"{error.name}.")
    if missing:
        return ChmcnnError(
            f"{path!r}: there is no module {module_name!r}, neither installed nor in the working folder {Path.cwd()}; "
            "write the name of its file without .py, and check the folder."
        )
    return ChmcnnError(f"{path!r}: the import of {module_name!r} fails: {describe_error(error)}")


def get_path(thing: Any) -> str:  # noqa: ANN401
    """Return ``module:name`` of a class or function; refuse one that other processes could not import.

    >>> get_path(Path)
    'pathlib:Path'
    """
    name = getattr(thing, "__qualname__", "")
    path = f"{getattr(thing, '__module__', '')}:{name}"
    if not name or "<" in name:
        shown = name or repr(thing)
        raise ChmcnnError(
            f"{shown} is defined inside a function, or has no name, so worker processes cannot import it; define it at "
            "the top level of a module."
        )
    return path


def is_interactive(path: str) -> bool:
    """Whether a class or function is defined in a notebook or a prompt, which no other process can import."""
    return path.startswith("__main__:") and not hasattr(sys.modules["__main__"], "__file__")


def get_version(thing: Any) -> str:  # noqa: ANN401
    """Return what changes when a class or function changes.

    This is its attribute ``version``, if it has one; otherwise a digest: of the source of a function, or of the files
    that define a class and its base classes. For installed packages it is that of their versions.
    """
    version = getattr(thing, "version", None)
    if isinstance(version, str | int | float):
        return str(version)
    digest = hashlib.sha256()
    if not inspect.isclass(thing):
        digest.update(_read_function(thing))
        return digest.hexdigest()[:12]
    for module_name in sorted({kind.__module__ for kind in thing.__mro__}):
        if module_name.partition(".")[0] not in ("chmcnn", "builtins"):
            digest.update(_read_module(module_name))
    return digest.hexdigest()[:12]


def _read_function(function: Any) -> bytes:  # noqa: ANN401
    try:
        file = Path(inspect.getsourcefile(inspect.unwrap(function)) or "")
        return _read_module(function.__module__) if is_installed(file) else inspect.getsource(function).encode()
    except (OSError, TypeError):
        name = getattr(function, "__qualname__", repr(function))
        raise ChmcnnError(
            f"The source of {name} cannot be read, so a change of it would not be noticed; write it to a file, or set "
            f"{name}.version = '1'."
        ) from None


def _read_module(module_name: str) -> bytes:
    module = sys.modules[module_name]
    file = getattr(module, "__file__", None)
    if not file or is_installed(Path(file)):
        package = sys.modules[module_name.partition(".")[0]]
        return f"{package.__name__} {getattr(package, '__version__', '')}".encode()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise ChmcnnError(f"The file of {module_name!r} cannot be read: {error.strerror}; set a version.") from None


def is_installed(file: Path) -> bool:
    """Whether a file belongs to the standard library or an installed package."""
    return any(file.is_relative_to(folder) for folder in _list_installed_folders())


@functools.cache
def _list_installed_folders() -> tuple[str, ...]:
    return tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def describe_error(error: BaseException) -> str:
    """Return the kind of an error, its message, and the place where it was raised."""
    place = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parents[1])
    own = [frame for frame in place if not frame.filename.startswith((ours, "<")) and not _is_installed_file(frame)]
    last = (own or place)[-1:]
    where = f" ({Path(last[0].filename).name}, line {last[0].lineno}, in {last[0].name})" if last else ""
    return f"{type(error).__name__}: {error}{where}"


def _is_installed_file(frame: traceback.FrameSummary) -> bool:
    return is_installed(Path(frame.filename))
