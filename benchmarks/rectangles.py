"""Search for the coordinates of the two rectangles, which the paper describes but does not list.

``python -m benchmarks.rectangles`` writes results/rectangles.json; existing results are not measured again.

All arrangements tried have the rectangles disjoint at steps 1 to 3, overlapping from step 4 on, 65 % of the smaller one
in the bigger one at step 6, and the smaller one in the centre at step 9. They differ in

- touch: how many steps before the last one the rectangles touch, above 5 and up to 6;
- tall: height of the smaller rectangle, as a multiple of its width;
- big: height of the bigger rectangle, as a multiple of the smaller one's;
- slope: how much the smaller rectangle rises, as a multiple of its way to the right.

For each, it measures the share of A's test points whose prediction for B is delegated to A at step 5 (published: 85 %).
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from chmcnn import Hierarchy
from chmcnn._io import strict_json
from chmcnn.comparison import versions
from chmcnn.datasets.synthetic import STEPS, Rectangle, Rectangles
from chmcnn.experiments import two_rectangles

Shape = tuple[float, float, float, float]
NAMES = ("touch", "tall", "big", "slope")
RESULT = Path(__file__).parent / "results" / "rectangles.json"
SEEDS = range(3)
SHAPES = [
    *itertools.product((5.2, 5.8), (1.0, 1.67, 2.2), (1.2, 1.7), (0.0,)),
    *itertools.product((5.2, 5.8), (1.5,), (1.7, 2.3), (0.5,)),
    *((5.2, 1.0, 2.3, 0.5), (5.8, 1.0, 2.3, 0.5)),
    *((5.2, 1.0, 3.0, 1.0), (5.8, 1.0, 2.5, 1.0), (5.2, 1.5, 2.2, 1.0), (5.8, 1.5, 2.0, 1.0)),
    *((5.1, 1.0, 2.92, 1.0), (5.3, 1.0, 2.72, 1.0)),  # the smaller one is a square on the diagonal
]


def arrangement(step: int, touch: float, tall: float, big: float, slope: float) -> tuple[Rectangle, Rectangle]:
    """The smaller and the bigger rectangle at a step, as large as fits the unit square."""
    from_centre = STEPS - step

    def share(stride: float, away: int) -> tuple[float, float]:
        """Shares of the width (1) and the height (tall) of the smaller rectangle that lie in the bigger one."""
        across = touch * stride - away * stride
        up = (big + 1) * tall / 2 - away * slope * stride
        return float(np.clip(across, 0, 1)), float(np.clip(up, 0, tall) / tall)

    stride = next(stride for stride in np.arange(0.2, 0.5, 1e-4) if np.prod(share(stride, 3)) >= 0.65)
    width = 2 * touch * stride - 1
    wide = (STEPS - 1) * stride + touch * stride
    high = max((STEPS - 1) * slope * stride + (big + 1) * tall / 2, big * tall)
    unit = 0.96 / max(wide, high)
    right, top = 0.5 + unit * wide / 2, 0.5 + unit * high / 2
    x, y = right - unit * width / 2, top - unit * big * tall / 2  # the centre of the bigger one
    bigger = Rectangle(x - unit * width / 2, y - unit * big * tall / 2, unit * width, unit * big * tall)
    left = x - unit * (0.5 + from_centre * stride)
    bottom = y - unit * (tall / 2 + from_centre * slope * stride)
    return Rectangle(left, bottom, unit, unit * tall), bigger


def main(epochs: int = 20_000) -> None:
    """Measure all arrangements."""
    results = json.loads(RESULT.read_text(encoding="utf-8"))["tried"] if RESULT.exists() else []
    measured = [tuple(row[name] for name in NAMES) for row in results]
    missing = [shape for shape in SHAPES if shape not in measured]
    for start in range(0, len(missing), 4):  # few networks at a time, so that their data fits the processor's cache
        cases = list(itertools.product(missing[start : start + 4], SEEDS))
        results += _measure(cases, epochs)
    content = {"command": "python -m benchmarks.rectangles", "versions": versions(), "epochs": epochs, "tried": results}
    RESULT.write_text(strict_json.dumps(content), encoding="utf-8")


def _measure(cases: list[tuple[Shape, int]], epochs: int) -> list[dict[str, Any]]:
    hierarchy = Hierarchy.from_edges([("B", "A")])
    problems = [Rectangles.draw(hierarchy, arrangement(5, *shape), 5000, seed) for shape, seed in cases]
    networks = two_rectangles.train("h", problems, seeds=[seed for _, seed in cases], epochs=epochs)
    rows = []
    for (shape, seed), problem, network in zip(cases, problems, networks, strict=True):
        row = dict(zip(NAMES, shape, strict=True)) | {
            "seed": seed,
            "rectangles": [[r.left, r.bottom, r.width, r.height] for r in problem.rectangles],
            "delegated": two_rectangles.delegated(network, problem),
            "auprc": two_rectangles.auprc("h", network, problem),
        }
        print(shape, seed, f"{row['delegated']:.1%} delegated, AU(PRC) {row['auprc']:.3f}", flush=True)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
