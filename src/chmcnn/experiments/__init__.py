"""The experiments of the paper: each computes values; `chmcnn.report` draws them."""
