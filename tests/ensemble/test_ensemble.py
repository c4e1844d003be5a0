"""`CoherentEnsemble`, with members of every kind."""

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from tests.ensemble.members import DATA, MEMBERS, NETWORK, TREES, Contradicting, Failing, Frequencies, fitted
from tests.untyped import untyped
from threadpoolctl import threadpool_info, threadpool_limits

from chmcnn import CHMCNNClassifier, ChmcnnError, FeatureError, metrics
from chmcnn._workers import has_abandoned, limit_threads
from chmcnn.baselines import ClusEns, Coherent, KernelRidge, Neighbours
from chmcnn.datasets import Preprocessor
from chmcnn.ensemble import CoherentEnsemble
from chmcnn.ensemble._rarity import Rarity
from chmcnn.ensemble._weights import Cells


@pytest.fixture(scope="module")
def model() -> CoherentEnsemble:
    """An ensemble of a network and trees."""
    return fitted()


def test_predictions_are_the_weighted_mean_of_the_members() -> None:
    model = fitted(lift_rare=False)
    scores = model.member_scores(DATA.test.X)
    expected = sum(model.weights_[name] * values for name, values in scores.items())
    assert model.predict_proba(DATA.test.X) == pytest.approx(expected, abs=1e-6)
    assert len(DATA.hierarchy.violations(model.predict_proba(DATA.test.X))) == 0


def test_the_ensemble_is_at_least_as_good_as_each_member_on_the_validation_rows(model: CoherentEnsemble) -> None:
    assert set(model.validation_scores_) == {"network", "trees"}
    assert model.best_score_ >= max(model.validation_scores_.values())


def test_an_ensemble_of_one_network_is_that_network() -> None:
    alone = clone(NETWORK).set_params(hierarchy=DATA.hierarchy, random_state=0).fit(DATA.train.X, DATA.train.Y)
    ensemble = fitted([NETWORK], lift_rare=False)
    assert ensemble.weights_ == {"CHMCNNClassifier": 1.0}
    assert np.array_equal(ensemble.predict_proba(DATA.test.X), alone.predict_proba(DATA.test.X))
    assert ensemble.best_score_ == pytest.approx(alone.best_score_, abs=1e-6)
    assert ensemble.history_ == ensemble.members_["CHMCNNClassifier"].history_


def test_members_and_their_parameters_are_parameters_of_the_ensemble() -> None:
    ensemble = CoherentEnsemble(DATA.hierarchy, members=[("trees", clone(TREES)), KernelRidge()], random_state=0)
    assert ensemble.get_params()["KernelRidge__landmarks"] == 3000
    assert "trees" not in ensemble.get_params(deep=False)
    ensemble.set_params(trees__n_estimators=1, KernelRidge=Neighbours(), lift_rare=False)
    names = {name: type(model).__name__ for name, model in ensemble.members or ()}
    assert names == {"trees": "ClusEns", "KernelRidge": "Neighbours"}
    assert ensemble.get_params()["trees__n_estimators"] == 1
    assert not ensemble.lift_rare
    with pytest.raises(ValueError, match="Invalid parameter 'forest'"):
        ensemble.set_params(forest__n_estimators=1)
    ensemble.set_params(members=[ClusEns()], ClusEns__n_estimators=2)
    assert clone(ensemble).get_params()["ClusEns__n_estimators"] == 2


def test_members_named_as_a_parameter_stay_and_members_may_be_an_array() -> None:
    odd = CoherentEnsemble(members=[("threshold", Neighbours()), ("b", clone(TREES))]).set_params(b=Neighbours())
    assert [name for name, _ in odd.members or ()] == ["threshold", "b"]
    array = CoherentEnsemble(members=untyped(np.array([Neighbours(), KernelRidge()], dtype=object)))
    assert array.set_params(Neighbours__path_separator=">").get_params()["Neighbours__path_separator"] == ">"
    with pytest.raises(ChmcnnError, match="is 'my__trees'; expected text without '__'"):
        fitted([("my__trees", TREES)])


def test_parameters_of_members_can_be_searched() -> None:
    ensemble = CoherentEnsemble(DATA.hierarchy, members=[("trees", TREES)], random_state=0)
    found = GridSearchCV(ensemble, {"trees__min_samples_leaf": [5, 1000]}, cv=2).fit(
        DATA.train.X, DATA.train.Y.toarray()
    )
    assert found.best_params_ == {"trees__min_samples_leaf": 5}


def test_features_are_preprocessed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    standardised = []
    fit = Preprocessor.fit

    def watched(self: Preprocessor, X: Any, y: Any = None) -> Preprocessor:
        standardised.append(self.standardise)
        return fit(self, X, y)

    monkeypatch.setattr(Preprocessor, "fit", watched)
    fitted(weights="equal")
    assert standardised.count(True) == 1


def test_the_seed_decides_and_the_number_of_jobs_does_not() -> None:
    several = [*MEMBERS, ("other", NETWORK)]
    first, second = (fitted(several, n_jobs=jobs) for jobs in (1, 3))
    assert first.weights_ == second.weights_
    assert np.array_equal(first.predict_proba(DATA.test.X), second.predict_proba(DATA.test.X))
    networks = [first.members_[name] for name in ("network", "other") if name in first.members_]
    assert len({model.seed_ for model in networks}) == len(networks)


def test_members_have_as_many_threads_of_numpy_as_torch_has() -> None:
    seen = list[int]()

    class Counting(Frequencies):
        def _learn(self, train: Any, valid: Any) -> None:
            assert threading.current_thread() is threading.main_thread()  # where an interrupt arrives
            seen.extend(pool["num_threads"] for pool in threadpool_info())
            super()._learn(train, valid)

    with limit_threads(1), threadpool_limits(2):
        torch.set_num_threads(1)
        fitted([Counting()])
    assert set(seen) == {1}


def test_an_interrupt_arrives_at_a_network_and_waits_for_no_other_member(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released, ended = threading.Event(), threading.Event(), list[str]()

    def grow(_model: object, *_rows: object) -> None:
        begun.set()
        released.wait(60)
        ended.append("trees")

    class Interrupted(Frequencies):
        def _learn(self, train: Any, valid: Any) -> None:
            assert threading.current_thread() is threading.main_thread()
            begun.wait(60)
            super()._learn(train, valid)
            raise KeyboardInterrupt

    monkeypatch.setattr(type(TREES), "_learn", grow)
    monkeypatch.setattr("chmcnn._workers._threads._abandoned", threading.Event())  # which would end a command
    with pytest.raises(KeyboardInterrupt):
        fitted([("trees", TREES), ("network", Interrupted())], n_jobs=2)
    assert not ended
    assert has_abandoned()
    released.set()


@pytest.mark.parametrize(("jobs", "at_once"), [(2, 2), (-1, 3)])
def test_several_members_are_trained_at_once_and_all_in_the_end(
    jobs: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, trained, learn = threading.Barrier(at_once), set[int](), Neighbours._train

    def watched(self: Neighbours, rows: Any) -> Any:
        if self.seed_ < at_once and self.seed_ not in trained:
            together.wait(60)  # which fails if the others do not come
        trained.add(self.seed_)
        return learn(self, rows)

    monkeypatch.setattr(Neighbours, "_train", watched)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    model = fitted([(name, Neighbours()) for name in "abcd"], n_jobs=jobs, weights="equal")
    assert list(model.members_) == list("abcd")
    assert trained == {0, 1, 2, 3}


def test_a_member_that_fails_in_another_thread_is_named() -> None:
    with pytest.raises(ChmcnnError, match=r"The member 'trees' \(ClusEns\) failed: n_estimators is 0"):
        fitted([("network", NETWORK), ("trees", ClusEns(n_estimators=0))], n_jobs=2)


def test_classifiers_of_scikit_learn_and_systems_of_the_user_are_members() -> None:
    members = [("neighbours", Coherent(KNeighborsClassifier(5))), ("frequencies", Frequencies())]
    model = fitted(members)
    assert model.validation_scores_["neighbours"] > model.validation_scores_["frequencies"]
    assert model.members_["neighbours"].estimator_.n_samples_fit_ == DATA.train.X.shape[0]  # all rows in the end


def test_a_member_that_only_harms_is_dropped() -> None:
    model = fitted([("network", CHMCNNClassifier(epochs=30)), ("upside down", Contradicting())], incoherent="correct")
    assert list(model.members_) == ["network"]
    assert set(model.validation_scores_) == {"network", "upside down"}


def test_a_member_without_weight_is_not_trained_on_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: dict[str, list[int]] = {"Neighbours": [], "KernelRidge": []}
    for kind in (Neighbours, KernelRidge):

        def watched(self: Any, some: Any, train: Any = kind._train) -> Any:
            rows[type(self).__name__].append(len(some))
            return train(self, some)

        monkeypatch.setattr(kind, "_train", watched)
    monkeypatch.setattr(Cells, "choose_weights", lambda _: np.array([1.0, 0.0]))
    model = fitted([Neighbours(), KernelRidge()])
    every = DATA.train.X.shape[0]
    assert rows == {"Neighbours": [round(0.8 * every), every], "KernelRidge": [round(0.8 * every)]}
    assert set(model.validation_scores_) == set(rows)
    assert model.members_.keys() == model.weights_.keys() == model.member_scores(DATA.test.X).keys() == {"Neighbours"}


def test_weights_may_be_given_and_a_member_without_weight_is_not_trained() -> None:
    model = fitted([*MEMBERS, ("failing", Failing())], weights=[0.25, 0.75, 0])
    assert model.weights_ == {"network": 0.25, "trees": 0.75}
    assert fitted(weights="equal").weights_ == {"network": 0.5, "trees": 0.5}


def test_weights_may_be_given_by_name() -> None:
    assert fitted(weights={"trees": 0.3, "network": 0.7}).weights_ == {"network": 0.7, "trees": 0.3}


@pytest.mark.parametrize("preset", ["best", "fast"])
def test_without_a_refit_members_stay_as_they_scored_the_validation_rows(preset: Any) -> None:
    settings = {"epochs": 2, "widths": [8]} if preset == "best" else None
    options: dict[str, Any] = {"preset": preset, "network_settings": settings, "random_state": 0, "weights": "equal"}
    valid = DATA.valid.X, DATA.valid.Y
    model = CoherentEnsemble(DATA.hierarchy, refit=False, **options).fit(DATA.train.X, DATA.train.Y, valid)
    features = model.preprocessor_.transform(DATA.valid.X)
    found = {name: member.score(features, DATA.valid.Y) for name, member in model.members_.items()}
    assert found == pytest.approx(model.validation_scores_, abs=0.002)  # which leave out pairs with hardly any score


def test_values_that_single_precision_does_not_have_are_told_by_column() -> None:
    X = pd.DataFrame(DATA.train.X, columns=list("abcdefgh")).assign(colour=pd.Categorical(["red"] * len(DATA.train)))
    model = CoherentEnsemble(DATA.hierarchy, preset="fast", random_state=0).fit(X, DATA.train.Y)
    for large in (X.assign(b=1e300), X.iloc[:1].assign(b=-1e39)):
        with pytest.raises(FeatureError, match="X has a value in 'b' beyond the range of single precision"):
            model.predict_proba(large)
    with pytest.raises(FeatureError, match="The values of 'b' are too large: their variance overflows"):
        clone(model).fit(X.assign(b=[1e300] + [1.0] * (len(X) - 1)), DATA.train.Y)


def test_too_few_rows_give_equal_weights_and_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    model = CoherentEnsemble(DATA.hierarchy, members=MEMBERS, random_state=0, verbose=True)
    model.fit(DATA.train.X[:50], DATA.train.Y[:50])
    assert model.weights_ == {"network": 0.5, "trees": 0.5}
    assert model.notice_.startswith("10 validation rows cannot choose weights, which takes 30")
    assert model.notice_ in capsys.readouterr().err


def test_without_validation_rows_all_rows_are_trained_on() -> None:
    model = fitted(validation=0.0)
    assert np.isnan(model.best_score_)
    assert model.tuned_thresholds_ == {}
    assert "0 validation rows" in model.notice_


def test_thresholds_are_tuned_on_the_scores_of_the_ensemble(model: CoherentEnsemble) -> None:
    assert set(model.tuned_thresholds_) == {"tune", "hierarchical_f", "fmax"}
    sets = model.predict_labels(DATA.test.X, threshold="hierarchical_f")
    assert metrics.hierarchical(DATA.test.Y, DATA.hierarchy.encode(sets)).f > 0.5


def test_members_of_a_contradiction_are_refused_or_corrected() -> None:
    members = [("upside down", Contradicting())]
    for options in ({}, {"validation": 0.0}):
        with pytest.raises(ChmcnnError, match=r"'upside down' contradicts the hierarchy: .*incoherent='correct'"):
            fitted(members, **options)
    corrected = fitted(members, incoherent="correct")
    for scores in (corrected.predict_proba(DATA.test.X), *corrected.member_scores(DATA.test.X).values()):
        assert len(DATA.hierarchy.violations(scores)) == 0


def test_a_member_whose_scores_are_wrong_later_is_named() -> None:
    class Later(Frequencies):
        def predict_proba(self, X: Any) -> Any:
            scores = super().predict_proba(X)
            return scores if len(X) > 1 else scores * np.nan

    model = fitted([("mine", Later()), *MEMBERS], weights="equal")
    with pytest.raises(ChmcnnError, match="The member 'mine' returns scores that are not finite numbers"):
        model.predict_proba(DATA.test.X[:1])
    with pytest.raises(NotFittedError):
        CoherentEnsemble(DATA.hierarchy).member_scores(DATA.test.X)


def test_a_member_that_fails_is_named_with_the_reason() -> None:
    expected = r"The member 'mine' \(Failing\) failed: ValueError: no more numbers \(members.py, line \d+"
    with pytest.raises(ChmcnnError, match=expected):
        fitted([("network", NETWORK), ("mine", Failing())])
    with pytest.raises(ChmcnnError, match=r"The member 'bad' \(CHMCNNClassifier\) failed: epochs is 0; expected"):
        fitted([("bad", CHMCNNClassifier(epochs=0)), ("trees", TREES)])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"preset": "worst"}, "preset is 'worst'; expected 'best' or 'fast'"),
        ({"lift_rare": "no"}, "lift_rare is 'no'; expected true or false"),
        ({"members": []}, r"members is \[\]; expected a list of estimators"),
        ({"members": "network"}, "members is 'network'; expected a list"),
        (
            {"members": [KNeighborsClassifier()]},
            r"members\[0\] is of type KNeighborsClassifier.*Coherent\(classifier\)",
        ),
        ({"members": [("a", NETWORK), ("a", TREES)]}, "2 members have the name 'a'"),
        ({"members": [(3, NETWORK)]}, r"The name of members\[0\] is 3; expected text"),
        ({"members": MEMBERS, "weights": "best"}, "weights is 'best'; expected 'validation' or 'equal'"),
        ({"members": MEMBERS, "weights": [1.0]}, "there are 2 members"),
        ({"members": MEMBERS, "weights": [0.5, 0.6]}, "whose sum is 1"),
        ({"members": MEMBERS, "incoherent": "ignore"}, "incoherent is 'ignore'"),
        ({"members": MEMBERS, "n_jobs": 0}, "n_jobs is 0; expected an integer, 1 or more"),
        ({"members": MEMBERS, "network_settings": {"epochs": 3}}, "members= replaces the preset"),
        (
            {"preset": "fast", "network_settings": {"epochs": 3}},
            "The preset 'fast' has no network: epochs would have no effect",
        ),
        ({"network_settings": {"epoch": 3}}, "network_settings has 'epoch', .* Did you mean 'epochs'"),
        ({"network_settings": {"hat": 3}}, "network_settings has 'hat', which is no setting of the network. See"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ChmcnnError, match=reason):
        CoherentEnsemble(DATA.hierarchy, **options).fit(DATA.train.X, DATA.train.Y)


def test_settings_of_the_network_have_an_argument_of_their_own() -> None:
    with pytest.raises(TypeError, match=r"epochs is a setting of the network: pass network_settings={'epochs': ...}"):
        CoherentEnsemble(epochs=3)
    with pytest.raises(TypeError, match="epochs is a setting of the network: 'fast' has none"):
        CoherentEnsemble(preset="fast", epochs=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        CoherentEnsemble(epoch=3)


def test_disagreement_is_an_uncertainty_of_classes_and_of_rows(model: CoherentEnsemble) -> None:
    by_class, by_row = model.disagreement(DATA.test.X), model.disagreement(DATA.test.X, by="row")
    assert by_class.shape == DATA.test.Y.shape
    assert by_row.shape == (DATA.test.X.shape[0],)
    assert (by_row <= by_class.max(axis=1)).all()
    first, second = model.member_scores(DATA.test.X).values()
    share = np.sqrt(model.weights_["network"] * model.weights_["trees"])
    assert by_class == pytest.approx(share * np.abs(first - second), abs=1e-5)


def test_an_explanation_says_which_member_said_what() -> None:
    model = fitted(lift_rare=False)
    explanation = model.explain(DATA.test.X[:1])[0]
    reason = explanation.reasons[0]
    assert set(reason.members or ()) == set(model.weights_)
    assert reason.score == pytest.approx(
        sum(model.weights_[name] * said for name, said in (reason.members or {}).items())
    )
    assert f"(network {(reason.members or {})['network']:.3f}, trees" in str(explanation)
    assert explanation.facts()[0]["disagreement"] == reason.disagreement
    assert f"mean {reason.score:.3f}, disagreement" in str(explanation)
    model.rarity_ = Rarity(0.5, np.full(len(DATA.hierarchy), 3.0, dtype=np.float32))
    raised = model.explain(DATA.test.X[:1])[0].reasons[0]
    assert raised.mean == pytest.approx(reason.score)
    assert raised.score > reason.score


def test_one_member_has_no_mean_and_no_disagreement() -> None:
    explanation = fitted([("trees", TREES)]).explain(DATA.test.X[:1], threshold=0.0)[0]
    said = (explanation.reasons[0].members or {})["trees"]
    assert str(explanation).splitlines()[0].endswith(f"  (trees {said:.3f})")
    assert "disagreement" not in explanation.facts()[0]


def test_a_killed_training_goes_on_with_the_state_of_its_networks(tmp_path: Any) -> None:
    with pytest.raises(ChmcnnError, match="failed"):
        fitted([*MEMBERS, ("failing", Failing())], checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["network"]
    resumed = fitted(checkpoint=tmp_path)
    assert np.array_equal(resumed.predict_proba(DATA.test.X), fitted().predict_proba(DATA.test.X))
