"""The optimizer of networks with sparse gradients."""

import torch
from torch import nn

from chmcnn.nn import SparseMLP
from chmcnn.training import Settings
from chmcnn.training._optimizer import _SPARSE_RATE, SparseAdamW, create_optimizer

SETTINGS = Settings(learning_rate=1e-2, weight_decay=0.1)


def test_networks_with_sparse_gradients_get_an_optimizer_for_them() -> None:
    sparse = nn.Sequential(nn.EmbeddingBag(3, 2, sparse=True))
    for network in (SparseMLP(4, 3), sparse):
        assert isinstance(create_optimizer(network, SETTINGS, "cpu"), SparseAdamW)
    dense = create_optimizer(nn.Embedding(3, 2), SETTINGS, "cpu")
    assert type(dense) is torch.optim.Adam


def test_a_step_changes_only_the_rows_of_a_batch_and_is_larger_for_a_rare_one() -> None:
    table = nn.Embedding(3, 2, sparse=True)
    before = table.weight.detach().clone()
    optimizer = create_optimizer(table, SETTINGS, "cpu")
    changes = []
    for words in ([0, 0], [0], [0, 1]):  # a word may occur twice in a batch
        optimizer.zero_grad()
        start = table.weight.detach().clone()
        table(torch.tensor(words)).sum().backward()
        optimizer.step()
        changes.append((table.weight.detach() - start).abs().amax(dim=1))
    assert (table.weight[2] == before[2]).all()
    assert changes[2][1] > changes[2][0] > 0


def test_rows_have_the_step_of_adagrad_and_other_parameters_that_of_adamw() -> None:
    table, rest, twin = nn.Embedding(2, 4, sparse=True), nn.Linear(4, 1), nn.Linear(4, 1)
    twin.load_state_dict(rest.state_dict())
    optimizer = create_optimizer(nn.Sequential(table, rest), SETTINGS, "cpu")
    reference = torch.optim.AdamW(twin.parameters(), lr=1e-2, weight_decay=0.1)
    row, total = table.weight[0].detach().clone(), 0.0
    for _ in range(3):
        twin(row).square().sum().backward()
        error = 2 * twin(row).detach()
        gradient = error * twin.weight[0].detach()
        total += float(gradient.square().mean())
        row = row - _SPARSE_RATE * 1e-2 * gradient / total**0.5
        rest(table(torch.tensor(0))).square().sum().backward()
        for step in (optimizer, reference):
            step.step()
            step.zero_grad()
        torch.testing.assert_close(table.weight[0].detach(), row)
        torch.testing.assert_close(rest.weight.detach(), twin.weight.detach())
