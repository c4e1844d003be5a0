"""Groups of options: dataclasses as parameters of a command."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from tests.cli.inside import run
from typer.testing import CliRunner

from chmcnn.cli._groups import Omit, OptionGroup, expand_groups
from chmcnn.cli._settings import TrainingOptions
from chmcnn.cli.search import search
from chmcnn.cli.train import train
from chmcnn.settings import SETTINGS


@dataclass(frozen=True)
class Size(OptionGroup):
    width: Annotated[int, typer.Option(min=1, help="Units.")] = 3
    depth: int = 2


def test_fields_become_options_and_are_collected_on_a_call() -> None:
    app, calls = typer.Typer(), []

    @app.command()
    @expand_groups
    def build(name: str, *, width: Size, fast: bool = False) -> None:
        """Build it."""
        calls.append((name, width, fast))

    assert CliRunner().invoke(app, ["a", "--width", "5", "--fast"]).exit_code == 0
    assert CliRunner().invoke(app, ["b"]).exit_code == 0
    assert calls == [("a", Size(5, 2), True), ("b", Size(), False)]
    assert CliRunner().invoke(app, ["c", "--width", "0"]).exit_code == 2
    assert "Build it." in CliRunner().invoke(app, ["--help"]).output


def test_omitted_fields_are_no_options_and_keep_their_defaults() -> None:
    calls = []

    @expand_groups
    def build(*, size: Annotated[Size, Omit("depth")]) -> None:
        calls.append(size)

    assert list(inspect.signature(build).parameters) == ["width"]
    build(width=7)
    assert calls == [Size(7, 2)]


def test_an_unknown_omitted_field_and_two_options_of_one_name_are_refused() -> None:
    def unknown(*, size: Annotated[Size, Omit("height")]) -> None: ...

    def twice(*, depth: int, size: Size) -> None: ...

    with pytest.raises(KeyError, match="height"):
        expand_groups(unknown)
    with pytest.raises(ValueError, match="duplicate parameter name: 'depth'"):
        expand_groups(twice)


@pytest.mark.parametrize("command", [train, search])
def test_every_setting_is_an_option_of_train_and_search(command: object) -> None:
    names = {setting.option.name if setting.option else name for name, setting in SETTINGS.items()}
    names |= {setting.shortcut.name for setting in SETTINGS.values() if setting.shortcut}
    assert callable(command)
    assert names <= set(inspect.signature(command).parameters)
    assert names | {"config"} == {parameter.name for parameter in TrainingOptions.parameters()}


def test_help_says_which_options_there_are(tmp_path: Path) -> None:
    shown = " ".join(run("train", "--help", cwd=tmp_path).stdout.split())
    for text in ("--preprocess", "--no-balanced", "--validation-share", "Your own table", "[env var: CHMCNN_DATA]"):
        assert text in shown
