"""Labels from gene annotations, and how to read the hierarchy: options of every command that takes a table."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, fields
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chmcnn.cli._groups import OptionGroup, flag
from chmcnn.errors import ChmcnnError, DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from chmcnn import Hierarchy
    from chmcnn.datasets import Table

_HIERARCHY = "The hierarchy of your own table"
_ANNOTATIONS = "Gene annotations"
_OPTIONS = {
    "unknown='skip'": "--unknown-terms skip",
    "smaller least=": "smaller --min-rows",
    "part_of=": "--part-of",
    "id_column=": "--id-column",
    "evidence=": "--evidence",
    "evidence has": "--evidence has",
    "use another separator=, or to_parquet": "write a .parquet file",
    "or use another labels=": "or rename the column",
    "to_parquet": "a .parquet file",
    "parent= and child=": "--parent-column and --child-column",
    ", and the delimiter with delimiter=": "",
}
"""Arguments of the library in its messages, and the options that set them."""


@dataclass(frozen=True)
class AnnotationOptions(OptionGroup):
    """Where the labels of a table come from if not from its columns, and how the hierarchy is read."""

    parent_column: Annotated[
        str, typer.Option(help="Column of parents in a file of edges.", rich_help_panel=_HIERARCHY)
    ] = "parent"
    child_column: Annotated[
        str, typer.Option(help="Column of children in a file of edges.", rich_help_panel=_HIERARCHY)
    ] = "child"
    title_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the titles of the children in a file of edges. Default: title or name, if there is one.",
            rich_help_panel=_HIERARCHY,
        ),
    ] = None
    language: Annotated[
        str, typer.Option(help="Language of the titles of a SKOS vocabulary.", rich_help_panel=_HIERARCHY)
    ] = "en"
    part_of: Annotated[
        bool, typer.Option("--part-of", help="In OBO, parts are below their wholes too.", rich_help_panel=_HIERARCHY)
    ] = False
    namespace: Annotated[
        str | None,
        typer.Option(
            help="In OBO, use the terms of one namespace, such as biological_process.", rich_help_panel=_HIERARCHY
        ),
    ] = None
    annotations: Annotated[
        Path | None,
        typer.Option(
            help="File with the labels of the genes: GAF, or a table (CSV or TSV) whose first two columns are genes "
            "and terms. The column of gene names is --id-column, by default the first.",
            rich_help_panel=_ANNOTATIONS,
        ),
    ] = None
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            help="Evidence codes to use, separated by commas (repeatable): such as IDA,IMP, or a group of them: "
            "EXPERIMENTAL, PHYLOGENETIC, COMPUTATIONAL, AUTHOR, CURATOR, ELECTRONIC. Default: all.",
            rich_help_panel=_ANNOTATIONS,
        ),
    ] = None
    unknown_terms: Annotated[
        Literal["error", "skip"],
        typer.Option(
            help="What to do about annotations whose term is not in the hierarchy.", rich_help_panel=_ANNOTATIONS
        ),
    ] = "error"
    min_rows: Annotated[
        int, typer.Option(min=1, help="Leave out classes with fewer rows.", rich_help_panel=_ANNOTATIONS)
    ] = 1

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return one parameter of a command for each option: these after those of a subclass."""
        last = option_names()
        return sorted(super().parameters(), key=lambda parameter: parameter.name in last)

    def read_hierarchy(self, path: Path) -> Hierarchy:
        """Read a file of the hierarchy."""
        from chmcnn._io.text import ending
        from chmcnn.datasets import read_hierarchy

        for name in ("part_of", "namespace"):
            if getattr(self, name) and ending(path) != ".obo":
                raise DatasetError(f"{flag(name)} is only for an OBO file, but the hierarchy is {path}.")
        with named_options():
            return read_hierarchy(
                path,
                part_of=self.part_of,
                namespace=self.namespace,
                parent=self.parent_column,
                child=self.child_column,
                title=self.title_column,
                language=self.language,
            )

    def annotate(
        self,
        features: pd.DataFrame,
        ontology: Path | None,
        classes: Hierarchy | None,
        notify: Callable[[str], None] | None,
    ) -> Table:
        """Return features with the labels of their annotations; ``classes`` are those of a model."""
        from chmcnn._io.text import ending
        from chmcnn.datasets import annotate, obo

        if ontology is None:
            raise DatasetError("--annotations needs the ontology of its terms: --hierarchy go.obo.")
        is_obo = ending(ontology) == ".obo"
        terms: obo.Ontology | Hierarchy = (
            obo.read(ontology, part_of=self.part_of, namespace=self.namespace)
            if is_obo
            else self.read_hierarchy(ontology)
        )
        codes = [code for text in self.evidence or () for code in text.split(",") if code.strip()]
        with named_options():
            return annotate(
                features,
                self.annotations or "",
                terms,
                evidence=codes or None,
                unknown=self.unknown_terms,
                least=self.min_rows,
                hierarchy=classes,
                notify=lambda summary: notify(str(summary)) if notify else None,
            )

    def refuse_without_annotations(self) -> None:
        """Raise an error for an option that says how to read annotations if there are none."""
        for name in ("evidence", "unknown_terms", "min_rows"):
            if self.annotations is None and getattr(self, name) != getattr(AnnotationOptions, name):
                raise DatasetError(f"{flag(name)} is only for --annotations.")


def option_names() -> tuple[str, ...]:
    """Return the fields of `AnnotationOptions`, for commands that omit them."""
    return tuple(field.name for field in fields(AnnotationOptions))


@contextmanager
def named_options() -> Iterator[None]:
    """Name options instead of arguments in the message of an error."""
    try:
        yield
    except ChmcnnError as error:
        message = str(error)
        for argument, option in _OPTIONS.items():
            message = message.replace(argument, option)
        if message == str(error):
            raise
        raise DatasetError(message) from None
