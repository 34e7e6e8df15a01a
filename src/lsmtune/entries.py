"""Entries: what lsmtune and installed packages offer under one name each.

A package offers an engine or an optimizer by an entry point in its metadata. The names are read
from there; a package is imported when its entry is used for the first time.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata
from typing import Any, TypeVar

from lsmtune.errors import UserError

T = TypeVar("T")

CONTRACT = 1
"""Number of the contract between lsmtune and its entries. An entry made for another one is refused.
"""
_OWN = "lsmtune"


@dataclass(frozen=True, slots=True)
class Guest:
    """An entry of another package.

    `package` is its name with its version. `problem` says why the entry cannot be used, or is None.
    Such an entry breaks nothing: it is an error only for who names it.
    """

    name: str
    package: str
    problem: str | None


class Entries(MutableMapping[str, T]):
    """The entries of one kind, by name.

    Those in `built_in` are known without metadata, so that they do not depend on how lsmtune was
    installed. Names cost no import of an entry. A program may add an entry for its own process,
    also in place of another one.
    """

    def __init__(
        self,
        group: str,
        word: str,
        built_in: Mapping[str, str],
        checked: str,
    ) -> None:
        """Take the entry points of a `group`, such as lsmtune.engines.

        `word` names the kind in messages. `built_in` has the place of each entry of lsmtune, as
        MODULE:NAME. `checked` is the place of a function that takes a name and what a package
        offers under it. It returns the entry, or raises ValueError with the reason why the entry
        cannot be used.
        """
        self._group = group
        self._word = word
        self._built_in = dict(built_in)
        self._checked = checked
        self._loaded: dict[tuple[str, str], T] = {}
        self._added: dict[str, T] = {}
        self._loading: set[str] = set()

    def __getitem__(self, name: str) -> T:
        """Return the entry; UserError if its package cannot be used, KeyError without an entry."""
        if name in self._added:
            return self._added[name]
        if name in self._built_in:
            return self._load_built_in(name)
        points = [point for point in _points(self._group) if point.name == name]
        if not points:
            raise KeyError(name)
        try:
            return self._load(points[0], points)
        except ValueError as error:
            raise UserError(
                f"{self._word}: {name!r} of the package {_package(points[0])} cannot be used: "
                f"{error}"
            ) from error

    def __setitem__(self, name: str, entry: T) -> None:
        """Add an entry for this process."""
        self._added[name] = entry

    def __delitem__(self, name: str) -> None:
        """Remove an entry that was added; KeyError if there is none."""
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names, those of lsmtune first."""
        guests = (point.name for point in _points(self._group))
        return iter(dict.fromkeys((*self._built_in, *guests, *self._added)))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry of this name, usable or not."""
        return name in self._added or name in self._built_in or name in list(iter(self))

    def is_offered(self, name: str) -> bool:
        """Return whether lsmtune or an installed package has an entry of this name."""
        return name in self._built_in or any(p.name == name for p in _points(self._group))

    def package(self, name: str) -> str | None:
        """Return name and version of the package that offers a name; None if none does."""
        points = (point for point in _points(self._group) if point.name == name)
        return next(map(_package, points), None)

    @property
    def built_in(self) -> Mapping[str, str]:
        """The place of each entry of lsmtune itself, by name."""
        return self._built_in

    def usable(self) -> Iterator[T]:
        """Yield all entries that can be used, those of lsmtune first."""
        yield from self._usable(self)

    def foreign(self) -> Iterator[T]:
        """Yield the entries that lsmtune does not have, without those that cannot be used.

        An entry that is being imported is left out: it may ask for the names of the others.
        """
        guests = (p.name for p in _points(self._group) if p.name not in self._built_in)
        yield from self._usable(dict.fromkeys((*self._added, *guests)))

    def _usable(self, names: Iterable[str]) -> Iterator[T]:
        for name in names:
            if name in self._loading:
                continue
            try:
                yield self[name]
            except UserError:
                continue

    def guests(self) -> list[Guest]:
        """Import the entries of other packages, and say which of them cannot be used."""
        points = _points(self._group)
        return [
            self._guest(point, [other for other in points if other.name == point.name])
            for point in points
            if not _is_own(point)
        ]

    def _guest(self, point: metadata.EntryPoint, alike: list[metadata.EntryPoint]) -> Guest:
        try:
            self._load(point, alike)
        except ValueError as error:
            return Guest(point.name, _package(point), str(error))
        return Guest(point.name, _package(point), None)

    def _load_built_in(self, name: str) -> T:
        place = self._built_in[name]
        if (name, place) not in self._loaded:
            self._loaded[name, place] = _imported(place)
        return self._loaded[name, place]

    def _load(self, point: metadata.EntryPoint, alike: list[metadata.EntryPoint]) -> T:
        """Return the entry of another package; ValueError if it cannot be used.

        `alike` are all entry points of this name.
        """
        if point.name in self._built_in:
            raise ValueError(f"lsmtune itself has the {self._word} {point.name}")
        others = [_package(other) for other in alike if other is not point]
        if others and not _is_own(point):
            raise ValueError(f"the package {others[0]} has the same name")
        if (key := (point.name, point.value)) not in self._loaded:
            self._loading.add(point.name)
            try:
                self._loaded[key] = _imported(self._checked)(point.name, _foreign(point))
            except ValueError:
                raise
            except (Exception, SystemExit) as error:  # its members may have any type
                raise ValueError(f"lsmtune cannot read it: {one_line(error)}") from error
            finally:
                self._loading.discard(point.name)
        return self._loaded[key]


class Known(Mapping[str, T]):
    """Metrics or workloads by name: those of lsmtune, and those in the entries of other engines.

    Those of lsmtune are found without an import of an entry. So no other package slows down or
    breaks a study of an engine of lsmtune.
    """

    def __init__(
        self, built_in: Mapping[str, T], of_entry: Callable[[Any], Iterable[tuple[str, T]]]
    ) -> None:
        """Take the things of lsmtune, and what gives those of an entry with their names."""
        self.built_in: Mapping[str, T] = dict(built_in)
        self._of_entry = of_entry

    def __getitem__(self, name: str) -> T:
        """Return the thing of that name; KeyError if nobody has it."""
        return self.built_in[name] if name in self.built_in else self._foreign()[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names, those of lsmtune first."""
        more = (name for name in self._foreign() if name not in self.built_in)
        return iter((*self.built_in, *more))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(list(iter(self)))

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of the names that exist, those of lsmtune first.

        No entry is imported if lsmtune has all of them.
        """
        given = dict.fromkeys(names)
        own = (name for name in self.built_in if name in given)
        return (*own, *(name for name in given if name not in self.built_in and name in self))

    def _foreign(self) -> dict[str, T]:
        found: dict[str, T] = {}
        for entry in ENGINES.foreign():
            for name, thing in self._of_entry(entry):
                found.setdefault(name, thing)
        return found


def _imported(place: str) -> Any:
    """Return what a module of lsmtune has at a place MODULE:NAME."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _foreign(point: metadata.EntryPoint) -> object:
    """Import the entry of another package; ValueError if that fails."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # a foreign module may do anything
        raise ValueError(f"its import failed: {one_line(error)}") from error


def check_contract(number: object) -> None:
    """Raise ValueError if an entry was made for another contract than that of this lsmtune."""
    if number != CONTRACT:
        raise ValueError(
            f"it was made for contract {number}, and this lsmtune has contract {CONTRACT}"
        )


def _points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """Return the entry points of a group, lsmtune's first, as the folders of modules are now."""
    return _read_points(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _read_points(group: str, path: tuple[str, ...]) -> tuple[metadata.EntryPoint, ...]:
    return tuple(sorted(metadata.entry_points(group=group), key=lambda point: not _is_own(point)))


def _is_own(point: metadata.EntryPoint) -> bool:
    """Return whether lsmtune itself offers an entry point: its second package has optimizers."""
    return point.dist is not None and point.dist.name == _OWN


def _package(point: metadata.EntryPoint) -> str:
    """Return name and version of the package of an entry point."""
    return "?" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def one_line(error: BaseException) -> str:
    """Return an error of another package, with its type, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


ENGINES: Entries[Any] = Entries(
    "lsmtune.engines",
    "engine",
    {
        "rocksdb": "lsmtune.engines.rocksdb.entry:ROCKSDB",
        "myrocks": "lsmtune.engines.myrocks.entry:MYROCKS",
        "embedded": "lsmtune.engines.embedded.entry:EMBEDDED",
        "tikv": "lsmtune.engines.tikv.entry:TIKV",
        "simulated": "lsmtune.engines.simulated.entry:SIMULATED",
    },
    "lsmtune.engines.entry:checked_entry",
)
"""The engines by name; `engine_traits` has them with their type.

pyproject.toml declares them, too. They are here because an editable install keeps the metadata of
the day when it was made.
"""
