"""The paper, reproduced: one file for each table and figure, and the page that joins them."""
