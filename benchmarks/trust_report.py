"""Tables of calibration and of limited risks, for `benchmarks.report`."""

from typing import Any

import numpy as np

from benchmarks.markdown import table
from benchmarks.measure import load, load_all
from benchmarks.trust import FOLDER, METHODS, SPLITS

_NAMES = {"missed": "missed classes", "wrong": "wrong classes", "deepest": "a wrong path"}


def calibration() -> str:
    """Return the calibration error of test rows without and with each method, and that of validation rows."""
    results = load_all(FOLDER)
    cells = []
    for result in results:
        ways = {way["method"]: way for way in result["calibration"]}
        change = max(abs(way["AU(PRC)"] - ways[None]["AU(PRC)"]) for way in ways.values())
        cells.append(
            [
                result["data set"],
                *(f"{ways[way]['test error']:.4f} ({ways[way]['validation error']:.4f})" for way in (None, *METHODS)),
                *(f"{ways[way]['test error of levels']:.4f}" for way in (None, "isotonic")),
                f"{change:.5f}",
                str(sum(way["violations"] for way in ways.values())),
            ]
        )
    header = ["data set", "not calibrated", *METHODS, "levels, not calibrated", "levels, isotonic"]
    note = (
        f"Calibration error of test rows, and of validation rows in brackets. {_describe(results)}\n"
        "Levels: the mean of the errors of all levels. Change: the largest of the AU(PRC) by any method."
    )
    return f"{table([*header, 'change of AU(PRC)', 'violations'], cells)}\n{note}\n"


def risks() -> str:
    """Return the risks that were found on test rows beside those that were asked for."""
    results = load_all(FOLDER)
    cells = []
    for number, first in enumerate(results[0]["risks"]):
        found = [result["risks"][number] for result in results]
        each = [f"{np.mean(risk['splits']):.3f} ({risk['by validation rows']:.3f})" for risk in found]
        cells.append([_NAMES[first["of"]], str(first["asked"]), *each])
    note = (
        f"The mean over {SPLITS} random splits of the test rows: one half is held out, the risk is that of the other. "
        f"In brackets: by the\nvalidation rows of the training, on all test rows. {_describe(results)}"
    )
    return f"{table(['risk of', 'asked', *(result['data set'] for result in results)], cells)}\n{note}\n"


def agreement() -> str:
    """Return how near our thresholds and probabilities are to those of other packages."""
    content = load("agreement")
    compared = [each for row in content["rows"] for each in row["thresholds"]]
    versions = content["rows"][0]["versions"]
    cells = [
        [
            f"MAPIE {versions['mapie']}",
            "thresholds for missed classes",
            f"{max(abs(each['ours'] - each['MAPIE']) for each in compared):.3f}",
        ],
        [
            f"venn-abers {versions['venn-abers']}",
            "probabilities",
            f"{max(row['largest difference of probabilities'] for row in content['rows']):.3f}",
        ],
    ]
    return f"{table(['package', 'compared', 'largest difference'], cells)}\nMeasured by `{content['command']}`.\n"


def _describe(results: list[dict[str, Any]]) -> str:
    return f"Measured by `python -m benchmarks.trust`:\none training on each of {len(results)} data sets."
