"""Genes, an ontology and annotations on the command line."""

import json
from pathlib import Path

import pytest
from tests.cli.inside import run
from tests.datasets.test_annotations import line

from chmcnn import CHMCNNClassifier

OBO = """[Term]
id: GO:1
name: <process>
namespace: biological_process

[Term]
id: GO:2
name: digestion
namespace: biological_process
alt_id: GO:20
is_a: GO:1

[Term]
id: GO:3
name: a cell
namespace: cellular_component

[Term]
id: GO:4
namespace: biological_process
relationship: part_of GO:2
"""
pytestmark = pytest.mark.usefixtures("without_pictures")
QUICK = ("--epochs", "2", "--width", "4")


@pytest.fixture(scope="module")
def genes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of genes, an ontology and annotations."""
    place = tmp_path_factory.mktemp("genes")
    rows = [f"G{number},{number % 2},{number}" for number in range(40)]
    (place / "genes.csv").write_text("\n".join(["gene,x,y", *rows, ""]))
    (place / "go.obo").write_text(OBO)
    lines = [line(f"G{number}", "GO:20" if number % 2 else "GO:3") for number in range(39)]
    lines += [line("G1", "GO:4", evidence="IEA"), line("G2", "GO:2", qualifier="NOT"), line("G3", "GO:77")]
    (place / "goa.gaf").write_text("\n".join([*lines, ""]))
    (place / "terms.tsv").write_text(
        "gene\tterm\n" + "".join(f"G{number}\tGO:{1 + number % 3}\n" for number in range(40))
    )
    return place


NEEDED = ("genes.csv", "--hierarchy", "go.obo", "--annotations", "goa.gaf")


def test_a_model_from_genes_an_ontology_and_annotations(genes: Path) -> None:
    options = ("--unknown-terms", "skip", "--evidence", "EXPERIMENTAL,IC", "--min-rows", "5", "-o", "model", *QUICK)
    done = run("train", *NEEDED, *options, cwd=genes)
    assert done.returncode == 0, done.stderr
    assert "goa.gaf: 42 annotations, 42 of them of genes in the table: 39 used (19 of a replaced term)" in done.stderr
    assert ", 1 negated, 1 of other evidence, 1 of an unknown term.\n39 of 40 rows have labels, of 3 cl" in done.stderr
    model = CHMCNNClassifier.load(genes / "model")
    assert model.hierarchy_.titles == {"GO:1": "<process>", "GO:2": "digestion", "GO:3": "a cell"}
    evaluated = run("evaluate", "model", *NEEDED, "--unknown-terms", "skip", "-o", "classes.csv", cwd=genes)
    assert evaluated.returncode == 0, evaluated.stderr
    assert (genes / "classes.csv").read_text().startswith("class,title,rows,auprc")
    again = run("evaluate", "model", *NEEDED, "--unknown-terms", "skip", "--json", cwd=genes)
    assert json.loads(again.stdout)["titles"]["GO:2"] == "digestion"
    explained = run("explain", "model", "genes.csv", "--id-column", "gene", "--row", "1", "--json", cwd=genes)
    assert explained.returncode == 0, explained.stderr


def test_a_table_of_terms_is_described(genes: Path) -> None:
    options = ("--hierarchy", "go.obo", "--part-of", "--annotations", "terms.tsv", "--min-rows", "2")
    done = run("datasets", "show", "genes.csv", *options, "-o", "genes.png", "--force", cwd=genes)
    assert done.returncode == 0, done.stderr
    assert "terms.tsv: 40 annotations, 40 of them of genes in the table: 40 used." in done.stderr
    assert "GO:3 a cell  13" in done.stdout
    found = json.loads(
        run("datasets", "show", "genes.csv", *options, "-o", "genes.png", "--force", "--json", cwd=genes).stdout
    )
    assert found["titles"] == {"GO:1": "<process>", "GO:2": "digestion", "GO:3": "a cell"}


def test_another_table_to_test_on_has_the_classes_of_the_training(genes: Path) -> None:
    (genes / "few.csv").write_text("gene,x,y\nG1,1,2\nG2,0,3\n")
    options = ("--unknown-terms", "skip", "--min-rows", "5", "--test", "few.csv", "-o", "tested", *QUICK, "--json")
    done = run("train", *NEEDED, *options, cwd=genes)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["test"]["rows"] == 2


def test_systems_and_settings_with_annotations(genes: Path) -> None:
    compared = run(
        *("compare", *NEEDED, "--unknown-terms", "skip", "--systems", "C-HMCNN,Logistic", "--seeds", "1"),
        *("--option", "C-HMCNN:epochs=1", "--jobs", "1", "-o", "comparison", "--json"),
        cwd=genes,
    )
    assert compared.returncode == 0, compared.stderr
    searched = run(
        *("search", *NEEDED, "--unknown-terms", "skip", "--trials", "1", "--epochs", "1", "--width", "4"),
        *("--space", "space.json", "-o", "search", "--json"),
        cwd=_with_space(genes),
    )
    assert searched.returncode == 0, searched.stderr


def _with_space(folder: Path) -> Path:
    (folder / "space.json").write_text('{"dropout": [0.1]}')
    return folder


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (NEEDED, "Unknown class 'GO:77'. Did you mean 'GO:"),
        (NEEDED, "skip such annotations with --unknown-terms skip"),
        (
            ("genes.csv", "--annotations", "goa.gaf"),
            "--annotations needs the ontology of its terms: --hierarchy go.obo.",
        ),
        (("genes.csv", "--hierarchy", "go.obo", "--evidence", "IDA"), "--evidence is only for --annotations."),
        (("genes.csv", "--hierarchy", "go.obo", "--min-rows", "3"), "--min-rows is only for --annotations."),
        ((*NEEDED, "--labels", "x"), "--annotations has the labels: --labels and --class-column do not apply."),
        ((*NEEDED, "--evidence", "IDAA"), "--evidence has 'IDAA', which is neither an evidence code nor a group"),
        ((*NEEDED, "--unknown-terms", "skip", "--min-rows", "99"), "Use a smaller --min-rows."),
        ((*NEEDED, "--id-column", "x"), "line 4"),
        ((*NEEDED, "--namespace", "cells"), "no term is in the namespace 'cells'"),
        (
            ("genes.csv", "--hierarchy", "edges.csv", "--annotations", "terms.tsv", "--part-of"),
            "--part-of is only for an OBO file, but the hierarchy is edges.csv.",
        ),
        (
            ("digits", "--annotations", "goa.gaf"),
            "digits is not a file; --annotations is only for a table of your own.",
        ),
        (("labelled.csv", *NEEDED[1:]), "has a column 'labels', but --annotations has the labels; remove one of them."),
        (
            (*NEEDED[:-1], "other.gaf", "--unknown-terms", "skip"),
            "no term of these genes is in the ontology: the annotations have 'HP:1', say, but the ontology 'GO:4'.",
        ),
        (
            ("labelled.csv", "--hierarchy", "edges.csv", "--title-column", "t"),
            "Expected one column 't' of titles",
        ),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(genes: Path, arguments: tuple[str, ...], told: str) -> None:
    (genes / "edges.csv").write_text("parent,child\nGO:1,GO:2\nGO:1,GO:3\n")
    (genes / "labelled.csv").write_text("gene,x,labels\nG1,1,GO:2\n")
    (genes / "other.gaf").write_text(line("G1", "HP:1") + "\n")
    before = sorted(genes.iterdir())
    done = run("train", *arguments, "-o", "new", cwd=genes)
    assert done.returncode == 2
    assert told in done.stderr
    assert sorted(genes.iterdir()) == before


def test_evaluation_takes_a_hierarchy_only_with_annotations(genes: Path, folder: Path) -> None:
    done = run("evaluate", folder / "model", folder / "test.csv", "--hierarchy", "go.obo", cwd=genes)
    assert done.returncode == 2
    assert "--hierarchy is only for --annotations: the model has its own hierarchy." in done.stderr


def test_a_vocabulary_has_titles_in_a_language(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,labels\n1,tennis\n2,sport\n")
    (tmp_path / "my.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <https://example.org/> .\n"
        ':tennis skos:broader :sport ; skos:prefLabel "tennis" . :sport skos:prefLabel "sports"@en, "Sportarten"@de .'
    )
    for language, title in {"en": "sports", "de": "Sportarten"}.items():
        options = ("--hierarchy", "my.ttl", "--language", language, "--force")
        done = run("datasets", "show", "my.csv", *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"sport {title}  2" in done.stdout


def test_columns_of_a_file_of_edges_have_options(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("x,labels\n" + "".join(f"{number},{number % 2}\n" for number in range(8)))
    (tmp_path / "edges.tsv").write_text("up\tdown\tlabel\n\t2\ttop\n2\t0\teven\n2\t1\todd\n")
    options = ("--parent-column", "up", "--child-column", "down")
    done = run(
        "datasets", "show", "my.csv", "--hierarchy", "edges.tsv", *options, "--title-column", "label", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "1 odd  4" in done.stdout
    told = run("datasets", "show", "my.csv", "--hierarchy", "edges.tsv", "--force", cwd=tmp_path)
    assert "Name yours with --parent-column and --child-column." in told.stderr
