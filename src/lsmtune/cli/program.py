"""The group of all commands: help by topic, and the nearest right word for a wrong one."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lsmtune.api.flags import check_values
from lsmtune.cli.commands import COMMANDS
from lsmtune.errors import UserError, allowed_text, unknown_word

_COMMAND_WIDTH = 12
_OTHER = "Options"
_WRONG_VALUE = re.compile(r"Invalid value for '?(.+?)'?(?: / .+)?: (.*)")
_MISSING = re.compile(r"Missing (argument|option) '([^' ]+).*?'(?: / '[^']*')*\.?(?: (.*))?")
_NO_CHOICE = re.compile(r"'(.*)' is not one of .*")


class Command(TyperCommand):
    """A command whose help has its options in groups: `rich_help_panel` names the group."""

    def parse_args(self, ctx: Any, args: Any) -> Any:
        """Read the arguments; UserError for an option without its value."""
        if not ctx.resilient_parsing:
            params: list[Any] = self.get_params(ctx)
            check_values(args, {
                name: () if each.is_flag else each.get_help_record(ctx)
                for each in params if each.param_type_name == "option"
                for name in (*each.opts, *each.secondary_opts)
            })  # fmt: skip
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups in the order of their first options; those without a name come last."""
        params: list[Any] = self.get_params(ctx)
        if not any(getattr(param, "rich_help_panel", None) for param in params):
            super().format_options(ctx, formatter)
            return
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in params:
            record = param.get_help_record(ctx)
            usual = "Arguments" if param.param_type_name == "argument" else _OTHER
            group = getattr(param, "rich_help_panel", None) or usual
            if record is not None:
                groups.setdefault(group, []).append(record)
        for title in sorted(groups, key=lambda title: title == _OTHER):
            with formatter.section(title):
                formatter.write_dl(groups[title])


class Commands(Mapping[str, Any]):
    """The commands by name. Each is imported and made when it is asked for."""

    def __init__(self) -> None:
        """Take the rows of all topics."""
        self._rows = {name: row for rows in COMMANDS.values() for name, row in rows.items()}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return the command of that name; KeyError if there is none."""
        if name not in self._made:
            module, short_help = self._rows[name]
            if module is None:
                function = _offered(name)
            else:
                function = getattr(import_module(f"lsmtune.cli.{module}"), name)
            alone = typer.Typer(
                add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
            )
            alone.command(cls=Command, short_help=short_help)(function)
            self._made[name] = get_command(alone)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names in the order of the help."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._rows)


def _offered(name: str) -> Any:
    """Return the command that an entry point offers; UserError if there is none."""
    from importlib.metadata import entry_points  # late: it takes long

    for point in entry_points(group="lsmtune.commands", name=name):
        return point.load()
    raise UserError(f"{name}: this installation of lsmtune lacks the command; install it again")


class Program(TyperGroup):
    """All commands of lsmtune."""

    def __init__(self, **given: Any) -> None:
        """Take what Typer gives, and the commands."""
        super().__init__(**given)
        self.commands: Any = Commands()

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the program; a flag that is not given is False.

        Typer's own value is None, for which Typer imports pydantic: half the time of
        `lsmtune tune --help`.
        """
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if param.is_bool_flag and param.default is None:
                param.default = False
        return params

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands below their topics; this imports none of them."""
        for topic, rows in COMMANDS.items():
            with formatter.section(topic):
                formatter.write_dl(
                    [(name.ljust(_COMMAND_WIDTH), text) for name, (_, text) in rows.items()]
                )

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """Return the command that the arguments name; UserError for an unknown one."""
        name = args[0]
        is_command = name in self.commands or name.startswith("-")
        if not is_command and not ctx.resilient_parsing:
            raise UserError(unknown_word("command", name, self.commands))
        return super().resolve_command(ctx, args)


def usage_message(error: Any) -> str:
    """Return the message of an error in the arguments, in one line."""
    if hasattr(error, "possibilities"):  # an unknown option
        command: Any = error.ctx.command
        names = [name for option in command.get_params(error.ctx) for name in option.opts]
        known = [name for name in names if name.startswith("--")]
        return unknown_word("option", error.option_name, known, f"{error.ctx.command_path} --help")
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    text = " ".join(text.replace("Value error, ", "").split())
    if (missing := _MISSING.fullmatch(text)) is not None:
        kind, name, rest = missing.groups()
        path = error.ctx.command_path
        allowed = f"{rest[:1].lower()}{rest[1:].rstrip('.')}; " if rest else ""
        example = f"write `{path} {name}`, " if kind == "argument" else ""
        return f"{path}: the {kind} {name} is missing; {allowed}{example}see `{path} --help`"
    if (found := _WRONG_VALUE.fullmatch(text)) is None:
        return text[:1].lower() + text[1:].rstrip(".")
    place, problem = found[1], found[2]
    if (wrong := _NO_CHOICE.fullmatch(problem)) is not None:
        choices = [str(choice) for choice in error.param.type_descriptor.choices]
        return f"{place}: {unknown_word('value', wrong[1], choices)}"
    if hasattr(error.__cause__, "errors"):  # pydantic's error; typer leaves out the value
        refused = error.__cause__.errors()[0]
        return f"{place} {refused['input']!r}: {allowed_text(refused)}"
    return f"{place}: {problem[:1].lower()}{problem[1:]}"
