"""The benchmark's data sets as small ones of other data, trained in a moment; as a program, ``chmcnn`` with them."""

from typing import Any
from unittest import mock

from chmcnn.cli import main
from chmcnn.comparison._splits import Source
from chmcnn.datasets.synthetic import learnable
from chmcnn.experiments import recipes


def sources(names: list[str], **_: object) -> recipes.Sources:
    """All but those of expr."""
    found = [Source(name, learnable(rows=60, features=4, classes=6)) for name in names if not name.startswith("expr")]
    return recipes.Sources(tuple(found), {name: "it is not here." for name in names if name.startswith("expr")})


def options(recipe: recipes.Recipe, dataset: str) -> dict[str, Any]:
    """A small network."""
    del dataset
    return {"preset": recipe, "epochs": 2, "widths": [4]}


PATCHES: dict[str, Any] = {"sources": sources, "options": options}

if __name__ == "__main__":
    with mock.patch.multiple(recipes, **PATCHES):
        main()
