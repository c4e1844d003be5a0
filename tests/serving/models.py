"""A small model of named columns, for the tests of the service."""

import numpy as np
import pandas as pd

from chmcnn import CHMCNNClassifier, Hierarchy

HOSTILE = "<script>alert(1)</script>"


def create_model() -> CHMCNNClassifier:
    """Train on numbers, categories, dates and text."""
    hierarchy = Hierarchy.from_edges(
        [("animal", "dog"), ("animal", "cat"), ("pet", "dog")], titles={"dog": HOSTILE, "cat": "A cat"}
    )
    random = np.random.default_rng(0)
    kinds = random.choice(["dog", "cat", "pet"], 60)
    frame = pd.DataFrame(
        {
            "size": np.select([kinds == "dog", kinds == "cat"], [3.0, -3.0], 0.0) + random.normal(0, 0.3, 60),
            "zone": random.choice(["1", "2a"], 60),
            "day": pd.to_datetime(random.choice(["2026-01-01", "2026-05-02"], 60)),
            "note": [f"a {kind} was seen by {number} people" for number, kind in enumerate(kinds)],
        }
    )
    model = CHMCNNClassifier(hierarchy, epochs=3, refit=False, widths=(16,), random_state=0)
    return model.fit(frame, [{str(kind)} for kind in kinds])
