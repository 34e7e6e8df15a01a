"""The reference page of `import lsmtune`, from the docstrings of its public names."""

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from textwrap import wrap
from typing import Any

import lsmtune
from lsmtune.api.figures import FIGURES
from lsmtune.engine_traits import EngineTraits
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.exports import ExportFormat
from lsmtune.workloads import Definition

_FUNCTIONS = ("tune", "verify", "result", "studies", "inspect", "simulate", "screen", "importance",
              "sweep", "function_engine")  # fmt: skip
_RECORDS = ("Result", "Claim", "Interval", "Inspection", "Simulation", "ScreenResult",
            "ImportanceResult", "SweepResult")  # fmt: skip
_WITH_METHODS = (
    "Result", "Simulation", "ScreenResult", "ImportanceResult", "SweepResult", "Observer",
)  # fmt: skip
_OTHERS = ("Observer", "LsmtuneError", "UserError", "Cancelled", "StudySettings")
_OF_ENGINES = (lsmtune.Knob, lsmtune.Metric, EngineEntry, Definition, ExportFormat)
_MAKERS = ("integer", "real", "boolean", "choice")
"""Methods that make a knob."""


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
    lines += [
        "", "## Engines of your own", "",
        "[Add an engine](../how-to/add-an-engine.md) shows how to use these classes.",
    ]  # fmt: skip
    for kind in _OF_ENGINES:
        lines += ["", *_of_engines(kind)]
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
    if name == "Claim":
        yield from _told(kind)
    if name not in _WITH_METHODS:
        return
    members = {name: each for one in reversed(kind.__mro__) for name, each in vars(one).items()}
    for member, value in members.items():
        if not member.startswith("_") and inspect.isfunction(value) and inspect.getdoc(value):
            yield from _function(f"{name}.{member}", value, "####")


def _of_engines(kind: Any) -> Iterator[str]:
    """Give the whole docstring of a class; its members are a table."""
    is_public = kind.__name__ in lsmtune.__all__
    module = "lsmtune" if is_public else _module(kind)
    yield f"### {kind.__name__}"
    yield ""
    yield "```python"
    yield f"from {module} import {kind.__name__}"
    yield "```"
    yield ""
    for paragraph in (inspect.getdoc(kind) or "").split("\n\n"):
        yield from _members(paragraph)
    if kind is EngineEntry:
        yield from ("It also has these members:", "")
        yield from _members((inspect.getdoc(EngineTraits) or "").split("\n\n")[1])
    for name in _MAKERS if kind is lsmtune.Knob else ():
        yield from _function(f"{kind.__name__}.{name}", getattr(kind, name), "####")


def _module(kind: type) -> str:
    """Return the module from which to import a class: its package, if that has the class."""
    package = kind.__module__.rpartition(".")[0]
    return package if hasattr(sys.modules[package], kind.__name__) else kind.__module__


def _members(paragraph: str) -> Iterator[str]:
    """Give a paragraph of a docstring on one line, or as it is if it is a table of members."""
    if re.match(r"\w+(, \w+)*  +\w", paragraph) is None:
        yield from _paragraphs(paragraph)
        return
    yield "```text"
    yield paragraph
    yield "```"
    yield ""


def _fields(kind: Any) -> Iterator[str]:
    """Give the names of the fields and properties of a record."""
    yield from (field.name for field in dataclasses.fields(kind) if field.repr)
    for name, value in vars(kind).items():
        if not name.startswith("_") and isinstance(value, property | cached_property):
            yield name


def _told(kind: Any) -> Iterator[str]:
    """Give what the properties of a record are."""
    for name in _fields(kind):
        if text := inspect.getdoc(vars(kind).get(name)):
            yield f"- `{name}`: {' '.join(text.split())}"
    yield ""


def _paragraphs(text: str, skip: int = 0) -> Iterator[str]:
    """Give the paragraphs of a docstring, each on one line, without the first `skip`."""
    for paragraph in text.split("\n\n")[skip:]:
        yield " ".join(paragraph.split())
        yield ""
