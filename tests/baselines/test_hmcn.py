from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from chmcnn import ChmcnnError, Hierarchy
from chmcnn.baselines import HMCNF, HMCNR
from chmcnn.baselines._level_networks import LevelNetwork, Recurrent, Stacked, find_levels
from chmcnn.baselines.hmcn import LevelLoss
from chmcnn.datasets.synthetic import learnable, random_hierarchy

DATA = learnable(rows=300, features=8, classes=15, depth=3, noise=0.3)
DIAMOND = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("r", "c"), ("b", "c")])  # a, b, c, r
WITHOUT_ROOT = np.array([True, True, True, False])
BELOW_ROOT = np.array([0, 0, 1, 0])
both_systems = pytest.mark.parametrize("kind", [HMCNF, HMCNR])
both_networks = pytest.mark.parametrize("kind", [Stacked, Recurrent])


def fitted(kind: type[HMCNF | HMCNR], **options: Any) -> HMCNF | HMCNR:
    quick = {"epochs": 3, "widths": (16, 12), "random_state": 0, **options}
    return kind(DATA.hierarchy, **quick).fit(DATA.train.X, DATA.train.Y)


def test_levels_go_by_the_longest_path() -> None:
    assert find_levels(DIAMOND, np.full(4, fill_value=True)).tolist() == [1, 1, 2, 0]


def test_a_depth_without_a_class_that_counts_is_no_level() -> None:
    assert find_levels(DIAMOND, WITHOUT_ROOT).tolist() == BELOW_ROOT.tolist()
    assert find_levels(DIAMOND, np.array([False, False, True, True])).tolist() == [1, 1, 1, 0]
    assert find_levels(DIAMOND, np.array([True, False, False, True])).tolist() == [1, 1, 1, 0]


@both_networks
def test_a_class_has_the_output_of_its_level_in_its_own_column(kind: type[Stacked | Recurrent]) -> None:
    network = kind(5, np.array([1, 0, 2, 1, 0]), units=8, branch_units=6, dropout=0.6)
    for level, layer in enumerate(network.level_outputs):
        assert isinstance(layer, nn.Linear)
        nn.init.zeros_(layer.weight)
        layer.bias.data = 10.0 * level + torch.arange(layer.out_features)
    outputs = network(torch.randn(7, 5))
    assert outputs.shape == (7, 2, 5)
    assert outputs[0, 0].tolist() == [10, 0, 20, 11, 1]


def by_hand(linear: nn.Module, x: Tensor) -> Tensor:
    assert isinstance(linear, nn.Linear)
    return x @ linear.weight.T + linear.bias


def normalised(after: nn.Module, x: Tensor) -> Tensor:
    assert isinstance(after, nn.Sequential)
    norm = after[0]
    assert isinstance(norm, nn.BatchNorm1d)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    return (x - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


def states_of_layers(network: Stacked, x: Tensor) -> list[Tensor]:
    """Each layer is given the state above it, and the features."""
    first = normalised(network.after_state[0], by_hand(network.layers[0], x)).relu()
    second = normalised(network.after_state[1], by_hand(network.layers[1], torch.cat((first, x), dim=1))).relu()
    third = normalised(network.after_state[2], by_hand(network.layers[2], torch.cat((second, x), dim=1))).relu()
    return [first, second, third]


def states_of_cell(network: Recurrent, x: Tensor) -> list[Tensor]:
    """Gates of an LSTM: what of the memory is kept, what is added to it, and what of it is told."""
    cell, states = network.cell, []
    state = memory = torch.zeros(len(x), cell.hidden_size)
    for after in network.after_state:
        gates = x @ cell.weight_ih.T + cell.bias_ih + state @ cell.weight_hh.T + cell.bias_hh
        add, keep, new, tell = gates.chunk(4, dim=1)
        memory = keep.sigmoid() * memory + add.sigmoid() * new.tanh()
        state = tell.sigmoid() * memory.tanh()
        states.append(normalised(after, state))
    return states


@both_networks
def test_a_forward_pass_is_the_one_done_by_hand(kind: type[Stacked | Recurrent]) -> None:
    torch.manual_seed(0)
    levels = np.array([1, 0, 2, 1, 0])
    network, x = kind(5, levels, units=8, branch_units=6, dropout=0.6), torch.randn(7, 5)
    for _ in range(20):
        network(torch.randn(30, 5))  # so that there is something to normalise
    found = network.eval()(x)
    states = states_of_layers(network, x) if isinstance(network, Stacked) else states_of_cell(network, x)
    local = torch.empty(7, 5)
    for level, state in enumerate(states):
        branch = network.branches[level] if isinstance(network, Stacked) else network.shared_branch
        hidden = normalised(network.after_branch[level], by_hand(branch, state).relu())
        local[:, levels == level] = by_hand(network.level_outputs[level], hidden)
    torch.testing.assert_close(found, torch.stack((local, by_hand(network.output, states[-1])), dim=1))


@both_systems
@pytest.mark.parametrize(("options", "expected"), [({}, 0.6), ({"dropout": 0.25}, 0.25)])
def test_states_and_branches_of_all_levels_are_dropped_out(
    kind: type[HMCNF | HMCNR], options: dict[str, Any], expected: float
) -> None:
    network = fitted(kind, epochs=1, **options).network_
    shares = [module.p for module in network.modules() if isinstance(module, nn.Dropout)]
    assert shares == [expected] * 2 * (DATA.hierarchy.depths.max() + 1)


@both_networks
def test_a_batch_of_one_row_trains(kind: type[Stacked | Recurrent]) -> None:
    network = kind(5, BELOW_ROOT, units=8, branch_units=6).train()
    x = torch.randn(1, 5)
    trained = network(x)
    trained.sum().backward()
    assert torch.equal(trained, network.eval()(x))
    assert all(parameter.grad is not None for parameter in network.parameters())


@both_systems
def test_a_last_batch_of_one_row_does_no_harm(kind: type[HMCNF | HMCNR]) -> None:
    rows = len(DATA.train.X)
    model = fitted(kind, validation=0, batch_size=rows - 1)
    assert np.isfinite(model.predict_proba(DATA.test.X)).all()


def test_a_shared_cell_has_fewer_parameters_for_many_levels() -> None:
    def parameters(network: LevelNetwork) -> int:
        return sum(parameter.numel() for parameter in network.parameters())

    depths = random_hierarchy(100, depth=10).depths
    assert parameters(Recurrent(77, depths)) < 0.5 * parameters(Stacked(77, depths))


def test_the_loss_is_that_of_levels_whole_and_violations() -> None:
    loss = LevelLoss(BELOW_ROOT, DIAMOND.edges, WITHOUT_ROOT)
    local, whole = np.array([0.5, 0.2, 0.6, 0.9]), np.array([0.3, 0.4, 0.8, 0.1])
    outputs = torch.logit(torch.tensor(np.stack((local, whole))[None]))
    y = torch.tensor([[True, False, True, True]])
    of_levels = -(np.log(0.5) + np.log(0.8)) / 2 - np.log(0.6)
    of_whole = -(np.log(0.3) + np.log(0.6) + np.log(0.8)) / 3
    violations = (0.7 - 0.4) ** 2 + (0.7 - 0.3) ** 2  # c above a, and above b; the root does not count
    assert float(loss(outputs, y)) == pytest.approx(of_levels + of_whole + 0.1 * violations)
    assert float(loss(outputs.repeat(3, 1, 1), y.repeat(3, 1))) == pytest.approx(float(loss(outputs, y)))


def test_coherent_probabilities_are_not_penalised() -> None:
    loss = LevelLoss(DIAMOND.depths, DIAMOND.edges, np.full(4, fill_value=True))
    coherent = torch.logit(torch.tensor([[0.5, 0.6, 0.2, 0.9]])).repeat(2, 1)[None]
    y = torch.tensor([[1.0, 0.0, 0.0, 1.0]])
    without = LevelLoss(DIAMOND.depths, np.empty((0, 2), dtype=np.int64), np.full(4, fill_value=True))
    assert float(loss(coherent, y)) == pytest.approx(float(without(coherent, y)))


def test_weights_of_classes_weigh_both_outputs() -> None:
    outputs, y = torch.zeros(1, 2, 4), torch.zeros(1, 4)
    weighed = LevelLoss(BELOW_ROOT, DIAMOND.edges, WITHOUT_ROOT, np.array([4, 1, 1, 1], dtype=np.float32))
    expected = np.log(2) * ((4 + 1) / 2 + 1 + (4 + 1 + 1) / 3)
    assert float(weighed(outputs, y)) == pytest.approx(expected)


@both_systems
def test_violations_before_the_correction_are_gone_after_it(kind: type[HMCNF | HMCNR]) -> None:
    model = fitted(kind)
    assert len(DATA.hierarchy.violations(model.uncorrected_proba(DATA.test.X))) > 0
    assert len(DATA.hierarchy.violations(model.predict_proba(DATA.test.X))) == 0


@both_systems
def test_classes_that_do_not_count_hold_no_other_down(kind: type[HMCNF | HMCNR]) -> None:
    uncounted = DATA.hierarchy.depths == 0
    model = fitted(kind, evaluated=~uncounted)
    raw, scores = model.uncorrected_proba(DATA.test.X), model.predict_proba(DATA.test.X)
    tops = DATA.hierarchy.depths == 1  # the tops of what counts keep their scores
    assert np.array_equal(scores[:, tops], raw[:, tops])
    assert (scores[:, uncounted] == scores[:, ~uncounted].max(axis=1, keepdims=True)).all()


@both_systems
def test_a_saved_model_predicts_the_same(kind: type[HMCNF | HMCNR], tmp_path: Path) -> None:
    model = fitted(kind)
    model.save(tmp_path / "model")
    loaded = kind.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(DATA.test.X), model.predict_proba(DATA.test.X))


@both_systems
@pytest.mark.usefixtures("one_table_of_operators")
def test_onnx_gives_the_same_coherent_probabilities(kind: type[HMCNF | HMCNR], tmp_path: Path) -> None:
    import onnxruntime

    data = learnable(rows=100, features=4, classes=8, depth=2)  # few levels: an export takes its time for each
    hierarchy, x = data.hierarchy, data.test.X.astype(np.float32)
    model = kind(hierarchy, evaluated=hierarchy.depths > 0, epochs=1, widths=(16, 12), random_state=0)
    model.fit(data.train.X, data.train.Y).to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (found,) = session.run(None, {"features": x})
    np.testing.assert_allclose(found, model.predict_proba(x), atol=1e-5)
    assert len(hierarchy.violations(found)) == 0


@both_systems
def test_classes_on_one_level_are_refused(kind: type[HMCNF | HMCNR]) -> None:
    with pytest.raises(ChmcnnError, match=r"needs several levels, but all 2 classes .* or C-HMCNN"):
        kind(Hierarchy.from_paths(["a", "b"])).fit([[0.0], [1.0]], [{"a"}, {"b"}])
    star = Hierarchy.from_paths(["root/a", "root/b", "root/c"])
    with pytest.raises(ChmcnnError, match="needs several levels, but all 3 classes"):
        kind(star, evaluated=star.depths > 0).fit([[0.0], [1.0]], [{"root/a"}, {"root/b"}])


@both_systems
def test_widths_are_two(kind: type[HMCNF | HMCNR]) -> None:
    with pytest.raises(ChmcnnError, match=r"widths is \(16,\); expected two"):
        fitted(kind, widths=(16,))
