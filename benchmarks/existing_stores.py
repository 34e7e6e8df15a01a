"""Try which changes of options an existing store survives, on installed versions of RocksDB.

    .venv/bin/python benchmarks/existing_stores.py [--versions 6.29.5,8.10.2,10.10.1,11.8.1]

A store is built with the defaults of the version, and with sizes of 1/1024. It has data in level 0,
in the last level and in one above it, and in the log. One family is plain, one has blobs, one has
universal compaction. A copy is opened with the new values: its keys are read, it takes writes,
flushes and compacts. Then the copy is opened with the old values and used again. After each step,
all keys must be those of a copy without a change. If a store is refused, its tables are moved to a
level that both values have, and the store is tried again.

On RocksDB 11.8.1, each knob that an OPTIONS file can set has its smallest, largest and special
values. Other versions have only knobs that are not plain numbers, and num_levels. All versions
have the pairs of `existing_cases.py`. A value that a new store refuses too is not a fact about
existing stores. Writes results/existing_stores.json after each 20 tries, and skips the tries that
it contains. Four versions take half an hour. The rows of `knobs/catalogue/existing.toml` must agree
with the results: `tests/knobs/test_existing.py` compares them.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import Any

from existing_cases import BASES, LEVEL_BYTES, MAIN, PAIRS, SCALE, Base, single_values

from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    engine_of_version,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.libraries.steps import Event, StepFailedError, carry_out, result_of
from lsmtune.engines.rocksdb.options import option_string, settings_in
from lsmtune.engines.templates import link_database
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.knobs.option_text import statements
from lsmtune.knobs.types import Config, Settings, value_text
from lsmtune.metrics.options_file import family_names, parse_options, replace_options

RESULTS = Path(__file__).parent / "results" / "existing_stores.json"
VERSIONS = ("6.29.5", "8.10.2", "10.10.1", DEFAULT_VERSION)
LIMIT_S, SAVED, THREADS = 20.0, 20, 4
HALF = 0.5
KEYS, BYTES, LAST, ROUNDS = 1000, 700, 6, 6

FLUSH, DIGEST, LEVELS, ERRORS = (
    {"do": "flush"}, {"do": "digest", "gets": 7}, {"do": "levels"}, {"do": "errors"}
)  # fmt: skip
SETTLE = {"do": "settle", "limit_s": 4.0}


def put(keys: int, prefix: str) -> dict[str, Any]:
    """Return the step that writes keys, so that they overlap no other keys."""
    return {"do": "put", "keys": keys, "size": BYTES, "prefix": prefix}


def overwrite(every: int) -> dict[str, Any]:
    """Return the step that writes other values to some keys."""
    return {"do": "overwrite", "every": every, "most": 50}


USE = (overwrite(20), put(100, "n"), FLUSH, SETTLE, DIGEST)
START = (put(KEYS, "a"), FLUSH)
ON_TOP = tuple(step for n in range(ROUNDS) for step in (overwrite(20 + n), FLUSH, SETTLE))
BUILD = (*ON_TOP, put(10, "w"), DIGEST, LEVELS)
FIRST = (DIGEST, SETTLE, LEVELS, *USE, {"do": "compact"}, DIGEST, put(10, "x"), ERRORS)
AGAIN = (DIGEST, *USE, ERRORS)
NEW = (put(100, "a"), FLUSH, DIGEST)

Json = dict[str, Any]


@dataclass
class Store:
    """A built store: its OPTIONS, its tables, and the digests of its use without a change."""

    folder: Path
    options: str
    tables: list[Json]
    digests: list[list[Json]] = field(default_factory=list)

    @property
    def families(self) -> list[str]:
        """The names of its families."""
        return family_names(parse_options(self.options).sections)

    def moved(self, tables: list[Json]) -> float:
        """Return the largest share of a family's bytes that are gone or in another level."""
        after = {(t["family"], t["name"]): t["level"] for t in tables}
        shares = []
        for family in self.families:
            own = [t for t in self.tables if t["family"] == family]
            stays = [t["size"] for t in own if after.get((family, t["name"])) == t["level"]]
            shares.append(1 - sum(stays) / sum(t["size"] for t in own))
        return max(shares)

    def levels_for(self, change: Settings) -> list[int]:
        """Return the levels to which a migration may move all tables."""
        number = int(change.get("num_levels", LAST + 1))
        return sorted({min(LAST, number - 1), 0}, reverse=True)


@dataclass(frozen=True)
class Place:
    """A folder for the stores of one try, and the library that uses them."""

    library: Path
    reads_files: bool
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def run(self, store: Path, steps: Iterable[Json], options: Json) -> list[Event]:
        """Carry out steps on a store."""
        plan = {"library": str(self.library), "folder": str(store), "steps": list(steps)}
        return carry_out(plan | options, self.folder, f"run{next(self.numbers)}", LIMIT_S)

    def given(self, options: str) -> Json:
        """Return the part of a plan with the options: a file that RocksDB reads, or texts."""
        if not self.reads_files:
            return {"texts": _texts(options)}
        folder = self.new()
        folder.mkdir()
        (folder / "OPTIONS-000001").write_text(options)
        return {"options": str(folder)}

    def use(self, store: Path, steps: Iterable[Json], options: str, **more: bool) -> list[Event]:
        """Carry out steps on a store that is opened with an OPTIONS text."""
        return self.run(store, steps, self.given(options) | more)

    def new(self) -> Path:
        """Return the path of a new folder."""
        return self.folder / str(next(self.numbers))

    def copy(self, store: Store) -> Path:
        """Return a copy of a store."""
        folder = self.new()
        link_database(store.folder, folder)
        return folder


class Version:
    """A version of RocksDB with its stores."""

    def __init__(self, name: str, library: Path, folder: Path) -> None:
        self.name = name
        self.place = Place(library, version_number(name) >= (7,), folder)
        self._stores: dict[str, Store] = {}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of this version that an OPTIONS file can set."""
        known = settings_in(rocksdb_catalogue(), _of_family(self._defaults([DEFAULT_FAMILY])))
        placed = [k.name for k in rocksdb_catalogue().knobs if k.option and k.name in known]
        return rocksdb_catalogue().restricted(placed).of_version(self.name)

    def _defaults(self, families: list[str]) -> str:
        """Return the OPTIONS that RocksDB writes into a new store."""
        folder = self.place.new()
        self.place.run(folder, [], {"texts": dict.fromkeys(families, ""), "create": True})
        return _newest(folder)

    @cached_property
    def base(self) -> Settings:
        """The values of a family of a new store at the scale of the stores."""
        own = settings_in(self.catalogue, _of_family(self._defaults([DEFAULT_FAMILY])))
        small = {n: self.catalogue.knob(n).scaled_value(v, SCALE) for n, v in own.items()}
        return small | {"max_bytes_for_level_base": LEVEL_BYTES}

    def store(self, base: Base) -> Store:
        """Return the store of a base; it is built once, and used once without a change."""
        if base.name not in self._stores:
            options, folder = self._defaults(list(base.families)), self.place.new()
            for name, own in base.families.items():
                options = self.rendered(options, self.base | own(self.base), [name])
            steps = (*START, {"do": "compact", "level": base.level}, *BUILD)
            built = self.place.run(folder, steps, {"texts": _texts(options), "create": True})
            options = _newest(folder) if self.place.reads_files else options
            found = Store(folder, options, result_of(built, "levels"))
            copy = self.place.copy(found)
            first = self.place.use(copy, FIRST, options)
            if found.moved(result_of(first, "levels")) > HALF:
                sys.exit(f"{self.name}, {base.name}: the store changes without other options")
            second = self.place.use(copy, AGAIN, options)
            found.digests = [_digests(first), _digests(second)]
            self._stores[base.name] = found
        return self._stores[base.name]

    def settings(self, base: Base) -> dict[str, Settings]:
        """Return the values of each family of a store."""
        options = self.store(base).options
        families = self.store(base).families
        return {f: settings_in(self.catalogue, _of_family(options, f)) for f in families}

    def rendered(self, options: str, change: Settings, families: list[str]) -> str:
        """Return OPTIONS with changed values in some families."""
        known = [knob for knob in self.catalogue.knobs if knob.name in change]
        for family in families:
            sections = parse_options(options).sections
            options = replace_options(options, statements(known, change, sections, family))
        return options


@dataclass(frozen=True)
class Try:
    """A change of options in some families of a store."""

    version: Version
    place: Place
    store: Store
    change: Settings
    families: list[str]

    def outcome(self) -> Json:
        """Return what is not as without the change; empty if nothing is."""
        options = self.version.rendered(self.store.options, self.change, self.families)
        if options == self.store.options:
            return {}
        copy = self.place.copy(self.store)
        try:
            events, found = self.place.use(copy, FIRST, options), dict[str, Any]()
        except StepFailedError as failure:
            if (as_such := self._new(options)) is not None:
                return {"as_such": as_such}
            found = _failed("forward", failure)
            if "fails" in found:
                return found
            migrated = self._migrated(self.store.options, options, FIRST)
            if migrated is None:
                return found
            copy, events = migrated.copy, migrated.events
            found |= {"forward": "migration", "level": migrated.level}
        step = _lost(_digests(events), self.store.digests[0])
        if step is not None:
            found |= {"forward": "loses", "at": step}
        elif not found and (moved := self.store.moved(result_of(events, "levels"))) > HALF:
            found = {"forward": "rewrites", "moved": round(moved, 2)}
        if errors := int(result_of(events, "errors")):
            found["errors"] = errors
        return found | self._back(copy, options)

    def _back(self, copy: Path, options: str) -> Json:
        """Open the changed copy with the old options; return what is not as without the change."""
        found: Json = {}
        try:
            events = self.place.use(copy, AGAIN, self.store.options)
        except StepFailedError as failure:
            found = _failed("back", failure)
            if "fails" in found:
                return found
            migrated = self._migrated(options, self.store.options, AGAIN, copy)
            if migrated is None:
                return found
            events = migrated.events
            found |= {"back": "migration", "back_level": migrated.level}
        step = _lost(_digests(events), self.store.digests[1])
        return found if step is None else found | {"back": "loses", "back_at": step}

    def _migrated(
        self, before: str, after: str, steps: Iterable[Json], copy: Path | None = None
    ) -> "Migrated | None":
        """Move all tables to one level, then use the store; None if no level helps.

        Level 0 takes only one table, so the tables get no limit.
        """
        large = {"target_file_size_base": 1 << 40, "max_compaction_bytes": 1 << 50}
        whole = self.version.rendered(before, large, self.store.families)
        for level in self.store.levels_for(self.change):
            one = copy or self.place.copy(self.store)
            move = {"do": "compact", "level": level}
            try:
                self.place.use(one, [move], before if level else whole, quiet=True)
                return Migrated(one, level, self.place.use(one, steps, after))
            except StepFailedError:
                continue
        return None

    def _new(self, options: str) -> str | None:
        """Use a new store with the options; return why that is not possible."""
        try:
            self.place.use(self.place.new(), NEW, options, create=True)
        except StepFailedError as failure:
            return f"{failure.step}: {failure}"
        return None


@dataclass(frozen=True)
class Migrated:
    """A store whose tables are in one level, and what its use after that printed."""

    copy: Path
    level: int
    events: list[Event]


def _failed(direction: str, failure: StepFailedError) -> Json:
    """Return a refusal, or the step that fails after the store was opened."""
    if failure.step not in ("options", "open"):
        return {"fails": f"{direction}: {failure.step}: {failure}"}
    prefix = "" if direction == "forward" else "back_"
    return {direction: "refused", f"{prefix}message": str(failure)}


def _newest(store: Path) -> str:
    return max(store.glob("OPTIONS-*"), key=lambda path: path.name).read_text()


def _of_family(options: str, family: str = DEFAULT_FAMILY) -> dict[str, Any]:
    """Return the sections of the database and of one family, as those of the default family."""
    sections = parse_options(options).sections
    own = {f'{name} "{DEFAULT_FAMILY}"': sections[f'{name} "{family}"'] for name in FAMILY_SECTIONS}
    return {DATABASE_SECTION: sections[DATABASE_SECTION], **own}


def _texts(options: str) -> dict[str, str]:
    """Return a text of options for each family."""
    found = {}
    for family in family_names(parse_options(options).sections):
        sections = _of_family(options, family).items()
        lines = (f"[{n}]\n" + "".join(f"{k}={v}\n" for k, v in s.items()) for n, s in sections)
        found[family] = option_string("".join(lines))
    return found


def _digests(events: list[Event]) -> list[Json]:
    return [event["result"] for event in events if event["event"] == "digest"]


def _lost(found: list[Json], expected: list[Json]) -> str | None:
    """Return the first reading that is not as without the change, and the most missing keys."""
    pairs = list(zip(found, expected, strict=True))
    unlike = [number for number, (one, other) in enumerate(pairs, start=1) if one != other]
    missing = max(sum(other[name][0] - one[name][0] for name in other) for one, other in pairs)
    return f"reading {unlike[0]}, {missing} keys missing" if unlike else None


def tried(version: Version, base: Base, change: Settings) -> Json:
    """Try a change in all families; if something is not as without it, in each one alone."""
    store = version.store(base)
    with tempfile.TemporaryDirectory(dir=version.place.folder) as name:
        place = Place(version.place.library, version.place.reads_files, Path(name))
        attempt = partial(Try, version, place, store, change)
        found = attempt(store.families).outcome()
        if found and not found.keys() & {"as_such", "fails"} and len(store.families) > 1:
            alone = {family: attempt([family]).outcome() for family in store.families}
            found["families"] = {family: one for family, one in alone.items() if one}
        return found


def title(change: Settings) -> str:
    """Return a change as text."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in change.items())


def singles(version: Version) -> Iterator[Settings]:
    """Yield the changes of one knob."""
    numbers = version.name == DEFAULT_VERSION
    return single_values(version.catalogue, version.base, numbers=numbers)


def changes(version: Version) -> Iterator[tuple[str, Settings]]:
    """Yield the changes, each with the name of its base."""
    for change in singles(version):
        yield MAIN.name, change
    for base, pairs in PAIRS.items():
        for change in pairs:
            if known := {name: value for name, value in change.items() if name in version.base}:
                yield base, known


def work(version: Version, results: Json) -> None:
    """Try the changes that the results of a version lack."""
    known = results.get(version.name, {}).get("tries", {})
    every = {f"{base}: {title(change)}": (BASES[base], change) for base, change in changes(version)}
    done = {name: one for name, one in known.items() if name in every}
    todo = {name: one for name, one in every.items() if name not in done}
    if not todo:
        results[version.name]["tries"] = done
        return
    stores = {base.name: version.settings(base) for base in BASES.values()}
    first = {MAIN.name: stores[MAIN.name][DEFAULT_FAMILY]}
    differing = {
        name: {f: dict(Config(own).differing(first[MAIN.name])) for f, own in families.items()}
        for name, families in stores.items()
    }
    results[version.name] = {"defaults": first, "stores": differing, "tries": done}
    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = pool.map(lambda one: tried(version, *one), todo.values())
        for number, (name, outcome) in enumerate(zip(todo, outcomes, strict=True), start=1):
            done[name] = outcome
            if outcome:
                print(f"{version.name}: {name}: {json.dumps(outcome)}", flush=True)
            if number % SAVED == 0 or number == len(todo):
                write(results)


def write(results: Json) -> None:
    """Write the results, one line per store and per try."""
    RESULTS.write_text(_lines(results, 2) + "\n")


def _lines(found: Json, depth: int) -> str:
    parts = (
        f"{json.dumps(name)}: {_lines(one, depth - 1) if depth else json.dumps(one)}"
        for name, one in found.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def summary(version: Version, tries: Json) -> str:
    """Return the numbers of a version."""
    single = list(singles(version))
    knobs = {next(iter(change)) for change in single}
    told = tries.values()
    counts = {
        "a new store refuses too": sum("as_such" in one for one in told),
        "opens and then fails": sum("fails" in one for one in told),
        "refused": sum(one.get("forward") == "refused" for one in told),
        "needs a migration": sum(one.get("forward") == "migration" for one in told),
        "no way back": sum(one.get("back") in ("refused", "loses") for one in told),
        "back needs a migration": sum(one.get("back") == "migration" for one in told),
        "loses keys": sum("loses" in (one.get("forward"), one.get("back")) for one in told),
        "rewrites": sum(one.get("forward") == "rewrites" for one in told),
    }
    words = ", ".join(f"{text} {number}" for text, number in counts.items())
    numbers = f"{len(knobs)} knobs, {len(single)} values, {len(tries) - len(single)} pairs"
    return f"{version.name}: {numbers}; {words}"


def main() -> None:
    """Try the versions of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", default=",".join(VERSIONS))
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in parser.parse_args().versions.split(","):
        engine = engine_of_version(installed_engines(engines_folder()), name)
        if engine is None:
            sys.exit(f"RocksDB {name} is not installed; lsmtune engines install rocksdb@{name}")
        with tempfile.TemporaryDirectory() as folder:
            version = Version(name, engine.library, Path(folder))
            work(version, results)
            print(summary(version, results[name]["tries"]))


if __name__ == "__main__":
    main()
