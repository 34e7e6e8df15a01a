"""OPTIONS texts: the baseline of trials, the text that a trial runs with, and what it ran with.

A trial is the OPTIONS of the baseline with the knobs set in it. A knob exists in a study if this
text has its key, so each version of RocksDB has its own catalogue. Block cache, row cache and rate
limiter are passed separately, because an OPTIONS file does not contain them.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from lsmtune.engines.base import OwnBase
from lsmtune.engines.read_back import check_as_given, is_as_wanted
from lsmtune.errors import Argument, ParseError, UserError, unknown_word
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.knobs.option_text import (
    DERIVED,
    NAMELESS_FILTER,
    Place,
    Sections,
    derived_values,
    option_place,
    read_value,
    statements,
    struct_fields,
)
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.options_file import (
    COMMA_NOTE,
    OptionsFile,
    family_names,
    in_decimal_points,
    parse_options,
    replace_options,
    unescaped,
)

TABLE_OPTIONS = "block_based_table_factory"
"""The option that sets all options of tables, as one text."""
_FILTER = f'TableOptions/BlockBasedTable "{DEFAULT_FAMILY}"', "filter_policy"
_APPLICATION = "trials run without the classes of your application"
OWN_FOLDER = "a trial keeps all files in the folder of the trial"
_TABLES = "trials use only block-based tables"
_UNDERSTOOD = {
    "table_factory": (re.compile("BlockBasedTable"), _TABLES),
    "prefix_extractor": (
        re.compile(r"nullptr|(rocksdb\.)?(FixedPrefix|CappedPrefix|fixed|capped)[.:]\d+"),
        _APPLICATION,
    ),
    "memtable_factory": (
        re.compile(
            r"(SkipListFactory|VectorRepFactory|skip_list|vector)(:\d+)?|"
            r"\{id=(SkipListFactory|VectorRepFactory);.*\}"
        ),
        _APPLICATION,
    ),
    "filter_policy": (
        re.compile(f"(?!{re.escape(NAMELESS_FILTER)}).*"),
        "the file does not contain the bits of the filter; write it as bloomfilter:10:false",
    ),
}
"""Options that may name a class: the values that trials support, and why others are left out."""

LOG_OPTIONS = dict.fromkeys(
    ("info_log_level", "max_log_file_size", "log_file_time_to_roll", "keep_log_file_num",
     "stats_dump_period_sec"),
    "lsmtune measures a trial by RocksDB's LOG, which must be complete",
)  # fmt: skip
"""Options of the LOG, and why no trial runs with them."""
NOT_IN_TRIALS = {
    **dict.fromkeys(("wal_dir", "db_log_dir", "db_paths", "cf_paths"), OWN_FOLDER),
    **LOG_OPTIONS,
    **dict.fromkeys(
        ("env", "listeners", "wal_filter", "block_cache_compressed", "persistent_cache"),
        "trials run RocksDB without additional classes and caches"),
    **dict.fromkeys(
        ("compaction_filter", "compaction_filter_factory", "sst_partitioner_factory",
         "compression_manager", "user_defined_index_factory", "table_properties_collectors",
         "file_checksum_gen_factory", "memtable_insert_with_hint_prefix_extractor",
         "flush_block_policy_factory"),
        _APPLICATION),
    "comparator": "trials always order keys by their bytes",
    "merge_operator": "trials write no merge records",
    TABLE_OPTIONS: "write options of tables into the section TableOptions/BlockBasedTable",
    "plain_table_factory": _TABLES,
    "block_cache": "the flag --cache sets the size of the block cache in trials",
    "row_cache": "the knob row_cache_size sets the size of the row cache",
    "rate_limiter": "the knob rate_limiter_bytes_per_sec sets the rate of the rate limiter",
    "rate_limiter_bytes_per_sec": "set it as a knob of the study, not in the baseline",
    **dict.fromkeys(
        ("create_if_missing", "create_missing_column_families", "error_if_exists",
         "fail_if_options_file_error"), ""),
}  # fmt: skip
"""Options that no trial runs with, and why; "" is not reported."""

_NOT_TAKEN = NOT_IN_TRIALS | {
    "disable_auto_compactions": (
        "trials run with compactions, unless a config sets the knob disable_auto_compactions"
    )
}
"""Options of a user's file that the baseline of trials does not have, and why."""
_CLASS = "id"
"""The field of a struct that names a class; older versions write only the name."""

_KEY = re.compile(r"\w+", re.ASCII)
_NO_VALUE = frozenset({"", "{}", "nullptr"})
_FACTORY = "table_factory"
"""This option of an OPTIONS file would make a new factory, without the cache of the plan."""

NOT_READ = frozenset({"experimental_mempurge_threshold"})
"""Knobs that RocksDB does not read from this text.

Since 7.5, RocksDB ignores this name, because an old option of the database had the same name.
"""

_CACHE = "cache_size"
"""The size of the block cache is in RocksDB's LOG, not in an OPTIONS file."""
_FILTERS = ("filter_bits", "ribbon")


def own_options(text: str) -> str:
    """Return RocksDB's own OPTIONS with 0 for values that RocksDB derives from other options.

    RocksDB writes the sizes of arena and largest compaction that it has computed from the sizes of
    memtables and files (db/column_family.cc). With 0, it computes them again for other sizes. The
    listener of db_bench is left out, because db_bench adds it each time.
    """
    sections = parse_options(text).sections
    family = f'CFOptions "{DEFAULT_FAMILY}"'
    changes = {(family, key): "0" for key in DERIVED}
    present = {place: "0" for place in changes if place[1] in sections.get(family, {})}
    if "listeners" in sections.get(DATABASE_SECTION, {}):
        present[DATABASE_SECTION, "listeners"] = "{}"
    return replace_options(text, present)


def with_filter_bits(written: str, given: str) -> str:
    """Return the OPTIONS that RocksDB wrote, with the filter of the OPTIONS that it was given.

    RocksDB 6 writes a filter without its bits, and reads such a filter as no filter.
    """
    filter_written = parse_options(written).get(*_FILTER)
    filter_given = parse_options(given).get(*_FILTER)
    if filter_written != NAMELESS_FILTER or filter_given is None:
        return written
    return replace_options(written, {_FILTER: filter_given})


@dataclass(frozen=True, slots=True)
class MergedOptions:
    """RocksDB's own OPTIONS with the values of the user's family."""

    text: str
    left_out: tuple[str, ...]
    """Each option that is left out, with its value and the reason."""
    unprinted: Mapping[Place, str]
    """The options in the text that RocksDB's own OPTIONS do not contain, with their values.

    RocksDB may have such an option: it does not write some that have no value by default, such as
    `compression_per_level`.
    """


def merged_options(
    own: str, given: OptionsFile, family: str, unknown: Collection[Place] = ()
) -> MergedOptions:
    """Return RocksDB's own OPTIONS with the values of the user's family.

    `unknown` are options that this RocksDB does not have. UserError if the file does not have the
    family.
    """
    ours = parse_options(own)
    if f'CFOptions "{family}"' not in given.sections:
        names = family_names(given.sections)
        raise UserError(
            f"family: {unknown_word('column family', family, names)}; choose one with ",
            Argument("family", "NAME"),
        )
    engine = f"RocksDB {ours.rocksdb_version}"
    changes: dict[Place, str] = {}
    unprinted: dict[Place, str] = {}
    left_out: list[str] = []
    for theirs, our_section in _sections(family):
        known = ours.sections.get(our_section, {})
        for key, text in _derived_as_zero(given.sections.get(theirs, {})).items():
            place = our_section, key
            reason = _refusal(key, text, ours, our_section)
            if place in unknown:
                reason = f"{engine} does not have this option"
            if reason is None and key in known:
                changes[place] = _known_fields(text, known[key])
            elif reason is None and our_section in ours.sections:
                unprinted[place] = text
            elif reason and text != known.get(key):
                left_out.append(f"{key} = {text}: {reason}")
    text = replace_options(own, {**changes, **unprinted})
    return MergedOptions(text, tuple(left_out), unprinted)


def ignored(merged: MergedOptions, as_run: str) -> tuple[str, ...]:
    """Return the options that RocksDB read and did not write, with their values.

    RocksDB accepts some options of older versions, but does not use them.
    """
    ran = parse_options(as_run)
    reason = f"RocksDB {ran.rocksdb_version} accepts this option, but does not use it"
    return tuple(
        f"{key} = {text}: {reason}"
        for (section, key), text in merged.unprinted.items()
        if text and key not in ran.sections.get(section, {})
    )


def check_possible(given: OptionsFile, family: str) -> None:
    """Raise UserError for a number that no RocksDB can run with, and for a negative one.

    RocksDB would read a negative number as a very large one (util/string_util.cc, ParseUint64).
    """
    for knob in rocksdb_catalogue().knobs:
        if knob.option is None or not knob.is_range:
            continue
        value = read_value(knob, given.sections, family)
        if isinstance(value, str) or value is None:
            continue
        # RocksDB lowers sizes that are too large by itself.
        if knob.most is not None and value > knob.most and knob.unit != "bytes":
            key = option_place(knob, family)[1]
            allowed = knob.accepted_text()
            raise UserError(f"base: {key} = {value}: not possible; allowed: {allowed}")
        if value >= 0:
            continue
        is_signed = knob.bounds()[0] < 0 or (knob.least is not None and knob.least <= value)
        if value not in knob.special_values and not is_signed:
            key = option_place(knob, family)[1]
            special = "".join(f", or {s.value} ({s.meaning})" for s in knob.special)
            raise UserError(f"base: {key} = {value}: not possible; allowed: 0 or more{special}")


def read_own(own: OwnBase, version: str) -> tuple[OptionsFile, tuple[str, ...]]:
    """Return the user's file with decimal points, and notes about the file.

    UserError if the text is not an OPTIONS file, or if a number is not possible.
    """
    try:
        given, has_commas = in_decimal_points(parse_options(own.options))
    except ParseError as error:
        raise UserError("base: ", error.message) from error
    check_possible(given, own.family)
    commas = (COMMA_NOTE,) if has_commas else ()
    return given, (*own.notes, *version_notes(given, version), *commas)


def version_notes(given: OptionsFile, version: str) -> tuple[str, ...]:
    """Return a note if another version of RocksDB wrote the user's file."""
    if given.rocksdb_version in (None, version):
        return ()
    return (f"RocksDB {given.rocksdb_version} wrote your file, but trials run RocksDB {version}",)


def _known_fields(theirs: str, ours: str) -> str:
    """Return the user's text. Fields of a struct are those that this RocksDB has.

    A field that the user's text lacks has RocksDB's own value.
    """
    known, given = struct_fields(ours), struct_fields(theirs)
    if known is None or given is None:
        return theirs
    fields = {name: given.get(name, text) for name, text in known.items()}
    return "{" + "".join(f"{name}={text};" for name, text in fields.items()) + "}"


def _sections(family: str) -> list[tuple[str, str]]:
    """Return the sections of the user's file, each with the section of a trial's OPTIONS."""
    families = [(f'{name} "{family}"', f'{name} "{DEFAULT_FAMILY}"') for name in FAMILY_SECTIONS]
    return [(DATABASE_SECTION, DATABASE_SECTION), *families]


def _refusal(key: str, text: str, own: OptionsFile, section: str) -> str | None:
    """Return why an option is left out, "" if that is not reported, None if it is used."""
    if key in _NOT_TAKEN:
        return "" if text in ("", "nullptr", "{}") else _NOT_TAKEN[key]
    if key == "format_version" and _int(text) > _newest_format(own, section):
        return f"RocksDB {own.rocksdb_version} cannot write this format_version"
    pattern, reason = _UNDERSTOOD.get(key, (re.compile(".*"), ""))
    return None if pattern.fullmatch(text) else reason


def _newest_format(own: OptionsFile, section: str) -> int:
    """Return the newest format of tables that this RocksDB can write."""
    known = rocksdb_catalogue().of_version(own.rocksdb_version) if own.rocksdb_version else None
    choices = known.knob("format_version").choices if known else ()
    return max([_int(own.get(section, "format_version")), *map(int, choices)])


def _derived_as_zero(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with 0 for values that RocksDB has derived from other options."""
    found = dict(options)
    for name, (source, _) in DERIVED.items():
        if (leader := _int(found.get(source))) and _int(found.get(name)) in derived_values(
            name, leader
        ):
            found[name] = "0"
    return found


def _int(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


def read_settings(catalogue: Catalogue, options: str) -> Settings:
    """Return the value of each knob that the OPTIONS text has.

    Knobs that no such text can have are at their defaults.
    """
    return settings_in(catalogue, parse_options(options).sections)


def settings_in(catalogue: Catalogue, sections: Sections) -> Settings:
    """Return the same as `read_settings`, from a text that is parsed."""
    found: Settings = {}
    for knob in catalogue.knobs:
        value = knob.default if knob.option is None else read_value(knob, sections)
        if value is not None:
            found[knob.name] = value
    return found


def rendered_options(
    catalogue: Catalogue, base: str, settings: Settings, *, compactions: bool = True
) -> str:
    """Return the OPTIONS of the baseline with the settings.

    Without `compactions`, reads find the tree as it is.
    """
    sections = parse_options(base).sections
    knobs = [knob for knob in catalogue.knobs if knob.name in settings]
    changes = statements(knobs, settings, sections)
    if not compactions:
        changes[f'CFOptions "{DEFAULT_FAMILY}"', "disable_auto_compactions"] = "true"
    return replace_options(base, changes)


def silently_changed(given: str, as_run: str) -> tuple[str, ...]:
    """Return each option that runs with another value, as "NAME = VALUE: REASON".

    `given` is the OPTIONS text that RocksDB got, `as_run` the one that it wrote after it opened a
    database.
    """
    ran = parse_options(as_run)
    who = f"RocksDB {ran.rocksdb_version}"
    return tuple(
        f"{key} = {text}: {who} changes this value to {found}"
        for section, options in parse_options(given).sections.items()
        for key, text in options.items()
        if (found := ran.sections.get(section, {}).get(key)) is not None
        and not _is_same(text, found)
    )


def _is_same(given: str, found: str) -> bool:
    """Return whether two texts are the same value. Fields that only one version has are equal."""
    if given == found or _number(given) == _number(found) is not None:
        return True
    wanted, ran = struct_fields(given), struct_fields(found)
    if wanted is None and ran is None:
        return False
    wanted, ran = wanted or {_CLASS: given}, ran or {_CLASS: found}
    return all(_is_same(wanted[name], ran[name]) for name in wanted.keys() & ran.keys())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def option_string(options: str, family: str = DEFAULT_FAMILY) -> str:
    """Return the text of the options that an OPTIONS text sets for a family and the database.

    The driver gets this text, because `rocksdb_get_options_from_string` of all versions reads it.
    It is `key=value;` for each option. Values are not escaped; one with a semicolon is in braces.

    Options that a trial must not have are left out, such as other folders and levels of logging.
    Options without a value, such as `nullptr`, are left out too.

    ParseError if the text is not an OPTIONS file, or if RocksDB would read one key or value as
    several options.
    """
    sections = parse_options(options).sections
    own = (*_statements(sections.get(DATABASE_SECTION, {})),
           *_statements(sections.get(f'CFOptions "{family}"', {})))  # fmt: skip
    tables = "".join(_statements(sections.get(f'TableOptions/BlockBasedTable "{family}"', {})))
    return "".join(own) + (f"{TABLE_OPTIONS}={{{tables}}};" if tables else "")


def _statements(section: Mapping[str, str]) -> Iterator[str]:
    for key, text in section.items():
        if key in NOT_IN_TRIALS or key == _FACTORY or text in _NO_VALUE:
            continue
        if not _KEY.fullmatch(key):
            raise ParseError(f"OPTIONS file: {key}: a key has only letters, digits and _")
        yield f"{key}={_one_value(key, unescaped(text))};"


def _one_value(key: str, text: str) -> str:
    """Return the value, in braces if it contains semicolons, so that RocksDB reads one value."""
    depth, ends = 0, 0
    for char in text:
        depth += (char == "{") - (char == "}")
        ends += char == "}" and depth == 0
        if depth < 0:
            break
    if depth:
        raise ParseError(f"OPTIONS file: {key}={text}: write as many {{ as }}")
    is_struct = text.startswith("{") and text.endswith("}") and ends == 1
    return text if is_struct or not set(text) & set(";{}") else f"{{{text}}}"


def read_back(
    catalogue: Catalogue, settings: Settings, options_text: str, options: LogOptions
) -> dict[str, str]:
    """Return the options that RocksDB ran, by the name of the knob.

    TrialFailedError if they are not those of the settings.
    """
    sections = parse_options(options_text).sections
    as_run: dict[str, str] = {}
    differing: list[str] = []
    for knob in _written_down(catalogue, settings):
        section, key = option_place(knob)
        as_run[knob.name] = sections.get(section, {}).get(key, "")
        actual = read_value(knob, sections)
        if _is_a_filter(knob, settings, as_run[knob.name]):
            continue
        if not is_as_wanted(knob.name, settings[knob.name], actual):
            differing.append(
                f"option {knob.name} is {as_run[knob.name] or 'missing'}, "
                f"but the trial set {settings[knob.name]}"
            )
    if _CACHE in settings:
        as_run[_CACHE] = str(options.block_cache_capacity_bytes)
        if options.block_cache_capacity_bytes != settings[_CACHE]:
            differing.append(
                f"option {_CACHE} is {as_run[_CACHE]}, but the trial set {settings[_CACHE]}"
            )
    check_as_given("RocksDB", differing)
    return as_run


def _is_a_filter(knob: Knob, settings: Settings, text: str) -> bool:
    """Return whether the trial has a filter and RocksDB 6 wrote the filter without its bits."""
    form = None if knob.option is None else knob.option.form
    return form in _FILTERS and text == NAMELESS_FILTER and int(settings.get("bloom_bits", -1)) > 0


def _written_down(catalogue: Catalogue, settings: Settings) -> list[Knob]:
    return [k for k in catalogue.knobs if k.option is not None and k.name in settings]
