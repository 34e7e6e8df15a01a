"""The flags of all commands are those of the record."""

from typing import Any

import typer
from contract_record import check

from lsmtune.cli.main import app


def test_flags_of_all_commands(write: bool) -> None:
    program: Any = typer.main.get_command(app)
    found = {
        name: {parameter.opts[0]: _described(parameter) for parameter in command.params}
        for name, command in sorted(program.commands.items())
    }
    check("flags", found, write=write)


def _described(parameter: Any) -> dict[str, Any]:
    kind = parameter.type_descriptor.annotation
    return {
        "kind": parameter.param_type_name,
        "spelled": [*parameter.opts, *parameter.secondary_opts],
        "type": getattr(kind, "__name__", str(kind)),
        "least": parameter.min,
        "most": parameter.max,
        "required": parameter.required,
        "default": None if parameter.default is None else str(parameter.default),
        "repeatable": parameter.multiple or parameter.nargs == -1,
        "environment": parameter.envvar,
    }
