from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.untyped import untyped

from chmcnn import DatasetError, Hierarchy, OntologyError
from chmcnn.datasets import AnnotationSummary, annotate, obo
from chmcnn.datasets.gaf import EVIDENCE_GROUPS, EXPERIMENTAL
from chmcnn.datasets.gaf import read as read_gaf

OBO = """[Term]
id: GO:1
namespace: biological_process

[Term]
id: GO:2
namespace: biological_process
alt_id: GO:20
is_a: GO:1

[Term]
id: GO:3
namespace: cellular_component

[Term]
id: GO:4
namespace: biological_process
relationship: part_of GO:2

[Term]
id: GO:5
is_obsolete: true
"""
FEATURES = "gene,x,kind\nYAL1,1.0,a\nCDC2,2.0,b\nYAL3,3.0,a\nOLD4,4.0,b\nYAL5,5.0,b\n"


def line(
    gene: str, term: str, *, symbol: str = "", synonyms: str = "", qualifier: str = "", evidence: str = "IDA"
) -> str:
    cells = [
        "DB",
        gene,
        symbol,
        qualifier,
        term,
        "REF",
        evidence,
        "",
        "P",
        "name",
        synonyms,
        "protein",
        "taxon:1",
        "20200101",
        "DB",
    ]
    return "\t".join([*cells, "", ""])


GAF = "\n".join(
    [
        "!gaf-version: 2.2",
        line("YAL1", "GO:4"),
        line("P2", "GO:20", symbol="CDC2", qualifier="involved_in"),
        line("YAL3", "GO:3", evidence="IEA"),
        line("YAL3", "GO:2", qualifier="NOT|involved_in"),
        line("P4", "GO:1", synonyms="X|OLD4"),
        line("YAL5", "GO:5"),
        "",
    ]
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    for name, text in {"features.csv": FEATURES, "my.gaf": GAF, "my.obo": OBO}.items():
        (tmp_path / name).write_text(text)
    return {"features": tmp_path / "features.csv", "annotations": tmp_path / "my.gaf", "ontology": tmp_path / "my.obo"}


def test_three_files_make_a_training_set(files: dict[str, Any]) -> None:
    table = annotate(**files, part_of=True)
    assert table.X.index.tolist() == ["YAL1", "CDC2", "YAL3", "OLD4"]  # YAL5 has only a term out of use
    assert table.feature_names == ("x", "kind")
    assert table.hierarchy.classes == ("GO:1", "GO:2", "GO:3", "GO:4")
    assert table.hierarchy.decode(table.Y, most_specific=True) == [{"GO:4"}, {"GO:2"}, {"GO:3"}, {"GO:1"}]
    assert table.Y.toarray()[0].tolist() == [True, True, False, True]


def test_choices(files: dict[str, Any]) -> None:
    experimental = annotate(**files, evidence=EXPERIMENTAL)
    assert "YAL3" not in experimental.X.index
    assert "GO:3" not in experimental.hierarchy  # a class that no row has
    frequent = annotate(**files, least=2, part_of=True)
    assert frequent.hierarchy.classes == ("GO:1", "GO:2")
    assert frequent.X.index.tolist() == ["YAL1", "CDC2", "OLD4"]  # YAL3 has no label left
    assert isinstance(frequent.Y, sparse.csr_array)
    kinds = annotate(**files)
    assert kinds.hierarchy.parents("GO:4") == ()
    cells = annotate(**files, namespace="cellular_component")
    assert cells.hierarchy.classes == ("GO:3",)


def test_a_frame_and_an_ontology_in_memory_will_do(files: dict[str, Any]) -> None:
    frame = pd.read_csv(files["features"])
    known = obo.read(files["ontology"], part_of=True)
    by_column = annotate(frame, files["annotations"], known, id_column="gene")
    by_index = annotate(frame.set_index("gene"), files["annotations"], known)
    assert np.array_equal(by_column.Y.toarray(), by_index.Y.toarray())
    assert np.array_equal(by_column.Y.toarray(), annotate(**files, part_of=True).Y.toarray())
    for options in ({"part_of": True}, {"namespace": "x"}):
        with pytest.raises(DatasetError, match=r"apply only to an ontology file: pass them to obo\.read"):
            annotate(frame.set_index("gene"), files["annotations"], known, **options)
    with pytest.raises(DatasetError, match="There is no column 'name' in the features"):
        annotate(frame, files["annotations"], known, id_column="name")
    with pytest.raises(DatasetError, match="categorical applies only to a file of features"):
        annotate(frame, files["annotations"], known, categorical=["x"])
    for wrong in (frame.iloc[:0], pd.concat([frame, frame])):
        with pytest.raises(DatasetError, match="no rows, or a gene twice"):
            annotate(wrong, files["annotations"], known, id_column="gene")


def test_an_id_goes_before_a_symbol_of_another_gene(files: dict[str, Any]) -> None:
    files["annotations"].write_text("\n".join([line("P9", "GO:3", symbol="YAL1"), line("YAL1", "GO:1"), ""]))
    table = annotate(**files)
    assert table.hierarchy.decode(table.Y) == [{"GO:1"}]


@pytest.mark.parametrize(
    ("own", "options"), [({"evidence": "IEA"}, {"evidence": {"IDA"}}), ({"qualifier": "not |involved_in"}, {})]
)
def test_a_gene_without_annotations_that_count_gets_none_of_its_namesakes(
    files: dict[str, Any], own: dict[str, str], options: dict[str, Any]
) -> None:
    lines = [line("YAL1", "GO:3", **own), line("P9", "GO:2", synonyms="YAL1"), line("YAL3", "GO:1"), ""]
    files["annotations"].write_text("\n".join(lines))
    assert annotate(**files, **options).X.index.tolist() == ["YAL3"]


def test_a_name_of_several_products_is_left_out_with_a_warning(files: dict[str, Any]) -> None:
    lines = [line("P1", "GO:3", symbol="YAL1"), line("P2", "GO:2", symbol="YAL1"), line("YAL3", "GO:1"), ""]
    files["annotations"].write_text("\n".join(lines))
    with pytest.warns(UserWarning, match=r"1 gene omitted: the names match several .* 'YAL1': P1, P2"):
        table = annotate(**files)
    assert table.X.index.tolist() == ["YAL3"]


def test_bad_input_is_told(files: dict[str, Any]) -> None:
    with pytest.raises(DatasetError, match=r"No class has 9 rows; the most frequent one has 3\."):
        annotate(**files, least=9, part_of=True)
    with pytest.raises(DatasetError, match=r"No gene of the features is in .*: the features have '1\.0', say, but"):
        annotate(**files, id_column="x")
    with pytest.raises(DatasetError, match=r"evidence is 'IDA'; expected a set of evidence codes, such as \{'IDA'\}"):
        annotate(**files, evidence="IDA")
    with pytest.raises(DatasetError, match=r"has none of the evidence codes \['IEP'\]; it has \['IDA', 'IEA'\]"):
        annotate(**files, evidence={"IEP"})
    with pytest.raises(DatasetError, match=r"'EXPERIMENTEL', which is neither .* did you mean 'EXPERIMENTAL'\?"):
        annotate(**files, evidence={"IDA", "experimentel"})
    with pytest.raises(DatasetError, match=r"unknown is 'ignore'; expected 'error' or 'skip'\."):
        annotate(**files, unknown=untyped("ignore"))
    gaf = files["annotations"]
    gaf.write_text(line("YAL1", "GO:5"))
    with pytest.raises(DatasetError, match=r"has 1 gene of the features, but none with a usable annotation"):
        annotate(**files)
    for text, told in {
        "a\tb\n": "line 1: the line has 2 cells; expected 15 to 17, separated by tabs",
        f"!x\n{line('YAL1', 'GO:7')}\n{line('YAL3', 'GO:1')}\n": "line 2, column 5: Unknown class 'GO:7'.",
        line("", "GO:1"): "line 1, column 2: the gene product or its term is empty",
        line("YAL1", ""): "line 1, column 5: the gene product or its term is empty",
    }.items():
        gaf.write_text(text)
        with pytest.raises(OntologyError) as caught:
            annotate(**files)
        assert str(caught.value).startswith(f"{gaf}, {told}")
    with pytest.raises(OntologyError, match="the file cannot be read: No such file"):
        list(read_gaf("nowhere.gaf"))


def summarise(files: dict[str, Any], **options: Any) -> AnnotationSummary:
    summaries: list[AnnotationSummary] = []
    table = annotate(**files, **options, notify=summaries.append)
    (summary,) = summaries
    assert (summary.labelled, summary.classes) == (len(table), len(table.hierarchy))
    ends = summary.used + summary.negated + summary.other_evidence + summary.obsolete + summary.unknown
    assert ends == summary.matched <= summary.read
    return summary


def test_a_summary_says_what_became_of_everything(files: dict[str, Any]) -> None:
    with files["features"].open("a") as file:
        file.write("NEW6,1.0,a\n")
    with files["annotations"].open("a") as file:
        file.write("\n".join([line("YAL1", "HP:7"), line("NOBODY", "HP:8"), line("P7", "GO:1", symbol="CDC2"), ""]))
    summary = summarise(files, unknown="skip", evidence={"IDA"}, part_of=True, least=2)
    assert summary == AnnotationSummary(
        source=str(files["annotations"]),
        read=9,
        matched=6,
        used=2,
        negated=1,
        other_evidence=1,
        obsolete=1,
        unknown=1,
        rows=6,
        unmatched=1,
        ambiguous=1,
        labelled=2,
        classes=1,
        rare=2,
    )
    assert str(summary) == (
        f"{files['annotations']}: 9 annotations, 6 of them of genes in the table: 2 used, 1 negated, 1 of other "
        "evidence, 1 obsolete or in another namespace, 1 of an unknown term.\n"
        "2 of 6 rows have labels, of 1 class: 1 gene is not in the file, 1 gene name of several gene products, "
        "2 classes with too few rows left out."
    )


def test_replaced_terms_are_counted(files: dict[str, Any]) -> None:
    summary = summarise(files)
    assert (summary.used, summary.replaced, summary.unmatched) == (4, 1, 0)


def test_unknown_terms_are_an_error_or_skipped(files: dict[str, Any]) -> None:
    with files["annotations"].open("a") as file:
        file.write("\n".join([line("YAL1", "GO:77"), line("YAL3", "GO:78"), ""]))
    with pytest.raises(OntologyError, match=r"line 8, column 5: Unknown class 'GO:77'.* 1 other term .*unknown='skip'"):
        annotate(**files)
    assert summarise(files, unknown="skip").unknown == 2


@pytest.mark.parametrize("unknown", ["error", "skip"])
def test_annotations_of_another_ontology_are_told(files: dict[str, Any], unknown: str) -> None:
    files["annotations"].write_text("\n".join([line("YAL1", "HP:0001"), line("YAL3", "HP:0002"), ""]))
    with pytest.raises(
        OntologyError, match=r"line 1, column 5: no term of these genes is in the ontology: .*'HP:0001'"
    ):
        annotate(**files, unknown=untyped(unknown))


def test_groups_of_evidence_have_names(files: dict[str, Any]) -> None:
    assert np.array_equal(
        annotate(**files, evidence=["experimental"]).Y.toarray(), annotate(**files, evidence=EXPERIMENTAL).Y.toarray()
    )
    assert annotate(**files, evidence={"ELECTRONIC"}).X.index.tolist() == ["YAL3"]
    codes = [code for group in EVIDENCE_GROUPS.values() for code in group]
    assert len(codes) == len(set(codes))


def test_a_table_of_genes_and_terms_will_do(files: dict[str, Any]) -> None:
    table = files["annotations"].with_name("mine.tsv")
    table.write_text("gene\tterm\tevidence\nYAL1\tGO:4\tIDA\nYAL3\tGO:20\tiea\n")
    files["annotations"] = table
    found = annotate(**files)
    assert found.hierarchy.decode(found.Y, most_specific=True) == [{"GO:4"}, {"GO:2"}]
    assert annotate(**files, evidence={"IEA"}).X.index.tolist() == ["YAL3"]
    for text, told in {
        "YAL1\tGO:4\n": "line 1, column 2: the first line is the header, but 'GO:4' is a term; put a header such as",
        "gene\nYAL1\n": "line 1: expected a column of genes and a column of terms, but there is one column.",
        "gene\tterm\nYAL1\n": "line 2: the row has 1 cell, but the header has 2.",
        "gene\tterm\nYAL1\t\n": "line 2, column 2: the gene or its term is empty.",
        "gene\tterm\nYAL1\tGO:9\nYAL3\tGO:1\n": "line 2, column 2: Unknown class 'GO:9'.",
    }.items():
        table.write_text(text)
        with pytest.raises(OntologyError) as caught:
            annotate(**files)
        assert str(caught.value).startswith(f"{table}, {told}")
    table.write_text("gene\tterm\nYAL1\tGO:4\n")
    with pytest.raises(DatasetError, match="it has no evidence codes: leave out evidence="):
        annotate(**files, evidence={"IDA"})


def test_any_hierarchy_will_do(files: dict[str, Any]) -> None:
    tree = Hierarchy.from_edges([("GO:1", "GO:20"), ("GO:1", "GO:4"), ("GO:1", "GO:3"), ("GO:1", "GO:5")])
    files["ontology"].with_name("edges.json").write_text(tree.to_json())
    for ontology in (tree, files["ontology"].with_name("edges.json")):
        table = annotate(**files | {"ontology": ontology})
        assert table.hierarchy.decode(table.Y, most_specific=True)[:2] == [{"GO:4"}, {"GO:20"}]


def test_labels_for_the_classes_of_a_model(files: dict[str, Any]) -> None:
    trained = annotate(**files, part_of=True, least=2).hierarchy
    assert trained.classes == ("GO:1", "GO:2")
    table = annotate(**files, part_of=True, hierarchy=trained)
    assert table.hierarchy is trained
    assert table.X.index.tolist() == ["YAL1", "CDC2", "OLD4"]  # YAL1 has GO:4, which is a part of GO:2
    assert table.Y.toarray().astype(int).tolist() == [[1, 1], [1, 1], [1, 0]]
    other = Hierarchy.from_edges([("GO:1", "GO:9")])
    for classes, told in {
        other: "has no class 'GO:9'",
        trained.reversed: "has other edges between the classes",
    }.items():
        with pytest.raises(DatasetError, match=rf"The ontology {told}.* Use the ontology of the training"):
            annotate(**files, hierarchy=classes)
    with pytest.raises(DatasetError, match="least and hierarchy exclude each other"):
        annotate(**files, part_of=True, hierarchy=trained, least=2)
    files["annotations"].write_text(line("YAL1", "GO:3"))
    with pytest.raises(DatasetError, match="No gene of the features has a class of the model"):
        annotate(**files, part_of=True, hierarchy=trained)
