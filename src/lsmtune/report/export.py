"""Files to deploy: the tuned options in the format that the store reads."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.knobs.option_text import option_place, read_value, statements
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options
from lsmtune.report.text.words import knob_value
from lsmtune.spec_defaults import BYTES_PER_SYNC

_CALLS = {True: "db->SetDBOptions(", False: "db->SetOptions(family, "}
"""Calls that set options of the database (True) or of a column family (False) at run time."""

_FIRST_NOTE, LAST_NOTE = "lsmtune, study ", "End of the notes of lsmtune."
_NOTES = re.compile(rf"# {_FIRST_NOTE}[^\n]*\n(?:#[^\n]*\n)*?# {re.escape(LAST_NOTE)}\n")

Differences = dict[str, tuple[str | None, str]]
"""For each key: its text in a file (None: the file lacks it), and the text of some settings."""


@dataclass(frozen=True, slots=True)
class OptionsBase:
    """An OPTIONS file to change, and the tuned column family in it."""

    text: str
    family: str


def export_options(knobs: Sequence[Knob], settings: Settings, base: OptionsBase, note: str) -> str:
    """Return the baseline's OPTIONS file with these settings; every other byte stays.

    `note` becomes a comment at the top. Raises ParseError if a needed section is missing.
    """
    wanted = statements(knobs, settings, parse_options(base.text).sections, base.family)
    return _comment(note) + replace_options(base.text, wanted)


def differences(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> Differences:
    """Return the keys of an OPTIONS file that do not have the value of the settings."""
    sections = parse_options(base.text).sections
    changes = statements(knobs, settings, sections, base.family)
    return {key: (sections.get(section, {}).get(key), text)
            for (section, key), text in changes.items()}  # fmt: skip


def differing(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> tuple[Knob, ...]:
    """Return the knobs that an OPTIONS file has with another value, or not at all."""
    sections = parse_options(base.text).sections
    return tuple(k for k in knobs if read_value(k, sections, base.family) != settings[k.name])


def export_db_bench(catalogue: Catalogue, tuned: Mapping[str, Value], note: str) -> str:
    """Return the tuned knobs as db_bench flags, one per line, for `--flagfile`."""
    lines = []
    for name, value in tuned.items():
        if catalogue.knob(name).flag:
            lines.append(f"--{name}={int(value) if isinstance(value, bool) else value}")
        else:
            lines.append(
                f"# db_bench has no flag for {name} = {value}; set {name} in a file for "
                "--options_file"
            )
    return _comment(note) + "\n".join(lines) + "\n"


def export_toml(tuned: Mapping[str, Value], note: str) -> str:
    """Return the tuned knobs as TOML, for stores without an options file."""
    return _comment(note) + "".join(f"{name} = {json.dumps(v)}\n" for name, v in tuned.items())


def deployment_lines(
    knobs: Sequence[Knob], before: Settings, settings: Settings, base: OptionsBase
) -> list[str]:
    """Return notes: which options can be changed at run time, and which need a restart.

    `before` are the settings before the change. The calls are those of RocksDB's C++ interface; its
    bindings have the same. SetOptions checks single values, but does not correct combinations.
    lsmtune has run this combination.
    """
    if not knobs:
        return ["This file changes no option."]
    online = [knob for knob in knobs if knob.option and knob.apply == "online"]
    restart = [knob for knob in knobs if knob.option and knob.apply == "restart"]
    outside = [knob for knob in knobs if knob.option is None]
    lines = []
    if restart:
        names = ", ".join(dict.fromkeys(_key(knob) for knob in restart))
        lines += [f"These options take effect only after a restart with this file: {names}."]
    lines += _online_lines(online, settings, base)
    if outside:
        lines += [
            "An OPTIONS file cannot contain these settings. Set them where your program opens the "
            "store:",
            *(
                f"  {knob.set_by or knob.name}: {_with_bytes(knob, settings[knob.name])} instead "
                f"of {knob_value(knob, before[knob.name])}"
                for knob in outside
            ),
        ]
    return lines


def _with_bytes(knob: Knob, value: Value) -> str:
    text = knob_value(knob, value)
    return f"{text} ({value} bytes)" if text.endswith("iB") else text


def _online_lines(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> list[str]:
    if not knobs:
        return []
    sections = parse_options(base.text).sections
    changes = statements(knobs, settings, sections, base.family)
    lines = ["These options take effect after a restart, or at run time by these calls:"]
    for of_database, call in _CALLS.items():
        chosen = {key: text for (section, key), text in changes.items()
                  if (section == DATABASE_SECTION) == of_database}  # fmt: skip
        if chosen:
            handle = "" if of_database else f'  // family: the handle of "{base.family}"'
            lines.append(f"  {call}{{{handle}")
            lines += [f'    {{"{key}", "{text}"}},' for key, text in chosen.items()]
            lines.append("  });")
        is_zero = sections.get(DATABASE_SECTION, {}).get(BYTES_PER_SYNC) == "0"
        if chosen and of_database and is_zero and BYTES_PER_SYNC not in chosen:
            lines.append(f"SetDBOptions also changes {BYTES_PER_SYNC} from 0 to 1048576. Only a "
                         "restart undoes this.")  # fmt: skip
    return lines


def _key(knob: Knob) -> str:
    return option_place(knob)[1]


_ASCII = str.maketrans({
    "\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-", "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=", "\N{MICRO SIGN}": "u", "\N{PLUS-MINUS SIGN}": "+-",
})  # fmt: skip


def ascii_text(text: str) -> str:
    """Return the text with its signs in ASCII, for files that old parsers read."""
    return text.translate(_ASCII)


def without_notes(text: str) -> str:
    """Return a file without the notes that an earlier export wrote at its top."""
    while (found := _NOTES.match(text)) is not None:
        text = text[found.end() :]
    return text


def _comment(note: str) -> str:
    return "".join(f"# {line}\n" for line in note.splitlines())
