"""The search for the best settings of a training, on validation rows only."""

from chmcnn.search._search import Progress, SearchPlan, SearchResult, search
from chmcnn.search._space import APPENDIX, Space

__all__ = ["APPENDIX", "Progress", "SearchPlan", "SearchResult", "Space", "search"]
