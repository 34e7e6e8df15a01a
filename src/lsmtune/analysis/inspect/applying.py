"""How the changes of a first step are applied: the call or the lines to copy, by the program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsmtune.analysis.inspect.first_steps import Change
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.knobs.advice import action, call_of, name_in_texts
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY
from lsmtune.knobs.option_names import section_of
from lsmtune.units import MIB

_UNKNOWN = "N"
"""Stands for a value that does not follow from the text."""

_KVROCKS_MIB = ("write_buffer_size", "target_file_size_base", "max_total_wal_size")
_KVROCKS_ONLINE = (
    *_KVROCKS_MIB, "max_write_buffer_number", "min_write_buffer_number_to_merge",
    "max_open_files", "max_background_compactions", "max_background_jobs", "max_subcompactions",
    "level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger", "max_bytes_for_level_base", "max_bytes_for_level_multiplier",
    "level_compaction_dynamic_level_bytes", "disable_auto_compactions", "delayed_write_rate",
    "compaction_readahead_size", "max_compaction_bytes", "periodic_compaction_seconds", "ttl",
)  # fmt: skip
"""Options that Kvrocks changes while it runs, and those in MiB (its src/config/config.cc)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A call or a line of a file, ready to copy; `file` says where a line belongs, "" for a call.

    A change in a file needs a restart.
    """

    text: str
    file: str = ""

    def __str__(self) -> str:
        """Return the line, where it belongs, and whether it needs a restart."""
        if not self.file:
            return f"{self.text} (no restart)"
        return f"{self.text} in {self.file} (needs a restart)"


def lines_to_apply(finding: Finding, log: Inspection) -> tuple[Line, ...]:
    """Return how to apply the first step; nothing if it changes no option."""
    own = finding.family
    family = own if own is not None and own in log.families else log.main_family
    ways = {
        "options string": _string,
        "my.cnf": _myrocks,
        "MyRocks status": _myrocks,
        "tikv.toml": _tikv,
        "Kvrocks INFO": _kvrocks,
    }
    return tuple(ways.get(log.kind, _rocksdb)(finding.step.changes, family))


def _rocksdb(changes: Sequence[Change], family: str) -> Iterator[Line]:
    calls: dict[str, list[str]] = {}
    for change in changes:
        section, option = section_of(_outer(change.option)), _outer(change.option)
        if (call := call_of(change.option)) is not None:
            yield Line(call.format(value=_value(change)))
        elif section is None:
            yield Line(f"{option} = {_value(change)}", "the program")
        elif action(change.option).online:
            handle = "" if family == DEFAULT_FAMILY else f'handle of "{family}", '
            of = (
                "db->SetDBOptions({"
                if section == DATABASE_SECTION
                else f"db->SetOptions({handle}{{"
            )
            calls.setdefault(of, []).append(f'{{"{option}", "{_text(change)}"}}')
        else:
            of_family = "" if section == DATABASE_SECTION else f' "{family}"'
            yield Line(f"{option}={_text(change)}", f"the OPTIONS file, [{section}{of_family}]")
    for of, values in calls.items():
        yield Line(f"{of}{', '.join(values)}}})")


def _string(changes: Sequence[Change], _family: str) -> Iterator[Line]:
    for change in changes:
        yield Line(f"{_outer(change.option)}={_text(change)}", "the options string")


def _myrocks(changes: Sequence[Change], family: str) -> Iterator[Line]:
    online = _online("myrocks")
    for change in changes:
        option = _outer(change.option)
        section, is_known = section_of(option), bool({option, f"{family}.{option}"} & online)
        of_family = f"{family}={{{option}={_text(change)}}}"
        is_own = section is None and action(option).online
        if is_own or (section == DATABASE_SECTION and is_known):
            variable = option.replace("block_cache_capacity", "block_cache_size")  # its name
            yield Line(f"SET GLOBAL rocksdb_{variable} = {_value(change)}")
        elif section == DATABASE_SECTION:
            yield Line(f"rocksdb_{option}={_value(change)}", "my.cnf")
        elif is_known:
            yield Line(f"SET GLOBAL rocksdb_update_cf_options = '{of_family}'")
        else:
            yield Line(of_family, "my.cnf")


def _tikv(changes: Sequence[Change], family: str) -> Iterator[Line]:
    online = _online("tikv")
    for change in changes:
        name = change.option
        if "." not in name:
            of = "" if section_of(name) == DATABASE_SECTION else f"{family}cf."
            name = f"rocksdb.{of}{name.replace('_', '-')}"
        if name in online or ("." in change.option and action(change.option).online):
            value = _value(change)
            yield Line(f"tikv-ctl --host HOST:20160 modify-tikv-config -n {name} -v {value}")
        else:
            yield Line(f"{name} = {_value(change)}", "tikv.toml")


def _kvrocks(changes: Sequence[Change], _family: str) -> Iterator[Line]:
    for change in changes:
        value = _value(change)
        if change.option in _KVROCKS_MIB and value != _UNKNOWN:
            value = str(max(1, int(value) // MIB))
        value = {"true": "yes", "false": "no"}.get(value, value)
        if change.option in _KVROCKS_ONLINE:
            yield Line(f"CONFIG SET rocksdb.{change.option} {value}")
        else:
            yield Line(f"rocksdb.{change.option} {value}", "kvrocks.conf")


def _online(engine: str) -> frozenset[str]:
    from lsmtune.knobs.catalogue import load  # noqa: PLC0415 - slow to import

    return frozenset(knob.name for knob in load(engine).knobs if knob.apply == "online")


def _outer(option: str) -> str:
    """Return the option that a program sets: a structure for one of its fields."""
    return name_in_texts(option).partition(".")[0]


def _value(change: Change) -> str:
    return _UNKNOWN if change.after is None else change.after


def _text(change: Change) -> str:
    """Return the value of an option; of a structure the field that changes."""
    _, _, field = name_in_texts(change.option).partition(".")
    return f"{{{field}={_value(change)};}}" if field else _value(change)
