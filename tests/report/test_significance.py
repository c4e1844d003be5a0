from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from chmcnn import significance
from chmcnn.experiments import published
from chmcnn.report.significance import draw

LONG = [f"{'a rather long name of a system, ' * (at % 3)}number {at}" for at in range(40)]


def _table(datasets: int, systems: int, spread: float) -> pd.DataFrame:
    noise = np.random.default_rng(0).random((datasets, systems))
    return pd.DataFrame(noise + np.linspace(0, spread, systems), columns=LONG[:systems])


@pytest.mark.parametrize(
    "table",
    [
        published.auprc(),
        _table(20, 12, spread=2),
        _table(20, 12, spread=0),
        _table(2, 2, spread=0),
        _table(30, 40, spread=2),
        pd.DataFrame([[1.0, 1.0, 2.0, 2.0]] * 9, columns=LONG[:4]),
    ],
    ids=["published", "twelve", "one group", "two", "forty", "ties"],
)
def test_no_text_hides_another_or_leaves_the_figure(table: pd.DataFrame) -> None:
    figure = draw(significance.nemenyi(table))
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    page = figure.bbox
    assert all(page.x0 < box.x0 and box.x1 < page.x1 and page.y0 < box.y0 and box.y1 < page.y1 for box in boxes)


def test_it_shows_systems_ranks_groups_and_the_critical_difference() -> None:
    result = significance.nemenyi(published.auprc().drop(columns="DHN"))
    figure = draw(result)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"C-HMCNN", "1.25", "HMC-LMLP", "5.00", "Clus-Ens", "3.93"} <= texts
    assert "critical difference 1.364 at level 0.05" in texts
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 4]
    assert len(bars) == len(result.groups)


def test_the_best_are_on_the_left_and_names_are_taken_literally() -> None:
    table = pd.DataFrame([[0.1, 0.2, 0.3, 0.4]] * 5, columns=["$worst$", "3", "2", "$best^2$"])
    places = {text.get_text(): text.get_position() for text in draw(significance.nemenyi(table)).axes[0].texts}
    assert places["$best^2$"][0] < places["$worst$"][0]
    assert places["$best^2$"][1] == places["$worst$"][1]
