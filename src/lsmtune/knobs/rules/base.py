"""Rules between options: normalisations and refusals, and their context.

benchmarks/knobs_read_back.py tries which versions of RocksDB have a rule.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace

from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.types import Knob, Settings, Value, value_text

USUAL_VERSION = "7.8.3"
"""The RocksDB whose rules hold if the version is not known."""


@dataclass(frozen=True, slots=True)
class Context:
    """Context of the rules in addition to the settings.

    `base` is the baseline; options without effect get its values. `open_files` is the soft ulimit.
    `codecs` are those in the build, by RocksDB's names (None: unknown). `knobs` are the tuned
    knobs, some of which have an effect only under conditions. `version` is RocksDB's. `names` has
    the form of the engine's names.
    """

    base: Settings
    open_files: int
    codecs: frozenset[str] | None = None
    knobs: tuple[Knob, ...] = ()
    version: str = USUAL_VERSION
    names: Names = PLAIN
    _by_family: dict[str, "Context"] = field(default_factory=dict, repr=False, compare=False)

    def within(self, family: str | None) -> "Context":
        """The context as one column family sees it."""
        if family is None:
            return self
        if family not in self._by_family:
            base = self.names.view(self.base, family)
            knobs = self.names.viewed(self.knobs, family)
            self._by_family[family] = replace(self, base=base, knobs=knobs, _by_family={})
        return self._by_family[family]

    def links(self, label: str) -> bool:
        """Return whether the build has the codec, or may have it."""
        return self.codecs is None or label in self.codecs


@dataclass(frozen=True, slots=True)
class Normalisation:
    """Does beforehand what the engine would do: `apply` gives the values that it would change.

    A rule is skipped where the settings lack one of the options that it `needs`, and in versions
    of RocksDB older than `since` or newer than `until`.
    """

    name: str
    source: str
    needs: tuple[str, ...]
    apply: Callable[[Settings, Context], Settings]
    since: str | None = None
    until: str | None = None


def rule(
    name: str, source: str, *needs: str, since: str | None = None, until: str | None = None
) -> Callable[[Callable[[Settings, Context], Settings]], Normalisation]:
    """Return a decorator that makes the function `apply` a rule."""
    return lambda apply: Normalisation(name, source, needs, apply, since, until)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Settings that the engine does not run: `broken` says whether these are such.

    `reason` completes "<options and values>: ...". `ways` out are changes of which each makes the
    settings legal, the mildest first. The rule holds in RocksDB `since` to `until`.
    """

    needs: tuple[str, ...]
    reason: str
    source: str
    broken: Callable[[Settings, Context], bool]
    ways: tuple[Callable[[Settings], Settings], ...] = ()
    since: str | None = None
    until: str | None = None

    def within(
        self, family: str | None, settings: Mapping[str, Value], names: Names = PLAIN
    ) -> "Refusal":
        """The rule on the options that one column family has in the settings."""
        if family is None:
            return self
        return replace(
            self,
            needs=tuple(names.lifted_name(name, family, settings) for name in self.needs),
            broken=lambda found, context: self.broken(
                names.view(found, family), context.within(family)
            ),
            ways=tuple(_lifted_way(way, family, settings, names) for way in self.ways),
        )

    def told(self, settings: Settings) -> str:
        """Return the refusal as text, with all options and values."""
        values = ", ".join(f"{name} = {value_text(settings[name])}" for name in self.needs)
        return f"{values}: {self.reason} ({self.source})"


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of an engine.

    `normalisations` are in the order in which they are applied: later ones see what earlier ones
    changed. `refusals` are what the engine does not run.
    """

    normalisations: tuple[Normalisation, ...] = ()
    refusals: tuple[Refusal, ...] = ()


NO_RULES = Rules()
"""The rules of an engine without any."""


def _lifted_way(
    way: Callable[[Settings], Settings], family: str, known: Mapping[str, Value], names: Names
) -> Callable[[Settings], Settings]:
    return lambda found: names.lifted(way(names.view(found, family)), family, known)


def applies(found: Normalisation | Refusal, names: Container[str], version: str) -> bool:
    """Return whether the version has the rule and the names contain all options that it needs."""
    number = version_number(version)
    if found.since is not None and number < version_number(found.since):
        return False
    if found.until is not None and number > version_number(found.until):
        return False
    return all(name in names for name in found.needs)


def number(settings: Mapping[str, Value], name: str) -> int | float:
    """The value of a knob that is a number."""
    value = settings[name]
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; {name} must be a number")
    return value
