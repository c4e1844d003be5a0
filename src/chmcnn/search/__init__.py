"""The search for settings of a training, by validation rows only."""

from chmcnn.search._search import Found, Plan, Progress, search
from chmcnn.search._space import APPENDIX, Space

__all__ = ["APPENDIX", "Found", "Plan", "Progress", "Space", "search"]
