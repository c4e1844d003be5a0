"""The experiments of the paper: each module runs one, reads its results and turns them into a section of the page."""
