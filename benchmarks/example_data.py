"""Make the files of ``examples/data`` from their sources: ``python -m benchmarks.example_data FOLDER``.

The folder has ``brown-selected.tab``, ``GO.sqlite`` and ``debian.txt``: ``examples/data/README.md`` says from where.
"""

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd

from benchmarks.text_problems import read_packages, split_tags
from chmcnn._io.files import atomic

TARGET = Path(__file__).parent.parent / "examples" / "data"
NEW_GENES = 2
"""Genes of each functional class that get no annotations: its last ones."""
TERMS = {
    "Proteas": {"GO:0030163": "involved_in", "GO:0000502": "part_of"},
    "Resp": {"GO:0045333": "involved_in"},
    "Ribo": {"GO:0006412": "involved_in", "GO:0005840": "part_of"},
}
"""Terms of each functional class of Brown et al., and the relation of its genes to them."""
ASPECTS = {"involved_in": "P", "part_of": "C"}
NAMESPACES = {"BP": "biological_process", "CC": "cellular_component"}
IS_A = """
SELECT child.go_id, parent.go_id
FROM (SELECT * FROM go_bp_parents UNION SELECT * FROM go_cc_parents) AS edge
JOIN go_term AS child ON child._id = edge._id
JOIN go_term AS parent ON parent._id = edge._parent_id
WHERE edge.relationship_type = 'isa' AND parent.go_id != 'all'
ORDER BY parent.go_id
"""


def make_genes(source: Path) -> dict[str, str]:
    """Return two tables of genes, and annotations of the first."""
    types_and_roles = [1, 2]
    genes = pd.read_csv(source / "brown-selected.tab", sep="\t", dtype=str, na_values="?", skiprows=types_and_roles)
    table = genes.set_index("gene").loc[:, "spo- early":"diau g"].rename(columns=lambda name: re.sub(r"\W+", "_", name))
    is_new = genes.index.isin(genes.groupby("function").tail(NEW_GENES).index)
    return {
        "genes.csv": table[~is_new].to_csv(),
        "new_genes.csv": table[is_new].to_csv(),
        "yeast.gaf": _annotate(genes[~is_new]),
    }


def _annotate(genes: pd.DataFrame) -> str:
    lines = [
        "!gaf-version: 2.2",
        "!The functional classes of Brown et al. (2000), PMID:10618406, as terms of the Gene Ontology.",
    ]
    for gene, function in zip(genes["gene"], genes["function"], strict=True):
        for term, relation in TERMS[function].items():
            what = ["SGD", gene, gene, relation, term, "PMID:10618406", "TAS", "", ASPECTS[relation]]
            lines.append("\t".join([*what, "", "", "gene", "taxon:559292", "20000104", "chmcnn", "", ""]))
    return "\n".join([*lines, ""])


def make_ontology(source: Path) -> dict[str, str]:
    """Return the terms of the annotations and their ancestors, in OBO format."""
    with closing(sqlite3.connect(source / "GO.sqlite")) as database:
        (release,) = database.execute("SELECT value FROM metadata WHERE name = 'GOSOURCEDATE'").fetchone()
        terms = pd.read_sql_query("SELECT go_id, term, ontology FROM go_term", database, index_col="go_id")
        edges = database.execute(IS_A).fetchall()
    chosen = {term for each in TERMS.values() for term in each}
    while above := {parent for child, parent in edges if child in chosen} - chosen:
        chosen |= above
    origin = f"the Gene Ontology (geneontology.org, CC BY 4.0), release {release}"
    lines = ["format-version: 1.2", f"remark: An excerpt: ids, names and is_a relations of some terms of {origin}."]
    for term in sorted(chosen):
        namespace = NAMESPACES[terms.ontology[term]]
        lines += ["", "[Term]", f"id: {term}", f"name: {terms.term[term]}", f"namespace: {namespace}"]
        lines += [f"is_a: {parent} ! {terms.term[parent]}" for child, parent in edges if child == term]
    return {"go.obo": "\n".join([*lines, ""])}


def make_applications(source: Path) -> dict[str, str]:
    """Return the packages that the file has, with their most specific tags among its categories."""
    table = pd.read_csv(TARGET / "applications.csv", index_col="package", dtype=str)
    categories = set(table["categories"].str.split("; ").explode())
    for fields in read_packages(source / "debian.txt"):
        if (package := fields["Package"]) in table.index:
            paths = {re.sub("::?", " > ", tag) for tag in split_tags(fields)} & categories
            specific = (path for path in paths if not any(other.startswith(f"{path} > ") for other in paths))
            table.loc[package] = [
                fields["Description"].splitlines()[0],
                fields["Installed-Size"],
                "; ".join(sorted(specific)),
            ]
    return {"applications.csv": table.to_csv()}


def main(source: Path) -> None:
    """Write all files."""
    for name, text in (make_genes(source) | make_ontology(source) | make_applications(source)).items():
        with atomic(TARGET / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
