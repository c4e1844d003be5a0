"""Pages of every public name and of every command, written when the documentation is built."""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer
from sphinx.pycode import ModuleAnalyzer
from typer import Context
from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.config import Config

OWN_PAGES = ("CHMCNNClassifier", "CoherentEnsemble", "Hierarchy")
"""Names of ``chmcnn`` with many methods: each has a page of its own, with what it inherits."""

LEFT_OUT = {"chmcnn.cli"}
"""Its commands have a page of their own."""

_MARKUP = re.compile(r"\[/?(?:bold|dim|italic)\]")
"""How rich shows a part of a help text."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write pages before Sphinx looks for them, and adapt the sources of the others."""
    app.connect("config-inited", _write_modules)
    app.connect("source-read", _fill_commands)
    app.connect("source-read", _adapt_blocks)
    app.connect("autodoc-skip-member", _skip_member)
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_modules(app: Sphinx, _config: Config) -> None:
    folder = Path(app.srcdir, "reference", "generated")
    folder.mkdir(exist_ok=True)
    pages = dict(_describe_modules())
    for path in folder.iterdir():
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
            path.write_text(text, encoding="utf-8")


def _describe_modules() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page; what several modules export is described in the first."""
    seen: dict[int, str] = {}
    for module in _find_modules(import_module("chmcnn")):
        names = [name for name in list_names(module) if _is_new(getattr(module, name), module.__name__, seen)]
        if module.__name__ == "chmcnn":
            for name in OWN_PAGES:
                yield f"chmcnn.{name}", _describe_class(name)
        if names or inspect.getdoc(module):
            yield module.__name__, _describe_module(module, names)


def _is_new(value: object, module: str, seen: dict[int, str]) -> bool:
    if isinstance(value, ModuleType):
        return False  # it has a page of its own
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return True  # equal constants may be one object
    return seen.setdefault(id(value), module) == module


def _find_modules(module: ModuleType) -> Iterator[ModuleType]:
    """Yield a module and the public ones inside it; a package that lists its names has only those that it lists."""
    yield module
    listed = getattr(module, "__all__", None) if module.__name__ != "chmcnn" else None
    for name in sorted(each.name for each in pkgutil.iter_modules(getattr(module, "__path__", []))):
        path = f"{module.__name__}.{name}"
        if name.startswith("_") or path in LEFT_OUT:
            continue
        if listed is None or (name in listed and isinstance(getattr(module, name), ModuleType)):
            yield from _find_modules(import_module(path))


def list_names(module: ModuleType) -> list[str]:
    """Return the public names of a module: those it lists, or otherwise those it defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("__")]
    documented = {name for scope, name in ModuleAnalyzer.for_module(module.__name__).find_attr_docs() if not scope}
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and (name in documented or getattr(value, "__module__", None) == module.__name__)
    ]


def _describe_class(name: str) -> str:
    options = "   :members:\n   :inherited-members: BaseEstimator\n   :member-order: groupwise\n"
    return f"{_heading(name)}.. currentmodule:: chmcnn\n\n.. autoclass:: {name}\n{options}"


def _describe_module(module: ModuleType, names: list[str]) -> str:
    own = OWN_PAGES if module.__name__ == "chmcnn" else ()
    table = "".join(f"   {name}\n" for name in names if callable(getattr(module, name)))
    parts = [
        _heading(module.__name__),
        f".. automodule:: {module.__name__}\n   :no-members:\n\n",
        f".. currentmodule:: {module.__name__}\n\n",
        f".. autosummary::\n   :nosignatures:\n\n{table}\n" if table else "",
        *(_describe_name(module, name) for name in names if name not in own),
    ]
    return "".join(parts)


def _describe_name(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    if inspect.isclass(value):
        return f".. autoclass:: {name}\n   :members:\n\n"
    if callable(value) and inspect.isroutine(value):
        return f".. autofunction:: {name}\n\n"
    shown = re.sub(r"\w+\.(?=[A-Z])|\s+(?=\s)|~", "", str(value).replace("\n", " "))
    about = f"   :value: {shown}\n" if len(shown) < 200 else ""
    return f".. py:data:: {name}\n{about}\n   {_find_comment(module, name)}\n\n"


def _find_comment(module: ModuleType, name: str) -> str:
    """Return the text below the definition of a constant, wherever in the package it is defined."""
    inside = [each for each in sorted(sys.modules) if each == module.__name__ or each.startswith(f"{module.__name__}.")]
    for each in inside:
        lines = ModuleAnalyzer.for_module(each).find_attr_docs().get(("", name))
        if lines:
            return "\n   ".join(lines).strip()
    return ""


def _heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def _skip_member(_app: Sphinx, _what: str, name: str, *_rest: object) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, with links into its own documentation."""
    return True if name == "get_metadata_routing" or re.fullmatch("set_.*_request", name) else None


def _fill_commands(_app: Sphinx, name: str, source: list[str]) -> None:
    if name == "reference/commands":
        from chmcnn.cli import app

        source[0] += "\n".join(_describe_command(get_command(app), "chmcnn"))


def _adapt_blocks(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Show the file name of a block, and leave out the empty line at its end, which only doctest needs."""
    text = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)
    source[0] = re.sub(r"^```(\w+) (\S+\.\w+)$", r"```{code-block} \1\n:caption: \2\n", text, flags=re.MULTILINE)


def _describe_command(command: Any, name: str) -> Iterator[str]:  # noqa: ANN401 -- typer does not export its classes
    """Yield lines of Markdown: the help of a command and its options, and then of the commands inside it."""
    yield f"\n## {name}\n"
    yield _format_help(command.help or "")
    yield f"```{{program}} {name}\n```\n"
    panels: dict[str, list[str]] = {}
    context = Context(command, info_name=name)
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record and parameter.name != "help":
            panels.setdefault(_name_panel(parameter), []).append(_describe_parameter(*record))
    for panel, parameters in panels.items():
        yield f"**{panel}**\n"
        yield from parameters
    for each in getattr(command, "commands", {}).values():
        yield from _describe_command(each, f"{name} {each.name}")


def _format_help(text: str) -> str:
    """Return paragraphs, and one block of the examples, each of which is a paragraph of its own."""
    paragraphs = [each.strip() for each in re.split(r"\n\s*\n", text)]
    examples = [each for each in paragraphs if re.match("(chmcnn|torchrun) ", each)]
    said = [_escape(_MARKUP.sub("", each)) for each in paragraphs if each not in examples]
    block = "\n".join(["```sh", *examples, "```"]) if examples else ""
    return "\n\n".join([*said, block]) + "\n"


def _name_panel(parameter: Any) -> str:  # noqa: ANN401 -- as above
    return parameter.rich_help_panel or ("Arguments" if parameter.param_type_name == "argument" else "Options")


def _describe_parameter(flags: str, text: str) -> str:
    shown = _escape(_MARKUP.sub("", text).replace("\\[", "["))
    return f"````{{option}} {flags.replace(' range>', '>')}\n{shown}\n````\n"


def _escape(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)
