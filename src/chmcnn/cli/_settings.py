"""How to train: an option for each setting, over a file of settings."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from chmcnn._typing import JSONValue
from chmcnn.cli._data import refuse_option
from chmcnn.cli._groups import OptionGroup, flag
from chmcnn.errors import ChmcnnError
from chmcnn.settings import SEARCHED, SETTINGS, Option, Setting, check_settings, read

Config = Annotated[
    Path | None,
    typer.Option(
        help='JSON file of settings by the names of the estimator, such as {"widths": \\[500, 500], "epochs": 50}. '
        "Options take precedence.",
        rich_help_panel=SETTINGS["preset"].group,
    ),
]


class TrainingOptions(OptionGroup):
    """An option for each of `chmcnn.settings.SETTINGS`, and ``--config``."""

    known: ClassVar[Mapping[str, Setting]] = SETTINGS

    def __init__(self, config: Path | None = None, **options: JSONValue) -> None:
        self.config = config
        self.options = options  # by the name of the option; None where it was not given

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return one parameter of a command for each option."""
        config = Parameter("config", Parameter.KEYWORD_ONLY, default=None, annotation=Config)
        pairs = [(option, setting) for name, setting in cls.known.items() for option in _options(name, setting)]
        return [config, *(_parameter(option, setting) for option, setting in pairs)]

    def settings(self) -> dict[str, JSONValue]:
        """Return the settings of the file and those of the command line, which take precedence."""
        settings = check_settings(read(self.config), self.config, self.known) if self.config else {}
        for name, setting in self.known.items():
            given = [option for option in _options(name, setting) if self.options.get(option.name) is not None]
            if len(given) > 1:
                first, second = (flag(option.name) for option in given)
                raise ChmcnnError(f"{first} and {second} cannot be used together; use one of them.")
            for option in given:
                value = self.options[option.name]
                if not option.domain.allows(value):
                    raise ChmcnnError(f"{flag(option.name)} is {value!r}; expected {option.domain.expected}.")
                settings[name] = option.setting(value)
        return {name: value for name, value in settings.items() if value is not None}

    def refuse_validation_share(self, name: str) -> None:
        """Refuse to draw validation rows from a data set, which has its own."""
        if self.options.get("validation_share") is not None:
            refuse_option(name, "validation_share")


class SearchedOptions(TrainingOptions):
    """An option for each of `chmcnn.settings.SEARCHED`, and ``--config``."""

    known = SEARCHED


def _options(name: str, setting: Setting) -> list[Option]:
    """Return the options of a setting: mostly one."""
    main = setting.option or Option(name, setting.domain, lambda value: value, setting.help)
    return [main] if setting.shortcut is None else [main, setting.shortcut]


def _parameter(option: Option, setting: Setting) -> Parameter:
    is_switch = option.domain.type is bool
    names = [f"{flag(option.name)}/{flag(f'no_{option.name}')}"] if is_switch else [flag(option.name)]
    info = typer.Option(*names, help=_help(option, setting), rich_help_panel=setting.group)
    return Parameter(
        option.name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[option.domain.type | None, info]
    )


def _help(option: Option, setting: Setting) -> str:
    """Return the help of an option, with its range and its default."""
    is_switch = option.domain.type is bool
    default = "" if is_switch or setting.default is None else f"default: {setting.default}"
    facts = "; ".join(filter(None, (option.domain.range, default)))
    return f"{option.help} \\[{facts}]" if facts else option.help  # escaped: rich reads brackets as markup
