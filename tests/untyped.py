"""Values without their static type, for tests that pass bad input on purpose."""

from typing import Any


def untyped(value: object) -> Any:
    """Return the value itself."""
    return value
