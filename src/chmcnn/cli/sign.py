"""`chmcnn sign` and `chmcnn create-key`: who trained a model, or vouches for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chmcnn.cli._groups import Omit, expand_groups
from chmcnn.cli._options import Invocation, Model


@expand_groups
def sign(
    model: Model,
    *,
    key: Annotated[Path, typer.Option(help="PEM file with an Ed25519 private key.")],
    call: Annotated[Invocation, Omit("json", "data_dir")],
) -> None:
    """Sign a model, so that others can verify with --verify-key that it is yours and unchanged.

    The signature is the file model.json.sig of the model folder. A new training that overwrites the model deletes it.

    [bold]Examples[/bold]

    chmcnn create-key private.pem public.pem

    chmcnn sign model/ --key private.pem

    chmcnn predict model/ new.csv --verify-key public.pem
    """
    from chmcnn.estimator import needs_password, sign_model

    password = typer.prompt(f"Password of {key}", hide_input=True, err=True) if needs_password(key) else None
    sign_model(model, key, password=password)
    call.notify(f"{model} is signed.")


@expand_groups
def create_key(
    private: Annotated[Path, typer.Argument(help="File for the private key: whoever has it can sign as you.")],
    public: Annotated[Path, typer.Argument(help="File for the public key, for those who verify your models.")],
    *,
    call: Annotated[Invocation, Omit("json", "data_dir")],
) -> None:
    """Create a pair of keys to sign models with.

    [bold]Examples[/bold]

    chmcnn create-key private.pem public.pem
    """
    from chmcnn import estimator

    estimator.create_key(private, public)
    call.notify(f"Keep {private} to yourself, and give {public} to those who use your models.")
