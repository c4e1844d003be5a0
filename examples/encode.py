"""Give each text of a table the numbers of a pretrained encoder, as columns beside it.

This needs sentence-transformers, which downloads the encoder once, or takes it from a folder:

    pip install sentence-transformers
    python examples/encode.py examples/data/applications.csv description encoded.csv [name or folder of the encoder]

Then train on ``encoded.csv``, and encode new tables in the same way before you predict.
"""

import sys

import pandas as pd
from sentence_transformers import SentenceTransformer

ENCODER = "all-MiniLM-L6-v2"


def main() -> None:
    """Read a table, encode one column, and write the table with the new columns."""
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: python examples/encode.py TABLE.csv COLUMN ENCODED.csv [ENCODER]")
    source, column, target = sys.argv[1:4]
    table = pd.read_csv(source, dtype=str, keep_default_na=False)  # so that all other cells stay as they are
    if column not in table:
        sys.exit(f"{source} has no column {column!r}, but {', '.join(map(repr, table.columns))}.")
    if f"{column} 0" in table:
        sys.exit(f"{source} has a column '{column} 0': it is encoded already.")
    encoder = SentenceTransformer(sys.argv[4] if len(sys.argv) > 4 else ENCODER)
    numbers = encoder.encode(table[column].tolist(), show_progress_bar=True)
    encoded = pd.DataFrame(numbers, index=table.index).add_prefix(f"{column} ")
    table.join(encoded).to_csv(target, index=False)
    print(f"{target}: {len(table)} rows, and {encoded.shape[1]} columns for {column!r}")


if __name__ == "__main__":
    main()
