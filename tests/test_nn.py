import copy
import io
import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
import torch.optim.swa_utils
from scipy.sparse import csr_array
from torch import Tensor, nn

from chmcnn import ChmcnnError, Hierarchy, LabelError, ScoreError
from chmcnn.constraint import _delegates, max_constraint, mc_loss
from chmcnn.datasets.synthetic import random_hierarchy
from chmcnn.nn import MLP, FeatureScaling, MaxConstraint, MCLoss, SparseMLP, to_sparse_tensor
from tests.untyped import untyped

HIERARCHY = random_hierarchy(60, edges=90, depth=6)


@pytest.fixture
def network() -> nn.Sequential:
    return nn.Sequential(MLP(8, 60, widths=(16,), dropout=0.0), MaxConstraint(HIERARCHY))


@pytest.fixture
def x() -> Tensor:
    return torch.randn(5, 8)


@pytest.fixture
def y() -> Tensor:
    return torch.tensor(HIERARCHY.encode([{HIERARCHY.classes[i]} for i in (3, 20, 41, 59, 0)]))


@pytest.mark.usefixtures("path")
def test_bad_settings_of_a_network_raise_an_error() -> None:
    with pytest.raises(ChmcnnError, match=r"widths is \(0,\); expected positive integers"):
        MLP(3, 2, widths=(0,))
    with pytest.raises(ChmcnnError, match=r"dropout is 2; expected a number in \[0, 1\)"):
        MLP(3, 2, dropout=2)


def test_modules_are_the_functions(network: nn.Sequential, x: Tensor, y: Tensor) -> None:
    logits = network[0](x)
    weight, mask = np.linspace(1, 2, 60, dtype=np.float32), HIERARCHY.depths > 0
    assert torch.equal(network(x), max_constraint(logits, HIERARCHY))
    assert torch.equal(MCLoss(HIERARCHY)(logits, y), mc_loss(logits, y, HIERARCHY))
    loss = MCLoss(HIERARCHY, weight=weight, mask=mask, reduction="sum", close_labels=True)
    expected = mc_loss(logits, y, HIERARCHY, weight=torch.tensor(weight), mask=torch.tensor(mask), reduction="sum")
    assert torch.equal(loss(logits, y), expected)


def test_modules_check_input_unless_validate_is_false() -> None:
    wrong = torch.full((1, 60), float("nan"))
    with pytest.raises(ScoreError, match="value nan"):
        MaxConstraint(HIERARCHY)(wrong)
    with pytest.raises(ScoreError, match="value nan"):
        MCLoss(HIERARCHY)(wrong, torch.zeros(1, 60))
    assert MaxConstraint(HIERARCHY, validate=False)(wrong).isnan().all()


@pytest.mark.parametrize(("activation", "kind"), [("relu", nn.ReLU), ("tanh", nn.Tanh)])
def test_default_network(activation: Literal["relu", "tanh"], kind: type[nn.Module]) -> None:
    network = MLP(7, 3, widths=(5, 4), dropout=0.6, activation=activation)
    assert [type(layer) for layer in network] == [nn.Linear, kind, nn.Dropout] * 2 + [nn.Linear]
    assert [tuple(p.shape) for p in network.parameters()] == [(5, 7), (5,), (4, 5), (4,), (3, 4), (3,)]
    assert network[2].p == 0.6
    assert MLP(7, 3, widths=())(torch.zeros(2, 7)).shape == (2, 3)


@pytest.mark.parametrize("kind", [MLP, SparseMLP])
@pytest.mark.parametrize("widths", [(), (16,), (16, 12)])
def test_the_last_layer_may_have_a_low_rank(kind: type[MLP | SparseMLP], widths: tuple[int, ...]) -> None:
    low = kind(8, 60, widths=widths, output_rank=3).eval()
    logits = low(torch.randn(50, 8)).detach()
    assert logits.shape == (50, 60)
    assert torch.linalg.matrix_rank(logits - logits.mean(dim=0), rtol=1e-4) == 3
    full = kind(8, 60, widths=widths).eval()(torch.randn(50, 8)).detach()
    assert torch.linalg.matrix_rank(full - full.mean(dim=0), rtol=1e-4) > 3


def test_an_unknown_activation_raises_an_error() -> None:
    with pytest.raises(ValueError, match="activation is 'gelu'; expected one of 'relu', 'tanh'"):
        MLP(7, 3, activation=untyped("gelu"))


def test_state_dict_is_that_of_the_network_alone(network: nn.Sequential) -> None:
    assert set(network.state_dict()) == {f"0.{name}" for name in network[0].state_dict()}
    assert not MCLoss(HIERARCHY, weight=np.ones(60), mask=np.ones(60, dtype=bool)).state_dict()
    network.load_state_dict(network.state_dict())


def test_deepcopy_and_whole_modules_in_files(network: nn.Sequential, x: Tensor) -> None:
    assert torch.equal(copy.deepcopy(network)(x), network(x))
    file = io.BytesIO()
    torch.save(network, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(x), network(x))


def test_to_moves_everything_to_the_device(network: nn.Sequential) -> None:
    loss = MCLoss(HIERARCHY, weight=np.ones(60), validate=False)
    network = nn.Sequential(network[0], MaxConstraint(HIERARCHY, validate=False))
    out = network.to("meta")(torch.empty(5, 8, device="meta"))
    assert out.device.type == "meta"
    assert loss.to("meta")(out, torch.empty(5, 60, device="meta")).device.type == "meta"


def test_functions_work_on_the_device_of_their_input() -> None:
    scores = torch.empty(5, 60, device="meta")
    assert max_constraint(scores, HIERARCHY, validate=False).device.type == "meta"


def test_changing_the_type_of_a_network_leaves_the_hierarchy_alone(network: nn.Sequential, x: Tensor) -> None:
    out = network.to(torch.bfloat16)(x.to(torch.bfloat16))
    assert out.dtype == torch.bfloat16
    assert len(HIERARCHY.violations(out.detach().float())) == 0


def test_nothing_that_handles_buffers_reaches_the_hierarchy(network: nn.Sequential, x: Tensor) -> None:
    averaged = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True
    )
    for _ in range(3):
        averaged.update_parameters(network)
    torch.testing.assert_close(averaged(x), network(x))
    layer = MaxConstraint(HIERARCHY).to("meta").to_empty(device="cpu")
    scores = torch.randn(5, 60)
    assert torch.equal(layer(scores), max_constraint(scores, HIERARCHY))
    assert not list(layer.buffers())


def test_a_module_on_another_device_raises_an_error(y: Tensor) -> None:
    scores = torch.randn(5, 60)
    with pytest.raises(ScoreError, match=r"Scores are on cpu, but the module is on meta: use \.to"):
        MaxConstraint(HIERARCHY).to("meta")(scores)
    with pytest.raises(LabelError, match=r"device \(\(5, 60\), 'meta'\), logits \(\(5, 60\), 'cpu'\)"):
        MCLoss(HIERARCHY)(scores, y.to("meta"))


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "weights of another shape": ({"weight": [1, 2]}, r"weight has shape \(2,\); expected \(60,\), one per class"),
    "weights by name": ({"weight": {"c01": 2}}, "weight is {'c01': 2}; expected one value per class"),
    "negative weights": ({"weight": [-1.0] * 60}, r"weight is \[-1.0, .*\]; expected finite, non-negative numbers"),
    "weights that are NaN": ({"weight": [float("nan")] * 60}, "expected finite, non-negative numbers"),
    "mask of positions": ({"mask": np.arange(60)}, "mask is of type torch.int64; expected torch.bool"),
    "mask of names": ({"mask": ["c01"]}, "mask is .*; expected one value per class"),
    "mask without any class": ({"mask": [False] * 60}, "mask excludes all classes"),
    "unknown reduction": ({"reduction": "avg"}, "reduction is 'avg'; expected one of 'mean', 'sum', 'none'"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_raise_an_error_when_the_loss_is_built(case: str) -> None:
    options, message = BAD_OPTIONS[case]
    with pytest.raises(ChmcnnError, match=message):
        MCLoss(HIERARCHY, **options)


def test_weights_are_copied() -> None:
    weight = np.ones(60)
    loss = MCLoss(HIERARCHY, weight=weight, mask=HIERARCHY.depths > 0)
    weight[:] = 0
    assert loss.weight is not None
    assert loss.weight.sum() == 60


@pytest.mark.usefixtures("path")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning:torch")
def test_compile(x: Tensor) -> None:
    torch.compiler.reset()
    _compare_compiled(x, HIERARCHY, "aot_eager")


# Inductor compiles several programs in C++ for each level: a hierarchy of few levels takes a fraction of the time. It
# compiles its headers once for a process, which takes as long as all the rest: both ways are one test. And it need not
# try out what the processor can, which takes as long again.
@pytest.mark.skipif(not shutil.which("g++"), reason="inductor needs a C++ compiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning:torch")
def test_compile_to_cpp(x: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch._inductor.config.cpp.vec_isa_ok", True)
    hierarchy = random_hierarchy(60, edges=90, depth=2)
    for kernel in (_delegates._kernel, None):
        torch.compiler.reset()
        monkeypatch.setattr(_delegates, "_kernel", kernel)
        _compare_compiled(x, hierarchy, "inductor")


def _compare_compiled(x: Tensor, hierarchy: Hierarchy, backend: str) -> None:
    y = torch.tensor(hierarchy.encode([{hierarchy.classes[i]} for i in (3, 20, 41, 59, 0)]))
    network = MLP(8, 60, widths=(16,), dropout=0.0)
    layer, loss = MaxConstraint(hierarchy), MCLoss(hierarchy, mask=hierarchy.depths > 0)

    transposed = torch.randn(60, 7).t()

    def compute(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = network(x)
        return layer(logits), loss(logits, y), layer(transposed)

    compiled = torch.compile(compute, backend=backend, fullgraph=True)
    expected, found = compute(x), compiled(x)
    torch.testing.assert_close(found, expected)
    weights = list(network.parameters())
    gradients = [torch.autograd.grad(scores.sum() + value, weights) for scores, value, _ in (found, expected)]
    torch.testing.assert_close(*gradients)


@pytest.mark.usefixtures("path")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch", "ignore::FutureWarning:torch")
def test_compiled_functions(y: Tensor) -> None:
    torch.compiler.reset()
    logits = torch.randn(5, 60)
    compiled = torch.compile(lambda values: mc_loss(values, y, HIERARCHY), backend="aot_eager")
    torch.testing.assert_close(compiled(logits), mc_loss(logits, y, HIERARCHY))


@pytest.mark.usefixtures("path")
def test_autocast(network: nn.Sequential, x: Tensor, y: Tensor) -> None:
    loss = MCLoss(HIERARCHY)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out, value = network(x), loss(network[0](x), y)
    assert out.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    assert len(HIERARCHY.violations(out.detach().float())) == 0
    value.backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in network.parameters())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.usefixtures("one_table_of_operators")
def test_onnx_gives_the_same_numbers(network: nn.Sequential, x: Tensor, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")

    class Both(nn.Module):
        """Constrained logits and probabilities: one export takes half the time of two."""

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return network(x), network[1](network[0](x).sigmoid())

    file, both = tmp_path / "model.onnx", Both()
    both.network = network.eval()
    rows = {0: torch.export.Dim("rows")}
    torch.onnx.export(both, (x,), file, dynamo=True, dynamic_shapes=(rows,), verbose=False)
    session = onnxruntime.InferenceSession(file)
    for size in (1, 5, 17):
        batch = torch.randn(size, 8)
        found = session.run(None, {session.get_inputs()[0].name: batch.numpy()})
        for values, expected in zip(found, both(batch), strict=True):
            np.testing.assert_allclose(values, expected.detach().numpy(), rtol=1e-5, atol=1e-6)
            assert len(HIERARCHY.violations(values)) == 0


def test_exported_layer_gives_exactly_the_same_numbers() -> None:
    scores = torch.randn(5, 60)
    exported = torch.export.export(MaxConstraint(HIERARCHY), (scores,)).module()
    assert torch.equal(exported(scores), max_constraint(scores, HIERARCHY))


def test_exporting_a_function_leaves_nothing_behind() -> None:
    hierarchy = random_hierarchy(30, depth=3)
    scores = torch.randn(5, 30)

    class Layer(nn.Module):
        def forward(self, values: Tensor) -> Tensor:
            return max_constraint(values, hierarchy)

    exported = torch.export.export(Layer(), (scores,)).module()
    assert torch.equal(max_constraint(scores, hierarchy), MaxConstraint(hierarchy)(scores))
    assert torch.equal(exported(scores), max_constraint(scores, hierarchy))


@pytest.mark.usefixtures("path")
def test_the_loss_can_be_exported_for_any_number_of_rows(y: Tensor) -> None:
    loss = MCLoss(HIERARCHY)
    rows = {0: torch.export.Dim("rows")}
    exported = torch.export.export(loss, (torch.randn(5, 60), y), dynamic_shapes=(rows, rows)).module()
    logits = torch.randn(3, 60)
    torch.testing.assert_close(exported(logits, y[:3]), loss(logits, y[:3]))


def test_a_network_learns_with_it() -> None:
    hierarchy = Hierarchy.from_edges([("B", "A")])
    x = torch.rand(400, 2)
    y = torch.stack((x[:, 0] > 0.7, x[:, 0] > 0.4), dim=1)
    network, loss = MLP(2, 2, widths=(16,), dropout=0.0), MCLoss(hierarchy)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss(network(x), y).backward()
        optimizer.step()
    predicted = max_constraint(network(x), hierarchy) > 0
    assert (predicted == y).float().mean() > 0.98


@pytest.mark.parametrize("widths", [(), (6,), (6, 5)])
def test_sparse_and_dense_features_give_the_same_logits_and_gradients(widths: tuple[int, ...]) -> None:
    dense = torch.randn(7, 9) * (torch.rand(7, 9) < 0.3)
    dense[2] = 0  # a row without any feature
    network = SparseMLP(9, 4, widths=widths, dropout=0.0)
    gradients = []
    for x in (dense, to_sparse_tensor(csr_array(dense.numpy()))):
        network.zero_grad()
        logits = network(x)
        logits.square().sum().backward()
        assert network.first.grad is not None
        gradients.append((logits.detach(), network.first.grad.to_dense()))
    torch.testing.assert_close(gradients[0], gradients[1])


def test_a_sparse_gradient_has_one_row_for_each_feature_of_the_batch() -> None:
    network = SparseMLP(9, 4)
    network(to_sparse_tensor(csr_array(np.eye(9, dtype=np.float32)[[3, 5, 3]]))).sum().backward()
    assert network.first.grad is not None
    assert network.first.grad.coalesce().indices().tolist() == [[3, 5]]


def test_a_sparse_network_starts_from_the_frequencies_of_the_classes() -> None:
    frequencies = torch.tensor([0.0, 0.5, 0.9])
    network = SparseMLP(5, 3).eval()
    network.start_from(frequencies)
    scores = torch.sigmoid(network(torch.zeros(1, 5)))[0]
    torch.testing.assert_close(scores, frequencies, atol=0.05, rtol=0)


def test_scaled_features_come_first_where_they_are_wanted() -> None:
    assert [type(layer) for layer in MLP(3, 2, widths=(), scale_features=True)] == [FeatureScaling, nn.Linear]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_scaled_features_are_limited_and_keep_their_order(dtype: torch.dtype) -> None:
    scaling, largest = FeatureScaling(1).to(dtype).eval(), torch.finfo(dtype).max
    values = scaling(torch.tensor([[-largest], [-6e4], [-2.0], [0.0], [1.0], [6e4], [largest]], dtype=dtype))[:, 0]
    assert (values.diff() >= 0).all()
    torch.testing.assert_close(values[[0, -1]], torch.tensor([-3.0, 3.0], dtype=dtype))
    assert scaling(torch.tensor([[torch.nan]], dtype=dtype)).isnan().all()


def test_a_wrong_share_of_omitted_features_is_refused() -> None:
    with pytest.raises(ChmcnnError, match=r"dropout is 2\.0; expected a number in \[0, 1\)"):
        FeatureScaling(3, 2.0)


def test_the_factors_of_features_are_learnt_faster_than_other_weights() -> None:
    scaling = FeatureScaling(2).eval()
    optimizer, x = torch.optim.Adam(scaling.parameters(), lr=0.01), torch.ones(1, 2)
    before = scaling(x)
    before.sum().backward()
    optimizer.step()
    torch.testing.assert_close(scaling(x), 0.94 * before)


def test_features_are_omitted_in_training_only_and_less_often_than_hidden_units() -> None:
    network, x = MLP(10_000, 1, widths=(), dropout=0.5, scale_features=True)[0], torch.ones(1, 10_000)
    assert 0.05 < float((network(x) == 0).float().mean()) < 0.1
    assert not (network.eval()(x) == 0).any()
