"""Data sets: so far synthetic problems, and the hierarchical ARFF format."""
