"""The knobs of an engine as rows of tables."""

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.knob_text import readable_range, readable_value
from lsmtune.knobs.reference import remarks, store_remarks
from lsmtune.knobs.types import Knob


def knob_row(catalogue: Catalogue, knob: Knob) -> tuple[str, str, str, str, str]:
    """Return name, range, default, change and effect of a knob."""
    effect = [knob.trade, *remarks(knob), *store_remarks(catalogue, knob)]
    return (
        knob.name, readable_range(knob), readable_value(knob, knob.default),
        knob.apply + (", scaled" if knob.scales else ""), "; ".join(effect),
    )  # fmt: skip


def preset_rows(catalogue: Catalogue) -> list[tuple[str, str, str]]:
    """Return name, number of knobs and contents of each preset."""
    return [(p.name, str(len(catalogue.select(p.name))), p.title) for p in catalogue.presets]
