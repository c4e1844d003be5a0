from typing import Any

import pytest
from tests.untyped import untyped

from chmcnn import ChmcnnError
from chmcnn.errors import FileError
from chmcnn.search import SearchPlan
from chmcnn.search._space import APPENDIX, Space


def test_the_space_of_the_paper_has_576_settings() -> None:
    assert len(Space.of(APPENDIX).grid(0)) == SearchPlan(sampler="grid").total == 576
    widths = [layers[0] for layers in APPENDIX["widths"]]
    assert widths == [250, 500, 750, 1000, 1250, 1500, 1750, *range(2000, 10001, 1000)]
    assert SearchPlan().total == 50


@pytest.mark.parametrize(
    ("space", "told"),
    [
        ({}, "the space is empty"),
        ({"learning_rat": [0.1]}, "unknown setting 'learning_rat'; did you mean 'learning_rate'?"),
        ({"learning_rate": [0.1, -1]}, "learning_rate is -1; expected a finite number above 0"),
        ({"learning_rate": 0.1}, "learning_rate is 0.1; expected a list of values, or a range"),
        ({"learning_rate": []}, r"learning_rate is \[\]; expected a list of values"),
        ({"widths": [500, 500]}, "widths is 500; expected a list of integers"),
        ({"widths": {"low": 1, "high": 9}}, "widths is 1; expected a list of integers"),
        ({"dropout": [0.1, 0.5, 0.1]}, "dropout has the value 0.1 twice"),
        ({"dropout": {"low": 0.1, "hihg": 0.9}}, "dropout is {'low': 0.1, 'hihg': 0.9}; expected a list of values"),
        ({"dropout": {"low": 0.5, "high": 0.1}}, "dropout goes from 0.5 to 0.1; expected"),
        ({"dropout": {"low": 0, "high": 0.5, "log": True}}, "dropout goes from 0 to 0.5 with log; expected"),
        ({"dropout": {"low": "a", "high": 0.5}}, "dropout has 'a' in its range; expected a number"),
        ({"epochs": {"low": 1, "high": 9, "step": 0.5}}, "epochs has the step 0.5; expected"),
        ({"epochs": {"low": 1, "high": 9.5}}, "epochs is 9.5; expected an integer"),
        (
            {"dropout": {"low": 0, "high": 0.5, "step": 1e-12}},
            "dropout has the step 1e-12 from 0 to 0.5, which is more",
        ),
        ({"validation": [0.1, 0.2]}, "validation has 2 values; use one: it decides on which rows"),
        ({"threshold": {"low": 0.1, "high": 0.9}}, "threshold has a range; use a list with one value"),
        ({"preset": ["paper", "fast"]}, "preset is 'fast'; expected 'default' or 'paper': best and fast are ensembles"),
    ],
)
def test_a_space_that_cannot_be_searched_is_told(space: dict[str, Any], told: str) -> None:
    with pytest.raises(FileError, match=told):
        SearchPlan(space)


def test_a_plan_that_cannot_be_searched_is_refused() -> None:
    with pytest.raises(FileError, match="dropout has a range without a step, which a grid cannot cover"):
        SearchPlan({"dropout": {"low": 0.1, "high": 0.5}}, "grid")
    fine = {name: {"low": 1, "high": 900, "step": 1} for name in ("epochs", "patience", "batch_size")}
    with pytest.raises(FileError, match="the grid has 729,000,000 points; list fewer values, or use the sampler tpe"):
        SearchPlan(fine, "grid")
    with pytest.raises(ChmcnnError, match="epochs is both in the space and in the settings of all trials"):
        SearchPlan({"epochs": [1, 2]}, settings={"epochs": 3})
    with pytest.raises(ChmcnnError, match="preset is 'best'; expected 'default' or 'paper': best and fast are ens"):
        SearchPlan(settings={"preset": "best"})
    with pytest.raises(ChmcnnError, match="sampler is 'random'; expected 'tpe' or 'grid'"):
        SearchPlan(sampler=untyped("random"))
    with pytest.raises(ChmcnnError, match="trials is 0; expected 1 or more"):
        SearchPlan(trials=0)


def test_ranges_with_a_step_are_values() -> None:
    space = Space.of({"dropout": {"low": 0.1, "high": 0.5, "step": 0.1}, "patience": {"low": 2, "high": 9, "step": 3}})
    assert space.axes == {"dropout": [0.1, 0.2, 0.3, 0.4, 0.5], "patience": [2, 5, 8]}
