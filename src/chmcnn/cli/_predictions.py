"""Writing predictions in all of their forms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn.cli import _long_form
from chmcnn.cli._answers import AnswerOptions, Format, row_ids

if TYPE_CHECKING:
    from typing import TextIO

    import pandas as pd

    from chmcnn._typing import Features
    from chmcnn.estimator import HierarchicalClassifier


def write(
    classifier: HierarchicalClassifier,
    features: Features,
    answers: AnswerOptions,
    target: Path | TextIO,
    suffix: str,
    *,
    first_row: int = 0,
) -> int | None:
    """Write predictions by the ending of a file; return the number of lines of the long form."""
    form = answers.resolve()
    if form is Format.CAFA:
        _long_form.check_cafa(row_ids(features), answers.find_branch(classifier.hierarchy_))
        return _long_form.write_cafa(answers.rank(classifier, features, first_row), target)
    if form is Format.LONG:
        return _long_form.write(answers.rank(classifier, features, first_row), target, suffix)
    _write_frame(_predict(classifier, features, answers, first_row), answers, target, suffix)
    return None


def _predict(
    classifier: HierarchicalClassifier, features: Features, answers: AnswerOptions, first_row: int
) -> pd.DataFrame:
    import pandas as pd

    index, branch = row_ids(features, first_row), answers.find_branch(classifier.hierarchy_)
    if answers.resolve() is Format.WIDE:
        scores = classifier.predict_proba(features)
        kept = scores if answers.within is None else scores[:, [classifier.hierarchy_.index(name) for name in branch]]
        return pd.DataFrame(kept, index=index, columns=branch)
    shown = set(branch)
    sets = answers.predict_labels(classifier, features)
    return pd.DataFrame({"labels": [sorted(names & shown) for names in sets]}, index=index)


def _write_frame(frame: pd.DataFrame, answers: AnswerOptions, target: Path | TextIO, suffix: str) -> None:
    if suffix == ".parquet" and isinstance(target, Path):
        frame.to_parquet(target, write_page_checksum=True)
    elif suffix == ".json":
        frame.to_json(target, orient="index", indent=1)
    else:
        if frame.dtypes.iloc[0].kind == "O":  # lists of names, not scores
            frame = frame.assign(labels=frame["labels"].str.join(";"))
        answers.guard(frame).to_csv(target, sep="," if suffix == ".csv" else "\t")
