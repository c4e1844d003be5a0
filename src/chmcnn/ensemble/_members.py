"""The members of an ensemble: their names, and how they are trained, each on the same preprocessed rows."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from sklearn.base import clone

from chmcnn._io.user_code import describe_error
from chmcnn._workers import abandon, limit_threads
from chmcnn.errors import CheckpointError, ChmcnnError
from chmcnn.estimator import HierarchicalClassifier, NeuralClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from chmcnn._typing import ScoresLike
    from chmcnn.training import Rows

    MemberLike = HierarchicalClassifier | tuple[str, HierarchicalClassifier]


@dataclass(slots=True)
class Member:
    """An estimator of an ensemble, and its scores of the validation rows, which it was not trained on."""

    name: str
    model: HierarchicalClassifier
    optional: bool = False  # whether an ensemble goes on without it if it refuses the rows
    stepped_aside: str = ""  # why it did
    scores: ScoresLike | None = None


def name_members(members: Sequence[MemberLike]) -> list[Member]:
    """Return the members with their names: those of their classes, numbered if there are several, unless given.

    >>> from chmcnn import CHMCNNClassifier
    >>> network = CHMCNNClassifier()
    >>> [member.name for member in name_members([network, ("wide", network), network])]
    ['CHMCNNClassifier 1', 'wide', 'CHMCNNClassifier 2']
    """
    if isinstance(members, str) or not hasattr(members, "__len__") or not len(members):
        raise ChmcnnError(f"members is {members!r}; expected a list of estimators, or of pairs (name, estimator).")
    pairs = [each if isinstance(each, tuple) and len(each) == 2 else (None, each) for each in members]
    for position, (name, model) in enumerate(pairs):
        _check_member(position, name, model)
    kinds = Counter(type(model).__name__ for name, model in pairs if name is None)
    seen: Counter[str] = Counter()
    named: list[Member] = []
    for name, model in pairs:
        kind = type(model).__name__
        seen[kind] += name is None
        number = f" {seen[kind]}" if kinds[kind] > 1 else ""
        named.append(Member(f"{kind}{number}" if name is None else name, model))
    _refuse_duplicates([member.name for member in named])
    return named


def _check_member(position: int, name: object, model: object) -> None:
    if name is not None and (not isinstance(name, str) or not name.strip() or "__" in name):
        raise ChmcnnError(f"The name of members[{position}] is {name!r}; expected text without '__'.")
    if not isinstance(model, HierarchicalClassifier):
        raise ChmcnnError(
            f"members[{position}] is of type {type(model).__name__}; expected a system, such as CHMCNNClassifier. "
            "Wrap a scikit-learn classifier: chmcnn.baselines.Coherent(classifier)."
        )


def _refuse_duplicates(names: list[str]) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ChmcnnError(f"{times} members have the name {name!r}; give each a name of its own: (name, estimator).")


def prepare(member: Member, given: Mapping[str, Any], *, standardised: bool) -> Member:
    """Return a copy that is not fitted, with the parameters of the ensemble: features come preprocessed."""
    model: HierarchicalClassifier = clone(member.model)
    names = model.get_params(deep=False)
    own = {"preprocess": names["preprocess"]} if hasattr(names.get("preprocess"), "fit") else {}
    seed = {} if names.get("random_state") is None else {"random_state": names["random_state"]}
    model.set_params(**{name: value for name, value in {**given, **own, **seed}.items() if name in names})
    model.is_given_standardised = standardised
    return Member(member.name, model, member.optional)


def fit_members(members: Sequence[Member], train: Rows, valid: Rows | None, jobs: int | None) -> None:
    """Train all members up to their scores of the validation rows."""
    _run_in_parallel(partial(_fit, train=train, valid=valid), members, jobs)


def complete_members(members: Sequence[Member], jobs: int | None) -> None:
    """Train some members to the end."""
    _run_in_parallel(lambda member: member.model.learn_rest(), members, jobs)


def list_notices(members: Sequence[Member]) -> list[str]:
    """Return what the members have to say."""
    said = [(member.name, member.stepped_aside or getattr(member.model, "notice_", "")) for member in members]
    return [f"{name}: {notice}" for name, notice in said if notice]


def _run_in_parallel(run: Callable[[Member], None], members: Sequence[Member], jobs: int | None) -> None:
    """Do something with all members, some at once. Networks take turns: they share torch's random numbers."""
    in_turn = [member for member in members if _needs_turn(member.model)]
    lanes = [in_turn, *([member] for member in members if member not in in_turn)]
    lanes = [lane for lane in lanes if lane]
    threads = torch.get_num_threads()
    workers = max(1, min(threads if jobs is None or jobs < 0 else jobs, len(lanes)))
    with limit_threads(max(1, threads // workers)):
        if workers == 1:
            _run_in_turn(run, [member for lane in lanes for member in lane])
        else:
            _run_lanes(run, lanes, workers)


def _run_lanes(run: Callable[[Member], None], lanes: Sequence[Sequence[Member]], workers: int) -> None:
    """Run the lanes in several threads. After an interrupt nobody waits for what the others have begun."""
    executor = ThreadPoolExecutor(workers - 1)
    try:
        try:
            _share_lanes(run, lanes, executor)
        except Exception:
            executor.shutdown(cancel_futures=True)
            raise
        executor.shutdown()
    except KeyboardInterrupt:
        abandon(executor)
        raise


def _share_lanes(run: Callable[[Member], None], lanes: Sequence[Sequence[Member]], executor: Executor) -> None:
    """Run the first lane in this thread, where an interrupt ends it at once: networks are there, and take longest."""
    others = [(lane, executor.submit(_run_in_turn, run, lane)) for lane in lanes[1:]]
    _run_in_turn(run, lanes[0])
    for lane, future in reversed(others):
        if future.cancel():  # no other thread has begun with it, and this one is free now
            _run_in_turn(run, lane)
    for _, future in others:
        if not future.cancelled():
            future.result()


def _needs_turn(model: HierarchicalClassifier) -> bool:
    """Return whether a member may use torch's random numbers: a network, or a system that is not of this package."""
    return isinstance(model, NeuralClassifier) or not type(model).__module__.startswith("chmcnn.")


def _run_in_turn(run: Callable[[Member], None], members: Sequence[Member]) -> None:
    for member in members:
        try:
            run(member)
        except CheckpointError:
            raise  # no fault of the member
        except ChmcnnError as error:
            if not member.optional:
                raise _blame(member, str(error)) from error
            member.stepped_aside = str(error)
        except Exception as error:  # a member of the user may raise anything
            raise _blame(member, describe_error(error)) from error


def _blame(member: Member, reason: str) -> ChmcnnError:
    return ChmcnnError(f"The member {member.name!r} ({type(member.model).__name__}) failed: {reason}")


def _fit(member: Member, train: Rows, valid: Rows | None) -> None:
    """Train a member, and keep its scores of the validation rows by a model that was not trained on them."""
    validation_data = None if valid is None else (valid.features, valid.y)
    member.scores = member.model.fit_scored(train.features, train.y, validation_data)
    if valid is not None and member.scores is None:
        before: HierarchicalClassifier = clone(member.model).set_params(validation=0.0)
        before.fit_scored(train.features, train.y)
        member.scores = before.predict_proba(valid.features)


def checkpoint_folder(folder: str | Path | None, member: Member) -> Path | None:
    """Return the folder of the state of one member's training."""
    return None if folder is None else Path(folder) / re.sub(r"[^\w.+-]", "_", member.name)
