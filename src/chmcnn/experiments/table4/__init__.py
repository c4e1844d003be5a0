"""Table 4 of the paper: time and memory of inference with our layer, with the dense formula, and with neither."""

from chmcnn.experiments.table4._measure import Inference, Table4, Timing, collect, run
from chmcnn.experiments.table4._section import section

__all__ = ["Inference", "Table4", "Timing", "collect", "run", "section"]
