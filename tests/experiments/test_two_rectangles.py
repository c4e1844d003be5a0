from chmcnn.experiments import boundaries
from chmcnn.experiments.two_rectangles import run


def test_it_delegates_outside_and_not_inside() -> None:
    outside, inside = run((1, 9), epochs=1500)
    assert outside.delegated > 0.95
    assert inside.delegated < 0.05
    assert outside.violations[0] > 0
    for result in (outside, inside):
        assert result.accuracy > 0.85
        assert result.violations[1] == 0
        assert result.h.shape == result.constrained.shape == (201, 201, 2)
    figure = boundaries.draw([outside, inside])
    assert [axis.get_ylabel() for axis in figure.axes if axis.get_ylabel().endswith("delegated")] == [
        f"{result.delegated:.0%} of A delegated" for result in (outside, inside)
    ]
