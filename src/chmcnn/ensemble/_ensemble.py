"""`CoherentEnsemble`: the weighted mean of coherent members, with higher scores of rare classes."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from chmcnn._wording import count
from chmcnn.ensemble import _files
from chmcnn.ensemble._checks import Checks
from chmcnn.ensemble._members import (
    Member,
    checkpoint_folder,
    complete_members,
    fit_members,
    list_notices,
    name_members,
    prepare,
)
from chmcnn.ensemble._presets import choose_members
from chmcnn.ensemble._rarity import Rarity
from chmcnn.ensemble._scores import average, iterate_blocks, iterate_together, measure_disagreement
from chmcnn.ensemble._weights import Cells, check_weights
from chmcnn.errors import ChmcnnError
from chmcnn.estimator import HierarchicalClassifier, NeuralClassifier, agree_on_seed, check_system_scores
from chmcnn.settings import ABOVE_ZERO, BOOLEAN, ENSEMBLES, SETTINGS, check, choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from chmcnn._typing import Features, JSONValue, LabelsLike, ScoresLike
    from chmcnn.ensemble._members import MemberLike
    from chmcnn.estimator import Explanation, Ranked, Ranker, Threshold
    from chmcnn.hierarchy import Hierarchy
    from chmcnn.training import Epoch, Rows

LEAST_ROWS = 30
"""Validation rows that weights are chosen by; with fewer, all members have the same weight."""
_CHECKED_ROWS = 100
"""Training rows whose scores are checked where there are no validation rows."""


class CoherentEnsemble(HierarchicalClassifier):
    """The weighted mean of coherent members: networks, kernel ridge, trees, neighbours, or systems of your own.

    All members are trained on the same rows, which are preprocessed once. Each scores the validation rows before it is
    trained on them. The weights are those with the best AU(PRC) of the mean of these scores. A member of weight 0 is
    dropped, and not trained on all rows. Then the scores of rare classes are raised, and those of frequent ones
    lowered, if the AU(PRC) of these rows gains; the maximum over descendants keeps all of them coherent.

    Parameters
    ----------
    hierarchy
        The classes. By default they come from the labels, which are paths such as ``"sport/tennis"``.
    preset
        The members, if ``members`` is None. ``"best"`` is the most accurate: network, neighbours and extra trees, with
        kernel ridge on a table, and with a linear model on sparse features. ``"fast"`` takes far less time: neighbours,
        with kernel ridge on a table, and with a linear model on sparse features unless it would take long.
    members
        Estimators, or pairs of a name and an estimator: any system of `chmcnn.baselines`, one of your own, or
        ``Coherent(classifier)`` for a classifier of scikit-learn. They get hierarchy, mask of classes and seed from the
        ensemble, and preprocessed features; a transformer of a member is applied to these.
    weights
        ``"validation"`` chooses them, in steps of 0.2 and then 0.1; ``"equal"``; or one number for each
        member, in their order or by name.
    lift_rare
        Whether to raise the scores of rare classes. Without it, scores are the weighted mean itself.
    network_settings
        Settings of the network of the preset, by name, such as ``{"epochs": 50}``.
    refit
        Whether to train the members again on training and validation rows, after the weights are chosen. Otherwise
        networks and the members of the presets stay as the validation rows were scored by them.
    incoherent
        What to do with a member whose scores contradict the hierarchy: ``"refuse"`` it, or ``"correct"`` its scores by
        the maximum over descendants.
    n_jobs
        Number of members to train at once, which share the threads of torch; by default, or with -1, one for each
        thread. Networks take turns.
    validation, threshold, calibration, preprocess, path_separator, evaluated, device, random_state
        See `chmcnn.CHMCNNClassifier`.
    checkpoint
        Folder for the states of networks in training. An interrupted training resumes from it: a network goes on where
        it was, and the other members, which take far less time, are trained again.
    verbose
        Whether to show progress and notices.

    Attributes
    ----------
    members_ : dict
        The fitted members by name, without those of weight 0.
    weights_ : dict
        Their weights.
    rarity_ : Rarity
        By which power of its frequency the odds of a class are divided, 0 if that gains nothing, and the factors.
    validation_scores_ : dict
        AU(PRC) on the validation rows of each member alone, also of those that were dropped.
    best_score_ : float
        AU(PRC) of the ensemble on the validation rows, on which weights and power were chosen, before scores are made
        coherent again; NaN without them.
    notice_ : str
        What is not as it was asked for: members that stepped aside, weights that could not be chosen.

    Examples
    --------
    >>> from chmcnn import CHMCNNClassifier
    >>> from chmcnn.baselines import ClusEns
    >>> from chmcnn.datasets.synthetic import learnable
    >>> data = learnable(rows=400, features=8, classes=15, depth=3, noise=0.3)
    >>> members = [("network", CHMCNNClassifier(epochs=5)), ("trees", ClusEns(n_estimators=5))]
    >>> model = CoherentEnsemble(data.hierarchy, members=members, random_state=0).fit(data.train.X, data.train.Y)
    >>> round(sum(model.weights_.values()), 6)
    1.0
    >>> len(data.hierarchy.violations(model.predict_proba(data.test.X)))
    0
    """

    members_: dict[str, HierarchicalClassifier]
    weights_: dict[str, float]
    rarity_: Rarity
    validation_scores_: dict[str, float]
    best_score_: float
    notice_: str = ""
    network_settings_: dict[str, Any] | None = None  # all settings of the network of the preset

    def __init__(  # noqa: PLR0913 -- scikit-learn's form: every setting is an argument
        self,
        hierarchy: Hierarchy | None = None,
        *,
        preset: Literal["best", "fast"] = "best",
        members: Sequence[MemberLike] | None = None,
        weights: Literal["validation", "equal"] | Sequence[float] | Mapping[str, float] = "validation",
        lift_rare: bool = True,
        network_settings: Mapping[str, JSONValue] | None = None,
        refit: bool = True,
        incoherent: Literal["refuse", "correct"] = "refuse",
        n_jobs: int | None = None,
        device: str = "auto",
        checkpoint: str | Path | None = None,
        verbose: bool = False,
        **options: JSONValue,
    ) -> None:
        for name in options.keys() & SETTINGS.keys() - set(HierarchicalClassifier().get_params(deep=False)):
            way_out = "'fast' has none" if preset == "fast" else f"pass network_settings={{{name!r}: ...}}"
            raise TypeError(f"{name} is a setting of the network: {way_out}.")
        super().__init__(hierarchy, **options)
        self.preset = preset
        self.members = members
        self.weights = weights
        self.lift_rare = lift_rare
        self.network_settings = network_settings
        self.refit = refit
        self.incoherent = incoherent
        self.n_jobs = n_jobs
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose

    # Parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 -- scikit-learn's form
        """Return the parameters; if deep, also the members by name, and theirs: ``trees__n_estimators``."""
        own: dict[str, Any] = super().get_params(deep)
        return {**self._list_member_params(), **own} if deep else own

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401 -- scikit-learn's form
        """Set parameters, members by name, and parameters of members: ``set_params(trees__n_estimators=50)``."""
        if "members" in params:
            self.members = params.pop("members")
        replaced = {name: params.pop(name) for name in [*params] if name in self._list_members()}
        if replaced:
            named = name_members([] if self.members is None else self.members)
            self.members = [(each.name, replaced.get(each.name, each.model)) for each in named]
        super().set_params(**params)
        return self

    def _list_members(self) -> dict[str, Any]:
        """Return the members of the user by name, without those that are named as a parameter is."""
        named, own = [], super().get_params(deep=False)
        with suppress(ChmcnnError):  # which `fit` raises
            named = name_members([] if self.members is None else self.members)
        return {each.name: each.model for each in named if each.name not in own}

    def _list_member_params(self) -> dict[str, Any]:
        members = self._list_members()
        nested = {f"{name}__{key}": value for name in members for key, value in members[name].get_params().items()}
        return members | nested

    def resolve_settings(self, columns: int | None, rows: int | None, *, sparse: bool) -> dict[str, Any] | None:
        """Return all settings of the network of the preset; None without one, and for members of the user."""
        if self.members is not None:
            return None
        chosen = choose_members(self.preset, self.network_settings or {}, sparse=sparse)
        networks = (member.model for member in chosen if isinstance(member.model, NeuralClassifier))
        return next((network.resolve_settings(columns, rows, sparse=sparse) for network in networks), None)

    # Training

    def resolve(self, y: LabelsLike) -> None:
        """Check the parameters, and set the attributes that follow from them and from the labels."""
        check("preset", self.preset, choice(*ENSEMBLES))
        check("incoherent", self.incoherent, choice("refuse", "correct"))
        check("lift_rare", self.lift_rare, BOOLEAN)
        check("refit", self.refit, BOOLEAN)
        if isinstance(self.weights, str):
            check("weights", self.weights, choice("validation", "equal"))
        if self.n_jobs is not None and not (isinstance(self.n_jobs, int) and self.n_jobs == -1):
            check("n_jobs", self.n_jobs, ABOVE_ZERO)
        if self.members is not None:
            name_members(self.members)
        if self.members is not None and self.network_settings:
            raise ChmcnnError("network_settings are for the network of a preset, but members= replaces the preset.")
        super().resolve(y)

    def _choose_seed(self) -> int:
        return agree_on_seed(self.random_state)

    def _learn(self, train: Rows, valid: Rows | None) -> ScoresLike | None:
        chosen = self._choose_members(train)
        self.network_settings_ = self.resolve_settings(train.x.shape[1], len(train), sparse=issparse(train.x))
        given = (
            None if isinstance(self.weights, str) else check_weights(self.weights, [member.name for member in chosen])
        )
        if given is not None:
            chosen, given = [chosen[at] for at in np.flatnonzero(given)], given[given > 0]
        # A transformer of the user does not tell.
        standardised = self.is_given_standardised or getattr(self.preprocessor_, "standardise", False)
        members = [
            prepare(member, self._list_given(number, member, valid), standardised=standardised)
            for number, member in enumerate(chosen)
        ]
        if given is not None:
            for member in members:
                member.optional = False  # the user counts on it
        fit_members(members, train, valid, self.n_jobs)
        able, notices = [member for member in members if not member.stepped_aside], list[str]()
        shares = self._share(able, valid, notices) if given is None else given
        weights = self._weigh(able, train, valid, shares)
        kept = [able[at] for at in np.flatnonzero(weights)]
        complete_members(kept, self.n_jobs)
        self.members_ = {member.name: member.model for member in kept}
        self.weights_ = dict(zip(self.members_, weights[weights > 0].tolist(), strict=True))
        self.notice_ = " ".join([*list_notices(members), *notices])
        if self.notice_ and self.verbose:
            sys.stderr.write(f"{self.notice_}\n")
        return None if valid is None else partial(self._average_validation, kept, len(valid))

    def _choose_members(self, train: Rows) -> list[Member]:
        if self.members is not None:
            return name_members(self.members)
        return choose_members(self.preset, self.network_settings or {}, sparse=issparse(train.x))

    def _list_given(self, number: int, member: Member, valid: Rows | None) -> dict[str, Any]:
        """Return the parameters that a member has from the ensemble; the first member has its seed."""
        return {
            "hierarchy": self.hierarchy_,
            "evaluated": self.evaluated_,
            "random_state": (self.seed_ + number) % 2**32,
            "preprocess": False,
            "threshold": 0.5,
            "calibration": None,
            "device": self.device,
            "checkpoint": checkpoint_folder(self.checkpoint, member),
            "verbose": bool(self.verbose),
            **({"validation": 0.0} if valid is None else {}),
            **({} if self.refit else {"refit": False}),
        }

    def _share(self, members: list[Member], valid: Rows | None, notices: list[str]) -> NDArray[np.float64] | None:
        """Return equal weights, where they are asked for or nothing else is possible; None to choose weights."""
        rows = 0 if valid is None else len(valid)
        equal = np.full(len(members), 1 / len(members))
        if self.weights == "equal" or len(members) == 1:
            return equal
        if rows >= LEAST_ROWS:
            return None
        notices.append(
            f"{count(rows, 'validation row')} cannot choose weights, which takes {LEAST_ROWS}: all members have the "
            "same weight."
        )
        return equal

    def _weigh(
        self, members: list[Member], train: Rows, valid: Rows | None, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Check the scores of the members, measure them, and return the weights, which are chosen if there are none."""
        self.validation_scores_, self.best_score_ = {}, float("nan")
        self.rarity_ = Rarity.none(len(self.hierarchy_))
        if valid is None:
            for member in members:
                self._checks.check(member.model.predict_proba(train.features[:_CHECKED_ROWS]), member.name)
            return np.ones(len(members)) if weights is None else weights
        cells = Cells.collect(valid.y, self._iterate_validation(members, len(valid)), self.evaluated_, self.seed_)
        alone = zip(members, np.eye(len(members)), strict=True)
        self.validation_scores_ = {member.name: cells.measure(only) for member, only in alone}
        weights = cells.choose_weights() if weights is None else weights
        if self.lift_rare and len(valid) >= LEAST_ROWS:
            counts = train.y.sum(axis=0) + valid.y.sum(axis=0)
            self.rarity_ = Rarity.choose(cells, weights, counts, len(train) + len(valid))
        self.best_score_ = cells.measure_scores(self.rarity_.apply(cells.average(weights), cells.classes))
        return weights

    @property
    def _checks(self) -> Checks:
        return Checks(self.hierarchy_, self._correct_plain if self.incoherent == "correct" else None)

    def _iterate_validation(self, members: list[Member], rows: int) -> Iterator[NDArray[np.float32]]:
        """Yield blocks (members, rows, classes) of coherent scores of the validation rows."""
        return iterate_together(
            [self._checks.iterate(iterate_blocks(member.scores), member.name, rows) for member in members]
        )

    def _average_validation(self, members: list[Member], rows: int) -> Iterator[NDArray[np.float32]]:
        """Yield blocks of the scores of the validation rows, as `predict_proba` returns them for other rows."""
        for block in self._iterate_validation(members, rows):
            yield self._correct_plain(torch.from_numpy(self._combine(list(block)))).numpy()

    # Files

    def learned_tensors(self) -> dict[str, Tensor]:
        """Return what the members learned."""
        return {"rarity": torch.from_numpy(self.rarity_.factors), **_files.collect_tensors(self.members_)}

    def learned_facts(self) -> dict[str, JSONValue]:
        """Return the members, their weights, and how well they did on validation rows."""
        return {
            "members": _files.describe_members(self.members_),
            "weights": self.weights_,
            "rarity": self.rarity_.power,
            "own members": self.members is not None,
            "validation scores": self.validation_scores_,
            "best score": self.best_score_,
            "notice": self.notice_,
        }

    def restore(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Take back the members from a model file."""
        self.members_ = _files.rebuild_members(facts["members"], tensors, self.hierarchy_, self.device)
        self.weights_ = {name: float(facts["weights"][name]) for name in self.members_}
        check_weights(self.weights_, list(self.members_))
        self.rarity_ = Rarity.read(facts.get("rarity", 0.0), tensors, len(self.hierarchy_))
        if facts["own members"]:
            self.members = [(name, clone(model)) for name, model in self.members_.items()]
            self.weights = self.weights if isinstance(self.weights, str) else self._weights
        self.validation_scores_ = dict(facts["validation scores"])
        self.best_score_ = float("nan") if facts["best score"] is None else facts["best score"]
        self.notice_ = str(facts["notice"])

    # Predicting

    def uncorrected_proba(self, X: Features) -> NDArray[np.float32]:
        """Return the weighted mean of the members' scores (rows, classes), with those of rare classes raised."""
        return self._combine(self._score_members(X))

    def member_scores(self, X: Features) -> dict[str, NDArray[np.float32]]:
        """Return the coherent scores (rows, classes) of each member, by its name."""
        scores = self._score_members(X)
        return dict(zip(self.members_, scores, strict=True))

    def disagreement(self, X: Features, *, by: Literal["class", "row"] = "class") -> NDArray[np.float32]:
        """Return how much the members disagree: the weighted standard deviation of their scores.

        Parameters
        ----------
        X
            Features.
        by
            ``"class"`` returns one number for each row and class. ``"row"`` returns their mean over the classes of a
            row, weighted by its scores: classes that no member believes in do not count.
        """
        check("by", by, choice("class", "row"))
        blocks = [
            measure_disagreement(scores, self._weights) if by == "class" else self._measure_rows(scores)
            for scores in self._iterate_members(X)
        ]
        return np.concatenate(blocks)

    def iterate_disagreement(self, X: Features, ranker: Ranker) -> Iterator[tuple[int, Ranked, NDArray[np.float32]]]:
        """Yield what `iterate_top` does, and the disagreement about each of these classes."""
        for scores in self._iterate_members(X):
            ranked = ranker.rank(self.correct(torch.from_numpy(self._combine(scores))).numpy())
            disagreement = measure_disagreement(scores, self._weights)
            yield len(disagreement), ranked, disagreement[ranked[0], ranked[1]]

    def explain(self, X: Features, *, threshold: Threshold | None = None) -> list[Explanation]:
        """Return the predicted part of the hierarchy for each row, with what each member says, and the disagreement.

        ``threshold`` is used instead of the parameter of the model. A score is not the mean of the members where rare
        classes are raised, or where scores are calibrated.
        """
        explanations, said = super().explain(X, threshold=threshold), self.member_scores(X)
        scores = list(said.values())
        mean, deviation = average(scores, self._weights), measure_disagreement(scores, self._weights)
        return [
            explanation.add_members({name: each[row] for name, each in said.items()}, mean[row], deviation[row])
            for row, explanation in enumerate(explanations)
        ]

    @property
    def history_(self) -> tuple[Epoch, ...]:
        """Result of each epoch of the first network; empty if there is none."""
        return next((model.history_ for model in self.members_.values() if hasattr(model, "history_")), ())

    @property
    def _weights(self) -> list[float]:
        return list(self.weights_.values())

    def _combine(self, scores: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        return self.rarity_.apply(average(scores, self._weights))

    def _measure_rows(self, scores: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        mean = average(scores, self._weights)
        total = (measure_disagreement(scores, self._weights) * mean).sum(axis=1)
        return np.asarray(total / np.maximum(mean.sum(axis=1), np.finfo(np.float32).tiny))

    def _iterate_members(self, X: Features) -> Iterator[list[NDArray[np.float32]]]:
        """Yield the scores of all members for some rows at a time."""
        return map(self._score_members, self._split_rows(X, self._count_rows_at_once()))

    def _score_members(self, X: Features) -> list[NDArray[np.float32]]:
        check_is_fitted(self, "members_")
        x = self._transform(X)
        shape = (x.shape[0], len(self.hierarchy_))
        scores = [
            check_system_scores(model.predict_proba(x), shape, f"The member {name!r}")
            for name, model in self.members_.items()
        ]
        if self.incoherent == "refuse":
            return scores
        return [self.correct(torch.from_numpy(each)).numpy() for each in scores]
