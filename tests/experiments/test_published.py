from chmcnn.datasets import names
from chmcnn.experiments import published


def test_the_tables_have_all_data_sets_in_their_order() -> None:
    assert published.auprc().index.tolist() == list(names()[1:])
    assert published.auprc().columns.tolist() == ["C-HMCNN", "HMC-LMLP", "Clus-Ens", "HMCN-R", "HMCN-F", "DHN"]
    assert published.auprc().isna().to_numpy().sum() == 4  # HMC-LMLP on the four data sets that are not of genes


def test_the_ablation_has_scores_and_epochs() -> None:
    found = published.ablation()
    assert found["epochs"].loc["expr_FUN"].to_dict() == {"h+": 14, "h+MCM": 19, "C-HMCNN": 20}
    assert found["validation AU(PRC)"].loc["expr_FUN"].to_dict() == {"h+": 0.246, "h+MCM": 0.265, "C-HMCNN": 0.270}
    assert len(found["epochs"]) == 8


def test_sizes_and_inference_have_all_data_sets_in_their_order() -> None:
    sizes, inference = published.sizes(), published.inference()
    assert sizes.index.tolist() == inference.index.tolist() == list(names()[1:])
    assert sizes.columns.tolist() == ["features", "classes", "train rows", "valid rows", "test rows"]
    assert list(sizes.loc["spo_GO"]) == [80, 4166, 1597, 837, 1263]
    assert list(inference.loc["seq_GO"]) == [9000, 1e-5, 2.6]


def test_every_figure_has_a_source_and_is_there_once() -> None:
    figures = published.figures()
    assert not figures.isna().to_numpy().any()
    assert not figures.duplicated(["dataset", "system", "measure"]).any()
    assert figures[figures["measure"].str.endswith("AU(PRC)")]["value"].between(0, 1).all()
    assert set(figures.loc[figures["system"] == "DHN", "source"]) == {"DHN README 2026 (not peer reviewed)"}
