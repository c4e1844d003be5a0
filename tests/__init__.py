"""Tests: a package, because others install a package of the same name, which would come first."""
