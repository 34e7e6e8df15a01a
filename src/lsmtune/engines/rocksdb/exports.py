"""Files to deploy on RocksDB: an OPTIONS file, or flags of db_bench."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsmtune.engines.exports import (
    Differences,
    Export,
    Exported,
    ExportFormat,
    UserFile,
    comment,
    named_file,
    noted,
    without_notes,
)
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.knobs.knob_text import knob_value
from lsmtune.knobs.option_files import OPTIONS_STRING, file_kind
from lsmtune.knobs.option_text import (
    DERIVED,
    derived_settings,
    option_place,
    read_value,
    statements,
)
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import BYTES_PER_SYNC
from lsmtune.trials import Base

_CALLS = {True: "db->SetDBOptions(", False: "db->SetOptions(family, "}
"""Calls that set options of the database (True) or of a column family (False) at run time."""


@dataclass(frozen=True, slots=True)
class OptionsBase:
    """An OPTIONS file to change, and the tuned column family in it."""

    text: str
    family: str


class Options(ExportFormat):
    """The user's OPTIONS file, or that of the baseline, in which only tuned options change."""

    name = "options"
    file_name = "OPTIONS"
    has_base = True
    effect = (
        "The first lines of the exported file are comments with the calls that set the options at "
        "run time."
    )

    def user_file(self, spec: StudySettings, base: Base, named: Path | None) -> UserFile:
        """Return the OPTIONS file of the baseline, which the study keeps, or the named one."""
        if named is not None:
            return _as_options_file(named_file(named))
        if base.given is not None:
            return UserFile(without_notes(base.given))
        if not base.options:
            raise UserError(
                Argument("form", "options", "--format options"),
                ": the simulator has no OPTIONS file; set ",
                Argument("base"),
                " to yours, or use ",
                Argument("form", "db_bench", "--format db_bench"),
            )
        return UserFile(_for_deployment(base.options))

    def differences(self, export: Export, wanted: Settings) -> Differences:
        """Return the keys of the OPTIONS file that do not have the wanted values."""
        sections = parse_options(export.file.text).sections
        changes = statements(export.knobs_of(wanted), wanted, sections, export.spec.family)
        return {key: (sections.get(section, {}).get(key), text)
                for (section, key), text in changes.items()}  # fmt: skip

    def write(self, export: Export) -> Exported:
        """Return the file with notes on how its options come into effect."""
        file = OptionsBase(export.file.text, export.spec.family)
        changed, deployed = export.changed, file
        if export.online:
            export = _with_followers(export)
            changed = export.knobs
        if export.named:
            sections = parse_options(file.text).sections
            changed = [
                knob
                for knob in changed
                if knob.option is None
                or read_value(knob, sections, file.family) != export.new[knob.name]
            ]
        else:
            text = _with_settings(export.knobs, export.old, file)
            deployed = OptionsBase(text, file.family)
        note = noted(export, deployment_lines(changed, export.old, export.new, deployed))
        text = comment(note) + _with_settings(export.knobs, export.written, file)
        return Exported(text, export.file.path)


class DbBenchFlags(ExportFormat):
    """The tuned options as flags of db_bench, one per line, for `--flagfile`."""

    name = "db_bench"
    file_name = "flags"

    def write(self, export: Export) -> Exported:
        """Return a line for each tuned option; a comment if db_bench has no flag for it."""
        lines = (_flag_line(export.ground.catalogue.knob(name), value)
                 for name, value in export.tuned_settings.items())  # fmt: skip
        return Exported(comment(export.heading) + "".join(lines))


def _for_deployment(options: str) -> str:
    """Return RocksDB's own OPTIONS so that they also open a store that exists.

    RocksDB wrote them when lsmtune made a store, so they may say that the store must not exist.
    """
    place = DATABASE_SECTION, "error_if_exists"
    return replace_options(options, {place: "false"}) if "error_if_exists" in options else options


def _as_options_file(file: UserFile) -> UserFile:
    """Return the file; an options string becomes an OPTIONS file."""
    if file_kind(file.text) != OPTIONS_STRING.name:
        return file
    return replace(file, text=OPTIONS_STRING.read(file.text, str(file.path))[0])


def _flag_line(knob: Knob, value: Value) -> str:
    if knob.flag:
        return f"--{knob.name}={int(value) if isinstance(value, bool) else value}\n"
    return (
        f"# db_bench has no flag for {knob.name} = {value}; set {knob.name} in a file for "
        "--options_file\n"
    )


def _with_followers(export: Export) -> Export:
    """Return an export of the changed options, and of those that RocksDB derives from them.

    RocksDB derives them when it opens a store, not while it runs. So they must be set too.
    """
    derived = [derived_settings(of) for of in (export.old, export.new)]
    changed = {knob.name for knob in export.changed}
    names = changed | {n for of in derived for n in of if DERIVED[n][0] in changed}
    old, new = (
        {**of, **{n: value for n, value in values.items() if n in names}}
        for of, values in zip((export.old, export.new), derived, strict=True)
    )
    return replace(
        export,
        tuned=tuple(knob.name for knob in export.ground.catalogue.knobs if knob.name in names),
        old=old,
        new=new,
        written={name: new[name] for name in names} if export.written else {},
    )


def _with_settings(knobs: Sequence[Knob], settings: Settings, base: OptionsBase) -> str:
    """Return the OPTIONS file with these settings of the knobs; every other byte stays.

    Raises ParseError if a needed section is missing.
    """
    wanted = statements(knobs, settings, parse_options(base.text).sections, base.family)
    return replace_options(base.text, wanted)


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


OPTIONS, DB_BENCH_FLAGS = Options(), DbBenchFlags()

EXPORTS = (OPTIONS, DB_BENCH_FLAGS)
"""The formats of the engine; the first one is the one to deploy."""
