"""Figures that others have published for the benchmark, to compare with; each has its source beside it."""

from __future__ import annotations

from importlib import resources

import pandas as pd


def figures() -> pd.DataFrame:
    """All figures, one a row: the data set, the system, what was measured, its value and where it was published.

    >>> figures().iloc[0].to_dict()["source"]
    'C-HMCNN paper Table 2'
    """
    with resources.files("chmcnn.experiments").joinpath("published.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def auprc() -> pd.DataFrame:
    """AU(PRC) on the test rows, data sets x systems, NaN where none was published.

    Five systems are those of the paper's Table 2, whose fifth and sixth columns are HMCN-R and HMCN-F; DHN was not peer
    reviewed.

    >>> auprc().loc["enron"].to_dict()
    {'C-HMCNN': 0.756, 'HMC-LMLP': nan, 'Clus-Ens': 0.696, 'HMCN-R': 0.71, 'HMCN-F': 0.724, 'DHN': 0.764}
    """
    return _table("test AU(PRC)")


def ablation() -> dict[str, pd.DataFrame]:
    """AU(PRC) on the validation rows, and epochs, of the paper's Table 3: each data sets x systems.

    >>> ablation()["validation AU(PRC)"].loc["eisen_FUN"].to_dict()
    {'h+': 0.262, 'h+MCM': 0.271, 'C-HMCNN': 0.285}
    """
    return {"validation AU(PRC)": _table("validation AU(PRC)"), "epochs": _table("epochs").astype(int)}


def sizes() -> pd.DataFrame:
    """The paper's Table 1, data sets x counts: features and classes, rows to train, to validate and to test on.

    >>> sizes().loc["enron"].to_dict()
    {'features': 1000, 'classes': 56, 'train rows': 692, 'valid rows': 296, 'test rows': 660}
    """
    return _by_measure("C-HMCNN paper Table 1").astype(int)


def inference() -> pd.DataFrame:
    """The paper's Table 4, data sets x figures; a batch has 4 rows, and was timed on a Titan Xp.

    >>> inference().loc["expr_GO"].to_dict()
    {'hidden units': 4000.0, 'learning rate': 1e-05, 'ms per batch': 3.9}
    """
    return _by_measure("C-HMCNN paper Table 4")


def _by_measure(source: str) -> pd.DataFrame:
    """All that one source says, in its order."""
    published = figures()
    chosen = published[published["source"] == source]
    wide = chosen.pivot_table(index="dataset", columns="measure", values="value", sort=False)
    return wide.rename_axis(index=None, columns=None)


def _table(measure: str) -> pd.DataFrame:
    """One measure as a table, in the order of publication."""
    published = figures()
    chosen = published[published["measure"] == measure]
    wide = chosen.pivot_table(index="dataset", columns="system", values="value", sort=False)
    return wide.loc[chosen["dataset"].unique(), chosen["system"].unique()].rename_axis(index=None, columns=None)
