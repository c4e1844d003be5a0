"""The presets best and fast."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.ensemble.members import DATA

from chmcnn import CHMCNNClassifier, ChmcnnError, CoherentEnsemble, Hierarchy
from chmcnn.baselines import Linear
from chmcnn.ensemble import SYSTEMS, BestEnsemble
from chmcnn.ensemble._presets import choose_members

QUICK = {"epochs": 2, "widths": [16]}
WORDS = ["red shoes", "blue shoes", "green tea", "black tea"] * 60
TOPICS = ["wear/shoes", "wear/shoes", "food/tea", "food/tea"] * 60


def test_a_network_names_the_ensemble_that_a_preset_belongs_to() -> None:
    with pytest.raises(ChmcnnError, match=r"preset is 'best'.*use chmcnn.CoherentEnsemble\(preset='best'\)"):
        CHMCNNClassifier(preset="best").fit([[0.0], [1.0]] * 5, ["a/b", "a/c"] * 5)  # type: ignore[arg-type]


def test_the_best_of_a_table_is_a_network_with_neighbours_ridge_and_trees() -> None:
    model = CoherentEnsemble(DATA.hierarchy, network_settings=QUICK, random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert set(model.validation_scores_) == {"network", "neighbours", "ridge", "trees"}
    assert "network" not in model.weights_ or model.members_["network"].get_params()["epochs"] == 2


def test_the_best_of_texts_is_a_network_with_neighbours_a_linear_model_and_trees_on_common_words() -> None:
    model = CoherentEnsemble(network_settings={"epochs": 2}, random_state=0).fit(WORDS, TOPICS)
    assert set(model.validation_scores_) == {"network", "neighbours", "linear", "trees"}
    assert model.predict_labels(["white tea"]) == [{"food", "food/tea"}]


def test_the_fast_preset_has_no_network() -> None:
    model = CoherentEnsemble(DATA.hierarchy, preset="fast", random_state=0).fit(DATA.train.X, DATA.train.Y)
    assert set(model.validation_scores_) == {"neighbours", "ridge"}
    assert model.history_ == ()
    assert model.notice_ == ""


@pytest.mark.parametrize(
    ("preset", "limit", "expected"),
    [
        ("best", "_MOST_PRODUCTS", {"network", "neighbours", "trees"}),
        ("best", "_MOST_ROWS", {"network", "neighbours", "linear"}),
        ("fast", "_MOST_PRODUCTS_FAST", {"neighbours"}),
    ],
)
def test_a_member_of_a_preset_steps_aside_with_a_notice(
    preset: Any, limit: str, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"chmcnn.ensemble._presets.{limit}", 1)
    settings = {"epochs": 2} if preset == "best" else None
    model = CoherentEnsemble(preset=preset, network_settings=settings, random_state=0).fit(WORDS, TOPICS)
    assert set(model.validation_scores_) == expected
    assert "steps aside: " in model.notice_


def test_a_column_of_words_that_say_nothing_does_not_take_the_trees_from_the_other_columns() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame(DATA.train.X, columns=[f"x{column}" for column in range(DATA.train.X.shape[1])])
    table["note"] = [" ".join(f"word{word}" for word in random.integers(400, size=8)) for _ in range(len(table))]
    settings = {"epochs": 2, "widths": [16]}
    model = CoherentEnsemble(DATA.hierarchy, network_settings=settings, random_state=0).fit(table, DATA.train.Y)
    assert model.weights_["trees"] > 0


def test_a_member_of_the_user_does_not_step_aside() -> None:
    with pytest.raises(ChmcnnError, match=r"The member 'Linear' .*failed: Linear steps aside"):
        CoherentEnsemble(members=[Linear(most_products=1.0)], random_state=0).fit(WORDS, TOPICS)


def test_sparse_tables_are_told_from_dense_ones_by_their_form() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 30), density=0.2, rng=rng, format="csr")
    tree = Hierarchy.from_edges([("a", "b")])
    model = CoherentEnsemble(tree, preset="fast", random_state=0).fit(X, [{"a"}, {"b"}] * 30)
    assert list(model.members_) == [member.name for member in choose_members("fast", {}, sparse=True)]


def test_presets_are_systems_whose_preset_is_no_parameter() -> None:
    assert {"best", "fast"} <= set(SYSTEMS)
    assert "preset" not in BestEnsemble().get_params()
    assert BestEnsemble(DATA.hierarchy).preset == "best"
