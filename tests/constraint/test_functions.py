import math
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from tests import dense
from tests.untyped import untyped

from chmcnn import ChmcnnError, Hierarchy, HierarchyError, LabelError, ScoreError
from chmcnn.constraint import delegates, max_constraint, mc_loss

pytestmark = pytest.mark.usefixtures("path")

B_OF_A = Hierarchy.from_edges([("B", "A")])  # columns A, B
PETS = Hierarchy.from_edges([("animal", "dog"), ("animal", "cat"), ("pet", "dog")])
HALF = [torch.float16, torch.bfloat16]
FULL = [torch.float32, torch.float64]


def test_first_worked_example_of_the_paper() -> None:
    h = torch.tensor([0.3, 0.1], dtype=torch.float64)  # h_A, h_B
    y = torch.tensor([0.0, 1.0], dtype=torch.float64)

    def gradient(loss: Callable[[torch.Tensor], torch.Tensor]) -> list[float]:
        return [round(value, 1) for value in torch.func.grad(loss)(h).tolist()]

    def plain(values: torch.Tensor) -> torch.Tensor:
        constrained = max_constraint(values, B_OF_A)
        return torch.nn.functional.binary_cross_entropy(constrained, y, reduction="sum")

    assert gradient(plain) == [-1.9, 0.0]
    assert gradient(lambda values: mc_loss(values.logit(), y, B_OF_A, reduction="sum")) == [1.4, -10.0]


@pytest.mark.parametrize("n", [1, 10])
def test_second_worked_example_of_the_paper(n: int) -> None:
    """A class below n ancestors, all of them there and itself not: the more ancestors, the worse for plain BCE."""
    hierarchy = Hierarchy.from_edges([(f"A{i}", "A") for i in range(n)])
    y = torch.ones(n + 1, dtype=torch.float64)
    y[hierarchy.index("A")] = 0

    def gradients(h_a: float) -> tuple[float, float]:
        h = torch.full((n + 1,), 0.01, dtype=torch.float64)
        h[hierarchy.index("A")] = h_a
        plain = torch.func.grad(
            lambda values: torch.nn.functional.binary_cross_entropy(
                max_constraint(values, hierarchy), y, reduction="sum"
            )
        )(h)
        ours = torch.func.grad(lambda values: mc_loss(values.logit(), y, hierarchy, reduction="sum"))(h)
        at = hierarchy.index("A")
        return float(plain[at]), float(ours[at])

    for h_a in (0.05, 0.5, 0.95):
        plain, ours = gradients(h_a)
        assert plain == pytest.approx(1 / (1 - h_a) - n / h_a)
        assert ours == pytest.approx(1 / (1 - h_a))
    turning = n / (n + 1)
    assert gradients(turning - 0.01)[0] < 0 < gradients(turning + 0.01)[0]


def test_equal_to_the_dense_formula_on_the_gene_ontology(gene_ontology: Hierarchy) -> None:
    assert repr(gene_ontology) == "Hierarchy(4,126 classes, 5,827 edges, 1 root, depth 14)"
    mask = dense.subclass_mask(gene_ontology)
    assert int(mask.sum()) == 42_704  # pairs of a class and itself or an ancestor
    generator = torch.Generator().manual_seed(0)
    h = torch.rand(2, len(gene_ontology), generator=generator, dtype=torch.float64).requires_grad_()
    y = torch.tensor(gene_ontology.encode([set(gene_ontology.leaves[:3]), set(gene_ontology.leaves[-5:])]))
    assert torch.equal(max_constraint(h, gene_ontology), dense.max_constraint(h, mask))
    ours = mc_loss(h.logit(), y, gene_ontology, reduction="none")
    theirs = dense.mc_loss(h, y.double(), mask)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(torch.autograd.grad(ours.sum(), h), torch.autograd.grad(theirs.sum(), h))


@pytest.mark.parametrize("dtype", HALF + FULL)
def test_every_floating_point_type(dtype: torch.dtype) -> None:
    scores = torch.tensor([[0.25, 0.5, 0.75, 0.125]], dtype=dtype, requires_grad=True)
    constrained = max_constraint(scores, PETS)
    assert constrained.dtype == dtype
    assert constrained.tolist() == [[0.75, 0.5, 0.75, 0.75]]
    assert delegates(scores, PETS).tolist() == [[2, 1, 2, 2]]
    constrained.sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 1, 3, 0]]
    loss = mc_loss(scores, torch.tensor([[1, 0, 1, 1]]), PETS)
    assert loss.dtype == (torch.float32 if dtype in HALF else dtype)
    assert loss.item() == pytest.approx((3 * math.log1p(math.exp(-0.75)) + math.log1p(math.exp(0.5))) / 4)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2), (0,), (2, 0)])
def test_any_number_of_batch_dimensions(shape: tuple[int, ...]) -> None:
    scores = torch.randn(*shape, 4, generator=torch.Generator().manual_seed(1))
    y = (torch.arange(scores.numel()).reshape(scores.shape) % 3 == 0).float()
    flat = scores.reshape(-1, 4)
    assert torch.equal(max_constraint(scores, PETS), max_constraint(flat, PETS).reshape(scores.shape))
    assert torch.equal(delegates(scores, PETS), delegates(flat, PETS).reshape(scores.shape))
    each = mc_loss(scores, y, PETS, reduction="none", close_labels=True)
    assert each.shape == scores.shape
    assert torch.equal(each.reshape(-1, 4), mc_loss(flat, y.reshape(-1, 4), PETS, reduction="none", close_labels=True))


def test_non_contiguous_input() -> None:
    scores = torch.randn(4, 6).t()[::2]
    y = torch.zeros(4, 3, dtype=torch.bool).t()
    assert not scores.is_contiguous()
    assert torch.equal(max_constraint(scores, PETS), max_constraint(scores.contiguous(), PETS))
    each = mc_loss(scores, y, PETS, reduction="none")
    assert torch.equal(each, mc_loss(scores.contiguous(), y.contiguous(), PETS, reduction="none"))


def test_zero_and_minus_zero_tie() -> None:
    assert delegates(torch.tensor([[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]]), B_OF_A).tolist() == [[0, 1]] * 3


def test_of_equal_descendants_the_delegate_is_the_least_deep_and_then_the_first() -> None:
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d")])
    assert delegates(torch.tensor([0.0, 0.0, 1.0, 1.0]), hierarchy).tolist() == [2, 3, 2, 3]
    assert delegates(torch.tensor([0.0, 1.0, 1.0, 0.0]), hierarchy).tolist() == [1, 1, 2, 3]


@pytest.mark.parametrize("dtype", FULL)
def test_infinite_scores_are_ordered_too(dtype: torch.dtype) -> None:
    infinity = float("inf")
    scores = torch.tensor([[-infinity, 3.0e38, infinity, -3.0e38]], dtype=dtype)
    assert max_constraint(scores, PETS).tolist() == [[infinity, scores[0, 1].item(), infinity, infinity]]


@pytest.mark.parametrize("dtype", HALF + FULL)
@pytest.mark.parametrize("depth", [1, 2_000])
def test_extreme_logits_and_long_chains_stay_finite(dtype: torch.dtype, depth: int) -> None:
    chain = Hierarchy([f"c{i:04}" for i in range(depth + 1)], [(i, i + 1) for i in range(depth)])
    logits = torch.full((2, depth + 1), 1e4, dtype=dtype)
    logits[0, ::2] = -1e4
    logits.requires_grad_()
    y = torch.zeros(2, depth + 1)
    y[0, : depth // 2 + 1] = 1
    for reduction in ("mean", "sum", "none"):
        loss = mc_loss(logits, y, chain, reduction=reduction)
        gradient = torch.autograd.grad(loss.sum(), logits)[0]
        assert torch.isfinite(loss).all()
        assert torch.isfinite(gradient).all()
        assert gradient.abs().sum() > 0


def test_reductions() -> None:
    logits, y = torch.randn(3, 4), torch.tensor(PETS.encode([{"dog"}, {"cat"}, {"pet"}]))
    each = mc_loss(logits, y, PETS, reduction="none")
    torch.testing.assert_close(mc_loss(logits, y, PETS), each.mean())
    torch.testing.assert_close(mc_loss(logits, y, PETS, reduction="sum"), each.sum())


def test_weights_and_mask() -> None:
    logits, y = torch.randn(3, 4), torch.tensor(PETS.encode([{"dog"}, {"cat"}, {"pet"}]))
    each = mc_loss(logits, y, PETS, reduction="none")
    weight, mask = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor(PETS.depths > 0)
    torch.testing.assert_close(mc_loss(logits, y, PETS, weight=weight), (each * weight).mean())
    torch.testing.assert_close(mc_loss(logits, y, PETS, mask=mask), each[:, mask].mean())
    torch.testing.assert_close(mc_loss(logits, y, PETS, mask=mask, weight=weight), (each * weight)[:, mask].mean())
    assert mc_loss(logits, y, PETS, weight=weight.double(), mask=mask).dtype == torch.float32
    masked = mc_loss(logits, y, PETS, mask=mask, reduction="none")
    assert torch.equal(masked[:, ~mask], torch.zeros(3, 2))


def test_a_masked_class_can_still_be_the_delegate_of_others() -> None:
    chain = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    logits = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)
    mask = torch.tensor([True, False, False])
    mc_loss(logits, torch.zeros(1, 3), chain, mask=mask).backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] > 0
    assert logits.grad[0, :2].tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, *HALF, *FULL])
def test_labels_of_every_type(dtype: torch.dtype) -> None:
    logits, y = torch.randn(2, 4), torch.tensor(PETS.encode([{"dog"}, {"cat"}]))
    assert torch.equal(mc_loss(logits, y.to(dtype), PETS), mc_loss(logits, y, PETS))


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
def test_labels_without_ancestors_raise_an_error_or_are_closed(dtype: torch.dtype) -> None:
    logits = torch.randn(2, 4)
    y = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 0]]).to(dtype)  # the dog is no pet
    message = "Labels in row 1 have class 'dog', but not its ancestor 'pet'. Add all ancestors with hierarchy.encode"
    with pytest.raises(LabelError, match=re.escape(message)):
        mc_loss(logits, y, PETS)
    closed = torch.tensor(PETS.close(y.numpy()))
    assert torch.equal(mc_loss(logits, y, PETS, close_labels=True), mc_loss(logits, closed, PETS))


NAN = float("nan")
Y = torch.zeros(2, 4)
BAD: dict[str, tuple[type[ChmcnnError], Callable[[], object], str]] = {
    "wrong number of classes": (
        ScoreError,
        lambda: max_constraint(torch.zeros(2, 3), PETS),
        "Scores have shape (2, 3), but the hierarchy has 4 classes; expected (rows, 4), one column for each",
    ),
    "a single number": (ScoreError, lambda: delegates(torch.tensor(0.5), PETS), "Scores have shape (), but"),
    "integers": (ScoreError, lambda: max_constraint(torch.zeros(2, 4, dtype=torch.int64), PETS), "of type torch.int64"),
    "numbers of 8 bits": (
        ScoreError,
        lambda: max_constraint(torch.zeros(2, 4).to(torch.float8_e4m3fn), PETS),
        "of type torch.float8_e4m3fn, torch.strided; expected a dense torch.Tensor of one of",
    ),
    "sparse scores": (ScoreError, lambda: delegates(Y.to_sparse(), PETS), "of type torch.float32, torch.sparse_coo"),
    "sparse labels": (
        LabelError,
        lambda: mc_loss(Y, Y.to_sparse(), PETS),
        "of type torch.sparse_coo; expected a dense",
    ),
    "no hierarchy": (
        HierarchyError,
        lambda: max_constraint(Y, untyped([("a", "b")])),
        "The hierarchy is of type list; expected a chmcnn.Hierarchy",
    ),
    "weights that are no tensor": (
        ChmcnnError,
        lambda: mc_loss(Y, Y, PETS, weight=untyped([1, 2, 3, 4])),
        "weight is of type list; expected a torch.Tensor",
    ),
    "no tensor": (
        ScoreError,
        lambda: max_constraint(untyped([[0.0]]), PETS),
        "of type list; expected a dense torch.Tensor of one of torch.float16",
    ),
    "NaN score": (
        ScoreError,
        lambda: max_constraint(torch.tensor([[0.0] * 4, [0.0, NAN, 0.0, 0.0]]), PETS),
        "Scores have the value nan in row 1, class 'cat'",
    ),
    "NaN score in float64": (
        ScoreError,
        lambda: delegates(torch.tensor([[0.0, 0.0, 0.0, NAN]], dtype=torch.float64), PETS),
        "Scores have the value nan in row 0, class 'pet'",
    ),
    "NaN logit": (
        ScoreError,
        lambda: mc_loss(torch.full((2, 4), NAN), Y, PETS),
        "Logits have the value nan in row 0, class 'animal'",
    ),
    "labels of another shape": (
        LabelError,
        lambda: mc_loss(torch.zeros(2, 4), torch.zeros(1, 4), PETS),
        "Labels have shape and device ((1, 4), 'cpu'), logits ((2, 4), 'cpu'); expected the same",
    ),
    "label 2": (
        LabelError,
        lambda: mc_loss(torch.zeros(2, 4), Y + 2, PETS),
        "Labels have the value 2.0 in row 0, class 'animal'; expected",
    ),
    "label 2 of int64": (
        LabelError,
        lambda: mc_loss(torch.zeros(2, 4), Y.long() + 2, PETS),
        "Labels have the value 2 in row 0",
    ),
    "label 0.5": (LabelError, lambda: mc_loss(torch.zeros(2, 4), Y + 0.5, PETS), "Labels have the value 0.5"),
    "label 2, to be closed": (
        LabelError,
        lambda: mc_loss(torch.zeros(2, 4), Y + 2, PETS, close_labels=True),
        "Labels have the value 2.0",
    ),
    "label NaN": (LabelError, lambda: mc_loss(torch.zeros(2, 4), Y * NAN, PETS), "Labels have the value nan"),
    "labels that are no tensor": (
        LabelError,
        lambda: mc_loss(torch.zeros(2, 4), untyped([[0]]), PETS),
        "Labels are of type list; expected a dense torch.Tensor",
    ),
    "weights of another shape": (
        ChmcnnError,
        lambda: mc_loss(torch.zeros(2, 4), Y, PETS, weight=torch.ones(3)),
        "weight has shape (3,); expected (4,), one per class",
    ),
    "mask that is not boolean": (
        ChmcnnError,
        lambda: mc_loss(torch.zeros(2, 4), Y, PETS, mask=torch.ones(4)),
        "mask is of type torch.float32",
    ),
    "unknown reduction": (
        ChmcnnError,
        lambda: mc_loss(torch.zeros(2, 4), Y, PETS, reduction=untyped("max")),
        "reduction is 'max'; expected",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_raises_an_error(case: str) -> None:
    kind, use, message = BAD[case]
    with pytest.raises(kind, match=re.escape(message)):
        use()


@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
@pytest.mark.parametrize("dtype", HALF + FULL)
def test_infinite_logits_raise_an_error_in_the_loss(infinity: float, dtype: torch.dtype) -> None:
    logits = torch.zeros(2, 4, dtype=dtype)
    logits[1, 2] = infinity
    with pytest.raises(ScoreError, match=f"Logits have the value {infinity} in row 1, class 'dog'"):
        mc_loss(logits, Y, PETS)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", HALF + FULL)
def test_nan_is_never_hidden_where_values_are_not_checked(sign: int, dtype: torch.dtype) -> None:
    """A NaN with the sign bit set is what 0 / 0 gives on common processors."""
    scores = torch.tensor([[0.5, 0.5, NAN, 0.5], [NAN, 0.5, 0.5, 0.5]], dtype=dtype).copysign(torch.tensor(sign))
    expected = [[True, False, True, True], [True, False, False, False]]
    assert max_constraint(scores, PETS, validate=False).isnan().tolist() == expected
    with torch.inference_mode():
        assert max_constraint(scores, PETS, validate=False).isnan().tolist() == expected
        with pytest.raises(ScoreError, match="Scores have the value nan in row 0, class 'dog'"):
            max_constraint(scores, PETS)


def test_an_infinite_loss_of_a_masked_class_does_not_count() -> None:
    logits = torch.tensor([[math.inf, 0.0, 0.0, 0.0]])
    mask = torch.tensor(PETS.depths > 0)
    assert torch.isfinite(mc_loss(logits, Y[:1], PETS, mask=mask, validate=False))


def test_without_validation_values_are_not_checked() -> None:
    scores = torch.tensor([[0.0, NAN, 0.0, 0.0]])
    assert max_constraint(scores, PETS, validate=False).shape == scores.shape
    assert mc_loss(torch.zeros(1, 4), Y[:1] + 2, PETS, validate=False).shape == ()


def test_second_derivatives() -> None:
    logits = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(PETS.encode([{"dog"}, {"cat"}])).double()
    assert torch.autograd.gradgradcheck(lambda values: mc_loss(values, y, PETS), (logits,))
    assert torch.autograd.gradcheck(lambda values: max_constraint(values, PETS), (logits,))


@pytest.mark.parametrize("dims", [(0, None), (1, None), (None, 0), (2, 1)])
def test_vmap(dims: tuple[int | None, int | None]) -> None:
    sets = [[{"dog"}, {"cat"}], [{"pet"}, {"cat"}], [set(), {"animal"}]]
    logits, y = torch.randn(3, 2, 4), torch.tensor(np.stack([PETS.encode(rows) for rows in sets]))
    expected = [
        mc_loss(logits[0 if dims[0] is None else row], y[0 if dims[1] is None else row], PETS) for row in range(3)
    ]
    given = [
        values[0] if dim is None else values.movedim(0, dim) for values, dim in zip((logits, y), dims, strict=True)
    ]
    losses = torch.func.vmap(lambda x, labels: mc_loss(x, labels, PETS, validate=False), in_dims=dims)(*given)
    torch.testing.assert_close(losses, torch.stack(expected))


def test_vmap_while_predicting() -> None:
    scores = torch.rand(3, 2, 4)
    with torch.inference_mode():
        found = torch.func.vmap(lambda rows: max_constraint(rows, PETS, validate=False))(scores)
    assert torch.equal(found, max_constraint(scores, PETS))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_tracing_while_predicting_records_no_constants() -> None:
    with torch.inference_mode(), pytest.raises(RuntimeError):
        torch.jit.trace(lambda rows: max_constraint(rows, PETS), torch.rand(2, 4))
