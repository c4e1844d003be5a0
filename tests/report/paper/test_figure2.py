import numpy as np
import pytest

from chmcnn.experiments.figure2 import Figure2
from chmcnn.report.paper.figure2 import section


def result(h: float) -> Figure2:
    """The better of f+ and g+ is at 0.9 or 0.95."""
    f = np.tile([0.8, 0.9], (9, 1)) + 0.05
    g = np.full((9, 2), 0.9)
    g[4:] = 0.95
    return Figure2({"f": f, "g": g, "h": np.full((9, 2), h)}, delegated=np.full((9, 2), 0.25), epochs=100)


@pytest.mark.parametrize(
    ("h", "agrees", "worst"), [(0.935, True, "-0.015 at step 5"), (0.92, False, "-0.030 at step 5")]
)
def test_the_worst_step_decides(h: float, agrees: bool, worst: str) -> None:
    check = section(result(h)).checks[0]
    assert check.agrees is agrees
    assert check.ours.startswith(worst)


def test_f_and_g_are_good_where_the_paper_says() -> None:
    made = result(0.9)
    assert [check.agrees for check in section(made).checks[1:]] == [False, False]
    made.auprc["f"][:3] -= 0.1
    made.auprc["g"][5:] -= np.arange(1, 5)[:, None] / 100
    _, f, g = section(made).checks
    assert f.agrees
    assert f.ours == "at most 0.800, and at least 0.900 from step 6"
    assert g.agrees
    assert g.ours == "0.950 at step 5, then 0.940, 0.930, 0.920, 0.910"


def test_the_table_has_mean_and_deviation_of_each_step() -> None:
    made = section(result(0.9))
    (table,) = made.tables
    assert table.columns[:3] == ("step", "f+", "f+ deviation")
    assert table.rows[0] == pytest.approx((1, 0.9, 0.05 * 2**0.5, 0.9, 0, 0.9, 0, 0.25))
    assert len(table.rows) == 9
    (axis,) = made.pictures[0].figure.axes
    assert [line.get_label() for line in axis.get_lines()] == ["f+", "g+", "C-HMCNN(h)"]
    assert len(axis.collections) == 3  # the bands
