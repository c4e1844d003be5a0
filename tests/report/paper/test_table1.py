from chmcnn.datasets.catalogue import catalogue
from chmcnn.experiments import published
from chmcnn.experiments.table1 import Sizes, Table1
from chmcnn.report.paper.table1 import section


def printed(name: str, **other: int) -> Sizes:
    """What the paper prints, but for some counts."""
    counts = published.sizes().loc[name].to_dict() | other
    rows = {part: counts[f"{part} rows"] for part in ("train", "valid", "test")}
    return Sizes(name, counts["features"], counts["features"], counts["classes"], rows, None, ())


def cells(result: Table1) -> dict[str, dict[str, object]]:
    table = section(result).tables[0]
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_counts_that_agree_are_shown_once_and_all_checks_hold() -> None:
    found = section(Table1({name: printed(name) for name in catalogue().entries}))
    assert (found.name, found.command) == ("table1", "chmcnn reproduce table1")
    assert [check.agrees for check in found.checks] == [True] * 5
    assert found.checks[0].ours == "20 of 20 agree, 20 exactly"
    assert found.tables[0].rows[0] == ("cellcycle_FUN", 77, 499, 1625, 848, 1281, "")


def test_counts_that_differ_are_marked_with_the_reason() -> None:
    sizes = {name: printed(name) for name in catalogue().entries}
    sizes |= {"enron": printed("enron", features=1001), "derisi_GO": printed("derisi_GO", classes=7)}
    found = cells(Table1(sizes))
    assert found["enron"]["D"] == "1,001 (paper: 1,000)"
    assert found["enron"]["what to know"] == "the files have one attribute more"
    assert found["derisi_GO"]["what to know"] == "why the classes differ is not known"
    features = section(Table1(sizes)).checks[0]
    assert not features.agrees
    assert features.why == "enron has 1,001, not 1,000: the files have one attribute more"


def test_rows_of_the_other_taxonomy_are_recognised() -> None:
    sizes = {name: printed(name) for name in catalogue().entries} | {
        "spo_FUN": printed("spo_FUN", **{"test rows": 1266})
    }
    assert cells(Table1(sizes))["spo_FUN"]["what to know"] == "the paper has the number of rows of spo_GO"
    assert section(Table1(sizes)).checks[-1].agrees  # it is near enough


def test_what_was_not_read_is_said_with_what_the_catalogue_knows() -> None:
    part = Sizes("expr_FUN", 551, 561, 499, {"valid": 849, "test": 1288}, None, ("train",))
    found = cells(Table1({"expr_FUN": part}))
    assert found["expr_FUN"]["train"] == "not known (paper: 1,636)"
    assert found["expr_FUN"]["what to know"] == (
        "the file of the part 'train' could not be had; 561 columns after one-hot encoding"
    )
    assert found["enron"]["D"] == "1,001 (paper: 1,000)"
    assert "from the catalogue" in str(found["enron"]["what to know"])
    assert "not known: expr_FUN, expr_GO" in section(Table1({"expr_FUN": part})).checks[2].why
