"""Data sets: so far the synthetic problems of the paper."""
