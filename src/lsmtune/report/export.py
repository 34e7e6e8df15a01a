"""The files to deploy: the tuned options in the form that the user's store reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.option_text import option_place, statements
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options

_DATABASE = "DBOptions"
_CALLS = {True: "db->SetDBOptions(", False: "db->SetOptions(family, "}
"""How options are set while the store runs: those of the database, and those of a family."""


@dataclass(frozen=True, slots=True)
class OptionsBase:
    """An OPTIONS file that is to be changed, and the column family in it that is tuned."""

    text: str
    family: str


def export_options(knobs: Sequence[Knob], settings: Settings, base: OptionsBase, note: str) -> str:
    """The base OPTIONS file with the tuned keys set, every other byte as it was.

    `note` is put before it as a comment. ParseError when the base lacks a needed section.
    """
    wanted = statements(knobs, settings, parse_options(base.text).sections, base.family)
    return _comment(note) + replace_options(base.text, wanted)


def export_db_bench(catalogue: Catalogue, tuned: Mapping[str, Value], note: str) -> str:
    """The tuned knobs as flags of db_bench, one a line, fit for `--flagfile`."""
    lines = []
    for name, value in tuned.items():
        if catalogue.knob(name).flag:
            lines.append(f"--{name}={int(value) if isinstance(value, bool) else value}")
        else:
            lines.append(f"# db_bench has no flag for {name} = {value}: use --options_file")
    return _comment(note) + "\n".join(lines) + "\n"


def export_toml(tuned: Mapping[str, Value], note: str) -> str:
    """The tuned knobs as a table of TOML, for stores that read no file of options."""
    return _comment(note) + "".join(f"{name} = {json.dumps(v)}\n" for name, v in tuned.items())


def deployment_lines(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> list[str]:
    """What of a change to the settings can be made while the store runs, and what cannot.

    The calls are those of RocksDB's C++ interface; its other bindings have the same. SetOptions
    checks values, but does not set right what does not fit together (rules 1 to 9 of the options);
    the values here have been run together.
    """
    if not knobs:
        return ["nothing changes"]
    online = [knob for knob in knobs if knob.option and knob.apply == "online"]
    restart = [knob for knob in knobs if knob.option and knob.apply == "restart"]
    outside = [knob for knob in knobs if knob.option is None]
    lines = _online_lines(online, settings, base)
    if restart:
        names = ", ".join(dict.fromkeys(_key(knob) for knob in restart))
        lines += [f"Need a restart with this file (and take no effect before it): {names}"]
    for knob in outside:
        lines += [f"Not in any OPTIONS file, set it where the store is opened: {knob.name} = "
                  f"{settings[knob.name]}"]  # fmt: skip
    return lines


def _online_lines(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> list[str]:
    if not knobs:
        return []
    changes = statements(knobs, settings, parse_options(base.text).sections, base.family)
    lines = ["Can be set while the store runs (RocksDB checks such calls, but adjusts nothing):"]
    for of_database, call in _CALLS.items():
        chosen = {key: text for (section, key), text in changes.items()
                  if (section == _DATABASE) == of_database}  # fmt: skip
        if chosen:
            handle = "" if of_database else f'  // family: the handle of "{base.family}"'
            lines.append(f"  {call}{{{handle}")
            lines += [f'    {{"{key}", "{text}"}},' for key, text in chosen.items()]
            lines.append("  });")
    return lines


def _key(knob: Knob) -> str:
    return option_place(knob)[1]


def _comment(note: str) -> str:
    return "".join(f"# {line}\n" for line in note.splitlines())
