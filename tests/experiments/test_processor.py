import platform
from pathlib import Path

import pytest

from chmcnn.experiments import _processor


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (
            "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Quick 9000 @ 3.5GHz\nflags: fpu\n\nmodel name\t: other\n",
            "Quick 9000 @ 3.5GHz",
        ),
        ("processor\t: 0\nCPU part\t: 0xd0c\n", "arm"),
        (None, "arm"),
    ],
)
def test_it_is_the_model_where_the_system_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, named: str
) -> None:
    monkeypatch.setattr(_processor, "_LINUX", tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    if content is not None:
        (tmp_path / "cpuinfo").write_text(content, encoding="utf-8")
    assert _processor.processor() == named


def test_otherwise_it_is_the_architecture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_processor, "_LINUX", tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert _processor.processor() == platform.machine()
