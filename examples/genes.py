"""A biologist's job: from a table of genes, annotations and the Gene Ontology to ranked terms of new genes.

Run it with ``python examples/genes.py``. ``docs/tutorials/genes.md`` does the same on the command line.
"""

from __future__ import annotations

import sys
from pathlib import Path

from chmcnn import CHMCNNClassifier
from chmcnn.datasets import annotate, read_features

DATA = Path(__file__).parent / "data"


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
    for gene, terms in zip(genes.index, model.predict_top(genes, k=5, min_score=0.3, most_specific=True), strict=True):
        print(f"\n{gene}")
        for term, score in terms:
            print(f"  {score:.2f}  {model.hierarchy_.describe(term)}")
    violations = model.hierarchy_.violations(model.predict_proba(genes))
    print(f"\n{violations}")
    return 1 if len(violations) else 0


if __name__ == "__main__":
    sys.exit(main())
