import pytest

from chmcnn._io.strict_json import dumps, loads
from chmcnn.errors import ChmcnnError


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 100_000, "it is nested too deeply"),
        (f"[{'1' * 5000}]", r"the integer 11111111111111111111\.\.\. has 5000 digits, which is too large"),
        (f"[-{'9' * 400}]", "has 400 digits, which is too large"),
        ("[9223372036854775808]", "has 19 digits, which is too large"),
        (r'["a\ud800"]', r"it has '\\ud800', half of a character"),
        (r'{"\udfff": 1}', "half of a character"),
    ],
)
def test_text_that_would_break_something_later_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        loads(text)


def test_everything_else_is_read() -> None:
    assert loads("[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]
    assert loads("[0.12345678901234567890123456789]") == [0.12345678901234568]
    assert loads(r'["\ud83d\ude00", "12345678901234567890"]') == ["\U0001f600", "12345678901234567890"]
    assert loads(b"[1]") == [1]


def test_what_is_nested_too_deeply_is_not_written() -> None:
    content: list[object] = []
    for _ in range(100_000):
        content = [content]
    with pytest.raises(ChmcnnError, match="nested too deeply"):
        dumps(content)
