"""Pages of the classes of a hierarchy: found by a word, below a class, or above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chmcnn.hierarchy import Hierarchy
    from chmcnn.report import explorer


class ClassFacts(BaseModel):
    """A class, and where it is in the hierarchy."""

    name: str = Field(examples=["GO:0008152"])
    title: str | None = Field(None, examples=["metabolic process"])
    depth: int = Field(description="Longest way from a root; 0 for a root.")
    parents: list[str]
    children: int = Field(description="Number of classes right below it.")
    rows: int | None = Field(None, description="Training rows that have it, if the model folder says so.")
    auprc: float | None = Field(None, description="AU(PRC) on the test rows of the training, if it had any.")


class ClassPage(BaseModel):
    """Some of the classes that were found."""

    total: int = Field(description="Number of classes that were found.")
    offset: int
    classes: list[ClassFacts]


class ClassIndex:
    """Looks classes up; what is searched is made once."""

    def __init__(self, hierarchy: Hierarchy, facts: explorer.ClassFacts | None = None) -> None:
        self.hierarchy, self._facts = hierarchy, facts
        titles = hierarchy.titles
        self._searched = [f"{name}\n{titles.get(name, '')}".casefold() for name in hierarchy.classes]
        self._roots = [name for name, depth in zip(hierarchy.classes, hierarchy.depths, strict=True) if depth == 0]

    def search(self, words: str) -> list[str]:
        """Return the classes whose name or title has all words, those that begin with them first; no word: roots."""
        wanted = words.casefold().split()
        if not wanted:
            return self._roots
        found = [at for at, text in enumerate(self._searched) if all(word in text for word in wanted)]
        beginnings = tuple(self._starts_with(at, words.casefold().strip()) for at in found)
        order = sorted(range(len(found)), key=lambda place: (not beginnings[place], len(self._searched[found[place]])))
        return [self.hierarchy.classes[found[place]] for place in order]

    def _starts_with(self, at: int, words: str) -> bool:
        return any(part.startswith(words) for part in self._searched[at].split("\n"))

    def page(self, names: Sequence[str], offset: int, limit: int) -> ClassPage:
        """Return some of these classes."""
        return ClassPage(total=len(names), offset=offset, classes=self.describe(names[offset : offset + limit]))

    def describe(self, names: Iterable[str]) -> list[ClassFacts]:
        """Return what is known about classes."""
        hierarchy, facts = self.hierarchy, self._facts
        return [
            ClassFacts(
                name=name,
                title=hierarchy.titles.get(name),
                depth=int(hierarchy.depths[at]),
                parents=list(hierarchy.parents(name)),
                children=len(hierarchy.children(name)),
                rows=facts.rows[at] if facts else None,
                auprc=facts.auprc[at] if facts and facts.evaluation else None,
            )
            for name in names
            for at in (hierarchy.index(name),)
        ]

    def ancestors(self, name: str) -> list[str]:
        """Return a class and all above it, roots first."""
        hierarchy = self.hierarchy
        above = [name, *hierarchy.ancestors(name)]
        return sorted(above, key=lambda each: (int(hierarchy.depths[hierarchy.index(each)]), each))
