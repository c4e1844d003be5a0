"""What a problem beyond one machine would take, calculated from what `benchmarks.scale` measured on one.

``python -m benchmarks.report`` fills the tables of docs/scaling.md.
"""

import math
from dataclasses import dataclass

from benchmarks.markdown import table
from benchmarks.scale_report import load_scale

LABELS, COLUMNS, NON_ZERO, WIDTH = 60, 20_000, 50, 512
"""Labels and values of a row, columns, and units of the hidden layer, as in `benchmarks.scale`."""
BATCH = 1024
NETWORK = 10e9 / 8
"""Bytes a second between hosts: 10 Gbit/s."""
GIB = 2**30


@dataclass(frozen=True)
class Growth:
    """How time grows: seconds for each pair of a row and a class."""

    seconds: float

    @staticmethod
    def measured() -> "Growth":
        """Return the time of a pair at the largest size with sparse features that was measured."""
        rows = [ours for ours, _ in load_scale() if not ours["dense"]]
        largest = max(rows, key=lambda row: (row["rows"] * row["classes"], row["classes"]))
        return Growth(largest["epoch seconds"] / (largest["rows"] * largest["classes"]))


@dataclass(frozen=True)
class Need:
    """What an epoch of a problem needs on a number of hosts."""

    rows: float
    classes: float
    hosts: int
    growth: Growth

    @property
    def weights(self) -> float:
        """Weights of the network; most are those of the last layer."""
        return WIDTH * (COLUMNS + self.classes)

    @property
    def computing(self) -> float:
        """Hours of computing of an epoch."""
        return self.growth.seconds * self.rows * self.classes / self.hosts / 3600

    @property
    def exchanging(self) -> float:
        """Hours in which hosts exchange the gradient of the last layer, once for each batch, in a ring."""
        if self.hosts == 1:
            return 0.0
        sent = 2 * (self.hosts - 1) / self.hosts * 4 * WIDTH * self.classes
        return math.ceil(self.rows / BATCH) * sent / NETWORK / 3600

    @property
    def memory(self) -> float:
        """Bytes of a host: its share of rows and labels, and weights, gradients and two states of the optimizer."""
        data = (NON_ZERO * 8 + LABELS * 5) * self.rows / self.hosts
        return data + 16 * self.weights


def report() -> str:
    """Return what 10,000,000 rows and 100,000 classes would take, on 1 to 64 hosts."""
    growth = Growth.measured()
    needs = [Need(1e7, 1e5, hosts, growth) for hosts in (1, 4, 16, 64)]
    cells = [
        [
            f"{need.hosts}",
            f"{need.computing:.1f} h",
            f"{need.exchanging:.1f} h",
            f"{need.memory / GIB:.1f} GiB",
            "computing" if need.computing > need.exchanging else "the network between hosts",
        ]
        for need in needs
    ]
    note = (
        f"Calculated by `python -m benchmarks.report` from the {growth.seconds * 1e9:.0f} ns for a pair of a row and a "
        f"class that `python -m benchmarks.scale` measured on hosts of two cores. Batches of {BATCH:,} rows, a hidden "
        f"layer of {WIDTH}, {NON_ZERO} values and {LABELS} labels a row, 10 Gbit/s between hosts."
    )
    header = ["hosts", "computing, an epoch", "exchanging gradients", "memory of a host", "bottleneck"]
    return f"{table(header, cells)}\n{note}\n"
