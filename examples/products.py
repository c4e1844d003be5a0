"""A catalogue of texts and category paths: train a model, and rank the categories of new texts.

The catalogue is that of Debian 12, a shop where everything is free: 1,068 applications, each with a line of
description, its size, and one or more categories such as ``game > board > chess``.

    python examples/products.py [folder of the model]
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd

from chmcnn import CHMCNNClassifier
from chmcnn.datasets import read_table, split

CATALOGUE = Path(__file__).parent / "data" / "applications.csv"
NEW = pd.DataFrame(
    {
        "description": [
            "play chess against the computer, on a board in three dimensions",
            "filter for spam in incoming mail",
            "aligns DNA sequences to a genome",
        ],
        "size": [900.0, 350.0, 2100.0],
    }
)


def main() -> None:
    """Train, test, save, load and predict."""
    table = read_table(CATALOGUE, labels="categories", path_separator=">", id_column="package")
    train, test = split(table, 0.8, 0.2)
    model = CHMCNNClassifier(table.hierarchy, random_state=0).fit(train.X, train.Y)
    print(f"AU(PRC) on {len(test)} new applications: {model.score(test.X, test.Y):.3f}")

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "model"
    model.save(folder)
    loaded = CHMCNNClassifier.load(folder)  # the words of the descriptions are in the folder

    for text, ranked in zip(NEW["description"], loaded.predict_top(NEW, k=4), strict=True):
        print(f"\n{text}")
        for name, score in ranked:
            print(f"  {score:.2f}  {name}")


if __name__ == "__main__":
    main()
