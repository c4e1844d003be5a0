"""What a browser looks at: a model whose names are hostile, and one with 45,000 classes."""

import numpy as np
import pandas as pd

from chmcnn import CHMCNNClassifier, Hierarchy
from chmcnn.datasets import Table
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.evaluation import evaluate
from chmcnn.report.training_page import Origin, list_facts, page

SCRIPT, IMAGE, LINK = "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "javascript:alert(3)//?a=b&c#d/%41"
TITLE = "</script><svg onload=alert(4)>"
COLUMN, CATEGORY = "<b>zone</b>", "<i>north</i>"
ORIGIN = Origin(title="chmcnn: pets", facts={}, command="chmcnn train")


class Model:
    """A model, what is known about its classes, and its report."""

    def __init__(self, model: CHMCNNClassifier, table: Table) -> None:
        evaluation = evaluate(model, table.X, table.Y, "test part", repeats=1)
        self.model = model
        self.facts = list_facts(model, table, evaluation, ORIGIN)
        self.report = page(model, table, evaluation, ORIGIN)


def create_pets() -> Model:
    """Return a model of four kinds of columns, where one class has three parents and names are markup."""
    hierarchy = Hierarchy.from_edges(
        [("animal", SCRIPT), ("animal", "cat"), (IMAGE, SCRIPT), (LINK, SCRIPT), (IMAGE, "cat")],
        titles={"cat": TITLE, "animal": "Any animal"},
    )
    random = np.random.default_rng(0)
    kinds = np.array([SCRIPT, "cat"] * 30)
    frame = pd.DataFrame(
        {
            "size": np.where(kinds == "cat", -3.0, 3.0) + random.normal(0, 0.3, 60),
            COLUMN: random.choice([CATEGORY, "south"], 60),
            "day": pd.to_datetime(random.choice(["2026-01-01", "2026-05-02"], 60)),
            "note": [f"seen by {number} people in the park" for number in range(60)],
        }
    )
    model = CHMCNNClassifier(hierarchy, epochs=20, refit=False, widths=(16,), random_state=0)
    labels = [{str(kind)} for kind in kinds]
    return Model(model.fit(frame, labels), Table(frame, labels, hierarchy))


def create_large() -> Model:
    """Return a model of 45,000 classes in a DAG, hardly trained."""
    hierarchy, random = random_hierarchy(45_000, edges=70_000, depth=12), np.random.default_rng(0)
    labels = [set(random.choice(hierarchy.classes, 2).tolist()) for _ in range(40)]
    features = random.normal(size=(40, 3))
    model = CHMCNNClassifier(hierarchy, epochs=1, widths=(4,), refit=False, random_state=0)
    return Model(model.fit(features, labels), Table(features, labels, hierarchy))
