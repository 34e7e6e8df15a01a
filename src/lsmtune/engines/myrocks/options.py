"""MyRocks' options: server variables for the database, texts for each column family."""

from collections.abc import Iterator, Mapping
from math import isfinite

from lsmtune.engines.rocksdb.options import LOG_OPTIONS, OWN_FOLDER
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.families import (
    DATABASE_SECTION,
    DEFAULT_FAMILY,
    FAMILY_SECTIONS,
    PLAIN,
)
from lsmtune.knobs.my_cnf import server_variables
from lsmtune.knobs.option_text import (
    Sections,
    read_value,
    statements,
    struct_fields,
    whole_number,
    with_field,
)
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options

_TABLE = "block_based_table_factory"
_FILTER = "filter_policy"
_DEFAULT_TEXT, _OVERRIDE_TEXT = "default_cf_options", "override_cf_options"
_CACHE, _CACHE_VARIABLE = "cache_size", "block_cache_size"


def plain_knobs() -> tuple[Knob, ...]:
    """RocksDB's knobs, by the plain names that the texts are written with."""
    return rocksdb_catalogue().knobs


def variable_of(knob: Knob) -> str:
    """The server variable of an option of the whole database, without its prefix."""
    if knob.name == _CACHE:
        return _CACHE_VARIABLE
    return knob.name if knob.option is None else knob.option.key


def read_settings(catalogue: Catalogue, options: str, variables: Mapping[str, str]) -> Settings:
    """The value of every knob that the server has, the families' as the OPTIONS text has them."""
    sections = parse_options(options).sections
    plain = {knob.name: knob for knob in plain_knobs()}
    found: Settings = {}
    for knob in catalogue.knobs:
        family = PLAIN.family(knob.name)
        value = (
            _variable_value(knob, variables)
            if family is None
            else read_value(plain[PLAIN.option(knob.name)], sections, family)
        )
        if value is not None:
            found[knob.name] = value
    return {name: value for name, value in found.items() if not _follows(name, found)}


def _follows(name: str, found: Settings) -> bool:
    """Whether RocksDB has made the value of others: flushed memtables that it keeps for conflicts.

    A database of transactions keeps as many bytes as its memtables have, unless it is told how
    many (db/column_family.cc, SanitizeOptions). Untold it follows them.
    """
    if PLAIN.option(name) != "max_write_buffer_size_to_maintain":
        return False
    own = PLAIN.view(found, PLAIN.family(name))
    each, number = own.get("write_buffer_size"), own.get("max_write_buffer_number")
    if not isinstance(each, int) or not isinstance(number, int):
        return False
    return own[PLAIN.option(name)] == each * number


def _variable_value(knob: Knob, variables: Mapping[str, str]) -> Value | None:
    text = variables.get(variable_of(knob))
    if text is None:
        return None
    if knob.kind == "bool":
        return {"ON": True, "OFF": False, "1": True, "0": False}.get(text.upper())
    if knob.is_range:
        try:
            number = whole_number(text) if isinstance(knob.default, int) else float(text)
        except ValueError:
            return None
        return number if isfinite(number) else None
    return next((value for value in knob.values if str(value) == text), None)


def variables_of(
    catalogue: Catalogue,
    base_options: str,
    base: Settings,
    given: Mapping[str, str],
    want: Settings,
) -> dict[str, str]:
    """The server variables by their whole names that make the base run the wanted settings.

    `given` are the user's own variables: they stay, but for what the settings tell. What is as the
    base has it is not told.
    """
    told = dict(given)
    known = {knob.name: knob for knob in catalogue.knobs}
    for name, value in want.items():
        if PLAIN.family(name) is None and name in known and value != base.get(name):
            told[variable_of(known[name])] = _variable_text(value)
    knobs = plain_knobs()
    sections = parse_options(base_options).sections
    default = PLAIN.view(want, DEFAULT_FAMILY)
    changes = statements(knobs, _of_family(default), sections)
    if changes:
        told[_DEFAULT_TEXT] = _with_changes(given.get(_DEFAULT_TEXT, ""), changes)
    as_default = parse_options(_replaced(base_options, changes)).sections
    overrides = _fields(given.get(_OVERRIDE_TEXT, ""))
    for family in PLAIN.families(want):
        if family in (None, DEFAULT_FAMILY):
            continue
        theirs = overrides.get(family, "{}").strip()[1:-1]
        as_theirs = _with_texts(as_default, DEFAULT_FAMILY, theirs)
        own = PLAIN.view(want, family)
        was = PLAIN.view(base, DEFAULT_FAMILY) | PLAIN.view(base, family)
        changed = {name: value for name, value in own.items() if value != was.get(name)}
        texts = {
            **statements(knobs, _of_family(own), as_default),
            **statements(knobs, _of_family(changed), as_theirs),
        }
        if texts:
            overrides[family] = f"{{{_with_changes(theirs, texts)}}}"
    if overrides:
        told[_OVERRIDE_TEXT] = ";".join(f"{name}={text}" for name, text in overrides.items())
    return {f"rocksdb_{name}": text for name, text in told.items()}


def with_file(
    catalogue: Catalogue,
    options: str,
    settings: Settings,
    before: Mapping[str, str],
    given: Mapping[str, str],
) -> tuple[str, Settings]:
    """Return the server's options and settings as they are with the variables of another file.

    `options` and `settings` were read with the variables `before`. What only `before` sets has
    the catalogue's default in the result.
    """
    found = dict(settings)
    for knob in catalogue.knobs:
        variable = variable_of(knob)
        if PLAIN.family(knob.name) is None and before.get(variable) != given.get(variable):
            value = _variable_value(knob, given)
            found[knob.name] = knob.default if value is None else value
    plain = {knob.name: knob for knob in plain_knobs()}
    sections = parse_options(options).sections
    changes: dict[tuple[str, str], str] = {}
    for family in (family for family in PLAIN.families(settings) if family is not None):
        earlier, theirs = _family_texts(before, family), _family_texts(given, family)
        defaults = {knob.name: knob.default for knob in plain.values() if knob.option}
        written = statements(plain.values(), _of_family(defaults), {}, family)
        gone = {p: text for p, text in written.items() if p in earlier and p not in theirs}
        new = {p: text for p, text in theirs.items() if earlier.get(p) != text}
        changes |= {**gone, **new}
    known = {place: text for place, text in changes.items() if place[0] in sections}
    text = _replaced(options, known)
    told = parse_options(text).sections
    for name in settings:
        of_family, own = PLAIN.family(name), plain.get(PLAIN.option(name))
        if of_family is not None and own is not None:
            was, now = (read_value(own, of, of_family) for of in (sections, told))
            if now is not None and now != was:
                found[name] = now
    return text, found


def _replaced(options: str, changes: Mapping[tuple[str, str], str]) -> str:
    """Return the OPTIONS text with what a my.cnf sets; UserError if it cannot contain a text."""
    try:
        return replace_options(options, changes)
    except ParseError as error:
        raise UserError("base: ", error.message) from error


def _family_texts(variables: Mapping[str, str], family: str) -> dict[tuple[str, str], str]:
    """Return the texts that the variables set for a family, by section and key."""
    overrides = _fields(variables.get(_OVERRIDE_TEXT, ""))
    own = {} if family == DEFAULT_FAMILY else _fields(overrides.get(family, "{}").strip()[1:-1])
    fields = {**_fields(variables.get(_DEFAULT_TEXT, "")), **own}
    tables = _fields(fields.pop(_TABLE, "{}").strip()[1:-1])
    cf, table = (f'{section} "{family}"' for section in FAMILY_SECTIONS)
    return {
        **{(cf, key): text for key, text in fields.items()},
        **{(table, key): text for key, text in tables.items()},
    }


def _fields(text: str) -> dict[str, str]:
    return struct_fields(f"{{{text}}}") or {}


def _with_texts(sections: Sections, family: str, text: str) -> Sections:
    """Return the sections with a family's text of options in them."""
    changed = {name: dict(section) for name, section in sections.items()}
    for (section, key), value in _family_texts({_DEFAULT_TEXT: text}, family).items():
        changed.setdefault(section, {})[key] = value
    return changed


def live_statements(
    catalogue: Catalogue, base_options: str, now: Settings, wanted: Settings
) -> Iterator[str]:
    """The SQL that takes a running server from the one settings to the others."""
    known = {knob.name: knob for knob in catalogue.knobs}
    for name, value in wanted.items():
        if PLAIN.family(name) is None and name in known and value != now.get(name):
            variable = variable_of(known[name])
            yield f"SET GLOBAL rocksdb_{variable} = {_variable_text(value)}"
    knobs, sections = plain_knobs(), parse_options(base_options).sections
    texts = {}
    for family in PLAIN.families(wanted):
        if family is None:
            continue
        then = statements(knobs, _of_family(PLAIN.view(now, family)), sections)
        as_now = parse_options(replace_options(base_options, then)).sections
        changes = statements(knobs, _of_family(PLAIN.view(wanted, family)), as_now)
        if changes:
            texts[family] = _with_changes("", changes)
    if texts:
        told = ";".join(f"{family}={{{text}}}" for family, text in texts.items())
        yield f"SET GLOBAL rocksdb_update_cf_options = '{told}'"


def _of_family(settings: Settings) -> Settings:
    """Those of the settings that a column family has of its own."""
    own = {k.name for k in plain_knobs() if k.option and k.option.section != DATABASE_SECTION}
    return {name: value for name, value in settings.items() if name in own}


def _variable_text(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _with_changes(text: str, changes: Mapping[tuple[str, str], str]) -> str:
    """A text of options with some of them set; those of tables stand in a struct of their own.

    UserError where the text has something else in the place of this struct.
    """
    whole = f"{{{text}}}"
    for (section, key), value in changes.items():
        if section.startswith("TableOptions"):
            tables = (struct_fields(whole) or {}).get(_TABLE, "{}")
            if struct_fields(tables) is None:
                raise UserError(
                    f"base: {_TABLE} = {tables!r}: not a list of options such as {{name=value;}}"
                )
            whole = with_field(whole, _TABLE, with_field(tables, key, value))
        else:
            whole = with_field(whole, key, value)
    return whole[1:-1]


def read_base(text: str) -> dict[str, str]:
    """RocksDB's variables in a my.cnf, by their names without prefix.

    Only what is RocksDB's is taken: paths, ports, users and passwords of a production server are
    not. UserError where there is none.
    """
    found = {name: value for _, name, value in server_variables(text) if is_used(name)}
    if not found:
        including = any(line.strip().startswith("!include") for line in text.splitlines())
        hint = "; name the included file that sets rocksdb_ variables" if including else ""
        raise UserError(f"base: this my.cnf sets no rocksdb_ variable{hint}")
    return found


def is_used(name: str) -> bool:
    """Return whether trials run with a variable of a my.cnf, by its name without prefix."""
    return name not in _NOT_TAKEN


def left_out(text: str) -> tuple[str, ...]:
    """Return RocksDB's variables of a my.cnf that trials do not run with, each with the reason."""
    return tuple(
        f"rocksdb_{name} = {value}: {_NOT_TAKEN[name]}"
        for _, name, value in server_variables(text)
        if name in _NOT_TAKEN
    )


def with_filter(options: str, given: Mapping[str, str]) -> str:
    """The OPTIONS text with the filter that the user has told: RocksDB 6.29 writes no bits down."""
    section = f'TableOptions/BlockBasedTable "{DEFAULT_FAMILY}"'
    told = _family_texts(given, DEFAULT_FAMILY).get((section, _FILTER))
    return options if told is None else _replaced(options, {(section, _FILTER): told})


def as_my_cnf(variables: Mapping[str, str]) -> str:
    """RocksDB's variables as a my.cnf of their own."""
    lines = [f"rocksdb_{name}={value}" for name, value in variables.items()]
    return "".join(f"{line}\n" for line in ["[mysqld]", *lines])


_NOT_TAKEN = {
    **dict.fromkeys(
        ("datadir", "wal_dir", "persistent_cache_path", "tmpdir", "log_dir"), OWN_FOLDER
    ),
    **LOG_OPTIONS,
    "read_free_rpl_tables": "trials do not contain the tables of your application",
}
"""Variables of a production server that trials do not run with, and why."""
