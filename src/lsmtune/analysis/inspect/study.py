"""From a LOG to a study: a load like the one it saw, and its options as the base."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Table

from lsmtune.analysis.inspect.changed import BY_LEVEL
from lsmtune.analysis.inspect.inspection import Inspection, Load
from lsmtune.analysis.inspect.rule import ON
from lsmtune.analysis.inspect.study_load import HARDLY_PERCENT, similar_workload, study_rate
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.full_size import inexact
from lsmtune.knobs.option_names import enumerator
from lsmtune.knobs.types import Knob, OptionKey, Settings
from lsmtune.metrics.families import DEFAULT, listed, sizes_of
from lsmtune.units import GIB, KIB, format_bytes
from lsmtune.workloads import WORKLOADS

_SIMILAR = "The workload below is similar to the workload of the LOG."
_READS_UNKNOWN = (
    "The workload below is similar to the writes of the LOG. It has no reads.",
    "The share of reads is unknown, because the LOG does not contain the number of reads.",
    'If your program reads, write name = "mix" and your shares, such as',
    "mix = {get = 0.5, put = 0.4, scan = 0.1}, and add your reads per second to the rate.",
)
_NO_WORKLOAD = (
    "The file contains options, but no workload. So the workload below is assumed.",
    "Replace it by the workload of your program.",
)
_DEFAULTS = (
    "A LOG does not record the distribution of keys or the content of values.",
    "The workload uses db_bench's defaults for keys and values.",
)
_HOT_WRITES = (
    "If your program writes a few records most often, add write_skew = 10 to the workload.",
)
_RECORDS = (10_000, 1_000_000)
_MOST_BYTES = 4 * GIB
_UNCOMPRESSED = 0.95
"""Tables of such a share of their data were flushed uncompressed: of the data they say nothing."""
_KEY_BYTES = (8, 1024)
_SCALES = ((64, "1/64"), (16, "1/16"), (4, "1/4"))
_LEAST_MEMTABLE = 512 * KIB
_NAME_MARKS = re.compile(r"[\\#]")
"""Characters in the name of a column family that an OPTIONS file escapes."""
_FAMILY, _TABLE, _DATABASE = "CFOptions", "TableOptions/BlockBasedTable", "DBOptions"
_CODECS = {"Disabled": "kDisableCompressionOption", "ZSTD": "kZSTD", "NoCompression":
           "kNoCompression"}  # fmt: skip
_CODEC_KEYS = ("compression", "bottommost_compression", "blob_compression_type")


class StudyFiles(NamedTuple):
    """The texts of a study file and of the OPTIONS file that is its baseline.

    `assumed` has the keys of the workload whose values are not from the LOG, and the reasons.
    """

    study: str
    options: str
    assumed: Mapping[str, str]


def study_files(log: Inspection, options_path: str) -> StudyFiles:
    """Return the files of a study with a workload and a baseline like those of the LOG.

    UserError if the LOG contains no options.
    """
    if not log.option("write_buffer_size"):
        raise UserError(
            f"{log.name}: the file contains no options of RocksDB, and a study needs the "
            "options; use a LOG"
        )
    workload, assumed = _workload(log)
    study = tomlkit.dumps(_study(log, options_path, workload))
    return StudyFiles(study, options_text(log), assumed)


def tuned_family(log: Inspection) -> str | None:
    """Return a sentence on the column family that a study tunes; None if there is no other one."""
    sizes = sizes_of(log.family_sums)
    tuned = [text for name, text in sizes.items() if name == log.main_family]
    others = [text for name, text in sizes.items() if name != log.main_family]
    if not tuned or not others:
        return None
    return (
        f"the study tunes the column family {tuned[0]}; the file also has {listed(others)}; choose "
        "another with --family NAME"
    )


def options_text(log: Inspection) -> str:
    """The options of the LOG's main column family as an OPTIONS file, of all known knobs.

    The file has the name of the family, so that an export changes the same family of other files.
    """
    sections: dict[str, dict[str, str]] = {_DATABASE: {}, _FAMILY: {}, _TABLE: {}}
    family = {**log.options.get(log.main_family, {})}
    by_level = [family[name] for name in family if name.startswith(BY_LEVEL)]
    if by_level:
        family["compression"] = by_level[-1]
        family["compression_per_level"] = ":".join(_codec(name) for name in by_level)
    for knob in rocksdb_catalogue().knobs:
        if knob.option is not None and knob.option.section in sections:
            told = log.options[""] if knob.option.section == _DATABASE else family
            _put(sections[knob.option.section], knob, knob.option, told, log.load)
    name = _NAME_MARKS.sub(r"\\\g<0>", log.main_family)
    lines = ["[Version]", f"  rocksdb_version={log.version or '0.0.0'}",
             "  options_file_version=1.1"]  # fmt: skip
    for section, statements in sections.items():
        lines += ["", f"[{section}]" if section == _DATABASE else f'[{section} "{name}"]']
        lines += [f"  {key}={text}" for key, text in statements.items()]
    return "\n".join([*lines, ""])


def _put(
    section: dict[str, str], knob: Knob, option: OptionKey, told: Mapping[str, str], load: Load
) -> None:
    """Write down what the LOG tells of a knob, as OPTIONS files have it."""
    name = option.key if option.field is None else f"{option.key}.{option.field}"
    if (text := told.get(name)) is None or text.startswith("0x"):
        return
    written = _filter(text, load) if option.key == "filter_policy" else _spelled(knob, option, text)
    if option.field is not None:
        struct = section.get(option.key, "{}")
        written = f"{struct[:-1]}{option.field}={written};}}"
    section[option.key] = written


def _spelled(knob: Knob, option: OptionKey, text: str) -> str:
    if option.key in _CODEC_KEYS:
        return _codec(text)
    text = enumerator(option.field or option.key, text)
    return {"0": "false", "1": "true"}.get(text, text) if knob.kind == "bool" else text


def _codec(name: str) -> str:
    """A codec as OPTIONS files have it."""
    name = enumerator("compression", name)
    return name if name.startswith("k") else _CODECS.get(name, f"k{name}Compression")


def _filter(text: str, load: Load) -> str:
    """A LOG names the kind of filter; its bits are those that the tables spent on a key."""
    if text in ("nullptr", ""):
        return "nullptr"
    kind = "ribbon" if "ibbon" in text else "bloom"
    rest = ":0" if kind == "ribbon" else ":false"
    return f"{kind}filter:{round(load.filter_bits or 10)}{rest}"


def _study(log: Inspection, options_path: str, workload: Table) -> TOMLDocument:
    document = tomlkit.document()
    for line in (f"Created from {log.name!r}.", *_remarks(log)):
        document.add(tomlkit.comment(line))
    document.add("base", tomlkit.item(options_path))
    if log.main_family != DEFAULT:
        document.add("family", tomlkit.item(log.main_family))
    scale, why = _scale(log)
    document.add("scale", tomlkit.item(scale).comment(why))
    if (capacity := log.number("block_cache_capacity")) and capacity >= 1:
        size = max(int(capacity), _least_cache_bytes())
        limited = "" if size == int(capacity) else f", the least; the LOG has {int(capacity)} B"
        document.add("cache", tomlkit.item(str(size)).comment(f"{format_bytes(size)}{limited}"))
    rate = study_rate(log)
    for line in rate.above:
        document.add(tomlkit.comment(line))
    if rate.text is not None:
        document.add("rate", tomlkit.item(rate.text).comment(rate.comment))
    document.add(tomlkit.nl())
    document.add("workload", workload)
    return document


def _remarks(log: Inspection) -> list[str]:
    text = tuned_family(log)
    family = [] if text is None else [f"{text[0].upper()}{text[1:]}."]
    if log.load == Load():
        return [*_NO_WORKLOAD, "The baseline of the study has the options of the file.", *family]
    similar = _READS_UNKNOWN if log.load.read_percent is None else (_SIMILAR,)
    parameters = WORKLOADS[similar_workload(log.load)[0]].parameters
    hot = _HOT_WRITES if "write_skew" in parameters else ()
    baseline = "The baseline of the study has the options of the LOG."
    if log.main_family in log.assumed_families:
        baseline = (
            f"The LOG lacks the options of {log.main_family}: the baseline has those that all "
            "printed families have. Compare it with the OPTIONS file of the database."
        )
    return [*similar, baseline, *family, *_DEFAULTS, *hot]


def _scale(log: Inspection) -> tuple[str, str]:
    """Return the smallest scale at which memtables stay worth the name, and why it is this one.

    All other sizes of the baseline must be possible at this scale, too.
    """
    size = log.number("write_buffer_size") or 0
    least, sizes = format_bytes(_LEAST_MEMTABLE), _sizes(log)
    why = f"full size, because smaller scales have memtables below {least}"
    for by, text in _SCALES:
        if size / by < _LEAST_MEMTABLE:
            continue
        if (found := inexact(rocksdb_catalogue().knobs, sizes, Fraction(1, by))) is None:
            memtables = f"{format_bytes(size)} / {by} = {format_bytes(size / by)}"
            return text, f"the smallest scale with memtables of {least} or more: {memtables}"
        why = f"full size, because {found[0].name} cannot be smaller"
    return "1", why


def _sizes(log: Inspection) -> Settings:
    """Return the sizes of the file that scale with the tree, without those that RocksDB derives."""
    scaled = [knob for knob in rocksdb_catalogue().knobs if knob.scales]
    placed = [(knob.name, knob.option) for knob in scaled if knob.option is not None]
    named = {name: option.key for name, option in placed if option.form != "derived"}
    found = {name: log.number(key) for name, key in named.items()}
    capacity = log.number("block_cache_capacity")
    cache = max(capacity, _least_cache_bytes()) if capacity and capacity >= 1 else None
    known = {**found, "cache_size": cache}
    return {name: int(value) for name, value in known.items() if value is not None}


def _workload(log: Inspection) -> tuple[Table, dict[str, str]]:
    """Return the workload, and its keys that are assumed, with the reasons."""
    load = log.load
    name, shares = similar_workload(load)
    table, assumed = tomlkit.table(), dict[str, str]()
    missing = "the file contains no workload" if load == Load() else "the LOG has none"

    def put(key: str, value: object, source: str = "", why: str = missing) -> None:
        """Add a key; without a source, its value is assumed for the reason `why`."""
        table.add(key, tomlkit.item(value).comment(source or f"assumed: {why}"))
        if not source:
            assumed[key] = why

    def told(value: object) -> str:
        return "" if value is None else "from the LOG"

    if load.read_percent is None and load.writes_s is not None:
        put("name", name, why="reads are unknown")
    else:
        put("name", name, told(load.read_percent))
    put("num", *_records(log))
    put("key_size", _clamped(load.key_bytes, _KEY_BYTES, 16), told(load.key_bytes))
    value_size = _clamped(load.value_bytes, (1, 1 << 24), 1024)
    least = log.number("min_blob_size") if log.option("enable_blob_files") in ON else None
    enter = f"{missing}; values from {least or 0:.0f} B on are in blob files: enter your mean size"
    put("value_size", value_size, told(load.value_bytes), why=enter if least else missing)
    if load.compressed_to is not None and load.compressed_to < _UNCOMPRESSED:
        ratio = round(min(1.0, max(0.05, load.compressed_to)), 2)
        put("compression_ratio", ratio, told(ratio))
    if shares:
        mix = tomlkit.inline_table()
        mix.update(shares)
        put("mix", mix, told(mix))
    return table, assumed


def _records(log: Inspection) -> tuple[int, str]:
    """Return as many as fit a trial, and their source; "" if they are assumed.

    They are the writes of the LOG. With reads, they are the records in the tree, where it has a
    size.
    """
    load = log.load
    record = (load.key_bytes or 16) + (load.value_bytes or 1024)
    most = min(_RECORDS[1], round(_MOST_BYTES / record))
    least = min(_RECORDS[0], most)
    sizes = [level.size_bytes for level in log.levels if level.size_bytes is not None]
    stored = round(sum(sizes) / (record * (load.compressed_to or 1)))
    has_reads = load.read_percent is not None and load.read_percent > HARDLY_PERCENT
    if load.records and not has_reads:
        found, what = load.records, "number of writes in the LOG, not of keys"
        what += f"; the tree has about {stored:,} records" if stored else ""
    elif sizes:
        found, what = stored, "number of records in the tree, estimated from its size"
    else:
        return most, ""
    num = _clamped(found, (least, most), most)
    return num, what if num == found else f"{found:,}, limited to {num:,}: {what}"


def _clamped(value: float | None, bounds: tuple[int, int], unknown: int) -> int:
    return unknown if value is None else round(min(bounds[1], max(bounds[0], value)))


def _least_cache_bytes() -> int:
    """Return the size of the smallest block cache that a trial can have."""
    return round(rocksdb_catalogue().knob("cache_size").least or 0)
