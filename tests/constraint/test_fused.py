"""The loss that is computed together with its gradient, beside the same loss in operators of torch."""

import math
import os
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import dense, processes
from tests.strategies import hierarchies, labels, scores
from torch import Tensor
from torch.autograd import forward_ad

from chmcnn import Hierarchy
from chmcnn.constraint import Reduction, mc_loss
from chmcnn.datasets.synthetic import random_hierarchy

pytestmark = pytest.mark.usefixtures("path")

HIERARCHY = random_hierarchy(60, edges=90, depth=6)
CHAIN = Hierarchy.from_edges([("a", "b"), ("b", "c")])
REDUCTIONS: list[Reduction] = ["mean", "sum"]
NAN = float("nan")


def make_rows(rows: int = 5) -> tuple[Tensor, Tensor]:
    y = HIERARCHY.encode([{HIERARCHY.classes[row % 60]} for row in range(rows)])
    return torch.randn(rows, 60, requires_grad=True), torch.tensor(y)


def gradient(loss: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(loss, logits)[0]


def is_fused(loss: Tensor) -> bool:
    return type(loss.grad_fn).__name__ == "_KnownGradientBackward"


@given(data=st.data(), labels_as=st.sampled_from([torch.bool, torch.float32, torch.int64]))
def test_loss_and_gradient_equal_the_dense_formula(data: st.DataObject, labels_as: torch.dtype) -> None:
    hierarchy = data.draw(hierarchies())
    logits = data.draw(scores(hierarchy, rows=3)).logit().float().requires_grad_()
    y = data.draw(labels(hierarchy, rows=3))
    ours = mc_loss(logits, y.to(labels_as), hierarchy, reduction="sum")
    theirs = dense.mc_loss(logits.double().sigmoid(), y.double(), dense.subclass_mask(hierarchy)).sum()
    assert is_fused(ours)
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient(ours, logits), gradient(theirs, logits), rtol=1e-4, atol=1e-6)


@given(data=st.data(), ties=st.booleans(), weighted=st.booleans(), masked=st.booleans(), mean=st.booleans())
def test_every_option_gives_what_operators_of_torch_give_in_double_precision(
    data: st.DataObject, ties: bool, weighted: bool, masked: bool, mean: bool
) -> None:
    hierarchy = data.draw(hierarchies())
    size = len(hierarchy)
    logits = data.draw(scores(hierarchy, rows=3, ties=ties)).logit().float().requires_grad_()
    loss = partial(
        mc_loss,
        y=data.draw(labels(hierarchy, rows=3)),
        hierarchy=hierarchy,
        weight=torch.linspace(0.5, 2, size) if weighted else None,
        mask=torch.arange(size) % 3 != 1 if masked else None,
        reduction=REDUCTIONS[not mean],
    )
    found, expected = loss(logits), loss(logits.double())
    assert is_fused(found)
    assert not is_fused(expected)
    torch.testing.assert_close(found, expected.float())
    torch.testing.assert_close(gradient(found, logits), gradient(expected, logits))


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-3, 1.0, 20.0, 86.9, 87.1, 1e4, 3e37])
def test_logits_of_every_size(size: float) -> None:
    chain = Hierarchy.from_edges([("a", "b")])
    logits = torch.tensor([[size, -size], [size, -size], [size, -size]], requires_grad=True)
    y = torch.tensor([[False, False], [True, False], [True, True]])
    found, expected = mc_loss(logits, y, chain, reduction="sum"), mc_loss(logits.double(), y, chain, reduction="sum")
    torch.testing.assert_close(found.double(), expected, rtol=1e-6, atol=1e-37)
    torch.testing.assert_close(gradient(found, logits), gradient(expected, logits), rtol=1e-6, atol=1e-37)


def test_a_loss_beyond_the_largest_number_is_infinite() -> None:
    logits = torch.full((1, 3), 3e38, requires_grad=True)
    loss = mc_loss(logits, torch.zeros(1, 3), CHAIN, reduction="sum")
    assert loss.item() == math.inf
    assert gradient(loss, logits).tolist() == [[1.0, 1.0, 1.0]]


def test_many_classes_are_added_up_as_exactly_as_few() -> None:
    hierarchy = random_hierarchy(50_000, depth=4)
    logits, y = torch.randn(2, 50_000), torch.tensor(hierarchy.encode([{hierarchy.classes[7]}, set()]))
    found, expected = (mc_loss(values, y, hierarchy).item() for values in (logits, logits.double()))
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_gradient_is_multiplied_by_what_follows_the_loss() -> None:
    logits, y = make_rows()
    torch.testing.assert_close(
        gradient(-3 * mc_loss(logits, y, HIERARCHY), logits), -3 * gradient(mc_loss(logits, y, HIERARCHY), logits)
    )


def test_the_gradient_can_be_computed_twice() -> None:
    logits, y = make_rows()
    loss = mc_loss(logits, y, HIERARCHY)
    loss.backward(retain_graph=True)
    assert logits.grad is not None
    once = logits.grad.clone()
    loss.backward()
    assert torch.equal(logits.grad, 2 * once)


def test_second_derivatives_are_those_of_operators_of_torch() -> None:
    logits, y = make_rows()
    products = []
    for values in (logits, logits.double()):
        (slope,) = torch.autograd.grad(mc_loss(values, y, HIERARCHY), logits, create_graph=True)
        products.append(gradient(slope.square().sum(), logits))
    assert products[0].abs().sum() > 0
    torch.testing.assert_close(products[0], products[1])


def test_no_gradient_is_kept_where_none_is_wanted() -> None:
    logits, y = make_rows()
    assert not mc_loss(logits.detach(), y, HIERARCHY).requires_grad
    with torch.no_grad():
        assert not mc_loss(logits, y, HIERARCHY).requires_grad


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # torch's own
def test_derivatives_of_other_kinds_are_those_of_operators_of_torch() -> None:
    logits, y = make_rows()
    values, direction = logits.detach(), torch.randn(5, 60)
    loss = partial(mc_loss, y=y, hierarchy=HIERARCHY)
    slope = gradient(loss(logits), logits)
    torch.testing.assert_close(torch.func.grad(partial(loss, validate=False))(values), slope)
    torch.testing.assert_close(torch.func.jvp(loss, (values,), (direction,))[1], (slope * direction).sum())
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(loss(forward_ad.make_dual(values, direction))).tangent
    assert tangent is not None
    torch.testing.assert_close(tangent, (slope * direction).sum())


def test_weights_have_no_gradient() -> None:
    logits, y = make_rows()
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        mc_loss(logits, y, HIERARCHY, weight=torch.rand(60, requires_grad=True))


def test_a_placeholder_of_a_tensor_has_no_memory_to_read() -> None:
    logits, y = make_rows()
    loss = partial(mc_loss, y=y, hierarchy=HIERARCHY, validate=False)
    torch.testing.assert_close(torch.func.functionalize(loss)(logits.detach()), loss(logits.detach()))


def test_blocks_of_different_sizes_give_what_one_block_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    logits, y = make_rows(7)
    expected = mc_loss(logits, y, HIERARCHY)
    for module in ("_loss_by_level", "_threads"):
        monkeypatch.setattr(f"chmcnn.constraint.{module}._CELLS", 3 * 60)
    found = mc_loss(logits, y, HIERARCHY)
    torch.testing.assert_close(found, expected)
    assert torch.equal(gradient(found, logits), gradient(expected, logits))


@pytest.mark.parametrize("sign", [1, -1])
def test_nan_is_never_hidden_where_values_are_not_checked(sign: int) -> None:
    logits = torch.tensor([[0.5, 0.5, math.copysign(NAN, sign)], [0.5, 0.5, 0.5]], requires_grad=True)
    loss = mc_loss(logits, torch.zeros(2, 3), CHAIN, validate=False)
    assert loss.isnan()
    assert gradient(loss, logits).isnan().tolist() == [[False, False, True], [False] * 3]


def test_logits_of_any_layout() -> None:
    logits, y = make_rows(6)
    expected = mc_loss(logits, y, HIERARCHY)
    turned = logits.t().contiguous().t()
    assert torch.equal(mc_loss(turned, y.t().contiguous().t(), HIERARCHY), expected)
    cube = mc_loss(logits.reshape(2, 3, 60), y.reshape(2, 3, 60), HIERARCHY)
    assert torch.equal(gradient(cube, logits), gradient(expected, logits))


def test_any_number_of_threads_gives_the_same_numbers() -> None:
    logits, y = make_rows(5_000)  # several blocks
    results = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            loss = mc_loss(logits, y, HIERARCHY)
            results.append((loss, gradient(loss, logits)))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


def fork_and_compute(printed: Path) -> None:
    torch.set_num_threads(2)
    logits, y = torch.zeros(5_000, 60), torch.zeros(5_000, 60, dtype=torch.bool)  # torch's threads end with a fork
    mc_loss(logits, y, HIERARCHY)
    child = os.fork()
    if child == 0:
        printed.write_text(f"{mc_loss(logits, y, HIERARCHY).item():.4f}")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_process_starts_threads_of_its_own(tmp_path: Path) -> None:
    process = processes.start(fork_and_compute, tmp_path / "printed")
    process.join(300)
    assert process.exitcode == 0
    assert (tmp_path / "printed").read_text() == "0.6931"
