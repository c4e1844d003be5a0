"""Benchmarks: each module is a command, such as ``python -m benchmarks.cost``."""
