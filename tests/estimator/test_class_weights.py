import numpy as np
import pytest
from tests.estimator.models import DATA, fitted

from chmcnn import ChmcnnError, HierarchyError


def test_class_weights() -> None:
    plain = fitted().predict_proba(DATA.test.X)
    balanced = fitted(class_weight="balanced").predict_proba(DATA.test.X)
    named = fitted(class_weight={DATA.hierarchy.classes[3]: 5.0}).predict_proba(DATA.test.X)
    assert not np.array_equal(plain, balanced)
    assert not np.array_equal(plain, named)
    with pytest.raises(HierarchyError, match="Unknown class 'x'"):
        fitted(class_weight={"x": 1.0})
    with pytest.raises(ChmcnnError, match="class_weight is 'even'"):
        fitted(class_weight="even")
