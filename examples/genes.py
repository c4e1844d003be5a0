"""A biologist's job: from a table of genes, annotations and the Gene Ontology to ranked terms of new genes.

Run it with ``python examples/genes.py``. ``docs/guides/genes.md`` does the same on the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path

from chmcnn import CHMCNNClassifier
from chmcnn.datasets import annotate, read_features

DATA = Path(__file__).parent / "data"
TERMS = 5


def main() -> int:
    """Train on annotated genes, and print the best terms of genes without annotations."""
    table = annotate(
        DATA / "genes.csv",
        DATA / "yeast.gaf",
        DATA / "go.obo",
        evidence=["AUTHOR", "EXPERIMENTAL"],
        least=5,
        notify=print,
    )
    model = CHMCNNClassifier(table.hierarchy, random_state=0, epochs=30).fit(table.X, table.Y)
    genes = read_features(DATA / "new_genes.csv", id_column="gene")
    scores = model.predict_proba(genes)
    hierarchy = model.hierarchy_
    for gene, row in zip(genes.index, scores, strict=True):
        print(f"\n{gene}")
        # Of equal scores, the most specific class comes first.
        best = sorted(range(len(hierarchy)), key=lambda at: (-row[at], -hierarchy.depths[at]))[:TERMS]
        for at in best:
            print(f"  {row[at]:.2f}  {hierarchy.describe(hierarchy.classes[at])}")
    violations = hierarchy.violations(scores)
    print(f"\n{violations}")
    return 1 if len(violations) else 0


if __name__ == "__main__":
    sys.exit(main())
