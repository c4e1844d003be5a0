"""The errors that chmcnn raises for bad input. All are ValueErrors, so that one ``except`` catches them."""


class ChmcnnError(ValueError):
    """Input that cannot be used. The message names the value, the place and the way out."""


class HierarchyError(ChmcnnError):
    """A hierarchy that cannot be built, or a class that it does not have."""


class LabelError(ChmcnnError):
    """Labels that do not fit the hierarchy."""


class ScoreError(ChmcnnError):
    """Scores that do not fit the hierarchy."""
