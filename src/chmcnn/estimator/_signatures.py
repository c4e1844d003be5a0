"""Signatures of models, by Ed25519 keys in PEM files: only who has the private key can write one that fits.

The signature is that of the bytes of ``model.json``, which has the checksums of the other files of the model. It is 64
bytes, as other programs write and verify them: ``openssl pkeyutl -verify -rawin -pubin -inkey public.pem -in model.json
-sigfile model.json.sig``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from chmcnn._io.files import stage_file
from chmcnn.errors import ChmcnnError, FileError, ModelError
from chmcnn.estimator._model_folder import FACTS, SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_CREATE = "create one with: chmcnn create-key private.pem public.pem"


def create_key(private: str | Path, public: str | Path) -> None:
    """Write a new private key, which only you may read, and the public key that belongs to it.

    Parameters
    ----------
    private, public
        PEM files, which must not exist yet.
    """
    _require()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if Path(private).resolve() == Path(public).resolve():
        raise FileError("named for both keys; choose another file for one of them", Path(public))
    for path in map(Path, (private, public)):
        if path.exists():
            raise FileError("already exists, and a key is never overwritten; choose another file", path)
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    known = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _write(Path(private), secret, 0o600)
    try:
        _write(Path(public), known, 0o644)
    except FileError:
        Path(private).unlink(missing_ok=True)  # nobody could use it
        raise


def _write(path: Path, content: bytes, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise FileError(f"the key cannot be written: {error.strerror}", path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
    except OSError as error:
        path.unlink(missing_ok=True)  # half a key
        raise FileError(f"the key cannot be written: {error.strerror}", path) from None


def write_signature(folder: Path, facts: bytes, key: str | Path, password: str | None) -> None:
    """Write the signature of the facts of a model, atomically."""
    signature = _read_private_key(Path(key), password).sign(facts)
    try:
        with stage_file(folder / SIGNATURE) as temporary:
            temporary.write_bytes(signature)
    except OSError as error:
        raise ModelError(f"the signature cannot be written: {error.strerror or error}", folder) from None


def verify_signature(folder: Path, facts: bytes, key: str | Path | bytes) -> None:
    """Raise an error unless a model has a signature that fits its facts and the public key, a file or its content."""
    public_key = _read_public_key(key)
    from cryptography.exceptions import InvalidSignature

    file = folder / SIGNATURE
    try:
        signature = file.read_bytes() if file.is_file() else None
    except OSError as error:
        raise ModelError(f"the signature cannot be read: {error.strerror}", file) from None
    if signature is None:
        raise ModelError(
            f"the model is not signed: it has no {SIGNATURE}, which verify_key= asks for; get it from who trained the "
            "model, or load it without a key if you trust where it comes from",
            folder,
        )
    try:
        public_key.verify(signature, facts)
    except InvalidSignature:
        raise ModelError(
            f"the signature does not fit {FACTS} and the key: the model was changed after it was signed, or it was "
            "signed with another key",
            file,
        ) from None


def needs_password(key: str | Path) -> bool:
    """Whether a private key is encrypted."""
    return b"ENCRYPTED" in _read(Path(key))


def _read_private_key(path: Path, password: str | None) -> Ed25519PrivateKey:
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    secret = None if password is None else password.encode()
    content = _read(path)
    key = _parse(lambda: load_pem_private_key(content, secret), "private", path)
    if not isinstance(key, Ed25519PrivateKey):
        raise FileError(f"the private key is not one of Ed25519; {_CREATE}", path)
    return key


def _read_public_key(source: str | Path | bytes) -> Ed25519PublicKey:
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    path = None if isinstance(source, bytes) else Path(source)
    content = source if isinstance(source, bytes) else _read(Path(source))
    key = _parse(lambda: load_pem_public_key(content), "public", path)
    if not isinstance(key, Ed25519PublicKey):
        raise FileError(f"the public key is not one of Ed25519; {_CREATE}", path)
    return key


def _parse(load: Callable[[], object], kind: str, path: Path | None) -> object:
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load()
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        raise FileError(f"not a {kind} key in PEM that can be read ({reason}); {_CREATE}", path) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"the key cannot be read: {error.strerror}", path) from None


def _require() -> None:
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        raise ChmcnnError("Signatures need the package cryptography: pip install 'chmcnn[sign]'.") from None
