"""The options that a RocksDB prints to its LOG when it opens a database, and changes since.

The lines are those of DBOptions::Dump, ColumnFamilyOptions::Dump,
BlockBasedTableFactory::GetPrintableOptions and DBImpl::SetOptions.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq

from lsmtune.metrics.options_file import with_points

_OPTION = re.compile(r"Options\.(\S+?)\s*: ?(.*)")
_FAMILY = re.compile(r"-- Options for column family \[(.*)\]:")
_FIRST_OF_A_FAMILY = "comparator"
_DEFAULT = "default"
_FIRST_AND_LAST = {"error_if_exists", "max_open_files"}
"""Options of a database that every RocksDB prints near the beginning and the end of them."""
_TABLE_OPTIONS = "table_factory options:"
_TABLE_OPTION = re.compile(r"\s+(\w[\w ]*\w)\s*: ?(.*)")
_CACHE_CAPACITY = "capacity"
_CACHE_KEY = "block_cache_capacity"
_STATS_LEVEL = " stats level"
"""Of the one name with spaces."""
_LONGEST_SHOWN = 200
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\[\d+\])?")
_NO_VALUE = re.compile(
    r"[\"\x00-\x08\x0b-\x1f<>|\ufffd]|\s\w+=|^-?\d[\w.,:-]*[^\w.,:;\s-]|^-?\d\S*\s+\W"
)
"""Characters that no value has: text of another program is among them."""
_BYTES = re.compile(r"[0-9]{1,20}")
_CHANGES = re.compile(r"Set(?:DB)?Options\(\)(?: on column family \[(.*)\])?, inputs:")
_CHANGE = re.compile(r"\.cc:\d+\] (\w+): (.*)")


@dataclass(slots=True)
class LogOptions:
    """Texts by the name that the LOG gives an option; those of tables stand in their family.

    The capacity of a block cache is `block_cache_capacity`. Column families of which the LOG
    tells nothing (it may begin later than the opening) are not there. A LOG that was rolled
    repeats the options, but not whose they are: the first family then counts as `default`.
    """

    database: dict[str, str] = field(default_factory=dict)
    families: dict[str, dict[str, str]] = field(default_factory=dict)
    has_commas: bool = False
    """Whether numbers have a decimal comma; they are kept with a point."""
    read: int = 0
    damaged: list[str] = field(default_factory=list)
    """The lines of options that cannot be read; `read` counts all others."""
    _scopes: list[dict[str, str]] = field(default_factory=list)
    _changed: dict[str, str] | None = None
    _inputs: dict[str, str] = field(default_factory=dict)

    @property
    def block_cache_capacity_bytes(self) -> int | None:
        """The capacity of the block cache; None when column families differ, or tell none."""
        scopes = [*self.families.values()] or [self.database]
        told = {scope.get(_CACHE_KEY, "") for scope in scopes}
        only = told.pop() if len(told) == 1 else ""
        return int(only) if _BYTES.fullmatch(only) else None

    @property
    def has_whole_database(self) -> bool:
        """Whether the options of the database are there from the first to the last."""
        return self.database.keys() >= _FIRST_AND_LAST

    @property
    def changing(self) -> bool:
        """Whether the inputs of a change are being told."""
        return self._changed is not None

    def take(self, line: str) -> None:
        """Take a line of the LOG that holds `Options`."""
        self._settle(line)
        if (family := _FAMILY.search(line)) is not None:
            self.families[family[1]] = {}
        elif (option := _OPTION.search(line)) is not None:
            name, value = option[1], option[2].strip()
            if not self._is_whole(name, value):
                self._damage(line)
                return
            if name == _FIRST_OF_A_FAMILY and name in self._newest(or_database=False):
                count = len(self.families)
                self.families[f"family {count + 1}" if count else _DEFAULT] = {}
            # A change while the database runs prints its options anew, below any family.
            scope = self.database if name in self.database else self._newest()
            scope[name] = self._value(value)
        elif "Options." in line and _STATS_LEVEL not in line:
            self._damage(line)

    def take_table(self, line: str) -> None:
        """Take a line of the block that follows the words `table_factory options`."""
        match = _TABLE_OPTION.match(line.partition(_TABLE_OPTIONS)[2] or line)
        if match is None:
            return
        name = _CACHE_KEY if match[1] == _CACHE_CAPACITY else match[1]
        if name == _CACHE_KEY and name in self._newest():
            return  # of another cache, printed below
        if self._is_whole("table", value := match[2].strip()):
            self._newest()[name] = self._value(value)
        else:
            self._damage(line)

    def take_change(self, line: str) -> bool:
        """Take a line if it is of a change while the database runs (DBImpl::SetOptions)."""
        if (begins := _CHANGES.search(line)) is not None:
            self._settle(line)
            family = begins[1]
            self._changed = (
                self.database if family is None else self.families.setdefault(family, {})
            )
            return True
        change = _CHANGE.search(line) if self._changed is not None else None
        if change is None:
            self._settle(line)
            return False
        self._inputs[change[1]] = change[2].strip()
        return True

    def assume(self, families: Iterable[str]) -> list[str]:
        """Give these families the values that all others have; return those that had none."""
        lacking = [name for name in families if name not in self.families]
        printed = [told.items() for told in self.families.values()]
        shared = set(printed[0]).intersection(*printed) if printed else ()
        if not shared:
            return []
        alike = dict(option for option in printed[0] if option in shared)
        self.families |= dict.fromkeys(lacking, alike)  # one table for thousands
        return lacking

    def repair(self, names: Iterable[str]) -> None:
        """Restore options with text of another program inside their names; they count as damaged.

        `names` are those of all options. A line must fit one name only, which must be missing.
        """
        for scope, line in zip(self._scopes, self.damaged, strict=True):
            text = line.partition("Options.")[2]
            values = {name: _around(name, text) for name in names if name not in scope}
            fits = {name: value for name, value in values.items() if value is not None}
            if len(fits) == 1:
                scope.update(fits)

    def _damage(self, line: str) -> None:
        self.damaged.append(line[:_LONGEST_SHOWN])
        self._scopes.append(self._newest())

    def _is_whole(self, name: str, value: str) -> bool:
        """Count an option; return whether it has the characters that options have."""
        is_whole = _NAME.fullmatch(name) is not None and _NO_VALUE.search(value) is None
        self.read += is_whole
        return is_whole

    def _value(self, text: str) -> str:
        value = with_points(text)
        self.has_commas |= value != text
        return value

    def _settle(self, line: str) -> None:
        """The inputs of a change are over: they hold unless it failed."""
        if self._changed is not None and "failed" not in line:
            self._changed |= self._inputs
        self._changed, self._inputs = None, {}

    def _newest(self, *, or_database: bool = True) -> dict[str, str]:
        if self.families:
            return next(reversed(self.families.values()))
        return self.database if or_database else {_FIRST_OF_A_FAMILY: ""}


def _around(name: str, text: str) -> str | None:
    """Return the value behind a name that has other text inside; None if it is another name."""
    begin = sum(takewhile(bool, map(eq, name, text)))
    at = text.find(f"{name[begin:]}: ", begin)
    if not begin or at < 0 or _NO_VALUE.search(value := text[at + len(name) - begin + 1 :].strip()):
        return None
    return value
