from pathlib import Path

import pytest
from prometheus_client import values

from chmcnn.serving._measured import SHARED, Measured


def _count_as(process: int) -> object:
    return values.MultiProcessValue(lambda: process)  # type: ignore[no-untyped-call]


def test_several_processes_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARED, str(tmp_path))
    for process in (1, 2):  # as each would choose it when it begins
        monkeypatch.setattr(values, "ValueClass", _count_as(process))
        measured = Measured()
        measured.count("/predict", 200, 0.01)
        measured.count("/predict", 422, 0.01)
        measured.count_batch(process)
    text = measured.text().decode()
    values.close_all_multiprocess_files()  # type: ignore[no-untyped-call]
    assert 'chmcnn_requests_total{path="/predict",status="200"} 2.0' in text
    assert 'chmcnn_requests_total{path="/predict",status="422"} 2.0' in text
    assert 'chmcnn_request_seconds_count{path="/predict"} 4.0' in text
    assert "chmcnn_batch_rows_sum 3.0" in text


def test_one_process_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHARED, raising=False)
    first, second = Measured(), Measured()
    first.count("/predict", 200, 0.01)
    assert "chmcnn_requests_total{" not in second.text().decode()
