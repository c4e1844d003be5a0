"""The seed of a training."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from chmcnn.errors import ChmcnnError
from chmcnn.training import join


def choose_seed(state: int | np.random.RandomState | None) -> int:
    """Return the seed of one training."""
    if isinstance(state, int | np.integer):
        if not 0 <= state < 2**32:
            raise ChmcnnError(f"random_state is {state}; expected a number from 0 to {2**32 - 1}.")
        return int(state)
    return int(check_random_state(state).randint(2**31 - 1))


def agree_on_seed(state: int | np.random.RandomState | None) -> int:
    """Return the seed of a training that several processes do together: that of the first, if it is drawn."""
    return choose_seed(state) if isinstance(state, int | np.integer) else join().from_first(lambda: choose_seed(state))
