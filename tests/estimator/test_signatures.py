"""A model is loaded with a key only if its signature is of that key, and nothing was changed since."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.changed_models import change_facts

import chmcnn
from chmcnn import CHMCNNClassifier, ChmcnnError, FileError, ModelError, load_model, sign_model
from chmcnn.estimator import _model_files, create_key, needs_password
from chmcnn.estimator._model_folder import FACTS, SIGNATURE, TENSORS

CHANGED = "the signature does not fit model.json and the key"


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed model, another one, and two pairs of keys."""
    place = tmp_path_factory.mktemp("signed")
    for seed, name in enumerate(("model", "other")):
        train(seed).save(place / name)
    for name in ("mine", "theirs"):
        create_key(place / f"{name}.pem", place / f"{name}.pub.pem")
    sign_model(place / "model", place / "mine.pem")
    sign_model(place / "other", place / "mine.pem")
    return place


def train(seed: int) -> CHMCNNClassifier:
    model = CHMCNNClassifier(epochs=1, widths=(2,), random_state=seed, validation=0)
    return model.fit([[0.0], [1.0]] * 5, ["a/b", "a/c"] * 5)


@pytest.fixture
def model(signed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(signed / "model", tmp_path / "model")


def test_a_signed_model_is_loaded_with_the_key_and_without(signed: Path) -> None:
    for key in (None, signed / "mine.pub.pem", str(signed / "mine.pub.pem"), (signed / "mine.pub.pem").read_bytes()):
        assert load_model(signed / "model", verify_key=key).hierarchy_.classes == ("a", "a/b", "a/c")
    assert CHMCNNClassifier.load(signed / "model", verify_key=signed / "mine.pub.pem").n_features_in_ == 1


def alter(model: Path, _: Path) -> None:
    content = (model / FACTS).read_bytes()
    (model / FACTS).write_bytes(content.replace(b'"seed"', b'"sEed"'))


def compute_checksums_again(model: Path, signed: Path) -> None:
    """Do what a stranger does who knows the format: other tensors, and facts that fit them."""
    content = (signed / "other" / TENSORS).read_bytes()
    (model / TENSORS).write_bytes(content)
    change_facts(model, {"sha256": hashlib.sha256(content).hexdigest()})
    assert load_model(model).n_features_in_ == 1


def swap_facts(model: Path, signed: Path) -> None:
    shutil.copy(signed / "other" / FACTS, model / FACTS)


def swap_signature(model: Path, signed: Path) -> None:
    shutil.copy(signed / "other" / SIGNATURE, model / SIGNATURE)


def cut_signature(model: Path, _: Path) -> None:
    (model / SIGNATURE).write_bytes((model / SIGNATURE).read_bytes()[:40])


def sign_with_another_key(model: Path, signed: Path) -> None:
    sign_model(model, signed / "theirs.pem")


@pytest.mark.parametrize(
    "change", [alter, compute_checksums_again, swap_facts, swap_signature, cut_signature, sign_with_another_key]
)
def test_a_changed_model_is_refused_before_its_facts_are_used(
    model: Path, signed: Path, change: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(model, signed)
    monkeypatch.setattr(_model_files, "loads", lambda _: pytest.fail("the facts were read"))
    with pytest.raises(ModelError, match=CHANGED):
        load_model(model, verify_key=signed / "mine.pub.pem")


def test_a_swapped_file_of_tensors_is_refused(model: Path, signed: Path) -> None:
    shutil.copy(signed / "other" / TENSORS, model / TENSORS)
    with pytest.raises(ModelError, match="does not match model"):
        load_model(model, verify_key=signed / "mine.pub.pem")


def test_a_model_without_a_signature_is_refused_with_a_key_alone(model: Path, signed: Path) -> None:
    (model / SIGNATURE).unlink()
    assert load_model(model).n_features_in_ == 1
    with pytest.raises(ModelError, match=r"the model is not signed: it has no model\.json\.sig"):
        load_model(model, verify_key=signed / "mine.pub.pem")


def test_a_new_training_deletes_the_signature(model: Path, signed: Path) -> None:
    (model / "notes.txt").write_text("mine")
    train(2).save(model, force=True)
    assert not (model / SIGNATURE).exists()
    assert (model / "notes.txt").exists()
    with pytest.raises(ModelError, match="not signed"):
        load_model(model, verify_key=signed / "mine.pub.pem")


def test_a_damaged_model_is_not_signed(model: Path, signed: Path) -> None:
    before = (model / SIGNATURE).read_bytes()
    (model / TENSORS).write_bytes(b"other")
    with pytest.raises(ModelError, match="does not match model"):
        sign_model(model, signed / "mine.pem")
    assert (model / SIGNATURE).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a public key in PEM"),
        (b"-----BEGIN PUBLIC KEY-----\nxx\n-----END PUBLIC KEY-----\n", "not a public key in PEM"),
        (
            (
                b"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=\n"
                b"-----END PUBLIC KEY-----\n"
            ),
            "not one of Ed25519",
        ),
    ],
    ids=["empty", "damaged", "another kind"],
)
def test_a_wrong_key_is_told(signed: Path, tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "key.pem").write_bytes(content)
    with pytest.raises(FileError, match=rf"key\.pem: .*{told}.*chmcnn create-key"):
        load_model(signed / "model", verify_key=tmp_path / "key.pem")


def test_the_keys_are_not_mixed_up(signed: Path) -> None:
    with pytest.raises(FileError, match="not a private key"):
        sign_model(signed / "model", signed / "mine.pub.pem")
    with pytest.raises(FileError, match="not a public key"):
        load_model(signed / "model", verify_key=signed / "mine.pem")
    with pytest.raises(FileError, match="the key cannot be read: No such file"):
        load_model(signed / "model", verify_key=signed / "none.pem")


def test_a_key_is_for_its_owner_alone_and_never_overwritten(signed: Path, tmp_path: Path) -> None:
    assert (signed / "mine.pem").stat().st_mode & 0o077 == 0
    with pytest.raises(FileError, match="a key is never overwritten"):
        create_key(tmp_path / "new.pem", signed / "mine.pub.pem")
    assert not (tmp_path / "new.pem").exists()


def test_a_missing_key_and_one_file_for_both_are_told(signed: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the key cannot be read: No such file"):
        sign_model(signed / "model", tmp_path / "none.pem")
    with pytest.raises(FileError, match="named for both keys"):
        create_key(tmp_path / "key.pem", tmp_path / "." / "key.pem")
    assert not list(tmp_path.iterdir())


def test_a_key_may_have_a_password(model: Path, signed: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form

    key = form.load_pem_private_key((signed / "mine.pem").read_bytes(), None)
    secret = form.BestAvailableEncryption(b"sesame")
    (tmp_path / "key.pem").write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, secret))
    assert needs_password(tmp_path / "key.pem")
    assert not needs_password(signed / "mine.pem")
    for wrong in (None, "open"):
        with pytest.raises(FileError, match="not a private key in PEM that can be read"):
            sign_model(model, tmp_path / "key.pem", password=wrong)
    sign_model(model, tmp_path / "key.pem", password="sesame")  # noqa: S106 -- of this test
    assert load_model(model, verify_key=signed / "mine.pub.pem").n_features_in_ == 1


def test_without_the_package_the_error_says_what_to_install(signed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cryptography", None)
    with pytest.raises(ChmcnnError, match=r"pip install 'chmcnn\[sign\]'"):
        chmcnn.load_model(signed / "model", verify_key=signed / "mine.pub.pem")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not there")
def test_openssl_verifies_the_signature(signed: Path) -> None:
    words = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", str(signed / "mine.pub.pem")]
    files = ["-in", str(signed / "model" / FACTS), "-sigfile", str(signed / "model" / SIGNATURE)]
    done = subprocess.run([*words, *files], capture_output=True, text=True, check=False)
    if "rawin" in done.stderr:
        pytest.skip("an older openssl")
    assert done.returncode == 0, done.stderr


def test_no_key_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="the key cannot be written"):
        create_key(tmp_path / "new.pem", tmp_path / "file" / "new.pub.pem")
    assert not (tmp_path / "new.pem").exists()
