"""The knob space: the tuned knobs, the baseline, and the rules between them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from lsmtune.errors import UserError
from lsmtune.knobs.constraints import ROCKSDB_RULES, broken_rules, normalise, refusals
from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.full_size import FullSize
from lsmtune.knobs.memory import CACHES, MEMTABLES, TABLES, Memory, MemoryLimit
from lsmtune.knobs.rules.base import USUAL_VERSION, Context, Refusal, Rules
from lsmtune.knobs.rules.refused import CODEC_KNOBS, has_codec
from lsmtune.knobs.types import Config, Knob, Settings, Value

_TRIES = 100
_REPAIRS = 30
_ROUNDS = 5
"""A change of the small tree may need one at full size, and the other way round."""
SPECIAL_SHARE = 0.2
"""Share of special values in samples, as LlamaTune (Kanellis et al. 2022) recommends."""
_CHANGED_SHARE = 0.2
_PARTS = 64
"""The values of a range without round values that are tried when memory is given back."""
_ALMOST = 1e-12
"""Places lie below 1 by at least this."""
_SHRINK_ORDER = (*CACHES, *MEMTABLES)
_MEMORY_KNOBS = (*_SHRINK_ORDER, "db_write_buffer_size")


@dataclass(frozen=True, slots=True)
class KnobSpace:
    """The tuned knobs, the base settings of all others, and what must hold between them.

    `base` holds a value for every option that the engine is given; the tuned ones among them
    are where tuning starts. `open_files` is how many a process may have (soft ulimit). `advice`
    are settings that are worth a try early. `codecs` are those that are linked into the engine,
    by its own names (None: not known). Of RocksDB's rules, those of its `version` hold. `names` has
    the form of the engine's names, and `rules` its rules. A config of the
    space has a value for each tuned knob, and is *canonical*: what the engine really runs. The
    space of a small tree has the `full` size; each of its configs must be legal there too.
    """

    knobs: tuple[Knob, ...]
    base: Settings
    open_files: int
    memory: MemoryLimit
    advice: tuple[Settings, ...] = ()
    codecs: frozenset[str] | None = None
    version: str = USUAL_VERSION
    full: FullSize | None = None
    names: Names = PLAIN
    rules: Rules = ROCKSDB_RULES
    _context: Context = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        context = Context(
            self.base, self.open_files, self.codecs, self.knobs, self.version, self.names
        )
        object.__setattr__(self, "_context", context)
        if (violation := self._memory_violation(self.base)) is not None:
            raise UserError(
                f"memory: the baseline exceeds the memory limit: {violation}; "
                "raise the limit or change the baseline"
            )

    @property
    def full_size(self) -> "KnobSpace":
        """The space of the full-size tree, where the memory limit applies."""
        return self if self.full is None else self.full.space

    def at_full_size(self, config: Mapping[str, Value]) -> Settings:
        """Return the values of a config for the full-size tree."""
        return dict(config) if self.full is None else self.full.up(config)

    def full_memory(self, config: Mapping[str, Value]) -> Memory:
        """Return the estimated memory of the full-size tree with a config."""
        whole = self.full_size
        settings = whole.settings(self.at_full_size(config))
        return whole.memory.used(settings, self.names)

    def fitted(self) -> "KnobSpace":
        """The space without the values that a search does not draw or the host does not run.

        What the base has is kept.
        """
        fitted = replace(self, knobs=tuple(self._fitted(knob) for knob in self.knobs))
        least = fitted._least_memory()
        return replace(fitted, knobs=tuple(fitted._affordable(k, least) for k in fitted.knobs))

    def _least_memory(self) -> Settings:
        """The options that take memory where every tuned one has its lowest value."""
        lowest: Settings = {k.name: k.bounds()[0] for k in self._of(_MEMORY_KNOBS)}
        lowest |= {k.name: 0 for k in self._of(CACHES) if 0 in k.special_values}
        lowest |= {k.name: self._least_table(k) for k in self._of(self._tables)}
        settings = self.settings(lowest)
        return {n: v for n, v in settings.items() if self.names.option(n) in self._memory_names}

    def _affordable(self, knob: Knob, least: Settings) -> Knob:
        """The knob without round values that exceed the memory limit whatever the others are."""
        if self.memory.own or not knob.grid or self.names.option(knob.name) not in _MEMORY_KNOBS:
            return knob
        fitting = (v for v in knob.grid if not self._memory_violation({**least, knob.name: v}))
        base = self.base[knob.name]
        return knob.up_to(max([*fitting, *(v for v in knob.grid if v == base)], default=-inf))

    def _fitted(self, knob: Knob) -> Knob:
        option = self.names.option(knob.name)
        if option == "open_files":
            runs = (self.settings({knob.name: choice})[knob.name] for choice in knob.choices)
            return knob.model_copy(update={"choices": tuple(dict.fromkeys(runs))})
        if knob.kind != "categorical":
            return knob
        base = self.base[knob.name]
        coded = option in (*CODEC_KNOBS, "wal_compression")
        kept = (v for v in knob.drawn if not coded or has_codec(v, self._context))
        return knob.restricted((*kept, base)).around(base)

    def default(self) -> Config:
        """The config of the base."""
        return self.canonical({knob.name: self.base[knob.name] for knob in self.knobs})

    def settings(self, config: Mapping[str, Value]) -> Settings:
        """All settings of a config, as the engine will run them."""
        return normalise({**self.base, **config}, self._context, self.rules)

    def canonical(self, values: Mapping[str, Value]) -> Config:
        """The values as the engine will run them: what differs only in name becomes equal."""
        return self._config(self.settings(values))

    def _config(self, settings: Settings) -> Config:
        return Config({knob.name: self._exact(knob, settings[knob.name]) for knob in self.knobs})

    def _exact(self, knob: Knob, value: Value) -> Value:
        if value == self.base[knob.name]:
            return self.base[knob.name]  # digits and type as they were given
        return knob.rounded(float(value)) if knob.is_range else value

    def violations(self, config: Mapping[str, Value]) -> list[str]:
        """Every reason why the config must not be run; empty for a legal one."""
        settings = self.settings(config)
        memory = self._memory_violation(settings)
        found = refusals(settings, self._context, self.rules) + ([memory] if memory else [])
        return found if self.full is None else found + self.full.violations(config, settings)

    def starts(self) -> tuple[Config, ...]:
        """The advised configs, made legal; those that come out as the base left out."""
        tuned = {knob.name: knob for knob in self.knobs}
        found = [
            self.legalise({n: _settled(tuned[n], v) for n, v in settings.items() if n in tuned})
            for settings in self.advice
        ]
        return tuple(config for config in dict.fromkeys(found) if config != self.default())

    def adopted(self, values: Mapping[str, Value]) -> Config:
        """The legal config nearest to values of another space.

        What lies beyond a range is moved to its end; what is unknown or not among the choices is
        as in the base.
        """
        known = {knob.name: knob for knob in self.knobs if knob.name in values}
        moved = {name: _settled(knob, values[name]) for name, knob in known.items()}
        allowed = {name: value for name, value in moved.items() if known[name].allows(value)}
        return self.legalise({**self.default(), **allowed})

    def neighbour(self, config: Config, rng: np.random.Generator) -> Config:
        """A legal config that differs from the given one in about a fifth of its knobs."""
        if self.full is not None:
            at_full = Config(self.full.up(config))
            return self._taken(self.full.space.neighbour(at_full, rng))
        for _ in range(_TRIES):
            drawn = self._drawn((k for k in self.knobs if rng.random() < _CHANGED_SHARE), rng)
            changed = self._config(self._repaired({**config, **drawn}))
            if changed != config and not self.violations(changed):
                return changed
        return self.sample(rng)

    def sample(self, rng: np.random.Generator) -> Config:
        """A legal config, uniform in the scales of the knobs wherever the rules leave room.

        What is refused is repaired; memory is drawn again until it fits.
        """
        if self.full is not None:
            return self._taken(self.full.space.sample(rng))
        settings = self._repaired(self._drawn(self.knobs, rng))
        for _ in range(_TRIES):
            config = self._config(settings)
            if not self.violations(config):
                return config
            memory = (k for k in self.knobs if self.names.option(k.name) in self._memory_names)
            redrawn = self._drawn(memory, rng)
            settings = self._repaired({**settings, **redrawn})
        return self.legalise(config)

    def at(self, point: Sequence[float]) -> Config:
        """The legal config nearest to a point of the unit cube, one coordinate a knob."""
        placed = zip(self.knobs, point, strict=True)
        return self.legalise({knob.name: value_at(knob, place) for knob, place in placed})

    def _drawn(self, knobs: Iterable[Knob], rng: np.random.Generator) -> Settings:
        return {knob.name: value_at(knob, rng.random()) for knob in knobs}

    def legalise(self, values: Mapping[str, Value]) -> Config:
        """The canonical config nearest to the values that may be run.

        Of options that exclude each other a tuned one gives way. Memory over the limit is given
        back by the block cache first, then by the row cache, the number of memtables, their size,
        and the filters. An engine with other options has its own order. UserError where no config
        of the space is legal.
        """
        if self.full is not None:
            return self._taken(self.full.space.legalise(self.full.up(values)))
        settings = self._repaired(values)
        for knob in self._of(self._shrinking):
            if self._memory_excess(settings, knob) > 0:
                settings = self._repaired({**settings, knob.name: self._shrunk(knob, settings)})
        config = self._config(settings)
        if not self.violations(config):
            return config
        tuned = {knob.name: self.base[knob.name] for knob in self._of(self._memory_names)}
        for last in (self._config(self._repaired({**settings, **tuned})), self.default()):
            if not (violations := self.violations(last)):
                return last
        raise UserError(
            f"knobs: every config of the tuned knobs breaks a rule: {', '.join(violations)}"
            "; change the baseline, or also tune the knobs in this message"
        )

    def _memory_violation(self, settings: Settings) -> str | None:
        return self.memory.violation(settings, self.names)

    def _memory_excess(self, settings: Settings, knob: Knob) -> int:
        return self.memory.excess(settings, self.names.option(knob.name), self.names)

    def _of(self, names: tuple[str, ...]) -> list[Knob]:
        """The tuned ones among the knobs of these options, in their order."""
        return [
            knob for name in names for knob in self.knobs if self.names.option(knob.name) == name
        ]

    def _shrunk(self, knob: Knob, settings: Settings) -> Value:
        """The largest value of a memory knob that fits; the smallest where none does."""
        option = self.names.option(knob.name)
        own = self.names.view(settings, self.names.family(knob.name))
        if option in TABLES or self.memory.own is not None:
            return self._smaller(knob, settings)
        over, value = self._memory_excess(settings, knob), int(settings[knob.name])
        if option == "max_write_buffer_number":
            wanted = value + (-over // int(own["write_buffer_size"]))
        elif option == "write_buffer_size":
            wanted = value + (-over // int(own["max_write_buffer_number"]))
        else:
            wanted = value - over
        if wanted < knob.bounds()[0] and 0 in knob.special_values:
            return 0
        return knob.floor(min(wanted, value))

    def _taken(self, at_full: Config) -> Config:
        """The config of the small tree that belongs to a legal one of the full-size tree."""
        if self.full is None:
            return at_full
        for _ in range(_ROUNDS):
            wanted = self.full.down(at_full)
            settings = self._repaired(wanted)
            if all(settings[name] == value for name, value in wanted.items()):
                return self._config(settings)
            changed = {knob.name: settings[knob.name] for knob in self.knobs}
            at_full = self.full.space.legalise(self.full.up(changed))
        return self.default()

    def _smaller(self, knob: Knob, settings: Settings) -> Value:
        """The nearest value with which a config needs little enough memory; the least if none."""
        here = place_of(knob, settings[knob.name])
        drawn = knob.drawn or [value_at(knob, part / _PARTS) for part in range(_PARTS)]
        nearest = sorted(drawn, key=lambda value: abs(place_of(knob, value) - here))
        fitting = (v for v in nearest if not self._memory_violation({**settings, knob.name: v}))
        return next(fitting, self._least(knob, drawn, settings))

    def _least(self, knob: Knob, drawn: Sequence[Value], settings: Settings) -> Value:
        """The value with which a config needs the least memory."""
        own = self.memory.own
        if own is None:
            return self._least_table(knob)
        return min(drawn, key=lambda value: own.needs({**settings, knob.name: value}).total)

    def _least_table(self, knob: Knob) -> Value:
        """The value of an option of tables with which tables need the least memory."""
        option = self.names.option(knob.name)
        if option == "bloom_bits":
            return -1 if -1 in knob.special_values else knob.bounds()[0]
        return True if option == "cache_index_and_filter_blocks" else knob.drawn[-1]

    @property
    def _tables(self) -> tuple[str, ...]:
        """Options of tables that count as memory."""
        return TABLES if self.full_size.memory.records is not None else ()

    @property
    def _memory_names(self) -> tuple[str, ...]:
        own = self.memory.own
        return (*_MEMORY_KNOBS, *self._tables) if own is None else own.options

    @property
    def _shrinking(self) -> tuple[str, ...]:
        """Options that give memory back, in this order."""
        if self.memory.own is not None:
            return self.memory.own.options
        return (*_SHRINK_ORDER, *self._tables)

    def _repaired(self, values: Mapping[str, Value]) -> Settings:
        """The settings of the values, with what RocksDB would refuse repaired where it can be."""
        settings = self.settings(values)
        for _ in range(_REPAIRS):
            broken = broken_rules(settings, self._context, self.rules)
            way = next((way for rule in broken for way in self._ways(rule, settings)), None)
            if way is None:
                break
            settings = way
        return settings

    def _ways(self, rule: Refusal, settings: Settings) -> Iterator[Settings]:
        """What the settings become by changes of tuned knobs that the rule accepts."""
        tuned = {knob.name: knob for knob in self.knobs}
        back = [{name: self.base[name]} for name in reversed(rule.needs) if name in tuned]
        for changes in [*(way(settings) for way in rule.ways), *back]:
            if all(name in tuned and tuned[name].allows(v) for name, v in changes.items()):
                changed = self.settings({**settings, **changes})
                if not rule.broken(changed, self._context):
                    yield changed


def value_at(knob: Knob, place: float) -> Value:
    """The value at a place from 0 to below 1 of the knob's scale.

    Special values have a share at its beginning, each an equal part of it.
    """
    if not knob.is_range:
        return knob.drawn[int(place * len(knob.drawn))]
    if knob.special:
        if place < SPECIAL_SHARE:
            return knob.special_values[int(place / SPECIAL_SHARE * len(knob.special))]
        place = (place - SPECIAL_SHARE) / (1 - SPECIAL_SHARE)
    if knob.grid:
        return knob.grid[int(place * len(knob.grid))]
    low, high = knob.bounds()
    if knob.kind == "int" and not knob.log:
        return int(low) + int(place * (int(high) - int(low) + 1))
    if knob.log:
        return knob.clip(low * (high / low) ** place)
    return knob.clip(low + place * (high - low))


def place_of(knob: Knob, value: Value) -> float:
    """The place of a value in the knob's scale: what `value_at` finds there is that value."""
    if not knob.is_range:
        return (knob.drawn.index(value) + 0.5) / len(knob.drawn) if value in knob.drawn else 0.0
    if value in knob.special_values:
        return (knob.special_values.index(value) + 0.5) / len(knob.special) * SPECIAL_SHARE
    low, high = knob.bounds()
    within = min(max(float(value), low), high)
    if knob.grid:
        place = (float(np.interp(within, knob.grid, range(len(knob.grid)))) + 0.5) / len(knob.grid)
    elif knob.log:
        place = float(np.log(within / low) / np.log(high / low))
    elif knob.kind == "int":
        place = (within - low + 0.5) / (high - low + 1)
    else:
        place = (within - low) / (high - low)
    place = min(place, 1 - _ALMOST)
    return SPECIAL_SHARE + (1 - SPECIAL_SHARE) * place if knob.special else place


def _settled(knob: Knob, value: Value) -> Value:
    """An advised value, moved to the nearest one that a search may draw."""
    if isinstance(value, (bool, str)) or not knob.is_range or value in knob.special_values:
        return value
    if knob.allows(value) and not knob.grid:
        return value
    return knob.clip(value)
