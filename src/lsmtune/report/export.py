"""The files to deploy: the tuned options in the form that the user's store reads."""

from collections.abc import Mapping, Sequence

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.option_text import option_place, option_text, same_option
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options


def export_options(
    catalogue: Catalogue, tuned: Sequence[str], settings: Settings, base_text: str, note: str
) -> str:
    """The base OPTIONS file with the tuned keys set, every other byte as it was.

    `note` is put before it as a comment. ParseError when the base lacks a needed section.
    """
    base = parse_options(base_text)
    labels = catalogue.codec_labels
    wanted = {}
    for knob in (catalogue.knob(name) for name in tuned):
        place, text = option_place(knob), option_text(knob, settings, labels)
        if not _means_the_same(knob, text, base.get(*place)):
            wanted[place] = text
    return _comment(note) + replace_options(base_text, wanted)


def export_db_bench(tuned: Mapping[str, Value], note: str) -> str:
    """The tuned knobs as flags of db_bench, one a line, fit for `--flagfile`."""
    flags = (f"--{name}={int(v) if isinstance(v, bool) else v}" for name, v in tuned.items())
    return _comment(note) + "\n".join(flags) + "\n"


def _means_the_same(knob: Knob, wanted: str, present: str | None) -> bool:
    if present is None:
        return wanted == ""
    return same_option(wanted, present)


def _comment(note: str) -> str:
    return "".join(f"# {line}\n" for line in note.splitlines())
