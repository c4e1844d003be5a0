"""Imported once by the server that worker processes are copied from: what takes long, and starts no thread."""

import torch

from chmcnn import Hierarchy
from chmcnn.constraint import max_constraint

max_constraint(torch.zeros(1, 2), Hierarchy.from_edges([("a", "b")]))  # loads the compiled loop
torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first optimizer imports torch's compiler
