from tests.estimator.models import DATA, fitted


def test_explanations_name_the_delegate() -> None:
    model = fitted(epochs=60)
    rows = model.explain(DATA.test.X[:5])
    scores, predicted = model.predict_proba(DATA.test.X[:5]), model.predict(DATA.test.X[:5])
    for at, row in enumerate(rows):
        assert len(row) == predicted[at].sum()
        for reason in row.reasons:
            place = DATA.hierarchy.index(reason.name)
            assert reason.score == scores[at, place]
            assert reason.delegate == reason.name or reason.delegate in DATA.hierarchy.descendants(reason.name)
            assert scores[at, DATA.hierarchy.index(reason.delegate)] == reason.score
    assert str(rows[0]).splitlines()[0].startswith("c00")
    assert str(model.set_params(threshold=1.0).fit(DATA.train.X, DATA.train.Y).explain(DATA.test.X[:1])[0]) == (
        "no class reaches its threshold"
    )
