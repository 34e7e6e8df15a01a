"""How a RocksDB knob's value is written in an OPTIONS file, and where."""

from lsmtune.knobs.types import Knob, Settings, Value

_CF_SECTIONS = ("CFOptions", "TableOptions/BlockBasedTable")


def option_place(knob: Knob) -> tuple[str, str]:
    """Section and key of the knob, for the default column family."""
    family = ' "default"' if knob.option.section in _CF_SECTIONS else ""
    return knob.option.section + family, knob.option.key


def option_text(knob: Knob, settings: Settings, codec_labels: dict[Value, str]) -> str:
    """The text of the knob's value as RocksDB writes it.

    `codec_labels` are RocksDB's names of the values of compression_type, which the list of
    codecs by level is made of.
    """
    value = settings[knob.name]
    if knob.option.form == "label":
        return knob.labels[knob.choices.index(value)]
    if knob.option.form == "bloom":
        return "nullptr" if int(value) <= 0 else f"bloomfilter:{value}:false"
    if knob.option.form == "per_level":
        return _codecs_by_level(int(value), settings, codec_labels)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _codecs_by_level(first: int, settings: Settings, labels: dict[Value, str]) -> str:
    if first < 0:
        return ""
    compressed = int(settings["num_levels"]) - first
    codec = labels[settings["compression_type"]]
    return ":".join([labels["none"]] * first + [codec] * compressed)


def same_option(expected: str, actual: str) -> bool:
    """Whether two texts of an option mean the same: equal, or equal as numbers."""
    if expected == actual:
        return True
    try:
        return float(expected) == float(actual)
    except ValueError:
        return False
