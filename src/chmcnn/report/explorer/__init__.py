"""The explorer: a hierarchy to walk through, with what is known about each class, for a report or a service.

Its script and its style are the same in both. A report has all data in itself; a service is asked for
what is looked at.
"""

from chmcnn.report.explorer._assets import create_policy, read_page, read_script, read_style
from chmcnn.report.explorer._data import create_data
from chmcnn.report.explorer._facts import ClassFacts, Confusion, create_facts, read_facts

__all__ = [
    "ClassFacts",
    "Confusion",
    "create_data",
    "create_facts",
    "create_policy",
    "read_facts",
    "read_page",
    "read_script",
    "read_style",
]
