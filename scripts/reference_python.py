"""The reference page of `import lsmtune`, from the docstrings of its public names."""

import dataclasses
import inspect
from collections.abc import Iterator
from functools import cached_property
from textwrap import wrap
from typing import Any

import lsmtune
from lsmtune.api.figures import FIGURES

_FUNCTIONS = ("tune", "verify", "result", "studies", "inspect", "simulate", "screen", "importance",
              "sweep", "function_engine")  # fmt: skip
_RECORDS = ("Result", "Claim", "Interval", "Inspection", "Simulation", "ScreenResult",
            "ImportanceResult", "SweepResult")  # fmt: skip
_WITH_METHODS = (
    "Result", "Simulation", "ScreenResult", "ImportanceResult", "SweepResult", "Observer",
)  # fmt: skip
_OTHERS = ("Observer", "LsmtuneError", "UserError", "Cancelled", "StudySettings", "Knob", "Metric")


_WIDTH = 100


def python() -> str:
    """Return the page of the Python interface."""
    lines = [
        "# Python interface",
        "",
        "`import lsmtune` gives these names. The page",
        "[From Python and notebooks](../how-to/python.md) shows how to use them. The interface is",
        "public from version 0.3.0 on.",
        "",
        *_paragraphs(inspect.getdoc(inspect.getmodule(lsmtune.tune)) or "", skip=1),
        "## Functions",
    ]
    for name in _FUNCTIONS:
        lines += ["", *_function(name, getattr(lsmtune, name))]
    lines += ["", "## Records"]
    for name in _RECORDS:
        lines += ["", *_class(name, getattr(lsmtune, name))]
    names = ", ".join(f'`"{name}"`' for name in FIGURES)
    lines += ["", f"Names of figures: {names}.", "", "## Other names"]
    for name in _OTHERS:
        lines += ["", *_class(name, getattr(lsmtune, name))]
    return "\n".join(lines).rstrip() + "\n"


def _function(name: str, function: Any, title: str = "###") -> Iterator[str]:
    yield f"{title} {name}"
    yield ""
    yield "```python"
    yield _signature(name.rpartition(".")[2], function)
    yield "```"
    yield ""
    yield from _paragraphs(inspect.getdoc(function) or "")


def _signature(name: str, function: Any) -> str:
    """Return the call with its defaults, one parameter per line if it is long."""
    parts = []
    star = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            parts.append("*")
        prefix = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f"={_plain(parameter.default)}"
        parts.append(f"{prefix}{parameter.name}{default}")
    return f"{name}({', '.join(parts)})"


def _plain(value: object) -> str:
    return repr(str(value)) if hasattr(value, "parts") else repr(value)


def _class(name: str, kind: Any) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    text = inspect.getdoc(kind) or ""
    yield from _paragraphs(text if name in _RECORDS else text.partition("\n\n")[0])
    if name in _RECORDS:
        yield "Fields:"
        yield ""
        yield "```text"
        yield from wrap(", ".join(_fields(kind)), _WIDTH)
        yield "```"
        yield ""
    if name not in _WITH_METHODS:
        return
    for member, value in vars(kind).items():
        if not member.startswith("_") and inspect.isfunction(value) and inspect.getdoc(value):
            yield from _function(f"{name}.{member}", value, "####")


def _fields(kind: Any) -> Iterator[str]:
    """Give the names of the fields and properties of a record."""
    yield from (field.name for field in dataclasses.fields(kind) if field.repr)
    for name, value in vars(kind).items():
        if not name.startswith("_") and isinstance(value, property | cached_property):
            yield name


def _paragraphs(text: str, skip: int = 0) -> Iterator[str]:
    """Give the paragraphs of a docstring, each on one line, without the first `skip`."""
    for paragraph in text.split("\n\n")[skip:]:
        yield " ".join(paragraph.split())
        yield ""
